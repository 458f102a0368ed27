//! A rewrite, checked against the source and made ready: which columns leave, how a key is looked up, which label a record
//! gets.
//!
//! Guarantee: after [`Plan::new`] every index in the rewrite is in range and every row's shares add up, so that the pass
//! itself cannot go wrong but for records that were not there in the first pass; those, and records that are missing, are
//! [`EngineError::InputChanged`].
//!
//! Structure: a label is an index into its column's labels, with `*` as one more label at the end. A block of records is
//! decided in three steps: look up ([`Plan::look_up_rows`]), take a turn where equal records are told apart by their order
//! ([`Plan::number_split_records`]), and draw ([`Plan::assign_groups`]). Only the short second step is done in order.

use std::sync::atomic::{AtomicU64, Ordering};

use moretta_core::counts::{Change, Rewrite, Share};

use super::random::RowPermutations;
use crate::{dictionary::Dictionary, error::EngineError, row_table::RowTable, source::Source};

/// What becomes of a column that leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutColumn {
    /// The source's column as it is.
    Copy(usize),
    /// A label of this rewritten column.
    Label(usize),
}

/// A rewrite that can run.
#[derive(Debug)]
pub(crate) struct Plan {
    /// What leaves, in input order.
    pub(crate) columns: Vec<OutColumn>,
    /// The names of what leaves.
    pub(crate) names: Vec<String>,
    /// Where the key's columns are in the source, and their codes.
    pub(crate) key: Vec<(usize, Dictionary)>,
    /// The labels of each rewritten column, `*` last.
    pub(crate) labels: Vec<Vec<Box<str>>>,
    /// Where each rewritten column is in the key.
    key_indices: Vec<usize>,
    rule: LabelRule,
}

#[derive(Debug)]
enum LabelRule {
    /// The label is that of the cell's own code.
    ByValue,
    /// The same, but for the rows that are suppressed.
    ByValueOrSuppressed(RowTable),
    /// The label is that of the group the row, or this record of it, goes to.
    ByGroup(Box<RowShares>),
}

#[derive(Debug)]
struct RowShares {
    /// Beside each row its group, so that it comes with the same cache line, or [`SPLIT_ROW`].
    rows: RowTable,
    offsets: Vec<u32>,
    shares: Vec<Share>,
    /// How many records of each row were met.
    met: Vec<AtomicU64>,
    permutations: RowPermutations,
}

/// What was decided for the records of a block.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    /// Row-major codes of the key.
    pub(crate) codes: Vec<u32>,
    /// By record: a group, or [`SUPPRESSED`]; empty where codes alone rule.
    groups: Vec<u32>,
    /// Records of rows with several shares, their row, and which of the row's records they are.
    split_records: Vec<(u32, u32, u64)>,
}

const SUPPRESSED: u32 = u32::MAX;

/// A row with several shares: no group has this number.
const SPLIT_ROW: u64 = 1 << 32;

