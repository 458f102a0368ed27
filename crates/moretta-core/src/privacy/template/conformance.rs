//! For the conformance suite: random templates for a policy, and a naive check of a printed release.

use std::cmp::Reverse;

use super::{Template, TemplateValues};
use crate::{
    privacy::PrivacyModel,
    testing::conformance::{Conformance, Dice, Printed, PrintedColumn, ROUNDING, RandomColumns, Verdict},
};

pub(super) const CONFORMANCE: Conformance = Conformance { random, verdicts };

fn random(dice: &mut Dice, columns: &RandomColumns<'_>) -> Option<String> {
    let column = columns.guarded(dice)?;
    let mut given: Vec<&str> = columns.quasi.iter().map(|spec| spec.name.as_str()).collect();
    dice.shuffle(&mut given);
    given.truncate(1 + dice.below(given.len()));
    let values = if dice.chance(30) {
        format!("rarest = {:?}", dice.one(&[0.5, 0.34, 1.0]))
    } else {
        let mut values = column.pool.clone();
        values.extend((column.missing != "error").then(|| "?".to_owned()));
        dice.shuffle(&mut values);
        values.truncate(1 + dice.below(2));
        values.dedup();
        // Any spelling names the value.
        let spelled = |value: &String| if column.fold { column.spelling(dice, value) } else { value.clone() };
        let values: Vec<String> = values.iter().map(spelled).collect();
        format!("values = {}", toml::Value::from(values))
    };
    let limit = dice.one(&[0.9, 0.75, 0.6, 0.5, 0.34]);
    Some(format!(
        "[[privacy.template]]\ngiven = {given:?}\ncolumn = \"{}\"\n{values}\nmax-confidence = {limit:?}\n",
        column.name
    ))
}

/// One verdict for each guarded value.
fn verdicts(model: &dyn PrivacyModel, printed: &Printed<'_>) -> Vec<Verdict> {
    let model: &Template = model.get().expect("the model is a template");
    let column = printed.column(&model.column);
    let guarded: Vec<String> = match &model.values {
        TemplateValues::Listed(values) => values.iter().map(|value| column.value_of(value)).collect(),
        TemplateValues::Rarest(share) => rarest(&column, *share),
    };
    let verdict = |value: String| {
        printed.verdict(&model.given, |group| {
            let with = column.counts(group).get(value.as_str()).copied().unwrap_or(0);
            with as f64 / printed.size(group) as f64 <= model.max_confidence + ROUNDING
        })
    };
    guarded.into_iter().map(verdict).collect()
}

/// The `floor(share * n)` least frequent of the n values; ties are broken by the most frequent spelling.
fn rarest(column: &PrintedColumn<'_>, share: f64) -> Vec<String> {
    let everything = column.everything();
    let counts = column.counts(&everything);
    let text = |value: &str| {
        let spellings =
            column.texts.iter().zip(&column.values).filter(|(_, known)| *known == value).map(|(text, _)| *text);
        let records = |text: &str| column.texts.iter().filter(|known| **known == text).count();
        spellings.min_by_key(|text| (Reverse(records(text)), text.len(), *text)).unwrap_or("").to_owned()
    };
    let mut order: Vec<(usize, String, &str)> =
        counts.iter().map(|(value, count)| (*count, text(value), *value)).collect();
    order.sort();
    let kept = (share * order.len() as f64 + ROUNDING).floor() as usize;
    order[..kept].iter().map(|(_, _, value)| (*value).to_owned()).collect()
}
