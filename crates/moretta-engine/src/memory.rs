//! Memory limit of the first pass, and peak memory of the process.
//!
//! Guarantee: [`MemoryBudget`] adds up the bytes that all threads report. A thread reports after each batch of records,
//! so the limit may be exceeded by what one batch per thread adds.

use std::sync::atomic::{AtomicU64, Ordering};

/// Sum of the bytes that all threads hold, with a limit.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    limit: u64,
    used: AtomicU64,
}

impl MemoryBudget {
    /// `None` is no limit.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit: limit.unwrap_or(u64::MAX), used: AtomicU64::new(0) }
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

    /// Bytes of all threads together.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// `u64::MAX` if there is no limit.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }
}

/// Peak resident memory of this process in bytes. `None` if the system does not report it (only Linux does).
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

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
        }
    }
}
