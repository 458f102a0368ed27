//! A C4.5 decision tree: what a recipient could still predict from a table.
//!
//! For whoever wants to know what a release is worth to a modeller. The same table gives the same tree, whatever the
//! order of its rows and however equal rows are divided among weights.
//!
//! Paper: Quinlan, *C4.5: Programs for Machine Learning*, 1993; the charge for the choice of a threshold is that of
//! *Improved Use of Continuous Attributes in C4.5*, 1996 (release 8).
//!
//! Structure: [`TrainingSet`] columns become codes (numbers their rank) and equal rows one row with a weight; the rows of
//! a node are a range of one permutation; nodes are a list in which children come after their parent, so neither growing
//! nor pruning nor classifying recurses.
//!
//! Steps:
//! 1. Grow. A node that is not pure is split by the column of the best *gain ratio* (gain over the entropy of the split
//!    itself) among those whose gain is at least the average, which is that of the columns with fewer values than 0.3
//!    times the records, as in Quinlan's program; ties go to the first column. A categorical column gets a branch for
//!    every value, numbers are divided at the threshold of the greatest gain. At least two branches must have
//!    [`MIN_RECORDS`] records.
//! 2. Prune, from the leaves up. A subtree becomes a leaf where the leaf's errors, at the upper end of their binomial
//!    confidence interval ([`CONFIDENCE`]), are no more than those of the subtree. (Subtrees are not raised.)
//!
//! A value that a branch does not know, or that is unknown, is given the majority class of the node.
//!
//! Cost: at each level of the tree every row is sorted once per column, `O(levels × columns × rows × log rows)` time
//! and `O(columns × rows)` memory, rows being distinct ones. Levels are few in practice; in the worst case of
//! thresholds that split off two records each they are `rows / 2`.

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
    /// The majority class; the first of several.
    class: u32,
    records: u64,
    /// Training records of another class.
    errors: u64,
    branches: Branches,
}

#[derive(Debug, Clone, PartialEq)]
enum Branches {
    Leaf,
    /// Values that occur, in order, and the nodes for them.
    Values {
        column: usize,
        nodes: Vec<(u32, usize)>,
    },
    /// The node for numbers up to the threshold, and that for the rest.
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
    /// The pruned tree of a training table.
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

    /// The class of a row of a table that has the training table's columns.
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

    /// The share of a table's records that are given another class than they have; 0 for a table without records.
    pub fn error(&self, table: &TrainingSet) -> f64 {
        let wrong = |row: &usize| self.classify(table, *row) != table.classes[*row];
        let wrong: u64 = (0..table.rows()).filter(wrong).map(|row| table.weights[row]).sum();
        let all: u64 = table.weights.iter().sum();
        if all == 0 { 0.0 } else { wrong as f64 / all as f64 }
    }

    /// How many leaves it has.
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
        // The last of the reversed maxima is the first class.
        let (class, most) = classes.into_iter().rev().max_by_key(|(_, records)| *records).unwrap_or((UNKNOWN, 0));
        Self { class, records, errors: records - most, branches: Branches::Leaf }
    }
}
