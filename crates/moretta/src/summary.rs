//! What a command says on a terminal: short, aligned, colour only where it is seen.

use std::{fmt::Write as _, io::Write as _, path::Path};

use anstyle::{AnsiColor, Style};
use moretta_core::{
    evaluate::{ERRORS, Errors},
    guess::Guesses,
    measure::{MEASURES, Measures},
    policy::Policy,
    report::Report,
    schema::Role,
    search::Stop,
    text::{count, counted},
    verify::Judgement,
};

use crate::arguments::Output;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const FAINT: Style = Style::new().dimmed();

/// To standard output; a reader that has gone is not an error.
pub fn print(text: &str) {
    let _ = anstream::stdout().write_all(text.as_bytes());
}

/// A remark beside the result.
pub fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "note: {text}");
}

/// What a holder should hear before relying on a release.
pub fn notes(policy: &Policy, unconfirmed: usize) {
    let unguarded = unguarded(policy);
    if !unguarded.is_empty() {
        let columns = unguarded.join("`, `");
        note(&format!("`{columns}`: sensitive, but no rule of the policy guards it; a group may share one value"));
    }
    if unconfirmed > 0 {
        note(&format!("{unconfirmed} lines of the policy are still marked CONFIRM"));
    }
}

/// Sensitive columns that no model looks at.
fn unguarded(policy: &Policy) -> Vec<&str> {
    let privacy = &policy.privacy;
    let guarded: Vec<&str> = (privacy.templates.iter().map(|t| t.column.as_str()))
        .chain(privacy.l_diversity.iter().map(|l| l.column.as_str()))
        .chain(privacy.t_closeness.iter().map(|t| t.column.as_str()))
        .collect();
    let sensitive = policy.columns.iter().filter(|column| column.role == Role::Sensitive);
    sensitive.map(|column| column.name.as_str()).filter(|name| !guarded.contains(name)).collect()
}

/// A failure.
pub fn error(text: &str) {
    let _ = writeln!(anstream::stderr(), "{BAD}error{BAD:#}: {text}");
}

fn figure(value: f64) -> String {
    if value.abs() >= 1000.0 { count(value.round() as u64) } else { format!("{value:.4}") }
}

/// What `anonymize` and `apply` say.
pub fn release(report: &Report, output: &Output) -> String {
    let mut text = String::new();
    let Report { input, groups, suppressed_rows, seconds, .. } = report;
    let path = output.output.display();
    let _ = writeln!(
        text,
        "{GOOD}released{GOOD:#} {path}: {} in {}, {} suppressed",
        counted(input.rows, "record", "records"),
        counted(*groups as u64, "group", "groups"),
        count(*suppressed_rows)
    );
    for model in &report.privacy.models {
        let _ = writeln!(text, "  {GOOD}holds{GOOD:#}  {}; worst group: {}", model.model, model.worst);
    }
    let share = |name: &str| report.measures.get(name).unwrap_or(0.0);
    let _ = writeln!(text, "  lost   {:.1} % of the precision (gcp {:.4})", 100.0 * share("gcp"), share("gcp"));
    let widest = report.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    for column in &report.columns {
        let bar = "█".repeat((column.ncp * 20.0).round() as usize);
        let _ =
            writeln!(text, "         {:<widest$}  {:>5.1} %  {FAINT}{bar}{FAINT:#}", column.name, 100.0 * column.ncp);
    }
    if !report.nested.is_empty() {
        let columns = report.nested.join(", ");
        let _ = writeln!(
            text,
            "  note   in {columns} a label stands for the values below it that are not released under a narrower one"
        );
    }
    if report.stop == Stop::OutOfTime {
        let _ = writeln!(text, "  stopped at the time limit: valid, but not as good as it could be");
    }
    let _ = writeln!(
        text,
        "  took   {:.2} s (read {:.2}, search {:.2}, write {:.2}, check of the written file {:.2})",
        seconds.total, seconds.profile, seconds.search, seconds.release, seconds.check
    );
    for path in &output.report {
        let _ = writeln!(text, "  report {}", path.display());
    }
    text
}

