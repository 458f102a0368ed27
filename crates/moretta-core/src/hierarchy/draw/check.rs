//! Compares a hierarchy with the values of a column. Cost: linear in the tree and the values.

use hashbrown::{HashMap, HashSet};

use crate::hierarchy::{
    bind::parse_number,
    tree::{ROOT_LABEL, Tree},
};

/// A mismatch between a column and a hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A value that has no leaf. With this hierarchy the column cannot be anonymized.
    NoLeaf {
        /// Text of the value.
        value: String,
        /// Number of records with this value.
        records: u64,
        /// Likely reason why it has no leaf.
        near: Near,
    },
    /// A leaf that no record has. Allowed, but losses are shares of all leaves, these included.
    NeverOccurs {
        /// Label of the leaf.
        leaf: String,
    },
}

/// Label that resembles a value without a leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Near {
    /// No label resembles it.
    Nothing,
    /// An inner node has this label.
    Inner,
    /// A leaf that differs only in surrounding blanks or in case.
    Leaf(String),
}

/// Compares a tree with the values of a column, each with its number of records. `values` must not contain missing
/// values.
///
/// Returns first the values without a leaf, most frequent first, then the leaves that never occur, left to right. If
/// all leaves are numbers, values are compared as numbers: `1.0` matches the leaf `1`.
pub fn check<T: AsRef<str>>(tree: &Tree, values: &[(T, u64)]) -> Vec<Finding> {
    let labels: Vec<&str> = (0..tree.leaf_count() as u32)
        .map(|code| tree.leaf(code))
        .filter(|leaf| *leaf != Tree::ROOT)
        .map(|leaf| tree.label(leaf))
        .collect();
    let by_text: HashMap<&str, usize> = labels.iter().enumerate().map(|(at, label)| (*label, at)).collect();
    let by_number = numbers(&labels);
    let by_folded: HashMap<String, usize> =
        labels.iter().enumerate().rev().map(|(at, label)| (folded(label), at)).collect();
    let inner: HashSet<&str> =
        tree.nodes().filter(|node| !tree.is_leaf(*node)).map(|node| tree.label(node)).chain([ROOT_LABEL]).collect();

    let mut occurs = vec![false; labels.len()];
    let mut without_leaf: HashMap<&str, u64> = HashMap::new();
    for (value, records) in values {
        let value = value.as_ref();
        let number = || by_number.as_ref()?.get(&parse_number(value).ok()?.to_bits());
        match by_text.get(value).or_else(number) {
            Some(&at) => occurs[at] = true,
            None => {
                let sum = without_leaf.entry(value).or_default();
                *sum = sum.saturating_add(*records);
            }
        }
    }
    let mut without_leaf: Vec<(&str, u64)> = without_leaf.into_iter().collect();
    without_leaf.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    let findings = without_leaf.into_iter().map(|(value, records)| {
        let near = match by_folded.get(&folded(value)) {
            _ if inner.contains(value) => Near::Inner,
            Some(&at) => Near::Leaf(labels[at].to_owned()),
            None => Near::Nothing,
        };
        Finding::NoLeaf { value: value.to_owned(), records, near }
    });
    let never = labels.iter().zip(&occurs).filter(|(_, occurs)| !**occurs);
    findings.chain(never.map(|(leaf, _)| Finding::NeverOccurs { leaf: (*leaf).to_owned() })).collect()
}

/// Leaf indices by number (as bits); `None` if a leaf is not a number.
fn numbers(labels: &[&str]) -> Option<HashMap<u64, usize>> {
    let number = |(at, label): (usize, &&str)| Some((parse_number(label).ok()?.to_bits(), at));
    labels.iter().enumerate().map(number).collect()
}

fn folded(text: &str) -> String {
    text.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{file, tree::TreeBuilder};

    #[test]
    fn what_does_not_fit_is_found() {
        let tree = file::parse("Ada;f;*\nAlan;m;*\nGrace;f;*\n").unwrap();
        let values = [("Ada", 3), (" ada", 2), ("m", 5), ("Kurt", 5), ("*", 1), ("Kurt", 1)];
        let none = |value: &str, records, near| Finding::NoLeaf { value: value.into(), records, near };
        assert_eq!(
            check(&tree, &values),
            [
                none("Kurt", 6, Near::Nothing),
                none("m", 5, Near::Inner),
                none(" ada", 2, Near::Leaf("Ada".into())),
                none("*", 1, Near::Inner),
                Finding::NeverOccurs { leaf: "Grace".into() },
                Finding::NeverOccurs { leaf: "Alan".into() },
            ]
        );
        assert_eq!(check(&tree, &[("Ada", 1), ("Alan", 1), ("Grace", 1)]), []);
        assert_eq!(check(&TreeBuilder::default().build(), &[("a", u64::MAX), ("a", 1)]).len(), 1);
    }

    #[test]
    fn equal_numbers_are_the_same_value() {
        let tree = file::parse("1;low;*\n2.50;low;*\n10;high;*\n").unwrap();
        assert_eq!(check(&tree, &[("1.0", 1), ("2.5", 1), ("1e1", 1)]), []);
    }
}
