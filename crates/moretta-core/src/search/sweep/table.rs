//! Finding groups by their words.

/// No group.
const NONE: u64 = u64::MAX;

/// The part of a slot that says where a group is; the other part is that of the group's word.
const PLACE: u64 = 0xffff_ffff;

/// A table with open addresses, used again and again.
#[derive(Default)]
pub(super) struct Table {
    slots: Vec<u64>,
}

/// A table in use.
pub(super) struct Finder<'t> {
    slots: &'t mut [u64],
    mask: usize,
}

impl Table {
    /// Empty, for at most so many groups.
    pub(super) fn clear(&mut self, groups: usize) -> Finder<'_> {
        let size = (2 * groups).next_power_of_two();
        self.slots.clear();
        self.slots.resize(size, NONE);
        Finder { slots: &mut self.slots, mask: size - 1 }
    }
}

impl Finder<'_> {
    /// Where the group of this word is; where it is not known, it is from now on at `next`.
    ///
    /// Only half of the word is compared. Two groups that share it and lie beside each other would pass for one:
    /// improbable, and then a group is larger than it had to be.
    pub(super) fn place(&mut self, word: u64, next: usize) -> usize {
        let mut slot = word as usize & self.mask;
        loop {
            let known = self.slots[slot];
            if known == NONE {
                self.slots[slot] = (word & !PLACE) | next as u64;
                return next;
            }
            if (known ^ word) & !PLACE == 0 {
                return (known & PLACE) as usize;
            }
            slot = (slot + 1) & self.mask;
        }
    }
}
