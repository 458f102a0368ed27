//! Simulated annealing over the groups of a region, with four kinds of steps.
//!
//! A step changes a few groups that are near each other. It is kept if the loss falls, and with probability
//! `exp(-growth / temperature)` if it grows; otherwise it is undone. The temperature falls geometrically with the work
//! done. Every group that a step leaves satisfies every model.
//!
//! - *exchange*: a record changes places with the best partner in the group of a near record, or moves there.
//! - *shrink* (`shrink.rs`): one end of one column of a group is cut off. A single exchange cannot shrink a box as long
//!   as several records of the group lie at its edge.
//! - *rebuild* (`rebuild.rs`): two to five groups are dissolved and grown again. Only this step changes the number of
//!   groups.
//!
//! - *cover* (`cover.rs`): scattered groups are dissolved, and their records covered by new boxes.
//!
//! No kind of step is best on every table, so each gets a share of the work.
//!
//! Cost: one exchange computes two boxes per record of the partner's group; the budget counts boxes times columns.

use super::{
    index::SortedItems,
    neighbors::Neighbors,
    space::Space,
    state::{Buffers, NONE, State},
};
use crate::search::rng::SearchRng;

/// Shares of the work of each kind of step if no column has a hierarchy: there covers find less than the others.
pub(super) const EXCHANGES: [f64; KINDS] = [0.4, 0.4, 0.2, 0.0];
/// The same if some columns have a hierarchy.
pub(super) const MIXED: [f64; KINDS] = [0.2, 0.1, 0.2, 0.5];
/// The same if all columns have one.
pub(super) const COVERS: [f64; KINDS] = [0.05, 0.05, 0.05, 0.85];
/// Kinds of steps.
pub(super) const KINDS: usize = 4;

/// Maximum partners of an exchange that are compared; of a larger group every n-th record.
pub(super) const MAX_PARTNERS: usize = 24;

/// Items from which random ones are drawn for a while, and the number of draws: near items have near numbers, so what
/// a step reads was read by a step before.
const WINDOW: usize = 1024;
const WINDOW_DRAWS: usize = 512;

/// Work between two calls of the observer.
const CHECK_EVERY: u64 = 1 << 20;

/// Temperatures of a region, and the work it may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Schedule {
    /// Temperature in the beginning, as a loss.
    pub start: f64,
    /// Temperature in the end.
    pub end: f64,
    /// Budget.
    pub work: u64,
    /// Shares of the work of each kind of step.
    pub shares: [f64; KINDS],
}

impl Schedule {
    fn temperature(&self, done: u64) -> f64 {
        let share = done as f64 / self.work.max(1) as f64;
        self.start * (self.end / self.start).powf(share.min(1.0))
    }
}

/// Gets the work done since its last call, returns whether to go on.
pub(super) type GoOn<'a> = dyn Fn(u64) -> bool + Sync + 'a;

/// Items from which random ones are drawn: those from `start` on, for `left` more draws.
#[derive(Default)]
struct Window {
    start: usize,
    left: usize,
}

/// Annealing in one region.
pub(super) struct Annealer<'a> {
    pub state: State<'a>,
    pub neighbors: &'a Neighbors,
    pub rng: SearchRng,
    pub buffers: Buffers,
    temperature: f64,
    /// Items of the region.
    items: Vec<u32>,
    window: Window,
}

impl<'a> Annealer<'a> {
    pub(super) fn new(state: State<'a>, neighbors: &'a Neighbors, rng: SearchRng) -> Self {
        let mut items: Vec<u32> = state.groups().into_iter().flatten().collect();
        items.sort_unstable();
        let buffers = Buffers::new(state.space.losses.width());
        Self { state, neighbors, rng, buffers, temperature: 0.0, items, window: Window::default() }
    }

    pub(super) fn space(&self) -> &'a Space<'a> {
        self.state.space
    }

