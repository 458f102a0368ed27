//! Rows of delimited text: fields separated by `;`, tab or `,`, possibly quoted, as spreadsheets and ARX write them.

use super::{
    assemble::Row,
    fault::{Faults, HierarchyFileError, HierarchyProblem, Place},
};

/// Splits a text into rows. Rows without text are left out, and so is an empty last field of all rows, which a
/// delimiter at the end of every line makes.
pub(super) fn rows(text: &str) -> Result<(Vec<Row>, char), HierarchyFileError> {
    let delimiter = delimiter_of(text);
    let (mut rows, mut faults) = (Vec::new(), Faults::default());
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        let start = line;
        let Some((fields, more)) = row(rest, delimiter) else {
            // Without its closing quote, the rest of the file may be part of this field.
            faults.push(&Place::Row(start), HierarchyProblem::Quote);
            break;
        };
        line += rest[..rest.len() - more.len()].matches('\n').count();
        let is_blank = |fields: &[String]| fields.len() == 1 && fields[0].trim().is_empty();
        if !is_blank(&fields) {
            rows.push(Row { place: Place::Row(start), fields });
        }
        rest = more;
    }
    faults.check()?;
    let ends_empty = |row: &Row| row.fields.len() > 1 && row.fields.last().is_some_and(String::is_empty);
    while !rows.is_empty() && rows.iter().all(ends_empty) {
        rows.iter_mut().for_each(|row| drop(row.fields.pop()));
    }
    Ok((rows, delimiter))
}

/// The first of the delimiters that occurs in the first row, outside quotes.
fn delimiter_of(text: &str) -> char {
    let first = text.trim_start_matches(['\r', '\n']).lines().next().unwrap_or("");
    let is_outside_quotes = |delimiter: &char| first.split('"').step_by(2).any(|part| part.contains(*delimiter));
    [';', '\t', ','].into_iter().find(is_outside_quotes).unwrap_or(';')
}

/// The fields of the first row and the text after it; `None` if its quotes do not match. Blanks around a field do not
/// belong to it.
fn row(text: &str, delimiter: char) -> Option<(Vec<String>, &str)> {
    let mut fields = Vec::new();
    let mut rest = text;
    loop {
        let (field, more) = match rest.trim_start_matches(' ').strip_prefix('"') {
            Some(inside) => quoted(inside)?,
            None => {
                let end = rest.find([delimiter, '\n']).unwrap_or(rest.len());
                (rest[..end].trim_matches([' ', '\r']).to_owned(), &rest[end..])
            }
        };
        fields.push(field);
        if let Some(more) = more.strip_prefix(delimiter) {
            rest = more;
        } else if more.is_empty() {
            return Some((fields, more));
        } else {
            return Some((fields, more.strip_prefix('\n')?));
        }
    }
}

/// A quoted field and the text behind it; `None` if it is not closed.
fn quoted(inside: &str) -> Option<(String, &str)> {
    let (mut field, mut rest) = (String::new(), inside);
    loop {
        let end = rest.find('"')?;
        field.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None => break,
        }
    }
    Some((field, rest.trim_start_matches([' ', '\r'])))
}

/// A label as a field, quoted if it must be.
pub(super) fn field(label: &str) -> String {
    let special = label.contains([';', '\t', ',', '"', '\n', '\r']);
    if special || label.starts_with(' ') || label.ends_with(' ') || label.is_empty() {
        format!("\"{}\"", label.replace('"', "\"\""))
    } else {
        label.to_owned()
    }
}
