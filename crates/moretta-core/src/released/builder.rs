//! Builds a released table piece by piece.

use hashbrown::HashMap;

use super::{CellLoss, Covered, Grouping, Released, cells::ColumnCells, loss_of};
use crate::{
    declaration::{Numbers, ReleaseOptions},
    hierarchy::{Cell, Domain, ROOT_LABEL, ReadCell, numeric::number_text},
    profile::{Profile, VariantCount},
    schema::Kind,
    text::merge_counts,
};

/// Collects the labels, losses and records of pieces; [`finish`](Self::finish) merges pieces with equal labels into
/// groups.
pub(super) struct ReleaseBuilder<'a> {
    profile: &'a Profile,
    options: &'a ReleaseOptions,
    /// Whether the recoding is global: then a cell has the same label in all pieces.
    global: bool,
    labels: Vec<Vec<Box<str>>>,
    cells: Vec<ColumnCells>,
    /// By column and piece, in columns that print one number per group.
    piece_cells: Vec<Option<Vec<Cell>>>,
    label_ids: Vec<HashMap<String, u32>>,
    cache: Vec<HashMap<Cell, (u32, CellLoss)>>,
    keys: Vec<u32>,
    losses: Vec<CellLoss>,
    offsets: Vec<usize>,
    members: Vec<VariantCount>,
}

impl<'a> ReleaseBuilder<'a> {
    pub(super) fn new(profile: &'a Profile, options: &'a ReleaseOptions, global: bool) -> Self {
        let p = profile.columns().len();
        let prints_one_number = |kind: Kind| kind == Kind::Number && options.prints_group_values(kind);
        let piece_cells = profile.columns().iter().map(|column| prints_one_number(column.domain.kind()).then(Vec::new));
        Self {
            piece_cells: piece_cells.collect(),
            profile,
            options,
            global,
            labels: vec![Vec::new(); p],
            cells: vec![ColumnCells::default(); p],
            label_ids: vec![HashMap::new(); p],
            cache: vec![HashMap::new(); p],
            keys: Vec::new(),
            losses: Vec::new(),
            offsets: vec![0],
            members: Vec::new(),
        }
    }

    /// Adds the cell of the current piece in the next column. `codes` are the codes released as this cell, with their
    /// records.
    pub(super) fn push_cell<I: Iterator<Item = (u32, u64)>>(
        &mut self,
        column: usize,
        cell: Cell,
        codes: impl Fn() -> I,
    ) {
        let domain = &self.profile.columns()[column].domain;
        let prints_group_values = cell.first < cell.last && self.options.prints_group_values(domain.kind());
        let shared = self.global || !prints_group_values;
        let known = self.cache[column].get(&cell).filter(|_| shared).copied();
        let (id, loss) = known.unwrap_or_else(|| {
            let (label, read, loss) = if prints_group_values {
                group_label(domain, cell, codes(), self.options)
            } else {
                cell_label(domain, cell)
            };
            let entry = (self.intern(column, label, read), loss);
            if shared {
                self.cache[column].insert(cell, entry);
            }
            entry
        });
        self.keys.push(id);
        self.losses.push(loss);
        let star = domain.is_star(cell);
        self.piece_cells[column].iter_mut().for_each(|cells| cells.push(if star { domain.whole() } else { cell }));
    }

    /// Adds `*` in all columns of the current piece.
    pub(super) fn push_suppressed(&mut self) {
        for (column, described) in self.profile.columns().iter().enumerate() {
            let domain = &described.domain;
            let id = self.intern(column, ROOT_LABEL.to_owned(), None);
            self.keys.push(id);
            self.losses.push(CellLoss { ncp: domain.ncp(domain.whole()), lm: 1.0 });
            self.piece_cells[column].iter_mut().for_each(|cells| cells.push(domain.whole()));
        }
    }

    /// Ends the current piece; `members` are its records.
    pub(super) fn end_piece(&mut self, members: impl Iterator<Item = VariantCount>) {
        self.members.extend(members);
        self.offsets.push(self.members.len());
    }

    /// Index of a label in its column; `read` is the cell that a recipient reads in it.
    fn intern(&mut self, column: usize, label: String, read: Option<ReadCell>) -> u32 {
        let (labels, cells) = (&mut self.labels[column], &mut self.cells[column]);
        let domain = &self.profile.columns()[column].domain;
        // A missing value may print `*` too, and a recipient cannot distinguish it from any other value.
        let read = if label == ROOT_LABEL { Some(ReadCell::Cell(domain.whole())) } else { read };
        let printed = label.as_str().into();
        *self.label_ids[column].entry(label).or_insert_with(|| {
            labels.push(printed);
            cells.push(read);
            labels.len() as u32 - 1
        })
    }

