//! Verification accepts a valid cut if and only if the models hold in the printed table, and refuses corrupt recodings.

use moretta_core::{
    counts::Change,
    hierarchy::Cell,
    ids::{GroupId, TupleId, VariantId},
    profile::Profile,
    recoding::{GroupAssignment, LocalRecoding, Recoding},
    verify::{VerifyError, verify_against},
};
use proptest::prelude::*;

use crate::{
    cells::check_cells,
    naive_engine::print_release,
    random_cut::random_cut,
    world::{World, cases, worlds},
};

/// A local recoding with one group per tuple.
fn singletons(profile: &Profile) -> LocalRecoding {
    let mut groups = LocalRecoding::default();
    for tuple in (0..profile.tuples() as u32).map(TupleId) {
        let codes = profile.codes(tuple).iter().zip(profile.columns());
        groups.boxes.extend(codes.map(|(&code, column)| column.domain.cover(code, code)));
        groups.assignments.extend(profile.variants_of(tuple).map(|variant| GroupAssignment {
            group: GroupId(tuple.0),
            variant,
            records: profile.variant_records(variant),
        }));
    }
    groups
}

fn refused(world: &World, profile: &Profile, recoding: Recoding) -> Option<VerifyError> {
    verify_against(profile, recoding, &[], &world.policy, profile.records()).err()
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_cut_is_verified_if_and_only_if_the_oracle_says_so(world in worlds()) {
        let mut dice = world.dice.clone();
        let counts = world.counts();
        let profile = world.profile(&counts);
        let recoding = random_cut(&profile, &mut dice);
        let Recoding::Global(cut) = &recoding else { unreachable!() };
        let suppressed: u64 = cut.suppressed.iter().map(|&tuple| profile.tuple_records(tuple)).sum();
        let policy = &world.policy;
        let unjudged = verify_against(&profile, recoding.clone(), &[], policy, suppressed).expect("a valid cut");
        let (header, rows, change) = print_release(&world, &counts, &unjudged);
        check_cells(&world, &header, &rows, matches!(change, Change::Shares { .. }))?;
        let (header, rows) = world.with_persons(&header, &rows);
        let holds = world.holds(&header, &rows);
        let models = world.models(&profile);
        let result = verify_against(&profile, recoding.clone(), &models, policy, suppressed);
        prop_assert_eq!(result.is_ok(), holds, "{:?}\n{:?}", result.err(), rows);
        if suppressed > 0 {
            let result = verify_against(&profile, recoding, &[], policy, suppressed - 1).map(|_| ());
            let expected = VerifyError::Suppressed { found: suppressed, allowed: suppressed - 1 };
            prop_assert_eq!(result, Err(expected));
        }
    }

    #[test]
    fn a_corrupt_cut_is_refused(world in worlds()) {
        let mut dice = world.dice.clone();
        let profile = world.profile(&world.counts());
        let Recoding::Global(good) = random_cut(&profile, &mut dice) else { unreachable!() };
        let column = dice.below(profile.columns().len());
        let domain = &profile.columns()[column].domain;
        let code = dice.below(domain.len());
        let mut cut = good.clone();
        match dice.below(5) {
            // A cell that covers another value, or that is not the smallest one around its value.
            0 if domain.len() > 1 => {
                let other = (code + 1) % domain.len();
                cut.cells[column][code] = domain.cover(other as u32, other as u32);
            }
            1 if domain.len() > 1 && good.cells[column].iter().filter(|cell| cell.contains(code as u32)).count() > 1
                && !good.cells[column].contains(&domain.whole()) =>
            {
                cut.cells[column][code] = domain.whole();
            }
            // Something that is no node or interval of the column.
            2 => cut.cells[column][code].last = domain.len() as u32,
            3 => drop(cut.cells[column].pop()),
            _ => {
                cut.suppressed.push(TupleId(profile.tuples() as u32));
            }
        }
        prop_assert!(refused(&world, &profile, Recoding::Global(good)).is_none());
        prop_assert!(refused(&world, &profile, Recoding::Global(cut)).is_some());
    }

    #[test]
    fn corrupt_groups_are_refused(world in worlds()) {
        let mut dice = world.dice.clone();
        let profile = world.profile(&world.counts());
        let good = singletons(&profile);
        prop_assert!(refused(&world, &profile, Recoding::Local(good.clone())).is_none());
        let p = profile.columns().len();
        let assignment = dice.below(good.assignments.len());
        let cell = good.assignments[assignment].group.index() * p + dice.below(p);
        let domain = &profile.columns()[cell % p].domain;
        let mut bad = good.clone();
        match dice.below(8) {
            0 if domain.len() > 1 => {
                let other = (good.boxes[cell].first + 1) % domain.len() as u32;
                bad.boxes[cell] = domain.cover(other, other);
            }
            1 => bad.boxes[cell].last = domain.len() as u32,
            2 => drop(bad.assignments.remove(assignment)),
            3 => bad.assignments.push(good.assignments[assignment]),
            4 => bad.assignments[assignment].records += 1,
            5 => bad.assignments[assignment].records = 0,
            6 => bad.assignments[assignment].variant = VariantId(profile.variants() as u32),
            _ => bad.assignments[assignment].group = GroupId((bad.boxes.len() / p) as u32),
        }
        prop_assert!(refused(&world, &profile, Recoding::Local(bad)).is_some());
        // A group without records prints nothing, so its box does not matter.
        let mut idle = good;
        let whole: Vec<Cell> = profile.columns().iter().map(|column| column.domain.whole()).collect();
        idle.boxes.extend(whole);
        let verified = verify_against(&profile, Recoding::Local(idle), &[], &world.policy, 0);
        let verified = verified.expect("an empty group");
        prop_assert!((0..verified.released().groups()).all(|group| verified.released().records(group) > 0));
    }

    #[test]
    fn the_identity_recoding_is_verified(world in worlds()) {
        let counts = world.counts();
        let profile = world.profile(&counts);
        let identity = Recoding::identity(&profile);
        let verified = verify_against(&profile, identity, &[], &world.policy, 0).expect("every value its own cell");
        let (header, rows, change) = print_release(&world, &counts, &verified);
        check_cells(&world, &header, &rows, matches!(change, Change::Shares { .. }))?;
        prop_assert_eq!(verified.released().groups(), profile.tuples());
    }
}
