//! Groups that change: boxes, losses and members after every move, without reading whole groups to judge one.
//!
//! For every group and column the two least and the two greatest coordinates are known, so that the box without one
//! record and with another is a few comparisons per column, however large the group:
//!
//! ```text
//! members 20 23 23 31     low 20, next 23 .. next 23, high 31
//! without 20              low = next = 23
//! with 18 instead         low = min(23, 18) = 18
//! ```
//!
//! Only a move that is made may read the members of the group that loses the record.

use super::space::{Groups, Space, greater, less};
use crate::{profile::VariantCount, search::local::GroupRequirements};

/// Number of no group.
pub(super) const NONE: u32 = u32::MAX;

/// The groups of a region.
pub(super) struct State<'a> {
    pub space: &'a Space<'a>,
    requirements: GroupRequirements<'a>,
    width: usize,
    /// By item: its group; `NONE` for items of other regions.
    group_of: Vec<u32>,
    /// By item: its index among the members of its group.
    index_of: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// By group: the coordinates of its members one after another, because a step that reads those of all members would
    /// otherwise wait for memory at each of them.
    coordinates: Vec<Vec<f32>>,
    records: Vec<u64>,
    /// By group: loss per record.
    losses: Vec<f32>,
    /// By group: least, second least, second greatest and greatest coordinate of each column.
    ends: Vec<f32>,
    /// Numbers of removed groups.
    free: Vec<u32>,
    /// Loss of all groups; `f64`, because it is a sum of very many changes.
    total: f64,
    scratch: Vec<VariantCount>,
    /// Boxes that were computed, times their columns: the unit of the budget.
    pub work: u64,
}

impl<'a> State<'a> {
    pub(super) fn new(space: &'a Space<'a>, requirements: GroupRequirements<'a>, groups: Groups) -> Self {
        let items = space.items.len();
        let mut state = Self {
            space,
            requirements,
            width: space.losses.width(),
            group_of: vec![NONE; items],
            index_of: vec![0; items],
            members: Vec::new(),
            coordinates: Vec::new(),
            records: Vec::new(),
            losses: Vec::new(),
            ends: Vec::new(),
            free: Vec::new(),
            total: 0.0,
            scratch: Vec::new(),
            work: 0,
        };
        groups.into_iter().for_each(|members| _ = state.add_group(members));
        state
    }

    /// Bytes of the heap for `items` items in `groups` groups.
    pub(super) fn bytes(items: u64, groups: u64, columns: u64) -> u64 {
        // The coordinates of a group's members may have twice the room that they need.
        items * (12 + 8 * (columns + 3)) + groups * (48 + 32 + 16 * (columns + 3) + 12)
    }

    pub(super) fn into_groups(self) -> Groups {
        self.members.into_iter().filter(|members| !members.is_empty()).collect()
    }

    pub(super) fn groups(&self) -> Groups {
        self.members.iter().filter(|members| !members.is_empty()).cloned().collect()
    }

    pub(super) fn total(&self) -> f64 {
        self.total
    }

    pub(super) fn group_of(&self, item: u32) -> u32 {
        self.group_of[item as usize]
    }

    pub(super) fn members(&self, group: u32) -> &[u32] {
        &self.members[group as usize]
    }

    /// Coordinates of each member of a group.
    pub(super) fn coordinates(&self, group: u32) -> impl Iterator<Item = &[f32]> {
        self.coordinates[group as usize].chunks_exact(self.width)
    }

    pub(super) fn records(&self, group: u32) -> u64 {
        self.records[group as usize]
    }

    pub(super) fn min_records(&self) -> u64 {
        self.requirements.min_records
    }

    /// Loss per record of a group.
    pub(super) fn loss(&self, group: u32) -> f32 {
        self.losses[group as usize]
    }

    /// Loss of all records of a group.
    pub(super) fn group_loss(&self, group: u32) -> f32 {
        self.losses[group as usize] * self.records[group as usize] as f32
    }

