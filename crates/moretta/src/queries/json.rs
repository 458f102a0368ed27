//! Everything, for programs.

use moretta_core::evaluate::queries::{Answered, Class, Errors, errors, errors_by_class};
use serde::{Serialize, Serializer};

use super::{Answers, Conditions, Queries};

#[derive(Serialize)]
struct Everything<'a> {
    rows: u64,
    #[serde(flatten)]
    drawn: Option<Drawn>,
    workloads: Vec<OfKind<'a>>,
    /// Only the user's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    queries: Option<Vec<Told<'a>>>,
}

#[derive(Serialize)]
struct Drawn {
    seed: u64,
    /// How many were wanted of each kind.
    count: usize,
    /// How many each asks about; none where it is all.
    columns: Option<usize>,
}

#[derive(Serialize)]
struct OfKind<'a> {
    aggregate: &'static str,
    column: Option<&'a str>,
    /// Those with the true answer 0 included.
    #[serde(skip_serializing_if = "Option::is_none")]
    drawn: Option<u64>,
    errors: Errors,
    by_selectivity: Vec<Class>,
}

#[derive(Serialize)]
struct Told<'a> {
    aggregate: &'static str,
    column: Option<&'a str>,
    #[serde(rename = "where", serialize_with = "in_order")]
    conditions: &'a Conditions,
    records: u64,
    truth: f64,
    answer: f64,
    error: Option<f64>,
}

fn in_order<S: Serializer>(pairs: &Conditions, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(column, text)| (column, text)))
}

impl Queries<'_> {
    /// As JSON.
    pub fn json(&self) -> String {
        let kinds = self.kinds();
        let drawn = |index: usize| match &self.answers {
            Answers::Random { workloads, .. } => Some(workloads[index].1.drawn),
            Answers::Own(_) => None,
        };
        let mut workloads = Vec::new();
        for (index, (kind, answered)) in kinds.iter().enumerate() {
            workloads.push(OfKind {
                aggregate: kind.aggregate(),
                column: kind.column(),
                drawn: drawn(index),
                errors: errors(answered),
                by_selectivity: errors_by_class(answered, self.records),
            });
        }
        let (drawn, queries) = match &self.answers {
            Answers::Random { draw, .. } => {
                (Some(Drawn { seed: draw.seed, count: draw.count, columns: draw.columns }), None)
            }
            Answers::Own(own) => (None, Some(own.iter().map(told).collect())),
        };
        let everything = Everything { rows: self.records, drawn, workloads, queries };
        serde_json::to_string_pretty(&everything).expect("texts and numbers") + "\n"
    }
}

fn told(((kind, conditions), answered): &((super::Kind, Conditions), Answered)) -> Told<'_> {
    Told {
        aggregate: kind.aggregate(),
        column: kind.column(),
        conditions,
        records: answered.truth.records,
        truth: answered.truth.answer,
        answer: answered.answer,
        error: answered.error(),
    }
}
