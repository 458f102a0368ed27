//! Guesses the role of one column: the first detector that finds evidence decides.
//!
//! A detector looks for one kind of evidence and gives a role and a reason. Values come before names: a name may be
//! anything, values cannot be. The last detectors catch what is unknown, as a quasi-identifier. No reason contains a
//! value of the data.

mod dates;
pub(crate) mod form;
mod ids;
mod known;
mod named;
mod unknown;
mod weights;

use moretta_core::{schema::Role, text::count};

use crate::{
    ColumnFacts,
    reading::Reading,
    topics::Words,
    values::{Look, Shape},
};

/// All that a detector sees of a column.
#[derive(Debug)]
pub(crate) struct Evidence<'a> {
    pub name: &'a str,
    pub words: Words,
    pub look: Look,
    /// Whether the sample has all records.
    pub complete: bool,
    /// Whether another column beside it has the form of coordinates, too.
    pub beside_coordinates: bool,
    /// Whether a column with few values determines it: its numbers are properties of that column's values.
    pub is_of_a_group: bool,
}

/// Guess for one column.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    pub role: Role,
    pub why: String,
    pub notes: Vec<String>,
    /// Whether there is evidence for the role; otherwise it was given in doubt.
    pub is_known: bool,
    /// How the values are read if the evidence decides that, too.
    pub reading: Option<Reading>,
    /// Rank as a candidate for the class column (higher is better), and the reason.
    pub class: Option<(u8, String)>,
    /// How likely the column is the number of a person: 2 by its name, 1 by its values.
    pub person: u8,
    /// Whether the column says what a person suffers from: if not all sensitive columns can stay unchanged, this one
    /// does.
    pub is_diagnosis: bool,
    /// Whether the column is not needed to find people, so that it is removed if it singles them out.
    pub is_dispensable: bool,
}

impl Decision {
    pub fn new(role: Role, why: impl Into<String>) -> Self {
        Self {
            role,
            why: why.into(),
            notes: Vec::new(),
            is_known: true,
            reading: None,
            class: None,
            person: 0,
            is_diagnosis: false,
            is_dispensable: false,
        }
    }

    fn in_doubt(self) -> Self {
        Self { is_known: false, ..self }
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    fn reads(self, reading: Reading) -> Self {
        Self { reading: Some(reading), ..self }
    }

    fn or_class(self, rank: u8, why: impl Into<String>) -> Self {
        Self { class: Some((rank, why.into())), ..self }
    }
}

type Detector = fn(&Evidence<'_>) -> Option<Decision>;

/// The detectors, strongest evidence first.
#[rustfmt::skip]
const DETECTORS: &[Detector] = &[
    // The form of the values leaves no choice.
    form::no_values, form::constant, form::nested, form::lists, form::damaged,
    // Numbers of persons, households and other things; some repeat.
    ids::households, ids::persons, ids::universal, ids::unique_name, ids::foreign,
    // The values name or describe persons.
    form::personal, form::free_text, form::names,
    weights::scaled, form::coordinates,
    // The values are of a known kind.
    dates::dates, known::sexes, known::marital_statuses, named::identifier, ids::unique_text, known::medical, known::outcomes,
    // The name says it, and the values fit.
    weights::named, named::count, named::topic,
    // Neither is known.
    ids::unique_number, dates::years, ids::blocks, ids::mostly_unique, unknown::measurement, unknown::anything,
];

/// Guesses the role of one column.
pub(crate) fn decide(column: &Evidence<'_>) -> Decision {
    DETECTORS.iter().find_map(|detector| detector(column)).expect("the last detector accepts every column")
}

impl<'a> Evidence<'a> {
    pub fn new(facts: &'a ColumnFacts, look: Look) -> Self {
        Self {
            name: &facts.name,
            words: Words::of(&facts.name),
            look,
            complete: facts.complete,
            beside_coordinates: false,
            is_of_a_group: false,
        }
    }

    /// `3 different values`, with a noun for their type.
    pub fn amount(&self) -> String {
        let (one, many) = match self.look.shape {
            Shape::Nothing => return "no values".to_owned(),
            Shape::Numbers(_) => ("number", "numbers"),
            Shape::Code => ("code of digits", "codes of digits"),
            Shape::Dates(_) => ("date", "dates"),
            Shape::Names => ("name", "names"),
            _ => ("value", "values"),
        };
        match self.look.different {
            1 => format!("always the same {one}"),
            different => format!("{} different {many}", count(different)),
        }
    }

    /// `2,000 different values in 2,000 records`, of the sample if later records are unknown.
    pub fn amount_in_records(&self) -> String {
        let first = if self.complete { "" } else { "the first " };
        format!("{} in {first}{} records", self.amount(), count(self.look.present))
    }

    /// Whether the values have the form of ids: they repeat less than categories do, and are not measured.
    pub fn may_be_ids(&self) -> bool {
        match &self.look.shape {
            Shape::Uuids => true,
            Shape::Code => self.look.has_form_of_ids && self.look.different >= 20,
            // Names of persons end in digits in synthetic tables; few have at most four letters.
            Shape::Texts => {
                let may_be_names = self.look.has_form_of_names && !self.look.has_prefixed_numbers;
                self.look.has_form_of_ids && !may_be_names && self.look.different >= 20
            }
            Shape::Numbers(numbers) => {
                numbers.whole
                    && numbers.low >= 0.0
                    && self.look.different >= 50
                    && (numbers.high >= 10_000.0 || numbers.are_dense(self.look.different))
            }
            _ => false,
        }
    }

    /// Whether several records share a value, on average at least 1.05.
    pub fn repeats(&self) -> bool {
        self.look.present as f64 >= 1.05 * self.look.different as f64
    }
}
