//! Constraints: the groups that must be suppressed so that every privacy model holds.
//!
//! It suppresses the same groups as [`suppressed_by`](crate::recoding::suppressed_by), which decides what is released:
//! first the groups that violate a model; then, while the suppressed records violate a model as a group of their own,
//! the smallest remaining group. Most models limit counts only (records, shares of a value) and are checked on the
//! counts of merged tuples; the others need the members of each group.

use hashbrown::HashMap;

use super::{
    merged_tuples::MergedTuples,
    recoded_column::RecodedColumn,
    row_groups::{RowGroups, marked_sum},
};
use crate::{
    ids::{AttributeId, TupleId, VariantId},
    privacy::{BoundModel, Group, Limit, ShareLimit},
    profile::{Profile, VariantCount},
    search::{
        Task,
        grouping::{Buckets, group_rows},
    },
};

/// Privacy models of the policy, prepared for checking counts.
pub(super) struct Constraints<'a> {
    profile: &'a Profile,
    /// Maximum suppressed records.
    pub max_suppressed: u64,
    scopes: Vec<ScopeConstraints<'a>>,
    /// Values whose share in a group is limited.
    pub guarded: Vec<(AttributeId, u32)>,
    /// Whether a model needs the members of each group.
    pub by_record: bool,
}

/// Constraints on records that have identical cells in some columns.
#[derive(Default)]
struct ScopeConstraints<'a> {
    columns: Vec<usize>,
    /// Minimum records; 0 if not limited.
    min_records: u64,
    /// Limits on the shares of guarded values, by their index in [`Constraints::guarded`].
    shares: Vec<(usize, ShareLimit)>,
    /// Models that need the members.
    models: Vec<&'a dyn BoundModel>,
}

impl<'a> Constraints<'a> {
    pub(super) fn new(task: &Task<'a>) -> Self {
        let mut scopes: Vec<ScopeConstraints<'a>> = Vec::new();
        let mut guarded = Vec::new();
        let mut guard_index: HashMap<(AttributeId, u32), usize> = HashMap::new();
        for model in task.models {
            let columns: Vec<usize> = model.scope().iter().map(|column| column.index()).collect();
            let index = scopes.iter().position(|scope| scope.columns == columns).unwrap_or(scopes.len());
            if index == scopes.len() {
                scopes.push(ScopeConstraints { columns, ..ScopeConstraints::default() });
            }
            let scope = &mut scopes[index];
            let Some(limits) = model.limits() else {
                scope.models.push(&**model);
                continue;
            };
            for limit in limits {
                match limit {
                    Limit::Records(min_records) => scope.min_records = scope.min_records.max(min_records),
                    Limit::Share { attribute, value, share } => {
                        let guard = *guard_index.entry((attribute, value)).or_insert_with(|| {
                            guarded.push((attribute, value));
                            guarded.len() - 1
                        });
                        scope.shares.push((guard, share));
                    }
                }
            }
        }
        let by_record = scopes.iter().any(|scope| !scope.models.is_empty());
        Self { profile: task.profile, max_suppressed: task.max_suppressed, scopes, guarded, by_record }
    }

    /// Minimum group size if that is the only constraint, `None` otherwise.
    fn only_k(&self) -> Option<u64> {
        let columns = self.profile.columns().len();
        match self.scopes.as_slice() {
            _ if self.by_record => None,
            [] => Some(1),
            [scope] if scope.shares.is_empty() && scope.columns.len() == columns => Some(scope.min_records),
            _ => None,
        }
    }

    /// By group, whether it must be suppressed.
    pub(super) fn suppressed_groups(
        &self,
        merged: &MergedTuples,
        groups: &RowGroups,
        recoded: &[RecodedColumn],
    ) -> Vec<bool> {
        let Some(k) = self.only_k() else { return GroupCounts::new(self, merged, groups, recoded).suppressed() };
        let mut suppressed: Vec<bool> = groups.sizes.iter().map(|&size| size < k).collect();
        let records = marked_sum(&groups.sizes, &suppressed);
        if 0 < records
            && records < k
            && let Some(&(_, _, smallest)) = smallest_last(merged, groups, &suppressed).last()
        {
            suppressed[smallest] = true;
        }
        suppressed
    }
}

