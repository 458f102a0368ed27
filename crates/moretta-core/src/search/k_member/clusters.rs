//! Clusters one block, as published: each cluster grows from a seed, and the next seed is the record farthest from the
//! last.
//!
//! Records of a tuple that is inside the box already cost nothing more, so they are added at once. Cost: one tree
//! search per seed and one step of the queue per record added (`nearest.rs`).

use super::{
    nearest::{NearestQueue, Work, farthest},
    points::PointTree,
};
use crate::{
    profile::VariantCount,
    search::{
        Observer, Stop, Task,
        cluster::Cluster,
        local::{GroupRequirements, GrowingBox, LossTable, RemainingRecords, split_rest},
        rng::hash_seed,
    },
};

/// Result of clustering one block.
#[derive(Default)]
pub(super) struct BlockClusters {
    pub clusters: Vec<Cluster>,
    /// Records that belong to no cluster yet, in order.
    pub leftovers: Vec<VariantCount>,
    pub work: Work,
    /// Why it was stopped, if it was.
    pub stop: Option<Stop>,
}

/// Clusters the records of a block; `members` must be sorted. Calls `done` with the number of records of each cluster.
pub(super) fn cluster_block(
    task: &Task<'_>,
    loss_table: &LossTable<'_>,
    members: &[VariantCount],
    seed: u64,
    observer: &dyn Observer,
    done: &dyn Fn(u64),
) -> BlockClusters {
    let mut search = KMemberSearch::new(task, loss_table, members, seed);
    let min_records = GroupRequirements::of(task).min_records;
    let mut found = BlockClusters::default();
    let mut previous = None;
    while search.remaining.records() >= min_records {
        if let Some(stop) = observer.stop() {
            found.stop = Some(stop);
            found.leftovers = split_rest(task, &mut found.clusters, search.remaining.rest());
            break;
        }
        let Some(seed) = search.seed(previous) else { break };
        previous = Some(seed);
        let cluster = search.grow(seed, min_records);
        done(cluster.records());
        // The cluster took all remaining records and still violates a model.
        if search.remaining.records() == 0 && !cluster.satisfies(task) {
            found.leftovers = cluster.members;
            break;
        }
        found.clusters.push(cluster);
    }
    if found.stop.is_none() {
        found.leftovers.extend(search.remaining.rest());
    }
    found.leftovers.sort_unstable();
    found.work = search.work;
    found
}

struct KMemberSearch<'a> {
    task: &'a Task<'a>,
    loss_table: &'a LossTable<'a>,
    remaining: RemainingRecords<'a>,
    points: PointTree,
    growing_box: GrowingBox<'a>,
    nearest: NearestQueue,
    seed: u64,
    work: Work,
}

impl<'a> KMemberSearch<'a> {
    fn new(task: &'a Task<'a>, loss_table: &'a LossTable<'a>, members: &[VariantCount], seed: u64) -> Self {
        let remaining = RemainingRecords::new(task.profile, members, seed);
        let width = |column, first, last| loss_table.column(column, first, last);
        Self {
            task,
            loss_table,
            points: PointTree::new(remaining.codes(), loss_table.columns(), width),
            remaining,
            growing_box: GrowingBox::new(loss_table),
            nearest: NearestQueue::default(),
            seed,
            work: Work::default(),
        }
    }

    /// Returns a random record as the first seed, then the record farthest from the previous seed.
    fn seed(&mut self, previous: Option<u32>) -> Option<u32> {
        let Some(previous) = previous else {
            let records = self.remaining.records();
            return self.remaining.point_of_record(hash_seed(self.seed, records) % records.max(1));
        };
        self.work.naive += self.remaining.records();
        self.growing_box.start(self.points.codes(previous));
        farthest(&self.points, &self.growing_box, &mut self.work)
    }

    /// Grows a cluster until it satisfies the models or no record remains.
    fn grow(&mut self, seed: u32, min_records: u64) -> Cluster {
        let mut members = Vec::new();
        self.take(seed, 1, &mut members);
        self.growing_box.start(self.points.codes(seed));
        self.nearest.start(&self.points, &self.growing_box, &mut self.work);
        let (mut size, mut target) = (1, min_records);
        loop {
            while size < target {
                let Some(point) = self.nearest.next(&self.points, &self.growing_box, &mut self.work) else { break };
                size += self.add(point, target - size, &mut members);
            }
            let cluster = Cluster { members, ranges: self.growing_box.ranges().to_vec() };
            if size < target || cluster.satisfies(self.task) {
                let loss_table = self.loss_table;
                self.points.rebuild_if_sparse(|column, first, last| loss_table.column(column, first, last));
                return cluster;
            }
            // Checking the models of a large cluster is slow: only after every 6 % of growth.
            target = size + (size / 16).max(1);
            members = cluster.members;
        }
    }

    /// Adds one record of a point, or up to `max_records` if the point is inside the box. Returns how many.
    fn add(&mut self, point: u32, max_records: u64, members: &mut Vec<VariantCount>) -> u64 {
        let is_inside = self.growing_box.contains(self.points.codes(point));
        let records = if is_inside { self.remaining.left(point).min(max_records) } else { 1 };
        self.work.naive += records * self.remaining.records() - records * (records - 1) / 2;
        self.take(point, records, members);
        if !is_inside {
            self.growing_box.extend(self.points.codes(point));
            self.nearest.box_grew();
        }
        if self.remaining.left(point) > 0 {
            self.nearest.push_point(point, &self.points, &self.growing_box, &mut self.work);
        }
        records
    }

    fn take(&mut self, point: u32, records: u64, members: &mut Vec<VariantCount>) {
        self.remaining.take(point, records, members);
        if self.remaining.left(point) == 0 {
            self.points.remove(point);
        }
    }
}
