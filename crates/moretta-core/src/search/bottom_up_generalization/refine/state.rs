//! A cut with its groups. Evaluating or applying a reversal costs only the tuples below the reverted node.
//!
//! **What.** Every code is released as a node above it or as its leaf. A child is *in* if its values are
//! released as its parent node, otherwise *out*; a child is never partly in. In a plain cut, all children of a released
//! node are in; with partial generalization, some may be out.
//!
//! **How.** A [`Reversal`] moves the records of one or all children of a node from the node to the child. With k = 2:
//!
//! ```text
//! artist: singer, dancer, painter (1 f)
//!
//! groups            revert singer (one child)       revert artist (all children)
//! artist f  5       artist f  2                     dancer f, painter f  1 each, below k
//! artist m  2       singer f  3                     singer f  3
//! clerk  m  2       singer m  2                     singer m  2
//!                   clerk  m  2  unchanged          clerk  m  2  unchanged
//! ```
//!
//! [`CutState::evaluate`] counts how many records of each group lie below a child, and adds the changes of the affected
//! groups to the current [`Evaluation`]; [`CutState::apply`] splits the groups.
//!
//! **Cost.** O(t c) for t tuples below the node and c classes; [`CutState::regroup`] reads all tuples.

use super::context::{ClassAndPrecision, RefineContext};
use crate::{
    ids::{NodeId, TupleId},
    recoding::Cut,
    search::grouping::{Groups, group_rows},
};

/// Reversal of a generalization: the values that are released as `node` are released as its children instead; if
/// `child` is given, only the values below that child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reversal {
    pub column: usize,
    pub node: NodeId,
    pub child: Option<NodeId>,
}

/// A group: records with the same nodes in all columns.
#[derive(Debug, Clone, Copy, Default)]
struct CutGroup {
    records: u64,
    /// Weighted LM or NCP per record.
    precision: f64,
    /// Number of columns with `*`.
    stars: u32,
}

/// Figures by which a state is judged.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Evaluation {
    /// Records in groups of fewer than k records, which must be suppressed.
    pub records_below_k: u64,
    /// Losses of all records; records below k count as suppressed.
    pub lost: ClassAndPrecision,
}

/// A cut with its groups and their losses.
#[derive(Clone)]
pub(super) struct CutState<'a> {
    pub context: &'a RefineContext<'a>,
    /// By column and code, the node that it is released as.
    pub nodes: Vec<Vec<NodeId>>,
    groups: Vec<CutGroup>,
    /// Records by group and class.
    classes: Vec<u64>,
    /// Group of each tuple.
    group_of: Vec<u32>,
    pub evaluation: Evaluation,
    /// Number of tuples read, a measure of work.
    pub work: u64,
    scratch: Scratch,
}

/// Buffers by group, all 0 or `NONE` between calls, and lists of the groups in use.
#[derive(Clone, Default)]
struct Scratch {
    /// Records below the current child.
    child: GroupCounts,
    /// Groups with records below the current child.
    touched: Vec<u32>,
    /// Records below all children so far.
    moved: GroupCounts,
    /// Groups with such records.
    moved_groups: Vec<u32>,
    /// By group, the new group of its records below the current child.
    new_group: Vec<u32>,
}

/// Numbers of records by group, and by group and class.
#[derive(Clone, Default)]
struct GroupCounts {
    records: Vec<u64>,
    classes: Vec<u64>,
}

const NONE: u32 = u32::MAX;

impl<'a> CutState<'a> {
    pub(super) fn new(context: &'a RefineContext<'a>, nodes: Vec<Vec<NodeId>>) -> Self {
        let (groups, classes, group_of) = (Vec::new(), Vec::new(), Vec::new());
        let (evaluation, scratch) = (Evaluation::default(), Scratch::default());
        let mut state = Self { context, nodes, groups, classes, group_of, evaluation, work: 0, scratch };
        state.regroup();
        state
    }

