//! Chooses the groups to suppress so that the privacy models hold.
//!
//! **What.** First the groups that violate a model; then, while the suppressed records violate a model as a group of
//! their own, the smallest of the other groups, and those that violate a model without it.
//!
//! **Why here.** The recoding that is released and the searches that try many recodings must choose the same groups.
//! They group the tuples in their own ways and pass the counts of the groups.
//!
//! **How.** A model judges groups of records with equal labels in its own columns (its *scope*): a template on a few
//! columns merges groups that differ only in the others. Such a *set* of groups is judged again only after one of its
//! groups was suppressed:
//!
//! ```text
//! template on job         groups (job, sex)        sets (job)
//!                         singer f  3   hiv 1      singer  5   hiv 1
//!                         singer m  2   hiv 0
//! (singer, m) suppressed: singer f  3   hiv 1      singer  3   hiv 1   judged again, clerk is not
//!                         clerk  m  2   hiv 0      clerk   2   hiv 0
//! ```
//!
//! Most models limit counts only (records, shares of a value). Their counts are kept for the sets and for the
//! suppressed records, and change by those of one group at a time. The other models judge the members of a set; for the
//! suppressed records, histograms are kept ([`GrowingGroup`]).
//!
//! **Cost.** Linear in the groups and their counts, times the scopes, plus a sort of the groups. Exceptions: a model
//! that does not limit counts and does not know all columns reads all members of a set again, and reads all values of
//! the suppressed records for every group that is added to them.

use hashbrown::HashMap;

use crate::{
    ids::{AttributeId, VariantId},
    privacy::{BoundModel, Group, GrowingGroup, Limit, ShareLimit},
    profile::{Profile, VariantCount},
};

/// Privacy models, prepared for judging counts.
pub(crate) struct Constraints<'a> {
    pub profile: &'a Profile,
    pub scopes: Vec<ScopeConstraints<'a>>,
    /// Distinct limits of the scopes.
    limits: Vec<CountLimits>,
    /// Values whose share in a group is limited. A *guard* is an index in this list.
    pub guarded: Vec<(AttributeId, u32)>,
    /// By column with guarded values: the guard of each value, or [`NO_GUARD`].
    guards: Vec<(AttributeId, Vec<u32>)>,
    /// Whether a model needs the members of each group.
    pub by_record: bool,
}

/// Constraints on records that have equal labels in some columns.
pub(crate) struct ScopeConstraints<'a> {
    pub columns: Vec<usize>,
    /// Index in [`Constraints::limits`]; models with many scopes, such as LKC-privacy, have the same limits in each.
    limits: usize,
    /// Models that need the members.
    models: Vec<&'a dyn BoundModel>,
}

/// Limits on the counts of a group.
#[derive(Default, PartialEq)]
struct CountLimits {
    /// 0 if not limited.
    min_records: u64,
    /// Limits on the shares of guarded values, by guard in ascending order.
    shares: Vec<(u32, ShareLimit)>,
    /// Guards whose values must occur, in ascending order.
    required: Vec<u32>,
}

const NO_GUARD: u32 = u32::MAX;

