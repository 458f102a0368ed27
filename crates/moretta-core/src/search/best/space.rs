//! Items and their coordinates: the form in which the improvement computes losses.
//!
//! An *item* is a record, or several records of one variant that stay together. In every column it has one coordinate,
//! a number; the loss of a box depends on its least and its greatest coordinate only, because the leaves of a hierarchy
//! are numbered from left to right, so that the lowest common ancestor is that of the first and the last leaf:
//!
//! ```text
//! linear column (free numbers)   coordinate = weighted position    loss = last - first
//! any other column               coordinate = 2^23 + code           loss = table[first][last]
//! ```
//!
//! Linear columns come first and are padded to a multiple of [`LANES`], so that the compiler uses vector instructions.
//! Coordinates are `f32`: the search compares losses that differ by more than rounding, and the caller computes the
//! loss of a result from the codes.

use crate::{
    hierarchy::Tree,
    profile::{Profile, VariantCount},
    search::{local::LossTable, rng::SearchRng},
};

/// Linear columns are processed in chunks of this many.
pub(super) const LANES: usize = 4;

/// Maximum values of a column that has a table of the losses of all ranges (1 MiB).
const MAX_TABLED_VALUES: usize = 512;

/// Loss of the ranges of one column that is not linear.
enum RangeLoss {
    /// By first and last code.
    Table { values: usize, losses: Vec<f32> },
    /// Index in the loss table.
    Computed(usize),
}

/// Losses of boxes over coordinates.
pub(super) struct BoxLoss<'a> {
    loss_table: &'a LossTable<'a>,
    /// Columns of the profile that are linear, with the position of each code.
    linear: Vec<(usize, Vec<f32>)>,
    /// Number of linear columns with the padding.
    padded: usize,
    others: Vec<(usize, RangeLoss)>,
    /// By box column: the tree, if the column has one.
    trees: Vec<Option<&'a Tree>>,
}

impl<'a> BoxLoss<'a> {
    pub(super) fn new(profile: &'a Profile, loss_table: &'a LossTable<'a>) -> Self {
        let (mut linear, mut others) = (Vec::new(), Vec::new());
        for (index, column) in profile.columns().iter().enumerate() {
            let len = column.domain.len();
            if let Some(positions) = linear_positions(column, index, loss_table) {
                linear.push((index, positions));
            } else if len <= MAX_TABLED_VALUES {
                let mut losses = vec![0.0; len * len];
                for first in 0..len {
                    for last in first..len {
                        losses[first * len + last] = loss_table.column(index, first as u32, last as u32) as f32;
                    }
                }
                others.push((index, RangeLoss::Table { values: len, losses }));
            } else {
                others.push((index, RangeLoss::Computed(index)));
            }
        }
        let padded = linear.len().next_multiple_of(LANES);
        let mut trees = vec![None; padded];
        trees.extend(others.iter().map(|(column, _)| profile.columns()[*column].domain.tree()));
        Self { loss_table, linear, padded, others, trees }
    }

    /// Bytes of the heap for a profile.
    pub(super) fn bytes(profile: &Profile) -> u64 {
        let of_column = |len: usize| if len <= MAX_TABLED_VALUES { 4 * len * len } else { 4 * len };
        profile.columns().iter().map(|column| of_column(column.domain.len()) as u64).sum()
    }

    /// Numbers of a box or an item: one per column, with the padding.
    pub(super) fn width(&self) -> usize {
        self.padded + self.others.len()
    }

    /// Appends the coordinates of a tuple.
    fn push_coordinates(&self, codes: &[u32], coordinates: &mut Vec<f32>) {
        let start = coordinates.len();
        coordinates.extend(self.linear.iter().map(|(column, positions)| positions[codes[*column] as usize]));
        coordinates.resize(start + self.padded, 0.0);
        coordinates.extend(self.others.iter().map(|(column, _)| coordinate(codes[*column])));
    }

