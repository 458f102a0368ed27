//! A rewrite, checked and prepared: which columns are written, and which label each record gets.
//!
//! Guarantee: after [`Plan::new`], every index of the rewrite is in range and no sum of shares overflows. The second
//! pass can then only fail on records that differ from those of the first pass; additional and missing records are
//! [`EngineError::InputChanged`].
//!
//! How: a label is an index into the labels of its column, with `*` as an additional last label. By [`LabelRule`], the
//! label depends on the cell, or on the group that the record is assigned to. A row whose records go to several groups
//! is *split*: its records are numbered in input order, and a random permutation of the numbers decides their group
//! (see [`super::random`]), so that nothing but chance connects a record with its group.
//!
//! ```text
//! row (age 36, city Rome) has 5 records: 3 go to group 7, 2 to group 9
//! number in input order      0 1 2 3 4
//! permuted                   3 0 4 1 2       below 3: group 7, others: group 9
//! group                      9 7 9 7 7
//! ```
//!
//! Each piece takes three steps: look up the rows ([`Plan::look_up_rows`]), number the records of split rows
//! ([`Plan::number_split_records`]), assign groups ([`Plan::assign_groups`]). Only the short second step runs in input
//! order.
//!
//! Cost: one hash lookup per cell and, unless labels depend on cells only, one per record.

use std::{
    hint::black_box,
    sync::atomic::{AtomicU64, Ordering},
};

use moretta_core::counts::{Change, KeyColumn, Rewrite, Share};

use super::random::RowPermutations;
use crate::{dictionary::Dictionary, error::EngineError, row_table::RowTable, source::Source};

/// Content of a column of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutColumn {
    /// Unchanged cells of the source column of this index.
    Copy(usize),
    /// Labels of the rewritten column of this index.
    Label(usize),
}

/// A checked rewrite. It borrows labels and shares, which may be as large as the table.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// Columns of the output, in the order of the source.
    pub(crate) columns: Vec<OutColumn>,
    /// Names of the columns of the output.
    pub(crate) names: Vec<String>,
    /// Per key column, its index in the source and the codes of its values.
    pub(crate) key: Vec<(usize, Dictionary)>,
    /// Labels of each rewritten column, without the additional `*`.
    labels: &'a [Vec<Box<str>>],
    /// Index in `key` of each rewritten column.
    key_indices: Vec<usize>,
    rule: LabelRule<'a>,
}

/// Property of a record that determines its label.
#[derive(Debug)]
enum LabelRule<'a> {
    /// The code of the cell.
    Value,
    /// The code of the cell; `*` if the record's row is one of these.
    ValueOrSuppressed(RowTable),
    /// The group that the record is assigned to.
    Group(Box<RowShares<'a>>),
}

/// Groups that the records of each row are assigned to.
#[derive(Debug)]
struct RowShares<'a> {
    /// All rows. The payload of a row is its group, which the lookup has in the same cache line, or [`SPLIT_ROW`].
    rows: RowTable,
    /// The shares of row `r` are `shares[offsets[r]..offsets[r + 1]]`.
    offsets: &'a [u32],
    shares: &'a [Share],
    /// Number of records of each row that were read so far.
    records_read: Vec<AtomicU64>,
    permutations: RowPermutations,
}

/// Labels of the records of a piece, in the form of codes and groups.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    /// Row-major codes of the key columns.
    pub(crate) codes: Vec<u32>,
    /// Group of each record, or [`SUPPRESSED`]; empty if the label depends on codes only.
    groups: Vec<u32>,
    split_records: Vec<SplitRecord>,
    /// Scratch space: row of each record that is not of a split row.
    rows: Vec<u32>,
}

/// Record of a split row, whose group is not known yet.
#[derive(Debug)]
struct SplitRecord {
    /// Index of the record in the piece.
    record: u32,
    row: u32,
    /// Number of earlier records of the same row.
    ordinal: u64,
}

/// In place of a group: all labels of the record are `*`.
const SUPPRESSED: u32 = u32::MAX;

/// In place of a group: the row has several shares. Greater than every group.
const SPLIT_ROW: u64 = 1 << 32;

