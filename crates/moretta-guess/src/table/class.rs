//! Chooses the class.

use moretta_core::{schema::Role, text::shown};

use super::Relations;
use crate::detect::{Decision, Evidence};

/// Gives the role of the class to the candidate with the highest rank, on ties to the last one. Texts that stand for
/// the numbers of an id or a code are no class: the `label` of an `itemid`.
pub(crate) fn choose_class(decisions: &mut [Decision], columns: &[Evidence<'_>], relations: &Relations) {
    for at in 0..decisions.len() {
        let is_named = |&other: &usize| {
            let words = &columns[other].words;
            decisions[other].class.is_none() && (words.says_only_id() || words.says_code())
        };
        let code = (0..decisions.len()).filter(|&other| relations.are_copies(at, other)).find(is_named);
        if let (Some(_), Some(code)) = (&decisions[at].class, code) {
            let why = format!(
                "its values stand for those of `{}` ({}); in doubt, an attacker may know it",
                shown(columns[code].name),
                columns[at].amount()
            );
            decisions[at] = Decision { is_known: false, ..Decision::new(Role::QuasiIdentifier, why) };
        }
    }
    let ranked = decisions.iter().enumerate().filter_map(|(index, decision)| Some((decision.class.as_ref()?.0, index)));
    if let Some((_, index)) = ranked.max()
        && let Some(decision) = decisions.get_mut(index)
        && let Some((_, why)) = decision.class.take()
    {
        (decision.role, decision.why) = (Role::Class, why);
    }
}
