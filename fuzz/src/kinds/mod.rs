//! The kinds of cases. A new kind is an entry of [`KINDS`] and the function that it names.

mod inputs;
mod parquet;
mod sources;
mod tables;

use std::path::Path;

#[cfg(test)]
pub use inputs::anonymize;

use crate::{csv::TextTable, job::Job, judge::Violation, mutate::Format, rng::Rng};

/// A kind of cases.
pub struct Kind {
    /// Name in seeds, `KIND:SEED`.
    pub name: &'static str,
    /// Number of cases per round of [`round`].
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

/// All kinds. With these shares, measured on two cores, `tables` takes about a third of the time, `policy`, `csv` and
/// `parquet` an eighth each, the others less.
pub const KINDS: &[Kind] = &[
    Kind { name: "policy", share: 20, source: Source::Mutated(inputs::policy) },
    Kind { name: "hierarchy", share: 18, source: Source::Mutated(inputs::hierarchy) },
    Kind { name: "recoding", share: 6, source: Source::Mutated(inputs::recoding) },
    Kind { name: "csv", share: 10, source: Source::Mutated(inputs::csv) },
    Kind { name: "parquet", share: 17, source: Source::Mutated(parquet::parquet) },
    Kind { name: "gzip", share: 6, source: Source::Mutated(sources::gzip) },
    Kind { name: "zstd", share: 6, source: Source::Mutated(sources::zstd) },
    Kind { name: "encoding", share: 8, source: Source::Mutated(sources::encoding) },
    Kind { name: "arrow", share: 12, source: Source::Mutated(sources::arrow) },
    Kind { name: "queries", share: 3, source: Source::Mutated(inputs::queries) },
    Kind { name: "release", share: 5, source: Source::Mutated(inputs::release) },
    Kind { name: "tables", share: 3, source: Source::Generated(tables::tables) },
];

impl Kind {
    /// Whether a mutation makes its cases. `--guided` can choose only mutations.
    pub fn is_mutated(&self) -> bool {
        matches!(self.source, Source::Mutated(_))
    }
}

/// The kinds of consecutive cases, which repeat after a round: each kind as often as its share says, evenly spread. The
/// order depends on no time, so that a seed determines all cases of a run.
pub fn round(kinds: &[&'static Kind]) -> Vec<&'static Kind> {
    let mut places: Vec<(f64, &Kind)> = Vec::new();
    for kind in kinds {
        places.extend((0..kind.share).map(|at| ((f64::from(at) + 0.5) / f64::from(kind.share), *kind)));
    }
    places.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    places.into_iter().map(|(_, kind)| kind).collect()
}

/// The kind of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}
