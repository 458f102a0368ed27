//! The step that shrinks a group: one end of one column is cut off.
//!
//! ```text
//! group  20 23 24 31 31        cut the high end: 31 31 leave
//! each is exchanged for a near record that fits between 20 and 24, at the least growth of the total loss:
//! group  20 21 23 24 22        31 and 31 are in the groups that 21 and 22 came from
//! ```
//!
//! A group with more records than it needs gives some away without an exchange. The whole chain is kept or undone.

use super::{anneal::Annealer, index::SortedItems, state::NONE};

/// Maximum share of a group's records that may be cut off.
const MAX_CUT: f64 = 0.4;
/// Maximum items that may be cut off, in a large group.
const MAX_CUT_ITEMS: usize = 40;
/// Near records that are compared for each exchange.
const CANDIDATES: usize = 12;
/// Items inside the smaller box from which these are drawn; with fewer, near records are.
const MIN_FITTING: usize = 6;
const MAX_FITTING: usize = 400;

impl Annealer<'_> {
    pub(super) fn shrink(&mut self, index: &SortedItems) -> bool {
        let Some(item) = self.random_item() else { return false };
        let group = self.state.group_of(item);
        let Some(cut) = self.cut(group) else { return false };
        let fitting = self.fitting(group, &cut, index);
        let limit = f64::from(self.accepted_growth());
        let before = self.state.total();
        let mut made: Vec<(u32, u32)> = Vec::new();
        let mut is_complete = true;
        for &item in &cut {
            if !self.replace(item, group, (&cut, &fitting), &mut made) {
                is_complete = false;
                break;
            }
        }
        let mut is_accepted = is_complete && self.state.total() - before <= limit;
        if is_accepted && !self.state.records_decide() {
            let mut changed: Vec<u32> = made.iter().map(|&(item, _)| self.state.group_of(item)).collect();
            changed.push(group);
            changed.sort_unstable();
            changed.dedup();
            is_accepted = changed.into_iter().all(|group| self.state.is_valid(group));
        }
        if !is_accepted {
            made.iter().rev().for_each(|&(item, from)| self.state.transfer(item, from));
        }
        is_accepted
    }

    /// Items at one end of a random column of a group, those that lie there together with the next ones until the loss
    /// falls; `None` if they are too many.
    fn cut(&mut self, group: u32) -> Option<Vec<u32>> {
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
        let mut order: Vec<u32> = members.to_vec();
        let value = |item: &u32| space.at(*item)[column];
        order.sort_unstable_by(|a, b| {
            let ascending = value(a).total_cmp(&value(b));
            if from_below { ascending } else { ascending.reverse() }.then(a.cmp(b))
        });
        let max_cut = ((order.len() as f64 * MAX_CUT) as usize).clamp(1, MAX_CUT_ITEMS);
        // Sometimes more than one value is cut off.
        let peels = 1 + usize::from(self.rng.below(3) == 0) + usize::from(self.rng.below(6) == 0);
        let (mut count, mut found, mut known_loss) = (0, 0, losses[column]);
        let mut peeled = 0;
        while count < order.len() {
            let edge = value(&order[count]);
            count += order[count..].iter().take_while(|item| value(item) == edge).count();
            if count > max_cut {
                break;
            }
            let next = value(&order[count]);
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
        order.truncate(found);
        (found > 0).then_some(order)
    }

    /// Items of other groups that lie inside the box of a group without some of its items.
    fn fitting(&mut self, group: u32, cut: &[u32], index: &SortedItems) -> Vec<u32> {
        let space = self.space();
        let width = space.losses.width();
        let (mut low, mut high) = (vec![f32::INFINITY; width], vec![f32::NEG_INFINITY; width]);
        for &item in self.state.members(group).iter().filter(|item| !cut.contains(item)) {
            for (column, &value) in space.at(item).iter().enumerate() {
                low[column] = if value < low[column] { value } else { low[column] };
                high[column] = if value > high[column] { value } else { high[column] };
            }
        }
        // The box that is released may be larger: that of the lowest common ancestors.
        for column in 0..width {
            if low[column] <= high[column] {
                (low[column], high[column]) = space.losses.cover(column, low[column], high[column]);
            }
        }
        let mut found = Vec::new();
        self.state.work += (self.state.members(group).len() * (width + cut.len() / 4)) as u64;
        self.state.work += index.inside(space, (&low, &high), MAX_FITTING, &mut found);
        found.retain(|&item| ![NONE, group].contains(&self.state.group_of(item)));
        found
    }

    /// Moves an item out of its group, in exchange for the near item that lets the total loss grow least. Records what
    /// was moved, and from which group. `cut` are items of the group that leave it.
    fn replace(&mut self, item: u32, group: u32, (cut, fitting): (&[u32], &[u32]), made: &mut Vec<(u32, u32)>) -> bool {
        let space = self.space();
        let spare = self.state.records(group) - self.state.min_records().min(self.state.records(group));
        // The box of the records that stay.
        let width = space.losses.width();
        let (mut low, mut high) = (vec![f32::INFINITY; width], vec![f32::NEG_INFINITY; width]);
        let staying: Vec<u32> = self.state.members(group).iter().copied().filter(|item| !cut.contains(item)).collect();
        if staying.is_empty() {
            return false;
        }
        for &item in &staying {
            for (column, &value) in space.at(item).iter().enumerate() {
                low[column] = if value < low[column] { value } else { low[column] };
                high[column] = if value > high[column] { value } else { high[column] };
            }
        }
        self.state.work += ((width + cut.len() / 4) * staying.len()) as u64;
        let records = self.state.records(group) as f32;
        if spare >= space.records(item) {
            // The group has a record to spare: this one joins the group of a near record, without an exchange.
            let mut best: Option<(f32, u32)> = None;
            for _ in 0..CANDIDATES / 2 {
                let Some(near) = self.near_item(item) else { break };
                let to = self.state.group_of(near);
                let growth = self.state.growth(to, item);
                if best.is_none_or(|(known, _)| growth < known) {
                    best = Some((growth, to));
                }
            }
            let Some((_, to)) = best else { return false };
            made.push((item, group));
            self.state.transfer(item, to);
            return true;
        }
        let given = space.records(item);
        let mut best: Option<(f32, u32)> = None;
        for _ in 0..CANDIDATES {
            let near = if fitting.len() >= MIN_FITTING {
                fitting[self.rng.below(fitting.len())]
            } else {
                let anchor = staying[self.rng.below(staying.len())];
                let Some(near) = self.near_item(anchor) else { continue };
                near
            };
            let other = self.state.group_of(near);
            if other == group || space.records(near) != given {
                continue;
            }
            let mine = space.losses.with(&low, &high, space.at(near)) * records;
            self.state.bounds_without(other, near, &mut self.buffers.low, &mut self.buffers.high);
            let theirs = space.losses.with(&self.buffers.low, &self.buffers.high, space.at(item));
            let change = mine + theirs * self.state.records(other) as f32 - self.state.group_loss(other);
            self.state.work += 2 * width as u64;
            if best.is_none_or(|(known, _)| change < known) {
                best = Some((change, near));
            }
        }
        let Some((_, near)) = best else { return false };
        let other = self.state.group_of(near);
        made.push((item, group));
        self.state.transfer(item, other);
        made.push((near, other));
        self.state.transfer(near, group);
        true
    }
}
