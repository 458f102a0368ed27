//! Improvement of finished groups: blocks, rounds and regions.
//!
//! ```text
//! table   the groups are divided into blocks of near groups, each with its own items and neighbors
//! block   rounds; in every round the groups are divided into regions, by the leaves of another random tree
//! region  annealed on its own, with a random generator of its own; regions run in parallel
//! ```
//!
//! A step never leaves its region, so regions need no locks, and the result does not depend on the number of threads:
//! the number of regions depends on the block only. The next round has other borders.
//!
//! The best groups after any round are kept; the start is one of them, so the result never loses more. A block with few
//! regions is improved several times at once, with other random numbers (*chains*), and the best result counts: in a small
//! table, results differ by some percent.

use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::{
    anneal::{Annealer, COVERS, EXCHANGES, GoOn, MIXED, Schedule},
    grow::grow,
    index::SortedItems,
    neighbors::{Neighbors, leaf_order},
    space::{BoxLoss, Groups, Space},
    starts,
    state::State,
};
use crate::{
    profile::Profile,
    search::{
        Observer, Stop, Task,
        cluster::Cluster,
        local::{GroupRequirements, LossTable},
        rng::{SearchRng, hash_seed},
    },
};

/// Default maximum records per block. Bounds the memory of the items.
pub(super) const BLOCK_RECORDS: u64 = 100_000;
/// Rounds of a block, each with other regions.
const ROUNDS: u64 = 12;
/// Maximum regions per block: enough for the cores of most machines.
const MAX_REGIONS: usize = 4;
/// Minimum items of a block that is improved several times: one of fewer has steps to spare for its size. Not tuned.
const MIN_CHAIN_ITEMS: usize = 300;
/// Minimum items per region, and minimum groups of minimum size: smaller regions have too much border.
const MIN_REGION_ITEMS: usize = 1500;
const MIN_REGION_GROUPS: u64 = 100;

/// Budget and temperatures of an improvement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Boxes times columns, over all blocks.
    pub work: u64,
    /// Temperature in the beginning, as a share of the mean loss of a record.
    pub start: f64,
    /// Temperature in the end.
    pub end: f64,
}

impl Plan {
    /// Progress that the starting methods are worth: a guess.
    pub(super) fn starts(&self) -> u64 {
        self.work / 4
    }

    /// Progress of a whole search.
    pub(super) fn steps(&self) -> u64 {
        self.work + self.starts()
    }
}

/// Progress of a search with a known budget: the share that is used, and whether to go on.
pub(super) struct Progress<'a> {
    observer: &'a dyn Observer,
    done: AtomicU64,
    of: u64,
    is_stopped: AtomicBool,
    is_of_part: AtomicBool,
}

impl<'a> Progress<'a> {
    pub(super) fn new(observer: &'a dyn Observer, of: u64) -> Self {
        let (done, is_stopped, is_of_part) = (AtomicU64::new(0), AtomicBool::new(false), AtomicBool::new(false));
        Self { observer, done, of, is_stopped, is_of_part }
    }

    /// Adds work that was done. Returns whether to go on.
    pub(super) fn add(&self, work: u64) -> bool {
        let done = self.done.fetch_add(work, Relaxed) + work;
        self.observer.progress(done.min(self.of), self.of);
        if self.observer.stop().is_some() {
            self.is_stopped.store(true, Relaxed);
        }
        !self.is_stopped.load(Relaxed)
    }

    /// Reports a loss per record, unless the search is one on a part of the records.
    pub(super) fn best(&self, value: f64) {
        if !self.is_of_part.load(Relaxed) {
            self.observer.best(value);
        }
    }

    /// The search goes on with a part of the records.
    pub(super) fn goes_on_with_part(&self) {
        self.is_of_part.store(true, Relaxed);
    }

    pub(super) fn stop(&self) -> Option<Stop> {
        if self.is_stopped.load(Relaxed) { Some(self.observer.stop().unwrap_or(Stop::Cancelled)) } else { None }
    }
}