impl Plan {
    /// Checks a rewrite.
    pub(crate) fn new(rewrite: &Rewrite, source: &Source) -> Result<Self, EngineError> {
        let width = rewrite.key.len();
        let rewritten: Vec<usize> = (0..width).filter(|&at| rewrite.key[at].rewritten).collect();
        let (labels, rule) = match &rewrite.change {
            Change::Map { labels, suppressed } => {
                check_labels(labels, &rewritten, |at| rewrite.key[rewritten[at]].values.len())?;
                let rule = if suppressed.is_empty() {
                    LabelRule::ByValue
                } else {
                    LabelRule::ByValueOrSuppressed(index_rows(suppressed, rewrite, |_| 0)?)
                };
                (labels, rule)
            }
            Change::Shares { rows, offsets, shares, labels } => {
                let groups = labels.first().map_or(0, Vec::len);
                check_labels(labels, &rewritten, |_| groups)?;
                check_shares(
                    rows.len() / width.max(1),
                    offsets,
                    shares,
                    if labels.is_empty() { usize::MAX } else { groups },
                )?;
                let rows =
                    index_rows(rows, rewrite, |row| match &shares[offsets[row] as usize..offsets[row + 1] as usize] {
                        [only] => u64::from(only.group),
                        _ => SPLIT_ROW,
                    })?;
                let met = (0..rows.len()).map(|_| AtomicU64::new(0)).collect();
                let permutations = RowPermutations::new(rewrite.seed);
                (
                    labels,
                    LabelRule::ByGroup(Box::new(RowShares {
                        rows,
                        offsets: offsets.clone(),
                        shares: shares.clone(),
                        met,
                        permutations,
                    })),
                )
            }
        };
        // Where no row is looked up, columns that are not rewritten need no codes.
        let used: Vec<usize> =
            if matches!(rule, LabelRule::ByValue) { rewritten.clone() } else { (0..width).collect() };
        let mut key = Vec::with_capacity(used.len());
        for &at in &used {
            let column = &rewrite.key[at];
            key.push((source.column_index(&column.name)?, dictionary(&column.values, &column.name)?));
        }
        let key_indices: Vec<usize> =
            rewritten.iter().map(|at| used.iter().position(|used| used == at).unwrap_or(0)).collect();
        let mut columns: Vec<Option<OutColumn>> =
            (0..source.columns().len()).map(|at| Some(OutColumn::Copy(at))).collect();
        for (label, &key_index) in key_indices.iter().enumerate() {
            let column = &mut columns[key[key_index].0];
            if matches!(column, Some(OutColumn::Label(_))) {
                return Err(EngineError::bad_rewrite("a column is in its key twice"));
            }
            *column = Some(OutColumn::Label(label));
        }
        for name in &rewrite.dropped {
            columns[source.column_index(name)?] = None;
        }
        let kept = columns.iter().zip(source.columns()).filter(|(column, _)| column.is_some());
        let names: Vec<String> = kept.map(|(_, name)| name.clone()).collect();
        if names.is_empty() {
            return Err(EngineError::bad_rewrite("all columns are dropped"));
        }
        let labels = labels.iter().map(|labels| labels.iter().cloned().chain([Box::from("*")]).collect()).collect();
        Ok(Self { columns: columns.into_iter().flatten().collect(), names, key, labels, key_indices, rule })
    }

