//! Inferences with the table they are from, for whatever shows them.

use moretta_core::{
    ids::ColumnId,
    policy::Privacy,
    privacy::{Lkc, Template},
    profile::{Attribute, Profile},
};

use super::{Inference, Inferences, Question};

/// The columns that an attacker is taken to know, in order.
pub fn columns(question: &Question) -> Vec<ColumnId> {
    let mut columns = question.known.concat();
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Inferences and the table they are from.
#[derive(Debug)]
pub struct Listing {
    /// The file, as the user named it.
    pub file: String,
    /// What the policy asks for: its limits on inferences, or none, and then everything was asked.
    pub privacy: Privacy,
    /// The list has what is above this confidence.
    pub above: f64,
    /// The file as it stands.
    pub profile: Profile,
    /// What was asked.
    pub questions: Vec<Question>,
    /// Counts, and the listed inferences.
    pub found: Inferences,
}

impl Listing {
    /// The sensitive column that a question is about.
    pub fn attribute(&self, question: &Question) -> &Attribute {
        &self.profile.attributes()[question.attribute.index()]
    }

    /// Whether the policy sets limits to what was asked.
    pub fn is_limited(&self) -> bool {
        self.privacy.first::<Template>().is_some() || self.privacy.first::<Lkc>().is_some()
    }

    /// The columns that an inference is from.
    pub fn set(&self, inference: &Inference) -> &[ColumnId] {
        &self.questions[inference.question].known[inference.set]
    }

    /// The names of columns.
    pub fn names<'a>(&'a self, columns: &'a [ColumnId]) -> impl Iterator<Item = &'a str> + Clone {
        let (given, columns) = (columns, self.profile.columns());
        given.iter().map(move |column| columns[column.index()].name.as_str())
    }

    /// The sensitive column and the value inferred.
    pub fn inferred(&self, inference: &Inference) -> (&str, &str) {
        let attribute = self.attribute(&self.questions[inference.question]);
        (&attribute.name, &attribute.values[inference.value as usize])
    }

    /// The known columns with their values.
    pub fn known<'a>(&'a self, inference: &'a Inference) -> impl Iterator<Item = (&'a str, &'a str)> + Clone {
        let (profile, codes) = (&self.profile, self.profile.codes(inference.tuple));
        self.set(inference).iter().map(move |&id| {
            let column = &profile.columns()[id.index()];
            (column.name.as_str(), column.domain.text(codes[id.index()]))
        })
    }
}
