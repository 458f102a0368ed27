//! Counts 64-bit keys, and packs the codes of a row into such a key.
//!
//! Guarantee: [`KeyLayout`] gives each column a bit field of the key; different rows get different keys, and a key can
//! be unpacked. [`PackedCounter`] is a hash table from key to exact count and first position.
//!
//! How: open addressing with linear probing. A cell holds key and count, so that counting a known key touches one cache
//! line; first positions are in an array of their own, which is read only for a new key as long as positions increase.
//!
//! ```text
//! cells       │ key, count │     free     │ key, count │ key, count │       16 bytes each
//! positions   │   first    │              │   first    │   first    │        8 bytes each
//!                                           ▲ home cell  ▲ next cell if the home cell has another key
//! ```
//!
//! Keys are counted in batches: the home cells of a batch are all read first, so that their cache misses overlap, and
//! only then counted.
//!
//! Cost: one overlapped cache miss per record; 32 to 64 bytes per distinct key (24 bytes per cell, at most 3/4 full).

use crate::dictionary::folded_multiply;

/// Maximum keys per batch. Enough for cache misses to overlap; a batch of keys (2 kB) stays in the first-level cache.
pub(crate) const BATCH_KEYS: usize = 256;

/// Cells of the smallest table. A table that doubles from here on always has room for one more batch.
const MIN_CELLS: usize = 4 * BATCH_KEYS;

/// Bits of a key that hold the code of one column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct BitField {
    bits: u32,
    shift: u32,
}

/// Bit field of each column in a key.
#[derive(Debug, Clone)]
pub(crate) struct KeyLayout {
    fields: Vec<BitField>,
    /// Maximum bits of a key: 64, or fewer in tests.
    limit: u32,
}

impl KeyLayout {
    /// A layout of `width` columns without any bits yet.
    pub(crate) fn new(width: usize) -> Self {
        Self { fields: vec![BitField::default(); width], limit: u64::BITS }
    }

    /// Lowers the maximum bits of a key.
    #[cfg(test)]
    pub(crate) fn with_limit(self, limit: u32) -> Self {
        Self { limit, ..self }
    }

    /// Whether all codes below `sizes` fit their fields.
    pub(crate) fn fits(&self, sizes: &[usize]) -> bool {
        self.fields.iter().zip(sizes).all(|(field, &size)| bits_for(size) <= field.bits)
    }

    /// Returns a layout for codes below `sizes`. Columns that outgrew their field get one bit to spare if possible, so
    /// that keys are rebuilt rarely. `None` if the codes need more than the maximum bits.
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
            // A column without bits after 64 used bits would need a shift by 64, which overflows.
            let shift = if bits == 0 { 0 } else { total };
            total += bits;
            BitField { bits, shift }
        };
        let fields = bits.map(&mut field).collect();
        (total <= self.limit).then_some(Self { fields, limit: self.limit })
    }

    /// Packs `records` rows, whose codes are column-major, into `keys`.
    pub(crate) fn pack_each(&self, codes: &[u32], records: usize, keys: &mut Vec<u64>) {
        keys.clear();
        keys.resize(records, 0);
        for (field, codes) in self.fields.iter().zip(codes.chunks_exact(records)) {
            for (key, &code) in keys.iter_mut().zip(codes) {
                *key |= u64::from(code) << field.shift;
            }
        }
    }

    /// Packs one row.
    #[inline]
    pub(crate) fn pack(&self, codes: &[u32]) -> u64 {
        self.fields.iter().zip(codes).fold(0, |key, (field, &code)| key | u64::from(code) << field.shift)
    }

    /// Inverse of [`KeyLayout::pack`].
    #[inline]
    pub(crate) fn unpack(&self, key: u64, codes: &mut [u32]) {
        for (code, field) in codes.iter_mut().zip(&self.fields) {
            *code = (key >> field.shift & ((1 << field.bits) - 1)) as u32;
        }
    }
}

/// Number of bits that every code below `size` fits into.
fn bits_for(size: usize) -> u32 {
    usize::BITS - size.saturating_sub(1).leading_zeros()
}

