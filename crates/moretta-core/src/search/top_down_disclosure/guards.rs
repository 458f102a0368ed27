//! Models that are checked only when a candidate is selected: minimum group sizes, and models that need to see all
//! records of a group.
//!
//! All these models are closed under union: if two groups satisfy one, so do their records together. So a candidate
//! that violates one now would violate it in every finer table, and a rejected candidate stays rejected.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    candidates::Candidate,
    projected_rows::{ProjectedRows, Projection},
};
use crate::{
    ids::TupleId,
    privacy::{BoundModel, Group},
    profile::{Profile, VariantCount},
    search::cluster::members_of,
};

/// A minimum number of records for every group of a scope.
pub(super) struct MinRecordsGuard {
    rows: Arc<ProjectedRows>,
    /// By row.
    records: Vec<u64>,
    /// By row.
    group_of: Vec<u32>,
    /// Records by group.
    sizes: Vec<u64>,
    min_records: u64,
}

impl MinRecordsGuard {
    pub(super) fn new(profile: &Profile, projection: &Projection, min_records: u64) -> Self {
        let rows = Arc::clone(&projection.rows);
        let mut records = vec![0; rows.len()];
        for tuple in (0..profile.tuples() as u32).map(TupleId) {
            records[projection.row_by_tuple[tuple.index()] as usize] += profile.tuple_records(tuple);
        }
        Self { group_of: vec![0; rows.len()], rows, records, sizes: vec![profile.records()], min_records }
    }

    /// By group that the candidate occurs in, the number of records that the disclosure would move to a new group.
    fn moved(&self, candidate: &Candidate) -> BTreeMap<u32, u64> {
        let mut moved = BTreeMap::new();
        for &row in self.rows.rows_of(candidate) {
            *moved.entry(self.group_of[row as usize]).or_default() += self.records[row as usize];
        }
        moved
    }

    /// Whether all groups that the disclosure would split keep the minimum size on both sides.
    pub(super) fn allows(&self, candidate: &Candidate) -> bool {
        self.moved(candidate).into_iter().all(|(group, moved)| {
            let remaining = self.sizes[group as usize] - moved;
            remaining == 0 || moved.min(remaining) >= self.min_records
        })
    }

    pub(super) fn disclose(&mut self, candidate: &Candidate) {
        let mut new = BTreeMap::new();
        for (group, moved) in self.moved(candidate) {
            if moved < self.sizes[group as usize] {
                self.sizes[group as usize] -= moved;
                new.insert(group, self.sizes.len() as u32);
                self.sizes.push(moved);
            }
        }
        for &row in self.rows.rows_of(candidate) {
            if let Some(&new) = new.get(&self.group_of[row as usize]) {
                self.group_of[row as usize] = new;
            }
        }
    }
}

/// Models of one scope that need all records of a group.
pub(super) struct ModelGuard<'a> {
    profile: &'a Profile,
    models: Vec<&'a dyn BoundModel>,
    rows: ProjectedRows,
    group_of: Vec<u32>,
    groups: Vec<Vec<TupleId>>,
}

impl<'a> ModelGuard<'a> {
    pub(super) fn new(profile: &'a Profile, scope: &[usize], models: Vec<&'a dyn BoundModel>) -> Self {
        let all: Vec<TupleId> = (0..profile.tuples() as u32).map(TupleId).collect();
        let rows = ProjectedRows::new(profile, scope, all.iter().copied());
        Self { profile, models, group_of: vec![0; rows.len()], rows, groups: vec![all] }
    }

    fn models_hold(&self, tuples: &[TupleId]) -> bool {
        let members: Vec<VariantCount> = members_of(self.profile, tuples.iter().copied()).collect();
        let group = Group::new(self.profile, &members);
        members.is_empty() || self.models.iter().all(|model| model.holds(&group))
    }

    /// The groups that a candidate occurs in, each with the tuples that would move and those that would remain.
    fn split_groups(&self, candidate: &Candidate) -> impl Iterator<Item = (u32, Vec<TupleId>, Vec<TupleId>)> {
        let rows = self.rows.rows_of(candidate).iter();
        let mut groups: Vec<u32> = rows.map(|&row| self.group_of[row as usize]).collect();
        groups.sort_unstable();
        groups.dedup();
        let is_moved = move |tuple: &TupleId| {
            let code = self.profile.codes(*tuple)[candidate.column];
            candidate.first <= code && code <= candidate.last
        };
        let split = move |group: u32| {
            let (moved, remaining) = self.groups[group as usize].iter().partition(|tuple| is_moved(tuple));
            (group, moved, remaining)
        };
        groups.into_iter().map(split)
    }

    /// Whether all groups that the disclosure would split satisfy the models on both sides.
    pub(super) fn allows(&self, candidate: &Candidate) -> bool {
        self.split_groups(candidate).all(|(_, moved, remaining)| {
            remaining.is_empty() || (self.models_hold(&moved) && self.models_hold(&remaining))
        })
    }

    pub(super) fn disclose(&mut self, candidate: &Candidate) {
        let split_groups: Vec<_> =
            self.split_groups(candidate).filter(|(_, _, remaining)| !remaining.is_empty()).collect();
        for (group, moved, remaining) in split_groups {
            let new = self.groups.len() as u32;
            moved.iter().for_each(|tuple| self.group_of[tuple.index()] = new);
            self.groups[group as usize] = remaining;
            self.groups.push(moved);
        }
    }
}
