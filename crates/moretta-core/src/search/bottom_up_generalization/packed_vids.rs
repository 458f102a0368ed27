//! Vids, packed into as few words as they need.
//!
//! A vid takes one word for its number of records and a *key* of a few words for its nodes, next to each other in
//! memory. Comparing or hashing nodes then takes a few word operations: the key of the seven columns of Adult is one
//! word. A vid with 0 records is removed: it was merged into another one.
//!
//! ```text
//! word 0: records    word 1: | 0 .. 0 | node of column 2 | node of column 1 | node of column 0 |
//! ```

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::ids::NodeId;

/// Minimum vids per rayon task; affects speed only, not tuned.
pub(super) const MIN_VIDS_PER_TASK: usize = 4096;
/// Hash tables of up to this many buckets fit the processor's caches, so the order of access does not matter.
const CACHED_BUCKETS: usize = 1 << 15;
/// Number of partitions in which larger tables are filled; affects speed only.
const NUM_PARTITIONS: usize = 128;

/// Bits of one column's node within a key.
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

    /// Returns the word of the field with another node in it.
    fn replaced(self, word: u64, node: NodeId) -> u64 {
        word & !(self.mask << self.shift) | u64::from(node.0) << self.shift
    }
}

/// Vids as fixed-size runs of words; a vid is the index of its run.
#[derive(Debug, Clone)]
pub(super) struct PackedVids {
    fields: Vec<Field>,
    /// Words per vid: one for the records, the others for the key.
    width: usize,
    words: Vec<u64>,
}

impl PackedVids {
    /// `nodes` is the number of nodes of each column.
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

    /// Number of vids, including removed ones.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.width
    }

    /// Nodes of a vid in packed form.
    pub(super) fn key(&self, vid: u32) -> &[u64] {
        let start = vid as usize * self.width;
        &self.words[start + 1..start + self.width]
    }

    /// Field of each column in a key.
    pub(super) fn fields(&self) -> Vec<Field> {
        self.fields.clone()
    }

    /// Creates vids `0..num_vids`; `records` writes the key of a vid and returns its records. Returns the hash of each
    /// vid.
    pub(super) fn fill(&mut self, num_vids: usize, records: impl Fn(u32, &mut [u64]) -> u64 + Sync) -> Vec<(u64, u32)> {
        self.words = vec![0; num_vids * self.width];
        let each = |(vid, words): (usize, &mut [u64])| {
            let (count, key) = words.split_at_mut(1);
            count[0] = records(vid as u32, key);
            (hash(key), vid as u32)
        };
        self.words.par_chunks_mut(self.width).with_min_len(MIN_VIDS_PER_TASK).enumerate().map(each).collect()
    }

    pub(super) fn records(&self, vid: u32) -> u64 {
        self.words[vid as usize * self.width]
    }

    pub(super) fn records_mut(&mut self, vid: u32) -> &mut u64 {
        &mut self.words[vid as usize * self.width]
    }

    pub(super) fn is_removed(&self, vid: u32) -> bool {
        self.records(vid) == 0
    }

    pub(super) fn node(&self, vid: u32, position: usize) -> NodeId {
        let Field { word, shift, mask } = self.fields[position];
        NodeId(((self.words[vid as usize * self.width + 1 + word] >> shift) & mask) as u32)
    }

    pub(super) fn set_node(&mut self, vid: u32, position: usize, node: NodeId) {
        self.fields[position].put(&mut self.words[vid as usize * self.width + 1..], node);
    }

    /// Hash of a vid's key with another node at one position.
    pub(super) fn hash_with(&self, vid: u32, position: usize, node: NodeId) -> u64 {
        let field = self.fields[position];
        let changed =
            |(index, &word): (usize, &u64)| if index == field.word { field.replaced(word, node) } else { word };
        self.key(vid).iter().enumerate().map(changed).fold(SEED, mix)
    }

    /// Whether two vids have the same nodes, ignoring one position.
    pub(super) fn equal_except(&self, position: usize, a: u32, b: u32) -> bool {
        let Field { word, shift, mask } = self.fields[position];
        let ignored = |index: usize| if index == word { mask << shift } else { 0 };
        let differs = |(index, (a, b)): (usize, (&u64, &u64))| (a ^ b) & !ignored(index) != 0;
        !self.key(a).iter().zip(self.key(b)).enumerate().any(differs)
    }

    /// Whether a vid is in use and has this key.
    pub(super) fn has_key(&self, vid: u32, key: &[u64]) -> bool {
        !self.is_removed(vid) && self.key(vid).iter().zip(key).all(|(a, b)| a == b)
    }
}

/// Hash of a key: the finalizer of MurmurHash3, applied to each word. Keys are small numbers next to each other, and
/// less mixing clusters them in the table.
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

/// Sorts hashes by the partition of the table that they fall in, so that a large table is filled one cache-sized
/// partition at a time. The sort is stable.
pub(super) fn order_by_partition(slots: &HashTable<u32>, hashed: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
    let buckets = slots.num_buckets();
    if buckets <= CACHED_BUCKETS || hashed.len() < NUM_PARTITIONS {
        return hashed;
    }
    let shift = buckets.trailing_zeros() - NUM_PARTITIONS.trailing_zeros();
    let partition = |hash: u64| (hash as usize & (buckets - 1)) >> shift;
    let mut starts = [0; NUM_PARTITIONS + 1];
    for &(hash, _) in &hashed {
        starts[partition(hash) + 1] += 1;
    }
    for index in 0..NUM_PARTITIONS {
        starts[index + 1] += starts[index];
    }
    let mut ordered = vec![(0, 0); hashed.len()];
    for (hash, vid) in hashed {
        let start = &mut starts[partition(hash)];
        ordered[*start] = (hash, vid);
        *start += 1;
    }
    ordered
}

/// Records of a vid together with the vids that differ from it only by having one of `nodes` at the position.
pub(super) fn merged_records(
    packed: &PackedVids,
    slots: &HashTable<u32>,
    vid: u32,
    position: usize,
    nodes: &[NodeId],
    touched: &mut u64,
) -> u64 {
    let mut key = packed.key(vid).to_vec();
    let own_node = packed.node(vid, position);
    let mut records = packed.records(vid);
    for &node in nodes.iter().filter(|&&node| node != own_node) {
        packed.fields[position].put(&mut key, node);
        if let Some(&found) = slots.find(hash(&key), |&vid| packed.has_key(vid, &key)) {
            records += packed.records(found);
            *touched += 1;
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vids_keep_their_nodes_however_many_words_they_take() {
        for sizes in [vec![1, 2, 3], vec![70_000; 9], vec![1 << 20, 1, 1 << 22, 1 << 22, 3], vec![]] {
            let mut packed = PackedVids::new(sizes.iter().copied());
            let node = |position: usize, vid: usize| NodeId(((vid * 7919 + position * 31) % sizes[position]) as u32);
            let fields = packed.fields();
            packed.fill(50, |vid, key| {
                (0..sizes.len()).for_each(|position| fields[position].put(key, node(position, vid as usize)));
                1
            });
            for vid in 0..50 {
                for position in 0..sizes.len() {
                    assert_eq!(packed.node(vid as u32, position), node(position, vid));
                    packed.set_node(vid as u32, position, NodeId(0));
                    assert_eq!(packed.node(vid as u32, position), NodeId(0));
                    packed.set_node(vid as u32, position, node(position, vid));
                }
            }
        }
    }
}
