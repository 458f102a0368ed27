//! Builds a tree from rows of labels.
//!
//! A node is a label on a level, as in ARX: the town `Parma` (level 1) and the province `Parma` (level 2) differ. Rows
//! are filled by repetition, so some nodes exist only as filling and disappear:
//!
//! ```text
//! Parma    ; Parma ; Emilia ; *              *
//! Fidenza  ; Parma ; Emilia ; *       ┌──────┴──────┐
//! Aosta    ; Aosta ; Aosta  ; *     Emilia        Aosta
//!                                     │             (one node: nothing else is on its levels 2 and 3)
//!                             Parma (level 2)
//!                               ┌─────┴─────┐
//!                             Parma      Fidenza
//! ```
//!
//! 1. The common last label is the root; repeated next to the root, it is filling.
//! 2. Groups are inserted from the root down, keyed by level and label. The labels at the start of a row that repeat
//!    its value are left out.
//! 3. Each value goes below the lowest of the groups with its own label on its path, if there are any.
//! 4. A group with its parent's label disappears if it is the only child, or has one child: both cover the same values.
//! 5. A released cell shows a label without its level. So a group gets its level into its label if another group or a
//!    value has the same label. Values keep theirs: it is what the data has.
//!
//! Cost: linear in the fields.

use hashbrown::{HashMap, HashSet};

use super::{
    FileNote,
    fault::{Faults, HierarchyFileError, HierarchyProblem, Place},
};
use crate::hierarchy::tree::{ROOT_LABEL, Tree, TreeBuilder};

/// Labels of a value's path, the value first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) place: Place,
    pub(super) fields: Vec<String>,
}

/// Facts about the rows that are not in them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known<'a> {
    /// Names of the levels, the values' first; empty if there are none.
    pub(super) levels: &'a [String],
    /// Whether a value may be the empty text.
    pub(super) empty_leaf: bool,
}

/// A group, or a value (on level 0).
struct Node<'a> {
    label: &'a str,
    level: usize,
    parent: usize,
    /// Index of the first row with this node.
    row: usize,
}

const ROOT: usize = 0;

pub(super) fn assemble(rows: &[Row], known: Known<'_>) -> Result<(Tree, Vec<FileNote>), HierarchyFileError> {
    let mut faults = Faults::default();
    let Some(first) = rows.first() else {
        return Err(HierarchyFileError::one(Place::Row(1), HierarchyProblem::Empty));
    };
    let width = first.fields.len();
    let root = common_last(rows);
    for row in rows {
        let problem = misshapen(row, width, known.empty_leaf);
        let has_root = row.fields.last().map(String::as_str) == Some(root);
        if let Some(problem) = problem.or((!has_root).then_some(HierarchyProblem::NoRoot)) {
            faults.push(&row.place, problem);
        }
    }
    // Up to here no message shows a label, because the file may be a table of records.
    faults.check()?;
    let mut groups = Groups::new(rows, root);
    for (index, row) in rows.iter().enumerate() {
        groups.insert(index, row, &mut faults);
    }
    faults.check()?;
    let mut nodes = groups.finish();
    let children = without_filling(&mut nodes);
    let (labels, renamed) = released_labels(&nodes, &children, known.levels);
    let mut notes = Vec::new();
    if nodes.repeated > 0 {
        notes.push(FileNote::Repeated { rows: nodes.repeated });
    }
    if root != ROOT_LABEL {
        notes.push(FileNote::Root { label: root.to_owned() });
    }
    if let Some(first) = renamed.first().cloned() {
        notes.push(FileNote::Renamed { groups: renamed.len() as u64, first });
    }
    Ok((build(&children, labels), notes))
}

fn misshapen(row: &Row, width: usize, empty_leaf: bool) -> Option<HierarchyProblem> {
    let fields = &row.fields;
    if fields.len() != width {
        return Some(HierarchyProblem::Ragged { found: fields.len(), expected: width });
    }
    if width < 2 {
        return Some(HierarchyProblem::OneField);
    }
    // The empty value is repeated like any other.
    let start = if empty_leaf { fields.iter().take_while(|label| label.is_empty()).count() } else { 0 };
    let empty = fields[start..].iter().position(String::is_empty).map(|field| field + start);
    let empty = if start == width { Some(0) } else { empty };
    empty.map(|field| HierarchyProblem::EmptyField { field: field + 1 })
}

/// The most frequent last label, the first of them on a tie.
fn common_last(rows: &[Row]) -> &str {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    for (index, label) in rows.iter().enumerate().filter_map(|(index, row)| Some((index, row.fields.last()?))) {
        counts.entry(label).or_insert((0, index)).0 += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, (rows, first))| (*rows, std::cmp::Reverse(*first)));
    most.map_or(ROOT_LABEL, |(label, _)| label)
}

struct Groups<'a> {
    rows: &'a [Row],
    root: &'a str,
    nodes: Vec<Node<'a>>,
    by_level: HashMap<(usize, &'a str), usize>,
    leaves: HashMap<&'a str, usize>,
    paths: Vec<LeafPath<'a>>,
    repeated: u64,
}

/// Where a row attaches its value.
struct LeafPath<'a> {
    label: &'a str,
    row: usize,
    parent: usize,
    /// The levels below this one repeat the value.
    level: usize,
}

impl<'a> Groups<'a> {
    fn new(rows: &'a [Row], root: &'a str) -> Self {
        let top = Node { label: root, level: usize::MAX, parent: ROOT, row: 0 };
        let (by_level, leaves) = (HashMap::new(), HashMap::with_capacity(rows.len()));
        Self { rows, root, nodes: vec![top], by_level, leaves, paths: Vec::with_capacity(rows.len()), repeated: 0 }
    }

