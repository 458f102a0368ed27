//! Both passes as tables, for engines that speak SQL.
//!
//! Guarantee: counts and plan are those of the local engine. [`CountedRows`] reads the result of a `GROUP BY` with the
//! texts of a table in memory; [`SqlPlan`] says of every distinct row how many of its records go to which group, so that
//! an engine that joins it makes the same number of records with the same labels, however it divides its work.
//!
//! ```text
//! counted   columns, number         the result of a GROUP BY: each row once
//! rows      k0 .. kw, grp           distinct rows whose records all go to one group
//! splits    k0 .. kw, row           the other distinct rows
//! shares    row, first, last, grp   records number first to last (from 1, in a random order) of a row go to grp
//! groups    grp, l0 .. lp           labels of the rewritten columns
//! ```
//!
//! How: keys have the types that the engine counted, so that it joins its own values; they are taken by code from one
//! value per code. A global recoding becomes rows, too: a group is a distinct combination of labels. Cost: O(distinct
//! rows) time, and a copy of their values.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
};

use arrow_array::{
    Array, ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array,
    cast::AsArray,
    types::{Int32Type, Int64Type, UInt32Type, UInt64Type},
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use arrow_select::{interleave::interleave, take::take};
use moretta_core::{
    counts::{Change, CountedColumn, Counts, Rewrite, Share},
    hierarchy::ROOT_LABEL,
    observer::Observer,
};

use crate::{
    error::EngineError,
    local::{EngineOptions, LocalEngine},
    rewrite::random,
    source::Source,
    table::MemoryTable,
};

/// Rows per batch of a plan: texts of so many keys fit into an Arrow array.
const BATCH_ROWS: usize = 1 << 16;

/// Maximum records of a line of `shares`: an engine makes a row for each of them from one line. Not tuned.
const MAX_SHARE_RECORDS: u64 = 10_000;

/// Distinct rows of some columns, as an engine counted them.
#[derive(Debug)]
pub struct CountedRows {
    path: PathBuf,
    columns: Vec<String>,
    /// For each column, the text of each code.
    texts: Vec<Vec<Box<str>>>,
    /// For each column, a value of the engine for each code.
    values: Vec<ArrayRef>,
    /// Row-major codes of the rows.
    codes: Vec<u32>,
}

impl CountedRows {
    /// Reads the distinct rows of `columns`: a table of their values and, in its last column, the number of records of
    /// each row. The names of its columns do not matter.
    pub fn read(
        table: &MemoryTable,
        columns: &[String],
        options: EngineOptions,
        observer: &dyn Observer,
    ) -> Result<(Self, Counts), EngineError> {
        let path = PathBuf::from(table.name());
        let wrong = |reason| EngineError::BadCounts { path: path.clone(), reason };
        let width = columns.len();
        if table.schema().fields().len() != width + 1 {
            return Err(wrong("it should have the counted columns, and then the number of records"));
        }
        let numbers = table.batches().iter().map(|batch| numbers(batch.column(width)));
        let numbers: Option<Vec<Vec<u64>>> = numbers.collect();
        let numbers = numbers.ok_or_else(|| wrong("its last column should have whole numbers from 1 up"))?.concat();
        let records = numbers.iter().try_fold(0u64, |sum, &records| sum.checked_add(records));
        let records = records.ok_or_else(|| wrong("its numbers of records are too large"))?;
        let keys = keys(table, columns)?;
        let engine = LocalEngine::with_options(Source::of_table(keys.clone()), options);
        let counted = engine.group_and_count(columns, observer)?;
        let first_records = counted.first_records.as_deref().unwrap_or_default();
        if counted.rows() != numbers.len() || first_records.len() != numbers.len() {
            return Err(wrong("two of its rows have the same texts (a null counts as an empty text): count each once"));
        }
        // In the order of the table, so that nothing depends on threads.
        let mut codes = vec![0; counted.codes.len()];
        for (row, &record) in first_records.iter().enumerate() {
            let start = (record as usize - 1) * width;
            codes[start..start + width].copy_from_slice(counted.row(row));
        }
        let values = counted.columns.iter().enumerate().map(|(index, column)| first_values(&keys, index, column));
        let values = values.collect::<Result<_, _>>().map_err(EngineError::parquet(&path))?;
        let texts = counted.columns.iter().map(|column| column.values.clone()).collect();
        let unnumbered = |column: CountedColumn| CountedColumn { first_records: None, ..column };
        let counts = Counts {
            columns: counted.columns.into_iter().map(unnumbered).collect(),
            codes: codes.clone(),
            counts: numbers,
            first_records: None,
            records,
        };
        Ok((Self { path, columns: columns.to_vec(), texts, values, codes }, counts))
    }

    /// Whether a rewrite was made of these counts: its key has their columns and their codes. It may have further values.
    pub fn has_key_of(&self, rewrite: &Rewrite) -> bool {
        let counted = self.columns.iter().zip(&self.texts);
        rewrite.key.len() <= self.columns.len()
            && rewrite
                .key
                .iter()
                .zip(counted)
                .all(|(column, (name, texts))| column.name == *name && column.values.starts_with(texts))
    }
}

/// The numbers of a column of counts; `None` if one of them is no number of records.
fn numbers(array: &ArrayRef) -> Option<Vec<u64>> {
    fn of<N: Copy>(values: &[N], number: impl Fn(N) -> Option<u64>) -> Option<Vec<u64>> {
        values.iter().map(|&value| number(value).filter(|&records| records > 0)).collect()
    }
    if array.null_count() > 0 {
        return None;
    }
    match array.data_type() {
        DataType::Int32 => of(array.as_primitive::<Int32Type>().values(), |value| value.try_into().ok()),
        DataType::Int64 => of(array.as_primitive::<Int64Type>().values(), |value| value.try_into().ok()),
        DataType::UInt32 => of(array.as_primitive::<UInt32Type>().values(), |value| Some(value.into())),
        DataType::UInt64 => of(array.as_primitive::<UInt64Type>().values(), Some),
        _ => None,
    }
}

/// The table without its numbers, with other names.
fn keys(table: &MemoryTable, columns: &[String]) -> Result<MemoryTable, EngineError> {
    let field = |(name, field): (&String, &Arc<Field>)| Field::new(name, field.data_type().clone(), true);
    let fields: Vec<Field> = columns.iter().zip(table.schema().fields()).map(field).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = |batch: &RecordBatch| {
        RecordBatch::try_new(Arc::clone(&schema), batch.columns()[..columns.len()].to_vec())
            .map_err(EngineError::parquet(table.name().as_ref()))
    };
    let batches = table.batches().iter().map(batch).collect::<Result<_, _>>()?;
    MemoryTable::new(table.name(), &schema, batches)
}

/// For each code of a column, the value of the first row that has it.
fn first_values(table: &MemoryTable, index: usize, column: &CountedColumn) -> Result<ArrayRef, ArrowError> {
    let arrays: Vec<&dyn Array> = table.batches().iter().map(|batch| &**batch.column(index)).collect();
    let starts: Vec<u64> = table
        .batches()
        .iter()
        .scan(0, |rows, batch| {
            let start = *rows;
            *rows += batch.num_rows() as u64;
            Some(start)
        })
        .collect();
    let place = |record: &u64| {
        let batch = starts.partition_point(|start| start < record) - 1;
        (batch, (record - 1 - starts[batch]) as usize)
    };
    let places: Vec<(usize, usize)> = column.first_records.iter().flatten().map(place).collect();
    interleave(&arrays, &places)
}

/// The second pass as tables to join with.
#[derive(Debug)]
pub struct SqlPlan {
    /// Names of the key's columns in the source: `k0`, `k1`, ..
    pub key: Vec<String>,
    /// Names of the rewritten columns: `l0`, `l1`, ..
    pub rewritten: Vec<String>,
    /// Columns of the source that are not released.
    pub dropped: Vec<String>,
    /// Rows of one group.
    pub rows: MemoryTable,
    /// Rows of several groups.
    pub splits: MemoryTable,
    /// Groups of the records of `splits`.
    pub shares: MemoryTable,
    /// Labels of the groups.
    pub groups: MemoryTable,
    /// Secret of the order of the records, in hexadecimal digits: it depends on the seed and the release.
    pub secret: String,
}

impl SqlPlan {
    /// Tables of a rewrite. `counted` has the rows that it was made of.
    pub fn of(rewrite: &Rewrite, counted: &CountedRows) -> Result<Self, EngineError> {
        if let Some(column) = rewrite.renotated.iter().find(|column| column.from != column.to) {
            return Err(EngineError::NoNotation { path: counted.path.clone(), column: column.name.clone() });
        }
        let bad = |detail: &str| EngineError::BadRewrite { detail: detail.to_owned() };
        if !counted.has_key_of(rewrite) {
            return Err(bad("its key was not counted"));
        }
        let width = rewrite.key.len();
        let rewritten: Vec<String> =
            rewrite.key.iter().filter(|column| column.rewritten).map(|column| column.name.clone()).collect();
        let (mut rows, mut splits, mut lines) = (KeyedRows::new(width), KeyedRows::new(width), ShareLines::default());
        let merged;
        let labels = match &rewrite.change {
            Change::Shares { rows: codes, offsets, shares, labels } => {
                for (codes, ends) in codes.chunks(width).zip(offsets.windows(2)) {
                    match &shares[ends[0] as usize..ends[1] as usize] {
                        [Share { group, .. }] => rows.push(codes, i64::from(*group)),
                        shares => {
                            let row = splits.numbers.len() as i64;
                            splits.push(codes, row);
                            lines.push(row, shares);
                        }
                    }
                }
                labels
            }
            Change::Map { labels, suppressed } => {
                merged = merged_labels(counted, (rewrite, labels), suppressed, &mut rows);
                &merged
            }
        };
        let stream = random::sort_key_stream(rewrite);
        Ok(Self {
            key: rewrite.key.iter().map(|column| column.name.clone()).collect(),
            rewritten,
            dropped: rewrite.dropped.clone(),
            rows: rows.table("rows", counted, "grp")?,
            splits: splits.table("splits", counted, "row")?,
            shares: lines.table()?,
            groups: group_table(labels)?,
            secret: random::secret(rewrite.seed, stream).iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}

/// Groups of a global recoding: distinct combinations of labels. Returns their labels and adds the rows.
fn merged_labels(
    counted: &CountedRows,
    (rewrite, labels): (&Rewrite, &[Vec<Box<str>>]),
    suppressed: &[u32],
    rows: &mut KeyedRows,
) -> Vec<Vec<Box<str>>> {
    let (width, counted_width) = (rewrite.key.len(), counted.columns.len());
    let positions: Vec<usize> = (0..width).filter(|&column| rewrite.key[column].rewritten).collect();
    let suppressed: HashSet<&[u32]> = suppressed.chunks(width.max(1)).collect();
    let mut seen: HashSet<&[u32]> = Default::default();
    let mut groups: HashMap<Vec<&str>, i64> = Default::default();
    let mut merged: Vec<Vec<Box<str>>> = vec![Vec::new(); labels.len()];
    for row in counted.codes.chunks(counted_width.max(1)) {
        let codes = &row[..width];
        // A key of the rewritten columns alone has each of its rows several times among the counted ones.
        if width < counted_width && !seen.insert(codes) {
            continue;
        }
        let is_suppressed = suppressed.contains(codes);
        let texts: Vec<&str> = positions
            .iter()
            .zip(labels)
            .map(|(&position, labels)| if is_suppressed { ROOT_LABEL } else { &*labels[codes[position] as usize] })
            .collect();
        let next = groups.len() as i64;
        let group = *groups.entry(texts).or_insert_with_key(|texts| {
            merged.iter_mut().zip(texts).for_each(|(labels, &text)| labels.push(text.into()));
            next
        });
        rows.push(codes, group);
    }
    merged
}

/// Distinct rows of the key, each with a number: of its group, or of the row.
struct KeyedRows {
    width: usize,
    codes: Vec<u32>,
    numbers: Vec<i64>,
}

impl KeyedRows {
    fn new(width: usize) -> Self {
        Self { width, codes: Vec::new(), numbers: Vec::new() }
    }

    fn push(&mut self, codes: &[u32], number: i64) {
        self.codes.extend(codes);
        self.numbers.push(number);
    }

    fn table(&self, name: &str, counted: &CountedRows, number: &str) -> Result<MemoryTable, EngineError> {
        let key = (0..self.width).map(|column| (format!("k{column}"), counted.values[column].data_type().clone()));
        let of_rows = |(codes, numbers): (&[u32], &[i64])| {
            let codes_of =
                |column| UInt32Array::from_iter_values(codes.iter().skip(column).step_by(self.width).copied());
            let keys = (0..self.width).map(|column| take(&counted.values[column], &codes_of(column), None));
            keys.chain([Ok(integers(numbers))]).collect()
        };
        let batches = self.codes.chunks(BATCH_ROWS * self.width.max(1)).zip(self.numbers.chunks(BATCH_ROWS));
        table(name, key.chain([(number.to_owned(), DataType::Int64)]), batches.map(of_rows))
    }
}

/// Lines of the table `shares`.
#[derive(Default)]
struct ShareLines {
    row: Vec<i64>,
    first: Vec<i64>,
    last: Vec<i64>,
    grp: Vec<i64>,
}

impl ShareLines {
    /// Adds the shares of a row, in pieces of at most [`MAX_SHARE_RECORDS`].
    fn push(&mut self, row: i64, shares: &[Share]) {
        let mut next = 1;
        for share in shares {
            let end = next + share.records;
            while next < end {
                let last = end.min(next + MAX_SHARE_RECORDS) - 1;
                self.row.push(row);
                self.first.push(next as i64);
                self.last.push(last as i64);
                self.grp.push(i64::from(share.group));
                next = last + 1;
            }
        }
    }

    fn table(&self) -> Result<MemoryTable, EngineError> {
        let columns = [("row", &self.row), ("first", &self.first), ("last", &self.last), ("grp", &self.grp)];
        let fields = columns.iter().map(|(name, _)| ((*name).to_owned(), DataType::Int64));
        let of_lines = |start: usize| {
            let end = self.row.len().min(start + BATCH_ROWS);
            columns.iter().map(|(_, numbers)| Ok(integers(&numbers[start..end]))).collect()
        };
        table("shares", fields, (0..self.row.len()).step_by(BATCH_ROWS).map(of_lines))
    }
}

/// Labels of the groups, by column and group.
fn group_table(labels: &[Vec<Box<str>>]) -> Result<MemoryTable, EngineError> {
    let fields = (0..labels.len()).map(|column| (format!("l{column}"), DataType::Utf8));
    let fields = std::iter::once(("grp".to_owned(), DataType::Int64)).chain(fields);
    let groups = labels.first().map_or(0, Vec::len);
    let of_groups = |start: usize| {
        let end = groups.min(start + BATCH_ROWS);
        let numbers: Vec<i64> = (start as i64..end as i64).collect();
        let texts = labels.iter().map(|labels| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(labels[start..end].iter().map(|label| &**label)))
        });
        std::iter::once(integers(&numbers)).chain(texts).map(Ok).collect()
    };
    table("groups", fields, (0..groups).step_by(BATCH_ROWS).map(of_groups))
}

fn integers(numbers: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(numbers.to_vec()))
}

fn table(
    name: &str,
    fields: impl Iterator<Item = (String, DataType)>,
    batches: impl Iterator<Item = Result<Vec<ArrayRef>, ArrowError>>,
) -> Result<MemoryTable, EngineError> {
    let fields: Vec<Field> = fields.map(|(name, data_type)| Field::new(name, data_type, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = |columns: Result<Vec<ArrayRef>, ArrowError>| RecordBatch::try_new(Arc::clone(&schema), columns?);
    let batches = batches.map(batch).collect::<Result<_, _>>().map_err(EngineError::parquet(name.as_ref()))?;
    MemoryTable::new(name, &schema, batches)
}
