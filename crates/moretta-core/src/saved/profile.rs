//! Profile of a new table in whose domains the labels of a saved recoding can be read.
//!
//! The labels were made from the values of the original table, which need not occur in the new one. A node of a stored
//! hierarchy is found by its label. For free intervals, their ends are added to the column's values; for categories
//! without a hierarchy, the labels themselves. The intervals of a hierarchy built from the original values are nested,
//! so they become the hierarchy of the new column.

use hashbrown::{HashMap, HashSet};

use super::{Saved, SavedLabels};
use crate::{
    counts::{CountedColumn, Counts},
    declaration::ColumnPolicy,
    hierarchy::{DomainError, HierarchyChoice, ROOT_LABEL, Tree, TreeBuilder, ValueParser, interval_ends},
    notation::Notation,
    profile::Profile,
    schema::Kind,
};

impl Saved {
    /// Profile of a new table. Adds the values to `counts` that the labels of this recoding need, with no records.
    pub fn profile(&self, counts: &mut Counts) -> Result<Profile, DomainError> {
        let mut hierarchies = self.hierarchies.clone();
        let notation = self.policy.input.notation();
        for (column, labels) in counts.columns.iter_mut().zip(self.labels_of_columns()) {
            let Some(declared) = self.policy.column(&column.name) else { continue };
            // Labels are in plain notation. What is added to the table is read like the table.
            let notation = if column.typed { Notation::PLAIN } else { notation };
            match (&declared.hierarchy, declared.kind) {
                (HierarchyChoice::Built(_), Some(kind)) => {
                    if let Some(tree) = interval_tree((column, notation), &labels, &declared.parser(kind)) {
                        hierarchies.insert(column.name.clone(), tree);
                    }
                }
                _ if hierarchies.get(&column.name).is_some() => {}
                (HierarchyChoice::Default, Some(Kind::Category)) => {
                    add_values(column, labels.into_iter().filter(|label| *label != ROOT_LABEL));
                }
                _ if is_free(declared) => {
                    // Only for free columns: a label of a hierarchy file may look like an interval.
                    let ends = labels.into_iter().filter_map(interval_ends);
                    let is_number = declared.kind == Some(Kind::Number);
                    let notation = if is_number { notation } else { Notation::PLAIN };
                    let ends: Vec<_> =
                        ends.flat_map(|(low, high)| [low, high]).map(|end| notation.write(end)).collect();
                    add_values(column, ends.iter().map(|end| &**end));
                }
                _ => {}
            }
        }
        Profile::build(&self.policy, &hierarchies, counts)
    }

    /// Labels of each quasi-identifier, possibly repeated.
    fn labels_of_columns(&self) -> Vec<Vec<&str>> {
        match &self.labels {
            SavedLabels::Global(columns) => {
                columns.iter().map(|labels| labels.iter().flatten().map(String::as_str).collect()).collect()
            }
            SavedLabels::Local(boxes) => {
                let column = |column: usize| boxes.iter().map(|labels| labels[column].as_str()).collect();
                (0..self.policy.quasi_identifiers().count()).map(column).collect()
            }
        }
    }
}

/// Whether any interval may be released.
fn is_free(declared: &ColumnPolicy) -> bool {
    match declared.hierarchy {
        HierarchyChoice::Default => declared.kind.is_some_and(Kind::is_ordered),
        HierarchyChoice::Free => true,
        _ => false,
    }
}

/// Adds texts that do not occur yet to a column's values.
fn add_values<'a>(column: &mut CountedColumn, texts: impl Iterator<Item = &'a str>) {
    let mut known: HashSet<Box<str>> = column.values.iter().cloned().collect();
    for text in texts {
        if known.insert(text.into()) {
            column.values.push(text.into());
            column.first_records.iter_mut().for_each(|first| first.push(0));
        }
    }
}

/// Builds the tree of the nested intervals among `labels` over the values of a column; `None` if it has no numbers. An
/// interval that partly overlaps one that starts before it does not come from a hierarchy and is ignored.
fn interval_tree(
    (column, notation): (&CountedColumn, Notation),
    labels: &[&str],
    parser: &ValueParser,
) -> Option<Tree> {
    let notation = if parser.kind() == Kind::Number { notation } else { Notation::PLAIN };
    let number = |text: &str| parser.number(text).ok();
    let read = |text: &str| if notation.is_plain() { number(text) } else { number(&notation.number(text)?) };
    let mut values: Vec<(f64, &str)> = column.values.iter().filter_map(|text| Some((read(text)?, &**text))).collect();
    values.sort_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| (x.len(), x).cmp(&(y.len(), y))));
    values.dedup_by_key(|(value, _)| *value);
    let ends = |label: &&str| interval_ends(label).and_then(|(low, high)| Some((number(low)?, number(high)?)));
    let distinct: HashMap<&str, (f64, f64)> = labels.iter().filter_map(|label| Some((*label, ends(label)?))).collect();
    let mut intervals: Vec<(f64, f64, &str)> =
        distinct.into_iter().map(|(label, (low, high))| (low, high, label)).collect();
    // Outer intervals before inner ones.
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(b.2)));
    let mut intervals = intervals.into_iter().peekable();
    let mut builder = TreeBuilder::default();
    let mut open: Vec<(f64, usize)> = Vec::new();
    for (value, text) in &values {
        while open.pop_if(|(high, _)| *high < *value).is_some() {}
        while let Some((_, high, label)) = intervals.next_if(|(low, ..)| low <= value) {
            let above = open.last().map_or((f64::INFINITY, TreeBuilder::ROOT), |above| *above);
            if high >= *value && high <= above.0 {
                open.push((high, builder.add(notation.write(label), above.1)));
            }
        }
        builder.add(*text, open.last().map_or(TreeBuilder::ROOT, |(_, handle)| *handle));
    }
    (!values.is_empty()).then(|| builder.build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::file;

    fn rows(values: &[&str], labels: &[&str]) -> Option<String> {
        let values = values.iter().map(|value| (*value).into()).collect();
        let column = CountedColumn { values, ..CountedColumn::default() };
        interval_tree((&column, Notation::PLAIN), labels, &ValueParser::new(Kind::Number, None))
            .map(|tree| file::write(&tree))
    }

    #[test]
    fn intervals_are_the_hierarchy_of_other_values() {
        let labels = ["[10, 29]", "*", "[20, 29]", "35", "[40, 50]", "[10, 29]", "[90, 99]"];
        assert_eq!(
            rows(&["22", "10.0", "10", "?", "35", "45", "60"], &labels).unwrap(),
            "10;10;\"[10, 29]\";*\n22;\"[20, 29]\";\"[10, 29]\";*\n35;35;35;*\n45;45;\"[40, 50]\";*\n60;60;60;*\n"
        );
        assert_eq!(rows(&["?"], &labels), None);
    }

    #[test]
    fn intervals_that_overlap_cover_nothing() {
        let found = rows(&["1", "4", "7"], &["[1, 5]", "[3, 8]"]).unwrap();
        assert_eq!(found, "1;\"[1, 5]\";*\n4;\"[1, 5]\";*\n7;7;*\n");
        let found = rows(&["4", "7"], &["[1, 5]", "[3, 8]"]).unwrap();
        assert_eq!(found, "4;\"[1, 5]\";*\n7;7;*\n");
    }
}
