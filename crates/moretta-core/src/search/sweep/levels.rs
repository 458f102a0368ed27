//! Levels of the columns, and the order in which combinations of them are tried.
//!
//! A level of a column is a depth of its tree: every value is part of its ancestor there, or itself where it lies higher. The
//! loss of a level is the mean of Iyengar's loss (LM) that its nodes would cost the records; that of a combination is the sum.

use crate::{
    ids::{NodeId, TupleId},
    profile::Profile,
    search::{chance::chance, taxonomy::Taxonomy},
};

/// The levels of one column that are tried, the finest first.
pub(super) struct Levels {
    levels: Vec<Level>,
}

struct Level {
    loss: f64,
    /// For each code a random word that stands for its node.
    words: Vec<u64>,
}

/// A combination of levels, one for each column.
pub(super) type Vector = Vec<u16>;

impl Levels {
    /// Of every column, so that there are at most so many combinations.
    pub(super) fn of_columns(profile: &Profile, most: usize) -> Vec<Self> {
        let taxonomies = Taxonomy::of_columns(profile);
        let losses: Vec<Vec<f64>> = (0..taxonomies.len()).map(|at| losses(profile, &taxonomies[at], at)).collect();
        let mut depths: Vec<Vec<usize>> = losses.iter().map(|losses| (0..losses.len()).rev().collect()).collect();
        while combinations(&depths) > most as u128 && thin(&mut depths, &losses) {}
        let column = |(at, taxonomy): (usize, &Taxonomy<'_>)| {
            let level = |&depth: &usize| Level {
                loss: losses[at][depth],
                words: words(taxonomy, depth as u32, chance(at as u64 + 1, depth as u64)),
            };
            Self { levels: depths[at].iter().map(level).collect() }
        };
        taxonomies.iter().enumerate().map(column).collect()
    }

    /// The words of a level.
    pub(super) fn words(&self, level: u16) -> &[u64] {
        &self.levels[usize::from(level)].words
    }
}

/// All combinations, least lossy first; of equals the one that is finer in the earlier column.
pub(super) fn in_order(columns: &[Levels]) -> Vec<Vector> {
    let mut vectors: Vec<(f64, Vector)> = vec![(0.0, Vec::new())];
    for column in columns {
        let longer = |(loss, vector): (f64, Vector)| {
            (0u16..).zip(&column.levels).map(move |(at, level)| {
                let mut longer = Vec::with_capacity(columns.len());
                longer.extend(&vector);
                longer.push(at);
                (loss + level.loss, longer)
            })
        };
        vectors = vectors.into_iter().flat_map(longer).collect();
    }
    vectors.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    vectors.into_iter().map(|(_, vector)| vector).collect()
}

fn combinations(depths: &[Vec<usize>]) -> u128 {
    depths.iter().map(|depths| depths.len() as u128).fold(1, u128::saturating_mul)
}

/// Leaves out one level, of the column that has most, where its neighbours are closest; whether there was one.
fn thin(depths: &mut [Vec<usize>], losses: &[Vec<f64>]) -> bool {
    let Some(column) = (0..depths.len()).max_by_key(|&column| (depths[column].len(), usize::MAX - column)) else {
        return false;
    };
    let (kept, losses) = (&mut depths[column], &losses[column]);
    // The values themselves and the root stay.
    let gap = |at: usize| losses[kept[at + 1]] - losses[kept[at - 1]];
    let Some(at) = (1..kept.len().saturating_sub(1)).min_by(|&a, &b| gap(a).total_cmp(&gap(b))) else { return false };
    kept.remove(at);
    true
}

/// The mean weighted loss of each depth, the root first. Linear in the tree, however deep it is.
fn losses(profile: &Profile, taxonomy: &Taxonomy<'_>, column: usize) -> Vec<f64> {
    let tree = taxonomy.tree();
    let mut below = vec![0u64; tree.len()];
    for tuple in (0..profile.tuples() as u32).map(TupleId) {
        below[tree.leaf(profile.codes(tuple)[column]).index()] += profile.tuple_records(tuple);
    }
    for index in (1..tree.len()).rev() {
        let above = tree.parent(NodeId::from_index(index)).unwrap_or(crate::hierarchy::Tree::ROOT);
        below[above.index()] += below[index];
    }
    let deepest = tree.nodes().map(|node| tree.depth(node)).max().unwrap_or(0) as usize;
    let mut sums = vec![0.0; deepest + 1];
    let mut leaves = vec![0.0; deepest + 2];
    for node in tree.nodes() {
        let cost = below[node.index()] as f64 * taxonomy.domain().lm(taxonomy.cell(node));
        match tree.is_leaf(node) {
            false => sums[tree.depth(node) as usize] += cost,
            true => leaves[tree.depth(node) as usize] += cost,
        }
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

/// For each code the word of its node on a level.
fn words(taxonomy: &Taxonomy<'_>, depth: u32, seed: u64) -> Vec<u64> {
    let tree = taxonomy.tree();
    let mut words = vec![0; taxonomy.domain().len()];
    for node in tree.nodes() {
        let (first, last) = tree.range(node);
        if tree.depth(node) == depth || (tree.depth(node) < depth && tree.is_leaf(node)) {
            words[first as usize..=last as usize].fill(chance(seed, u64::from(node.0) + 1));
        }
    }
    words
}
