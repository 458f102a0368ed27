//! Recodings: what a search comes back with.
//!
//! A recoding has one of two shapes. A [`Cut`] gives every value of a column one cell (global recoding: equal values
//! stay equal); a [`LocalRecoding`] gives every group of records a box of its own (local recoding: equal values may leave
//! differently). Neither is trusted: [`verify`](crate::verify) regroups the profile under it from scratch.

mod boxes;
mod step;
mod suppress;

pub use self::step::{Action, Step};
pub use self::suppress::suppressed_by;
pub(crate) use self::{
    boxes::{BoxIndex, assign_to_boxes},
    suppress::{PrintedCell, suppress_violating_groups},
};

use crate::{
    hierarchy::{Cell, Domain},
    ids::{GroupId, TupleId, VariantId},
    profile::Profile,
};

/// How the quasi-identifiers are to be released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recoding {
    /// One cell per value.
    Global(Cut),
    /// One box per group.
    Local(LocalRecoding),
}

/// Global recoding. Cells may nest: a value leaves as the smallest of the column's cells that covers it, so beside a
/// node that stands for most of its values some may be left as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// For each column, the cell that each code leaves as.
    pub cells: Vec<Vec<Cell>>,
    /// Tuples whose records are suppressed, in order.
    pub suppressed: Vec<TupleId>,
}

/// Local recoding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalRecoding {
    /// Row-major: the cells of each group's box, one for each column.
    pub boxes: Vec<Cell>,
    /// Which records are in which group. All records of all variants, each once.
    pub assignments: Vec<GroupAssignment>,
    /// The group of the suppressed records, where there is one; its box counts for nothing.
    pub suppressed: Option<GroupId>,
}

/// So many of a variant's records are in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupAssignment {
    /// The group.
    pub group: GroupId,
    /// The variant.
    pub variant: VariantId,
    /// How many of its records.
    pub records: u64,
}

impl Cut {
    /// The table as it is: every value is its own cell.
    pub fn identity(profile: &Profile) -> Self {
        let cells = |domain: &Domain| (0..domain.len() as u32).map(|code| domain.cover(code, code)).collect();
        Self { cells: profile.columns().iter().map(|column| cells(&column.domain)).collect(), suppressed: Vec::new() }
    }

    /// Nothing is told: every value leaves as the whole column.
    pub fn whole(profile: &Profile) -> Self {
        let cells = |domain: &Domain| if domain.is_empty() { Vec::new() } else { vec![domain.whole(); domain.len()] };
        Self { cells: profile.columns().iter().map(|column| cells(&column.domain)).collect(), suppressed: Vec::new() }
    }

    /// One step along a path. What is suppressed does not change.
    pub fn apply(&mut self, step: &Step) {
        for (column, cell) in &step.changes {
            self.cells[column.index()][cell.first as usize..=cell.last as usize].fill(*cell);
        }
    }
}

impl LocalRecoding {
    /// The box of a group.
    pub fn cells(&self, group: GroupId, columns: usize) -> &[Cell] {
        &self.boxes[group.index() * columns..(group.index() + 1) * columns]
    }
}

impl Recoding {
    /// How many records it suppresses.
    pub fn suppressed_records(&self, profile: &Profile) -> u64 {
        match self {
            Self::Global(cut) => cut.suppressed.iter().map(|&tuple| profile.tuple_records(tuple)).sum(),
            Self::Local(groups) => {
                let suppressed =
                    groups.assignments.iter().filter(|assignment| Some(assignment.group) == groups.suppressed);
                suppressed.map(|assignment| assignment.records).sum()
            }
        }
    }

    /// Whether a cell of it is less than the whole column, so that a release has something to tell.
    pub fn discloses_anything(&self, profile: &Profile) -> bool {
        match self {
            Self::Global(cut) => cut.cells != Cut::whole(profile).cells,
            Self::Local(groups) => {
                let whole = profile.columns().iter().map(|column| column.domain.whole()).cycle();
                groups.boxes.iter().zip(whole).any(|(cell, whole)| *cell != whole)
            }
        }
    }

    /// The table as it is: every value is its own cell.
    pub fn identity(profile: &Profile) -> Self {
        Self::Global(Cut::identity(profile))
    }
}
