//! The two passes over the records: *group and count*, *rewrite by a map*. Everything else happens in `moretta-core`,
//! which never sees a record.
//!
//! ```text
//! Source ──group_and_count──▶ Counts        (core decides)        Rewrite ──rewrite──▶ Pending ──persist──▶ file
//! CSV, Parquet                distinct rows                       labels     second    temporary,   renamed
//!                             with counts                                    pass      read back
//! ```
//!
//! 1. [`Source`] opens a file, a folder or a pattern and knows its columns.
//! 2. [`LocalEngine`] implements [`Engine`] with threads of this machine. Cells become dictionary codes while they are
//!    parsed, rows are hashed as codes; memory follows the *distinct* rows and is bounded on request.
//! 3. [`Engine::rewrite`] gives a [`Pending`] file beside the target, which the caller reads back and checks before it
//!    gets its name. Whatever goes wrong, nothing is left behind.
//!
//! What is written depends on the input, the rewrite and its seed: never on the number of threads, the size of blocks or
//! the memory at hand.
//!
//! ```
//! use moretta_core::counts::{Change, KeyColumn, RecordOrder, Rewrite};
//! use moretta_engine::{CsvOptions, Engine, LocalEngine, NoObserver, Source, Target};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let input = folder.path().join("people.csv");
//! std::fs::write(&input, "name,age\nAda,36\nAlan,41\n")?;
//! let engine = LocalEngine::new(Source::open(&input.to_string_lossy(), &CsvOptions::default())?);
//! let counts = engine.group_and_count(&["age".to_string()], &NoObserver)?;
//! assert_eq!((counts.records, counts.rows()), (2, 2));
//!
//! let ages = &counts.columns[0];
//! let rewrite = Rewrite {
//!     key: vec![KeyColumn { name: "age".into(), values: ages.values.clone(), rewritten: true }],
//!     change: Change::Map { labels: vec![vec!["[36, 41]".into(); ages.values.len()]], suppressed: vec![] },
//!     dropped: vec!["name".into()],
//!     order: RecordOrder::Shuffled,
//!     seed: 7,
//! };
//! let target = Target::new(folder.path().join("out.csv"))?;
//! let written = engine.rewrite(&rewrite, &target, &NoObserver)?;
//! written.pending.persist(false)?;
//! assert_eq!(std::fs::read_to_string(&target.path)?, "age\n\"[36, 41]\"\n\"[36, 41]\"\n");
//! # Ok(()) }
//! ```

mod counting;
mod crew;
mod csv;
mod dictionary;
mod error;
mod group;
mod local;
mod memory;
mod packed;
mod parquet;
mod rewrite;
mod rows;
mod source;
mod target;

pub use csv::CsvOptions;
pub use error::{EngineError, Fault, OutOfMemory};
pub use local::{LocalEngine, Sample, Settings};
pub use memory::peak_memory_bytes;
pub use moretta_core::observer::{NoObserver, Observer};
pub use source::{Format, Source, same_file};
pub use target::{Pending, Target, write_pending};

use moretta_core::counts::{Counts, Rewrite};

/// The two passes. An implementation may use this machine or a cluster.
pub trait Engine {
    /// The names of the columns, in order.
    fn columns(&self) -> Result<Vec<String>, EngineError>;

    /// The distinct rows of some columns, each with the number of records that carry it.
    fn group_and_count(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineError>;

    /// Writes the records, rewritten, to a temporary file beside the target.
    fn rewrite(&self, rewrite: &Rewrite, target: &Target, observer: &dyn Observer) -> Result<Written, EngineError>;
}

/// What [`Engine::rewrite`] has written.
#[derive(Debug)]
pub struct Written {
    /// How many records.
    pub records: u64,
    /// How many bytes.
    pub bytes: u64,
    /// How to read the file back if it is CSV.
    pub csv: CsvOptions,
    /// The file, which does not bear its name yet.
    pub pending: Pending,
}