impl<'a> Plan<'a> {
    /// Checks a rewrite and prepares its lookups.
    pub(crate) fn new(rewrite: &'a Rewrite, source: &Source) -> Result<Self, EngineError> {
        let rewritten: Vec<usize> = (0..rewrite.key.len()).filter(|&index| rewrite.key[index].rewritten).collect();
        let (labels, rule) = match &rewrite.change {
            Change::Map { labels, suppressed } => {
                check_labels(labels, rewritten.len(), |index| rewrite.key[rewritten[index]].values.len())?;
                let rule = match &suppressed[..] {
                    [] => LabelRule::Value,
                    rows => LabelRule::ValueOrSuppressed(index_rows(rows, rewrite, |_| 0)?),
                };
                (labels, rule)
            }
            Change::Shares { rows, offsets, shares, labels } => {
                let groups = labels.first().map_or(0, Vec::len);
                check_labels(labels, rewritten.len(), |_| groups)?;
                let max_groups = if labels.is_empty() { usize::MAX } else { groups };
                check_shares(rows.len() / rewrite.key.len().max(1), offsets, shares, max_groups)?;
                (labels, LabelRule::Group(Box::new(RowShares::new(rewrite, rows, offsets, shares)?)))
            }
        };
        // If no row is looked up, columns that are not rewritten need no codes.
        let needed: Vec<usize> =
            if matches!(rule, LabelRule::Value) { rewritten.clone() } else { (0..rewrite.key.len()).collect() };
        let encoded = |&index: &usize| {
            let KeyColumn { name, values, .. } = &rewrite.key[index];
            Ok((source.column_index(name)?, dictionary(values, name)?))
        };
        let key = needed.iter().map(encoded).collect::<Result<Vec<_>, EngineError>>()?;
        let key_indices: Vec<usize> =
            rewritten.iter().map(|index| needed.iter().position(|other| other == index).unwrap_or(0)).collect();
        let labeled = key_indices.iter().map(|&index| key[index].0);
        let (columns, names) = output_columns(rewrite, source, labeled)?;
        Ok(Self { columns, names, key, labels, key_indices, rule })
    }

