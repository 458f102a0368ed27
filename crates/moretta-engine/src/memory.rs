//! Memory limit of the first pass, estimates of both passes, and memory of the process.
//!
//! Guarantee: [`MemoryBudget`] adds up the bytes that all threads report. A thread reports after each batch of records,
//! so the limit may be exceeded by what one batch per thread adds.

use std::sync::atomic::{AtomicU64, Ordering};

use moretta_core::{
    memory::pushed,
    release_memory::{ReleaseMemory, RowSize},
};

use crate::local::EngineOptions;

/// Bytes of the process beside its heap: program, stacks, buffers of the first pass; measured on a table of 20 records.
pub const PROCESS_BYTES: u64 = 14_000_000;

impl EngineOptions {
    /// Divides a limit of the memory of the process: buffers of the second pass take a part of it. No result depends
    /// on the sizes of buffers.
    pub fn within(self, limit: u64) -> Self {
        let threads = self.threads.clamp(1, 1024) as u64;
        Self {
            memory: Some(limit),
            block_size: self.block_size.min((limit / 64 / threads).max(64 << 10) as usize),
            shuffle_memory: self.shuffle_memory.min(limit / 16),
            bucket_bytes: self.bucket_bytes.min((limit / 32 / threads).max(256 << 10)),
            ..self
        }
    }

    /// Bytes that the threads may hold before their counts are merged: merging and the result take as much again.
    pub(crate) fn count_budget(&self) -> Option<u64> {
        self.memory.map(|limit| limit.saturating_sub(PROCESS_BYTES) / 2)
    }

    /// Estimates the heap of the first pass at its peak, with its result. `records` have rows of this size.
    pub fn count_bytes(&self, size: &RowSize, records: u64) -> u64 {
        let RowSize { rows, columns, values, text_bytes } = *size;
        // Threads count the same rows and values, unless these are rare.
        let in_threads = |distinct: u64| (self.threads as u64 * distinct).min(records.max(distinct));
        let counted = |rows: u64| (rows * 2).next_power_of_two() * 24;
        let known = |values: u64| cells(values) * 24 + 8 * values;
        let threads = counted(in_threads(rows)) + known(in_threads(values)) + 2 * text_bytes;
        let counts = rows * (4 * columns + 16) + values * 64;
        threads + threads / 2 + counts
    }

    /// Estimates the heap of counting groups without texts: of `groups` groups of `records` records.
    pub fn hashed_bytes(&self, groups: u64, records: u64) -> u64 {
        /// A hash of 128 bits and a number of records.
        const ENTRY_BYTES: u64 = 24;
        if groups == 0 {
            return 0;
        }
        let in_threads = (self.threads as u64 * groups).min(records.max(groups));
        (cells(in_threads) + cells(groups)) * ENTRY_BYTES
    }

    /// Estimates the heap of the second pass beside the rewrite. It writes about `bytes` bytes.
    pub fn rewrite_bytes(&self, release: &ReleaseMemory, bytes: u64) -> u64 {
        let RowSize { rows, columns, values, text_bytes } = release.key;
        let dictionaries = cells(values) * 24 + 8 * values + pushed(text_bytes);
        let index = if rows == 0 { 0 } else { cells(rows) * 8 + pushed(rows * 4 * (columns + 4)) + 8 * rows };
        let buckets = (3 * self.threads as u64 * self.bucket_bytes).min(3 * bytes);
        let shuffle = self.shuffle_memory.min(2 * bytes) + buckets;
        let pieces = 4 * self.threads as u64 * self.block_size as u64;
        dictionaries + index + pushed(release.label_text) + shuffle + pieces.min(8 * bytes)
    }
}

/// Cells of a hash table of the engine with so many entries: at most 3/4 of them are used.
fn cells(entries: u64) -> u64 {
    (entries + entries / 3 + 1).next_power_of_two()
}

/// Memory limit with which the threads may hold `bytes` before their counts are merged: the inverse of
/// [`EngineOptions::count_budget`]. A quarter more, because tables double in size.
pub(crate) fn memory_to_count(bytes: u64) -> u64 {
    PROCESS_BYTES + 2 * (bytes + bytes / 4)
}

/// Sum of the bytes that all threads hold, with a limit.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    limit: u64,
    used: AtomicU64,
    rows: AtomicU64,
}

impl MemoryBudget {
    /// `None` is no limit.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit: limit.unwrap_or(u64::MAX), used: AtomicU64::new(0), rows: AtomicU64::new(0) }
    }

    /// Replaces the bytes a thread last reported by the bytes it holds now. Returns whether the sum is within the
    /// limit.
    pub(crate) fn report(&self, reported: &mut u64, held: u64) -> bool {
        let used = if held >= *reported {
            let more = held - *reported;
            self.used.fetch_add(more, Ordering::Relaxed) + more
        } else {
            let less = *reported - held;
            self.used.fetch_sub(less, Ordering::Relaxed) - less
        };
        *reported = held;
        used <= self.limit
    }

    /// Adds distinct rows that a thread has found since it last called this; returns those of all threads.
    pub(crate) fn add_rows(&self, more: u64) -> u64 {
        self.rows.fetch_add(more, Ordering::Relaxed) + more
    }

    /// Bytes of all threads together.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

/// Peak resident memory of this process in bytes. `None` if the system does not report it (only Linux does).
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Resident memory of this process in bytes. `None` if the system does not report it (only Linux does).
pub fn resident_memory_bytes() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<u64>().ok()? * PAGE_BYTES)
}

/// Size of a page on the systems that report resident memory; on a system with larger pages the memory is higher.
const PAGE_BYTES: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_replace_each_other() {
        let budget = MemoryBudget::new(Some(100));
        let (mut one, mut two) = (0, 0);
        assert!(budget.report(&mut one, 60));
        assert!(!budget.report(&mut two, 50));
        assert!(budget.report(&mut one, 20));
        assert_eq!(budget.used(), 70);
    }

    #[test]
    fn the_peak_is_known_on_linux() {
        if cfg!(target_os = "linux") {
            assert!(peak_memory_bytes().is_some_and(|bytes| bytes > 1 << 20));
            assert!(resident_memory_bytes().is_some_and(|bytes| bytes > 1 << 20));
        }
    }
}