    /// Loss per record of a box between `low` and `high`; nothing if it is empty (`low` is infinite).
    pub(super) fn of(&self, low: &[f32], high: &[f32]) -> f32 {
        let (low_linear, low) = low.split_at(self.padded);
        let (high_linear, high) = high.split_at(self.padded);
        let mut sums = [0.0f32; LANES];
        for (low, high) in lanes(low_linear).iter().zip(lanes(high_linear)) {
            for lane in 0..LANES {
                sums[lane] += high[lane] - low[lane];
            }
        }
        let linear = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        linear
            + self
                .others
                .iter()
                .zip(low.iter().zip(high))
                .map(|((_, loss), (&a, &b))| self.range(loss, a, b))
                .sum::<f32>()
    }

    /// Whether a box column is padding.
    pub(super) fn is_padding(&self, column: usize) -> bool {
        (self.linear.len()..self.padded).contains(&column)
    }

    /// The smallest range of a node above a range, in a column with a tree; `None` if there is no tree, or at the root.
    /// The range becomes that of the lowest node that covers it if that is wider.
    pub(super) fn parent(&self, column: usize, low: f32, high: f32) -> Option<(f32, f32)> {
        let tree = self.trees[column]?;
        let mut node = tree.cover(code(low), code(high));
        loop {
            let (first, last) = tree.range(node);
            let (first, last) = (coordinate(first), coordinate(last));
            if first < low || high < last {
                return Some((first, last));
            }
            node = tree.parent(node)?;
        }
    }

    /// The range that a range of a column is released as.
    pub(super) fn cover(&self, column: usize, low: f32, high: f32) -> (f32, f32) {
        let range = |tree: &Tree| tree.range(tree.cover(code(low), code(high)));
        self.trees[column].map_or((low, high), |tree| {
            let (first, last) = range(tree);
            (coordinate(first), coordinate(last))
        })
    }

    /// Whether a column has a tree.
    pub(super) fn has_tree(&self, column: usize) -> bool {
        self.trees[column].is_some()
    }

    /// Loss of one box column, numbered as in the coordinates.
    pub(super) fn of_column(&self, column: usize, low: f32, high: f32) -> f32 {
        match column.checked_sub(self.padded) {
            None => high - low,
            Some(other) => self.range(&self.others[other].1, low, high),
        }
    }

    fn range(&self, loss: &RangeLoss, low: f32, high: f32) -> f32 {
        match loss {
            RangeLoss::Table { values, losses } => losses[code(low) as usize * values + code(high) as usize],
            RangeLoss::Computed(column) => self.loss_table.column(*column, code(low), code(high)) as f32,
        }
    }

    /// Loss per record of the box of a group without an item, from the ends of the group (least, second least, second
    /// greatest, greatest, column by column).
    pub(super) fn without(&self, ends: &[f32], item: &[f32]) -> f32 {
        let width = item.len();
        let (lows, highs) = ends.split_at(2 * width);
        let ((low, second_low), (second_high, high)) = (lows.split_at(width), highs.split_at(width));
        let mut sums = [0.0f32; LANES];
        let linear = 0..self.padded;
        let lows = lanes(&low[linear.clone()]).iter().zip(lanes(&second_low[linear.clone()]));
        let highs = lanes(&high[linear.clone()]).iter().zip(lanes(&second_high[linear.clone()]));
        for ((item, (low, second_low)), (high, second_high)) in lanes(&item[linear]).iter().zip(lows).zip(highs) {
            for lane in 0..LANES {
                let least = if item[lane] == low[lane] { second_low[lane] } else { low[lane] };
                let greatest = if item[lane] == high[lane] { second_high[lane] } else { high[lane] };
                sums[lane] += greatest - least;
            }
        }
        let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        for (column, (_, loss)) in (self.padded..).zip(&self.others) {
            let least = if item[column] == low[column] { second_low[column] } else { low[column] };
            let greatest = if item[column] == high[column] { second_high[column] } else { high[column] };
            sum += self.range(loss, least, greatest);
        }
        sum
    }

