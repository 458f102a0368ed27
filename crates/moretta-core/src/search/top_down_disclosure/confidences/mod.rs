//! The confidence index: the current groups for each set of known columns (scope), and how each candidate would split
//! them. It gives the confidences of a disclosure without trying it on the table (the paper's QID-tree).
//!
//! **What.** A [`ScopeIndex`] groups the rows that are released with equal cells in its columns. A group has its number
//! of records and, for each guarded value, the records with it. For every open candidate that occurs in a group there
//! is an **entry**: the same counts, for the records that the disclosure would move to a new group. For the scope (Job,
//! Country), as records/guarded records:
//!
//! ```text
//! before                                   after disclosing Canada
//! group (*, *) 24/5                        group (*, Canada) 5/1, counted from the rows
//!   entries  Canada  5/1                     entries  Trader 1/0, Clerk 4/1
//!            Trader  6/4                   group (*, *) 19/4 = 24/5 - 5/1
//!            Clerk   4/1                     entries  Trader 5/4 = 6/4 - 1/0
//!            Cook    4/0                              Clerk  dropped, 4/1 - 4/1
//!            ..                                       Cook   4/0, unchanged
//! disclosing Trader would give             disclosing Trader would give (Trader, *) 5/4 = 80 %,
//! (Trader, *) 6/4 = 67 %                   which violates a limit of 75 %: rejected
//! ```
//!
//! **Why.** Every step needs the confidences after each open candidate, for its score and to reject violating ones.
//!
//! **How.** A disclosure splits the groups that have an entry of it and reads no others. The entries of the moved
//! records are counted from their rows, those of the remaining records by subtraction.
//!
//! *Confidences never fall*: when a group is split, one part has at least the share of the whole. So the highest
//! confidence after a disclosure is the running maximum over all entries that the candidate ever had, and only new
//! entries are evaluated. A group without guarded values stays without them and is no longer tracked.
//!
//! *Lowest shares never rise*, for the same reason. A candidate that violates a lower limit in one group is rejected at
//! once, so no running minimum is kept; lower limits do not affect the score. A group without guarded values violates
//! every lower limit, so a scope with a lower limit never has such a group.
//!
//! **Cost.** A disclosure costs its rows times the columns of the scope, and the entries of the groups that it splits.

#[cfg(test)]
mod audit;
mod entry_sums;

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;

use self::entry_sums::EntrySums;
use super::{
    candidates::{CandidateSet, NONE},
    constraints::Template,
    projected_rows::{ProjectedRows, Projection},
};
use crate::{
    ids::{AttributeId, TupleId},
    privacy::ShareLimit,
    profile::Profile,
    search::Observer,
};

/// The indexes of all scopes.
pub(super) struct Confidences {
    scopes: Vec<ScopeIndex>,
    /// By column, the scopes that contain it.
    scopes_by_column: Vec<Vec<usize>>,
    /// Number of groups that were split or got another cell, a measure of work.
    pub(super) touched: u64,
    /// Number of entries whose confidences were computed, a measure of work.
    pub(super) computed: u64,
}

/// The index of one scope. Counts are runs of numbers: all records, then those with each guarded value.
#[derive(Default)]
struct ScopeIndex {
    rows: Arc<ProjectedRows>,
    /// By guarded value (template), the limit on its share.
    limits: Vec<ShareLimit>,
    /// Whether some limit has a lower bound.
    has_lower: bool,
    /// By guarded value, the highest confidence in the current table.
    current: Vec<f64>,
    /// By candidate and guarded value, the highest confidence in the groups that the disclosure would change; empty for
    /// candidates of other columns.
    after: Vec<Vec<f64>>,
    /// Counts by row.
    counts: Vec<u32>,
    /// By row, its group or [`UNGUARDED`].
    group_of: Vec<u32>,
    groups: Vec<EntryRange>,
    /// Counts by group.
    sums: Vec<u32>,
    /// All entries: the id of a candidate, then the counts of the records that it would move.
    arena: Vec<u32>,
    /// Length of the arena after it was last compacted.
    used: usize,
    entry_sums: EntrySums,
    /// Candidates that were found to violate a limit, not yet rejected.
    violating: Vec<u32>,
    touched: u64,
    computed: u64,
}

