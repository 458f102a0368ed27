//! Data shared by all passes of a search: the columns with their levels, and the numbering of level vectors.
//!
//! Columns are sorted by decreasing entropy, so that generalizing the first ones merges most tuples. The first few are
//! the *prefix columns*, with one table of tuples for each combination of their levels (`prefix_tables.rs`); the others
//! are combined into composite columns (`composite.rs`).
//!
//! ```text
//! level vector   2        0         | 1       0        1        one level per column, 0 is the finest
//!                age      town      | sex     status   race     number = digits in mixed radix, last column fastest
//!                prefix columns     | composite column(s)
//! ```

use super::{composite::CompositeColumns, levels::Level};
use crate::{
    ids::{ColumnId, TupleId},
    profile::Profile,
    search::{Task, local::LossTable},
};

/// Maximum level combinations of the prefix columns, hence prefix tables: each costs memory and an update per removed
/// tuple. Affects speed only.
const MAX_PREFIXES: usize = 20;

/// Estimates the bytes of one pass over `tuples` tuples with `vectors` level vectors, whose groupings run on `threads`
/// threads.
pub(super) fn pass_bytes(tuples: u64, columns: u64, vectors: u64, threads: u64) -> u64 {
    let tables = vectors.min(MAX_PREFIXES as u64);
    // With one column, each table has about half the entries of the one before.
    let entries = tuples * if columns == 1 { 2 } else { tables };
    // By entry of a table: hash, loss, records and composite codes; by tuple: its entry.
    let tables = entries * (24 + 4 * columns.min(3)) + tables * tuples * 4;
    // By entry: hash, counting filter, candidate and number.
    let groupers = threads.max(1) * tuples * 64;
    tables + groupers + 24 * tuples
}

pub(super) struct SweepContext<'a> {
    pub task: &'a Task<'a>,
    pub loss_table: LossTable<'a>,
    /// By decreasing entropy.
    pub columns: Vec<SweepColumn>,
    /// Number of prefix columns.
    pub prefix_len: usize,
    pub composites: CompositeColumns,
}

pub(super) struct SweepColumn {
    /// Finest first.
    pub levels: Vec<Level>,
    /// By tuple of the profile.
    pub codes: Vec<u32>,
    /// Index of the column in the profile.
    pub index: usize,
}

/// One level per column, as a number: a digit per column in mixed radix, the last column counting fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LevelVector(pub u32);

impl<'a> SweepContext<'a> {
    /// `levels` has the levels of each column, in the order of the profile.
    pub(super) fn new(task: &'a Task<'a>, loss_table: LossTable<'a>, levels: Vec<Vec<Level>>) -> Self {
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
        Self { task, loss_table, columns, prefix_len, composites }
    }

    pub(super) fn num_vectors(&self) -> usize {
        self.columns.iter().map(|column| column.levels.len()).product()
    }

    /// Number of level combinations of the prefix columns.
    pub(super) fn num_prefixes(&self) -> usize {
        self.columns[..self.prefix_len].iter().map(|column| column.levels.len()).product()
    }

    /// Number of the level combination that the vector has in the prefix columns.
    pub(super) fn prefix_of(&self, vector: LevelVector) -> usize {
        vector.0 as usize / (self.num_vectors() / self.num_prefixes())
    }

    /// Level of each column.
    pub(super) fn levels_of(&self, vector: LevelVector) -> Vec<usize> {
        levels_of(&self.columns, vector.0 as usize)
    }

    /// Level of each prefix column.
    pub(super) fn prefix_levels(&self, prefix: usize) -> Vec<usize> {
        levels_of(&self.columns[..self.prefix_len], prefix)
    }

    /// Returns all level vectors by increasing mean loss. `factors` scales the loss of each column of the profile.
    pub(super) fn vectors_by_mean_loss(&self, factors: &[f64]) -> Vec<LevelVector> {
        let mut means = vec![0.0];
        for column in &self.columns {
            let column_means: Vec<f64> = column.levels.iter().map(|level| factors[column.index] * level.mean).collect();
            means = means.iter().flat_map(|sum| column_means.iter().map(move |mean| sum + mean)).collect();
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

/// Shannon entropy of the values of a column, in nats.
fn entropy(profile: &Profile, column: &SweepColumn) -> f64 {
    let records = profile.code_records(ColumnId::from_index(column.index)).iter().filter(|records| **records > 0);
    let shares = records.map(|&records| records as f64 / profile.records() as f64);
    shares.map(|share| -share * share.ln()).sum()
}
