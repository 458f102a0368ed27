//! Groups that models other than k-anonymity judge, each by the columns that it assumes the attacker knows (its
//! *scope*).
//!
//! **Why.** A template on `job` judges the groups by job alone, whatever the other columns are. So every distinct scope
//! has its own [`Index`] and its own list of violating groups, the worst first.
//!
//! ```text
//! template: hiv at most 50 % given job      scope (job)   records  hiv
//!                                           singer        5        3    violates, 60 %
//!                                           dancer        6        0
//! {singer, dancer} -> artist                artist        11       3    satisfies: 5 records repaired
//! ```
//!
//! **How.** The method only supports models that are closed under union: merging groups that satisfy one gives a group
//! that satisfies it. So only merged groups with a violating part are judged again.
//!
//! **Cost.** A step costs the vids that it changes, and the variants of the groups that are judged again.

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

/// The groups of one scope, and the models that judge them.
pub(super) struct ScopedGroups<'a> {
    profile: &'a Profile,
    models: Vec<&'a dyn BoundModel>,
    pub(super) index: Index,
    /// By vid.
    members: Vec<Vec<VariantCount>>,
    /// Vids of groups that violate a model, with their margins (negative, see [`BoundModel::margin`]).
    violating: HashMap<u32, f64>,
    /// The same in order of margin, the worst first.
    by_margin: BTreeSet<(Margin, u32)>,
    violating_records: u64,
}

/// A margin with a total order.
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

impl<'a> ScopedGroups<'a> {
    /// Builds the groups of every scope among the models.
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
        let (violating, by_margin) = (HashMap::new(), BTreeSet::new());
        let mut scoped = Self { profile, models, index, members, violating, by_margin, violating_records: 0 };
        for vid in 0..scoped.members.len() as u32 {
            if let Some(margin) = scoped.violation_margin(&scoped.members[vid as usize]) {
                scoped.mark_violating(vid, margin);
            }
        }
        scoped
    }

    /// Adds a group to the violating ones.
    fn mark_violating(&mut self, vid: u32, margin: f64) {
        self.violating.insert(vid, margin);
        self.by_margin.insert((Margin(margin), vid));
        self.violating_records += self.index.records(vid);
    }

    /// Removes a group from the violating ones. Returns whether it was one.
    fn unmark_violating(&mut self, vid: u32) -> bool {
        let Some(margin) = self.violating.remove(&vid) else { return false };
        self.by_margin.remove(&(Margin(margin), vid));
        self.violating_records -= self.index.records(vid);
        true
    }

    /// Smallest margin over the models; `None` if all are satisfied.
    fn violation_margin(&self, members: &[VariantCount]) -> Option<f64> {
        let group = Group::new(self.profile, members);
        if self.models.iter().all(|model| model.holds(&group)) {
            return None;
        }
        Some(self.models.iter().map(|model| model.margin(&group)).fold(f64::INFINITY, f64::min))
    }

    pub(super) fn is_satisfied(&self) -> bool {
        self.violating.is_empty()
    }

    /// Number of records in groups that violate a model.
    pub(super) fn violating_records(&self) -> u64 {
        self.violating_records
    }

    /// The generalizations that would change the worst group, at most one per column.
    pub(super) fn critical_generalizations(&self, taxonomies: &[Taxonomy<'_>]) -> Vec<Generalization> {
        let Some(&(_, vid)) = self.by_margin.first() else { return Vec::new() };
        let columns = self.index.columns().iter().enumerate();
        let parent = |(position, &column): (usize, &usize)| {
            Some((column, taxonomies[column].tree().parent(self.index.node(vid, position))?))
        };
        columns.filter_map(parent).collect()
    }

    /// Number of records by which a generalization would reduce those in violating groups.
    pub(super) fn repaired_records(&mut self, (column, node): Generalization, taxonomies: &[Taxonomy<'_>]) -> u64 {
        let Some(position) = self.index.position_of(column) else { return 0 };
        let (vids, groups) = self.index.merged(position, &taxonomies[column], node);
        let mut merging: Vec<Vec<u32>> = vec![Vec::new(); groups.len()];
        for (vid, group) in vids {
            merging[group as usize].push(vid);
        }
        let is_violating = |vid: &&u32| self.violating.contains_key(*vid);
        let mut gain = 0;
        for vids in merging.iter().filter(|vids| vids.len() > 1) {
            let before: u64 = vids.iter().filter(is_violating).map(|&vid| self.index.records(vid)).sum();
            // Without a violating part, the merged group satisfies the models (closed under union).
            if before > 0 {
                let members: Vec<VariantCount> =
                    vids.iter().flat_map(|&vid| self.members[vid as usize].iter().copied()).collect();
                let all: u64 = vids.iter().map(|&vid| self.index.records(vid)).sum();
                gain += before.saturating_sub(if self.violation_margin(&members).is_some() { all } else { 0 });
            }
        }
        gain
    }

    pub(super) fn apply(&mut self, (column, node): Generalization, taxonomies: &[Taxonomy<'_>]) {
        let Some(position) = self.index.position_of(column) else { return };
        let (vids, groups) = self.index.merged(position, &taxonomies[column], node);
        let mut changed = vec![false; groups.len()];
        for (vid, group) in vids {
            let into = groups[group as usize].survivor;
            if vid == into {
                continue;
            }
            changed[group as usize] |= self.unmark_violating(vid) | self.unmark_violating(into);
            let mut members = std::mem::take(&mut self.members[vid as usize]);
            if members.len() > self.members[into as usize].len() {
                std::mem::swap(&mut members, &mut self.members[into as usize]);
            }
            self.members[into as usize].extend(members);
        }
        self.index.apply(position, &taxonomies[column], node);
        for (group, _) in groups.iter().zip(changed).filter(|(_, changed)| *changed) {
            if let Some(margin) = self.violation_margin(&self.members[group.survivor as usize]) {
                self.mark_violating(group.survivor, margin);
            }
        }
    }
}

/// Models by scope.
pub(super) fn by_scope<'a>(
    models: impl Iterator<Item = &'a dyn BoundModel>,
) -> BTreeMap<Vec<usize>, Vec<&'a dyn BoundModel>> {
    let mut scopes: BTreeMap<Vec<usize>, Vec<&dyn BoundModel>> = BTreeMap::new();
    for model in models {
        scopes.entry(model.scope().iter().map(|column| column.index()).collect()).or_default().push(model);
    }
    scopes
}
