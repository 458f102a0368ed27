//! Chooses the split of a node: a feature and, for a numeric feature, a threshold.

use super::training_set::CodedSet;

/// At least two branches of a split must have this many records (Quinlan's default).
pub const MIN_RECORDS: u64 = 2;

/// Gains and gain ratios that differ by less are treated as equal, so that rounding errors, which depend on the order
/// of a sum, do not change the tree.
pub(super) const EPSILON: f64 = 1e-9;

/// A possible split of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    pub(super) column: usize,
    pub(super) test: Test,
    /// Information gain about the class in bits per record; for a threshold, minus the penalty for its choice (see
    /// [`best_threshold`]).
    pub(super) gain: f64,
    /// Quinlan's split information: entropy of the division of records among branches, in bits per record.
    pub(super) split_info: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// One branch per code, for categorical features.
    Value,
    /// One branch for codes up to and including this one, another for larger codes.
    UpTo(u32),
}

impl Test {
    /// Returns the branch of a code. A larger code never has a smaller branch.
    pub(super) fn branch(self, code: u32) -> u32 {
        match self {
            Self::Value => code,
            Self::UpTo(last) => u32::from(code > last),
        }
    }
}

/// Returns the split with the best gain ratio among those of at least average gain. `None` if no split has positive
/// gain.
pub(super) fn best(table: &CodedSet<'_>, rows: &[u32]) -> Option<Split> {
    let classes = table.classes(rows);
    let of_column = |column| {
        let split = if table.is_numeric(column) { best_threshold } else { split_by_values };
        split(table, rows, column, &classes)
    };
    choose((0..table.columns()).filter_map(of_column).collect(), |column| table.is_scattered(column))
}

/// Quinlan's rule: the gain ratio (gain / split information) favors unbalanced splits, so only splits of at least
/// average gain compete. A scattered feature has many values per record, and therefore a large gain that does not carry
/// over to new records: its split competes, but is left out of the average unless all features are scattered.
pub(super) fn choose(mut splits: Vec<Split>, scattered: impl Fn(usize) -> bool) -> Option<Split> {
    // The penalty of a threshold may exceed its gain.
    splits.retain(|split| split.gain > -EPSILON);
    let all_scattered = splits.iter().all(|split| scattered(split.column));
    let gains: Vec<f64> =
        splits.iter().filter(|split| all_scattered || !scattered(split.column)).map(|split| split.gain).collect();
    let average = gains.iter().sum::<f64>() / gains.len() as f64;
    let competes =
        |split: &Split| split.gain > EPSILON && split.gain >= average - EPSILON && split.split_info > EPSILON;
    splits.into_iter().filter(competes).reduce(|best, next| {
        let better = next.gain / next.split_info > best.gain / best.split_info + EPSILON;
        if better { next } else { best }
    })
}

/// Returns `x log2 x`, and 0 for 0. The entropy of counts is computed from such terms.
fn x_log2_x(records: u64) -> f64 {
    let x = records as f64;
    if records == 0 { 0.0 } else { x * x.log2() }
}

/// Returns the entropy of a division of records into parts, in bits per record, times the number of records.
fn total_entropy(parts: impl Iterator<Item = u64>) -> f64 {
    let (mut all, mut sum) = (0, 0.0);
    for records in parts {
        all += records;
        sum += x_log2_x(records);
    }
    x_log2_x(all) - sum
}

/// Returns the split with one branch per value; `None` if fewer than two branches have [`MIN_RECORDS`] records.
fn split_by_values(table: &CodedSet<'_>, rows: &[u32], column: usize, classes: &[(u32, u64)]) -> Option<Split> {
    let counts = table.contingency(column, rows);
    let (mut sizes, mut after) = (Vec::new(), 0.0);
    for branch in counts.chunk_by(|a, b| a.0.0 == b.0.0) {
        sizes.push(branch.iter().map(|(_, records)| records).sum::<u64>());
        after += total_entropy(branch.iter().map(|(_, records)| *records));
    }
    if sizes.iter().filter(|&&size| size >= MIN_RECORDS).count() < 2 {
        return None;
    }
    let records = sizes.iter().sum::<u64>() as f64;
    let before = total_entropy(classes.iter().map(|(_, records)| *records));
    let split_info = total_entropy(sizes.into_iter()) / records;
    Some(Split { column, test: Test::Value, gain: (before - after) / records, split_info })
}

/// Returns the split at the threshold with the largest gain; ties go to the smallest threshold. As in C4.5 release 8
/// (Quinlan 1996), the gain is reduced by `log2(t) / records` bits for the choice among `t` thresholds. `None` if no
/// threshold leaves [`MIN_RECORDS`] records on both sides.
fn best_threshold(table: &CodedSet<'_>, rows: &[u32], column: usize, classes: &[(u32, u64)]) -> Option<Split> {
    let counts = table.contingency(column, rows);
    let all: u64 = classes.iter().map(|(_, records)| records).sum();
    let before = total_entropy(classes.iter().map(|(_, records)| *records));
    let mut right: Vec<u64> = classes.iter().map(|(_, records)| *records).collect();
    let mut left = vec![0u64; right.len()];
    // For each side of the threshold, the sum of `x log2 x` over the numbers of records of its classes.
    let (mut left_sum, mut right_sum) = (0.0, right.iter().map(|&records| x_log2_x(records)).sum::<f64>());
    let (mut below, mut thresholds) = (0, 0u32);
    let mut best: Option<(f64, u32, u64)> = None;
    for value in counts.chunk_by(|a, b| a.0.0 == b.0.0) {
        for ((_, class), records) in value {
            let class = classes.binary_search_by_key(class, |(class, _)| *class).expect("a class of these rows");
            left_sum += x_log2_x(left[class] + records) - x_log2_x(left[class]);
            right_sum += x_log2_x(right[class] - records) - x_log2_x(right[class]);
            left[class] += records;
            right[class] -= records;
            below += records;
        }
        if below < MIN_RECORDS || all - below < MIN_RECORDS {
            continue;
        }
        thresholds += 1;
        let after = x_log2_x(below) - left_sum + x_log2_x(all - below) - right_sum;
        let gain = (before - after) / all as f64;
        if best.is_none_or(|(best_gain, ..)| gain > best_gain + EPSILON) {
            best = Some((gain, value[0].0.0, below));
        }
    }
    let (gain, last, below) = best?;
    let gain = gain - f64::from(thresholds).log2() / all as f64;
    let split_info = total_entropy([below, all - below].into_iter()) / all as f64;
    Some(Split { column, test: Test::UpTo(last), gain, split_info })
}
