//! The domain of a quasi-identifier column: its leaves in order, coded `0..m`, and the cells that may be released.
//!
//! A [`Cell`] is a contiguous range of codes: a node of the column's tree or, in a column of numbers without a tree,
//! any interval. [`Domain::cover`] returns the smallest cell around a range of codes; every information loss is a
//! function of cells. A missing value is an extra leaf at the far right, directly under the root, so that only `*`
//! covers it together with another value (unless the hierarchy file has a leaf for it).
//!
//! ```text
//! tree              *                     cell        first..=last
//!             ┌─────┴──────┐              flu         0..=0
//!        respiratory    digestive         respiratory 0..=1
//!         ┌───┴───┐     ┌───┴───┐         digestive   2..=3
//! leaf   flu   asthma  ulcer  colitis     *           0..=3
//! code    0       1      2       3
//!
//! cover(0, 1) = respiratory, cover(1, 2) = *
//! without a tree, over the ages 34, 36, 51 (codes 0, 1, 2): cover(0, 1) = [34, 36], cover(1, 2) = [36, 51]
//! ```

use super::{scale::Scale, tree::Tree, value_parser::ValueParser};
use crate::{
    counts::CountedColumn,
    dates::{DateFormat, Moment},
    ids::NodeId,
    memory,
    notation::Notation,
    schema::Kind,
    text::{at_record, shown},
};

/// Released value of a group in one column, as a range of codes: a node, or an interval in a column without a tree.
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
    /// `None` if the column has no tree.
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
    pub(super) parser: ValueParser,
    pub(super) texts: Vec<Box<str>>,
    /// Ascending numbers, or seconds of dates, of an ordered column; one fewer than `texts` if there is a missing leaf.
    pub(super) values: Vec<f64>,
    pub(super) tree: Option<Tree>,
    pub(super) missing: Option<u32>,
    pub(super) missing_is_suppressed: bool,
    /// Range that losses are measured by, if it is not this column's own.
    pub(super) scale: Option<Box<Scale>>,
}

/// A value of the data that its column's declaration does not allow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("column `{}`{}: {problem}", shown(.column), if *.in_hierarchy { ", hierarchy".to_owned() } else { at_record(*.record) })]
pub struct DomainError {
    /// Name of the column.
    pub column: String,
    /// First record with the value (from 1); `None` if records have no numbers.
    pub record: Option<u64>,
    /// Whether the hierarchy is wrong, not the data.
    pub in_hierarchy: bool,
    /// How data and declaration disagree.
    pub problem: DomainProblem,
}

impl DomainError {
    /// Error about the value with code `raw` of a column.
    pub(crate) fn of_value(column: &CountedColumn, raw: usize, problem: DomainProblem) -> Self {
        Self { column: column.name.clone(), record: column.first_record(raw), in_hierarchy: false, problem }
    }
}