    /// Anneals until the budget is used or `go_on` returns false. `go_on` gets the work done since its last call.
    pub(super) fn run(&mut self, schedule: &Schedule, index: &SortedItems, go_on: &GoOn<'_>) -> [Steps; KINDS] {
        let shares = &schedule.shares;
        let mut steps = [Steps::default(); KINDS];
        if self.items.is_empty() || self.state.total() <= 0.0 {
            go_on(schedule.work);
            return steps;
        }
        let (start, mut reported) = (self.state.work, 0);
        loop {
            let done = self.state.work - start;
            if done >= schedule.work {
                break;
            }
            if done - reported >= CHECK_EVERY {
                if !go_on(done - reported) {
                    return steps;
                }
                reported = done;
            }
            self.temperature = schedule.temperature(done);
            // The kind of step that is farthest behind its share.
            let behind = |kind: usize| (steps[kind].work as f64 + 1.0) / shares[kind];
            let kind = (0..KINDS).min_by(|&a, &b| behind(a).total_cmp(&behind(b))).unwrap_or(0);
            let before = self.state.work;
            let accepted = match kind {
                0 => self.exchange(),
                1 => self.shrink(index),
                2 => self.rebuild(),
                _ => self.cover(index),
            };
            // A step that finds nothing to do costs something, too.
            self.state.work += 32;
            steps[kind].work += self.state.work - before;
            steps[kind].tried += 1;
            steps[kind].accepted += u64::from(accepted);
        }
        go_on(schedule.work.saturating_sub(reported));
        steps
    }

    /// Growth of the total loss that is accepted now; always at least 0.
    pub(super) fn accepted_growth(&mut self) -> f32 {
        (-self.temperature * (1.0 - self.rng.unit()).ln()) as f32
    }

    /// A random item whose group loses something; `None` after some failed attempts.
    pub(super) fn random_item(&mut self) -> Option<u32> {
        for _ in 0..8 {
            let len = self.items.len();
            if self.window.left == 0 {
                self.window = Window { start: self.rng.below(len), left: WINDOW_DRAWS };
            }
            self.window.left -= 1;
            let item = self.items[(self.window.start + self.rng.below(len.min(WINDOW))) % len];
            if self.state.loss(self.state.group_of(item)) > 0.0 {
                return Some(item);
            }
        }
        None
    }

    /// A random item near an item, in another group of this region.
    pub(super) fn near_item(&mut self, item: u32) -> Option<u32> {
        let space = self.space();
        let point = space.items[item as usize].point;
        let near = self.neighbors.of(point);
        let own_group = self.state.group_of(item);
        for _ in 0..6 {
            let chosen = self.rng.below(near.len() + 1);
            let items = space.items_of(near.get(chosen).copied().unwrap_or(point));
            let other = items.start + self.rng.below(items.len()) as u32;
            let group = self.state.group_of(other);
            if group != NONE && group != own_group {
                return Some(other);
            }
        }
        None
    }

    /// Moves a record to the group of a near record, or exchanges it for the best partner there.
    fn exchange(&mut self) -> bool {
        let Some(item) = self.random_item() else { return false };
        let Some(near) = self.near_item(item) else { return false };
        let (from, to) = (self.state.group_of(item), self.state.group_of(near));
        let limit = self.accepted_growth();
        let moved = self.state.move_change(item, to, &mut self.buffers);
        let skip = self.state.members(to).len().div_ceil(MAX_PARTNERS);
        let exchanged = self.state.best_exchange(item, to, &mut self.buffers, (skip, limit));
        let fetched = self.state.move_change(near, from, &mut self.buffers);
        let best_exchange = exchanged.map_or(f32::INFINITY, |(change, _)| change);
        let (moved, fetched) = (moved.unwrap_or(f32::INFINITY), fetched.unwrap_or(f32::INFINITY));
        let least = moved.min(best_exchange).min(fetched);
        if least > limit || !least.is_finite() {
            return false;
        }
        let transfers: [Option<(u32, u32)>; 2] = if least == moved {
            [Some((item, to)), None]
        } else if least == fetched {
            [Some((near, from)), None]
        } else {
            [Some((item, to)), exchanged.map(|(_, other)| (other, from))]
        };
        transfers.iter().flatten().for_each(|&(item, group)| self.state.transfer(item, group));
        if self.state.records_decide() || self.state.is_valid(from) && self.state.is_valid(to) {
            return true;
        }
        for &(item, group) in transfers.iter().flatten().rev() {
            self.state.transfer(item, if group == to { from } else { to });
        }
        false
    }
}

/// Counters of one kind of step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Steps {
    pub tried: u64,
    pub accepted: u64,
    work: u64,
}