impl<'a> Constraints<'a> {
    pub(crate) fn new(profile: &'a Profile, models: &'a [Box<dyn BoundModel>]) -> Self {
        let mut by_scope: Vec<(Vec<usize>, Vec<&'a dyn BoundModel>)> = Vec::new();
        let mut scope_index: HashMap<Vec<usize>, usize> = HashMap::new();
        for model in models {
            let columns: Vec<usize> = model.scope().iter().map(|column| column.index()).collect();
            let index = *scope_index.entry(columns).or_insert_with_key(|columns| {
                by_scope.push((columns.clone(), Vec::new()));
                by_scope.len() - 1
            });
            by_scope[index].1.push(&**model);
        }
        let mut constraints = Self {
            profile,
            scopes: Vec::new(),
            limits: Vec::new(),
            guarded: Vec::new(),
            guards: Vec::new(),
            by_record: false,
        };
        for (columns, models) in by_scope {
            let mut limits = CountLimits::default();
            let mut others = Vec::new();
            for model in models {
                match model.limits() {
                    Some(of_model) => of_model.into_iter().for_each(|limit| constraints.add(limit, &mut limits)),
                    None => others.push(model),
                }
            }
            limits.shares.sort_by_key(|(guard, _)| *guard);
            let required = limits.shares.iter().filter(|(_, share)| !share.allows(0.0)).map(|(guard, _)| *guard);
            limits.required = required.collect();
            let known = constraints.limits.iter().position(|known| *known == limits);
            let limits = known.unwrap_or_else(|| {
                constraints.limits.push(limits);
                constraints.limits.len() - 1
            });
            constraints.by_record |= !others.is_empty();
            constraints.scopes.push(ScopeConstraints { columns, limits, models: others });
        }
        constraints
    }

    fn add(&mut self, limit: Limit, limits: &mut CountLimits) {
        match limit {
            Limit::Records(min_records) => limits.min_records = limits.min_records.max(min_records),
            Limit::Share { attribute, value, share } => {
                let index = self.guards.iter().position(|(known, _)| *known == attribute).unwrap_or_else(|| {
                    let values = self.profile.attributes()[attribute.index()].values.len();
                    self.guards.push((attribute, vec![NO_GUARD; values]));
                    self.guards.len() - 1
                });
                let guard = &mut self.guards[index].1[value as usize];
                if *guard == NO_GUARD {
                    *guard = self.guarded.len() as u32;
                    self.guarded.push((attribute, value));
                }
                limits.shares.push((*guard, share));
            }
        }
    }

    /// Variants with a guarded value, and its guard. A variant is repeated for each guarded column.
    pub(crate) fn guarded_variants(&self) -> impl Iterator<Item = (VariantId, u32)> + Clone {
        self.guards.iter().flat_map(|(attribute, guards)| {
            let variants = (0..self.profile.variants() as u32).map(VariantId);
            let guarded = variants.map(|variant| (variant, guards[self.profile.value(variant, *attribute) as usize]));
            guarded.filter(|(_, guard)| *guard != NO_GUARD)
        })
    }

    /// Minimum group size if that is the only constraint, `None` otherwise.
    pub(crate) fn only_k(&self) -> Option<u64> {
        match self.scopes.as_slice() {
            _ if self.by_record || !self.guarded.is_empty() => None,
            [] => Some(1),
            [scope] if self.knows_all_columns(scope) => Some(self.limits[scope.limits].min_records),
            _ => None,
        }
    }

    /// Whether the records of a scope have equal labels in all columns.
    pub(crate) fn knows_all_columns(&self, scope: &ScopeConstraints<'_>) -> bool {
        scope.columns.len() == self.profile.columns().len()
    }
}

impl CountLimits {
    /// Judges a group by its records and by those with guarded values.
    fn allow(&self, records: u64, carried: &[(u32, u64)]) -> bool {
        let allowed = |&(guard, carried): &(u32, u64)| {
            let first = self.shares.partition_point(|(other, _)| *other < guard);
            let mut limits = self.shares[first..].iter().take_while(|(other, _)| *other == guard);
            limits.all(|(_, share)| share.allows(carried as f64 / records as f64))
        };
        let occurs = |guard: &u32| carried.binary_search_by_key(guard, |(other, _)| *other).is_ok();
        records >= self.min_records && carried.iter().all(allowed) && self.required.iter().all(occurs)
    }
}

/// Maximum number of guards whose counts are added up in a matrix: then one pass without a sort suffices. Genetic
/// search with one template took 1.3 times as long without it.
const MAX_DENSE_GUARDS: usize = 4;

/// Records by row (a group or a set of groups) and guard, without the zeros of a matrix: there may be many guarded
/// values, and a group has few of them.
#[derive(Default)]
pub(crate) struct SparseCounts {
    /// The counts of row `r` are `counts[starts[r]..starts[r + 1]]`.
    starts: Vec<usize>,
    /// Guards and records, by guard in ascending order within a row.
    counts: Vec<(u32, u64)>,
}

impl SparseCounts {
    /// Adds up counts of `guards` guards, given as (row, guard, records) in any order.
    pub(crate) fn new(rows: usize, guards: usize, counted: impl Iterator<Item = (u32, u32, u64)> + Clone) -> Self {
        if guards <= MAX_DENSE_GUARDS {
            Self::by_matrix(rows, guards, counted)
        } else {
            Self::by_sorting(rows, counted)
        }
    }

    fn by_matrix(rows: usize, guards: usize, counted: impl Iterator<Item = (u32, u32, u64)>) -> Self {
        let mut matrix = vec![0; rows * guards];
        counted.for_each(|(row, guard, records)| matrix[row as usize * guards + guard as usize] += records);
        let (mut starts, mut counts) = (Vec::with_capacity(rows + 1), Vec::with_capacity(matrix.len()));
        starts.push(0);
        for row in 0..rows {
            let counted = (0u32..).zip(&matrix[row * guards..(row + 1) * guards]);
            counts.extend(counted.filter(|(_, records)| **records > 0).map(|(guard, records)| (guard, *records)));
            starts.push(counts.len());
        }
        Self { starts, counts }
    }

