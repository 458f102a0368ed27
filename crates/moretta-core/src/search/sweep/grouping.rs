//! Grouping what is left by a combination of levels.

use super::levels::{Levels, Vector};
use crate::{ids::TupleId, profile::Profile};

/// Counts records by the words of their nodes: a table with open addresses that is never cleared.
pub(super) struct Grouping<'a> {
    profile: &'a Profile,
    slots: Vec<Slot>,
    /// The slot of each tuple in this round.
    of_tuple: Vec<u32>,
    round: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    round: u32,
    word: u64,
    records: u64,
}

impl<'a> Grouping<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let slots = vec![Slot::default(); (2 * profile.tuples()).next_power_of_two().max(2)];
        Self { profile, slots, of_tuple: vec![0; profile.tuples()], round: 0 }
    }

    /// The groups with at least so many records, each with its tuples in order.
    ///
    /// Two boxes with the same word would pass for one: improbable, and then a group is larger than it had to be.
    pub(super) fn groups(
        &mut self,
        left: &[TupleId],
        columns: &[Levels],
        vector: &Vector,
        least: u64,
    ) -> Vec<Vec<TupleId>> {
        self.round += 1;
        let words: Vec<&[u64]> = columns.iter().zip(vector).map(|(levels, level)| levels.words(*level)).collect();
        let mask = self.slots.len() - 1;
        let mut large = false;
        for &tuple in left {
            let codes = self.profile.codes(tuple);
            let word = words.iter().zip(codes).fold(0u64, |sum, (words, &code)| sum.wrapping_add(words[code as usize]));
            let mut at = (word >> 20) as usize & mask;
            while self.slots[at].round == self.round && self.slots[at].word != word {
                at = (at + 1) & mask;
            }
            let slot = &mut self.slots[at];
            if slot.round != self.round {
                *slot = Slot { round: self.round, word, records: 0 };
            }
            slot.records += self.profile.tuple_records(tuple);
            large |= slot.records >= least;
            self.of_tuple[tuple.index()] = at as u32;
        }
        if !large {
            return Vec::new();
        }
        let slot = |tuple: TupleId| self.of_tuple[tuple.index()];
        let enough = |tuple: &TupleId| self.slots[slot(*tuple) as usize].records >= least;
        let mut grouped: Vec<TupleId> = left.iter().copied().filter(enough).collect();
        grouped.sort_by_key(|&tuple| slot(tuple));
        let mut groups: Vec<Vec<TupleId>> =
            grouped.chunk_by(|&a, &b| slot(a) == slot(b)).map(<[TupleId]>::to_vec).collect();
        groups.sort_unstable();
        groups
    }
}
