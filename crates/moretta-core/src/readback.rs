//! Reading a release back: is the file what was verified, and does it speak the language of releases?
//!
//! [`compare`] holds the counts of a written file against the very table that was verified: the same groups, and in
//! each the same sensitive and class values as often. [`check_forms`] accepts exactly the released forms, for files
//! whose original is not at hand.

use hashbrown::{HashMap, HashSet};

use crate::{
    hierarchy::{ROOT_LABEL, Tree, parse_number},
    ids::{AttributeId, TupleId, VariantId},
    policy::{ColumnPolicy, HierarchyChoice, Policy},
    profile::Profile,
    schema::{Kind, MissingRule},
    text::merge_counts,
    verify::Verified,
};

/// A written file that is not what was verified. It must not get a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the written file is not what was verified: {0}")]
pub struct Mismatch(&'static str);

/// Holds the file's profile ([`Profile::of_release`]) against what was verified of the original's.
pub fn compare(original: &Profile, verified: &Verified, file: &Profile) -> Result<(), Mismatch> {
    let released = verified.released();
    if original.records() != file.records() {
        return Err(Mismatch("the number of records differs"));
    }
    let values = |profile: &Profile| profile.attributes().iter().map(|a| a.values.clone()).collect::<Vec<_>>();
    if values(original) != values(file) {
        return Err(Mismatch("the sensitive or class values differ"));
    }
    if released.groups() != file.tuples() {
        return Err(Mismatch("the number of groups differs"));
    }
    let p = original.columns().len();
    let mut by_labels: HashMap<Vec<&str>, usize> = HashMap::new();
    for group in 0..released.groups() {
        by_labels.insert((0..p).map(|column| released.label(group, column)).collect(), group);
    }
    for tuple in (0..file.tuples() as u32).map(TupleId) {
        let labels: Vec<&str> =
            file.codes(tuple).iter().zip(file.columns()).map(|(&code, column)| column.domain.text(code)).collect();
        let group = *by_labels.get(&labels).ok_or(Mismatch("a combination of released values differs"))?;
        let members = released.grouping().members(group).iter().map(|member| (member.variant, member.records));
        let variants = file.variants_of(tuple).map(|variant| (variant, file.variant_records(variant)));
        if tally(original, members) != tally(file, variants) {
            return Err(Mismatch("the sensitive or class values of a group differ"));
        }
    }
    Ok(())
}

/// How often each combination of sensitive and class values occurs.
fn tally(profile: &Profile, members: impl Iterator<Item = (VariantId, u64)>) -> Vec<(Vec<u32>, u64)> {
    let attributes = 0..profile.attributes().len() as u32;
    let mut tally: Vec<(Vec<u32>, u64)> = members
        .map(|(variant, records)| {
            (attributes.clone().map(|a| profile.value(variant, AttributeId(a))).collect(), records)
        })
        .collect();
    tally.sort_unstable();
    merge_counts(&mut tally);
    tally
}

/// A cell that is no released form of its column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column `{column}`, record {record}: `{value}` is not a released form; it should be {expected}")]
pub struct FormError {
    /// The column.
    pub column: String,
    /// The first record with it (from 1).
    pub record: u64,
    /// The cell.
    pub value: String,
    /// What would be right.
    pub expected: &'static str,
}

/// Accepts exactly the released forms of the policy's columns.
pub fn check_forms(policy: &Policy, hierarchies: &HashMap<String, Tree>, file: &Profile) -> Result<(), FormError> {
    for (position, (declared, column)) in policy.quasi_identifiers().zip(file.columns()).enumerate() {
        let forms = Forms::new(policy, declared, hierarchies.get(&declared.name));
        for code in 0..column.domain.len() as u32 {
            let text = column.domain.text(code);
            if !forms.accept(text) {
                let carries = |tuple: &TupleId| file.codes(*tuple)[position] == code;
                let tuples = (0..file.tuples() as u32).map(TupleId).filter(carries);
                let record = tuples.flat_map(|tuple| file.variants_of(tuple)).map(|v| file.first_record(v)).min();
                return Err(FormError {
                    column: declared.name.clone(),
                    record: record.unwrap_or(0),
                    value: text.to_owned(),
                    expected: forms.expected(),
                });
            }
        }
    }
    Ok(())
}

struct Forms<'a> {
    declared: &'a ColumnPolicy,
    missing: &'a [String],
    labels: Option<HashSet<&'a str>>,
}

impl<'a> Forms<'a> {
    fn new(policy: &'a Policy, declared: &'a ColumnPolicy, tree: Option<&'a Tree>) -> Self {
        let labels = tree.map(|tree| tree.nodes().map(|node| tree.label(node)).collect());
        Self { declared, missing: &policy.input.missing, labels }
    }

    fn is_number(&self) -> bool {
        let by_hierarchy = matches!(
            self.declared.hierarchy,
            HierarchyChoice::Free | HierarchyChoice::Widths(_) | HierarchyChoice::Bins(_)
        );
        self.declared.kind == Some(Kind::Number) || (self.declared.kind.is_none() && by_hierarchy)
    }

    fn accept(&self, text: &str) -> bool {
        let category = self.declared.missing == MissingRule::Category;
        let is_missing = |text: &str| category && self.missing.iter().any(|missing| missing == text);
        if text == ROOT_LABEL || is_missing(text) {
            return true;
        }
        match (&self.labels, self.is_number()) {
            (Some(labels), true) => labels.contains(text) || is_number_form(text),
            (Some(labels), false) => {
                let in_set = |set: &str| set.split(", ").all(|leaf| labels.contains(leaf) || is_missing(leaf));
                labels.contains(text) || braced(text).is_some_and(in_set)
            }
            (None, true) => is_number_form(text),
            // Without a hierarchy or a type there is nothing to hold the text against.
            (None, false) => true,
        }
    }

    fn expected(&self) -> &'static str {
        match (&self.labels, self.is_number()) {
            (Some(_), true) => "a number, an interval such as [24, 32], a label of the hierarchy, or *",
            (Some(_), false) => "a label of the hierarchy, a set of its values such as {a, b}, or *",
            _ => "a number, an interval such as [24, 32], or *",
        }
    }
}

fn braced(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}')
}

/// `24`, `[24, 32]`, or `[24, 32)` as widths print over fractions.
fn is_number_form(text: &str) -> bool {
    let inside = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']').or_else(|| rest.strip_suffix(')')));
    match inside.and_then(|inside| inside.split_once(", ")) {
        Some((low, high)) => matches!((parse_number(low), parse_number(high)), (Ok(low), Ok(high)) if low <= high),
        None => parse_number(text).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_forms() {
        for right in ["24", "-1.5", "[24, 32]", "[0, 0.5)", "[-3, -1]"] {
            assert!(is_number_form(right), "{right}");
        }
        for wrong in ["", "x", "[24,32]", "[32, 24]", "24-32", "[24, 32", "{24, 32}", "inf", "[1, inf]"] {
            assert!(!is_number_form(wrong), "{wrong}");
        }
    }
}