    /// Loss per record of the box around a box and an item.
    pub(super) fn with(&self, low: &[f32], high: &[f32], item: &[f32]) -> f32 {
        let mut sums = [0.0f32; LANES];
        let linear = 0..self.padded;
        let bounds = lanes(&low[linear.clone()]).iter().zip(lanes(&high[linear.clone()]));
        for ((low, high), item) in bounds.zip(lanes(&item[linear])) {
            for lane in 0..LANES {
                sums[lane] += greater(high[lane], item[lane]) - less(low[lane], item[lane]);
            }
        }
        let mut sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        let columns = low[self.padded..].iter().zip(&high[self.padded..]).zip(&item[self.padded..]);
        for ((_, loss), ((&low, &high), &item)) in self.others.iter().zip(columns) {
            sum += self.range(loss, less(low, item), greater(high, item));
        }
        sum
    }
}

/// Codes are stored with this offset, so that the mantissa of the number is the code: no conversion from a float, which
/// would take as long as the look-up itself.
const OFFSET: f32 = (MAX_CODE + 1) as f32;
/// Greater codes count as this one; a column with that many values has a loss for it that is nearly the same.
const MAX_CODE: u32 = (1 << 23) - 1;

fn coordinate(code: u32) -> f32 {
    code.min(MAX_CODE) as f32 + OFFSET
}

fn code(coordinate: f32) -> u32 {
    coordinate.to_bits() & MAX_CODE
}

/// Chunks of known length: with slices, the compiler uses half of each vector.
fn lanes(numbers: &[f32]) -> &[[f32; LANES]] {
    numbers.as_chunks().0
}

/// The smaller number; unlike `f32::min`, one vector instruction.
pub(super) fn less(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// The greater number.
pub(super) fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// Whether a point is inside a box.
pub(super) fn is_inside((low, high): (&[f32], &[f32]), at: &[f32]) -> bool {
    low.iter().zip(high).zip(at).all(|((low, high), at)| low <= at && at <= high)
}

/// Widens a box, so that an item is inside.
pub(super) fn widen(low: &mut [f32], high: &mut [f32], at: &[f32]) {
    for ((low, high), &value) in low.iter_mut().zip(high).zip(at) {
        (*low, *high) = (less(*low, value), greater(*high, value));
    }
}

/// Position of each code on a line such that every range loses the distance of its ends; `None` if there is none.
fn linear_positions(column: &crate::profile::Column, index: usize, loss_table: &LossTable<'_>) -> Option<Vec<f32>> {
    let domain = &column.domain;
    let last =
        (domain.len() as u32).checked_sub(1).filter(|_| domain.tree().is_none() && domain.missing().is_none())?;
    let loss = |first, last| loss_table.column(index, first, last);
    let is_linear = |code: u32| (loss(0, code) + loss(code, last) - loss(0, last)).abs() <= 1e-6 * column.weight;
    (0..=last).map(|code| is_linear(code).then(|| loss(0, code) as f32)).collect()
}

/// Some records of one variant that stay together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub member: VariantCount,
    /// Number of its point: items with equal quasi-identifiers have the same.
    pub point: u32,
}

/// The items of a block of groups.
pub(super) struct Space<'a> {
    pub losses: &'a BoxLoss<'a>,
    pub items: Vec<Item>,
    /// Row-major by item.
    coordinates: Vec<f32>,
    /// The items of point p are those from `starts[p]` to `starts[p + 1]`.
    starts: Vec<u32>,
}

/// Groups of items, by number.
pub(super) type Groups = Vec<Vec<u32>>;

