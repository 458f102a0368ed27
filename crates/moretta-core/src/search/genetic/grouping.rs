//! Rows into groups: those that leave alike.

use super::{
    recoded::Recoded,
    table::{AT_ONCE, Index, NARROW, Table},
};

/// So many combinations are told apart by a place of their own; more are hashed.
const PLACES: u128 = 1 << 22;

/// Which rows leave alike, with room that the next grouping uses again.
#[derive(Debug, Default)]
pub(super) struct Grouping {
    /// By row, its group.
    pub ids: Vec<u32>,
    /// By group, how many records.
    pub sizes: Vec<u64>,
    /// By group, its first row.
    pub firsts: Vec<u32>,
    /// By plate and combination, what a row loses in precision.
    losses: Vec<Vec<f64>>,
    /// By combination of the plate at hand, which combination of cells of its block it is.
    cells: Vec<u64>,
    /// By combination, its part of a row's number.
    keys: Vec<u64>,
    numbers: Numbers,
}

/// Numbers groups.
#[derive(Debug, Default)]
struct Numbers {
    /// A place for each combination: the group's number and one, or 0 where there is none yet.
    places: Vec<u32>,
    /// By row, its place.
    used: Vec<u32>,
    /// By the hash of a combination, the combination and the group's number and one.
    slots: Vec<(u64, u32)>,
}

impl Grouping {
    /// Groups the rows of a table by what they leave as.
    pub(super) fn group(&mut self, table: &Table, recoded: &[Recoded]) {
        self.ids.clear();
        self.ids.resize(table.len(), 0);
        self.losses.resize_with(table.plates.len(), Vec::new);
        let mut groups = 1;
        for (plate, losses) in table.plates.iter().zip(&mut self.losses) {
            losses.clear();
            self.cells.clear();
            // Where the blocks end, and how many combinations of cells each has.
            let mut blocks = vec![(0, 1)];
            for block in &plate.blocks {
                let cells = look_up(block, &table.steps, recoded, &mut self.cells, losses);
                blocks.push((self.cells.len(), cells));
            }
            // For blocks that are not there.
            self.cells.push(0);
            losses.push(0.0);
            // As many blocks at a time as there are places for; at least one.
            let mut done = 0;
            while done + 1 < blocks.len() {
                let mut combinations = blocks[done + 1].1;
                let mut upto = done + 1;
                while upto + 1 < blocks.len() && fits(groups, combinations, blocks[upto + 1].1) {
                    upto += 1;
                    combinations *= blocks[upto].1;
                }
                if self.keys.len() < self.cells.len().max(NARROW) {
                    self.keys.resize(self.cells.len().max(NARROW), 0);
                }
                // Blocks that do not have their turn count for nothing.
                self.keys[..self.cells.len()].fill(0);
                // The first block, by which rows are ordered, changes slowest.
                let mut stride = 1;
                for block in (done + 1..=upto).rev() {
                    let range = blocks[block - 1].0..blocks[block].0;
                    let keys = self.keys[range.clone()].iter_mut().zip(&self.cells[range]);
                    keys.for_each(|(key, cells)| *key = cells * stride);
                    stride *= blocks[block].1;
                }
                groups = self.numbers.number_rows(&mut self.ids, &plate.index, &self.keys, (groups, combinations));
                done = upto;
            }
        }
        self.sizes.clear();
        self.sizes.resize(if table.len() == 0 { 0 } else { groups as usize }, 0);
        self.firsts.clear();
        self.firsts.resize(self.sizes.len(), 0);
        // From the last row to the first, so that the first stays.
        for (row, (&id, &records)) in self.ids.iter().zip(&table.records).enumerate().rev() {
            self.sizes[id as usize] += records;
            self.firsts[id as usize] = row as u32;
        }
    }

    /// How many records some groups have.
    pub(super) fn records_of(&self, some: &[bool]) -> u64 {
        self.sizes.iter().zip(some).filter(|(_, some)| **some).map(|(records, _)| records).sum()
    }

    /// What the records of some groups lose in precision. All of a group lose the same.
    pub(super) fn precision_of(&self, table: &Table, some: &[bool]) -> f64 {
        let mut lost = 0.0;
        for group in (0..self.sizes.len()).filter(|&group| some[group]) {
            let row = self.firsts[group] as usize;
            for (plate, losses) in table.plates.iter().zip(&self.losses) {
                let own: f64 = plate.index.row(row).map(|at| losses[at]).iter().sum();
                lost += self.sizes[group] as f64 * own;
            }
        }
        lost
    }
}

/// Whether groups and two numbers of combinations have a place each.
fn fits(groups: u64, combinations: u64, more: u64) -> bool {
    u128::from(groups) * u128::from(combinations) * u128::from(more) <= PLACES
}

