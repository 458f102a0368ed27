//! One pass over all boxes: which of them do the prices violate, and by how much?
//!
//! The boxes with at least k records are the cells of an iceberg cube over hierarchies, and they are visited as in
//! bottom-up cube computation (Beyer and Ramakrishnan 1999): column by column, and in each column from the root of its
//! tree down, the tuples are divided among the children of a node.
//!
//! ```text
//! sex:  *  ──▶ age:  *       ──▶ ...        tuples of (*, *)
//!                    [30, 40[ ──▶ ...       tuples of (*, [30, 40[)
//!       f  ──▶ age:  *       ──▶ ...        tuples of (f, *)
//! ```
//!
//! A part is left out, with all boxes below it, if
//! - it has fewer than k records;
//! - the k largest prices in it have at most the mean of the costs of the nodes chosen so far: a box below has some of
//!   these records and costs at least as much;
//! - all its tuples are below one child of the node: the child's box has the same records and does not cost more.
//!
//! Tuples are sorted by price once, and dividing them keeps the order, so the k largest prices are the first ones.
//! Cost: the tuples of all visited parts; on Adult (18,109 tuples, 6,480 level vectors, k = 5) three million, 30 ms.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::instance::Instance;

/// A violated box.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Violated {
    /// One node per column.
    pub nodes: Box<[u32]>,
    /// Loss per record.
    pub cost: f64,
    /// Its tuples with the largest prices, by falling price.
    pub members: Vec<u32>,
}

/// Result of a pass.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pass {
    /// By tuple, the largest excess of a box with it: by how much the mean of the k largest prices is above the cost.
    pub excess: Vec<f64>,
    /// The violated boxes, in order of their nodes.
    pub violated: Vec<Violated>,
    /// Tuples that were moved.
    pub work: u64,
}

/// Limits of a pass.
pub(super) struct Limits<'a> {
    /// Maximum tuples that are moved.
    pub work: u64,
    /// Maximum members of a violated box in the result; 0 for no boxes at all.
    pub members: usize,
    /// Asked from time to time whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Tasks into which a pass is divided, at least, if there are enough parts. Not tuned.
pub(super) const MIN_TASKS: usize = 32;

/// Moved tuples between two looks at the limits.
const WORK_STEP: u64 = 1 << 16;

/// Finds all violated boxes. `None` if a limit was exceeded: then nothing is known about the prices.
pub(super) fn pass(instance: &Instance, prices: &[f64], limits: &Limits<'_>) -> Option<Pass> {
    let mut tuples: Vec<u32> = (0..instance.tuples() as u32).collect();
    tuples.par_sort_unstable_by(|&a, &b| prices[b as usize].total_cmp(&prices[a as usize]).then(a.cmp(&b)));
    let shared = Shared {
        instance,
        prices,
        limits,
        excess: (0..instance.tuples()).map(|_| AtomicU64::new(0)).collect(),
        work: AtomicU64::new(0),
        is_stopped: AtomicBool::new(false),
    };
    let top = instance.mean_of_largest(&tuples, prices);
    let mut tasks = vec![Part { nodes: Vec::new(), tuples, cost: 0.0, top }];
    let mut violated = Vec::new();
    for until in 1..instance.columns.len() {
        if tasks.len() >= MIN_TASKS {
            break;
        }
        let divided = tasks.par_iter().map(|task| shared.walk(task, until).parts).collect::<Vec<_>>();
        tasks = divided.into_iter().flatten().collect();
    }
    if top > 0.0 {
        let until = instance.columns.len();
        let found: Vec<Vec<Violated>> = tasks.par_iter().map(|task| shared.walk(task, until).violated).collect();
        violated = found.into_iter().flatten().collect();
    }
    let work = shared.work.into_inner();
    let excess = shared.excess.into_iter().map(|bits| f64::from_bits(bits.into_inner())).collect();
    // The sum of the work does not depend on the order of the tasks, so neither does this decision.
    (work <= limits.work && !shared.is_stopped.into_inner()).then_some(Pass { excess, violated, work })
}

/// Nodes of the first columns, and the tuples below them.
struct Part {
    nodes: Vec<u32>,
    /// By falling price.
    tuples: Vec<u32>,
    /// Sum of the costs of the nodes.
    cost: f64,
    /// Mean of the k largest prices.
    top: f64,
}

/// Data that all tasks of a pass share.
struct Shared<'a> {
    instance: &'a Instance,
    prices: &'a [f64],
    limits: &'a Limits<'a>,
    /// Bits of numbers from 0 up, whose order is that of the bits, so that a maximum can be taken by several threads.
    excess: Vec<AtomicU64>,
    work: AtomicU64,
    is_stopped: AtomicBool,
}

/// One task: the parts below a part.
struct Walk<'a> {
    shared: &'a Shared<'a>,
    /// The column at which the walk ends.
    until: usize,
    nodes: Vec<u32>,
    parts: Vec<Part>,
    violated: Vec<Violated>,
    work: u64,
    is_over: bool,
    /// By child of a node: records, tuples, and where the next tuple goes. Zero between uses.
    children: Vec<(u64, usize, usize)>,
}

