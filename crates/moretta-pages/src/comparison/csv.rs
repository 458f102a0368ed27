//! A comparison as CSV: one line per method and k, with all figures.

use moretta_core::{measure::MEASURES, search::Stop};
use moretta_insight::{
    comparison::{Comparison, Row, RunResult},
    evaluate::queries::Errors as Answered,
};

use crate::csv;

const BEFORE: [&str; 4] = ["method", "k", "unsupported", "stop"];
#[rustfmt::skip]
const AFTER: [&str; 17] = [
    "goal", "E", "E_spread", "B", "W", "RE", "count_queries", "count_error_mean", "count_error_median",
    "sum_queries", "sum_error_mean", "sum_error_median", "groups", "smallest_group", "suppressed_rows", "seconds",
    "peak_memory_bytes",
];

/// Returns the CSV text. Errors are shares of 1; missing figures are empty. Reasons contain no value of the data.
pub fn csv(comparison: &Comparison) -> String {
    let measures = MEASURES.iter().map(|entry| entry.name);
    let header: Vec<&str> = BEFORE.into_iter().chain(measures).chain(AFTER).collect();
    let mut text = csv::line(header);
    text.extend(comparison.rows.iter().map(|row| csv::line(cells(comparison, row))));
    text
}

fn cells(comparison: &Comparison, row: &Row) -> Vec<String> {
    let mut cells = vec![row.method.clone(), some(row.k), row.unsupported.clone().unwrap_or_default()];
    match &row.found {
        Some(found) => cells.extend(found_cells(comparison, found)),
        None => cells.resize(BEFORE.len() + MEASURES.len() + AFTER.len(), String::new()),
    }
    cells
}

fn found_cells(comparison: &Comparison, found: &RunResult) -> Vec<String> {
    let stop = match found.stop {
        Stop::Finished => "finished",
        Stop::OutOfTime => "out-of-time",
        Stop::Cancelled => "cancelled",
    };
    let mut cells = vec![stop.to_owned()];
    cells.extend(found.measures.0.iter().map(|(_, value)| some(*value)));
    let base = comparison.errors;
    let sum = found.queries.sum;
    let of_sum = |value: fn(&Answered) -> Option<f64>| some(sum.as_ref().and_then(value));
    cells.extend([
        some(found.objective),
        some(found.errors.map(|errors| errors.released)),
        some(found.spread.map(|spread| spread.released)),
        some(base.map(|base| base.raw)),
        some(base.map(|base| base.root)),
        some(base.and_then(|base| base.removed)),
        found.queries.count.queries.to_string(),
        some(found.queries.count.mean),
        some(found.queries.count.median),
        some(sum.map(|sum| sum.queries)),
        of_sum(|sum| sum.mean),
        of_sum(|sum| sum.median),
        found.groups.to_string(),
        found.smallest_group.to_string(),
        found.suppressed_rows.to_string(),
        found.seconds.to_string(),
        some(found.peak_memory_bytes),
    ]);
    cells
}

fn some<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}
