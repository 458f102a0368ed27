//! Bars computed by hand, and a naive reference that distributes records value by value.

use std::collections::BTreeSet;

use moretta_core::{
    hierarchy::{LabelReader, ReadCell, interval_ends},
    ids::{GroupId, TupleId},
    policy::ReleaseOptions,
    recoding::{Cut, GroupAssignment, LocalRecoding, Recoding},
    testing::TestTable,
};
use proptest::prelude::*;

use super::*;

const POLICY: &str = "[privacy]\nk = 2\n[columns]\nc.role = \"quasi-identifier\"\nc.missing = \"category\"\n";

fn table(column: &str, rows: &[(&str, u64)]) -> TestTable {
    TestTable::new(&format!("{POLICY}{column}"), &[], rows)
}

fn release(table: &TestTable, recoding: &Recoding) -> Released {
    Released::of_recoding(&table.profile, recoding, &table.policy.release)
}

/// The bars of the only column, as `label before after`.
fn bars(table: &TestTable, recoding: &Recoding) -> Vec<String> {
    let [distribution] = &all(&table.policy, &table.profile, &release(table, recoding))[..] else { panic!() };
    distribution.bars.iter().map(|bar| format!("{} {} {}", bar.label, bar.before, bar.after)).collect()
}

fn as_it_is(table: &TestTable) -> Vec<String> {
    bars(table, &Recoding::identity(&table.profile))
}

/// All values are released as one cell.
fn whole(table: &TestTable) -> Recoding {
    Recoding::Global(Cut::whole(&table.profile))
}

#[test]
fn numbers_begin_at_round_values_and_small_bars_are_merged() {
    let ages = table("c.hierarchy = \"free\"", &[("17", 3), ("23", 9), ("37", 11), ("38", 4), ("61", 20), ("90", 1)]);
    // No edge is the age of a single record.
    assert_eq!(as_it_is(&ages), ["up to 24 12 12", "25–39 15 15", "40 or more 21 21"]);
    // [17, 90] prints as it is: 8 of its 74 ages are up to 24, and 15 up to 39.
    let part = |ages: f64| 48.0 * ages / 74.0;
    let found = all(&ages.policy, &ages.profile, &release(&ages, &whole(&ages)));
    for (bar, ages) in found[0].bars.iter().zip([8.0, 15.0, 51.0]) {
        assert!((bar.after - part(ages)).abs() < 1e-6, "{bar:?}");
    }
}

#[test]
fn a_label_that_does_not_print_its_ends_is_spread_by_the_labels_of_the_bars() {
    let ages = |low: &str, high: &str| {
        let rows = [(low, 1), ("21", 19), ("29", 20), ("38", 19), (high, 1)];
        table("c.hierarchy = { widths = [10] }", &rows)
    };
    let near = ages("20", "39");
    // Steps of two years, from the tenth smallest to the tenth largest; the open bars count as two years each.
    let expected = ["up to 21 20 10", "22–29 20 40", "30 or more 20 10"];
    assert_eq!(Released::labels(&release(&near, &whole(&near)), 0), [Box::from("*")]);
    assert_eq!(bars(&near, &whole(&near)), expected);
    for far in [ages("1", "39"), ages("20", "117"), ages("-5000", "1000000")] {
        assert_eq!(bars(&far, &whole(&far)), expected, "no end shows");
    }
}

#[test]
fn a_label_that_prints_more_than_the_values_is_spread_over_what_it_prints() {
    let of = |youngest: &str| {
        let ages = table("c.hierarchy = { widths = [20] }", &[(youngest, 1), ("23", 19), ("38", 20), ("45", 20)]);
        let domain = &ages.profile.columns()[0].domain;
        let parents = |code: u32| {
            let tree = domain.tree().unwrap();
            domain.node_cell(tree.parent(tree.leaf(code)).unwrap())
        };
        let cells = vec![(0..domain.len() as u32).map(parents).collect()];
        bars(&ages, &Recoding::Global(Cut { cells, suppressed: Vec::new() }))
    };
    // [20, 39] for 40 records: 4 of its 20 ages are up to 23. Whether anyone is 20 does not show.
    assert_eq!(of("20"), ["up to 23 20 8", "24–39 20 32", "40 or more 20 20"]);
    assert_eq!(of("21"), of("20"));
}