/// The entries of a group in the arena.
#[derive(Debug, Clone, Copy, Default)]
struct EntryRange {
    start: usize,
    /// Number of entries.
    len: usize,
    /// Number of entries that fit without moving them.
    capacity: usize,
}

/// Group of all rows whose group has no guarded values; it is not tracked.
const UNGUARDED: u32 = u32::MAX;

impl Confidences {
    /// `templates` with the same scope share an index over the rows of that scope. Returns `None` if the observer stops
    /// it.
    pub(super) fn new(
        profile: &Profile,
        candidates: &CandidateSet<'_>,
        templates: &[Template],
        rows: &BTreeMap<Vec<usize>, Projection>,
        observer: &dyn Observer,
    ) -> Option<Self> {
        let by_scope: Vec<&[Template]> = templates.chunk_by(|a, b| a.scope == b.scope).collect();
        let scope = |templates: &&[Template]| {
            let projection = rows.get(&templates[0].scope).filter(|_| observer.stop().is_none())?;
            Some(ScopeIndex::new(profile, candidates, projection, templates))
        };
        let scopes: Vec<ScopeIndex> = by_scope.par_iter().map(scope).collect::<Option<_>>()?;
        let knows = |scope: &usize, column: usize| scopes[*scope].rows.position_of(column).is_some();
        let scopes_with = |column: usize| (0..scopes.len()).filter(|scope| knows(scope, column)).collect();
        let scopes_by_column = (0..profile.columns().len()).map(scopes_with).collect();
        let mut confidences = Self { scopes, scopes_by_column, touched: 0, computed: 0 };
        confidences.collect_counters();
        Some(confidences)
    }

    fn with_column(&mut self, column: usize) -> impl IndexedParallelIterator<Item = &mut ScopeIndex> {
        let knows = |scope: &&mut ScopeIndex| scope.rows.position_of(column).is_some();
        self.scopes.iter_mut().filter(knows).collect::<Vec<_>>().into_par_iter()
    }

    fn collect_counters(&mut self) {
        for scope in &mut self.scopes {
            self.touched += std::mem::take(&mut scope.touched);
            self.computed += std::mem::take(&mut scope.computed);
        }
    }

    /// Replaces rejected candidates by new ones, which have the ids from `new` on; [`CandidateSet::reject`] comes
    /// first.
    pub(super) fn replace(&mut self, candidates: &CandidateSet<'_>, old: &[u32], new: usize) {
        for old in old.chunk_by(|a, b| candidates.get(*a).column == candidates.get(*b).column) {
            let column = candidates.get(old[0]).column;
            self.with_column(column).for_each(|scope| scope.replace(candidates, old, new));
        }
        self.collect_counters();
    }

    /// Updates the index after a disclosure; [`CandidateSet::disclose`] comes first.
    pub(super) fn disclose(&mut self, candidates: &CandidateSet<'_>, id: u32) {
        self.with_column(candidates.get(id).column).for_each(|scope| scope.disclose(candidates, id));
        self.collect_counters();
    }

    /// Removes and returns the open candidates that were found to violate a template, in order of column and id.
    pub(super) fn take_violating(&mut self, candidates: &CandidateSet<'_>) -> Vec<u32> {
        let mut violating: Vec<u32> =
            self.scopes.iter_mut().flat_map(|scope| std::mem::take(&mut scope.violating)).collect();
        violating.retain(|&id| candidates.is_open(id));
        violating.sort_unstable_by_key(|&id| (candidates.get(id).column, id));
        violating.dedup();
        violating
    }

    /// Increase of the highest confidence by a disclosure, averaged over the templates that contain its column.
    pub(super) fn privacy_loss(&self, column: usize, id: u32) -> f64 {
        let (mut sum, mut templates) = (0.0, 0);
        for scope in self.scopes_by_column[column].iter().map(|&scope| &self.scopes[scope]) {
            let after = &scope.after[id as usize];
            sum += after.iter().zip(&scope.current).map(|(after, now)| after.max(*now) - now).sum::<f64>();
            templates += after.len();
        }
        if templates > 0 { sum / f64::from(templates as u32) } else { 0.0 }
    }

    /// Whether some scope contains both columns.
    pub(super) fn share_a_scope(&self, a: usize, b: usize) -> bool {
        self.scopes_by_column[a].iter().any(|scope| self.scopes_by_column[b].contains(scope))
    }
}

