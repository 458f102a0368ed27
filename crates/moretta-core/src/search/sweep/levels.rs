//! Generalization levels of the columns.
//!
//! A level of a column is a depth of its tree: a value is generalized to its ancestor at that depth, or kept if its
//! leaf is at a smaller depth. The mean loss of a level is the mean over all records; that of a level vector is the sum
//! over columns.

use super::composite;
use crate::{
    hierarchy::{Domain, Tree},
    ids::NodeId,
    objective::LossMetric,
    profile::Profile,
    search::{rng::hash_seed, taxonomy::Taxonomy},
};

/// One level of a column, or of a composite column.
pub(super) struct Level {
    /// Mean weighted loss per record.
    pub mean: f64,
    /// By code: the weighted loss of its node.
    pub losses: Vec<f64>,
    /// By code: the Zobrist hash of its node. The wrapping sum over all columns is the hash of a box.
    pub hashes: Vec<u64>,
}

/// Maximum levels of a column if there are more level vectors than may be tried. More cost memory: columns with many
/// values have trees of many levels. Not tuned.
const MAX_LEVELS: usize = 12;

/// Returns the levels of each column, finest first: all of them if there are at most `max_vectors` level vectors.
pub(super) fn levels_of_columns(profile: &Profile, loss: LossMetric, max_vectors: usize) -> Vec<Vec<Level>> {
    let taxonomies = Taxonomy::of_columns(profile);
    let means: Vec<Vec<f64>> = (0..taxonomies.len()).map(|at| means(profile, &taxonomies[at], loss, at)).collect();
    let mut depths: Vec<Vec<usize>> = means.iter().map(|means| (0..means.len()).rev().collect()).collect();
    if num_vectors(depths.iter().map(Vec::len)) > max_vectors as u128 {
        depths.iter_mut().zip(&means).for_each(|(depths, means)| drop_closest_levels(depths, means));
    }
    let column = |(at, taxonomy): (usize, &Taxonomy<'_>)| {
        let weight = profile.columns()[at].weight;
        let level = |&depth: &usize| {
            let values = taxonomy.domain().len();
            let mut level = Level { mean: means[at][depth], losses: vec![0.0; values], hashes: vec![0; values] };
            let seed = hash_seed(at as u64 + 1, depth as u64);
            for node in nodes_at(taxonomy.tree(), depth as u32) {
                let (first, last) = taxonomy.tree().range(node);
                let codes = first as usize..=last as usize;
                level.losses[codes.clone()].fill(weight * loss.of(taxonomy.domain(), taxonomy.cell(node)));
                level.hashes[codes].fill(hash_seed(seed, u64::from(node.0) + 1));
            }
            level
        };
        depths[at].iter().map(level).collect()
    };
    taxonomies.iter().enumerate().map(column).collect()
}

/// Estimated size of the levels of all columns.
pub(super) struct LevelsSize {
    /// Bytes of the levels of the columns. All passes share them.
    pub columns: u64,
    /// Bytes of the levels of composite columns, which each pass builds.
    pub composites: u64,
    /// Number of level vectors of a pass.
    pub vectors: u64,
}

/// Estimates the size of the levels.
pub(super) fn size(profile: &Profile, max_vectors: usize) -> LevelsSize {
    let domains = || profile.columns().iter().map(|column| &column.domain);
    let mut levels: Vec<usize> = domains().map(num_levels).collect();
    if num_vectors(levels.iter().copied()) > max_vectors as u128 {
        levels.iter_mut().for_each(|levels| *levels = (*levels).min(MAX_LEVELS));
    }
    let column = |(levels, domain): (&usize, &Domain)| *levels as u64 * LEVEL_BYTES * domain.len() as u64;
    let composites = composite::level_bytes(domains().map(Domain::len).zip(levels.iter().copied()).collect());
    let vectors = num_vectors(levels.iter().copied()).min(max_vectors as u128) as u64;
    LevelsSize { columns: levels.iter().zip(domains()).map(column).sum(), composites, vectors }
}

/// Estimated number of levels of a column.
fn num_levels(domain: &Domain) -> usize {
    match domain.tree() {
        Some(tree) => tree.nodes().map(|node| tree.depth(node)).max().unwrap_or(0) as usize + 1,
        // A tree of halves is deeper where a value has many records.
        None => domain.len().max(1).ilog2() as usize + 3,
    }
}

/// Estimated number of level vectors.
pub(super) fn all_vectors(profile: &Profile) -> u128 {
    num_vectors(profile.columns().iter().map(|column| num_levels(&column.domain)))
}

/// Bytes per value of a level.
const LEVEL_BYTES: u64 = 16;

fn num_vectors(levels: impl Iterator<Item = usize>) -> u128 {
    levels.map(|count| count as u128).fold(1, u128::saturating_mul)
}

/// Drops levels of a column until at most [`MAX_LEVELS`] are left, each time the one whose neighbors have the closest
/// mean losses. The finest level and the root are kept.
fn drop_closest_levels(kept: &mut Vec<usize>, means: &[f64]) {
    while kept.len() > MAX_LEVELS {
        let gap = |at: usize| means[kept[at + 1]] - means[kept[at - 1]];
        let Some(at) = (1..kept.len() - 1).min_by(|&a, &b| gap(a).total_cmp(&gap(b))) else { return };
        kept.remove(at);
    }
}

/// Returns the mean weighted loss of each depth, root first. Linear in the size of the tree.
fn means(profile: &Profile, taxonomy: &Taxonomy<'_>, loss: LossMetric, column: usize) -> Vec<f64> {
    let tree = taxonomy.tree();
    let below = taxonomy.records_below(profile, column);
    let deepest = tree.nodes().map(|node| tree.depth(node)).max().unwrap_or(0) as usize;
    let mut sums = vec![0.0; deepest + 1];
    let mut leaves = vec![0.0; deepest + 2];
    for node in tree.nodes() {
        let cost = below[node.index()] as f64 * loss.of(taxonomy.domain(), taxonomy.cell(node));
        let kind = if tree.is_leaf(node) { &mut leaves } else { &mut sums };
        kind[tree.depth(node) as usize] += cost;
    }
    // A leaf stays itself at every greater depth.
    let mut leaves_above = 0.0;
    let scale = profile.columns()[column].weight / profile.records().max(1) as f64;
    for (sum, leaves) in sums.iter_mut().zip(leaves) {
        leaves_above += leaves;
        *sum = (*sum + leaves_above) * scale;
    }
    sums
}

/// Nodes at a depth, and leaves at smaller depths.
fn nodes_at(tree: &Tree, depth: u32) -> impl Iterator<Item = NodeId> {
    let on_level =
        move |node: &NodeId| tree.depth(*node) == depth || (tree.depth(*node) < depth && tree.is_leaf(*node));
    tree.nodes().filter(on_level)
}