    fn ends(&self, group: u32) -> [&[f32]; 4] {
        let width = self.width;
        let all = &self.ends[group as usize * 4 * width..(group as usize + 1) * 4 * width];
        let (lows, highs) = all.split_at(2 * width);
        let ((low, second_low), (second_high, high)) = (lows.split_at(width), highs.split_at(width));
        [low, second_low, second_high, high]
    }

    /// Box of a group.
    pub(super) fn bounds(&self, group: u32) -> (&[f32], &[f32]) {
        let [low, _, _, high] = self.ends(group);
        (low, high)
    }

    /// Writes the box of a group without an item.
    pub(super) fn bounds_without(&self, group: u32, item: u32, low: &mut [f32], high: &mut [f32]) {
        let [lowest, second_low, second_high, highest] = self.ends(group);
        let at = self.space.at(item);
        for column in 0..self.width {
            low[column] = if at[column] == lowest[column] { second_low[column] } else { lowest[column] };
            high[column] = if at[column] == highest[column] { second_high[column] } else { highest[column] };
        }
    }

    /// Change of a group's loss if an item joins it.
    pub(super) fn growth(&mut self, group: u32, item: u32) -> f32 {
        self.work += self.width as u64;
        let (low, high) = self.bounds(group);
        let loss = self.space.losses.with(low, high, self.space.at(item));
        let records = self.records[group as usize] + self.space.records(item);
        loss * records as f32 - self.group_loss(group)
    }

    /// Adds a group of items that are in none; returns its number.
    pub(super) fn add_group(&mut self, members: Vec<u32>) -> u32 {
        let group = self.free.pop().unwrap_or_else(|| {
            self.members.push(Vec::new());
            self.coordinates.push(Vec::new());
            self.records.push(0);
            self.losses.push(0.0);
            self.ends.resize(self.ends.len() + 4 * self.width, 0.0);
            self.members.len() as u32 - 1
        });
        for (index, &item) in members.iter().enumerate() {
            (self.group_of[item as usize], self.index_of[item as usize]) = (group, index as u32);
        }
        self.records[group as usize] = members.iter().map(|&item| self.space.records(item)).sum();
        let coordinates = &mut self.coordinates[group as usize];
        members.iter().for_each(|&item| coordinates.extend_from_slice(self.space.at(item)));
        self.members[group as usize] = members;
        self.measure(group);
        group
    }

    /// Removes a group; its items are in none.
    pub(super) fn remove_group(&mut self, group: u32) -> Vec<u32> {
        self.total -= f64::from(self.group_loss(group));
        self.losses[group as usize] = 0.0;
        self.records[group as usize] = 0;
        self.free.push(group);
        self.coordinates[group as usize].clear();
        let members = std::mem::take(&mut self.members[group as usize]);
        members.iter().for_each(|&item| self.group_of[item as usize] = NONE);
        members
    }

    /// Computes the ends and the loss of a group from its members. The total must not contain its loss.
    fn measure(&mut self, group: u32) {
        let width = self.width;
        let space = self.space;
        let ends = &mut self.ends[group as usize * 4 * width..(group as usize + 1) * 4 * width];
        ends[..2 * width].fill(f32::INFINITY);
        ends[2 * width..].fill(f32::NEG_INFINITY);
        for at in self.coordinates[group as usize].chunks_exact(width) {
            insert(ends, at);
        }
        self.work += width as u64 * self.members[group as usize].len() as u64;
        let empty = self.members[group as usize].is_empty();
        self.losses[group as usize] = if empty { 0.0 } else { space.losses.of(&ends[..width], &ends[3 * width..]) };
        self.total += f64::from(self.group_loss(group));
    }

    /// Adds an item that is in no group to one.
    pub(super) fn insert(&mut self, item: u32, to: u32) {
        self.total -= f64::from(self.group_loss(to));
        self.append(item, to);
        self.total += f64::from(self.group_loss(to));
    }

