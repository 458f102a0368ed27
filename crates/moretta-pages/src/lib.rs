//! Results as documents, for any front end: HTML pages, SVG charts, CSV and JSON. No I/O: every function returns text.
//!
//! - [`report`](report()): a release, for the person who signs it
//! - [`tradeoff`]: a generalization path, for the person who chooses a point of it
//! - [`comparison`]: methods side by side, for the person who chooses one of them
//! - [`queries`], [`inferences`]: answers of a release, and what a file gives away
//! - [`chart`]: line charts
//!
//! A page is one self-contained HTML file: no script, nothing loaded from elsewhere (a content security policy in the
//! page forbids it), light or dark as the reader's system is, black on white on paper. It depends on its arguments and
//! moretta's version alone.
//!
//! A page must never carry a value of a person's record, or the seed. All texts come from the policy, from
//! registries and from counts. A template over a column's rarest values learns those values from the data, so they are
//! counted and not named. The one exception is the labels of histograms, which are values and ranges of the table: none
//! covers fewer than `max(k, 10)` records, ranges begin at round values, and neither the least nor the greatest value is
//! shown ([`moretta_insight::distribution`]).
//!
//! Bars are SVG without a view box: shapes are placed in percent of the width and text keeps its size, so the same
//! picture serves a phone and a sheet of paper. A bar beside its figure is decoration and hidden from screen readers;
//! a picture without one has a title, a description and a table with its numbers. Curves (`plot`) have a view box, and
//! come in panels small enough that their text stays near its size.

pub mod chart;
pub mod comparison;
mod csv;
mod describe;
pub mod inferences;
mod json;
mod numbers;
mod plot;
pub mod queries;
mod report;
mod shell;
pub mod tradeoff;

pub use self::{numbers::percent, report::render as report};
