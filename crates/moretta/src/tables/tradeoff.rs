//! The trade-off on a terminal: losses per k and the important steps, at most 100 characters wide.

use std::{fmt::Write as _, path::Path};

use anstyle::Style;
use moretta_core::text::{count, counted, one_line};
use moretta_insight::tradeoff::{Point, TradeOff, caveat, held, lost, release, what, wrapped};

use crate::summary::{FAINT, GOOD, file_name};

/// Measures of a step that are printed; the output file has all.
const STEP_MEASURES: [&str; 4] = ["gcp", "lm", "cm", "rm"];
/// Measures of a k that are printed, besides the share of precision lost.
const K_MEASURES: [&str; 2] = ["lm", "cm"];
/// Characters per line of a sentence.
const WIDTH: usize = 96;
/// Maximum characters of a step's description; longer ones are cut.
const MAX_DESCRIPTION: usize = 36;

/// Returns the table of k and the table of steps. Unimportant steps are only counted, unless `all` is set.
pub fn table(tradeoff: &TradeOff, all: bool) -> String {
    let points = &tradeoff.points;
    let shown: Vec<&str> = tradeoff.measures().into_iter().filter(|name| STEP_MEASURES.contains(name)).collect();
    let reached = tradeoff.k.and_then(|k| tradeoff.first_with(k)).map(|point| point.step);
    let holds = tradeoff.first_valid.map(|holds| holds.step);
    let marked = |point: &Point| Some(point.step) == reached || Some(point.step) == holds;
    let printed = important(points, all, marked);
    let widest =
        printed.iter().map(|point| one_line(&what(point)).chars().count()).max().unwrap_or(0).min(MAX_DESCRIPTION);

    let mut text = format!(
        "{} records{}, {} steps from the original table to full generalization ({})\n\n",
        count(tradeoff.rows),
        tradeoff.persons.map_or(String::new(), |persons| format!(" of {}", counted(persons, "person", "persons"))),
        tradeoff.steps(),
        tradeoff.method
    );
    text += &costs(tradeoff);
    text.push('\n');
    text += &sentences(&one_line(&caveat(tradeoff).join(" ")));
    text.push('\n');
    let below = if tradeoff.k.is_some() { "   below k" } else { "" };
    let measures: String = shown.iter().map(|name| format!("{name:>8}")).collect();
    let _ = writeln!(text, "{FAINT}   step  {:<widest$}  anonymity{below}     groups{measures}{FAINT:#}", "change");
    let mut next = 0;
    for point in printed {
        write_skipped(&mut text, point.step - next);
        next = point.step + 1;
        let (sign, style) = if marked(point) { (">", GOOD) } else { (" ", Style::new()) };
        let (change, anonymity) = (cut(&one_line(&what(point))), count(point.anonymity));
        let _ = write!(text, "{style}{sign} {:>5}  {change:<widest$}  {anonymity:>9}", point.step);
        if let Some(below) = point.below_k {
            let _ = write!(text, "  {:>8}", count(below));
        }
        let _ = writeln!(text, "  {:>9}{}{style:#}", count(point.groups as u64), values(point, &shown));
    }
    text.push('\n');
    text += &verdict(tradeoff);
    text
}

/// Returns the loss of each k that the path reaches.
fn costs(tradeoff: &TradeOff) -> String {
    let known = tradeoff.measures();
    let shown: Vec<&str> = K_MEASURES.into_iter().filter(|name| known.contains(name)).collect();
    let measures: String = shown.iter().map(|name| format!("{name:>8}")).collect();
    let mut text = format!("information loss by k\n{FAINT}      k    step  anonymity      lost{measures}{FAINT:#}\n");
    for (k, point) in tradeoff.costs() {
        let of_policy = Some(k) == tradeoff.k;
        let (sign, style) = if of_policy { (">", GOOD) } else { (" ", Style::new()) };
        let Some(point) = point else {
            if of_policy {
                let _ = writeln!(text, "> {:>5}  is not reached", count(k));
            }
            continue;
        };
        let lost = lost(point).map_or("-".to_owned(), |lost| format!("{:.1} %", 100.0 * lost));
        let _ = write!(text, "{style}{sign} {:>5}  {:>6}", count(k), point.step);
        let _ = writeln!(text, "  {:>9}  {lost:>8}{}{style:#}", count(point.anonymity), values(point, &shown));
    }
    text
}

/// Returns the values of the measures of a point, each in a column of 8 characters.
fn values(point: &Point, measures: &[&str]) -> String {
    let value = |name: &&str| point.measures.get(name).map_or("-".to_owned(), |value| format!("{value:.4}"));
    measures.iter().map(|name| format!("{:>8}", value(name))).collect()
}

fn sentences(text: &str) -> String {
    wrapped(text, WIDTH).into_iter().map(|line| line + "\n").collect()
}

/// Returns the summary printed when the trade-off was written to a file.
pub fn written(tradeoff: &TradeOff, path: &Path) -> String {
    let steps = tradeoff.steps();
    format!("{GOOD}wrote{GOOD:#} {}: {steps} steps ({})\n{}", file_name(path), tradeoff.method, verdict(tradeoff))
}

/// Returns the points to print: the ends, marked ones, every change of the anonymity, and each point with at most half
/// the records in too small groups (without k: half the groups) of the point printed before it.
fn important(points: &[Point], all: bool, marked: impl Fn(&Point) -> bool) -> Vec<&Point> {
    let remaining = |point: &Point| point.below_k.unwrap_or(point.groups as u64);
    let mut last_remaining = u64::MAX;
    let mut anonymity = None;
    let mut is_important = |point: &&Point| {
        let changed = anonymity.replace(point.anonymity) != Some(point.anonymity);
        let halved = remaining(point) <= last_remaining / 2;
        let printed = all || changed || halved || marked(point) || points.last() == Some(*point);
        if printed {
            last_remaining = remaining(point);
        }
        printed
    };
    points.iter().filter(|point| is_important(point)).collect()
}

/// Writes a line for steps that are not printed.
fn write_skipped(text: &mut String, skipped: usize) {
    match skipped {
        0 => {}
        1 => _ = writeln!(text, "{FAINT}      …  1 step{FAINT:#}"),
        many => _ = writeln!(text, "{FAINT}      …  {many} steps{FAINT:#}"),
    }
}

/// Returns the first step that satisfies the policy, and the command that releases it.
fn verdict(tradeoff: &TradeOff) -> String {
    let mut text = String::new();
    if let Some(k) = tradeoff.k {
        let _ = match tradeoff.first_with(k) {
            Some(point) => writeln!(text, "k = {} is reached at step {}", count(k), point.step),
            None => writeln!(text, "k = {} is not reached", count(k)),
        };
    }
    text += &sentences(&held(tradeoff.first_valid));
    if let Some(holds) = tradeoff.first_valid {
        let _ = writeln!(text, "{}: moretta anonymize INPUT --policy POLICY --output OUT", release(tradeoff));
        if tradeoff.is_own() {
            let _ = writeln!(text, "add `--at {}` to release exactly this step", holds.step);
        }
    }
    text
}

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_DESCRIPTION {
        return text.to_owned();
    }
    text.chars().take(MAX_DESCRIPTION - 1).chain(['…']).collect()
}
