use std::collections::BTreeMap;

use moretta_core::{
    observer::{NoObserver, Stop},
    testing::{data, select},
};
use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits { most: 3, work: MAX_WORK, memory: None };

fn cells(row: &str) -> Vec<String> {
    row.split(',').map(str::to_owned).collect()
}

fn analyzed(names: &[&str], rows: &[Vec<String>], limits: &Limits) -> Risks {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let sets = ColumnSets::of_rows(names.len(), rows);
    Risks::of(&sets, ("t.csv".to_owned(), &names), limits, &NoObserver).expect("nothing stops it")
}

/// Figures of a set of columns, by comparing all records with each other.
fn naive_figures(rows: &[Vec<String>], columns: &[usize]) -> Figures {
    let mut groups: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for row in rows {
        *groups.entry(columns.iter().map(|&column| row[column].as_str()).collect()).or_default() += 1;
    }
    let records = rows.len() as f64;
    let records_in = |size: u64| groups.values().filter(|&&records| records == size).sum::<u64>();
    let differs = |a: &Vec<String>, b: &Vec<String>| columns.iter().any(|&column| a[column] != b[column]);
    let different = rows.iter().map(|a| rows.iter().filter(|b| differs(a, b)).count()).sum::<usize>() as f64;
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    Figures {
        distinct: groups.len() as u64,
        alone: records_in(1),
        alone_share: share(records_in(1) as f64, records),
        in_twos: records_in(2),
        distinction: share(groups.len() as f64, records),
        separation: share(different, records * (records - 1.0)),
    }
}

/// Minimal unique sets of each record as bit masks, straight from the definition.
fn naive_minimal(rows: &[Vec<String>], width: usize, most: usize) -> Vec<Vec<usize>> {
    let equal = |a: &[String], b: &[String], mask: usize| (0..width).all(|c| mask >> c & 1 == 0 || a[c] == b[c]);
    let of_record = |row: &Vec<String>| {
        let is_alone = |mask: usize| rows.iter().filter(|other| equal(row, other, mask)).count() == 1;
        let is_minimal = |&mask: &usize| {
            let smaller = (0..width).filter(|column| mask >> column & 1 == 1).map(|column| mask & !(1 << column));
            is_alone(mask) && !smaller.into_iter().any(is_alone)
        };
        let small = (1..1_usize << width).filter(|mask| mask.count_ones() as usize <= most);
        small.filter(is_minimal).collect()
    };
    rows.iter().map(of_record).collect()
}

fn check(rows: &[Vec<String>], names: &[&str], most: usize) {
    let width = names.len();
    let risks = analyzed(names, rows, &Limits { most, ..LIMITS });
    let all: Vec<usize> = (0..width).collect();
    assert_eq!(risks.together, naive_figures(rows, &all));
    for (index, column) in risks.columns.iter().enumerate() {
        assert_eq!(column.figures, naive_figures(rows, &[index]));
    }
    let varies = |column: &usize| naive_figures(rows, &[*column]).distinct > 1;
    let varying = all.iter().filter(|column| varies(column)).count();
    assert_eq!(risks.pairs.len(), varying * varying.saturating_sub(1) / 2);
    let minimal = naive_minimal(rows, width, most);
    // With one record or fewer, every set and none is unique.
    if rows.len() < 2 {
        return;
    }
    for pair in &risks.pairs {
        let columns: Vec<usize> =
            pair.columns.iter().map(|name| names.iter().position(|known| known == name).expect("a name")).collect();
        assert_eq!(pair.figures, naive_figures(rows, &columns));
        let mask = columns.iter().map(|column| 1_usize << column).sum::<usize>();
        let expected = minimal.iter().flatten().filter(|&&set| set == mask).count() as u64;
        assert_eq!(pair.minimal, (most > 1).then_some(expected));
    }
    let size = |mask: &usize| mask.count_ones() as usize;
    let score = |mask: &usize| (1..=width - size(mask)).product::<usize>() as f64;
    let mut before = 0;
    for (of, found) in (1..).zip(&risks.minimal.sizes) {
        let sets = minimal.iter().flatten().filter(|mask| size(mask) == of).count() as u64;
        let first = minimal.iter().filter(|sets| sets.iter().map(size).min() == Some(of)).count() as u64;
        before += first;
        assert_eq!((found.size, found.minimal, found.records), (of, sets, first));
        assert!((found.share_so_far - before as f64 / rows.len() as f64).abs() < 1e-12);
    }
    assert_eq!(risks.minimal.sizes.len(), most);
    let scores: Vec<f64> = minimal.iter().map(|sets| sets.iter().map(score).sum()).collect();
    assert_eq!(risks.minimal.score_sum, Some(scores.iter().sum()));
    assert_eq!(risks.minimal.score_highest, Some(scores.iter().copied().fold(0.0, f64::max)));
    for (index, column) in risks.columns.iter().enumerate() {
        let with: f64 = minimal.iter().flatten().filter(|&&mask| mask >> index & 1 == 1).map(score).sum();
        let total: f64 = scores.iter().sum();
        match column.contribution {
            Some(share) => assert!((share - with / total).abs() < 1e-12),
            None => assert_eq!(total, 0.0),
        }
    }
}

