//! Sums by candidate, for one group at a time, in tables that are used again for the next.

/// Sums by candidate, for one group at a time.
#[derive(Default)]
pub(super) struct Scratch {
    counts: Vec<u32>,
    seen: Vec<bool>,
    found: Vec<u32>,
}

impl Scratch {
    /// The candidates with a sum, in the order in which they came.
    pub(super) fn found(&self) -> &[u32] {
        &self.found
    }

    pub(super) fn add(&mut self, candidate: u32, counts: &[u32]) {
        let width = counts.len();
        let at = candidate as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, false);
            self.counts.resize((at + 1) * width, 0);
        }
        if !self.seen[at] {
            self.seen[at] = true;
            self.found.push(candidate);
        }
        let sums = &mut self.counts[at * width..(at + 1) * width];
        sums.iter_mut().zip(counts).for_each(|(sum, more)| *sum += more);
    }

    pub(super) fn get(&self, candidate: u32, width: usize) -> Option<&[u32]> {
        let at = candidate as usize;
        self.seen.get(at).is_some_and(|seen| *seen).then(|| &self.counts[at * width..(at + 1) * width])
    }

    pub(super) fn clear(&mut self, width: usize) {
        for &candidate in &self.found {
            let at = candidate as usize;
            self.seen[at] = false;
            self.counts[at * width..(at + 1) * width].fill(0);
        }
        self.found.clear();
    }
}
