//! Which groups may not leave: what the policy asks, judged by counts where that is all a model looks at.
//!
//! It takes out the same groups as [`suppressed_by`](crate::recoding::suppressed_by), which has the last word on what is
//! released: those that break a model, and where the suppressed records break one themselves the smallest others.

use hashbrown::HashMap;

use super::{grouping::Grouping, recoded::Recoded, table::Table};
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
pub(super) struct Judge<'a> {
    profile: &'a Profile,
    /// How many records may be suppressed.
    pub allowed: u64,
    scopes: Vec<Scope<'a>>,
    /// The values whose share in a group is limited.
    pub guarded: Vec<(AttributeId, u32)>,
    /// Whether some model looks at more than counts.
    pub by_record: bool,
}

/// What is asked of records that are alike in some columns.
#[derive(Default)]
struct Scope<'a> {
    columns: Vec<usize>,
    /// The least number of records.
    least: u64,
    /// Limits on the shares of guarded values.
    shares: Vec<(usize, ShareLimit)>,
    /// Models that look at more than counts.
    models: Vec<&'a dyn BoundModel>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(task: &Task<'a>) -> Self {
        let mut scopes: Vec<Scope<'a>> = Vec::new();
        let mut guarded = Vec::new();
        let mut known: HashMap<(AttributeId, u32), usize> = HashMap::new();
        let mut by_record = false;
        for model in task.models {
            let columns: Vec<usize> = model.scope().iter().map(|column| column.index()).collect();
            let place = scopes.iter().position(|scope| scope.columns == columns).unwrap_or(scopes.len());
            if place == scopes.len() {
                scopes.push(Scope { columns, ..Scope::default() });
            }
            let Some(limits) = model.limits() else {
                by_record = true;
                scopes[place].models.push(&**model);
                continue;
            };
            for limit in limits {
                match limit {
                    Limit::Records(least) => scopes[place].least = scopes[place].least.max(least),
                    Limit::Share { attribute, value, share } => {
                        let guard = *known.entry((attribute, value)).or_insert_with(|| {
                            guarded.push((attribute, value));
                            guarded.len() - 1
                        });
                        scopes[place].shares.push((guard, share));
                    }
                }
            }
        }
        Self { profile: task.profile, allowed: task.max_suppressed, scopes, guarded, by_record }
    }

    /// Whether there is nothing to ask but how large a group is: then by how much.
    fn only_k(&self) -> Option<u64> {
        match self.scopes.as_slice() {
            _ if self.by_record => None,
            [] => Some(1),
            [Scope { columns, least, shares, .. }]
                if shares.is_empty() && columns.len() == self.profile.columns().len() =>
            {
                Some(*least)
            }
            _ => None,
        }
    }

    /// Marks the groups that may not leave.
    pub(super) fn mark(&self, table: &Table, grouping: &Grouping, recoded: &[Recoded], gone: &mut Vec<bool>) {
        gone.clear();
        gone.resize(grouping.sizes.len(), false);
        if let Some(k) = self.only_k() {
            let mut suppressed = 0;
            for (gone, &size) in gone.iter_mut().zip(&grouping.sizes) {
                *gone = size < k;
                suppressed += if *gone { size } else { 0 };
            }
            if 0 < suppressed
                && suppressed < k
                && let Some(&(_, _, smallest)) = smallest_last(table, grouping, gone).last()
            {
                gone[smallest] = true;
            }
        } else {
            Counts::new(self, table, grouping, recoded).mark(gone);
        }
    }
}

/// Groups that are not gone, the smallest last; of several, the one with the first tuple.
fn smallest_last(table: &Table, grouping: &Grouping, gone: &[bool]) -> Vec<(u64, TupleId, usize)> {
    let there = (0..gone.len()).filter(|&group| !gone[group]);
    let mut tuples = vec![TupleId(u32::MAX); gone.len()];
    for (&id, &tuple) in grouping.ids.iter().zip(&table.tuples) {
        tuples[id as usize] = tuples[id as usize].min(tuple);
    }
    let of = |group: usize| (grouping.sizes[group], tuples[group], group);
    let mut groups: Vec<_> = there.map(of).collect();
    groups.sort_unstable_by(|a, b| b.cmp(a));
    groups
}

/// What is counted in each group for models of counts.
struct Counts<'a> {
    judge: &'a Judge<'a>,
    table: &'a Table,
    grouping: &'a Grouping,
    /// By guarded value and group.
    guarded: Vec<Vec<u64>>,
    /// By scope and group: which groups are alike in its columns.
    alike: Vec<Vec<u32>>,
    /// By group, its variants, where some model looks at them.
    variants: Buckets,
}

