//! Chooses the columns that say which records are of one person and of one household.

use std::cmp::Reverse;

use moretta_core::schema::Role;

use crate::detect::{Decision, Evidence};

/// Gives the role of the person to the most likely candidate: one whose name says a person, on ties the one with most
/// values; or the only one whose values are ids that repeat. Other candidates are removed as identifiers.
pub(crate) fn choose_person(decisions: &mut [Decision], columns: &[Evidence<'_>]) {
    let candidates =
        |rank: u8| -> Vec<usize> { (0..decisions.len()).filter(|&at| decisions[at].person == rank).collect() };
    let (by_name, by_values) = (candidates(2), candidates(1));
    let most = by_name.into_iter().max_by_key(|&at| (columns[at].look.different, Reverse(at)));
    let chosen = most.or(if let [only] = by_values[..] { Some(only) } else { None });
    if let Some(at) = chosen {
        let decision = &mut decisions[at];
        decision.role = Role::Person;
        let share = columns[at].look.present as f64 / columns[at].look.different as f64;
        let counted = format!(
            "A person has {share:.1} records on average, so k and the other models count persons, not records."
        );
        decision.notes.insert(0, counted);
    }
    for at in by_values.into_iter().filter(|at| Some(*at) != chosen) {
        let note = "If its records are of one person, make it `person`: groups then count persons, not records.";
        decisions[at].notes.push(note.to_owned());
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
