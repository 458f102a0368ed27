//! Clusters: groups under construction, and the local recoding that they become.

use rayon::prelude::*;

use super::{Outcome, Stop, Task};
use crate::{
    ids::{GroupId, TupleId},
    profile::{Profile, VariantCount},
    recoding::{GroupAssignment, LocalRecoding, Recoding},
};

/// Bounding box: the least and greatest code of each column.
pub(super) type Ranges = Vec<(u32, u32)>;

/// Records that are released as one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cluster {
    /// A variant may occur more than once.
    pub members: Vec<VariantCount>,
    /// The box around the members.
    pub ranges: Ranges,
}

impl Cluster {
    pub(super) fn records(&self) -> u64 {
        self.members.iter().map(|member| member.records).sum()
    }

    pub(super) fn satisfies(&self, task: &Task<'_>) -> bool {
        task.is_satisfied_by(&self.members)
    }

    /// Cluster with the smallest box around its members.
    pub(super) fn around(task: &Task<'_>, members: Vec<VariantCount>) -> Self {
        Self { ranges: ranges_of(task.profile, &members), members }
    }

    /// Cluster of all records of some tuples.
    pub(super) fn of_tuples(task: &Task<'_>, tuples: &[TupleId]) -> Self {
        Self::around(task, members_of(task.profile, tuples.iter().copied()).collect())
    }

    /// Adds all records of another cluster.
    pub(super) fn join(&mut self, other: Self) {
        self.members.extend(other.members);
        widen(&mut self.ranges, &other.ranges);
    }
}

/// All records of some tuples, in the order of the tuples.
pub(super) fn members_of(
    profile: &Profile,
    tuples: impl IntoIterator<Item = TupleId>,
) -> impl Iterator<Item = VariantCount> {
    tuples.into_iter().flat_map(|tuple| profile.members_of(tuple))
}

/// Smallest box around some members.
pub(super) fn ranges_of(profile: &Profile, members: &[VariantCount]) -> Ranges {
    let mut ranges = vec![(u32::MAX, 0); profile.columns().len()];
    for member in members {
        include(&mut ranges, profile.codes(profile.tuple_of(member.variant)));
    }
    ranges
}

/// Extends a box by a point.
pub(super) fn include(ranges: &mut [(u32, u32)], codes: &[u32]) {
    for (range, &code) in ranges.iter_mut().zip(codes) {
        *range = (range.0.min(code), range.1.max(code));
    }
}

/// Extends a box by another box.
pub(super) fn widen(ranges: &mut [(u32, u32)], more: &[(u32, u32)]) {
    for (range, more) in ranges.iter_mut().zip(more) {
        *range = (range.0.min(more.0), range.1.max(more.1));
    }
}

/// Result of a method of local recoding.
pub(super) struct Clustering {
    /// Each satisfies the models.
    pub clusters: Vec<Cluster>,
    /// Suppressed records, sorted; none, or a group that satisfies the models.
    pub suppressed: Vec<VariantCount>,
    /// Why it was stopped, if it was.
    pub stop: Option<Stop>,
    pub work: Vec<(&'static str, u64)>,
}

impl Clustering {
    /// Clusters of all records.
    pub(super) fn new(clusters: Vec<Cluster>, stop: Option<Stop>, work: Vec<(&'static str, u64)>) -> Self {
        Self { clusters, suppressed: Vec::new(), stop, work }
    }
}

/// Turns clusters into the outcome of a method, one group per cluster.
pub(super) fn outcome(task: &Task<'_>, clustering: Clustering) -> Outcome {
    let Clustering { mut clusters, suppressed, stop, work } = clustering;
    clusters.par_iter_mut().for_each(|cluster| cluster.members.sort_unstable());
    let mut groups = LocalRecoding::default();
    for (index, cluster) in clusters.iter().enumerate() {
        let cells = task.profile.columns().iter().zip(&cluster.ranges);
        groups.boxes.extend(cells.map(|(column, &(first, last))| column.domain.cover(first, last)));
        let same_variant = cluster.members.chunk_by(|a, b| a.variant == b.variant);
        groups.assignments.extend(same_variant.map(|members| GroupAssignment {
            group: GroupId::from_index(index),
            variant: members[0].variant,
            records: members.iter().map(|member| member.records).sum(),
        }));
    }
    if !suppressed.is_empty() {
        let group = GroupId::from_index(clusters.len());
        groups.boxes.extend(task.profile.columns().iter().map(|column| column.domain.whole()));
        let assignment =
            |member: &VariantCount| GroupAssignment { group, variant: member.variant, records: member.records };
        groups.assignments.extend(suppressed.iter().map(assignment));
        groups.suppressed = Some(group);
    }
    Outcome {
        recoding: Recoding::Local(groups),
        stop: stop.unwrap_or(Stop::Finished),
        path: Vec::new(),
        work,
        tried: Vec::new(),
    }
}
