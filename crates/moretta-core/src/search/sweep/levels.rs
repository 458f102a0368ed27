//! Levels of the columns.
//!
//! A level of a column is a depth of its tree: every value is part of its ancestor there, or itself where it lies higher. The
//! mean loss of a level is what its nodes would cost the records, by the mean; that of a combination of levels is the sum.

use crate::{
    hierarchy::Tree,
    ids::NodeId,
    objective::LossMetric,
    profile::Profile,
    search::{rng::hash_seed, taxonomy::Taxonomy},
};

/// A level: what stands for each code there.
pub(super) struct Level {
    /// What the level would cost a record, by the mean.
    pub mean: f64,
    /// For each code what its node costs.
    pub losses: Vec<f64>,
    /// For each code a random word that stands for its node.
    pub hashes: Vec<u64>,
}

/// The levels of every column, the finest first, so that there are at most so many combinations of them.
pub(super) fn levels_of_columns(profile: &Profile, loss: LossMetric, most: usize) -> Vec<Vec<Level>> {
    let taxonomies = Taxonomy::of_columns(profile);
    let means: Vec<Vec<f64>> = (0..taxonomies.len()).map(|at| means(profile, &taxonomies[at], loss, at)).collect();
    let mut depths: Vec<Vec<usize>> = means.iter().map(|means| (0..means.len()).rev().collect()).collect();
    while num_vectors(&depths) > most as u128
        && (thin(&mut depths, &means) || leave_out_values(&mut depths, |column| profile.columns()[column].domain.len()))
    {
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

fn num_vectors(depths: &[Vec<usize>]) -> u128 {
    depths.iter().map(|depths| depths.len() as u128).fold(1, u128::saturating_mul)
}

/// Leaves out one level, of the column that has most, where its neighbours are closest; whether there was one.
fn thin(depths: &mut [Vec<usize>], means: &[Vec<f64>]) -> bool {
    let Some(column) = (0..depths.len()).max_by_key(|&column| (depths[column].len(), usize::MAX - column)) else {
        return false;
    };
    let (kept, means) = (&mut depths[column], &means[column]);
    // The values themselves and the root stay.
    let gap = |at: usize| means[kept[at + 1]] - means[kept[at - 1]];
    let Some(at) = (1..kept.len().saturating_sub(1)).min_by(|&a, &b| gap(a).total_cmp(&gap(b))) else { return false };
    kept.remove(at);
    true
}

/// Where no level lies between the values and the root any more, leaves the values out, of the column that has most: groups are
/// then made as if it were not there, and its boxes are what the groups happen to have. Whether there was one.
fn leave_out_values(depths: &mut [Vec<usize>], values: impl Fn(usize) -> usize) -> bool {
    let several = (0..depths.len()).filter(|&column| depths[column].len() > 1);
    let Some(column) = several.max_by_key(|&column| (values(column), usize::MAX - column)) else { return false };
    depths[column].remove(0);
    true
}

/// The mean weighted loss of each depth, the root first. Linear in the tree, however deep it is.
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
    // A leaf is itself on every level below its own.
    let mut own = 0.0;
    let scale = profile.columns()[column].weight / profile.records().max(1) as f64;
    for (sum, leaves) in sums.iter_mut().zip(leaves) {
        own += leaves;
        *sum = (*sum + own) * scale;
    }
    sums
}

/// The nodes of a level: those of a depth, and the values that lie higher.
fn nodes_at(tree: &Tree, depth: u32) -> impl Iterator<Item = NodeId> {
    let on_level =
        move |node: &NodeId| tree.depth(*node) == depth || (tree.depth(*node) < depth && tree.is_leaf(*node));
    tree.nodes().filter(on_level)
}
