//! The bound on what a pass may hold, and what the process has held.
//!
//! Guarantee: a [`MemoryBudget`] knows the sum of what all threads report, and says no once that sum is above the limit. A
//! thread reports after each block, so the bound may be passed by what one block per thread adds.

use std::sync::atomic::{AtomicU64, Ordering};

/// A shared account of bytes.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    limit: u64,
    used: AtomicU64,
}

impl MemoryBudget {
    /// Without a limit everything fits.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit: limit.unwrap_or(u64::MAX), used: AtomicU64::new(0) }
    }

    /// Replaces what a thread last reported by what it held now; whether the sum of all is still allowed.
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

    /// The sum of all reports.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The limit.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }
}

/// The most memory this process has held, in bytes, where the system tells (Linux).
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
