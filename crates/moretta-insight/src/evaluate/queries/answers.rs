//! Answered queries, for the terminal, pages and JSON.

use moretta_core::profile::Profile;

use super::{Aggregate, Answered, Draw, Workload};

/// The aggregate: COUNT, or the SUM of the column of this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryKind(Option<String>);

impl QueryKind {
    /// The kind of a table's query.
    pub fn of(aggregate: Aggregate, profile: &Profile) -> Self {
        match aggregate {
            Aggregate::Count => Self(None),
            Aggregate::Sum(column) => Self(Some(profile.columns()[column.index()].name.clone())),
        }
    }

    /// For programs: the aggregate.
    pub fn aggregate(&self) -> &'static str {
        if self.0.is_none() { "count" } else { "sum" }
    }

    /// For programs: the summed column.
    pub fn column(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// For people.
    pub fn name(&self) -> String {
        self.column().map_or("COUNT".to_owned(), |column| format!("SUM({column})"))
    }
}

/// Columns with their ranges, as texts.
pub type Conditions = Vec<(String, String)>;

/// Answered queries.
#[derive(Debug)]
pub enum Answers {
    /// Random queries of each kind. They are not shown: one may be about a single person.
    Random {
        /// How the queries were drawn.
        draw: Draw,
        /// Answers by kind.
        workloads: Vec<(QueryKind, Workload)>,
    },
    /// Queries of the user's file, in its order.
    Own(Vec<((QueryKind, Conditions), Answered)>),
}

/// A release and its answers.
#[derive(Debug)]
pub struct Queries {
    /// The release, as the user named it.
    pub file: String,
    /// Records of the release.
    pub records: u64,
    /// Answers, each with the true answer.
    pub answers: Answers,
}

impl Queries {
    /// The answers of each kind, in order of first occurrence.
    pub fn kinds(&self) -> Vec<(QueryKind, Vec<Answered>)> {
        let own = match &self.answers {
            Answers::Own(own) => own,
            Answers::Random { workloads, .. } => {
                return workloads.iter().map(|(kind, workload)| (kind.clone(), workload.answered.clone())).collect();
            }
        };
        let mut kinds: Vec<(QueryKind, Vec<Answered>)> = Vec::new();
        for ((kind, _), answered) in own {
            match kinds.iter_mut().find(|(known, _)| known == kind) {
                Some((_, all)) => all.push(*answered),
                None => kinds.push((kind.clone(), vec![*answered])),
            }
        }
        kinds
    }
}

/// Returns, e.g., `age [20, 40], sex female`.
pub fn conditions_text(conditions: &Conditions) -> String {
    let parts: Vec<String> = conditions.iter().map(|(column, text)| format!("{column} {text}")).collect();
    parts.join(", ")
}
