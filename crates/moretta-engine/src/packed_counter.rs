//! Counts of keys of 64 bits, and how the codes of a row become one.
//!
//! Guarantee: [`KeyLayout`] gives different rows different keys and gets their codes back. [`PackedCounter`] keeps the exact
//! count and the earliest position of each key.
//!
//! Structure: a layout has a field of some bits for each column. The table is open addressing with linear probing; a
//! cell holds key and count, so that counting one more takes one cache miss, and first positions lie in an array of their
//! own, which only a new key has to look at as long as positions come in order. Keys are counted many at a time: first their
//! cells are all touched, which lets the misses overlap, then counted. Cost: one cache miss, overlapped, for each record;
//! 32 to 64 bytes for each distinct key.

use crate::dictionary::folded_multiply;

/// Keys that are counted together.
pub(crate) const BATCH_KEYS: usize = 256;

/// Cells of the first table; at any size there is room for the keys of one go.
const MIN_CELLS: usize = 4 * BATCH_KEYS;

/// One column's bits of a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct BitField {
    bits: u32,
    shift: u32,
}

/// Where the code of each column is in a key.
#[derive(Debug, Clone)]
pub(crate) struct KeyLayout {
    fields: Vec<BitField>,
    /// Bits that a key may have.
    limit: u32,
}

impl KeyLayout {
    /// No bits for any of `width` columns yet, up to 64 for all of them.
    pub(crate) fn new(width: usize) -> Self {
        Self { fields: vec![BitField::default(); width], limit: u64::BITS }
    }

    /// With fewer bits.
    #[cfg(test)]
    pub(crate) fn with_limit(self, limit: u32) -> Self {
        Self { limit, ..self }
    }

    /// Whether the codes below `sizes` all have room.
    pub(crate) fn fits(&self, sizes: &[usize]) -> bool {
        self.fields.iter().zip(sizes).all(|(field, &size)| bits_for(size) <= field.bits)
    }

    /// A layout that has room for the codes below `sizes`, and in columns that outgrew theirs for twice as many, so that
    /// keys change seldom; `None` if there is none.
    pub(crate) fn widened(&self, sizes: &[usize]) -> Option<Self> {
        let with_spare_bit = self.fields.iter().zip(sizes).map(|(field, &size)| match bits_for(size) {
            bits if bits <= field.bits => field.bits,
            bits => bits + 1,
        });
        self.with_bits(with_spare_bit).or_else(|| self.with_bits(sizes.iter().map(|&size| bits_for(size))))
    }

    fn with_bits(&self, bits: impl Iterator<Item = u32>) -> Option<Self> {
        let mut total = 0;
        let mut field = |bits: u32| {
            // A column without bits may come after all 64, where no word can be shifted to.
            let shift = if bits == 0 { 0 } else { total };
            total += bits;
            BitField { bits, shift }
        };
        let fields = bits.map(&mut field).collect();
        (total <= self.limit).then_some(Self { fields, limit: self.limit })
    }

    /// The keys of rows whose codes come column by column.
    pub(crate) fn pack_each(&self, codes: &[u32], records: usize, keys: &mut Vec<u64>) {
        keys.clear();
        keys.resize(records, 0);
        for (field, codes) in self.fields.iter().zip(codes.chunks_exact(records)) {
            for (key, &code) in keys.iter_mut().zip(codes) {
                *key |= u64::from(code) << field.shift;
            }
        }
    }

    /// The key of a row.
    #[inline]
    pub(crate) fn pack(&self, codes: &[u32]) -> u64 {
        self.fields.iter().zip(codes).fold(0, |key, (field, &code)| key | u64::from(code) << field.shift)
    }

    /// The codes of a key.
    #[inline]
    pub(crate) fn unpack(&self, key: u64, codes: &mut [u32]) {
        for (code, field) in codes.iter_mut().zip(&self.fields) {
            *code = (key >> field.shift & ((1 << field.bits) - 1)) as u32;
        }
    }
}

/// Bits of the largest code below `size`.
fn bits_for(size: usize) -> u32 {
    usize::BITS - size.saturating_sub(1).leading_zeros()
}

/// A key and how often it was counted; free if never.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    key: u64,
    count: u64,
}

/// Keys with counts and first positions.
#[derive(Debug, Default)]
pub(crate) struct PackedCounter {
    /// None, or a power of two.
    cells: Vec<Cell>,
    /// The first position of the key in each cell.
    positions: Vec<u64>,
    /// Bits of a hash that do not tell cells apart.
    shift: u32,
    keys: usize,
    /// Above all positions so far.
    min_new_position: u64,
}