/// Groups that are not suppressed, as (records, smallest tuple, group), the smallest last.
fn smallest_last(merged: &MergedTuples, groups: &RowGroups, suppressed: &[bool]) -> Vec<(u64, TupleId, usize)> {
    let kept = (0..suppressed.len()).filter(|&group| !suppressed[group]);
    let mut tuples = vec![TupleId(u32::MAX); suppressed.len()];
    for (&id, &tuple) in groups.ids.iter().zip(&merged.first_tuples) {
        tuples[id as usize] = tuples[id as usize].min(tuple);
    }
    let sort_key = |group: usize| (groups.sizes[group], tuples[group], group);
    let mut sorted: Vec<_> = kept.map(sort_key).collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted
}

/// Counts per group under one cut.
struct GroupCounts<'a> {
    constraints: &'a Constraints<'a>,
    merged: &'a MergedTuples,
    groups: &'a RowGroups,
    /// Records by guarded value and group.
    guarded: Vec<Vec<u64>>,
    /// By scope and group, an id shared by the groups with identical cells in the scope's columns.
    scope_ids: Vec<Vec<u32>>,
    /// By group, its variants; empty unless a model needs them.
    variants: Buckets,
}

impl<'a> GroupCounts<'a> {
    fn new(
        constraints: &'a Constraints<'a>,
        merged: &'a MergedTuples,
        groups: &'a RowGroups,
        recoded: &[RecodedColumn],
    ) -> Self {
        let num_groups = groups.sizes.len();
        let count = |rows: &Vec<(u32, u64)>| {
            let mut counts = vec![0; num_groups];
            rows.iter().for_each(|&(row, records)| counts[groups.ids[row as usize] as usize] += records);
            counts
        };
        let guarded = merged.guarded.iter().map(count).collect();
        let tuple = |group: usize| merged.first_tuples[groups.firsts[group] as usize];
        let ids_in_scope = |scope: &ScopeConstraints| {
            if scope.columns.len() == recoded.len() {
                return (0..num_groups as u32).collect();
            }
            let sizes: Vec<usize> = scope.columns.iter().map(|&column| recoded[column].cells.len()).collect();
            let cell = |group: usize, index: usize| {
                let column = scope.columns[index];
                recoded[column].cell_of[constraints.profile.codes(tuple(group))[column] as usize]
            };
            group_rows(num_groups, &sizes, cell).of_row
        };
        let scope_ids = constraints.scopes.iter().map(ids_in_scope).collect();
        let group = |variant| {
            groups.ids[merged.row_of_tuple[constraints.profile.tuple_of(VariantId(variant)).index()] as usize]
        };
        let variants = if constraints.by_record { 0..constraints.profile.variants() as u32 } else { 0..0 };
        let variants = Buckets::new(num_groups, variants.map(group));
        Self { constraints, merged, groups, guarded, scope_ids, variants }
    }

    fn members(&self, group: usize) -> impl Iterator<Item = VariantCount> {
        let variants = self.variants.rows(group as u32, group as u32).iter().map(|&variant| VariantId(variant));
        variants.map(|variant| VariantCount { variant, records: self.constraints.profile.variant_records(variant) })
    }

    /// By group, whether it must be suppressed.
    fn suppressed(&self) -> Vec<bool> {
        let mut suppressed = vec![false; self.groups.sizes.len()];
        self.suppress_violating(&mut suppressed, true);
        if self.suppressed_records_satisfy(&suppressed) {
            return suppressed;
        }
        let mut others = smallest_last(self.merged, self.groups, &suppressed);
        while !self.suppressed_records_satisfy(&suppressed) {
            let Some((_, _, smallest)) = others.pop() else { break };
            if !suppressed[smallest] {
                suppressed[smallest] = true;
                self.suppress_violating(&mut suppressed, false);
            }
        }
        suppressed
    }

