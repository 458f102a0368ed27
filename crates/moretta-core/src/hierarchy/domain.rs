//! The domain of a quasi-identifier column: its leaves in order, coded `0..m`, and what may stand in their place.
//!
//! Every released cell of a group is a [`Cell`]: a contiguous range of codes that is either a node of the column's
//! tree or, in a column of free numbers, any interval. [`Domain::cover`] gives the smallest cell around a range, and
//! the penalties of all measures are functions of a cell. A missing value is a leaf of its own at the far right,
//! directly under the root: together with any other value it is only covered by `*`.

use super::{reading::Reading, scale::Scale, tree::Tree};
use crate::{
    counts::CountedColumn,
    dates::{DateFormat, Moment},
    ids::NodeId,
    schema::Kind,
    text::at_record,
};

/// What leaves in one column of a group: a node, or an interval of a column of free numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// The first code inside.
    pub first: u32,
    /// The last code inside.
    pub last: u32,
    node: u32,
}

const INTERVAL: u32 = u32::MAX;

impl Cell {
    /// The node, where the column has a tree.
    pub fn node(self) -> Option<NodeId> {
        (self.node != INTERVAL).then_some(NodeId(self.node))
    }

    /// Whether a code lies inside.
    pub fn contains(self, code: u32) -> bool {
        self.first <= code && code <= self.last
    }
}

/// The values of one quasi-identifier column.
#[derive(Debug, Clone)]
pub struct Domain {
    pub(super) reading: Reading,
    pub(super) texts: Vec<Box<str>>,
    /// The numbers or seconds of an ordered column; one fewer than texts where there is a missing leaf.
    pub(super) values: Vec<f64>,
    pub(super) tree: Option<Tree>,
    pub(super) missing: Option<u32>,
    pub(super) missing_is_suppressed: bool,
    /// By what losses are measured, where that is not this column's own range.
    pub(super) scale: Option<Box<Scale>>,
}

/// A value of the data that its column's declaration does not allow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("column `{column}`{}: {problem}", if *.in_hierarchy { ", hierarchy".to_owned() } else { at_record(*.record) })]
pub struct DomainError {
    /// The column.
    pub column: String,
    /// The first record with the value (from 1), where records have numbers.
    pub record: Option<u64>,
    /// Whether the hierarchy is at fault, and not the data.
    pub in_hierarchy: bool,
    /// What is wrong.
    pub problem: DomainProblem,
}

impl DomainError {
    /// About one of a column's values.
    pub(crate) fn of_value(column: &CountedColumn, raw: usize, problem: DomainProblem) -> Self {
        Self { column: column.name.clone(), record: column.first_record(raw), in_hierarchy: false, problem }
    }
}

