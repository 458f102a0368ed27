//! Search for prices with a high bound.
//!
//! The prices are the dual variables of a linear program (see the parent module), and a primal-dual hybrid gradient
//! method (Chambolle and Pock 2011) solves it on a *pool* of boxes: those that some prices violated. Beside the prices
//! there are the shares of the pool's boxes: a record is assigned to a box by a share from 0 to 1. Each step
//! - raises the prices of records whose shares sum to less than 1, and lowers those above 1;
//! - moves the shares of each box by how much the new prices are above its cost, and projects them onto what the box can
//!   have (`projection.rs`).
//!
//! ```text
//! prices ──full pass──▶ bound, violated boxes ──▶ pool ──100 steps──▶ mean prices of these steps ─┐
//!    ▲                                                                                            │
//!    └────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Nothing here needs to be exact: the bound is computed from the prices alone, by a pass over all boxes. On Adult the
//! optimum of the linear program is reached in 20 to 50 rounds. A subgradient method was 1 % below it
//! after several times as long.
//!
//! The work is counted and does not depend on the number of threads, so neither does the result.

use hashbrown::HashMap;
use moretta_core::observer::{Observer, Stop};
use rayon::prelude::*;

use super::{
    boxes::{self, Limits, Pass, Violated},
    instance::Instance,
    projection::{Entry, project},
};

/// Steps between two passes over all boxes: then both take about the same time.
const STEPS: usize = 100;

/// Length of a step of the prices as a share of their mean at the start. On Adult, 0.03 and 0.3 take up to twice the
/// steps.
const STEP_SHARE: f64 = 0.1;

/// The search starts with prices this much above feasible ones, so that some boxes are violated. Not tuned.
const START: f64 = 1.3;

/// The search ends when this many rounds raised the bound by less than [`MIN_GAIN`] of it.
const PATIENCE: usize = 8;
const MIN_GAIN: f64 = 1e-5;

/// A box leaves the pool after this many rounds in which it was not violated and had no shares.
const MAX_IDLE: u32 = 5;

/// A box of the pool has its `2 k + 64` tuples with the largest prices; more join when their prices rise. Not tuned.
const MEMBERS_PER_K: usize = 2;
const MORE_MEMBERS: usize = 64;

/// Maximum members of all boxes of the pool: 256 MB. A full pool gains no more boxes, and the bound is lower.
const MAX_POOLED: usize = 16_000_000;

/// Bytes of a member of a box in the pool, and of the violated box that it came from.
const MEMBER_BYTES: u64 = 2 * size_of::<Entry>() as u64;

/// A pass moves tuples, a step changes shares; moving a tuple takes about as long as changing this many shares.
const SHARES_PER_MOVE: u64 = 4;

/// Result of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Proven {
    /// Lower bound on the mean loss of a record, as a weighted sum over the columns.
    pub per_record: f64,
    /// Why the search ended.
    pub stop: Stop,
    /// Whether the work did not suffice.
    pub is_limited: bool,
    /// Passes over all boxes.
    pub passes: u64,
}

/// A violated box and its shares.
struct Pooled {
    nodes: Box<[u32]>,
    cost: f64,
    /// Shares of the members, largest first.
    shares: Vec<Entry>,
    /// Rounds since it was violated.
    idle: u32,
}

/// Limits of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    /// Units of work.
    pub work: u64,
    /// Members of all boxes of the pool.
    pub members: usize,
}

impl Budget {
    /// Limits by work and by bytes of the pool.
    pub fn new(work: u64, bytes: u64) -> Self {
        Self { work, members: usize::try_from(bytes / MEMBER_BYTES).unwrap_or(MAX_POOLED).min(MAX_POOLED) }
    }
}

/// Finds the best bound that the budget allows. `None` if not even the simplest one could be proven. The observer sees
/// bounds divided by `divisor`.
pub(super) fn prove(instance: &Instance, budget: Budget, divisor: f64, observer: &dyn Observer) -> Option<Proven> {
    let mut search = Search::new(instance, budget, divisor, observer);
    let prices = search.start()?;
    search.ascend(prices);
    Some(search.best)
}

struct Search<'a> {
    instance: &'a Instance,
    observer: &'a dyn Observer,
    budget: Budget,
    divisor: f64,
    work: u64,
    best: Proven,
    pool: Vec<Pooled>,
}

impl<'a> Search<'a> {
    fn new(instance: &'a Instance, budget: Budget, divisor: f64, observer: &'a dyn Observer) -> Self {
        let best = Proven { per_record: 0.0, stop: Stop::Finished, is_limited: false, passes: 0 };
        Self { instance, observer, budget, divisor, work: 0, best, pool: Vec::new() }
    }

