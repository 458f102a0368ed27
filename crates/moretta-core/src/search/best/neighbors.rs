//! Near points of every point, from a few random trees.
//!
//! A tree divides the points in two, in a column that is chosen at random in proportion to what its range loses, at a
//! random place near the median, until a leaf has at most [`LEAF`] points. Points that share a leaf in one of the trees
//! are compared; the nearest ones become neighbors. The distance of two points is the loss of the box around both.
//!
//! The result is approximate: a near point that shares no leaf is missed. It only guides the search. The order of the
//! leaves of each tree also divides the groups into regions (`regions.rs`).
//!
//! Cost: O(t log t) to build a tree over t points, O(LEAF) distances per point and tree.

use rayon::prelude::*;

use super::space::Space;
use crate::search::rng::{SearchRng, hash_seed};

/// Random trees. More find more of the nearest points; four suffice for the search (measured on Adult and mach2019).
const TREES: usize = 4;
/// Maximum points per leaf.
const LEAF: usize = 96;
/// Points that one task compares. Affects speed only.
const BATCH: usize = 512;

/// Neighbors of all points of a space.
pub(super) struct Neighbors {
    /// Maximum neighbors of a point.
    limit: usize,
    /// The neighbors of point p are `lists[p * limit..]`, nearest first, as many as `counts[p]`.
    lists: Vec<u32>,
    counts: Vec<u32>,
    /// By tree: the rank of each point in the order of the leaves.
    ranks: Vec<Vec<u32>>,
    /// Boxes that were computed, times their columns.
    pub work: u64,
}

/// The points of a space in the order of the leaves of a random tree.
pub(super) fn leaf_order(space: &Space<'_>, seed: u64) -> Vec<u32> {
    RandomTree::new(space, seed).points
}

struct RandomTree {
    /// The points, leaf by leaf.
    points: Vec<u32>,
    /// By rank: first rank of its leaf and the one behind its last.
    leaves: Vec<(u32, u32)>,
}

impl Neighbors {
    pub(super) fn new(space: &Space<'_>, limit: usize, seed: u64) -> Self {
        let trees: Vec<RandomTree> =
            (0..TREES).into_par_iter().map(|tree| RandomTree::new(space, hash_seed(seed, tree as u64))).collect();
        let ranks: Vec<Vec<u32>> = trees.par_iter().map(RandomTree::ranks).collect();
        let mut neighbors =
            Self { limit, lists: vec![0; space.points() * limit], counts: vec![0; space.points()], ranks, work: 0 };
        let Self { lists, counts, ranks, .. } = &mut neighbors;
        let work = lists
            .par_chunks_mut(BATCH * limit.max(1))
            .zip(counts.par_chunks_mut(BATCH))
            .enumerate()
            .map(|(batch, (lists, counts))| {
                let mut finder = Finder::default();
                let points = (batch * BATCH) as u32..;
                for ((point, list), count) in points.zip(lists.chunks_mut(limit)).zip(counts) {
                    *count = finder.nearest(space, &trees, ranks, point, list);
                }
                finder.work
            })
            .sum();
        neighbors.work = work;
        neighbors
    }

    /// Bytes of the heap for `points` points.
    pub(super) fn bytes(points: u64, limit: u64) -> u64 {
        points * (4 * limit + 4 + 16 * TREES as u64)
    }

    /// Near points, nearest first; not the point itself.
    pub(super) fn of(&self, point: u32) -> &[u32] {
        let start = point as usize * self.limit;
        &self.lists[start..start + self.counts[point as usize] as usize]
    }

    /// Rank of a point in the order of the leaves of one of the trees.
    pub(super) fn rank(&self, tree: usize, point: u32) -> u32 {
        self.ranks[tree % TREES][point as usize]
    }
}

/// Buffers to find the neighbors of one point.
#[derive(Default)]
struct Finder {
    /// The bits of the distance, then the point: positive numbers are in the order of their bits, and one integer is
    /// sorted faster than a pair.
    found: Vec<u64>,
    candidates: Vec<u32>,
    work: u64,
}

