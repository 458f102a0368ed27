//! Rows into groups: those that leave alike.
//!
//! Why not `group_rows`: a search groups the same table under every cut that it evaluates. How: keys are looked up for a
//! block of columns at once, four blocks to a row (`table.rs`), and [`Partitioner`] refines the partition by them. Cost:
//! one pass over the rows for each plate, mostly one, and the combinations of each block.
//!
//! With `group_rows` a search takes 3.0 to 3.4 times as long (Adult, 18,109 tuples, eight columns, k = 10, one thread; 2.6
//! times on 268,528 tuples, 1.7 times on 3,650 tuples of six columns with a template).

use super::{
    merged_tuples::{BLOCKS_PER_BATCH, CombinationIndex, MergedTuples, NARROW_LIMIT},
    recoded_column::RecodedColumn,
};
use crate::search::grouping::{MAX_PLACES, Partitioner};

/// Which rows leave alike, with room that the next grouping uses again.
#[derive(Debug, Default)]
pub(super) struct RowGroups {
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
    partitioner: Partitioner,
}

impl RowGroups {
    /// Groups the rows of a table by what they leave as.
    pub(super) fn group(&mut self, merged: &MergedTuples, recoded: &[RecodedColumn]) {
        self.ids.clear();
        self.ids.resize(merged.len(), 0);
        self.losses.resize_with(merged.batches.len(), Vec::new);
        let mut groups = 1;
        for (batch, losses) in merged.batches.iter().zip(&mut self.losses) {
            losses.clear();
            self.cells.clear();
            // Where the blocks end, and how many combinations of cells each has.
            let mut blocks = vec![(0, 1)];
            for block in &batch.blocks {
                let cells = look_up(block, &merged.run_starts, recoded, &mut self.cells, losses);
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
                if self.keys.len() < self.cells.len().max(NARROW_LIMIT) {
                    self.keys.resize(self.cells.len().max(NARROW_LIMIT), 0);
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
                groups = refine(&mut self.partitioner, &mut self.ids, &batch.index, &self.keys, (groups, combinations));
                done = upto;
            }
        }
        self.sizes.clear();
        self.sizes.resize(if merged.len() == 0 { 0 } else { groups as usize }, 0);
        self.firsts.clear();
        self.firsts.resize(self.sizes.len(), 0);
        // From the last row to the first, so that the first stays.
        for (row, (&id, &records)) in self.ids.iter().zip(&merged.records).enumerate().rev() {
            self.sizes[id as usize] += records;
            self.firsts[id as usize] = row as u32;
        }
    }

    /// How many records some groups have.
    pub(super) fn records_of(&self, some: &[bool]) -> u64 {
        self.sizes.iter().zip(some).filter(|(_, some)| **some).map(|(records, _)| records).sum()
    }

    /// What the records of some groups lose in precision. All of a group lose the same.
    pub(super) fn precision_loss_of(&self, merged: &MergedTuples, some: &[bool]) -> f64 {
        let mut lost = 0.0;
        for group in (0..self.sizes.len()).filter(|&group| some[group]) {
            let row = self.firsts[group] as usize;
            for (batch, losses) in merged.batches.iter().zip(&self.losses) {
                let own: f64 = batch.index.row(row).map(|at| losses[at]).iter().sum();
                lost += self.sizes[group] as f64 * own;
            }
        }
        lost
    }
}

/// Whether groups and two numbers of combinations have a place each.
fn fits(groups: u64, combinations: u64, more: u64) -> bool {
    u128::from(groups) * u128::from(combinations) * u128::from(more) <= u128::from(MAX_PLACES)
}

/// Adds, by combination of a block's steps, the number of its combination of cells and what is lost; returns how many
/// combinations of cells there are.
fn look_up(
    block: &[usize],
    run_starts: &[Vec<u32>],
    recoded: &[RecodedColumn],
    keys: &mut Vec<u64>,
    losses: &mut Vec<f64>,
) -> u64 {
    let start = keys.len();
    keys.push(0);
    losses.push(0.0);
    let mut combinations = 1;
    for &column in block {
        let RecodedColumn { cell_of, cells, losses: own, .. } = &recoded[column];
        let codes = &run_starts[column];
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

/// Refines a partition of a plate's rows by the keys of their combinations.
fn refine(
    partitioner: &mut Partitioner,
    ids: &mut [u32],
    index: &CombinationIndex,
    keys: &[u64],
    counts: (u64, u64),
) -> u64 {
    match index {
        CombinationIndex::Narrow(index) => {
            // An array of this length needs no check that 16 bits are inside.
            let keys: &[u64; NARROW_LIMIT] = keys[..NARROW_LIMIT].try_into().expect("at least so many");
            let key = |&[a, b, c, d]: &[u16; BLOCKS_PER_BATCH]| {
                keys[usize::from(a)] + keys[usize::from(b)] + keys[usize::from(c)] + keys[usize::from(d)]
            };
            partitioner.refine(ids, index.iter().map(key), counts)
        }
        CombinationIndex::Wide(index) => {
            let key = |row: &[u32; BLOCKS_PER_BATCH]| row.iter().map(|&at| keys[at as usize]).sum();
            partitioner.refine(ids, index.iter().map(key), counts)
        }
    }
}
