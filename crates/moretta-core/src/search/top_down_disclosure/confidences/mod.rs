//! What can be inferred now, and what could be once a candidate is told: a QID-tree for each set of known columns.
//!
//! A [`Scope`] groups the rows that print alike in its columns, each group with how many records it has and how many of
//! them carry each guarded value; and for every open candidate that occurs in a group, the same counts of the records that
//! would leave the group with it (an **entry**). Telling a candidate splits the groups that have an entry of it and
//! touches no others; the entries of what leaves are counted from its rows, those of what stays by subtraction.
//!
//! **Confidences never fall.** When a group splits, one of its parts has at least its share of a value. So the highest
//! confidence after telling a candidate is the running maximum over all entries it ever had, and only new ones are
//! looked at. A group without any guarded value has none ever after, and is forgotten.
//!
//! **Lowest shares never rise**, for the same reason. A candidate that breaks a lower limit in one group is given up at
//! once, so no running minimum is kept; lower limits do not affect the score. A group without any guarded value violates
//! every lower limit, so a scope with a lower limit never has such a group to forget.

#[cfg(test)]
mod audit;
mod entry_sums;

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;

use self::entry_sums::EntrySums;
use super::{
    candidates::{Columns, NONE},
    constraints::Template,
    projected_rows::{ProjectedRows, Projection},
};
use crate::{ids::TupleId, privacy::ShareLimit, profile::Profile, search::Observer};

/// All sets of known columns.
pub(super) struct Confidences {
    scopes: Vec<Scope>,
    /// By column, the scopes that know it.
    with: Vec<Vec<usize>>,
    /// Groups that were split or told as something else.
    pub(super) touched: u64,
    /// Entries whose confidences were computed.
    pub(super) computed: u64,
}

/// One set of known columns, and what it must not tell.
#[derive(Default)]
struct Scope {
    rows: Arc<ProjectedRows>,
    /// By guarded value, the limit on its share.
    limits: Vec<ShareLimit>,
    /// Whether one of them has a lower side.
    has_lower: bool,
    /// By guarded value, the highest confidence in the table as it is told now.
    now: Vec<f64>,
    /// By candidate and guarded value, the highest confidence in what telling it changes. Empty for other columns.
    after: Vec<Vec<f64>>,
    /// By row: its records, and those of each guarded value.
    counts: Vec<u32>,
    group_of: Vec<u32>,
    groups: Vec<Entries>,
    /// By group: its records, and those of each guarded value.
    sums: Vec<u32>,
    /// A candidate, then the counts of what would leave with it.
    arena: Vec<u32>,
    /// How much of it was in use when it was last looked through.
    used: usize,
    entry_sums: EntrySums,
    /// Candidates that were found to break a limit.
    violating: Vec<u32>,
    touched: u64,
    computed: u64,
}

/// Where the entries of a group are.
#[derive(Debug, Clone, Copy, Default)]
struct Entries {
    at: usize,
    len: usize,
    /// For how many there is room.
    room: usize,
}

/// The group of rows of which nothing guarded can be inferred any more.
const QUIET: u32 = u32::MAX;

impl Confidences {
    /// `templates` of the same columns share a scope, whose rows are given. None where it was stopped.
    pub(super) fn new(
        profile: &Profile,
        columns: &Columns<'_>,
        templates: &[Template],
        rows: &BTreeMap<Vec<usize>, Projection>,
        observer: &dyn Observer,
    ) -> Option<Self> {
        let by_scope: Vec<&[Template]> = templates.chunk_by(|a, b| a.scope == b.scope).collect();
        let scope = |templates: &&[Template]| {
            let projection = rows.get(&templates[0].scope).filter(|_| observer.stop().is_none())?;
            Some(Scope::new(profile, columns, projection, templates))
        };
        let scopes: Vec<Scope> = by_scope.par_iter().map(scope).collect::<Option<_>>()?;
        let knows = |scope: &usize, column: usize| scopes[*scope].rows.position_of(column).is_some();
        let with = |column: usize| (0..scopes.len()).filter(|scope| knows(scope, column)).collect();
        let with = (0..profile.columns().len()).map(with).collect();
        let mut confidences = Self { scopes, with, touched: 0, computed: 0 };
        confidences.count();
        Some(confidences)
    }

    fn with_column(&mut self, column: usize) -> impl IndexedParallelIterator<Item = &mut Scope> {
        let knows = |scope: &&mut Scope| scope.rows.position_of(column).is_some();
        self.scopes.iter_mut().filter(knows).collect::<Vec<_>>().into_par_iter()
    }

    fn count(&mut self) {
        for scope in &mut self.scopes {
            self.touched += std::mem::take(&mut scope.touched);
            self.computed += std::mem::take(&mut scope.computed);
        }
    }

