//! The groups of a cut that must be suppressed so that every privacy model holds.
//!
//! They are those of [`suppressed_by`](crate::recoding::suppressed_by), which decides what is released: both count
//! their groups and leave the choice to [`GroupedCounts`]. All of them count, also beyond the maximum of the policy:
//! cuts that exceed it are ranked by the excess.

use super::{
    merged_tuples::MergedTuples,
    recoded_column::RecodedColumn,
    row_groups::{RowGroups, marked_sum},
};
use crate::{
    ids::VariantId,
    profile::VariantCount,
    recoding::{Constraints, GroupedCounts, SparseCounts},
    search::grouping::{Buckets, group_rows},
};

/// By group, whether it must be suppressed.
pub(super) fn suppressed_groups(
    constraints: &Constraints<'_>,
    merged: &MergedTuples,
    groups: &RowGroups,
    recoded: &[RecodedColumn],
) -> Vec<bool> {
    let Some(k) = constraints.only_k() else { return by_counts(constraints, merged, groups, recoded) };
    let mut suppressed: Vec<bool> = groups.sizes.iter().map(|&size| size < k).collect();
    let records = marked_sum(&groups.sizes, &suppressed);
    if 0 < records && records < k {
        let ranks = first_tuples(merged, groups);
        let kept = (0..suppressed.len()).filter(|&group| !suppressed[group]);
        if let Some(smallest) = kept.min_by_key(|&group| (groups.sizes[group], ranks[group])) {
            suppressed[smallest] = true;
        }
    }
    suppressed
}

/// The smallest tuple of each group: the order in which [`suppressed_by`](crate::recoding::suppressed_by) numbers
/// groups.
fn first_tuples(merged: &MergedTuples, groups: &RowGroups) -> Vec<u32> {
    let mut tuples = vec![u32::MAX; groups.sizes.len()];
    for (&group, tuple) in groups.ids.iter().zip(&merged.first_tuples) {
        tuples[group as usize] = tuples[group as usize].min(tuple.0);
    }
    tuples
}

fn by_counts(
    constraints: &Constraints<'_>,
    merged: &MergedTuples,
    groups: &RowGroups,
    recoded: &[RecodedColumn],
) -> Vec<bool> {
    let profile = constraints.profile;
    let num_groups = groups.sizes.len();
    let counted = (0u32..)
        .zip(&merged.guarded)
        .flat_map(|(guard, rows)| rows.iter().map(move |&(row, records)| (groups.ids[row as usize], guard, records)));
    let guarded = SparseCounts::new(num_groups, constraints.guarded.len(), counted);
    let sets = |columns: &[usize]| {
        let sizes: Vec<usize> = columns.iter().map(|&column| recoded[column].cells.len()).collect();
        let cell = |group: usize, index: usize| {
            let tuple = merged.first_tuples[groups.firsts[group] as usize];
            recoded[columns[index]].cell_of[profile.codes(tuple)[columns[index]] as usize]
        };
        group_rows(num_groups, &sizes, cell).of_row
    };
    let set_of_group = constraints.scopes.iter().map(|scope| {
        // Groups differ in at least one column.
        (!constraints.knows_all_columns(scope)).then(|| sets(&scope.columns))
    });
    let set_of_group: Vec<Option<Vec<u32>>> = set_of_group.collect();
    let group = |variant| groups.ids[merged.row_of_tuple[profile.tuple_of(VariantId(variant)).index()] as usize];
    let variants = if constraints.by_record { 0..profile.variants() as u32 } else { 0..0 };
    let variants = Buckets::new(num_groups, variants.map(group));
    let members = |group: usize, members: &mut Vec<VariantCount>| {
        let variants = variants.rows(group as u32, group as u32).iter().map(|&variant| VariantId(variant));
        members.extend(variants.map(|variant| VariantCount { variant, records: profile.variant_records(variant) }));
    };
    let ranks = || first_tuples(merged, groups);
    let counts =
        GroupedCounts { sizes: &groups.sizes, guarded, set_of_group: &set_of_group, members: &members, ranks: &ranks };
    counts.suppress(constraints, None, u64::MAX).suppressed.unwrap_or_default()
}
