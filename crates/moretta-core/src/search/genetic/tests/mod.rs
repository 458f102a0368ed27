//! Examples from the paper and properties of every run. `reference` compares with naive implementations, `segments`
//! tests the validity of random chromosomes.

mod reference;
mod segments;

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use super::{Genetic, GeneticParams, evaluate::Evaluator, merged_tuples::MergedTuples};
use crate::{
    measure::MeasureContext,
    objective::{LossMetric, Objective, ObjectiveKind},
    recoding::{Cut, Recoding, SUPPRESSION_WORK},
    search::{Method, NoObserver, Observer, Stop, Task},
    testing::{After, POINTS, TestTable},
    verify::verify_against,
};

/// Fast parameters that suffice for small tables.
pub(super) fn small() -> GeneticParams {
    let population = std::num::NonZeroU32::new(60).unwrap();
    GeneticParams { population, iterations: 4000, patience: 1500, ..GeneticParams::default() }
}

/// Evolution only, as published.
pub(super) fn plain() -> GeneticParams {
    GeneticParams { seeds: false, local_search: false, partial: false, ..small() }
}

pub(super) fn genetic(params: GeneticParams, objective: ObjectiveKind) -> Genetic {
    Genetic { params, objectives: vec![Objective { kind: objective, weight: 1.0 }] }
}

pub(super) fn cm() -> ObjectiveKind {
    ObjectiveKind::Classification { column: None, costs: Default::default() }
}

pub(super) fn task(table: &TestTable, max_suppressed: u64, seed: u64) -> Task<'_> {
    Task { profile: &table.profile, models: &table.models, max_suppressed, seed }
}

pub(super) const WORK: &str = "inc;Self;*\nnot-inc;Self;*\nfederal;Government;*\nstate;Government;*\n\
                               local;Government;*\nprivate;private;*\nwithout pay;Unemployed;*\nnever worked;Unemployed;*";

/// Example of twenty points with two classes.
fn points(k: u64) -> TestTable {
    let policy = format!(
        "privacy.k = {k}\ncolumns.x.role = \"quasi-identifier\"\ncolumns.y.role = \"quasi-identifier\"\n\
         columns.c.role = \"class\""
    );
    TestTable::new(&policy, &[], POINTS)
}

#[test]
fn three_of_twenty_points_outside_the_majority_cost_0_15() {
    let table = points(2);
    let genetic = genetic(small(), cm());
    let context = genetic.context(&task(&table, 0, 1)).unwrap();
    let full = MergedTuples::new(&context, None);
    // x is split after 7.5 (codes 0, 1, 3, 7, 7.5, 8, ..) and y after 3.5 (codes 0, 1, 2, 3.5, 4, ..).
    let mut chromosome = super::chromosome::Chromosome::zeros(context.segments[1].bits.end);
    chromosome.set(4, true);
    chromosome.set(context.segments[1].bits.start + 3, true);
    let mut evaluator = Evaluator::default();
    evaluator.load(&context, &chromosome);
    assert_eq!(evaluator.evaluate(&context, &full).value, 0.15);
}

#[test]
fn it_separates_what_the_class_depends_on() {
    // The class depends only on whether x is at least 5; by precision alone, separating z would be better.
    let policy = "privacy.k = 4\ncolumns.x.role = \"quasi-identifier\"\ncolumns.z.role = \"quasi-identifier\"\n\
                  columns.c.role = \"class\"";
    let rows: Vec<String> =
        (0..64).map(|row| format!("{},{},{}", row % 10, row / 8, if row % 10 < 5 { "low" } else { "high" })).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let table = TestTable::new(policy, &[], &rows);
    let task = task(&table, 0, 1);
    for params in [small(), plain()] {
        let outcome = genetic(params, cm()).run(&task, &NoObserver).unwrap();
        let Recoding::Global(cut) = &outcome.recoding else { panic!("a cut") };
        assert_ne!(cut.cells[0][4], cut.cells[0][5]);
        let verified = verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 0).unwrap();
        let released = verified.released();
        let measure_context = MeasureContext::of_recoding(&table.policy, &table.profile, released);
        assert_eq!(Objective { kind: cm(), weight: 1.0 }.value(&measure_context), Some(0.0));
    }
}

/// Ninety records with a hierarchy, a free number and a class.
fn workers() -> TestTable {
    let policy = "privacy.k = 3\ncolumns.w = { role = \"quasi-identifier\", hierarchy = \"w.csv\" }\n\
                  columns.x.role = \"quasi-identifier\"\ncolumns.c.role = \"class\"";
    let work = ["inc", "not-inc", "federal", "state", "local", "private", "without pay", "never worked"];
    let rows: Vec<String> =
        (0..90).map(|row| format!("{},{},{}", work[row * row % 11 % 8], row * 7 % 19, row * 5 % 3)).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    TestTable::new(policy, &[("w", WORK)], &rows)
}

#[test]
fn the_seed_alone_decides_on_any_number_of_threads() {
    for (table, params) in [(points(3), plain()), (workers(), small())] {
        let run = |threads: usize, seed: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found =
                pool.install(|| genetic(params.clone(), cm()).run(&task(&table, 4, seed), &NoObserver).unwrap());
            (found.recoding, found.work)
        };
        for seed in [7, 8] {
            let once = run(1, seed);
            assert_eq!(once, run(2, seed));
            assert_eq!(once, run(5, seed));
        }
    }
}

