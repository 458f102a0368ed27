//! Non-uniform entropy (Gionis and Tassa 2009), in bits.
//!
//! In one column, a record loses `log2(b / a)` bits: `a` is the number of original records with the record's original
//! value, and `b` is the number of original records whose value is covered by the record's released label. This is the
//! information about the value that the label withholds from a recipient who knows the distribution of the column.
//! The measure is the sum over records and columns; columns have no weights. A label `*` covers all records. A
//! suppressed record is measured like a record released as `*`, without an extra penalty. A missing value is a value
//! like any other.
//!
//! How: the sum of `log2(b)` over released records minus the sum of `log2(a)` over original records. Records need not
//! be matched with their originals, so a released file can be measured. Numbers of records are added and subtracted as
//! integers before logarithms are taken, so a release without loss has exactly 0, and the order of groups does not
//! change the result.
//!
//! Cost per column: O(n log n), where n is the number of codes, released cells and codes in released sets. Prefix sums
//! over the codes give `b` of an interval in O(1).

use std::collections::BTreeMap;

use super::{MeasureContext, MeasureEntry};
use crate::{ids::ColumnId, released::Covered};

pub(super) const ENTRY: MeasureEntry = MeasureEntry {
    name: "entropy",
    summary: "non-uniform entropy: bits of information about original values that the release withholds, summed over records and columns",
    value: |context| {
        (0..context.original.columns().len()).try_fold(0.0, |sum, column| Some(sum + of_column(context, column)?))
    },
    of_column: Some(of_column),
    needs_cells: true,
    objective: None,
};