    /// Adds an item to a group and computes its ends and its loss. The total must not contain its loss.
    fn append(&mut self, item: u32, to: u32) {
        self.index_of[item as usize] = self.members[to as usize].len() as u32;
        self.members[to as usize].push(item);
        self.coordinates[to as usize].extend_from_slice(self.space.at(item));
        self.group_of[item as usize] = to;
        self.records[to as usize] += self.space.records(item);
        let width = self.width;
        let ends = &mut self.ends[to as usize * 4 * width..(to as usize + 1) * 4 * width];
        insert(ends, self.space.at(item));
        self.losses[to as usize] = self.space.losses.of(&ends[..width], &ends[3 * width..]);
        self.work += width as u64;
    }

    /// Whether the ends of a group stay what they are when an item leaves it: in every column it lies between them, or
    /// all members are equal.
    fn is_inner(&self, group: u32, item: u32) -> bool {
        let [lowest, second_low, second_high, highest] = self.ends(group);
        let at = self.space.at(item);
        let between = |column: usize| second_low[column] < at[column] && at[column] < second_high[column];
        (0..self.width).filter(|&column| !between(column) && lowest[column] < highest[column]).count() == 0
    }

    /// Moves an item to another group. The group that it leaves may be empty then, but stays.
    pub(super) fn transfer(&mut self, item: u32, to: u32) {
        let from = self.group_of(item);
        self.total -= f64::from(self.group_loss(from)) + f64::from(self.group_loss(to));
        let index = self.index_of[item as usize] as usize;
        self.members[from as usize].swap_remove(index);
        let coordinates = &mut self.coordinates[from as usize];
        let last = coordinates.len() - self.width;
        coordinates.copy_within(last.., index * self.width);
        coordinates.truncate(last);
        if let Some(&moved) = self.members[from as usize].get(index) {
            self.index_of[moved as usize] = index as u32;
        }
        self.records[from as usize] -= self.space.records(item);
        // With one member left, there are no second ends.
        if self.members[from as usize].len() > 1 && self.is_inner(from, item) {
            self.work += self.width as u64;
            self.total += f64::from(self.group_loss(from));
        } else {
            self.measure(from);
        }
        self.append(item, to);
        self.total += f64::from(self.group_loss(to));
    }

    /// Whether a group satisfies every model.
    pub(super) fn is_valid(&mut self, group: u32) -> bool {
        let (members, scratch) = (&self.members[group as usize], &mut self.scratch);
        let items = &self.space.items;
        self.requirements.are_met(self.records[group as usize], || {
            scratch.clear();
            scratch.extend(members.iter().map(|&item| items[item as usize].member));
            scratch
        })
    }

    /// Whether some items satisfy every model as a group.
    pub(super) fn would_be_valid(&mut self, members: &[u32]) -> bool {
        let (items, scratch) = (&self.space.items, &mut self.scratch);
        let records = members.iter().map(|&item| items[item as usize].member.records).sum();
        self.requirements.are_met(records, || {
            scratch.clear();
            scratch.extend(members.iter().map(|&item| items[item as usize].member));
            scratch
        })
    }

    /// Whether the number of records alone decides if a group is valid.
    pub(super) fn records_decide(&self) -> bool {
        self.requirements.min_records_suffice
    }

    /// Item of a group with the best exchange for `item` of another group, and the change of the total loss, if that is
    /// at most `limit`. The change is exact; items that make either group too small are passed over.
    pub(super) fn best_exchange(
        &mut self,
        item: u32,
        with: u32,
        buffers: &mut Buffers,
        (skip, limit): (usize, f32),
    ) -> Option<(f32, u32)> {
        let from = self.group_of(item);
        let Buffers { low, high, ends } = buffers;
        self.bounds_without(from, item, low, high);
        let (own, before) = (self.records(from), self.group_loss(from));
        let found = self.best_partner(item, (&low[..], &high[..], own), with, ends, (skip, limit + before))?;
        Some((found.0 - before, found.1))
    }

