//! C4.5 decision trees: the classifier that measures how much a release still says about a class.
//!
//! The tree depends only on the records, not on the order of rows or on how equal rows are divided among weights.
//!
//! Reference: Quinlan, *C4.5: Programs for Machine Learning*, 1993. The penalty for the choice of a threshold is that
//! of *Improved Use of Continuous Attributes in C4.5*, 1996 (release 8).
//!
//! ```text
//! outlook ─┬─ sunny ──── humidity <= 70 ─┬─ yes: play
//!          │                             └─ no:  stay
//!          ├─ overcast: play
//!          └─ rain ───── windy ─┬─ yes: stay
//!                               └─ no:  play
//! ```
//!
//! Data structures: values of a [`TrainingSet`] become codes (numbers their rank), and equal rows become one row with a
//! weight. The rows of a node are a range of one permutation. Nodes are a list in which children come after their
//! parent, so growing, pruning and classifying need no recursion.
//!
//! Steps:
//! 1. Grow. A node that is not pure is split by the feature with the best *gain ratio* (information gain over the
//!    entropy of the split itself) among the features whose gain is at least the average. The average is over features
//!    with fewer values than 0.3 times the records, as in Quinlan's program. Ties go to the first feature. A
//!    categorical feature gets one branch per value, a numeric one is split at the threshold with the largest gain. At
//!    least two branches must have [`MIN_RECORDS`] records.
//! 2. Prune, from the leaves up. A subtree becomes a leaf if the expected errors of the leaf, at the upper end of their
//!    binomial confidence interval ([`CONFIDENCE`]), are at most those of the subtree. (Subtree raising is not
//!    implemented.)
//!
//! A record with an unknown value at a node gets the majority class of that node.
//!
//! Cost: O(levels × columns × rows × log rows) time and O(columns × rows) memory, where rows are distinct ones: at each
//! level every row is sorted once per column. There are few levels in practice; the worst case is `rows / 2`, if each
//! threshold splits off two records.

mod prune;
mod split;
#[cfg(test)]
mod tests;
mod training_set;

pub use self::{
    prune::{CONFIDENCE, added_errors},
    split::MIN_RECORDS,
    training_set::{Feature, TrainingSet, UNKNOWN},
};
use self::{
    split::{Split, Test},
    training_set::CodedSet,
};

/// A decision tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    /// Parents before children; the first is the root.
    nodes: Vec<TreeNode>,
}

#[derive(Debug, Clone, PartialEq)]
struct TreeNode {
    /// The majority class; ties go to the first class.
    class: u32,
    records: u64,
    /// Training records of another class.
    errors: u64,
    branches: Branches,
}

#[derive(Debug, Clone, PartialEq)]
enum Branches {
    Leaf,
    /// The values that occur, sorted, and their nodes.
    Values {
        column: usize,
        nodes: Vec<(u32, usize)>,
    },
    /// The node for numbers up to the threshold, and the node for larger ones.
    Threshold {
        column: usize,
        at: f64,
        nodes: [usize; 2],
    },
}

impl Branches {
    fn nodes(&self) -> Vec<usize> {
        match self {
            Self::Leaf => Vec::new(),
            Self::Values { nodes, .. } => nodes.iter().map(|(_, node)| *node).collect(),
            Self::Threshold { nodes, .. } => nodes.to_vec(),
        }
    }
}

impl Tree {
    /// Grows and prunes a tree.
    pub fn fit(table: &TrainingSet) -> Self {
        let mut tree = Self::grow(&CodedSet::of(table));
        tree.prune();
        tree
    }

    fn grow(table: &CodedSet<'_>) -> Self {
        let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
        let mut nodes = vec![TreeNode::leaf(table, &rows)];
        let mut open = vec![(0, 0..rows.len())];
        while let Some((node, range)) = open.pop() {
            let inside = &mut rows[range.clone()];
            let settled = nodes[node].errors == 0 || nodes[node].records < 2 * MIN_RECORDS;
            let found = if settled { None } else { split::best(table, inside) };
            let Some(Split { column, test, .. }) = found else { continue };
            let branch = |row: u32| test.branch(table.code(column, row));
            inside.sort_unstable_by_key(|&row| (branch(row), row));
            let (mut start, mut children) = (range.start, Vec::new());
            for part in inside.chunk_by(|&a, &b| branch(a) == branch(b)) {
                children.push((branch(part[0]), nodes.len()));
                open.push((nodes.len(), start..start + part.len()));
                nodes.push(TreeNode::leaf(table, part));
                start += part.len();
            }
            nodes[node].branches = match test {
                Test::Value => Branches::Values { column, nodes: children },
                Test::UpTo(code) => {
                    let at = table.number(column, code);
                    Branches::Threshold { column, at, nodes: [children[0].1, children[1].1] }
                }
            };
        }
        Self { nodes }
    }

    /// Predicts the class of a row. The set must have the features of the training set, in the same codes.
    pub fn classify(&self, table: &TrainingSet, row: usize) -> u32 {
        let mut node = &self.nodes[0];
        loop {
            let next = match &node.branches {
                Branches::Leaf => None,
                Branches::Values { column, nodes } => {
                    let value = table.columns[*column].code(row);
                    nodes.binary_search_by_key(&value, |(value, _)| *value).ok().map(|found| nodes[found].1)
                }
                Branches::Threshold { column, at, nodes } => {
                    let value = table.columns[*column].number(row);
                    (!value.is_nan()).then(|| nodes[usize::from(value > *at)])
                }
            };
            match next {
                Some(next) => node = &self.nodes[next],
                None => return node.class,
            }
        }
    }

    /// Share of the records with a wrong predicted class; 0 for a set without records.
    pub fn error(&self, table: &TrainingSet) -> f64 {
        let wrong = |row: &usize| self.classify(table, *row) != table.classes[*row];
        let wrong: u64 = (0..table.rows()).filter(wrong).map(|row| table.weights[row]).sum();
        let all: u64 = table.weights.iter().sum();
        if all == 0 { 0.0 } else { wrong as f64 / all as f64 }
    }

    /// Number of leaves.
    pub fn leaves(&self) -> usize {
        let (mut leaves, mut open) = (0, vec![0]);
        while let Some(node) = open.pop() {
            let below = self.nodes[node].branches.nodes();
            leaves += usize::from(below.is_empty());
            open.extend(below);
        }
        leaves
    }
}

impl TreeNode {
    fn leaf(table: &CodedSet<'_>, rows: &[u32]) -> Self {
        let classes = table.classes(rows);
        let records = classes.iter().map(|(_, records)| records).sum();
        // `max_by_key` returns the last maximum, which is the first class in reverse order.
        let (class, majority) = classes.into_iter().rev().max_by_key(|(_, records)| *records).unwrap_or((UNKNOWN, 0));
        Self { class, records, errors: records - majority, branches: Branches::Leaf }
    }
}
