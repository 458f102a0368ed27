//! What all sweeps of a search share: the columns with their levels, and how combinations of levels are numbered.
//!
//! The columns that divide the records most come first. The first few of them are the *trunk*: for each combination of their
//! levels there is a list of the tuples that are different there (`prefix_tables.rs`). The others are packed.

use super::{composite::CompositeColumns, levels::Level};
use crate::{
    ids::TupleId,
    profile::Profile,
    search::{Task, taxonomy::records_by_code},
};

/// The trunk has at most so many combinations of levels.
const MAX_PREFIXES: usize = 20;

pub(super) struct SweepContext<'a> {
    pub task: &'a Task<'a>,
    pub columns: Vec<SweepColumn>,
    /// How many columns are the trunk.
    pub prefix_len: usize,
    pub composites: CompositeColumns,
}

pub(super) struct SweepColumn {
    /// The finest first.
    pub levels: Vec<Level>,
    /// By tuple.
    pub codes: Vec<u32>,
    /// Its place in the profile.
    pub index: usize,
}

/// A combination of levels, one for each column: its number, the last column counting fastest, the finest levels first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LevelVector(pub u32);

impl<'a> SweepContext<'a> {
    /// From the levels of each column of the profile.
    pub(super) fn new(task: &'a Task<'a>, levels: Vec<Vec<Level>>) -> Self {
        let profile = task.profile;
        let tuples = || (0..profile.tuples() as u32).map(TupleId);
        let column = |(index, levels)| {
            let codes = tuples().map(|tuple| profile.codes(tuple)[index]).collect();
            SweepColumn { levels, codes, index }
        };
        let mut columns: Vec<(f64, SweepColumn)> =
            levels.into_iter().enumerate().map(column).map(|column| (entropy(profile, &column), column)).collect();
        columns.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.index.cmp(&b.1.index)));
        let columns: Vec<SweepColumn> = columns.into_iter().map(|(_, column)| column).collect();
        let mut num_prefixes = 1;
        let is_prefix = |column: &&SweepColumn| {
            num_prefixes *= column.levels.len();
            num_prefixes <= MAX_PREFIXES
        };
        let prefix_len = columns.iter().take_while(is_prefix).count();
        let composites = CompositeColumns::new(profile, &columns, prefix_len);
        Self { task, columns, prefix_len, composites }
    }

    /// How many combinations of levels there are.
    pub(super) fn num_vectors(&self) -> usize {
        self.columns.iter().map(|column| column.levels.len()).product()
    }

    /// How many combinations the trunk has.
    pub(super) fn num_prefixes(&self) -> usize {
        self.columns[..self.prefix_len].iter().map(|column| column.levels.len()).product()
    }

    /// The combination of the trunk that a combination begins with.
    pub(super) fn prefix_of(&self, vector: LevelVector) -> usize {
        vector.0 as usize / (self.num_vectors() / self.num_prefixes())
    }

    /// The level of each column.
    pub(super) fn levels_of(&self, vector: LevelVector) -> Vec<usize> {
        levels_of(&self.columns, vector.0 as usize)
    }

    /// The level of each column of the trunk.
    pub(super) fn prefix_levels(&self, prefix: usize) -> Vec<usize> {
        levels_of(&self.columns[..self.prefix_len], prefix)
    }

    /// All combinations, least lossy by the mean first, with each column's loss times its factor.
    pub(super) fn vectors_by_mean_loss(&self, factors: &[f64]) -> Vec<LevelVector> {
        let mut means = vec![0.0];
        for column in &self.columns {
            let own: Vec<f64> = column.levels.iter().map(|level| factors[column.index] * level.mean).collect();
            means = means.iter().flat_map(|mean| own.iter().map(move |own| mean + own)).collect();
        }
        let mut order: Vec<LevelVector> = (0..means.len() as u32).map(LevelVector).collect();
        order.sort_by(|a, b| means[a.0 as usize].total_cmp(&means[b.0 as usize]).then(a.cmp(b)));
        order
    }
}

fn levels_of(columns: &[SweepColumn], mut number: usize) -> Vec<usize> {
    let mut levels = vec![0; columns.len()];
    for (level, column) in levels.iter_mut().zip(columns).rev() {
        *level = number % column.levels.len();
        number /= column.levels.len();
    }
    levels
}

/// How much a column tells about its records.
fn entropy(profile: &Profile, column: &SweepColumn) -> f64 {
    let records = records_by_code(profile, column.index);
    let shares = records.iter().filter(|records| **records > 0).map(|&own| own as f64 / profile.records() as f64);
    shares.map(|share| -share * share.ln()).sum()
}
