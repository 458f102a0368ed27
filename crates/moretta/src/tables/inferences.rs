//! Output of `moretta inferences` on a terminal: counts, and the inferences with the highest confidence.

use std::{fmt::Write as _, path::Path};

use anstyle::Style;
use moretta_core::text::{count, counted, one_line, shown};
use moretta_insight::{
    inferences::{Inference, Listing, Question, THRESHOLDS, Tallies, Tally, columns},
    tradeoff::joined,
};

use crate::summary::{self, BAD, FAINT, GOOD};

/// Maximum number of inferences in the list, unless all are requested.
pub const MAX_LISTED: usize = 20;
/// Maximum number of guarded values that a question names; if there are more, their number is printed.
const MAX_NAMED: usize = 3;
/// Printed if the policy names nothing that an attacker should not infer. This is no error, so that a list of commands
/// runs through on any table.
const NOTHING_TO_INFER: &str =
    "nothing to infer: no column has the role `sensitive`, and the policy has no `[[privacy.template]]`\n";
/// Maximum characters per wrapped line.
const WIDTH: usize = 96;

/// Returns the counts, and the listed inferences: all, or those with the highest confidence.
pub fn text(listing: &Listing, all: bool) -> String {
    let listed = &listing.found.listed;
    let mut text = counts_table(listing);
    if listing.questions.is_empty() {
        return text;
    }
    if listed.is_empty() {
        return text + &format!("no inference has a confidence above {}\n", percent(listing.above));
    }
    let printed = if all { &listed[..] } else { &listed[..listed.len().min(MAX_LISTED)] };
    let _ = writeln!(text, "{}, highest confidence first", found_above(listing));
    text += &list(listing, printed);
    let omitted = listing.found.all.listed.inferences - printed.len() as u64;
    if omitted > 0 {
        let _ = writeln!(text, "{FAINT}… and {} more; use --all to list them{FAINT:#}", count(omitted));
    }
    text
}

/// Returns the summary printed after the list was written to a file.
pub fn written(listing: &Listing, path: &Path) -> String {
    counts_table(listing) + &format!("{GOOD}wrote{GOOD:#} {}: {}\n", summary::file_name(path), found_above(listing))
}

fn found_above(listing: &Listing) -> String {
    let Tally { inferences, records } = listing.found.all.listed;
    let (inferences, records) = (counted(inferences, "inference", "inferences"), exposed(records));
    format!("{inferences} with a confidence above {} ({records})", percent(listing.above))
}

fn counts_table(listing: &Listing) -> String {
    let mut text = format!("{}: {}\n", one_line(&listing.file), summary::records(listing.profile.records()));
    if listing.questions.is_empty() {
        return text + NOTHING_TO_INFER;
    }
    if !listing.is_limited() {
        text +=
            "no template or LKC-privacy in the policy: checking all sensitive values, given all quasi-identifiers\n";
    }
    // The largest counts are those of all questions above the lowest threshold.
    let largest = listing.found.all.above[0];
    let width = count(largest.inferences.max(largest.records)).len().max(8) + 2;
    let thresholds: String = THRESHOLDS.iter().map(|threshold| format!("{:>width$}", percent(*threshold))).collect();
    let _ = writeln!(text, "\n{FAINT}{:<18}{thresholds}{FAINT:#}", "confidence above");
    if listing.questions.len() > 1 {
        text += "all\n";
        text += &rows(&listing.found.all, width);
    }
    for (question, tallies) in listing.questions.iter().zip(&listing.found.by_question) {
        text += &lines(describe(listing, question).split(' '), 0);
        text += &rows(tallies, width);
    }
    text.push('\n');
    let Tally { inferences, records } = listing.found.all.above_limit;
    if inferences > 0 {
        let (what, records) = (counted(inferences, "inference has", "inferences have"), exposed(records));
        text += &format!("{BAD}FAIL{BAD:#} {what} a confidence above the limit of the policy ({records})\n\n");
    } else if listing.is_limited() {
        let _ = writeln!(text, "{GOOD}ok{GOOD:#} no inference has a confidence above the limit of the policy\n");
    }
    text
}

