//! Information loss `I(G)` of every generalization, weighted by column, and the precision loss of a record at a node.
//!
//! `I(G)` depends on the node alone and not on the other generalizations applied: once `G` is applied, all records
//! below the node carry it. So it is computed once, from counts per node that are summed from the leaves up.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::{
    hierarchy::Tree,
    ids::{AttributeId, NodeId, TupleId},
    objective::LossMetric,
    profile::{Column, Profile},
    search::{
        information::{Criterion, entropy},
        taxonomy::Taxonomy,
    },
};

/// By node of one column: `I(G)` of the generalization to it, times the weight of the column; 0 for a leaf.
pub(super) type Information = Vec<f64>;

/// `I(G)` of every generalization, by column.
pub(super) fn of_columns(profile: &Profile, taxonomies: &[Taxonomy<'_>], measure: Criterion) -> Vec<Information> {
    let weight = |column: usize| profile.columns()[column].weight;
    if let Some(class) = profile.class().filter(|_| measure == Criterion::Class) {
        let histograms = Histograms::of_leaves(profile, taxonomies, class);
        let columns = histograms.into_par_iter().zip(taxonomies).enumerate();
        return columns
            .map(|(column, (classes, taxonomy))| class_information(taxonomy, classes, weight(column)))
            .collect();
    }
    let losses = node_losses(profile, taxonomies, measure.loss());
    let column =
        |(column, losses): (usize, &Vec<f64>)| precision_information(profile, &taxonomies[column], column, losses);
    losses.par_iter().enumerate().map(column).collect()
}

/// By column and node: LM or NCP of a record that is released as the node, times the weight of the column.
pub(super) fn node_losses(profile: &Profile, taxonomies: &[Taxonomy<'_>], loss: LossMetric) -> Vec<Vec<f64>> {
    let of_column = |(taxonomy, column): (&Taxonomy<'_>, &Column)| {
        let (tree, domain) = (taxonomy.tree(), taxonomy.domain());
        let of_node = |node: NodeId| column.weight * loss.of(domain, taxonomy.cell(node));
        // A table without records has columns without values.
        if domain.is_empty() { vec![0.0; tree.len()] } else { tree.nodes().map(of_node).collect() }
    };
    taxonomies.iter().zip(profile.columns()).map(of_column).collect()
}

/// For LM and NCP, `I(G)` is the increase of the mean loss over all records.
fn precision_information(profile: &Profile, taxonomy: &Taxonomy<'_>, column: usize, losses: &[f64]) -> Information {
    let tree = taxonomy.tree();
    let records = taxonomy.records_below(profile, column);
    let total = profile.records().max(1) as f64;
    let share = |node: NodeId| records[node.index()] as f64 / total * losses[node.index()];
    let risen = |node: NodeId| share(node) - tree.children(node).map(share).sum::<f64>();
    tree.nodes().map(|node| if tree.is_leaf(node) { 0.0 } else { risen(node).max(0.0) }).collect()
}

/// For the class, `I(G)` is as published: the entropy of the class among the records below the node, minus the mean of
/// the entropies below its children, weighted by records.
fn class_information(taxonomy: &Taxonomy<'_>, mut histograms: Histograms, weight: f64) -> Information {
    let tree = taxonomy.tree();
    let mut information = vec![0.0; tree.len()];
    // By node: sum over its children of records times entropy.
    let mut entropies = vec![0.0; tree.len()];
    for index in (0..tree.len()).rev() {
        let node = NodeId::from_index(index);
        let (records, entropy) = histograms.entropy(index);
        let total = records as f64;
        if records > 0 && !tree.is_leaf(node) {
            information[index] = weight * (entropy - entropies[index] / total).max(0.0);
        }
        if let Some(parent) = tree.parent(node).map(NodeId::index) {
            entropies[parent] += total * entropy;
            histograms.absorb(parent, index);
        }
    }
    information
}

/// Number of records of each class below each node.
enum Histograms {
    /// An array, if it takes no more memory than the profile (4 entries per variant, and some in any case).
    Dense { classes: usize, records: Vec<u64> },
    /// A map per node, if there are about as many classes as records.
    Sparse(Vec<BTreeMap<u32, u64>>),
}

impl Histograms {
    /// Histograms of each column with the counts of its leaves, from one pass over the table.
    fn of_leaves(profile: &Profile, taxonomies: &[Taxonomy<'_>], class: AttributeId) -> Vec<Self> {
        let classes = profile.attributes()[class.index()].values.len();
        let empty = |taxonomy: &Taxonomy<'_>| {
            let nodes = taxonomy.tree().len();
            if nodes.saturating_mul(classes) <= 4 * profile.variants() + 4096 {
                Self::Dense { classes, records: vec![0; nodes * classes] }
            } else {
                Self::Sparse(vec![BTreeMap::new(); nodes])
            }
        };
        let mut histograms: Vec<Self> = taxonomies.iter().map(empty).collect();
        let trees: Vec<&Tree> = taxonomies.iter().map(Taxonomy::tree).collect();
        for tuple in (0..profile.tuples() as u32).map(TupleId) {
            let codes = profile.codes(tuple);
            for variant in profile.variants_of(tuple) {
                let (class, records) = (profile.value(variant, class), profile.variant_records(variant));
                for ((histogram, tree), &code) in histograms.iter_mut().zip(&trees).zip(codes) {
                    histogram.add(tree.leaf(code).index(), class, records);
                }
            }
        }
        histograms
    }

    fn add(&mut self, node: usize, class: u32, more: u64) {
        match self {
            Self::Dense { classes, records } => records[node * *classes + class as usize] += more,
            Self::Sparse(maps) => *maps[node].entry(class).or_default() += more,
        }
    }

    /// Number of records of a node, and the entropy of their class in bits.
    fn entropy(&self, node: usize) -> (u64, f64) {
        match self {
            Self::Dense { classes, records } => entropy(records[node * classes..(node + 1) * classes].iter().copied()),
            Self::Sparse(maps) => entropy(maps[node].values().copied()),
        }
    }

    /// Adds the counts of a child to its parent. The counts of the child are not valid afterwards.
    fn absorb(&mut self, parent: usize, child: usize) {
        match self {
            Self::Dense { classes, records } => {
                for class in 0..*classes {
                    records[parent * *classes + class] += records[child * *classes + class];
                }
            }
            Self::Sparse(maps) => {
                // The smaller map is added to the larger, which keeps deep trees from costing quadratic time.
                let mut from = std::mem::take(&mut maps[child]);
                if from.len() > maps[parent].len() {
                    std::mem::swap(&mut maps[parent], &mut from);
                }
                for (class, records) in from {
                    *maps[parent].entry(class).or_default() += records;
                }
            }
        }
    }
}
