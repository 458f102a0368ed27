//! Summaries printed on the terminal: short, aligned, colored only on a terminal.

use std::{collections::BTreeMap, fmt::Write as _, io::Write as _, path::Path};

use anstyle::{AnsiColor, Style};
use moretta_core::{
    measure::{MEASURES, Measures},
    privacy::{Description, Template, TemplateValues},
    schema::Unit,
    search::Stop,
    text::{count, counted, escaped, listed, one_line, shown},
};
use moretta_flow::Checked;
use moretta_guess::Guesses;
use moretta_insight::{
    bound::Certificate,
    evaluate::{ERRORS, Errors, Tested, TestedRecords},
    household::Households,
    kept::Kept,
    recoding_comparison::{Both, Compared},
    report::{ObjectiveResult, Report, TemplateResult},
};
use serde::Serialize;

use crate::{arguments::Output, tables};

pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default().bold();
pub const FAINT: Style = Style::new().dimmed();

/// A file name for the terminal.
pub fn file_name(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// Prints a note to standard error.
pub fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "note: {}", escaped(text));
}

/// JSON of a result, as `--json` prints it.
pub fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("texts and numbers") + "\n"
}

/// Prints the standard error of a child process.
pub fn pass_on(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// `1,234 records`
pub fn records(number: u64) -> String {
    counted(number, "record", "records")
}

/// Prints an error to standard error.
pub fn error(text: &str) {
    let _ = writeln!(anstream::stderr(), "{BAD}error{BAD:#}: {}", escaped(text));
}

/// Formats a share like the report page: a share above 0 never prints as 0 %.
pub fn percent(share: f64) -> String {
    moretta_pages::percent(share).replace('\u{a0}', " ")
}

fn figure(value: f64) -> String {
    if value.abs() >= 1000.0 { count(value.round() as u64) } else { format!("{value:.4}") }
}

/// Returns the summary of `anonymize` and `apply`.
pub fn release(report: &Report, output: &Output) -> String {
    let mut text = format!(
        "{GOOD}released{GOOD:#} {}: {}{} in {}, {} suppressed\n",
        file_name(&output.output),
        records(report.input.rows),
        report.input.persons.map_or(String::new(), |persons| format!(" of {}", Unit::Persons.counted(persons))),
        counted(report.groups as u64, "group", "groups"),
        count(report.suppressed_rows)
    );
    if report.starred_rows > report.suppressed_rows {
        let starred = counted(report.starred_rows, "record is", "records are");
        let useless = if report.starred_rows == report.input.rows {
            ": the release has no information about them; choose a smaller k, weaker models or fewer quasi-identifiers"
        } else {
            ""
        };
        let _ = writeln!(text, "  note   {starred} released with * in every quasi-identifier{useless}");
    }
    for model in &report.privacy.models {
        let worst = worst(&model.model, model.of_table, &model.worst);
        let _ = writeln!(text, "  {GOOD}ok{GOOD:#}     {}: {worst}", one_line(&model.model.to_string()));
    }
    if let Some(linkage) = &report.linkage {
        let earlier = counted(linkage.releases.len() as u64 - 1, "earlier release", "earlier releases");
        let _ = writeln!(text, "  earlier together with {earlier}:");
        text += &tables::linkage::lines(linkage);
    }
    text += &risk(report);
    if let Some(share) = report.risk.largest_share {
        let _ = writeln!(text, "  note   one person has up to {} of the records of a group", percent(share));
    }
    text += &report.kept.as_ref().map_or(String::new(), tables::kept::lines);
    text += &losses(report);
    if let Some(certificate) = &report.bound {
        let _ = writeln!(text, "  bound  {}", certificate.sentence());
    }
    text += &tried(report);
    if let Some(compared) = &report.compared {
        text += &self::compared(compared, &report.method);
    }
    text += &notes(report);
    let seconds = report.seconds;
    let _ = writeln!(
        text,
        "  time   {:.2} s (read {:.2}, search {:.2}, write {:.2}, verify the written file {:.2})",
        seconds.total, seconds.profile, seconds.search, seconds.release, seconds.check
    );
    for path in &output.report {
        let _ = writeln!(text, "  report {}", file_name(path));
    }
    text
}

/// The re-identification risk before and after.
fn risk(report: &Report) -> String {
    let units = report.policy.unit().plural();
    let (before, after) = (report.risk.before.prosecutor, report.risk.after.prosecutor);
    let [unique, unique_after, mean, mean_after] = [before.unique, after.unique, before.mean, after.mean].map(percent);
    let mut text = format!(
        "  risk   unique {units}: {unique} before, {unique_after} after; \
         mean re-identification risk: {mean} before, {mean_after} after\n"
    );
    if let Some(Households { before, after }) = report.risk.household {
        let _ = writeln!(
            text,
            "  risk   of households (one member found, all found), mean: {} before, {} after; records above {} only \
             because of it: {} before, {} after",
            percent(before.mean),
            percent(after.mean),
            percent(report.risk.threshold),
            count(before.above_only_by_household),
            count(after.above_only_by_household)
        );
    }
    text
}

/// The information loss: overall, by column, and by the objectives of the policy.
fn losses(report: &Report) -> String {
    let gcp = report.measures.get("gcp").unwrap_or(0.0);
    let mut text = format!("  loss   {:.1} % of the precision (gcp {gcp:.4}); by column:\n", 100.0 * gcp);
    let widest = report.columns.iter().map(|column| shown(&column.name).chars().count()).max().unwrap_or(0);
    for column in &report.columns {
        let (name, percent) = (shown(&column.name), 100.0 * column.share());
        let bar = "█".repeat((column.share() * 20.0).round() as usize);
        let _ = writeln!(text, "         {name:<widest$}  {percent:>5.1} %  {FAINT}{bar}{FAINT:#}");
    }
    for objective in &report.objectives {
        let _ = writeln!(text, "  goal   {}", objective_line(objective));
    }
    text
}

/// The methods that the search tried and the loss of each, if there are several.
fn tried(report: &Report) -> String {
    let losses: Vec<String> = report.tried.iter().map(|tried| format!("{} {:.4}", tried.method, tried.loss)).collect();
    if losses.is_empty() { String::new() } else { format!("  tried  {}\n", losses.join(", ")) }
}

/// Notes on labels, blocks, redundant templates and a search that did not finish.
fn notes(report: &Report) -> String {
    let mut text = String::new();
    if !report.nested.is_empty() {
        let columns = one_line(&report.nested.join(", "));
        text += &format!(
            "  note   in {columns}, a label does not stand for values that are released with a narrower label\n"
        );
    }
    if let Some(blocks) = report.blocks() {
        let _ = writeln!(text, "  note   the table was partitioned into {} blocks, searched separately", count(blocks));
    }
    for line in redundant(&report.privacy.templates) {
        let _ = writeln!(text, "  note   {}", one_line(&line));
    }
    let stopped = match report.stop {
        Stop::Finished => return text,
        Stop::OutOfTime => "at the time limit",
        Stop::Cancelled => "by the user",
    };
    if report.discloses_anything() {
        let _ = writeln!(text, "  stopped {stopped}: the release is valid, but more time could reduce its loss");
    } else {
        let _ = writeln!(text, "  stopped {stopped} before any value could be disclosed; raise --time-limit");
    }
    text
}

/// `cm of insured = 0.1270 (weight 2)`
fn objective_line(objective: &ObjectiveResult) -> String {
    let ObjectiveResult { measure, column, weight, value } = objective;
    let column = column.as_ref().map_or(String::new(), |column| format!(" of {}", shown(column)));
    let value = value.map_or("-".to_owned(), figure);
    let weight = if *weight == 1.0 { String::new() } else { format!(" (weight {weight})") };
    format!("{measure}{column} = {value}{weight}")
}

/// Compares the release with a fresh recoding of the same records.
fn compared(compared: &Compared, method: &str) -> String {
    let Compared { suppressed_rows, measures, stop, refused, seconds } = compared;
    if let Some(reason) = refused {
        return format!("  fresh  {method} found no recoding of these records to compare with: {}\n", one_line(reason));
    }
    let stopped = match stop {
        Some(Stop::OutOfTime) => ", stopped at the time limit: more time could reduce its loss",
        Some(Stop::Cancelled) => ", stopped by the user: more time could reduce its loss",
        _ => "",
    };
    let mut text = format!("  fresh  search of {method} on these records ({seconds:.2} s{stopped})\n");
    let rows = Both { applied: suppressed_rows.applied as f64, fresh: suppressed_rows.fresh.map(|rows| rows as f64) };
    let whole = |rows: f64| count(rows as u64);
    let named = measures.iter().map(|measure| {
        let column = measure.column.as_ref().map_or(String::new(), |column| format!(" of {}", shown(column)));
        (format!("{}{column}", measure.name), measure.value, figure as fn(f64) -> String)
    });
    let lines: Vec<_> =
        std::iter::once(("suppressed".to_owned(), rows, whole as fn(f64) -> String)).chain(named).collect();
    let widest = lines.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let _ = writeln!(text, "         {:<widest$}  {:>9}  {:>9}  applied has", "", "applied", "fresh");
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

/// `smallest group has 10 records`; the figure alone if the model is about the whole table.
fn worst(model: &Description, of_table: bool, figure: &str) -> String {
    let figure = one_line(figure);
    match model.name.as_str() {
        _ if of_table => figure,
        "k-anonymity" => format!("smallest group has {figure}"),
        _ => format!("worst group has {figure}"),
    }
}

/// Returns a line for each pair of templates where one implies the other, for all or some values. Values are named only
/// if the policy names them: the rarest values are confidential.
fn redundant(results: &[TemplateResult]) -> Vec<String> {
    let mut templates: Vec<&Template> = Vec::new();
    // Template index of each result. The results of a template are neighbors.
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
            _ if template == other => format!("template {template} is in the policy twice"),
            _ if implied.len() == values => format!("template {template} is implied by {other}"),
            TemplateValues::Listed(_) => format!("template {template} is implied for {} by {other}", listed(&implied)),
            TemplateValues::Rarest(_) => {
                let (some, all) = (count(implied.len() as u64), counted(values as u64, "value", "values"));
                format!("template {template} is implied for {some} of its {all} by {other}")
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

/// Returns the summary of `check`.
pub fn check(outcome: &Checked, file: &str) -> String {
    let mut text = format!(
        "{}: {} in {}, smallest group {}\n",
        one_line(file),
        records(outcome.records),
        counted(outcome.groups as u64, "group", "groups"),
        count(outcome.smallest)
    );
    let starred = counted(outcome.fully_generalized, "record has", "records have");
    text += &format!("  {starred} * in every quasi-identifier (suppressed); `max-suppressed` is not checked\n");
    for name in &outcome.identifiers {
        let name = shown(name);
        let _ = writeln!(text, "  {BAD}FAIL{BAD:#}   column `{name}` is an identifier and must not be released");
    }
    for judgement in &outcome.judgements {
        let worst = worst(&judgement.model, judgement.of_table, &judgement.worst);
        let model = one_line(&judgement.model.to_string());
        if judgement.holds {
            let _ = writeln!(text, "  {GOOD}ok{GOOD:#}     {model}: {worst}");
            continue;
        }
        if judgement.of_table {
            let _ = writeln!(text, "  {BAD}FAIL{BAD:#}   {model}: {worst}");
            continue;
        }
        // If a record is in several groups, the sum of their sizes is not a number of records.
        let failing = records(judgement.failing_records);
        let of_records = if judgement.overlapping { String::new() } else { format!(" ({failing})") };
        let (some, all) = (count(judgement.failing_groups as u64), counted(judgement.groups as u64, "group", "groups"));
        let _ = writeln!(text, "  {BAD}FAIL{BAD:#}   {model}: violated by {some} of {all}{of_records}; {worst}");
        let first: Vec<String> = judgement.where_.iter().map(|record| count(*record)).collect();
        let _ = writeln!(text, "         first records of the worst groups: {}", first.join("; "));
    }
    if let Some(violation) = outcome.kept.violation() {
        let _ = writeln!(text, "  {BAD}FAIL{BAD:#}   {violation}, unless `[release] exact` lists the columns");
    }
    text + &tables::kept::lines(&outcome.kept)
}

/// Returns the summary of `init`.
pub fn guesses(guesses: &Guesses, output: &Path) -> String {
    let output = file_name(output);
    let mut text = format!("{GOOD}wrote{GOOD:#} {output}, a draft policy; review every line marked CONFIRM:\n");
    let widest = guesses.columns.iter().map(|guess| shown(&guess.name).chars().count()).max().unwrap_or(0);
    for guess in &guesses.columns {
        let role = guess.role.name();
        let _ =
            writeln!(text, "  {:<widest$}  {role:<16}  {FAINT}{}{FAINT:#}", shown(&guess.name), one_line(&guess.why));
    }
    text
}

/// Returns the summary of `bound`.
pub fn bound(certificate: &Certificate) -> String {
    let mut text = format!("{}\n", certificate.sentence());
    if certificate.bound.is_some() && (certificate.limited || certificate.stop != Stop::Finished) {
        text += "  more time could raise the bound (--time-limit)\n";
    }
    let _ = writeln!(text, "  time   {:.2} s", certificate.seconds);
    text
}

/// Returns the summary of `measure`.
pub fn measures(measures: &Measures, kept: Option<&Kept>) -> String {
    let mut text = String::new();
    for (entry, (name, value)) in MEASURES.iter().zip(&measures.0) {
        let value = value.map_or("-".to_owned(), figure);
        let _ = writeln!(text, "{name:<8} {value:>14}  {FAINT}{}{FAINT:#}", entry.summary);
    }
    text + &kept.map_or(String::new(), tables::kept::lines)
}

/// Returns the summary of `evaluate`: errors, or their mean and standard deviation over several splits.
pub fn errors(found: &[Tested], mean: &Errors, deviation: Option<&Errors>) -> String {
    let sum = |records: fn(&TestedRecords) -> u64| found.iter().map(|tested| records(&tested.records)).sum::<u64>();
    let (tested, uncovered) = (sum(|records| records.test), sum(|records| records.uncovered));
    let mut text = match found.len() {
        1 => format!("errors of a decision tree on {} held-out records\n", count(tested)),
        n => format!(
            "errors of a decision tree on held-out records, mean ± standard deviation of {n} splits ({} records in all)\n",
            count(tested)
        ),
    };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    for entry in ERRORS {
        let value = (entry.value)(mean).map_or("-  ".to_owned(), percent);
        let spread = |value: f64| format!("± {:.1}", 100.0 * value);
        let spread = deviation.map(|deviation| (entry.value)(deviation).map_or(String::new(), spread));
        let spread = spread.map_or(String::new(), |spread| format!(" {spread:<6}"));
        let _ = writeln!(text, "  {:<2} {value:>8}{spread}  {FAINT}{}{FAINT:#}", entry.name, entry.summary);
    }
    if uncovered > 0 {
        let _ = writeln!(text, "  {} of them are covered by no released cell and count as * in E", count(uncovered));
    }
    if mean.raw >= mean.root {
        text += "  even the original quasi-identifiers do not help to predict the class, so E is not meaningful\n";
    }
    if found.iter().any(|tested| tested.stop == Stop::OutOfTime) {
        let _ = writeln!(text, "  stopped at the time limit: more time could reduce the loss");
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