impl Finder {
    fn nearest(
        &mut self,
        space: &Space<'_>,
        trees: &[RandomTree],
        ranks: &[Vec<u32>],
        point: u32,
        list: &mut [u32],
    ) -> u32 {
        self.candidates.clear();
        for (tree, ranks) in trees.iter().zip(ranks) {
            let (start, end) = tree.leaves[ranks[point as usize] as usize];
            self.candidates.extend_from_slice(&tree.points[start as usize..end as usize]);
        }
        let at = space.at_point(point);
        let distance = |&other: &u32| {
            let distance = space.losses.with(at, at, space.at_point(other));
            u64::from(distance.to_bits()) << 32 | u64::from(other)
        };
        self.found.clear();
        self.found.extend(self.candidates.iter().map(distance));
        self.work += (self.found.len() * at.len()) as u64;
        // A candidate of several trees occurs several times, next to itself once sorted.
        let wanted = list.len() * trees.len() + 1;
        if self.found.len() > wanted {
            self.found.select_nth_unstable(wanted - 1);
            self.found.truncate(wanted);
        }
        self.found.sort_unstable();
        self.found.dedup();
        let nearest = self.found.iter().map(|&found| found as u32).filter(|&other| other != point);
        list.iter_mut().zip(nearest).map(|(place, other)| *place = other).count() as u32
    }
}

impl RandomTree {
    fn new(space: &Space<'_>, seed: u64) -> Self {
        let mut points: Vec<u32> = (0..space.points() as u32).collect();
        let mut leaves = vec![(0, 0); points.len()];
        let mut rng = SearchRng::new(seed, 0);
        let mut pending = vec![(0, points.len())];
        while let Some((start, end)) = pending.pop() {
            let middle = if end - start > LEAF { split(space, &mut points[start..end], &mut rng) } else { None };
            match middle {
                Some(middle) => pending.extend([(start, start + middle), (start + middle, end)]),
                None => leaves[start..end].fill((start as u32, end as u32)),
            }
        }
        Self { points, leaves }
    }

    fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.points.len()];
        self.points.iter().enumerate().for_each(|(rank, &point)| ranks[point as usize] = rank as u32);
        ranks
    }
}

/// Partitions points in a random column; returns the number of points on the left side, `None` if no column loses
/// anything.
fn split(space: &Space<'_>, points: &mut [u32], rng: &mut SearchRng) -> Option<usize> {
    let width = space.losses.width();
    let (mut low, mut high) = (vec![f32::INFINITY; width], vec![f32::NEG_INFINITY; width]);
    for &point in points.iter() {
        for (column, &value) in space.at_point(point).iter().enumerate() {
            (low[column], high[column]) = (low[column].min(value), high[column].max(value));
        }
    }
    let of_column = |column: usize| {
        if low[column] < high[column] { space.losses.of_column(column, low[column], high[column]) } else { 0.0 }
    };
    let losses: Vec<f32> = (0..width).map(of_column).collect();
    let mut chosen = rng.unit() as f32 * losses.iter().sum::<f32>();
    let column = (0..width).find(|&column| {
        chosen -= losses[column];
        losses[column] > 0.0 && chosen <= 0.0
    });
    let column = column.or_else(|| losses.iter().rposition(|&loss| loss > 0.0))?;
    let value = |point: &u32| space.at_point(*point)[column];
    let middle = (points.len() as f64 * (0.35 + 0.3 * rng.unit())) as usize;
    points.select_nth_unstable_by(middle, |a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
    // All points with the middle value are on one side, so that near points stay together.
    let middle_value = value(&points[middle]);
    let partition = |points: &mut [u32], goes_left: &dyn Fn(f32) -> bool| {
        let (left, right): (Vec<u32>, Vec<u32>) = points.iter().partition(|point| goes_left(value(point)));
        points[..left.len()].copy_from_slice(&left);
        points[left.len()..].copy_from_slice(&right);
        left.len()
    };
    let below = partition(points, &|value| value < middle_value);
    if below > 0 { Some(below) } else { Some(partition(points, &|value| value <= middle_value)) }
}
