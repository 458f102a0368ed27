//! Errors of answers, overall and by selectivity (share of records that a query selects).

use serde::{Deserialize, Serialize};

use super::Truth;

/// The true answer and the estimate from a release.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answered {
    /// Answer from the original table.
    pub truth: Truth,
    /// Estimate from the release.
    pub answer: f64,
}

impl Answered {
    pub(super) fn new(truth: Truth, answer: f64) -> Self {
        Self { truth, answer }
    }

    /// Relative error; `None` if the true answer is 0.
    pub fn error(&self) -> Option<f64> {
        let truth = self.truth.answer;
        (truth != 0.0).then(|| (self.answer - truth).abs() / truth.abs())
    }

    /// Share of the table's records that the query selects.
    pub fn selectivity(&self, records: u64) -> f64 {
        self.truth.records as f64 / records as f64
    }
}

/// Errors of many answers; those to a true answer of 0 do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// Number of answers.
    pub queries: usize,
    /// Mean error; `None` without answers.
    pub mean: Option<f64>,
    /// Median error; `None` without answers.
    pub median: Option<f64>,
}

/// Errors of the answers in a range of selectivity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Class {
    /// Exclusive lower end, as a share of the records.
    pub above: f64,
    /// Inclusive upper end.
    pub up_to: f64,
    /// Errors of these answers.
    #[serde(flatten)]
    pub errors: Errors,
}

/// Bounds of the selectivity ranges.
pub const CLASSES: [f64; 5] = [0.0, 0.001, 0.01, 0.1, 1.0];

/// Errors of all answers.
pub fn errors(answered: &[Answered]) -> Errors {
    of(answered.iter().filter_map(Answered::error).collect())
}

/// Errors in each range of selectivity, for a table with this many records.
pub fn errors_by_class(answered: &[Answered], records: u64) -> Vec<Class> {
    let class = |ends: &[f64]| {
        let (above, up_to) = (ends[0], ends[1]);
        let inside = |answered: &&Answered| {
            let share = answered.selectivity(records);
            above < share && share <= up_to
        };
        Class { above, up_to, errors: of(answered.iter().filter(inside).filter_map(Answered::error).collect()) }
    };
    CLASSES.windows(2).map(class).collect()
}

fn of(mut errors: Vec<f64>) -> Errors {
    errors.sort_by(f64::total_cmp);
    let queries = errors.len();
    if queries == 0 {
        return Errors::default();
    }
    let mean = errors.iter().sum::<f64>() / queries as f64;
    let median = (errors[(queries - 1) / 2] + errors[queries / 2]) / 2.0;
    Errors { queries, mean: Some(mean), median: Some(median) }
}
