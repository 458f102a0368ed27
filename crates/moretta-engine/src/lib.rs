//! The two passes over the records: *group and count*, *rewrite by a map*. Everything else happens in `moretta-core`,
//! which never sees a record.
//!
//! ```text
//! Source ──group_and_count──▶ Counts        (core decides)        Rewrite ──stage──▶ StagedFile ──publish──▶ file
//! CSV, Parquet                distinct rows                       labels    second   temporary,   renamed
//!                             with counts                                   pass     read back
//! ```
//!
//! 1. [`Source`] opens a file, a folder or a pattern and knows its columns.
//! 2. [`LocalEngine`] implements [`Engine`](moretta_core::engine::Engine) with threads of this machine. Cells become dictionary codes while they are
//!    parsed, rows are hashed as codes; memory follows the *distinct* rows and is bounded on request.
//! 3. [`LocalEngine::stage`] writes a [`StagedFile`] beside the target. It is renamed only with the proof that it was
//!    read back ([`moretta_core::publish`]). Whatever goes wrong, nothing is left behind.
//!
//! What is written depends on the input, the rewrite and its seed: never on the number of threads, the size of blocks or
//! the memory at hand.
//!
//! ```
//! use moretta_core::counts::{Change, KeyColumn, RecordOrder, Rewrite};
//! use moretta_core::observer::NoObserver;
//! use moretta_engine::{CsvOptions, LocalEngine, Source, Target};
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
//! let staged = engine.stage(&rewrite, &target, &NoObserver)?;
//! assert_eq!(std::fs::read_to_string(staged.path())?, "age\n\"[36, 41]\"\n\"[36, 41]\"\n");
//! # Ok(()) }
//! ```

mod arrow;
mod count_pass;
mod csv;
mod dictionary;
mod error;
mod formats;
mod local;
mod memory;
mod ordered_pool;
mod packed_counter;
mod parquet;
mod records;
mod rewrite;
mod row_counter;
mod row_table;
mod scan;
mod source;
mod staged;
mod target;

pub use csv::CsvOptions;
pub use error::{EngineError, Fault, OutOfMemory};
pub use formats::Format;
pub use local::{EngineOptions, LocalEngine};
pub use memory::peak_memory_bytes;
pub use source::{Source, same_file};
pub use staged::StagedFile;
pub use target::{Pending, Target, write_pending};
