//! Errors that can be counted by hand.

use moretta_core::{
    hierarchy::{Hierarchies, file},
    ids::GroupId,
    profile::Profile,
    recoding::{Cut, GroupAssignment, LocalRecoding},
    testing::TestTable,
};

use super::*;

const JOBS: &str = "nurse;care;*\nmidwife;care;*\nclerk;office;*\nscribe;office;*\n";
const POLICY: &str = "[privacy]\nk = 2\n[columns]\njob.role = \"quasi-identifier\"\njob.hierarchy = \"job.csv\"\n\
                      town.role = \"quasi-identifier\"\nill.role = \"sensitive\"\nrich.role = \"class\"";

fn trees() -> Hierarchies {
    [("job".to_owned(), file::parse(JOBS).unwrap())].into_iter().collect()
}

fn table(rows: &[(&str, u64)]) -> TestTable {
    TestTable::with_trees(POLICY, trees(), rows)
}

/// The class depends on the kind of job and on nothing else.
fn train() -> TestTable {
    table(&[("nurse,x,a,no", 10), ("midwife,x,a,no", 10), ("clerk,x,a,yes", 10), ("scribe,x,b,yes", 20)])
}

fn saved(train: &TestTable, recoding: &Recoding) -> Saved {
    Saved::of(&train.policy, &trees(), &train.profile, recoding)
}

fn whole(profile: &Profile) -> Recoding {
    let cells = profile.columns().iter().map(|column| vec![column.domain.whole(); column.domain.len()]);
    Recoding::Global(Cut { cells: cells.collect(), suppressed: Vec::new() })
}

#[test]
fn a_release_of_everything_is_as_good_as_the_data_and_one_of_nothing_as_bad_as_none() {
    let train = train();
    let test = table(&[("nurse,x,a,no", 6), ("clerk,x,a,yes", 3), ("scribe,x,a,no", 1)]);
    let as_it_is = Recoding::identity(&train.profile);
    let found = errors(&train.profile, &as_it_is, &saved(&train, &as_it_is), &test.profile).unwrap();
    // By job one of ten is wrong; by illness alone `a` says no, and three are not.
    assert_eq!(found, Errors { raw: 0.1, released: 0.1, root: 0.3, removed: Some(0.1) });
    let nothing = whole(&train.profile);
    let found = errors(&train.profile, &nothing, &saved(&train, &nothing), &test.profile).unwrap();
    assert_eq!((found.released, found.raw), (found.root, 0.1));
}

#[test]
fn values_the_search_never_saw_leave_as_the_cell_above_them() {
    let train = table(&[("nurse,x,a,no", 10), ("clerk,x,a,yes", 11)]);
    let test = table(&[("midwife,x,a,no", 4), ("clerk,y,a,yes", 1)]);
    let domain = &train.profile.columns()[0].domain;
    let kinds = |code: u32| {
        let tree = domain.tree().unwrap();
        domain.node_cell(tree.parent(tree.leaf(code)).unwrap())
    };
    let Recoding::Global(mut cut) = Recoding::identity(&train.profile) else { unreachable!() };
    cut.cells[0] = (0..domain.len() as u32).map(kinds).collect();
    let recoding = Recoding::Global(cut);
    let saved = saved(&train, &recoding);
    let labels = saved.labels(&test.profile);
    let midwives = test.profile.tuple_of(test.members(|texts| texts[0] == "midwife")[0].variant);
    assert_eq!(labels[midwives.index()].as_deref(), Some(&["care", "x"][..]));
    assert_eq!(labels.iter().filter(|labels| labels.is_none()).count(), 1, "nothing covers the new town");
    assert_eq!(uncovered(&saved, &test.profile), 1);
    let found = errors(&train.profile, &recoding, &saved, &test.profile).unwrap();
    // As it was, a midwife is unknown to the tree and called rich; released, she is in care. The clerk of the new
    // town has `*` everywhere, which is unknown too, and rich by majority.
    assert_eq!((found.raw, found.released), (0.8, 0.0));
}

#[test]
fn a_tuple_goes_to_the_box_of_least_loss() {
    let train = train();
    let profile = &train.profile;
    let (job, town) = (&profile.columns()[0].domain, &profile.columns()[1].domain);
    let boxes = vec![job.whole(), town.whole(), job.cover(0, 1), town.whole()];
    let assignment = |(at, member): (usize, moretta_core::profile::VariantCount)| GroupAssignment {
        group: GroupId::from_index(at % 2 * usize::from(profile.codes(profile.tuple_of(member.variant))[0] < 2)),
        variant: member.variant,
        records: member.records,
    };
    let assignments = profile.everything().into_iter().enumerate().map(assignment).collect();
    let saved = saved(&train, &Recoding::Local(LocalRecoding { boxes, assignments, suppressed: None }));
    let labels = saved.labels(profile);
    let job_of = |tuple: usize| profile.columns()[0].domain.text(profile.codes(TupleId(tuple as u32))[0]);
    for (tuple, labels) in labels.iter().enumerate() {
        let care = ["nurse", "midwife"].contains(&job_of(tuple));
        assert_eq!(labels.as_ref().unwrap()[0], if care { "care" } else { "*" });
    }
}

