//! Bars over categories: one per value, or per node of the hierarchy if there are many values.

use std::cmp::Reverse;

use moretta_core::{
    hierarchy::{Domain, Tree},
    ids::NodeId,
};

use super::{Bar, ColumnCounts, rounded, spread};

/// Maximum number of named bars, for readability. Not tuned.
const MAX_BARS: usize = 14;

/// A value or a node that may become a bar, with its range of leaves.
struct LeafRange {
    label: String,
    first: u32,
    last: u32,
}

/// The bars of a column of categories, in the order of its hierarchy; "other values" comes last.
pub(super) fn bars(domain: &Domain, counts: &ColumnCounts<'_>, floor: u64) -> Vec<Bar> {
    let parts = parts(domain);
    let over = spread::over_leaves(domain, counts, &part_of(domain, &parts));
    // Each with the weight of its values.
    let mut bars: Vec<(u64, Bar)> = Vec::new();
    let mut others_weight = 0;
    let mut others = Bar { label: "other values".to_owned(), before: 0, after: 0.0, sure: 0.0 };
    for part in parts {
        let range = part.first as usize..part.last as usize + 1;
        let before = counts.before[range.clone()].iter().sum();
        let weight: u64 = counts.carriers[range.clone()].iter().sum();
        let (after, sure) = (over.leaves[range.clone()].iter().sum(), over.sure[range].iter().sum());
        let bar = Bar { label: part.label, before, after, sure };
        if weight >= floor {
            bars.push((weight, bar));
        } else {
            others_weight += weight;
            join(&mut others, &bar);
        }
    }
    // The least frequent bars beyond the maximum join the others. If the others have too few records, more bars join
    // them.
    let mut frequent: Vec<(usize, (u64, Bar))> = bars.into_iter().enumerate().collect();
    frequent.sort_by_key(|(place, (_, bar))| (Reverse(bar.before), *place));
    for (_, (weight, gone)) in frequent.drain(frequent.len().min(MAX_BARS)..) {
        others_weight += weight;
        join(&mut others, &gone);
    }
    while (1..floor).contains(&others_weight)
        && let Some((_, (weight, gone))) = frequent.pop()
    {
        others_weight += weight;
        join(&mut others, &gone);
    }
    frequent.sort_by_key(|(place, _)| *place);
    let mut bars: Vec<Bar> = frequent.into_iter().map(|(_, (_, bar))| bar).collect();
    if bars.is_empty() {
        others.label = "all values".to_owned();
    }
    // Rounding errors of sums make no bar.
    if bars.is_empty() || others.before > 0 || rounded(others.after) > 0.0 {
        bars.push(others);
    }
    bars
}

fn join(others: &mut Bar, bar: &Bar) {
    others.before += bar.before;
    others.after += bar.after;
    others.sure += bar.sure;
}

/// For each leaf, the index of its part.
fn part_of(domain: &Domain, parts: &[LeafRange]) -> Vec<usize> {
    // A leaf outside all parts is a part of its own.
    let mut part_of: Vec<usize> = (parts.len()..parts.len() + domain.len()).collect();
    for (place, part) in parts.iter().enumerate() {
        part_of[part.first as usize..=part.last as usize].fill(place);
    }
    part_of
}

/// The values; if there are too many, the nodes of the lowest level with few enough nodes, if there is one. A missing
/// value is a part of its own unless it is below one of these nodes.
fn parts(domain: &Domain) -> Vec<LeafRange> {
    let leaf = |code: u32| LeafRange { label: domain.text(code).to_owned(), first: code, last: code };
    let is_missing = |code: &u32| domain.missing() == Some(*code);
    let many = domain.len() - usize::from(domain.missing().is_some()) > MAX_BARS;
    let level = domain.tree().filter(|_| many).and_then(|tree| level(tree, domain.missing()));
    let mut parts: Vec<LeafRange> = match (domain.tree(), level) {
        (Some(tree), Some(nodes)) => nodes.into_iter().map(|node| of_node(tree, node)).collect(),
        _ => (0..domain.len() as u32).filter(|code| !is_missing(code)).map(leaf).collect(),
    };
    if let Some(code) = domain.missing()
        && !parts.iter().any(|part| part.first <= code && code <= part.last)
    {
        parts.push(LeafRange { label: "missing".to_owned(), first: code, last: code });
    }
    parts
}

fn of_node(tree: &Tree, node: NodeId) -> LeafRange {
    let (first, last) = tree.range(node);
    LeafRange { label: tree.label(node).to_owned(), first, last }
}

/// Nodes of the lowest level with at most [`MAX_BARS`] nodes, including leaves above that level; `None` if that is the
/// root. Each level has at least as many nodes as the one above it.
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
                // One more than the maximum suffices to reject the level.
                let children = tree.children(node).filter(|child| Some(*child) != missing);
                below.extend(children.take(MAX_BARS + 1));
            }
        }
        if below.len() > MAX_BARS || below == nodes {
            return found;
        }
        // A level with one node says no more than the root.
        found = (below.len() > 1).then(|| below.clone());
        nodes = below;
    }
}
