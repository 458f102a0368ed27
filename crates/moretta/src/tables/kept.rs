//! Records that kept columns single out.

use std::fmt::Write as _;

use moretta_core::text::{count, counted, shown};
use moretta_insight::kept::{Kept, KeptColumn, KnownValues};

use crate::summary::percent;

/// Maximum number of columns shown; the JSON has all.
const MAX_COLUMNS: usize = 10;

/// Lines on every kept column, on all of them, and on all with the released quasi-identifiers.
pub fn lines(kept: &Kept) -> String {
    if kept.columns.is_empty() {
        return "  kept   no column is released unchanged\n".to_owned();
    }
    // The columns that single out most records, in the order of the policy.
    let mut columns: Vec<(usize, &KeptColumn)> = kept.columns.iter().enumerate().collect();
    columns.sort_by_key(|(index, column)| (std::cmp::Reverse(column.known.rows_below_k), *index));
    columns.truncate(MAX_COLUMNS);
    columns.sort_by_key(|(index, _)| *index);
    let name = |column: &KeptColumn| format!("{}{}", shown(&column.name), if column.exact { " (exact)" } else { "" });
    let mut rows: Vec<(String, KnownValues)> = columns.iter().map(|(_, column)| (name(column), column.known)).collect();
    if let Some(together) = kept.together.filter(|_| kept.columns.len() > 1) {
        rows.push((format!("all {} kept columns", kept.columns.len()), together));
    }
    rows.extend(kept.with_quasi_identifiers.map(|known| ("with the quasi-identifiers".to_owned(), known)));
    let widest = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let share = |records: u64| match records {
        0 => "0".to_owned(),
        _ => format!("{} ({})", count(records), percent(records as f64 / kept.rows.max(1) as f64)),
    };
    let mut text =
        String::from("  kept   released unchanged: the records that an attacker finds who knows the values\n");
    let below = format!("in groups below {}", count(kept.k));
    let _ = writeln!(text, "         {:<widest$}  {:>9}  {:>18}  {below:>18}", "", "distinct", "unique");
    for (name, known) in rows {
        let KnownValues { distinct, unique_rows, rows_below_k } = known;
        let (distinct, unique, below) = (count(distinct), share(unique_rows), share(rows_below_k));
        let _ = writeln!(text, "         {name:<widest$}  {distinct:>9}  {unique:>18}  {below:>18}");
    }
    if kept.columns.len() > MAX_COLUMNS {
        let more = (kept.columns.len() - MAX_COLUMNS) as u64;
        let _ = writeln!(text, "         and {}", counted(more, "column with less", "columns with less"));
    }
    text
}