impl<'a> Counts<'a> {
    fn new(judge: &'a Judge<'a>, table: &'a Table, grouping: &'a Grouping, recoded: &[Recoded]) -> Self {
        let groups = grouping.sizes.len();
        let count = |rows: &Vec<(u32, u64)>| {
            let mut counts = vec![0; groups];
            rows.iter().for_each(|&(row, records)| counts[grouping.ids[row as usize] as usize] += records);
            counts
        };
        let guarded = table.guarded.iter().map(count).collect();
        let tuple = |group: usize| table.tuples[grouping.firsts[group] as usize];
        let alike = |scope: &Scope| {
            if scope.columns.len() == recoded.len() {
                return (0..groups as u32).collect();
            }
            let sizes: Vec<usize> = scope.columns.iter().map(|&column| recoded[column].cells.len()).collect();
            let cell = |group: usize, place: usize| {
                let column = scope.columns[place];
                recoded[column].cell_of[judge.profile.codes(tuple(group))[column] as usize]
            };
            group_rows(groups, &sizes, cell).of_row
        };
        let alike = judge.scopes.iter().map(alike).collect();
        let group = |variant| grouping.ids[table.rows[judge.profile.tuple_of(VariantId(variant)).index()] as usize];
        let variants = if judge.by_record { 0..judge.profile.variants() as u32 } else { 0..0 };
        let variants = Buckets::new(groups, variants.map(group));
        Self { judge, table, grouping, guarded, alike, variants }
    }

    fn members(&self, group: usize) -> impl Iterator<Item = VariantCount> {
        let variants = self.variants.rows(group as u32, group as u32).iter().map(|&variant| VariantId(variant));
        variants.map(|variant| VariantCount { variant, records: self.judge.profile.variant_records(variant) })
    }

    fn mark(&self, gone: &mut [bool]) {
        self.take_out_failing(gone, true);
        if self.suppressed_hold(gone) {
            return;
        }
        let mut others = smallest_last(self.table, self.grouping, gone);
        while !self.suppressed_hold(gone) {
            let Some((_, _, smallest)) = others.pop() else { break };
            if !gone[smallest] {
                gone[smallest] = true;
                self.take_out_failing(gone, false);
            }
        }
    }

    /// Until every model holds in all that is left: what one takes out, another may miss. A group that is alike in all
    /// columns misses nobody, and is judged the first time only.
    fn take_out_failing(&self, gone: &mut [bool], mut first: bool) {
        loop {
            let mut failing = Vec::new();
            let columns = self.judge.profile.columns().len();
            let scopes = self.judge.scopes.iter().zip(&self.alike);
            for (scope, alike) in scopes.filter(|(scope, _)| first || scope.columns.len() < columns) {
                let sums = |of: &[u64]| {
                    let mut sums = vec![0; alike.len()];
                    for (group, &id) in alike.iter().enumerate().filter(|(group, _)| !gone[*group]) {
                        sums[id as usize] += of[group];
                    }
                    sums
                };
                let records = sums(&self.grouping.sizes);
                let mut fails: Vec<bool> = records.iter().map(|&records| records < scope.least).collect();
                for &(guard, share) in &scope.shares {
                    for ((fails, carried), &records) in fails.iter_mut().zip(sums(&self.guarded[guard])).zip(&records) {
                        *fails |= records > 0 && !share.allows(carried as f64 / records as f64);
                    }
                }
                if !scope.models.is_empty() {
                    self.judge_members(scope, alike, gone, &records, &mut fails);
                }
                failing.extend((0..alike.len()).filter(|&group| !gone[group] && fails[alike[group] as usize]));
            }
            if failing.is_empty() {
                return;
            }
            failing.into_iter().for_each(|group| gone[group] = true);
            first = false;
        }
    }

    /// Judges what is alike by models that look at more than counts.
    fn judge_members(&self, scope: &Scope<'_>, alike: &[u32], gone: &[bool], records: &[u64], fails: &mut [bool]) {
        let breaks = |members: &[VariantCount]| {
            let group = Group::new(self.judge.profile, members);
            scope.models.iter().any(|model| !model.holds(&group))
        };
        let mut together: Vec<Vec<VariantCount>> = vec![Vec::new(); alike.len()];
        let alone = scope.columns.len() == self.judge.profile.columns().len();
        for (group, &id) in alike.iter().enumerate().filter(|(group, _)| !gone[*group]) {
            let id = id as usize;
            match alone {
                true => fails[id] = fails[id] || breaks(&self.members(group).collect::<Vec<_>>()),
                false => together[id].extend(self.members(group)),
            }
        }
        for ((fails, together), &records) in fails.iter_mut().zip(&together).zip(records) {
            *fails = *fails || (!alone && records > 0 && breaks(together));
        }
    }

    /// Whether the suppressed records are a group like any other.
    fn suppressed_hold(&self, gone: &[bool]) -> bool {
        let sum = |of: &[u64]| of.iter().zip(gone).filter(|(_, gone)| **gone).map(|(records, _)| records).sum::<u64>();
        let records = sum(&self.grouping.sizes);
        let members = || {
            let suppressed = (0..gone.len()).filter(|&group| gone[group]);
            suppressed.flat_map(|group| self.members(group)).collect::<Vec<VariantCount>>()
        };
        let members = if self.judge.by_record { members() } else { Vec::new() };
        records == 0
            || self.judge.scopes.iter().all(|scope| {
                let within = |&(guard, share): &(usize, ShareLimit)| {
                    share.allows(sum(&self.guarded[guard]) as f64 / records as f64)
                };
                let group = Group::new(self.judge.profile, &members);
                records >= scope.least
                    && scope.shares.iter().all(within)
                    && scope.models.iter().all(|model| model.holds(&group))
            })
    }
}
