//! Answers that can be worked out by hand. The naive reference is in the conformance suite.

use moretta_core::{
    policy::ReleaseOptions,
    recoding::{Cut, Recoding},
    testing::TestTable,
};

use super::*;

const JOBS: &str = "nurse;care;*\nmidwife;care;*\nclerk;office;*\nscribe;office;*\n";
const POLICY: &str = "[privacy]\nk = 2\n[columns]\nage.role = \"quasi-identifier\"\nage.hierarchy = \"free\"\n\
                      job.role = \"quasi-identifier\"\njob.hierarchy = \"job.csv\"";
const AGE: ColumnId = ColumnId(0);
const JOB: ColumnId = ColumnId(1);

fn table() -> TestTable {
    let rows = [("20,nurse", 2), ("24,midwife", 1), ("29,clerk", 3), ("40,clerk", 1), ("40,scribe", 3)];
    TestTable::new(POLICY, &[("job", JOBS)], &rows)
}

/// Ages up to 29 and 40, jobs by kind.
fn released(table: &TestTable) -> Released {
    let (age, job) = (table.profile.domain(AGE), table.profile.domain(JOB));
    let ages = vec![age.cover(0, 2), age.cover(0, 2), age.cover(0, 2), age.cover(3, 3)];
    let jobs = vec![job.cover(0, 1), job.cover(0, 1), job.cover(2, 3), job.cover(2, 3)];
    let cut = Recoding::Global(Cut { cells: vec![ages, jobs], suppressed: Vec::new() });
    Released::of_recoding(&table.profile, &cut, &ReleaseOptions::default())
}

fn estimator(table: &TestTable, released: &Released) -> ReleaseEstimator {
    ReleaseEstimator::new(&table.profile, released, &ReleaseOptions::default()).unwrap()
}

fn own(table: &TestTable, text: &str) -> Vec<Query> {
    let own = parse(text, &table.profile).unwrap_or_else(|error| panic!("{error}\n{text}"));
    own.into_iter().map(|own| own.query).collect()
}

#[test]
fn shares_of_boxes() {
    let table = table();
    let (original, estimator) = (Original::new(&table.profile), estimator(&table, &released(&table)));
    // Three in care and three in offices, all of [20, 29]; four in offices, all 40.
    let expected = [
        ("count = true", 10, 10.0, 10.0),
        ("sum = \"age\"", 10, 311.0, 6.0 * 24.5 + 160.0),
        // 22 to 24 are three of the ten numbers from 20 to 29.
        ("count = true\nwhere = { age = [22, 24] }", 1, 1.0, 6.0 * 0.3),
        ("sum = \"age\"\nwhere = { age = [22, 24] }", 1, 24.0, 6.0 * 0.3 * 23.0),
        ("count = true\nwhere = { age = [21.5, 24.5] }", 1, 1.0, 6.0 * 0.3),
        ("count = true\nwhere = { age = [29, 50] }", 7, 7.0, 6.0 * 0.1 + 4.0),
        ("sum = \"age\"\nwhere = { age = 40 }", 4, 160.0, 160.0),
        ("count = true\nwhere = { age = [30, 39] }", 0, 0.0, 0.0),
        ("count = true\nwhere = { job = \"clerk\" }", 4, 4.0, 3.5),
        ("count = true\nwhere = { job = \"care\" }", 3, 3.0, 3.0),
        ("count = true\nwhere = { job = \"clerk\", age = [25, 60] }", 4, 4.0, 0.5 * (3.0 * 0.5 + 4.0)),
        ("sum = \"age\"\nwhere = { job = \"clerk\" }", 4, 127.0, 0.5 * (3.0 * 24.5 + 160.0)),
        ("count = true\nwhere = { job = \"*\", age = \"*\" }", 10, 10.0, 10.0),
    ];
    for (text, records, truth, answer) in expected {
        let query = own(&table, &format!("[[query]]\n{text}"));
        let [found] = ask(&original, &estimator, &query)[..] else { panic!() };
        assert_eq!(found.truth, Truth { records, answer: truth }, "{text}");
        assert!((found.answer - answer).abs() < 1e-12, "{text}: {}", found.answer);
    }
}

#[test]
fn numbers_that_are_not_whole_fill_their_box_evenly() {
    let policy = "[privacy]\nk = 2\n[columns]\nage.role = \"quasi-identifier\"\nage.hierarchy = \"free\"";
    let table = TestTable::new(policy, &[], &[("0.5", 1), ("1.5", 1), ("4.5", 2)]);
    let cells = vec![vec![table.profile.domain(AGE).whole(); 3]];
    let cut = Recoding::Global(Cut { cells, suppressed: Vec::new() });
    let released = Released::of_recoding(&table.profile, &cut, &ReleaseOptions::default());
    let estimator = estimator(&table, &released);
    let ask = |aggregate, low, high| {
        estimator.answer(&Query { aggregate, conditions: vec![(AGE, Condition::Between(low, high))] })
    };
    assert_eq!(ask(Aggregate::Count, 0.5, 2.5), 2.0);
    assert_eq!(ask(Aggregate::Sum(AGE), 0.5, 2.5), 3.0);
    assert_eq!(ask(Aggregate::Count, 1.5, 1.5), 0.0, "a single value has no length");
    assert_eq!(ask(Aggregate::Count, 5.0, 9.0), 0.0);
    let cut = Recoding::identity(&table.profile);
    let released = Released::of_recoding(&table.profile, &cut, &ReleaseOptions::default());
    let estimator = ReleaseEstimator::new(&table.profile, &released, &ReleaseOptions::default()).unwrap();
    let point = Query { aggregate: Aggregate::Count, conditions: vec![(AGE, Condition::Between(1.5, 4.5))] };
    assert_eq!(estimator.answer(&point), 3.0, "a box of a single value is inside or not");
}

