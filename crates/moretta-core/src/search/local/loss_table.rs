//! Loss of boxes, and the cost of adding a record to a cluster: the loss of the smallest box around both.
//!
//! In one column the loss depends only on the least and the greatest code in the box, and never falls when the range
//! grows. So of all codes in an interval, the nearest to the cluster is the cheapest, and one of the two ends is the
//! most expensive:
//!
//! ```text
//! cluster's range      [====]
//! interval of codes                 [-----------]
//!                                   ^ min_cost  ^ max_cost (the more expensive of both ends)
//! ```
//!
//! Costs and bounds sum the columns in the same order, and rounding is monotone: a bound holds exactly, up to the last
//! digit. Columns with few values have a table of the losses of all ranges, so that a loss is one lookup; with a tree over
//! more values, it is two.

use crate::{hierarchy::Domain, objective::LossMetric, profile::Profile};

/// Maximum values of a column that has a table of all ranges (2 MiB per column); more are computed each time.
const MAX_TABLED_VALUES: usize = 512;

/// Maximum values of a column with a tree whose losses are prepared (20 MB).
const MAX_TREE_VALUES: usize = 1 << 17;

/// Whether a column has too many values for a table, but a tree.
fn has_tree_losses(domain: &Domain) -> bool {
    domain.tree().is_some() && (MAX_TABLED_VALUES + 1..=MAX_TREE_VALUES).contains(&domain.len())
}

/// Weighted losses of the ranges of one column.
struct ColumnLosses<'a> {
    domain: &'a Domain,
    weight: f64,
    loss: LossMetric,
    /// By first and last code; empty if the column has too many values.
    pairs: Vec<f64>,
    /// Of a column with a tree and too many values for `pairs`.
    tree_losses: Option<TreeLosses>,
}

/// Losses of the ranges of a column with a tree.
///
/// The lowest node that covers a range is that of one of the pairs of neighboring codes in the range, and no other pair
/// has a higher one. So the loss of a range is the greatest of its pairs, which two look-ups find: level `l` has the
/// greatest of the `2^l` pairs from each code on.
struct TreeLosses {
    /// Losses of single codes.
    single: Vec<f64>,
    levels: Vec<Vec<f64>>,
}

impl TreeLosses {
    fn new(codes: u32, loss: impl Fn(u32, u32) -> f64) -> Self {
        let single = (0..codes).map(|code| loss(code, code)).collect();
        let mut levels = vec![(1..codes).map(|code| loss(code - 1, code)).collect::<Vec<f64>>()];
        let mut span = 1;
        while let Some(last) = levels.last().filter(|last| last.len() > span) {
            levels.push(last.iter().zip(&last[span..]).map(|(a, b)| a.max(*b)).collect());
            span *= 2;
        }
        Self { single, levels }
    }

    #[inline]
    fn loss(&self, first: u32, last: u32) -> f64 {
        let Some(level) = (last - first).checked_ilog2() else { return self.single[first as usize] };
        let losses = &self.levels[level as usize];
        losses[first as usize].max(losses[last as usize - (1 << level)])
    }

    /// Bytes of the heap.
    fn bytes(codes: usize) -> u64 {
        8 * codes as u64 * (u64::from(codes.ilog2()) + 2)
    }
}

impl ColumnLosses<'_> {
    fn loss(&self, first: u32, last: u32) -> f64 {
        if let Some(losses) = &self.tree_losses {
            return losses.loss(first, last);
        }
        if self.pairs.is_empty() {
            return self.weight * self.loss.of(self.domain, self.domain.cover(first, last));
        }
        self.pairs[first as usize * self.domain.len() + last as usize]
    }
}

/// Weighted losses of boxes: the sum over the columns.
pub(in crate::search) struct LossTable<'a> {
    columns: Vec<ColumnLosses<'a>>,
}

