//! Results as documents, for any front end: HTML pages, SVG charts, CSV and JSON. No I/O: every function returns text.
//!
//! - [`report`](report()): a release, for the person who approves it
//! - [`tradeoff`]: losses along a generalization path, to choose k
//! - [`comparison`]: results of several methods, to choose one
//! - [`mod@risks`]: columns that single people out, to choose roles
//! - [`queries`], [`inferences`]: answers of a release, and values that an attacker could infer
//! - [`chart`]: line charts
//!
//! A page is one self-contained HTML file: no script, nothing loaded from elsewhere (a content security policy in the
//! page forbids it), light or dark like the reader's system, black on white in print. It depends only on its
//! arguments and the version of moretta.
//!
//! A page shows no row of a table but the few masked ones of [`moretta_insight::typical_rows`].
//!
//! A page must never contain the seed, or a value or node of a hierarchy that fewer than `max(k, 10)` records carry
//! ([`moretta_insight::naming`]). All texts come from the policy, from registries and from counts, with two exceptions:
//! labels of histograms, whose ranges begin at round values and show neither the minimum nor the maximum
//! ([`moretta_insight::distribution`]), and nodes that a step of a generalization path changes. A template over the
//! rarest values of a column learns those values from the data, so they are counted and not named. Lists of inferences
//! and of true answers show values of records: they are as confidential as the input, and a note says so.
//!
//! Bars are SVG without a view box: shapes are placed in percent of the width and text keeps its size, so they fit a
//! phone and a sheet of paper. A bar next to its number is decoration and hidden from screen readers; other charts have
//! a title, a description and a table with the numbers. Curves (`plot`) have a view box and small panels, so that their
//! text is hardly scaled.

pub mod chart;
pub mod comparison;
pub mod csv;
mod describe;
pub mod inferences;
mod json;
mod numbers;
mod plot;
pub mod queries;
mod report;
pub mod risks;
mod shell;
pub mod tradeoff;

pub use self::{
    numbers::percent,
    report::{RELEASE_TAG, render as report},
};
