//! Figures and questions about a table or a release. No release needs them.
//!
//! - [`comparison`]: how do methods compare for several k, in loss, error, time and memory?
//! - [`distribution`]: how do the values of each column spread, before and after?
//! - [`mod@evaluate`]: how well does a classifier trained on a release predict records that the search has not seen, and how
//!   far are the release's answers to COUNT and SUM queries from the true ones?
//! - [`inferences`]: which sensitive values can an attacker infer from the original table, and with which confidence?
//! - [`recoding_comparison`]: how much more does a saved recoding lose than one searched for on the same records?
//! - [`report`]: what was asked for, what holds, what was lost and what was done, for programs and pages.
//! - [`risk`]: how likely is a record to be re-identified?
//! - [`tradeoff`]: which anonymity and which loss does each step of a generalization path have?
//!
//! Like the core, this crate does no I/O and sees no record, only counts of them.

pub mod comparison;
pub mod distribution;
pub mod evaluate;
pub mod inferences;
pub mod recoding_comparison;
pub mod report;
pub mod risk;
pub mod tradeoff;
