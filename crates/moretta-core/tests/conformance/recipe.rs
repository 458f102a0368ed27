//! Random `[privacy]` and `[release]` sections over given columns.

use moretta_core::{
    privacy::{MODELS, ModelEntry, SectionForm},
    testing::conformance::{Dice, RandomColumns},
};

/// Every model of the registry is drawn by itself, so that a new model does not make the others rarer.
pub fn privacy(dice: &mut Dice, columns: &RandomColumns<'_>) -> String {
    let (mut keys, mut sections) = (String::new(), String::new());
    for entry in MODELS {
        let random = |dice: &mut Dice| (entry.conformance.random)(dice, columns).unwrap_or_default();
        match entry.form {
            SectionForm::Key => keys += &random(dice),
            SectionForm::Table if dice.chance(20) => sections += &random(dice),
            SectionForm::Table => {}
            // Some policies have two sections of one model.
            SectionForm::List => {
                while dice.chance(30) {
                    sections += &random(dice);
                }
            }
        }
    }
    if !sections.is_empty() && !dice.chance(60) {
        keys.clear();
    }
    keys += &format!("max-suppressed = {:?}\n", dice.one(&[0.0, 0.0, 0.1, 1.0]));
    format!("[privacy]\n{keys}{sections}")
}

/// One section of one model, or k if the columns do not allow it.
pub fn only(dice: &mut Dice, columns: &RandomColumns<'_>, entry: &ModelEntry) -> String {
    match (entry.conformance.random)(dice, columns) {
        Some(section) if entry.form == SectionForm::Key => format!("[privacy]\n{section}"),
        Some(section) => section,
        None => "[privacy]\nk = 2\n".to_owned(),
    }
}

pub fn release(dice: &mut Dice) -> String {
    let labels = dice.one(&["node", "node", "set"]);
    let numbers = dice.one(&["interval", "interval", "interval", "mean", "median", "midpoint"]);
    format!("[release]\nlabels = \"{labels}\"\nnumbers = \"{numbers}\"\n")
}
