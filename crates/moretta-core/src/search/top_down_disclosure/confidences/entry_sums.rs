//! Sums by candidate, for one group at a time, in tables that are used again for the next.

/// Sums by candidate, for one group at a time.
#[derive(Default)]
pub(super) struct EntrySums {
    sums: Vec<u32>,
    seen: Vec<bool>,
    candidates: Vec<u32>,
}

impl EntrySums {
    /// The candidates with a sum, in the order in which they came.
    pub(super) fn candidates(&self) -> &[u32] {
        &self.candidates
    }

    pub(super) fn add(&mut self, candidate: u32, counts: &[u32]) {
        let width = counts.len();
        let index = candidate as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 1, false);
            self.sums.resize((index + 1) * width, 0);
        }
        if !self.seen[index] {
            self.seen[index] = true;
            self.candidates.push(candidate);
        }
        let sums = &mut self.sums[index * width..(index + 1) * width];
        sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
    }

    pub(super) fn of(&self, candidate: u32, width: usize) -> Option<&[u32]> {
        let index = candidate as usize;
        self.seen.get(index).is_some_and(|seen| *seen).then(|| &self.sums[index * width..(index + 1) * width])
    }

    pub(super) fn clear(&mut self, width: usize) {
        for &candidate in &self.candidates {
            let index = candidate as usize;
            self.seen[index] = false;
            self.sums[index * width..(index + 1) * width].fill(0);
        }
        self.candidates.clear();
    }
}
