//! The cells of a printed release beside their originals.

use moretta_core::policy::Numbers;
use proptest::prelude::*;

use crate::{
    losses::OriginalColumn,
    world::{TextRows, World},
};

/// Checks that all rows are released, other columns are unchanged, and every cell covers its original. A file does not
/// show whether its recoding is `local`; `false` then checks a little less.
pub fn check_cells(world: &World, header: &[String], rows: &TextRows, local: bool) -> Result<(), TestCaseError> {
    prop_assert_eq!(rows.len(), world.rows.len());
    prop_assert!(!header.contains(&"id".to_owned()));
    let printed = world.printed(header, rows);
    for name in header.iter().filter(|name| world.quasi.iter().all(|spec| spec.name != **name)) {
        let before: Vec<&str> = world.rows.iter().map(|row| row[world.column(name)].as_str()).collect();
        prop_assert_eq!(printed.cells(name), before);
    }
    // A mean, median or midpoint lies between the minimum and maximum of the values it replaces: those of the group, or
    // in a global recoding all with the same label in the column.
    let every: Vec<String> = world.quasi.iter().map(|spec| spec.name.clone()).collect();
    let one_for_many = world.policy.release.numbers != Numbers::Interval;
    for original in OriginalColumn::all(world) {
        let name = &original.spec.name;
        let released = printed.cells(name);
        let alike = printed.groups(if local { &every } else { std::slice::from_ref(name) });
        for group in alike {
            let texts: Vec<&str> = group.iter().map(|&record| original.cells[record]).collect();
            let value = released[group[0]].parse::<f64>();
            if let (true, true, Ok(value)) = (one_for_many, original.spec.shape.is_number(), value) {
                let numbers: Vec<f64> = texts.iter().map(|text| text.parse().unwrap()).collect();
                let (low, high) =
                    (numbers.iter().fold(f64::MAX, |a, b| a.min(*b)), numbers.iter().fold(f64::MIN, |a, b| a.max(*b)));
                prop_assert!(low - 1e-6 <= value && value <= high + 1e-6, "{name}: {value} for {low} to {high}");
                continue;
            }
            for (text, record) in texts.iter().zip(&group) {
                prop_assert!(original.covers(text, released[*record]), "{name}: {} for {text}", released[*record]);
            }
        }
    }
    Ok(())
}
