//! Domains in which the labels of several released files can be read and intersected without the original.
//!
//! A domain needs values, and a release has labels. So every label contributes *representatives*, values that it
//! certainly covers. They are chosen so that labels with a common value have a common representative:
//!
//! | label | representatives | why that suffices |
//! | --- | --- | --- |
//! | `[24, 32]` | `24`, `32` | intervals that overlap contain the start of one of them |
//! | `[24, 32)` | `24` and `32`, which is not inside | the same |
//! | `1984-03`, `1980s` | the first day of the period | of two periods one contains the other, or they are disjoint |
//! | `123*` | `1230` | the same for prefixes |
//! | `{a, b}` | `a`, `b` | all values of the set |
//! | node of a hierarchy file | all leaves of the file | all values |
//! | anything else | the text itself | a single value |
//!
//! Widths, bins and hierarchies built from the data are read as plain intervals: their trees depend on values that a
//! release does not show.

use std::borrow::Cow;

use hashbrown::HashSet;

use super::{Profile, infer_kind, tables::QuasiIdentifiers};
use crate::{
    counts::{CountedColumn, Counts},
    declaration::{ColumnPolicy, Declaration},
    hierarchy::{
        DomainError, DomainProblem, Hierarchies, HierarchyChoice, ROOT_LABEL, ValueParser, calendar, printed_interval,
        set_leaves,
    },
    notation::Notation,
    schema::{Kind, MissingRule, Role},
};

impl Profile {
    /// A profile without records whose domains can read the labels of these releases ([`Profile::of_release`]). A label
    /// that the policy cannot explain covers no value there.
    pub fn of_labels(
        policy: &impl Declaration,
        hierarchies: &Hierarchies,
        releases: &[&Self],
    ) -> Result<Self, DomainError> {
        let (mut columns, mut counted) = (Vec::new(), Vec::new());
        let quasi_identifiers = policy.columns().iter().filter(|column| column.role == Role::QuasiIdentifier);
        for (position, declared) in quasi_identifiers.enumerate() {
            let columns_of_releases = releases.iter().map(|release| &release.columns[position]);
            let mut labels: Vec<Label<'_>> = columns_of_releases
                .flat_map(|column| {
                    (0..column.domain.len() as u32).map(|code| (column.domain.text(code), column.notation))
                })
                .collect();
            labels.retain(|(label, _)| *label != ROOT_LABEL);
            let mut declared = declared.clone();
            if declared.missing == MissingRule::Error {
                // A release has no missing value then; if it has one after all, it is a value like any other.
                declared.missing = MissingRule::Category;
            }
            let values = match hierarchies.get(&declared.name) {
                Some(tree) => {
                    let missing = |label: &&str| policy.missing_texts(&declared).any(|missing| missing == *label);
                    let leaves: HashSet<&str> =
                        tree.leaf_labels().chain(labels.iter().map(|(label, _)| *label).filter(missing)).collect();
                    leaves.into_iter().map(Into::into).collect()
                }
                None => {
                    let missing: Vec<&str> = policy.missing_texts(&declared).collect();
                    let column = LabelColumn::new(&declared, &missing, &labels);
                    let (kind, values) = (column.parser.kind(), column.values(&labels));
                    declared.kind = Some(kind);
                    if declared.hierarchy.is_for_numbers() {
                        declared.hierarchy = HierarchyChoice::Free;
                    }
                    values
                }
            };
            // Representatives are in plain notation, the leaves of a file in that of the input.
            let typed = hierarchies.get(&declared.name).is_none();
            counted.push(CountedColumn { name: declared.name.clone(), values, first_records: None, typed });
            columns.push(declared);
        }
        let counts = Counts { columns: counted, ..Counts::default() };
        Self::build(&QuasiIdentifiers { columns, policy }, hierarchies, &counts).map_err(|mut error| {
            if let DomainProblem::TooManyDigits { value } = error.problem {
                error.problem = DomainProblem::TooManyDigitsInLabel { value };
            }
            error
        })
    }
}

/// A label of a release, and the notation of its numbers.
type Label<'a> = (&'a str, Notation);

/// A column without a hierarchy file, seen through the labels of releases.
struct LabelColumn<'a> {
    declared: &'a ColumnPolicy,
    missing: &'a [&'a str],
    parser: ValueParser,
}