/// The ways in which data and declaration can disagree.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainProblem {
    /// Text in a number column.
    #[error("`{}` is not a number; {}, or list this text under `missing` in `[input]` if it stands for a missing value", shown(.value), instead_of_a_number(.value))]
    NotANumber {
        /// Text of the cell.
        value: String,
    },
    /// Text that is no number in the notation of the input, in a number column.
    #[error(
        "`{}` is not a number in the notation of `[input]`, {}; correct `decimal` or `thousands` there, declare the column `type = \"category\"`, or list this text under `missing-texts` of the column if it stands for a missing value",
        shown(.value), described(*.notation)
    )]
    NotInNotation {
        /// Text of the cell.
        value: String,
        /// The declared notation.
        notation: Notation,
    },
    /// Number in the notation of the input, in a kept column of a release that has another one.
    #[error(
        "`{}` and all other values of the column are numbers in the notation of `[input]`, and not all are in that of `[release]`, {}: the file is no release by this policy; check it with the policy that it was made by",
        shown(.value), described(*.release)
    )]
    InputNotation {
        /// Text of the cell.
        value: String,
        /// Notation of the release.
        release: Notation,
    },
    /// Something else in a column of dates.
    #[error(
        "`{}` is not a date written {}, or there is no such day; correct it, list this text under `missing` in `[input]` if it stands for a missing value, or {}",
        shown(.value),
        match .format { Some(format) => format!("as `format` says, {format}"), None => "like 1984-03-31 or 1984-03-31T12:30".to_owned() },
        match .format { Some(_) => "correct `format`", None => "set the date format: `format = \"%d.%m.%Y\"`" }
    )]
    NotADate {
        /// Text of the cell.
        value: String,
        /// `None` for ISO 8601.
        format: Option<String>,
    },
    /// NaN or an infinity.
    #[error("`{}` is not a finite number; correct it, or list this text under `missing` in `[input]`", shown(.value))]
    NotFinite {
        /// Text of the cell.
        value: String,
    },
    /// Two different numbers that are the same 64-bit float.
    #[error("`{}` has too many digits for a number; declare the column `type = \"category\"`", shown(.value))]
    TooManyDigits {
        /// Text of the cell.
        value: String,
    },
    /// Two ends of released intervals that are the same 64-bit float.
    #[error("`{}` has too many digits to compare releases without the original; use `--original`", shown(.value))]
    TooManyDigitsInLabel {
        /// Text of the end.
        value: String,
    },
    /// A value without a leaf.
    #[error("`{}` is not in the hierarchy; add a row for it, or correct the value", shown(.value))]
    NotInHierarchy {
        /// Text of the cell.
        value: String,
    },
    /// A number outside the bins.
    #[error("`{}` lies outside the bins, which go from {low} to {high}; widen them", shown(.value))]
    OutsideBins {
        /// Text of the cell.
        value: String,
        /// The lowest edge.
        low: Box<str>,
        /// The highest edge.
        high: Box<str>,
    },
    /// A number with too many digits, before or after the point, beside the width of an interval.
    #[error(
        "`{}` is too large to be put exactly into intervals of width {width}; use wider ones, or `hierarchy = \"free\"`",
        shown(.value)
    )]
    TooLargeForWidth {
        /// Text of the cell.
        value: String,
        /// Width of the intervals.
        width: Box<str>,
    },
    /// The label of a suppressed value, in the input.
    #[error("`*` stands for a suppressed value and cannot be an input value; is this file a release already?")]
    Star,
    /// A code that ends in `*`, as if its end had been cut off already.
    #[error("`{}` ends in `*`, which marks a shortened code; is this file a release already?", shown(.value))]
    CutAlready {
        /// Text of the cell.
        value: String,
    },
    /// A value whose comma or brace would make a printed set ambiguous.
    #[error("`{}` cannot be printed in a set of values because of its comma or brace; use `labels = \"node\"`", shown(.value))]
    NotInSet {
        /// Text of the cell.
        value: String,
    },
    /// A missing value in a column without a rule for them.
    #[error(
        "a value is missing, one of {records} missing in this column; choose how to treat them: `missing = \"category\"` (as a separate value), or in a quasi-identifier `missing = \"suppress\"` (released as *)"
    )]
    Missing {
        /// Number of records with a missing value in this column.
        records: u64,
    },
    /// A hierarchy leaf that is not a number, in a column of numbers.
    #[error("the hierarchy's value `{}` is not a number; declare the column `type = \"category\"`", shown(.value))]
    LeafNotANumber {
        /// Label of the leaf.
        value: String,
    },
    /// A number of the data that is spelled like a group: released alone, the two could not be distinguished.
    #[error(
        "`{}` is a value of the data and also a group of the hierarchy; rename the group, or declare the column \
         `type = \"category\"`",
        shown(.value)
    )]
    LabelOfGroup {
        /// Text of the value and label of the group.
        value: String,
    },
    /// Two hierarchy leaves that are the same number.
    #[error("the hierarchy has the number `{}` twice; each value has exactly one row", shown(.value))]
    LeafTwice {
        /// Label of the second leaf.
        value: String,
    },
    /// Two hierarchy leaves that are spellings of one value.
    #[error(
        "the hierarchy's `{}` and `{}` count as one value; remove one of them, or set `fold = false` for the column if they differ",
        shown(.other),
        shown(.value)
    )]
    SpelledTwice {
        /// Label of the second leaf.
        value: String,
        /// Label of the first.
        other: String,
    },
    /// A node over numbers whose leaves are not consecutive.
    #[error(
        "the hierarchy's `{}` covers numbers that are not adjacent; order it, or declare the column `type = \"category\"`",
        shown(.label)
    )]
    NotAnInterval {
        /// Label of the node.
        label: String,
    },
    /// A node over numbers whose label is an interval that excludes one of its values.
    #[error(
        "the hierarchy's `{}` does not contain its value `{}`; correct the row, or declare the column `type = \"category\"`",
        shown(.label),
        shown(.value)
    )]
    NotContained {
        /// Label of the node.
        label: String,
        /// Text of the value.
        value: String,
    },
}

