//! Bars over categories: values, or nodes of the hierarchy where there are many values.

use super::{Bar, Seen, spread};
use crate::{
    hierarchy::{Domain, Tree},
    ids::NodeId,
};

/// More bars than this are hard to take in.
const MOST_BARS: usize = 14;

/// What may be named: a range of leaves.
struct Part {
    label: String,
    first: u32,
    last: u32,
}

/// The bars of a column of categories, in the order of its hierarchy; what may not be named is the last.
pub(super) fn bars(domain: &Domain, seen: &Seen<'_>, floor: u64) -> Vec<Bar> {
    let after = spread::over_leaves(domain, seen);
    let mut bars: Vec<Bar> = Vec::new();
    let mut others = Bar { label: "other values".to_owned(), before: 0, after: 0.0 };
    for part in parts(domain) {
        let range = part.first as usize..part.last as usize + 1;
        let (before, after) = (seen.before[range.clone()].iter().sum(), after[range].iter().sum());
        if before >= floor {
            bars.push(Bar { label: part.label, before, after });
        } else {
            join(&mut others, before, after);
        }
    }
    // The least frequent go, so that the rest can be taken in; and one must go where the others would be a few people.
    while bars.len() > MOST_BARS || (1..floor).contains(&others.before) && !bars.is_empty() {
        let least = (0..bars.len()).rev().min_by_key(|&bar| bars[bar].before).unwrap_or(0);
        let gone = bars.remove(least);
        join(&mut others, gone.before, gone.after);
    }
    if bars.is_empty() {
        others.label = "all values".to_owned();
    }
    if bars.is_empty() || others.before > 0 || others.after > 0.0 {
        bars.push(others);
    }
    bars
}

fn join(others: &mut Bar, before: u64, after: f64) {
    others.before += before;
    others.after += after;
}

/// The values; where these are many, the nodes of the lowest level that has few enough; where none has, the values.
/// A missing value is a part of its own unless it has its place below one of these nodes.
fn parts(domain: &Domain) -> Vec<Part> {
    let leaf = |code: u32| Part { label: domain.text(code).to_owned(), first: code, last: code };
    let is_missing = |code: &u32| domain.missing() == Some(*code);
    let many = domain.len() - usize::from(domain.missing().is_some()) > MOST_BARS;
    let level = domain.tree().filter(|_| many).and_then(|tree| level(tree, domain.missing()));
    let mut parts: Vec<Part> = match (domain.tree(), level) {
        (Some(tree), Some(nodes)) => nodes.into_iter().map(|node| of_node(tree, node)).collect(),
        _ => (0..domain.len() as u32).filter(|code| !is_missing(code)).map(leaf).collect(),
    };
    if let Some(code) = domain.missing()
        && !parts.iter().any(|part| part.first <= code && code <= part.last)
    {
        parts.push(Part { label: "missing".to_owned(), first: code, last: code });
    }
    parts
}

fn of_node(tree: &Tree, node: NodeId) -> Part {
    let (first, last) = tree.range(node);
    Part { label: tree.label(node).to_owned(), first, last }
}

/// The nodes of the lowest level with at most [`MOST_BARS`], leaves that end above it included; none where that is the
/// root. Levels only grow downwards.
fn level(tree: &Tree, missing: Option<u32>) -> Option<Vec<NodeId>> {
    let missing = missing.map(|code| tree.leaf(code));
    let mut found = None;
    let mut nodes = vec![Tree::ROOT];
    loop {
        let mut below = Vec::new();
        for &node in &nodes {
            if tree.is_leaf(node) {
                below.push(node);
            } else {
                // One more than may be says enough.
                let children = tree.children(node).filter(|child| Some(*child) != missing);
                below.extend(children.take(MOST_BARS + 1));
            }
        }
        if below.len() > MOST_BARS || below == nodes {
            return found;
        }
        // A level of one node says no more than the root does.
        found = (below.len() > 1).then(|| below.clone());
        nodes = below;
    }
}
