//! The kinds of cases. A new kind is an entry of [`KINDS`] and the function that it names.

mod inputs;
mod parquet;
mod tables;

use std::path::Path;

use crate::{csv::TextTable, job::Job, judge::Violation, mutate::Format, rng::Rng};

/// A kind of cases.
pub struct Kind {
    /// Name in seeds, `KIND:SEED`.
    pub name: &'static str,
    /// Share of the running time; only ratios matter.
    pub share: u32,
    /// How a case is made.
    pub source: Source,
}

/// How the cases of a kind are made and judged.
#[derive(Clone, Copy)]
pub enum Source {
    /// Writes valid files into the folder and names the one to mutate. The common rules judge ([`crate::judge`]).
    Mutated(fn(&mut Rng, &Path) -> Result<Inputs, Skipped>),
    /// Makes and judges the case itself. `Path` is the folder.
    Generated(fn(&mut Rng, &Path) -> Result<(), Violation>),
}

/// The valid files could not be made, for example because the random policy cannot be satisfied.
pub struct Skipped;

/// The files of a case, already written into its folder, before one of them is mutated.
pub struct Inputs {
    /// File to mutate.
    pub target: String,
    /// Format of the target, which selects the mutations.
    pub format: Format,
    /// Another file of the format; a mutation may copy parts of it.
    pub splice: Vec<u8>,
    /// Requests to run after the mutation, in this order.
    pub jobs: Vec<Job>,
    /// The table as texts, whose cells must not be shown.
    pub table: TextTable,
    /// Files that hold cells of the table.
    pub tables: Vec<&'static str>,
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind { name: "policy", share: 3, source: Source::Mutated(inputs::policy) },
    Kind { name: "hierarchy", share: 2, source: Source::Mutated(inputs::hierarchy) },
    Kind { name: "recoding", share: 2, source: Source::Mutated(inputs::recoding) },
    Kind { name: "csv", share: 3, source: Source::Mutated(inputs::csv) },
    Kind { name: "parquet", share: 3, source: Source::Mutated(parquet::parquet) },
    Kind { name: "queries", share: 1, source: Source::Mutated(inputs::queries) },
    Kind { name: "release", share: 2, source: Source::Mutated(inputs::release) },
    Kind { name: "tables", share: 6, source: Source::Generated(tables::tables) },
];

/// The kind of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
