//! Properties of every method: valid results, independence of input order and number of threads.

use std::sync::OnceLock;

use moretta_core::{
    counts::{Change, Counts},
    hierarchy::Hierarchies,
    objective::{LossMetric, Objective},
    policy::MethodChoice,
    profile::Profile,
    recoding::{Cut, Recoding},
    search::{METHODS, Method, NoObserver, Outcome, SearchError, Task, check_supported, method_names},
    testing::conformance::Dice,
    verify::{VerifyError, verify_against},
};
use proptest::prelude::*;

use crate::{
    cells::check_cells,
    naive_engine::{self, print_release},
    parameters::{PARAMETERS, SHORT_PARAMETERS},
    world::{World, cases, worlds},
};

/// Every method with its defaults (or their short replacements) and with each other set of parameters.
pub fn methods() -> Vec<(String, &'static str, Box<dyn Method>)> {
    let mut all = Vec::new();
    for entry in METHODS {
        let own = PARAMETERS.iter().filter(|(name, _)| *name == entry.name).map(|(_, parameters)| *parameters);
        let defaults =
            SHORT_PARAMETERS.iter().find(|(name, _)| *name == entry.name).map_or("", |(_, parameters)| *parameters);
        for parameters in std::iter::once(defaults).chain(own) {
            let choice = MethodChoice::new(entry.name, parameters.parse().expect("parameters in TOML"));
            // Methods that accept an objective are tested with both loss metrics.
            let losses = [LossMetric::Ncp, LossMetric::Lm]
                .into_iter()
                .filter(|loss| entry.objectives.default_metric().is_some() || *loss == LossMetric::Ncp);
            for loss in losses {
                let method =
                    (entry.build)(&choice, &[Objective::precision(loss)]).unwrap_or_else(|error| panic!("{error}"));
                all.push((format!("{} {parameters} {loss:?}", entry.name), entry.name, method));
            }
        }
    }
    all
}

/// Checks that the steps lead from the original table to the result.
fn check_path(profile: &Profile, outcome: &Outcome) -> Result<(), TestCaseError> {
    let Recoding::Global(found) = &outcome.recoding else { return Ok(()) };
    let mut cut = Cut::identity(profile);
    outcome.path.iter().for_each(|step| cut.apply(step));
    prop_assert!(outcome.path.is_empty() || cut.cells == found.cells, "{:?}\n{:?}", cut, found);
    Ok(())
}

fn whole_table_holds(world: &World) -> bool {
    let mut rows = world.rows.clone();
    rows.iter_mut().for_each(|row| row[..world.quasi.len()].fill("*".to_owned()));
    world.holds(&world.header, &rows)
}

fn keeps_its_promises(world: &World) -> Result<(), TestCaseError> {
    let counts = world.counts();
    let profile = world.profile(&counts);
    let models = world.models(&profile);
    let max_suppressed = world.allowed_suppressed();
    let task = Task { profile: &profile, models: &models, max_suppressed, seed: 7 };
    for (name, entry, method) in methods() {
        if let Err(unsupported) = check_supported(&*method, entry, &task) {
            let another = |other: &str| method_names().contains(&other) && other != unsupported.method;
            prop_assert!(unsupported.instead.is_some_and(another));
            continue;
        }
        let outcome = match method.run(&task, &NoObserver) {
            Ok(outcome) => outcome,
            Err(SearchError::Impossible { .. }) => {
                prop_assert!(!whole_table_holds(world), "{name} gives up too soon");
                continue;
            }
            Err(error) => return Err(TestCaseError::fail(format!("{name}: {error}"))),
        };
        prop_assert!(whole_table_holds(world), "{name} should have given up");
        check_path(&profile, &outcome).map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        let verified = verify_against(&profile, outcome.recoding, &models, &world.policy, max_suppressed);
        // Groups that print alike are one group of the release; with models that are not closed under union, `run` then
        // searches again (`models.rs`).
        if matches!(verified, Err(VerifyError::Broken(_))) && models.iter().any(|model| !model.is_closed_under_union())
        {
            continue;
        }
        let verified = verified.map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        let (header, rows, change) = print_release(world, &counts, &verified);
        check_cells(world, &header, &rows, matches!(change, Change::Shares { .. }))?;
        let (header, rows) = world.with_persons(&header, &rows);
        let verdicts = world.verdicts(&header, &rows);
        prop_assert!(verdicts.iter().all(|verdict| verdict.holds), "{name}: {verdicts:?}\n{rows:?}");
    }
    Ok(())
}

fn found(method: &dyn Method, world: &World, counts: &Counts) -> Result<Recoding, SearchError> {
    let profile = world.profile(counts);
    let models = world.models(&profile);
    let task = Task { profile: &profile, models: &models, max_suppressed: world.allowed_suppressed(), seed: 7 };
    method.run(&task, &NoObserver).map(|outcome| outcome.recoding)
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn every_result_of_a_method_may_be_released(world in worlds()) {
        keeps_its_promises(&world)?;
    }
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn the_engines_order_does_not_matter(world in worlds()) {
        let counts = world.counts();
        let other = naive_engine::shuffled(&counts, &mut world.dice.clone());
        let apart = naive_engine::one_row_per_record(&world.header, &world.rows, &counts);
        for (name, _, method) in methods() {
            let expected = found(&*method, &world, &counts);
            prop_assert_eq!(&found(&*method, &world, &other), &expected, "{}", &name);
            prop_assert_eq!(&found(&*method, &world, &apart), &expected, "{}, record by record", &name);
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter(world in worlds()) {
        on_any_number_of_threads(&world)?;
    }
}

fn on_any_number_of_threads(world: &World) -> Result<(), TestCaseError> {
    static POOLS: OnceLock<Vec<rayon::ThreadPool>> = OnceLock::new();
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let pools = POOLS.get_or_init(|| [1, 2, 4].map(pool).into());
    let counts = world.counts();
    for (name, _, method) in methods() {
        let results: Vec<_> = pools.iter().map(|pool| pool.install(|| found(&*method, world, &counts))).collect();
        prop_assert!(results.iter().all(|result| *result == results[0]), "{name}");
    }
    Ok(())
}

/// Methods use one thread for small tables; this one is large enough for several.
#[test]
fn the_number_of_threads_does_not_matter_for_a_larger_table() {
    let mut state = 1u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let row = |_| vec![next(90).to_string(), format!("z{}", next(40)), next(50).to_string(), next(3).to_string()];
    let mut world = World::new(Dice::new(Vec::new()));
    let text = "version = 1\nprivacy.k = 5\ncolumns.age.role = \"quasi-identifier\"\ncolumns.zip.role = \
                \"quasi-identifier\"\ncolumns.hours.role = \"quasi-identifier\"\ncolumns.ill.role = \"sensitive\"\n\
                [[privacy.l-diversity]]\ncolumn = \"ill\"\nl = 2\n";
    world.policy = moretta_core::policy::Policy::parse(text, &method_names()).unwrap();
    world.hierarchies = Hierarchies::default();
    world.header = ["age", "zip", "hours", "ill"].map(str::to_owned).to_vec();
    world.rows = (0..8000).map(row).collect();
    on_any_number_of_threads(&world).unwrap();
}
