//! Suppression: within the budget, as a group that satisfies the policy, and never for nothing.

use moretta_core::{
    hierarchy::Cell,
    ids::{GroupId, TupleId},
    objective::LossMetric,
    privacy::Group,
    profile::{Profile, VariantCount},
    recoding::Recoding,
    search::{NoObserver, Task, check_supported},
};
use proptest::prelude::*;

use crate::{
    methods::methods,
    world::{World, cases, worlds},
};

/// Methods of local recoding, which run again without outliers, and top-down disclosure, which goes on from its result.
const NEVER_WORSE: [&str; 6] =
    ["sweep", "k-member", "local-bottom-up", "local-top-down", "mondrian", "top-down-disclosure"];

/// Loss of all records; suppressed ones, and those with `*` in every column, lose everything.
fn loss(profile: &Profile, recoding: &Recoding, metric: LossMetric) -> f64 {
    let full = |(_, column): (usize, &moretta_core::profile::Column)| match metric {
        LossMetric::Lm => column.weight,
        LossMetric::Ncp => column.weight * column.domain.ncp(column.domain.whole()),
    };
    let full: f64 = profile.columns().iter().enumerate().map(full).sum();
    let of_cells = |cells: &[Cell]| -> f64 {
        let mut columns = profile.columns().iter().zip(cells);
        if columns.clone().all(|(column, cell)| column.domain.is_star(*cell)) {
            return full;
        }
        columns.by_ref().map(|(column, cell)| column.weight * metric.of(&column.domain, *cell)).sum()
    };
    match recoding {
        Recoding::Global(cut) => {
            let of_tuple = |tuple: TupleId| {
                let cells: Vec<Cell> =
                    profile.codes(tuple).iter().zip(&cut.cells).map(|(&code, cells)| cells[code as usize]).collect();
                let suppressed = cut.suppressed.contains(&tuple);
                profile.tuple_records(tuple) as f64 * if suppressed { full } else { of_cells(&cells) }
            };
            (0..profile.tuples() as u32).map(TupleId).map(of_tuple).sum()
        }
        Recoding::Local(groups) => {
            let of_group = |group: GroupId| {
                if groups.suppressed == Some(group) {
                    full
                } else {
                    of_cells(groups.box_of(group, profile.columns().len()))
                }
            };
            groups.assignments.iter().map(|of| of.records as f64 * of_group(of.group)).sum()
        }
    }
}

fn suppressed(profile: &Profile, recoding: &Recoding) -> Vec<VariantCount> {
    let all = |variant| VariantCount { variant, records: profile.variant_records(variant) };
    match recoding {
        Recoding::Global(cut) => cut.suppressed.iter().flat_map(|&tuple| profile.variants_of(tuple)).map(all).collect(),
        Recoding::Local(groups) => {
            let own = groups.assignments.iter().filter(|assignment| Some(assignment.group) == groups.suppressed);
            own.map(|assignment| VariantCount { variant: assignment.variant, records: assignment.records }).collect()
        }
    }
}

/// Metric that a run minimizes.
fn metric(name: &str, entry: &str, profile: &Profile) -> LossMetric {
    let by_class = !name.contains("measure") && profile.class().is_some();
    match entry {
        "mondrian" => LossMetric::Ncp,
        "top-down-disclosure" if name.contains("\"lm\"") || by_class => LossMetric::Lm,
        "top-down-disclosure" => LossMetric::Ncp,
        _ if name.ends_with("Lm") => LossMetric::Lm,
        _ => LossMetric::Ncp,
    }
}

fn suppresses_well(world: &World, share: f64) -> Result<(), TestCaseError> {
    let counts = world.counts();
    let profile = world.profile(&counts);
    let models = world.models(&profile);
    let task = |max_suppressed| Task { profile: &profile, models: &models, max_suppressed, seed: 7 };
    let allowed = (share * profile.records() as f64) as u64;
    for (name, entry, method) in methods() {
        if check_supported(&*method, entry, &task(allowed)).is_err() {
            continue;
        }
        let run = |max_suppressed| method.run(&task(max_suppressed), &NoObserver).map(|outcome| outcome.recoding);
        // A task that can be solved without suppression can be solved with it.
        let Ok(without) = run(0) else { continue };
        let with = run(allowed).map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        let members = suppressed(&profile, &with);
        let records: u64 = members.iter().map(|member| member.records).sum();
        prop_assert!(records <= allowed, "{name}: {records} of {allowed}");
        prop_assert!(suppressed(&profile, &without).is_empty(), "{name}");
        let group = Group::new(&profile, &members);
        prop_assert!(members.is_empty() || models.iter().all(|model| model.holds(&group)), "{name}: {members:?}");
        if NEVER_WORSE.contains(&entry) {
            let metric = metric(&name, entry, &profile);
            let (with, without) = (loss(&profile, &with, metric), loss(&profile, &without, metric));
            prop_assert!(with <= without + 1e-6, "{name}: {with} instead of {without}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn suppression_keeps_to_the_budget_and_gains(world in worlds(), share in prop_oneof![Just(0.1), Just(0.3), Just(1.0)]) {
        suppresses_well(&world, share)?;
    }
}
