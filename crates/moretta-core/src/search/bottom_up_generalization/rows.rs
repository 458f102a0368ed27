//! Rows of nodes, packed into as few words as they need.
//!
//! A row is its records followed by its nodes, side by side in memory: the seven columns of Adult take two words, and
//! a comparison of rows is one of words. A row of no records is gone.

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::ids::NodeId;

/// Fewer rows are not worth another thread.
const ROWS_AT_ONCE: usize = 4096;
/// Buckets of a table that fits the processor's caches as a whole.
const NEAR: usize = 1 << 15;
/// Larger tables are filled in this many parts.
const PARTS: usize = 128;

/// Where a column's nodes are in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

impl Field {
    pub(super) fn put(self, key: &mut [u64], node: NodeId) {
        key[self.word] = self.replaced(key[self.word], node);
    }

    /// The field's word with another node in the field.
    fn replaced(self, word: u64, node: NodeId) -> u64 {
        word & !(self.mask << self.shift) | u64::from(node.0) << self.shift
    }
}

/// Packed rows.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    fields: Vec<Field>,
    /// Words of a row: one for the records, the others for its nodes.
    width: usize,
    words: Vec<u64>,
}

impl Rows {
    /// `nodes` has for each column how many nodes there are.
    pub(super) fn new(nodes: impl Iterator<Item = usize>) -> Self {
        let (mut word, mut used) = (0, 0);
        let field = |nodes: usize| {
            let bits = usize::BITS - nodes.saturating_sub(1).leading_zeros();
            // No field straddles words.
            if used + bits > u64::BITS {
                (word, used) = (word + 1, 0);
            }
            let shift = used;
            used += bits;
            Field { word, shift: shift.min(u64::BITS - 1), mask: (1 << bits) - 1 }
        };
        let fields = nodes.map(field).collect();
        Self { fields, width: word + 2, words: Vec::new() }
    }

    /// How many rows there are, those that are gone included.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.width
    }

    /// A row that can be compared with others.
    pub(super) fn key(&self, vid: u32) -> &[u64] {
        let at = vid as usize * self.width;
        &self.words[at + 1..at + self.width]
    }

    /// Where each column's nodes are in a key.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.fields.clone()
    }

    /// So many rows at once, where there are none: `records` fills a key and tells how many. Returns their hashes.
    pub(super) fn fill(&mut self, rows: usize, records: impl Fn(u32, &mut [u64]) -> u64 + Sync) -> Vec<(u64, u32)> {
        self.words = vec![0; rows * self.width];
        let each = |(vid, row): (usize, &mut [u64])| {
            let (own, key) = row.split_at_mut(1);
            own[0] = records(vid as u32, key);
            (hash(key), vid as u32)
        };
        self.words.par_chunks_mut(self.width).with_min_len(ROWS_AT_ONCE).enumerate().map(each).collect()
    }

    pub(super) fn records(&self, vid: u32) -> u64 {
        self.words[vid as usize * self.width]
    }

    pub(super) fn records_mut(&mut self, vid: u32) -> &mut u64 {
        &mut self.words[vid as usize * self.width]
    }

    pub(super) fn is_gone(&self, vid: u32) -> bool {
        self.records(vid) == 0
    }

    pub(super) fn node(&self, vid: u32, place: usize) -> NodeId {
        let Field { word, shift, mask } = self.fields[place];
        NodeId(((self.words[vid as usize * self.width + 1 + word] >> shift) & mask) as u32)
    }

    pub(super) fn set_node(&mut self, vid: u32, place: usize, node: NodeId) {
        self.fields[place].put(&mut self.words[vid as usize * self.width + 1..], node);
    }

    /// The hash of a row's key with another node in one place.
    pub(super) fn hash_with(&self, vid: u32, place: usize, node: NodeId) -> u64 {
        let field = self.fields[place];
        let other = |(index, &own): (usize, &u64)| if index == field.word { field.replaced(own, node) } else { own };
        self.key(vid).iter().enumerate().map(other).fold(SEED, mix)
    }

    /// Whether two rows have the same nodes in all places but one.
    pub(super) fn agree_beside(&self, place: usize, one: u32, other: u32) -> bool {
        let Field { word, shift, mask } = self.fields[place];
        let ignored = |index: usize| if index == word { mask << shift } else { 0 };
        let differs = |(index, (a, b)): (usize, (&u64, &u64))| (a ^ b) & !ignored(index) != 0;
        !self.key(one).iter().zip(self.key(other)).enumerate().any(differs)
    }

    /// Whether a row is there and is this one.
    pub(super) fn is(&self, vid: u32, key: &[u64]) -> bool {
        !self.is_gone(vid) && self.key(vid).iter().zip(key).all(|(own, other)| own == other)
    }
}

