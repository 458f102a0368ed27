//! Lists of the tuples that are different at some levels of the trunk, with the records of each that are left.
//!
//! Grouping by a combination of levels looks at the list that the combination begins with: it is shorter than that of all tuples, and
//! what stands for the trunk is known.

use super::context::SweepContext;
use crate::{ids::TupleId, search::grouping::KeyNumbers};

/// A list: an entry is of tuples that are alike at the levels of the trunk, and in all other columns.
#[derive(Default)]
pub(super) struct PrefixTable {
    /// For each entry the sum of the words of the trunk's nodes.
    pub hashes: Vec<u64>,
    /// And the sum of their losses.
    pub losses: Vec<f64>,
    /// And how many records are left.
    pub records: Vec<u64>,
    /// And the code, for each pack.
    pub codes: Vec<Vec<u32>>,
    /// The entry of each tuple, by the tuple's rank.
    pub of_rank: Vec<u32>,
    /// How many entries have no records left.
    empty: usize,
}

impl PrefixTable {
    /// Of some tuples, at levels of the trunk; `others` has a word for each tuple's values in the other columns.
    pub(super) fn new(
        context: &SweepContext<'_>,
        levels: &[usize],
        factors: &[f64],
        tuples: &[TupleId],
        others: &[u64],
    ) -> Self {
        let profile = context.task.profile;
        let prefix = || {
            let columns = context.columns.iter().zip(levels);
            columns.map(|(column, &level)| (column, &column.levels[level], factors[column.index]))
        };
        let mut table = Self { codes: vec![Vec::new(); context.composites.len()], ..Self::default() };
        let mut numbers = KeyNumbers::default();
        numbers.reset(tuples.len());
        for (&tuple, other) in tuples.iter().zip(others) {
            let code = |codes: &[u32]| codes[tuple.index()] as usize;
            let hash =
                prefix().fold(0, |sum: u64, (column, level, _)| sum.wrapping_add(level.hashes[code(&column.codes)]));
            let index = numbers.number(hash.wrapping_add(*other));
            let records = profile.tuple_records(tuple);
            table.of_rank.push(index);
            if let Some(known) = table.records.get_mut(index as usize) {
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

    /// A tuple's records are gone.
    pub(super) fn remove(&mut self, rank: usize, records: u64) {
        let left = &mut self.records[self.of_rank[rank] as usize];
        *left -= records;
        self.empty += usize::from(*left == 0);
    }

    /// Leaves empty entries out, where they are many.
    pub(super) fn tidy(&mut self) {
        let entries = self.hashes.len();
        if 4 * self.empty <= entries {
            return;
        }
        let mut moved = vec![u32::MAX; entries];
        let mut kept = 0;
        for at in (0..entries).filter(|&at| self.records[at] > 0) {
            moved[at] = kept as u32;
            self.hashes[kept] = self.hashes[at];
            self.losses[kept] = self.losses[at];
            self.codes.iter_mut().for_each(|codes| codes[kept] = codes[at]);
            kept += 1;
        }
        self.records.retain(|records| *records > 0);
        self.hashes.truncate(kept);
        self.losses.truncate(kept);
        self.codes.iter_mut().for_each(|codes| codes.truncate(kept));
        // Tuples that are gone point nowhere, and nobody asks for them.
        for index in &mut self.of_rank {
            *index = moved.get(*index as usize).copied().unwrap_or(u32::MAX);
        }
        self.empty = 0;
    }
}
