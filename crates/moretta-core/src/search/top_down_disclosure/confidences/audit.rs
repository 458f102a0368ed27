//! For tests: the groups as they are kept, against the rows as they print.

use std::collections::BTreeMap;

use super::{CandidateSet, Confidences, NONE, ScopeIndex, UNGUARDED};
use crate::hierarchy::Cell;

/// Records, and those of each guarded value.
type Sums = Vec<u32>;

impl ScopeIndex {
    fn printed(&self, candidates: &CandidateSet<'_>, row: u32) -> Vec<Cell> {
        let codes = self.rows.columns().iter().zip(self.rows.codes(row));
        codes.map(|(&column, &code)| candidates.cells()[column][code as usize]).collect()
    }

    fn counts(&self, row: u32) -> &[u32] {
        &self.counts[row as usize * self.width()..(row as usize + 1) * self.width()]
    }

    /// What is kept of the group that prints so; a quiet one is only known by its rows.
    fn kept(&self, candidates: &CandidateSet<'_>, printed: &[Cell]) -> Sums {
        let rows = (0..self.rows.len() as u32).filter(|&row| self.printed(candidates, row) == printed);
        let mut quiet = vec![0; self.width()];
        for row in rows {
            let group = self.group_of[row as usize];
            if group != UNGUARDED && !self.is_unguarded(group) {
                return self.sums[group as usize * self.width()..(group as usize + 1) * self.width()].to_vec();
            }
            quiet.iter_mut().zip(self.counts(row)).for_each(|(sum, more)| *sum += more);
        }
        quiet
    }

    fn check(&self, candidates: &CandidateSet<'_>) {
        let add = |sums: &mut Sums, more: &[u32]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        let mut expected: BTreeMap<Vec<Cell>, (Sums, BTreeMap<u32, Sums>)> = BTreeMap::new();
        for row in 0..self.rows.len() as u32 {
            let nothing = || vec![0; self.width()];
            let group = expected.entry(self.printed(candidates, row)).or_insert_with(|| (nothing(), BTreeMap::new()));
            add(&mut group.0, self.counts(row));
            for (&column, &code) in self.rows.columns().iter().zip(self.rows.codes(row)) {
                let candidate = candidates.candidate_by_code(column)[code as usize];
                if candidate != NONE {
                    add(group.1.entry(candidate).or_insert_with(nothing), self.counts(row));
                }
            }
        }
        let mut confidences = vec![0.0f64; self.limits.len()];
        for (printed, (sums, entries)) in &expected {
            assert_eq!(&self.kept(candidates, printed), sums);
            for (template_index, confidence) in confidences.iter_mut().enumerate() {
                *confidence = confidence.max(f64::from(sums[1 + template_index]) / f64::from(sums[0]));
            }
            let row = (0..self.rows.len() as u32).find(|&row| self.printed(candidates, row) == *printed);
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
    /// Every group, every entry and every confidence is what the rows say.
    pub(in super::super) fn check(&self, candidates: &CandidateSet<'_>) {
        self.scopes.iter().for_each(|scope| scope.check(candidates));
    }

    /// Of the first scope, what is kept of the group that prints so.
    pub(in super::super) fn kept(&self, candidates: &CandidateSet<'_>, printed: &[Cell]) -> Vec<u32> {
        self.scopes[0].kept(candidates, printed)
    }

    /// Of the first scope, the highest confidences now.
    pub(in super::super) fn now(&self) -> &[f64] {
        &self.scopes[0].current
    }
}