impl<'a> LossTable<'a> {
    pub(in crate::search) fn new(profile: &'a Profile, loss: LossMetric) -> Self {
        let column = |column: &'a crate::profile::Column| {
            let (domain, weight) = (&column.domain, column.weight);
            let len = domain.len() as u32;
            let of_range = |first, last| weight * loss.of(domain, domain.cover(first, last));
            let mut pairs = Vec::new();
            if domain.len() <= MAX_TABLED_VALUES {
                pairs.resize(domain.len() * domain.len(), 0.0);
                for first in 0..len {
                    for last in first..len {
                        pairs[(first * len + last) as usize] = of_range(first, last);
                    }
                }
            }
            let tree_losses = has_tree_losses(domain).then(|| TreeLosses::new(len, of_range));
            ColumnLosses { domain, weight, loss, pairs, tree_losses }
        };
        Self { columns: profile.columns().iter().map(column).collect() }
    }

    /// Bytes of the heap that a table for the profile takes.
    pub(in crate::search) fn bytes(profile: &Profile) -> u64 {
        let of_column = |column: &crate::profile::Column| match column.domain.len() {
            len if len <= MAX_TABLED_VALUES => (8 * len * len) as u64,
            len if has_tree_losses(&column.domain) => TreeLosses::bytes(len),
            _ => 0,
        };
        profile.columns().iter().map(of_column).sum()
    }

    pub(in crate::search) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Loss of a range of codes in one column.
    pub(in crate::search) fn column(&self, column: usize, first: u32, last: u32) -> f64 {
        self.columns[column].loss(first, last)
    }

    /// Loss of a box.
    pub(in crate::search) fn of(&self, ranges: &[(u32, u32)]) -> f64 {
        self.columns.iter().zip(ranges).map(|(column, &(first, last))| column.loss(first, last)).sum()
    }

    /// Loss of a suppressed record: LM loses everything even in a column with a single value.
    pub(in crate::search) fn suppressed(&self) -> f64 {
        let column = |column: &ColumnLosses<'_>| match column.loss {
            LossMetric::Lm => column.weight,
            LossMetric::Ncp => column.weight * column.domain.ncp(column.domain.whole()),
        };
        self.columns.iter().map(column).sum()
    }

    /// Loss of the box around a box and a record.
    pub(in crate::search) fn with(&self, ranges: &[(u32, u32)], codes: &[u32]) -> f64 {
        let columns = self.columns.iter().zip(ranges).zip(codes);
        columns.map(|((column, range), &code)| column.loss(range.0.min(code), range.1.max(code))).sum()
    }

    /// Lower bound on the loss of the box around a box and any record within some bounds.
    pub(in crate::search) fn nearest(&self, ranges: &[(u32, u32)], bounds: &[(u32, u32)]) -> f64 {
        let columns = self.columns.iter().zip(ranges).zip(bounds);
        columns.map(|((column, a), b)| column.loss(a.0.min(b.1), a.1.max(b.0))).sum()
    }

    /// Loss of the box around two boxes.
    pub(in crate::search) fn union(&self, a: &[(u32, u32)], b: &[(u32, u32)]) -> f64 {
        let columns = self.columns.iter().zip(a).zip(b);
        columns.map(|((column, a), b)| column.loss(a.0.min(b.0), a.1.max(b.1))).sum()
    }
}

/// The box of a growing cluster, with the cost of each code prepared for fast lookups.
pub(in crate::search) struct GrowingBox<'a> {
    loss_table: &'a LossTable<'a>,
    ranges: Vec<(u32, u32)>,
    /// By column: the cost of each code; empty for columns without a table.
    rows: Vec<Vec<f64>>,
    /// Whether all columns have a table.
    is_tabled: bool,
}

impl<'a> GrowingBox<'a> {
    pub(in crate::search) fn new(loss_table: &'a LossTable<'a>) -> Self {
        let row = |column: &ColumnLosses<'_>| vec![0.0; if column.pairs.is_empty() { 0 } else { column.domain.len() }];
        Self {
            loss_table,
            ranges: vec![(0, 0); loss_table.columns.len()],
            rows: loss_table.columns.iter().map(row).collect(),
            is_tabled: loss_table.columns.iter().all(|column| !column.pairs.is_empty()),
        }
    }

    pub(in crate::search) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// Starts a cluster with one record.
    pub(in crate::search) fn start(&mut self, codes: &[u32]) {
        for (column, &code) in codes.iter().enumerate() {
            self.ranges[column] = (code, code);
            self.refill(column);
        }
    }

