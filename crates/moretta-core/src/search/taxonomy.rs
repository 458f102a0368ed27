//! A generalization tree for every column, so that methods that need trees can serve all columns.
//!
//! A column with a hierarchy has its own tree. A column of free numbers gets a tree of halves: its ordered values are
//! divided recursively so that both sides have about the same number of records. Every node of such a tree is an
//! interval that the column may be released with.
//!
//! ```text
//! value (records)   1 (5)  2 (1)  3 (1)  4 (1)  9 (1)
//! tree              [1, 9]: 1 | [2, 9]: [2, 3]: 2 | 3
//!                                       [4, 9]: 4 | 9
//! ```

use std::borrow::Cow;

use crate::{
    hierarchy::{Cell, Domain, Tree, TreeBuilder},
    ids::{ColumnId, NodeId},
    profile::Profile,
};

/// The tree of a column, and the released cells of its nodes.
#[derive(Debug, Clone)]
pub(super) struct Taxonomy<'a> {
    domain: &'a Domain,
    tree: Cow<'a, Tree>,
}

impl<'a> Taxonomy<'a> {
    /// Returns the taxonomy of each column.
    pub(super) fn of_columns(profile: &'a Profile) -> Vec<Self> {
        let of_column = |(column, described): (usize, &'a crate::profile::Column)| {
            let domain = &described.domain;
            let tree = domain.tree().map_or_else(|| Cow::Owned(halving_tree(profile, column)), Cow::Borrowed);
            Self { domain, tree }
        };
        profile.columns().iter().enumerate().map(of_column).collect()
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(super) fn domain(&self) -> &'a Domain {
        self.domain
    }

    /// Released cell of the values below a node.
    pub(super) fn cell(&self, node: NodeId) -> Cell {
        match self.domain.tree() {
            Some(_) => self.domain.node_cell(node),
            None => {
                let (first, last) = self.tree.range(node);
                self.domain.cover(first, last)
            }
        }
    }

    /// By node: the number of records with a value below it. `column` must be the index of the taxonomy's column.
    pub(super) fn records_below(&self, profile: &Profile, column: usize) -> Vec<u64> {
        let mut records = vec![0; self.tree.len()];
        for (code, leaf_records) in (0u32..).zip(profile.code_records(ColumnId::from_index(column))) {
            records[self.tree.leaf(code).index()] = *leaf_records;
        }
        for node in (1..self.tree.len()).rev() {
            if let Some(parent) = self.tree.parent(NodeId::from_index(node)) {
                records[parent.index()] += records[node];
            }
        }
        records
    }
}

/// By code of a column: the number of records with a smaller code; the last entry is the number of all records.
pub(super) fn records_before(profile: &Profile, column: usize) -> Vec<u64> {
    let mut before = vec![0];
    before.extend(profile.code_records(ColumnId::from_index(column)).iter().scan(0, |sum, records| {
        *sum += records;
        Some(*sum)
    }));
    before
}

/// Builds the tree of halves of a column of free numbers; a missing value is a child of the root.
fn halving_tree(profile: &Profile, column: usize) -> Tree {
    let domain = &profile.columns()[column].domain;
    let before = records_before(profile, column);
    let numbers = domain.len() - usize::from(domain.missing().is_some());
    let mut builder = TreeBuilder::default();
    let mut open = Vec::new();
    if domain.missing().is_some() && numbers > 1 {
        let inner = builder.add("", TreeBuilder::ROOT);
        open.push((inner, 0, numbers));
    } else if numbers > 0 {
        open.push((TreeBuilder::ROOT, 0, numbers));
    }
    while let Some((node, first, end)) = open.pop() {
        // A single value is a leaf: the node itself, or a child of the root if the missing value is another child.
        if end - first == 1 {
            if node == TreeBuilder::ROOT && domain.missing().is_some() {
                builder.add("", node);
            }
            continue;
        }
        let half = before[first] + (before[end] - before[first]) / 2;
        let nearest = before.partition_point(|&records| records < half);
        // The nearer of the two split points around the middle.
        let (low, high) = (nearest.saturating_sub(1), nearest);
        let distance = |code: usize| before[code].abs_diff(half);
        let middle = if distance(low) < distance(high) { low } else { high }.clamp(first + 1, end - 1);
        let (left, right) = (builder.add("", node), builder.add("", node));
        open.push((left, first, middle));
        open.push((right, middle, end));
    }
    if domain.missing().is_some() {
        builder.add("", TreeBuilder::ROOT);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestTable;

    fn ranges(rows: &[(&str, u64)], missing: &str) -> (usize, Vec<(u32, u32)>) {
        let policy =
            format!("privacy.k = 2\ncolumns.n = {{ role = \"quasi-identifier\", type = \"number\"{missing} }}");
        let table = TestTable::new(&policy, &[], rows);
        let taxonomies = Taxonomy::of_columns(&table.profile);
        let tree = taxonomies[0].tree();
        for node in tree.nodes() {
            let (first, last) = tree.range(node);
            let cell = taxonomies[0].cell(node);
            assert_eq!((cell.first, cell.last), (first, last));
            assert!(taxonomies[0].domain().is_valid(cell));
        }
        (tree.leaf_count(), tree.nodes().map(|node| tree.range(node)).collect())
    }

    #[test]
    fn free_numbers_are_halved_by_records() {
        let (leaves, ranges) = ranges(&[("1", 5), ("2", 1), ("3", 1), ("4", 1), ("9", 1)], "");
        assert_eq!(leaves, 5);
        assert_eq!(ranges, [(0, 4), (0, 0), (1, 4), (1, 2), (1, 1), (2, 2), (3, 4), (3, 3), (4, 4)]);
    }

    #[test]
    fn a_missing_value_stays_under_the_root() {
        let category = ", missing = \"category\"";
        let (leaves, all) = ranges(&[("1", 5), ("2", 5), ("?", 1)], category);
        assert_eq!((leaves, all), (3, vec![(0, 2), (0, 1), (0, 0), (1, 1), (2, 2)]));
        let (leaves, all) = ranges(&[("1", 5), ("?", 1)], category);
        assert_eq!((leaves, all), (2, vec![(0, 1), (0, 0), (1, 1)]));
        let (leaves, all) = ranges(&[("?", 3)], category);
        assert_eq!((leaves, all.len()), (1, 2));
        let (leaves, all) = ranges(&[("7", 3)], "");
        assert_eq!((leaves, all), (1, vec![(0, 0)]));
    }
}
