//! Anonymization of tabular microdata: the algorithms, without I/O and without access to records.
//!
//! The flow of one release, with its main types. [`ids`] defines the words: record, tuple, variant, group.
//!
//! ```text
//! policy.toml ──► Policy ───────────────────────┐
//!                   │                           ▼
//! records ─count─► Counts ──► Profile ──► BoundPolicy ──search──► Recoding ──verify──► Verified
//!    │                                                                                    │
//!    └───────────────────────────────rewrite──► Staged ◄──────────── Rewrite ◄────────────┘
//!                                                 │
//!                                             read back ──► published release
//! ```
//!
//! 1. [`policy`]: a [`Policy`](policy::Policy) states the columns and their roles ([`schema`], [`dates`]), the privacy
//!    models, the method and the measure to minimize.
//! 2. [`engine`]: an [`Engine`](engine::Engine) alone sees records. Its first pass returns [`Counts`](counts::Counts):
//!    the distinct rows, each with its number of records.
//! 3. [`profile`]: a [`Profile`](profile::Profile) has the distinct tuples with counts, coded by the
//!    [`hierarchy`] domains of their columns. A method sees nothing else of a table.
//! 4. [`search`]: a method turns the profile and the bound [`privacy`] models into a
//!    [`Recoding`](recoding::Recoding) ([`recoding`]).
//! 5. [`mod@verify`]: regroups the profile under the recoding from scratch and evaluates every model of the policy.
//!    Only this makes a [`Verified`](verify::Verified).
//! 6. [`rewrite_plan`], [`publish`]: the engine's second pass writes the verified release to a staging place; the file
//!    is read back ([`readback`]) and only then published.
//! 7. [`released`], [`measure`]: the released table as a recipient sees it, and its information loss.
//!
//! [`run`] searches and verifies without writing a release. Crates above this one hold the rest: `moretta-insight`
//! (reports, risk, questions about a table or a release), `moretta-guess` (draft policies) and `moretta-synthetic`
//! (synthetic people).
//!
//! # Layers
//!
//! A module uses only modules that come before it in this list (`tests/layers.rs` checks it).
//!
//! - [`ids`], [`seed`], [`text`], [`suggest`], [`memory`], [`decimal`], [`notation`], [`encoding`]: newtypes over `u32`,
//!   random seeds, parts of messages, "did you mean", sizes of allocations, exact numbers and how they are written,
//!   names of encodings.
//! - [`dates`], [`schema`], [`counts`], [`group_sizes`], [`observer`], [`engine`]: column roles and types, the contract
//!   with engines, progress.
//! - [`document`], [`hierarchy`], [`declaration`], [`objective`]: sections of a policy, and what it declares about a
//!   table.
//! - [`profile`], [`privacy`]: the counted table, and the models bound to it.
//! - [`recoding`], [`released`]: how the table is changed, and the table that results.
//! - [`measure`]: information loss of a release.
//! - [`policy`], [`saved`]: the checked policy, and a recoding as a file.
//! - [`search`]: the methods.
//! - [`mod@verify`], [`rewrite_plan`], [`readback`], [`publish`]: proof before and after writing.
//! - [`run`], [`release_memory`]: search and verification in one call; estimates of the memory of a release.
//!
//! # Example
#![doc = include_str!("example.md")]

pub mod counts;
pub mod dates;
pub mod decimal;
pub mod declaration;
pub mod document;
pub mod encoding;
pub mod engine;
pub mod group_sizes;
pub mod hierarchy;
pub mod ids;
pub mod measure;
pub mod memory;
pub mod notation;
pub mod objective;
pub mod observer;
pub mod policy;
pub mod privacy;
pub mod profile;
pub mod publish;
pub mod readback;
pub mod recoding;
pub mod release_memory;
pub mod released;
pub mod rewrite_plan;
pub mod run;
pub mod saved;
pub mod schema;
pub mod search;
pub mod seed;
pub mod suggest;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod text;
pub mod verify;
