use std::collections::BTreeMap;

use moretta_core::counts::CountedColumn;
use proptest::prelude::*;

use super::*;

/// Counts of rows with their records, whose codes are not in the order of the rows.
pub(crate) fn counts_of(names: &[&str], rows: &[(Vec<String>, u64)]) -> Counts {
    let mut counts = Counts::default();
    for (index, name) in names.iter().enumerate() {
        let mut values: Vec<&str> = rows.iter().map(|(row, _)| row[index].as_str()).collect();
        values.sort_unstable_by(|a, b| b.cmp(a));
        values.dedup();
        let values = values.into_iter().map(Into::into).collect();
        counts.columns.push(CountedColumn { name: (*name).to_owned(), values, first_records: None, typed: false });
    }
    for (row, records) in rows {
        let code = |(text, column): (&String, &CountedColumn)| column.values.iter().position(|value| **value == **text);
        counts.codes.extend(row.iter().zip(&counts.columns).map(code).map(|code| code.expect("a value") as u32));
        counts.counts.push(*records);
        counts.records += records;
    }
    counts
}

/// Records of each group, by the texts of its records.
fn naive_groups<'a>(rows: &'a [(Vec<String>, u64)], columns: &[usize]) -> BTreeMap<Vec<&'a str>, u64> {
    let mut groups = BTreeMap::new();
    for (row, records) in rows {
        *groups.entry(columns.iter().map(|&column| row[column].as_str()).collect()).or_default() += records;
    }
    groups
}

fn check(sets: &ColumnSets, rows: &[(Vec<String>, u64)], width: usize) {
    assert_eq!((sets.columns(), sets.records()), (width, rows.iter().map(|(_, records)| records).sum()));
    for mask in 0..1_usize << width {
        // In falling order, and some of them twice.
        let columns: Vec<usize> =
            (0..width).rev().chain(0..width / 2).filter(|column| mask >> column & 1 == 1).collect();
        let groups = naive_groups(rows, &columns);
        assert_eq!(sets.sizes(&columns), GroupSizes::of(groups.values().copied()), "{columns:?}");
        assert_eq!(sets.distinct(&columns), groups.len() as u64, "{columns:?}");
        assert_eq!(sets.unique(&columns), groups.values().filter(|&&records| records == 1).count() as u64);
    }
    for from in 0..width {
        for to in 0..width {
            let alone = naive_groups(rows, &[from]).len() == naive_groups(rows, &[from, to]).len();
            assert_eq!(sets.determines(from, to), alone, "{from} {to}");
        }
    }
}

/// Rows of four columns with few to many values, the empty text among them, and their records.
fn tables() -> impl Strategy<Value = Vec<(Vec<String>, u64)>> {
    let row = (0..2_u8, 0..4_u8, 0..12_u8, 0..40_u8, 1..4_u64);
    let text = |code: u8| if code == 0 { String::new() } else { code.to_string() };
    let row = row.prop_map(move |(a, b, c, d, records)| ([a, b, c, d].map(text).to_vec(), records));
    prop::collection::vec(row, 0..60)
}

proptest! {
    #[test]
    fn counted_records_divide_as_by_texts(mut rows in tables()) {
        rows.sort_unstable();
        rows.dedup_by(|a, b| a.0 == b.0);
        check(&ColumnSets::of_counts(&counts_of(&["a", "b", "c", "d"], &rows)), &rows, 4);
    }

    /// Rows of a sample may be equal.
    #[test]
    fn records_of_a_sample_divide_as_by_texts(rows in tables()) {
        let sample: Vec<Vec<String>> = rows.iter().map(|(row, _)| row.clone()).collect();
        let rows: Vec<(Vec<String>, u64)> = rows.into_iter().map(|(row, _)| (row, 1)).collect();
        check(&ColumnSets::of_rows(4, &sample), &rows, 4);
    }
}

#[test]
fn short_rows_are_padded_and_long_ones_cut() {
    let rows = ["a", "a,", "b,x,y", "b,z"].map(|row| row.split(',').map(str::to_owned).collect::<Vec<_>>());
    let sets = ColumnSets::of_rows(2, &rows);
    assert_eq!(sets.sizes(&[0, 1]).sizes(), [(1, 2), (2, 1)]);
    assert_eq!([sets.distinct(&[0]), sets.distinct(&[1]), sets.unique(&[1])], [2, 3, 2]);
    assert!(sets.determines(1, 0) && !sets.determines(0, 1));
}

#[test]
fn a_table_without_records_has_no_groups() {
    let sets = ColumnSets::of_rows(2, &[]);
    assert_eq!((sets.records(), sets.columns()), (0, 2));
    for columns in [&[][..], &[0], &[0, 1]] {
        assert_eq!((sets.distinct(columns), sets.unique(columns), sets.sizes(columns).groups()), (0, 0, 0));
    }
    assert!(sets.determines(0, 1));
}

/// The example of the module header.
#[test]
fn the_example_holds() {
    let rows = [("Rome,30,x", 1), ("Rome,30,y", 2), ("Rome,41,x", 1), ("Oslo,41,x", 1)];
    let rows = rows.map(|(row, records)| (row.split(',').map(str::to_owned).collect::<Vec<_>>(), records));
    let sets = ColumnSets::of_counts(&counts_of(&["town", "age", "sex"], &rows));
    assert_eq!(sets.sizes(&[0]).sizes(), [(1, 1), (4, 1)]);
    assert_eq!(sets.sizes(&[1, 0]).sizes(), [(1, 2), (3, 1)]);
    assert_eq!((sets.unique(&[0, 1]), sets.unique(&[0, 1, 2])), (2, 3));
    assert_eq!(sets.distinct(&[]), 1);
}
