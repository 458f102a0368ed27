//! Errors of queries on a terminal, at most 100 characters wide.

use std::{fmt::Write as _, path::Path};

use moretta_core::text::{count, counted, one_line, shown};
use moretta_insight::evaluate::queries::{
    Answered, Answers, Class, Conditions, Draw, Errors, Queries, QueryKind, Workload, conditions_text, errors,
    errors_by_class,
};

use crate::summary::{FAINT, GOOD, file_name, records};

/// Width of the first column of the table of errors, in characters.
const FIRST: usize = 16;

/// Returns the errors; for the user's own queries also the answers.
pub fn text(queries: &Queries) -> String {
    let mut text = format!("{}: {}\n\n", one_line(&queries.file), records(queries.records));
    match &queries.answers {
        Answers::Random { draw, workloads } => {
            text += &error_table(queries);
            text.push('\n');
            workloads.iter().for_each(|(kind, workload)| text += &drawn(kind, workload, draw));
        }
        Answers::Own(own) => {
            text += &listed(own);
            let answered: Vec<Answered> = own.iter().map(|(_, answered)| *answered).collect();
            let Errors { queries, mean, median } = errors(&answered);
            let (mean, median) = (percent(mean), percent(median));
            let queries = counted(queries as u64, "query", "queries");
            text += &format!("\nmean error {mean}, median {median}, of {queries} with a nonzero true answer\n");
        }
    }
    text
}

/// Returns the summary printed when the answers were written to a file.
pub fn written(queries: &Queries, path: &Path) -> String {
    let mut text = error_table(queries);
    let queries = queries.kinds().iter().map(|(_, answered)| answered.len() as u64).sum();
    let queries = counted(queries, "query", "queries");
    let _ = writeln!(text, "\n{GOOD}wrote{GOOD:#} {}: {queries}", file_name(path));
    text
}

fn error_table(queries: &Queries) -> String {
    let kinds = queries.kinds();
    let width = kinds.iter().map(|(kind, _)| shown(&kind.name()).chars().count()).max().unwrap_or(0).max(28);
    let names: String = kinds.iter().map(|(kind, _)| format!("  {:>width$}", shown(&kind.name()))).collect();
    let head = format!("{:>8}{:>10}{:>10}", "queries", "mean", "median");
    let heads: String = kinds.iter().map(|_| format!("  {head:>width$}")).collect();
    let mut text = format!("{FAINT}{:<FIRST$}{names}\n{:<FIRST$}{heads}{FAINT:#}\n", "relative error", "selectivity");
    let cells = |Errors { queries, mean, median }: &Errors| {
        let figures = format!("{:>8}{:>10}{:>10}", count(*queries as u64), percent(*mean), percent(*median));
        format!("  {figures:>width$}")
    };
    let all: String = kinds.iter().map(|(_, answered)| cells(&errors(answered))).collect();
    let _ = writeln!(text, "{:<FIRST$}{all}", "all");
    let classes: Vec<Vec<Class>> = kinds.iter().map(|(_, all)| errors_by_class(all, queries.records)).collect();
    for row in 0..classes.first().map_or(0, Vec::len) {
        let Class { above, up_to, .. } = classes[0][row];
        let (above, up_to) = (100.0 * above, 100.0 * up_to);
        let name = if above == 0.0 { format!("up to {up_to} %") } else { format!("{above} to {up_to} %") };
        let figures: String = classes.iter().map(|of_kind| cells(&of_kind[row].errors)).collect();
        let _ = writeln!(text, "{name:<FIRST$}{figures}");
    }
    text
}

/// Returns the number of drawn queries, and advice if too few have a nonzero true answer.
fn drawn(kind: &QueryKind, workload: &Workload, draw: &Draw) -> String {
    let (found, drawn) = (workload.answered.len() as u64, workload.drawn);
    let mut text = format!(
        "{}: {} of {} drawn queries have a nonzero true answer\n",
        shown(&kind.name()),
        count(found),
        count(drawn)
    );
    if (found as usize) < draw.count {
        let requested = count(draw.count as u64);
        text += &format!("  too few: {requested} were requested; use fewer columns per query, e.g. `--columns 2`\n");
    }
    text
}

fn listed(own: &[((QueryKind, Conditions), Answered)]) -> String {
    let rows: Vec<[String; 6]> = own
        .iter()
        .enumerate()
        .map(|(index, ((kind, conditions), answered))| {
            let (truth, answer) = (figure(answered.truth.answer), figure(answered.answer));
            let all =
                if conditions.is_empty() { "all records".to_owned() } else { one_line(&conditions_text(conditions)) };
            [(index + 1).to_string(), shown(&kind.name()), truth, answer, percent(answered.error()), all]
        })
        .collect();
    let head = ["", "", "truth", "release", "error", ""].map(str::to_owned);
    let width = |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |[number, kind, truth, answer, error, conditions]: &[String; 6]| {
        let (a, b, c, d, e) = (widths[0], widths[1], widths[2], widths[3], widths[4]);
        format!("{number:>a$}  {kind:<b$}  {truth:>c$}  {answer:>d$}  {error:>e$}  {conditions}").trim_end().to_owned()
    };
    let mut text = format!("{FAINT}{}{FAINT:#}\n", line(&head));
    rows.iter().for_each(|row| text += &(line(row) + "\n"));
    text
}

/// Formats whole numbers without decimals, others with two.
fn figure(value: f64) -> String {
    match value {
        whole if whole.fract() == 0.0 && (0.0..1e15).contains(&whole) => count(whole as u64),
        value => format!("{value:.2}"),
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}
