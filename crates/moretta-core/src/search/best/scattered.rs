//! Scattered groups: those that own records that could share a group.
//!
//! ```text
//! box      a random record's box is raised column by column (a node is replaced by its parent) until it holds a few times
//!          k records
//! groups   those that own these records are dissolved; those with records to spare only give the ones in the box
//! ```
//!
//! Which groups are dissolved decides most. With free numbers a box is raised to the next value instead of a parent.

use std::collections::HashSet;

use super::{anneal::Annealer, index::SortedItems, state::NONE};

/// Maximum groups that are dissolved.
const MAX_GROUPS: usize = 12;
/// Maximum records of the box whose owners are dissolved, as a multiple of the minimum of a group.
const MAX_BOX: usize = 4;
/// Maximum items of the dissolved groups, and the same as a multiple of the minimum of a group.
const MAX_POOL: usize = 1600;
const MAX_POOL_GROUPS: usize = 20;
const MIN_POOL: usize = 100;
/// Added to the loss increase of a raised column: one that loses nothing is the best, but its gain is finite.
pub(super) const EPSILON: f32 = 1e-4;

/// Groups to dissolve, and those that give some items.
pub(super) struct Scattered {
    pub dissolved: Vec<u32>,
    pub donors: Vec<(u32, Vec<u32>)>,
}

impl Annealer<'_> {
    /// Groups that own the records of a random box: those with records to spare give the ones in the box, the others are
    /// dissolved, unless they lose nothing. `None` if nothing would be dissolved beside one group.
    pub(super) fn scattered_groups(&mut self, index: &SortedItems) -> Option<Scattered> {
        let space = self.space();
        let seed = self.random_item()?;
        let (mut low, mut high) = (space.at(seed).to_vec(), space.at(seed).to_vec());
        let min_records = self.state.min_records() as usize;
        let wanted = min_records + 1 + self.rng.below((MAX_BOX - 1) * min_records + 1);
        let mut found = Vec::new();
        let mut inside = Vec::new();
        let mut raises = 0;
        loop {
            self.state.work += index.inside(space, (&low, &high), 4 * wanted, &mut inside);
            // Binary searches in every column, and its next range.
            self.state.work += 24 * low.len() as u64;
            inside.retain(|&item| self.state.group_of(item) != NONE);
            if inside.len() > 2 * wanted && !found.is_empty() {
                break;
            }
            std::mem::swap(&mut found, &mut inside);
            if found.len() >= wanted || raises > 64 {
                break;
            }
            // The column that loses least, with noise: each is raised with a probability that falls with its loss.
            let mut best: Option<(f32, usize, (f32, f32))> = None;
            for column in (0..low.len()).filter(|&column| !space.losses.is_padding(column)) {
                let Some(range) = self.raised(index, column, (low[column], high[column])) else { continue };
                let increase = space.losses.of_column(column, range.0, range.1)
                    - space.losses.of_column(column, low[column], high[column]);
                let noise = -(1.0 - self.rng.unit()).ln() as f32;
                let cost = (increase + EPSILON) * noise;
                if best.is_none_or(|(known, _, _)| cost < known) {
                    best = Some((cost, column, range));
                }
            }
            let Some((_, column, range)) = best else { break };
            (low[column], high[column]) = range;
            raises += 1;
        }
        let max_pool = (MAX_POOL_GROUPS * min_records).clamp(MIN_POOL, MAX_POOL);
        let mut scattered = Scattered { dissolved: vec![self.state.group_of(seed)], donors: Vec::new() };
        let mut pool = self.state.members(scattered.dissolved[0]).len();
        // From a random record on, so that not always the first groups are taken if they are too many.
        let start = self.rng.below(found.len().max(1));
        let mut judged: HashSet<u32> = scattered.dissolved.iter().copied().collect();
        for &item in found[start..].iter().chain(&found[..start]) {
            let group = self.state.group_of(item);
            if scattered.dissolved.len() + scattered.donors.len() >= MAX_GROUPS {
                break;
            }
            if !judged.insert(group) {
                continue;
            }
            self.state.work += found.len() as u64 / 4;
            let inside: Vec<u32> = found.iter().copied().filter(|&item| self.state.group_of(item) == group).collect();
            let given = self.spared(group, inside);
            if !given.is_empty() && pool + given.len() <= max_pool {
                pool += given.len();
                scattered.donors.push((group, given));
            } else if self.state.loss(group) > 0.0 && pool + self.state.members(group).len() <= max_pool {
                pool += self.state.members(group).len();
                scattered.dissolved.push(group);
            }
        }
        (scattered.dissolved.len() + scattered.donors.len() > 1).then_some(scattered)
    }

    /// Those of some items of a group that it can give away; none if it loses something and cannot give all of them.
    fn spared(&self, group: u32, inside: Vec<u32>) -> Vec<u32> {
        let mut spare = self.state.records(group).saturating_sub(self.state.min_records());
        let count = inside.len();
        let fits = |item: &u32| {
            let records = self.state.space.records(*item);
            let fits = records <= spare;
            spare -= if fits { records } else { 0 };
            fits
        };
        let given: Vec<u32> = inside.into_iter().filter(fits).collect();
        let all = given.len() == count;
        if self.state.loss(group) <= 0.0 || all { given } else { Vec::new() }
    }

    /// The next wider range of a column: that of the parent node, or some further values at one end.
    fn raised(&mut self, index: &SortedItems, column: usize, (low, high): (f32, f32)) -> Option<(f32, f32)> {
        let space = self.space();
        if space.losses.has_tree(column) {
            return space.losses.parent(column, low, high);
        }
        let count = index.count(column, low, high);
        index.wider(column, (low, high), (count / 4).max(1), self.rng.below(2) == 0)
    }
}
