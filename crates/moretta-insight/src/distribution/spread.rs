//! What a recipient reads off a release: the records of each released label, spread evenly over what it covers.
//!
//! A label adds to at most two sums of a list of differences, whatever it covers; one pass over that list then gives
//! every leaf or bin its part.

use moretta_core::{
    hierarchy::{Domain, interval_ends},
    released::Covered,
};

use super::{ColumnCounts, LabelCount, bins::Bins};

/// Records over bins of numbers or dates.
pub(super) struct OverBins {
    pub(super) bins: Vec<f64>,
    /// Those that are released as something within the bin.
    pub(super) sure: Vec<f64>,
    /// Records that are released as having no value.
    pub(super) missing: f64,
}

/// Over numbers or dates.
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

/// Records over the leaves of a column of categories.
pub(super) struct OverLeaves {
    pub(super) leaves: Vec<f64>,
    /// Those that are released as something within one part, all at the first leaf that it covers.
    pub(super) sure: Vec<f64>,
}

/// Over the leaves of a column of categories, whose leaves are in parts. A missing value is a leaf like any other.
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
            // Where nothing can be read, it could be anything.
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

/// What a label stands for in a column of numbers or dates.
enum LabelExtent {
    /// One value, which prints.
    Value(f64),
    /// From the first to the second, both of which print.
    Printed(f64, f64),
    /// From the first to the second, which do not print.
    Touched(f64, f64),
    /// No value at all.
    Missing,
}

fn extent(domain: &Domain, label: &LabelCount<'_>) -> LabelExtent {
    let cell = match label.covered {
        Some(Covered::Cell(cell)) => cell,
        // One number for many need not be a value of the column.
        _ => match domain.read_number(label.text) {
            Some(number) => return LabelExtent::Value(number),
            None => domain.whole(),
        },
    };
    let Some((low, high)) = domain.ends(cell) else { return LabelExtent::Missing };
    let printed =
        interval_ends(label.text).and_then(|(low, high)| Some((domain.read_number(low)?, domain.read_number(high)?)));
    match printed {
        // What prints may be more than the values that occur, which the release does not tell.
        Some((from, to)) if from <= low && high <= to => LabelExtent::Printed(from, to),
        _ if low == high => LabelExtent::Value(low),
        _ => LabelExtent::Touched(low, high),
    }
}

/// Sums over bins while they are made.
struct BinSums<'a> {
    bins: &'a Bins,
    /// What falls into a bin as it is.
    whole: Vec<f64>,
    /// The records of labels that lie within a bin.
    sure: Vec<f64>,
    /// How much more there is in each half unit of length from this bin on than in the one before.
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

    /// Over an interval whose ends are both inside it. On a grid the last value takes as much room as any other.
    fn interval(&mut self, low: f64, high: f64, records: f64) {
        let (first, last) = (self.bins.bin(low), self.bins.bin(high));
        // Halves, so that a range near the greatest number does not overflow.
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

    /// Over all bins from the first to the last, by how wide they are; an open one counts as one step wide.
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
