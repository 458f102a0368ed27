//! Counts all sets of columns, size by size, and finds the records for which a set is minimal.
//!
//! The sets of one size are the leaves of a tree of prefixes. Each prefix has the partition of the rows that are not
//! yet alone, which its extensions refine. A row that becomes alone with the last column has no smaller set inside if
//! it is not alone in any other set of one column less; these rows are kept as bits from the previous size. (A row that
//! is alone in a smaller set is alone in every set around it, so sets of one column less suffice.)
//!
//! Columns are sorted by falling number of values: prefixes then leave few rows, and the arrays of leaves are small.
//! Threads share the tree; all results are sums or in the order of the tree, so they do not depend on threads.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use hashbrown::HashMap;
use moretta_core::observer::Observer;
use rayon::prelude::*;

use super::{Interrupted, Tally, dependencies::Determined};
use crate::column_sets::{Cell, ColumnSets, Partition, Scratch};

/// Counts sets of columns.
pub(super) struct Search<'a> {
    sets: &'a ColumnSets,
    determined: &'a Determined,
    /// Columns that are not constant, those with most values first. A *position* is an index into it.
    order: Vec<usize>,
    observer: &'a dyn Observer,
    /// Number of sets counted, of `of`.
    done: AtomicU64,
    of: AtomicU64,
    stopped: AtomicBool,
}

/// A set of columns and its groups.
pub(super) struct SetCount {
    /// Ascending.
    pub columns: Vec<usize>,
    pub tally: Tally,
    /// Whether one of its columns determines another.
    pub is_dependent: bool,
    /// Whether it is known for how many records the set is minimal.
    pub is_judged: bool,
    /// Number of records for which the set is minimal.
    pub minimal: u64,
    /// Positions of the columns, and the rows alone in the set if they are needed for the next size.
    positions: Vec<usize>,
    alone: Option<Bits>,
}

/// All sets of one size.
pub(super) struct Level {
    pub size: usize,
    pub sets: Vec<SetCount>,
    /// Number of records whose smallest minimal unique set has this size.
    pub first: u64,
    /// By row: number of its minimal unique sets of this size.
    hits: Vec<u32>,
}

/// All sizes that were counted.
pub(super) struct Levels {
    pub levels: Vec<Level>,
}

impl Levels {
    /// Highest sum of weights of the minimal unique sets of a row.
    pub(super) fn highest(&self, weight: impl Fn(usize) -> f64) -> f64 {
        let rows = self.levels.first().map_or(0, |level| level.hits.len());
        let score = |row: usize| {
            let of_level =
                |level: &Level| level.hits.get(row).map_or(0.0, |&hits| f64::from(hits) * weight(level.size));
            self.levels.iter().map(of_level).sum::<f64>()
        };
        (0..rows).map(score).fold(0.0, f64::max)
    }
}

/// A bit per row.
#[derive(Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn none(rows: usize) -> Self {
        Self(vec![0; rows.div_ceil(64)])
    }

    fn set(&mut self, row: u32) {
        self.0[row as usize / 64] |= 1 << (row % 64);
    }

    fn has(&self, row: u32) -> bool {
        self.0[row as usize / 64] >> (row % 64) & 1 == 1
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(
        sets: &'a ColumnSets,
        tallies: &[Tally],
        determined: &'a Determined,
        observer: &'a dyn Observer,
    ) -> Self {
        let mut order: Vec<usize> = (0..tallies.len()).filter(|&column| !determined.is_constant(column)).collect();
        order.sort_by_key(|&column| (std::cmp::Reverse(tallies[column].groups), column));
        let (done, of) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { sets, determined, order, observer, done, of, stopped: AtomicBool::new(false) }
    }

    /// Number of columns that are not constant.
    pub(super) fn width(&self) -> usize {
        self.order.len()
    }

    pub(super) fn rows(&self) -> u64 {
        self.sets.rows() as u64
    }

    /// The columns behind the first `first`.
    pub(super) fn columns(&self, first: usize) -> impl Iterator<Item = usize> {
        self.order[first..].iter().copied()
    }

    fn is_dependent(&self, one: usize, other: usize) -> bool {
        self.determined.either(self.order[one], self.order[other])
    }

    /// Number of sets of a size without dependent columns; counting ends above `max`.
    pub(super) fn count_sets(&self, size: usize, max: u64) -> u64 {
        let mut found = 0;
        self.count_extensions(&mut Vec::with_capacity(size), size, max, &mut found);
        found
    }

    fn count_extensions(&self, prefix: &mut Vec<usize>, size: usize, max: u64, found: &mut u64) {
        if prefix.len() == size {
            *found += 1;
            return;
        }
        for position in prefix.last().map_or(0, |last| last + 1)..self.width() {
            if *found > max {
                return;
            }
            if !prefix.iter().any(|&other| self.is_dependent(other, position)) {
                prefix.push(position);
                self.count_extensions(prefix, size, max, found);
                prefix.pop();
            }
        }
    }

    /// Counts all sets of up to `sizes` columns and judges which are minimal, and the pairs of the first `paired`
    /// columns.
    pub(super) fn run(&self, paired: usize, sizes: usize) -> Result<Levels, Interrupted> {
        let planned = (3..=sizes).map(|size| self.count_sets(size, u64::MAX)).sum::<u64>();
        self.of.store((self.width() + paired * paired.saturating_sub(1) / 2) as u64 + planned, Relaxed);
        let whole = Partition::whole(self.sets.rows());
        let mut levels: Vec<Level> = Vec::new();
        let mut alone: HashMap<Vec<usize>, Bits> = HashMap::new();
        for size in 1..=sizes.max(2) {
            let judged = size <= sizes;
            let width = if size == 2 { paired } else { self.width() };
            let hits = if judged { (0..self.sets.rows()).map(|_| AtomicU32::new(0)).collect() } else { Vec::new() };
            let walk = Walk { search: self, size, width, judged, keep: size < sizes, alone: &alone, hits };
            let mut sets = walk.extensions(&[], &whole, Tally::default());
            if self.stopped.load(Relaxed) {
                return Err(Interrupted);
            }
            let hits: Vec<u32> = walk.hits.into_iter().map(AtomicU32::into_inner).collect();
            let is_first = |(row, hits): &(usize, &u32)| **hits > 0 && !levels.iter().any(|level| level.hits[*row] > 0);
            let first = hits.iter().enumerate().filter(is_first).count() as u64;
            alone = sets.iter_mut().filter_map(|set| Some((set.positions.clone(), set.alone.take()?))).collect();
            levels.push(Level { size, sets, first, hits });
        }
        Ok(Levels { levels })
    }
}

