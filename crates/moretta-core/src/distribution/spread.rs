//! What a recipient reads off a release: the records of each released label, spread evenly over what it covers.
//!
//! A label adds to at most two sums of a list of differences, whatever it covers; one pass over that list then gives
//! every leaf or bin its part.

use super::{Seen, bins::Bins};
use crate::hierarchy::{Cell, Domain, LabelReader, ReadCell, interval_ends};

/// Records over bins of numbers or dates.
pub(super) struct OverBins {
    pub(super) bins: Vec<f64>,
    /// Records that are released as having no value.
    pub(super) missing: f64,
}

/// Over numbers or dates.
pub(super) fn over_bins(domain: &Domain, seen: &Seen<'_>, bins: &Bins) -> OverBins {
    let reader = LabelReader::new(domain);
    let mut over = Spread::new(bins);
    let mut missing = 0.0;
    for (label, &records) in seen.labels.iter().zip(&seen.after) {
        let records = records as f64;
        match side(domain, &reader, label) {
            Side::Missing => missing += records,
            Side::Value(value) => over.whole[bins.bin(value)] += records,
            Side::Printed(low, high) => over.interval(low, high, records),
            Side::Touched(low, high) => over.touched(bins.bin(low), bins.bin(high), records),
        }
    }
    OverBins { bins: over.finish(), missing }
}

/// Over the leaves of a column of categories. A missing value is a leaf like any other.
pub(super) fn over_leaves(domain: &Domain, seen: &Seen<'_>) -> Vec<f64> {
    let reader = LabelReader::new(domain);
    let mut leaves = vec![0.0; domain.len()];
    let mut changes = vec![0.0; domain.len() + 1];
    for (label, &records) in seen.labels.iter().zip(&seen.after) {
        let mut even = |cell: Cell| {
            let part = records as f64 / f64::from(cell.last - cell.first + 1);
            changes[cell.first as usize] += part;
            changes[cell.last as usize + 1] -= part;
        };
        match reader.read(label) {
            Some(ReadCell::Cell(cell)) if cell.first == cell.last => leaves[cell.first as usize] += records as f64,
            Some(ReadCell::Cell(cell)) => even(cell),
            Some(ReadCell::Set(codes)) => {
                codes.iter().for_each(|&code| leaves[code as usize] += records as f64 / codes.len() as f64);
            }
            // Nothing can be read from it, so it could be anything.
            None => even(domain.whole()),
        }
    }
    let mut density = 0.0;
    for (leaf, change) in leaves.iter_mut().zip(changes) {
        density += change;
        *leaf += f64::max(density, 0.0);
    }
    leaves
}

/// What a label stands for in a column of numbers or dates.
enum Side {
    /// One value, which prints.
    Value(f64),
    /// From the first to the second, both of which print.
    Printed(f64, f64),
    /// From the first to the second, which do not print.
    Touched(f64, f64),
    /// No value at all.
    Missing,
}

fn side(domain: &Domain, reader: &LabelReader<'_>, label: &str) -> Side {
    let cell = match reader.read(label) {
        Some(ReadCell::Cell(cell)) => cell,
        // One number for many need not be a value of the column.
        _ => match domain.read_number(label) {
            Some(number) => return Side::Value(number),
            None => domain.whole(),
        },
    };
    match domain.ends(cell) {
        None => Side::Missing,
        Some((low, high)) if low == high => Side::Value(low),
        Some((low, high)) => {
            let printed = interval_ends(label).map(|(low, high)| (domain.read_number(low), domain.read_number(high)));
            if printed == Some((Some(low), Some(high))) { Side::Printed(low, high) } else { Side::Touched(low, high) }
        }
    }
}

/// Sums over bins while they are made.
struct Spread<'a> {
    bins: &'a Bins,
    /// What falls into a bin as it is.
    whole: Vec<f64>,
    /// How much more there is in each half unit of length from this bin on than in the one before.
    changes: Vec<f64>,
}

impl<'a> Spread<'a> {
    fn new(bins: &'a Bins) -> Self {
        Self { bins, whole: vec![0.0; bins.len()], changes: vec![0.0; bins.len() + 1] }
    }

    fn edge(&self, at: usize) -> f64 {
        self.bins.edges[at] / 2.0
    }

    /// Over an interval whose ends are both inside it. On a grid the last value takes as much room as any other.
    fn interval(&mut self, low: f64, high: f64, records: f64) {
        let (first, last) = (self.bins.bin(low), self.bins.bin(high));
        // Halves, so that a range near the greatest number does not overflow.
        let (low, high) = (low / 2.0, high / 2.0 + self.bins.grid.unwrap_or(0.0) / 2.0);
        if first == last {
            self.whole[first] += records;
            return;
        }
        let density = records / (high - low);
        self.whole[first] += (self.edge(first + 1) - low) * density;
        self.whole[last] += (high - self.edge(last)) * density;
        self.changes[first + 1] += density;
        self.changes[last] -= density;
    }

    /// Over all bins from the first to the last, by how wide they are.
    fn touched(&mut self, first: usize, last: usize, records: f64) {
        if first == last {
            self.whole[first] += records;
            return;
        }
        let density = records / (self.edge(last + 1) - self.edge(first));
        self.changes[first] += density;
        self.changes[last + 1] -= density;
    }

    fn finish(mut self) -> Vec<f64> {
        let mut density = 0.0;
        for bin in 0..self.bins.len() {
            density += self.changes[bin];
            self.whole[bin] += f64::max(density, 0.0) * (self.edge(bin + 1) - self.edge(bin));
        }
        self.whole
    }
}