    /// Suppresses groups until every model holds for the others. It takes several rounds, because a suppressed group
    /// may have been needed by another one with the same cells in a scope. Scopes of all columns are checked in the
    /// first round only: there each group is alone.
    fn suppress_violating(&self, suppressed: &mut [bool], mut first: bool) {
        loop {
            let mut violating = Vec::new();
            let columns = self.constraints.profile.columns().len();
            let scopes = self.constraints.scopes.iter().zip(&self.scope_ids);
            for (scope, scope_ids) in scopes.filter(|(scope, _)| first || scope.columns.len() < columns) {
                let sums = |of: &[u64]| {
                    let mut sums = vec![0; scope_ids.len()];
                    for (group, &id) in scope_ids.iter().enumerate().filter(|(group, _)| !suppressed[*group]) {
                        sums[id as usize] += of[group];
                    }
                    sums
                };
                let records = sums(&self.groups.sizes);
                let mut violates: Vec<bool> = records.iter().map(|&records| records < scope.min_records).collect();
                for &(guard, share) in &scope.shares {
                    let carried = sums(&self.guarded[guard]);
                    for ((violates, carried), &records) in violates.iter_mut().zip(carried).zip(&records) {
                        *violates |= records > 0 && !share.allows(carried as f64 / records as f64);
                    }
                }
                if !scope.models.is_empty() {
                    self.mark_by_members(scope, scope_ids, suppressed, &mut violates);
                }
                let kept = (0..scope_ids.len()).filter(|&group| !suppressed[group]);
                violating.extend(kept.filter(|&group| violates[scope_ids[group] as usize]));
            }
            if violating.is_empty() {
                return;
            }
            violating.into_iter().for_each(|group| suppressed[group] = true);
            first = false;
        }
    }

    /// Marks the scope ids whose members violate a model.
    fn mark_by_members(
        &self,
        scope: &ScopeConstraints<'_>,
        scope_ids: &[u32],
        suppressed: &[bool],
        violates: &mut [bool],
    ) {
        let violates_model = |members: &[VariantCount]| {
            let group = Group::new(self.constraints.profile, members);
            scope.models.iter().any(|model| !model.holds(&group))
        };
        // In a scope of all columns each group has its own id: it is judged at once, so that no other members are kept.
        let alone = scope.columns.len() == self.constraints.profile.columns().len();
        let mut members: Vec<Vec<VariantCount>> = vec![Vec::new(); scope_ids.len()];
        for (group, &id) in scope_ids.iter().enumerate() {
            let id = id as usize;
            if suppressed[group] || violates[id] {
                continue;
            }
            if alone {
                violates[id] = violates_model(&self.members(group).collect::<Vec<_>>());
            } else {
                members[id].extend(self.members(group));
            }
        }
        for (violates, members) in violates.iter_mut().zip(&members).filter(|(_, members)| !members.is_empty()) {
            *violates = violates_model(members);
        }
    }

    /// Whether the suppressed records, as one group, satisfy every model.
    fn suppressed_records_satisfy(&self, suppressed: &[bool]) -> bool {
        let records = marked_sum(&self.groups.sizes, suppressed);
        // Empty unless a model needs them.
        let groups = (0..suppressed.len()).filter(|&group| suppressed[group]);
        let members: Vec<VariantCount> = groups.flat_map(|group| self.members(group)).collect();
        records == 0
            || self.constraints.scopes.iter().all(|scope| {
                let within = |&(guard, share): &(usize, ShareLimit)| {
                    share.allows(marked_sum(&self.guarded[guard], suppressed) as f64 / records as f64)
                };
                let group = Group::new(self.constraints.profile, &members);
                records >= scope.min_records
                    && scope.shares.iter().all(within)
                    && scope.models.iter().all(|model| model.holds(&group))
            })
    }
}