#[test]
fn errors_are_relative_and_grouped_by_selectivity() {
    let answered = |records, truth, answer| Answered { truth: Truth { records, answer: truth }, answer };
    let all = [
        answered(1, 1.0, 3.0),
        answered(10, 10.0, 9.0),
        answered(11, -20.0, -10.0),
        answered(1000, 1000.0, 1000.0),
        answered(0, 0.0, 5.0),
    ];
    assert_eq!(all.map(|one| one.error()), [Some(2.0), Some(0.1), Some(0.5), Some(0.0), None]);
    assert_eq!(errors(&all), Errors { queries: 4, mean: Some(0.65), median: Some(0.3) });
    let classes = errors_by_class(&all, 1000);
    assert_eq!(classes.iter().map(|class| class.errors.queries).collect::<Vec<_>>(), [1, 1, 1, 1]);
    assert_eq!(classes[0].errors.mean, Some(2.0), "one of a thousand belongs to the lowest class");
    assert_eq!(errors(&[]), Errors::default());
}

#[test]
fn random_queries_have_answers_and_depend_on_the_seed_alone() {
    let table = table();
    let original = Original::new(&table.profile);
    let plan = Draw { count: 300, seed: 7, columns: None };
    let drawn = |plan: &Draw| draw(&original, Aggregate::Count, plan);
    let found = drawn(&plan);
    assert_eq!(found.queries.len(), 300);
    assert!(found.drawn > 300);
    for (query, truth) in &found.queries {
        assert!(truth.records > 0 && query.conditions.len() == 2);
        assert_eq!(original.answer(query), *truth);
    }
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| drawn(&plan));
    assert_eq!((alone.queries, alone.drawn), (found.queries.clone(), found.drawn));
    assert_ne!(drawn(&Draw { seed: 8, ..plan }).queries, found.queries);
    let one = drawn(&Draw { columns: Some(1), ..plan });
    assert!(one.queries.iter().all(|(query, _)| query.conditions.len() == 1));
    let ages = one.queries.iter().filter(|(query, _)| query.conditions[0].0 == AGE).count();
    assert!((100..250).contains(&ages), "{ages}");
    assert!(drawn(&Draw { columns: Some(9), ..plan }).queries == found.queries, "more than there are is all");
}

#[test]
fn where_nothing_has_an_answer_the_draws_end() {
    let policy = "[privacy]\nk = 2\n[columns]\nn.role = \"quasi-identifier\"";
    let table = TestTable::new(policy, &[], &[("0", 5)]);
    let found = draw(&Original::new(&table.profile), Aggregate::Sum(AGE), &Draw { count: 3, seed: 1, columns: None });
    assert_eq!((found.queries.len(), found.drawn), (0, 3000));
}

#[test]
fn the_original_table_answers_without_error() {
    let table = table();
    let released =
        Released::of_recoding(&table.profile, &Recoding::identity(&table.profile), &ReleaseOptions::default());
    let plan = Draw { count: 100, seed: 1, columns: None };
    let found = compare(&table.profile, &released, &ReleaseOptions::default(), None, &plan).unwrap();
    let sum = found.sum.unwrap();
    assert_eq!((sum.aggregate, sum.answered.len()), (Aggregate::Sum(AGE), 100));
    for workload in [&found.count, &sum] {
        assert_eq!(errors(&workload.answered).mean, Some(0.0));
    }
}

#[test]
fn a_file_at_fault_says_where_and_what_would_be_right() {
    let table = table();
    for (text, says) in [
        ("", "there is no query; write `[[query]]`"),
        ("[[query]\n", "line 1: "),
        ("[[queries]]\ncount = true", "`queries` is not known"),
        ("[[query]]\ncount = true\n[[query]]\n", "query 2: write either"),
        ("[[query]]\ncount = false", "query 1: write either"),
        ("[[query]]\ncount = true\nsum = \"age\"", "query 1: write either"),
        ("[[query]]\ncount = true\nwhen = 3", "query 1: `when` is not known; a query has"),
        ("[[query]]\ncount = true\nwhere = 3", "query 1: `where` must be a table"),
        ("[[query]]\nsum = \"job\"", "query 1: column `job` has no numbers to sum; use one of: age"),
        ("[[query]]\nsum = \"agee\"", "query 1: `agee` is not a quasi-identifier of the policy; did you mean `age`?"),
        ("[[query]]\ncount = true\nwhere = { income = 3 }", "use one of: age, job"),
        ("[[query]]\ncount = true\nwhere = { age = [40, 20] }", "query 1: column `age`: write two numbers"),
        ("[[query]]\ncount = true\nwhere = { age = [20] }", "`age = [20, 40]`"),
        ("[[query]]\ncount = true\nwhere = { age = [20, \"x\"] }", "`age = [20, 40]`"),
        ("[[query]]\ncount = true\nwhere = { age = [nan, 20] }", "`age = [20, 40]`"),
        ("[[query]]\ncount = true\nwhere = { job = [\"clerk\"] }", "query 1: column `job`: write one value"),
        ("[[query]]\ncount = true\nwhere = { job = \"clark\" }", "`clark` is not a value of the original"),
        ("[[query]]\ncount = true\nwhere = { job = \"clark\" }", "did you mean `clerk`?"),
    ] {
        let error = parse(text, &table.profile).unwrap_err().to_string();
        assert!(error.contains(says), "{text}\n{error}");
    }
    let own = parse("[[query]]\ncount = true\nwhere = { job = \"care\", age = [2e1, 40] }", &table.profile).unwrap();
    let written = [("job", "care"), ("age", "[20, 40]")].map(|(column, text)| (column.to_owned(), text.to_owned()));
    assert_eq!(own[0].conditions, written);
}
