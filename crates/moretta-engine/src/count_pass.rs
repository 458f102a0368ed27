//! The first pass: distinct rows and how many records carry each.
//!
//! Guarantee: the rows, their counts and first records are those of a `GROUP BY`, whatever the number of threads and
//! size of pieces (only the order of codes and rows differs). Memory follows the distinct values and rows; past the budget
//! the pass stops with an account of what would fit.
//!
//! Structure: each thread codes the column_indices cells of its batches with dictionaries of its own and counts rows of codes
//! ([`PartialCounts`]); at the end the threads' tables are folded into the first one's, and first positions become record numbers.

use moretta_core::{
    counts::{CountedColumn, Counts},
    observer::Observer,
};

use crate::{
    arrow::encode::ColumnEncoder,
    dictionary::Dictionary,
    error::{EngineError, OutOfMemory},
    local::EngineOptions,
    memory::MemoryBudget,
    row_counter::RowCounter,
    scan::{PieceBatch, PieceMode, RecordNumbers, ScanRequest, scan},
    source::Source,
};

/// One thread's dictionaries and rows.
#[derive(Debug)]
struct PartialCounts {
    dictionaries: Vec<Dictionary>,
    encoders: Vec<ColumnEncoder>,
    rows: RowCounter,
    codes: Vec<u32>,
    sizes: Vec<usize>,
    reported_bytes: u64,
}

impl PartialCounts {
    /// Nothing seen of `width` columns.
    fn new(width: usize) -> Self {
        Self {
            dictionaries: (0..width).map(|_| Dictionary::default()).collect(),
            encoders: (0..width).map(|_| ColumnEncoder::default()).collect(),
            rows: RowCounter::new(width),
            codes: Vec::new(),
            sizes: Vec::new(),
            reported_bytes: 0,
        }
    }

    /// Counts the records of a batch.
    fn add(&mut self, batch: &PieceBatch<'_>, column_indices: &[usize]) -> Result<(), EngineError> {
        let records = batch.records;
        for first in (0..records.len()).step_by(records.chunk()) {
            let chunk = records.chunk().min(records.len() - first);
            self.codes.resize(chunk * column_indices.len(), 0);
            let codes = self.codes.chunks_exact_mut(chunk);
            let columns = codes.zip(column_indices).zip(self.dictionaries.iter_mut().zip(&mut self.encoders));
            for ((codes, &column), (dictionary, encoder)) in columns {
                let range = first..first + chunk;
                records.encode(column, range, encoder, (codes, 1), &mut |text| Some(dictionary.encode(text)))?;
            }
            self.sizes.clear();
            self.sizes.extend(self.dictionaries.iter().map(Dictionary::len));
            self.rows.add_each(&self.codes, chunk, &self.sizes, batch.position() + first as u64);
        }
        Ok(())
    }

    /// Tells the budget what is held; an error if that is too much after `read` of the input.
    fn check(&mut self, budget: &MemoryBudget, names: &[String], read: f64) -> Result<(), EngineError> {
        let holds = self.rows.size() + self.dictionaries.iter().map(Dictionary::size).sum::<u64>();
        if budget.report(&mut self.reported_bytes, holds) {
            return Ok(());
        }
        let widest = (0..names.len()).max_by_key(|&key| self.dictionaries[key].len()).unwrap_or(0);
        let read = read.clamp(1e-6, 1.0);
        Err(EngineError::OutOfMemory(Box::new(OutOfMemory {
            budget: budget.limit(),
            read,
            distinct_rows: self.rows.len() as u64,
            needed: (budget.used() as f64 / read) as u64,
            column: names.get(widest).cloned().unwrap_or_default(),
            distinct_values: self.dictionaries.get(widest).map_or(0, |dictionary| dictionary.len() as u64),
        })))
    }

    /// Adds what another thread counted.
    fn merge(&mut self, other: Self) {
        let maps: Vec<Vec<u32>> = self
            .dictionaries
            .iter_mut()
            .zip(&other.dictionaries)
            .map(|(mine, theirs)| (0..theirs.len() as u32).map(|code| mine.encode(theirs.value(code))).collect())
            .collect();
        let sizes: Vec<usize> = self.dictionaries.iter().map(Dictionary::len).collect();
        self.rows.merge(&other.rows, &maps, &sizes);
    }
}

/// Folds the threads' tables into one.
fn finish(groupers: Vec<PartialCounts>, columns: &[String], numbers: &RecordNumbers) -> Counts {
    let mut groupers = groupers.into_iter();
    let mut all = groupers.next().unwrap_or_else(|| PartialCounts::new(columns.len()));
    groupers.for_each(|other| all.merge(other));
    let PartialCounts { dictionaries, rows, .. } = all;
    let mut counts = Counts { records: numbers.records(), ..Counts::default() };
    let mut first_records = Vec::with_capacity(rows.len());
    let mut firsts: Vec<Vec<u64>> = dictionaries.iter().map(|dictionary| vec![u64::MAX; dictionary.len()]).collect();
    counts.codes.reserve_exact(rows.len() * columns.len());
    counts.counts.reserve_exact(rows.len());
    rows.for_each(|codes, count, position| {
        let first = numbers.number(position);
        counts.codes.extend_from_slice(codes);
        counts.counts.push(count);
        first_records.push(first);
        for (firsts, &code) in firsts.iter_mut().zip(codes) {
            let known = &mut firsts[code as usize];
            *known = first.min(*known);
        }
    });
    drop(rows);
    counts.first_records = Some(first_records);
    counts.columns = columns
        .iter()
        .zip(dictionaries)
        .zip(firsts)
        .map(|((name, dictionary), first_records)| CountedColumn {
            name: name.clone(),
            values: (0..dictionary.len() as u32)
                .map(|code| String::from_utf8_lossy(dictionary.value(code)).into_owned().into_boxed_str())
                .collect(),
            first_records: Some(first_records),
        })
        .collect();
    counts
}

/// Groups and counts the records of a source by the columns at `column_indices`.
pub(crate) fn group_and_count(
    source: &Source,
    names: &[String],
    column_indices: &[usize],
    options: &EngineOptions,
    observer: &dyn Observer,
) -> Result<Counts, EngineError> {
    source.check_has_text(column_indices)?;
    let budget = MemoryBudget::new(options.memory);
    let states = (0..options.threads).map(|_| PartialCounts::new(column_indices.len())).collect();
    let request = ScanRequest { encoded: column_indices, copied: &[], mode: PieceMode::Any, options };
    let (groupers, numbers) =
        scan(source.scan(), &request, states, observer, &[], |grouper: &mut PartialCounts, batch| {
            grouper.add(&batch, column_indices)?;
            grouper.check(&budget, names, batch.done)
        })?;
    if numbers.records() == 0 {
        return Err(EngineError::NoRecords { path: source.first_path() });
    }
    Ok(finish(groupers, names, &numbers))
}