    /// Groups all tuples again, which is necessary after generalizations.
    pub(super) fn regroup(&mut self) {
        let context = self.context;
        self.work += context.profile.tuples() as u64 * 2;
        self.groups.clear();
        self.classes.clear();
        let sizes: Vec<usize> = context.losses.iter().map(Vec::len).collect();
        let node = |tuple: u32, column: usize| self.nodes[column][context.codes(tuple)[column] as usize];
        let Groups { of_row, first_rows } =
            group_rows(context.profile.tuples(), &sizes, |tuple, column| node(tuple as u32, column).0);
        let cut_group = |&tuple: &u32| {
            let nodes = (0..sizes.len()).map(|column| (column, node(tuple, column).index()));
            let precision = nodes.clone().fold(0.0, |sum, (column, node)| sum + context.losses[column][node]);
            let stars = nodes.filter(|&(column, node)| context.stars[column][node]).count() as u32;
            CutGroup { records: 0, precision, stars }
        };
        self.groups.extend(first_rows.iter().map(cut_group));
        self.classes.resize(self.groups.len() * context.classes, 0);
        for (tuple, &group) in (0u32..).zip(&of_row) {
            let classes = &mut self.classes[group as usize * context.classes..][..context.classes];
            classes.iter_mut().zip(context.classes_of(tuple)).for_each(|(sum, records)| *sum += u64::from(*records));
            self.groups[group as usize].records += context.tuple_records(tuple);
        }
        self.group_of = of_row;
        let mut evaluation = Evaluation::default();
        for (index, group) in self.groups.iter().enumerate() {
            evaluation.add_group(context, *group, &self.classes[index * context.classes..][..context.classes], 1.0);
        }
        self.evaluation = evaluation;
    }

    /// Releases all values below a node as the node. The groups are out of date until [`CutState::regroup`].
    pub(super) fn generalize(&mut self, column: usize, node: NodeId) {
        let (first, last) = self.context.taxonomies[column].tree().range(node);
        self.nodes[column][first as usize..=last as usize].fill(node);
    }

    /// Whether k-anonymity holds within the suppression budget. The suppressed records are a group of at least k, too.
    pub(super) fn is_within_budget(&self, evaluation: Evaluation) -> bool {
        evaluation.records_below_k == 0 || evaluation.records_below_k.max(self.context.k) <= self.context.max_suppressed
    }

    /// The cut with the necessary suppression, and its losses; `None` if the policy cannot be satisfied within the
    /// budget.
    pub(super) fn cut(&self) -> Option<(Cut, ClassAndPrecision)> {
        let Evaluation { records_below_k, lost } = self.evaluation;
        // The records below k are suppressed; without other models this is enough if they are none or at least k.
        if !self.context.has_other_models && (records_below_k == 0 || records_below_k >= self.context.k) {
            let small = |tuple: &TupleId| self.groups[self.group_of[tuple.index()] as usize].records < self.context.k;
            let mut cut = self.context.cut(&self.nodes);
            cut.suppressed = (0..self.group_of.len()).map(TupleId::from_index).filter(small).collect();
            return (records_below_k <= self.context.max_suppressed).then_some((cut, lost));
        }
        let cut = self.context.satisfying_cut(&self.nodes)?;
        let lost = self.context.loss_of_cut(&self.nodes, &cut);
        Some((cut, lost))
    }

    /// The children that are *in*: their values are released as the node.
    pub(super) fn children(&self, column: usize, node: NodeId) -> Vec<NodeId> {
        let tree = self.context.taxonomies[column].tree();
        let is_in = |child: &NodeId| self.nodes[column][tree.range(*child).0 as usize] == node;
        tree.children(node).filter(is_in).collect()
    }

    /// Whether some values of the reversal are still released as its node.
    pub(super) fn is_possible(&self, reversal: Reversal) -> bool {
        let tree = self.context.taxonomies[reversal.column].tree();
        match reversal.child {
            Some(child) => self.nodes[reversal.column][tree.range(child).0 as usize] == reversal.node,
            None => {
                let (first, last) = tree.range(reversal.node);
                self.nodes[reversal.column][first as usize..=last as usize].contains(&reversal.node)
            }
        }
    }

    /// The children whose values the reversal changes.
    pub(super) fn reverted_children(&self, reversal: Reversal) -> Vec<NodeId> {
        reversal.child.map_or_else(|| self.children(reversal.column, reversal.node), |child| vec![child])
    }

    /// Evaluates a reversal without applying it.
    pub(super) fn evaluate(&mut self, reversal: Reversal) -> Evaluation {
        let context = self.context;
        let width = context.classes;
        let mut evaluation = self.evaluation;
        let mut scratch = std::mem::take(&mut self.scratch);
        for child in self.reverted_children(reversal) {
            self.count_below(reversal.column, child, &mut scratch);
            for &group in &scratch.touched {
                let index = group as usize;
                let records = std::mem::take(&mut scratch.child.records[index]);
                let classes = &mut scratch.child.classes[index * width..][..width];
                let part = CutGroup { records, ..self.groups[index].moved(context, reversal, child) };
                evaluation.add_group(context, part, classes, 1.0);
                if scratch.moved.records[index] == 0 {
                    scratch.moved_groups.push(group);
                }
                scratch.moved.records[index] += records;
                let moved = &mut scratch.moved.classes[index * width..][..width];
                moved.iter_mut().zip(&mut *classes).for_each(|(moved, part)| *moved += std::mem::take(part));
            }
        }
        for group in scratch.moved_groups.drain(..) {
            let index = group as usize;
            let whole = self.groups[index];
            let classes = &self.classes[index * width..][..width];
            evaluation.add_group(context, whole, classes, -1.0);
            let left = &mut scratch.moved.classes[index * width..][..width];
            left.iter_mut().zip(classes).for_each(|(moved, all)| *moved = all - *moved);
            let records = whole.records - std::mem::take(&mut scratch.moved.records[index]);
            evaluation.add_group(context, CutGroup { records, ..whole }, left, 1.0);
            left.fill(0);
        }
        self.scratch = scratch;
        evaluation
    }