    pub(in crate::search) fn contains(&self, codes: &[u32]) -> bool {
        self.ranges.iter().zip(codes).all(|((first, last), code)| first <= code && code <= last)
    }

    /// Extends the box by a record.
    pub(in crate::search) fn extend(&mut self, codes: &[u32]) {
        for (column, &code) in codes.iter().enumerate() {
            let (first, last) = self.ranges[column];
            if code < first || last < code {
                self.ranges[column] = (first.min(code), last.max(code));
                self.refill(column);
            }
        }
    }

    fn refill(&mut self, column: usize) {
        let (first, last) = self.ranges[column];
        let row = &mut self.rows[column];
        let pairs = &self.loss_table.columns[column].pairs;
        let len = row.len();
        if len == 0 {
            return;
        }
        let (start, end) = (first as usize * len, last as usize);
        row[end..].copy_from_slice(&pairs[start + end..start + len]);
        row[first as usize..end].fill(pairs[start + end]);
        for (code, cost) in row[..first as usize].iter_mut().enumerate() {
            *cost = pairs[code * len + end];
        }
    }

    fn code_cost(&self, column: usize, code: u32) -> f64 {
        match self.rows[column].get(code as usize) {
            Some(&cost) => cost,
            None => {
                let (first, last) = self.ranges[column];
                self.loss_table.columns[column].loss(first.min(code), last.max(code))
            }
        }
    }

    /// Cost of a record: the loss of the box around the cluster and the record.
    pub(in crate::search) fn cost(&self, codes: &[u32]) -> f64 {
        if self.is_tabled {
            return self.rows.iter().zip(codes).map(|(row, &code)| row[code as usize]).sum();
        }
        codes.iter().enumerate().map(|(column, &code)| self.code_cost(column, code)).sum()
    }

    /// Lower bound on the cost of any record within these bounds.
    pub(in crate::search) fn min_cost(&self, bounds: &[(u32, u32)]) -> f64 {
        let nearest = |column: usize, (low, high): (u32, u32)| self.ranges[column].0.clamp(low, high);
        if self.is_tabled {
            let columns = self.rows.iter().zip(bounds).enumerate();
            return columns.map(|(column, (row, &bounds))| row[nearest(column, bounds) as usize]).sum();
        }
        let of_column = |(column, &bounds): (usize, &(u32, u32))| self.code_cost(column, nearest(column, bounds));
        bounds.iter().enumerate().map(of_column).sum()
    }

    /// Upper bound on the cost of any record within these bounds.
    pub(in crate::search) fn max_cost(&self, bounds: &[(u32, u32)]) -> f64 {
        if self.is_tabled {
            let farther = |(row, &(low, high)): (&Vec<f64>, &(u32, u32))| row[low as usize].max(row[high as usize]);
            return self.rows.iter().zip(bounds).map(farther).sum();
        }
        let farther = |(column, &(low, high)): (usize, &(u32, u32))| {
            self.code_cost(column, low).max(self.code_cost(column, high))
        };
        bounds.iter().enumerate().map(farther).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestTable;

    /// A tree over 600 codes of three digits, some of them missing, with prefixes of two and one digits.
    #[test]
    fn losses_of_a_large_tree_are_those_of_its_nodes() {
        let codes: Vec<String> = (100..1000).filter(|code| code % 3 != 1).map(|code| code.to_string()).collect();
        let rows: Vec<(&str, u64)> = codes.iter().map(|code| (code.as_str(), 1)).collect();
        let policy = "privacy.k = 2\n[columns.c]\nrole = \"quasi-identifier\"\ntype = \"category\"\n\
                      hierarchy = { prefix = [2, 1] }\nweight = 3.0";
        let table = TestTable::new(policy, &[], &rows);
        for metric in [LossMetric::Ncp, LossMetric::Lm] {
            let losses = LossTable::new(&table.profile, metric);
            let domain = &table.profile.columns()[0].domain;
            assert!(losses.columns[0].tree_losses.is_some());
            for first in 0..domain.len() as u32 {
                for last in first..domain.len() as u32 {
                    let expected = 3.0 * metric.of(domain, domain.cover(first, last));
                    assert_eq!(losses.column(0, first, last), expected, "{first}..={last}");
                }
            }
        }
    }
}
