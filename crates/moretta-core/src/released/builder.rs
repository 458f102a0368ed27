//! Building a released table piece by piece.

use hashbrown::HashMap;

use super::{CellLoss, Covered, Grouping, Released, cells::ColumnCells, loss_of};
use crate::{
    declaration::{Numbers, ReleaseOptions},
    hierarchy::{Cell, Domain, ROOT_LABEL, ReadCell, numeric::number_text},
    profile::{Profile, VariantCount},
    schema::Kind,
    text::merge_counts,
};

/// Pieces that print alike become one group.
pub(super) struct ReleaseBuilder<'a> {
    profile: &'a Profile,
    options: &'a ReleaseOptions,
    /// Whether a cell prints alike in all pieces, whatever their records: in a global recoding.
    global: bool,
    labels: Vec<Vec<Box<str>>>,
    cells: Vec<ColumnCells>,
    /// By column and piece, in columns that print one number for many.
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

    /// The next column of the piece at hand. `codes` are those that the cell stands for, with their records.
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
            let (label, read, loss) = match prints_group_values {
                true => group_label(domain, cell, codes(), self.options),
                false => cell_label(domain, cell),
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

    /// All columns of the piece at hand print `*`.
    pub(super) fn push_suppressed(&mut self) {
        for (column, described) in self.profile.columns().iter().enumerate() {
            let domain = &described.domain;
            let id = self.intern(column, ROOT_LABEL.to_owned(), None);
            self.keys.push(id);
            self.losses.push(CellLoss { ncp: domain.ncp(domain.whole()), lm: 1.0 });
            self.piece_cells[column].iter_mut().for_each(|cells| cells.push(domain.whole()));
        }
    }

    /// The piece at hand is complete: these are its records.
    pub(super) fn end_piece(&mut self, members: impl Iterator<Item = VariantCount>) {
        self.members.extend(members);
        self.offsets.push(self.members.len());
    }

    /// The number of a label; `read` is what a recipient reads in it.
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
        // Pieces that print alike may have lost differently (two intervals with one mean): take their records' mean.
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

/// A cell under its own label.
fn cell_label(domain: &Domain, cell: Cell) -> (String, Option<ReadCell>, CellLoss) {
    (domain.label(cell), Some(ReadCell::Cell(cell)), loss_of(domain, Covered::Cell(cell)))
}

/// A set of values, or one number for many. `codes` come with records, in any order and maybe repeated.
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
        let (label, loss) = match hidden {
            true => (ROOT_LABEL.to_owned(), whole),
            false => (domain.set_label(&set), loss_of(domain, Covered::Set(&set))),
        };
        let read = match set[..] {
            [one] => ReadCell::Cell(domain.cover(one, one)),
            _ => ReadCell::Set(set),
        };
        return (label, Some(read), loss);
    }
    let numbers: Option<Vec<(f64, u64)>> =
        codes.iter().map(|&(code, records)| Some((domain.number(code)?, records))).collect();
    match numbers {
        None => cell_label(domain, cell),
        Some(numbers) if numbers.is_empty() => cell_label(domain, cell),
        Some(numbers) if numbers.len() == 1 => (domain.text(codes[0].0).to_owned(), None, whole),
        Some(numbers) => (number_text(rounded(summary_number(&numbers, options.numbers))), None, whole),
    }
}

fn summary_number(numbers: &[(f64, u64)], form: Numbers) -> f64 {
    let records: u64 = numbers.iter().map(|(_, records)| records).sum();
    match form {
        Numbers::Mean => {
            let sum: f64 = numbers.iter().map(|(v, n)| v * *n as f64).sum();
            let shares = || numbers.iter().map(|(v, n)| v * (*n as f64 / records as f64)).sum();
            // The sum is exact for whole numbers; where it overflows, shares do not.
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

/// Enough for a reader, and not a sum's rounding noise.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { value }
}
