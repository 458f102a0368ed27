//! What can be inferred, as a list for people, CSV or JSON: three forms of the same figures.

mod csv;
mod json;
mod table;

pub use table::SHOWN;

use moretta_core::{
    ids::ColumnId,
    inferences::{Inference, Inferences, Question},
    policy::Privacy,
    profile::{Attribute, Profile},
};

/// The columns that somebody may know, in order.
fn columns(question: &Question) -> Vec<ColumnId> {
    let mut columns = question.known.concat();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Inferences and the table they are from.
pub struct Listing<'a> {
    /// The file, as the user named it.
    pub file: &'a str,
    /// What the policy asks for: its limits on inferences, or none, and then everything was asked.
    pub privacy: &'a Privacy,
    /// The list has what is above this confidence.
    pub above: f64,
    /// The file as it stands.
    pub profile: &'a Profile,
    /// What was asked.
    pub questions: &'a [Question],
    /// What was found; for [`Listing::text`] the first [`SHOWN`] of the list are enough.
    pub found: &'a Inferences,
}

impl<'a> Listing<'a> {
    fn attribute(&self, question: &Question) -> &'a Attribute {
        &self.profile.attributes()[question.attribute.index()]
    }

    /// Whether the policy sets limits to what was asked.
    fn is_limited(&self) -> bool {
        !self.privacy.templates.is_empty() || self.privacy.lkc.is_some()
    }

    /// The columns that an inference is from.
    fn set(&self, inference: &Inference) -> &'a [ColumnId] {
        &self.questions[inference.question].known[inference.set]
    }

    /// The names of columns.
    fn names(&self, columns: &'a [ColumnId]) -> impl Iterator<Item = &'a str> + Clone {
        let (given, columns) = (columns, self.profile.columns());
        given.iter().map(move |column| columns[column.index()].name.as_str())
    }

    /// The sensitive column and the value inferred.
    fn inferred(&self, inference: &Inference) -> (&'a str, &'a str) {
        let attribute = self.attribute(&self.questions[inference.question]);
        (&attribute.name, &attribute.values[inference.value as usize])
    }

    /// The known columns with their values.
    fn known(&self, inference: &Inference) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        let (profile, codes) = (self.profile, self.profile.codes(inference.tuple));
        self.set(inference).iter().map(move |&id| {
            let column = &profile.columns()[id.index()];
            (column.name.as_str(), column.domain.text(codes[id.index()]))
        })
    }
}
