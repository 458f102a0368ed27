//! What it costs to take a record into a cluster: the loss of the smallest box around the cluster and the record.
//!
//! In one column the loss depends on the least and the greatest code inside alone, and grows with every code
//! farther out: a wider range has a larger cover. So the cheapest record that a range of codes could hold is the one nearest
//! to the cluster, and the dearest one is at an end of the range. Costs and bounds add up the columns in the same
//! order, and rounding keeps the order of sums, so a bound is never on the wrong side, not even by a last digit.

use crate::{hierarchy::Domain, objective::LossMetric, profile::Profile};

/// Columns with at most so many values have a table of all pairs of codes.
const TABLE: usize = 512;

/// The loss_table of one column.
struct ColumnLosses<'a> {
    domain: &'a Domain,
    weight: f64,
    loss: LossMetric,
    /// By the first code and the last; empty where the column has too many values.
    pairs: Vec<f64>,
}

impl ColumnLosses<'_> {
    fn loss(&self, first: u32, last: u32) -> f64 {
        match self.pairs.is_empty() {
            false => self.pairs[first as usize * self.domain.len() + last as usize],
            true => self.weight * self.loss.of(self.domain, self.domain.cover(first, last)),
        }
    }
}

/// The loss_table of all columns.
pub(in crate::search) struct LossTable<'a> {
    columns: Vec<ColumnLosses<'a>>,
}

impl<'a> LossTable<'a> {
    pub(in crate::search) fn new(profile: &'a Profile, loss: LossMetric) -> Self {
        let column = |column: &'a crate::profile::Column| {
            let (domain, weight) = (&column.domain, column.weight);
            let len = domain.len() as u32;
            let mut pairs = Vec::new();
            if domain.len() <= TABLE {
                pairs.resize(domain.len() * domain.len(), 0.0);
                for first in 0..len {
                    for last in first..len {
                        pairs[(first * len + last) as usize] = weight * loss.of(domain, domain.cover(first, last));
                    }
                }
            }
            ColumnLosses { domain, weight, loss, pairs }
        };
        Self { columns: profile.columns().iter().map(column).collect() }
    }

    pub(in crate::search) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The loss of a range of codes in one column.
    pub(in crate::search) fn column(&self, column: usize, first: u32, last: u32) -> f64 {
        self.columns[column].loss(first, last)
    }

    /// The loss of a box.
    pub(in crate::search) fn of(&self, ranges: &[(u32, u32)]) -> f64 {
        self.columns.iter().zip(ranges).map(|(column, &(first, last))| column.loss(first, last)).sum()
    }

    /// The loss of the box around a box and a record.
    pub(in crate::search) fn with(&self, ranges: &[(u32, u32)], codes: &[u32]) -> f64 {
        let columns = self.columns.iter().zip(ranges).zip(codes);
        columns.map(|((column, range), &code)| column.loss(range.0.min(code), range.1.max(code))).sum()
    }

    /// The loss of the box around a box and the nearest record within some bounds.
    pub(in crate::search) fn nearest(&self, ranges: &[(u32, u32)], bounds: &[(u32, u32)]) -> f64 {
        let columns = self.columns.iter().zip(ranges).zip(bounds);
        columns.map(|((column, a), b)| column.loss(a.0.min(b.1), a.1.max(b.0))).sum()
    }

    /// The loss of the box around two boxes.
    pub(in crate::search) fn union(&self, a: &[(u32, u32)], b: &[(u32, u32)]) -> f64 {
        let columns = self.columns.iter().zip(a).zip(b);
        columns.map(|((column, a), b)| column.loss(a.0.min(b.0), a.1.max(b.1))).sum()
    }
}

/// A cluster's box, ready to be asked what a record or a range of records would cost.
pub(in crate::search) struct GrowingBox<'a> {
    loss_table: &'a LossTable<'a>,
    ranges: Vec<(u32, u32)>,
    /// For each column with a table, what each code would cost it.
    rows: Vec<Vec<f64>>,
    /// Whether all columns have a table.
    tabled: bool,
}

impl<'a> GrowingBox<'a> {
    pub(in crate::search) fn new(loss_table: &'a LossTable<'a>) -> Self {
        let row = |column: &ColumnLosses<'_>| vec![0.0; if column.pairs.is_empty() { 0 } else { column.domain.len() }];
        Self {
            loss_table,
            ranges: vec![(0, 0); loss_table.columns.len()],
            rows: loss_table.columns.iter().map(row).collect(),
            tabled: loss_table.columns.iter().all(|column| !column.pairs.is_empty()),
        }
    }

    pub(in crate::search) fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges
    }

    /// A cluster of one record.
    pub(in crate::search) fn start(&mut self, codes: &[u32]) {
        for (column, &code) in codes.iter().enumerate() {
            self.ranges[column] = (code, code);
            self.refill(column);
        }
    }

    pub(in crate::search) fn contains(&self, codes: &[u32]) -> bool {
        self.ranges.iter().zip(codes).all(|((first, last), code)| first <= code && code <= last)
    }

    /// Takes a record in.
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
        let ((first, last), row) = (self.ranges[column], &mut self.rows[column]);
        let loss_table = &self.loss_table.columns[column];
        let len = row.len();
        if len == 0 {
            return;
        }
        let (start, end) = (first as usize * len, last as usize);
        row[end..].copy_from_slice(&loss_table.pairs[start + end..start + len]);
        row[first as usize..end].fill(loss_table.pairs[start + end]);
        for (code, cost) in row[..first as usize].iter_mut().enumerate() {
            *cost = loss_table.pairs[code * len + end];
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

    /// The loss of the box with a record taken in.
    pub(in crate::search) fn cost(&self, codes: &[u32]) -> f64 {
        if self.tabled {
            return self.rows.iter().zip(codes).map(|(row, &code)| row[code as usize]).sum();
        }
        codes.iter().enumerate().map(|(column, &code)| self.code_cost(column, code)).sum()
    }

    /// No record within these bounds costs less.
    pub(in crate::search) fn min_cost(&self, bounds: &[(u32, u32)]) -> f64 {
        let nearest = |column: usize, (low, high): (u32, u32)| self.ranges[column].0.clamp(low, high);
        if self.tabled {
            let columns = self.rows.iter().zip(bounds).enumerate();
            return columns.map(|(column, (row, &bounds))| row[nearest(column, bounds) as usize]).sum();
        }
        let of_column = |(column, &bounds): (usize, &(u32, u32))| self.code_cost(column, nearest(column, bounds));
        bounds.iter().enumerate().map(of_column).sum()
    }

    /// No record within these bounds costs more.
    pub(in crate::search) fn max_cost(&self, bounds: &[(u32, u32)]) -> f64 {
        if self.tabled {
            let farther = |(row, &(low, high)): (&Vec<f64>, &(u32, u32))| row[low as usize].max(row[high as usize]);
            return self.rows.iter().zip(bounds).map(farther).sum();
        }
        let farther = |(column, &(low, high)): (usize, &(u32, u32))| {
            self.code_cost(column, low).max(self.code_cost(column, high))
        };
        bounds.iter().enumerate().map(farther).sum()
    }
}
