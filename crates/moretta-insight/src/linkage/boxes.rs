//! The boxes of a release's groups, and a tree that finds the boxes around a point or across a region.
//!
//! A box has one [`CodeSet`] per column: the codes, in a common domain, of the values that its label covers. The tree
//! is a bounding volume hierarchy: the groups are halved by the middle of their boxes in the column where these middles
//! are spread most, down to [`LEAF_GROUPS`], and a node has the bounds of the boxes below.
//!
//! Cost: O(groups log groups) to build. A query visits the nodes whose bounds it touches: few if boxes are small, all
//! of them if every box is the whole table.

use std::{ops::Range, sync::Arc};

/// Codes of one column that a label covers; never empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum CodeSet {
    /// All codes from the first to the last, both included.
    Range(u32, u32),
    /// Ascending, not all adjacent.
    Codes(Arc<[u32]>),
}

impl CodeSet {
    /// `None` if there is no code.
    pub(super) fn of(mut codes: Vec<u32>) -> Option<Self> {
        codes.sort_unstable();
        codes.dedup();
        let (&first, &last) = (codes.first()?, codes.last()?);
        let adjacent = (last - first) as usize + 1 == codes.len();
        Some(if adjacent { Self::Range(first, last) } else { Self::Codes(codes.into()) })
    }

    /// The first and the last code.
    fn bounds(&self) -> (u32, u32) {
        match self {
            Self::Range(first, last) => (*first, *last),
            Self::Codes(codes) => (codes[0], codes[codes.len() - 1]),
        }
    }

    fn contains(&self, code: u32) -> bool {
        match self {
            Self::Range(first, last) => (*first..=*last).contains(&code),
            Self::Codes(codes) => codes.binary_search(&code).is_ok(),
        }
    }

    /// Whether all codes of the other set are in this one.
    fn contains_all(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Range(first, last), other) => {
                let (start, end) = other.bounds();
                *first <= start && end <= *last
            }
            (Self::Codes(_), Self::Codes(codes)) => codes.iter().all(|code| self.contains(*code)),
            // Whole ranges are never kept as codes, so some code between is absent or the range is shorter.
            (Self::Codes(_), Self::Range(first, last)) => (*first..=*last).all(|code| self.contains(code)),
        }
    }

    /// The codes in both sets; `None` if there is none.
    fn common(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Range(a, b), Self::Range(c, d)) => {
                let (first, last) = (*a.max(c), *b.min(d));
                (first <= last).then_some(Self::Range(first, last))
            }
            (Self::Codes(codes), set) | (set, Self::Codes(codes)) => {
                Self::of(codes.iter().copied().filter(|code| set.contains(*code)).collect())
            }
        }
    }
}

/// Maximum groups of a leaf. Affects speed only; not tuned.
pub(super) const LEAF_GROUPS: usize = 8;

/// Bytes of a cell and of a node.
pub(super) const CODE_SET_BYTES: u64 = size_of::<CodeSet>() as u64;
pub(super) const BOX_NODE_BYTES: u64 = size_of::<BoxNode>() as u64;

/// The boxes of all groups of a release in some columns.
#[derive(Debug)]
pub(super) struct Boxes {
    columns: usize,
    /// Row-major by group.
    cells: Vec<CodeSet>,
    /// Group numbers, in the order of the leaves.
    order: Vec<u32>,
    nodes: Vec<BoxNode>,
    /// Row-major by node: first and last code of the boxes below.
    bounds: Vec<(u32, u32)>,
}

#[derive(Debug)]
struct BoxNode {
    /// Positions in `order`.
    groups: Range<usize>,
    /// The two children; `None` for a leaf.
    children: Option<(usize, usize)>,
}

impl Boxes {
    /// `cells` is row-major by group.
    pub(super) fn new(columns: usize, cells: Vec<CodeSet>) -> Self {
        let groups = cells.len() / columns.max(1);
        let order = (0..groups as u32).collect();
        let mut boxes = Self { columns, cells, order, nodes: Vec::new(), bounds: Vec::new() };
        if groups > 0 {
            boxes.add_node(0..groups);
        }
        boxes
    }

    /// Number of groups.
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// The box of a group, one set of codes for each column.
    pub(super) fn of_group(&self, group: u32) -> &[CodeSet] {
        &self.cells[group as usize * self.columns..(group as usize + 1) * self.columns]
    }

