//! Columns that say the same as others: constant, duplicated, or determined by another column.
//!
//! A column *determines* another if no two records that are equal in it differ in the other. That is not reported where
//! it says nothing: a column with a different value in every record determines all others, because no value occurs
//! twice, and an id with a few repeated values determines most of them by chance. Each repetition of a value is a trial
//! that an independent column would pass with the probability that two random records are equal in it (1 - separation).
//! A dependency is reported if all trials together would be passed with a probability below [`MAX_CHANCE`]. The most
//! frequent value is not tried: often it is the missing one (those without a passport are children and have no maiden
//! name), and one value says nothing about the others.
//!
//! Two columns that determine each other divide the records alike: they are duplicates. Of a chain such as
//! `CITY -> COUNTY -> STATE`, the step from first to last follows from the others and is not repeated.

use rayon::prelude::*;
use serde::Serialize;

use super::Tally;
use crate::column_sets::ColumnSets;

/// Maximum probability that a reported dependency would also hold between independent columns. Small, because all pairs
/// of columns are tried.
const MAX_CHANCE: f64 = 1e-6;

/// Rows that are compared first: most columns that are independent differ there. Not tuned.
const FIRST_ROWS: usize = 10_000;

/// Columns that say the same as others, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Related {
    /// Columns with the same value in all records.
    pub constant: Vec<String>,
    /// Columns that divide the records alike.
    pub duplicates: Vec<Vec<String>>,
    /// Chains of columns, each of which determines the next. Of duplicates, the first stands for all.
    pub chains: Vec<Vec<String>>,
}

/// All dependencies between columns.
pub(super) struct Determined {
    /// By two columns: whether the first determines the second, for any reason.
    holds: Vec<Vec<bool>>,
    /// The same, where it is reported.
    reported: Vec<Vec<bool>>,
    is_constant: Vec<bool>,
    /// Number of pairs that were not compared.
    pub(super) left_out: u64,
}

impl Determined {
    /// Compares pairs of columns. `tallies` has the groups of each column; `max_pairs` is the number of pairs that may
    /// be compared over all rows. Of more pairs, those that the first rows do not refute are compared, and of these the
    /// first. Pairs that are not compared are treated as independent.
    pub(super) fn of(sets: &ColumnSets, tallies: &[Tally], max_pairs: u64) -> Self {
        let width = tallies.len();
        let is_constant: Vec<bool> = tallies.iter().map(|tally| tally.groups <= 1).collect();
        // A column never determines one with more values.
        let may_determine = |from: usize, to: usize| from != to && tallies[from].groups >= tallies[to].groups;
        let is_unique = |from: usize| tallies[from].groups == sets.records();
        let is_agreed = |from: usize| {
            let agrees =
                |&to: &usize| may_determine(from, to) && !is_unique(from) && sets.determines_in(from, to, FIRST_ROWS);
            (0..width).filter(agrees).map(|to| (from, to)).collect::<Vec<_>>()
        };
        let mut pairs: Vec<(usize, usize)> = (0..width).into_par_iter().flat_map_iter(is_agreed).collect();
        let left_out = (pairs.len() as u64).saturating_sub(max_pairs);
        pairs.truncate(usize::try_from(max_pairs).unwrap_or(usize::MAX));
        pairs = pairs.into_par_iter().filter(|&(from, to)| sets.determines(from, to)).collect();
        let mut holds: Vec<Vec<bool>> =
            (0..width).map(|from| (0..width).map(|to| is_unique(from) && may_determine(from, to)).collect()).collect();
        pairs.iter().for_each(|&(from, to)| holds[from][to] = true);
        let records = sets.records();
        let is_reported = |from: usize, to: usize| {
            let Tally { groups, largest, .. } = tallies[from];
            let trials = (records - groups - largest.saturating_sub(1)) as f64;
            let passed = 1.0 - tallies[to].figures(records).separation;
            holds[from][to] && !is_constant[to] && trials * passed.ln() < MAX_CHANCE.ln()
        };
        let reported = (0..width).map(|from| (0..width).map(|to| is_reported(from, to)).collect()).collect();
        Self { holds, reported, is_constant, left_out }
    }

    /// Whether one of two columns determines the other.
    pub(super) fn either(&self, one: usize, other: usize) -> bool {
        self.holds[one][other] || self.holds[other][one]
    }

    pub(super) fn is_constant(&self, column: usize) -> bool {
        self.is_constant[column]
    }

    /// Whether a column is reported as a duplicate of one before it.
    pub(super) fn is_copy(&self, column: usize) -> bool {
        (0..column).any(|before| self.alike(before, column))
    }

    fn alike(&self, one: usize, other: usize) -> bool {
        self.reported[one][other] && self.reported[other][one]
    }

    /// Returns the related columns by name.
    pub(super) fn related(&self, names: &[String]) -> Related {
        let width = names.len();
        let first: Vec<usize> = (0..width).filter(|&column| !self.is_copy(column)).collect();
        let name = |column: usize| names[column].clone();
        let duplicates = |&column: &usize| -> Vec<String> {
            std::iter::once(column)
                .chain((column..width).filter(|&other| self.alike(column, other)))
                .map(name)
                .collect()
        };
        Related {
            constant: (0..width).filter(|&column| self.is_constant[column]).map(name).collect(),
            duplicates: first.iter().map(duplicates).filter(|columns| columns.len() > 1).collect(),
            chains: self.chains(&first).into_iter().map(|chain| chain.into_iter().map(name).collect()).collect(),
        }
    }

    /// Chains with every direct step once. Steps have no cycles, because duplicates have one representative.
    fn chains(&self, columns: &[usize]) -> Vec<Vec<usize>> {
        let reported = |from: usize, to: usize| self.reported[from][to];
        let is_direct = |from: usize, to: usize| {
            let between = |&other: &usize| reported(from, other) && reported(other, to);
            reported(from, to) && !columns.iter().any(between)
        };
        let steps_from =
            |&from: &usize| columns.iter().filter(move |&&to| is_direct(from, to)).map(move |&to| (from, to));
        let mut steps: Vec<(usize, usize)> = columns.iter().flat_map(steps_from).collect();
        let mut chains = Vec::new();
        // A chain begins where no unused step ends.
        while let Some(at) = steps.iter().position(|(from, _)| !steps.iter().any(|(_, to)| to == from)) {
            let (from, mut last) = steps.remove(at);
            let mut chain = vec![from, last];
            while let Some(next) = steps.iter().position(|(from, _)| *from == last) {
                last = steps.remove(next).1;
                chain.push(last);
            }
            chains.push(chain);
        }
        chains
    }
}
