//! Support for the conformance suite and the models: random columns, and a released table as texts.

mod dice;
mod printed;
mod spec;

pub use self::dice::Dice;
pub use self::printed::{PERSON, Printed, PrintedColumn, ROUNDING, Verdict, folded};
pub use self::spec::{ColumnSpec, MISSING, Paths, Shape, is_missing};
use crate::privacy::PrivacyModel;

/// Random sections and naive verdicts of a model.
#[derive(Clone, Copy)]
pub struct Conformance {
    /// A random section of a policy that asks for the model; `None` if the columns do not allow it.
    pub random: fn(&mut Dice, &RandomColumns<'_>) -> Option<String>,
    /// The verdicts on a table of texts, one for each judgement of the model, computed from the definition. The suite
    /// compares every judgement with them, so they must not share code with the bound model.
    pub verdicts: fn(&dyn PrivacyModel, &Printed<'_>) -> Vec<Verdict>,
}

/// The columns of a random table.
#[derive(Debug, Clone, Copy)]
pub struct RandomColumns<'a> {
    /// The quasi-identifiers.
    pub quasi: &'a [ColumnSpec],
    /// The sensitive columns, and the class, which is named `class`.
    pub attributes: &'a [ColumnSpec],
}

impl<'a> RandomColumns<'a> {
    /// A random sensitive or class column.
    pub fn guarded(&self, dice: &mut Dice) -> Option<&'a ColumnSpec> {
        (!self.attributes.is_empty()).then(|| dice.one(self.attributes))
    }
}
