//! Tests of [`Released::cells`] for means, which do not determine a cell, and for `*`.

use super::{Covered, Released};
use crate::{
    ids::{GroupId, TupleId},
    recoding::{GroupAssignment, LocalRecoding, Recoding},
    testing::TestTable,
};

const MEAN_POLICY: &str = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"\nrelease.numbers = \"mean\"";

/// Returns the released table of a local recoding. Each group is given by the indexes of its tuples and by the first
/// and last code of its cell.
fn released_groups(table: &TestTable, groups: &[(&[u32], (u32, u32))]) -> Released {
    let mut recoding = LocalRecoding::default();
    for (group, (tuples, (first, last))) in groups.iter().enumerate() {
        recoding.boxes.push(table.profile.columns()[0].domain.cover(*first, *last));
        for variant in tuples.iter().flat_map(|&tuple| table.profile.variants_of(TupleId(tuple))) {
            let records = table.profile.variant_records(variant);
            recoding.assignments.push(GroupAssignment { group: GroupId::from_index(group), variant, records });
        }
    }
    Released::of_recoding(&table.profile, &Recoding::Local(recoding), &table.policy.release)
}

/// First code, last code and number of records of each released cell.
fn ranges(released: &Released) -> Vec<(u32, u32, u64)> {
    let range = |(covered, records): (Covered<'_>, u64)| match covered {
        Covered::Cell(cell) => (cell.first, cell.last, records),
        Covered::Set(_) => panic!("a number was released as a set"),
    };
    released.cells(0).unwrap().into_iter().map(range).collect()
}

#[test]
fn the_cell_of_a_mean_is_that_of_its_group() {
    let table = TestTable::new(MEAN_POLICY, &[], &[("1", 1), ("2", 1), ("3", 1), ("5", 1), ("9", 1)]);
    let released = released_groups(&table, &[(&[0, 2], (0, 2)), (&[1], (1, 1)), (&[3, 4], (3, 4))]);
    // 1 and 3 are released as their mean, 2. The record with value 2 has the same label, so it joins their group.
    assert_eq!((released.label(0, 0), released.label(1, 0)), ("2", "7"));
    assert_eq!(ranges(&released), [(0, 2, 3), (3, 4, 2)]);
    assert!(released.knows_cells());
    assert_eq!(released.covered(0, released.label_of(1, 0)), None, "7 is a mean: its label does not determine a cell");
}

#[test]
fn groups_with_equal_means_are_merged_and_their_cell_covers_both_intervals() {
    let table = TestTable::new(MEAN_POLICY, &[], &[("1", 1), ("3", 1), ("4", 1), ("6", 1), ("9", 2)]);
    // 1 and 6 with the cell [1, 6] have the mean 3.5, and so have 3 and 4 with the cell [3, 9].
    let released = released_groups(&table, &[(&[0, 3], (0, 3)), (&[1, 2], (1, 4)), (&[4], (4, 4))]);
    assert_eq!((released.groups(), released.label(0, 0)), (2, "3.5"));
    assert_eq!(ranges(&released), [(0, 4, 4), (4, 4, 2)]);
}

#[test]
fn a_star_covers_the_whole_column() {
    let policy = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"\ncolumns.x.missing = \"suppress\"";
    for numbers in ["interval", "mean"] {
        let policy = format!("{policy}\nrelease.numbers = \"{numbers}\"");
        let table = TestTable::new(&policy, &[], &[("1", 2), ("2", 1), ("", 1)]);
        let released =
            Released::of_recoding(&table.profile, &Recoding::identity(&table.profile), &table.policy.release);
        // The missing value is released as `*`.
        assert_eq!(ranges(&released), [(0, 0, 2), (1, 1, 1), (0, 2, 1)], "{numbers}");
    }
}