impl<'a> LabelColumn<'a> {
    fn new(declared: &'a ColumnPolicy, missing: &'a [&'a str], labels: &[Label<'_>]) -> Self {
        let of_kind = |kind: Kind| Self { declared, missing, parser: declared.parser(kind) };
        if let Some(kind) = declared.kind {
            return of_kind(kind);
        }
        if matches!(declared.hierarchy, HierarchyChoice::Prefix(_)) {
            return of_kind(Kind::Category);
        }
        // Labels such as 1984 may be numbers or years. Either reading is right as long as it explains all labels.
        let explains = |kind: Kind| {
            let column = of_kind(kind);
            let values = column.values(labels);
            let explained = !labels.is_empty() && labels.iter().all(|label| column.explains(label));
            let counted = CountedColumn { values, ..CountedColumn::default() };
            let missing: Vec<bool> = counted.values.iter().map(|value| column.is_missing(value)).collect();
            explained && (kind == Kind::Date || infer_kind(declared, &counted, &missing) == kind)
        };
        let kind = [Kind::Number, Kind::Date].into_iter().find(|kind| explains(*kind));
        let default = if declared.hierarchy.is_for_numbers() { Kind::Number } else { Kind::Category };
        of_kind(kind.unwrap_or(default))
    }

    fn is_missing(&self, text: &str) -> bool {
        self.missing.contains(&text)
    }

    /// Whether the label has a representative.
    fn explains(&self, label: &Label<'_>) -> bool {
        self.is_missing(label.0) || !self.representatives(label).is_empty()
    }

