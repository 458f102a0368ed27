//! A path on a terminal: the steps that matter, in a hundred columns.

use std::{fmt::Write as _, path::Path};

use anstyle::{AnsiColor, Style};
use moretta_core::text::count;
use moretta_insight::tradeoff::{Point, TradeOff, caveat, held, lost, release, what, wrapped};

/// What tells most in a line's room; the rest is in the file.
const SHOWN: [&str; 4] = ["gcp", "lm", "cm", "rm"];
/// What is told of a k, beside the share of precision lost.
const PRICES: [&str; 2] = ["lm", "cm"];
/// Sentences break here.
const WIDTH: usize = 96;
/// A step in words is cut after so many characters.
const WIDEST: usize = 36;
const FAINT: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();

/// The path as a table. Steps that change little are counted only, unless `all` are asked for.
pub fn table(tradeoff: &TradeOff, all: bool) -> String {
    let points = &tradeoff.points;
    let shown: Vec<&str> = tradeoff.measures().into_iter().filter(|name| SHOWN.contains(name)).collect();
    let reached = tradeoff.k.and_then(|k| tradeoff.first_with(k)).map(|point| point.step);
    let holds = tradeoff.first_valid.map(|holds| holds.step);
    let marked = |point: &Point| Some(point.step) == reached || Some(point.step) == holds;
    let told = told(points, all, marked);
    let shown_points: Vec<usize> =
        points.iter().zip(told).filter(|(_, told)| *told).map(|(point, _)| point.step).collect();
    let told = |point: &Point| shown_points.binary_search(&point.step).is_ok();
    let widest = points.iter().filter(|point| told(point)).map(|point| what(point).chars().count()).max();
    let widest = widest.unwrap_or(0).min(WIDEST);

    let mut text = format!(
        "{} records, {} steps from the table as it is to the root ({})\n\n",
        count(tradeoff.rows),
        tradeoff.steps(),
        tradeoff.method
    );
    text += &costs(tradeoff);
    text.push('\n');
    text += &sentences(&caveat(tradeoff).join(" "));
    text.push('\n');
    let below = if tradeoff.k.is_some() { "   below k" } else { "" };
    let measures: String = shown.iter().map(|name| format!("{name:>8}")).collect();
    let _ = writeln!(text, "{FAINT}   step  {:<widest$}  anonymity{below}     groups{measures}{FAINT:#}", "what");
    let mut next = 0;
    for point in points.iter().filter(|point| told(point)) {
        unfold(&mut text, point.step - next);
        next = point.step + 1;
        let (sign, style) = if marked(point) { (">", GOOD) } else { (" ", Style::new()) };
        let _ = write!(text, "{style}{sign} {:>5}  {:<widest$}", point.step, cut(&what(point)));
        let _ = write!(text, "  {:>9}", count(point.anonymity));
        if let Some(below) = point.below_k {
            let _ = write!(text, "  {:>8}", count(below));
        }
        let _ = write!(text, "  {:>9}", count(point.groups as u64));
        for name in &shown {
            let value = point.measures.get(name).map_or("-".to_owned(), |value| format!("{value:.4}"));
            let _ = write!(text, "{value:>8}");
        }
        let _ = writeln!(text, "{style:#}");
    }
    text.push('\n');
    text += &verdict(tradeoff);
    text
}

/// Which k costs what, as far as the path reaches it.
fn costs(tradeoff: &TradeOff) -> String {
    let known = tradeoff.measures();
    let shown: Vec<&str> = PRICES.into_iter().filter(|name| known.contains(name)).collect();
    let measures: String = shown.iter().map(|name| format!("{name:>8}")).collect();
    let mut text = format!("which k costs what\n{FAINT}      k    step  anonymity      lost{measures}{FAINT:#}\n");
    for (k, point) in tradeoff.costs() {
        let own = Some(k) == tradeoff.k;
        let (sign, style) = if own { (">", GOOD) } else { (" ", Style::new()) };
        let Some(point) = point else {
            if own {
                let _ = writeln!(text, "> {:>5}  is not reached", count(k));
            }
            continue;
        };
        let lost = lost(point).map_or("-".to_owned(), |lost| format!("{:.1} %", 100.0 * lost));
        let _ = write!(text, "{style}{sign} {:>5}  {:>6}", count(k), point.step);
        let _ = write!(text, "  {:>9}  {lost:>8}", count(point.anonymity));
        for name in &shown {
            let value = point.measures.get(name).map_or("-".to_owned(), |value| format!("{value:.4}"));
            let _ = write!(text, "{value:>8}");
        }
        let _ = writeln!(text, "{style:#}");
    }
    text
}

fn sentences(text: &str) -> String {
    wrapped(text, WIDTH).into_iter().map(|line| line + "\n").collect()
}

/// What is said where the path went to a file.
pub fn written(tradeoff: &TradeOff, path: &Path) -> String {
    let steps = tradeoff.steps();
    format!("{GOOD}wrote{GOOD:#} {}: {steps} steps ({})\n{}", path.display(), tradeoff.method, verdict(tradeoff))
}

/// Which points are told: the ends, what is marked, every change of the anonymity, and where there are half as many
/// records in too small groups (without k: half as many groups) as at the last point told.
fn told(points: &[Point], all: bool, marked: impl Fn(&Point) -> bool) -> Vec<bool> {
    let left = |point: &Point| point.below_k.unwrap_or(point.groups as u64);
    let mut last = u64::MAX;
    let mut anonymity = None;
    let mut tell = |point: &Point| {
        let changed = anonymity.replace(point.anonymity) != Some(point.anonymity);
        let fewer = left(point) <= last / 2;
        let told = all || changed || fewer || marked(point) || points.last() == Some(point);
        if told {
            last = left(point);
        }
        told
    };
    points.iter().map(&mut tell).collect()
}

fn unfold(text: &mut String, folded: usize) {
    match folded {
        0 => {}
        1 => _ = writeln!(text, "{FAINT}      …  1 step{FAINT:#}"),
        many => _ = writeln!(text, "{FAINT}      …  {many} steps{FAINT:#}"),
    }
}

/// Where the policy is met, and how to release that.
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
            let _ = writeln!(text, "`--at {}` releases exactly this point of the climb", holds.step);
        }
    }
    text
}

fn cut(text: &str) -> String {
    if text.chars().count() <= WIDEST {
        return text.to_owned();
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}
