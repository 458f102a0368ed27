//! Which groups may not leave: what the policy asks, judged by counts where that is all a model looks at.
//!
//! It takes out the same groups as [`suppressed_by`](crate::recoding::suppressed_by), which has the last word on what is
//! released: those that break a model, and where the suppressed records break one themselves the smallest others.

use hashbrown::HashMap;

use super::{merged_tuples::MergedTuples, recoded_column::RecodedColumn, row_groups::RowGroups};
use crate::{
    ids::{AttributeId, TupleId, VariantId},
    privacy::{BoundModel, Group, Limit, ShareLimit},
    profile::{Profile, VariantCount},
    search::{
        Task,
        grouping::{Buckets, group_rows},
    },
};

/// What the policy asks of a group.
pub(super) struct Constraints<'a> {
    profile: &'a Profile,
    /// How many records may be suppressed.
    pub max_suppressed: u64,
    scopes: Vec<ScopeConstraints<'a>>,
    /// The values whose share in a group is limited.
    pub guarded: Vec<(AttributeId, u32)>,
    /// Whether some model looks at more than counts.
    pub by_record: bool,
}

/// What is asked of records that are alike in some columns.
#[derive(Default)]
struct ScopeConstraints<'a> {
    columns: Vec<usize>,
    /// The least number of records.
    min_records: u64,
    /// Limits on the shares of guarded values.
    shares: Vec<(usize, ShareLimit)>,
    /// Models that look at more than counts.
    models: Vec<&'a dyn BoundModel>,
}

impl<'a> Constraints<'a> {
    pub(super) fn new(task: &Task<'a>) -> Self {
        let mut scopes: Vec<ScopeConstraints<'a>> = Vec::new();
        let mut guarded = Vec::new();
        let mut known: HashMap<(AttributeId, u32), usize> = HashMap::new();
        let mut by_record = false;
        for model in task.models {
            let columns: Vec<usize> = model.scope().iter().map(|column| column.index()).collect();
            let index = scopes.iter().position(|scope| scope.columns == columns).unwrap_or(scopes.len());
            if index == scopes.len() {
                scopes.push(ScopeConstraints { columns, ..ScopeConstraints::default() });
            }
            let scope = &mut scopes[index];
            let Some(limits) = model.limits() else {
                by_record = true;
                scope.models.push(&**model);
                continue;
            };
            for limit in limits {
                match limit {
                    Limit::Records(min_records) => scope.min_records = scope.min_records.max(min_records),
                    Limit::Share { attribute, value, share } => {
                        let guard = *known.entry((attribute, value)).or_insert_with(|| {
                            guarded.push((attribute, value));
                            guarded.len() - 1
                        });
                        scope.shares.push((guard, share));
                    }
                }
            }
        }
        Self { profile: task.profile, max_suppressed: task.max_suppressed, scopes, guarded, by_record }
    }

    /// Whether there is nothing to ask but how large a group is: then by how much.
    fn only_k(&self) -> Option<u64> {
        match self.scopes.as_slice() {
            _ if self.by_record => None,
            [] => Some(1),
            [ScopeConstraints { columns, min_records, shares, .. }]
                if shares.is_empty() && columns.len() == self.profile.columns().len() =>
            {
                Some(*min_records)
            }
            _ => None,
        }
    }

    /// Marks the groups that may not leave.
    pub(super) fn mark_suppressed(
        &self,
        merged: &MergedTuples,
        grouping: &RowGroups,
        recoded: &[RecodedColumn],
        suppressed: &mut Vec<bool>,
    ) {
        suppressed.clear();
        suppressed.resize(grouping.sizes.len(), false);
        if let Some(k) = self.only_k() {
            let mut suppressed_records = 0;
            for (suppressed, &size) in suppressed.iter_mut().zip(&grouping.sizes) {
                *suppressed = size < k;
                suppressed_records += if *suppressed { size } else { 0 };
            }
            if 0 < suppressed_records
                && suppressed_records < k
                && let Some(&(_, _, smallest)) = smallest_last(merged, grouping, suppressed).last()
            {
                suppressed[smallest] = true;
            }
        } else {
            GroupCounts::new(self, merged, grouping, recoded).mark_suppressed(suppressed);
        }
    }
}

/// Groups that are not gone, the smallest last; of several, the one with the first tuple.
fn smallest_last(merged: &MergedTuples, grouping: &RowGroups, suppressed: &[bool]) -> Vec<(u64, TupleId, usize)> {
    let kept = (0..suppressed.len()).filter(|&group| !suppressed[group]);
    let mut tuples = vec![TupleId(u32::MAX); suppressed.len()];
    for (&id, &tuple) in grouping.ids.iter().zip(&merged.first_tuples) {
        tuples[id as usize] = tuples[id as usize].min(tuple);
    }
    let of = |group: usize| (grouping.sizes[group], tuples[group], group);
    let mut groups: Vec<_> = kept.map(of).collect();
    groups.sort_unstable_by(|a, b| b.cmp(a));
    groups
}

/// What is counted in each group for models of counts.
struct GroupCounts<'a> {
    constraints: &'a Constraints<'a>,
    merged: &'a MergedTuples,
    grouping: &'a RowGroups,
    /// By guarded value and group.
    guarded: Vec<Vec<u64>>,
    /// By scope and group: which groups are alike in its columns.
    scope_ids: Vec<Vec<u32>>,
    /// By group, its variants, where some model looks at them.
    variants: Buckets,
}