#[test]
fn nothing_to_evaluate() {
    let train = train();
    let recoding = whole(&train.profile);
    let saved = saved(&train, &recoding);
    let without = TestTable::new("[privacy]\nk = 2\n[columns]\njob.role = \"quasi-identifier\"", &[], &[("nurse", 1)]);
    let found = errors(&without.profile, &recoding, &saved, &train.profile);
    assert_eq!(found, Err(EvaluateError::NoClass));
    let without = table(&[]);
    let found = errors(&train.profile, &recoding, &saved, &without.profile);
    assert_eq!(found, Err(EvaluateError::Empty { table: "test" }));
}

#[test]
fn numbers_are_numbers_and_a_missing_one_is_a_value_of_its_own() {
    let policy = "[privacy]\nk = 2\n[columns]\nage.role = \"quasi-identifier\"\nage.type = \"number\"\n\
                  age.missing = \"category\"\nrich.role = \"class\"";
    let train = TestTable::new(policy, &[], &[("20,no", 9), ("30,no", 9), ("50,yes", 9), ("?,yes", 9)]);
    let test = TestTable::new(policy, &[], &[("25,no", 2), ("49.5,yes", 1), ("70,yes", 1), ("?,yes", 1)]);
    let tables = TrainAndTest::new(&train.profile, &test.profile, &train.policy).unwrap();
    let (before, after) = tables.raw(true, true);
    assert_eq!(Tree::fit(&before).error(&after), 0.0);
    assert!(!tables.has_sensitive());
}

#[test]
fn a_recoding_of_both_tables_serves_each_of_them() {
    let (train, test) = (train(), table(&[("nurse,x,a,no", 6), ("clerk,x,a,yes", 3), ("scribe,x,a,no", 1)]));
    let as_it_is = Recoding::identity(&train.profile);
    let saved = saved(&train, &as_it_is);
    let found = errors_applied(&train.profile, &saved, &test.profile).unwrap();
    assert_eq!(found, errors(&train.profile, &as_it_is, &saved, &test.profile).unwrap());
}

#[test]
fn several_splits_have_a_mean_and_a_spread() {
    let errors = |raw, removed| Errors { raw, released: 0.2, root: 0.5, removed };
    assert_eq!(Spread::of(&[]), None);
    let one = errors(0.1, None);
    assert_eq!(Spread::of(&[one]), Some(Spread { mean: one, deviation: None }));
    let found = Spread::of(&[errors(0.1, Some(0.25)), errors(0.3, Some(0.25))]).unwrap();
    let deviation = found.deviation.unwrap();
    assert!((found.mean.raw - 0.2).abs() < 1e-12 && (deviation.raw - 0.02f64.sqrt()).abs() < 1e-12);
    assert_eq!((found.mean.removed, deviation.removed, deviation.released), (Some(0.25), Some(0.0), 0.0));
    assert_eq!(Spread::of(&[errors(0.1, None), errors(0.3, Some(0.2))]).unwrap().mean.removed, None);
}

#[test]
fn the_same_columns_make_the_same_tree_in_every_role() {
    // Town and illness predict the class equally well, so the tree shows which one is tested first.
    let rows = [("x,a,no", 8), ("y,b,yes", 8), ("x,b,no", 1), ("y,a,yes", 1), ("x,b,yes", 1), ("y,a,no", 1)];
    let train = |town: &str, ill: &str| {
        let policy =
            format!("[privacy]\nk = 2\n[columns]\ntown.role = \"{town}\"\nill.role = \"{ill}\"\nrich.role = \"class\"");
        // Rows have quasi-identifiers first.
        let order = if town == "sensitive" { [1, 0, 2] } else { [0, 1, 2] };
        let turned = |&(row, records): &(&str, u64)| {
            let cells: Vec<&str> = row.split(',').collect();
            (order.map(|at| cells[at]).join(","), records)
        };
        let texts: Vec<(String, u64)> = rows.iter().map(turned).collect();
        let texts: Vec<(&str, u64)> = texts.iter().map(|(row, records)| (row.as_str(), *records)).collect();
        let table = TestTable::new(&policy, &[], &texts);
        let tables = TrainAndTest::new(&table.profile, &table.profile, &table.policy).unwrap();
        tables.raw(true, true).0
    };
    let (qi, sensitive) = ("quasi-identifier", "sensitive");
    assert_eq!(train(qi, sensitive), train(qi, qi));
    // Rows come in another order here, codes in the same.
    let tree = Tree::fit(&train(qi, qi));
    assert_eq!(Tree::fit(&train(sensitive, qi)), tree);
    assert!(tree.leaves() > 1, "{tree:?}");
}
