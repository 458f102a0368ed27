//! Clusters: records that leave together.

use crate::{
    hierarchy::Cell,
    ids::{GroupId, TupleId},
    privacy::{Group, Member},
    recoding::{GroupShare, Groups},
    search::{NoObserver, Task, mondrian},
};

/// Records that leave together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::search) struct Cluster {
    /// Variants may come more than once.
    pub members: Vec<Member>,
    /// The least and greatest code of each column.
    pub ranges: Vec<(u32, u32)>,
}

impl Cluster {
    pub(in crate::search) fn records(&self) -> u64 {
        self.members.iter().map(|member| member.records).sum()
    }

    pub(in crate::search) fn holds(&self, task: &Task<'_>) -> bool {
        let group = Group::new(task.profile, &self.members);
        task.models.iter().all(|model| model.holds(&group))
    }

    /// Of a set of members.
    pub(in crate::search) fn around(task: &Task<'_>, members: Vec<Member>) -> Self {
        let mut ranges = vec![(u32::MAX, 0); task.profile.columns().len()];
        for member in &members {
            let codes = task.profile.codes(task.profile.tuple_of(member.variant));
            for (range, &code) in ranges.iter_mut().zip(codes) {
                *range = (range.0.min(code), range.1.max(code));
            }
        }
        Self { members, ranges }
    }

    /// Of all records of some tuples.
    pub(in crate::search) fn of_tuples(task: &Task<'_>, tuples: &[TupleId]) -> Self {
        let variants = tuples.iter().flat_map(|&tuple| task.profile.variants_of(tuple));
        let members = variants.map(|variant| Member { variant, records: task.profile.variant_records(variant) });
        Self::around(task, members.collect())
    }

    /// Takes all records of another in.
    pub(in crate::search) fn join(&mut self, other: Self) {
        self.members.extend(other.members);
        for (range, more) in self.ranges.iter_mut().zip(other.ranges) {
            *range = (range.0.min(more.0), range.1.max(more.1));
        }
    }
}

/// Clusters of records that hold together, when there is no more time: quick, and worse.
pub(in crate::search) fn in_a_hurry(task: &Task<'_>, mut members: Vec<Member>) -> Vec<Cluster> {
    members.sort_unstable();
    mondrian::split(task, members, 1, &NoObserver).into_iter().map(|part| Cluster::around(task, part)).collect()
}

/// The clusters as a recoding.
pub(in crate::search) fn groups(task: &Task<'_>, clusters: Vec<Cluster>) -> Groups {
    let mut groups = Groups::default();
    for (at, cluster) in clusters.into_iter().enumerate() {
        let cells = task.profile.columns().iter().zip(&cluster.ranges);
        groups.boxes.extend(cells.map(|(column, &(first, last))| -> Cell { column.domain.cover(first, last) }));
        let group = GroupId::from_index(at);
        let mut members = cluster.members;
        members.sort_unstable();
        let alike = members.chunk_by(|a: &Member, b: &Member| a.variant == b.variant);
        groups.shares.extend(alike.map(|alike| GroupShare {
            group,
            variant: alike[0].variant,
            records: alike.iter().map(|member| member.records).sum(),
        }));
    }
    groups
}
