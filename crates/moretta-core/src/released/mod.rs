//! The released table as a recipient sees it: groups of records with equal labels, the cells of the labels, and the
//! loss of each cell.
//!
//! It is made from a recoding of a profile, or from a release read back. Measures and privacy models use this table
//! only, never the claims of a method.
//!
//! A *piece* is a part of a recoding before pieces with equal labels are merged into groups: a group of a local
//! recoding, or a tuple of a global one.

mod builder;
mod cells;
mod grouping;
#[cfg(test)]
mod tests;

use self::{builder::ReleaseBuilder, cells::ColumnCells};
pub use self::{cells::Covered, grouping::Grouping};
use crate::{
    declaration::ReleaseOptions,
    hierarchy::{Domain, ROOT_LABEL},
    ids::TupleId,
    profile::{Column, Profile, VariantCount},
    recoding::{Cut, GroupAssignment, LocalRecoding, Recoding},
    text::{at_record, shown},
};

/// Information loss of a released cell, by both metrics; 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CellLoss {
    /// Normalized certainty penalty.
    pub ncp: f64,
    /// Iyengar's loss.
    pub lm: f64,
}

/// The released table.
#[derive(Debug, Clone)]
pub struct Released {
    grouping: Grouping,
    labels: Vec<Vec<Box<str>>>,
    cells: Vec<ColumnCells>,
    knows_cells: bool,
    losses: Vec<CellLoss>,
    suppressed: Vec<bool>,
    /// Index of the group of each piece (for a file, of each tuple).
    groups_of_pieces: Vec<usize>,
}

/// A text in a released file that is no label of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column `{}`{}: `{}` is not a label of any value of the original", shown(.column), at_record(*.record), shown(.value))]
pub struct ReadError {
    /// Name of the column.
    pub column: String,
    /// First record with this text (from 1); `None` if records have no numbers.
    pub record: Option<u64>,
    /// Text of the cell.
    pub value: String,
}

impl Released {
    /// The table under a recoding.
    pub fn of_recoding(profile: &Profile, recoding: &Recoding, options: &ReleaseOptions) -> Self {
        match recoding {
            Recoding::Local(groups) => Self::of_local(profile, groups, options),
            Recoding::Global(cut) => Self::of_global(profile, cut, options),
        }
    }

    fn of_local(profile: &Profile, groups: &LocalRecoding, options: &ReleaseOptions) -> Self {
        let mut assignments = groups.assignments.clone();
        assignments.sort_unstable();
        let p = profile.columns().len();
        let mut builder = ReleaseBuilder::new(profile, options, false);
        let mut pieces = vec![None; groups.boxes.len() / p];
        for (piece, assignments) in assignments.chunk_by(|a, b| a.group == b.group).enumerate() {
            let group = assignments[0].group;
            pieces[group.index()] = Some(piece);
            if groups.suppressed == Some(group) {
                builder.push_suppressed();
            } else {
                for (column, cell) in groups.box_of(group, p).iter().enumerate() {
                    let code = |a: &GroupAssignment| profile.codes(profile.tuple_of(a.variant))[column];
                    builder.push_cell(column, *cell, || assignments.iter().map(|a| (code(a), a.records)));
                }
            }
            builder.end_piece(assignments.iter().map(|a| VariantCount { variant: a.variant, records: a.records }));
        }
        let mut released = builder.finish();
        // A group without records has no piece; its index is never used.
        let group = |piece: Option<usize>| piece.map_or(usize::MAX, |piece| released.groups_of_pieces[piece]);
        released.groups_of_pieces = pieces.into_iter().map(group).collect();
        released
    }

