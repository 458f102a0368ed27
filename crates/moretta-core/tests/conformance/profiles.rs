//! A profile depends only on the records, not on how an engine counted them.

use moretta_core::{
    counts::Counts,
    ids::{AttributeId, TupleId, VariantId},
    profile::{Attribute, Profile},
};
use proptest::prelude::*;

use crate::{
    naive_engine::{one_row_per_record, shuffled},
    world::{World, cases, worlds},
};

/// Everything that a method can see of a profile, as texts.
fn seen(profile: &Profile) -> Vec<String> {
    let mut seen = vec![format!("{} {:?}", profile.records(), profile.columns())];
    let attribute = |a: &Attribute| format!("{} {:?} {:?} {:?} {:?}", a.name, a.role, a.values, a.numbers, a.tree);
    seen.extend(profile.attributes().iter().map(attribute));
    for tuple in (0..profile.tuples() as u32).map(TupleId) {
        seen.push(format!("{:?} x {}", profile.codes(tuple), profile.tuple_records(tuple)));
        for variant in profile.variants_of(tuple) {
            let attributes = (0..profile.attributes().len()).map(AttributeId::from_index);
            let values: Vec<u32> = attributes.map(|attribute| profile.value(variant, attribute)).collect();
            let records = (profile.variant_records(variant), profile.first_record(variant));
            seen.push(format!("  {values:?} x {records:?} in {:?}", profile.tuple_of(variant)));
        }
    }
    seen
}

/// The texts of each row of the counts, with its variant.
fn rows(world: &World, counts: &Counts, profile: &Profile) -> Vec<(Vec<String>, VariantId)> {
    let text = |row: usize| {
        let cells = counts.row(row).iter().zip(&counts.columns);
        cells.map(|(&code, column)| column.values[code as usize].to_string()).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = (0..counts.rows()).map(|row| (text(row), profile.variant_of_row(row))).collect();
    rows.sort();
    rows.dedup();
    assert!(rows.len() <= world.rows.len());
    rows
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn weighted_tuples_are_expanded_records(world in worlds()) {
        let counts = world.counts();
        let profile = world.profile(&counts);
        let expanded = one_row_per_record(&world.header, &world.rows, &counts);
        for other in [expanded, shuffled(&counts, &mut world.dice.clone())] {
            let again = world.profile(&other);
            prop_assert_eq!(seen(&again), seen(&profile));
            prop_assert_eq!(rows(&world, &other, &again), rows(&world, &counts, &profile));
        }
        let all: u64 = (0..profile.tuples() as u32).map(|tuple| profile.tuple_records(TupleId(tuple))).sum();
        prop_assert_eq!(all, world.rows.len() as u64);
    }
}