/// What `check` found.
pub struct Outcome<'a> {
    /// The file.
    pub file: &'a str,
    /// Its records.
    pub records: u64,
    /// Its distinct combinations of quasi-identifier values.
    pub groups: usize,
    /// The records of the smallest.
    pub smallest: u64,
    /// The records that print `*` in every quasi-identifier.
    pub suppressed: u64,
    /// Identifiers that are still there.
    pub identifiers: &'a [String],
    /// Every model's judgement.
    pub judgements: &'a [Judgement],
}

impl Outcome<'_> {
    /// Whether the file may leave.
    pub fn holds(&self) -> bool {
        self.identifiers.is_empty() && self.judgements.iter().all(Judgement::holds)
    }
}

/// What `check` says.
pub fn check(outcome: &Outcome<'_>) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} in {}, the smallest of {}",
        outcome.file,
        counted(outcome.records, "record", "records"),
        counted(outcome.groups as u64, "group", "groups"),
        count(outcome.smallest)
    );
    let _ = writeln!(
        text,
        "  {} * in every quasi-identifier (suppressed); `max-suppressed` is not tested here",
        counted(outcome.suppressed, "record prints", "records print")
    );
    for name in outcome.identifiers {
        let _ = writeln!(text, "  {BAD}breaks{BAD:#} column `{name}` is an identifier and must not leave");
    }
    for judgement in outcome.judgements {
        if judgement.holds() {
            let _ = writeln!(text, "  {GOOD}holds{GOOD:#}  {}; worst group: {}", judgement.model, judgement.worst);
            continue;
        }
        let _ = writeln!(
            text,
            "  {BAD}breaks{BAD:#} {}: {} of {} ({}); worst group: {}",
            judgement.model,
            count(judgement.failing_groups as u64),
            counted(judgement.groups as u64, "group", "groups"),
            counted(judgement.failing_records, "record", "records"),
            judgement.worst
        );
        let records: Vec<String> = judgement.where_.iter().map(|record| count(*record)).collect();
        let _ = writeln!(text, "         first records of the worst such groups: {}", records.join("; "));
    }
    text
}

/// What `init` says.
pub fn guesses(guesses: &Guesses, output: &Path) -> String {
    let mut text =
        format!("{GOOD}wrote{GOOD:#} {}, a first guess; confirm every line marked CONFIRM:\n", output.display());
    let widest = guesses.columns.iter().map(|guess| guess.name.chars().count()).max().unwrap_or(0);
    for guess in &guesses.columns {
        let role = guess.role.name();
        let _ = writeln!(text, "  {:<widest$}  {role:<16}  {FAINT}{}{FAINT:#}", guess.name, guess.why);
    }
    text
}

/// What `measure` says.
pub fn measures(measures: &Measures) -> String {
    let mut text = String::new();
    for (entry, (name, value)) in MEASURES.iter().zip(&measures.0) {
        let value = value.map_or("-".to_owned(), figure);
        let _ = writeln!(text, "{name:<8} {value:>14}  {FAINT}{}{FAINT:#}", entry.summary);
    }
    text
}

/// What `evaluate` says.
pub fn errors(errors: &Errors, (uncovered, tested): (u64, u64), stop: Stop) -> String {
    let mut text = format!("errors of a decision tree on {} records it has not seen\n", count(tested));
    for entry in ERRORS {
        let value = (entry.value)(errors).map_or("-  ".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        let _ = writeln!(text, "  {:<2} {value:>8}  {FAINT}{}{FAINT:#}", entry.name, entry.summary);
    }
    if uncovered > 0 {
        let _ = writeln!(text, "  {} of them lie in no released cell and count as * in E", count(uncovered));
    }
    if stop == Stop::OutOfTime {
        let _ = writeln!(text, "  stopped at the time limit: the release could have been better");
    }
    text
}