    /// The same for an item of a group with `own` records that has another box without it. The change is that of the
    /// other group's loss plus the loss of this group afterwards.
    pub(super) fn best_partner(
        &mut self,
        item: u32,
        (low, high, own): (&[f32], &[f32], u64),
        with: u32,
        ends: &mut [f32],
        (skip, limit): (usize, f32),
    ) -> Option<(f32, u32)> {
        let (space, width) = (self.space, self.width);
        let start = with as usize * 4 * width;
        ends.copy_from_slice(&self.ends[start..start + 4 * width]);
        insert(ends, space.at(item));
        let (others, before) = (self.records(with), self.group_loss(with));
        let given = space.records(item);
        // Whatever leaves the other group, the second ends of all columns stay inside its box.
        let has_second_ends = self.members(with).len() > 1;
        let (second_low, second_high) = (&ends[width..2 * width], &ends[2 * width..3 * width]);
        let inner_loss = if has_second_ends { space.losses.of(second_low, second_high) } else { 0.0 };
        self.work += 2 * width as u64;
        // All records are single: their numbers stay.
        let are_single = others == self.members(with).len() as u64;
        let (mut best, mut most): (Option<u32>, f32) = (None, limit + before);
        if given == 1 && are_single && space.losses.of(low, high) * own as f32 + inner_loss * others as f32 > most {
            return None;
        }
        let mut boxes = 0;
        let points = self.coordinates[with as usize].chunks_exact(width);
        for (&other, at) in self.members[with as usize].iter().zip(points).step_by(skip) {
            let taken = if are_single { 1 } else { space.records(other) };
            let (own, others) = (own - given + taken, others + given - taken);
            if given != taken && own.min(others) < self.requirements.min_records {
                continue;
            }
            let mine = space.losses.with(low, high, at) * own as f32;
            boxes += 1;
            if mine + inner_loss * others as f32 >= most {
                continue;
            }
            let theirs = space.losses.without(ends, at) * others as f32;
            boxes += 1;
            if mine + theirs < most {
                (best, most) = (Some(other), mine + theirs);
            }
        }
        self.work += width as u64 * boxes;
        best.map(|other| (most - before, other))
    }

    /// Change of the total loss if an item moves to another group; `None` if its group would be too small.
    pub(super) fn move_change(&mut self, item: u32, to: u32, buffers: &mut Buffers) -> Option<f32> {
        let from = self.group_of(item);
        let rest = self.records(from) - self.space.records(item);
        if rest < self.requirements.min_records {
            return None;
        }
        self.bounds_without(from, item, &mut buffers.low, &mut buffers.high);
        self.work += self.width as u64;
        let after = self.space.losses.of(&buffers.low, &buffers.high) * rest as f32;
        Some(self.growth(to, item) + after - self.group_loss(from))
    }
}

/// Boxes that a step computes.
pub(super) struct Buffers {
    pub low: Vec<f32>,
    pub high: Vec<f32>,
    pub ends: Vec<f32>,
}

impl Buffers {
    pub(super) fn new(width: usize) -> Self {
        Self { low: vec![0.0; width], high: vec![0.0; width], ends: vec![0.0; 4 * width] }
    }
}

/// Adds a point to the ends of a group: the two least and the two greatest numbers of each column.
fn insert(ends: &mut [f32], at: &[f32]) {
    let width = at.len();
    let (lows, highs) = ends.split_at_mut(2 * width);
    let (low, second_low) = lows.split_at_mut(width);
    let (second_high, high) = highs.split_at_mut(width);
    for column in 0..width {
        let value = at[column];
        second_low[column] = less(second_low[column], greater(low[column], value));
        low[column] = less(low[column], value);
        second_high[column] = greater(second_high[column], less(high[column], value));
        high[column] = greater(high[column], value);
    }
}
