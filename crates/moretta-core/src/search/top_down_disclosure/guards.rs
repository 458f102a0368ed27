//! Models that are asked only when a candidate's turn has come: the least number of records, and whatever else a group
//! must satisfy as a whole.
//!
//! Where two groups satisfy a model, so do their records taken together. So what breaks one now would break it in every
//! finer table, and a candidate that was refused once is refused for good.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    candidates::Candidate,
    rows::{Collapsed, Rows},
};
use crate::{
    ids::TupleId,
    privacy::{BoundModel, Group},
    profile::{Profile, VariantCount},
    search::cluster::members_of,
};

/// At least so many records in every group of a scope.
pub(super) struct Least {
    rows: Arc<Rows>,
    records: Vec<u64>,
    group_of: Vec<u32>,
    sizes: Vec<u64>,
    least: u64,
}

impl Least {
    pub(super) fn new(profile: &Profile, collapsed: &Collapsed, least: u64) -> Self {
        let rows = Arc::clone(&collapsed.rows);
        let mut records = vec![0; rows.len()];
        for tuple in (0..profile.tuples() as u32).map(TupleId) {
            records[collapsed.row_of[tuple.index()] as usize] += profile.tuple_records(tuple);
        }
        Self { group_of: vec![0; rows.len()], rows, records, sizes: vec![profile.records()], least }
    }

    /// By group that the candidate occurs in, how many records would leave it.
    fn leaving(&self, candidate: &Candidate) -> BTreeMap<u32, u64> {
        let mut leaving = BTreeMap::new();
        for &row in self.rows.of(candidate) {
            *leaving.entry(self.group_of[row as usize]).or_default() += self.records[row as usize];
        }
        leaving
    }

    /// Whether telling it would leave no group too small.
    pub(super) fn allows(&self, candidate: &Candidate) -> bool {
        self.leaving(candidate).into_iter().all(|(group, leaving)| {
            let staying = self.sizes[group as usize] - leaving;
            staying == 0 || leaving.min(staying) >= self.least
        })
    }

    pub(super) fn tell(&mut self, candidate: &Candidate) {
        let mut new = BTreeMap::new();
        for (group, leaving) in self.leaving(candidate) {
            if leaving < self.sizes[group as usize] {
                self.sizes[group as usize] -= leaving;
                new.insert(group, self.sizes.len() as u32);
                self.sizes.push(leaving);
            }
        }
        for &row in self.rows.of(candidate) {
            if let Some(&new) = new.get(&self.group_of[row as usize]) {
                self.group_of[row as usize] = new;
            }
        }
    }
}

/// Models that need to see the records of a group.
pub(super) struct Judges<'a> {
    profile: &'a Profile,
    models: Vec<&'a dyn BoundModel>,
    rows: Rows,
    group_of: Vec<u32>,
    groups: Vec<Vec<TupleId>>,
}

impl<'a> Judges<'a> {
    pub(super) fn new(profile: &'a Profile, scope: &[usize], models: Vec<&'a dyn BoundModel>) -> Self {
        let all: Vec<TupleId> = (0..profile.tuples() as u32).map(TupleId).collect();
        let rows = Rows::new(profile, scope, all.iter().copied());
        Self { profile, models, group_of: vec![0; rows.len()], rows, groups: vec![all] }
    }

    fn hold(&self, tuples: &[TupleId]) -> bool {
        let members: Vec<VariantCount> = members_of(self.profile, tuples.iter().copied()).collect();
        let group = Group::new(self.profile, &members);
        members.is_empty() || self.models.iter().all(|model| model.holds(&group))
    }

    /// The groups that a candidate occurs in, divided.
    fn divided(&self, candidate: &Candidate) -> impl Iterator<Item = (u32, Vec<TupleId>, Vec<TupleId>)> {
        let rows = self.rows.of(candidate).iter();
        let mut groups: Vec<u32> = rows.map(|&row| self.group_of[row as usize]).collect();
        groups.sort_unstable();
        groups.dedup();
        let leaves = move |tuple: &TupleId| {
            let code = self.profile.codes(*tuple)[candidate.column];
            candidate.first <= code && code <= candidate.last
        };
        let divide = move |group: u32| {
            let (leaving, staying) = self.groups[group as usize].iter().partition(|tuple| leaves(tuple));
            (group, leaving, staying)
        };
        groups.into_iter().map(divide)
    }

    /// Whether every group that telling it would make satisfies every model.
    pub(super) fn allow(&self, candidate: &Candidate) -> bool {
        self.divided(candidate)
            .all(|(_, leaving, staying)| staying.is_empty() || (self.hold(&leaving) && self.hold(&staying)))
    }

    pub(super) fn tell(&mut self, candidate: &Candidate) {
        let divided: Vec<_> = self.divided(candidate).filter(|(_, _, staying)| !staying.is_empty()).collect();
        for (group, leaving, staying) in divided {
            let new = self.groups.len() as u32;
            leaving.iter().for_each(|tuple| self.group_of[tuple.index()] = new);
            self.groups[group as usize] = staying;
            self.groups.push(leaving);
        }
    }
}
