//! Data that all states of the refinement share: tuples by column and code, the loss of a record at each node, the
//! classes of the tuples, and the constraints of the policy.

use hashbrown::HashMap;

use super::RefineObjective;
use crate::{
    ids::{NodeId, TupleId},
    privacy::{BoundModel, only_k},
    profile::Profile,
    recoding::{Constraints, Cut, Suppression, TupleGroups, suppressed_within},
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
    /// As a loss: records outside the majority class of their group, and all suppressed records (CM times records).
    pub class: f64,
    /// As a loss: sum of LM or NCP over all records and columns.
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

/// Maximum number of classes that are counted, the most frequent ones; records of other classes always count as errors.
/// Limits the memory per tuple and group; not tuned.
const MAX_CLASSES: usize = 16;

/// Data that all states of the refinement share.
pub(super) struct RefineContext<'a> {
    pub profile: &'a Profile,
    constraints: Constraints<'a>,
    pub taxonomies: &'a [Taxonomy<'a>],
    /// Suppression budget of the policy, in records.
    pub max_suppressed: u64,
    pub k: u64,
    /// Whether the policy has models other than k-anonymity.
    pub has_other_models: bool,
    /// Those models, by scope (the columns that they assume the attacker knows).
    pub scopes: Vec<(Vec<usize>, Vec<&'a dyn BoundModel>)>,
    /// By column and node: weighted LM or NCP of a record that is released as the node.
    pub losses: Vec<Vec<f64>>,
    /// Weighted LM or NCP of a suppressed record, over all columns.
    pub suppressed_loss: f64,
    /// By column and node, whether the node is released as `*`. Measures count a group with `*` in every column as
    /// suppressed, so the losses here do, too.
    pub stars: Vec<Vec<bool>>,
    /// Number of counted classes; 0 if the class does not count.
    pub classes: usize,
    /// By tuple and class, the number of records.
    class_records: Vec<u32>,
    /// By column, the tuples in order of their codes.
    by_code: Vec<Buckets>,
    /// By column and code, the number of records with a smaller code.
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
            constraints: Constraints::new(task.profile, task.models),
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

    /// Number of records of a tuple, by class.
    pub(super) fn classes_of(&self, tuple: u32) -> &[u32] {
        &self.class_records[tuple as usize * self.classes..(tuple as usize + 1) * self.classes]
    }

    /// Number of records outside the majority class of a group; 0 if the class does not count.
    pub(super) fn errors(&self, records: u64, classes: &[u64]) -> u64 {
        classes.iter().max().map_or(0, |majority| records - majority)
    }

    /// Losses of a group, either as released (`precision` per record) or as suppressed.
    pub(super) fn loss(&self, records: u64, precision: f64, classes: &[u64], suppressed: bool) -> ClassAndPrecision {
        let n = records as f64;
        let all = if self.classes == 0 { 0.0 } else { n };
        if suppressed {
            ClassAndPrecision { class: all, precision: n * self.suppressed_loss }
        } else {
            ClassAndPrecision { class: self.errors(records, classes) as f64, precision: n * precision }
        }
    }

    /// Tuples with a value below a node.
    pub(super) fn tuples(&self, column: usize, node: NodeId) -> &[u32] {
        let (first, last) = self.taxonomies[column].tree().range(node);
        self.by_code[column].rows(first, last)
    }

    /// Number of records with a value below a node.
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

    /// The cut with these nodes, by column and code, without suppression.
    pub(super) fn cut(&self, nodes: &[Vec<NodeId>]) -> Cut {
        let cells =
            |(taxonomy, nodes): (&Taxonomy<'_>, &Vec<NodeId>)| nodes.iter().map(|&node| taxonomy.cell(node)).collect();
        Cut { cells: self.taxonomies.iter().zip(nodes).map(cells).collect(), suppressed: Vec::new() }
    }

    /// The cut with these nodes and the necessary suppression; `None` if that exceeds the budget.
    pub(super) fn satisfying_cut(&self, nodes: &[Vec<NodeId>]) -> Option<Cut> {
        let cut = self.cut(nodes);
        Some(Cut { suppressed: suppressed_within(&self.constraints, &cut, self.max_suppressed)?, ..cut })
    }

    /// The groups to suppress under the cut with these nodes: the decision of [`RefineContext::satisfying_cut`], with
    /// the faster grouping of the searches.
    pub(super) fn suppression(&self, nodes: &[Vec<NodeId>]) -> Suppression {
        let node = |tuple: u32, column: usize| nodes[column][self.codes(tuple)[column] as usize].0;
        let sizes: Vec<usize> = self.losses.iter().map(Vec::len).collect();
        let Groups { of_row: of_tuple, first_rows } =
            group_rows(self.profile.tuples(), &sizes, |tuple, column| node(tuple as u32, column));
        let sets = |columns: &[usize]| {
            let sizes: Vec<usize> = columns.iter().map(|&column| sizes[column]).collect();
            group_rows(first_rows.len(), &sizes, |group, index| node(first_rows[group], columns[index])).of_row
        };
        let set_of_group = self.constraints.scopes.iter().map(|scope| {
            // Groups differ in at least one column.
            (!self.constraints.knows_all_columns(scope)).then(|| sets(&scope.columns))
        });
        let groups = TupleGroups { set_of_group: set_of_group.collect(), of_tuple, num_groups: first_rows.len() };
        groups.suppress(&self.constraints, None, self.max_suppressed)
    }

    /// Losses of all records under a cut.
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
            classes.iter_mut().zip(self.classes_of(tuple)).for_each(|(sum, records)| *sum += u64::from(*records));
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

    /// Class errors of the original table: a lower bound for every cut.
    pub(super) fn min_errors(&self) -> f64 {
        let of_tuple = |tuple: u32| {
            let classes: Vec<u64> = self.classes_of(tuple).iter().map(|&records| u64::from(records)).collect();
            self.errors(self.tuple_records(tuple), &classes)
        };
        (0..self.profile.tuples() as u32).map(of_tuple).sum::<u64>() as f64
    }
}

/// By node, whether it is released as `*`.
fn stars(taxonomy: &Taxonomy<'_>) -> Vec<bool> {
    let domain = taxonomy.domain();
    taxonomy.tree().nodes().map(|node| !domain.is_empty() && domain.is_star(taxonomy.cell(node))).collect()
}

/// Number of counted classes, and the records by tuple and class.
fn class_records(profile: &Profile) -> (usize, Vec<u32>) {
    let Some(class) = profile.class() else { return (0, Vec::new()) };
    let everything = profile.everything();
    let mut by_size = crate::privacy::Group::of_records(profile, &everything).histogram(class).clone();
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