#[test]
fn small_tables_have_bars_if_these_disclose_no_end() {
    let rows = |records: u64| [("3", 1), ("40", records / 2 - 1), ("60", records - records / 2 - 1), ("99", 1)];
    let of = |records: u64| as_it_is(&table("c.hierarchy = \"free\"", &rows(records)));
    // At every size below a hundred; 40 and 60 are the ends that count, not 3 and 99.
    for records in [20, 21, 50, 99] {
        let (low, high) = (records / 2, records - records / 2);
        assert_eq!(of(records), [format!("up to 41 {low} {low}"), format!("42 or more {high} {high}")]);
    }
    for records in [4, 10, 19] {
        assert_eq!(of(records), [format!("all values {records} {records}")], "two bars would be of fewer than ten");
    }
    let constant = |records: u64| table("c.hierarchy = \"free\"", &[("3", 1), ("40", records), ("99", 9)]);
    for records in [40, 100_000] {
        let all = records + 10;
        assert_eq!(as_it_is(&constant(records)), [format!("all values {all} {all}")], "all but a few are 40");
    }
    let tail = table("c.hierarchy = \"free\"", &[("3", 1), ("40", 100_000), ("60", 10)]);
    assert_eq!(as_it_is(&tail), ["up to 41 100001 100001", "42 or more 10 10"], "enough to be seen, if few");
}

#[test]
fn one_very_large_value_neither_shows_nor_squeezes_the_others() {
    let mut rows: Vec<(String, u64)> = (0..40).map(|n| (n.to_string(), 50)).collect();
    rows.push(("1000000".to_owned(), 1));
    let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
    let found = as_it_is(&table("c.hierarchy = \"free\"", &rows));
    assert_eq!(found.len(), 8, "{found:?}");
    assert_eq!((found[0].as_str(), found[7].as_str()), ("up to 4 250 250", "35 or more 251 251"));
}

#[test]
fn decimals_negatives_and_constants() {
    let rows = [("-0.4", 10), ("0.3", 10), ("0.5", 10), ("1.1", 10)];
    let found = as_it_is(&table("c.hierarchy = \"free\"", &rows));
    assert_eq!(found, ["below −0.3 10 10", "−0.3 to 0.4 10 10", "0.4 to 0.6 10 10", "0.6 or more 10 10"]);
    let rows = [("-20", 10), ("-7", 10), ("30", 12)];
    let found = as_it_is(&table("c.hierarchy = \"free\"", &rows));
    assert_eq!(found, ["up to −16 10 10", "−15 – −6 10 10", "−5 or more 12 12"]);
    assert_eq!(as_it_is(&table("c.hierarchy = \"free\"", &[("7", 30)])), ["all values 30 30"]);
    assert_eq!(as_it_is(&table("c.hierarchy = \"free\"", &[("7", 3), ("9", 6)])), ["all values 9 9"], "too few");
    let far = [("-1.7e308", 20), ("0.5", 20), ("1.7e308", 20)];
    let sum: u64 = all_bars(&table("c.hierarchy = \"free\"", &far)).iter().map(|bar| bar.before).sum();
    assert_eq!(sum, 60);
}

fn all_bars(table: &TestTable) -> Vec<Bar> {
    let found = all(&table.policy, &table.profile, &release(table, &whole(table)));
    assert!(found[0].bars.iter().all(|bar| bar.after.is_finite() && bar.after >= 0.0), "{found:?}");
    found[0].bars.clone()
}

