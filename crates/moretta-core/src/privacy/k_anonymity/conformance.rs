//! For the conformance suite: random `k` for a policy, and a naive check of a printed release.

use super::KAnonymity;
use crate::{
    privacy::PrivacyModel,
    testing::conformance::{Conformance, Dice, Printed, RandomColumns, Verdict},
};

pub(super) const CONFORMANCE: Conformance = Conformance { random, verdicts };

fn random(dice: &mut Dice, _: &RandomColumns<'_>) -> Option<String> {
    Some(format!("k = {}\n", 2 + dice.below(5)))
}

fn verdicts(model: &dyn PrivacyModel, printed: &Printed<'_>) -> Vec<Verdict> {
    let model: &KAnonymity = model.get().expect("the model is k-anonymity");
    vec![printed.verdict(&printed.quasi_identifiers(), |group| printed.size(group) as u64 >= model.k)]
}
