//! Data shared by all passes of a search: the columns with their levels, and the order of level vectors.
//!
//! Columns are sorted by decreasing entropy, so that generalizing the first ones merges most tuples. The first few are
//! the *prefix columns*, with one table of tuples for each combination of their levels (`prefix_tables.rs`); the others
//! are combined into composite columns (`composite.rs`).
//!
//! ```text
//! level vector   2        0         | 1       0        1        one level per column, 0 is the finest
//!                age      town      | sex     status   race     all: counted in mixed radix, last column fastest
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
    // By entry: hash, counting filter, candidate and number. The nearest tuples of a seed take less.
    let groupers = threads.max(1) * tuples * 64;
    tables + groupers + 24 * tuples + 8 * columns * vectors
}

pub(super) struct SweepContext<'a> {
    pub task: &'a Task<'a>,
    pub loss_table: LossTable<'a>,
    /// By decreasing entropy.
    pub columns: Vec<SweepColumn>,
    /// By column of the profile: its index in `columns`.
    positions: Vec<usize>,
    /// Number of prefix columns.
    pub prefix_len: usize,
    pub composites: CompositeColumns,
    /// Maximum number of level vectors of a pass.
    pub max_vectors: usize,
    /// Whether there are more level vectors: then they are grown from the records (`grown_vectors.rs`).
    pub is_grown: bool,
}

pub(super) struct SweepColumn {
    /// Finest first.
    pub levels: Vec<Level>,
    /// By tuple of the profile.
    pub codes: Vec<u32>,
    /// Index of the column in the profile.
    pub index: usize,
}

/// Level vectors by increasing mean loss: one level per column of the context, row-major.
pub(super) struct LevelVectors {
    columns: usize,
    levels: Vec<usize>,
}

impl LevelVectors {
    pub(super) fn len(&self) -> usize {
        self.levels.len() / self.columns
    }

    pub(super) fn get(&self, index: usize) -> &[usize] {
        &self.levels[index * self.columns..(index + 1) * self.columns]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[usize]> {
        self.levels.chunks_exact(self.columns)
    }
}

impl<'a> SweepContext<'a> {
    /// `levels` has the levels of each column, in the order of the profile.
    pub(super) fn new(
        task: &'a Task<'a>,
        loss_table: LossTable<'a>,
        levels: Vec<Vec<Level>>,
        max_vectors: usize,
    ) -> Self {
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
        let mut positions = vec![0; columns.len()];
        columns.iter().enumerate().for_each(|(position, column)| positions[column.index] = position);
        let num_vectors = columns.iter().map(|column| column.levels.len() as u128).fold(1, u128::saturating_mul);
        let is_grown = num_vectors > max_vectors as u128;
        Self { task, loss_table, columns, positions, prefix_len, composites, max_vectors, is_grown }
    }

    pub(super) fn column_of_profile(&self, index: usize) -> &SweepColumn {
        &self.columns[self.positions[index]]
    }

    /// Number of level combinations of the prefix columns.
    pub(super) fn num_prefixes(&self) -> usize {
        self.columns[..self.prefix_len].iter().map(|column| column.levels.len()).product()
    }

    /// Number of the level combination that a vector has in the prefix columns.
    pub(super) fn prefix_of(&self, vector: &[usize]) -> usize {
        let prefix = self.columns[..self.prefix_len].iter().zip(vector);
        prefix.fold(0, |number, (column, level)| number * column.levels.len() + level)
    }

    /// Level of each prefix column.
    pub(super) fn prefix_levels(&self, prefix: usize) -> Vec<usize> {
        levels_of(&self.columns[..self.prefix_len], prefix)
    }

    /// Returns all level vectors by increasing mean loss. `factors` scales the loss of each column of the profile.
    pub(super) fn all_by_mean_loss(&self, factors: &[f64]) -> LevelVectors {
        let mut means = vec![0.0];
        for column in &self.columns {
            let column_means: Vec<f64> = column.levels.iter().map(|level| factors[column.index] * level.mean).collect();
            means = means.iter().flat_map(|sum| column_means.iter().map(move |mean| sum + mean)).collect();
        }
        let mut order: Vec<usize> = (0..means.len()).collect();
        order.sort_by(|&a, &b| means[a].total_cmp(&means[b]).then(a.cmp(&b)));
        let levels = order.into_iter().flat_map(|number| levels_of(&self.columns, number)).collect();
        LevelVectors { columns: self.columns.len().max(1), levels }
    }

    /// Returns the different ones of some level vectors by increasing mean loss.
    pub(super) fn sorted_by_mean_loss(
        &self,
        vectors: impl Iterator<Item = Vec<usize>>,
        factors: &[f64],
    ) -> LevelVectors {
        let mean = |levels: &Vec<usize>| -> f64 {
            self.columns
                .iter()
                .zip(levels)
                .map(|(column, &level)| factors[column.index] * column.levels[level].mean)
                .sum()
        };
        let mut order: Vec<(f64, Vec<usize>)> = vectors.map(|levels| (mean(&levels), levels)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        order.dedup_by(|a, b| a.1 == b.1);
        let levels = order.into_iter().flat_map(|(_, levels)| levels).collect();
        LevelVectors { columns: self.columns.len().max(1), levels }
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
