//! [`LocalEngine`]: both passes with threads on one machine, and its implementation of the core's engine traits.

use moretta_core::{
    counts::{CountedColumn, Counts, Rewrite},
    engine::{Engine, EngineFault, Records, Sample},
    group_sizes::GroupSizes,
    observer::{NoObserver, Observer},
};

use crate::{
    arrow::encode::ColumnEncoder,
    count_pass::{self, CountRequest},
    dictionary::Dictionary,
    error::EngineError,
    formats::Format,
    rewrite,
    scan::{PieceMode, ScanRequest, scan},
    source::Source,
    staged::StagedFile,
    target::Target,
};

/// How the work is divided among threads and how much memory it may use. No option changes a result.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Number of threads, limited to 1..=1024. Default: all processors.
    pub threads: usize,
    /// Maximum bytes of the process ([`EngineOptions::within`]). The first pass stops if its distinct values and rows
    /// need more. Default: no limit.
    pub memory: Option<u64>,
    /// Bytes of CSV that a thread takes at a time. Default: 256 KiB, which stay in the second-level cache with their
    /// parsed fields and codes.
    pub block_size: usize,
    /// Maximum records of Parquet that a thread takes at a time in the second pass. Default: 65,536.
    pub piece_records: usize,
    /// Bytes of a shuffle that are kept in memory; the rest goes to a temporary file. Default: 64 MiB.
    pub shuffle_memory: u64,
    /// Approximate bytes per bucket of a shuffle; each thread sorts one bucket at a time. Default: 16 MiB.
    pub bucket_bytes: u64,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: None,
            block_size: 256 << 10,
            piece_records: 1 << 16,
            shuffle_memory: 64 << 20,
            bucket_bytes: 16 << 20,
        }
    }
}

/// Engine that runs both passes over a [`Source`] with threads on one machine.
#[derive(Debug)]
pub struct LocalEngine {
    source: Source,
    options: EngineOptions,
}

impl LocalEngine {
    /// An engine with the default options: all processors, no memory limit.
    pub fn new(source: Source) -> Self {
        Self::with_options(source, EngineOptions::default())
    }

    /// An engine with the given options.
    pub fn with_options(source: Source, mut options: EngineOptions) -> Self {
        options.threads = options.threads.clamp(1, 1024);
        Self { source, options }
    }

    /// The input that both passes read.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the first `records` records as texts. Cells of a column whose type has no text form are empty.
    pub fn first_records(&self, records: usize) -> Result<Sample, EngineError> {
        let columns = self.source.columns().to_vec();
        let all: Vec<usize> = (0..columns.len()).collect();
        let options = EngineOptions { threads: 1, ..self.options.clone() };
        let request = ScanRequest { encoded: &[], copied: &all, mode: PieceMode::First(records), options: &options };
        let rows: Vec<Vec<String>> = Vec::new();
        let (samples, _) = scan(self.source.scan(), &request, vec![rows], &NoObserver, &[], |rows, batch| {
            let start = rows.len();
            rows.resize(records.min(start + batch.records.len()), Vec::new());
            let mut codes = vec![0; batch.records.len()];
            for &column in &all {
                let mut values = Dictionary::default();
                let mut encoder = ColumnEncoder::default();
                let mut encode = |text: &[u8]| Some(values.encode(text));
                batch.records.encode(column, 0..codes.len(), &mut encoder, (&mut codes, 1), &mut encode)?;
                for (row, &code) in rows[start..].iter_mut().zip(&codes) {
                    row.push(String::from_utf8_lossy(values.value(code)).into_owned());
                }
            }
            Ok(())
        })?;
        let rows = samples.into_iter().flatten().collect();
        Ok(Sample { columns, rows })
    }

