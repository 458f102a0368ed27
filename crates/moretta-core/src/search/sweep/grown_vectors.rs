//! Level vectors grown from records, for tables with too many level vectors to try all of them.
//!
//! Why: of 28 columns with two levels each, 268 million vectors exist and nearly all of them leave no group of k
//! records or generalize more than needed. A record and its nearest records show which levels of which columns leave a
//! group together.
//!
//! How: of each *seed*, a record drawn from those that remain, the *join level* with every other record is the finest
//! level, by column, at which both have the same node; the loss of these nodes is their distance. From the nearest
//! records, those that raise the loss of the seed's box least join it until it has enough records:
//!
//! ```text
//! seed  34 F Rome      nearest   36 F Rome   joins age at level 1             loss 0.2   taken: levels (1, 0, 0)
//! k = 3                          34 M Rome   joins sex at level 1             loss 1.0   not taken
//!                                38 F Milan  joins age at 1, town at 1        loss 0.5   taken: levels (1, 0, 1)
//! ```
//!
//! [`sweep_grown`](SweepContext::sweep_grown) works in rounds. Each round grows vectors from the remaining records and
//! sweeps with them, but takes only boxes up to the loss that three quarters of the seeds have at most: for the others the
//! next round finds better vectors, among fewer records. If a round finds too few groups, because they violate a model, the next one
//! grows larger boxes.
//!
//! Cost: a seed reads every column of the remaining tuples once; their number is bounded by [`SEED_WORK`].

use rayon::prelude::*;

use super::{
    context::{LevelVectors, SweepContext},
    pass::{Pass, SweepResult},
};
use crate::{
    ids::TupleId,
    search::{Observer, Stop, local::GroupRequirements, rng::hash_seed},
};

/// Maximum codes that the seeds of a round read: about half a second on two cores.
const SEED_WORK: u64 = 1_000_000_000;
/// Minimum seeds of a round: fewer show too little of a large table.
const MIN_SEEDS: u64 = 64;
/// Share of the seeds whose boxes are taken in a round.
const TAKEN_SHARE: f64 = 0.75;
/// Nearest tuples that may join a seed, per record that it needs, and in addition.
const POOL: (usize, usize) = (4, 16);
/// Steps in which a box grows: with a large k several tuples join at once.
const MAX_STEPS: u64 = 16;
/// If the models ask for more than records, a round that takes fewer than one in this many tuples is followed by one with
/// larger boxes.
const MIN_TAKEN: usize = 50;
/// Rounds of a sweep. The remaining records are few by then.
const MAX_ROUNDS: usize = 100;

/// Distances of all codes to one seed.
#[derive(Default)]
struct SeedDistances {
    /// By column of the profile: its first entry in the other lists.
    offsets: Vec<usize>,
    /// By column and code: the join level with the seed.
    joins: Vec<u32>,
    /// The loss of the node at that level.
    losses: Vec<f64>,
}

