//! A released table as texts, and naive verdicts on it: plain maps over strings, no code shared with the models.

use std::collections::{BTreeMap, BTreeSet};

use super::spec::{ColumnSpec, is_missing};

/// Rounding tolerance of figures that equal their limit.
pub const ROUNDING: f64 = 1e-9;

/// Naive result of one model for a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the model holds.
    pub holds: bool,
    /// Groups that were judged.
    pub groups: usize,
    /// Groups that violate the model.
    pub failing_groups: usize,
    /// Records of these groups.
    pub failing_records: u64,
}

/// A printed table, and the test's description of its columns.
#[derive(Debug, Clone, Copy)]
pub struct Printed<'a> {
    /// The quasi-identifiers.
    pub quasi: &'a [ColumnSpec],
    /// The sensitive columns, and the class, which is named `class`.
    pub attributes: &'a [ColumnSpec],
    /// The names of all columns.
    pub header: &'a [String],
    /// One row per record.
    pub rows: &'a [Vec<String>],
}

/// Name of the person column of random tables. A table of texts that has it is judged by persons.
pub const PERSON: &str = "person";

impl<'a> Printed<'a> {
    /// The cells of a column.
    pub fn cells(&self, column: &str) -> Vec<&'a str> {
        let at = self.header.iter().position(|known| known == column).expect("a column of the release");
        self.rows.iter().map(|row| row[at].as_str()).collect()
    }

    /// The person of each record, one text for all spellings; `None` if records are counted.
    pub fn persons(&self) -> Option<Vec<String>> {
        self.header.iter().any(|name| name == PERSON).then(|| self.cells(PERSON).into_iter().map(person).collect())
    }

    /// Number of records of a group or, if persons are counted, of distinct persons.
    pub fn size(&self, group: &[usize]) -> usize {
        self.persons().map_or(group.len(), |persons| distinct(&persons, group))
    }

    /// Records with equal cells in these columns, as lists of row indices.
    pub fn groups(&self, columns: &[String]) -> Vec<Vec<usize>> {
        let cells: Vec<Vec<&str>> = columns.iter().map(|column| self.cells(column)).collect();
        let mut groups: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for record in 0..self.rows.len() {
            groups.entry(cells.iter().map(|column| column[record]).collect()).or_default().push(record);
        }
        groups.into_values().collect()
    }

    /// The names of the quasi-identifiers.
    pub fn quasi_identifiers(&self) -> Vec<String> {
        self.quasi.iter().map(|spec| spec.name.clone()).collect()
    }

    /// The names of the sensitive columns.
    pub fn sensitive(&self) -> Vec<&'a str> {
        self.attributes.iter().map(|spec| spec.name.as_str()).filter(|name| *name != "class").collect()
    }

    /// Judges the groups of records with equal cells in these columns.
    pub fn verdict(&self, columns: &[String], holds: impl Fn(&[usize]) -> bool) -> Verdict {
        let groups = self.groups(columns);
        let failing: Vec<&Vec<usize>> = groups.iter().filter(|group| !holds(group)).collect();
        let failing_records = failing.iter().map(|group| group.len() as u64).sum();
        let holds = failing.is_empty();
        Verdict { holds, groups: groups.len(), failing_groups: failing.len(), failing_records }
    }

    /// A sensitive or class column.
    pub fn column(&self, name: &str) -> PrintedColumn<'a> {
        let spec = self.attributes.iter().find(|spec| spec.name == name).expect("a declared column");
        let texts = self.cells(name);
        let values = texts.iter().map(|text| canonical(spec, text)).collect();
        PrintedColumn { values, spec, texts, persons: self.persons() }
    }
}

/// A sensitive or class column. Equal values written differently have one canonical text.
#[derive(Debug, Clone)]
pub struct PrintedColumn<'a> {
    /// The test's own description of the column.
    pub spec: &'a ColumnSpec,
    /// One text per record.
    pub texts: Vec<&'a str>,
    /// The canonical value of each record.
    pub values: Vec<String>,
    /// The person of each record, if persons are counted.
    pub persons: Option<Vec<String>>,
}

/// One text for all spellings of a person; all records without one are one person.
fn person(text: &str) -> String {
    if is_missing(text) || is_missing(&folded(text)) { "?".to_owned() } else { folded(text) }
}

/// Number of distinct persons of some records.
fn distinct(persons: &[String], records: &[usize]) -> usize {
    records.iter().map(|&record| &persons[record]).collect::<BTreeSet<_>>().len()
}

/// The canonical text of a value: equal numbers and dates have the same one, and so do spellings of a category, unless
/// the policy distinguishes them, and all texts of a missing value.
fn canonical(spec: &ColumnSpec, text: &str) -> String {
    let spelled = spec.spelled && spec.fold;
    match spec.shape.number(text) {
        _ if is_missing(text) => "?".to_owned(),
        Some(number) if spec.shape.is_ordered() => format!("{number}"),
        _ if spelled && spec.missing == "category" && is_missing(&folded(text)) => "?".to_owned(),
        _ if spelled => folded(text),
        _ => text.to_owned(),
    }
}

/// One text for all spellings of a value that [`ColumnSpec::spelling`] makes.
pub fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split([' ', '\t', '\u{a0}']).filter(|word| !word.is_empty()).collect();
    let folded = words.join(" ").to_lowercase().replace("e\u{301}", "\u{e9}");
    folded.parse::<f64>().map_or(folded, |number| format!("{number}"))
}

impl PrintedColumn<'_> {
    /// The canonical value of a text.
    pub fn value_of(&self, text: &str) -> String {
        canonical(self.spec, text)
    }

    /// Records of a group or, if persons are counted, their distinct persons, by canonical value.
    pub fn counts(&self, group: &[usize]) -> BTreeMap<&str, usize> {
        let mut records: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        group.iter().for_each(|&record| records.entry(self.values[record].as_str()).or_default().push(record));
        let count = |records: Vec<usize>| match &self.persons {
            Some(persons) => distinct(persons, &records),
            None => records.len(),
        };
        records.into_iter().map(|(value, records)| (value, count(records))).collect()
    }

    /// Sum of the counts of all values.
    pub fn total(&self, group: &[usize]) -> usize {
        self.counts(group).values().sum()
    }

    /// Row indices of all records.
    pub fn everything(&self) -> Vec<usize> {
        (0..self.values.len()).collect()
    }
}
