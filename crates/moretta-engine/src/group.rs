//! The first pass: distinct rows and how many records carry each.
//!
//! Guarantee: the rows, their counts and first records are those of a `GROUP BY`, whatever the number of threads and
//! block size (only the order of codes and rows differs). Memory follows the distinct values and rows; past the budget
//! the pass stops with an account of what would fit.
//!
//! Structure: each thread codes the wanted cells of its blocks with dictionaries of its own and counts rows of codes
//! ([`Grouper`]); at the end the threads' tables are folded into the first one's, and first places become record numbers.

use crate::counting::Counting;
use crate::csv::content;
use crate::csv::scan::{CsvInput, Piece, scan};
use crate::dictionary::Dictionary;
use crate::error::{EngineError, OutOfMemory};
use crate::memory::Budget;
use moretta_core::counts::{CountedColumn, Counts};
use moretta_core::observer::Observer;

/// Rows coded at a time: their codes stay in the first-level cache.
const CHUNK: usize = 256;

/// One thread's dictionaries and rows.
#[derive(Debug)]
pub(crate) struct Grouper {
    pub(crate) dictionaries: Vec<Dictionary>,
    rows: Counting,
    codes: Vec<u32>,
    sizes: Vec<usize>,
    scratch: Vec<u8>,
    reported: u64,
}

impl Grouper {
    /// Nothing seen of `width` columns.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            dictionaries: (0..width).map(|_| Dictionary::default()).collect(),
            rows: Counting::new(width),
            codes: Vec::new(),
            sizes: Vec::new(),
            scratch: Vec::new(),
            reported: 0,
        }
    }

    /// Counts the records of a parsed block.
    fn add_block(&mut self, piece: &Piece<'_>, wanted: &[usize], quote: u8) {
        let (bytes, fields, width) = (piece.block.bytes(), piece.fields, wanted.len());
        let place = (piece.number as u64) << 32;
        for first in (0..fields.records()).step_by(CHUNK) {
            let chunk = CHUNK.min(fields.records() - first);
            let mut codes = std::mem::take(&mut self.codes);
            codes.resize(chunk * width, 0);
            for ((codes, &column), dictionary) in codes.chunks_exact_mut(chunk).zip(wanted).zip(&mut self.dictionaries)
            {
                for (record, code) in (first..).zip(codes) {
                    let raw = fields.raw(bytes, record, column);
                    *code = dictionary.code(content(raw, quote, &mut self.scratch));
                }
            }
            self.count(&codes, chunk, place | first as u64);
            self.codes = codes;
        }
    }

    /// Counts records whose codes, column by column, the dictionaries have given.
    pub(crate) fn count(&mut self, codes: &[u32], records: usize, place: u64) {
        self.sizes.clear();
        self.sizes.extend(self.dictionaries.iter().map(Dictionary::len));
        self.rows.add_each(codes, records, &self.sizes, place);
    }

    /// Tells the budget what is held; an error if that is too much after `read` of the input.
    pub(crate) fn check(&mut self, budget: &Budget, names: &[String], read: f64) -> Result<(), EngineError> {
        let holds = self.rows.size() + self.dictionaries.iter().map(Dictionary::size).sum::<u64>();
        if budget.report(&mut self.reported, holds) {
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
    fn merge(&mut self, other: Grouper) {
        let maps: Vec<Vec<u32>> = self
            .dictionaries
            .iter_mut()
            .zip(&other.dictionaries)
            .map(|(mine, theirs)| (0..theirs.len() as u32).map(|code| mine.code(theirs.value(code))).collect())
            .collect();
        let sizes: Vec<usize> = self.dictionaries.iter().map(Dictionary::len).collect();
        self.rows.merge(&other.rows, &maps, &sizes);
    }
}

/// Folds the threads' tables into one; `number` turns a place into a record number.
pub(crate) fn finish(groupers: Vec<Grouper>, columns: &[String], records: u64, number: impl Fn(u64) -> u64) -> Counts {
    let mut groupers = groupers.into_iter();
    let mut all = groupers.next().unwrap_or_else(|| Grouper::new(columns.len()));
    groupers.for_each(|other| all.merge(other));
    let Grouper { dictionaries, rows, .. } = all;
    let mut counts = Counts { records, ..Counts::default() };
    let mut firsts: Vec<Vec<u64>> = dictionaries.iter().map(|dictionary| vec![u64::MAX; dictionary.len()]).collect();
    counts.codes.reserve_exact(rows.len() * columns.len());
    counts.counts.reserve_exact(rows.len());
    counts.first_records.reserve_exact(rows.len());
    rows.for_each(|codes, count, place| {
        let first = number(place);
        counts.codes.extend_from_slice(codes);
        counts.counts.push(count);
        counts.first_records.push(first);
        for (firsts, &code) in firsts.iter_mut().zip(codes) {
            let known = &mut firsts[code as usize];
            *known = first.min(*known);
        }
    });
    drop(rows);
    counts.columns = columns
        .iter()
        .zip(dictionaries)
        .zip(firsts)
        .map(|((name, dictionary), first_records)| CountedColumn {
            name: name.clone(),
            values: (0..dictionary.len() as u32)
                .map(|code| String::from_utf8_lossy(dictionary.value(code)).into_owned().into_boxed_str())
                .collect(),
            first_records,
        })
        .collect();
    counts
}

/// Groups and counts a CSV source.
pub(crate) fn group_csv(
    input: &CsvInput,
    names: &[String],
    wanted: &[usize],
    threads: usize,
    budget: &Budget,
    observer: &dyn Observer,
) -> Result<Counts, EngineError> {
    let states = (0..threads).map(|_| Grouper::new(wanted.len())).collect();
    let (groupers, scanned) = scan(input, states, observer, &[], |grouper: &mut Grouper, piece| {
        grouper.add_block(&piece, wanted, input.dialect.quote);
        grouper.check(budget, names, piece.read as f64 / input.total.max(1) as f64)
    })?;
    if scanned.records() == 0 {
        return Err(EngineError::NoRecords { path: input.files[0].path.clone() });
    }
    Ok(finish(groupers, names, scanned.records(), |place| scanned.number(place)))
}
