//! Labels of released cells, and how labels are read back.
//!
//! | released | label |
//! | --- | --- |
//! | node of a tree | its label |
//! | interval | `[24, 32]`, both ends included |
//! | single value | as in the input |
//! | suppressed value | `*` |
//! | set of categories that occur in a group, if the policy chooses sets | `{a, b}` |
//! | mean, median or midpoint of a group's numbers, if the policy chooses one | a number |
//!
//! A reader of a release accepts exactly these forms.

use hashbrown::HashMap;

use super::{
    domain::{Cell, Domain},
    tree::ROOT_LABEL,
};
use crate::{
    ids::NodeId,
    notation::{Notation, printed_interval, split_at_middle_comma},
    schema::Kind,
};

impl Domain {
    /// Released label of a cell.
    pub fn label(&self, cell: Cell) -> String {
        match (&self.tree, cell.node()) {
            _ if self.is_star(cell) => ROOT_LABEL.to_owned(),
            (Some(tree), Some(node)) => tree.label(node).to_owned(),
            _ if cell.first == cell.last => self.text(cell.first).to_owned(),
            _ => format!("[{}, {}]", self.text(cell.first), self.text(cell.last)),
        }
    }

    /// Released label of a set of leaves: `{a, b}`, or the text of a single leaf.
    pub fn set_label(&self, codes: &[u32]) -> String {
        match codes {
            [one] => self.text(*one).to_owned(),
            _ => format!("{{{}}}", codes.iter().map(|&code| self.text(code)).collect::<Vec<_>>().join(", ")),
        }
    }

    /// First leaf whose comma or brace would make the label of a set ambiguous.
    pub(crate) fn unfit_for_sets(&self) -> Option<u32> {
        let unfit = |text: &str| text.contains(',') || text.contains(['{', '}']);
        (0..self.len() as u32).find(|&code| unfit(self.text(code)))
    }

    /// Normalized certainty penalty of a set of this many leaves.
    pub fn set_ncp(&self, leaves: usize) -> f64 {
        if leaves > 1 { leaves as f64 / self.total_leaves() as f64 } else { 0.0 }
    }

    /// Iyengar's loss of a set of this many leaves.
    pub fn set_lm(&self, leaves: usize) -> f64 {
        let all = self.total_leaves();
        if all > 1 { (leaves.max(1) - 1) as f64 / (all - 1) as f64 } else { 0.0 }
    }
}

/// A released label, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadCell {
    /// A value, node or interval.
    Cell(Cell),
    /// Codes of a printed set, in the order of printing.
    Set(Vec<u32>),
}

/// Reads released labels of one column back.
#[derive(Debug)]
pub struct LabelReader<'a> {
    domain: &'a Domain,
    nodes: HashMap<&'a str, NodeId>,
    leaves: HashMap<&'a str, u32>,
    notation: Notation,
}

impl<'a> LabelReader<'a> {
    /// Reads labels in plain notation, as [`Domain::label`] makes them.
    pub fn new(domain: &'a Domain) -> Self {
        Self::of_file(domain, Notation::PLAIN)
    }

    /// Reads labels as a release has them, with the numbers of a number column in this notation.
    pub fn of_file(domain: &'a Domain, notation: Notation) -> Self {
        let mut nodes = HashMap::new();
        if let Some(tree) = domain.tree() {
            for node in tree.nodes() {
                nodes.entry(tree.label(node)).or_insert(node);
            }
        }
        let leaves = (0..domain.len() as u32).map(|code| (domain.text(code), code)).collect();
        let notation = if domain.kind() == Kind::Number { notation } else { Notation::PLAIN };
        Self { domain, nodes, leaves, notation }
    }

    /// Cell or set of a label; `None` if it is no label of this column. `*` is the whole column.
    pub fn read(&self, text: &str) -> Option<ReadCell> {
        if !self.notation.is_plain() && self.domain.missing().is_some_and(|code| self.domain.text(code) == text) {
            return self.missing_cell().map(ReadCell::Cell);
        }
        self.read_plain(&self.notation.label(text)?)
    }

    fn read_plain(&self, text: &str) -> Option<ReadCell> {
        if text == ROOT_LABEL {
            return Some(ReadCell::Cell(self.domain.whole()));
        }
        if let Some(node) = self.nodes.get(text) {
            return Some(ReadCell::Cell(self.domain.node_cell(*node)));
        }
        if let Some(&code) = self.leaves.get(text) {
            return Some(ReadCell::Cell(self.domain.cover(code, code)));
        }
        if self.domain.kind().is_ordered() {
            self.interval(text).map(ReadCell::Cell)
        } else {
            self.set(text).map(ReadCell::Set)
        }
    }