/// Returns, e.g., `bankruptcy = Discharged, given job, country (at most 75 %)` or
/// `diagnosis (9 values), given any 2 of 5 columns`.
fn describe(listing: &Listing, question: &Question) -> String {
    let attribute = listing.attribute(question);
    let values = match question.values.len() {
        1..=MAX_NAMED => {
            let named = question.values.iter().map(|guarded| quoted(&attribute.values[guarded.value as usize]));
            format!(" = {}", named.collect::<Vec<_>>().join(" or "))
        }
        many => format!(" ({})", counted(many as u64, "value", "values")),
    };
    let given = match &question.known[..] {
        [given] => listing.names(given).map(quoted).collect::<Vec<_>>().join(", "),
        sets => format!("any {} of {} columns", sets[0].len(), columns(question).len()),
    };
    format!("{}{values}, given {given}{}", quoted(&attribute.name), limit_text(question))
}

fn list(listing: &Listing, inferences: &[Inference]) -> String {
    let support = |inference: &Inference| format!("{} of {}", count(inference.support), count(inference.records));
    let widths = inferences.iter().map(|inference| support(inference).chars().count());
    let widest = widths.max().unwrap_or(0).max("support".len());
    let mut text = format!("{FAINT}  confidence  {:>widest$}{FAINT:#}\n", "support");
    for inference in inferences {
        let (sign, style) = if inference.exceeds_limit() { ("!", BAD) } else { (" ", Style::new()) };
        let confidence = format!("{:.1} %", 100.0 * inference.confidence());
        let head = format!("{style}{sign}{style:#} {confidence:>10}  {:>widest$}  ", support(inference));
        let parts = parts(listing, inference);
        text += &head;
        text += lines(parts.iter().map(String::as_str), 2 + 10 + 2 + widest + 2).trim_start();
    }
    text
}

/// Returns an inference in parts that are not wrapped, e.g. `bankruptcy = Discharged,`, `given job = Trader,` and
/// `country = UK`.
fn parts(listing: &Listing, inference: &Inference) -> Vec<String> {
    let pair = |(column, value): (&str, &str)| format!("{} = {}", quoted(column), quoted(value));
    let mut known: Vec<String> = listing.known(inference).map(pair).collect();
    let last = known.len() - 1;
    known[..last].iter_mut().for_each(|pair| pair.push(','));
    known[0].insert_str(0, "given ");
    known.insert(0, pair(listing.inferred(inference)) + ",");
    known
}

/// Returns, e.g., ` (at most 75 %)`, the limit of the policy; empty unless all values of the question have the same
/// limit.
fn limit_text(question: &Question) -> String {
    let limits = || question.values.iter().map(|guarded| guarded.max_confidence);
    match limits().next().flatten() {
        Some(max) if limits().all(|limit| limit == Some(max)) => format!(" (at most {})", percent(max)),
        _ => String::new(),
    }
}

fn exposed(records: u64) -> String {
    counted(records, "record exposed", "records exposed")
}

fn rows(tallies: &Tallies, width: usize) -> String {
    let row = |name: &str, figure: fn(&Tally) -> u64| {
        let figures: String = tallies.above.iter().map(|tally| format!("{:>width$}", count(figure(tally)))).collect();
        format!("  {name:<16}{figures}\n")
    };
    row("inferences", |tally| tally.inferences) + &row("records exposed", |tally| tally.records)
}

/// Wraps text in lines indented by `indent` spaces.
fn lines<'a>(parts: impl IntoIterator<Item = &'a str>, indent: usize) -> String {
    let lines = joined(parts, WIDTH.saturating_sub(indent).max(40));
    lines.into_iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// Formats a share, e.g. `12.5 %`, rounded to hide binary floating-point noise.
fn percent(share: f64) -> String {
    format!("{} %", (share * 1e8).round() / 1e6)
}

/// A value or name for the terminal.
fn quoted(text: &str) -> String {
    if text.is_empty() { "\"\"".to_owned() } else { shown(text) }
}

#[cfg(test)]
mod tests {
    use super::{percent, quoted};

    #[test]
    fn shares_are_percentages() {
        assert_eq!([0.1, 0.7, 0.125, 0.0, 0.999].map(percent), ["10 %", "70 %", "12.5 %", "0 %", "99.9 %"]);
    }

    #[test]
    fn no_value_controls_the_terminal() {
        assert_eq!(["", "a b", "\u{1b}[2J\n"].map(quoted), ["\"\"", "a b", "\\u{1b}[2J\\n"]);
    }
}
