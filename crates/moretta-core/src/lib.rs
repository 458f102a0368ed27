//! Anonymization of tabular microdata: the pure part, without I/O and without records.
//!
//! 1. [`policy`]: what the data holder asks for; [`schema`]: columns and their roles; [`dates`]: how dates are written.
//! 2. [`engine`]: the contract with engines, which alone see records; [`counts`]: what their two passes exchange with us.
//! 3. [`profile`]: distinct tuples with counts over [`hierarchy`] domains: all that a method sees.
//! 4. [`search`]: the methods. A profile and bound [`privacy`] models in, a [`recoding`] out.
//! 5. [`mod@verify`]: regroups the profile under the recoding from scratch and asks every model of the policy. Only this
//!    makes a [`Verified`](verify::Verified).
//! 6. [`publish`]: writes what was verified, reads the file back ([`readback`]) and only then publishes it.
//! 7. [`released`], [`measure`]: the released table and its information loss.
//!
//! [`run`] searches and verifies without writing a release. What no release needs is in crates above this one:
//! `moretta-insight` (reports, risk and questions about a table or a release), `moretta-guess` (draft policies) and
//! `moretta-synthetic` (synthetic people).
//!
//! # Layers
//!
//! A module uses only modules that come before it in this list (`tests/layers.rs` checks it).
//!
//! - [`ids`], [`text`], [`suggest`]: newtypes over `u32`, parts of messages, "did you mean".
//! - [`dates`], [`schema`], [`counts`], [`observer`], [`engine`]: what columns are, the contract with engines, progress.
//! - [`document`], [`hierarchy`], [`declaration`], [`objective`]: a policy's sections, and what it declares of a table.
//! - [`profile`], [`privacy`]: the counted table, and the models bound to it.
//! - [`recoding`], [`released`]: how the table is changed, and the table that results.
//! - [`measure`]: what a release loses.
//! - [`policy`], [`saved`]: what the data holder asks for, and a recoding as a file.
//! - [`search`]: the methods.
//! - [`mod@verify`], [`rewrite_plan`], [`readback`], [`publish`]: proof before and after writing.
//! - [`run`]: search and verification in one call.
//!
//! Nothing here does I/O, and nothing sees a record: an engine does the two passes over those.
#![doc = include_str!("example.md")]

pub mod counts;
pub mod dates;
pub mod declaration;
pub mod document;
pub mod engine;
pub mod hierarchy;
pub mod ids;
pub mod measure;
pub mod objective;
pub mod observer;
pub mod policy;
pub mod privacy;
pub mod profile;
pub mod publish;
pub mod readback;
pub mod recoding;
pub mod released;
pub mod rewrite_plan;
pub mod run;
pub mod saved;
pub mod schema;
pub mod search;
pub mod suggest;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod verify;
