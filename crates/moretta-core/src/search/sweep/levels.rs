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

/// Returns the levels of each column, finest first. Levels are dropped until there are at most `max_vectors` level
/// vectors.
pub(super) fn levels_of_columns(profile: &Profile, loss: LossMetric, max_vectors: usize) -> Vec<Vec<Level>> {
    let taxonomies = Taxonomy::of_columns(profile);
    let means: Vec<Vec<f64>> = (0..taxonomies.len()).map(|at| means(profile, &taxonomies[at], loss, at)).collect();
    let mut depths: Vec<Vec<usize>> = means.iter().map(|means| (0..means.len()).rev().collect()).collect();
    while num_vectors(&depths) > max_vectors as u128
        && (drop_closest_level(&mut depths, &means)
            || drop_values(&mut depths, |column| profile.columns()[column].domain.len()))
    {}
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
    /// Number of level vectors.
    pub vectors: u64,
}

/// Estimates the size of the levels.
pub(super) fn size(profile: &Profile, max_vectors: usize) -> LevelsSize {
    let domains = || profile.columns().iter().map(|column| &column.domain);
    let mut levels: Vec<usize> = domains().map(num_levels).collect();
    let vectors = |levels: &[usize]| levels.iter().map(|&count| count as u128).fold(1, u128::saturating_mul);
    while vectors(&levels) > max_vectors as u128
        && let Some(most) = levels.iter_mut().max().filter(|most| **most > 1)
    {
        *most -= 1;
    }
    let column = |(levels, domain): (&usize, &Domain)| *levels as u64 * LEVEL_BYTES * domain.len() as u64;
    let composites = composite::level_bytes(domains().map(Domain::len).zip(levels.iter().copied()).collect());
    LevelsSize { columns: levels.iter().zip(domains()).map(column).sum(), composites, vectors: vectors(&levels) as u64 }
}

/// Estimated number of levels of a column.
fn num_levels(domain: &Domain) -> usize {
    match domain.tree() {
        Some(tree) => tree.nodes().map(|node| tree.depth(node)).max().unwrap_or(0) as usize + 1,
        // A tree of halves is deeper where a value has many records.
        None => domain.len().max(1).ilog2() as usize + 3,
    }
}

/// Estimated number of level vectors, before any level is dropped.
pub(super) fn all_vectors(profile: &Profile) -> u128 {
    let levels = profile.columns().iter().map(|column| num_levels(&column.domain) as u128);
    levels.fold(1, u128::saturating_mul)
}

/// Bytes per value of a level.
const LEVEL_BYTES: u64 = 16;

fn num_vectors(depths: &[Vec<usize>]) -> u128 {
    depths.iter().map(|depths| depths.len() as u128).fold(1, u128::saturating_mul)
}

/// Drops one level of the column with the most levels: the one whose neighbors have the closest mean losses. The finest
/// level and the root are kept. Returns whether a level was dropped.
fn drop_closest_level(depths: &mut [Vec<usize>], means: &[Vec<f64>]) -> bool {
    let Some(column) = (0..depths.len()).max_by_key(|&column| (depths[column].len(), usize::MAX - column)) else {
        return false;
    };
    let (kept, means) = (&mut depths[column], &means[column]);
    let gap = |at: usize| means[kept[at + 1]] - means[kept[at - 1]];
    let Some(at) = (1..kept.len().saturating_sub(1)).min_by(|&a, &b| gap(a).total_cmp(&gap(b))) else { return false };
    kept.remove(at);
    true
}

/// Called when every column has only its finest level and the root. Drops the finest level of the column with the most
/// values: groups then ignore this column. Returns whether a level was dropped.
fn drop_values(depths: &mut [Vec<usize>], values: impl Fn(usize) -> usize) -> bool {
    let several = (0..depths.len()).filter(|&column| depths[column].len() > 1);
    let Some(column) = several.max_by_key(|&column| (values(column), usize::MAX - column)) else { return false };
    depths[column].remove(0);
    true
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
