//! What every state of the search shares: the tuples by column and code, what a record loses at each node, the classes
//! of the tuples, and what the policy asks.

use hashbrown::HashMap;

use super::RefineObjective;
use crate::{
    ids::{NodeId, TupleId},
    privacy::{BoundModel, only_k},
    profile::Profile,
    recoding::Cut,
    search::{
        Task,
        bottom_up_generalization::scoped::by_scope,
        grouping::{Buckets, Groups, group_rows},
        taxonomy::{Taxonomy, records_before},
    },
};

/// One number per measure that the refinement weighs: a loss, a weight, or a unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ClassAndPrecision {
    /// Records outside the majority class of their group, and all suppressed records (CM times the records).
    pub class: f64,
    /// Sum of LM or NCP over all records and columns.
    pub precision: f64,
}

impl ClassAndPrecision {
    /// `self + factor * other`.
    pub(super) fn add_scaled(self, other: Self, factor: f64) -> Self {
        Self { class: self.class + factor * other.class, precision: self.precision + factor * other.precision }
    }

    pub(super) fn weighted_sum(self, weights: Self) -> f64 {
        weights.class * self.class + weights.precision * self.precision
    }
}

/// So many classes are told apart, the most frequent; a record of another is never of its group's majority.
const MAX_CLASSES: usize = 16;

/// The context a search stands on.
pub(super) struct RefineContext<'a> {
    pub profile: &'a Profile,
    task: Task<'a>,
    pub taxonomies: &'a [Taxonomy<'a>],
    /// How many records may be suppressed.
    pub max_suppressed: u64,
    pub k: u64,
    /// Whether there are models beside k-anonymity.
    pub has_other_models: bool,
    /// Those, by the columns that they take to be known.
    pub scopes: Vec<(Vec<usize>, Vec<&'a dyn BoundModel>)>,
    /// By column and node, how much precision a record loses that leaves as the node.
    pub losses: Vec<Vec<f64>>,
    /// How much precision a suppressed record loses.
    pub suppressed_loss: f64,
    /// By column and node, whether the node prints `*`. A group that prints nothing else counts as suppressed in
    /// measures, however it came to that.
    pub stars: Vec<Vec<bool>>,
    /// How many classes there are; 0 where they do not count.
    pub classes: usize,
    /// By tuple and class, how many records.
    class_records: Vec<u32>,
    /// By column, the tuples in order of their codes.
    by_code: Vec<Buckets>,
    /// By column and code, how many records have a smaller code.
    records_before: Vec<Vec<u64>>,
}

