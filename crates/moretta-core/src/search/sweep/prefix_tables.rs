//! Prefix tables: the tuples merged by some levels of the prefix columns, with the records that remain.
//!
//! The prefix columns are the first few columns (`context.rs`). For each combination of their levels there is one
//! table; tuples with the same nodes in the prefix columns and the same values in all others share an entry. A level
//! vector is grouped from the table of its own prefix levels.
//!
//! ```text
//! tuples (age, sex, town)      entries where age is a decade      entries where age is *
//! 21 F Rome
//! 27 F Rome                    20-29 F Rome, 2 records            * F Rome, 3 records
//! 31 F Rome                    30-39 F Rome, 1 record
//! ```
//!
//! Why: thousands of level vectors share a few tables (at most 20); all but the finest are shorter than the list of
//! tuples, and the prefix part of each entry's hash and loss is computed once. Cost: one pass over the tuples per
//! table.

use super::context::SweepContext;
use crate::{ids::TupleId, search::grouping::KeyNumbers};

/// Table of one level combination of the prefix columns. Columns of the table are by entry.
#[derive(Default)]
pub(super) struct PrefixTable {
    /// Sum of the Zobrist hashes of the entry's nodes in the prefix columns.
    pub hashes: Vec<u64>,
    /// Sum of the losses of these nodes.
    pub losses: Vec<f64>,
    /// Records that remain; 0 once all are in groups.
    pub records: Vec<u64>,
    /// By composite column, then by entry.
    pub codes: Vec<Vec<u32>>,
    /// Entry of each tuple, by the tuple's rank.
    pub entry_of_rank: Vec<u32>,
    /// Number of entries without remaining records.
    num_empty: usize,
}

impl PrefixTable {
    /// Builds the table of some tuples at `levels` of the prefix columns. `suffix_hashes` has the hash of each tuple's
    /// values in the other columns.
    pub(super) fn new(
        context: &SweepContext<'_>,
        levels: &[usize],
        factors: &[f64],
        tuples: &[TupleId],
        suffix_hashes: &[u64],
    ) -> Self {
        let profile = context.task.profile;
        let prefix = || {
            let columns = context.columns.iter().zip(levels);
            columns.map(|(column, &level)| (column, &column.levels[level], factors[column.index]))
        };
        let mut table = Self { codes: vec![Vec::new(); context.composites.len()], ..Self::default() };
        let mut numbers = KeyNumbers::default();
        numbers.reset(tuples.len());
        for (&tuple, suffix_hash) in tuples.iter().zip(suffix_hashes) {
            let code = |codes: &[u32]| codes[tuple.index()] as usize;
            let hashes = prefix().map(|(column, level, _)| level.hashes[code(&column.codes)]);
            let hash = hashes.fold(0, u64::wrapping_add);
            let entry = numbers.number(hash.wrapping_add(*suffix_hash));
            let records = profile.tuple_records(tuple);
            table.entry_of_rank.push(entry);
            if let Some(known) = table.records.get_mut(entry as usize) {
                *known += records;
                continue;
            }
            let losses = prefix().map(|(column, level, factor)| factor * level.losses[code(&column.codes)]);
            table.hashes.push(hash);
            table.losses.push(losses.sum());
            table.records.push(records);
            table.codes.iter_mut().zip(context.composites.codes(tuple)).for_each(|(codes, code)| codes.push(*code));
        }
        table
    }

    /// Subtracts the records of a tuple that became part of a group.
    pub(super) fn remove(&mut self, rank: usize, records: u64) {
        let remaining = &mut self.records[self.entry_of_rank[rank] as usize];
        *remaining -= records;
        self.num_empty += usize::from(*remaining == 0);
    }

    /// Drops the empty entries once they are more than a quarter.
    pub(super) fn compact(&mut self) {
        let entries = self.hashes.len();
        if 4 * self.num_empty <= entries {
            return;
        }
        let mut moved = vec![u32::MAX; entries];
        let mut kept = 0;
        for entry in (0..entries).filter(|&entry| self.records[entry] > 0) {
            moved[entry] = kept as u32;
            self.hashes[kept] = self.hashes[entry];
            self.losses[kept] = self.losses[entry];
            self.codes.iter_mut().for_each(|codes| codes[kept] = codes[entry]);
            kept += 1;
        }
        self.records.retain(|records| *records > 0);
        self.hashes.truncate(kept);
        self.losses.truncate(kept);
        self.codes.iter_mut().for_each(|codes| codes.truncate(kept));
        // Tuples of dropped entries are in groups and are not looked up again.
        for entry in &mut self.entry_of_rank {
            *entry = moved.get(*entry as usize).copied().unwrap_or(u32::MAX);
        }
        self.num_empty = 0;
    }
}
