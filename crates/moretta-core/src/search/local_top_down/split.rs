//! Splits sets of tuples in two while they have more records than a group needs and satisfy the models (steps 1 to 3
//! and the blocks of the module above).

use std::sync::{
    Mutex, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use rayon::Scope;

use crate::{
    ids::TupleId,
    profile::{Profile, VariantCount},
    search::{
        Observer, Stop, Task,
        cluster::{Cluster, members_of},
        local::{GroupRequirements, GrowingBox, LossTable, fallback_split},
        rng::hash_seed,
    },
};

/// Rounds of searching two distant records, two searches each, as published.
const FARTHEST_ROUNDS: usize = 3;

/// Tuples with all their records, in an order that the splits determine.
#[derive(Default)]
struct TupleSet {
    tuples: Vec<TupleId>,
    /// Seed of all random choices in this set.
    seed: u64,
}

impl TupleSet {
    fn members(&self, profile: &Profile) -> Vec<VariantCount> {
        members_of(profile, self.tuples.iter().copied()).collect()
    }
}

struct LocalTopDownSearch<'a> {
    task: &'a Task<'a>,
    loss_table: &'a LossTable<'a>,
    observer: &'a dyn Observer,
    requirements: GroupRequirements<'a>,
    /// Sets with more records are split into blocks.
    max_block_records: u64,
    splits: AtomicU64,
    finished: AtomicU64,
    stopped: OnceLock<Stop>,
    /// The parts of each finished block.
    blocks: Mutex<Vec<Vec<Cluster>>>,
}

pub(super) struct SplitResult {
    /// Parts of each block, in an order that does not depend on the threads. Some are violating; all parts of a block
    /// together satisfy the models.
    pub blocks: Vec<Vec<Cluster>>,
    pub splits: u64,
    pub stop: OnceLock<Stop>,
}

/// Splits the whole table, into blocks of at most `max_block_records` records where splits allow.
pub(super) fn split(
    task: &Task<'_>,
    loss_table: &LossTable<'_>,
    max_block_records: u64,
    observer: &dyn Observer,
) -> SplitResult {
    let search = LocalTopDownSearch {
        task,
        loss_table,
        observer,
        requirements: GroupRequirements::of(task),
        max_block_records,
        splits: AtomicU64::new(0),
        finished: AtomicU64::new(0),
        stopped: OnceLock::new(),
        blocks: Mutex::new(Vec::new()),
    };
    let tuples: Vec<TupleId> = (0..task.profile.tuples() as u32).map(TupleId).collect();
    if !tuples.is_empty() {
        let set = TupleSet { tuples, seed: task.seed };
        rayon::scope(|scope| search.split_into_blocks(scope, set, Vec::new()));
    }
    let mut blocks = search.blocks.into_inner().unwrap_or_else(PoisonError::into_inner);
    blocks.sort_unstable_by(|a, b| a[0].members.cmp(&b[0].members));
    SplitResult { blocks, splits: search.splits.load(Relaxed), stop: search.stopped }
}