/// One pass over the tree of sets of a size.
struct Walk<'a> {
    search: &'a Search<'a>,
    size: usize,
    /// Number of positions.
    width: usize,
    judged: bool,
    /// Whether the rows alone in a set are needed for the next size.
    keep: bool,
    /// The rows alone in the sets of the previous size.
    alone: &'a HashMap<Vec<usize>, Bits>,
    /// By row: number of its minimal unique sets so far; empty if not judged.
    hits: Vec<AtomicU32>,
}

impl Walk<'_> {
    /// Counts the sets that extend a prefix. `left_out` has the groups of one row in the prefix, which the partition
    /// lacks.
    fn extensions(&self, prefix: &[usize], partition: &Partition, left_out: Tally) -> Vec<SetCount> {
        let (search, missing) = (self.search, self.size - prefix.len());
        let next = prefix.last().map_or(0, |last| last + 1)..(self.width + 1).saturating_sub(missing);
        let extend = |scratch: &mut Scratch, position: usize| {
            if search.observer.stop().is_some() {
                search.stopped.store(true, Relaxed);
            }
            let is_dependent = prefix.iter().any(|&other| search.is_dependent(other, position));
            // Pairs are reported even if one column determines the other.
            if search.stopped.load(Relaxed) || (is_dependent && self.size > 2) {
                return Vec::new();
            }
            let set: Vec<usize> = prefix.iter().copied().chain([position]).collect();
            if missing == 1 {
                return vec![self.count(set, is_dependent, (partition, left_out), scratch)];
            }
            let mut left_out = left_out;
            let column = search.order[position];
            let refined = partition.refined(search.sets, column, scratch, |cell| left_out.add(cell.records));
            self.extensions(&set, &refined, left_out)
        };
        let found: Vec<Vec<SetCount>> = next.into_par_iter().map_init(Scratch::default, extend).collect();
        found.into_iter().flatten().collect()
    }

    /// Counts one set, whose last position splits the partition of the others.
    fn count(
        &self,
        positions: Vec<usize>,
        is_dependent: bool,
        (partition, left_out): (&Partition, Tally),
        scratch: &mut Scratch,
    ) -> SetCount {
        let search = self.search;
        let without = |index: usize| {
            let mut smaller = positions.clone();
            smaller.remove(index);
            self.alone.get(&smaller)
        };
        let last = self.size - 1;
        let smaller: Vec<&Bits> = if self.judged { (0..last).filter_map(without).collect() } else { Vec::new() };
        let mut alone = (self.keep && !is_dependent).then(|| {
            let before = if last > 0 { without(last) } else { None };
            before.cloned().unwrap_or_else(|| Bits::none(search.sets.rows()))
        });
        let is_judged = self.judged && !is_dependent;
        let (mut tally, mut minimal) = (left_out, 0);
        partition.for_each_cell(
            search.sets,
            search.order[positions[last]],
            scratch,
            |Cell { first, records, .. }| {
                tally.add(records);
                if records == 1 && is_judged {
                    if !smaller.iter().any(|bits| bits.has(first)) {
                        minimal += 1;
                        self.hits[first as usize].fetch_add(1, Relaxed);
                    }
                    if let Some(alone) = &mut alone {
                        alone.set(first);
                    }
                }
            },
        );
        search.observer.progress(search.done.fetch_add(1, Relaxed) + 1, search.of.load(Relaxed));
        let mut columns: Vec<usize> = positions.iter().map(|&position| search.order[position]).collect();
        columns.sort_unstable();
        SetCount { columns, tally, is_dependent, is_judged: self.judged, minimal, positions, alone }
    }
}
