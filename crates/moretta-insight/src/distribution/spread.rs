//! Distributes the records of each released label uniformly over the values that it covers.
//!
//! A label changes the density (records per unit) at the start and at the end of its range. The changes are collected
//! in a difference array, and one pass over it gives each leaf or bin its records. So a label costs O(1), whatever it
//! covers.

use moretta_core::{
    hierarchy::{Domain, interval_ends},
    released::Covered,
};

use super::{ColumnCounts, LabelCount, bins::Bins};

/// Estimated records of each bin of numbers or dates.
pub(super) struct OverBins {
    pub(super) bins: Vec<f64>,
    /// The part whose labels lie within the bin.
    pub(super) sure: Vec<f64>,
    /// Records released as missing.
    pub(super) missing: f64,
}

/// Distributes the labels of a column of numbers or dates.
pub(super) fn over_bins(domain: &Domain, counts: &ColumnCounts<'_>, bins: &Bins) -> OverBins {
    let mut over = BinSums::new(bins);
    let mut missing = 0.0;
    for label in &counts.after {
        let records = label.records;
        match extent(domain, label) {
            LabelExtent::Missing => missing += records,
            LabelExtent::Value(value) => over.within(bins.bin(value), records),
            LabelExtent::Printed(low, high) => over.interval(low, high, records),
            LabelExtent::Touched(low, high) => over.touched(bins.bin(low), bins.bin(high), records),
        }
    }
    let sure = over.sure.clone();
    OverBins { bins: over.finish(), sure, missing }
}

/// Estimated records of each leaf of a column of categories.
pub(super) struct OverLeaves {
    pub(super) leaves: Vec<f64>,
    /// Records whose labels lie within one part, all counted at the first leaf of the label.
    pub(super) sure: Vec<f64>,
}

/// Distributes the labels of a column of categories. `part_of` is the part of each leaf; a missing value is a leaf like
/// any other.
pub(super) fn over_leaves(domain: &Domain, counts: &ColumnCounts<'_>, part_of: &[usize]) -> OverLeaves {
    let (mut leaves, mut sure) = (vec![0.0; domain.len()], vec![0.0; domain.len()]);
    let mut density_changes = vec![0.0; domain.len() + 1];
    let one_part = |first: u32, last: u32| part_of[first as usize] == part_of[last as usize];
    for &LabelCount { covered, records, .. } in &counts.after {
        match covered {
            Some(Covered::Set(codes)) => {
                codes.iter().for_each(|&code| leaves[code as usize] += records / codes.len() as f64);
                if codes.windows(2).all(|two| one_part(two[0], two[1])) {
                    sure[codes[0] as usize] += records;
                }
            }
            // A label that cannot be read may cover anything.
            covered => {
                let cell = if let Some(Covered::Cell(cell)) = covered { cell } else { domain.whole() };
                if one_part(cell.first, cell.last) {
                    sure[cell.first as usize] += records;
                }
                if cell.first == cell.last {
                    leaves[cell.first as usize] += records;
                } else {
                    let part = records / f64::from(cell.last - cell.first + 1);
                    density_changes[cell.first as usize] += part;
                    density_changes[cell.last as usize + 1] -= part;
                }
            }
        }
    }
    let mut density = 0.0;
    for (leaf, change) in leaves.iter_mut().zip(density_changes) {
        density += change;
        *leaf += f64::max(density, 0.0);
    }
    OverLeaves { leaves, sure }
}

/// The values that a label covers in a column of numbers or dates.
enum LabelExtent {
    /// One printed value.
    Value(f64),
    /// An interval whose ends are printed.
    Printed(f64, f64),
    /// An interval whose ends are not printed.
    Touched(f64, f64),
    /// The missing value.
    Missing,
}

fn extent(domain: &Domain, label: &LabelCount<'_>) -> LabelExtent {
    let cell = match label.covered {
        Some(Covered::Cell(cell)) => cell,
        // A mean, median or midpoint need not be a value of the column.
        _ => match domain.read_number(label.text) {
            Some(number) => return LabelExtent::Value(number),
            None => domain.whole(),
        },
    };
    let Some((low, high)) = domain.ends(cell) else { return LabelExtent::Missing };
    let printed =
        interval_ends(label.text).and_then(|(low, high)| Some((domain.read_number(low)?, domain.read_number(high)?)));
    match printed {
        // The printed interval may be wider than the values that occur, which the release does not disclose.
        Some((from, to)) if from <= low && high <= to => LabelExtent::Printed(from, to),
        _ if low == high => LabelExtent::Value(low),
        _ => LabelExtent::Touched(low, high),
    }
}

/// Records of each bin while labels are added.
struct BinSums<'a> {
    bins: &'a Bins,
    /// Records of labels within a bin, and the parts of intervals that end in it.
    whole: Vec<f64>,
    /// Records of labels within a bin.
    sure: Vec<f64>,
    /// Change of the density, in records per half unit of length, at the start of each bin.
    density_changes: Vec<f64>,
}

impl<'a> BinSums<'a> {
    fn new(bins: &'a Bins) -> Self {
        let none = vec![0.0; bins.len()];
        Self { bins, whole: none.clone(), sure: none, density_changes: vec![0.0; bins.len() + 1] }
    }

    fn edge(&self, at: usize) -> f64 {
        self.bins.edges[at] / 2.0
    }

    fn within(&mut self, bin: usize, records: f64) {
        self.whole[bin] += records;
        self.sure[bin] += records;
    }

    /// Adds a closed interval. On a grid the last value is as wide as any other.
    fn interval(&mut self, low: f64, high: f64, records: f64) {
        let (first, last) = (self.bins.bin(low), self.bins.bin(high));
        // Halved, so that a range near the largest float does not overflow.
        let (low, high) = (low / 2.0, high / 2.0 + self.bins.grid.unwrap_or(0.0) / 2.0);
        if first == last {
            return self.within(first, records);
        }
        let density = records / (high - low);
        self.whole[first] += (self.edge(first + 1) - low) * density;
        self.whole[last] += (high - self.edge(last)) * density;
        self.density_changes[first + 1] += density;
        self.density_changes[last] -= density;
    }

    /// Adds a label that overlaps the bins from the first to the last, in proportion to their widths. An open bin
    /// counts as one step wide.
    fn touched(&mut self, first: usize, last: usize, records: f64) {
        if first == last {
            return self.within(first, records);
        }
        let density = records / (self.edge(last + 1) - self.edge(first));
        self.density_changes[first] += density;
        self.density_changes[last + 1] -= density;
    }

    fn finish(mut self) -> Vec<f64> {
        let mut density = 0.0;
        for bin in 0..self.bins.len() {
            density += self.density_changes[bin];
            self.whole[bin] += f64::max(density, 0.0) * (self.edge(bin + 1) - self.edge(bin));
        }
        self.whole
    }
}
