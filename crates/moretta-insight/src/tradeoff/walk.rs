//! Replays a generalization path on a profile that gets smaller as values are generalized.
//!
//! Why: to measure a point is to scan the tuples of the profile, and a path has hundreds of points. As long as the
//! steps only generalize, values of one cell stay together, so one of them, the *representative*, can replace the
//! others, and tuples that become equal are merged:
//!
//! ```text
//! zip (cut: {a1, a2} -> a)   age        zip   age
//! a1                         30         a1    30   x 2
//! a2                         30    ──▶  b1    40
//! b1                         40
//! whole profile, 3 tuples               coarse profile, 2 tuples: same groups, same losses
//! ```
//!
//! A later step may separate such values again (it reverts a step, or discloses). [`Walk::drop_unusable`] drops the
//! coarse profiles that have merged them, and [`Walk::look_ahead`] builds, before the first such step, a profile that
//! keeps apart all values which some later point keeps apart. Columns that are released as sets or means are never
//! merged: their labels depend on the values themselves.
//!
//! Cost: a point costs O(tuples of the smallest coarse profile); the kept profiles are together at most a few times as
//! large as the whole one.

use hashbrown::HashMap;
use moretta_core::{
    hierarchy::Cell,
    policy::ReleaseOptions,
    profile::{Column, Profile},
    recoding::{Cut, Recoding, Step},
    released::Released,
};

/// Coarsen again once the groups are at most this share of the tuples: coarsening costs about one scan. Not tuned.
const MAX_GROUPS_PER_TUPLE: f64 = 0.85;

/// A point of a path, and the profiles on which it can be measured.
pub(super) struct Walk<'a> {
    whole: &'a Profile,
    options: &'a ReleaseOptions,
    cut: Cut,
    /// Number of steps applied to the original table.
    step: usize,
    /// Each has fewer tuples than the one before. All of them fit the current cut after [`Walk::drop_unusable`].
    coarse: Vec<CoarseProfile>,
}

/// A smaller profile with the same groups and losses under every cut that keeps merged values in one cell.
struct CoarseProfile {
    /// By column and code, the code that represents it.
    representatives: Vec<Vec<u32>>,
    profile: Profile,
}

impl CoarseProfile {
    fn fits(&self, cut: &Cut) -> bool {
        let column = |(cells, representatives): (&Vec<Cell>, &Vec<u32>)| {
            cells.iter().zip(representatives).all(|(cell, &code)| *cell == cells[code as usize])
        };
        cut.cells.iter().zip(&self.representatives).all(column)
    }
}

impl<'a> Walk<'a> {
    /// Starts at the original table.
    pub(super) fn new(whole: &'a Profile, options: &'a ReleaseOptions) -> Self {
        Self { whole, options, cut: Cut::identity(whole), step: 0, coarse: Vec::new() }
    }

    pub(super) fn cut(&self) -> &Cut {
        &self.cut
    }

    pub(super) fn step(&self) -> usize {
        self.step
    }

    /// Applies the next steps to the cut.
    pub(super) fn advance(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.cut.apply(step));
        self.step += steps.len();
    }

    /// Drops the coarse profiles that have merged values which the current cut separates.
    pub(super) fn drop_unusable(&mut self) {
        while self.coarse.last().is_some_and(|coarse| !coarse.fits(&self.cut)) {
            self.coarse.pop();
        }
    }

    /// Replaces the coarse profiles by one that fits the cut at each of these points of `steps`.
    pub(super) fn look_ahead(&mut self, steps: &[Step], points: &[usize]) {
        let whole = self.whole;
        let has_own_form = |column: usize| self.options.prints_group_values(whole.columns()[column].domain.kind());
        // A part is a set of codes that share a cell at every point seen so far.
        let initial_parts = |(column, cells): (usize, &Vec<Cell>)| {
            if has_own_form(column) { (0..cells.len() as u32).collect() } else { vec![0; cells.len()] }
        };
        let mut parts: Vec<Vec<u32>> = self.cut.cells.iter().enumerate().map(initial_parts).collect();
        let mut cut = self.cut.clone();
        let mut step = self.step;
        for &point in points {
            steps[step..point].iter().for_each(|step| cut.apply(step));
            step = point;
            for (parts, cells) in parts.iter_mut().zip(&cut.cells) {
                split_by_cell(parts, cells);
            }
        }
        let representatives: Vec<Vec<u32>> = parts.iter().map(|parts| first_codes(parts.iter().copied())).collect();
        let profile = whole.coarsened(&representatives);
        self.coarse = vec![CoarseProfile { representatives, profile }];
    }

    /// The smallest profile that fits the current cut.
    fn profile(&self) -> &Profile {
        self.coarse.last().map_or(self.whole, |coarse| &coarse.profile)
    }

    /// The release under a cut, and the profile that it is a release of. The cut is the current one, or an earlier one
    /// that all coarse profiles fit.
    pub(super) fn released_under(&self, cut: &Cut) -> (Released, &Profile) {
        (Released::of_recoding(self.profile(), &Recoding::Global(cut.clone()), self.options), self.profile())
    }

    /// Adds a smaller coarse profile if that pays, given the number of groups under the current cut.
    pub(super) fn coarsen(&mut self, groups: usize) {
        if groups as f64 > MAX_GROUPS_PER_TUPLE * self.profile().tuples() as f64 {
            return;
        }
        let representatives = self.representatives();
        let profile = self.profile().coarsened(&representatives);
        // Groups can be fewer than merged tuples: sets and means of different tuples may print the same label.
        if profile.tuples() == self.profile().tuples() {
            return;
        }
        // A profile with more than half the tuples of the one before it is replaced: this bounds the memory of all.
        let before = self.coarse.len().checked_sub(2).map_or(self.whole, |index| &self.coarse[index].profile);
        if !self.coarse.is_empty() && self.profile().tuples() > before.tuples() / 2 {
            self.coarse.pop();
        }
        self.coarse.push(CoarseProfile { representatives, profile });
    }

    /// By column and code, the first code of its cell under the current cut.
    fn representatives(&self) -> Vec<Vec<u32>> {
        let column = |(column, cells): (&Column, &Vec<Cell>)| {
            if self.options.prints_group_values(column.domain.kind()) {
                return (0..cells.len() as u32).collect();
            }
            first_codes(cells.iter().copied())
        };
        self.whole.columns().iter().zip(&self.cut.cells).map(column).collect()
    }
}

/// For each code, the first code with the same key.
fn first_codes<K: Eq + std::hash::Hash>(keys: impl Iterator<Item = K>) -> Vec<u32> {
    let mut first = HashMap::new();
    (0u32..).zip(keys).map(|(code, key)| *first.entry(key).or_insert(code)).collect()
}

/// Splits each part into the codes with the same cell.
fn split_by_cell(parts: &mut [u32], cells: &[Cell]) {
    let mut known = HashMap::new();
    for (part, &cell) in parts.iter_mut().zip(cells) {
        let next = known.len() as u32;
        *part = *known.entry((*part, cell)).or_insert(next);
    }
}
