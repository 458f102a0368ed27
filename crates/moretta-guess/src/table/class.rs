//! Chooses the class.

use moretta_core::schema::Role;

use crate::detect::Decision;

/// Gives the role of the class to the candidate with the highest rank, on ties to the last one.
pub(crate) fn choose_class(decisions: &mut [Decision]) {
    let ranked = decisions.iter().enumerate().filter_map(|(index, decision)| Some((decision.class.as_ref()?.0, index)));
    if let Some((_, index)) = ranked.max()
        && let Some(decision) = decisions.get_mut(index)
        && let Some((_, why)) = decision.class.take()
    {
        (decision.role, decision.why) = (Role::Class, why);
    }
}
