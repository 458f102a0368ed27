//! Sums of counts by candidate for one group, in buffers that are reused for the next group.

/// Sums of counts by candidate.
#[derive(Default)]
pub(super) struct EntrySums {
    /// By candidate, as many numbers as a count has.
    sums: Vec<u32>,
    /// By candidate.
    seen: Vec<bool>,
    candidates: Vec<u32>,
}

impl EntrySums {
    /// The candidates with a sum, in order of their first count.
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