    fn insert(&mut self, index: usize, row: &'a Row, faults: &mut Faults) {
        let fields = row.fields.as_slice();
        let filling = fields.iter().rev().take_while(|label| *label == self.root).count();
        // A value may have the label of the root, but it is not the root.
        let end = (fields.len() - filling).max(1);
        if let Some(field) = fields[..end].iter().position(|label| label == ROOT_LABEL) {
            return faults.push(&row.place, HierarchyProblem::RootBelow { field: field + 1 });
        }
        let leaf = fields[0].as_str();
        let start = fields[..end].iter().take_while(|label| *label == leaf).count();
        let mut parent = ROOT;
        for level in (start..end).rev() {
            let label = fields[level].as_str();
            parent = match self.by_level.get(&(level, label)) {
                Some(&known) => {
                    if self.nodes[known].parent != parent && !self.is_below_fault(known, parent) {
                        let earlier = self.rows[self.nodes[known].row].place.clone();
                        let label = label.to_owned();
                        return faults
                            .push(&row.place, HierarchyProblem::TwoParents { label, field: level + 1, earlier });
                    }
                    known
                }
                None => {
                    self.nodes.push(Node { label, level, parent, row: index });
                    self.by_level.insert((level, label), self.nodes.len() - 1);
                    self.nodes.len() - 1
                }
            };
        }
        let path = LeafPath { label: leaf, row: index, parent, level: start };
        match self.leaves.get(leaf).map(|&known| &self.paths[known]) {
            Some(known) if (known.parent, known.level) == (path.parent, path.level) => self.repeated += 1,
            Some(known) => {
                let earlier = self.rows[known.row].place.clone();
                faults.push(&row.place, HierarchyProblem::LeafTwice { leaf: leaf.to_owned(), earlier });
            }
            None => {
                self.leaves.insert(leaf, self.paths.len());
                self.paths.push(path);
            }
        }
    }

    /// Whether both parents have the same label, so that the fault is further up.
    fn is_below_fault(&self, known: usize, parent: usize) -> bool {
        let above = self.nodes[known].parent;
        above != ROOT && parent != ROOT && self.nodes[above].label == self.nodes[parent].label
    }

    /// Attaches the values.
    fn finish(mut self) -> Nodes<'a> {
        for path in &self.paths {
            let mut parent = path.parent;
            for level in (1..path.level).rev() {
                match self.by_level.get(&(level, path.label)) {
                    Some(&group) if self.nodes[group].parent == parent => parent = group,
                    _ => break,
                }
            }
            self.nodes.push(Node { label: path.label, level: 0, parent, row: path.row });
        }
        Nodes { nodes: self.nodes, repeated: self.repeated }
    }
}

struct Nodes<'a> {
    /// Parents come before their children.
    nodes: Vec<Node<'a>>,
    repeated: u64,
}

/// Children of each node, in the order in which the rows first name them, without groups that are filling.
fn without_filling(all: &mut Nodes<'_>) -> Vec<Vec<usize>> {
    let nodes = &mut all.nodes;
    let mut order: Vec<usize> = (1..nodes.len()).collect();
    order.sort_by_key(|&node| nodes[node].row);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for node in order {
        children[nodes[node].parent].push(node);
    }
    for node in (1..nodes.len()).rev() {
        let parent = nodes[node].parent;
        let filling = nodes[node].level > 0
            && parent != ROOT
            && nodes[node].label == nodes[parent].label
            && (children[node].len() == 1 || children[parent].len() == 1);
        if filling {
            let below = std::mem::take(&mut children[node]);
            below.iter().for_each(|&child| nodes[child].parent = parent);
            let at = children[parent].iter().position(|&child| child == node).expect("a child of its parent");
            children[parent].splice(at..=at, below);
        }
    }
    children
}

/// Labels as they are released, by node, and those that differ from the file.
fn released_labels(all: &Nodes<'_>, children: &[Vec<usize>], levels: &[String]) -> (Vec<String>, Vec<String>) {
    let nodes = &all.nodes;
    let is_kept = |node: usize| node == ROOT || nodes[node].level == 0 || !children[node].is_empty();
    let mut uses: HashMap<&str, u32> = HashMap::with_capacity(nodes.len());
    for node in (1..nodes.len()).filter(|node| is_kept(*node)) {
        *uses.entry(nodes[node].label).or_default() += 1;
    }
    let mut labels: Vec<String> = nodes.iter().map(|node| node.label.to_owned()).collect();
    labels[ROOT] = ROOT_LABEL.to_owned();
    let (mut given, mut renamed) = (HashSet::new(), Vec::new());
    for node in (1..nodes.len()).filter(|node| is_kept(*node) && nodes[*node].level > 0) {
        let Node { label, level, .. } = nodes[node];
        if uses[label] == 1 {
            continue;
        }
        let mark = levels.get(level).map_or_else(|| format!(" (level {})", level + 1), |name| format!(" ({name})"));
        let mut marked = format!("{label}{mark}");
        while uses.contains_key(marked.as_str()) || given.contains(&marked) {
            marked += &mark;
        }
        given.insert(marked.clone());
        renamed.push(marked.clone());
        labels[node] = marked;
    }
    (labels, renamed)
}

fn build(children: &[Vec<usize>], mut labels: Vec<String>) -> Tree {
    let mut builder = TreeBuilder::with_capacity(labels.len());
    let mut open: Vec<(usize, usize)> = vec![(ROOT, TreeBuilder::ROOT)];
    while let Some((node, handle)) = open.pop() {
        for &child in &children[node] {
            open.push((child, builder.add(std::mem::take(&mut labels[child]), handle)));
        }
    }
    builder.build()
}
