//! Mutations of tables and hierarchy files: cells, rows, columns, quotes, line ends, encodings.

use super::{
    bytes::{EXTREME, ODD},
    lines::lines,
};
use crate::rng::Rng;

/// Changes one place of a CSV file. Returns `false` if there is nothing to change.
pub fn csv(rng: &mut Rng, data: &mut Vec<u8>) -> bool {
    if rng.chance(20) {
        return lines(rng, data);
    }
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let delimiter = *[',', ';', '\t', '|'].iter().max_by_key(|sign| text.matches(**sign).count()).unwrap_or(&',');
    let mut rows: Vec<Vec<String>> =
        text.lines().map(|line| line.split(delimiter).map(str::to_owned).collect()).collect();
    if rows.is_empty() {
        return false;
    }
    let row = rng.below(rows.len());
    let cell = rng.below(rows[row].len());
    let mut line_end = "\n";
    let mut printed_delimiter = delimiter;
    match rng.below(18) {
        0 => rows[row][cell] = (*rng.one(&ODD)).to_owned(),
        1 => rows[row][cell] = (*rng.one(&EXTREME)).to_owned(),
        2 => rows[row][cell] += *rng.one(&ODD),
        3 => rows[row][cell] = format!("{}{}", rng.one(&ODD), rows[row][cell]),
        4 => rows[row][cell] = format!("\"{}\"", rows[row][cell]),
        5 => rows[row][cell] = format!("\"{}{}{}\"", rows[row][cell], rng.one(&ODD), rows[row][cell]),
        6 => rows[row][cell] = rng.one(&["x", "9", "\"", "é"]).repeat(*rng.one(&[300, 5000, 300_000])),
        // Rows of another length.
        7 => drop(rows[row].remove(cell)),
        8 => rows[row].insert(cell, String::new()),
        // Without a header: the first record takes its place.
        9 => drop(rows.remove(0)),
        10 => {
            let other = rng.below(rows[0].len());
            let name = rows[0][other].clone();
            let cell = cell.min(rows[0].len() - 1);
            rows[0][cell] = name;
        }
        // A whole column.
        11 => {
            let text = *rng.one(&ODD);
            rows.iter_mut().skip(1).filter_map(|row| row.get_mut(cell)).for_each(|cell| *cell = text.to_owned());
        }
        12 => rows.iter_mut().filter(|row| row.len() > cell).for_each(|row| drop(row.remove(cell))),
        13 => rows.iter_mut().for_each(|row| row.insert(cell.min(row.len()), "new".to_owned())),
        14 => line_end = *rng.one(&["\r\n", "\r", "\n\n", "\n\r"]),
        15 => printed_delimiter = *rng.one(&[',', ';', '\t', '|', ':', ' ']),
        16 => rows[0][0].insert(0, '\u{feff}'),
        _ => rows.truncate(1 + row.min(1)),
    }
    let joined: Vec<String> = rows.iter().map(|row| row.join(&printed_delimiter.to_string())).collect();
    *data = (joined.join(line_end) + *rng.one(&["", "\n", line_end])).into_bytes();
    true
}