    /// Labels of each rewritten column, `*` last.
    pub(crate) fn labels(&self) -> impl Iterator<Item = impl Iterator<Item = &'a str>> {
        self.labels.iter().map(|labels| labels.iter().map(|label| &**label).chain(["*"]))
    }

    /// Number of labels of a rewritten column, with `*`.
    pub(crate) fn num_labels(&self, column: usize) -> usize {
        self.labels[column].len() + 1
    }

    /// A label of a rewritten column.
    pub(crate) fn label(&self, column: usize, label: usize) -> &'a str {
        self.labels[column].get(label).map_or("*", |label| &**label)
    }

    /// Makes room for the key codes of `records` records and returns it, to be filled before [`Plan::look_up_rows`].
    pub(crate) fn reserve_codes<'d>(&self, decisions: &'d mut Decisions, records: usize) -> &'d mut [u32] {
        decisions.codes.resize(records * self.key.len(), 0);
        &mut decisions.codes
    }

    /// Looks up the rows of `records` encoded records.
    pub(crate) fn look_up_rows(&self, decisions: &mut Decisions, records: usize) -> Result<(), EngineError> {
        let Decisions { codes, groups, split_records, rows } = decisions;
        let width = self.key.len();
        split_records.clear();
        groups.clear();
        rows.clear();
        let codes = &codes[..records * width];
        match &self.rule {
            LabelRule::Value => {}
            LabelRule::ValueOrSuppressed(suppressed) => {
                suppressed.find_each(codes, records, |_, row| groups.push(if row.is_some() { SUPPRESSED } else { 0 }));
            }
            LabelRule::Group(shares) => {
                let mut unknown = false;
                shares.rows.find_each(codes, records, |record, row| {
                    let Some((row, group)) = row else {
                        unknown = true;
                        return;
                    };
                    groups.push(group as u32);
                    if group == SPLIT_ROW {
                        split_records.push(SplitRecord { record: record as u32, row, ordinal: 0 });
                    } else {
                        rows.push(row);
                    }
                });
                if unknown {
                    return Err(EngineError::changed("a combination of values is new"));
                }
                shares.count_each(rows);
            }
        }
        Ok(())
    }

    /// Numbers the records of split rows. Must be called for the pieces in input order.
    pub(crate) fn number_split_records(&self, decisions: &mut Decisions) {
        let LabelRule::Group(shares) = &self.rule else { return };
        for split in &mut decisions.split_records {
            split.ordinal = shares.records_read[split.row as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Assigns a group to each numbered record of a split row.
    pub(crate) fn assign_groups(&self, decisions: &mut Decisions) -> Result<(), EngineError> {
        let LabelRule::Group(shares) = &self.rule else { return Ok(()) };
        for &SplitRecord { record, row, ordinal } in &decisions.split_records {
            let row_shares = shares.of_row(row);
            let total: u64 = row_shares.iter().map(|share| share.records).sum();
            if ordinal >= total {
                return Err(EngineError::changed("a combination of values has more records"));
            }
            let mut permuted = shares.permutations.permute(u64::from(row), ordinal, total);
            for share in row_shares {
                if permuted < share.records {
                    decisions.groups[record as usize] = share.group;
                    break;
                }
                permuted -= share.records;
            }
        }
        Ok(())
    }

    /// Returns an error if a label has a NUL byte, which a CSV file cannot hold (see [`EngineError::NulInText`]).
    pub(crate) fn check_labels_without_nul(&self, source: &Source) -> Result<(), EngineError> {
        for (labels, &key) in self.labels.iter().zip(&self.key_indices) {
            if labels.iter().any(|label| label.contains('\0')) {
                let column = source.columns()[self.key[key].0].clone();
                return Err(EngineError::NulInText { path: source.first_path(), column });
            }
        }
        Ok(())
    }

    /// Index of a record's label in the labels of a rewritten column.
    #[inline]
    pub(crate) fn label_index(&self, decisions: &Decisions, record: usize, column: usize) -> usize {
        match &self.rule {
            LabelRule::Group(_) => decisions.groups[record] as usize,
            LabelRule::ValueOrSuppressed(_) if decisions.groups[record] == SUPPRESSED => self.labels[column].len(),
            _ => decisions.codes[record * self.key.len() + self.key_indices[column]] as usize,
        }
    }

    /// Whether labels depend on the group, so that the label index of a record is the same in all rewritten columns.
    pub(crate) fn by_group(&self) -> bool {
        matches!(self.rule, LabelRule::Group(_))
    }

    /// Returns an error unless the number of records read of every row is that of its shares.
    pub(crate) fn check_all_read(&self) -> Result<(), EngineError> {
        let LabelRule::Group(shares) = &self.rule else { return Ok(()) };
        let same = shares.records_read.iter().enumerate().all(|(row, records)| {
            let total: u64 = shares.of_row(row as u32).iter().map(|share| share.records).sum();
            total == records.load(Ordering::Relaxed)
        });
        if same { Ok(()) } else { Err(EngineError::changed("a combination of values has another number of records")) }
    }
}

impl<'a> RowShares<'a> {
    fn new(rewrite: &Rewrite, rows: &[u32], offsets: &'a [u32], shares: &'a [Share]) -> Result<Self, EngineError> {
        let group_of = |row: usize| match &shares[offsets[row] as usize..offsets[row + 1] as usize] {
            [only] => u64::from(only.group),
            _ => SPLIT_ROW,
        };
        let rows = index_rows(rows, rewrite, group_of)?;
        Ok(Self {
            offsets,
            shares,
            records_read: (0..rows.len()).map(|_| AtomicU64::new(0)).collect(),
            permutations: RowPermutations::new(rewrite.seed),
            rows,
        })
    }

    /// Counts a record of each row.
    fn count_each(&self, rows: &[u32]) {
        /// Rows per batch: enough for cache misses to overlap. Not tuned.
        const BATCH_ROWS: usize = 64;
        for batch in rows.chunks(BATCH_ROWS) {
            // These loads overlap, as the atomic additions do not.
            let counters = batch.iter().map(|&row| &self.records_read[row as usize]);
            black_box(counters.clone().fold(0, |all, records| all ^ records.load(Ordering::Relaxed)));
            for records in counters {
                records.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    #[inline]
    fn of_row(&self, row: u32) -> &[Share] {
        &self.shares[self.offsets[row as usize] as usize..self.offsets[row as usize + 1] as usize]
    }
}

/// Columns of the output and their names: source columns that are not dropped. `labeled` are the source columns that
/// are rewritten, in the order of their labels.
fn output_columns(
    rewrite: &Rewrite,
    source: &Source,
    labeled: impl Iterator<Item = usize>,
) -> Result<(Vec<OutColumn>, Vec<String>), EngineError> {
    let mut columns: Vec<Option<OutColumn>> = (0..source.columns().len()).map(OutColumn::Copy).map(Some).collect();
    for (label, column) in labeled.enumerate() {
        if matches!(columns[column], Some(OutColumn::Label(_))) {
            return Err(EngineError::bad_rewrite("a column is in its key twice"));
        }
        columns[column] = Some(OutColumn::Label(label));
    }
    for name in &rewrite.dropped {
        columns[source.column_index(name)?] = None;
    }
    let named = columns.into_iter().zip(source.columns());
    let kept: (Vec<OutColumn>, Vec<String>) = named.filter_map(|(column, name)| Some((column?, name.clone()))).unzip();
    if kept.0.is_empty() {
        return Err(EngineError::bad_rewrite("all columns are dropped"));
    }
    Ok(kept)
}

/// Checks that there are labels for all `width` rewritten columns, `expected(index)` for the column of that index.
fn check_labels(labels: &[Vec<Box<str>>], width: usize, expected: impl Fn(usize) -> usize) -> Result<(), EngineError> {
    if labels.len() != width {
        let detail = format!("labels for {} columns, and {width} are rewritten", labels.len());
        return Err(EngineError::bad_rewrite(detail));
    }
    match labels.iter().map(Vec::len).zip((0..).map(expected)).find(|(found, expected)| found != expected) {
        Some((found, expected)) => {
            Err(EngineError::bad_rewrite(format!("{found} labels where there should be {expected}")))
        }
        None => Ok(()),
    }
}

/// Checks that every row has a share, that all groups are below `groups`, and that no sum of records overflows.
fn check_shares(rows: usize, offsets: &[u32], shares: &[Share], groups: usize) -> Result<(), EngineError> {
    let bad = |detail: &str| Err(EngineError::bad_rewrite(detail));
    if offsets.len() != rows + 1 || offsets[0] != 0 || offsets[rows] as usize != shares.len() {
        return bad("its offsets do not fit its rows and shares");
    }
    if offsets.windows(2).any(|pair| pair[0] >= pair[1]) {
        return bad("a row has no share");
    }
    if shares.iter().any(|share| share.group as usize >= groups) {
        return bad("a share goes to a group without labels");
    }
    let sums_fit = offsets.windows(2).all(|pair| {
        let row_shares = &shares[pair[0] as usize..pair[1] as usize];
        row_shares.iter().try_fold(0u64, |sum, share| sum.checked_add(share.records)).is_some()
    });
    if sums_fit { Ok(()) } else { bad("shares add up to too many records") }
}

/// Builds the table of a rewrite's distinct rows; row `r` gets the row number `r` and the payload `payload(r)`.
fn index_rows(codes: &[u32], rewrite: &Rewrite, payload: impl Fn(usize) -> u64) -> Result<RowTable, EngineError> {
    let width = rewrite.key.len();
    if width == 0 || !codes.len().is_multiple_of(width) {
        return Err(EngineError::bad_rewrite("its rows do not fit its key"));
    }
    let is_known =
        |row: &[u32]| row.iter().zip(&rewrite.key).all(|(&code, column)| (code as usize) < column.values.len());
    if !codes.chunks_exact(width).all(is_known) {
        return Err(EngineError::bad_rewrite("a row has a code without a value"));
    }
    RowTable::of_distinct(width, codes, payload).ok_or_else(|| EngineError::bad_rewrite("a row occurs twice"))
}

/// Builds the dictionary of a key column; the code of a value is its index.
fn dictionary(values: &[Box<str>], name: &str) -> Result<Dictionary, EngineError> {
    let mut dictionary = Dictionary::default();
    for (code, value) in values.iter().enumerate() {
        if dictionary.encode(value.as_bytes()) as usize != code {
            return Err(EngineError::bad_rewrite(format!("column `{name}` has a value twice")));
        }
    }
    Ok(dictionary)
}