/// Returns the bits that one column loses. `None` if the cells of the labels are unknown, as in a file with means, or
/// if a file cannot be a release of the original: its number of records differs, or a label covers no original record.
fn of_column(context: &MeasureContext<'_>, column: usize) -> Option<f64> {
    let counts = context.original.code_records(ColumnId::from_index(column));
    let mut records_below = vec![0];
    records_below.extend(counts.iter().scan(0, |sum, records| {
        *sum += records;
        Some(*sum)
    }));
    let covered_records = |cell: Covered<'_>| match cell {
        Covered::Cell(cell) => records_below[cell.last as usize + 1] - records_below[cell.first as usize],
        Covered::Set(codes) => codes.iter().map(|&code| counts[code as usize]).sum(),
    };
    // By number n of original records: the number of released records whose label covers n original records, minus the
    // number of original records whose value occurs n times.
    let mut balance: BTreeMap<u64, i64> = BTreeMap::new();
    for (cell, records) in context.released.cells(column)? {
        *balance.entry(covered_records(cell)).or_default() += records as i64;
    }
    for &records in counts {
        *balance.entry(records).or_default() -= records as i64;
    }
    let fits = balance.values().sum::<i64>() == 0 && balance.remove(&0).unwrap_or(0) == 0;
    let bits = balance.into_iter().fold(0.0, |bits, (count, records)| bits + records as f64 * (count as f64).log2());
    fits.then_some(bits.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hierarchy::{Hierarchies, LabelReader, ReadCell},
        ids::{GroupId, TupleId},
        measure::Measures,
        profile::Profile,
        recoding::{Cut, GroupAssignment, LocalRecoding, Recoding},
        released::Released,
        testing::{TestTable, counts, data, select},
        verify::verify_against,
    };

    const TREE: &str = "a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*";
    /// 8 records. Released as `*`, each a loses 1 bit, each b 2 bits, c and d 3 bits each.
    const ROWS: &[(&str, u64)] = &[("a", 4), ("b", 2), ("c", 1), ("d", 1)];

    fn table(options: &str, rows: &[(&str, u64)]) -> TestTable {
        let policy = "privacy.k = 2\n[columns.x]\nrole = \"quasi-identifier\"\nhierarchy = \"x.csv\"";
        TestTable::new(&format!("{policy}\n{options}"), &[("x", TREE)], rows)
    }

    /// Returns a recoding of the only column: the codes `first..=last` of each range are released as the smallest
    /// cell that contains them.
    fn cut(table: &TestTable, ranges: &[(u32, u32)]) -> Cut {
        let domain = &table.profile.columns()[0].domain;
        let cells = ranges.iter().flat_map(|&(first, last)| (first..=last).map(move |_| domain.cover(first, last)));
        Cut { cells: vec![cells.collect()], suppressed: Vec::new() }
    }

    fn entropy(table: &TestTable, recoding: Recoding) -> f64 {
        let released = Released::of_recoding(&table.profile, &recoding, &table.policy.release);
        let context = MeasureContext::of_recoding(&table.policy, &table.profile, &released);
        let value = (ENTRY.value)(&context).unwrap();
        assert_eq!(Measures::of_column(&context, 0).get("entropy"), Some(value), "the table has one column");
        value
    }

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn a_record_loses_log2_of_covered_records_over_records_with_its_value() {
        let table = table("", ROWS);
        let of = |ranges: &[(u32, u32)]| entropy(&table, Recoding::Global(cut(&table, ranges)));
        assert_eq!(of(&[(0, 0), (1, 1), (2, 2), (3, 3)]), 0.0);
        assert_eq!(of(&[(0, 0), (1, 1), (2, 3)]), 2.0);
        assert_eq!(of(&[(0, 3)]), 4.0 + 4.0 + 3.0 + 3.0);
        assert_close(of(&[(0, 1), (2, 3)]), 4.0 * 1.5f64.log2() + 2.0 * 3f64.log2() + 2.0);
        // Both records of b are suppressed: each loses log2(8 / 2) bits, as if released as `*`.
        let suppressed = Cut { suppressed: vec![TupleId(1)], ..Cut::identity(&table.profile) };
        assert_eq!(entropy(&table, Recoding::Global(suppressed)), 4.0);
    }

    #[test]
    fn a_set_covers_only_the_records_with_its_values() {
        let table = table("[release]\nlabels = \"set\"", ROWS);
        let group = |tuple: u32| GroupId(u32::from(tuple == 1 || tuple == 3));
        let assignment = |tuple: u32| GroupAssignment {
            group: group(tuple),
            variant: table.profile.variants_of(TupleId(tuple)).next().unwrap(),
            records: table.profile.tuple_records(TupleId(tuple)),
        };
        let boxes = vec![table.profile.columns()[0].domain.whole(); 2];
        let groups = LocalRecoding { boxes, assignments: (0..4).map(assignment).collect(), suppressed: None };
        // {a, c} covers 5 records, {b, d} covers 3.
        let expected = 4.0 * (5f64 / 4.0).log2() + 5f64.log2() + 2.0 * 1.5f64.log2() + 3f64.log2();
        assert_close(entropy(&table, Recoding::Local(groups)), expected);
    }

    #[test]
    fn a_missing_value_is_a_value_like_any_other() {
        let rows = [("a", 4), ("b", 2), ("", 2)];
        for (rule, expected) in [("category", 0.0), ("suppress", 4.0)] {
            let table = table(&format!("missing = \"{rule}\""), &rows);
            assert_eq!(entropy(&table, Recoding::identity(&table.profile)), expected, "{rule}");
        }
    }

    #[test]
    fn means_can_be_measured_from_a_recoding_but_not_from_a_file() {
        let policy = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"\nrelease.numbers = \"mean\"";
        let table = TestTable::new(policy, &[], &[("1", 1), ("2", 1), ("3", 1), ("4", 1)]);
        assert_eq!(entropy(&table, Recoding::Global(cut(&table, &[(0, 1), (2, 3)]))), 4.0);
        let file = counts(&table.policy, &[("1.5", 2), ("3.5", 2)]);
        let file = Profile::of_release(&table.policy, &Hierarchies::default(), &file).unwrap();
        let read = Released::of_opaque(&table.profile, &file);
        let context = MeasureContext::new(&table.policy, &table.profile, &file, &read);
        assert_eq!(Measures::of(&context).get("entropy"), None);
    }

    #[test]
    fn files_and_coarsened_profiles_are_measured_against_the_original_values() {
        let table = table("", ROWS);
        let of_file = |rows: &[(&str, u64)]| {
            let file = counts(&table.policy, rows);
            let file = Profile::of_release(&table.policy, &Hierarchies::default(), &file).unwrap();
            let read = Released::of_file(&table.profile, &file).unwrap();
            (ENTRY.value)(&MeasureContext::new(&table.policy, &table.profile, &file, &read))
        };
        assert_eq!(of_file(&[("cd", 2), ("b", 2), ("a", 4)]), Some(2.0));
        assert_eq!(of_file(&[("cd", 1), ("b", 2), ("a", 4)]), None, "a record is missing");
        let recoding = cut(&table, &[(0, 0), (1, 1), (2, 3)]);
        let coarsened = table.profile.coarsened(&[vec![0, 1, 2, 2]]);
        let released = Released::of_recoding(&coarsened, &Recoding::Global(recoding), &table.policy.release);
        let context = MeasureContext::new(&table.policy, &table.profile, &coarsened, &released);
        assert_eq!((ENTRY.value)(&context), Some(2.0));
    }

    #[test]
    fn adult_has_the_same_entropy_as_in_arx() {
        /// The level vector given to ARX: quasi-identifiers with their generalization level.
        const LEVELS: [(&str, usize); 8] = [
            ("age", 2),
            ("sex", 1),
            ("race", 1),
            ("marital-status", 1),
            ("education", 3),
            ("native-country", 2),
            ("workclass", 2),
            ("occupation", 1),
        ];
        let test = "adult_has_the_same_entropy_as_in_arx";
        let Some(text) = data("adult/adult_train.csv", test) else { return };
        let file = |(name, _)| data(&format!("adult/hierarchies-arx/{name}.csv"), test).expect("a hierarchy");
        let files: Vec<String> = LEVELS.map(file).into();
        let hierarchies: Vec<(&str, &str)> =
            LEVELS.iter().zip(&files).map(|((name, _), file)| (*name, &**file)).collect();
        let column = |(name, _): &(&str, usize)| {
            format!("[columns.{name}]\nrole = \"quasi-identifier\"\ntype = \"category\"\nhierarchy = \"{name}.csv\"\n")
        };
        let policy = format!("privacy.k = 5\n{}", LEVELS.iter().map(column).collect::<String>());
        let rows = select(&text, &LEVELS.map(|(name, _)| name));
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let table = TestTable::new(&policy, &hierarchies, &rows);
        let mut cut = Cut::identity(&table.profile);
        for ((column, (_, file)), (_, level)) in table.profile.columns().iter().zip(&hierarchies).zip(LEVELS) {
            let reader = LabelReader::new(&column.domain);
            let label = |row: &str| row.split(';').nth(level).and_then(|label| reader.read(label));
            let released: BTreeMap<&str, ReadCell> =
                file.lines().map(|row| (row.split(';').next().unwrap(), label(row).expect("a label"))).collect();
            let cell = |code: u32| match released[column.domain.text(code)] {
                ReadCell::Cell(cell) => cell,
                ReadCell::Set(_) => panic!("a set in a hierarchy"),
            };
            let index = table.profile.columns().iter().position(|known| known.name == column.name).unwrap();
            cut.cells[index] = (0..column.domain.len() as u32).map(cell).collect();
        }
        let verified = verify_against(&table.profile, Recoding::Global(cut), &table.models, &table.policy, 0).unwrap();
        let context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
        // 48 and 382,871.414 are ARX's number of groups and non-uniform entropy for this level vector.
        assert_eq!(verified.released().groups(), 48);
        let found = (ENTRY.value)(&context).unwrap();
        assert!((found - 382_871.414).abs() < 5e-4, "{found}");
    }
}