impl ScopeIndex {
    fn new(profile: &Profile, candidates: &CandidateSet<'_>, projection: &Projection, templates: &[Template]) -> Self {
        let (rows, row_by_tuple) = (Arc::clone(&projection.rows), &projection.row_by_tuple);
        let width = 1 + templates.len();
        let mut counts = vec![0u32; rows.len() * width];
        let attributes = profile.attributes().len();
        // By attribute, the guarded values with their template, in order of value.
        let mut guards: Vec<Vec<(u32, usize)>> = vec![Vec::new(); attributes];
        for (template_index, template) in templates.iter().enumerate() {
            guards[template.attribute.index()].push((template.value, template_index));
        }
        guards.iter_mut().for_each(|guards| guards.sort_unstable());
        let guarded: Vec<_> = (0..attributes).filter(|&attribute| !guards[attribute].is_empty()).collect();
        for tuple in (0..profile.tuples() as u32).map(TupleId) {
            let row = row_by_tuple[tuple.index()] as usize;
            let counts = &mut counts[row * width..(row + 1) * width];
            counts[0] += profile.tuple_records(tuple) as u32;
            for variant in profile.variants_of(tuple) {
                for &attribute in &guarded {
                    let value = profile.value(variant, AttributeId::from_index(attribute));
                    let from = guards[attribute].partition_point(|(guarded, _)| *guarded < value);
                    let same = guards[attribute][from..].iter().take_while(|(guarded, _)| *guarded == value);
                    same.for_each(|(_, template_index)| {
                        counts[1 + template_index] += profile.variant_records(variant) as u32
                    });
                }
            }
        }
        let mut scope = Self {
            group_of: vec![0; rows.len()],
            groups: vec![EntryRange::default()],
            sums: vec![0; width],
            rows,
            limits: templates.iter().map(|template| template.share).collect(),
            has_lower: templates.iter().any(|template| template.share.has_lower()),
            counts,
            ..Self::default()
        };
        scope.start(candidates);
        scope
    }

    fn width(&self) -> usize {
        1 + self.limits.len()
    }