    fn by_sorting(rows: usize, counted: impl Iterator<Item = (u32, u32, u64)> + Clone) -> Self {
        let mut ends = vec![0; rows + 1];
        counted.clone().for_each(|(row, ..)| ends[row as usize + 1] += 1);
        (0..rows).for_each(|row| ends[row + 1] += ends[row]);
        let mut counts = vec![(0, 0); ends[rows]];
        // Afterwards `ends[r]` is the end of row r.
        for (row, guard, records) in counted {
            counts[ends[row as usize]] = (guard, records);
            ends[row as usize] += 1;
        }
        let (mut starts, mut kept, mut next) = (Vec::with_capacity(rows + 1), 0, 0);
        for &end in &ends[..rows] {
            starts.push(kept);
            counts[next..end].sort_unstable();
            for index in next..end {
                if kept > starts[starts.len() - 1] && counts[kept - 1].0 == counts[index].0 {
                    counts[kept - 1].1 += counts[index].1;
                } else {
                    counts[kept] = counts[index];
                    kept += 1;
                }
            }
            next = end;
        }
        starts.push(kept);
        counts.truncate(kept);
        counts.shrink_to_fit();
        Self { starts, counts }
    }

    fn row(&self, row: usize) -> &[(u32, u64)] {
        &self.counts[self.starts[row]..self.starts[row + 1]]
    }

    /// Subtracts the counts of a part of a row. Counts of 0 stay.
    fn subtract(&mut self, row: usize, part: &[(u32, u64)]) {
        let counts = &mut self.counts[self.starts[row]..self.starts[row + 1]];
        for (guard, records) in part {
            if let Ok(at) = counts.binary_search_by_key(guard, |(other, _)| *other) {
                counts[at].1 -= records;
            }
        }
    }
}

/// Groups of records, as far as constraints judge them.
pub(crate) struct GroupedCounts<'g> {
    /// Records by group.
    pub sizes: &'g [u64],
    pub guarded: SparseCounts,
    /// By scope of the constraints: the set of each group, a number below the number of groups; `None` if every group
    /// is a set of its own.
    pub set_of_group: &'g [Option<Vec<u32>>],
    /// Appends the members of a group; not called unless [`Constraints::by_record`].
    pub members: &'g dyn Fn(usize, &mut Vec<VariantCount>),
    /// Returns a rank by group: of groups with equal records, the one with the lowest rank is suppressed first.
    pub ranks: &'g dyn Fn() -> Vec<u32>,
}

#[cfg(test)]
thread_local! {
    /// Work of all suppressions of this thread, for tests of methods.
    pub(crate) static WORK: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Groups to suppress.
pub(crate) struct Suppression {
    /// By group, whether it is suppressed; `None` if that exceeds the maximum.
    pub suppressed: Option<Vec<bool>>,
    /// Number of groups, counts and members read, a measure of work.
    pub work: u64,
}

impl GroupedCounts<'_> {
    /// Suppresses groups until the constraints hold for the others and for the suppressed records; at most
    /// `max_records`. The group `closed` is suppressed already.
    pub(crate) fn suppress(
        &self,
        constraints: &Constraints<'_>,
        closed: Option<usize>,
        max_records: u64,
    ) -> Suppression {
        let mut suppressor = Suppressor::new(constraints, self);
        closed.into_iter().for_each(|group| suppressor.suppress(group));
        suppressor.suppress_violating(max_records);
        if suppressor.records <= max_records && !suppressor.suppressed_records_satisfy() {
            suppressor.suppress_smallest(max_records);
        }
        let Suppressor { suppressed, records, work, .. } = suppressor;
        #[cfg(test)]
        WORK.set(WORK.get() + work);
        Suppression { suppressed: (records <= max_records).then_some(suppressed), work }
    }
}

struct Suppressor<'g> {
    constraints: &'g Constraints<'g>,
    groups: &'g GroupedCounts<'g>,
    scopes: Vec<ScopeSets<'g>>,
    /// By group.
    suppressed: Vec<bool>,
    /// Suppressed records, in all and by guard.
    records: u64,
    guarded: Vec<u64>,
    /// Their members; empty unless a model needs them.
    members: GrowingGroup<'g>,
    /// Limit (index in `limits` and in `shares`) that the suppressed records violated last: it is checked first.
    violated: Option<(usize, usize)>,
    work: u64,
}