    fn of_global(profile: &Profile, cut: &Cut, options: &ReleaseOptions) -> Self {
        let tuples = || (0..profile.tuples() as u32).map(TupleId);
        let suppressed = |tuple: TupleId| cut.suppressed.binary_search(&tuple).is_ok();
        // Number of released records per column and code. Sets and means of a cell are computed from it for the whole
        // column.
        let mut released_records: Vec<Vec<u64>> = profile.columns().iter().map(|c| vec![0; c.domain.len()]).collect();
        for tuple in tuples().filter(|&tuple| !suppressed(tuple)) {
            for (column, &code) in profile.codes(tuple).iter().enumerate() {
                released_records[column][code as usize] += profile.tuple_records(tuple);
            }
        }
        let mut builder = ReleaseBuilder::new(profile, options, true);
        for tuple in tuples() {
            if suppressed(tuple) {
                builder.push_suppressed();
            } else {
                for (column, &code) in profile.codes(tuple).iter().enumerate() {
                    let cell = cut.cells[column][code as usize];
                    let inside = &released_records[column][cell.first as usize..=cell.last as usize];
                    // Values inside the cell may have a smaller cell of their own.
                    let has_cell = |code: &u32| cut.cells[column][*code as usize] == cell;
                    builder.push_cell(column, cell, || {
                        let inside = (cell.first..=cell.last).zip(inside.iter().copied());
                        inside.filter(move |(code, records)| *records > 0 && has_cell(code))
                    });
                }
            }
            builder.end_piece(profile.members_of(tuple));
        }
        builder.finish()
    }

    /// A release read back: `release` is the file's profile ([`Profile::of_release`]), `original` gives the domains.
    pub fn of_file(original: &Profile, release: &Profile) -> Result<Self, ReadError> {
        let labels = texts(release);
        let cells = read_cells((original, release), &labels);
        let loss = |column: usize, code: u32| {
            cells[column].covered(code).map(|covered| loss_of(&original.columns()[column].domain, covered))
        };
        let read: Vec<Vec<Option<CellLoss>>> =
            (0..labels.len()).map(|c| (0..labels[c].len() as u32).map(|code| loss(c, code)).collect()).collect();
        let grouping = Grouping::of_tuples(release);
        let mut losses = Vec::new();
        for tuple in (0..release.tuples() as u32).map(TupleId) {
            for (column, &code) in release.codes(tuple).iter().enumerate() {
                losses.push(read[column][code as usize].ok_or_else(|| ReadError {
                    column: release.columns()[column].name.clone(),
                    record: release.variants_of(tuple).filter_map(|v| release.first_record(v)).min(),
                    value: release.columns()[column].domain.text(code).to_owned(),
                })?);
            }
        }
        let groups_of_pieces = (0..grouping.len()).collect();
        Ok(Self::new(grouping, (labels, cells), losses, groups_of_pieces))
    }

    /// A group with `*` in every column counts as suppressed, whatever the reason: a recipient sees no difference.
    fn new(
        grouping: Grouping,
        (labels, cells): (Vec<Vec<Box<str>>>, Vec<ColumnCells>),
        losses: Vec<CellLoss>,
        groups_of_pieces: Vec<usize>,
    ) -> Self {
        let suppressed = vec![false; grouping.len()];
        let mut released = Self { grouping, labels, cells, knows_cells: true, losses, suppressed, groups_of_pieces };
        let p = released.grouping.columns;
        for group in 0..released.groups() {
            if (0..p).all(|column| released.label(group, column) == ROOT_LABEL) {
                released.suppressed[group] = true;
                released.losses[group * p..(group + 1) * p].iter_mut().for_each(|loss| loss.lm = 1.0);
            }
        }
        released
    }

    /// A file whose losses are not known, such as one with means of numbers. Labels that cannot be read are unknown.
    pub fn of_opaque(original: &Profile, release: &Profile) -> Self {
        let labels = texts(release);
        let grouping = Grouping::of_tuples(release);
        let groups = grouping.len();
        Self {
            losses: vec![CellLoss::default(); groups * release.columns().len()],
            suppressed: vec![false; groups],
            groups_of_pieces: (0..groups).collect(),
            cells: read_cells((original, release), &labels),
            knows_cells: false,
            labels,
            grouping,
        }
    }

    /// Groups of records with equal labels in all columns.
    pub fn grouping(&self) -> &Grouping {
        &self.grouping
    }

    /// Number of groups, the suppressed one included.
    pub fn groups(&self) -> usize {
        self.grouping.len()
    }

