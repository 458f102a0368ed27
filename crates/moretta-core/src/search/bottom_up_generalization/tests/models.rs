//! Other models together with k-anonymity, and suppression budgets.

use super::{as_published, run};
use crate::{
    measure::{MeasureContext, Measures},
    recoding::Recoding,
    search::{
        Task,
        bottom_up_generalization::{BottomUpGeneralization, BottomUpParams},
    },
    testing::TestTable,
    verify::verify_against,
};

/// The original table satisfies k-anonymity but not the template on `job`, and only generalizing `job` repairs it.
#[test]
fn templates_hold_together_with_k() {
    let policy = "[privacy]\nk = 2\n[[privacy.template]]\ngiven = [\"job\"]\ncolumn = \"ill\"\nvalues = [\"hiv\"]\n\
                  max-confidence = 0.5\n[columns]\njob = { role = \"quasi-identifier\", hierarchy = \"job.csv\" }\nsex.role = \
                  \"quasi-identifier\"\nill.role = \"sensitive\"\nclass.role = \"class\"";
    let hierarchies = [("job", "singer;artist;*\ndancer;artist;*\nclerk;office;*\nlawyer;office;*\n")];
    let rows = [
        ("singer,f,hiv,y", 3),
        ("singer,m,flu,y", 2),
        ("dancer,f,flu,n", 4),
        ("dancer,m,flu,n", 2),
        ("clerk,f,flu,y", 2),
        ("clerk,m,hiv,n", 2),
        ("lawyer,f,flu,y", 2),
        ("lawyer,m,flu,n", 3),
    ];
    let table = TestTable::new(policy, &hierarchies, &rows);
    for method in [as_published(), BottomUpGeneralization(BottomUpParams::default())] {
        let outcome = run(method, &table, 0).unwrap();
        let Recoding::Global(cut) = &outcome.recoding else { panic!("a cut") };
        let job = |code: u32| table.profile.columns()[0].domain.label(cut.cells[0][code as usize]);
        // Singers were 60 % hiv. Clerks are 50 %, which is allowed, so they are not generalized.
        assert_eq!([0, 1, 2, 3].map(job), ["artist", "artist", "clerk", "lawyer"]);
        let sex = |code: u32| table.profile.columns()[1].domain.label(cut.cells[1][code as usize]);
        assert_eq!([0, 1].map(sex), ["f", "m"]);
        assert!(verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 0).is_ok());
    }
}

/// Five of a hundred records are suppressed, and the other records are not generalized.
#[test]
fn a_budget_spares_the_others() {
    let policy = "privacy.k = 5\ncolumns.town.role = \"quasi-identifier\"\ncolumns.class.role = \"class\"";
    let rows = [("rome,y", 50), ("turin,n", 45), ("isola,y", 2), ("ponza,n", 2), ("gorgona,y", 1)];
    let table = TestTable::new(policy, &[], &rows);
    for method in [as_published(), BottomUpGeneralization(BottomUpParams::default())] {
        // Five records are in groups below k, one more than this budget.
        assert_eq!(run(method, &table, 4).unwrap().recoding.suppressed_records(&table.profile), 0);
        let outcome = run(method, &table, 5).unwrap();
        assert_eq!(outcome.recoding.suppressed_records(&table.profile), 5);
        assert!(outcome.path.is_empty());
    }
}

/// The climb stops at once if the budget covers all records; the refinement then suppresses far fewer.
#[test]
fn a_budget_for_all_is_not_used_up() {
    let policy = "privacy.k = 5\ncolumns.n.role = \"quasi-identifier\"";
    let rows: Vec<String> = (0..200).map(|n| n.to_string()).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let table = TestTable::new(policy, &[], &rows);
    assert_eq!(run(as_published(), &table, 200).unwrap().recoding.suppressed_records(&table.profile), 200);
    let outcome = run(BottomUpGeneralization(BottomUpParams::default()), &table, 200).unwrap();
    assert!(outcome.recoding.suppressed_records(&table.profile) < 20);
}

/// In flat columns, partial generalization can produce groups with `*` in every column. CM counts these as suppressed,
/// and so does the search.
#[test]
fn a_group_with_stars_in_every_column_is_no_gain() {
    let policy = "privacy.k = 4\ncolumns.a.role = \"quasi-identifier\"\ncolumns.b.role = \"quasi-identifier\"\n\
                  columns.c.role = \"class\"";
    let mut state = 11u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    for _ in 0..300 {
        let row = |_| format!("a{},b{},{}", next(6).min(next(6)), next(6).min(next(6)), next(2));
        let rows: Vec<String> = (0..40).map(row).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let table = TestTable::new(policy, &[], &rows);
        let cm = |params| {
            let recoding = run(BottomUpGeneralization(params), &table, 0).unwrap().recoding;
            let verified = verify_against(&table.profile, recoding, &table.models, &table.policy, 0).unwrap();
            let context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
            Measures::of(&context).get("cm").unwrap()
        };
        let (climbed, refined) = (cm(as_published().0), cm(BottomUpParams { search: 20, ..BottomUpParams::default() }));
        assert!(refined <= climbed + 1e-9, "{climbed} -> {refined}: {rows:?}");
    }
}

/// A suppression budget never makes the result worse, also with models other than k-anonymity.
#[test]
fn with_a_budget_no_more_is_lost_than_without() {
    let policy = "[privacy.lkc]\nl = 2\nk = 3\nc = 0.85\n[columns.a]\nrole = \"quasi-identifier\"\n[columns.b]\n\
                  role = \"quasi-identifier\"\n[columns.c]\nrole = \"quasi-identifier\"\n[columns.s]\nrole = \"sensitive\"\n\
                  [columns.class]\nrole = \"class\"";
    let mut state = 1u64;
    let mut die = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below * ((state >> 50) % below) / below
    };
    let rows: Vec<String> =
        (0..300).map(|_| format!("{},{},{},{},{}", die(9), die(7), die(12), die(5), die(3))).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let table = TestTable::new(policy, &[], &rows);
    let method = BottomUpGeneralization(BottomUpParams { search: 20, ..BottomUpParams::default() });
    let lost = |allowed: u64| {
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: allowed, seed: 0 };
        method.precision_loss(&task, &run(method, &table, allowed).unwrap().recoding)
    };
    for allowed in [6, 30, 90] {
        assert!(lost(allowed) <= lost(0), "{allowed}: {} {}", lost(allowed), lost(0));
    }
}
