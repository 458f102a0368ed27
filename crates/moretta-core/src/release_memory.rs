//! Memory of the steps after the search: verification, the rewrite, and the read-back.
//!
//! All figures are estimates, in bytes of the heap, from the numbers of tuples, variants, values and groups. The number
//! of groups is not known before the search; each has at least as many records as the models require.

use crate::{
    counts::Counts,
    memory::{block, hash_table, pushed},
    policy::BoundPolicy,
    profile::{Column, Profile},
    search::SearchMemory,
};

/// Rows with texts: what a count or a rewrite must hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowSize {
    /// Distinct rows.
    pub rows: u64,
    /// Columns of a row.
    pub columns: u64,
    /// Distinct texts of all columns.
    pub values: u64,
    /// Bytes of these texts.
    pub text_bytes: u64,
}

impl RowSize {
    /// Size of counts.
    pub fn of(counts: &Counts) -> Self {
        let texts = || counts.columns.iter().flat_map(|column| &column.values);
        Self {
            rows: counts.rows() as u64,
            columns: counts.columns.len() as u64,
            values: texts().count() as u64,
            text_bytes: texts().map(|text| text.len() as u64).sum(),
        }
    }

    /// Bytes of [`Counts`] of this size.
    fn counts(&self) -> u64 {
        let length = self.text_bytes / self.values.max(1);
        self.rows * (4 * self.columns + 16) + self.values * (24 + block(length))
    }
}

/// Estimated memory of the steps after the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleaseMemory {
    /// The recoding, kept to the end.
    pub recoding: u64,
    /// The released table, kept to the end.
    pub released: u64,
    /// Verification at its peak, with the released table.
    pub verify: u64,
    /// The rewrite while it is made, beside the counts, whose texts it takes over.
    pub making_rewrite: u64,
    /// The rewrite, with the texts of the counts.
    pub rewrite: u64,
    /// The rows and texts that the engine indexes for the rewrite; no rows if a label depends on its cell only.
    pub key: RowSize,
    /// Bytes of all labels as text.
    pub label_text: u64,
    /// Rows of the released file.
    pub file: RowSize,
    /// Profile and checks of the released file, after it was counted.
    pub read_back: u64,
}

impl ReleaseMemory {
    /// Memory of the release that a search finds. `counts` are those of the profile.
    pub fn of(bound: &BoundPolicy<'_>, counts: &Counts, search: &SearchMemory) -> Self {
        let profile = bound.profile();
        let min_records = bound.models().iter().map(|model| model.min_records()).max().unwrap_or(1).max(1);
        let (tuples, variants) = (profile.tuples() as u64, profile.variants() as u64);
        let p = profile.columns().len() as u64;
        let groups = search.groups.unwrap_or_else(|| tuples.min(profile.records() / min_records + 1));
        let pieces = search.groups.unwrap_or(tuples);
        let is_local = search.groups.is_some();
        let members = if is_local { (variants + groups).min(profile.records()) } else { variants };
        let columns: Vec<ColumnLabels> = profile.columns().iter().map(|c| ColumnLabels::of(c, groups)).collect();
        let sum = |bytes: fn(&ColumnLabels) -> u64| columns.iter().map(bytes).sum::<u64>();
        let (values, labels) = (sum(|column| column.values), sum(|column| column.labels));
        let counted = RowSize::of(counts);

        let released = 16 * members + groups * (20 * p + 25) + 8 * pieces + sum(|c| c.labels * (32 + block(c.length)));
        let interned =
            sum(|column| column.labels * block(column.length)) + hash_table(labels, 32) + hash_table(labels, 40);
        let sorted = if is_local { 16 * members + 16 * groups } else { 8 * values };
        let building = pushed(16 * members + pieces * (20 * p + 8)) + interned + sorted + hash_table(groups, 24);
        let recoding = if is_local { 16 * members + 12 * p * groups } else { 12 * values };

        let texts = counted.values * 16 + counted.values * block(counted.text_bytes / counted.values.max(1));
        let (labels_made, rows) = if is_local {
            (groups * sum(|column| 16 + block(column.length)), counted.rows * (4 * counted.columns + 20) + 16 * groups)
        } else {
            (sum(|column| column.values * (16 + block(column.length))), 0)
        };
        let label_text = if is_local { groups * sum(|c| c.length + 1) } else { sum(|c| c.values * (c.length + 9)) };
        let file = RowSize {
            rows: members,
            columns: counted.columns,
            values: labels + attribute_values(profile),
            text_bytes: sum(|column| column.labels * column.length),
        };
        let attributes = profile.attributes().len() as u64;
        let opaque = sum(|column| column.labels * (2 * (16 + block(column.length)) + 36));
        let file_profile = groups * (4 * p + 12) + members * (4 * attributes + 24) + opaque;
        let comparing = hash_table(groups, 32) + groups * block(16 * p) + groups * (4 * p + 16) + 16 * members;
        let sorting = if is_local { 16 * members + 8 * variants + 16 * counted.rows } else { 0 };
        Self {
            recoding,
            released,
            verify: building + released,
            making_rewrite: sorting + labels_made + rows,
            rewrite: texts + labels_made + rows,
            key: RowSize { rows: if is_local { counted.rows } else { 0 }, ..counted },
            label_text,
            file,
            read_back: file_profile + (file.counts() + 36 * members).max(comparing),
        }
    }
}

fn attribute_values(profile: &Profile) -> u64 {
    profile.attributes().iter().map(|attribute| attribute.values.len() as u64).sum()
}

/// Labels that a column may have in a release.
struct ColumnLabels {
    values: u64,
    /// Maximum number of distinct labels.
    labels: u64,
    /// Mean length of a label in bytes.
    length: u64,
}

impl ColumnLabels {
    fn of(column: &Column, groups: u64) -> Self {
        let domain = &column.domain;
        let values = domain.len() as u64;
        let length = (0..values as u32).map(|code| domain.text(code).len() as u64).sum::<u64>() / values.max(1);
        match domain.tree() {
            Some(tree) => Self { values, labels: groups.min(tree.len() as u64), length: length + 2 },
            // An interval prints two values.
            None => Self { values, labels: groups, length: 2 * length + 4 },
        }
    }
}
