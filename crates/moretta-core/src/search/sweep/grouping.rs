//! Groups the entries of a prefix table by a level vector: finds the boxes that have enough records.
//!
//! Why not the general `search::grouping::group_rows`: a pass groups by thousands of level vectors, and under most of
//! them most entries are in no group of k records. How: the key of an entry is the sum of the Zobrist hashes of its
//! nodes, one addition per composite column. A counting filter drops the entries whose group cannot have enough
//! records; [`KeyNumbers`] groups the others exactly.
//!
//! ```text
//! for each entry: upper_counts[key & mask] += records      keys may share a counter, so a count is an upper bound
//! then, for each entry:
//!   count < min_records     dropped: its box has too few records
//!   priority < before       candidate: grouped by its full key
//!   otherwise               the minimum of these priorities is the vector's next key in the queue
//! ```
//!
//! Two boxes with the same 64-bit key would become one group. The group would still be checked and released as the box
//! around its records, so a collision costs information, never privacy.
//!
//! Cost: three passes over the entries of a table; if a box is found, also one over the remaining tuples. Without the
//! filter a sweep takes 7 times as long for k = 5 and 21 times as long for k = 50 (Adult, 18,109 tuples, eight columns
//! with the hierarchies of ARX, one thread).

use super::{levels::Level, prefix_tables::PrefixTable};
use crate::search::grouping::KeyNumbers;

/// Groups entries by one level vector after another; the buffers are reused.
#[derive(Default)]
pub(super) struct EntryGrouper {
    /// By entry: the sum of the hashes of its nodes, the key of its box.
    hashes: Vec<u64>,
    /// Counting filter: upper bounds on the records of a box, by the low bits of its key.
    upper_counts: Vec<u32>,
    /// Entries that may be in a requested group.
    candidates: Vec<u32>,
    numbers: KeyNumbers,
}

/// A box with enough records that comes before [`GroupingRequest::before`].
pub(super) struct CandidateGroup {
    pub priority: Priority,
    /// Ranks of the tuples in the box.
    pub ranks: Vec<u32>,
}

/// Position of a box in the order of all boxes: by loss, then by level vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Priority {
    /// Loss of the box in billionths: equal losses must not differ by rounding.
    loss: u64,
    /// Index of the level vector in the order by mean loss.
    pub order_index: usize,
}

impl Priority {
    /// Comes after all others.
    pub(super) const LAST: Self = Self { loss: u64::MAX, order_index: usize::MAX };

    pub(super) fn new(loss: f64, order_index: usize) -> Self {
        Self { loss: (loss * 1e9).round() as u64, order_index }
    }
}

/// A level vector to group by, and the range of the requested groups.
pub(super) struct GroupingRequest<'r> {
    /// Table of the vector's levels in the prefix columns.
    pub table: &'r PrefixTable,
    /// The vector's level of each composite column.
    pub levels: Vec<&'r Level>,
    /// Index of the level vector in the order by mean loss.
    pub order_index: usize,
    /// Minimum records per group.
    pub min_records: u64,
    /// Only groups before this priority are requested.
    pub before: Priority,
}

impl GroupingRequest<'_> {
    /// Priority of the box of an entry.
    #[inline]
    fn priority(&self, entry: u32) -> Priority {
        let composites = self.levels.iter().zip(&self.table.codes);
        let losses = composites.map(|(level, codes)| level.losses[codes[entry as usize] as usize]);
        Priority::new(self.table.losses[entry as usize] + losses.sum::<f64>(), self.order_index)
    }
}

impl EntryGrouper {
    /// Returns the requested groups, and a lower bound on the priority of all others; `None` if no other group has
    /// enough records. `remaining` has the ranks of the tuples that are in no group yet.
    pub(super) fn group(
        &mut self,
        request: &GroupingRequest<'_>,
        remaining: &[u32],
    ) -> (Vec<CandidateGroup>, Option<Priority>) {
        let min_records = u32::try_from(request.min_records).unwrap_or(u32::MAX);
        let table = request.table;
        self.hashes.clone_from(&table.hashes);
        for (level, codes) in request.levels.iter().zip(&table.codes) {
            for (hash, &code) in self.hashes.iter_mut().zip(codes) {
                *hash = hash.wrapping_add(level.hashes[code as usize]);
            }
        }
        let mask = (4 * table.hashes.len()).next_power_of_two() - 1;
        self.upper_counts.clear();
        self.upper_counts.resize(mask + 1, 0);
        for (&hash, &records) in self.hashes.iter().zip(&table.records) {
            let count = &mut self.upper_counts[hash as usize & mask];
            *count = count.saturating_add(u32::try_from(records).unwrap_or(u32::MAX));
        }
        self.candidates.clear();
        let mut next: Option<Priority> = None;
        for ((entry, &hash), &records) in (0u32..).zip(&self.hashes).zip(&table.records) {
            if self.upper_counts[hash as usize & mask] < min_records || records == 0 {
                continue;
            }
            let priority = request.priority(entry);
            if priority < request.before {
                self.candidates.push(entry);
            } else if next.is_none_or(|next| priority < next) {
                next = Some(priority);
            }
        }
        (self.exact_groups(request, remaining), next)
    }

    /// Groups the candidates by their full keys; returns the groups that have enough records.
    fn exact_groups(&mut self, request: &GroupingRequest<'_>, remaining: &[u32]) -> Vec<CandidateGroup> {
        let Self { hashes, candidates, numbers, .. } = self;
        numbers.reset(candidates.len());
        let mut groups: Vec<(Priority, u64)> = Vec::new();
        let mut group_of_candidate = Vec::with_capacity(candidates.len());
        for &entry in candidates.iter() {
            let records = request.table.records[entry as usize];
            let group = numbers.number(hashes[entry as usize]);
            match groups.get_mut(group as usize) {
                Some((_, sum)) => *sum += records,
                None => groups.push((request.priority(entry), records)),
            }
            group_of_candidate.push(group);
        }
        let mut found = Vec::new();
        let mut found_index = vec![u32::MAX; groups.len()];
        for (found_index, &(priority, records)) in found_index.iter_mut().zip(&groups) {
            if records >= request.min_records {
                *found_index = found.len() as u32;
                found.push(CandidateGroup { priority, ranks: Vec::new() });
            }
        }
        if found.is_empty() {
            return found;
        }
        let mut found_of_entry = vec![u32::MAX; hashes.len()];
        for (&entry, &group) in candidates.iter().zip(&group_of_candidate) {
            found_of_entry[entry as usize] = found_index[group as usize];
        }
        for &rank in remaining {
            let index = found_of_entry[request.table.entry_of_rank[rank as usize] as usize];
            if let Some(group) = found.get_mut(index as usize) {
                group.ranks.push(rank);
            }
        }
        found
    }
}
