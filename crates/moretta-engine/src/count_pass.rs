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
    hashed_rows::{EncodedColumns, HashedRows, columns_of},
    local::EngineOptions,
    memory::{MemoryBudget, memory_to_count},
    ordered_pool::map_each,
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
            let encoded =
                EncodedColumns { columns: column_indices, codes: &self.codes, dictionaries: &self.dictionaries };
            self.hashed.add(batch, first..first + chunk, encoded)?;
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
}

/// Merges the counts of all threads and converts positions to record numbers.
fn merge_all(
    partials: Vec<PartialCounts>,
    source: &Source,
    (names, indices): (&[String], &[usize]),
    numbers: &RecordNumbers,
) -> (Counts, Vec<GroupSizes>) {
    let threads = partials.len();
    let (mut of_columns, mut rows, mut hashed) = (Vec::new(), Vec::new(), Vec::new());
    of_columns.resize_with(names.len(), Vec::new);
    for partial in partials {
        of_columns.iter_mut().zip(partial.dictionaries).for_each(|(all, dictionary)| all.push(dictionary));
        rows.push(partial.rows);
        hashed.push(partial.hashed);
    }
    let group_sizes = HashedRows::sizes(hashed);
    let (dictionaries, mut maps_of_columns): (Vec<Dictionary>, Vec<_>) =
        map_each(of_columns, threads, merge_dictionaries).into_iter().unzip();
    if threads > 1 {
        let maps_of =
            |thread: usize| maps_of_columns.iter_mut().map(|maps| std::mem::take(&mut maps[thread])).collect();
        let maps: Vec<Vec<Vec<u32>>> = (0..threads).map(maps_of).collect();
        let sizes: Vec<usize> = dictionaries.iter().map(Dictionary::len).collect();
        rows = RowCounter::merged(&rows, &maps, &sizes, threads);
    }
    let mut counts = Counts { records: numbers.records(), ..Counts::default() };
    let (first_records, first_by_code) = write_rows(rows, &mut counts, &dictionaries, numbers);
    counts.first_records = Some(first_records);
    let guarded = source.csv_options().guard_formulas;
    let column = |(((name, &index), dictionary), first_records): (((&String, &usize), Dictionary), Vec<u64>)| {
        let value = |code| String::from_utf8_lossy(dictionary.value(code)).into_owned().into_boxed_str();
        let mut values: Vec<Box<str>> = (0..dictionary.len() as u32).map(value).collect();
        if guarded {
            remove_guards(&mut values);
        }
        let (name, typed) = (name.clone(), source.is_typed(index));
        CountedColumn { name, values, first_records: Some(first_records), typed }
    };
    let columns = names.iter().zip(indices).zip(dictionaries).zip(first_by_code).collect();
    counts.columns = map_each(columns, threads, column);
    (counts, group_sizes)
}

/// Merges the dictionaries of a column of all threads. Returns it with the codes of each thread's values.
fn merge_dictionaries(of_threads: Vec<Dictionary>) -> (Dictionary, Vec<Vec<u32>>) {
    let mut of_threads = of_threads.into_iter();
    let mut all = of_threads.next().unwrap_or_default();
    let mut maps = vec![(0..all.len() as u32).collect()];
    for other in of_threads {
        maps.push((0..other.len() as u32).map(|code| all.encode(other.value(code))).collect());
    }
    (all, maps)
}

/// Writes rows to counts. Returns the first record of each row, and of each value by column.
fn write_rows(
    rows: Vec<RowCounter>,
    counts: &mut Counts,
    dictionaries: &[Dictionary],
    numbers: &RecordNumbers,
) -> (Vec<u64>, Vec<Vec<u64>>) {
    let (width, total) = (dictionaries.len(), rows.iter().map(RowCounter::len).sum());
    counts.codes = vec![0; total * width];
    counts.counts = vec![0; total];
    let mut first_records = vec![0; total];
    let (mut all_codes, mut all_counts, mut all_first) =
        (&mut counts.codes[..], &mut counts.counts[..], &mut first_records[..]);
    let mut parts = Vec::new();
    for rows in rows {
        let (codes, counts, first);
        (codes, all_codes) = all_codes.split_at_mut(rows.len() * width);
        (counts, all_counts) = all_counts.split_at_mut(rows.len());
        (first, all_first) = all_first.split_at_mut(rows.len());
        parts.push((rows, codes, counts, first));
    }
    let threads = parts.len();
    let write = |(rows, codes, counts, first): (RowCounter, &mut [u32], &mut [u64], &mut [u64])| {
        let mut first_by_code: Vec<Vec<u64>> = dictionaries.iter().map(|values| vec![u64::MAX; values.len()]).collect();
        let mut row = 0;
        rows.for_each(|row_codes, count, position| {
            codes[row * width..(row + 1) * width].copy_from_slice(row_codes);
            (counts[row], first[row]) = (count, numbers.number(position));
            for (first_by_code, &code) in first_by_code.iter_mut().zip(row_codes) {
                let earliest = &mut first_by_code[code as usize];
                *earliest = first[row].min(*earliest);
            }
            row += 1;
        });
        first_by_code
    };
    let earlier = |mut all: Vec<Vec<u64>>, part: Vec<Vec<u64>>| {
        let columns = all.iter_mut().zip(part);
        columns.for_each(|(all, part)| all.iter_mut().zip(part).for_each(|(all, part)| *all = part.min(*all)));
        all
    };
    let first_by_code = map_each(parts, threads, write).into_iter().reduce(earlier).unwrap_or_default();
    (first_records, first_by_code)
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
