//! First pass: finds the distinct rows of some columns and counts the records that have each.
//!
//! Guarantee: the result is that of a `GROUP BY`, with the number of the first record of each row and value. It does
//! not depend on the number of threads or the size of pieces, except for the order of codes and rows.
//!
//! How: each thread encodes the cells of its pieces with its own dictionaries and counts rows of codes
//! ([`PartialCounts`]). At the end, the counts of all threads are merged into those of the first, and positions become
//! record numbers.
//!
//! ```text
//! piece 0 ─▶ thread A   dictionaries, counter ─┐
//! piece 1 ─▶ thread B   dictionaries, counter ─┼─▶ map B's codes to A's, add B's counts ─▶ Counts
//! piece 2 ─▶ thread A                          ┘
//! ```
//!
//! Cost: one read of the input; memory grows with the distinct values and rows of each thread. Above the memory limit
//! the pass stops with an estimate of the memory it needs ([`OutOfMemory`]).

use std::collections::HashSet;

use moretta_core::{
    counts::{CountedColumn, Counts},
    group_sizes::GroupSizes,
    observer::Observer,
};

use crate::{
    arrow::encode::ColumnEncoder,
    csv::convert::unguarded,
    dictionary::Dictionary,
    error::{EngineError, OutOfMemory},
    hashed_rows::{HashedRows, columns_of},
    local::EngineOptions,
    memory::{MemoryBudget, memory_to_count},
    row_counter::RowCounter,
    scan::{PieceBatch, PieceMode, RecordNumbers, ScanRequest, scan},
    source::Source,
};

/// Dictionaries and counts of the pieces that one thread has read.
#[derive(Debug)]
struct PartialCounts {
    dictionaries: Vec<Dictionary>,
    encoders: Vec<ColumnEncoder>,
    rows: RowCounter,
    /// Rows of further sets of columns.
    hashed: HashedRows,
    /// Scratch space: column-major codes of the records being counted.
    codes: Vec<u32>,
    /// Scratch space: number of codes of each dictionary.
    sizes: Vec<usize>,
    /// Bytes that the memory budget knows of.
    reported_bytes: u64,
    /// Distinct rows that it knows of.
    reported_rows: u64,
}

impl PartialCounts {
    /// No records of `width` columns, and of further sets of columns.
    fn new(width: usize, sets: &[Vec<usize>]) -> Self {
        Self {
            dictionaries: (0..width).map(|_| Dictionary::default()).collect(),
            encoders: (0..width).map(|_| ColumnEncoder::default()).collect(),
            rows: RowCounter::new(width),
            hashed: HashedRows::new(sets),
            codes: Vec::new(),
            sizes: Vec::new(),
            reported_bytes: 0,
            reported_rows: 0,
        }
    }

    /// Counts the records of a batch by the columns at `column_indices`.
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
            self.hashed.add(batch, first..first + chunk)?;
        }
        Ok(())
    }

    /// Reports the allocated bytes to the budget. An error if all threads together exceed it; `read` is the fraction of
    /// the input that was read, for the estimate in the error.
    fn check_memory(
        &mut self,
        (budget, limit): (&MemoryBudget, u64),
        names: &[String],
        read: f64,
    ) -> Result<(), EngineError> {
        let held = self.rows.size() + self.hashed.size() + self.dictionaries.iter().map(Dictionary::size).sum::<u64>();
        let rows = self.rows.len() as u64;
        let distinct_rows = budget.add_rows(rows - self.reported_rows);
        self.reported_rows = rows;
        if budget.report(&mut self.reported_bytes, held) {
            return Ok(());
        }
        let widest = (0..names.len()).max_by_key(|&column| self.dictionaries[column].len()).unwrap_or(0);
        let read = read.clamp(1e-6, 1.0);
        Err(EngineError::OutOfMemory(Box::new(OutOfMemory {
            limit,
            read,
            distinct_rows,
            needed: memory_to_count((budget.used() as f64 / read) as u64),
            column: names.get(widest).cloned().unwrap_or_default(),
            distinct_values: self.dictionaries.get(widest).map_or(0, |dictionary| dictionary.len() as u64),
        })))
    }

    /// Adds the counts of another thread.
    fn merge(&mut self, other: Self) {
        let map = |(mine, theirs): (&mut Dictionary, &Dictionary)| {
            (0..theirs.len() as u32).map(|code| mine.encode(theirs.value(code))).collect()
        };
        let maps: Vec<Vec<u32>> = self.dictionaries.iter_mut().zip(&other.dictionaries).map(map).collect();
        let sizes: Vec<usize> = self.dictionaries.iter().map(Dictionary::len).collect();
        self.rows.merge(&other.rows, &maps, &sizes);
        self.hashed.merge(other.hashed);
    }
}

