//! Groups what is left by a combination of levels, as far as the turns of its boxes have come.
//!
//! Why not `group_rows`: a sweep asks for thousands of combinations, and under most of them most entries are in no group
//! of k records. How: the key of an entry is the sum of a random word for each node (a Zobrist hash), one addition for
//! each pack of columns. A counting filter, records by a part of the key, drops the entries whose group cannot be large
//! enough; [`KeyNumbers`] groups the others. Cost: three passes over the entries of a list, and the candidates.
//!
//! Without the filter a sweep takes 7 times as long for k = 5 and 21 times as long for k = 50 (Adult, 18,109 tuples, eight
//! columns with the hierarchies of ARX, one thread).

use super::{levels::Level, prefix_tables::PrefixTable};
use crate::search::grouping::KeyNumbers;

/// Groups the entries of lists, again and again.
#[derive(Default)]
pub(super) struct Grouping {
    /// The sum of the words of its nodes, for each entry.
    hashes: Vec<u64>,
    /// Records by a part of those words: never too few.
    upper_counts: Vec<u32>,
    /// The entries that may be in a group whose turn has come.
    candidates: Vec<u32>,
    numbers: KeyNumbers,
}

/// A group whose turn has come.
pub(super) struct CandidateGroup {
    pub priority: Priority,
    /// The ranks of its tuples.
    pub ranks: Vec<u32>,
}

/// When a box has its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Priority {
    /// What the box loses, in billionths: boxes that lose as much should not differ by a rounding.
    loss: u64,
    /// Of boxes that lose as much: where the combination comes in the order of combinations.
    pub vector: usize,
}

impl Priority {
    /// After all others.
    pub(super) const LAST: Self = Self { loss: u64::MAX, vector: usize::MAX };

    pub(super) fn new(loss: f64, vector: usize) -> Self {
        Self { loss: (loss * 1e9).round() as u64, vector }
    }
}

/// What to group, and which groups are wanted.
pub(super) struct GroupingRequest<'w> {
    pub table: &'w PrefixTable,
    /// The levels of the packs.
    pub levels: Vec<&'w Level>,
    /// Where the combination comes in the order of combinations.
    pub vector: usize,
    /// Fewer records are no group.
    pub min_records: u64,
    /// Groups whose turn comes before this one.
    pub before: Priority,
}

impl GroupingRequest<'_> {
    #[inline]
    fn priority(&self, entry: u32) -> Priority {
        let composites = self.levels.iter().zip(&self.table.codes);
        let nodes = composites.map(|(level, codes)| level.losses[codes[entry as usize] as usize]);
        Priority::new(self.table.losses[entry as usize] + nodes.sum::<f64>(), self.vector)
    }
}

impl Grouping {
    /// Adds the groups that are wanted, and returns a turn that no other group comes before; `None` if no other group has
    /// enough records. `left` has the ranks of the tuples that are left.
    pub(super) fn groups(
        &mut self,
        request: &GroupingRequest<'_>,
        left: &[u32],
        into: &mut Vec<CandidateGroup>,
    ) -> Option<Priority> {
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
        self.collect(request, left, into);
        next
    }

    /// The groups of the candidates that have enough records.
    fn collect(&mut self, request: &GroupingRequest<'_>, left: &[u32], into: &mut Vec<CandidateGroup>) {
        // The turn and the records of each group, and the group of each candidate.
        let mut groups: Vec<(Priority, u64)> = Vec::new();
        let Self { hashes, candidates, numbers, .. } = self;
        numbers.reset(candidates.len());
        let mut group = |&entry: &u32| {
            let records = request.table.records[entry as usize];
            let group = numbers.number(hashes[entry as usize]);
            match groups.get_mut(group as usize) {
                Some(known) => known.1 += records,
                None => groups.push((request.priority(entry), records)),
            }
            group
        };
        let of_candidate: Vec<u32> = candidates.iter().map(&mut group).collect();
        let first = into.len();
        let mut found_at = vec![u32::MAX; groups.len()];
        for (found_at, &(priority, records)) in found_at.iter_mut().zip(&groups) {
            if records >= request.min_records {
                *found_at = (into.len() - first) as u32;
                into.push(CandidateGroup { priority, ranks: Vec::new() });
            }
        }
        if into.len() == first {
            return;
        }
        let mut of_entry = vec![u32::MAX; hashes.len()];
        for (&entry, &group) in candidates.iter().zip(&of_candidate) {
            of_entry[entry as usize] = found_at[group as usize];
        }
        for &rank in left {
            let found = of_entry[request.table.of_rank[rank as usize] as usize];
            if let Some(found) = into.get_mut(first + found as usize) {
                found.ranks.push(rank);
            }
        }
    }
}