    /// Adds the node over some positions of `order` and all nodes below; recurses once for each halving. Returns its
    /// index.
    fn add_node(&mut self, groups: Range<usize>) -> usize {
        let (index, columns) = (self.nodes.len(), self.columns);
        let mut middles = vec![(u64::MAX, 0); columns];
        let mut bounds = vec![(u32::MAX, 0); columns];
        for &group in &self.order[groups.clone()] {
            for (column, cell) in self.of_group(group).iter().enumerate() {
                let (first, last) = cell.bounds();
                let middle = u64::from(first) + u64::from(last);
                bounds[column] = (bounds[column].0.min(first), bounds[column].1.max(last));
                middles[column] = (middles[column].0.min(middle), middles[column].1.max(middle));
            }
        }
        let spread = |column: &usize| {
            let (low, high) = middles[*column];
            let (first, last) = bounds[*column];
            // As a share of the bounds, because columns have different numbers of codes.
            (high - low) as f64 / f64::from(last - first + 1)
        };
        let widest = (0..columns).max_by(|a, b| spread(a).total_cmp(&spread(b)));
        self.nodes.push(BoxNode { groups: groups.clone(), children: None });
        self.bounds.extend(&bounds);
        if let Some(column) = widest.filter(|column| groups.len() > LEAF_GROUPS && spread(column) > 0.0) {
            let Self { cells, order, .. } = self;
            let middle = |group: u32| {
                let (first, last) = cells[group as usize * columns + column].bounds();
                u64::from(first) + u64::from(last)
            };
            let half = groups.start + groups.len() / 2;
            order[groups.clone()].select_nth_unstable_by_key(groups.len() / 2, |group| (middle(*group), *group));
            let children = (self.add_node(groups.start..half), self.add_node(half..groups.end));
            self.nodes[index].children = Some(children);
        }
        index
    }

    /// Visits every group whose bounds touch the query in every column.
    fn touching(&self, query: impl Fn(usize) -> (u32, u32), mut visit: impl FnMut(u32)) {
        let touches = |node: &usize| {
            let bounds = &self.bounds[node * self.columns..(node + 1) * self.columns];
            bounds.iter().enumerate().all(|(column, (first, last))| {
                let (low, high) = query(column);
                *first <= high && low <= *last
            })
        };
        let mut open: Vec<usize> = (0..self.nodes.len().min(1)).filter(touches).collect();
        while let Some(node) = open.pop() {
            match self.nodes[node].children {
                Some((left, right)) => open.extend([left, right].iter().filter(|child| touches(child))),
                None => self.order[self.nodes[node].groups.clone()].iter().for_each(|group| visit(*group)),
            }
        }
    }

    /// Groups whose box contains a point, ascending.
    pub(super) fn around(&self, point: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        let inside = |group: u32| self.of_group(group).iter().zip(point).all(|(cell, code)| cell.contains(*code));
        self.touching(
            |column| (point[column], point[column]),
            |group| found.extend(Some(group).filter(|g| inside(*g))),
        );
        found.sort_unstable();
        found
    }

    /// Groups whose box contains a whole region, ascending.
    pub(super) fn covering(&self, region: &[CodeSet]) -> Vec<u32> {
        let mut found = Vec::new();
        let covers = |group: u32| self.of_group(group).iter().zip(region).all(|(cell, codes)| cell.contains_all(codes));
        self.touching(|column| region[column].bounds(), |group| found.extend(Some(group).filter(|g| covers(*g))));
        found.sort_unstable();
        found
    }

    /// Groups whose box has a point in common with a region, ascending, each with the common part.
    pub(super) fn across(&self, region: &[CodeSet]) -> Vec<(u32, Vec<CodeSet>)> {
        let mut found = Vec::new();
        let common =
            |group: u32| self.of_group(group).iter().zip(region).map(|(cell, codes)| cell.common(codes)).collect();
        self.touching(
            |column| region[column].bounds(),
            |group| {
                let part: Option<Vec<CodeSet>> = common(group);
                found.extend(part.map(|part| (group, part)));
            },
        );
        found.sort_unstable_by_key(|(group, _)| *group);
        found
    }
}