/// The sets of groups that have equal labels in the columns of a scope.
struct ScopeSets<'g> {
    constraints: &'g ScopeConstraints<'g>,
    /// `None` if every group is a set of its own. Then no set is judged twice, because a suppressed group leaves none.
    sets: Option<GroupSets<'g>>,
    /// Sets to be judged, each once.
    unjudged: Vec<u32>,
}

struct GroupSets<'g> {
    of_group: &'g [u32],
    /// Groups by set: those of set `s` are `groups[starts[s]..starts[s + 1]]`.
    starts: Vec<u32>,
    groups: Vec<u32>,
    /// Records that are not suppressed, in all and by guard.
    records: Vec<u64>,
    guarded: SparseCounts,
    is_unjudged: Vec<bool>,
}

impl<'g> GroupSets<'g> {
    fn new(of_group: &'g [u32], groups: &GroupedCounts<'_>, num_guards: usize) -> Self {
        let num_sets = of_group.iter().max().map_or(0, |&last| last as usize + 1);
        let (mut records, mut starts) = (vec![0; num_sets], vec![0; num_sets + 1]);
        for (&set, size) in of_group.iter().zip(groups.sizes) {
            records[set as usize] += size;
            starts[set as usize + 1] += 1;
        }
        (0..num_sets).for_each(|set| starts[set + 1] += starts[set]);
        let (mut sorted, mut next) = (vec![0; of_group.len()], starts.clone());
        for (group, &set) in (0u32..).zip(of_group) {
            sorted[next[set as usize] as usize] = group;
            next[set as usize] += 1;
        }
        let counts = |(group, &set): (usize, &u32)| {
            groups.guarded.row(group).iter().map(move |&(guard, records)| (set, guard, records))
        };
        let guarded = SparseCounts::new(num_sets, num_guards, of_group.iter().enumerate().flat_map(counts));
        Self { of_group, starts, groups: sorted, records, guarded, is_unjudged: vec![true; num_sets] }
    }

    fn groups_of(&self, set: usize) -> &[u32] {
        &self.groups[self.starts[set] as usize..self.starts[set + 1] as usize]
    }
}

impl<'g> Suppressor<'g> {
    fn new(constraints: &'g Constraints<'g>, groups: &'g GroupedCounts<'g>) -> Self {
        let (num_groups, num_guards) = (groups.sizes.len(), constraints.guarded.len());
        let scope = |(constraints, of_group): (&'g ScopeConstraints<'g>, &'g Option<Vec<u32>>)| {
            let sets = of_group.as_deref().map(|of_group| GroupSets::new(of_group, groups, num_guards));
            let num_sets = sets.as_ref().map_or(num_groups, |sets| sets.records.len());
            ScopeSets { constraints, sets, unjudged: (0..num_sets as u32).collect() }
        };
        let scopes: Vec<ScopeSets<'g>> = constraints.scopes.iter().zip(groups.set_of_group).map(scope).collect();
        Self {
            constraints,
            groups,
            work: (scopes.len() * (num_groups + groups.guarded.counts.len())) as u64,
            scopes,
            suppressed: vec![false; num_groups],
            records: 0,
            guarded: vec![0; constraints.guarded.len()],
            members: GrowingGroup::new(constraints.profile),
            violated: None,
        }
    }

    fn suppress(&mut self, group: usize) {
        let (size, counts) = (self.groups.sizes[group], self.groups.guarded.row(group));
        self.suppressed[group] = true;
        self.records += size;
        counts.iter().for_each(|&(guard, records)| self.guarded[guard as usize] += records);
        if self.constraints.by_record {
            self.members.extend(|members| {
                let before = members.len();
                (self.groups.members)(group, members);
                self.work += (members.len() - before) as u64;
            });
        }
        for ScopeSets { sets, unjudged, .. } in &mut self.scopes {
            let Some(sets) = sets else { continue };
            let set = sets.of_group[group] as usize;
            sets.records[set] -= size;
            sets.guarded.subtract(set, counts);
            if !std::mem::replace(&mut sets.is_unjudged[set], true) {
                unjudged.push(set as u32);
            }
        }
        self.work += (self.scopes.len() * (1 + counts.len())) as u64;
    }