/// A key and its count. A count of 0 marks a free cell.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    key: u64,
    count: u64,
}

/// Hash table from key to count and first position.
#[derive(Debug, Default)]
pub(crate) struct PackedCounter {
    /// Empty, or a power of two of cells.
    cells: Vec<Cell>,
    /// First position of the key in the cell of the same index.
    positions: Vec<u64>,
    /// 64 minus the base-2 logarithm of the number of cells.
    shift: u32,
    keys: usize,
    /// Greater than all positions so far: from here on, a known key keeps its first position.
    min_new_position: u64,
}

impl PackedCounter {
    /// Returns an empty table with the same number of cells.
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

    /// Cell at which probing for a key starts. Taken from the high bits of the hash, so that growing keeps the order of
    /// keys.
    #[inline]
    fn home_cell(&self, key: u64) -> usize {
        (folded_multiply(key) >> self.shift) as usize
    }

    /// Grows the table so that `keys` keys fit in total.
    pub(crate) fn reserve(&mut self, keys: usize) {
        let cells = (keys + keys / 2).next_power_of_two().max(MIN_CELLS);
        if cells > self.cells.len() {
            self.resize(cells);
        }
    }

    /// Grows the table if `keys` might not fit, and loads their home cells into the cache.
    #[inline]
    fn reserve_and_prefetch(&mut self, keys: &[u64]) {
        if (self.keys + keys.len()) * 4 > self.cells.len() * 3 {
            self.resize((self.cells.len() * 2).max(MIN_CELLS));
        }
        // The loads do not depend on each other, so they overlap; `black_box` keeps them from being optimized away.
        let loaded = keys.iter().fold(0, |all, &key| all ^ self.cells[self.home_cell(key)].key);
        std::hint::black_box(loaded);
    }

    /// Counts one record for each of at most [`BATCH_KEYS`] keys, at `position` and the positions after it.
    pub(crate) fn add_each(&mut self, keys: &[u64], position: u64) {
        self.reserve_and_prefetch(keys);
        let ordered = position >= self.min_new_position;
        self.min_new_position = self.min_new_position.max(position + keys.len() as u64);
        for (position, &key) in (position..).zip(keys) {
            let cell = self.count(key, 1, position);
            if !ordered {
                self.positions[cell] = self.positions[cell].min(position);
            }
        }
    }

    /// Adds at most [`BATCH_KEYS`] keys, each with a count and a first position.
    pub(crate) fn add_counted(&mut self, keys: &[u64], counted: &[(u64, u64)]) {
        self.reserve_and_prefetch(keys);
        for (&key, &(count, position)) in keys.iter().zip(counted) {
            self.min_new_position = self.min_new_position.max(position + 1);
            let cell = self.count(key, count, position);
            self.positions[cell] = self.positions[cell].min(position);
        }
    }

    /// Adds `count` to a key and returns its cell. `position` is stored only if the key is new.
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

    /// Key, count and first position of all keys.
    ///
    /// Not in the order of cells: keys in the order of their hashes, added to another table that still grows, would all
    /// fall into one end of it, and probing would take quadratic time. Runs of cells are visited in bit-reversed order
    /// instead, which spreads the keys over the whole table from the start.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        /// Cells per run: enough for sequential reads (1 kB); a divisor of [`MIN_CELLS`]. Not tuned.
        const RUN: usize = 64;
        let runs = self.cells.len() / RUN;
        (0..runs).flat_map(move |run| {
            let first = (run.reverse_bits() >> (usize::BITS - runs.trailing_zeros())) * RUN;
            let cells = self.cells[first..first + RUN].iter().zip(&self.positions[first..first + RUN]);
            cells.filter(|(cell, _)| cell.count > 0).map(|(cell, &position)| (cell.key, cell.count, position))
        })
    }

    /// Number of distinct keys.
    pub(crate) fn len(&self) -> usize {
        self.keys
    }

    /// Allocated bytes.
    pub(crate) fn size(&self) -> u64 {
        (self.cells.capacity() * size_of::<Cell>() + self.positions.capacity() * size_of::<u64>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise merging would take quadratic time: see [`PackedCounter::iter`].
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
