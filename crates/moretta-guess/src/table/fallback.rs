//! A policy needs a quasi-identifier.

use moretta_core::schema::Role;

use crate::detect::{Decision, Evidence};

/// If no quasi-identifier was found, the most plausible column becomes one, with a reason.
pub(crate) fn ensure_quasi_identifier(decisions: &mut [Decision], columns: &[Evidence<'_>]) {
    if decisions.iter().any(|decision| decision.role == Role::QuasiIdentifier) {
        return;
    }
    let tier = |at: usize| match decisions[at].role {
        Role::Insensitive if columns[at].look.different > 1 => 0,
        Role::Insensitive => 1,
        Role::Sensitive => 2,
        Role::Class => 3,
        Role::Identifier | Role::Person | Role::Household | Role::QuasiIdentifier => 4,
    };
    let best = (0..decisions.len().min(columns.len())).min_by_key(|&at| (tier(at), columns[at].look.different));
    if let Some(at) = best {
        let decision = &mut decisions[at];
        decision.role = Role::QuasiIdentifier;
        decision.why = format!(
            "a policy needs a quasi-identifier and no column looks like one, so this one was chosen (otherwise: {})",
            decision.why
        );
    }
}
