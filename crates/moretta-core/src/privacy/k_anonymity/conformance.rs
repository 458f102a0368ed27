//! Random `k`, and the naive verdict.

use super::KAnonymity;
use crate::{
    privacy::PrivacyModel,
    testing::conformance::{Dice, Printed, RandomColumns, Verdict},
};

pub(super) fn random(dice: &mut Dice, _: &RandomColumns<'_>) -> Option<String> {
    Some(format!("k = {}\n", 2 + dice.below(5)))
}

pub(super) fn verdicts(model: &dyn PrivacyModel, printed: &Printed<'_>) -> Vec<Verdict> {
    let model: &KAnonymity = model.get().expect("a model of this folder");
    vec![printed.verdict(&printed.quasi_identifiers(), |group| group.len() as u64 >= model.k)]
}
