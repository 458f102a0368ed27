//! Checks of a released file.
//!
//! - [`compare_with_verified`] compares a written file with the table that was verified: same groups, and in each group
//!   the same sensitive and class values, equally often. [`Written::read_back`](crate::publish::Written::read_back)
//!   calls it; `publish.rs` shows where this happens in the flow.
//! - [`check_forms`] checks that every cell has a form that a release can have (a value, an interval, a label of the
//!   hierarchy, ..). `moretta check` uses it for files whose original is not available.

use std::{
    borrow::Cow,
    hash::BuildHasher,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use hashbrown::{DefaultHashBuilder, HashMap, HashSet, HashTable};
use rayon::prelude::*;

use crate::{
    declaration::Declaration,
    hierarchy::{
        DateLevel, Hierarchies, HierarchyChoice, ROOT_LABEL, Tree, ValueParser, calendar, prefix, printed_interval,
    },
    ids::{AttributeId, TupleId, VariantId},
    notation::Notation,
    policy::{ColumnPolicy, Policy},
    profile::{Column, Profile},
    schema::{Kind, MissingRule},
    text::{at_record, shown},
    verify::Verified,
};

/// A written file that differs from the verified table. It must not be published.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the written file is not what was verified: {0}")]
pub struct Mismatch(Cow<'static, str>);

impl Mismatch {
    fn new(what: &'static str) -> Self {
        Self(Cow::Borrowed(what))
    }

    /// Other values in a sensitive or class column.
    fn of_column(verified: &Verified<'_>, name: &str) -> Self {
        let policy = verified.policy();
        let hint = if policy.input.notation() == policy.release_notation() {
            ""
        } else {
            "; the release has another notation of numbers than the input, so some texts may be numbers in one of them only: \
             declare the column's `type`"
        };
        Self(Cow::Owned(format!("the values of column `{}` differ{hint}", shown(name))))
    }
}

/// Compares the profile of a written file ([`Profile::of_release`]) with the verified table.
///
/// Groups are matched by their labels, so the order of the file's records does not matter.
pub fn compare_with_verified(verified: &Verified<'_>, file: &Profile) -> Result<(), Mismatch> {
    let (original, released) = (verified.profile(), verified.released());
    if original.records() != file.records() {
        return Err(Mismatch::new("the number of records differs"));
    }
    for (was, is) in original.attributes().iter().zip(file.attributes()) {
        if was.values != is.values || was.spellings() != is.spellings() {
            return Err(Mismatch::of_column(verified, &was.name));
        }
    }
    if released.groups() != file.tuples() {
        return Err(Mismatch::new("the number of groups differs"));
    }
    let codes = LabelCodes::new(verified, file);
    let is_seen: Vec<AtomicBool> = (0..file.tuples()).map(|_| AtomicBool::new(false)).collect();
    let compared = (0..released.groups()).into_par_iter().map_init(Vec::new, |key, group| {
        let tuple = codes.tuple_of(released.grouping().key(group), file, key);
        // Two groups have different labels, so that as many groups as tuples are all of them.
        let tuple = tuple.filter(|tuple| !is_seen[tuple.index()].swap(true, Relaxed));
        let tuple = tuple.ok_or(Mismatch::new("a combination of released values differs"))?;
        let verified_values = released.grouping().members(group).iter().map(|member| (member.variant, member.records));
        let written_values = file.variants_of(tuple).map(|variant| (variant, file.variant_records(variant)));
        if ValueCounts::of(original, verified_values) != ValueCounts::of(file, written_values) {
            return Err(Mismatch::new("the sensitive or class values of a group differ"));
        }
        Ok(())
    });
    compared.find_map_first(Result::err).map_or(Ok(()), Err)
}

/// Codes of the labels of a verified table in the profile of its file.
struct LabelCodes {
    /// By column and label; `None` if the file does not have the label.
    codes: Vec<Vec<Option<u32>>>,
    /// The tuples of the file, by the hash of their codes.
    tuples: HashTable<TupleId>,
    hasher: DefaultHashBuilder,
}

impl LabelCodes {
    fn new(verified: &Verified<'_>, file: &Profile) -> Self {
        let of_column = |(column, written): (usize, &Column)| {
            let domain = &written.domain;
            let codes: HashMap<&str, u32> = (0..domain.len() as u32).map(|code| (domain.text(code), code)).collect();
            let labels = verified.released().labels(column).iter();
            labels.map(|label| codes.get(&*verified.written(column, label)).copied()).collect()
        };
        let codes = file.columns().iter().enumerate().map(of_column).collect();
        let hasher = DefaultHashBuilder::default();
        let mut tuples = HashTable::with_capacity(file.tuples());
        let hash = |tuple: &TupleId| hasher.hash_one(file.codes(*tuple));
        (0..file.tuples() as u32).map(TupleId).for_each(|tuple| _ = tuples.insert_unique(hash(&tuple), tuple, hash));
        Self { codes, tuples, hasher }
    }

    /// The tuple of the file that has the labels of a group. `key` is scratch space.
    fn tuple_of(&self, labels: &[u32], file: &Profile, key: &mut Vec<u32>) -> Option<TupleId> {
        key.clear();
        for (codes, &label) in self.codes.iter().zip(labels) {
            key.push(codes[label as usize]?);
        }
        self.tuples.find(self.hasher.hash_one(&key[..]), |tuple| file.codes(*tuple) == &key[..]).copied()
    }
}

/// Records of each combination of sensitive and class values of a group, sorted by combination.
#[derive(Debug, PartialEq)]
struct ValueCounts {
    /// The values of one combination after another.
    values: Vec<u32>,
    records: Vec<u64>,
}

impl ValueCounts {
    fn of(profile: &Profile, variants: impl Iterator<Item = (VariantId, u64)>) -> Self {
        let width = profile.attributes().len();
        let (mut values, mut order): (Vec<u32>, Vec<(usize, u64)>) = (Vec::new(), Vec::new());
        for (index, (variant, records)) in variants.enumerate() {
            values.extend((0..width as u32).map(|attribute| profile.value(variant, AttributeId(attribute))));
            order.push((index, records));
        }
        let of = |index: usize| &values[index * width..(index + 1) * width];
        order.sort_unstable_by(|a, b| of(a.0).cmp(of(b.0)));
        let mut counts = Self { values: Vec::with_capacity(values.len()), records: Vec::new() };
        for same in order.chunk_by(|a, b| of(a.0) == of(b.0)) {
            counts.values.extend_from_slice(of(same[0].0));
            counts.records.push(same.iter().map(|(_, records)| records).sum());
        }
        counts
    }
}

/// A cell that is no released form of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column `{}`{}: `{}` is not a released form; it should be {expected}", shown(.column), at_record(*.record), shown(.value))]
pub struct FormError {
    /// Name of the column.
    pub column: String,
    /// Number of the first record with this cell (from 1), if the engine numbers records.
    pub record: Option<u64>,
    /// Text of the cell.
    pub value: String,
    /// The accepted forms, in words.
    pub expected: &'static str,
}

/// Checks that every cell of the quasi-identifiers has a released form of its column.
pub fn check_forms(policy: &Policy, hierarchies: &Hierarchies, file: &Profile) -> Result<(), FormError> {
    for (position, (declared, column)) in policy.quasi_identifiers().zip(file.columns()).enumerate() {
        let texts: Vec<&str> = (0..column.domain.len() as u32).map(|code| column.domain.text(code)).collect();
        let forms = ReleasedForms::new((policy, column.notation), declared, hierarchies.get(&declared.name));
        let forms = forms.guess_kind(&texts);
        for code in 0..column.domain.len() as u32 {
            let text = column.domain.text(code);
            if !forms.accept(text) {
                let carries = |tuple: &TupleId| file.codes(*tuple)[position] == code;
                let tuples = (0..file.tuples() as u32).map(TupleId).filter(carries);
                let variants = tuples.flat_map(|tuple| file.variants_of(tuple));
                let record = variants.filter_map(|variant| file.first_record(variant)).min();
                let (column, value) = (declared.name.clone(), text.to_owned());
                let expected = forms.expected();
                // The examples of numbers have a decimal point.
                let expected = match policy.release_notation().decimal {
                    ',' if forms.reading.kind() == Kind::Number => {
                        "a number with a decimal comma, an interval such as [1,5; 2,75], a label of the hierarchy, or *"
                    }
                    _ => expected,
                };
                return Err(FormError { column, record, value, expected });
            }
        }
    }
    Ok(())
}

/// The forms that the cells of one column may have in a release.
#[derive(Clone)]
struct ReleasedForms<'a> {
    declared: &'a ColumnPolicy,
    /// The texts of a missing value.
    missing: Vec<&'a str>,
    /// Notation of the numbers of the file.
    notation: Notation,
    /// Labels of the hierarchy file, if the column has one.
    labels: Option<HashSet<&'a str>>,
    /// The same in plain notation, if the file has another.
    plain_labels: HashSet<String>,
    /// Whether all values of the hierarchy file are numbers, so that the column may be one of numbers.
    over_numbers: bool,
    reading: ValueParser,
}

impl<'a> ReleasedForms<'a> {
    fn new((policy, notation): (&'a Policy, Notation), declared: &'a ColumnPolicy, tree: Option<&'a Tree>) -> Self {
        let labels = tree.map(|tree| tree.nodes().map(|node| tree.label(node)).collect::<HashSet<_>>());
        let input = policy.input.notation();
        let plain_labels = labels.iter().flatten().filter(|_| !input.is_plain() || !notation.is_plain());
        let plain_labels = plain_labels.map(|label| input.label(label).unwrap_or(Cow::Borrowed(label)).into_owned());
        let plain_labels = plain_labels.collect();
        let by_hierarchy = if declared.hierarchy.is_for_numbers() { Kind::Number } else { Kind::Category };
        let reading = declared.parser(declared.kind.unwrap_or(by_hierarchy));
        let over_numbers = tree.is_some_and(|tree| tree.leaf_labels().all(|leaf| input.number(leaf).is_some()));
        let missing = policy.missing_texts(declared).collect();
        Self { declared, missing, notation, labels, plain_labels, over_numbers, reading }
    }

    /// Chooses another type if the policy declares none and only that type accepts all texts: intervals may be of
    /// numbers or of dates, and a hierarchy file may be over categories or over numbers.
    fn guess_kind(self, texts: &[&str]) -> Self {
        let other = match (&self.declared.hierarchy, self.declared.kind) {
            (HierarchyChoice::Free | HierarchyChoice::Built(_), None) => Kind::Date,
            (HierarchyChoice::File(_), None) if self.over_numbers => Kind::Number,
            _ => return self,
        };
        if texts.iter().all(|text| self.accept(text)) {
            return self;
        }
        let guess = Self { reading: self.declared.parser(other), ..self.clone() };
        if texts.iter().all(|text| guess.accept(text)) { guess } else { self }
    }

    /// The calendar levels that dates may be generalized to; `None` if the column has another hierarchy.
    fn levels(&self) -> Option<&[DateLevel]> {
        match &self.declared.hierarchy {
            HierarchyChoice::Dates(levels) => Some(levels),
            _ => None,
        }
    }

    fn accept(&self, text: &str) -> bool {
        let category = self.declared.missing == MissingRule::Category;
        let is_missing = |text: &str| category && self.missing.contains(&text);
        if text == ROOT_LABEL || is_missing(text) {
            return true;
        }
        match (&self.labels, self.reading.kind().is_ordered()) {
            (Some(labels), true) => labels.contains(text) || self.is_plain_label(text) || self.is_interval(text),
            (Some(labels), false) => {
                let in_set = |set: &str| set.split(", ").all(|leaf| labels.contains(leaf) || is_missing(leaf));
                labels.contains(text) || braced(text).is_some_and(in_set)
            }
            (None, true) => match self.levels() {
                Some(levels) => self.reading.number(text).is_ok() || calendar::is_label(text, levels, &self.reading),
                None => self.is_interval(text),
            },
            (None, false) => match &self.declared.hierarchy {
                HierarchyChoice::Prefix(lengths) => prefix::is_form(text, lengths),
                // Without a hierarchy or a type any text may be a value.
                _ => true,
            },
        }
    }

    fn expected(&self) -> &'static str {
        match (&self.labels, self.reading.kind()) {
            (Some(_), Kind::Number) => "a number, an interval such as [24, 32], a label of the hierarchy, or *",
            (Some(_), Kind::Date) => "a date, an interval of dates such as [a, b], a label of the hierarchy, or *",
            (Some(_), Kind::Category) => "a label of the hierarchy, a set of its values such as {a, b}, or *",
            (None, Kind::Date) if self.levels().is_some() => {
                "a date, a month such as 1984-03, or another level of the calendar that the policy names, or *"
            }
            (None, Kind::Date) => "a date, an interval of dates such as [a, b], or *",
            (None, Kind::Category) => "a whole code, one that is cut at a length that the policy names, or *",
            (None, Kind::Number) => "a number, an interval such as [24, 32], or *",
        }
    }

    /// Whether a text is a label of the hierarchy file in the notation of this file.
    fn is_plain_label(&self, text: &str) -> bool {
        self.notation.label(text).is_some_and(|plain| self.plain_labels.contains(&*plain))
    }

    /// Accepts `24`, `[24, 32]`, and `[24, 32)`, the form of `widths` for numbers with fractions.
    fn is_interval(&self, text: &str) -> bool {
        let number = |text: &str| self.reading.number(text);
        let plain = if self.reading.kind() == Kind::Number { self.notation.label(text) } else { Some(text.into()) };
        let Some(text) = plain.as_deref() else { return false };
        match printed_interval(text) {
            Some((low, high, _)) => matches!((number(low), number(high)), (Ok(low), Ok(high)) if low <= high),
            None => number(text).is_ok(),
        }
    }
}

fn braced(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        recoding::{Cut, Recoding},
        testing::{TestTable, counts},
        verify::verify_against,
    };

    /// The texts that may be released in a column with this declaration.
    fn accepted<'t>(declared: &str, texts: &[&'t str]) -> Vec<&'t str> {
        let text = format!("version = 1\nprivacy.k = 2\n[columns.c]\nrole = \"quasi-identifier\"\n{declared}");
        let policy = Policy::parse(&text, &crate::search::method_names()).unwrap();
        let forms = ReleasedForms::new((&policy, Notation::PLAIN), &policy.columns[0], None);
        texts.iter().copied().filter(|text| forms.accept(text)).collect()
    }

    /// Spellings of one value count as one for the models, but a release has the texts of its original.
    #[test]
    fn a_file_with_another_spelling_is_refused() {
        let policy = "privacy.k = 2\n[columns]\na.role = \"quasi-identifier\"\ns.role = \"sensitive\"";
        let table = TestTable::new(policy, &[], &[("1,HIV", 2), ("1,hiv", 1), ("1,flu", 1)]);
        let cut = Recoding::Global(Cut::whole(&table.profile));
        let verified = verify_against(&table.profile, cut, &table.models, &table.policy, 0).unwrap();
        let compared = |rows: &[(&str, u64)]| {
            let counts = counts(&table.policy, rows);
            compare_with_verified(
                &verified,
                &Profile::of_release(&table.policy, &Hierarchies::default(), &counts).unwrap(),
            )
        };
        assert_eq!(compared(&[("1,HIV", 2), ("1,hiv", 1), ("1,flu", 1)]), Ok(()));
        for other in [&[("1,HIV", 2), ("1,Hiv", 1), ("1,flu", 1)][..], &[("1,HIV", 3), ("1,flu", 1)]] {
            assert_eq!(compared(other), Err(Mismatch::new("the values of column `s` differ")));
        }
    }

    #[test]
    fn number_forms() {
        let right = ["24", "-1.5", "[24, 32]", "[0, 0.5)", "[-3, -1]", "*"];
        let wrong = ["", "x", "[24,32]", "[32, 24]", "24-32", "[24, 32", "{24, 32}", "inf", "[1, inf]"];
        for declared in ["type = \"number\"", "hierarchy = \"free\"", "hierarchy = \"iotf\""] {
            assert_eq!(accepted(declared, &right), right);
            assert!(accepted(declared, &wrong).is_empty());
        }
    }

    /// A hierarchy file may be over categories or, if its values are numbers, over numbers.
    #[test]
    fn forms_of_a_hierarchy_file_without_a_type() {
        let refused = |tree: &str, declared: &str, texts: &[&str]| {
            let text = format!(
                "version = 1\nprivacy.k = 2\n[columns.c]\nrole = \"quasi-identifier\"\nhierarchy = \"h.csv\"\n{declared}"
            );
            let policy = Policy::parse(&text, &crate::search::method_names()).unwrap();
            let tree = crate::hierarchy::file::parse(tree).unwrap();
            let hierarchies = Hierarchies::from_iter([("c".to_owned(), tree)]);
            let rows: Vec<(&str, u64)> = texts.iter().map(|text| (*text, 1)).collect();
            let file = Profile::of_release(&policy, &hierarchies, &crate::testing::counts(&policy, &rows)).unwrap();
            check_forms(&policy, &hierarchies, &file).err().map(|error| error.value)
        };
        let numbers = "1;g0;*\n2;g0;*\n3;g1;*";
        // A mean, another spelling of a value, and the label of a node.
        assert_eq!(refused(numbers, "", &["1.5", "3.0", "g0", "*"]), None);
        assert_eq!(refused(numbers, "type = \"number\"\n", &["1.5", "3.0", "g0", "*"]), None);
        assert_eq!(refused(numbers, "", &["1.5", "g2"]), Some("1.5".into()));
        assert_eq!(refused(numbers, "type = \"category\"\n", &["1.5"]), Some("1.5".into()));
        assert_eq!(refused("1;g0;*\n2;g0;*\nx;g1;*", "", &["1.5"]), Some("1.5".into()));
    }

    #[test]
    fn date_forms() {
        let texts = ["1984-03-31", "1984-03-31T12:30", "1984-03", "1984-Q1", "1984", "1980s", "*", "31.03.1984"];
        let levels = "hierarchy = { dates = [\"day\", \"month\", \"quarter\", \"year\", \"decade\"] }";
        assert_eq!(accepted(levels, &texts), texts[..7]);
        let chosen = accepted("hierarchy = { dates = [\"month\", \"decade\"] }", &texts);
        assert_eq!(chosen, ["1984-03-31", "1984-03-31T12:30", "1984-03", "1980s", "*"]);
        let german = accepted(&format!("format = \"%d.%m.%Y\"\n{levels}"), &texts);
        assert_eq!(german, ["1984-03", "1984-Q1", "1984", "1980s", "*", "31.03.1984"]);
        let free = ["[1984-03-31, 1985-01-01]", "1984-03-31", "[1985-01-01, 1984-03-31]", "1984-03", "[1984, 1985]"];
        for hierarchy in ["", "hierarchy = \"free\"", "hierarchy = \"iotf\""] {
            assert_eq!(accepted(&format!("type = \"date\"\n{hierarchy}"), &free), free[..2]);
        }
        let free = ["[31.03.1984, 01.01.1985]", "31.03.1984", "1984-03", "[01.01.1985, 31.03.1984]"];
        assert_eq!(accepted("format = \"%d.%m.%Y\"", &free), free[..2]);
        assert!(accepted(levels, &free[..1]).is_empty());
    }

    #[test]
    fn prefix_forms() {
        let texts = ["12345", "123*", "12*", "*", "{12345, 12346}", "1234*", "**"];
        assert_eq!(accepted("hierarchy = { prefix = [3, 2] }", &texts), texts[..5]);
    }
}