    /// Representatives of all labels, each once; never empty, because a domain has at least one value.
    fn values(&self, labels: &[Label<'_>]) -> Vec<Box<str>> {
        let mut known: HashSet<Box<str>> = HashSet::new();
        let mut values: Vec<Box<str>> = Vec::new();
        for value in labels.iter().flat_map(|label| self.representatives(label)) {
            if known.insert(value.as_str().into()) {
                values.push(value.into());
            }
        }
        if values.iter().all(|value| self.is_missing(value)) {
            values.push(match self.parser.kind() {
                Kind::Date => self.period_start("2000").unwrap_or_default().into(),
                _ => "0".into(),
            });
        }
        values
    }

    fn representatives(&self, &(label, notation): &Label<'_>) -> Vec<String> {
        if self.is_missing(label) {
            return vec![label.to_owned()];
        }
        let plain = if self.parser.kind() == Kind::Number { notation.label(label) } else { Some(Cow::Borrowed(label)) };
        let Some(plain) = plain else { return Vec::new() };
        let label = &*plain;
        match (self.parser.kind(), &self.declared.hierarchy) {
            (Kind::Number | Kind::Date, _) => {
                let (low, high) = printed_interval(label).map_or((label, label), |(low, high, _)| (low, high));
                let read = [low, high].map(|end| self.parser.number(end).map(|_| end.to_owned()));
                match (self.period_start(label), read) {
                    (Some(start), _) => vec![start],
                    (None, [Ok(low), Ok(high)]) => vec![low, high],
                    _ => Vec::new(),
                }
            }
            (Kind::Category, choice) => {
                let leaves = set_leaves(label).map_or_else(|| vec![label], Iterator::collect);
                let value = |leaf: &str| match (choice, leaf.strip_suffix(ROOT_LABEL)) {
                    (HierarchyChoice::Prefix(_), Some(kept)) => format!("{kept}0"),
                    _ => leaf.to_owned(),
                };
                leaves.into_iter().map(value).collect()
            }
        }
    }

    /// First moment of a period of the calendar, as the column writes it; `None` if the label is none.
    fn period_start(&self, label: &str) -> Option<String> {
        let HierarchyChoice::Dates(levels) = &self.declared.hierarchy else { return None };
        calendar::first_day(label, levels, &self.parser).map(|start| self.parser.text_of(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hierarchy::LabelReader, policy::Policy, search::method_names};

    /// For each pair of labels of a column, whether they have a common value.
    fn overlaps(declared: &str, labels: &[&str]) -> Vec<(usize, usize)> {
        let text = format!("version = 1\nprivacy.k = 2\n[columns.c]\nrole = \"quasi-identifier\"\n{declared}");
        let policy = Policy::parse(&text, &method_names()).unwrap();
        let values = labels.iter().map(|label| (*label).into()).collect();
        let column = CountedColumn { name: "c".into(), values, first_records: None, typed: false };
        let codes: Vec<u32> = (0..labels.len() as u32).collect();
        let (counts, records) = (vec![1; labels.len()], labels.len() as u64);
        let counts = Counts { columns: vec![column], codes, counts, first_records: None, records };
        let release = Profile::of_release(&policy, &Hierarchies::default(), &counts).unwrap();
        let read = Profile::of_labels(&policy, &Hierarchies::default(), &[&release]).unwrap();
        let reader = LabelReader::new(&read.columns()[0].domain);
        let codes: Vec<Vec<u32>> = labels.iter().map(|label| reader.codes_inside(label)).collect();
        for (label, codes) in labels.iter().zip(&codes) {
            assert!(!codes.is_empty(), "{label}");
        }
        let pairs = (0..labels.len()).flat_map(|a| (a + 1..labels.len()).map(move |b| (a, b)));
        pairs.filter(|(a, b)| codes[*a].iter().any(|code| codes[*b].contains(code))).collect()
    }

    #[test]
    fn intervals_overlap_where_they_share_a_number() {
        let labels = ["[20, 30]", "[30, 40]", "25", "[0, 19]", "[31, 35)", "[35, 50]"];
        for declared in ["", "type = \"number\"", "hierarchy = { widths = [10] }", "hierarchy = \"iotf\""] {
            assert_eq!(overlaps(declared, &labels), [(0, 1), (0, 2), (1, 4), (1, 5)], "{declared}");
        }
        assert_eq!(overlaps("hierarchy = { bins = [0, 20, 100] }", &["[0, 20)", "[20, 100]", "*"]), [(0, 2), (1, 2)]);
    }

    #[test]
    fn periods_overlap_where_one_contains_the_other() {
        let labels = ["1984-03", "1984-Q1", "1984", "1985", "1980s", "1984-03-31"];
        let expected = [(0, 1), (0, 2), (0, 4), (0, 5), (1, 2), (1, 4), (1, 5), (2, 4), (2, 5), (3, 4), (4, 5)];
        let calendar = "hierarchy = { dates = [\"day\", \"month\", \"quarter\", \"year\", \"decade\"] }\n";
        for declared in ["", "type = \"date\""] {
            assert_eq!(overlaps(&format!("{calendar}{declared}"), &labels), expected);
        }
        let moments = ["1984-03-31", "1984-03-31T09:30", "1984-03-30"];
        assert_eq!(overlaps(&format!("{calendar}type = \"date\""), &moments), [(0, 1)]);
        let german = "format = \"%d.%m.%Y\"\ntype = \"date\"\n";
        assert_eq!(
            overlaps(&format!("{german}{calendar}"), &["1984-03", "31.03.1984", "01.04.1984", "1984"]),
            [(0, 1), (0, 3), (1, 3), (2, 3)]
        );
        let free = ["[1984-03-31, 1985-01-01]", "1984-12-31", "1985-01-01", "*"];
        let expected = [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)];
        for declared in ["type = \"date\"\nhierarchy = \"free\"", "type = \"date\"", ""] {
            assert_eq!(overlaps(declared, &free), expected[..]);
        }
    }

    #[test]
    fn prefixes_sets_and_missing_values() {
        let labels = ["12345", "123*", "12*", "13*", "{12345, 13000}"];
        assert_eq!(
            overlaps("hierarchy = { prefix = [3, 2] }", &labels),
            [(0, 1), (0, 2), (0, 4), (1, 2), (1, 4), (2, 4), (3, 4)]
        );
        let missing = "missing = \"category\"";
        assert_eq!(overlaps(missing, &["a", "{a, b}", "b", "", "*"]), [(0, 1), (0, 4), (1, 2), (1, 4), (2, 4), (3, 4)]);
        assert_eq!(overlaps(missing, &["[1, 5]", "", "*"]), [(0, 2), (1, 2)]);
        for declared in ["", "type = \"number\"", "type = \"date\"", "type = \"category\"", "hierarchy = \"free\""] {
            assert!(overlaps(declared, &["*"]).is_empty());
        }
    }
}
