//! The method as in the paper, without an index: every valid generalization is tried on the whole table.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    ids::{NodeId, TupleId},
    profile::Profile,
    search::taxonomy::Taxonomy,
};

pub struct Reference<'a> {
    profile: &'a Profile,
    taxonomies: Vec<Taxonomy<'a>>,
    /// For each column and code, the current node.
    current: Vec<Vec<NodeId>>,
}

impl<'a> Reference<'a> {
    pub fn new(profile: &'a Profile) -> Self {
        let taxonomies = Taxonomy::of_columns(profile);
        let leaves = |taxonomy: &Taxonomy<'_>| {
            (0..taxonomy.domain().len() as u32).map(|code| taxonomy.tree().leaf(code)).collect()
        };
        let current = taxonomies.iter().map(leaves).collect();
        Self { profile, taxonomies, current }
    }

    fn tuples(&self) -> impl Iterator<Item = TupleId> + use<> {
        (0..self.profile.tuples() as u32).map(TupleId)
    }

    fn anonymity(&self, current: &[Vec<NodeId>]) -> u64 {
        let mut vids: BTreeMap<Vec<NodeId>, u64> = BTreeMap::new();
        for tuple in self.tuples() {
            let codes = self.profile.codes(tuple).iter().zip(current);
            let vid = codes.map(|(&code, current)| current[code as usize]).collect();
            *vids.entry(vid).or_default() += self.profile.tuple_records(tuple);
        }
        vids.into_values().min().unwrap()
    }

    fn valid(&self) -> Vec<(usize, NodeId)> {
        let mut valid = Vec::new();
        for (column, taxonomy) in self.taxonomies.iter().enumerate() {
            let tree = taxonomy.tree();
            let now: BTreeSet<NodeId> = self.current[column].iter().copied().collect();
            let inner = tree.nodes().filter(|&node| !tree.is_leaf(node));
            valid
                .extend(inner.filter(|&node| tree.children(node).all(|c| now.contains(&c))).map(|node| (column, node)));
        }
        valid
    }

    fn entropy(&self, column: usize, node: NodeId) -> (f64, f64) {
        let class = self.profile.class().unwrap();
        let (first, last) = self.taxonomies[column].tree().range(node);
        let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
        for tuple in self.tuples().filter(|&t| (first..=last).contains(&self.profile.codes(t)[column])) {
            for variant in self.profile.variants_of(tuple) {
                *counts.entry(self.profile.value(variant, class)).or_default() += self.profile.variant_records(variant);
            }
        }
        let n: u64 = counts.values().sum();
        let share = |count: &u64| *count as f64 / n as f64;
        (n as f64, counts.values().map(|count| share(count) * (1.0 / share(count)).log2()).sum())
    }

    fn information(&self, column: usize, node: NodeId) -> f64 {
        let (n, entropy) = self.entropy(column, node);
        let children = self.taxonomies[column].tree().children(node).map(|child| self.entropy(column, child));
        if n == 0.0 { 0.0 } else { entropy - children.map(|(m, below)| m / n * below).sum::<f64>() }
    }

    fn applied(&self, column: usize, node: NodeId) -> Vec<Vec<NodeId>> {
        let (first, last) = self.taxonomies[column].tree().range(node);
        let mut current = self.current.clone();
        current[column][first as usize..=last as usize].fill(node);
        current
    }

    /// The whole sequence of generalizations up to k, as (column, node).
    pub fn sequence(&mut self, k: u64) -> Vec<(usize, NodeId)> {
        let mut steps = Vec::new();
        let mut known: BTreeMap<(usize, NodeId), f64> = BTreeMap::new();
        loop {
            let anonymity = self.anonymity(&self.current);
            if anonymity >= k {
                return steps;
            }
            let mut scored: Vec<(f64, f64, usize, NodeId)> = Vec::new();
            for (column, node) in self.valid() {
                let information = *known.entry((column, node)).or_insert_with(|| self.information(column, node));
                let gained = self.anonymity(&self.applied(column, node)).min(k) - anonymity;
                let ratio = if gained == 0 { f64::INFINITY } else { information / gained as f64 };
                scored.push((ratio, information, column, node));
            }
            let close = |a: f64, b: f64| a == b || (a - b).abs() <= 1e-12;
            let ratio = scored.iter().map(|one| one.0).fold(f64::INFINITY, f64::min);
            scored.retain(|one| close(one.0, ratio));
            let information = scored.iter().map(|one| one.1).fold(f64::INFINITY, f64::min);
            scored.retain(|one| close(one.1, information));
            // Columns are in order and nodes in preorder, so the first one wins ties.
            let (_, _, column, node) = scored[0];
            self.current = self.applied(column, node);
            steps.push((column, node));
        }
    }
}
