//! For the conformance suite: random LKC-privacy for a policy, and a naive check of a printed release.

use super::Lkc;
use crate::{
    privacy::PrivacyModel,
    testing::conformance::{Conformance, Dice, Printed, PrintedColumn, ROUNDING, RandomColumns, Verdict},
};

pub(super) const CONFORMANCE: Conformance = Conformance { random, verdicts };

/// The number of known columns is sometimes larger than the number of columns.
fn random(dice: &mut Dice, columns: &RandomColumns<'_>) -> Option<String> {
    columns.attributes.iter().find(|spec| spec.name != "class")?;
    let (l, k, c) = (1 + dice.below(4), 1 + dice.below(5), dice.one(&[0.9, 0.75, 0.6, 0.5, 0.34]));
    Some(format!("[privacy.lkc]\nl = {l}\nk = {k}\nc = {c:?}\n"))
}

/// Judges every set of at most `l` columns. The verdict is that of the largest sets, which must imply the smaller
/// ones; if persons are counted and the confidence is limited, that of all sets.
fn verdicts(model: &dyn PrivacyModel, printed: &Printed<'_>) -> Vec<Verdict> {
    let model: &Lkc = model.get().expect("the model is LKC-privacy");
    let quasi = printed.quasi_identifiers();
    let sensitive: Vec<PrintedColumn<'_>> = printed.sensitive().into_iter().map(|name| printed.column(name)).collect();
    let holds = |group: &[usize]| {
        let counts = sensitive.iter().flat_map(|column| column.counts(group).into_values().collect::<Vec<_>>());
        let confidence = counts.max().unwrap_or(0) as f64 / printed.size(group) as f64;
        printed.size(group) as u64 >= model.k && confidence <= model.c + ROUNDING
    };
    let largest = (model.l as usize).min(quasi.len());
    let mut verdict = Verdict { holds: true, groups: 0, failing_groups: 0, failing_records: 0 };
    let mut smaller_hold = true;
    // A union may have a larger share of persons than each of its parts.
    let judges_smaller = printed.persons().is_some() && model.c < 1.0;
    for set in 0..1u32 << quasi.len() {
        let known = quasi.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1);
        let known: Vec<String> = known.map(|(_, name)| name.clone()).collect();
        let found = printed.verdict(&known, holds);
        if known.len() == largest || judges_smaller && (1..largest).contains(&known.len()) {
            verdict.holds &= found.holds;
            verdict.groups += found.groups;
            verdict.failing_groups += found.failing_groups;
            verdict.failing_records += found.failing_records;
        } else if known.len() < largest && !judges_smaller {
            smaller_hold &= found.holds;
        }
    }
    assert!(smaller_hold || verdict.failing_groups > 0, "fewer columns must not give away more");
    vec![verdict]
}
