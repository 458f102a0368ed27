//! Random choices that proptest can shrink.

/// Draws choices from a list that proptest shrinks; beyond its end every choice is 0, the simplest one.
#[derive(Debug, Clone)]
pub struct Dice {
    choices: Vec<u16>,
    at: usize,
}

impl Dice {
    /// Starts at the first choice.
    pub fn new(choices: Vec<u16>) -> Self {
        Self { choices, at: 0 }
    }

    /// A number in `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice) % n.max(1)
    }

    /// True in this percentage of draws; false beyond the end of the list.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// An element of a slice.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Shuffles in place.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