/// Rows of few and many values, with a column that follows from another, a copy, a constant and sometimes an id.
fn tables() -> impl Strategy<Value = Vec<Vec<String>>> {
    let row = (0..2_u8, 0..3_u8, 0..6_u8, 0..25_u8);
    let text = |code: u8| if code == 0 { String::new() } else { code.to_string() };
    let row = row.prop_map(move |(a, b, c, d)| [a, b, c, d, d / 4, c, 7].map(text).to_vec());
    (prop::collection::vec(row, 0..40), prop::bool::ANY).prop_map(|(mut rows, id)| {
        for (number, row) in rows.iter_mut().enumerate().filter(|_| id) {
            row[0] = number.to_string();
        }
        rows
    })
}

proptest! {
    #[test]
    fn figures_and_minimal_sets_are_those_of_the_definition(rows in tables(), most in 1..=5_usize) {
        check(&rows, &["a", "b", "c", "d", "part of d", "copy of c", "constant"], most);
    }
}

#[test]
fn the_example_of_the_module_holds() {
    let rows = ["Rome,f,30", "Rome,m,30", "Oslo,m,30", "Oslo,m,41"].map(cells);
    let risks = analyzed(&["town", "sex", "age"], &rows, &LIMITS);
    assert_eq!((risks.minimal.score_sum, risks.minimal.score_highest), (Some(6.0), Some(2.0)));
    assert_eq!(risks.minimal.sizes.iter().map(|of| of.minimal).collect::<Vec<_>>(), [2, 2, 0]);
    assert_eq!(risks.columns[2].contribution, Some(0.5));
}

/// The published example with four columns (spec 7, section 2.6).
#[test]
fn ten_records_have_the_published_scores() {
    let rows = [
        "Urban,Female,Secondary_incomplete,Employed",
        "Urban,Female,Secondary_incomplete,Employed",
        "Urban,Female,Primary_incomplete,Non-LF",
        "Urban,Male,Secondary_complete,Employed",
        "Urban,Male,Secondary_complete,Employed",
        "Rural,Female,Secondary_complete,Unemployed",
        "Urban,Female,Primary_complete,Non-LF",
        "Urban,Male,Post-secondary,Unemployed",
        "Urban,Female,Secondary_incomplete,Non-LF",
        "Urban,Female,Secondary_incomplete,Non-LF",
    ];
    let names = ["residence", "gender", "education", "labor"];
    let risks = analyzed(&names, &rows.map(cells), &Limits { most: 4, ..LIMITS });
    assert_eq!((risks.together.alone, risks.together.in_twos), (4, 6));
    assert_eq!((risks.minimal.score_sum, risks.minimal.score_highest), (Some(34.0), Some(12.0)));
    let shares: Vec<f64> = risks.columns.iter().filter_map(|column| column.contribution).collect();
    let published = [8.0, 6.0, 22.0, 8.0].map(|score: f64| score / 34.0);
    assert!(shares.iter().zip(published).all(|(share, published)| (share - published).abs() < 1e-12), "{shares:?}");
    assert_eq!(shares.len(), 4);
    check(&rows.map(cells), &names, 4);
}

const EIGHT: [&str; 8] =
    ["age", "sex", "race", "marital-status", "education", "native-country", "workclass", "occupation"];

fn adult(columns: &[&str], test: &str) -> Option<Vec<Vec<String>>> {
    let text = data("adult/adult_train.csv", test)?;
    Some(select(&text, columns).iter().map(|row| cells(row)).collect())
}

