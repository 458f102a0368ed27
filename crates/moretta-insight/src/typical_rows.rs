//! A few released rows, so that the one who signs sees what recipients get: the one exception to the rule that
//! documents show no rows.
//!
//! The rows are typical: one of each of the largest groups. A cell is masked unless at least `max(k, 10)` of the
//! records carry its text; of an interval or a set, the values that its label prints must also be carried by as many
//! records of the original. Only the first records of the release are looked at; they carry a text at most as often as
//! all do.

use moretta_core::{engine::Sample, hierarchy::interval_ends, ids::ColumnId, policy::Policy, profile::Profile};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

use crate::naming::floor;

/// Number of rows.
const ROWS: usize = 5;

/// A few released rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TypicalRows {
    /// A text that fewer of the records carry is masked.
    pub floor: u64,
    /// Names of the released columns.
    pub columns: Vec<String>,
    /// Cells of each row; `None` if masked.
    pub rows: Vec<Vec<Option<String>>>,
}

impl TypicalRows {
    /// Rows of a release, from its first records. `profile` is that of the original.
    pub fn of(policy: &Policy, profile: &Profile, sample: &Sample) -> Self {
        let floor = floor(policy);
        let quasi: Vec<usize> = (0..sample.columns.len())
            .filter(|&column| profile.columns().iter().any(|quasi| quasi.name == sample.columns[column]))
            .collect();
        let shown: Vec<HashMap<&str, bool>> = (0..sample.columns.len())
            .map(|column| {
                let mut records: HashMap<&str, u64> = HashMap::new();
                sample.rows.iter().for_each(|row| *records.entry(row[column].as_str()).or_default() += 1);
                let ends = PrintedValues::of(profile, &sample.columns[column]);
                let may_show = |text: &str, records: u64| records >= floor && ends.are_common(text, floor);
                records.into_iter().map(|(text, records)| (text, may_show(text, records))).collect()
            })
            .collect();
        let mut groups: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
        for (index, row) in sample.rows.iter().enumerate() {
            groups.entry(quasi.iter().map(|&column| row[column].as_str()).collect()).or_default().push(index);
        }
        let mut groups: Vec<Vec<usize>> = groups.into_values().collect();
        groups.sort_by_key(|members| std::cmp::Reverse(members.len()));
        let is_shown = |row: usize, column: usize| shown[column][sample.rows[row][column].as_str()];
        let masked = |row: &usize| (0..sample.columns.len()).filter(|&column| !is_shown(*row, column)).count();
        let typical = |members: &Vec<usize>| {
            let row = members.iter().copied().min_by_key(masked)?;
            let cell = |column: usize| is_shown(row, column).then(|| sample.rows[row][column].clone());
            Some((0..sample.columns.len()).map(cell).collect())
        };
        let rows = groups.iter().take(ROWS).filter_map(typical).collect();
        Self { floor, columns: sample.columns.clone(), rows }
    }
}

/// Records of the original by value, for a column whose labels may print values.
struct PrintedValues<'a> {
    records: HashMap<&'a str, u64>,
}

impl<'a> PrintedValues<'a> {
    /// Empty if the column is no quasi-identifier: then its texts are its values.
    fn of(profile: &'a Profile, name: &str) -> Self {
        let column = profile.columns().iter().position(|column| column.name == name);
        let values = |column: usize| {
            let domain = &profile.columns()[column].domain;
            let records = profile.code_records(ColumnId::from_index(column));
            records.iter().enumerate().map(|(code, records)| (domain.text(code as u32), *records))
        };
        Self { records: column.into_iter().flat_map(values).collect() }
    }

    /// Whether enough records carry every value that a label prints. Texts that are no value say nothing about a
    /// record.
    fn are_common(&self, label: &str, floor: u64) -> bool {
        let is_common = |text: &str| self.records.get(text).is_none_or(|&records| records >= floor);
        if let Some((low, high)) = interval_ends(label) {
            return is_common(low) && is_common(high);
        }
        match label.strip_prefix('{').and_then(|set| set.strip_suffix('}')) {
            // A value may contain the separator, so rare values are searched anywhere in the set.
            Some(set) => {
                let mut values = self.records.iter();
                !values.any(|(value, records)| *records < floor && !value.is_empty() && set.contains(*value))
            }
            None => is_common(label),
        }
    }
}

#[cfg(test)]
mod tests {
    use moretta_core::testing::TestTable;

    use super::*;

    #[test]
    fn rows_are_of_the_largest_groups_and_rare_texts_are_masked() {
        let policy = "privacy.k = 2\n[columns]\nage = { role = \"quasi-identifier\", type = \"number\", hierarchy = \"free\" }\n\
                      ill.role = \"sensitive\"";
        let original: &[(&str, u64)] = &[("30,flu", 20), ("40,flu", 11), ("40,cold", 9), ("50,kuru", 2), ("7,flu", 10)];
        let table = TestTable::new(policy, &[], original);
        let mut rows = Vec::new();
        let mut add = |age: &str, ill: &str, records: usize| {
            rows.extend(std::iter::repeat_n(vec![age.to_owned(), ill.to_owned()], records));
        };
        add("[40, 50]", "kuru", 2);
        add("[40, 50]", "cold", 9);
        add("[40, 50]", "flu", 11);
        add("[7, 30]", "flu", 30);
        let sample = Sample { columns: vec!["age".to_owned(), "ill".to_owned()], rows };
        let found = TypicalRows::of(&table.policy, &table.profile, &sample);
        // Two records of the original have the age 50, so the interval that prints it is masked.
        let row = |age: Option<&str>, ill: &str| vec![age.map(str::to_owned), Some(ill.to_owned())];
        assert_eq!(found.rows, [row(Some("[7, 30]"), "flu"), row(None, "flu")]);
        // Values of few records are masked, also where no other row is left.
        let few = Sample { rows: sample.rows[..11].to_vec(), ..sample };
        assert_eq!(TypicalRows::of(&table.policy, &table.profile, &few).rows, [vec![None, None]]);
    }

    #[test]
    fn at_most_five_rows() {
        let policy = "privacy.k = 2\n[columns]\na = { role = \"quasi-identifier\", type = \"category\" }";
        let texts: Vec<String> = (0..9).map(|n| format!("v{n}")).collect();
        let rows: Vec<(&str, u64)> = texts.iter().map(|text| (text.as_str(), 10)).collect();
        let table = TestTable::new(policy, &[], &rows);
        let rows = texts.iter().enumerate().flat_map(|(n, text)| std::iter::repeat_n(vec![text.clone()], 10 + n));
        let sample = Sample { columns: vec!["a".to_owned()], rows: rows.collect() };
        let found = TypicalRows::of(&table.policy, &table.profile, &sample);
        let shown: Vec<&str> = found.rows.iter().map(|row| row[0].as_deref().unwrap()).collect();
        assert_eq!(shown, ["v8", "v7", "v6", "v5", "v4"]);
    }
}
