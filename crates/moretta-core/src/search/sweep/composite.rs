//! Columns packed together, so that a tuple's box is found with fewer looks.
//!
//! A pack is some columns as one: its codes are the combinations of theirs, its levels the combinations of their levels, and what a
//! code is and costs on a level is the sum over the columns. Columns of few values go together, others stay alone.

use super::{context::SweepColumn, levels::Level};
use crate::{ids::TupleId, profile::Profile};

/// A pack has at most so many codes, unless it is one column.
const MAX_CODES: usize = 4096;

/// And at most so many entries over all its levels.
const MAX_ENTRIES: usize = 1 << 20;

/// The columns that are no part of the trunk, packed.
pub(super) struct CompositeColumns {
    /// The columns of each pack.
    members: Vec<Vec<usize>>,
    /// The codes of the tuples, row-major.
    codes: Vec<u32>,
}

impl CompositeColumns {
    pub(super) fn new(profile: &Profile, columns: &[SweepColumn], prefix_len: usize) -> Self {
        let values = |column: usize| profile.columns()[columns[column].index].domain.len();
        let mut by_values: Vec<usize> = (prefix_len..columns.len()).collect();
        by_values.sort_by_key(|&column| (std::cmp::Reverse(values(column)), column));
        let mut members: Vec<Vec<usize>> = Vec::new();
        for column in by_values {
            let fits = |composite: &&mut Vec<usize>| {
                let all = || composite.iter().chain([&column]);
                let codes = all().map(|&of| values(of)).fold(1, usize::saturating_mul);
                let levels = all().map(|&of| columns[of].levels.len()).fold(1, usize::saturating_mul);
                codes <= MAX_CODES && codes.saturating_mul(levels) <= MAX_ENTRIES
            };
            match members.iter_mut().find(fits) {
                Some(composite) => composite.push(column),
                None => members.push(vec![column]),
            }
        }
        let code = |tuple: usize, composite: &Vec<usize>| {
            composite.iter().fold(0, |code, &column| code * values(column) as u32 + columns[column].codes[tuple])
        };
        let codes = (0..profile.tuples()).flat_map(|tuple| members.iter().map(move |composite| code(tuple, composite)));
        let codes = codes.collect();
        Self { members, codes }
    }

    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    pub(super) fn codes(&self, tuple: TupleId) -> &[u32] {
        let composites = self.members.len();
        &self.codes[tuple.index() * composites..(tuple.index() + 1) * composites]
    }

    /// The levels of each pack, with each column's losses times its factor.
    pub(super) fn levels(&self, columns: &[SweepColumn], factors: &[f64]) -> Vec<Vec<Level>> {
        let composite = |members: &Vec<usize>| {
            let mut composite = vec![Level { mean: 0.0, losses: vec![0.0], hashes: vec![0] }];
            for column in members.iter().map(|&column| &columns[column]) {
                let both = |one: &Level, other: &Level| one.combine(other, factors[column.index]);
                composite =
                    composite.iter().flat_map(|one| column.levels.iter().map(move |other| both(one, other))).collect();
            }
            composite
        };
        self.members.iter().map(composite).collect()
    }

    /// What there is for the levels of the packs, where each column has one of its own.
    pub(super) fn select<'l, T>(
        &self,
        of_levels: &'l [Vec<T>],
        columns: &[SweepColumn],
        chosen: &[usize],
    ) -> Vec<&'l T> {
        let composite = |(members, of_levels): (&Vec<usize>, &'l Vec<T>)| {
            &of_levels[members.iter().fold(0, |level, &column| level * columns[column].levels.len() + chosen[column])]
        };
        self.members.iter().zip(of_levels).map(composite).collect()
    }
}

impl Level {
    /// Two levels as one, the losses of the other times a factor.
    fn combine(&self, other: &Self, factor: f64) -> Self {
        let losses = self.losses.iter().flat_map(|a| other.losses.iter().map(move |b| a + factor * b));
        let hashes = self.hashes.iter().flat_map(|a| other.hashes.iter().map(move |b| a.wrapping_add(*b)));
        Self { mean: self.mean + factor * other.mean, losses: losses.collect(), hashes: hashes.collect() }
    }
}