/// The ways in which data and declaration can disagree.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainProblem {
    /// Text in a number column.
    #[error("`{value}` is not a number; {}, or list this text under `missing` in `[input]` if it stands for a missing value", instead_of_a_number(.value))]
    NotANumber {
        /// The cell.
        value: String,
    },
    /// Something else in a column of dates.
    #[error(
        "`{value}` is not a date written {}, or there is no such day; correct it, list this text under `missing` in `[input]` if it stands for a missing value, or {}",
        match .format { Some(format) => format!("as `format` says, {format}"), None => "like 1984-03-31 or 1984-03-31T12:30".to_owned() },
        match .format { Some(_) => "correct `format`", None => "set the date format: `format = \"%d.%m.%Y\"`" }
    )]
    NotADate {
        /// The cell.
        value: String,
        /// The format, where it is not ISO 8601.
        format: Option<String>,
    },
    /// NaN or an infinity.
    #[error("`{value}` is not a finite number; correct it, or list this text under `missing` in `[input]`")]
    NotFinite {
        /// The cell.
        value: String,
    },
    /// Two different numbers that a 64-bit float cannot tell apart.
    #[error("`{value}` has too many digits for a number; declare the column `type = \"category\"`")]
    TooManyDigits {
        /// The cell.
        value: String,
    },
    /// A value without a leaf.
    #[error("`{value}` is not in the hierarchy; add a row for it, or correct the value")]
    NotInHierarchy {
        /// The cell.
        value: String,
    },
    /// A number outside the bins.
    #[error("`{value}` lies outside the bins, which go from {low} to {high}; widen them")]
    OutsideBins {
        /// The cell.
        value: String,
        /// The lowest edge.
        low: f64,
        /// The highest edge.
        high: f64,
    },
    /// The text of a suppressed value, in the input.
    #[error("`*` stands for a suppressed value and cannot be an input value; is this file a release already?")]
    Star,
    /// A code that looks as if it were cut already.
    #[error("`{value}` ends in `*`, which marks a shortened code; is this file a release already?")]
    CutAlready {
        /// The cell.
        value: String,
    },
    /// A value that cannot stand in a printed set.
    #[error("`{value}` cannot be printed in a set of values because of its comma or brace; use `labels = \"node\"`")]
    NotInSet {
        /// The cell.
        value: String,
    },
    /// A missing value in a column without a rule for them.
    #[error(
        "a value is missing, one of {records} missing in this column; choose how to treat them: `missing = \"category\"` (as a separate value), or in a quasi-identifier `missing = \"suppress\"` (released as *)"
    )]
    Missing {
        /// How many records have none.
        records: u64,
    },
    /// Tree leaves of a number column that are not numbers.
    #[error("the hierarchy's value `{value}` is not a number; declare the column `type = \"category\"`")]
    LeafNotANumber {
        /// The leaf.
        value: String,
    },
    /// Two leaves of a number column's tree that are the same number.
    #[error("the hierarchy has the number `{value}` twice; each value has exactly one row")]
    LeafTwice {
        /// The second leaf.
        value: String,
    },
    /// A node of a number column's tree that leaves a gap.
    #[error(
        "the hierarchy's `{label}` covers numbers that are not adjacent; order it, or declare the column `type = \"category\"`"
    )]
    NotAnInterval {
        /// The node.
        label: String,
    },
}

/// What a text that is no number looks like, and what to do then.
fn instead_of_a_number(value: &str) -> &'static str {
    let decimal = value.replacen(',', ".", 1);
    if Moment::read(value, None).is_some() {
        "declare the column `type = \"date\"`"
    } else if FORMATS
        .iter()
        .any(|format| DateFormat::new(format).is_ok_and(|f| Moment::read(value, Some(&f)).is_some()))
    {
        "declare the column `type = \"date\"` and set the date format, for instance `format = \"%d.%m.%Y\"`"
    } else if decimal != value && decimal.parse::<f64>().is_ok() {
        "write a decimal point instead of a comma"
    } else {
        "declare the column `type = \"category\"`"
    }
}

/// Some ways to write a date, to know one by its looks.
const FORMATS: [&str; 4] = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"];

impl Domain {
    /// The texts that occur in a released column, each a leaf of its own: what a checker sees.
    pub(crate) fn opaque(column: &CountedColumn) -> (Self, Vec<u32>) {
        let mut order: Vec<usize> = (0..column.values.len()).collect();
        order.sort_by(|&a, &b| column.values[a].cmp(&column.values[b]));
        let mut codes = vec![0; order.len()];
        for (code, &raw) in order.iter().enumerate() {
            codes[raw] = code as u32;
        }
        (Self::flat(order.iter().map(|&raw| column.values[raw].clone()).collect()), codes)
    }

    pub(super) fn flat(texts: Vec<Box<str>>) -> Self {
        let tree = Some(Tree::flat(texts.iter().cloned()));
        let reading = Reading::new(Kind::Category, None);
        Self { reading, texts, values: Vec::new(), tree, missing: None, missing_is_suppressed: false, scale: None }
    }

    /// Whether values are numbers, dates or names.
    pub fn kind(&self) -> Kind {
        self.reading.kind()
    }

