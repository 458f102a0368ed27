//! Memory of linking, for limits: estimates in bytes of the heap, from the sizes of original and releases.

use moretta_core::{
    memory::{block, hash_table, pushed},
    policy::BoundPolicy,
    profile::{Column, Profile},
    release_memory::RowSize,
};

use super::{
    ReleasedTable,
    boxes::{BOX_NODE_BYTES, CODE_SET_BYTES, LEAF_GROUPS},
};

/// Size of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkedSize {
    /// Bytes of its profile, which exists as long as the release is linked.
    pub profile: u64,
    /// Rows of the file.
    pub rows: RowSize,
    groups: u64,
    columns: u64,
    /// Maximum number of combinations of copied values.
    combinations: u64,
}

impl LinkedSize {
    /// Size of a release.
    pub fn of(release: &ReleasedTable) -> Self {
        let profile = &release.profile;
        let labels: u64 = profile.columns().iter().map(|column| column.domain.len() as u64).sum();
        let values = labels + attribute_values(profile).sum::<u64>();
        Self {
            profile: profile.bytes(),
            rows: RowSize { values, ..rows(profile, profile.variants() as u64) },
            groups: profile.tuples() as u64,
            columns: profile.columns().len() as u64,
            combinations: combinations(profile),
        }
    }

    /// Estimated size of a release of a table, before it is read: each group has at least as many records as the models
    /// require, and each column a label per group.
    pub fn estimated(bound: &BoundPolicy<'_>) -> Self {
        let table = bound.profile();
        let min_records = bound.models().iter().map(|model| model.min_records()).max().unwrap_or(1).max(1);
        let (columns, attributes) = (table.columns().len() as u64, table.attributes().len() as u64);
        let groups = (table.tuples() as u64).min(table.records() / min_records + 1);
        let variants = (table.variants() as u64 + groups).min(table.records());
        let labels = |column: &Column| match column.domain.tree() {
            Some(tree) => groups.min(tree.len() as u64),
            None => groups,
        };
        let labels: u64 = table.columns().iter().map(labels).sum();
        Self {
            profile: groups * (4 * columns + 12) + variants * (4 * attributes + 24) + labels * LABEL_BYTES,
            rows: RowSize { values: labels + attribute_values(table).sum::<u64>(), ..rows(table, variants) },
            groups,
            columns,
            combinations: combinations(table),
        }
    }

    /// Bytes while the file is read, beside its profile: the counts, and sorting.
    pub fn reading(&self) -> u64 {
        let RowSize { rows, columns, values, .. } = self.rows;
        rows * (4 * columns + 16 + 36) + values * (24 + block(16) + 16)
    }

    /// Bytes of the structures that link the release: grouping, boxes, tree and combinations. A model that assumes
    /// fewer columns to be known needs a second grouping.
    fn linking(&self) -> u64 {
        let Self { groups, columns, .. } = *self;
        let variants = self.rows.rows;
        let grouping = groups * (4 * columns + 16) + 16 * variants;
        let nodes = 4 * groups / LEAF_GROUPS as u64 + 1;
        let tree = 4 * groups + pushed(nodes * (BOX_NODE_BYTES + 8 * columns));
        let boxes = groups * columns * CODE_SET_BYTES + tree;
        let values = pushed(24 * groups) + groups * block(16 * variants.div_ceil(groups.max(1)));
        2 * grouping + boxes + values + 4 * variants + CODE_SET_BYTES * self.rows.values
    }
}

/// Bytes of a label in a profile of a release: its text twice, with the tables that find it.
const LABEL_BYTES: u64 = 2 * (16 + 32) + 36;

/// Bytes that linking takes beside the profiles, with the models bound to a profile.
pub fn linking_bytes(bound: &BoundPolicy<'_>, releases: &[LinkedSize]) -> u64 {
    let profile = bound.profile();
    let (tuples, variants) = (profile.tuples() as u64, profile.variants() as u64);
    let combinations = releases.iter().map(|release| release.combinations).max().unwrap_or(0);
    let attributes = profile.attributes().len() as u64;
    // Combinations of the base and of the releases by their codes, while both are numbered.
    let numbered = 2 * (hash_table(combinations, 40) + combinations * block(4 * attributes));
    // Targets and a flag for each model.
    let targets = tuples * (8 + bound.models().len() as u64) + 4 * variants;
    numbered + targets + releases.iter().map(LinkedSize::linking).sum::<u64>()
}

fn rows(profile: &Profile, rows: u64) -> RowSize {
    let columns = (profile.columns().len() + profile.attributes().len()) as u64;
    RowSize { rows, columns, values: 0, text_bytes: 0 }
}

fn attribute_values(profile: &Profile) -> impl Iterator<Item = u64> {
    profile.attributes().iter().map(|attribute| attribute.values.len() as u64)
}

/// At most every combination of values, and at most one per variant.
fn combinations(profile: &Profile) -> u64 {
    attribute_values(profile).fold(1u64, u64::saturating_mul).min(profile.variants() as u64)
}