    pub(super) fn finish(mut self) -> Released {
        let p = self.profile.columns().len();
        let pieces = self.offsets.len() - 1;
        let piece = |i: usize| (&self.keys[i * p..(i + 1) * p], &self.members[self.offsets[i]..self.offsets[i + 1]]);
        let (grouping, groups_of_pieces) = Grouping::collect(p, (0..pieces).map(piece));
        // Pieces with equal labels may have different losses (two intervals with the same mean): average over their
        // records.
        let mut losses = vec![CellLoss::default(); grouping.len() * p];
        let mut records = vec![0.0; grouping.len()];
        for (i, &group) in groups_of_pieces.iter().enumerate() {
            let n = piece(i).1.iter().map(|member| member.records).sum::<u64>() as f64;
            records[group] += n;
            let share = if records[group] > 0.0 { n / records[group] } else { 1.0 };
            for column in 0..p {
                let (loss, piece_loss) = (&mut losses[group * p + column], self.losses[i * p + column]);
                loss.ncp += (piece_loss.ncp - loss.ncp) * share;
                loss.lm += (piece_loss.lm - loss.lm) * share;
            }
        }
        for ((cells, pieces), column) in self.cells.iter_mut().zip(self.piece_cells).zip(self.profile.columns()) {
            cells.of_group =
                pieces.map(|pieces| covering_cells(&column.domain, &groups_of_pieces, grouping.len(), &pieces));
        }
        Released::new(grouping, (self.labels, self.cells), losses, groups_of_pieces)
    }
}

/// For each group, the smallest cell around those of its pieces.
fn covering_cells(domain: &Domain, groups_of_pieces: &[usize], groups: usize, pieces: &[Cell]) -> Vec<Cell> {
    let mut cells: Vec<Option<Cell>> = vec![None; groups];
    for (&group, piece) in groups_of_pieces.iter().zip(pieces) {
        let cell = &mut cells[group];
        *cell = Some(match *cell {
            Some(known) if known != *piece => domain.cover(known.first.min(piece.first), known.last.max(piece.last)),
            _ => *piece,
        });
    }
    cells.into_iter().map(|cell| cell.expect("a group has a piece")).collect()
}

/// Label of a cell that does not depend on the group's records.
fn cell_label(domain: &Domain, cell: Cell) -> (String, Option<ReadCell>, CellLoss) {
    (domain.label(cell), Some(ReadCell::Cell(cell)), loss_of(domain, Covered::Cell(cell)))
}

/// Label computed from the group's values: their set, mean, median or midpoint. `codes` come with their records, in any
/// order and possibly repeated.
fn group_label(
    domain: &Domain,
    cell: Cell,
    codes: impl Iterator<Item = (u32, u64)>,
    options: &ReleaseOptions,
) -> (String, Option<ReadCell>, CellLoss) {
    let mut codes: Vec<(u32, u64)> = codes.collect();
    codes.sort_unstable();
    merge_counts(&mut codes);
    let whole = loss_of(domain, Covered::Cell(cell));
    if domain.kind() == Kind::Category {
        let set: Vec<u32> = codes.iter().map(|(code, _)| *code).collect();
        let hidden = set.iter().any(|&code| domain.is_star(domain.cover(code, code)));
        let (label, loss) = if hidden {
            (ROOT_LABEL.to_owned(), whole)
        } else {
            (domain.set_label(&set), loss_of(domain, Covered::Set(&set)))
        };
        let read = match set[..] {
            [one] => ReadCell::Cell(domain.cover(one, one)),
            _ => ReadCell::Set(set),
        };
        return (label, Some(read), loss);
    }
    let numbers: Option<Vec<(f64, u64)>> = codes.iter().map(|&(code, n)| Some((domain.number(code)?, n))).collect();
    match numbers.as_deref() {
        None | Some([]) => cell_label(domain, cell),
        Some([_]) => (domain.text(codes[0].0).to_owned(), None, whole),
        Some(numbers) => (number_text(rounded(summary_number(numbers, options.numbers))), None, whole),
    }
}

fn summary_number(numbers: &[(f64, u64)], form: Numbers) -> f64 {
    let records: u64 = numbers.iter().map(|(_, records)| records).sum();
    match form {
        Numbers::Mean => {
            let sum: f64 = numbers.iter().map(|(v, n)| v * *n as f64).sum();
            let shares = || numbers.iter().map(|(v, n)| v * (*n as f64 / records as f64)).sum();
            // The sum is exact for whole numbers; if it overflows, the sum of weighted shares does not.
            if sum.is_finite() { sum / records as f64 } else { shares() }
        }
        Numbers::Median => {
            let at = |rank: u64| {
                let mut seen = 0;
                let found = numbers.iter().find(|(_, n)| {
                    seen += n;
                    seen > rank
                });
                found.map_or(0.0, |(v, _)| *v)
            };
            midpoint(at((records - 1) / 2), at(records / 2))
        }
        Numbers::Interval | Numbers::Midpoint => midpoint(numbers[0].0, numbers[numbers.len() - 1].0),
    }
}

fn midpoint(low: f64, high: f64) -> f64 {
    let sum = low + high;
    if sum.is_finite() { sum / 2.0 } else { low / 2.0 + high / 2.0 }
}

/// Rounds to six decimals, which removes the rounding noise of a sum.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { value }
}
