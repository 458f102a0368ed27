//! Analyses of a table or a release. Making a release does not need them.
//!
//! - [`bound`]: a proven lower bound on the loss of any release that satisfies a policy.
//! - [`column_sets`]: the groups of a table under any set of its columns.
//! - [`comparison`]: methods side by side for several k: loss, error, time and memory.
//! - [`distribution`]: histograms of each column, before and after.
//! - [`mod@evaluate`]: the error of a classifier that is trained on a release and tested on held-out records, and the
//!   errors of a release's answers to COUNT and SUM queries.
//! - [`features`]: numeric features of released and original records, for models.
//! - [`household`]: the risk that a household is found by any of its members.
//! - [`inferences`]: sensitive values that an attacker can infer from a table, with their confidence.
//! - [`linkage`]: what an attacker learns who holds several releases of one table.
//! - [`naming`]: the values and nodes that a document may name.
//! - [`recoding_comparison`]: the loss of a saved recoding compared with a fresh search on the same records.
//! - [`report`]: policy, guarantees, losses and run statistics of a release, for programs and pages.
//! - [`risk`]: re-identification risk, before and after.
//! - [`risks`]: the columns that single people out, before any column has a role.
//! - [`tradeoff`]: anonymity and loss at each step of a generalization path.
//!
//! Like the core, this crate does no I/O and never sees single records, only counts of equal ones.

pub mod bound;
pub mod column_sets;
pub mod comparison;
pub mod distribution;
pub mod evaluate;
pub mod features;
pub mod household;
pub mod inferences;
pub mod kept;
pub mod linkage;
pub mod naming;
pub mod provenance;
pub mod recoding_comparison;
pub mod report;
pub mod risk;
pub mod risks;
pub mod statistics;
pub mod tradeoff;
pub mod typical_rows;
