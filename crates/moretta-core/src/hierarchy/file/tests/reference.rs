//! A naive reader: the sets of values of all groups, by plain maps, on random files.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::super::*;

/// For each value, the released labels from the value to the root; `None` if the file contradicts itself.
type Paths = BTreeMap<String, Vec<String>>;

fn naive(rows: &[Vec<&str>]) -> Option<Paths> {
    let rows: BTreeSet<&Vec<&str>> = rows.iter().collect();
    let width = rows.first()?.len();
    let root = *rows.first()?.last()?;
    let leaves: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    if width < 2 || leaves.len() < rows.len() || rows.iter().any(|row| row.len() != width || row[width - 1] != root) {
        return None;
    }
    // By row, the fields that name groups, or its own value again, below the filled root.
    let end = |row: &[&str]| (row.len() - row.iter().rev().take_while(|label| **label == root).count()).max(1);
    let start = |row: &[&str]| row[..end(row)].iter().take_while(|label| **label == row[0]).count();
    if rows.iter().any(|row| row[..end(row)].contains(&"*")) {
        return None;
    }
    // The values of each group, first those whose row does not only repeat the value there.
    let mut groups: BTreeMap<(usize, &str), BTreeSet<&str>> = BTreeMap::new();
    for row in &rows {
        for level in start(row)..end(row) {
            groups.entry((level, row[level])).or_default().insert(row[0]);
        }
    }
    let row_of = |leaf: &str| *rows.iter().find(|row| row[0] == leaf).unwrap();
    for ((level, _), values) in &groups {
        let parents: BTreeSet<&str> = values.iter().map(|leaf| row_of(leaf)[level + 1]).collect();
        if parents.len() > 1 {
            return None;
        }
    }
    let named = groups.clone();
    for row in &rows {
        for level in (1..start(row)).rev() {
            let Some(values) = named.get(&(level, row[0])) else { break };
            if row_of(values.first().unwrap())[level + 1] != row[level + 1] {
                break;
            }
            groups.get_mut(&(level, row[0])).unwrap().insert(row[0]);
        }
    }
    // Filling, from below: a group with its parent's label, and the values of its parent or of one child.
    let mut levels: Vec<(usize, &str)> = groups.keys().copied().collect();
    levels.sort();
    for (level, label) in levels {
        let own = groups[&(level, label)].clone();
        let Some(above) = groups.get(&(level + 1, label)).filter(|above| above.is_superset(&own)) else { continue };
        let one_child = own.len() == 1 || groups.iter().any(|((below, _), values)| *below < level && *values == own);
        if *above == own || one_child {
            groups.remove(&(level, label));
        }
    }
    let uses =
        |label: &str| groups.keys().filter(|(_, other)| *other == label).count() + usize::from(leaves.contains(label));
    let printed = |level: usize, label: &str| match uses(label) {
        1 => label.to_owned(),
        _ => format!("{label} (level {})", level + 1),
    };
    let path = |leaf: &&str| {
        let above = groups.iter().filter(|(_, values)| values.contains(leaf));
        let labels = above.map(|((level, label), _)| printed(*level, label));
        let path = std::iter::once((*leaf).to_owned()).chain(labels).chain(["*".to_owned()]);
        ((*leaf).to_owned(), path.collect())
    };
    Some(leaves.iter().map(path).collect())
}

fn paths(tree: &Tree) -> Paths {
    let path = |code: u32| {
        let nodes = std::iter::successors(Some(tree.leaf(code)), |node| tree.parent(*node));
        let labels: Vec<String> = nodes.map(|node| tree.label(node).to_owned()).collect();
        (labels[0].clone(), labels)
    };
    (0..tree.leaf_count() as u32).map(path).collect()
}

const LABELS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Rows in which the parent mostly follows from the label and its level, with few labels, so that many are equal;
/// repeated rows, and changed fields.
fn files() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    let level = prop::collection::vec(0usize..6, 6);
    let maps = prop::collection::vec(level, 1..4);
    let changes = prop::collection::vec((0usize..12, 0usize..5, 0usize..7), 0..3);
    let root = prop::sample::select(vec!["*", "*", "a", "All"]);
    (maps, prop::collection::vec(0usize..6, 1..12), changes, root, any::<bool>()).prop_map(
        |(maps, values, changes, root, change)| {
            let row = |value: &usize| {
                let labels = std::iter::successors(Some((*value, 0)), |(label, level)| {
                    Some((*maps.get(*level)?.get(*label)?, level + 1))
                });
                labels.map(|(label, _)| LABELS[label]).chain([root]).collect()
            };
            let mut rows: Vec<Vec<&str>> = values.iter().map(row).collect();
            for (row, field, label) in changes.into_iter().filter(|_| change) {
                let row = row % rows.len();
                let field = field % rows[row].len();
                rows[row][field] = LABELS.get(label).copied().unwrap_or("*");
            }
            rows
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_reader_equals_the_naive_one(rows in files()) {
        // Not as text, where the first row may have names of levels.
        let owned = rows.iter().map(|row| row.iter().map(|label| (*label).to_owned()).collect()).collect();
        let read = from_rows(owned);
        prop_assert_eq!(read.as_ref().ok().map(paths), naive(&rows), "{:?}", read);
    }

    /// Every form holds the same tree, and reading what was written changes nothing.
    #[test]
    fn what_is_written_is_read_back(rows in files()) {
        let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
        let Ok(file) = read(&text, None) else { return Ok(()) };
        let labels: BTreeSet<&str> = file.tree.nodes().map(|node| file.tree.label(node)).collect();
        prop_assert_eq!(labels.len(), file.tree.len(), "released labels are unique");
        for delimiter in [';', ',', '\t'] {
            let again = file.write(Form::Delimited(delimiter)).unwrap();
            let again = read(&again, None).unwrap();
            prop_assert_eq!(&again.tree, &file.tree);
            prop_assert_eq!(again.notes, []);
        }
        let json = file.write(Form::Json).unwrap();
        let again = read_json(&json).unwrap();
        prop_assert_eq!(&again.tree, &file.tree, "{}", json);
        prop_assert_eq!(again.notes, []);
        let rows = super::super::rows(&file.tree);
        let owned = rows.into_iter().map(|row| row.into_iter().map(str::to_owned).collect()).collect();
        prop_assert_eq!(from_rows(owned).unwrap(), file.tree);
    }

    #[test]
    fn no_text_panics(text in "[ab;,\t\"\n\r*\\[\\]{}: #é0-9]{0,60}") {
        drop((read(&text, Some("a")), read_json(&text), read(&format!("distinct\nname a\n\n{text}"), None)));
    }
}
