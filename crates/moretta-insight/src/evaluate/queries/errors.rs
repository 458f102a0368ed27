//! Errors of answers, overall and by how many records were asked about.

use serde::{Deserialize, Serialize};

use super::Truth;

/// A true answer and that of a release.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answered {
    /// What the table says.
    pub truth: Truth,
    /// What the release says.
    pub answer: f64,
}

impl Answered {
    pub(super) fn new(truth: Truth, answer: f64) -> Self {
        Self { truth, answer }
    }

    /// The relative error; none where the true answer is 0.
    pub fn error(&self) -> Option<f64> {
        let truth = self.truth.answer;
        (truth != 0.0).then(|| (self.answer - truth).abs() / truth.abs())
    }

    /// The share of all records that was asked about.
    pub fn selectivity(&self, records: u64) -> f64 {
        self.truth.records as f64 / records as f64
    }
}

/// Errors of many answers; those to a true answer of 0 do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// How many answers.
    pub queries: usize,
    /// Their mean error; none where there are none.
    pub mean: Option<f64>,
    /// Half of them have an error up to this.
    pub median: Option<f64>,
}

/// Errors of answers about so many of the records.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Class {
    /// More than this share of the records.
    pub above: f64,
    /// At most this share.
    pub up_to: f64,
    /// Their errors.
    #[serde(flatten)]
    pub errors: Errors,
}

/// Where one class of selectivity ends and the next begins.
pub const CLASSES: [f64; 5] = [0.0, 0.001, 0.01, 0.1, 1.0];

/// The errors of all.
pub fn errors(answered: &[Answered]) -> Errors {
    of(answered.iter().filter_map(Answered::error).collect())
}

/// The errors of each class of selectivity, in a table of so many records.
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
