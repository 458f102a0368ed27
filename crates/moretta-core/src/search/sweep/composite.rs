//! Composite columns: several columns encoded as one, so that the hash and the loss of a box take fewer lookups.
//!
//! Each column behind the prefix, the one with most values first, joins the first composite in which the number of
//! codes, and codes times levels, stay below a limit. A composite code is a number in mixed radix whose digits are the
//! codes of the columns; a composite level is one level of each of them. The hash of a composite code is the sum over
//! its columns, and so is its loss; both are computed once per pass.
//!
//! ```text
//! status (7 values, 3 levels) and sex (2 values, 2 levels)
//! composite: 14 codes = 2 * status + sex, 6 levels = 2 * level of status + level of sex; 1 lookup instead of 2
//! ```

use super::{context::SweepColumn, levels::Level};
use crate::{ids::TupleId, profile::Profile};

/// Maximum codes of a composite of several columns: bounds the size of its lookup tables. Affects speed only.
const MAX_CODES: usize = 4096;

/// Maximum of codes times levels of a composite of several columns (16 MiB of hashes and losses). With more than
/// [`MAX_COLUMNS`] columns it is less, because each pass builds the levels of all composites.
const MAX_ENTRIES: usize = 1 << 20;
const MAX_COLUMNS: usize = 8;

/// Bytes per code of a level: hash and loss.
const ENTRY_BYTES: u64 = 16;

/// Number of codes and of levels of columns with these numbers of values and levels, combined.
fn combined(columns: impl Iterator<Item = (usize, usize)>) -> (usize, usize) {
    columns.fold((1, 1), |all, column| (all.0.saturating_mul(column.0), all.1.saturating_mul(column.1)))
}

/// Combines columns, given as numbers of values and levels, and returns the indices of each composite's
/// columns.
fn combine(columns: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let max_entries = MAX_ENTRIES * MAX_COLUMNS / columns.len().max(MAX_COLUMNS);
    let mut composites: Vec<Vec<usize>> = Vec::new();
    for column in 0..columns.len() {
        let fits = |composite: &&mut Vec<usize>| {
            let (codes, levels) = combined(composite.iter().chain([&column]).map(|&member| columns[member]));
            codes <= MAX_CODES && codes.saturating_mul(levels) <= max_entries
        };
        match composites.iter_mut().find(fits) {
            Some(composite) => composite.push(column),
            None => composites.push(vec![column]),
        }
    }
    composites
}

/// Estimates the bytes of the levels of all composite columns, from the numbers of values and levels of each column.
/// Which columns are prefix columns is not known yet. Without them the others may combine in another way, so one more
/// composite of the maximum size is added.
pub(super) fn level_bytes(mut columns: Vec<(usize, usize)>) -> u64 {
    columns.sort_by_key(|column| std::cmp::Reverse(*column));
    let composites = combine(&columns);
    let entries = |members: &Vec<usize>| {
        let (codes, levels) = combined(members.iter().map(|&member| columns[member]));
        codes.saturating_mul(levels) as u64
    };
    let another = if composites.len() > 1 { MAX_ENTRIES as u64 } else { 0 };
    ENTRY_BYTES * (composites.iter().map(entries).sum::<u64>() + another)
}

/// The columns behind the prefix columns, combined.
pub(super) struct CompositeColumns {
    /// By composite column: the indices of its columns in the context.
    members: Vec<Vec<usize>>,
    /// Row-major: the composite codes of each tuple.
    codes: Vec<u32>,
}

impl CompositeColumns {
    pub(super) fn new(profile: &Profile, columns: &[SweepColumn], prefix_len: usize) -> Self {
        let num_values = |column: usize| profile.columns()[columns[column].index].domain.len();
        let mut by_values: Vec<usize> = (prefix_len..columns.len()).collect();
        by_values.sort_by_key(|&column| (std::cmp::Reverse(num_values(column)), column));
        let sizes: Vec<_> =
            by_values.iter().map(|&column| (num_values(column), columns[column].levels.len())).collect();
        let in_context = |composite: Vec<usize>| composite.into_iter().map(|index| by_values[index]).collect();
        let members: Vec<Vec<usize>> = combine(&sizes).into_iter().map(in_context).collect();
        let code = |tuple: usize, composite: &Vec<usize>| {
            composite.iter().fold(0, |code, &column| code * num_values(column) as u32 + columns[column].codes[tuple])
        };
        let codes_of = |tuple| members.iter().map(move |composite| code(tuple, composite));
        let codes = (0..profile.tuples()).flat_map(codes_of).collect();
        Self { members, codes }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    /// The tuple's code in each composite column.
    pub(super) fn codes(&self, tuple: TupleId) -> &[u32] {
        let len = self.members.len();
        &self.codes[tuple.index() * len..(tuple.index() + 1) * len]
    }

    /// Builds the levels of each composite column. `factors` scales the losses of each column of the profile.
    pub(super) fn levels(&self, columns: &[SweepColumn], factors: &[f64]) -> Vec<Vec<Level>> {
        let levels_of = |members: &Vec<usize>| {
            let mut levels = vec![Level { mean: 0.0, losses: vec![0.0], hashes: vec![0] }];
            for column in members.iter().map(|&column| &columns[column]) {
                let combine = |a: &Level, b: &Level| a.combine(b, factors[column.index]);
                levels = levels.iter().flat_map(|a| column.levels.iter().map(move |b| combine(a, b))).collect();
            }
            levels
        };
        self.members.iter().map(levels_of).collect()
    }

    /// Returns, for each composite column, the one of its `values` at its level; `chosen` has the level of each column.
    pub(super) fn select<'l, T>(&self, values: &'l [Vec<T>], columns: &[SweepColumn], chosen: &[usize]) -> Vec<&'l T> {
        let level_of = |members: &Vec<usize>| {
            members.iter().fold(0, |level, &column| level * columns[column].levels.len() + chosen[column])
        };
        self.members.iter().zip(values).map(|(members, values)| &values[level_of(members)]).collect()
    }
}

impl Level {
    /// The level of both columns as one; `factor` scales the losses of the other.
    fn combine(&self, other: &Self, factor: f64) -> Self {
        let losses = self.losses.iter().flat_map(|a| other.losses.iter().map(move |b| a + factor * b));
        let hashes = self.hashes.iter().flat_map(|a| other.hashes.iter().map(move |b| a.wrapping_add(*b)));
        Self { mean: self.mean + factor * other.mean, losses: losses.collect(), hashes: hashes.collect() }
    }
}
