//! Inferences together with their table, for the terminal, pages and JSON.

use moretta_core::{
    ids::ColumnId,
    policy::Privacy,
    privacy::{Lkc, Template},
    profile::{Attribute, Profile},
};

use super::{Inference, Inferences, Question};

/// All columns that the attacker of a question may know, sorted.
pub fn columns(question: &Question) -> Vec<ColumnId> {
    let mut columns = question.known.concat();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Inferences of a file, with everything needed to print them.
#[derive(Debug)]
pub struct Listing {
    /// The file, as the user named it.
    pub file: String,
    /// The privacy section of the policy. Without a limit on inferences, all of them were requested.
    pub privacy: Privacy,
    /// Confidence threshold of the list.
    pub above: f64,
    /// Profile of the file itself.
    pub profile: Profile,
    /// The questions, in the order of `Inference::question`.
    pub questions: Vec<Question>,
    /// Counts, and the listed inferences.
    pub found: Inferences,
}

impl Listing {
    /// The sensitive column that a question is about.
    pub fn attribute(&self, question: &Question) -> &Attribute {
        &self.profile.attributes()[question.attribute.index()]
    }

    /// Whether the policy limits inferences.
    pub fn is_limited(&self) -> bool {
        self.privacy.first::<Template>().is_some() || self.privacy.first::<Lkc>().is_some()
    }

    /// The known columns of an inference.
    pub fn set(&self, inference: &Inference) -> &[ColumnId] {
        &self.questions[inference.question].known[inference.set]
    }

    /// Names of columns, in the given order.
    pub fn names<'a>(&'a self, columns: &'a [ColumnId]) -> impl Iterator<Item = &'a str> + Clone {
        let (given, columns) = (columns, self.profile.columns());
        given.iter().map(move |column| columns[column.index()].name.as_str())
    }

    /// The sensitive column and the inferred value.
    pub fn inferred(&self, inference: &Inference) -> (&str, &str) {
        let attribute = self.attribute(&self.questions[inference.question]);
        (&attribute.name, &attribute.values[inference.value as usize])
    }

    /// The known columns of an inference with their values.
    pub fn known<'a>(&'a self, inference: &'a Inference) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        let (profile, codes) = (&self.profile, self.profile.codes(inference.tuple));
        self.set(inference).iter().map(move |&id| {
            let column = &profile.columns()[id.index()];
            (column.name.as_str(), column.domain.text(codes[id.index()]))
        })
    }
}
