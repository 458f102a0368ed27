//! The engine of this machine: threads over CSV and Parquet files.
//!
//! Guarantee: see the crate's page. All that a [`Settings`] changes is speed and memory, never a result.

use crate::csv::blocks::{Block, Blocks};
use crate::csv::content;
use crate::csv::parse::{Fields, Shape};
use crate::error::EngineError;
use crate::group::group_csv;
use crate::memory::Budget;
use crate::parquet::group::{check_types, group_parquet};
use crate::parquet::{open::units, text};
use crate::source::{Data, Source};
use crate::target::Target;
use crate::{Engine, Written, rewrite};
use moretta_core::counts::{Counts, Rewrite};
use moretta_core::observer::Observer;

/// How the work is divided.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Threads; all processors by default.
    pub threads: usize,
    /// Bytes that the first pass may hold in distinct values and rows; without a bound by default.
    pub memory: Option<u64>,
    /// Bytes of CSV that a thread takes at a time.
    pub block_size: usize,
    /// Records of Parquet that a thread of the second pass takes at a time.
    pub unit_records: usize,
    /// Bytes that a shuffle keeps in memory before it goes to a temporary file.
    pub shuffle_memory: u64,
    /// Bytes of output that are put in order at a time when shuffling.
    pub bucket_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: None,
            block_size: 1 << 20,
            unit_records: 1 << 16,
            shuffle_memory: 64 << 20,
            bucket_bytes: 16 << 20,
        }
    }
}

/// The two passes on this machine.
#[derive(Debug)]
pub struct LocalEngine {
    source: Source,
    settings: Settings,
}

/// The first records of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The texts of each record's cells.
    pub rows: Vec<Vec<String>>,
}

impl LocalEngine {
    /// All processors, no bound on memory.
    pub fn new(source: Source) -> Self {
        Self::with_settings(source, Settings::default())
    }

    /// With the work divided as wished.
    pub fn with_settings(source: Source, mut settings: Settings) -> Self {
        settings.threads = settings.threads.clamp(1, 1024);
        Self { source, settings }
    }

    /// Where the records come from.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The first `records` records as texts; a Parquet column without a text form comes empty.
    pub fn sample(&self, records: usize) -> Result<Sample, EngineError> {
        let columns = self.source.columns.clone();
        let mut rows = match &self.source.data {
            Data::Csv { .. } => self.sample_csv(records)?,
            Data::Parquet(_) => self.sample_parquet(records)?,
        };
        rows.truncate(records);
        Ok(Sample { columns, rows })
    }

    fn sample_csv(&self, records: usize) -> Result<Vec<Vec<String>>, EngineError> {
        let Data::Csv { files, dialect } = &self.source.data else {
            return Ok(Vec::new());
        };
        let width = self.source.columns.len();
        let mut blocks = Blocks::new(files.clone(), dialect.quote, self.settings.block_size.min(1 << 18), width);
        let (mut block, mut fields) = (Block::default(), Fields::default());
        let (mut rows, mut scratch) = (Vec::new(), Vec::new());
        let (mut file, mut before) = (0, 0);
        while rows.len() < records && blocks.next(&mut block)?.is_some() {
            if block.file != file {
                (file, before) = (block.file, 0);
            }
            let shape = Shape { width, dialect: *dialect, quotes: block.quotes, last: block.last, too_long: None };
            let bytes = block.bytes();
            let parsed = fields.parse(bytes, shape);
            for record in 0..fields.records().min(records - rows.len()) {
                let cell = |column| {
                    let cell = content(fields.raw(bytes, record, column), dialect.quote, &mut scratch);
                    String::from_utf8_lossy(cell).into_owned()
                };
                rows.push((0..width).map(cell).collect());
            }
            if let Err(located) = parsed
                && rows.len() < records
            {
                let path = files[file].path.clone();
                let record = before + located.record as u64 + 1;
                return Err(EngineError::Record { path, record, line: None, fault: located.fault });
            }
            before += fields.records() as u64;
        }
        Ok(rows)
    }

    fn sample_parquet(&self, records: usize) -> Result<Vec<Vec<String>>, EngineError> {
        let Data::Parquet(files) = &self.source.data else {
            return Ok(Vec::new());
        };
        let all: Vec<usize> = (0..self.source.columns.len()).collect();
        let mut rows = Vec::new();
        for unit in units(files, records.max(1)) {
            if rows.len() >= records {
                break;
            }
            let file = &files[unit.file];
            let batch = file.read_whole(&file.project(&all, &[])?, unit)?;
            let arrays = batch.columns().iter().map(text::flatten).collect::<Result<Vec<_>, _>>();
            let arrays = arrays.map_err(EngineError::parquet(&file.path))?;
            for record in 0..batch.num_rows() {
                let cell = |array| {
                    let mut out = String::new();
                    text::write(array, record, &mut out);
                    out
                };
                rows.push(arrays.iter().map(|array| cell(array)).collect());
            }
        }
        Ok(rows)
    }
}

impl Engine for LocalEngine {
    fn columns(&self) -> Result<Vec<String>, EngineError> {
        Ok(self.source.columns.clone())
    }

    fn group_and_count(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineError> {
        let Settings { threads, memory, block_size, .. } = self.settings;
        let wanted = columns.iter().map(|name| self.source.position(name)).collect::<Result<Vec<_>, _>>()?;
        self.source.check_unchanged()?;
        let budget = Budget::new(memory);
        let counts = match &self.source.data {
            Data::Csv { files, dialect } => {
                let input = self.source.csv_input(files, *dialect, block_size);
                group_csv(&input, columns, &wanted, threads, &budget, observer)
            }
            Data::Parquet(files) => {
                check_types(&files[0], &wanted)?;
                group_parquet(files, columns, &wanted, threads, &budget, observer)
            }
        }?;
        self.source.check_unchanged()?;
        Ok(counts)
    }

    fn rewrite(&self, rewrite: &Rewrite, target: &Target, observer: &dyn Observer) -> Result<Written, EngineError> {
        rewrite::run(&self.source, &self.settings, rewrite, target, observer)
    }
}