    /// A pass over all boxes; keeps the bound if it is the best. `None` if the search is over.
    fn pass(&mut self, prices: &[f64], members: usize) -> Option<Pass> {
        if let Some(stop) = self.observer.stop() {
            self.best.stop = stop;
            return None;
        }
        let stop = || self.observer.stop().is_some();
        let work = self.budget.work.saturating_sub(self.work) / SHARES_PER_MOVE;
        let Some(pass) = boxes::pass(self.instance, prices, &Limits { work, members, stop: &stop }) else {
            match self.observer.stop() {
                Some(stop) => self.best.stop = stop,
                None => self.best.is_limited = true,
            }
            return None;
        };
        self.work += pass.work * SHARES_PER_MOVE;
        self.best.passes += 1;
        let proven = proven(self.instance, prices, &pass.excess);
        if proven > self.best.per_record {
            self.best.per_record = proven;
        }
        self.observer.best(self.best.per_record / self.divisor);
        if self.budget.work < u64::MAX {
            self.observer.progress(self.work.min(self.budget.work), self.budget.work);
        }
        Some(pass)
    }

    /// Feasible prices: the cost of the cheapest box of each record, which is the loss of the record alone with its best
    /// companions. With equal prices `c` of all records, a box is violated if it costs less than `c`, so the excess of a
    /// record is `c` minus the cost of its cheapest box; `c` grows until every record has such a box.
    fn start(&mut self) -> Option<Vec<f64>> {
        let max = self.instance.max_cost();
        let (mut price, mut prices) = (max / 64.0, None);
        while let Some(pass) = self.pass(&vec![price; self.instance.tuples()], 0) {
            prices = Some(pass.excess.iter().map(|excess| price - excess).collect());
            if price >= max || pass.excess.iter().all(|&excess| excess > 0.0) {
                break;
            }
            price = (2.0 * price).min(max);
        }
        prices
    }

    fn ascend(&mut self, mut prices: Vec<f64>) {
        let instance = self.instance;
        let total: f64 = prices.iter().zip(&instance.counts).map(|(price, &count)| price * count as f64).sum();
        let step = STEP_SHARE * total / instance.records as f64;
        if !step.is_normal() || step < 0.0 || self.best.stop != Stop::Finished || self.best.is_limited {
            return;
        }
        prices.iter_mut().for_each(|price| *price *= START);
        let mut means = prices.clone();
        let (mut known, mut since) = (self.best.per_record, 0);
        let members = MORE_MEMBERS + MEMBERS_PER_K * usize::try_from(instance.k).unwrap_or(usize::MAX / 4);
        while let Some(pass) = self.pass(&means, members) {
            if self.best.per_record > known * (1.0 + MIN_GAIN) {
                (known, since) = (self.best.per_record, 0);
            } else {
                since += 1;
            }
            if since > PATIENCE {
                return;
            }
            self.add_to_pool(pass.violated);
            means = self.steps(&mut prices, step);
        }
    }

    /// Adds violated boxes to the pool, and drops those that are not used.
    fn add_to_pool(&mut self, violated: Vec<Violated>) {
        self.pool.iter_mut().for_each(|pooled| pooled.idle += 1);
        let places = self.places(&violated);
        let mut members: usize = self.pool.iter().map(|pooled| pooled.shares.len()).sum();
        let mut is_member = vec![false; self.instance.tuples()];
        let entry = |&tuple: &u32| Entry { value: 0.0, tuple };
        for (violated, place) in violated.into_iter().zip(places) {
            if members + violated.members.len() > self.budget.members {
                continue;
            }
            let Violated { nodes, cost, members: tuples } = violated;
            let Some(place) = place else {
                members += tuples.len();
                self.pool.push(Pooled { nodes, cost, shares: tuples.iter().map(entry).collect(), idle: 0 });
                continue;
            };
            let pooled = &mut self.pool[place];
            pooled.idle = 0;
            pooled.shares.iter().for_each(|share| is_member[share.tuple as usize] = true);
            let before = pooled.shares.len();
            pooled.shares.extend(tuples.iter().filter(|&&tuple| !is_member[tuple as usize]).map(entry));
            members += pooled.shares.len() - before;
            pooled.shares.iter().for_each(|share| is_member[share.tuple as usize] = false);
        }
        self.pool.retain(|pooled| pooled.idle < MAX_IDLE || pooled.shares.iter().any(|share| share.value > 0.0));
    }

