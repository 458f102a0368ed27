//! Values that released labels cover, in the codes of the original's domain.
//!
//! A label covers the same values wherever it is printed, so cells are kept once per label (16 bytes, and the codes of
//! a set). The exception is a column of numbers released as means, medians or midpoints: a printed number does not
//! determine the cell. If the release was made from a recoding, such a column also keeps a cell per group (12 bytes).
//! Pieces of a recoding with equal labels in all columns become one group, whose cell is the smallest around theirs.
//! That is exactly their union: each contains the printed number, so they overlap.

use crate::{
    hierarchy::{Cell, Domain, LabelReader, ReadCell},
    notation::Notation,
};

/// Values that a released label covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covered<'a> {
    /// A value, node or interval.
    Cell(Cell),
    /// Codes of a printed set, in the order of printing.
    Set(&'a [u32]),
}

/// The cells of one released column.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnCells {
    of_label: Vec<LabelCell>,
    sets: Vec<Box<[u32]>>,
    /// By group, in a column that prints one number per group; otherwise `None`.
    pub(super) of_group: Option<Vec<Cell>>,
}

#[derive(Debug, Clone, Copy)]
enum LabelCell {
    Cell(Cell),
    /// Index in `sets`.
    Set(u32),
    Unknown,
}

impl ColumnCells {
    /// Reads the labels of a file, with numbers in this notation; a text that is no label of the column is unknown.
    pub(super) fn read<'a>(domain: &Domain, notation: Notation, labels: impl Iterator<Item = &'a str>) -> Self {
        let reader = LabelReader::of_file(domain, notation);
        let mut cells = Self::default();
        labels.for_each(|label| cells.push(reader.read(label)));
        cells
    }

    /// Adds the cell of the next label.
    pub(super) fn push(&mut self, read: Option<ReadCell>) {
        self.of_label.push(match read {
            Some(ReadCell::Cell(cell)) => LabelCell::Cell(cell),
            Some(ReadCell::Set(codes)) => {
                self.sets.push(codes.into());
                LabelCell::Set(self.sets.len() as u32 - 1)
            }
            None => LabelCell::Unknown,
        });
    }

    pub(super) fn covered(&self, label: u32) -> Option<Covered<'_>> {
        match self.of_label[label as usize] {
            LabelCell::Cell(cell) => Some(Covered::Cell(cell)),
            LabelCell::Set(index) => Some(Covered::Set(&self.sets[index as usize])),
            LabelCell::Unknown => None,
        }
    }
}
