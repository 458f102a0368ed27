//! Sizes of allocations, for estimates of the memory that a step needs before it runs.
//!
//! An estimate is an upper bound of the heap in most cases: it counts what is allocated at the same time, at the size
//! that the allocator reserves. It is used to refuse a run that a memory limit does not allow, so it need not be exact.

/// Bytes that the allocator reserves for a small allocation: a header of 8 bytes, multiples of 16, at least 32.
pub fn block(bytes: u64) -> u64 {
    (bytes + 8).next_multiple_of(16).max(32)
}

/// Bytes of texts that are allocated one by one, with the vector that holds them.
pub fn texts<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    texts.map(|text| size_of::<Box<str>>() as u64 + boxed(text)).sum()
}

/// Bytes of the allocation of one text; an empty one has none.
fn boxed(text: &str) -> u64 {
    if text.is_empty() { 0 } else { block(text.len() as u64) }
}

/// Bytes of a hash table while it grows to `entries` entries of `entry_bytes` bytes: the full table, and the one of
/// half its size whose entries are moved.
pub fn hash_table(entries: u64, entry_bytes: u64) -> u64 {
    let buckets = (entries * 8 / 7 + 1).next_power_of_two();
    buckets * (entry_bytes + 1) / 2 * 3
}

/// Bytes of a vector while it grows to `bytes` bytes by pushing: half of it again while it is moved. Reserved bytes
/// behind its end are not counted, because the system provides memory when it is written.
pub fn pushed(bytes: u64) -> u64 {
    bytes / 2 * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_the_allocator() {
        assert_eq!([0, 1, 24, 25, 40, 41].map(block), [32, 32, 32, 48, 48, 64]);
        assert_eq!(texts(["", "a", "abcdefghijklmnopqrstuvwxyz"].into_iter()), 16 + 48 + 64);
        assert_eq!(hash_table(7, 7), 16 * 8 / 2 * 3);
        let table: hashbrown::HashTable<u64> = hashbrown::HashTable::with_capacity(1000);
        assert!(hash_table(1000, 8) > table.allocation_size() as u64);
    }
}