/// The hash of a key: the finaliser of MurmurHash3 for each word. Keys are small numbers side by side, so that less
/// mixing leaves long runs in a table.
pub(super) fn hash(key: &[u64]) -> u64 {
    key.iter().copied().fold(SEED, mix)
}

const SEED: u64 = 0x6a09_e667_f3bc_c908;

fn mix(hash: u64, word: u64) -> u64 {
    let hash = hash ^ word;
    let hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ hash >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ hash >> 33
}

/// Puts hashes in an order in which neighbors reach the same part of a table of rows, which is then walked part by part
/// instead of all over the memory. Equal hashes stay in their order.
pub(super) fn part_by_part(slots: &HashTable<u32>, hashed: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
    let buckets = slots.num_buckets();
    if buckets <= NEAR || hashed.len() < PARTS {
        return hashed;
    }
    let shift = buckets.trailing_zeros() - PARTS.trailing_zeros();
    let part = |hash: u64| (hash as usize & (buckets - 1)) >> shift;
    let mut places = [0; PARTS + 1];
    for &(hash, _) in &hashed {
        places[part(hash) + 1] += 1;
    }
    for part in 0..PARTS {
        places[part + 1] += places[part];
    }
    let mut ordered = vec![(0, 0); hashed.len()];
    for (hash, row) in hashed {
        let place = &mut places[part(hash)];
        ordered[*place] = (hash, row);
        *place += 1;
    }
    ordered
}

/// How many records a vid would have together with those that carry one of some nodes in its place.
pub(super) fn together(
    rows: &Rows,
    slots: &HashTable<u32>,
    vid: u32,
    place: usize,
    nodes: &[NodeId],
    touched: &mut u64,
) -> u64 {
    let mut key = rows.key(vid).to_vec();
    let own = rows.node(vid, place);
    let mut records = rows.records(vid);
    for &node in nodes.iter().filter(|&&node| node != own) {
        rows.fields[place].put(&mut key, node);
        if let Some(&found) = slots.find(hash(&key), |&vid| rows.is(vid, &key)) {
            records += rows.records(found);
            *touched += 1;
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_keep_their_nodes_however_many_words_they_take() {
        for sizes in [vec![1, 2, 3], vec![70_000; 9], vec![1 << 20, 1, 1 << 22, 1 << 22, 3], vec![]] {
            let mut rows = Rows::new(sizes.iter().copied());
            let node = |place: usize, row: usize| NodeId(((row * 7919 + place * 31) % sizes[place]) as u32);
            let fields = rows.fields();
            rows.fill(50, |row, key| {
                (0..sizes.len()).for_each(|place| fields[place].put(key, node(place, row as usize)));
                1
            });
            for row in 0..50 {
                for place in 0..sizes.len() {
                    assert_eq!(rows.node(row as u32, place), node(place, row));
                    rows.set_node(row as u32, place, NodeId(0));
                    assert_eq!(rows.node(row as u32, place), NodeId(0));
                    rows.set_node(row as u32, place, node(place, row));
                }
            }
        }
    }
}
