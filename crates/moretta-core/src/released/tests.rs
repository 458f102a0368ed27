//! Cells that cannot be read from labels.

use super::{Covered, Released};
use crate::{
    ids::{GroupId, TupleId},
    recoding::{GroupAssignment, LocalRecoding, Recoding},
    testing::TestTable,
};

const MEANS: &str = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"\nrelease.numbers = \"mean\"";

/// Groups of tuples, given by their index, each released as a range of codes.
fn groups(table: &TestTable, pieces: &[(&[u32], (u32, u32))]) -> Released {
    let mut recoding = LocalRecoding::default();
    for (group, (tuples, (first, last))) in pieces.iter().enumerate() {
        recoding.boxes.push(table.profile.columns()[0].domain.cover(*first, *last));
        for variant in tuples.iter().flat_map(|&tuple| table.profile.variants_of(TupleId(tuple))) {
            let records = table.profile.variant_records(variant);
            recoding.assignments.push(GroupAssignment { group: GroupId::from_index(group), variant, records });
        }
    }
    Released::of_recoding(&table.profile, &Recoding::Local(recoding), &table.policy.release)
}

fn ranges(released: &Released) -> Vec<(u32, u32, u64)> {
    let range = |(covered, records): (Covered<'_>, u64)| match covered {
        Covered::Cell(cell) => (cell.first, cell.last, records),
        Covered::Set(_) => panic!("a set of numbers"),
    };
    released.cells(0).unwrap().into_iter().map(range).collect()
}

#[test]
fn a_mean_keeps_the_cell_of_its_group() {
    let table = TestTable::new(MEANS, &[], &[("1", 1), ("2", 1), ("3", 1), ("5", 1), ("9", 1)]);
    let released = groups(&table, &[(&[0, 2], (0, 2)), (&[1], (1, 1)), (&[3, 4], (3, 4))]);
    // 1 and 3 print their mean, 2, which the record of 2 prints itself: one group, around both.
    assert_eq!((released.label(0, 0), released.label(1, 0)), ("2", "7"));
    assert_eq!(ranges(&released), [(0, 2, 3), (3, 4, 2)]);
    assert!(released.knows_cells());
    assert_eq!(released.covered(0, released.label_of(1, 0)), None, "7 is the label of no cell");
}

#[test]
fn equal_means_of_overlapping_intervals_cover_both() {
    let table = TestTable::new(MEANS, &[], &[("1", 1), ("3", 1), ("4", 1), ("6", 1), ("9", 2)]);
    // 1 and 6 in [1, 6], 3 and 4 in [3, 9]: both print 3.5.
    let released = groups(&table, &[(&[0, 3], (0, 3)), (&[1, 2], (1, 4)), (&[4], (4, 4))]);
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
        // The missing value prints `*`.
        assert_eq!(ranges(&released), [(0, 0, 2), (1, 1, 1), (0, 2, 1)], "{numbers}");
    }
}