#[test]
fn dates_go_by_the_calendar() {
    let day = |days: &[&'static str]| days.iter().map(|day| (*day, 15)).collect::<Vec<_>>();
    let of = |days: &[&'static str]| -> Vec<String> {
        let found = as_it_is(&table("c.type = \"date\"", &day(days)));
        found.iter().map(|bar| bar.strip_suffix(" 15 15").unwrap_or(bar).to_owned()).collect()
    };
    let decades = of(&["1924-03-31", "1946-01-01", "1955-12-31", "1961-05-05", "2007-01-01"]);
    assert_eq!(decades, ["up to 1929", "1930–1949", "1950s", "1960s", "1970 or later"]);
    let years = of(&["1999-01-01", "2001-06-01", "2004-02-29"]);
    assert_eq!(years, ["up to 1999", "2000–2001", "2002 or later"]);
    assert_eq!(of(&["2020-01-31", "2020-02-01", "2020-05-01"]), ["up to 2020-01", "2020-02", "2020-03 or later"]);
    assert_eq!(
        of(&["2020-02-28", "2020-02-29", "2020-03-02"]),
        ["up to 2020-02-28", "2020-02-29", "2020-03-01 or later"]
    );
    let quarters = of(&["2020-01-31", "2020-04-01", "2022-01-01"]);
    assert_eq!(quarters, ["up to 2020-Q1", "2020-Q2", "2020-Q3 or later"]);
    let found = as_it_is(&table("c.type = \"date\"", &[("2020-01-01T10:00", 15), ("2020-01-01T11:00", 15)]));
    assert_eq!(found, ["all values 30 30"]);
    let long = of(&["1000-01-01", "2500-01-01", "9999-12-31"]);
    assert_eq!(long, ["up to 1999", "2000–2999", "3000 or later"]);
}

#[test]
fn dates_are_in_few_bars_that_ascend_or_in_one() {
    let year = |year: i32| chrono::NaiveDate::from_ymd_opt(year, 1, 1).map(|day| day.and_hms_opt(0, 0, 0).unwrap());
    for (low, high) in [(-262_000, 262_000), (0, 1650), (-40_000, 3), (1_969, 262_142)] {
        let [low, high] = [low, high].map(|at| year(at).unwrap().and_utc().timestamp() as f64);
        if let Some((edges, _)) = bins::dates(low, high) {
            assert!(edges.len() <= 17 && edges.is_sorted() && edges[0] <= low && high < edges[edges.len() - 1]);
        }
    }
    assert!(bins::dates(0.0, 1e300).is_none() && bins::dates(-9e15, 9e15).is_none(), "no such years");
}

#[test]
fn missing_values_follow_the_same_rule() {
    let rows = [("10", 20), ("30", 20), ("?", 12)];
    let found = as_it_is(&table("c.hierarchy = \"free\"", &rows));
    assert_eq!(found, ["up to 11 20 20", "12 or more 20 20", "missing 12 12"]);
    let found = as_it_is(&table("c.hierarchy = \"free\"", &[("10", 20), ("30", 20), ("?", 9)]));
    assert_eq!(found, ["up to 11 20 20", "12 or more or missing 29 29"]);
    let found = as_it_is(&table("c.hierarchy = \"free\"", &[("10", 2), ("?", 90)]));
    assert_eq!(found, ["all values or missing 92 92"]);
    assert_eq!(as_it_is(&table("c.type = \"number\"", &[("?", 90)])), ["all values or missing 90 90"]);
    let found = as_it_is(&table("c.type = \"category\"", &[("a", 20), ("b", 20), ("?", 12)]));
    assert_eq!(found, ["a 20 20", "b 20 20", "missing 12 12"]);
}

const JOBS: &str = "nurse;care;*\nmidwife;care;*\nclerk;office;*\nscribe;office;*\npilot;air;*\n";

#[test]
fn categories_are_named_where_enough_records_have_them() {
    let jobs =
        |rows: &[(&str, u64)]| TestTable::new(&format!("{POLICY}c.hierarchy = \"jobs.csv\""), &[("c", JOBS)], rows);
    let few = jobs(&[("nurse", 10), ("midwife", 9), ("clerk", 40), ("scribe", 3)]);
    assert_eq!(as_it_is(&few), ["nurse 10 10", "clerk 40 40", "other values 12 12"]);
    assert_eq!(bars(&few, &whole(&few))[2], "other values 12 37.2", "two jobs of five, and one that nobody has");
    // Three records alone are too few: the rarest named category joins them.
    let fewer = jobs(&[("nurse", 10), ("clerk", 40), ("scribe", 3)]);
    assert_eq!(as_it_is(&fewer), ["clerk 40 40", "other values 13 13"]);
    let none = jobs(&[("nurse", 5), ("clerk", 3)]);
    assert_eq!(as_it_is(&none), ["all values 8 8"]);
    let all = jobs(&[("nurse", 10), ("midwife", 10), ("clerk", 10), ("scribe", 10)]);
    assert_eq!(bars(&all, &whole(&all))[4], "other values 0 8", "nobody is a pilot, which the release does not say");
}

#[test]
fn of_many_categories_nodes_are_shown_or_the_most_frequent() {
    let row = |n: u32| format!("town{n:02};region{};*\n", n % 3);
    let tree: String = (0..30).map(row).collect();
    let rows: Vec<(String, u64)> = (0u64..30).map(|n| (format!("town{n:02}"), 10 + n)).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
    let towns = TestTable::new(&format!("{POLICY}c.hierarchy = \"towns.csv\""), &[("c", &tree)], &rows);
    assert_eq!(as_it_is(&towns), ["region0 235 235", "region1 245 245", "region2 255 255"]);
    let flat = as_it_is(&table("c.type = \"category\"", &rows));
    assert_eq!(flat.len(), 15);
    assert_eq!((flat[0].as_str(), flat[13].as_str()), ("town16 26 26", "town29 39 39"));
    assert_eq!(flat[14], "other values 280 280");
}

#[test]
fn of_very_many_categories_the_first_are_named() {
    let rows: Vec<(String, u64)> = (0..30_000).map(|n| (format!("v{n:05}"), 10)).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
    let found = as_it_is(&table("c.type = \"category\"", &rows));
    assert_eq!((found.len(), found[0].as_str(), found[13].as_str()), (15, "v00000 10 10", "v00013 10 10"));
}

#[test]
fn the_noise_of_sums_is_no_bar() {
    let inner = |(leaf, above): (&str, &str)| format!("{leaf};{above};n1;*\n");
    let leaves = [("a", "a1;a2"), ("b", "b1;n2"), ("c", "b1;n2"), ("d", "b1;n2")];
    let last = [("e", "n3;n2"), ("f", "n3;n2"), ("g", "n3;n2")];
    let tree: String = leaves.into_iter().chain(last).map(inner).chain(["z;z1;z2;z3;*\n".to_owned()]).collect();
    let rows = ["a", "b", "c", "d", "e", "f", "g"].map(|leaf| (leaf, 10));
    let table = TestTable::new(&format!("{POLICY}c.hierarchy = \"c.csv\""), &[("c", &tree)], &rows);
    let domain = &table.profile.columns()[0].domain;
    let released = release(&table, &whole(&table));
    // Densities of 2/3, 1/6 and 1/7 start at different leaves and end at the same one: rounding leaves a tiny
    // remainder.
    let tree = domain.tree().unwrap();
    let label = |(text, records)| {
        let node = tree.nodes().find(|&node| tree.label(node) == text).unwrap();
        LabelCount { text, covered: Some(Covered::Cell(domain.node_cell(node))), records }
    };
    let after = [("n3", 2.0), ("n2", 1.0), ("n1", 1.0)].map(label).into();
    let carriers = table.profile.code_records(ColumnId(0));
    let counts = ColumnCounts { after, ..ColumnCounts::of(&table.profile, &released, 0, carriers) };
    assert!(spread::over_leaves(domain, &counts, &vec![0; domain.len()]).leaves[7] > 0.0);
    assert_eq!(categories::bars(domain, &counts, 10).len(), 7);
}

/// A random table of one column, and groups of its records with their smallest cells.
#[derive(Debug, Clone)]
struct Random {
    values: Vec<(u32, u64, u8)>,
    suppressed: bool,
    kind: usize,
}

const KINDS: [&str; 6] = [
    "c.hierarchy = \"free\"",
    "c.hierarchy = { widths = [5, 20] }",
    "c.hierarchy = \"iotf\"",
    "c.type = \"category\"",
    "c.hierarchy = \"tree.csv\"\nc.type = \"category\"",
    "c.type = \"category\"\n[release]\nlabels = \"set\"",
];

fn random() -> impl Strategy<Value = Random> {
    let value = (0u32..60, 1u64..30, 0u8..6);
    (prop::collection::vec(value, 1..40), any::<bool>(), 0..KINDS.len()).prop_map(|(values, suppressed, kind)| Random {
        values,
        suppressed,
        kind,
    })
}

impl Random {
    fn table(&self) -> TestTable {
        // 59 is missing; squares make the gaps between values differ.
        let text = |value: u32| if value == 59 { "?".to_owned() } else { (17 + value * value / 7).to_string() };
        let rows: Vec<(String, u64)> = self.values.iter().map(|(value, records, _)| (text(*value), *records)).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
        let mut leaves: Vec<u32> = (0..59).map(|value| 17 + value * value / 7).collect();
        leaves.dedup();
        let tree: String = leaves.iter().map(|leaf| format!("{leaf};tens{};*\n", leaf / 100)).collect();
        TestTable::new(&format!("{POLICY}{}", KINDS[self.kind]), &[("c", &tree)], &rows)
    }

    fn groups(&self, table: &TestTable) -> Recoding {
        let domain = &table.profile.columns()[0].domain;
        let mut groups =
            LocalRecoding { suppressed: self.suppressed.then_some(GroupId(0)), ..LocalRecoding::default() };
        let mut ends = [None::<(u32, u32)>; 6];
        for tuple in (0..table.profile.tuples()).map(TupleId::from_index) {
            let group = self.values[tuple.index() % self.values.len()].2;
            let code = table.profile.codes(tuple)[0];
            let (first, last) = ends[group as usize].unwrap_or((code, code));
            ends[group as usize] = Some((first.min(code), last.max(code)));
            for variant in table.profile.variants_of(tuple) {
                let records = table.profile.variant_records(variant);
                groups.assignments.push(GroupAssignment { group: GroupId(group.into()), variant, records });
            }
        }
        let cell = |ends: Option<(u32, u32)>| ends.map_or(domain.whole(), |(first, last)| domain.cover(first, last));
        groups.boxes = ends.into_iter().map(cell).collect();
        Recoding::Local(groups)
    }
}

/// The naive reference: distributes each record over all values that its label covers.
fn reference(domain: &Domain, released: &Released, bins: Option<&bins::Bins>) -> (Vec<f64>, f64) {
    let reader = LabelReader::new(domain);
    let (mut parts, mut missing) = (vec![0.0; bins.map_or(domain.len(), bins::Bins::len)], 0.0);
    for group in 0..released.groups() {
        let label = released.label(group, 0);
        let codes: Vec<u32> = match reader.read(label).unwrap() {
            ReadCell::Cell(cell) => (cell.first..=cell.last).collect(),
            ReadCell::Set(codes) => codes,
        };
        for _ in 0..released.records(group) {
            let Some(bins) = bins else {
                codes.iter().for_each(|&code| parts[code as usize] += 1.0 / codes.len() as f64);
                continue;
            };
            let numbers: Vec<i64> =
                codes.iter().filter_map(|&code| domain.number(code)).map(|value| value as i64).collect();
            let (Some(&low), Some(&high)) = (numbers.first(), numbers.last()) else {
                missing += 1.0;
                continue;
            };
            let end = |text: &str| text.parse::<i64>().unwrap();
            let printed = interval_ends(label).map(|(low, high)| (end(low), end(high)));
            let edge = |at: usize| bins.edges[at] as i64;
            let values = match printed {
                Some((from, to)) => from..to + 1,
                None if low == high => low..high + 1,
                None => edge(bins.bin(low as f64))..edge(bins.bin(high as f64) + 1).max(edge(bins.bin(low as f64)) + 1),
            };
            let each = 1.0 / (values.end - values.start) as f64;
            values.for_each(|value| parts[bins.bin(value as f64)] += each);
        }
    }
    (parts, missing)
}

/// Bars of a table of ages with one record at `end`, below or above all others. It and some other records are released
/// as `*` or as their parent node.
fn with_end(ages: &[(u8, u64)], end: i64, hidden: u8) -> Vec<Bar> {
    let mut rows: Vec<(String, u64)> = ages.iter().map(|(age, records)| (age.to_string(), *records)).collect();
    rows.push((end.to_string(), 1));
    let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
    // Labels without numbers, one for all ages below 100.
    let name = |age: i64| if age < 100 { "low".to_owned() } else { format!("age{}", (age / 10).min(20)) };
    let leaves: BTreeSet<i64> = ages.iter().map(|(age, _)| i64::from(*age)).chain([end]).collect();
    let tree: String = leaves.into_iter().map(|age| format!("{age};{};*\n", name(age))).collect();
    let table =
        TestTable::new(&format!("{POLICY}c.hierarchy = \"c.csv\"\nc.type = \"number\""), &[("c", &tree)], &rows);
    let domain = &table.profile.columns()[0].domain;
    let cell = |code: u32| {
        let tree = domain.tree().unwrap();
        match domain.number(code) {
            Some(age) if age as i64 == end || age as u64 % 4 < u64::from(hidden % 4) => {
                if hidden < 4 {
                    domain.whole()
                } else {
                    domain.node_cell(tree.parent(tree.leaf(code)).unwrap())
                }
            }
            _ => domain.cover(code, code),
        }
    };
    let cells = vec![(0..domain.len() as u32).map(cell).collect()];
    let recoding = Recoding::Global(Cut { cells, suppressed: Vec::new() });
    all(&table.policy, &table.profile, &release(&table, &recoding))[0].bars.clone()
}

proptest! {
    #[test]
    fn how_far_out_one_record_is_changes_no_bar(
        ages in prop::collection::vec((100u8..200, 1u64..12), 0..30),
        (near, far) in (1i64..90, 1i64..700),
        hidden in 0u8..8,
    ) {
        prop_assert_eq!(with_end(&ages, 100 - near, hidden), with_end(&ages, 100 - near - far, hidden));
        prop_assert_eq!(with_end(&ages, 199 + near, hidden), with_end(&ages, 199 + near + far, hidden));
    }

    #[test]
    fn bars_add_up_and_none_is_about_a_few(random in random()) {
        let table = random.table();
        let released = release(&table, &random.groups(&table));
        let found = &all(&table.policy, &table.profile, &released)[0];
        let records = table.profile.records();
        prop_assert_eq!(found.bars.iter().map(|bar| bar.before).sum::<u64>(), records);
        prop_assert!((found.bars.iter().map(|bar| bar.after).sum::<f64>() - records as f64).abs() < 1e-4);
        let one = found.bars.len() == 1;
        // A bar of categories may have no records at all.
        let nobody = |bar: &Bar| !found.ordered && bar.before == 0 && bar.label == "other values";
        let fits = |bar: &Bar| bar.before >= found.floor || nobody(bar);
        prop_assert!(one || found.bars.iter().all(fits), "{:?}", found);
        prop_assert!(found.bars.iter().all(|bar| bar.after >= 0.0), "{:?}", found);
        prop_assert!(found.bars.len() <= 19, "{:?}", found);
    }

    #[test]
    fn spreading_equals_spreading_value_by_value(random in random()) {
        let table = random.table();
        let released = release(&table, &random.groups(&table));
        let domain = &table.profile.columns()[0].domain;
        let carriers = Carriers::of(&table.policy, &table.profile, ColumnId(0));
        let (counts, floor) = (ColumnCounts::of(&table.profile, &released, 0, &carriers.weights), carriers.floor);
        let (found, expected) = if domain.kind().is_ordered() {
            let bins = bins::Bins::new(domain, counts.before, floor);
            let found = spread::over_bins(domain, &counts, &bins);
            let (expected, missing) = reference(domain, &released, Some(&bins));
            prop_assert!((found.missing - missing).abs() < 1e-6);
            (found.bins, expected)
        } else {
            (spread::over_leaves(domain, &counts, &vec![0; domain.len()]).leaves, reference(domain, &released, None).0)
        };
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!((found - expected).abs() < 1e-6, "{} for {}", found, expected);
        }
    }
}