/// Records the reported best values.
#[derive(Default)]
struct Listener(Mutex<Vec<f64>>);

impl Observer for Listener {
    fn best(&self, value: f64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }
}

#[test]
fn reported_values_decrease_to_that_of_the_release() {
    for (table, params) in [(points(2), plain()), (points(2), small()), (workers(), small())] {
        let listener = Listener::default();
        let outcome = genetic(params, cm()).run(&task(&table, 20, 3), &listener).unwrap();
        let reported = listener.0.into_inner().unwrap();
        assert!(reported.len() > 1 && reported.windows(2).all(|two| two[1] <= two[0]), "{reported:?}");
        let verified = verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 20).unwrap();
        let released = verified.released();
        let measure_context = MeasureContext::of_recoding(&table.policy, &table.profile, released);
        assert_eq!(Objective { kind: cm(), weight: 1.0 }.value(&measure_context), reported.last().copied());
    }
}

#[test]
fn a_search_stopped_at_any_time_returns_a_valid_release() {
    let table = points(3);
    let mut stopped = 0;
    for checks in [0, 1, 2, 3, 5, 8, 13, 30, 60] {
        let observer = After::asked(checks);
        let outcome = genetic(small(), cm()).run(&task(&table, 2, 1), &observer).unwrap();
        assert_eq!(outcome.stop == Stop::OutOfTime, observer.stopped());
        stopped += u32::from(observer.stopped());
        verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 2).unwrap();
    }
    assert!(stopped >= 5);
}

/// Each evaluation reads every group a few times, also if nearly all groups are suppressed, most of them one by one.
#[test]
fn the_work_of_suppression_is_linear() {
    // One value of `s` in three is guarded, and hardly any group of the first cuts has three records.
    let rows: Vec<String> = (0..600u32)
        .map(|row| row.wrapping_mul(2_654_435_761) >> 8)
        .map(|random| format!("{},{},{},{}", random % 19, random / 19 % 23, random / 437 % 17, random / 7429 % 3))
        .collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let policy = "privacy.template = [{ given = [\"a\", \"b\", \"c\"], column = \"s\", values = [\"0\"], max-confidence = \
                  0.4 }, { given = [\"c\"], column = \"s\", values = [\"0\", \"1\"], max-confidence = 0.5 }]\n\
                  columns.a.role = \"quasi-identifier\"\ncolumns.b.role = \"quasi-identifier\"\n\
                  columns.c.role = \"quasi-identifier\"\ncolumns.s.role = \"sensitive\"";
    let table = TestTable::new(policy, &[], &rows);
    let method = genetic(GeneticParams { iterations: 300, ..plain() }, ObjectiveKind::Precision(LossMetric::Lm));
    // One thread, because the counter is by thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (outcome, suppression) = pool.install(|| {
        let outcome = method.run(&task(&table, 180, 1), &NoObserver).unwrap();
        (outcome, SUPPRESSION_WORK.get())
    });
    let evaluations = outcome.work.iter().find(|(name, _)| *name == "evaluations").unwrap().1;
    let per_record = suppression as f64 / (evaluations * 600) as f64;
    assert!(evaluations > 200 && (1.0..12.0).contains(&per_record), "{evaluations} {per_record}");
}

#[test]
fn end_points_limit_the_intervals() {
    let table = points(2);
    let end_points: BTreeMap<_, _> = [("x".to_owned(), vec![super::end_points::EndPoint::Number(7.5)])].into();
    let params = GeneticParams { end_points, partial: true, ..small() };
    let outcome = genetic(params.clone(), ObjectiveKind::Precision(LossMetric::Lm))
        .run(&task(&table, 20, 1), &NoObserver)
        .unwrap();
    let Recoding::Global(cut) = &outcome.recoding else { panic!("a cut") };
    let mut ends: Vec<u32> = cut.cells[0].iter().map(|cell| cell.last).collect();
    ends.dedup();
    assert!(ends.iter().all(|end| [4, 7].contains(end)), "{ends:?}");
    let few = GeneticParams { points: std::num::NonZeroU32::new(1).unwrap(), ..small() };
    let outcome =
        genetic(few, ObjectiveKind::Precision(LossMetric::Lm)).run(&task(&table, 20, 1), &NoObserver).unwrap();
    let Recoding::Global(cut) = &outcome.recoding else { panic!("a cut") };
    assert!(cut.cells.iter().all(|cells| cells.windows(2).filter(|two| two[0] != two[1]).count() <= 1));
    let unknown = GeneticParams { end_points: [("c".to_owned(), Vec::new())].into(), ..params };
    let refused = genetic(unknown, cm()).supports(&task(&table, 0, 1)).unwrap_err();
    assert!(refused.to_string().ends_with("`end-points` names `c`, which is not a quasi-identifier"), "{refused}");
}

#[test]
fn a_table_that_needs_no_recoding_is_released_as_it_is() {
    let policy = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"";
    for rows in [&[("1", 3)][..], &[("1", 3), ("2", 2)]] {
        let table = TestTable::new(policy, &[], rows);
        let outcome =
            genetic(small(), ObjectiveKind::Precision(LossMetric::Lm)).run(&task(&table, 0, 1), &NoObserver).unwrap();
        assert_eq!(outcome.recoding, Recoding::Global(Cut::identity(&table.profile)));
    }
}
