//! The step that shrinks a group: one end of one column is cut off.
//!
//! ```text
//! group  20 23 24 31 31        cut the high end: 31 31 leave
//! each is exchanged for a near record that fits between 20 and 24, at the least growth of the total loss:
//! group  20 21 23 24 22        31 and 31 are in the groups that 21 and 22 came from
//! ```
//!
//! A group with more records than it needs gives some away without an exchange. The whole chain is kept or undone.

use super::{
    anneal::{Annealer, MAX_PARTNERS},
    index::SortedItems,
    space::{is_inside, widen},
    state::NONE,
};

/// Maximum share of a group's records that may be cut off.
const MAX_CUT: f64 = 0.4;
/// Maximum items that may be cut off, in a large group.
const MAX_CUT_ITEMS: usize = 40;
/// Near records that are compared for each exchange.
const CANDIDATES: usize = 12;
/// Items inside the smaller box from which these are drawn; with fewer, near records are.
const MIN_FITTING: usize = 6;
const MAX_FITTING: usize = 400;
/// Maximum items in one column of the smaller box for a list of all inside; otherwise the lists of near records of some
/// of its items are searched.
const MAX_SLICE: usize = 600;
const ANCHORS: usize = 6;
/// Groups of records near the one that leaves whose records are compared, too.
const NEAR_GROUPS: usize = 2;

/// A group that shrinks, and the moves so far. Most chains are given up, so moves are judged before they are made; they
/// are made as soon as a group that they change is judged again.
struct Chain {
    group: u32,
    /// Items that stay in the group, with those that joined it; their box and the records of the group.
    items: Vec<u32>,
    low: Vec<f32>,
    high: Vec<f32>,
    records: u64,
    /// Most that the group may lose in the end, after the growth of other groups so far.
    max_loss: f32,
    /// Item, group that it leaves, group that it joins.
    moves: Vec<(u32, u32, u32)>,
    /// Number of moves that were made.
    made: usize,
    /// Other groups that the remaining moves change.
    pending: Vec<u32>,
}

