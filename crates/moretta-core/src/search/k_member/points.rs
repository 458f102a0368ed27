//! A search tree over the distinct tuples that still have records: a k-d tree whose nodes know the box around their points.
//!
//! Points go, none comes: a point that is out of records is taken from its leaf, and the boxes above shrink to what
//! is left. When half the points are gone the tree is built anew.

/// Leaves have at most so many points.
const LEAF: usize = 8;

/// No point.
pub(super) const NONE: u32 = u32::MAX;

/// The points of a search, by their numbers, and the tree over those that are left.
pub(super) struct Points {
    columns: usize,
    /// Row-major, by number.
    codes: Vec<u32>,
    nodes: Vec<Node>,
    /// Row-major, by node: the least and greatest code of each column.
    bounds: Vec<(u32, u32)>,
    /// The points of the leaves, one leaf after the other.
    order: Vec<u32>,
    leaf_of: Vec<u32>,
    left: usize,
    built_with: usize,
}

struct Node {
    parent: u32,
    /// The second child (the first is the next node); 0 for a leaf.
    second: u32,
    /// Where a leaf's points are.
    start: u32,
    end: u32,
    /// The least number of a point below; [`NONE`] where none is left.
    first: u32,
}

/// What is below a node.
pub(super) enum Below<'a> {
    Nodes([u32; 2]),
    Points(&'a [u32]),
}

impl Points {
    pub(super) fn new(codes: Vec<u32>, columns: usize, width: impl Fn(usize, u32, u32) -> f64) -> Self {
        let count = codes.len() / columns;
        let mut points = Self {
            columns,
            codes,
            nodes: Vec::new(),
            bounds: Vec::new(),
            order: (0..count as u32).collect(),
            leaf_of: vec![NONE; count],
            left: count,
            built_with: count,
        };
        points.build(width);
        points
    }

    pub(super) fn codes(&self, point: u32) -> &[u32] {
        &self.codes[point as usize * self.columns..(point as usize + 1) * self.columns]
    }

    pub(super) fn bounds(&self, node: u32) -> &[(u32, u32)] {
        &self.bounds[node as usize * self.columns..(node as usize + 1) * self.columns]
    }

    /// The least number of a point below a node; [`NONE`] where none is left.
    pub(super) fn first(&self, node: u32) -> u32 {
        self.nodes[node as usize].first
    }

    pub(super) fn below(&self, node: u32) -> Below<'_> {
        match &self.nodes[node as usize] {
            Node { second: 0, start, end, .. } => Below::Points(&self.order[*start as usize..*end as usize]),
            Node { second, .. } => Below::Nodes([node + 1, *second]),
        }
    }

    /// Builds the tree anew where half of its points are gone. `width` says how far apart two codes of a column are.
    pub(super) fn tidy(&mut self, width: impl Fn(usize, u32, u32) -> f64) {
        if self.left >= LEAF && 2 * self.left < self.built_with {
            self.order = self.remaining();
            self.order.sort_unstable();
            self.build(width);
        }
    }

    /// The points that are left, in no particular order.
    pub(super) fn remaining(&self) -> Vec<u32> {
        let leaves = self.nodes.iter().filter(|node| node.second == 0);
        leaves.flat_map(|leaf| &self.order[leaf.start as usize..leaf.end as usize]).copied().collect()
    }

    fn build(&mut self, width: impl Fn(usize, u32, u32) -> f64) {
        self.nodes.clear();
        self.bounds.clear();
        self.built_with = self.order.len();
        let mut open = vec![(0, self.order.len(), NONE, false)];
        while let Some((start, end, parent, is_second)) = open.pop() {
            let id = self.nodes.len() as u32;
            if is_second {
                self.nodes[parent as usize].second = id;
            }
            let points = &self.order[start..end];
            let first = points.iter().copied().min().unwrap_or(NONE);
            let bounds = bounds_of(&self.codes, self.columns, points);
            let apart = |column: usize| {
                if end - start > LEAF { width(column, bounds[column].0, bounds[column].1) } else { 0.0 }
            };
            let widest = (0..self.columns)
                .filter(|&column| bounds[column].0 < bounds[column].1)
                .map(|column| (apart(column), column))
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            self.bounds.extend(&bounds);
            self.nodes.push(Node { parent, second: 0, start: start as u32, end: end as u32, first });
            match widest {
                Some((_, column)) if end - start > LEAF => {
                    let (codes, columns) = (&self.codes, self.columns);
                    let code = |point: &u32| codes[*point as usize * columns + column];
                    let points = &mut self.order[start..end];
                    points.sort_unstable_by_key(|point| (code(point), *point));
                    let middle = start + balanced(points, code);
                    open.push((middle, end, id, true));
                    open.push((start, middle, id, false));
                }
                _ => self.order[start..end].iter().for_each(|&point| self.leaf_of[point as usize] = id),
            }
        }
    }

    /// Takes a point out.
    pub(super) fn remove(&mut self, point: u32) {
        let mut at = self.leaf_of[point as usize];
        let leaf = &mut self.nodes[at as usize];
        let points = &mut self.order[leaf.start as usize..leaf.end as usize];
        let place = points.iter().position(|known| *known == point).expect("a point is taken out once");
        points.swap(place, points.len() - 1);
        leaf.end -= 1;
        self.left -= 1;
        let points = &self.order[leaf.start as usize..leaf.end as usize];
        leaf.first = points.iter().copied().min().unwrap_or(NONE);
        if !points.is_empty() {
            let bounds = bounds_of(&self.codes, self.columns, points);
            self.bounds[at as usize * self.columns..(at as usize + 1) * self.columns].copy_from_slice(&bounds);
        }
        loop {
            at = self.nodes[at as usize].parent;
            if at == NONE || !self.shrink(at) {
                break;
            }
        }
    }

    /// The box of an inner node becomes that of its children; whether anything changed.
    fn shrink(&mut self, node: u32) -> bool {
        let children = [node + 1, self.nodes[node as usize].second];
        let firsts = children.map(|child| self.nodes[child as usize].first);
        let mut changed = false;
        for column in 0..self.columns {
            let of = |node: u32| self.bounds[node as usize * self.columns + column];
            let around = match firsts {
                [NONE, NONE] => break,
                [_, NONE] => of(children[0]),
                [NONE, _] => of(children[1]),
                _ => (of(children[0]).0.min(of(children[1]).0), of(children[0]).1.max(of(children[1]).1)),
            };
            let known = &mut self.bounds[node as usize * self.columns + column];
            changed |= *known != around;
            *known = around;
        }
        let first = firsts[0].min(firsts[1]);
        let known = &mut self.nodes[node as usize].first;
        changed |= *known != first;
        *known = first;
        changed
    }
}

/// Where to divide points that are sorted by their codes: between two codes, as near to the middle as can be.
fn balanced(points: &[u32], code: impl Fn(&u32) -> u32) -> usize {
    let middle = points.len() / 2;
    let at = code(&points[middle]);
    let before = points.partition_point(|point| code(point) < at);
    let after = points.partition_point(|point| code(point) <= at);
    if before > 0 && (after == points.len() || middle - before <= after - middle) { before } else { after }
}

fn bounds_of(codes: &[u32], columns: usize, points: &[u32]) -> Vec<(u32, u32)> {
    let mut bounds = vec![(u32::MAX, 0); columns];
    for &point in points {
        let codes = &codes[point as usize * columns..(point as usize + 1) * columns];
        for (bound, &code) in bounds.iter_mut().zip(codes) {
            *bound = (bound.0.min(code), bound.1.max(code));
        }
    }
    bounds
}
