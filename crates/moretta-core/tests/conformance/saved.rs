//! Saved recodings: they survive a round trip through JSON, and applying one to any table passes verification.

use std::collections::BTreeSet;

use moretta_core::{
    counts::Change,
    hierarchy::{Cell, DomainProblem},
    ids::TupleId,
    policy::{Labels, Numbers, bind_all},
    profile::Profile,
    recoding::Recoding,
    saved::Saved,
    search::{NoObserver, Task},
    testing::conformance::Shape,
    verify::{Verified, VerifyError, verify_against},
};
use proptest::prelude::*;

use crate::{
    cells::check_cells,
    losses::OriginalColumn,
    methods::methods,
    naive_engine::group_and_count,
    naive_engine::print_release,
    random_cut::random_cut,
    world::{TextRows, World, cases, worlds},
};

/// Results of the strict methods and a random cut: recodings that treat equal tuples equally.
fn recodings(world: &World, profile: &Profile) -> Vec<(String, Recoding)> {
    let models = world.models(profile);
    let task = Task { profile, models: &models, max_suppressed: world.allowed_suppressed(), seed: 5 };
    let found = methods()
        .into_iter()
        .filter_map(|(name, _, method)| Some((name, method.run(&task, &NoObserver).ok()?.recoding)));
    let mut all: Vec<(String, Recoding)> = found.filter(|(name, _)| !name.contains("relaxed")).collect();
    let cut = random_cut(profile, &mut world.dice.clone());
    if verify_against(profile, cut.clone(), &models, &world.policy, profile.records()).is_ok() {
        all.push(("cut".to_owned(), cut));
    }
    all
}

/// The release of a table under a saved recoding; `None` if verification refuses it.
fn applied(saved: &Saved, world: &World, rows: &TextRows) -> Result<Option<TextRows>, TestCaseError> {
    let mut counts = group_and_count(&world.header, rows, &Profile::grouped_columns(&saved.policy));
    let profile = match saved.profile(&mut counts) {
        Ok(profile) => profile,
        // A new value in a column without a hierarchy is not covered.
        Err(error) => {
            let spec = world.quasi.iter().find(|spec| spec.name == error.column);
            let flat = spec.is_some_and(|spec| spec.shape == Shape::Flat);
            prop_assert!(flat && matches!(error.problem, DomainProblem::NotInHierarchy { .. }), "{error}");
            return Ok(None);
        }
    };
    let models = bind_all(&saved.policy, &profile).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let recoding = saved.apply(&profile, &models);
    let verified = match verify_against(&profile, recoding, &models, &saved.policy, profile.records()) {
        Ok(verified) => verified,
        // A model that is not closed under union may hold in the suppressed records and in other groups that print `*`,
        // and not in both together.
        Err(VerifyError::Broken(_)) if models.iter().any(|model| !model.is_closed_under_union()) => return Ok(None),
        // Allowed only if even one group of all records violates the model.
        Err(VerifyError::Broken(judgement)) => {
            prop_assert_eq!(judgement.smallest_group, profile.size(), "{:?}", judgement);
            return Ok(None);
        }
        Err(error) => return Err(TestCaseError::fail(error.to_string())),
    };
    let world = World { rows: rows.clone(), policy: saved.policy.clone(), ..world.clone() };
    let (header, out, change) = print_release(&world, &counts, &verified);
    check_cells(&world, &header, &out, matches!(change, Change::Shares { .. }))?;
    let (with, persons) = world.with_persons(&header, &out);
    let holds = world.holds(&with, &persons);
    prop_assert!(holds);
    Ok(Some(out))
}

/// Whether a record also fits the labels of another group. Always true for sets and means, which do not show their box.
fn overlap(world: &World, rows: &TextRows) -> bool {
    let originals = OriginalColumn::all(world);
    let boxes: BTreeSet<&[String]> = rows.iter().map(|row| &row[..world.quasi.len()]).collect();
    let fits = |record: usize, cells: &[String]| {
        originals.iter().zip(cells).all(|(original, cell)| original.covers(original.cells[record], cell))
    };
    let exact = world.policy.release.labels == Labels::Node && world.policy.release.numbers == Numbers::Interval;
    !exact || (0..rows.len()).any(|record| boxes.iter().filter(|cells| fits(record, cells)).count() > 1)
}

/// Whether different cells of a cut print the same mean or midpoint, so that several groups happen to be one. If only
/// their union satisfies the models, applying the recoding suppresses them.
fn alike_by_chance(world: &World, profile: &Profile, verified: &Verified) -> bool {
    let Recoding::Global(cut) = verified.recoding() else { return false };
    let cells = |codes: &[u32]| cut.cells.iter().zip(codes).map(|(cells, &code)| cells[code as usize]).collect();
    let tuples = (0..profile.tuples() as u32).map(TupleId);
    let distinct: BTreeSet<Vec<Cell>> = tuples.map(|tuple| cells(profile.codes(tuple))).collect();
    world.policy.release.numbers != Numbers::Interval && verified.released().groups() < distinct.len()
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn a_saved_recoding_comes_back_and_applies_again(world in worlds()) {
        let counts = world.counts();
        let profile = world.profile(&counts);
        for (name, recoding) in recodings(&world, &profile) {
            let saved = Saved::of(&world.policy, &world.hierarchies, &profile, &recoding);
            let json = saved.to_json();
            let back = Saved::parse(&json).map_err(|error| TestCaseError::fail(format!("{name}: {error}\n{json}")))?;
            prop_assert_eq!(&back.to_json(), &json);
            prop_assert_eq!(&back.hierarchies, &saved.hierarchies);
            let models = world.models(&profile);
            let unsuppressed = recoding.suppressed_records(&profile) == 0;
            let first = verify_against(&profile, recoding, &models, &world.policy, profile.records());
            if matches!(first, Err(VerifyError::Broken(_))) && models.iter().any(|model| !model.is_closed_under_union()) {
                continue;
            }
            let first = first.expect("it was verified");
            let alike = alike_by_chance(&world, &profile, &first);
            let (_, before, _) = print_release(&world, &counts, &first);
            let again = applied(&back, &world, &world.rows)?;
            if again.is_none() && models.iter().any(|model| !model.is_closed_under_union()) {
                continue;
            }
            let again = again.ok_or_else(|| TestCaseError::fail(format!("{name} does not apply to its own table")))?;
            // If each record fits one box only, none was suppressed and no two cells have the same label, the release
            // is the same.
            let own = |row: &Vec<String>| row[..world.quasi.len()].to_vec();
            if unsuppressed && !alike && (name == "cut" || !overlap(&world, &before)) {
                let (before, again): (TextRows, TextRows) = (before.iter().map(own).collect(), again.iter().map(own).collect());
                prop_assert_eq!(before, again, "{}", name);
            }
        }
    }

    #[test]
    fn applied_to_another_table_it_never_breaks_a_model(world in worlds()) {
        let profile = world.profile(&world.counts());
        for (_, recoding) in recodings(&world, &profile) {
            let saved = Saved::of(&world.policy, &world.hierarchies, &profile, &recoding);
            applied(&saved, &world, &world.other)?;
        }
    }
}