    /// Room for the codes of some records.
    pub(crate) fn reserve_codes<'a>(&self, decisions: &'a mut Decisions, records: usize) -> &'a mut [u32] {
        decisions.codes.resize(records * self.key.len(), 0);
        &mut decisions.codes
    }

    /// Looks up the rows of coded records.
    pub(crate) fn look_up_rows(&self, decisions: &mut Decisions, records: usize) -> Result<(), EngineError> {
        let Decisions { codes, groups, split_records } = decisions;
        let width = self.key.len();
        split_records.clear();
        groups.clear();
        let codes = &codes[..records * width];
        match &self.rule {
            LabelRule::ByValue => {}
            LabelRule::ByValueOrSuppressed(rows) => {
                rows.find_each(codes, records, |_, row| groups.push(if row.is_some() { SUPPRESSED } else { 0 }));
            }
            LabelRule::ByGroup(shares) => {
                let mut unknown = false;
                shares.rows.find_each(codes, records, |record, row| {
                    let Some((row, group)) = row else {
                        unknown = true;
                        return;
                    };
                    groups.push(group as u32);
                    if group == SPLIT_ROW {
                        split_records.push((record as u32, row, 0));
                    } else {
                        shares.met[row as usize].fetch_add(1, Ordering::Relaxed);
                    }
                });
                if unknown {
                    return Err(EngineError::changed("a combination of values is new"));
                }
            }
        }
        Ok(())
    }

    /// Numbers the records of rows with several shares. Has to be called in order of the input.
    pub(crate) fn number_split_records(&self, decisions: &mut Decisions) {
        let LabelRule::ByGroup(shares) = &self.rule else {
            return;
        };
        for (_, row, ordinal) in &mut decisions.split_records {
            *ordinal = shares.met[*row as usize].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Draws a share for each numbered record.
    pub(crate) fn assign_groups(&self, decisions: &mut Decisions) -> Result<(), EngineError> {
        let LabelRule::ByGroup(shares) = &self.rule else {
            return Ok(());
        };
        for &(record, row, ordinal) in &decisions.split_records {
            let row_shares = shares.of_row(row);
            let total: u64 = row_shares.iter().map(|share| share.records).sum();
            if ordinal >= total {
                return Err(EngineError::changed("a combination of values has more records"));
            }
            let mut drawn = shares.permutations.permute(u64::from(row), ordinal, total);
            for share in row_shares {
                if drawn < share.records {
                    decisions.groups[record as usize] = share.group;
                    break;
                }
                drawn -= share.records;
            }
        }
        Ok(())
    }

    /// The label of a decided record in a rewritten column.
    #[inline]
    pub(crate) fn label_index(&self, decisions: &Decisions, record: usize, column: usize) -> usize {
        match &self.rule {
            LabelRule::ByGroup(_) => decisions.groups[record] as usize,
            LabelRule::ByValueOrSuppressed(_) if decisions.groups[record] == SUPPRESSED => {
                self.labels[column].len() - 1
            }
            _ => decisions.codes[record * self.key.len() + self.key_indices[column]] as usize,
        }
    }

    /// Whether all rewritten columns of a record have the same label number.
    pub(crate) fn by_group(&self) -> bool {
        matches!(self.rule, LabelRule::ByGroup(_))
    }

    /// An error unless every row's records were met.
    pub(crate) fn check_all_met(&self) -> Result<(), EngineError> {
        let LabelRule::ByGroup(shares) = &self.rule else {
            return Ok(());
        };
        let same = shares.met.iter().enumerate().all(|(row, met)| {
            let total: u64 = shares.of_row(row as u32).iter().map(|share| share.records).sum();
            total == met.load(Ordering::Relaxed)
        });
        if same { Ok(()) } else { Err(EngineError::changed("a combination of values has another number of records")) }
    }
}

impl RowShares {
    #[inline]
    fn of_row(&self, row: u32) -> &[Share] {
        &self.shares[self.offsets[row as usize] as usize..self.offsets[row as usize + 1] as usize]
    }
}

fn check_labels(
    labels: &[Vec<Box<str>>],
    rewritten: &[usize],
    expected: impl Fn(usize) -> usize,
) -> Result<(), EngineError> {
    if labels.len() != rewritten.len() {
        let detail = format!("labels for {} columns, and {} are rewritten", labels.len(), rewritten.len());
        return Err(EngineError::bad_rewrite(detail));
    }
    match labels.iter().enumerate().find(|(at, labels)| labels.len() != expected(*at)) {
        Some((at, labels)) => {
            let detail = format!("{} labels where there should be {}", labels.len(), expected(at));
            Err(EngineError::bad_rewrite(detail))
        }
        None => Ok(()),
    }
}

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
    let sums = offsets.windows(2).all(|pair| {
        let row_shares = &shares[pair[0] as usize..pair[1] as usize];
        row_shares.iter().try_fold(0u64, |sum, share| sum.checked_add(share.records)).is_some()
    });
    if sums { Ok(()) } else { bad("shares add up to too many records") }
}

/// The rows of a rewrite, in their order, with something attached each.
fn index_rows(codes: &[u32], rewrite: &Rewrite, attached: impl Fn(usize) -> u64) -> Result<RowTable, EngineError> {
    let width = rewrite.key.len();
    if width == 0 || !codes.len().is_multiple_of(width) {
        return Err(EngineError::bad_rewrite("its rows do not fit its key"));
    }
    let mut rows = RowTable::new(width);
    for (number, row) in codes.chunks_exact(width).enumerate() {
        if row.iter().zip(&rewrite.key).any(|(&code, column)| code as usize >= column.values.len()) {
            return Err(EngineError::bad_rewrite("a row has a code without a value"));
        }
        rows.add(row, 1, attached(number));
        if rows.len() != number + 1 {
            return Err(EngineError::bad_rewrite("a row is there twice"));
        }
    }
    Ok(rows)
}

fn dictionary(values: &[Box<str>], name: &str) -> Result<Dictionary, EngineError> {
    let mut dictionary = Dictionary::default();
    for (at, value) in values.iter().enumerate() {
        if dictionary.encode(value.as_bytes()) as usize != at {
            return Err(EngineError::bad_rewrite(format!("column `{name}` has a value twice")));
        }
    }
    Ok(dictionary)
}
