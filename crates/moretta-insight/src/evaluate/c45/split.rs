//! Chooses the feature by which a node is split.

use super::training_set::CodedSet;

/// Minimum records in at least two branches of a split (Quinlan's default).
pub const MIN_RECORDS: u64 = 2;

/// Gains that differ by less are equal: the order of a sum must not change the tree.
pub(super) const EPSILON: f64 = 1e-9;

/// A possible split of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    pub(super) column: usize,
    pub(super) test: Test,
    /// Information gain about the class in bits per record; for a threshold, minus the penalty for its choice.
    pub(super) gain: f64,
    /// Entropy of the split itself, in bits per record.
    pub(super) info: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Test {
    /// One branch per value.
    Value,
    /// One branch for codes up to this one, another for the rest.
    UpTo(u32),
}

impl Test {
    /// The branch of a code. Branches of ascending codes ascend.
    pub(super) fn branch(self, code: u32) -> u32 {
        match self {
            Self::Value => code,
            Self::UpTo(last) => u32::from(code > last),
        }
    }
}

/// The split with the best gain ratio among those of at least average gain. `None` if no split has positive gain.
pub(super) fn best(table: &CodedSet<'_>, rows: &[u32]) -> Option<Split> {
    let classes = table.classes(rows);
    let of_column = |column| {
        let split = if table.is_numeric(column) { best_threshold } else { split_by_values };
        split(table, rows, column, &classes)
    };
    choose((0..table.columns()).filter_map(of_column).collect(), |column| table.is_scattered(column))
}

/// Quinlan's rule: the gain ratio favors unbalanced splits, so splits below the average gain do not compete. A
/// scattered feature has a large gain only because it identifies records: it competes, but does not count in the
/// average.
pub(super) fn choose(mut splits: Vec<Split>, scattered: impl Fn(usize) -> bool) -> Option<Split> {
    // A threshold whose penalty exceeds its gain is no split.
    splits.retain(|split| split.gain > -EPSILON);
    let all = splits.iter().all(|split| scattered(split.column));
    let marks: Vec<f64> =
        splits.iter().filter(|split| all || !scattered(split.column)).map(|split| split.gain).collect();
    let average = marks.iter().sum::<f64>() / marks.len() as f64;
    let competes = |split: &Split| split.gain > EPSILON && split.gain >= average - EPSILON && split.info > EPSILON;
    splits.into_iter().filter(competes).reduce(|best, next| {
        let better = next.gain / next.info > best.gain / best.info + EPSILON;
        if better { next } else { best }
    })
}

/// `x log2 x`, and 0 for 0. Entropies of counts are differences of such terms.
fn x_log2_x(records: u64) -> f64 {
    let x = records as f64;
    if records == 0 { 0.0 } else { x * x.log2() }
}

/// Entropy of a distribution in bits, times its records.
fn entropy(parts: impl Iterator<Item = u64>) -> f64 {
    let (mut all, mut sum) = (0, 0.0);
    for records in parts {
        all += records;
        sum += x_log2_x(records);
    }
    x_log2_x(all) - sum
}

fn split_by_values(table: &CodedSet<'_>, rows: &[u32], column: usize, classes: &[(u32, u64)]) -> Option<Split> {
    let cells = table.contingency(column, rows);
    let (mut sizes, mut after) = (Vec::new(), 0.0);
    for branch in cells.chunk_by(|a, b| a.0.0 == b.0.0) {
        sizes.push(branch.iter().map(|(_, records)| records).sum::<u64>());
        after += entropy(branch.iter().map(|(_, records)| *records));
    }
    if sizes.iter().filter(|&&size| size >= MIN_RECORDS).count() < 2 {
        return None;
    }
    let records = sizes.iter().sum::<u64>() as f64;
    let before = entropy(classes.iter().map(|(_, records)| *records));
    let info = entropy(sizes.into_iter()) / records;
    Some(Split { column, test: Test::Value, gain: (before - after) / records, info })
}

/// The threshold with the largest gain; ties go to the first. The gain is reduced by `log2(t) / records` bits for the
/// choice among `t` thresholds (release 8).
fn best_threshold(table: &CodedSet<'_>, rows: &[u32], column: usize, classes: &[(u32, u64)]) -> Option<Split> {
    let cells = table.contingency(column, rows);
    let all: u64 = classes.iter().map(|(_, records)| records).sum();
    let before = entropy(classes.iter().map(|(_, records)| *records));
    let mut right: Vec<u64> = classes.iter().map(|(_, records)| *records).collect();
    let mut left = vec![0u64; right.len()];
    // Sums of `x log2 x` over the classes of each side, kept up to date class by class.
    let (mut left_sum, mut right_sum) = (0.0, right.iter().map(|&records| x_log2_x(records)).sum::<f64>());
    let (mut below, mut tries) = (0, 0u32);
    let mut best: Option<(f64, u32, u64)> = None;
    for value in cells.chunk_by(|a, b| a.0.0 == b.0.0) {
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
        tries += 1;
        let after = x_log2_x(below) - left_sum + x_log2_x(all - below) - right_sum;
        let gain = (before - after) / all as f64;
        if best.is_none_or(|(greatest, ..)| gain > greatest + EPSILON) {
            best = Some((gain, value[0].0.0, below));
        }
    }
    let (gain, last, below) = best?;
    let gain = gain - f64::from(tries).log2() / all as f64;
    let info = entropy([below, all - below].into_iter()) / all as f64;
    Some(Split { column, test: Test::UpTo(last), gain, info })
}