impl SweepContext<'_> {
    /// Sweeps some tuples with level vectors that are grown from them.
    pub(super) fn sweep_grown(&self, tuples: &[TupleId], factors: &[f64], observer: &dyn Observer) -> SweepResult {
        let profile = self.task.profile;
        let requirements = GroupRequirements::of(self.task);
        let mut all = SweepResult::new(tuples.to_vec());
        let mut target = requirements.min_records;
        for _ in 0..MAX_ROUNDS {
            let records: u64 = all.left.iter().map(|&tuple| profile.tuple_records(tuple)).sum();
            all.stop = observer.stop().unwrap_or(Stop::Finished);
            if records < target || all.stop != Stop::Finished {
                break;
            }
            let (vectors, max_loss, work) = self.grow_vectors(&all.left, target, factors);
            all.seed_work += work;
            let found = Pass::new(self, &all.left, vectors, factors).run(max_loss, tuples.len(), observer);
            let taken = all.left.len() - found.left.len();
            let is_short = !requirements.min_records_suffice && taken * MIN_TAKEN < all.left.len();
            if found.groups.is_empty() || is_short {
                target *= 2;
            }
            all.left.clone_from(&found.left);
            all.add(found);
        }
        all
    }

    /// Grows a level vector of at least `target` records from each seed. Returns the different vectors, the loss up to
    /// which their boxes are taken, and the number of codes that were read.
    fn grow_vectors(&self, tuples: &[TupleId], target: u64, factors: &[f64]) -> (LevelVectors, f64, u64) {
        let profile = self.task.profile;
        let codes = (tuples.len() * self.columns.len()) as u64;
        let seeds = (SEED_WORK / codes.max(1)).max(MIN_SEEDS).min(self.max_vectors as u64) as usize;
        let mut drawn: Vec<(u64, TupleId)> =
            tuples.iter().map(|&tuple| (hash_seed(self.task.seed, u64::from(tuple.0)), tuple)).collect();
        drawn.sort_unstable();
        drawn.truncate(seeds);
        let grown: Vec<(Vec<usize>, f64)> =
            drawn.par_iter().map(|&(_, seed)| self.grow(seed, tuples, target, factors)).collect();
        let mut losses: Vec<f64> = grown.iter().map(|(_, loss)| *loss).collect();
        losses.sort_by(f64::total_cmp);
        // The last few seeds are all that remains.
        let is_last = tuples.iter().map(|&tuple| profile.tuple_records(tuple)).sum::<u64>() < 4 * target;
        let most = losses[((losses.len() - 1) as f64 * TAKEN_SHARE) as usize];
        let max_loss = if is_last { f64::INFINITY } else { most };
        let vectors = grown.into_iter().map(|(levels, _)| levels);
        (self.sorted_by_mean_loss(vectors, factors), max_loss, codes * drawn.len() as u64)
    }

    /// Returns the levels of a box around a seed with at least `target` records, and its loss.
    fn grow(&self, seed: TupleId, tuples: &[TupleId], target: u64, factors: &[f64]) -> (Vec<usize>, f64) {
        let profile = self.task.profile;
        let distances = self.distances(seed, factors);
        let distance = |tuple: &TupleId| distances.of(profile.codes(*tuple)).to_bits();
        let mut nearest: Vec<(u64, TupleId)> = tuples.iter().map(|tuple| (distance(tuple), *tuple)).collect();
        // Every tuple has at least one record.
        let pool = usize::try_from(target).unwrap_or(usize::MAX).saturating_mul(POOL.0).saturating_add(POOL.1);
        if pool < nearest.len() {
            nearest.select_nth_unstable(pool);
            nearest.truncate(pool);
        }
        nearest.sort_unstable();
        let mut levels = vec![0; self.columns.len()];
        let mut inside = 0;
        while inside < target && !nearest.is_empty() {
            let cost = |&(_, tuple): &(u64, TupleId)| {
                let raised = distances.raised(profile.codes(tuple), &levels);
                self.loss_at(seed, raised, factors).to_bits()
            };
            let mut costs: Vec<(u64, usize)> = nearest.iter().map(cost).zip(0..).collect();
            let step = ((target - inside).div_ceil(MAX_STEPS) as usize).min(costs.len());
            costs.select_nth_unstable(step - 1);
            for &(_, at) in &costs[..step] {
                levels = distances.raised(profile.codes(nearest[at].1), &levels).collect();
            }
            nearest.retain(|&(_, tuple)| {
                let is_inside = distances.raised(profile.codes(tuple), &levels).eq(levels.iter().copied());
                inside += if is_inside { profile.tuple_records(tuple) } else { 0 };
                !is_inside
            });
        }
        let loss = self.loss_at(seed, levels.iter().copied(), factors);
        (self.columns.iter().map(|column| levels[column.index]).collect(), loss)
    }

    /// Loss of the seed's box at these levels, one for each column of the profile.
    fn loss_at(&self, seed: TupleId, levels: impl Iterator<Item = usize>, factors: &[f64]) -> f64 {
        let codes = self.task.profile.codes(seed).iter().zip(factors);
        let in_column = |(column, (level, (&code, factor))): (usize, (usize, (&u32, &f64)))| {
            factor * self.column_of_profile(column).levels[level].losses[code as usize]
        };
        levels.zip(codes).enumerate().map(in_column).sum()
    }

    /// Join levels and losses of every code with the seed's. A node covers a range of codes, so the range grows from
    /// the seed's code to both sides, level by level. Cost: one step per code and level.
    fn distances(&self, seed: TupleId, factors: &[f64]) -> SeedDistances {
        let profile = self.task.profile;
        let mut distances = SeedDistances::default();
        for (column, &code) in profile.codes(seed).iter().enumerate() {
            let of = self.column_of_profile(column);
            let (start, values) = (distances.joins.len(), profile.columns()[column].domain.len());
            distances.offsets.push(start);
            distances.joins.resize(start + values, 0);
            distances.losses.resize(start + values, 0.0);
            let code = code as usize;
            let (mut first, mut last) = (code, code + 1);
            for (number, level) in of.levels.iter().enumerate() {
                let (known_first, known_last) = (first, last);
                let is_same = |other: usize| level.hashes[other] == level.hashes[code];
                while first > 0 && is_same(first - 1) {
                    first -= 1;
                }
                while last < values && is_same(last) {
                    last += 1;
                }
                for other in (first..known_first).chain(known_last..last).chain((number == 0).then_some(code)) {
                    distances.joins[start + other] = number as u32;
                    distances.losses[start + other] = factors[column] * level.losses[code];
                }
            }
        }
        distances
    }
}

impl SeedDistances {
    /// Distance of a tuple, given by its codes.
    fn of(&self, codes: &[u32]) -> f64 {
        codes.iter().zip(&self.offsets).map(|(&code, at)| self.losses[at + code as usize]).sum()
    }

    /// The levels, raised to those at which the tuple is in the seed's box.
    fn raised<'s>(&'s self, codes: &'s [u32], levels: &'s [usize]) -> impl Iterator<Item = usize> + 's {
        let joins = codes.iter().zip(&self.offsets).map(|(&code, at)| self.joins[at + code as usize] as usize);
        joins.zip(levels).map(|(join, &level)| join.max(level))
    }
}