/// Improves clusters that satisfy the models.
pub(super) struct Improver<'a> {
    pub task: &'a Task<'a>,
    pub loss_table: &'a LossTable<'a>,
    pub box_loss: &'a BoxLoss<'a>,
    pub requirements: GroupRequirements<'a>,
    pub progress: &'a Progress<'a>,
    /// Maximum records per block.
    pub block_records: u64,
}

impl Improver<'_> {
    /// Returns clusters of the same records that satisfy the models and lose at most as much.
    pub(super) fn improve(&self, clusters: Vec<Cluster>, plan: &Plan, seed: u64) -> Vec<Cluster> {
        let loss = |cluster: &Cluster| cluster.records() as f64 * self.loss_table.of(&cluster.ranges);
        let losses: Vec<f64> = clusters.par_iter().map(loss).collect();
        let records: u64 = clusters.iter().map(Cluster::records).sum();
        let total: f64 = losses.iter().sum();
        if clusters.len() < 2 || total <= 0.0 {
            return clusters;
        }
        let mean = total / records as f64;
        let blocks = self.blocks(clusters);
        let shares: Vec<u64> =
            blocks.iter().map(|block| (plan.work as f64 * records_of(block) as f64 / records as f64) as u64).collect();
        let is_whole = blocks.len() == 1;
        let mut trees = self.task.profile.columns().iter().map(|column| column.domain.tree().is_some());
        let kinds = match (trees.clone().all(|has_tree| has_tree), trees.any(|has_tree| has_tree)) {
            (true, _) => COVERS,
            (_, true) => MIXED,
            _ => EXCHANGES,
        };
        let improved: Vec<Vec<Cluster>> = blocks
            .into_par_iter()
            .zip(shares)
            .enumerate()
            .map(|(index, (block, work))| {
                let schedule = Schedule { start: plan.start * mean, end: plan.end * mean, work, shares: kinds };
                self.improve_block(block, &schedule, hash_seed(seed, index as u64), is_whole)
            })
            .collect();
        improved.into_iter().flatten().collect()
    }

    /// Divides clusters into blocks of near ones: in two, in the column that loses most over all boxes, at the middle
    /// box, until a block has few enough records.
    fn blocks(&self, clusters: Vec<Cluster>) -> Vec<Vec<Cluster>> {
        let (mut done, mut pending) = (Vec::new(), vec![clusters]);
        while let Some(mut block) = pending.pop() {
            if records_of(&block) <= self.block_records || block.len() < 2 {
                done.push(block);
                continue;
            }
            let center = |cluster: &Cluster, column: usize| cluster.ranges[column].0 + cluster.ranges[column].1;
            let spread = |column: usize| {
                let centers = || block.iter().map(|cluster| center(cluster, column));
                let (first, last) = (centers().min().unwrap_or(0) / 2, centers().max().unwrap_or(0) / 2);
                if first < last { self.loss_table.column(column, first, last) } else { 0.0 }
            };
            let spreads: Vec<f64> = (0..self.loss_table.columns()).map(spread).collect();
            let widest = (0..spreads.len()).max_by(|&a, &b| spreads[a].total_cmp(&spreads[b]).then(b.cmp(&a)));
            let column = widest.unwrap_or(0);
            block.sort_by(|a, b| center(a, column).cmp(&center(b, column)).then_with(|| a.ranges.cmp(&b.ranges)));
            let rest = block.split_off(block.len() / 2);
            pending.extend([rest, block]);
        }
        done
    }

    fn improve_block(&self, clusters: Vec<Cluster>, schedule: &Schedule, seed: u64, is_whole: bool) -> Vec<Cluster> {
        let (space, start) = self.space(&clusters, seed);
        let order = leaf_order(&space, hash_seed(seed, 2));
        let (space, start) = space.renumbered(&order, start);
        let limit = (self.requirements.min_records as usize + 15).clamp(20, 60);
        let neighbors = Neighbors::new(&space, limit, hash_seed(seed, 1));
        let index = SortedItems::new(&space);
        self.progress.add(neighbors.work.min(schedule.work));
        let work = schedule.work.saturating_sub(neighbors.work);
        let schedule = Schedule { work, ..*schedule };
        // A block of few regions is improved several times, so that there is as much to do at once.
        let is_tiny = space.items.len() < MIN_CHAIN_ITEMS;
        let chains = if is_tiny { 1 } else { MAX_REGIONS / self.number_of_regions(&space) };
        let start_loss = self.loss(&space, &start);
        let grown = self.grown(&space, &neighbors, seed).filter(|(_, loss)| *loss < start_loss);
        let (start, start_loss) = grown.clone().unwrap_or((start, start_loss));
        let context = (&space, &neighbors, &index);
        let chain = |number: u64| {
            let best = |loss: f64| {
                if is_whole && chains == 1 {
                    self.progress.best(loss / self.task.profile.records() as f64);
                }
            };
            let go_on = |work: u64| self.progress.add(work / chains as u64);
            self.chain(context, (start.clone(), start_loss), &schedule, hash_seed(seed, number << 32), (&go_on, &best))
        };
        let results: Vec<Option<(Groups, f64)>> = (0..chains as u64).into_par_iter().map(chain).collect();
        let best = results.into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1)).or(grown);
        match best {
            None => clusters,
            Some((groups, loss)) => {
                if is_whole {
                    self.progress.best(loss / self.task.profile.records() as f64);
                }
                groups.iter().map(|items| self.cluster(&space, items)).collect()
            }
        }
    }

    /// Groups of a block that is too large for k-member, and their loss.
    fn grown(&self, space: &Space<'_>, neighbors: &Neighbors, seed: u64) -> Option<(Groups, f64)> {
        if starts::is_clustered(self.task.profile) {
            return None;
        }
        let groups = grow(space, neighbors, self.requirements, &mut SearchRng::new(seed, 1))?;
        let loss = self.loss(space, &groups);
        Some((groups, loss))
    }

    /// Anneals groups with one random seed. Returns the best groups after any round and their loss, if that is below the
    /// one at the beginning.
    fn chain(
        &self,
        context: (&Space<'_>, &Neighbors, &SortedItems),
        (start, start_loss): (Groups, f64),
        schedule: &Schedule,
        seed: u64,
        (go_on, improved): (&GoOn<'_>, &dyn Fn(f64)),
    ) -> Option<(Groups, f64)> {
        let (mut best, mut groups): (Option<(Groups, f64)>, Groups) = (None, start);
        let work = schedule.work / ROUNDS;
        let step = (schedule.end / schedule.start).powf(1.0 / ROUNDS as f64);
        for round in 0..ROUNDS {
            let from = schedule.start * step.powi(round as i32);
            let schedule = Schedule { start: from, end: from * step, work, ..*schedule };
            groups = self.round(context, groups, &schedule, hash_seed(seed, round + 2), (round as usize, go_on));
            let loss = self.loss(context.0, &groups);
            if loss < best.as_ref().map_or(start_loss, |(_, loss)| *loss) {
                best = Some((groups.clone(), loss));
                improved(loss);
            }
            if self.progress.stop().is_some() {
                break;
            }
        }
        best
    }

    /// Items of a block. Records of a group whose box loses nothing matter only as far as it can give them away.
    fn space(&self, clusters: &[Cluster], seed: u64) -> (Space<'_>, Groups) {
        let min_records = self.requirements.min_records;
        let groups = clusters.iter().map(|cluster| {
            let is_lossless = self.loss_table.of(&cluster.ranges) <= 0.0;
            let surplus = cluster.records().saturating_sub(min_records);
            (&*cluster.members, if is_lossless { surplus.min(min_records) } else { 2 * min_records })
        });
        Space::new(self.task.profile, self.box_loss, groups, &mut SearchRng::new(seed, 0))
    }

    /// Anneals the groups of a block, divided into regions.
    fn round(
        &self,
        (space, neighbors, index): (&Space<'_>, &Neighbors, &SortedItems),
        groups: Groups,
        schedule: &Schedule,
        seed: u64,
        (round, go_on): (usize, &GoOn<'_>),
    ) -> Groups {
        let regions = self.regions(space, neighbors, groups, round);
        let items: usize = space.items.len();
        let annealed: Vec<Groups> = regions
            .into_par_iter()
            .enumerate()
            .map(|(number, region)| {
                let region_items: usize = region.iter().map(Vec::len).sum();
                let work = (schedule.work as u128 * region_items as u128 / items.max(1) as u128) as u64;
                let state = State::new(space, self.requirements, region);
                let mut annealer = Annealer::new(state, neighbors, SearchRng::new(hash_seed(seed, number as u64), 1));
                annealer.run(&Schedule { work, ..*schedule }, index, go_on);
                annealer.state.into_groups()
            })
            .collect();
        annealed.into_iter().flatten().collect()
    }

    /// Number of regions of a block; does not depend on the threads.
    fn number_of_regions(&self, space: &Space<'_>) -> usize {
        let per_group = (MIN_REGION_GROUPS * self.requirements.min_records) as usize;
        (space.items.len() / MIN_REGION_ITEMS.max(per_group)).clamp(1, MAX_REGIONS)
    }

    /// Divides groups into regions of about as many items each: by the first leaf of a tree that has one of their
    /// items.
    fn regions(&self, space: &Space<'_>, neighbors: &Neighbors, groups: Groups, round: usize) -> Vec<Groups> {
        let items = space.items.len();
        let count = self.number_of_regions(space);
        let rank = |group: &Vec<u32>| {
            let ranks = group.iter().map(|&item| neighbors.rank(round, space.items[item as usize].point));
            ranks.min().unwrap_or(0)
        };
        let mut order: Vec<(u32, Vec<u32>)> = groups.into_par_iter().map(|group| (rank(&group), group)).collect();
        order.sort_unstable();
        let mut regions = vec![Vec::new(); count];
        let mut before = 0;
        for (_, group) in order {
            let region = (before * count / items.max(1)).min(count - 1);
            before += group.len();
            regions[region].push(group);
        }
        regions
    }

    /// Loss of groups, computed from the codes.
    fn loss(&self, space: &Space<'_>, groups: &Groups) -> f64 {
        let of_group = |items: &Vec<u32>| {
            let cluster = self.cluster(space, items);
            cluster.records() as f64 * self.loss_table.of(&cluster.ranges)
        };
        // Summed in order: the sum must not depend on the threads.
        groups.par_iter().map(of_group).collect::<Vec<f64>>().into_iter().sum()
    }

    fn cluster(&self, space: &Space<'_>, items: &[u32]) -> Cluster {
        Cluster::around(self.task, items.iter().map(|&item| space.items[item as usize].member).collect())
    }
}

fn records_of(clusters: &[Cluster]) -> u64 {
    clusters.iter().map(Cluster::records).sum()
}

/// Estimates the bytes of the heap that an improvement takes.
pub(super) fn bytes(profile: &Profile, groups: u64, min_records: u64, threads: u64) -> u64 {
    let columns = profile.columns().len() as u64;
    let records = profile.records();
    let block = records.min(BLOCK_RECORDS);
    let block_groups = groups.min(block / min_records.max(1) + 1);
    let at_once = threads.min(records.div_ceil(BLOCK_RECORDS)).max(1);
    let regions = threads.min(MAX_REGIONS as u64);
    let limit = (min_records + 15).clamp(20, 60);
    let of_block = Space::bytes(block, columns)
        + SortedItems::bytes(block, columns)
        + Neighbors::bytes(block.min(profile.tuples() as u64), limit)
        // The groups in the beginning, and by chain those before and after a round, and the best.
        + (1 + 3 * MAX_REGIONS as u64) * (4 * block + 24 * block_groups)
        + regions * State::bytes(block, block_groups, columns);
    at_once * of_block + BoxLoss::bytes(profile)
}
