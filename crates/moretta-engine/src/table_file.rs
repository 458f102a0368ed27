//! Writes a table in memory to a file: a release that was published in memory becomes a file with the same cells.
//!
//! Guarantee: the file has the same columns and records in the same order, and each cell has the same text; it gets its
//! name when it has been read back. How: a rewrite that changes nothing, then one digest per column of both.

use moretta_core::{
    counts::{Change, RecordOrder, Rewrite},
    observer::Observer,
    seed::Seed,
};
use sha2::{Digest, Sha256};

use crate::{
    arrow::text,
    error::EngineError,
    local::EngineOptions,
    rewrite,
    scan::{PieceMode, ScanRequest, scan},
    source::Source,
    table::MemoryTable,
    target::Target,
};

/// Writes a table to a file and reads it back.
pub fn write_table(
    table: &MemoryTable,
    target: &Target,
    options: &EngineOptions,
    observer: &dyn Observer,
) -> Result<(), EngineError> {
    let source = Source::of_table(table.clone());
    let unchanged = Rewrite {
        key: Vec::new(),
        change: Change::Map { labels: Vec::new(), suppressed: Vec::new() },
        dropped: Vec::new(),
        renotated: Vec::new(),
        order: RecordOrder::Input,
        seed: Seed::Number(0),
    };
    let staged = rewrite::run(&source, options, &unchanged, target, observer)?;
    let written = staged.pending.open(&staged.csv)?;
    let same = written.columns() == source.columns()
        && column_digests(&written, options, observer)? == column_digests(&source, options, observer)?;
    if !same {
        return Err(EngineError::changed(format!("{} was read back with other cells", target.path.display())));
    }
    staged.persist()
}

/// Digest of the texts of each column, in the order of the records.
fn column_digests(
    source: &Source,
    options: &EngineOptions,
    observer: &dyn Observer,
) -> Result<Vec<Vec<u8>>, EngineError> {
    let columns: Vec<usize> = (0..source.columns().len()).collect();
    // One thread, which reads the pieces in order.
    let options = EngineOptions { threads: 1, ..options.clone() };
    let request = ScanRequest { encoded: &[], copied: &columns, mode: PieceMode::Any, options: &options };
    let empty = vec![(Sha256::new(), String::new()); columns.len()];
    let (states, _) = scan(source.scan(), &request, vec![empty], observer, &[], |state, batch| {
        for (&column, (digest, cell)) in columns.iter().zip(state) {
            let array = batch.records.array(column)?;
            for record in 0..batch.records.len() {
                cell.clear();
                text::write(&array, record, cell);
                digest.update((cell.len() as u64).to_le_bytes());
                digest.update(cell.as_bytes());
            }
        }
        Ok(())
    })?;
    let digests = states.into_iter().flatten();
    Ok(digests.map(|(digest, _)| digest.finalize().to_vec()).collect())
}
