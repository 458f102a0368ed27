//! Sizes of a task, from which methods estimate their memory ([`Method::memory`](super::Method::memory)).

use super::Task;
use crate::{
    hierarchy::Domain,
    memory::{block, hash_table, pushed},
    profile::Column,
};

/// Bytes of a tuple or variant in common lists: [`VariantCount`](crate::profile::VariantCount) and
/// [`GroupAssignment`](crate::recoding::GroupAssignment).
const MEMBER: u64 = 16;
/// Bytes of a [`Cell`](crate::hierarchy::Cell).
pub(super) const CELL: u64 = 12;
/// Bytes of a [`Cluster`](super::cluster::Cluster) or another pair of vectors, without their contents.
const TWO_VECTORS: u64 = 48;

/// Numbers that the memory of a search depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct TaskSize {
    pub tuples: u64,
    pub variants: u64,
    pub records: u64,
    pub columns: u64,
    /// Values of all columns.
    pub values: u64,
    /// Nodes of the trees of all columns; a column of free numbers has a tree of halves.
    pub nodes: u64,
    /// Maximum number of groups, if equal records may be in different groups.
    pub groups: u64,
    pub threads: u64,
}

/// Number of nodes of a column's tree.
pub(super) fn nodes(domain: &Domain) -> u64 {
    domain.tree().map_or(2 * domain.len(), |tree| tree.len()) as u64
}

impl TaskSize {
    pub(super) fn of(task: &Task<'_>) -> Self {
        let profile = task.profile;
        let sum = |count: fn(&Column) -> u64| profile.columns().iter().map(count).sum();
        let min_records = task.models.iter().map(|model| model.min_records()).max().unwrap_or(1).max(1);
        Self {
            tuples: profile.tuples() as u64,
            variants: profile.variants() as u64,
            records: profile.records(),
            columns: profile.columns().len() as u64,
            values: sum(|column| column.domain.len() as u64),
            nodes: sum(|column| nodes(&column.domain)),
            groups: profile.records() / min_records + 1,
            threads: rayon::current_num_threads() as u64,
        }
    }

    /// The same, if all records of a tuple are in one group.
    pub(super) fn with_whole_tuples(self) -> Self {
        Self { groups: self.groups.min(self.tuples), ..self }
    }

    /// All variants, as a list.
    pub(super) fn everything(&self) -> u64 {
        MEMBER * self.variants
    }

    /// Members of all groups: a variant may be in several.
    pub(super) fn members(&self) -> u64 {
        (self.variants + self.groups).min(self.records.max(self.variants))
    }

    /// A local recoding while it grows.
    pub(super) fn outcome(&self) -> u64 {
        pushed(MEMBER * self.members()) + pushed(CELL * self.columns * self.groups)
    }

    /// `groups` clusters that have `members` members together.
    pub(super) fn clusters(&self, groups: u64, members: u64) -> u64 {
        groups * (TWO_VECTORS + block(8 * self.columns) + 16) + pushed(MEMBER * members)
    }

    /// A search tree over `count` boxes, or over `count` points with their codes.
    pub(super) fn box_tree(&self, count: u64) -> u64 {
        // Per box: ranges, losses and records; order, leaf and half a node. Per node: records, three arrays by column.
        pushed(count * (16 * self.columns + 8)) + count * 18 + count / 2 * (16 + 24 * self.columns)
    }

    /// Groups as parts of one tuple each, with the tree over their boxes (`local/polish.rs`).
    pub(super) fn polish(&self, tuples: u64, groups: u64) -> u64 {
        let part = 150 + block(8 * self.columns) + block(MEMBER * self.variants.div_ceil(self.tuples.max(1)));
        tuples * part + groups * (TWO_VECTORS + 32) + self.box_tree(groups)
    }

    /// Mondrian's splits of all records: the set, a column of it, and two candidates for its halves.
    pub(super) fn splits(&self) -> u64 {
        let candidates = self.columns.min(2);
        self.variants * (2 * MEMBER + candidates * MEMBER * 3 / 2)
    }

    /// Grouping of all tuples by keys (`grouping.rs`).
    pub(super) fn grouping(&self) -> u64 {
        12 * self.tuples + hash_table(self.tuples * 3 / 2, 4) + 8 * self.tuples
    }

    /// Trees of halves, which columns of free numbers get (`taxonomy.rs`).
    pub(super) fn halving_trees(task: &Task<'_>) -> u64 {
        let free = task.profile.columns().iter().filter(|column| column.domain.tree().is_none());
        let trees: u64 = free.clone().map(|column| 88 * column.domain.len() as u64).sum();
        let largest = free.map(|column| column.domain.len() as u64).max().unwrap_or(0);
        // While a tree is built: handles, links and labels of its nodes.
        trees + 144 * largest
    }
}
