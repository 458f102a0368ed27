//! The method never loses more than a method that it tried, does not depend on threads, and may be stopped at any time.

use proptest::prelude::*;

use super::{rows, table};
use crate::{
    objective::LossMetric,
    recoding::Recoding,
    search::{
        Method, NoObserver, Outcome, Stop, Task,
        best::{Best, BestParams, Effort, Improver, Plan, Progress, result::Solution, space::BoxLoss, starts},
        local::{GroupRequirements, LossTable},
    },
    testing::{After, TestTable},
    verify::verify_against,
};

fn best(loss: LossMetric) -> Best {
    Best(BestParams { effort: Effort::Low, loss })
}

fn run_on(threads: usize, method: &Best, task: &Task<'_>) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| method.run(task, &NoObserver)).expect("a table that can be released")
}

const DIVERSE: &str = "privacy.l-diversity = [{ column = \"s\", l = 2 }]\n";

/// A larger table, with several regions.
fn people(privacy: &str, count: u32) -> TestTable {
    let mut state = 9u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let leaf = ["a", "b", "c", "d", "e", "f", "?"];
    let row = |_| (format!("{},{},{},s{}", random(90), random(30), leaf[random(7) as usize], random(4)), 1);
    table(privacy, &(0..count).map(row).collect::<Vec<(String, u64)>>(), [1, 2, 1])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn it_loses_no_more_than_any_start(
        rows in rows(),
        k in 2u64..9,
        (diverse, ncp, seed) in (any::<bool>(), any::<bool>(), any::<u64>()),
        max_suppressed in prop_oneof![Just(0u64), 2u64..20],
    ) {
        let table = table(&format!("privacy.k = {k}\n{}", if diverse { DIVERSE } else { "" }), &rows, [1, 2, 3]);
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed, seed };
        if !task.is_satisfied_by(&table.profile.everything()) {
            return Ok(());
        }
        let loss = if ncp { LossMetric::Ncp } else { LossMetric::Lm };
        let loss_table = LossTable::new(&table.profile, loss);
        let outcome = best(loss).run(&task, &NoObserver).unwrap();
        prop_assert_eq!(outcome.stop, Stop::Finished);
        let lost = |outcome: Outcome| Solution::of_outcome(&task, &loss_table, outcome).loss;
        let (tried, own) = (outcome.tried.clone(), lost(outcome.clone()));
        let unsuppressed = Task { max_suppressed: 0, ..task };
        let starts = starts::methods(&unsuppressed, loss);
        prop_assert_eq!(tried.len(), starts.len() + 1);
        for (start, tried) in starts.into_iter().zip(&tried) {
            let share = tried.loss * table.profile.records() as f64 * loss_table.suppressed();
            let other = lost(start.method.run(&unsuppressed, &NoObserver).unwrap());
            prop_assert!(start.name == tried.method && (share - other).abs() < 1e-6 * (1.0 + other));
            prop_assert!(own <= other + 1e-9, "{own} is more than {other} of {}", start.name);
        }
        let without = lost(best(loss).run(&unsuppressed, &NoObserver).unwrap());
        prop_assert!(own <= without + 1e-9, "{own} with suppression, {without} without");
        let verified = verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, max_suppressed);
        prop_assert!(verified.is_ok(), "{:?}", verified.err());
    }

    #[test]
    fn blocks_keep_all_records_and_the_models(rows in rows(), k in 2u64..6, block_records in 5u64..100, seed: u64) {
        let table = table(&format!("privacy.k = {k}\n"), &rows, [1, 1, 1]);
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed };
        if table.profile.records() < k {
            return Ok(());
        }
        let loss_table = LossTable::new(&table.profile, LossMetric::Ncp);
        let box_loss = BoxLoss::new(&table.profile, &loss_table);
        let start = starts::methods(&task, LossMetric::Ncp).remove(0);
        let outcome = start.method.run(&task, &NoObserver).unwrap();
        let mut solution = Solution::of_outcome(&task, &loss_table, outcome);
        let before = solution.loss;
        let plan = Plan { work: 100_000, start: 0.5, end: 0.02 };
        let progress = Progress::new(&NoObserver, plan.work);
        let requirements = GroupRequirements::of(&task);
        let (loss_table, box_loss, progress) = (&loss_table, &box_loss, &progress);
        let improver = Improver { task: &task, loss_table, box_loss, requirements, progress, block_records };
        solution.clusters = improver.improve(solution.clusters, &plan, seed);
        solution.measure(loss_table);
        prop_assert!(solution.loss <= before + 1e-9);
        let outcome = solution.into_outcome(&task, None, Vec::new());
        let verified = verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 0);
        prop_assert!(verified.is_ok(), "{:?}", verified.err());
    }
}

#[test]
fn the_result_does_not_depend_on_threads() {
    // Tables of several regions, and of one that is improved several times.
    for (records, max_suppressed) in [(6000, 0), (6000, 300), (2000, 0)] {
        let table = people("privacy.k = 3\n", records);
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed, seed: 5 };
        let one = run_on(1, &best(LossMetric::Ncp), &task);
        let Recoding::Local(local) = &one.recoding else { panic!("a local recoding") };
        assert!(local.assignments.len() > 500);
        for threads in [2, 4] {
            let other = run_on(threads, &best(LossMetric::Ncp), &task);
            assert!(one.recoding == other.recoding, "{threads} threads");
            assert_eq!(one.tried, other.tried);
        }
        let improved = one.tried.last().expect("the improvement").loss;
        let starts = one.tried[..one.tried.len() - 1].iter().map(|tried| tried.loss).fold(1.0, f64::min);
        assert!(improved < 0.995 * starts, "{improved} after {starts}");
    }
}

#[test]
fn whenever_it_is_stopped_the_policy_holds() {
    for models in ["", DIVERSE] {
        let table = people(&format!("privacy.k = 5\n{models}"), 1500);
        for max_suppressed in [0, 100] {
            let task = Task { profile: &table.profile, models: &table.models, max_suppressed, seed: 1 };
            for asked in (0..8).chain([20, 100, 300, 400, 500, 600, 700, 750, 800, 900, 1000]) {
                let observer = After::asked(asked);
                let outcome = best(LossMetric::Ncp).run(&task, &observer).unwrap();
                assert_eq!(outcome.stop == Stop::OutOfTime, observer.stopped(), "stopped at {asked}");
                let verified =
                    verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, max_suppressed);
                assert!(verified.is_ok(), "stopped at {asked}");
            }
        }
    }
}