impl<'a> Space<'a> {
    /// Divides the members of groups into items: single records, but at most `max_single` (the number beside the members)
    /// of a variant in a group; its others are one item. Items with equal quasi-identifiers are in random order, so that no choice between them
    /// depends on sensitive values. Returns also the groups.
    pub(super) fn new<'m>(
        profile: &Profile,
        losses: &'a BoxLoss<'a>,
        groups: impl Iterator<Item = (&'m [VariantCount], u64)>,
        rng: &mut SearchRng,
    ) -> (Self, Groups) {
        let mut drafts: Vec<(u32, u64, u32, VariantCount)> = Vec::new();
        let mut number_of_groups = 0;
        for (members, max_single) in groups {
            for &member in members {
                let tuple = profile.tuple_of(member.variant).0;
                let single = if member.records <= max_single + 1 { member.records } else { max_single };
                let sizes = (0..single).map(|_| 1).chain((member.records > single).then_some(member.records - single));
                for records in sizes {
                    drafts.push((tuple, rng.bits(), number_of_groups, VariantCount { records, ..member }));
                }
            }
            number_of_groups += 1;
        }
        drafts.sort_unstable_by_key(|&(tuple, random, group, member)| (tuple, random, group, member));
        let mut space = Self {
            losses,
            items: Vec::with_capacity(drafts.len()),
            coordinates: Vec::with_capacity(drafts.len() * losses.width()),
            starts: Vec::new(),
        };
        let mut of_groups: Groups = vec![Vec::new(); number_of_groups as usize];
        let mut previous = None;
        for (at, (tuple, _, group, member)) in drafts.into_iter().enumerate() {
            if previous != Some(tuple) {
                previous = Some(tuple);
                space.starts.push(at as u32);
            }
            losses.push_coordinates(profile.codes(profile.tuple_of(member.variant)), &mut space.coordinates);
            space.items.push(Item { member, point: space.starts.len() as u32 - 1 });
            of_groups[group as usize].push(at as u32);
        }
        space.starts.push(space.items.len() as u32);
        (space, of_groups)
    }

    /// Numbers the points in another order, so that those that are used together are near each other in memory.
    /// Returns also the groups.
    pub(super) fn renumbered(self, order: &[u32], groups: Groups) -> (Self, Groups) {
        let mut space = Self {
            losses: self.losses,
            items: Vec::with_capacity(self.items.len()),
            coordinates: Vec::with_capacity(self.coordinates.len()),
            starts: Vec::with_capacity(self.starts.len()),
        };
        let mut new_numbers = vec![0; self.items.len()];
        for (point, &old) in order.iter().enumerate() {
            space.starts.push(space.items.len() as u32);
            for item in self.items_of(old) {
                new_numbers[item as usize] = space.items.len() as u32;
                space.items.push(Item { point: point as u32, ..self.items[item as usize] });
                space.coordinates.extend_from_slice(self.at(item));
            }
        }
        space.starts.push(space.items.len() as u32);
        let renumbered = |items: Vec<u32>| items.into_iter().map(|item| new_numbers[item as usize]).collect();
        (space, groups.into_iter().map(renumbered).collect())
    }

    /// Bytes of the heap for `items` items.
    pub(super) fn bytes(items: u64, columns: u64) -> u64 {
        // Drafts while they are sorted; items, coordinates and points, twice while they are renumbered; groups.
        items * (32 + 2 * (24 + 4 * (columns + LANES as u64 - 1)) + 16)
    }

    pub(super) fn points(&self) -> usize {
        self.starts.len() - 1
    }

    /// Items of a point.
    pub(super) fn items_of(&self, point: u32) -> std::ops::Range<u32> {
        self.starts[point as usize]..self.starts[point as usize + 1]
    }

    /// Coordinates of an item.
    pub(super) fn at(&self, item: u32) -> &[f32] {
        let width = self.losses.width();
        &self.coordinates[item as usize * width..(item as usize + 1) * width]
    }

    /// Coordinates of a point.
    pub(super) fn at_point(&self, point: u32) -> &[f32] {
        self.at(self.starts[point as usize])
    }

    /// Number of records of an item.
    pub(super) fn records(&self, item: u32) -> u64 {
        self.items[item as usize].member.records
    }
}