impl PackedCounter {
    /// An empty table in which as many keys have room as in this one.
    pub(crate) fn empty_like(&self) -> Self {
        let mut empty = Self { min_new_position: self.min_new_position, ..Self::default() };
        if !self.cells.is_empty() {
            empty.resize(self.cells.len());
        }
        empty
    }

    fn resize(&mut self, cells: usize) {
        self.shift = u64::BITS - cells.trailing_zeros();
        let old = std::mem::replace(&mut self.cells, vec![Cell::default(); cells]);
        let positions = std::mem::replace(&mut self.positions, vec![0; cells]);
        for (cell, position) in old.into_iter().zip(positions).filter(|(cell, _)| cell.count > 0) {
            let mut at = self.home_cell(cell.key);
            while self.cells[at].count > 0 {
                at = (at + 1) & (cells - 1);
            }
            self.cells[at] = cell;
            self.positions[at] = position;
        }
    }

    /// Where to look for a key first. High bits, so that a larger table has its keys in the same order.
    #[inline]
    fn home_cell(&self, key: u64) -> usize {
        (folded_multiply(key) >> self.shift) as usize
    }

    /// Makes room for the keys of one go and brings the cells where they may be into the cache.
    #[inline]
    fn reserve_and_prefetch(&mut self, keys: &[u64]) {
        if (self.keys + keys.len()) * 4 > self.cells.len() * 3 {
            self.resize((self.cells.len() * 2).max(MIN_CELLS));
        }
        // Nothing here waits for an earlier cell; the sum keeps the loads from being dropped.
        let touched = keys.iter().fold(0, |sum, &key| sum ^ self.cells[self.home_cell(key)].key);
        std::hint::black_box(touched);
    }

    /// Counts one record for each of at most [`BATCH_KEYS`] keys, met at `position` and the positions after it.
    pub(crate) fn add_each(&mut self, keys: &[u64], position: u64) {
        self.reserve_and_prefetch(keys);
        let ordered = position >= self.min_new_position;
        self.min_new_position = self.min_new_position.max(position + keys.len() as u64);
        for (at, &key) in (position..).zip(keys) {
            let cell = self.count(key, 1, at);
            if !ordered {
                self.positions[cell] = self.positions[cell].min(at);
            }
        }
    }

    /// Counts at most [`BATCH_KEYS`] keys, each with a count and a first position.
    pub(crate) fn add_counted(&mut self, keys: &[u64], counted: &[(u64, u64)]) {
        self.reserve_and_prefetch(keys);
        for (&key, &(count, position)) in keys.iter().zip(counted) {
            self.min_new_position = self.min_new_position.max(position + 1);
            let cell = self.count(key, count, position);
            self.positions[cell] = self.positions[cell].min(position);
        }
    }

    /// The cell of a key after counting it; the position is that of a new key only.
    #[inline]
    fn count(&mut self, key: u64, count: u64, position: u64) -> usize {
        let mut at = self.home_cell(key);
        let last = self.cells.len() - 1;
        loop {
            let cell = &mut self.cells[at];
            if cell.key == key && cell.count > 0 {
                cell.count += count;
                return at;
            }
            if cell.count == 0 {
                *cell = Cell { key, count };
                self.positions[at] = position;
                self.keys += 1;
                return at;
            }
            at = (at + 1) & last;
        }
    }

    /// Key, count and first position of all.
    ///
    /// Not in the order of cells: keys that come in the order of their hashes would crowd one end of the table they go
    /// to. Runs of cells come in the order of their numbers' bits read backwards, so that they are spread from the start.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        const RUN: usize = 64;
        let runs = self.cells.len() / RUN;
        (0..runs).flat_map(move |run| {
            let first = (run.reverse_bits() >> (usize::BITS - runs.trailing_zeros())) * RUN;
            let cells = self.cells[first..first + RUN].iter().zip(&self.positions[first..first + RUN]);
            cells.filter(|(cell, _)| cell.count > 0).map(|(cell, &position)| (cell.key, cell.count, position))
        })
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.keys
    }

    /// Bytes held.
    pub(crate) fn size(&self) -> u64 {
        (self.cells.capacity() * size_of::<Cell>() + self.positions.capacity() * size_of::<u64>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else merging would take quadratic time.
    #[test]
    fn the_first_keys_of_a_table_are_from_all_over_it() {
        let mut table = PackedCounter::default();
        let keys: Vec<u64> = (0..10_000).collect();
        keys.chunks(BATCH_KEYS).for_each(|keys| table.add_each(keys, keys[0]));
        let mut quarters = [0; 4];
        table.iter().take(1000).for_each(|(key, ..)| quarters[table.home_cell(key) * 4 / table.cells.len()] += 1);
        assert!(quarters.iter().all(|keys| (150..350).contains(keys)), "{quarters:?}");
        assert_eq!(table.iter().count(), 10_000);
    }
}
