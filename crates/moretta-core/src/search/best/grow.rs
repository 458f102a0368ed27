//! Groups grown along the lists of near records: the start of the improvement of tables that are too large for methods
//! that search all remaining records for the next one.
//!
//! ```text
//! 1. a random record starts a group; the record of the lists of its members that lets the box lose least joins, until
//!    the group satisfies the models
//! 2. records whose lists have too few remaining ones join the group of a near record that grows least
//! ```
//!
//! Cost: O(group size × list length) boxes per group, so linear in the number of records.

use super::{
    neighbors::Neighbors,
    space::{Groups, Space, greater, less},
    state::{NONE, State},
};
use crate::search::{local::GroupRequirements, rng::SearchRng};

/// Returns groups of all items that satisfy the models; `None` if this way finds none.
pub(super) fn grow(
    space: &Space<'_>,
    neighbors: &Neighbors,
    requirements: GroupRequirements<'_>,
    rng: &mut SearchRng,
) -> Option<Groups> {
    let mut growth = Growth {
        space,
        neighbors,
        state: State::new(space, requirements, Vec::new()),
        next_items: (0..space.points() as u32).map(|point| space.items_of(point).start).collect(),
        marks: vec![NONE; space.points()],
        candidates: Vec::new(),
    };
    let mut order: Vec<u32> = (0..space.points() as u32).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, rng.below(last + 1));
    }
    let mut rest = Vec::new();
    for &point in &order {
        while growth.is_left(point) {
            match growth.group_around(point) {
                Ok(members) => _ = growth.state.add_group(members),
                Err(members) => rest.extend(members),
            }
        }
    }
    growth.join(rest)?;
    let groups = growth.state.into_groups();
    let mut state = State::new(space, requirements, Vec::new());
    groups.iter().all(|group| state.would_be_valid(group)).then_some(groups)
}

struct Growth<'a> {
    space: &'a Space<'a>,
    neighbors: &'a Neighbors,
    /// The finished groups.
    state: State<'a>,
    /// By point: the first item that is in no group.
    next_items: Vec<u32>,
    /// By point: start of the last group that it was a candidate for.
    marks: Vec<u32>,
    candidates: Vec<u32>,
}

impl Growth<'_> {
    fn is_left(&self, point: u32) -> bool {
        self.next_items[point as usize] < self.space.items_of(point).end
    }

    /// Takes the items of a new group; the error has those of a group that cannot grow further.
    fn group_around(&mut self, start: u32) -> Result<Vec<u32>, Vec<u32>> {
        let space = self.space;
        self.candidates.clear();
        let (mut low, mut high) = (space.at_point(start).to_vec(), space.at_point(start).to_vec());
        let (mut members, mut records, mut point) = (Vec::new(), 0, start);
        self.marks[start as usize] = start;
        loop {
            while self.is_left(point) {
                let item = self.next_items[point as usize];
                self.next_items[point as usize] += 1;
                members.push(item);
                records += space.records(item);
                if records >= self.state.min_records() && self.state.would_be_valid(&members) {
                    return Ok(members);
                }
            }
            for &near in self.neighbors.of(point) {
                if self.marks[near as usize] != start && self.next_items[near as usize] < space.items_of(near).end {
                    self.marks[near as usize] = start;
                    self.candidates.push(near);
                }
            }
            let loss = |&point: &u32| space.losses.with(&low, &high, space.at_point(point));
            let losses = self.candidates.iter().map(loss).enumerate();
            let Some((index, _)) = losses.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Err(members) };
            point = self.candidates.swap_remove(index);
            for (column, &value) in space.at_point(point).iter().enumerate() {
                (low[column], high[column]) = (less(low[column], value), greater(high[column], value));
            }
        }
    }

    /// Adds each item to the group of a near record that grows least and stays valid; `None` if an item finds none.
    fn join(&mut self, rest: Vec<u32>) -> Option<()> {
        let space = self.space;
        let mut pending = rest;
        while !pending.is_empty() {
            let before = pending.len();
            let mut without = Vec::new();
            for item in pending {
                let point = space.items[item as usize].point;
                let near = self.neighbors.of(point).iter().chain([&point]);
                let groups = near.flat_map(|&near| space.items_of(near)).map(|near| self.state.group_of(near));
                let mut groups: Vec<u32> = groups.filter(|&group| group != NONE).collect();
                groups.sort_unstable();
                groups.dedup();
                let mut growths: Vec<(f32, u32)> =
                    groups.into_iter().map(|group| (self.state.growth(group, item), group)).collect();
                growths.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                match growths.into_iter().find(|&(_, group)| self.stays_valid(group, item)) {
                    Some((_, group)) => self.state.insert(item, group),
                    None => without.push(item),
                }
            }
            // Groups near none of the lists: the next pass may reach them through records that joined.
            if without.len() == before {
                return None;
            }
            pending = without;
        }
        Some(())
    }

    /// Whether a group satisfies the models with one more item.
    fn stays_valid(&mut self, group: u32, item: u32) -> bool {
        self.state.records_decide() || {
            let members = [self.state.members(group), &[item]].concat();
            self.state.would_be_valid(&members)
        }
    }
}