impl LocalTopDownSearch<'_> {
    /// Splits a set that satisfies the models into blocks, and these into parts. A violating side stays with the other
    /// one: `violating` are those that were split off on the way to the set.
    fn split_into_blocks<'s>(&'s self, scope: &Scope<'s>, mut set: TupleSet, mut violating: Vec<Cluster>) {
        let mut boxes = [GrowingBox::new(self.loss_table), GrowingBox::new(self.loss_table)];
        while self.records(&set) > self.max_block_records && !self.is_stopped() {
            let Some(seeds) = self.distant_pair(&set, &mut boxes[0]) else { break };
            let [one, other] = self.bisect(&mut set, seeds, &mut boxes);
            match [&one, &other].map(|side| self.is_satisfied_by(side, self.records(side))) {
                [true, true] => {
                    let [mut with_one, mut with_other] = [Vec::new(), Vec::new()];
                    for cluster in violating {
                        let [to_one, to_other] = [0, 1].map(|side: usize| {
                            let around = self.loss_table.union(&cluster.ranges, boxes[side].ranges());
                            around - self.loss_table.of(boxes[side].ranges())
                        });
                        if to_other < to_one { with_other.push(cluster) } else { with_one.push(cluster) }
                    }
                    scope.spawn(move |scope| self.split_into_blocks(scope, other, with_other));
                    (set, violating) = (one, with_one);
                }
                [true, false] => {
                    violating.push(self.cluster(&other));
                    set = one;
                }
                [false, true] => {
                    violating.push(self.cluster(&one));
                    set = other;
                }
                [false, false] => {
                    violating.extend([one, other].map(|side| self.cluster(&side)));
                    set = TupleSet::default();
                    break;
                }
            }
        }
        if !set.tuples.is_empty() {
            violating.extend(self.split_fully(set));
        }
        violating.sort_unstable_by(|a, b| a.members.cmp(&b.members));
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner).push(violating);
    }

    /// Splits a set until no part can be split. The depth may be the number of tuples, so open sets are kept in a list
    /// and not on the call stack.
    fn split_fully(&self, set: TupleSet) -> Vec<Cluster> {
        let mut done = Vec::new();
        let mut boxes = [GrowingBox::new(self.loss_table), GrowingBox::new(self.loss_table)];
        let mut open = vec![set];
        while let Some(mut set) = open.pop() {
            let records = self.records(&set);
            let is_split =
                set.tuples.len() > 1 && records > self.requirements.min_records && self.is_satisfied_by(&set, records);
            if is_split && self.is_stopped() {
                done.extend(fallback_split(self.task, self.members(&set)));
                continue;
            }
            let seeds = if is_split { self.distant_pair(&set, &mut boxes[0]) } else { None };
            let Some(seeds) = seeds else {
                let finished = self.finished.fetch_add(records, Relaxed) + records;
                self.observer.progress(finished, self.task.profile.records());
                done.push(self.cluster(&set));
                continue;
            };
            let [one, other] = self.bisect(&mut set, seeds, &mut boxes);
            open.extend([other, one]);
        }
        done
    }

    fn records(&self, set: &TupleSet) -> u64 {
        set.tuples.iter().map(|&tuple| self.task.profile.tuple_records(tuple)).sum()
    }

    fn is_stopped(&self) -> bool {
        self.observer.stop().map(|stop| self.stopped.get_or_init(|| stop)).is_some()
    }

    /// All records of a set, sorted.
    fn members(&self, set: &TupleSet) -> Vec<VariantCount> {
        let mut members = set.members(self.task.profile);
        members.sort_unstable();
        members
    }

    fn cluster(&self, set: &TupleSet) -> Cluster {
        Cluster::around(self.task, self.members(set))
    }

    fn is_satisfied_by(&self, set: &TupleSet, records: u64) -> bool {
        self.requirements.are_met(records, || set.members(self.task.profile))
    }

    /// Returns the indices of two distant tuples; `None` if all distances are 0.
    fn distant_pair(&self, set: &TupleSet, growing_box: &mut GrowingBox<'_>) -> Option<[usize; 2]> {
        let mut one = (hash_seed(set.seed, 0) % set.tuples.len() as u64) as usize;
        let (mut other, mut apart) = (one, 0.0);
        for _ in 0..2 * FARTHEST_ROUNDS {
            let (next, farthest) = self.farthest(set, one, growing_box);
            if farthest <= apart {
                break;
            }
            (other, one, apart) = (one, next, farthest);
        }
        (apart > 0.0).then_some([other, one])
    }

    /// Returns the index and the distance of the other tuple that is farthest from one, the first of equals. The tuple
    /// itself is excluded: with missing values its distance to itself may be above 0.
    fn farthest(&self, set: &TupleSet, from: usize, growing_box: &mut GrowingBox<'_>) -> (usize, f64) {
        growing_box.start(self.task.profile.codes(set.tuples[from]));
        let mut farthest = (from, 0.0);
        for (at, &tuple) in set.tuples.iter().enumerate() {
            let apart = growing_box.cost(self.task.profile.codes(tuple));
            if at != from && apart > farthest.1 {
                farthest = (at, apart);
            }
        }
        farthest
    }

    /// Divides a set around two seeds: the other tuples, in random order, go to the side whose loss grows less.
    fn bisect(&self, set: &mut TupleSet, seeds: [usize; 2], boxes: &mut [GrowingBox<'_>; 2]) -> [TupleSet; 2] {
        let profile = self.task.profile;
        self.splits.fetch_add(1, Relaxed);
        let mut sides = [0, 1].map(|side| TupleSet { tuples: Vec::new(), seed: hash_seed(set.seed, side + 1) });
        let mut records = [0; 2];
        for side in 0..2 {
            let seed = set.tuples[seeds[side]];
            boxes[side].start(profile.codes(seed));
            records[side] = profile.tuple_records(seed);
            sides[side].tuples.push(seed);
        }
        let order_seed = hash_seed(set.seed, 3);
        let (first, last) = (seeds[0].min(seeds[1]), seeds[0].max(seeds[1]));
        set.tuples.swap_remove(last);
        set.tuples.swap_remove(first);
        for at in (1..set.tuples.len()).rev() {
            set.tuples.swap(at, (hash_seed(order_seed, at as u64) % (at as u64 + 1)) as usize);
        }
        let mut losses = [0, 1].map(|side: usize| self.loss_table.of(boxes[side].ranges()));
        for &tuple in &set.tuples {
            let (codes, tuple_records) = (profile.codes(tuple), profile.tuple_records(tuple));
            let growth = |side: usize| {
                let loss = (records[side] + tuple_records) as f64 * boxes[side].cost(codes);
                loss - records[side] as f64 * losses[side]
            };
            let side = usize::from(growth(1) < growth(0));
            if !boxes[side].contains(codes) {
                boxes[side].extend(codes);
                losses[side] = self.loss_table.of(boxes[side].ranges());
            }
            records[side] += tuple_records;
            sides[side].tuples.push(tuple);
        }
        sides
    }
}
