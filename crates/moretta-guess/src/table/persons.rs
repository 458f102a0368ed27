//! Chooses the column that says which records are of one person.

use std::cmp::Reverse;

use moretta_core::schema::Role;

use crate::{
    PERSON,
    detect::{Decision, Evidence},
};

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
        decision.role = PERSON;
        let share = columns[at].look.present as f64 / columns[at].look.different as f64;
        let counted = match decision.role {
            Role::Person => format!(
                "A person has {share:.1} records on average, so k and the other models count persons, not records."
            ),
            _ => format!("A person has {share:.1} records on average, and groups count records, not persons: raise k."),
        };
        decision.notes.insert(0, counted);
    }
    for at in by_values.into_iter().filter(|at| Some(*at) != chosen) {
        let note = "If its records are of one person, make it `person`: groups then count persons, not records.";
        decisions[at].notes.push(note.to_owned());
    }
}
