//! Columns that stay unchanged must not single people out, alone or together.

use moretta_core::{
    schema::Role,
    text::{count, listed, shown},
};
use moretta_insight::column_sets::ColumnSets;

use super::Relations;
use crate::detect::{Decision, Evidence};

/// Share of records that the unchanged columns may single out: a hundredth.
const MAX_SHARE: f64 = 0.01;

fn is_kept(role: Role) -> bool {
    matches!(role, Role::Class | Role::Sensitive | Role::Insensitive)
}

/// Makes unchanged columns quasi-identifiers until at most a hundredth of the records is unique in those that remain.
///
/// Columns are accepted one by one: the class, then diagnoses, other sensitive columns and others, those with fewer
/// values first, so that as many as possible stay. A column that follows from a quasi-identifier would disclose it,
/// unless a privacy model guards it; it does not stay.
pub(crate) fn settle_kept(
    decisions: &mut [Decision],
    columns: &[Evidence<'_>],
    (sets, at_of): (&ColumnSets, &[usize]),
    relations: &Relations,
) {
    let order = |at: usize| match decisions[at].role {
        Role::Class => 0,
        Role::Sensitive if decisions[at].is_diagnosis => 1,
        Role::Sensitive => 2,
        _ => 3,
    };
    let varies = |at: usize| sets.distinct(&[at_of[at]]) > 1;
    let mut kept: Vec<usize> = (0..decisions.len()).filter(|&at| is_kept(decisions[at].role) && varies(at)).collect();
    kept.sort_by_key(|&at| (order(at), columns[at].look.different, at));
    let mut accepted: Vec<usize> = Vec::new();
    for at in kept {
        let source = relations.determined_by(at).find(|&from| decisions[from].role == Role::QuasiIdentifier);
        if let (Role::Insensitive, Some(from)) = (decisions[at].role, source) {
            let why =
                format!("it follows from `{}`, a quasi-identifier, and would disclose it", shown(columns[from].name));
            generalize(&mut decisions[at], &why);
            continue;
        }
        let with = |accepted: &[usize]| {
            let set: Vec<usize> = accepted.iter().chain([&at]).map(|&at| at_of[at]).collect();
            sets.unique(&set)
        };
        let unique = with(&accepted);
        if unique as f64 <= MAX_SHARE * sets.records() as f64 {
            accepted.push(at);
            continue;
        }
        let alone = with(&[]);
        let of_all =
            format!("of {}{} records", if columns[at].complete { "" } else { "the first " }, count(sets.records()));
        let why = if alone as f64 > MAX_SHARE * sets.records() as f64 {
            format!("unchanged, it would single out {} {of_all}, which have a value of their own", count(alone))
        } else {
            let others: Vec<String> =
                accepted.iter().take(3).map(|&at| format!("`{}`", shown(columns[at].name))).collect();
            let more = if accepted.len() > 3 { " and others" } else { "" };
            format!("unchanged, it would single out {} {of_all} together with {}{more}", count(unique), listed(&others))
        };
        if decisions[at].is_dispensable {
            let decision = &mut decisions[at];
            decision.why = format!("{}; {why}, so it is removed", decision.why);
            decision.role = Role::Identifier;
            decision.notes.push("To release it, round it until each value is shared by many records.".to_owned());
        } else {
            generalize(&mut decisions[at], &why);
        }
    }
}

/// Makes a column a quasi-identifier.
fn generalize(decision: &mut Decision, why: &str) {
    if decision.role == Role::Sensitive {
        decision.notes.push(
            "No privacy model guards it as a quasi-identifier. To keep it sensitive, group its rare values in the table first."
                .to_owned(),
        );
    }
    decision.why = format!("{why}, so it is generalized (otherwise: {})", decision.why);
    decision.role = Role::QuasiIdentifier;
}