    /// Codes that a label covers. The label may come from another table: the ends of an interval and the values of a
    /// set need not occur in this column.
    pub fn codes_inside(&self, text: &str) -> Vec<u32> {
        let number = |end: &str| self.domain.parser.number(end).ok();
        let read = self.read(text);
        let Some(text) = self.notation.label(text) else { return Vec::new() };
        match read {
            Some(ReadCell::Cell(cell)) => (cell.first..=cell.last).collect(),
            Some(ReadCell::Set(codes)) => codes,
            None if self.domain.kind().is_ordered() => {
                let Some((low, high, _)) = printed_interval(&text) else { return Vec::new() };
                let (Some(low), Some(high)) = (number(low), number(high)) else { return Vec::new() };
                let inside = |code: &u32| text.ends_with(']') || self.domain.number(*code) < Some(high);
                self.domain.codes_between(low, high).filter(inside).collect()
            }
            None => {
                let leaves = set_leaves(&text).into_iter().flatten();
                leaves.filter_map(|leaf| self.leaves.get(leaf).copied()).collect()
            }
        }
    }

    /// Cell of the missing value; `None` if the column has none.
    pub fn missing_cell(&self) -> Option<Cell> {
        self.domain.missing().map(|code| self.domain.cover(code, code))
    }

    fn interval(&self, text: &str) -> Option<Cell> {
        let (low, high) = interval_ends(text).unwrap_or((text, text));
        let (first, last) = (self.code_of(low)?, self.code_of(high)?);
        let cell = (first <= last).then(|| self.domain.cover(first, last))?;
        (cell.first == first && cell.last == last).then_some(cell)
    }

    fn code_of(&self, text: &str) -> Option<u32> {
        let value = self.domain.parser.number(text).ok()?;
        self.domain.values.binary_search_by(|v| v.total_cmp(&value)).ok().map(|code| code as u32)
    }

    fn set(&self, text: &str) -> Option<Vec<u32>> {
        set_leaves(text)?.map(|leaf| self.leaves.get(leaf).copied()).collect()
    }
}

/// The leaves of a set's label, such as `a` and `b` of `{a, b}`; `None` if the text is no such label.
pub fn set_leaves(text: &str) -> Option<impl Iterator<Item = &str>> {
    Some(text.strip_prefix('{')?.strip_suffix('}')?.split(", "))
}

/// The two ends of an interval's label, such as `24` and `32` of `[24, 32]`; `None` if the text is no such label.
pub fn interval_ends(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    split_at_middle_comma(inside)
}

