//! Bars that can be counted by hand, and twins that spread records value by value.

use proptest::prelude::*;

use super::*;
use crate::{
    hierarchy::{LabelReader, ReadCell, interval_ends},
    ids::GroupId,
    policy::ReleaseOptions,
    recoding::{Cut, GroupShare, Groups, Recoding},
    testing::TestTable,
};

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

/// Everything leaves as the same cell.
fn whole(table: &TestTable) -> Recoding {
    Recoding::Cut(Cut::whole(&table.profile))
}

#[test]
fn numbers_begin_at_round_values_and_small_bars_are_merged() {
    let ages = table("c.hierarchy = \"free\"", &[("17", 3), ("23", 9), ("37", 11), ("38", 4), ("61", 20), ("90", 1)]);
    // Steps of 5 from 15 to 95; an end that is somebody's age is nowhere.
    assert_eq!(as_it_is(&ages), ["up to 24 12 12", "25–39 15 15", "40 or more 21 21"]);
    // [17, 90] prints as it is: 8 of its 74 ages are up to 24, and 15 up to 39.
    let part = |ages: f64| 48.0 * ages / 74.0;
    let found = all(&ages.policy, &ages.profile, &release(&ages, &whole(&ages)));
    for (bar, ages) in found[0].bars.iter().zip([8.0, 15.0, 51.0]) {
        assert!((bar.after - part(ages)).abs() < 1e-6, "{bar:?}");
    }
}

#[test]
fn a_label_that_does_not_print_its_ends_does_not_tell_them_here_either() {
    let ages = table("c.hierarchy = { widths = [20] }", &[("21", 20), ("38", 20)]);
    // Ten bars of two years from 20 to 39. That the first begins with 21 would make it one of eighteen years.
    assert_eq!(bars(&ages, &whole(&ages)), ["up to 21 20 4", "22 or more 20 36"]);
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
    // Three alone would be a few people: the rarest that could be named goes with them.
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

/// A random table of one column, and groups of its records with the least cells around them.
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
        // Every 60th is missing; 17 and a square apart, so that gaps differ.
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
        let mut groups = Groups { suppressed: self.suppressed.then_some(GroupId(0)), ..Groups::default() };
        let mut ends = [None::<(u32, u32)>; 6];
        for tuple in (0..table.profile.tuples()).map(TupleId::from_index) {
            let group = self.values[tuple.index() % self.values.len()].2;
            let code = table.profile.codes(tuple)[0];
            let (first, last) = ends[group as usize].unwrap_or((code, code));
            ends[group as usize] = Some((first.min(code), last.max(code)));
            for variant in table.profile.variants_of(tuple) {
                let records = table.profile.variant_records(variant);
                groups.shares.push(GroupShare { group: GroupId(group.into()), variant, records });
            }
        }
        let cell = |ends: Option<(u32, u32)>| ends.map_or(domain.whole(), |(first, last)| domain.cover(first, last));
        groups.boxes = ends.into_iter().map(cell).collect();
        Recoding::Groups(groups)
    }
}

/// Every record, one by one, over every value that its label may stand for.
fn twin(domain: &Domain, released: &Released, bins: Option<&bins::Bins>) -> (Vec<f64>, f64) {
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
            let open = low < high && interval_ends(label) != Some((&low.to_string(), &high.to_string()));
            let edge = |at: usize| bins.edges[at] as i64;
            let values = match open {
                true => edge(bins.bin(low as f64))..edge(bins.bin(high as f64) + 1).max(edge(bins.bin(low as f64)) + 1),
                false => low..high + 1,
            };
            let each = 1.0 / (values.end - values.start) as f64;
            values.for_each(|value| parts[bins.bin(value as f64)] += each);
        }
    }
    (parts, missing)
}

proptest! {
    #[test]
    fn bars_add_up_and_none_is_about_a_few(random in random()) {
        let table = random.table();
        let released = release(&table, &random.groups(&table));
        let found = &all(&table.policy, &table.profile, &released)[0];
        let records = table.profile.records();
        prop_assert_eq!(found.bars.iter().map(|bar| bar.before).sum::<u64>(), records);
        prop_assert!((found.bars.iter().map(|bar| bar.after).sum::<f64>() - records as f64).abs() < 1e-4);
        let one = found.bars.len() == 1;
        // What nobody has may be said of categories: it is about no one.
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
        let seen = Seen::of(&table.profile, &released, 0);
        let (found, expected) = if domain.kind().is_ordered() {
            let bins = bins::Bins::new(domain, &seen.before);
            let found = spread::over_bins(domain, &seen, &bins);
            let (expected, missing) = twin(domain, &released, Some(&bins));
            prop_assert!((found.missing - missing).abs() < 1e-6);
            (found.bins, expected)
        } else {
            (spread::over_leaves(domain, &seen), twin(domain, &released, None).0)
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
    ages.policy.release = ReleaseOptions { numbers: crate::policy::Numbers::Mean, ..ReleaseOptions::default() };
    assert_eq!(bars(&ages, &whole(&ages)), ["up to 14 20 0", "15–24 20 0", "25 or more 20 60"], "27 in the mean");
}
