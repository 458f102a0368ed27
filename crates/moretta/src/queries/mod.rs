//! Answers of a release and their errors, as a table for people, CSV, JSON or a picture.

mod csv;
mod json;
mod svg;
mod table;

use moretta_core::{
    evaluate::queries::{Aggregate, Answered, Draw, Workload},
    profile::Profile,
};

/// What is asked, with the name of its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// How many.
    Count,
    /// The sum of a column.
    Sum(String),
}

impl Kind {
    /// Of a table's query.
    pub fn of(aggregate: Aggregate, profile: &Profile) -> Self {
        match aggregate {
            Aggregate::Count => Self::Count,
            Aggregate::Sum(column) => Self::Sum(profile.columns()[column.index()].name.clone()),
        }
    }

    /// For programs: what is asked.
    fn aggregate(&self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum(_) => "sum",
        }
    }

    /// For programs: of which column.
    fn column(&self) -> Option<&str> {
        match self {
            Self::Count => None,
            Self::Sum(column) => Some(column),
        }
    }

    /// For people.
    fn name(&self) -> String {
        match self {
            Self::Count => "COUNT".to_owned(),
            Self::Sum(column) => format!("SUM({column})"),
        }
    }
}

/// Columns with what must hold of them.
type Conditions = Vec<(String, String)>;

/// What was answered.
pub enum Answers {
    /// Random queries of each kind. Which they are is for nobody to read: one may be about a single person.
    Random {
        /// What was wanted.
        draw: Draw,
        /// What was found.
        workloads: Vec<(Kind, Workload)>,
    },
    /// The user's own, in the order of the file.
    Own(Vec<((Kind, Conditions), Answered)>),
}

/// Answers and the files they are about.
pub struct Queries<'a> {
    /// The release, as the user named it.
    pub file: &'a str,
    /// Its records.
    pub records: u64,
    /// The answers.
    pub answers: Answers,
}

impl Queries<'_> {
    /// The answers of each kind, in order of first sight.
    fn kinds(&self) -> Vec<(Kind, Vec<Answered>)> {
        let Answers::Own(own) = &self.answers else {
            let Answers::Random { workloads, .. } = &self.answers else { return Vec::new() };
            return workloads.iter().map(|(kind, workload)| (kind.clone(), workload.answered.clone())).collect();
        };
        let mut kinds: Vec<(Kind, Vec<Answered>)> = Vec::new();
        for ((kind, _), answered) in own {
            match kinds.iter_mut().find(|(known, _)| known == kind) {
                Some((_, all)) => all.push(*answered),
                None => kinds.push((kind.clone(), vec![*answered])),
            }
        }
        kinds
    }
}

/// `age [20, 40], sex female`
fn written(conditions: &Conditions) -> String {
    let parts: Vec<String> = conditions.iter().map(|(column, text)| format!("{column} {text}")).collect();
    parts.join(", ")
}
