//! Chooses the columns that say which records are of one person and of one household.

use std::cmp::Reverse;

use moretta_core::{schema::Role, text::shown};
use moretta_insight::column_sets::ColumnSets;

use crate::{
    detect::{Decision, Evidence},
    values::{ENOUGH, Look, Shape},
};

/// Values that a person has more than one of, for errors in the data: one in ten persons. Not tuned.
const MAX_ERRORS: f64 = 0.1;

/// Gives the role of the person to the most likely candidate: one whose name says a person, on ties the one with most
/// values; or the only one whose values are ids that repeat; or else names that repeat with the same date of birth.
/// Other candidates are removed as identifiers. Ids whose records differ in sex or birth are of a group of persons,
/// such as a household.
pub(crate) fn choose_person(
    decisions: &mut [Decision],
    columns: &[Evidence<'_>],
    (sets, at_of): (&ColumnSets, &[usize]),
) {
    set_groups_apart(decisions, columns, (sets, at_of));
    let candidates =
        |rank: u8| -> Vec<usize> { (0..decisions.len()).filter(|&at| decisions[at].person == rank).collect() };
    let (by_name, by_values) = (candidates(2), candidates(1));
    let most = by_name.into_iter().max_by_key(|&at| (columns[at].look.different, Reverse(at)));
    let chosen = most.or(if let [only] = by_values[..] { Some(only) } else { None });
    let chosen = chosen.or_else(|| names_of_persons(decisions, columns, (sets, at_of)));
    if let Some(at) = chosen {
        let decision = &mut decisions[at];
        decision.role = Role::Person;
        let share = columns[at].look.present as f64 / columns[at].look.different as f64;
        let counted = format!(
            "A person has {share:.1} records on average, so k and the other models count persons, not records."
        );
        decision.notes.insert(0, counted);
        if decision.person == 1 {
            let note = "Only its values say so: if it is the number of a household, make it `household`; if of anything else, \
                        an identifier.";
            decision.notes.insert(1, note.to_owned());
        }
        if decision.person == 0 {
            let note = "No number of a person was found: records with the same name are taken for those of one person, \
                        because they have the same date of birth.";
            decision.notes.insert(1, note.to_owned());
        }
    }
    for at in by_values.into_iter().filter(|at| Some(*at) != chosen) {
        let note = "If its records are of one person, make it `person`: groups then count persons, not records.";
        decisions[at].notes.push(note.to_owned());
    }
}

/// Names that repeat with one date of birth each: of persons with several records. Persons with the same name count as
/// one, so groups have at least as many persons as are counted.
fn names_of_persons(
    decisions: &[Decision],
    columns: &[Evidence<'_>],
    (sets, at_of): (&ColumnSets, &[usize]),
) -> Option<usize> {
    let is_birth = |column: &Evidence<'_>| {
        column.look.different >= ENOUGH
            && column.words.topic(&column.look).is_some_and(|topic| topic.what == "a birth date")
    };
    let births: Vec<usize> = (0..columns.len()).filter(|&at| is_birth(&columns[at])).collect();
    let are_persons = |&at: &usize| {
        let Look { shape, present, different, missing, .. } = &columns[at].look;
        let names = sets.distinct(&[at_of[at]]) as f64;
        decisions[at].role == Role::Identifier
            && *shape == Shape::Names
            && *missing == 0
            && *different >= ENOUGH
            && *present as f64 >= (1.0 + 2.0 * MAX_ERRORS) * names
            && births
                .iter()
                .any(|&birth| sets.distinct(&[at_of[at], at_of[birth]]) as f64 <= (1.0 + MAX_ERRORS) * names)
    };
    (0..columns.len()).find(are_persons)
}

/// Makes ids, which by their values might be of persons, the number of a household if their records differ in what a
/// person has once.
fn set_groups_apart(decisions: &mut [Decision], columns: &[Evidence<'_>], (sets, at_of): (&ColumnSets, &[usize])) {
    let is_fixed = |column: &Evidence<'_>| {
        let says = |what: &str| column.words.topic(&column.look).is_some_and(|topic| topic.what == what);
        column.look.shape == Shape::Sexes || says("a sex or gender") || says("a birth date")
    };
    let fixed: Vec<usize> = (0..columns.len()).filter(|&at| is_fixed(&columns[at])).collect();
    let mut has_household = decisions.iter().any(|decision| decision.role == Role::Household);
    for at in 0..decisions.len() {
        let differs = |other: &&usize| {
            let ids = sets.distinct(&[at_of[at]]) as f64;
            sets.distinct(&[at_of[at], at_of[**other]]) as f64 > (1.0 + MAX_ERRORS) * ids
        };
        let Some(other) = fixed.iter().find(differs).filter(|_| decisions[at].person == 1) else { continue };
        let what = format!(
            "looks like an id that repeats, and records with the same id differ in `{}`",
            shown(columns[*other].name)
        );
        let is_small = columns[at].look.present <= columns[at].look.different.saturating_mul(20);
        let decision = &mut decisions[at];
        decision.person = 0;
        if is_small && !has_household {
            has_household = true;
            decision.role = Role::Household;
            decision.why = format!("{what}: a household or another group of persons, so it is removed");
            decision
                .notes
                .push("Who finds one person of a household finds all of them, and risk figures count that.".to_owned());
        } else {
            decision.why = format!("{what}: a group of persons, so it is removed");
        }
    }
}

/// Keeps one household column, that with most values; a policy has at most one. Others are removed as identifiers.
pub(crate) fn choose_household(decisions: &mut [Decision], columns: &[Evidence<'_>]) {
    let households: Vec<usize> = (0..decisions.len()).filter(|&at| decisions[at].role == Role::Household).collect();
    let chosen = households.iter().copied().max_by_key(|&at| (columns[at].look.different, Reverse(at)));
    for at in households.into_iter().filter(|at| Some(*at) != chosen) {
        decisions[at].role = Role::Identifier;
    }
}
