//! Names of levels: the row of names at the start of a file.
//!
//! A row of names and a value of its own look alike. So the first row has names only where that is certain or where the
//! other reading is an error: it starts with `#levels`; or it ends in another label than all other rows; or it starts
//! with the name of the column. In the last two cases no other row may have one of its labels. A note says how the row
//! was read; a value that is lost by it is missed in the data, with an error, not silently.

use hashbrown::HashSet;

use super::{
    assemble::Row,
    fault::{Faults, HierarchyFileError, HierarchyProblem, Place},
};
use crate::hierarchy::tree::ROOT_LABEL;

/// First field of a row of names, before the name of the first level.
pub(super) const MARK: &str = "#levels";

/// Takes the row of names off the rows: the names, the values' first, or none.
pub(super) fn take(rows: &mut Vec<Row>, column: Option<&str>) -> Result<(Vec<String>, bool), HierarchyFileError> {
    let Some((first, others)) = rows.split_first() else { return Ok((Vec::new(), false)) };
    let expected = others.first().map_or(0, |row| row.fields.len());
    // A value with this label has as many fields as the others, and the root at the end.
    let is_value = || {
        let last = |row: &Row| row.fields.last().cloned();
        first.fields.len() == expected && others.first().and_then(last) == last(first)
    };
    let marked = first.fields[0] == MARK && !is_value();
    if !marked && !is_named_like(first, others, column) {
        return Ok((Vec::new(), false));
    }
    let Row { place, fields } = rows.remove(0);
    let names: Vec<String> = fields.into_iter().skip(usize::from(marked)).collect();
    let mut faults = Faults::default();
    if names.len() != expected {
        faults.push(&place, HierarchyProblem::LevelCount { found: names.len(), expected });
    }
    check_names(&names, &place, &mut faults);
    faults.check()?;
    Ok((names, !marked))
}

/// Names mark groups of different levels, so they must differ.
pub(super) fn check_names(names: &[String], place: &Place, faults: &mut Faults) {
    for (level, name) in names.iter().enumerate() {
        if name.is_empty() || names[..level].contains(name) {
            faults.push(place, HierarchyProblem::LevelName { name: name.clone(), level: level + 1 });
        }
    }
}

fn is_named_like(first: &Row, others: &[Row], column: Option<&str>) -> bool {
    let names = &first.fields;
    let Some((top, below)) = names.split_last() else { return false };
    let Some(root) = others.first().and_then(|row| row.fields.last()) else { return false };
    let alike = others.iter().all(|row| row.fields.len() == names.len() && row.fields.last() == Some(root));
    // With one other value, either row could have the names.
    let several = others.iter().any(|row| row.fields[0] != others[0].fields[0]);
    if !alike || !several || below.is_empty() || names.iter().any(String::is_empty) {
        return false;
    }
    let is_column = || column.is_some_and(|column| names[0].trim().to_lowercase() == column.trim().to_lowercase());
    let claims = top != root || root == ROOT_LABEL && is_column();
    let distinct: HashSet<&str> = names.iter().map(String::as_str).collect();
    let is_used = |label: &String| distinct.contains(label.as_str()) && (top != root || label != root);
    let elsewhere = || others.iter().flat_map(|row| &row.fields).any(is_used);
    claims && distinct.len() == names.len() && !elsewhere()
}