    /// First pass: returns the distinct rows of some columns, each with the number of records that have it.
    pub fn group_and_count(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineError> {
        Ok(self.group_with_sizes(columns, &[], observer)?.0)
    }

    /// First pass, with the sizes of groups by further sets of columns, which are counted without texts. If all
    /// together exceed the memory limit, they are counted in several passes.
    pub fn group_with_sizes(
        &self,
        columns: &[String],
        sets: &[Vec<String>],
        observer: &dyn Observer,
    ) -> Result<(Counts, Vec<GroupSizes>), EngineError> {
        match self.one_pass(columns, sets, observer) {
            // The columns alone decide whether the table fits at all, so they come first.
            Err(EngineError::OutOfMemory(_)) if !columns.is_empty() && !sets.is_empty() => {
                let (counts, _) = self.one_pass(columns, &[], observer)?;
                Ok((counts, self.group_with_sizes(&[], sets, observer)?.1))
            }
            Err(EngineError::OutOfMemory(_)) if sets.len() > 1 => {
                let (first, second) = sets.split_at(sets.len() / 2);
                let (counts, mut sizes) = self.group_with_sizes(&[], first, observer)?;
                sizes.extend(self.group_with_sizes(&[], second, observer)?.1);
                Ok((counts, sizes))
            }
            result => result,
        }
    }

    fn one_pass(
        &self,
        columns: &[String],
        sets: &[Vec<String>],
        observer: &dyn Observer,
    ) -> Result<(Counts, Vec<GroupSizes>), EngineError> {
        let index_all = |names: &[String]| {
            names.iter().map(|name| self.source.column_index(name)).collect::<Result<Vec<usize>, _>>()
        };
        let indices = index_all(columns)?;
        let sets = sets.iter().map(|set| index_all(set)).collect::<Result<Vec<_>, _>>()?;
        self.source.check_unchanged()?;
        let request = CountRequest { names: columns, columns: &indices, sets: &sets };
        let counted = count_pass::group_and_count(&self.source, &request, &self.options, observer)
            .map_err(|error| self.source.reason(error))?;
        self.source.check_unchanged()?;
        Ok(counted)
    }

    /// Returns some columns of all records in input order: a row for each record, which counts one. One thread reads.
    pub fn rows(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineError> {
        let indices = columns.iter().map(|name| self.source.column_index(name)).collect::<Result<Vec<usize>, _>>()?;
        self.source.check_has_text(&indices)?;
        let options = EngineOptions { threads: 1, ..self.options.clone() };
        let request = ScanRequest { encoded: &indices, copied: &[], mode: PieceMode::Any, options: &options };
        let width = columns.len();
        let encoders = || (0..width).map(|_| (Dictionary::default(), ColumnEncoder::default())).collect::<Vec<_>>();
        let state = (encoders(), Vec::<u32>::new());
        let (mut states, numbers) =
            scan(self.source.scan(), &request, vec![state], observer, &[], |(encoders, codes), batch| {
                let start = codes.len();
                let records = batch.records.len();
                codes.resize(start + records * width, 0);
                for (at, (&column, (values, encoder))) in indices.iter().zip(encoders).enumerate() {
                    let codes = &mut codes[start + at..];
                    let mut encode = |text: &[u8]| Some(values.encode(text));
                    batch.records.encode(column, 0..records, encoder, (codes, width), &mut encode)?;
                }
                Ok(())
            })?;
        self.source.check_unchanged()?;
        let (encoders, codes) = states.pop().unwrap_or_default();
        let column = |((name, &index), (values, _)): ((&String, &usize), (Dictionary, ColumnEncoder))| {
            let value = |code| String::from_utf8_lossy(values.value(code)).into_owned().into_boxed_str();
            let values = (0..values.len() as u32).map(value).collect();
            CountedColumn { name: name.clone(), values, first_records: None, typed: self.source.is_typed(index) }
        };
        let columns = columns.iter().zip(&indices).zip(encoders).map(column).collect();
        let counts = vec![1; numbers.records() as usize];
        Ok(Counts { columns, codes, counts, first_records: None, records: numbers.records() })
    }

    /// Second pass: writes the rewritten records to a temporary file beside the target.
    pub fn stage(&self, rewrite: &Rewrite, to: &Target, observer: &dyn Observer) -> Result<StagedFile, EngineError> {
        rewrite::run(&self.source, &self.options, rewrite, to, observer)
    }
}

impl Records for LocalEngine {
    fn name(&self) -> String {
        self.source().name().to_owned()
    }

    fn columns(&self) -> &[String] {
        self.source().columns()
    }

    fn count(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineFault> {
        Ok(self.group_and_count(columns, observer)?)
    }

    fn group_sizes(&self, sets: &[Vec<String>], observer: &dyn Observer) -> Result<Vec<GroupSizes>, EngineFault> {
        Ok(self.group_with_sizes(&[], sets, observer)?.1)
    }

    fn count_with_sizes(
        &self,
        columns: &[String],
        sets: &[Vec<String>],
        observer: &dyn Observer,
    ) -> Result<(Counts, Vec<GroupSizes>), EngineFault> {
        Ok(self.group_with_sizes(columns, sets, observer)?)
    }

    fn sample(&self, records: usize) -> Result<Sample, EngineFault> {
        Ok(self.first_records(records)?)
    }
}

impl Engine for LocalEngine {
    type Target = Target;
    type Staged = StagedFile;

    fn keeps_order(&self) -> bool {
        true
    }

    fn text_bytes(&self) -> Option<u64> {
        Some(self.source.scan().text_bytes(self.source.columns().len()))
    }

    fn format_bytes(&self, target: &Target) -> u64 {
        if target.kind.format == Format::Parquet { rewrite::parquet_out::WRITER_BYTES } else { 0 }
    }

    fn rewrite(&self, rewrite: &Rewrite, target: &Target, observer: &dyn Observer) -> Result<StagedFile, EngineFault> {
        Ok(self.stage(rewrite, target, observer)?)
    }
}
