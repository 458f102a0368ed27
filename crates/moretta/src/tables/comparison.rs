//! A comparison on a terminal, at most 120 characters wide: a block per k, a line per method.

use std::{fmt::Write as _, path::Path};

use anstyle::Style;
use moretta_core::text::{count, counted, one_line};

use moretta_insight::{
    comparison::{Comparison, Figure, Row, Unit, caveats, size, verdicts},
    tradeoff::wrapped,
};

use crate::summary::{FAINT, GOOD, file_name};

const BEST: Style = Style::new().bold();
/// Characters per line of a sentence.
const WIDTH: usize = 100;

/// Returns the tables of all k, notes, and the best method for each figure.
pub fn table(comparison: &Comparison) -> String {
    let mut text = format!("{}; nothing is released\n", size(comparison));
    let figures = comparison.figures();
    for k in comparison.ks() {
        text.push('\n');
        text += &block(comparison, &figures, k);
    }
    text.push('\n');
    text += "* best of its column; lower is better, groups are not judged\n";
    caveats(comparison).iter().for_each(|sentence| text += &lines(sentence, "  "));
    text.push('\n');
    text + &best(comparison)
}

/// Returns the summary printed when the comparison was written to a file.
pub fn written(comparison: &Comparison, path: &Path) -> String {
    let found = comparison.rows.iter().filter(|row| row.found.is_some()).count() as u64;
    let rows = counted(comparison.rows.len() as u64, "combination", "combinations");
    let mut text = format!("{GOOD}wrote{GOOD:#} {}: {rows} of method and k", file_name(path));
    if found < comparison.rows.len() as u64 {
        let _ = write!(text, ", {} with figures", count(found));
    }
    text.push('\n');
    text + &best(comparison)
}

fn best(comparison: &Comparison) -> String {
    verdicts(comparison).iter().map(|verdict| lines(&format!("{}: {}", verdict.what, verdict.who), "  ")).collect()
}

/// Wraps a sentence and indents all lines but the first. A line never breaks between a number and its unit.
fn lines(sentence: &str, indent: &str) -> String {
    let lines = wrapped(&one_line(sentence).replace(" %", "\u{a0}%"), WIDTH - indent.len());
    let line = |(index, line): (usize, &String)| format!("{}{line}\n", if index > 0 { indent } else { "" });
    lines.iter().enumerate().map(line).collect::<String>().replace('\u{a0}', " ")
}

fn block(comparison: &Comparison, figures: &[&Figure], k: Option<u64>) -> String {
    let rows: Vec<&Row> = comparison.at(k).collect();
    let first = rows.iter().map(|row| row.method.len()).max().unwrap_or(0);
    let heads: Vec<String> = figures.iter().map(|figure| head(figure)).collect();
    let cells: Vec<Vec<(String, bool)>> = rows.iter().map(|row| cells(comparison, figures, row)).collect();
    let width = |column: usize| {
        let widths = cells.iter().filter_map(|row| row.get(column)).map(|(text, _)| text.chars().count());
        widths.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..figures.len()).map(width).collect();
    let title = k.map_or("without k".to_owned(), |k| format!("k = {}", count(k)));
    let mut text = format!("{FAINT}{title:<first$}");
    heads.iter().zip(&widths).for_each(|(head, width)| _ = write!(text, " {head:>width$} "));
    text = format!("{}{FAINT:#}\n", text.trim_end());
    for (row, cells) in rows.iter().zip(cells) {
        let mut line = format!("{:<first$}", row.method);
        for ((cell, best), width) in cells.iter().zip(&widths) {
            let _ =
                if *best { write!(line, " {BEST}{cell:>width$}*{BEST:#}") } else { write!(line, " {cell:>width$} ") };
        }
        if let Some(reason) = row.detail.as_ref().or(row.unsupported.as_ref()) {
            let reason = wrapped(&format!("no result: {}", one_line(&reason.replace('\n', " "))), WIDTH - first - 2);
            line += &format!("  {}", reason.join(&format!("\n{}", " ".repeat(first + 2))));
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn head(figure: &Figure) -> String {
    match (figure.name, figure.unit) {
        // The unit is short and clear enough.
        ("seconds", _) => "s".to_owned(),
        ("memory", _) => "MB".to_owned(),
        ("suppressed", _) => "suppr.".to_owned(),
        (name, Unit::Share) => format!("{name} %"),
        (name, _) => name.to_owned(),
    }
}

/// Returns the cells and whether each is the best of its column; empty for a row without figures.
fn cells(comparison: &Comparison, figures: &[&Figure], row: &Row) -> Vec<(String, bool)> {
    let Some(found) = &row.found else { return Vec::new() };
    let cell = |figure: &&Figure| {
        let Some(value) = (figure.value)(found) else { return ("-".to_owned(), false) };
        let spread = (figure.spread)(found).map_or(String::new(), |spread| format!("±{}", figure.unit.cell(spread)));
        (figure.unit.cell(value) + &spread, comparison.best(figure, row.k) == Some(value))
    };
    figures.iter().map(cell).collect()
}

#[cfg(test)]
mod tests {
    use moretta_insight::comparison::testing::{comparison, comparison_with_rarest};

    use super::*;

    #[test]
    fn a_data_holder_reads_why_there_is_no_result() {
        assert!(table(&comparison_with_rarest()).contains("gout"));
    }

    #[test]
    fn the_terminal_has_a_block_for_each_k_and_marks_the_best() {
        let said = anstream::adapter::strip_str(&table(&comparison())).to_string();
        assert!(said.lines().all(|line| line.chars().count() <= 120), "{said}");
        insta::assert_snapshot!("table", said);
        let said = anstream::adapter::strip_str(&written(&comparison(), Path::new("c.csv"))).to_string();
        assert!(said.starts_with("wrote c.csv: 6 combinations of method and k, 4 with figures\n"), "{said}");
    }
}