    /// Applies a reversal with this evaluation.
    pub(super) fn apply(&mut self, reversal: Reversal, evaluation: Evaluation) {
        let context = self.context;
        let width = context.classes;
        let mut scratch = std::mem::take(&mut self.scratch);
        for child in self.reverted_children(reversal) {
            self.count_below(reversal.column, child, &mut scratch);
            for &group in &scratch.touched {
                let index = group as usize;
                let records = std::mem::take(&mut scratch.child.records[index]);
                let part = &mut scratch.child.classes[index * width..][..width];
                let whole = &mut self.groups[index];
                let moved = CutGroup { records, ..whole.moved(context, reversal, child) };
                if records == whole.records {
                    *whole = moved;
                    part.fill(0);
                    continue;
                }
                whole.records -= records;
                scratch.new_group[index] = self.groups.len() as u32;
                self.groups.push(moved);
                let all = &mut self.classes[index * width..][..width];
                all.iter_mut().zip(&*part).for_each(|(all, part)| *all -= part);
                self.classes.extend_from_slice(part);
                part.fill(0);
            }
            for &tuple in context.tuples(reversal.column, child) {
                let group = &mut self.group_of[tuple as usize];
                let new_group = scratch.new_group[*group as usize];
                *group = if new_group == NONE { *group } else { new_group };
            }
            for &group in &scratch.touched {
                scratch.new_group[group as usize] = NONE;
            }
            self.generalize(reversal.column, child);
        }
        self.scratch = scratch;
        self.evaluation = evaluation;
    }

    /// Counts in `scratch.child` the records of each group that lie below a child.
    fn count_below(&mut self, column: usize, child: NodeId, scratch: &mut Scratch) {
        let (groups, width) = (self.groups.len(), self.context.classes);
        if scratch.new_group.len() < groups {
            scratch.new_group.resize(groups, NONE);
            for counts in [&mut scratch.child, &mut scratch.moved] {
                counts.records.resize(groups, 0);
                counts.classes.resize(groups * width, 0);
            }
        }
        scratch.touched.clear();
        let tuples = self.context.tuples(column, child);
        self.work += tuples.len() as u64;
        for &tuple in tuples {
            let group = self.group_of[tuple as usize];
            let part = &mut scratch.child.records[group as usize];
            if *part == 0 {
                scratch.touched.push(group);
            }
            *part += self.context.tuple_records(tuple);
            let classes = &mut scratch.child.classes[group as usize * width..][..width];
            classes
                .iter_mut()
                .zip(self.context.classes_of(tuple))
                .for_each(|(sum, records)| *sum += u64::from(*records));
        }
    }
}

impl Evaluation {
    /// Adds a group (`sign` 1) or removes it (`sign` -1).
    fn add_group(&mut self, context: &RefineContext<'_>, group: CutGroup, classes: &[u64], sign: f64) {
        if group.records == 0 {
            return;
        }
        let suppressed = group.records < context.k;
        if suppressed && sign > 0.0 {
            self.records_below_k += group.records;
        } else if suppressed {
            self.records_below_k -= group.records;
        }
        let discloses = !suppressed && (group.stars as usize) < context.stars.len();
        self.lost = self.lost.add_scaled(context.loss(group.records, group.precision, classes, !discloses), sign);
    }
}

impl CutGroup {
    /// The group with the child instead of the node of a reversal.
    fn moved(self, context: &RefineContext<'_>, reversal: Reversal, child: NodeId) -> Self {
        let (losses, stars) = (&context.losses[reversal.column], &context.stars[reversal.column]);
        Self {
            precision: self.precision + losses[child.index()] - losses[reversal.node.index()],
            stars: self.stars + u32::from(stars[child.index()]) - u32::from(stars[reversal.node.index()]),
            ..self
        }
    }
}