    /// Candidates of a column gave way to new ones, which have the numbers from `new` on ([`Columns::give_way`] comes
    /// first).
    pub(super) fn replace(&mut self, columns: &Columns<'_>, old: &[u32], new: usize) {
        for old in old.chunk_by(|a, b| columns.candidate(*a).column == columns.candidate(*b).column) {
            let column = columns.candidate(old[0]).column;
            self.with_column(column).for_each(|scope| scope.replace(columns, old, new));
        }
        self.count();
    }

    /// A candidate was told ([`Columns::tell`] comes first).
    pub(super) fn disclose(&mut self, columns: &Columns<'_>, id: u32) {
        self.with_column(columns.candidate(id).column).for_each(|scope| scope.disclose(columns, id));
        self.count();
    }

    /// Those that were found to break a template since the last time, in order of column and number.
    pub(super) fn take_violating(&mut self, columns: &Columns<'_>) -> Vec<u32> {
        let mut violating: Vec<u32> =
            self.scopes.iter_mut().flat_map(|scope| std::mem::take(&mut scope.violating)).collect();
        violating.retain(|&id| columns.is_open(id));
        violating.sort_unstable_by_key(|&id| (columns.candidate(id).column, id));
        violating.dedup();
        violating
    }

    /// By how much the confidences would rise, on average over the templates that know its column.
    pub(super) fn privacy_loss(&self, column: usize, id: u32) -> f64 {
        let (mut sum, mut templates) = (0.0, 0);
        for scope in self.with[column].iter().map(|&scope| &self.scopes[scope]) {
            let after = &scope.after[id as usize];
            sum += after.iter().zip(&scope.now).map(|(after, now)| after.max(*now) - now).sum::<f64>();
            templates += after.len();
        }
        if templates > 0 { sum / f64::from(templates as u32) } else { 0.0 }
    }

    /// Whether two columns are known together somewhere.
    pub(super) fn together(&self, a: usize, b: usize) -> bool {
        self.with[a].iter().any(|scope| self.with[b].contains(scope))
    }
}

