//! For the conformance suite: random delta-disclosure for a policy, and a naive check of a printed release.

use super::DeltaDisclosure;
use crate::{
    privacy::PrivacyModel,
    testing::conformance::{Conformance, Dice, Printed, ROUNDING, RandomColumns, Verdict},
};

pub(super) const CONFORMANCE: Conformance = Conformance { random, verdicts };

fn random(dice: &mut Dice, columns: &RandomColumns<'_>) -> Option<String> {
    let (column, delta) = (columns.guarded(dice)?, dice.one(&[3.0, 2.0, 1.0, 0.5]));
    Some(format!("[[privacy.delta-disclosure]]\ncolumn = \"{}\"\ndelta = {delta:?}\n", column.name))
}

fn verdicts(model: &dyn PrivacyModel, printed: &Printed<'_>) -> Vec<Verdict> {
    let model: &DeltaDisclosure = model.get().expect("the model is delta-disclosure");
    let column = printed.column(&model.column);
    let everything = column.everything();
    let table = column.counts(&everything);
    let holds = |group: &[usize]| {
        let counts = column.counts(group);
        table.iter().all(|(value, all)| {
            let own = counts.get(value).copied().unwrap_or(0);
            let share = |count: usize, of: &[usize]| count as f64 / column.total(of) as f64;
            let ratio = share(own, group) / share(*all, &everything);
            ratio > 0.0 && ratio.log2().abs() < model.delta - ROUNDING
        })
    };
    vec![printed.verdict(&printed.quasi_identifiers(), holds)]
}
