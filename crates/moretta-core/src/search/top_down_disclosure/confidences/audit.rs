//! For tests: checks the groups and entries of the index against counts from the rows.

use std::collections::BTreeMap;

use super::{CandidateSet, Confidences, NONE, ScopeIndex, UNGUARDED};
use crate::hierarchy::Cell;

/// Number of records, and of records with each guarded value.
type Sums = Vec<u32>;

impl ScopeIndex {
    fn released(&self, candidates: &CandidateSet<'_>, row: u32) -> Vec<Cell> {
        let codes = self.rows.columns().iter().zip(self.rows.codes(row));
        codes.map(|(&column, &code)| candidates.cells()[column][code as usize]).collect()
    }

    fn counts(&self, row: u32) -> &[u32] {
        &self.counts[row as usize * self.width()..(row as usize + 1) * self.width()]
    }

    /// Counts of the group that is released with these cells; those of an unguarded group come from its rows.
    fn group_counts(&self, candidates: &CandidateSet<'_>, released: &[Cell]) -> Sums {
        let rows = (0..self.rows.len() as u32).filter(|&row| self.released(candidates, row) == released);
        let mut unguarded = vec![0; self.width()];
        for row in rows {
            let group = self.group_of[row as usize];
            if group != UNGUARDED && !self.is_unguarded(group) {
                return self.sums[group as usize * self.width()..(group as usize + 1) * self.width()].to_vec();
            }
            unguarded.iter_mut().zip(self.counts(row)).for_each(|(sum, more)| *sum += more);
        }
        unguarded
    }

    fn check(&self, candidates: &CandidateSet<'_>) {
        let add = |sums: &mut Sums, more: &[u32]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        let mut expected: BTreeMap<Vec<Cell>, (Sums, BTreeMap<u32, Sums>)> = BTreeMap::new();
        for row in 0..self.rows.len() as u32 {
            let nothing = || vec![0; self.width()];
            let group = expected.entry(self.released(candidates, row)).or_insert_with(|| (nothing(), BTreeMap::new()));
            add(&mut group.0, self.counts(row));
            for (&column, &code) in self.rows.columns().iter().zip(self.rows.codes(row)) {
                let candidate = candidates.candidate_by_code(column)[code as usize];
                if candidate != NONE {
                    add(group.1.entry(candidate).or_insert_with(nothing), self.counts(row));
                }
            }
        }
        let mut confidences = vec![0.0f64; self.limits.len()];
        for (released, (sums, entries)) in &expected {
            assert_eq!(&self.group_counts(candidates, released), sums);
            for (template_index, confidence) in confidences.iter_mut().enumerate() {
                *confidence = confidence.max(f64::from(sums[1 + template_index]) / f64::from(sums[0]));
            }
            let row = (0..self.rows.len() as u32).find(|&row| self.released(candidates, row) == *released);
            let group = row.map_or(UNGUARDED, |row| self.group_of[row as usize]);
            if sums[1..].iter().all(|&guarded| guarded == 0) {
                continue;
            }
            let super::EntryRange { start, len, .. } = self.groups[group as usize];
            let all = self.arena[start..start + len * (1 + self.width())].chunks(1 + self.width());
            let open = all.filter(|entry| candidates.is_open(entry[0]));
            let found: BTreeMap<u32, Sums> = open.map(|entry| (entry[0], entry[1..].to_vec())).collect();
            assert_eq!(&found, entries);
        }
        assert_eq!(self.current, confidences);
    }
}

impl Confidences {
    /// Asserts that every group, entry and confidence equals the counts from the rows.
    pub(in super::super) fn check(&self, candidates: &CandidateSet<'_>) {
        self.scopes.iter().for_each(|scope| scope.check(candidates));
    }

    /// Counts of the group of the first scope that is released with these cells.
    pub(in super::super) fn group_counts(&self, candidates: &CandidateSet<'_>, released: &[Cell]) -> Vec<u32> {
        self.scopes[0].group_counts(candidates, released)
    }

    /// Highest confidences of the first scope in the current table.
    pub(in super::super) fn current(&self) -> &[f64] {
        &self.scopes[0].current
    }
}