impl Scope {
    fn new(profile: &Profile, columns: &Columns<'_>, projection: &Projection, templates: &[Template]) -> Self {
        let (rows, row_of) = (Arc::clone(&projection.rows), &projection.row_of);
        let width = 1 + templates.len();
        let mut counts = vec![0u32; rows.len() * width];
        let attributes = profile.attributes().len();
        // By attribute and value, which of the templates guard it.
        let mut guards: Vec<Vec<(u32, usize)>> = vec![Vec::new(); attributes];
        for (template_index, template) in templates.iter().enumerate() {
            guards[template.attribute.index()].push((template.value, template_index));
        }
        guards.iter_mut().for_each(|guards| guards.sort_unstable());
        let guarded: Vec<_> = (0..attributes).filter(|&attribute| !guards[attribute].is_empty()).collect();
        for tuple in (0..profile.tuples() as u32).map(TupleId) {
            let row = row_of[tuple.index()] as usize;
            let counts = &mut counts[row * width..(row + 1) * width];
            counts[0] += profile.tuple_records(tuple) as u32;
            for variant in profile.variants_of(tuple) {
                for &attribute in &guarded {
                    let value = profile.value(variant, crate::ids::AttributeId::from_index(attribute));
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
            groups: vec![Entries::default()],
            sums: vec![0; width],
            rows,
            limits: templates.iter().map(|template| template.share).collect(),
            has_lower: templates.iter().any(|template| template.share.has_lower()),
            counts,
            ..Self::default()
        };
        scope.start(columns);
        scope
    }

    fn width(&self) -> usize {
        1 + self.limits.len()
    }

    fn start(&mut self, columns: &Columns<'_>) {
        let width = self.width();
        for counts in self.counts.chunks(width) {
            self.sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
        let total = f64::from(self.sums[0].max(1));
        self.now = self.sums[1..].iter().map(|&guarded| f64::from(guarded) / total).collect();
        let all: Vec<u32> = (0..self.rows.len() as u32).collect();
        self.enter_candidates(columns);
        self.sum_up(columns, &all, None);
        self.write(0);
        self.look(columns, 0, 0);
    }

    fn enter_candidates(&mut self, columns: &Columns<'_>) {
        let templates = self.limits.len();
        for id in self.after.len()..columns.len() {
            let known = self.rows.position_of(columns.candidate(id as u32).column).is_some();
            self.after.push(vec![0.0; if known { templates } else { 0 }]);
        }
    }

    /// Sums the rows of a group by candidate, in all columns or in one.
    fn sum_up(&mut self, columns: &Columns<'_>, rows: &[u32], position: Option<usize>) {
        let width = self.width();
        let positions = position.map_or(0..self.rows.columns().len(), |position| position..position + 1);
        for position in positions {
            let holders = columns.holders(self.rows.columns()[position]);
            for &row in rows {
                let holder = holders[self.rows.codes(row)[position] as usize];
                if holder != NONE {
                    self.entry_sums.add(holder, &self.counts[row as usize * width..(row as usize + 1) * width]);
                }
            }
        }
    }

    /// The sums become the entries of a group.
    fn write(&mut self, group: u32) {
        let width = self.width();
        let Entries { at, room, .. } = self.groups[group as usize];
        let len = self.entry_sums.candidates().len();
        let (at, room) = if len <= room { (at, room) } else { (self.arena.len(), len) };
        self.arena.resize(self.arena.len().max(at + room * (1 + width)), 0);
        let entries = self.arena[at..].chunks_mut(1 + width);
        for (entry, &candidate) in entries.zip(self.entry_sums.candidates()) {
            entry[0] = candidate;
            entry[1..].copy_from_slice(self.entry_sums.of(candidate, width).unwrap_or(&[]));
        }
        self.groups[group as usize] = Entries { at, len, room };
        self.entry_sums.clear(width);
    }

    /// The confidences that telling any of a group's candidates would bring, those from number `from` on.
    fn look(&mut self, columns: &Columns<'_>, group: u32, from: usize) {
        let width = self.width();
        let Entries { at, len, .. } = self.groups[group as usize];
        let sums = &self.sums[group as usize * width..(group as usize + 1) * width];
        for entry in self.arena[at..at + len * (1 + width)].chunks(1 + width) {
            if (entry[0] as usize) < from || !columns.is_open(entry[0]) {
                continue;
            }
            self.computed += 1;
            let (leaving, staying) = (f64::from(entry[1]), f64::from(sums[0] - entry[1]));
            let mut breaks = false;
            for (template_index, after) in self.after[entry[0] as usize].iter_mut().enumerate() {
                let disclosed = entry[2 + template_index];
                let left = sums[1 + template_index] - disclosed;
                // Nothing can be inferred of nobody: 0 / 0 is no number, and the maximum passes it over.
                *after = after.max(f64::from(disclosed) / leaving).max(f64::from(left) / staying);
                breaks |= self.limits[template_index].is_too_large(*after);
            }
            if breaks || (self.has_lower && self.breaks_lower(&entry[1..], sums)) {
                self.violating.push(entry[0]);
            }
        }
    }

    /// Whether splitting a group would make a part with too small a share of a value: of the counts `sums`, `leaving` go.
    fn breaks_lower(&self, leaving: &[u32], sums: &[u32]) -> bool {
        let staying = sums[0] - leaving[0];
        self.limits.iter().zip(leaving[1..].iter().zip(&sums[1..])).any(|(limit, (&disclosed, &all))| {
            // If all records leave, no group stays behind that could be judged.
            limit.is_too_small(f64::from(disclosed) / f64::from(leaving[0]))
                || (staying > 0 && limit.is_too_small(f64::from(all - disclosed) / f64::from(staying)))
        })
    }

    /// Entries that were moved or are no longer needed leave gaps. Where most of the arena is such, it is made anew.
    fn tidy_up(&mut self, columns: &Columns<'_>) {
        if self.arena.len() < 4 * self.used + (1 << 16) {
            return;
        }
        let width = self.width();
        let mut arena = Vec::new();
        for group in &mut self.groups {
            let from = arena.len();
            let entries = self.arena[group.at..group.at + group.len * (1 + width)].chunks(1 + width);
            entries.filter(|entry| columns.is_open(entry[0])).for_each(|entry| arena.extend(entry));
            let len = (arena.len() - from) / (1 + width);
            *group = Entries { at: from, len, room: len };
        }
        self.used = arena.len();
        self.arena = arena;
    }

    fn is_quiet(&self, group: u32) -> bool {
        let width = self.width();
        self.sums[group as usize * width + 1..(group as usize + 1) * width].iter().all(|&guarded| guarded == 0)
    }

    /// The rows with values in some ranges by their group, the quiet ones left out.
    fn by_group(&mut self, position: usize, ranges: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for (first, last) in ranges {
            for &row in self.rows.rows_with(position, first, last) {
                let group = self.group_of[row as usize];
                if group != QUIET && self.is_quiet(group) {
                    self.group_of[row as usize] = QUIET;
                } else if group != QUIET {
                    found.push((group, row));
                }
            }
        }
        // As one number each they sort faster.
        found.sort_unstable_by_key(|&(group, row)| u64::from(group) << 32 | u64::from(row));
        found
    }

    /// New candidates of one column take the place of others.
    fn replace(&mut self, columns: &Columns<'_>, old: &[u32], new: usize) {
        self.enter_candidates(columns);
        let Some(position) = self.rows.position_of(columns.candidate(old[0]).column) else { return };
        let width = self.width();
        let rows = self.by_group(position, old.iter().map(|&id| columns.range_of_change(id)));
        let mut own = Vec::new();
        for of_group in rows.chunk_by(|a, b| a.0 == b.0) {
            let group = of_group[0].0;
            own.clear();
            own.extend(of_group.iter().map(|(_, row)| *row));
            self.sum_up(columns, &own, Some(position));
            let Entries { at, len, .. } = self.groups[group as usize];
            let entries = self.arena[at..at + len * (1 + width)].chunks(1 + width);
            for entry in entries.filter(|entry| columns.is_open(entry[0])) {
                self.entry_sums.add(entry[0], &entry[1..]);
            }
            self.write(group);
            self.look(columns, group, new);
        }
        self.tidy_up(columns);
    }

    fn disclose(&mut self, columns: &Columns<'_>, id: u32) {
        self.enter_candidates(columns);
        self.now.iter_mut().zip(&self.after[id as usize]).for_each(|(now, after)| *now = now.max(*after));
        let candidate = columns.candidate(id);
        let Some(position) = self.rows.position_of(candidate.column) else { return };
        let rows = self.by_group(position, std::iter::once(columns.range_of_change(id)));
        let (mut leaving, mut staying) = (Vec::new(), Vec::new());
        for of_group in rows.chunk_by(|a, b| a.0 == b.0) {
            let group = of_group[0].0;
            leaving.clear();
            staying.clear();
            for &(_, row) in of_group {
                let leaves = self.rows.codes(row)[position] <= candidate.last;
                if leaves { leaving.push(row) } else { staying.push(row) }
            }
            self.touched += 1;
            self.split(columns, group, &leaving, columns.are_free(candidate.column).then_some(&staying));
        }
        self.tidy_up(columns);
    }

    /// Some rows leave a group. Those that stay are given where candidates in their column are new, too.
    fn split(&mut self, columns: &Columns<'_>, group: u32, leaving: &[u32], staying: Option<&Vec<u32>>) {
        let width = self.width();
        let mut sums = vec![0u32; width];
        for &row in leaving {
            let counts = &self.counts[row as usize * width..(row as usize + 1) * width];
            sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
        }
        let own = group as usize * width..(group as usize + 1) * width;
        if sums[0] == self.sums[own.start] || leaving.is_empty() {
            // All of them, or none: the group only prints otherwise.
            let rows = if leaving.is_empty() { staying.map_or(&[][..], Vec::as_slice) } else { leaving };
            self.sum_up(columns, rows, None);
            self.write(group);
            self.look(columns, group, 0);
            return;
        }
        self.sums[own].iter_mut().zip(&sums).for_each(|(sum, less)| *sum -= less);
        self.sum_up(columns, leaving, None);
        if staying.is_none() {
            self.subtract(columns, group);
        }
        let new = self.groups.len() as u32;
        if sums[1..].iter().all(|&guarded| guarded == 0) {
            leaving.iter().for_each(|&row| self.group_of[row as usize] = QUIET);
            self.entry_sums.clear(width);
        } else {
            leaving.iter().for_each(|&row| self.group_of[row as usize] = new);
            self.groups.push(Entries::default());
            self.sums.extend(sums);
            self.write(new);
            self.look(columns, new, 0);
        }
        if self.is_quiet(group) {
            self.groups[group as usize].len = 0;
            return;
        }
        if let Some(staying) = staying {
            self.sum_up(columns, staying, None);
            self.write(group);
        }
        self.look(columns, group, 0);
    }

    /// What left is no longer in the entries of those that stay.
    fn subtract(&mut self, columns: &Columns<'_>, group: u32) {
        let width = self.width();
        let Entries { at, len, .. } = self.groups[group as usize];
        let mut kept = 0;
        for entry in 0..len {
            let from = at + entry * (1 + width);
            let id = self.arena[from];
            if !columns.is_open(id) {
                continue;
            }
            if let Some(left) = self.entry_sums.of(id, width) {
                self.arena[from + 1..from + 1 + width].iter_mut().zip(left).for_each(|(sum, less)| *sum -= less);
            }
            if self.arena[from + 1] > 0 {
                self.arena.copy_within(from..from + 1 + width, at + kept * (1 + width));
                kept += 1;
            }
        }
        self.groups[group as usize].len = kept;
    }
}