#[test]
fn one_number_for_many_is_where_it_says() {
    let mut ages = table("c.hierarchy = \"free\"", &[("10", 20), ("21", 20), ("50", 20)]);
    ages.policy.release = ReleaseOptions { numbers: moretta_core::policy::Numbers::Mean, ..ReleaseOptions::default() };
    assert_eq!(bars(&ages, &whole(&ages)), ["up to 14 20 0", "15–24 20 0", "25 or more 20 60"], "27 in the mean");
}

#[test]
fn records_released_as_star_are_sure_in_no_bar() {
    let sure = |table: &TestTable, recoding: &Recoding| -> Vec<(u64, f64)> {
        let found = all(&table.policy, &table.profile, &release(table, recoding));
        for bar in &found[0].bars {
            assert!(bar.sure <= bar.after + 1e-6, "{bar:?}");
        }
        found[0].bars.iter().map(|bar| (bar.before, bar.sure)).collect()
    };
    let ages = table("c.hierarchy = { widths = [10] }", &[("21", 20), ("29", 20), ("38", 20), ("45", 20)]);
    let jobs = table("c.type = \"category\"", &[("nurse", 30), ("clerk", 20), ("judge", 11)]);
    for table in [&ages, &jobs] {
        for (before, sure) in sure(table, &Recoding::identity(&table.profile)) {
            assert_eq!(before as f64, sure, "as it is, all of it is sure");
        }
        assert!(sure(table, &whole(table)).iter().all(|(_, sure)| *sure == 0.0));
    }
}
