//! Output of `moretta risks` on a terminal: no value of a person, only counts and names of columns.

use std::{cmp::Reverse, fmt::Write as _, path::Path};

use moretta_core::text::{count, one_line, shown};
use moretta_insight::{
    risks::{ColumnRisk, Figures, Risks, SetRisk},
    tradeoff::wrapped,
};

use crate::summary::{FAINT, GOOD, file_name, percent};

/// Characters per line of a sentence.
const WIDTH: usize = 100;

/// Returns all tables.
pub fn text(risks: &Risks) -> String {
    let mut text = format!("{}: {}\n", one_line(&risks.file), sentence(risks));
    text.push('\n');
    text += &columns(risks);
    text += &related(risks);
    text += &minimal(risks);
    for worst in risks.worst.iter().filter(|worst| !worst.sets.is_empty()) {
        let _ = writeln!(text, "\nsets of {} columns that single most records out", worst.size);
        text += &sets(&worst.sets);
    }
    if !risks.identifying.is_empty() {
        text += &lines(&format!(
            "not in these sets, because they alone single out half of the records or more: {}",
            names(&risks.identifying)
        ));
    }
    text.push('\n');
    text += &lines(&risks.unit());
    text + &left_out(risks)
}

/// Returns the summary printed when the page was written.
pub fn written(risks: &Risks, path: &Path) -> String {
    format!("{GOOD}wrote{GOOD:#} {}: {}\n", file_name(path), sentence(risks)) + &lines(&risks.unit()) + &left_out(risks)
}

fn sentence(risks: &Risks) -> String {
    match risks.together.alone {
        0 => risks.verdict(),
        _ => format!("{} ({})", risks.verdict(), percent(risks.together.alone_share)),
    }
}

/// The columns, those with most values first, and all together.
fn columns(risks: &Risks) -> String {
    let mut columns: Vec<&ColumnRisk> = risks.columns.iter().collect();
    columns.sort_by_key(|column| Reverse(column.figures.distinct));
    let cells = |name: String, figures: &Figures, contribution: Option<f64>| {
        let mut cells = vec![name];
        cells.extend(figure_cells(figures));
        cells.push(contribution.map_or(String::new(), percent));
        cells
    };
    let mut rows: Vec<Vec<String>> =
        columns.iter().map(|column| cells(shown(&column.name), &column.figures, column.contribution)).collect();
    rows.push(cells("all together".to_owned(), &risks.together, None));
    table(&["column", "distinct", "alone", "", "distinction", "separation", "contribution"], &rows)
}

fn figure_cells(figures: &Figures) -> [String; 5] {
    [
        count(figures.distinct),
        count(figures.alone),
        percent(figures.alone_share),
        format!("{:.6}", figures.distinction),
        format!("{:.6}", figures.separation),
    ]
}

fn related(risks: &Risks) -> String {
    let related = &risks.related;
    let mut text = String::new();
    if !related.constant.is_empty() {
        text += &lines(&format!("the same value in all records: {}", names(&related.constant)));
    }
    for columns in &related.duplicates {
        text += &lines(&format!("the same information: {}", names(columns)));
    }
    for chain in &related.chains {
        let chain: Vec<String> = chain.iter().map(|name| shown(name)).collect();
        text += &lines(&format!("each determines the next: {}", chain.join(" -> ")));
    }
    if text.is_empty() { text } else { "\n".to_owned() + &text }
}

/// Records by the columns that suffice to find them.
fn minimal(risks: &Risks) -> String {
    let mut text = "\nrecords that few columns single out\n".to_owned();
    let row = |(of, alone): (&moretta_insight::risks::MinimalOfSize, u64)| {
        let columns = if of.size == 1 { "1 column".to_owned() } else { format!("{} columns", of.size) };
        vec![columns, count(of.records), count(alone), percent(of.share_so_far), count(of.minimal)]
    };
    let so_far = risks.minimal.sizes.iter().scan(0, |sum, of| {
        *sum += of.records;
        Some(*sum)
    });
    let rows: Vec<Vec<String>> = risks.minimal.sizes.iter().zip(so_far).map(row).collect();
    text += &table(&["", "records", "so far", "", "minimal sets"], &rows);
    if let (Some(sum), Some(highest)) = (risks.minimal.score_sum, risks.minimal.score_highest) {
        let _ = writeln!(text, "{FAINT}sum of scores {}, highest {}{FAINT:#}", whole(sum), whole(highest));
    }
    text
}

/// A score: exact while it is small.
fn whole(score: f64) -> String {
    if score < 1e15 { count(score as u64) } else { format!("{score:.3e}") }
}

fn sets(sets: &[SetRisk]) -> String {
    let row = |set: &SetRisk| {
        let mut cells = vec![names(&set.columns)];
        cells.extend(figure_cells(&set.figures));
        cells.push(set.minimal.map_or(String::new(), count));
        cells
    };
    let rows: Vec<Vec<String>> = sets.iter().map(row).collect();
    table(&["columns", "distinct", "alone", "", "distinction", "separation", "minimal"], &rows)
}

fn left_out(risks: &Risks) -> String {
    risks.left_out.iter().map(|sentence| lines(&format!("not counted: {sentence}"))).collect()
}

fn names(columns: &[String]) -> String {
    columns.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ")
}

/// Wraps a sentence and indents all lines but the first.
fn lines(sentence: &str) -> String {
    let lines = wrapped(&one_line(sentence), WIDTH - 2);
    lines.iter().enumerate().map(|(index, line)| format!("{}{line}\n", if index > 0 { "  " } else { "" })).collect()
}

/// A table whose first column is text and whose others are numbers.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let mut line = format!("{:<1$}", cells[0], widths[0]);
        cells.iter().zip(&widths).skip(1).for_each(|(cell, width)| _ = write!(line, "  {cell:>width$}"));
        line.trim_end().to_owned()
    };
    let mut text = format!("{FAINT}{}{FAINT:#}\n", line(head));
    for row in rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        text += &(line(&cells) + "\n");
    }
    text
}