    fn start(&mut self, candidates: &CandidateSet<'_>) {
        let width = self.width();
        for counts in self.counts.chunks(width) {
            self.sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
        let total = f64::from(self.sums[0].max(1));
        self.current = self.sums[1..].iter().map(|&guarded| f64::from(guarded) / total).collect();
        let all: Vec<u32> = (0..self.rows.len() as u32).collect();
        self.enter_candidates(candidates);
        self.sum_entries(candidates, &all, None);
        self.store_entries(0);
        self.update_confidences(candidates, 0, 0);
    }

    fn enter_candidates(&mut self, candidates: &CandidateSet<'_>) {
        let templates = self.limits.len();
        for id in self.after.len()..candidates.len() {
            let known = self.rows.position_of(candidates.get(id as u32).column).is_some();
            self.after.push(vec![0.0; if known { templates } else { 0 }]);
        }
    }

    /// Sums the counts of rows by candidate, in all columns or at one position.
    fn sum_entries(&mut self, candidates: &CandidateSet<'_>, rows: &[u32], position: Option<usize>) {
        let width = self.width();
        let positions = position.map_or(0..self.rows.columns().len(), |position| position..position + 1);
        for position in positions {
            let candidate_by_code = candidates.candidate_by_code(self.rows.columns()[position]);
            for &row in rows {
                let candidate = candidate_by_code[self.rows.codes(row)[position] as usize];
                if candidate != NONE {
                    self.entry_sums.add(candidate, &self.counts[row as usize * width..(row as usize + 1) * width]);
                }
            }
        }
    }

    /// Stores the sums as the entries of a group, and clears them.
    fn store_entries(&mut self, group: u32) {
        let width = self.width();
        let EntryRange { start, capacity, .. } = self.groups[group as usize];
        let len = self.entry_sums.candidates().len();
        let (start, capacity) = if len <= capacity { (start, capacity) } else { (self.arena.len(), len) };
        self.arena.resize(self.arena.len().max(start + capacity * (1 + width)), 0);
        let entries = self.arena[start..].chunks_mut(1 + width);
        for (entry, &candidate) in entries.zip(self.entry_sums.candidates()) {
            entry[0] = candidate;
            entry[1..].copy_from_slice(self.entry_sums.of(candidate, width).unwrap_or(&[]));
        }
        self.groups[group as usize] = EntryRange { start, len, capacity };
        self.entry_sums.clear(width);
    }

    /// Raises the confidences after the candidates with ids from `from` on by the entries of a group, and collects
    /// those that violate a limit.
    fn update_confidences(&mut self, candidates: &CandidateSet<'_>, group: u32, from: usize) {
        let width = self.width();
        let EntryRange { start, len, .. } = self.groups[group as usize];
        let sums = &self.sums[group as usize * width..(group as usize + 1) * width];
        for entry in self.arena[start..start + len * (1 + width)].chunks(1 + width) {
            if (entry[0] as usize) < from || !candidates.is_open(entry[0]) {
                continue;
            }
            self.computed += 1;
            let moved = f64::from(entry[1]);
            let remaining = f64::from(sums[0] - entry[1]);
            let mut violates = false;
            for (template_index, after) in self.after[entry[0] as usize].iter_mut().enumerate() {
                let moved_guarded = entry[2 + template_index];
                let remaining_guarded = sums[1 + template_index] - moved_guarded;
                // A part without records has no confidence: 0 / 0 is NaN, which `max` ignores.
                *after = after.max(f64::from(moved_guarded) / moved).max(f64::from(remaining_guarded) / remaining);
                violates |= self.limits[template_index].is_too_large(*after);
            }
            if violates || (self.has_lower && self.violates_lower(&entry[1..], sums)) {
                self.violating.push(entry[0]);
            }
        }
    }

    /// Whether moving the records counted in `moved` out of a group with the counts `sums` gives a part with too small
    /// a share of a value.
    fn violates_lower(&self, moved: &[u32], sums: &[u32]) -> bool {
        let remaining = sums[0] - moved[0];
        self.limits.iter().zip(moved[1..].iter().zip(&sums[1..])).any(|(limit, (&guarded, &all))| {
            // If all records move, there is no remaining group to judge.
            limit.is_too_small(f64::from(guarded) / f64::from(moved[0]))
                || (remaining > 0 && limit.is_too_small(f64::from(all - guarded) / f64::from(remaining)))
        })
    }

    /// Rebuilds the arena without gaps if most of it is gaps, from entries that moved or were dropped.
    fn compact_arena(&mut self, candidates: &CandidateSet<'_>) {
        if self.arena.len() < 4 * self.used + (1 << 16) {
            return;
        }
        let width = self.width();
        let mut arena = Vec::new();
        for group in &mut self.groups {
            let from = arena.len();
            let entries = self.arena[group.start..group.start + group.len * (1 + width)].chunks(1 + width);
            entries.filter(|entry| candidates.is_open(entry[0])).for_each(|entry| arena.extend(entry));
            let len = (arena.len() - from) / (1 + width);
            *group = EntryRange { start: from, len, capacity: len };
        }
        self.used = arena.len();
        self.arena = arena;
    }

    fn is_unguarded(&self, group: u32) -> bool {
        let width = self.width();
        self.sums[group as usize * width + 1..(group as usize + 1) * width].iter().all(|&guarded| guarded == 0)
    }

    /// Pairs of group and row for the rows with codes in some ranges, sorted; unguarded rows are left out.
    fn rows_by_group(&mut self, position: usize, ranges: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for (first, last) in ranges {
            for &row in self.rows.rows_with(position, first, last) {
                let group = self.group_of[row as usize];
                if group != UNGUARDED && self.is_unguarded(group) {
                    self.group_of[row as usize] = UNGUARDED;
                } else if group != UNGUARDED {
                    found.push((group, row));
                }
            }
        }
        // Sorting by a single integer is faster than sorting pairs.
        found.sort_unstable_by_key(|&(group, row)| u64::from(group) << 32 | u64::from(row));
        found
    }

    /// Replaces the entries of rejected candidates of one column by those of the candidates with ids from `new` on.
    fn replace(&mut self, candidates: &CandidateSet<'_>, old: &[u32], new: usize) {
        self.enter_candidates(candidates);
        let Some(position) = self.rows.position_of(candidates.get(old[0]).column) else { return };
        let width = self.width();
        let rows = self.rows_by_group(position, old.iter().map(|&id| candidates.range_of_change(id)));
        let mut group_rows = Vec::new();
        for of_group in rows.chunk_by(|a, b| a.0 == b.0) {
            let group = of_group[0].0;
            group_rows.clear();
            group_rows.extend(of_group.iter().map(|(_, row)| *row));
            self.sum_entries(candidates, &group_rows, Some(position));
            let EntryRange { start, len, .. } = self.groups[group as usize];
            let entries = self.arena[start..start + len * (1 + width)].chunks(1 + width);
            for entry in entries.filter(|entry| candidates.is_open(entry[0])) {
                self.entry_sums.add(entry[0], &entry[1..]);
            }
            self.store_entries(group);
            self.update_confidences(candidates, group, new);
        }
        self.compact_arena(candidates);
    }

    fn disclose(&mut self, candidates: &CandidateSet<'_>, id: u32) {
        self.enter_candidates(candidates);
        self.current.iter_mut().zip(&self.after[id as usize]).for_each(|(now, after)| *now = now.max(*after));
        let candidate = candidates.get(id);
        let Some(position) = self.rows.position_of(candidate.column) else { return };
        let rows = self.rows_by_group(position, std::iter::once(candidates.range_of_change(id)));
        let mut moved = Vec::new();
        let mut remaining = Vec::new();
        for of_group in rows.chunk_by(|a, b| a.0 == b.0) {
            let group = of_group[0].0;
            moved.clear();
            remaining.clear();
            for &(_, row) in of_group {
                let is_moved = self.rows.codes(row)[position] <= candidate.last;
                if is_moved { moved.push(row) } else { remaining.push(row) }
            }
            self.touched += 1;
            self.split(candidates, group, &moved, candidates.is_free_number(candidate.column).then_some(&remaining));
        }
        self.compact_arena(candidates);
    }

    /// Splits a group: some rows move to a new group. `remaining` are the other rows, if their candidate changes, too.
    fn split(&mut self, candidates: &CandidateSet<'_>, group: u32, moved: &[u32], remaining: Option<&Vec<u32>>) {
        let width = self.width();
        let mut sums = vec![0u32; width];
        for &row in moved {
            let counts = &self.counts[row as usize * width..(row as usize + 1) * width];
            sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
        let group_sums = group as usize * width..(group as usize + 1) * width;
        if sums[0] == self.sums[group_sums.start] || moved.is_empty() {
            // All rows move, or none: the group is not split, only its cell changes.
            let rows = if moved.is_empty() { remaining.map_or(&[][..], Vec::as_slice) } else { moved };
            self.sum_entries(candidates, rows, None);
            self.store_entries(group);
            self.update_confidences(candidates, group, 0);
            return;
        }
        self.sums[group_sums].iter_mut().zip(&sums).for_each(|(sum, less)| *sum -= less);
        self.sum_entries(candidates, moved, None);
        if remaining.is_none() {
            self.subtract(candidates, group);
        }
        let new = self.groups.len() as u32;
        if sums[1..].iter().all(|&guarded| guarded == 0) {
            moved.iter().for_each(|&row| self.group_of[row as usize] = UNGUARDED);
            self.entry_sums.clear(width);
        } else {
            moved.iter().for_each(|&row| self.group_of[row as usize] = new);
            self.groups.push(EntryRange::default());
            self.sums.extend(sums);
            self.store_entries(new);
            self.update_confidences(candidates, new, 0);
        }
        if self.is_unguarded(group) {
            self.groups[group as usize].len = 0;
            return;
        }
        if let Some(remaining) = remaining {
            self.sum_entries(candidates, remaining, None);
            self.store_entries(group);
        }
        self.update_confidences(candidates, group, 0);
    }

    /// Subtracts the sums of the moved rows from the entries of their old group.
    fn subtract(&mut self, candidates: &CandidateSet<'_>, group: u32) {
        let width = self.width();
        let EntryRange { start, len, .. } = self.groups[group as usize];
        let mut kept = 0;
        for entry in 0..len {
            let from = start + entry * (1 + width);
            let id = self.arena[from];
            if !candidates.is_open(id) {
                continue;
            }
            if let Some(moved) = self.entry_sums.of(id, width) {
                self.arena[from + 1..from + 1 + width].iter_mut().zip(moved).for_each(|(sum, less)| *sum -= less);
            }
            if self.arena[from + 1] > 0 {
                self.arena.copy_within(from..from + 1 + width, start + kept * (1 + width));
                kept += 1;
            }
        }
        self.groups[group as usize].len = kept;
    }
}
