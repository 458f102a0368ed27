//! Reads the records of CSV, Parquet and Arrow files twice: the first pass *groups and counts* them, the second *rewrites*
//! them. Everything between the passes happens in `moretta-core`, which never sees a record.
//!
//! ```text
//! Source ──first pass──▶ Counts ──moretta-core──▶ Rewrite ──second pass──▶ StagedFile ──publish──▶ target
//! CSV, Parquet, Arrow    distinct rows            labels of the            temporary file,         renamed
//!                        and counts               values or rows           read back
//! ```
//!
//! 1. [`Source`] opens a file, a folder or a pattern and reads the column names.
//! 2. [`LocalEngine::group_and_count`] is the first pass. Threads take pieces of the input in order; each thread
//!    replaces cells by dictionary codes and counts rows of codes. At the end the threads' counts are merged. Memory
//!    grows with the number of *distinct* rows, not of records, and can be limited ([`EngineOptions::memory`]).
//! 3. [`LocalEngine::stage`] is the second pass. It looks up each record's row in the [`Rewrite`], writes the labels in
//!    place of the cells, in input order or shuffled, and returns a [`StagedFile`]: a temporary file beside the target.
//! 4. [`moretta_core::publish`] reads the staged file back, compares and checks it, and renames it to the target. If
//!    anything fails before that, the temporary file is removed and the target stays as it was.
//!
//! The bytes written depend on the input, the rewrite and its seed only, never on the number of threads, the block size
//! or the memory limit. [`LocalEngine`] implements the trait [`Engine`] of the core with threads on one machine.
//!
//! [`Engine`]: moretta_core::engine::Engine
//! [`Rewrite`]: moretta_core::counts::Rewrite
//!
//! ```
//! use moretta_core::counts::{Change, KeyColumn, RecordOrder, Rewrite};
//! use moretta_core::{observer::NoObserver, seed::Seed};
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
//!     renotated: Vec::new(),
//!     order: RecordOrder::Shuffled,
//!     seed: Seed::Number(7),
//! };
//! let target = Target::new(folder.path().join("out.csv"))?;
//! let staged = engine.stage(&rewrite, &target, &NoObserver)?;
//! assert_eq!(std::fs::read_to_string(staged.path())?, "age\n\"[36, 41]\"\n\"[36, 41]\"\n");
//! # Ok(()) }
//! ```

mod arrow;
mod bytes;
mod count_pass;
mod csv;
mod dictionary;
mod digest;
mod error;
mod formats;
mod hashed_rows;
mod ipc;
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
mod sql_plan;
mod staged;
mod table;
mod table_file;
mod target;

pub use bytes::{
    encoding::BadBytes,
    packing::{PACKINGS, Packing, PackingEntry, PackingFault},
    text::{FoundEncoding, TextFault, decode_text},
};
pub use csv::{CsvOptions, CsvRelease};
pub use digest::{digest, sha256};
pub use error::{EngineError, Fault, OutOfMemory};
pub use formats::{FORMATS, FileKind, Format, FormatEntry, extensions};
pub use local::{EngineOptions, LocalEngine};
pub use memory::{PROCESS_BYTES, peak_memory_bytes, resident_memory_bytes};
pub use parquet::catches_panics;
pub use source::{CopiedInput, Source, same_file};
pub use sql_plan::{CountedRows, SqlPlan};
pub use staged::StagedFile;
pub use table::{MemoryTable, TableSlot};
pub use table_file::write_table;
pub use target::{Pending, Target, hold_signals, publish_all, remove_pending_files, write_pending};
