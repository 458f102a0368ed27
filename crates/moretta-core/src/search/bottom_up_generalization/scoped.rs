//! Groups that other models than k-anonymity judge, each by the columns that it takes to be known.
//!
//! The method serves only models that are closed under union. So a generalization never makes one fail that held, and
//! only groups that it merges need to be judged again.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use hashbrown::HashMap;

use super::{candidates::Generalization, index::Index};
use crate::{
    ids::TupleId,
    privacy::{BoundModel, Group},
    profile::{Profile, VariantCount},
    search::{cluster::members_of, taxonomy::Taxonomy},
};

/// The groups by one set of columns, and the models that look at them.
pub(super) struct Scoped<'a> {
    profile: &'a Profile,
    models: Vec<&'a dyn BoundModel>,
    pub(super) index: Index,
    members: Vec<Vec<VariantCount>>,
    /// Groups that break a model, with their margins.
    failing: HashMap<u32, f64>,
    /// The same by margin, the worst first.
    worst: BTreeSet<(Margin, u32)>,
    failing_records: u64,
}

/// A margin in its order.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Margin(f64);

impl Eq for Margin {}

impl PartialOrd for Margin {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Margin {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<'a> Scoped<'a> {
    /// For each set of columns that some of the models look at.
    pub(super) fn of_models(
        profile: &'a Profile,
        taxonomies: &[Taxonomy<'_>],
        models: impl Iterator<Item = &'a dyn BoundModel>,
    ) -> Vec<Self> {
        by_scope(models).into_iter().map(|(columns, models)| Self::new(profile, taxonomies, &columns, models)).collect()
    }

    fn new(
        profile: &'a Profile,
        taxonomies: &[Taxonomy<'_>],
        columns: &[usize],
        models: Vec<&'a dyn BoundModel>,
    ) -> Self {
        let (index, vids) = Index::new(profile, taxonomies, columns, 1);
        let mut members = vec![Vec::new(); index.len()];
        for (tuple, &vid) in (0u32..).map(TupleId).zip(&vids) {
            members[vid as usize].extend(members_of(profile, [tuple]));
        }
        let (failing, worst) = (HashMap::new(), BTreeSet::new());
        let mut scoped = Self { profile, models, index, members, failing, worst, failing_records: 0 };
        for vid in 0..scoped.members.len() as u32 {
            if let Some(margin) = scoped.broken(&scoped.members[vid as usize]) {
                scoped.fails(vid, margin);
            }
        }
        scoped
    }

    /// A group breaks a model.
    fn fails(&mut self, vid: u32, margin: f64) {
        self.failing.insert(vid, margin);
        self.worst.insert((Margin(margin), vid));
        self.failing_records += self.index.records(vid);
    }

    /// A group no longer breaks a model, or is no more. Tells whether it did.
    fn forget(&mut self, vid: u32) -> bool {
        let Some(margin) = self.failing.remove(&vid) else { return false };
        self.worst.remove(&(Margin(margin), vid));
        self.failing_records -= self.index.records(vid);
        true
    }

    /// The least margin of the models, where one is broken.
    fn broken(&self, members: &[VariantCount]) -> Option<f64> {
        let group = Group::new(self.profile, members);
        if self.models.iter().all(|model| model.holds(&group)) {
            return None;
        }
        Some(self.models.iter().map(|model| model.margin(&group)).fold(f64::INFINITY, f64::min))
    }

    pub(super) fn holds(&self) -> bool {
        self.failing.is_empty()
    }

    /// How many records are in groups that break a model.
    pub(super) fn failing_records(&self) -> u64 {
        self.failing_records
    }

    /// For each column, the generalization that would change the worst group.
    pub(super) fn critical_generalizations(&self, taxonomies: &[Taxonomy<'_>]) -> Vec<Generalization> {
        let Some(&(_, vid)) = self.worst.first() else { return Vec::new() };
        let columns = self.index.columns().iter().enumerate();
        let parent = |(position, &column): (usize, &usize)| {
            Some((column, taxonomies[column].tree().parent(self.index.node(vid, position))?))
        };
        columns.filter_map(parent).collect()
    }

    /// How many records fewer would be in groups that break a model.
    pub(super) fn trial(&mut self, (column, node): Generalization, taxonomies: &[Taxonomy<'_>]) -> u64 {
        let Some(position) = self.index.position_of(column) else { return 0 };
        let (vids, groups) = self.index.merged(position, &taxonomies[column], node);
        let mut becoming: Vec<Vec<u32>> = vec![Vec::new(); groups.len()];
        for (vid, group) in vids {
            becoming[group as usize].push(vid);
        }
        let fails = |vid: &&u32| self.failing.contains_key(*vid);
        let mut gained = 0;
        for vids in becoming.iter().filter(|vids| vids.len() > 1) {
            let before: u64 = vids.iter().filter(fails).map(|&vid| self.index.records(vid)).sum();
            // Groups that hold still do when they are one.
            if before > 0 {
                let members: Vec<VariantCount> =
                    vids.iter().flat_map(|&vid| self.members[vid as usize].iter().copied()).collect();
                let all: u64 = vids.iter().map(|&vid| self.index.records(vid)).sum();
                gained += before.saturating_sub(if self.broken(&members).is_some() { all } else { 0 });
            }
        }
        gained
    }

    pub(super) fn apply(&mut self, (column, node): Generalization, taxonomies: &[Taxonomy<'_>]) {
        let Some(position) = self.index.position_of(column) else { return };
        let (vids, groups) = self.index.merged(position, &taxonomies[column], node);
        let mut again = vec![false; groups.len()];
        for (vid, group) in vids {
            let into = groups[group as usize].survivor;
            if vid == into {
                continue;
            }
            again[group as usize] |= self.forget(vid) | self.forget(into);
            let mut members = std::mem::take(&mut self.members[vid as usize]);
            if members.len() > self.members[into as usize].len() {
                std::mem::swap(&mut members, &mut self.members[into as usize]);
            }
            self.members[into as usize].extend(members);
        }
        self.index.apply(position, &taxonomies[column], node);
        for (group, _) in groups.iter().zip(again).filter(|(_, again)| *again) {
            if let Some(margin) = self.broken(&self.members[group.survivor as usize]) {
                self.fails(group.survivor, margin);
            }
        }
    }
}

/// Models by the columns that they take to be known.
pub(super) fn by_scope<'a>(
    models: impl Iterator<Item = &'a dyn BoundModel>,
) -> BTreeMap<Vec<usize>, Vec<&'a dyn BoundModel>> {
    let mut scopes: BTreeMap<Vec<usize>, Vec<&dyn BoundModel>> = BTreeMap::new();
    for model in models {
        scopes.entry(model.scope().iter().map(|column| column.index()).collect()).or_default().push(model);
    }
    scopes
}
