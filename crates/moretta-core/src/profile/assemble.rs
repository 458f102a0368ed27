//! Sorts the counted rows into tuples and variants.
//!
//! Parts of the sorted rows are read by several threads. A part begins with a tuple, so that the parts, one after
//! another, are the tuples of the table, whatever their number.

use std::{ops::Range, sync::OnceLock};

use rayon::prelude::*;

use super::{Attribute, Column, Profile, order::sorted_rows, persons::UnitColumn};
use crate::{
    counts::{BATCH_ROWS, Counts},
    ids::{TupleId, VariantId},
};

/// Minimum rows of a part: fewer take less time than a task. Affects speed only.
const MIN_ROWS: usize = 4096;

/// Tuples and variants of a part, numbered from 0 each.
#[derive(Default)]
struct Part {
    tuple_codes: Vec<u32>,
    /// First variant of each tuple.
    tuple_offsets: Vec<u32>,
    tuple_records: Vec<u64>,
    variant_tuples: Vec<u32>,
    variant_codes: Vec<u32>,
    /// Codes of the person and the household.
    variant_units: Vec<u32>,
    variant_records: Vec<u64>,
    variant_first: Vec<u64>,
    /// Variant of each row of the part.
    variants: Vec<u32>,
}

/// Counted rows in the codes of a profile.
struct Rows<'a> {
    counts: &'a Counts,
    /// Per column, the code of each raw code.
    maps: &'a [Vec<u32>],
    /// Number of quasi-identifiers, and of quasi-identifiers and attributes.
    columns: (usize, usize),
}

impl Rows<'_> {
    fn code(&self, row: u32, column: usize) -> u32 {
        self.maps[column][self.counts.codes[row as usize * self.maps.len() + column] as usize]
    }

    fn have_same_tuple(&self, one: u32, other: u32) -> bool {
        (0..self.columns.0).all(|column| self.code(one, column) == self.code(other, column))
    }

    /// Ranges of about equal numbers of sorted rows, each of whole tuples.
    fn parts(&self, order: &[u32]) -> Vec<Range<usize>> {
        let count = rayon::current_num_threads().min(order.len() / MIN_ROWS).max(1);
        let mut parts = Vec::new();
        let mut start = 0;
        for part in 1..=count {
            let mut end = (order.len() * part / count).max(start);
            while 0 < end && end < order.len() && self.have_same_tuple(order[end - 1], order[end]) {
                end += 1;
            }
            parts.push(start..end);
            start = end;
        }
        parts
    }

    fn part(&self, order: &[u32]) -> Part {
        let (p, q) = self.columns;
        let mut part = Part::default();
        let (mut previous, mut codes): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        for (index, &row) in order.iter().enumerate() {
            if index.is_multiple_of(BATCH_ROWS) {
                self.counts.load(order[index..].iter().take(BATCH_ROWS).map(|&row| row as usize));
            }
            codes.clear();
            let raw = self.counts.row(row as usize).iter().zip(self.maps);
            codes.extend(raw.map(|(&raw, map)| map[raw as usize]));
            let new_tuple = previous.len() != codes.len() || codes[..p] != previous[..p];
            if new_tuple {
                part.tuple_offsets.push(part.variant_records.len() as u32);
                part.tuple_codes.extend(&codes[..p]);
                part.tuple_records.push(0);
            }
            if new_tuple || codes[p..] != previous[p..] {
                part.variant_tuples.push(part.tuple_records.len() as u32 - 1);
                part.variant_codes.extend(&codes[p..q]);
                part.variant_units.extend(&codes[q..]);
                part.variant_records.push(0);
                part.variant_first.push(u64::MAX);
            }
            let records = self.counts.counts[row as usize];
            let first = self.counts.first_record(row as usize).unwrap_or(u64::MAX);
            if let (Some(tuple), Some(variant), Some(known)) =
                (part.tuple_records.last_mut(), part.variant_records.last_mut(), part.variant_first.last_mut())
            {
                *tuple += records;
                *variant += records;
                *known = first.min(*known);
            }
            part.variants.push(part.variant_records.len() as u32 - 1);
            std::mem::swap(&mut previous, &mut codes);
        }
        part
    }
}

impl Profile {
    /// `units` are the person and the household column, `maps` the codes of all columns by raw code.
    pub(super) fn assemble(
        columns: Vec<Column>,
        attributes: Vec<Attribute>,
        [persons, households]: [Option<UnitColumn>; 2],
        maps: &[Vec<u32>],
        counts: &Counts,
    ) -> Self {
        let rows = Rows { counts, maps, columns: (columns.len(), columns.len() + attributes.len()) };
        let mut profile = Self {
            columns,
            attributes,
            records: counts.records,
            tuple_codes: Vec::new(),
            tuple_offsets: Vec::new(),
            tuple_records: Vec::new(),
            variant_tuples: Vec::new(),
            variant_codes: Vec::new(),
            variant_records: Vec::new(),
            variant_first: counts.first_records.is_some().then(Vec::new),
            persons,
            households,
            rows: vec![VariantId(0); counts.rows()],
            code_records: OnceLock::new(),
        };
        let order = sorted_rows(counts.rows(), &profile.sizes(), |row, column| rows.code(row as u32, column));
        let ranges = rows.parts(&order);
        let parts: Vec<Part> = ranges.par_iter().map(|range| rows.part(&order[range.clone()])).collect();
        for (range, part) in ranges.into_iter().zip(parts) {
            profile.append(part, &order[range]);
        }
        profile.tuple_offsets.push(profile.variant_records.len() as u32);
        profile
    }

    /// Appends a part of the rows.
    fn append(&mut self, part: Part, order: &[u32]) {
        let (tuples, variants) = (self.tuple_records.len() as u32, self.variant_records.len() as u32);
        self.tuple_codes.extend(part.tuple_codes);
        self.tuple_offsets.extend(part.tuple_offsets.iter().map(|offset| variants + offset));
        self.tuple_records.extend(part.tuple_records);
        self.variant_tuples.extend(part.variant_tuples.iter().map(|tuple| TupleId(tuples + tuple)));
        self.variant_codes.extend(part.variant_codes);
        let width = self.persons.iter().chain(&self.households).count();
        for (index, unit) in self.persons.iter_mut().chain(&mut self.households).enumerate() {
            unit.of_variant.extend(part.variant_units.iter().skip(index).step_by(width));
        }
        self.variant_records.extend(part.variant_records);
        self.variant_first.iter_mut().for_each(|first| first.extend(&part.variant_first));
        for (&row, variant) in order.iter().zip(part.variants) {
            self.rows[row as usize] = VariantId(variants + variant);
        }
    }
}