/// Merges the counts of all threads and converts positions to record numbers.
fn merge_all(
    partials: Vec<PartialCounts>,
    source: &Source,
    (columns, indices): (&[String], &[usize]),
    numbers: &RecordNumbers,
) -> (Counts, Vec<GroupSizes>) {
    let mut partials = partials.into_iter();
    let mut all = partials.next().unwrap_or_else(|| PartialCounts::new(columns.len(), &[]));
    partials.for_each(|other| all.merge(other));
    let PartialCounts { dictionaries, rows, hashed, .. } = all;
    let sizes = hashed.sizes();
    drop(hashed);
    let mut counts = Counts { records: numbers.records(), ..Counts::default() };
    let mut first_records = Vec::with_capacity(rows.len());
    let mut first_by_code: Vec<Vec<u64>> = dictionaries.iter().map(|values| vec![u64::MAX; values.len()]).collect();
    counts.codes.reserve_exact(rows.len() * columns.len());
    counts.counts.reserve_exact(rows.len());
    rows.for_each(|codes, count, position| {
        let first = numbers.number(position);
        counts.codes.extend_from_slice(codes);
        counts.counts.push(count);
        first_records.push(first);
        for (first_by_code, &code) in first_by_code.iter_mut().zip(codes) {
            let earliest = &mut first_by_code[code as usize];
            *earliest = first.min(*earliest);
        }
    });
    drop(rows);
    counts.first_records = Some(first_records);
    let guarded = source.csv_options().guard_formulas;
    let columns = columns.iter().zip(indices);
    for (((name, &index), dictionary), first_records) in columns.zip(dictionaries).zip(first_by_code) {
        let value = |code| String::from_utf8_lossy(dictionary.value(code)).into_owned().into_boxed_str();
        let mut values: Vec<Box<str>> = (0..dictionary.len() as u32).map(value).collect();
        if guarded {
            remove_guards(&mut values);
        }
        let (name, typed) = (name.clone(), source.is_typed(index));
        counts.columns.push(CountedColumn { name, values, first_records: Some(first_records), typed });
    }
    (counts, sizes)
}

/// Removes the apostrophes before formulas, unless a text would occur twice: a release never has it both ways.
fn remove_guards(values: &mut [Box<str>]) {
    let is_bare = |value: &str| unguarded(value).len() == value.len();
    let bare: HashSet<Box<str>> = values.iter().filter(|value| is_bare(value)).cloned().collect();
    for value in values {
        let text = unguarded(value);
        if text.len() < value.len() && !bare.contains(text) {
            *value = text.into();
        }
    }
}

/// Columns to count.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountRequest<'a> {
    /// Names of the columns whose rows are counted.
    pub(crate) names: &'a [String],
    /// Their indices in the source.
    pub(crate) columns: &'a [usize],
    /// Sets of columns for which only the sizes of groups are counted.
    pub(crate) sets: &'a [Vec<usize>],
}

/// Groups and counts the records of a source.
pub(crate) fn group_and_count(
    source: &Source,
    request: &CountRequest<'_>,
    options: &EngineOptions,
    observer: &dyn Observer,
) -> Result<(Counts, Vec<GroupSizes>), EngineError> {
    let CountRequest { names, columns, sets } = *request;
    source.check_has_text(columns)?;
    let limit = options.memory.unwrap_or(u64::MAX);
    let budget = MemoryBudget::new(options.count_budget());
    let states = (0..options.threads).map(|_| PartialCounts::new(columns.len(), sets)).collect();
    // Values without a text form cannot be encoded, but hashed.
    let hashed = columns_of(sets);
    let (with_text, nested): (Vec<usize>, Vec<usize>) =
        hashed.into_iter().partition(|&column| source.check_has_text(&[column]).is_ok());
    let encoded = [columns, &with_text].concat();
    let request = ScanRequest { encoded: &encoded, copied: &nested, mode: PieceMode::Any, options };
    let (partials, numbers) =
        scan(source.scan(), &request, states, observer, &[], |partial: &mut PartialCounts, batch| {
            partial.add(&batch, columns)?;
            partial.check_memory((&budget, limit), names, batch.done)
        })?;
    if numbers.records() == 0 {
        return Err(EngineError::NoRecords { path: source.first_path() });
    }
    Ok(merge_all(partials, source, (names, columns), &numbers))
}
