//! For the conformance suite: random l-diversity for a policy, and a naive check of a printed release.

use std::collections::BTreeMap;

use super::{LDiversity, LDiversityKind};
use crate::{
    privacy::PrivacyModel,
    testing::conformance::{Conformance, Dice, Printed, ROUNDING, RandomColumns, Verdict},
};

pub(super) const CONFORMANCE: Conformance = Conformance { random, verdicts };

fn random(dice: &mut Dice, columns: &RandomColumns<'_>) -> Option<String> {
    let column = columns.guarded(dice)?;
    let kind = match dice.below(3) {
        0 => format!("kind = \"distinct\"\nl = {}", 2 + dice.below(2)),
        1 => format!("kind = \"entropy\"\nl = {:?}", dice.one(&[1.5, 2.0, 2.5])),
        _ => {
            format!("kind = \"recursive\"\nl = {}\nc = {:?}", 2 + dice.below(2), dice.one(&[2.0, 1.0, 3.5, 0.7]))
        }
    };
    Some(format!("[[privacy.l-diversity]]\ncolumn = \"{}\"\n{kind}\n", column.name))
}

fn verdicts(model: &dyn PrivacyModel, printed: &Printed<'_>) -> Vec<Verdict> {
    let model: &LDiversity = model.get().expect("the model is l-diversity");
    let column = printed.column(&model.column);
    let holds = |group: &[usize]| is_diverse(&column.counts(group), model.l, model.kind);
    vec![printed.verdict(&printed.quasi_identifiers(), holds)]
}

/// Whether a group with these records per sensitive value is l-diverse.
fn is_diverse(counts: &BTreeMap<&str, usize>, l: f64, kind: LDiversityKind) -> bool {
    let mut sizes: Vec<usize> = counts.values().copied().collect();
    sizes.sort_unstable();
    sizes.reverse();
    let records: usize = sizes.iter().sum();
    match kind {
        LDiversityKind::Distinct => sizes.len() as f64 >= l,
        LDiversityKind::Entropy => {
            let shares = sizes.iter().map(|&size| size as f64 / records as f64);
            shares.map(|p| -p * p.ln()).sum::<f64>().exp() >= l - ROUNDING
        }
        LDiversityKind::Recursive { c } => {
            let tail: usize = sizes.iter().skip(l as usize - 1).sum();
            (sizes[0] as f64) < c * tail as f64 - ROUNDING
        }
    }
}