/// Advice for a text that is not a number, by what it resembles.
fn instead_of_a_number(value: &str) -> &'static str {
    let decimal = value.replacen(',', ".", 1);
    let has_format = |format: &&str| DateFormat::new(format).is_ok_and(|f| Moment::read(value, Some(&f)).is_some());
    if Moment::read(value, None).is_some() {
        "declare the column `type = \"date\"`"
    } else if FORMATS.iter().any(has_format) {
        "declare the column `type = \"date\"` and set the date format, for instance `format = \"%d.%m.%Y\"`"
    } else if decimal != value && decimal.parse::<f64>().is_ok() {
        "set `decimal = \",\"` in `[input]` if it has a decimal comma"
    } else if grouped(value) {
        "set `thousands` in `[input]` if it has a separator of thousands"
    } else {
        "declare the column `type = \"category\"`"
    }
}

/// A notation in words.
fn described(notation: Notation) -> String {
    let decimal = if notation.decimal == ',' { "with a decimal comma" } else { "with a decimal point" };
    match notation.thousands {
        Some(separator) => format!("{decimal} and `{separator}` between thousands"),
        None => format!("{decimal} and nothing between thousands"),
    }
}

/// Whether a text is a number with a separator of thousands.
fn grouped(text: &str) -> bool {
    let read = |decimal, thousands| Notation { decimal, thousands: Some(thousands) }.number(text).is_some();
    let marks = |thousands| ['.', ','].into_iter().filter(move |decimal| *decimal != thousands);
    Notation::THOUSANDS.into_iter().any(|thousands| marks(thousands).any(|decimal| read(decimal, thousands)))
}

/// Common date formats, to recognize a date in a column of numbers.
const FORMATS: [&str; 4] = ["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"];

impl Domain {
    /// Domain of a released column: every distinct text is a leaf directly under the root. Also maps the column's codes
    /// to the domain's.
    pub(crate) fn opaque(column: &CountedColumn) -> (Self, Vec<u32>) {
        let mut codes = vec![0; column.values.len()];
        (Self::in_text_order(column, (0..codes.len()).collect(), &mut codes), codes)
    }

    /// Domain of some values of a column, in the order of their texts. Sets their codes.
    pub(super) fn in_text_order(column: &CountedColumn, mut raws: Vec<usize>, codes: &mut [u32]) -> Self {
        raws.sort_by_key(|&raw| &column.values[raw]);
        for (code, &raw) in raws.iter().enumerate() {
            codes[raw] = code as u32;
        }
        Self::flat(raws.into_iter().map(|raw| column.values[raw].clone()).collect())
    }

    pub(super) fn flat(texts: Vec<Box<str>>) -> Self {
        let tree = Some(Tree::flat(texts.iter().cloned()));
        let parser = ValueParser::new(Kind::Category, None);
        Self { parser, texts, values: Vec::new(), tree, missing: None, missing_is_suppressed: false, scale: None }
    }

    /// Whether values are numbers, dates or names.
    pub fn kind(&self) -> Kind {
        self.parser.kind()
    }

    /// Bytes of the heap that the domain takes.
    pub fn bytes(&self) -> u64 {
        let tree = self.tree.as_ref().map_or(0, Tree::bytes);
        memory::texts(self.texts.iter().map(|text| &**text)) + 8 * self.values.len() as u64 + tree
    }