/// Figures of ARX 3.9.2 (spec 7, section 2.3).
#[test]
fn adult_has_the_published_distinction_and_separation() {
    let Some(rows) = adult(&EIGHT, "adult_has_the_published_distinction_and_separation") else { return };
    let risks = analyzed(&EIGHT, &rows, &Limits { most: 2, ..LIMITS });
    let rounded = |figures: &Figures| format!("{:.6} {:.6}", figures.distinction, figures.separation);
    let of = |name: &str| rounded(&risks.columns.iter().find(|column| column.name == name).expect("a column").figures);
    assert_eq!(of("age"), "0.002387 0.978117");
    assert_eq!(of("occupation"), "0.000464 0.894622");
    assert_eq!(of("education"), "0.000530 0.807438");
    assert_eq!(of("sex"), "0.000066 0.438284");
    let pair = risks.pairs.iter().find(|pair| pair.columns == ["age", "occupation"]).expect("a pair");
    assert_eq!(rounded(&pair.figures), "0.027883 0.997504");
    assert_eq!(rounded(&risks.together), "0.600391 0.999882");
    assert_eq!((risks.together.distinct, risks.together.alone), (18_109, 14_021));
    assert_eq!((risks.pairs.len(), risks.left_out.len()), (28, 0));
}

/// Figures of sdcMicro's definition (spec 7, section 2.6), also without the work limit and on several threads.
#[test]
fn adult_has_the_known_minimal_unique_sets() {
    let Some(mut rows) = adult(&EIGHT[..5], "adult_has_the_known_minimal_unique_sets") else { return };
    rows.truncate(2000);
    let risks = analyzed(&EIGHT[..5], &rows, &Limits { most: 5, ..LIMITS });
    assert_eq!((risks.together.alone, risks.together.in_twos), (775, 338));
    let sizes: Vec<u64> = risks.minimal.sizes.iter().map(|of| of.minimal).collect();
    assert_eq!(sizes, [6, 315, 627, 263, 17]);
    assert_eq!((risks.minimal.score_sum, risks.minimal.score_highest), (Some(3568.0), Some(24.0)));
    assert_eq!(risks.minimal.sizes.iter().map(|of| of.records).sum::<u64>(), 775);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let again = pool.install(|| analyzed(&EIGHT[..5], &rows, &Limits { most: 5, ..LIMITS }));
        assert_eq!(again, risks);
    }
}

/// 400 records of 20 towns in 6 counties of 2 states, with a copied column, an id and a date that determines the age.
fn places() -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |number: usize| {
        let town = number * 7 % 20;
        let born = number * 13 % 90;
        let county = town * 6 / 20;
        [number, county / 3, town, county, born / 3, born, born * 2, 5, number * number / 7 % 2]
            .map(|code| code.to_string())
            .to_vec()
    };
    (vec!["id", "STATE", "CITY", "COUNTY", "age", "born", "birth date", "country", "sex"], (0..400).map(row).collect())
}

#[test]
fn columns_that_say_the_same_are_named() {
    let (names, rows) = places();
    let related = analyzed(&names, &rows, &LIMITS).related;
    assert_eq!(related.constant, ["country"]);
    assert_eq!(related.duplicates, [["born", "birth date"]]);
    // An id determines everything: that is no dependency.
    assert_eq!(related.chains, [vec!["CITY", "COUNTY", "STATE"], vec!["born", "age"]]);
}

#[test]
fn a_dependency_that_holds_by_chance_is_not_named() {
    // The id has one value twice, and the flag is rare: both determine others by chance.
    let row =
        |number: usize| [number.max(1), number % 7, usize::from(number == 9)].map(|code| code.to_string()).to_vec();
    let mut rows: Vec<Vec<String>> = (0..300).map(row).collect();
    rows[0][1] = rows[1][1].clone();
    let related = analyzed(&["id", "weekday", "flag"], &rows, &LIMITS).related;
    assert_eq!(related, Related::default());
}

#[test]
fn a_value_that_is_missing_often_makes_no_dependency() {
    // Half of the records are of children without passport and income.
    let row = |number: usize| match number % 2 {
        0 => vec![String::new(), String::new()],
        _ => vec![number.to_string(), (number % 5 * 1000).to_string()],
    };
    let rows: Vec<Vec<String>> = (0..300).map(row).collect();
    assert_eq!(analyzed(&["passport", "income"], &rows, &LIMITS).related, Related::default());
}