impl<'a> RefineContext<'a> {
    pub(super) fn new(task: &Task<'a>, taxonomies: &'a [Taxonomy<'a>], objective: RefineObjective) -> Self {
        let k = task.models.iter().filter_map(|model| only_k(&**model, task.profile)).max().unwrap_or(1);
        let others = task.models.iter().map(|model| &**model).filter(|model| only_k(*model, task.profile).is_none());
        let scopes: Vec<_> = by_scope(others).into_iter().collect();
        let (classes, class_records) = if objective.class { class_records(task.profile) } else { (0, Vec::new()) };
        Self {
            profile: task.profile,
            task: *task,
            taxonomies,
            max_suppressed: task.max_suppressed,
            k,
            has_other_models: !scopes.is_empty(),
            scopes,
            suppressed_loss: objective.suppressed,
            stars: taxonomies.iter().map(stars).collect(),
            losses: objective.precision,
            classes,
            class_records,
            by_code: (0..taxonomies.len()).map(|column| by_code(task.profile, column)).collect(),
            records_before: (0..taxonomies.len()).map(|column| records_before(task.profile, column)).collect(),
        }
    }

    /// How many records of a tuple are of each class.
    pub(super) fn classes_of(&self, tuple: u32) -> &[u32] {
        &self.class_records[tuple as usize * self.classes..(tuple as usize + 1) * self.classes]
    }

    /// How many of a group's records are not of its majority class; 0 where classes do not count.
    pub(super) fn errors(&self, records: u64, classes: &[u64]) -> u64 {
        classes.iter().max().map_or(0, |majority| records - majority)
    }

    /// What a group loses, or what it loses when it is suppressed or tells nothing.
    pub(super) fn loss(&self, records: u64, precision: f64, classes: &[u64], suppressed: bool) -> ClassAndPrecision {
        let n = records as f64;
        let all = if self.classes == 0 { 0.0 } else { n };
        if suppressed {
            ClassAndPrecision { class: all, precision: n * self.suppressed_loss }
        } else {
            ClassAndPrecision { class: self.errors(records, classes) as f64, precision: n * precision }
        }
    }

    /// The tuples with a value below a node.
    pub(super) fn tuples(&self, column: usize, node: NodeId) -> &[u32] {
        let (first, last) = self.taxonomies[column].tree().range(node);
        self.by_code[column].rows(first, last)
    }

    /// How many records have a value below a node.
    pub(super) fn records(&self, column: usize, node: NodeId) -> u64 {
        let (first, last) = self.taxonomies[column].tree().range(node);
        let before = &self.records_before[column];
        before[last as usize + 1] - before[first as usize]
    }

    pub(super) fn codes(&self, tuple: u32) -> &[u32] {
        self.profile.codes(TupleId(tuple))
    }

    pub(super) fn tuple_records(&self, tuple: u32) -> u64 {
        self.profile.tuple_records(TupleId(tuple))
    }

    /// The cut of a choice of nodes, with nothing suppressed.
    pub(super) fn cut(&self, nodes: &[Vec<NodeId>]) -> Cut {
        let cells =
            |(taxonomy, nodes): (&Taxonomy<'_>, &Vec<NodeId>)| nodes.iter().map(|&node| taxonomy.cell(node)).collect();
        Cut { cells: self.taxonomies.iter().zip(nodes).map(cells).collect(), suppressed: Vec::new() }
    }

    /// The cut of a choice of nodes, with what has to be suppressed; none where that is more than the policy allows.
    pub(super) fn satisfying_cut(&self, nodes: &[Vec<NodeId>]) -> Option<Cut> {
        let cut = self.cut(nodes);
        Some(Cut { suppressed: self.task.suppressed(&cut)?, ..cut })
    }

    /// What all records lose under a cut.
    pub(super) fn loss_of_cut(&self, nodes: &[Vec<NodeId>], cut: &Cut) -> ClassAndPrecision {
        let is_kept = |tuple: &u32| cut.suppressed.binary_search(&TupleId(*tuple)).is_err();
        let kept: Vec<u32> = (0..self.profile.tuples() as u32).filter(is_kept).collect();
        let sizes: Vec<usize> = self.losses.iter().map(Vec::len).collect();
        let node = |row: usize, column: usize| nodes[column][self.codes(kept[row])[column] as usize];
        let Groups { of_row, first_rows } = group_rows(kept.len(), &sizes, |row, column| node(row, column).0);
        let mut groups: Vec<(Vec<NodeId>, u64, Vec<u64>)> = first_rows
            .iter()
            .map(|&row| ((0..sizes.len()).map(|column| node(row as usize, column)).collect(), 0, vec![0; self.classes]))
            .collect();
        for (&tuple, &group) in kept.iter().zip(&of_row) {
            let (_, records, classes) = &mut groups[group as usize];
            *records += self.tuple_records(tuple);
            classes.iter_mut().zip(self.classes_of(tuple)).for_each(|(all, own)| *all += u64::from(*own));
        }
        groups.sort_unstable();
        let of_tuple = |&tuple: &TupleId| self.loss(self.profile.tuple_records(tuple), 0.0, &[], true);
        let mut lost = ClassAndPrecision::default();
        for loss in cut.suppressed.iter().map(of_tuple) {
            lost = lost.add_scaled(loss, 1.0);
        }
        for (key, records, classes) in groups {
            let precision = key.iter().zip(&self.losses).map(|(node, losses)| losses[node.index()]).sum();
            let is_suppressed = key.iter().zip(&self.stars).all(|(node, stars)| stars[node.index()]);
            lost = lost.add_scaled(self.loss(records, precision, &classes, is_suppressed), 1.0);
        }
        lost
    }

    /// What the class loses in the table as it is: no cut does better.
    pub(super) fn min_errors(&self) -> f64 {
        let of_tuple = |tuple: u32| {
            let classes: Vec<u64> = self.classes_of(tuple).iter().map(|&records| u64::from(records)).collect();
            self.errors(self.tuple_records(tuple), &classes)
        };
        (0..self.profile.tuples() as u32).map(of_tuple).sum::<u64>() as f64
    }
}

fn stars(taxonomy: &Taxonomy<'_>) -> Vec<bool> {
    let domain = taxonomy.domain();
    taxonomy.tree().nodes().map(|node| !domain.is_empty() && domain.is_star(taxonomy.cell(node))).collect()
}

fn class_records(profile: &Profile) -> (usize, Vec<u32>) {
    let Some(class) = profile.class() else { return (0, Vec::new()) };
    let everything = profile.everything();
    let mut by_size = crate::privacy::Group::new(profile, &everything).histogram(class).clone();
    by_size.sort_unstable_by_key(|&(value, records)| (std::cmp::Reverse(records), value));
    by_size.truncate(MAX_CLASSES);
    let class_indices: HashMap<u32, usize> =
        by_size.iter().enumerate().map(|(class_index, (value, _))| (*value, class_index)).collect();
    let mut counted = vec![0u32; profile.tuples() * by_size.len()];
    for (tuple, counted) in (0u32..).map(TupleId).zip(counted.chunks_mut(by_size.len())) {
        for variant in profile.variants_of(tuple) {
            if let Some(&class_index) = class_indices.get(&profile.value(variant, class)) {
                let records = u32::try_from(profile.variant_records(variant)).unwrap_or(u32::MAX);
                counted[class_index] = counted[class_index].saturating_add(records);
            }
        }
    }
    (by_size.len(), counted)
}

fn by_code(profile: &Profile, column: usize) -> Buckets {
    let codes = (0..profile.tuples() as u32).map(|tuple| profile.codes(TupleId(tuple))[column]);
    Buckets::new(profile.columns()[column].domain.len(), codes)
}