    /// Number of leaves, those of a hierarchy file that do not occur in the data included.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are no values at all.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// `None` if any interval of numbers may be released.
    pub fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }

    /// The text of a leaf.
    pub fn text(&self, code: u32) -> &str {
        &self.texts[code as usize]
    }

    /// Whether a label is an interval that does not contain a leaf, compared exactly. A label of another form excludes
    /// nothing.
    pub(crate) fn excludes(&self, label: &str, code: u32) -> bool {
        self.parser.interval_contains(label, self.text(code)) == Some(false)
    }

    /// Whether a label is a number and a leaf is another one, compared exactly.
    pub(crate) fn is_other_number(&self, label: &str, code: u32) -> bool {
        let text = self.text(code);
        let are_numbers =
            self.kind() == Kind::Number && [label, text].iter().all(|text| self.parser.number(text).is_ok());
        are_numbers && self.parser.compare(label, text).is_ne()
    }

    /// Changes the text of a leaf, which makes labels wrong.
    #[cfg(test)]
    pub(crate) fn falsify(&mut self, code: u32, text: &str) {
        self.texts[code as usize] = text.into();
    }

    /// Number of a leaf, or seconds of a date; `None` in a category column and for the missing leaf.
    pub fn number(&self, code: u32) -> Option<f64> {
        self.values.get(code as usize).copied()
    }

    /// Code of the leaf for missing values; `None` if no value is missing.
    pub fn missing(&self) -> Option<u32> {
        self.missing
    }

    /// The cell of all values, released as `*`.
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
    /// If the column has no tree.
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

    /// Whether the cell is a single leaf, not a node above one.
    fn is_leaf(&self, cell: Cell) -> bool {
        match (&self.tree, cell.node()) {
            (Some(tree), Some(node)) => tree.is_leaf(node),
            _ => cell.first == cell.last,
        }
    }

    /// Normalized certainty penalty, 0 to 1: share of the column's range or leaves that the cell spans; 0 for a single
    /// value.
    pub fn ncp(&self, cell: Cell) -> f64 {
        self.span(cell, |leaves, all| if self.is_leaf(cell) { 0.0 } else { leaves / all })
    }

    /// Iyengar's loss metric, 0 to 1: like [`ncp`](Self::ncp), but of `m` leaves a cell of `n` loses `(n - 1) / (m -
    /// 1)`.
    pub fn lm(&self, cell: Cell) -> f64 {
        self.span(cell, |leaves, all| if all > 1.0 { (leaves - 1.0) / (all - 1.0) } else { 0.0 })
    }

    fn span(&self, cell: Cell, categorical: impl Fn(f64, f64) -> f64) -> f64 {
        // A constant column has no range to lose.
        let total = self.total_leaves();
        if total == 1 {
            return 0.0;
        }
        let missing = self.missing.filter(|&code| cell.contains(code));
        let leaves = (cell.last - cell.first + 1) as f64;
        match (missing, self.kind().is_ordered()) {
            // Released as `*`, a missing value cannot be distinguished from any other.
            (Some(_), _) if leaves == 1.0 && self.is_star(cell) => 1.0,
            (Some(_), true) if leaves == 1.0 => 0.0,
            (Some(_), true) => 1.0,
            (None, true) => match &self.scale {
                Some(scale) => scale.spread(self, cell),
                None => self.spread(cell.first, cell.last),
            },
            (_, false) => categorical(leaves.min(total as f64), total as f64),
        }
    }

    /// Number of leaves that losses are a share of.
    pub(super) fn total_leaves(&self) -> usize {
        self.scale.as_ref().map_or(self.len(), |scale| scale.leaves)
    }

    /// Length of an interval as a share of the column's range; 0 if all values are equal.
    pub fn spread(&self, first: u32, last: u32) -> f64 {
        let (Some(low), Some(high)) = (self.values.first(), self.values.last()) else { return 0.0 };
        let last = (last as usize).min(self.values.len() - 1);
        let first = (first as usize).min(last);
        // Halved, because the difference of two large floats may overflow.
        let range = high / 2.0 - low / 2.0;
        if range > 0.0 { (self.values[last] / 2.0 - self.values[first] / 2.0) / range } else { 0.0 }
    }
}