/// Adds, by combination of a block's steps, the number of its combination of cells and what is lost; returns how many
/// combinations of cells there are.
fn look_up(
    block: &[usize],
    steps: &[Vec<u32>],
    recoded: &[Recoded],
    keys: &mut Vec<u64>,
    losses: &mut Vec<f64>,
) -> u64 {
    let start = keys.len();
    keys.push(0);
    losses.push(0.0);
    let mut combinations = 1;
    for &column in block {
        let Recoded { cell_of, cells, losses: own, .. } = &recoded[column];
        let codes = &steps[column];
        let before = keys.len() - start;
        keys.resize(start + before * codes.len(), 0);
        losses.resize(start + before * codes.len(), 0.0);
        // From the last to the first, so that nothing is overwritten before it was read.
        for place in (0..before).rev() {
            let (key, loss) = (keys[start + place] * cells.len() as u64, losses[start + place]);
            let from = start + place * codes.len();
            let into = keys[from..from + codes.len()].iter_mut().zip(&mut losses[from..from + codes.len()]);
            for ((keys, losses), &code) in into.zip(codes) {
                let cell = cell_of[code as usize];
                *keys = key + u64::from(cell);
                *losses = loss + own[cell as usize];
            }
        }
        combinations *= cells.len() as u64;
    }
    combinations
}

impl Numbers {
    /// Numbers the groups of a plate's rows anew, by the keys of their combinations.
    fn number_rows(&mut self, ids: &mut [u32], index: &Index, keys: &[u64], counts: (u64, u64)) -> u64 {
        match index {
            Index::Narrow(index) => {
                // An array of this length needs no check that 16 bits are inside.
                let keys: &[u64; NARROW] = keys[..NARROW].try_into().expect("at least so many");
                let key = |&[a, b, c, d]: &[u16; AT_ONCE]| {
                    keys[usize::from(a)] + keys[usize::from(b)] + keys[usize::from(c)] + keys[usize::from(d)]
                };
                self.number(ids, index.iter().map(key), counts)
            }
            Index::Wide(index) => {
                let key = |row: &[u32; AT_ONCE]| row.iter().map(|&at| keys[at as usize]).sum();
                self.number(ids, index.iter().map(key), counts)
            }
        }
    }

    /// Numbers the groups anew, in the order of their first rows: rows that had the same number, of `before` so many, and
    /// have the same of so many combinations. Returns how many groups there are.
    fn number(&mut self, ids: &mut [u32], keys: impl Iterator<Item = u64>, (before, combinations): (u64, u64)) -> u64 {
        match u128::from(before) * u128::from(combinations) {
            all if all <= PLACES => self.by_place(ids, keys, combinations, all as usize),
            _ => self.by_hash(ids, keys, combinations),
        }
    }

    /// There is no branch on whether a group is new: the processor could not foresee it.
    fn by_place(&mut self, ids: &mut [u32], keys: impl Iterator<Item = u64>, combinations: u64, all: usize) -> u64 {
        if self.places.len() < all {
            self.places = vec![0; all.next_power_of_two()];
        }
        let places = &mut self.places[..all];
        self.used.resize(ids.len(), 0);
        let mut groups = 0u32;
        for ((id, used), key) in ids.iter_mut().zip(&mut self.used).zip(keys) {
            let key = u64::from(*id) * combinations + key;
            *used = key as u32;
            let place = &mut places[key as usize];
            let is_new = *place == 0;
            groups += u32::from(is_new);
            *place = if is_new { groups } else { *place };
            *id = *place - 1;
        }
        self.used.iter().for_each(|&key| places[key as usize] = 0);
        u64::from(groups)
    }

    fn by_hash(&mut self, ids: &mut [u32], keys: impl Iterator<Item = u64>, combinations: u64) -> u64 {
        let capacity = (ids.len() * 2).next_power_of_two().max(16);
        if self.slots.len() < capacity {
            self.slots = vec![(0, 0); capacity];
        }
        let (mask, shift) = (self.slots.len() - 1, u64::BITS - self.slots.len().trailing_zeros());
        self.used.clear();
        for (id, key) in ids.iter_mut().zip(keys) {
            let key = u64::from(*id) * combinations + key;
            let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize;
            *id = loop {
                let (known, group) = self.slots[slot];
                if group == 0 {
                    self.used.push(slot as u32);
                    self.slots[slot] = (key, self.used.len() as u32);
                    break self.used.len() as u32 - 1;
                }
                if known == key {
                    break group - 1;
                }
                slot = (slot + 1) & mask;
            };
        }
        self.used.iter().for_each(|&slot| self.slots[slot as usize] = (0, 0));
        self.used.len() as u64
    }
}
