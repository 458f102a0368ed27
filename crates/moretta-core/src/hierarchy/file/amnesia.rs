//! Hierarchies of Amnesia (<https://amnesia.openaire.eu>), of its kind `distinct`.
//!
//! ```text
//! distinct
//! name job
//! type string
//! height 3
//!
//! Office has Clerk Typist
//!
//! Work has Office Sales
//! ```
//!
//! Lines may be in any order, and a label has no blanks: Amnesia itself separates children by them. Its kinds `range`
//! and `mask` have no values, only ranges or numbers of characters.

use hashbrown::HashMap;

use super::{
    assemble::Row,
    fault::{Faults, HierarchyFileError, HierarchyProblem, Place},
};

/// Maximum number of levels, because rows are filled to one length. Far more than Amnesia draws; not tuned.
const MAX_LEVELS: usize = 200;

/// Whether a text is a hierarchy of Amnesia: its first line is the kind, its second has the name.
pub(super) fn is_one(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let kind = lines.next().unwrap_or("").to_lowercase();
    matches!(&*kind, "distinct" | "range" | "mask") && lines.next().is_some_and(|line| line.starts_with("name "))
}

/// The rows of a hierarchy, filled to one length.
pub(super) fn rows(text: &str) -> Result<Vec<Row>, HierarchyFileError> {
    let instead = match text.lines().next().unwrap_or("").trim().to_lowercase().as_str() {
        "range" => Some("{ widths = [..] }"),
        "mask" => Some("{ prefix = [..] }"),
        _ => None,
    };
    if let Some(instead) = instead {
        return Err(HierarchyFileError::one(Place::Row(1), HierarchyProblem::AmnesiaKind(instead)));
    }
    let mut faults = Faults::default();
    // By label, its parent and the row that says so.
    let mut parents: HashMap<&str, (&str, usize)> = HashMap::new();
    let (mut order, mut is_parent) = (Vec::new(), HashMap::new());
    let body = text.lines().enumerate().skip_while(|(_, line)| !line.trim().is_empty());
    for (index, line) in body.filter(|(_, line)| !line.trim().is_empty()) {
        let mut words = line.split(' ').map(str::trim).filter(|word| !word.is_empty());
        let (Some(parent), Some("has")) = (words.next(), words.next()) else {
            faults.push(&Place::Row(index + 1), HierarchyProblem::AmnesiaLine);
            continue;
        };
        is_parent.insert(parent, ());
        for (at, child) in words.enumerate() {
            match parents.get(child) {
                Some((known, _)) if *known == parent => {}
                Some((_, earlier)) => {
                    let (label, earlier) = (child.to_owned(), Place::Row(*earlier));
                    faults.push(&Place::Row(index + 1), HierarchyProblem::TwoParents { label, field: at + 3, earlier });
                }
                None => {
                    parents.insert(child, (parent, index + 1));
                    order.push(child);
                }
            }
        }
    }
    faults.check()?;
    let mut paths: Vec<(usize, Vec<&str>)> = Vec::new();
    for leaf in order.into_iter().filter(|label| !is_parent.contains_key(label)) {
        let row = parents[leaf].1;
        let mut path = vec![leaf];
        while let Some((parent, _)) = path.last().and_then(|label| parents.get(label)) {
            path.push(parent);
            if path.len() > MAX_LEVELS {
                return Err(HierarchyFileError::one(Place::Row(row), HierarchyProblem::TooDeep { max: MAX_LEVELS }));
            }
        }
        paths.push((row, path));
    }
    // Without values, every label has a parent: some are above themselves.
    if let (true, Some(label)) = (paths.is_empty(), is_parent.keys().min()) {
        let label = (*label).to_owned();
        return Err(HierarchyFileError::one(Place::Row(1), HierarchyProblem::Cycle { label }));
    }
    let width = paths.iter().map(|(_, path)| path.len()).max().unwrap_or(0);
    let filled = |(row, path): (usize, Vec<&str>)| {
        let filling = std::iter::repeat_n(path[0], width - path.len());
        Row { place: Place::Row(row), fields: filling.chain(path.iter().copied()).map(str::to_owned).collect() }
    };
    Ok(paths.into_iter().map(filled).collect())
}
