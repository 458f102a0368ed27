//! Random choices from a list that proptest can shrink: what is not there counts as 0, the simplest choice.

#[derive(Debug, Clone)]
pub struct Dice {
    choices: Vec<u16>,
    at: usize,
}

impl Dice {
    pub fn new(choices: Vec<u16>) -> Self {
        Self { choices, at: 0 }
    }

    /// One of `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(choice) % n.max(1)
    }

    /// True so many times in a hundred; false when there is nothing left to choose.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