impl<'a> GroupCounts<'a> {
    fn new(
        constraints: &'a Constraints<'a>,
        merged: &'a MergedTuples,
        grouping: &'a RowGroups,
        recoded: &[RecodedColumn],
    ) -> Self {
        let groups = grouping.sizes.len();
        let count = |rows: &Vec<(u32, u64)>| {
            let mut counts = vec![0; groups];
            rows.iter().for_each(|&(row, records)| counts[grouping.ids[row as usize] as usize] += records);
            counts
        };
        let guarded = merged.guarded.iter().map(count).collect();
        let tuple = |group: usize| merged.first_tuples[grouping.firsts[group] as usize];
        let scope_ids = |scope: &ScopeConstraints| {
            if scope.columns.len() == recoded.len() {
                return (0..groups as u32).collect();
            }
            let sizes: Vec<usize> = scope.columns.iter().map(|&column| recoded[column].cells.len()).collect();
            let cell = |group: usize, index: usize| {
                let column = scope.columns[index];
                recoded[column].cell_of[constraints.profile.codes(tuple(group))[column] as usize]
            };
            group_rows(groups, &sizes, cell).of_row
        };
        let scope_ids = constraints.scopes.iter().map(scope_ids).collect();
        let group = |variant| {
            grouping.ids[merged.row_of_tuple[constraints.profile.tuple_of(VariantId(variant)).index()] as usize]
        };
        let variants = if constraints.by_record { 0..constraints.profile.variants() as u32 } else { 0..0 };
        let variants = Buckets::new(groups, variants.map(group));
        Self { constraints, merged, grouping, guarded, scope_ids, variants }
    }

    fn members(&self, group: usize) -> impl Iterator<Item = VariantCount> {
        let variants = self.variants.rows(group as u32, group as u32).iter().map(|&variant| VariantId(variant));
        variants.map(|variant| VariantCount { variant, records: self.constraints.profile.variant_records(variant) })
    }

    fn mark_suppressed(&self, suppressed: &mut [bool]) {
        self.suppress_violating(suppressed, true);
        if self.suppressed_records_satisfy(suppressed) {
            return;
        }
        let mut others = smallest_last(self.merged, self.grouping, suppressed);
        while !self.suppressed_records_satisfy(suppressed) {
            let Some((_, _, smallest)) = others.pop() else { break };
            if !suppressed[smallest] {
                suppressed[smallest] = true;
                self.suppress_violating(suppressed, false);
            }
        }
    }

    /// Until every model holds in all that is left: what one takes out, another may miss. A group that is alike in all
    /// columns misses nobody, and is judged the first time only.
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
                let records = sums(&self.grouping.sizes);
                let mut violates: Vec<bool> = records.iter().map(|&records| records < scope.min_records).collect();
                for &(guard, share) in &scope.shares {
                    for ((violates, carried), &records) in
                        violates.iter_mut().zip(sums(&self.guarded[guard])).zip(&records)
                    {
                        *violates |= records > 0 && !share.allows(carried as f64 / records as f64);
                    }
                }
                if !scope.models.is_empty() {
                    self.mark_by_members(scope, scope_ids, suppressed, &records, &mut violates);
                }
                violating.extend(
                    (0..scope_ids.len()).filter(|&group| !suppressed[group] && violates[scope_ids[group] as usize]),
                );
            }
            if violating.is_empty() {
                return;
            }
            violating.into_iter().for_each(|group| suppressed[group] = true);
            first = false;
        }
    }

    /// Judges what is alike by models that look at more than counts.
    fn mark_by_members(
        &self,
        scope: &ScopeConstraints<'_>,
        scope_ids: &[u32],
        suppressed: &[bool],
        records: &[u64],
        violates: &mut [bool],
    ) {
        let breaks = |members: &[VariantCount]| {
            let group = Group::new(self.constraints.profile, members);
            scope.models.iter().any(|model| !model.holds(&group))
        };
        let mut members: Vec<Vec<VariantCount>> = vec![Vec::new(); scope_ids.len()];
        let alone = scope.columns.len() == self.constraints.profile.columns().len();
        for (group, &id) in scope_ids.iter().enumerate().filter(|(group, _)| !suppressed[*group]) {
            let id = id as usize;
            match alone {
                true => violates[id] = violates[id] || breaks(&self.members(group).collect::<Vec<_>>()),
                false => members[id].extend(self.members(group)),
            }
        }
        for ((violates, members), &records) in violates.iter_mut().zip(&members).zip(records) {
            *violates = *violates || (!alone && records > 0 && breaks(members));
        }
    }

    /// Whether the suppressed records are a group like any other.
    fn suppressed_records_satisfy(&self, suppressed: &[bool]) -> bool {
        let sum = |of: &[u64]| {
            of.iter().zip(suppressed).filter(|(_, suppressed)| **suppressed).map(|(records, _)| records).sum::<u64>()
        };
        let records = sum(&self.grouping.sizes);
        let members = || {
            let groups = (0..suppressed.len()).filter(|&group| suppressed[group]);
            groups.flat_map(|group| self.members(group)).collect::<Vec<VariantCount>>()
        };
        let members = if self.constraints.by_record { members() } else { Vec::new() };
        records == 0
            || self.constraints.scopes.iter().all(|scope| {
                let within = |&(guard, share): &(usize, ShareLimit)| {
                    share.allows(sum(&self.guarded[guard]) as f64 / records as f64)
                };
                let group = Group::new(self.constraints.profile, &members);
                records >= scope.min_records
                    && scope.shares.iter().all(within)
                    && scope.models.iter().all(|model| model.holds(&group))
            })
    }
}