    /// Where violated boxes are in the pool.
    fn places(&self, violated: &[Violated]) -> Vec<Option<usize>> {
        let index: HashMap<&[u32], usize> = self.pool.iter().enumerate().map(|(at, p)| (&*p.nodes, at)).collect();
        violated.iter().map(|violated| index.get(&*violated.nodes).copied()).collect()
    }

    /// Some steps on the pool. Returns the mean prices.
    fn steps(&mut self, prices: &mut [f64], step: f64) -> Vec<f64> {
        let instance = self.instance;
        let tuples = instance.tuples();
        let (mut boxes, mut covered) = (vec![0.0; tuples], vec![0.0; tuples]);
        for share in self.pool.iter().flat_map(|pooled| &pooled.shares) {
            boxes[share.tuple as usize] += 1.0;
            covered[share.tuple as usize] += share.value;
        }
        let (mut sums, mut ahead) = (vec![0.0; tuples], vec![0.0; tuples]);
        let mut steps = 0;
        while steps < STEPS && self.observer.stop().is_none() {
            steps += 1;
            for tuple in 0..tuples {
                let before = prices[tuple];
                // A record in no box of the pool has no limit yet; it grows slowly until a box is violated.
                let length = if boxes[tuple] > 0.0 { step / boxes[tuple] } else { STEP_SHARE * step };
                prices[tuple] += length * (1.0 - covered[tuple]);
                sums[tuple] += prices[tuple];
                ahead[tuple] = 2.0 * prices[tuple] - before;
            }
            let of_box = |pooled: &mut Pooled| pooled.step(&ahead, step, instance);
            self.pool.par_iter_mut().with_min_len(64).for_each(of_box);
            covered.fill(0.0);
            for share in self.pool.iter().flat_map(|pooled| &pooled.shares) {
                covered[share.tuple as usize] += share.value;
            }
        }
        let members: u64 = self.pool.iter().map(|pooled| pooled.shares.len() as u64).sum();
        self.work += steps as u64 * (members + tuples as u64);
        sums.iter().map(|sum| sum / steps.max(1) as f64).collect()
    }
}

impl Pooled {
    /// One step of the shares.
    fn step(&mut self, ahead: &[f64], step: f64, instance: &Instance) {
        let mut is_used = false;
        for share in &mut self.shares {
            share.value += (ahead[share.tuple as usize] - self.cost) / step;
            is_used |= share.value > 0.0;
        }
        if !is_used {
            return self.shares.iter_mut().for_each(|share| share.value = 0.0);
        }
        sort_falling(&mut self.shares);
        project(&mut self.shares, &instance.counts, instance.k);
    }
}

/// Sorts entries that are nearly sorted, as those of the last step are: by insertion, unless that takes too long.
fn sort_falling(entries: &mut [Entry]) {
    let mut moves = 0;
    for end in 1..entries.len() {
        let entry = entries[end];
        let mut place = end;
        while place > 0 && entries[place - 1].value < entry.value {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        entries[place] = entry;
        moves += end - place;
        if moves > 16 * entries.len() {
            return entries.sort_by(|a, b| b.value.total_cmp(&a.value));
        }
    }
}

/// The bound that prices prove, rounded down. `excess` is that of a pass over all boxes.
///
/// A price is lowered by the largest excess of the record's boxes. Then the k largest prices of each box sum to at most
/// `k` times its cost, up to rounding errors: of a mean of k prices, a sum of the columns' costs and their difference.
/// Each of these sums has at most `terms` terms of at most `scale`, so its error is below `terms * scale * EPSILON`; the
/// margin is four times that, per record. The sum over all tuples is treated in the same way.
pub(super) fn proven(instance: &Instance, prices: &[f64], excess: &[f64]) -> f64 {
    let scale = prices.iter().fold(instance.max_cost(), |scale, price| scale.max(price.abs()));
    let terms = |terms: usize| 4.0 * f64::EPSILON * (terms + 16) as f64;
    let most = usize::try_from(instance.k).unwrap_or(usize::MAX).min(instance.tuples());
    let margin = terms(most + instance.columns.len()) * scale;
    let (mut sum, mut size) = (0.0, 0.0);
    for ((price, excess), &count) in prices.iter().zip(excess).zip(&instance.counts) {
        let loss = count as f64 * (price - excess - margin);
        sum += loss;
        size += loss.abs();
    }
    (sum - terms(instance.tuples()) * size) / instance.records as f64
}