#[test]
fn an_identifier_is_not_in_the_listed_sets() {
    let (names, rows) = places();
    let risks = analyzed(&names, &rows, &LIMITS);
    assert_eq!(risks.identifying, ["id"]);
    let listed: Vec<&SetRisk> = risks.worst.iter().flat_map(|worst| &worst.sets).collect();
    assert!(!listed.is_empty() && listed.iter().all(|set| !set.columns.contains(&"id".to_owned())));
    let alone: Vec<u64> = risks.worst[0].sets.iter().map(|set| set.figures.alone).collect();
    assert!(alone.is_sorted_by(|a, b| a >= b), "{alone:?}");
}

#[test]
fn what_the_work_limit_leaves_out_is_named() {
    let (names, rows) = places();
    let all = analyzed(&names, &rows, &Limits { most: 4, ..LIMITS });
    assert!(all.left_out.is_empty() && all.minimal.sizes.len() == 4);
    // 28 pairs of 8 columns that vary, and at most 56 sets of three.
    let few = analyzed(&names, &rows, &Limits { most: 4, work: 28 * 400 + 400, memory: None });
    assert_eq!(
        few.left_out,
        ["work limit: sets of 3 to 4 columns were not counted; choose fewer columns with --columns"]
    );
    assert_eq!(few.minimal.sizes[..], all.minimal.sizes[..2]);
    assert_eq!(few.pairs, analyzed(&names, &rows, &Limits { most: 2, ..LIMITS }).pairs);
    let small = analyzed(&names, &rows, &Limits { most: 3, work: MAX_WORK, memory: Some(100) });
    assert_eq!(
        small.left_out,
        ["memory limit: sets of 3 columns were not counted; choose fewer columns with --columns"]
    );
}

/// Pairs of columns beyond the limit are not compared, which changes no count.
#[test]
fn comparisons_of_columns_are_limited() {
    // 20 copies of a column: 380 ordered pairs, each of which holds.
    let rows: Vec<Vec<String>> = (0..100).map(|row| vec![(row % 40).to_string(); 20]).collect();
    let names: Vec<String> = (0..20).map(|column| format!("c{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let all = analyzed(&names, &rows, &Limits { most: 2, ..LIMITS });
    assert_eq!((all.related.duplicates.len(), all.left_out.len()), (1, 0));
    let few = analyzed(&names, &rows, &Limits { most: 2, work: 20 * 19 / 2 * 100, ..LIMITS });
    assert_eq!((&few.columns, &few.pairs.len()), (&all.columns, &all.pairs.len()));
    assert_eq!(few.minimal, all.minimal);
    let expected = "work limit: 190 pairs of columns were not compared, so there may be more that say the same; choose \
                    columns with --columns";
    assert_eq!(few.left_out, [expected]);
}

#[test]
fn of_many_columns_those_with_most_values_have_pairs() {
    // Column c has c + 2 values.
    let row = |number: usize| (0..20).map(|column| (number % (column + 2)).to_string()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = (0..100).map(row).collect();
    let names: Vec<String> = (0..20).map(|column| format!("c{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let risks = analyzed(&names, &rows, &Limits { work: 15 * 14 / 2 * 100, ..LIMITS });
    assert_eq!((risks.pairs.len(), risks.minimal.sizes.len()), (15 * 14 / 2, 1));
    let expected = "work limit: pairs were counted for the 15 columns with most distinct values, not for `c4`, `c3`, `c2`, \
                    `c1` and `c0`; larger sets were not counted: choose columns with --columns";
    assert_eq!(risks.left_out, [expected]);
    let risks = analyzed(&names, &rows, &Limits { work: 0, ..LIMITS });
    assert_eq!(risks.pairs.len(), 12 * 11 / 2);
}

#[test]
fn a_stop_request_ends_the_analysis() {
    struct Stopped;
    impl Observer for Stopped {
        fn stop(&self) -> Option<Stop> {
            Some(Stop::Cancelled)
        }
    }
    let (names, rows) = places();
    let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    let sets = ColumnSets::of_rows(names.len(), &rows);
    assert_eq!(Risks::of(&sets, (String::new(), &names), &LIMITS, &Stopped), Err(Interrupted));
}

#[test]
fn hundreds_of_columns_have_no_score() {
    let rows: Vec<Vec<String>> =
        (0..3).map(|row| (0..200).map(|column| (row * column % 3).to_string()).collect()).collect();
    let names: Vec<String> = (0..200).map(|column| format!("c{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let risks = analyzed(&names, &rows, &Limits { most: 1, ..LIMITS });
    assert_eq!((risks.minimal.score_sum, risks.minimal.score_highest), (None, None));
    assert!(risks.columns[1].contribution.is_some_and(|share| share > 0.0));
}
