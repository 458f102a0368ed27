//! Random `[privacy]` and `[release]` sections over given columns.

use crate::{
    dice::Dice,
    spec::{Shape, Spec},
};

pub fn privacy(dice: &mut Dice, quasi: &[Spec], attributes: &[Spec]) -> String {
    let guarded = !attributes.is_empty() && dice.chance(70);
    let mut models = String::new();
    while guarded && (models.is_empty() || dice.chance(30)) {
        let column = dice.one(attributes);
        models += &match dice.below(3) {
            0 => template(dice, quasi, column),
            1 => l_diversity(dice, column),
            _ => t_closeness(dice, column),
        };
    }
    if attributes.iter().any(|spec| spec.name != "class") && dice.chance(20) {
        models += &lkc(dice);
    }
    let mut lines = "[privacy]\n".to_owned();
    if models.is_empty() || dice.chance(60) {
        lines += &format!("k = {}\n", 2 + dice.below(5));
    }
    lines += &format!("max-suppressed = {:?}\n", dice.one(&[0.0, 0.0, 0.1, 1.0]));
    lines + &models
}

fn template(dice: &mut Dice, quasi: &[Spec], column: &Spec) -> String {
    let mut given: Vec<&str> = quasi.iter().map(|spec| spec.name.as_str()).collect();
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
        format!("values = {values:?}")
    };
    let limit = dice.one(&[0.9, 0.75, 0.6, 0.5, 0.34]);
    format!(
        "[[privacy.template]]\ngiven = {given:?}\ncolumn = \"{}\"\n{values}\nmax-confidence = {limit:?}\n",
        column.name
    )
}

/// Of any few columns, sometimes of more than there are.
fn lkc(dice: &mut Dice) -> String {
    let (l, k, c) = (1 + dice.below(4), 1 + dice.below(5), dice.one(&[0.9, 0.75, 0.6, 0.5, 0.34]));
    format!("[privacy.lkc]\nl = {l}\nk = {k}\nc = {c:?}\n")
}

fn l_diversity(dice: &mut Dice, column: &Spec) -> String {
    let kind = match dice.below(3) {
        0 => format!("kind = \"distinct\"\nl = {}", 2 + dice.below(2)),
        1 => format!("kind = \"entropy\"\nl = {:?}", dice.one(&[1.5, 2.0, 2.5])),
        _ => {
            format!("kind = \"recursive\"\nl = {}\nc = {:?}", 2 + dice.below(2), dice.one(&[2.0, 1.0, 3.5, 0.7]))
        }
    };
    format!("[[privacy.l-diversity]]\ncolumn = \"{}\"\n{kind}\n", column.name)
}

fn t_closeness(dice: &mut Dice, column: &Spec) -> String {
    let distances: &[&str] = match column.shape {
        Shape::Tree(_) => &["equal", "ordered", "hierarchical"],
        Shape::Free | Shape::Calendar(_) if column.missing == "error" => &["equal", "ordered"],
        _ => &["equal"],
    };
    let (distance, t) = (dice.one(distances), dice.one(&[0.6, 0.4, 0.25, 0.1, 0.0]));
    format!("[[privacy.t-closeness]]\ncolumn = \"{}\"\nt = {t:?}\ndistance = \"{distance}\"\n", column.name)
}

pub fn release(dice: &mut Dice) -> String {
    let labels = dice.one(&["node", "node", "set"]);
    let numbers = dice.one(&["interval", "interval", "interval", "mean", "median", "midpoint"]);
    format!("[release]\nlabels = \"{labels}\"\nnumbers = \"{numbers}\"\n")
}
