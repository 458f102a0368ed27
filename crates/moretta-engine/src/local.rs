//! The engine of this machine: threads over files.
//!
//! Guarantee: see the crate's page. All that a [`EngineOptions`] changes is speed and memory, never a result.

use moretta_core::{
    counts::{Counts, Rewrite},
    engine::Sample,
    observer::{NoObserver, Observer},
};

use crate::{
    arrow::encode::ColumnEncoder,
    count_pass,
    dictionary::Dictionary,
    error::EngineError,
    rewrite,
    scan::{PieceMode, ScanRequest, scan},
    source::Source,
    staged::StagedFile,
    target::Target,
};

/// How the work is divided.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Threads; all processors by default.
    pub threads: usize,
    /// Bytes that the first pass may hold in distinct values and rows; without a bound by default.
    pub memory: Option<u64>,
    /// Bytes of CSV that a thread takes at a time.
    pub block_size: usize,
    /// Records of Parquet that a thread of the second pass takes at a time.
    pub piece_records: usize,
    /// Bytes that a shuffle keeps in memory before it goes to a temporary file.
    pub shuffle_memory: u64,
    /// Bytes of output that are put in order at a time when shuffling.
    pub bucket_bytes: u64,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: None,
            block_size: 1 << 20,
            piece_records: 1 << 16,
            shuffle_memory: 64 << 20,
            bucket_bytes: 16 << 20,
        }
    }
}

/// The two passes on this machine.
#[derive(Debug)]
pub struct LocalEngine {
    source: Source,
    options: EngineOptions,
}

impl LocalEngine {
    /// All processors, no bound on memory.
    pub fn new(source: Source) -> Self {
        Self::with_options(source, EngineOptions::default())
    }

    /// With the work divided as wished.
    pub fn with_options(source: Source, mut options: EngineOptions) -> Self {
        options.threads = options.threads.clamp(1, 1024);
        Self { source, options }
    }

    /// Where the records come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The first `records` records as texts; a column without a text form comes empty.
    pub fn first_records(&self, records: usize) -> Result<Sample, EngineError> {
        let columns = self.source.columns().to_vec();
        let all: Vec<usize> = (0..columns.len()).collect();
        let options = EngineOptions { threads: 1, ..self.options.clone() };
        let request = ScanRequest { encoded: &[], copied: &all, mode: PieceMode::First(records), options: &options };
        let rows: Vec<Vec<String>> = Vec::new();
        let (samples, _) = scan(self.source.scan(), &request, vec![rows], &NoObserver, &[], |rows, batch| {
            let (start, found) = (rows.len(), batch.records.len().min(records - rows.len()));
            rows.resize(start + found, Vec::new());
            let mut codes = vec![0; batch.records.len()];
            for &column in &all {
                let (mut values, mut encoder) = (Dictionary::default(), ColumnEncoder::default());
                let mut code = |text: &[u8]| Some(values.encode(text));
                batch.records.encode(column, 0..codes.len(), &mut encoder, (&mut codes, 1), &mut code)?;
                for (row, &code) in rows[start..].iter_mut().zip(&codes) {
                    row.push(String::from_utf8_lossy(values.value(code)).into_owned());
                }
            }
            Ok(())
        })?;
        let rows = samples.into_iter().flatten().collect();
        Ok(Sample { columns, rows })
    }
}

impl LocalEngine {
    /// First pass: the distinct rows of some columns, each with the number of records that carry it.
    pub fn group_and_count(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineError> {
        let column_indices =
            columns.iter().map(|name| self.source.column_index(name)).collect::<Result<Vec<_>, _>>()?;
        self.source.check_unchanged()?;
        let counts = count_pass::group_and_count(&self.source, columns, &column_indices, &self.options, observer)?;
        self.source.check_unchanged()?;
        Ok(counts)
    }

    /// Second pass: writes the records, rewritten, to a temporary file beside the target.
    pub fn stage(
        &self,
        rewrite: &Rewrite,
        target: &Target,
        observer: &dyn Observer,
    ) -> Result<StagedFile, EngineError> {
        rewrite::run(&self.source, &self.options, rewrite, target, observer)
    }
}
