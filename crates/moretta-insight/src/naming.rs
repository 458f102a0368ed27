//! The values and nodes that a document may name.
//!
//! Reports, pages, charts and tables of results may be published with a release. A value that few records carry can
//! identify a person whom the release protects, even if the document says nothing else about it. So a document names a
//! value, or a node of a hierarchy, only if at least `max(k, 10)` records of the original table carry it, or records of
//! as many persons if the policy counts persons.
//!
//! The ends of an interval that was built from the data are values too: such an interval is named only if its two ends
//! may be named. Ends that the policy sets (`widths`, `bins`) and periods of the calendar depend on no record.
//!
//! Cost: one pass over the values of each column; then O(1) per name.

use moretta_core::{
    hierarchy::{Cell, Domain, HierarchyChoice, interval_ends},
    ids::{ColumnId, VariantId},
    policy::Policy,
    privacy::{Description, ModelFacts, TemplateFacts},
    profile::Profile,
};

/// Minimum records behind a name, however small k is. Not tuned.
const MIN_RECORDS: u64 = 10;

/// Text for a value or node that too few records carry.
const RARE: &str = "a rare value";
/// Text for an interval whose ends are values of few records.
const INTERVAL: &str = "an interval";

/// Minimum records of the original table, or persons if the policy counts them, that carry a value or node which a
/// document names.
pub fn floor(policy: &Policy) -> u64 {
    policy.privacy.k().unwrap_or(0).max(MIN_RECORDS)
}

/// The weights of a column's values: a set of values may be named if their weights add up to the floor.
#[derive(Debug)]
pub(crate) struct Carriers {
    /// By code: records or, if persons are counted, distinct persons.
    pub(crate) weights: Vec<u64>,
    /// Minimum sum of weights. A person may carry several values and counts for each of them, at most `m` times, so `m`
    /// times the [`floor`] is needed.
    pub(crate) floor: u64,
}

impl Carriers {
    pub(crate) fn of(policy: &Policy, profile: &Profile, column: ColumnId) -> Self {
        let floor = floor(policy);
        if profile.persons().is_none() {
            return Self { weights: profile.code_records(column).to_vec(), floor };
        }
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(profile.variants());
        for variant in (0..profile.variants()).map(VariantId::from_index) {
            let code = profile.codes(profile.tuple_of(variant))[column.index()];
            pairs.extend(profile.person(variant).map(|person| (person, code)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut weights = vec![0; profile.domain(column).len()];
        pairs.iter().for_each(|(_, code)| weights[*code as usize] += 1);
        let most_values = pairs.chunk_by(|a, b| a.0 == b.0).map(|person| person.len() as u64).max().unwrap_or(1);
        Self { weights, floor: floor * most_values }
    }
}

/// The description of a model in a document: without values that come from the data, which `described` names for the
/// data holder.
pub fn description(facts: &ModelFacts, described: Description) -> Description {
    facts.get().map_or(described, TemplateFacts::description)
}

/// Names of the cells of a table's quasi-identifiers.
#[derive(Debug)]
pub struct Naming<'a> {
    policy: &'a Policy,
    profile: &'a Profile,
    /// By column and code, the weights of all smaller codes; the last element is the total.
    weights_before: Vec<Vec<u64>>,
    /// By column.
    floors: Vec<u64>,
}

impl<'a> Naming<'a> {
    /// `profile` is that of the original table.
    pub fn new(policy: &'a Policy, profile: &'a Profile) -> Self {
        let column = |column: usize| {
            let Carriers { weights, floor } = Carriers::of(policy, profile, ColumnId::from_index(column));
            let sums = weights.iter().scan(0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            });
            (std::iter::once(0).chain(sums).collect(), floor)
        };
        let (weights_before, floors) = (0..profile.columns().len()).map(column).unzip();
        Self { policy, profile, weights_before, floors }
    }

    /// The label of a cell if a document may name it; otherwise words that do not.
    pub fn cell(&self, column: ColumnId, cell: Cell) -> String {
        let described = &self.profile.columns()[column.index()];
        let domain = &described.domain;
        if domain.is_star(cell) {
            return domain.label(cell);
        }
        // Without a hierarchy, the ends of an interval are always values of the table.
        if domain.tree().is_none() {
            return INTERVAL.to_owned();
        }
        if self.is_rare(column, cell.first, cell.last) {
            return RARE.to_owned();
        }
        let label = domain.label(cell);
        let choice = self.policy.column(&described.name).map(|column| &column.hierarchy);
        let set_by_policy = matches!(choice, Some(HierarchyChoice::Widths(_) | HierarchyChoice::Bins(_)));
        if set_by_policy || !self.has_rare_end(column, domain, cell, &label) { label } else { INTERVAL.to_owned() }
    }

    /// Whether an end of an interval's label is a value that too few records carry.
    fn has_rare_end(&self, column: ColumnId, domain: &Domain, cell: Cell, label: &str) -> bool {
        let Some((low, high)) = interval_ends(label) else { return false };
        let is_rare = |code: u32, end: &str| domain.text(code) == end && self.is_rare(column, code, code);
        is_rare(cell.first, low) || is_rare(cell.last, high)
    }

    /// Whether too few records or persons of the original table have a code in a range.
    fn is_rare(&self, column: ColumnId, first: u32, last: u32) -> bool {
        let before = &self.weights_before[column.index()];
        before[last as usize + 1] - before[first as usize] < self.floors[column.index()]
    }
}

#[cfg(test)]
mod tests {
    use moretta_core::testing::TestTable;

    use super::*;

    const POLICY: &str = "privacy.k = 2\ncolumns.a.role = \"quasi-identifier\"\ncolumns.p.role = \"person\"\n";

    fn named(rows: &[(&str, u64)], value: &str) -> String {
        let table = TestTable::new(POLICY, &[], rows);
        let domain = &table.profile.columns()[0].domain;
        let code = (0..domain.len() as u32).find(|code| domain.text(*code) == value).unwrap();
        Naming::new(&table.policy, &table.profile).cell(ColumnId(0), domain.cover(code, code))
    }

    #[test]
    fn a_value_of_one_person_is_rare_in_any_number_of_records() {
        let persons: Vec<String> = (0..12).map(|person| format!("y,P{person}")).collect();
        let mut rows: Vec<(&str, u64)> = persons.iter().map(|row| (row.as_str(), 1)).collect();
        rows.push(("x,Q", 50));
        assert_eq!((named(&rows, "x").as_str(), named(&rows, "y").as_str()), (RARE, "y"));
        // Weights of several values may count a person twice, so twice as many are needed.
        rows.push(("x,P1", 1));
        assert_eq!(named(&rows, "y"), RARE);
    }
}
