//! Answers of queries as CSV.

use moretta_insight::evaluate::queries::{Answered, Answers, Queries, QueryKind, conditions_text};

use crate::csv;

const HEADER: [&str; 8] = ["query", "aggregate", "column", "where", "records", "truth", "answer", "error"];

/// Returns a header and one line per query. `where` is empty for random queries, because one may be about a single
/// person; `error` is empty if the true answer is 0.
pub fn csv(queries: &Queries) -> String {
    let mut text = csv::line(HEADER);
    let mut number = 0;
    let mut line = |kind: &QueryKind, conditions: String, answered: &Answered| {
        number += 1;
        text += &csv::line([
            number.to_string(),
            kind.aggregate().to_owned(),
            kind.column().unwrap_or("").to_owned(),
            conditions,
            answered.truth.records.to_string(),
            answered.truth.answer.to_string(),
            answered.answer.to_string(),
            answered.error().map_or(String::new(), |error| error.to_string()),
        ]);
    };
    match &queries.answers {
        Answers::Own(own) => {
            own.iter().for_each(|((kind, conditions), answered)| line(kind, conditions_text(conditions), answered));
        }
        Answers::Random { workloads, .. } => {
            for (kind, workload) in workloads {
                workload.answered.iter().for_each(|answered| line(kind, String::new(), answered));
            }
        }
    }
    text
}
