//! Recodings: the released cell of each quasi-identifier value or record. A recoding is the result of a search.
//!
//! In a *global* recoding a [`Cut`] gives every value of a column one cell, so equal values are released equally. In a
//! [*local* recoding](LocalRecoding) every group of records has its own box, one cell per column, so equal values may
//! be released differently. Neither is trusted: [`verify`](crate::verify) regroups the profile under it from scratch.
//!
//! Four records with k = 2:
//!
//! ```text
//! original     global: 34 has one cell     local: 34 has a cell per group
//! age  sex     age        sex              age        sex
//! 34   f       [34, 36]   f                34         f        group 0
//! 34   f       [34, 36]   f                34         f        group 0
//! 34   m       [34, 36]   m                [34, 36]   m        group 1
//! 36   m       [34, 36]   m                [34, 36]   m        group 1
//! ```

mod boxes;
mod step;
mod suppress;
mod suppressor;

pub use self::step::{Action, Step};
pub use self::suppress::suppressed_by;
#[cfg(test)]
pub(crate) use self::suppressor::WORK as SUPPRESSION_WORK;
pub(crate) use self::{
    boxes::{BoxIndex, assign_to_boxes},
    suppress::{PrintedCell, TupleGroups, suppress_violating_groups, suppressed_within},
    suppressor::{Constraints, GroupedCounts, SparseCounts, Suppression},
};

use crate::{
    hierarchy::{Cell, Domain},
    ids::{GroupId, TupleId, VariantId},
    profile::Profile,
};

/// Released cells of the quasi-identifiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recoding {
    /// One cell per value.
    Global(Cut),
    /// One box per group.
    Local(LocalRecoding),
}

/// Global recoding. Cells of a column may nest: while a node is released for most of its values, some of them may be
/// released with a smaller cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cut {
    /// By column and code, the released cell.
    pub cells: Vec<Vec<Cell>>,
    /// Tuples whose records are suppressed, ascending.
    pub suppressed: Vec<TupleId>,
}

/// Local recoding: groups of records, each with one box.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalRecoding {
    /// Row-major: for each group, the cells of its box, one per column.
    pub boxes: Vec<Cell>,
    /// Records of each group. Every record of every variant belongs to exactly one group.
    pub assignments: Vec<GroupAssignment>,
    /// Group of the suppressed records; its box is ignored. `None` if nothing is suppressed.
    pub suppressed: Option<GroupId>,
}

/// Number of a variant's records that belong to a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupAssignment {
    /// Index of the group's box.
    pub group: GroupId,
    /// Id in the profile.
    pub variant: VariantId,
    /// Number of records of this variant in this group; its others are in other groups.
    pub records: u64,
}

impl Cut {
    /// No recoding: every value is its own cell.
    pub fn identity(profile: &Profile) -> Self {
        let cells = |domain: &Domain| (0..domain.len() as u32).map(|code| domain.cover(code, code)).collect();
        Self { cells: profile.columns().iter().map(|column| cells(&column.domain)).collect(), suppressed: Vec::new() }
    }

    /// Full generalization: every value is released as `*`.
    pub fn whole(profile: &Profile) -> Self {
        let cells = |domain: &Domain| if domain.is_empty() { Vec::new() } else { vec![domain.whole(); domain.len()] };
        Self { cells: profile.columns().iter().map(|column| cells(&column.domain)).collect(), suppressed: Vec::new() }
    }

    /// Applies one step of a generalization path. The suppressed tuples do not change.
    pub fn apply(&mut self, step: &Step) {
        for (column, cell) in &step.changes {
            self.cells[column.index()][cell.first as usize..=cell.last as usize].fill(*cell);
        }
    }
}

impl LocalRecoding {
    /// The box of a group: one cell for each of the `columns` columns.
    pub fn box_of(&self, group: GroupId, columns: usize) -> &[Cell] {
        &self.boxes[group.index() * columns..(group.index() + 1) * columns]
    }
}

impl Recoding {
    /// Number of suppressed records.
    pub fn suppressed_records(&self, profile: &Profile) -> u64 {
        match self {
            Self::Global(cut) => cut.suppressed.iter().map(|&tuple| profile.tuple_records(tuple)).sum(),
            Self::Local(groups) => {
                let suppressed = groups.assignments.iter().filter(|a| Some(a.group) == groups.suppressed);
                suppressed.map(|assignment| assignment.records).sum()
            }
        }
    }

    /// Whether some cell is not the whole column. Otherwise the release discloses nothing about the quasi-identifiers.
    pub fn discloses_anything(&self, profile: &Profile) -> bool {
        match self {
            Self::Global(cut) => cut.cells != Cut::whole(profile).cells,
            Self::Local(groups) => {
                let whole = profile.columns().iter().map(|column| column.domain.whole()).cycle();
                groups.boxes.iter().zip(whole).any(|(cell, whole)| *cell != whole)
            }
        }
    }

    /// No recoding: every value is its own cell.
    pub fn identity(profile: &Profile) -> Self {
        Self::Global(Cut::identity(profile))
    }
}
