//! How a caller watches a pass and stops it.
//!
//! Guarantee: both methods are called at least once for each block of input (about a megabyte), from any of the pass's
//! threads. After `cancelled` has answered `true`, the pass ends soon with [`EngineError::Cancelled`] and leaves nothing
//! behind.
//!
//! [`EngineError::Cancelled`]: crate::EngineError::Cancelled

/// What a pass tells its caller, and asks.
pub trait Control: Sync {
    /// So much of the work is done. The unit (bytes or records) is the pass's own; `done` may be reported out of order.
    fn progress(&self, done: u64, total: u64) {
        let _ = (done, total);
    }

    /// Whether the pass should stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Nobody watches, nobody stops it.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoControl;

impl Control for NoControl {}