    /// How many leaves there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no values at all.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The tree; none where any interval of numbers may be released.
    pub fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }

    /// The text of a leaf.
    pub fn text(&self, code: u32) -> &str {
        &self.texts[code as usize]
    }

    /// The number of a leaf, or its seconds; none in a category column and for the missing leaf.
    pub fn number(&self, code: u32) -> Option<f64> {
        self.values.get(code as usize).copied()
    }

    /// The number, or the seconds, that a text stands for in an ordered column.
    pub fn reads(&self, text: &str) -> Option<f64> {
        self.reading.number(text).ok()
    }

    /// The leaf that stands for a missing value, where there is one.
    pub fn missing(&self) -> Option<u32> {
        self.missing
    }

    /// The whole column: what a suppressed record shows.
    pub fn whole(&self) -> Cell {
        Cell { first: 0, last: self.len() as u32 - 1, node: if self.tree.is_some() { 0 } else { INTERVAL } }
    }

    /// The smallest cell that may be released around the codes from `first` to `last`.
    pub fn cover(&self, first: u32, last: u32) -> Cell {
        match &self.tree {
            Some(tree) => self.node_cell(tree.cover(first, last)),
            None if first < last && Some(last) == self.missing => self.whole(),
            None => Cell { first, last, node: INTERVAL },
        }
    }

    /// The cell of a node.
    ///
    /// # Panics
    /// Where the column has no tree.
    pub fn node_cell(&self, node: NodeId) -> Cell {
        let (first, last) = self.tree.as_ref().expect("a node belongs to a tree").range(node);
        Cell { first, last, node: node.0 }
    }

    /// Whether the cell is one that this column may release.
    pub fn is_valid(&self, cell: Cell) -> bool {
        let inside = cell.first <= cell.last && (cell.last as usize) < self.len();
        inside
            && match (&self.tree, cell.node()) {
                (Some(tree), Some(node)) => node.index() < tree.len() && tree.range(node) == (cell.first, cell.last),
                (None, None) => cell == self.cover(cell.first, cell.last),
                _ => false,
            }
    }

    /// Whether the cell prints `*`.
    pub fn is_star(&self, cell: Cell) -> bool {
        match self.tree {
            Some(_) if cell.node == 0 => true,
            None if cell.first < cell.last && Some(cell.last) == self.missing => true,
            _ => cell.first == cell.last && Some(cell.first) == self.missing && self.missing_is_suppressed,
        }
    }

    /// Whether the cell is one leaf as it is.
    fn is_leaf(&self, cell: Cell) -> bool {
        match (&self.tree, cell.node()) {
            (Some(tree), Some(node)) => tree.is_leaf(node),
            _ => cell.first == cell.last,
        }
    }

    /// The normalised certainty penalty: how much of the column's range the cell spans, 0 for a single value.
    pub fn ncp(&self, cell: Cell) -> f64 {
        self.span(cell, |leaves, all| if self.is_leaf(cell) { 0.0 } else { leaves / all })
    }

    /// Iyengar's loss of the cell.
    pub fn lm(&self, cell: Cell) -> f64 {
        self.span(cell, |leaves, all| if all > 1.0 { (leaves - 1.0) / (all - 1.0) } else { 0.0 })
    }

    fn span(&self, cell: Cell, categorical: impl Fn(f64, f64) -> f64) -> f64 {
        // A constant column has no range to lose.
        let all = self.leaves_to_lose();
        if all == 1 {
            return 0.0;
        }
        let missing = self.missing.filter(|&code| cell.contains(code));
        let leaves = (cell.last - cell.first + 1) as f64;
        match (missing, self.kind().is_ordered()) {
            // A missing value released as `*` could be any value.
            (Some(_), _) if leaves == 1.0 && self.is_star(cell) => 1.0,
            (Some(_), true) if leaves == 1.0 => 0.0,
            (Some(_), true) => 1.0,
            (None, true) => match &self.scale {
                Some(scale) => scale.spread(self, cell),
                None => self.spread(cell.first, cell.last),
            },
            (_, false) => categorical(leaves.min(all as f64), all as f64),
        }
    }

    /// How many values a cell could be at the most.
    pub(super) fn leaves_to_lose(&self) -> usize {
        self.scale.as_ref().map_or(self.len(), |scale| scale.leaves)
    }

    /// The length of an interval as a share of the column's range; 0 where that is 0.
    pub fn spread(&self, first: u32, last: u32) -> f64 {
        let (Some(low), Some(high)) = (self.values.first(), self.values.last()) else { return 0.0 };
        let last = (last as usize).min(self.values.len() - 1);
        let first = (first as usize).min(last);
        // Halves, so that a range near the greatest number does not overflow.
        let range = high / 2.0 - low / 2.0;
        if range > 0.0 { (self.values[last] / 2.0 - self.values[first] / 2.0) / range } else { 0.0 }
    }
}
