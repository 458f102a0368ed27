//! Checks and measures of a printed file agree with naive ones.

use moretta_core::{
    hierarchy::{LabelReader, ReadCell},
    measure::{MEASURES, MeasureContext, Measures},
    policy::{Numbers, bind_all},
    profile::Profile,
    readback,
    released::{Covered, Released},
    search::{NoObserver, Task},
    testing::conformance::Verdict,
    verify::{Judgement, Verified, check_against, verify_against},
};
use proptest::prelude::*;

use crate::{
    losses,
    methods::methods,
    naive_engine::group_and_count,
    naive_engine::print_release,
    random_cut::random_cut,
    world::{TextRows, World, cases, worlds},
};

fn verdict(judgement: &Judgement) -> Verdict {
    let Judgement { holds, groups, failing_groups, failing_records, .. } = *judgement;
    assert_eq!(holds, failing_groups == 0);
    assert_eq!(holds, judgement.worst_margin >= 0.0);
    Verdict { holds, groups, failing_groups, failing_records }
}

/// Checks that the judgements of a file equal the naive verdicts. Returns the file's profile.
fn checked(world: &World, header: &[String], rows: &TextRows) -> Result<Profile, TestCaseError> {
    // A release has no persons and no households.
    let mut columns = Profile::grouped_columns(&world.policy);
    columns.retain(|name| header.contains(name));
    let counts = group_and_count(header, rows, &columns);
    let profile = Profile::of_release(&world.policy, &world.hierarchies, &counts).expect("a file of these columns");
    let models = bind_all(&world.policy, &profile).expect("the models fit the file");
    let judgements: Vec<Verdict> = check_against(&profile, &models).iter().map(verdict).collect();
    prop_assert_eq!(judgements, world.verdicts(header, rows));
    Ok(profile)
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        (a, b) => a == b,
    }
}

/// Checks that the cell stored for each label covers the same values as the parsed label.
fn cells_are_those_of_the_labels(profile: &Profile, released: &Released) -> Result<(), TestCaseError> {
    for (index, column) in profile.columns().iter().enumerate() {
        let reader = LabelReader::new(&column.domain);
        for (label, text) in (0..).zip(released.labels(index)) {
            match (released.covered(index, label), reader.read(text)) {
                (Some(Covered::Cell(kept)), Some(ReadCell::Cell(read))) => {
                    prop_assert_eq!((kept.first, kept.last), (read.first, read.last), "{}", text);
                }
                (Some(Covered::Set(kept)), Some(ReadCell::Set(read))) => prop_assert_eq!(kept, &read[..]),
                (None, _) => prop_assert!(column.domain.read_number(text).is_some(), "{}", text),
                other => prop_assert!(false, "{text}: {other:?}"),
            }
        }
    }
    Ok(())
}

/// Compares the measures of a verified recoding, of the file it prints, and the naive ones record by record.
fn measured(world: &World, profile: &Profile, verified: &Verified) -> Result<(), TestCaseError> {
    let counts = world.counts();
    let (header, rows, _) = print_release(world, &counts, verified);
    let file = checked(world, &header, &rows)?;
    let forms = readback::check_forms(&world.policy, &world.hierarchies, &file);
    prop_assert!(forms.is_ok(), "{:?}", forms);
    cells_are_those_of_the_labels(profile, verified.released())?;
    let context = MeasureContext::of_recoding(&world.policy, profile, verified.released());
    let own = Measures::of(&context);
    let naive = losses::measures(world, &world.printed(&header, &rows));
    let cells = world.policy.release.numbers == Numbers::Interval;
    for entry in MEASURES.iter().filter(|entry| cells || !entry.needs_cells) {
        prop_assert!(
            close(own.get(entry.name), naive.of_release[entry.name]),
            "{}: {:?}, naively {:?} of {:?}",
            entry.name,
            own.get(entry.name),
            naive.of_release[entry.name],
            rows
        );
    }
    for column in (0..profile.columns().len()).filter(|_| cells) {
        for (name, own) in Measures::of_column(&context, column).0 {
            let naive = naive.of_columns[name][column];
            prop_assert!(close(own, Some(naive)), "{name} of column {column}: {own:?}, naively {naive} of {rows:?}");
        }
    }
    if cells {
        let read = Released::of_file(profile, &file);
        let read = read.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let context = MeasureContext::new(&world.policy, profile, &file, &read);
        let again = Measures::of(&context);
        for ((name, own), (_, again)) in own.0.iter().zip(&again.0) {
            prop_assert!(close(*own, *again), "{name}: {own:?}, read back {again:?} of {rows:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(1200))]

    #[test]
    fn the_checker_agrees_with_the_oracle_on_raw_tables(world in worlds()) {
        checked(&world, &world.header, &world.rows)?;
    }

    #[test]
    fn methods_are_measured_alike_here_there_and_naively(world in worlds()) {
        let profile = world.profile(&world.counts());
        let models = world.models(&profile);
        let task = Task { profile: &profile, models: &models, max_suppressed: world.allowed_suppressed(), seed: 3 };
        for (_, _, method) in methods() {
            let Ok(outcome) = method.run(&task, &NoObserver) else { continue };
            let verified = verify_against(&profile, outcome.recoding, &models, &world.policy, task.max_suppressed);
            if verified.is_err() && models.iter().any(|model| !model.is_closed_under_union()) {
                continue;
            }
            measured(&world, &profile, &verified.expect("what a method finds holds"))?;
        }
    }

    #[test]
    fn cuts_are_measured_alike_here_there_and_naively(world in worlds()) {
        let profile = world.profile(&world.counts());
        let cut = random_cut(&profile, &mut world.dice.clone());
        let verified = verify_against(&profile, cut, &[], &world.policy, profile.records());
        measured(&world, &profile, &verified.expect("a cut without models"))?;
    }
}
