//! What a command says on a terminal: short, aligned, colour only where it is seen.

use std::{collections::BTreeMap, fmt::Write as _, io::Write as _, path::Path};

use anstyle::{AnsiColor, Style};
use moretta_core::{
    measure::{MEASURES, Measures},
    privacy::{Template, TemplateValues},
    search::Stop,
    text::{count, counted, listed},
};
use moretta_flow::Checked;
use moretta_guess::Guesses;
use moretta_insight::{
    evaluate::{ERRORS, Errors, Tested, TestedRecords},
    recoding_comparison::{Both, Compared},
    report::{GoalResult, Report, TemplateResult},
};
use serde::Serialize;

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

/// As JSON, for programs.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("texts and numbers") + "\n"
}

/// What another process said on its standard error.
pub fn pass_on(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// `1,234 records`
pub fn records(number: u64) -> String {
    counted(number, "record", "records")
}

/// A failure.
pub fn error(text: &str) {
    let _ = writeln!(anstream::stderr(), "{BAD}error{BAD:#}: {text}");
}

/// A share of 1 by the rule of the page: what is not nothing does not print as nothing.
fn percent(share: f64) -> String {
    moretta_pages::percent(share).replace('\u{a0}', " ")
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
    if report.starred_rows > *suppressed_rows {
        let starred = counted(report.starred_rows, "record leaves", "records leave");
        let _ = writeln!(text, "  note   {starred} with * in every quasi-identifier: of their values none is told");
    }
    for model in &report.privacy.models {
        let worst = worst(model.of_table, &model.worst);
        let _ = writeln!(text, "  {GOOD}holds{GOOD:#}  {}{worst}", model.model);
    }
    let (before, after) = (report.risk.before.prosecutor, report.risk.after.prosecutor);
    let risk = [before.unique, after.unique, before.mean, after.mean].map(percent);
    let [unique_before, unique_after, before, after] = risk;
    let _ = writeln!(
        text,
        "  risk   {unique_before} of the records were unique, now {unique_after}; mean risk {before}, now {after}"
    );
    let share = |name: &str| report.measures.get(name).unwrap_or(0.0);
    let _ = writeln!(text, "  lost   {:.1} % of the precision (gcp {:.4})", 100.0 * share("gcp"), share("gcp"));
    let widest = report.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0);
    for column in &report.columns {
        let bar = "█".repeat((column.share() * 20.0).round() as usize);
        let _ = writeln!(
            text,
            "         {:<widest$}  {:>5.1} %  {FAINT}{bar}{FAINT:#}",
            column.name,
            100.0 * column.share()
        );
    }
    for goal in &report.goals {
        let _ = writeln!(text, "  goal   {}", goal_line(goal));
    }
    if let Some(compared) = &report.compared {
        text += &self::compared(compared, &report.method);
    }
    if !report.nested.is_empty() {
        let columns = report.nested.join(", ");
        let _ = writeln!(
            text,
            "  note   in {columns} a label stands for the values below it that are not released under a narrower one"
        );
    }
    if let Some(blocks) = report.blocks() {
        let _ =
            writeln!(text, "  note   the table was cut into {} blocks first, each searched on its own", count(blocks));
    }
    for line in redundant(&report.privacy.templates) {
        let _ = writeln!(text, "  note   {line}");
    }
    let stopped = match report.stop {
        Stop::Finished => None,
        Stop::OutOfTime => Some("at the time limit"),
        Stop::Cancelled => Some("by hand"),
    };
    if let Some(stopped) = stopped {
        let so_far = match report.tells() {
            true => "valid, but not as good as it could be",
            false => "before it found anything to tell, so nothing is told; give it more time",
        };
        let _ = writeln!(text, "  stopped {stopped}: {so_far}");
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

/// `cm of insured is 0.1270, and counts 2 times`.
fn goal_line(goal: &GoalResult) -> String {
    let GoalResult { measure, column, weight, value } = goal;
    let column = column.as_ref().map_or(String::new(), |column| format!(" of {column}"));
    let value = value.map_or("-".to_owned(), figure);
    let counts = if *weight == 1.0 { String::new() } else { format!(", and counts {weight} times") };
    format!("{measure}{column} is {value}{counts}")
}

/// The release beside what its method finds when it is run on the same records.
fn compared(compared: &Compared, method: &str) -> String {
    let Compared { suppressed_rows, measures, stop, refused, seconds } = compared;
    if let Some(reason) = refused {
        return format!("  anew   {method} found nothing for these records to compare with: {reason}\n");
    }
    let stopped = match stop {
        Some(Stop::OutOfTime) => ", stopped at the time limit: it could be better",
        Some(Stop::Cancelled) => ", stopped by hand: it could be better",
        _ => "",
    };
    let mut text = format!("  anew   {method} on these records ({seconds:.2} s{stopped})\n");
    let rows = Both { applied: suppressed_rows.applied as f64, fresh: suppressed_rows.fresh.map(|rows| rows as f64) };
    let whole = |rows: f64| count(rows as u64);
    let named = measures.iter().map(|measure| {
        let column = measure.column.as_ref().map_or(String::new(), |column| format!(" of {column}"));
        (format!("{}{column}", measure.name), measure.value, figure as fn(f64) -> String)
    });
    let lines: Vec<_> =
        std::iter::once(("suppressed".to_owned(), rows, whole as fn(f64) -> String)).chain(named).collect();
    let widest = lines.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "         {:<widest$}  {:>9}  {:>9}  the applied one has", "", "applied", "anew");
    for (name, value, shown) in lines {
        let (applied, fresh) = (shown(value.applied), value.fresh.map_or("-".to_owned(), shown));
        let worse = worse(value, shown);
        let _ = writeln!(text, "         {name:<widest$}  {applied:>9}  {fresh:>9}  {worse}");
    }
    text
}

/// `0.0450 more, 1.03 times as much`.
fn worse(value: Both<f64>, shown: fn(f64) -> String) -> String {
    let Some((difference, ratio)) = value.worse() else { return String::new() };
    let than = match difference {
        0.0 => return "the same".to_owned(),
        more if more > 0.0 => format!("{} more", shown(more)),
        less => format!("{} less", shown(-less)),
    };
    ratio.map_or(than.clone(), |ratio| format!("{than}, {ratio:.2} times as much"))
}

/// The worst figure of a model; a model of the whole table has no worst group.
fn worst(of_table: bool, worst: &str) -> String {
    if of_table { format!(": {worst}") } else { format!("; worst group: {worst}") }
}

/// A line for each of the policy's templates and another that it follows from, for all of its values or some. Values
/// are named where the policy names them: which ones are the rarest is for nobody to read.
fn redundant(results: &[TemplateResult]) -> Vec<String> {
    let mut templates: Vec<&Template> = Vec::new();
    // By result, the index of its template. The results of a template are neighbors.
    let mut index: Vec<usize> = Vec::with_capacity(results.len());
    for result in results {
        let last = index.last().copied().filter(|&last| *templates[last] == *result.template);
        let known = last.or_else(|| templates.iter().position(|known| **known == *result.template));
        index.push(known.unwrap_or(templates.len()));
        if known.is_none() {
            templates.push(&result.template);
        }
    }
    let mut pairs: BTreeMap<(usize, usize), Vec<&str>> = BTreeMap::new();
    for (result, one) in results.iter().zip(&index) {
        if let Some(by) = result.implied_by.and_then(|by| index.get(by)) {
            pairs.entry((*one, *by)).or_default().push(&result.value);
        }
    }
    let line = |((one, by), implied): ((usize, usize), Vec<&str>)| {
        let values = index.iter().filter(|index| **index == one).count();
        let (template, other) = (inference(templates[one]), inference(templates[by]));
        match &templates[one].values {
            _ if template == other => format!("the template {template} is in the policy twice"),
            _ if implied.len() == values => format!("the template {template} follows from {other}"),
            TemplateValues::Listed(_) => {
                format!("the template {template} follows for {} from {other}", listed(&implied))
            }
            TemplateValues::Rarest(_) => {
                let (some, all) = (count(implied.len() as u64), counted(values as u64, "value", "values"));
                format!("the template {template} follows for {some} of its {all} from {other}")
            }
        }
    };
    pairs.into_iter().map(line).collect()
}

/// `(job, country -> bankruptcy = Discharged, at most 0.75)`, `(job -> rarest 0.5 of bankruptcy, at most 0.75)`.
fn inference(template: &Template) -> String {
    let Template { given, column, values, max_confidence } = template;
    let values = match values {
        TemplateValues::Listed(values) => format!("{column} = {}", values.join(" or ")),
        TemplateValues::Rarest(share) => format!("rarest {share} of {column}"),
    };
    format!("({} -> {values}, at most {max_confidence})", given.join(", "))
}

/// What `check` says.
pub fn check(outcome: &Checked, file: &str) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}: {} in {}, the smallest of {}",
        file,
        counted(outcome.records, "record", "records"),
        counted(outcome.groups as u64, "group", "groups"),
        count(outcome.smallest)
    );
    let _ = writeln!(
        text,
        "  {} * in every quasi-identifier (suppressed); `max-suppressed` is not tested here",
        counted(outcome.suppressed, "record prints", "records print")
    );
    for name in &outcome.identifiers {
        let _ = writeln!(text, "  {BAD}breaks{BAD:#} column `{name}` is an identifier and must not leave");
    }
    for judgement in &outcome.judgements {
        if judgement.holds {
            let worst = worst(judgement.of_table, &judgement.worst);
            let _ = writeln!(text, "  {GOOD}holds{GOOD:#}  {}{worst}", judgement.model);
            continue;
        }
        if judgement.of_table {
            let _ = writeln!(text, "  {BAD}breaks{BAD:#} {}: {}", judgement.model, judgement.worst);
            continue;
        }
        // If a record is in several groups, the sum says nothing about the file.
        let records = match judgement.overlapping {
            true => String::new(),
            false => format!(" ({})", counted(judgement.failing_records, "record", "records")),
        };
        let _ = writeln!(
            text,
            "  {BAD}breaks{BAD:#} {}: {} of {}{records}; worst group: {}",
            judgement.model,
            count(judgement.failing_groups as u64),
            counted(judgement.groups as u64, "group", "groups"),
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

/// What `evaluate` says: the errors of each split or their mean, and how far they differ.
pub fn errors(found: &[Tested], mean: &Errors, deviation: Option<&Errors>) -> String {
    let sum = |records: fn(&TestedRecords) -> u64| found.iter().map(|tested| records(&tested.records)).sum::<u64>();
    let (tested, uncovered) = (sum(|records| records.test), sum(|records| records.uncovered));
    let mut text = match found.len() {
        1 => format!("errors of a decision tree on {} records it has not seen\n", count(tested)),
        n => format!(
            "errors of a decision tree on records it has not seen, mean and deviation of {n} splits ({} tested in all)\n",
            count(tested)
        ),
    };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    for entry in ERRORS {
        let value = (entry.value)(mean).map_or("-  ".to_owned(), percent);
        let spread = deviation
            .map(|deviation| (entry.value)(deviation).map_or(String::new(), |s| format!("± {:.1}", 100.0 * s)));
        let spread = spread.map_or(String::new(), |spread| format!(" {spread:<6}"));
        let _ = writeln!(text, "  {:<2} {value:>8}{spread}  {FAINT}{}{FAINT:#}", entry.name, entry.summary);
    }
    if uncovered > 0 {
        let _ = writeln!(text, "  {} of them lie in no released cell and count as * in E", count(uncovered));
    }
    if mean.raw >= mean.root {
        let _ =
            writeln!(text, "  the quasi-identifiers as they were do not help to predict the class, so E says nothing");
    }
    if found.iter().any(|tested| tested.stop == Stop::OutOfTime) {
        let _ = writeln!(text, "  stopped at the time limit: the release could have been better");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn one_of_many_is_not_nothing() {
        let shares = [0.0, 1.0 / 30_000.0, 1.0 / 3_000.0, 1.0 / 3.0, 1.0];
        assert_eq!(shares.map(percent), ["0 %", "< 0.01 %", "0.03 %", "33.3 %", "100.0 %"]);
    }
}