impl Annealer<'_> {
    pub(super) fn shrink(&mut self, index: &SortedItems) -> bool {
        let Some(item) = self.random_item() else { return false };
        let group = self.state.group_of(item);
        let Some((cut, rest)) = self.cut(group) else { return false };
        let limit = f64::from(self.accepted_growth());
        let before = self.state.total();
        let mut chain = self.chain(group, rest, limit as f32);
        let fitting = self.fitting(&chain, index);
        let is_complete = cut.iter().all(|&item| self.replace(item, &mut chain, &fitting));
        let mut is_accepted = is_complete && {
            self.make(&mut chain);
            self.state.total() - before <= limit
        };
        if is_accepted && !self.state.records_decide() {
            let mut changed: Vec<u32> = chain.moves.iter().map(|&(.., to)| to).collect();
            changed.push(group);
            changed.sort_unstable();
            changed.dedup();
            is_accepted = changed.into_iter().all(|group| self.state.is_valid(group));
        }
        if !is_accepted {
            chain.moves[..chain.made].iter().rev().for_each(|&(item, from, _)| self.state.transfer(item, from));
        }
        is_accepted
    }

    /// Items at one end of a random column of a group, those that lie there together with the next ones until the loss
    /// falls, and the other items of the group; `None` if they are too many.
    fn cut(&mut self, group: u32) -> Option<(Vec<u32>, Vec<u32>)> {
        let space = self.space();
        let members = self.state.members(group);
        if members.len() < 2 {
            return None;
        }
        // They are copied and sorted.
        self.state.work += 4 * members.len() as u64;
        let members = self.state.members(group);
        let (low, high) = self.state.bounds(group);
        let losses: Vec<f32> = (0..low.len())
            .map(|column| {
                if low[column] < high[column] { space.losses.of_column(column, low[column], high[column]) } else { 0.0 }
            })
            .collect();
        let mut chosen = self.rng.unit() as f32 * losses.iter().sum::<f32>();
        let column = losses.iter().position(|&loss| {
            chosen -= loss;
            loss > 0.0 && chosen <= 0.0
        })?;
        let (low, high) = (low[column], high[column]);
        let from_below = self.rng.below(2) == 0;
        let values = self.state.coordinates(group).map(|at| at[column]);
        let mut order: Vec<(f32, u32)> = values.zip(members.iter().copied()).collect();
        order.sort_unstable_by(|a, b| {
            let ascending = a.0.total_cmp(&b.0);
            if from_below { ascending } else { ascending.reverse() }.then(a.1.cmp(&b.1))
        });
        let max_cut = ((order.len() as f64 * MAX_CUT) as usize).clamp(1, MAX_CUT_ITEMS);
        // Sometimes more than one value is cut off.
        let peels = 1 + usize::from(self.rng.below(3) == 0) + usize::from(self.rng.below(6) == 0);
        let (mut count, mut found, mut known_loss) = (0, 0, losses[column]);
        let mut peeled = 0;
        while count < order.len() {
            let edge = order[count].0;
            count += order[count..].iter().take_while(|(value, _)| *value == edge).count();
            if count > max_cut {
                break;
            }
            let next = order[count].0;
            let loss = if from_below {
                space.losses.of_column(column, next, high)
            } else {
                space.losses.of_column(column, low, next)
            };
            if loss < known_loss {
                (found, known_loss, peeled) = (count, loss, peeled + 1);
                if peeled == peels {
                    break;
                }
            }
        }
        let items = |part: &[(f32, u32)]| part.iter().map(|&(_, item)| item).collect();
        let (cut, rest) = order.split_at(found);
        (found > 0).then(|| (items(cut), items(rest)))
    }

    /// The chain without moves: the items of a group that stay when the others are cut off.
    fn chain(&mut self, group: u32, items: Vec<u32>, limit: f32) -> Chain {
        let space = self.space();
        let width = space.losses.width();
        let (mut low, mut high) = (vec![f32::INFINITY; width], vec![f32::NEG_INFINITY; width]);
        items.iter().for_each(|&item| widen(&mut low, &mut high, space.at(item)));
        self.state.work += (items.len() * width) as u64;
        let (records, max_loss) = (self.state.records(group), self.state.group_loss(group) + limit);
        Chain { group, items, low, high, records, max_loss, moves: Vec::new(), made: 0, pending: Vec::new() }
    }

    /// Makes the moves of a chain that were not made yet.
    fn make(&mut self, chain: &mut Chain) {
        chain.moves[chain.made..].iter().for_each(|&(item, _, to)| self.state.transfer(item, to));
        chain.made = chain.moves.len();
        chain.pending.clear();
    }

    /// Group of an item after all moves of a chain so far; its box and its members in the state are those of now.
    fn current_group(&mut self, item: u32, chain: &mut Chain) -> u32 {
        let group = self.state.group_of(item);
        if !chain.pending.contains(&group) {
            return group;
        }
        self.make(chain);
        self.state.group_of(item)
    }

    /// Items of other groups that lie inside the box of the rest of a group.
    fn fitting(&mut self, rest: &Chain, index: &SortedItems) -> Vec<u32> {
        let space = self.space();
        let (mut low, mut high) = (rest.low.clone(), rest.high.clone());
        // The box that is released may be larger: that of the lowest common ancestors.
        for column in 0..low.len() {
            (low[column], high[column]) = space.losses.cover(column, low[column], high[column]);
        }
        let mut found = Vec::new();
        if index.most_inside((&low, &high)) <= MAX_SLICE {
            self.state.work += index.inside(space, (&low, &high), MAX_FITTING, &mut found);
        } else {
            for _ in 0..ANCHORS {
                let anchor = rest.items[self.rng.below(rest.items.len())];
                let near = self.neighbors.of(space.items[anchor as usize].point).iter();
                let items = near.map(|&point| space.items_of(point).start);
                found.extend(items.filter(|&item| is_inside((&low, &high), space.at(item))));
                self.state.work += 4 * self.neighbors.of(space.items[anchor as usize].point).len() as u64;
            }
        }
        found.retain(|&item| ![NONE, rest.group].contains(&self.state.group_of(item)));
        found
    }

    /// Moves an item out of its group, in exchange for the item that lets the total loss grow least, unless the group
    /// could not gain enough any more.
    fn replace(&mut self, item: u32, chain: &mut Chain, fitting: &[u32]) -> bool {
        let space = self.space();
        let (group, records, given) = (chain.group, chain.records, space.records(item));
        if records >= self.state.min_records() + given {
            // The group has a record to spare: this one joins the group of a near record, without an exchange.
            let mut best: Option<(f32, u32)> = None;
            for _ in 0..CANDIDATES / 2 {
                let Some(near) = self.near_item(item) else { break };
                let to = self.current_group(near, chain);
                if to == group {
                    continue;
                }
                let growth = self.state.growth(to, item);
                if best.is_none_or(|(known, _)| growth < known) {
                    best = Some((growth, to));
                }
            }
            let Some((growth, to)) = best else { return false };
            chain.max_loss -= growth;
            chain.records -= given;
            if space.losses.of(&chain.low, &chain.high) * chain.records as f32 > chain.max_loss {
                return false;
            }
            chain.moves.push((item, group, to));
            chain.pending.push(to);
            return true;
        }
        let Some((change, near)) = self.replacement(item, chain, fitting) else { return false };
        let other = self.state.group_of(near);
        chain.items.push(near);
        widen(&mut chain.low, &mut chain.high, space.at(near));
        chain.records = records - given + space.records(near);
        // The change has what this group would lose, and the growth of the other.
        chain.max_loss -= change - space.losses.of(&chain.low, &chain.high) * chain.records as f32;
        chain.moves.extend([(item, group, other), (near, other, group)]);
        chain.pending.push(other);
        true
    }

    /// The item that should join the rest of a group in exchange for `item`: one that fits, or one of near groups.
    /// `None` if the group would lose too much with any that was compared.
    fn replacement(&mut self, item: u32, chain: &mut Chain, fitting: &[u32]) -> Option<(f32, u32)> {
        let space = self.space();
        let (records, given) = (chain.records, space.records(item));
        let mut most = chain.max_loss;
        let mut best: Option<(f32, u32)> = None;
        for _ in 0..CANDIDATES {
            let near = if fitting.len() >= MIN_FITTING {
                fitting[self.rng.below(fitting.len())]
            } else {
                let anchor = chain.items[self.rng.below(chain.items.len())];
                let Some(near) = self.near_item(anchor) else { continue };
                near
            };
            let other = self.current_group(near, chain);
            if other == chain.group || space.records(near) != given {
                continue;
            }
            let mine = space.losses.with(&chain.low, &chain.high, space.at(near)) * records as f32;
            self.state.bounds_without(other, near, &mut self.buffers.low, &mut self.buffers.high);
            let theirs = space.losses.with(&self.buffers.low, &self.buffers.high, space.at(item));
            let change = mine + theirs * self.state.records(other) as f32 - self.state.group_loss(other);
            self.state.work += 2 * space.losses.width() as u64;
            if change <= most {
                (most, best) = (change, Some((change, near)));
            }
        }
        for _ in 0..NEAR_GROUPS {
            let Some(near) = self.near_item(item) else { break };
            let with = self.current_group(near, chain);
            if with == chain.group {
                continue;
            }
            let skip = self.state.members(with).len().div_ceil(MAX_PARTNERS);
            let own = (&*chain.low, &*chain.high, records);
            if let Some(found) = self.state.best_partner(item, own, with, &mut self.buffers.ends, (skip, most)) {
                (most, best) = (found.0, Some(found));
            }
        }
        best
    }
}
