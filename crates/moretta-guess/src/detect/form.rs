//! Values whose form leaves no choice: none, one, lists, damaged numbers, addresses, names, sentences, coordinates.

use moretta_core::schema::Role;

use super::{Decision, Evidence};
use crate::{
    reading::Reading,
    topics::Meaning,
    values::{ENOUGH, Shape},
};

pub(super) fn no_values(column: &Evidence<'_>) -> Option<Decision> {
    if column.look.shape != Shape::Nothing {
        return None;
    }
    Some(match column.complete && column.look.missing >= ENOUGH {
        true => Decision::new(Role::Insensitive, "it has no values"),
        false => {
            let why = "no values in the sample: other records are unknown, so it is removed";
            Decision::new(Role::Identifier, why)
        }
    })
}

pub(super) fn constant(column: &Evidence<'_>) -> Option<Decision> {
    let is_constant = column.look.different == 1 && column.look.missing == 0 && column.look.shape != Shape::Nested;
    (is_constant && column.complete && column.look.present >= ENOUGH)
        .then(|| Decision::new(Role::Insensitive, "the same value in every record, which distinguishes no person"))
}

pub(super) fn nested(column: &Evidence<'_>) -> Option<Decision> {
    let why =
        "its values are lists or structures, which cannot be generalized and may single people out, so it is removed";
    (column.look.shape == Shape::Nested).then(|| Decision::new(Role::Identifier, why))
}

pub(super) fn lists(column: &Evidence<'_>) -> Option<Decision> {
    if column.look.shape != Shape::Lists {
        return None;
    }
    let why =
        format!("its cells are lists ({}); combinations of items single people out, so it is removed", column.amount());
    let note = "To release it, make one column per item, or one record per item with the number of the person.";
    Some(Decision::new(Role::Identifier, why).note(note))
}

pub(super) fn damaged(column: &Evidence<'_>) -> Option<Decision> {
    let Shape::Damaged(what) = column.look.shape else { return None };
    let why = format!("it has damaged numbers: {what}; nothing can be computed from it, so it is removed");
    Some(Decision::new(Role::Identifier, why).note("Export the table again, with numbers as text."))
}

pub(super) fn personal(column: &Evidence<'_>) -> Option<Decision> {
    let Shape::Personal(what) = column.look.shape else { return None };
    Some(Decision::new(Role::Identifier, format!("its values look like {what}, so it is removed")))
}

pub(super) fn free_text(column: &Evidence<'_>) -> Option<Decision> {
    // Long names of occupations and places repeat.
    let is_unique = column.look.different >= column.look.present / 2;
    let is_other = !is_unique && column.words.topic(&column.look).is_some_and(|topic| topic.meaning == Meaning::Quasi);
    let why = "free text, which may contain names, so it is removed";
    (column.look.shape == Shape::FreeText && !is_other).then(|| Decision::new(Role::Identifier, why))
}

pub(super) fn names(column: &Evidence<'_>) -> Option<Decision> {
    // Towns and persons share names: `Lawrence`, `Austin`.
    let is_other = column.words.topic(&column.look).is_some_and(|topic| topic.meaning == Meaning::Quasi);
    (column.look.shape == Shape::Names && !is_other).then(|| {
        let why = format!("its values look like names of persons ({}), so it is removed", column.amount());
        Decision::new(Role::Identifier, why)
    })
}

/// Whether numbers have the form of a coordinate: degrees with at least four decimals, a few meters. Scores have a mean
/// near zero, too.
pub(crate) fn may_be_coordinates(column: &Evidence<'_>) -> bool {
    are_exact_degrees(column) && column.look.numbers().is_some_and(|numbers| numbers.mean.abs() >= 2.0)
}

fn are_exact_degrees(column: &Evidence<'_>) -> bool {
    column.look.numbers().is_some_and(|numbers| {
        numbers.fine >= 0.8 && numbers.low >= -180.0 && numbers.high <= 180.0 && column.look.different >= 20
    })
}

pub(super) fn coordinates(column: &Evidence<'_>) -> Option<Decision> {
    let is_named = column.words.has_any(COORDINATES);
    // Longitudes of London are near zero.
    let found = match column.beside_coordinates {
        true => may_be_coordinates(column) || (is_named && are_exact_degrees(column)),
        false => is_named && may_be_coordinates(column),
    };
    found.then(|| {
        let why = "its values look like coordinates, exact to a few meters: an address, so it is removed";
        Decision::new(Role::Identifier, why)
            .note("To release the area, round it to one decimal (about 10 km) and make it a quasi-identifier.")
            .reads(Reading::number("coordinates"))
    })
}

const COORDINATES: &[&str] = &[
    "lat",
    "latitude",
    "lon",
    "lng",
    "long",
    "longitude",
    "breitengrad",
    "längengrad",
    "geo",
    "gps",
    "latitud",
    "longitud",
    "latitudine",
    "longitudine",
    "breite",
    "länge",
];