    /// Number of records of a group.
    pub fn records(&self, group: usize) -> u64 {
        self.grouping.records(group)
    }

    /// Whether a group has `*` in every column.
    pub fn is_suppressed(&self, group: usize) -> bool {
        self.suppressed[group]
    }

    /// Number of records released with `*` in every column.
    pub fn suppressed_records(&self) -> u64 {
        (0..self.groups()).filter(|&group| self.suppressed[group]).map(|group| self.records(group)).sum()
    }

    /// Losses of a group, by column.
    pub fn losses(&self, group: usize) -> &[CellLoss] {
        let p = self.grouping.columns;
        &self.losses[group * p..(group + 1) * p]
    }

    /// Label of a group in a column.
    pub fn label(&self, group: usize, column: usize) -> &str {
        &self.labels[column][self.label_of(group, column) as usize]
    }

    /// Distinct labels of a column.
    pub fn labels(&self, column: usize) -> &[Box<str>] {
        &self.labels[column]
    }

    /// Index of a group's label among the [`labels`](Self::labels) of a column.
    pub fn label_of(&self, group: usize, column: usize) -> u32 {
        self.grouping.key(group)[column]
    }

    /// Values that a label of a column covers. `None` if the label is a mean, median or midpoint, which need not be a
    /// value of the column, or if it is no label of the column at all, in a file read by
    /// [`of_opaque`](Self::of_opaque).
    pub fn covered(&self, column: usize, label: u32) -> Option<Covered<'_>> {
        self.cells[column].covered(label)
    }

    /// Whether the cell and the loss of every label are known. They are not in a file with means, medians or midpoints.
    pub fn knows_cells(&self) -> bool {
        self.knows_cells
    }

    /// Cells of a column, each with the number of records released under it; a cell may occur several times. A mean,
    /// median or midpoint has the cell of its recoding. `None` if not [`knows_cells`](Self::knows_cells).
    pub fn cells(&self, column: usize) -> Option<Vec<(Covered<'_>, u64)>> {
        if !self.knows_cells {
            return None;
        }
        if let Some(cells) = &self.cells[column].of_group {
            return Some((0..).zip(cells).map(|(group, &cell)| (Covered::Cell(cell), self.records(group))).collect());
        }
        let records = self.label_records(column);
        (0..).zip(records).map(|(label, records)| Some((self.covered(column, label)?, records))).collect()
    }

    /// Number of records released under each label of a column.
    pub fn label_records(&self, column: usize) -> Vec<u64> {
        let mut records = vec![0; self.labels[column].len()];
        for group in 0..self.groups() {
            records[self.label_of(group, column) as usize] += self.records(group);
        }
        records
    }

    /// Index of the group that contains a piece: a group of a local recoding, or a tuple of a global one.
    pub fn group_of_piece(&self, piece: usize) -> usize {
        self.groups_of_pieces[piece]
    }
}

/// The texts of a released file, column by column.
fn texts(release: &Profile) -> Vec<Vec<Box<str>>> {
    let texts = |domain: &Domain| (0..domain.len() as u32).map(|code| domain.text(code).into()).collect();
    release.columns().iter().map(|column| texts(&column.domain)).collect()
}

/// The cells of a file's labels, column by column.
fn read_cells((original, release): (&Profile, &Profile), labels: &[Vec<Box<str>>]) -> Vec<ColumnCells> {
    let columns = original.columns().iter().zip(release.columns()).zip(labels);
    let read = |((column, released), labels): ((&Column, &Column), &Vec<Box<str>>)| {
        ColumnCells::read(&column.domain, released.notation, labels.iter().map(|label| &**label))
    };
    columns.map(read).collect()
}

fn loss_of(domain: &Domain, covered: Covered<'_>) -> CellLoss {
    match covered {
        Covered::Cell(cell) => CellLoss { ncp: domain.ncp(cell), lm: domain.lm(cell) },
        Covered::Set(codes) => CellLoss { ncp: domain.set_ncp(codes.len()), lm: domain.set_lm(codes.len()) },
    }
}