    /// Suppresses groups until the constraints hold for the others, in rounds: a suppressed group may have been needed
    /// by another one of its set. Returns early if more than `max_records` are suppressed.
    fn suppress_violating(&mut self, max_records: u64) {
        while self.records <= max_records {
            let mut scopes = std::mem::take(&mut self.scopes);
            let mut violating = Vec::new();
            scopes.iter_mut().for_each(|scope| self.take_violating(scope, &mut violating));
            self.scopes = scopes;
            if violating.is_empty() {
                return;
            }
            for group in violating {
                if !self.suppressed[group as usize] {
                    self.suppress(group as usize);
                }
            }
        }
    }

    /// Judges the sets of a scope that have to be judged, and appends the groups of those that violate a model.
    fn take_violating(&mut self, scope: &mut ScopeSets<'_>, violating: &mut Vec<u32>) {
        let limits = &self.constraints.limits[scope.constraints.limits];
        let mut members = Vec::new();
        for set in std::mem::take(&mut scope.unjudged) {
            let index = set as usize;
            let (records, counts, groups) = match &mut scope.sets {
                None if self.suppressed[index] => continue,
                None => (self.groups.sizes[index], self.groups.guarded.row(index), std::slice::from_ref(&set)),
                Some(sets) => {
                    sets.is_unjudged[index] = false;
                    (sets.records[index], sets.guarded.row(index), sets.groups_of(index))
                }
            };
            self.work += 1 + counts.len() as u64;
            if records == 0 {
                continue;
            }
            let open = groups.iter().filter(|group| !self.suppressed[**group as usize]);
            let mut holds = limits.allow(records, counts);
            if holds && !scope.constraints.models.is_empty() {
                members.clear();
                open.clone().for_each(|group| (self.groups.members)(*group as usize, &mut members));
                self.work += members.len() as u64;
                let group = Group::new(self.constraints.profile, &members);
                holds = scope.constraints.models.iter().all(|model| model.holds(&group));
            }
            if !holds {
                self.work += groups.len() as u64;
                violating.extend(open);
            }
        }
    }

    /// Suppresses the smallest groups while the suppressed records violate a model.
    fn suppress_smallest(&mut self, max_records: u64) {
        let ranks = (self.groups.ranks)();
        let open = (0..self.suppressed.len()).filter(|group| !self.suppressed[*group]);
        let mut smallest: Vec<(u64, u32, usize)> =
            open.map(|group| (self.groups.sizes[group], ranks[group], group)).collect();
        smallest.sort_unstable();
        self.work += ranks.len() as u64;
        for (.., group) in smallest {
            if self.suppressed[group] {
                continue;
            }
            self.suppress(group);
            self.suppress_violating(max_records);
            if self.records > max_records || self.suppressed_records_satisfy() {
                return;
            }
        }
    }

    /// Whether the suppressed records, as one group, satisfy every model.
    fn suppressed_records_satisfy(&mut self) -> bool {
        let Self { constraints, ref guarded, records, .. } = *self;
        if records == 0 {
            return true;
        }
        let allowed =
            |&(guard, share): &(u32, ShareLimit)| share.allows(guarded[guard as usize] as f64 / records as f64);
        self.work += 1;
        if constraints.limits.iter().any(|limits| records < limits.min_records) {
            return false;
        }
        if self.violated.is_some_and(|(limits, share)| !allowed(&constraints.limits[limits].shares[share])) {
            return false;
        }
        for (index, limits) in constraints.limits.iter().enumerate() {
            self.work += limits.shares.len() as u64;
            let violated = limits.shares.iter().position(|limit| !allowed(limit));
            self.violated = violated.map(|share| (index, share));
            if violated.is_some() {
                return false;
            }
        }
        if !constraints.by_record {
            return true;
        }
        let models = || constraints.scopes.iter().flat_map(|scope| &scope.models);
        let holds = self.members.judge(|group| models().all(|model| model.holds(group)));
        self.work += self.members.values() as u64;
        holds
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::SparseCounts;

    proptest! {
        #[test]
        fn both_ways_to_add_up_counts_agree(
            guards in 0usize..5,
            counted in prop::collection::vec((0u32..6, 0u32..5, 1u64..4), 0..40),
        ) {
            let counted = || counted.iter().copied().filter(|(_, guard, _)| (*guard as usize) < guards);
            let (matrix, sorted) = (SparseCounts::by_matrix(6, guards, counted()), SparseCounts::by_sorting(6, counted()));
            prop_assert_eq!((matrix.starts, matrix.counts), (sorted.starts, sorted.counts));
        }
    }
}