/// The ends of an interval in a label of a hierarchy file, each with whether it belongs to the interval; `None` if the
/// interval has no such end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds<'a> {
    pub low: Option<(&'a str, bool)>,
    pub high: Option<(&'a str, bool)>,
}

impl<'a> Bounds<'a> {
    /// Reads `[20, 30]`, `[20, 30)`, `[20, 30[` (as ARX writes it), `]20, 30]`, `(20, 30]`, `<20`, `<=20`, `>80` and
    /// `>=80`. `None` for other labels: `20-30` may be a range of anything, and ARX's own file of ages has the 5 in
    /// `0-4`.
    pub(crate) fn of(label: &'a str) -> Option<Self> {
        let end = |sign: &str| label.strip_prefix(sign).map(str::trim_start);
        for (sign, is_closed) in [("<=", true), ("≤", true), ("<", false)] {
            if let Some(high) = end(sign) {
                return Some(Self { low: None, high: Some((high, is_closed)) });
            }
        }
        for (sign, is_closed) in [(">=", true), ("≥", true), (">", false)] {
            if let Some(low) = end(sign) {
                return Some(Self { low: Some((low, is_closed)), high: None });
            }
        }
        let inside = label.strip_prefix(['[', ']', '('])?.strip_suffix([']', '[', ')'])?;
        let (low, high) = split_at_middle_comma(inside).or_else(|| {
            let (low, high) = inside.split_once([',', ';'])?;
            (!high.contains([',', ';'])).then_some((low, high.trim_start()))
        })?;
        Some(Self { low: Some((low, label.starts_with('['))), high: Some((high, label.ends_with(']'))) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        counts::CountedColumn,
        dates::DateFormat,
        hierarchy::{DateLevel, HierarchyChoice, OccurringValues, ValueParser},
        schema::{Kind, MissingRule},
    };

    fn column(values: &[&str]) -> CountedColumn {
        let first_records = Some(vec![1; values.len()]);
        CountedColumn {
            name: "c".into(),
            values: values.iter().map(|v| (*v).into()).collect(),
            first_records,
            typed: false,
        }
    }

    #[test]
    fn bounds_of_labels() {
        let both = |low, high| Some(Bounds { low: Some(low), high: Some(high) });
        assert_eq!(Bounds::of("[20, 30["), both(("20", true), ("30", false)));
        assert_eq!(Bounds::of("]20,30]"), both(("20", false), ("30", true)));
        assert_eq!(Bounds::of("(20; 30)"), both(("20", false), ("30", false)));
        assert_eq!(Bounds::of("[March 3, 1984, May 1, 1985]"), both(("March 3, 1984", true), ("May 1, 1985", true)));
        assert_eq!(Bounds::of("<20"), Some(Bounds { low: None, high: Some(("20", false)) }));
        assert_eq!(Bounds::of(">= 80"), Some(Bounds { low: Some(("80", true)), high: None }));
        for other in ["20-30", "15~30", "3+", "[20", "20, 30", "{20, 30}", "[1, 2, 3]", "x"] {
            assert_eq!(Bounds::of(other), None, "{other}");
        }
    }

    #[test]
    fn what_prints_is_read_back() {
        let column = column(&["1", "2.5", "7", "?"]);
        let number = ValueParser::new(Kind::Number, None);
        let missing = [false, false, false, true];
        for choice in [HierarchyChoice::Free, HierarchyChoice::Widths(vec![5.into()])] {
            for rule in [MissingRule::Category, MissingRule::Suppress] {
                let occurring = OccurringValues { column: &column, missing: &missing, records: &[] };
                let (domain, _) = Domain::bind(occurring, &number, &choice, None, rule).unwrap();
                let reader = LabelReader::new(&domain);
                for (first, last) in [(0, 0), (0, 1), (1, 2), (0, 2), (3, 3), (1, 3)] {
                    let cell = domain.cover(first, last);
                    let Some(ReadCell::Cell(read)) = reader.read(&domain.label(cell)) else { panic!() };
                    assert_eq!(domain.label(read), domain.label(cell));
                    assert_eq!(domain.ncp(read), domain.ncp(cell));
                }
                for wrong in ["8", "[2.5, 1]", "[1,7]", "{1}", "x", "[1, 8]"] {
                    assert_eq!(reader.read(wrong), None, "{wrong}");
                }
            }
        }
        let occurring = OccurringValues { column: &column, missing: &[false; 4], records: &[] };
        let category = ValueParser::new(Kind::Category, None);
        let (domain, _) =
            Domain::bind(occurring, &category, &HierarchyChoice::Default, None, MissingRule::Error).unwrap();
        assert_eq!(domain.set_label(&[0, 2]), "{1, 7}");
        assert_eq!(LabelReader::new(&domain).read("{1, 7}"), Some(ReadCell::Set(vec![0, 2])));
        assert_eq!(LabelReader::new(&domain).read("{1, 8}"), None);
    }

    #[test]
    fn labels_of_other_tables_cover_the_values_inside() {
        let column = column(&["20", "25.5", "30", "41"]);
        let occurring = OccurringValues { column: &column, missing: &[false; 4], records: &[] };
        let number = ValueParser::new(Kind::Number, None);
        for choice in [HierarchyChoice::Free, HierarchyChoice::Widths(vec![20.into()])] {
            let (domain, _) = Domain::bind(occurring, &number, &choice, None, MissingRule::Error).unwrap();
            let reader = LabelReader::new(&domain);
            let texts = ["[20, 30]", "[20, 30)", "[0, 26]", "[31, 40]", "30.0", "29", "x"];
            let codes: [&[u32]; 7] = [&[0, 1, 2], &[0, 1], &[0, 1], &[], &[2], &[], &[]];
            assert_eq!(texts.map(|text| reader.codes_inside(text)), codes);
        }
    }

    #[test]
    fn dates_are_read_back_however_they_are_written() {
        let column = column(&["March 3, 1984", "March 04, 1984", "May 1, 1985"]);
        let occurring = OccurringValues { column: &column, missing: &[false; 3], records: &[] };
        let parser = ValueParser::new(Kind::Date, Some(&DateFormat::new("%B %d, %Y").unwrap()));
        let bind = |choice| Domain::bind(occurring, &parser, &choice, None, MissingRule::Error).unwrap().0;
        let domain = bind(HierarchyChoice::Free);
        assert_eq!(domain.label(domain.cover(1, 2)), "[March 04, 1984, May 1, 1985]");
        let reader = LabelReader::new(&domain);
        for text in ["[March 04, 1984, May 1, 1985]", "[March 4, 1984, May 01, 1985]"] {
            assert_eq!(reader.read(text), Some(ReadCell::Cell(domain.cover(1, 2))), "{text}");
        }
        assert_eq!(reader.read("March 03, 1984"), Some(ReadCell::Cell(domain.cover(0, 0))));
        assert_eq!(reader.read("[May 1, 1985, March 04, 1984]"), None);
        let domain = bind(HierarchyChoice::Dates(DateLevel::ALL.to_vec()));
        let reader = LabelReader::new(&domain);
        for (first, last, text) in [(0, 1, "1984-03"), (0, 2, "1980s"), (2, 2, "May 1, 1985")] {
            assert_eq!(domain.label(domain.cover(first, last)), text);
            assert_eq!(reader.read(text), Some(ReadCell::Cell(domain.cover(first, last))), "{text}");
        }
        assert_eq!(reader.read("1985-06"), None);
    }
}