impl Shared<'_> {
    fn walk(&self, part: &Part, until: usize) -> Walk<'_> {
        let children = self.instance.columns.iter().map(|column| column.max_children).max().unwrap_or(0);
        let mut walk = Walk {
            shared: self,
            until,
            nodes: part.nodes.clone(),
            parts: Vec::new(),
            violated: Vec::new(),
            work: 0,
            is_over: false,
            children: vec![(0, 0, 0); children],
        };
        walk.descend(&part.tuples, part.cost, part.top);
        self.work.fetch_add(walk.work, Relaxed);
        walk
    }

    /// Whether the pass is over before its end.
    fn is_over(&self) -> bool {
        if (self.limits.stop)() {
            self.is_stopped.store(true, Relaxed);
        }
        self.is_stopped.load(Relaxed) || self.work.load(Relaxed) > self.limits.work
    }
}

impl Walk<'_> {
    /// Visits all nodes of the next column.
    fn descend(&mut self, tuples: &[u32], cost: f64, top: f64) {
        let column = self.nodes.len();
        if column == self.shared.instance.columns.len() {
            return self.record(tuples, cost, top);
        }
        if column == self.until {
            return self.parts.push(Part { nodes: self.nodes.clone(), tuples: tuples.to_vec(), cost, top });
        }
        // Trees may be deep, so the open nodes are on a stack of their own.
        let mut open = Vec::new();
        self.node(0, tuples, (cost, top), &mut open);
        while let Some((node, tuples, top)) = open.pop() {
            self.node(node, &tuples, (cost, top), &mut open);
        }
    }

    /// Visits one node of the next column: the boxes with it, and its children, which are pushed on `open`.
    fn node(&mut self, mut node: u32, tuples: &[u32], (cost, top): (f64, f64), open: &mut Vec<(u32, Vec<u32>, f64)>) {
        self.work += 1;
        if self.work > WORK_STEP {
            self.shared.work.fetch_add(std::mem::take(&mut self.work), Relaxed);
            self.is_over = self.shared.is_over();
        }
        if self.is_over {
            return open.clear();
        }
        let shared = self.shared;
        let column = &shared.instance.columns[self.nodes.len()];
        let codes = &column.codes;
        while !column.is_leaf(node) {
            let child = column.child_above(node, codes[tuples[0] as usize]);
            if tuples.iter().any(|&tuple| column.child_above(node, codes[tuple as usize]) != child) {
                break;
            }
            node = column.child(node, child);
        }
        let of_node = cost + column.cost(node);
        if top > of_node {
            self.nodes.push(node);
            self.descend(tuples, of_node, top);
            self.nodes.pop();
        }
        if !column.is_leaf(node) {
            self.divide(node, tuples, cost, open);
        }
    }

    /// Divides the tuples of a node among its children.
    fn divide(&mut self, node: u32, tuples: &[u32], cost: f64, open: &mut Vec<(u32, Vec<u32>, f64)>) {
        let Shared { instance, prices, .. } = *self.shared;
        let column = &instance.columns[self.nodes.len()];
        self.work += tuples.len() as u64;
        let mut touched = Vec::new();
        for &tuple in tuples {
            let child = column.child_above(node, column.codes[tuple as usize]);
            let (records, len, _) = &mut self.children[child];
            if *len == 0 {
                touched.push(child);
            }
            *records += instance.counts[tuple as usize];
            *len += 1;
        }
        // The last on the stack is visited first.
        touched.sort_unstable_by(|a, b| b.cmp(a));
        let start = open.len();
        for &child in &touched {
            let (records, len, place) = &mut self.children[child];
            *place = usize::MAX;
            if *records >= instance.k {
                *place = open.len();
                open.push((column.child(node, child), Vec::with_capacity(*len), 0.0));
            }
        }
        for &tuple in tuples {
            let (_, _, place) = self.children[column.child_above(node, column.codes[tuple as usize])];
            if place != usize::MAX {
                open[place].1.push(tuple);
            }
        }
        touched.iter().for_each(|&child| self.children[child] = (0, 0, 0));
        let divided: Vec<_> = open.drain(start..).collect();
        let priced = divided.into_iter().map(|(child, tuples, _)| {
            let top = instance.mean_of_largest(&tuples, prices);
            (child, tuples, top)
        });
        open.extend(priced.filter(|(_, _, top)| *top > cost));
    }

    /// Records a violated box.
    fn record(&mut self, tuples: &[u32], cost: f64, top: f64) {
        let Shared { limits, excess, .. } = self.shared;
        self.work += tuples.len() as u64;
        let bits = (top - cost).to_bits();
        for &tuple in tuples {
            excess[tuple as usize].fetch_max(bits, Relaxed);
        }
        if limits.members > 0 {
            let members = tuples[..tuples.len().min(limits.members)].to_vec();
            self.violated.push(Violated { nodes: self.nodes.as_slice().into(), cost, members });
        }
    }
}
