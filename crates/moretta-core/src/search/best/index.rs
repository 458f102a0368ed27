//! Items of a block sorted in every column, to list the items in a box.
//!
//! ```text
//! column age    18 19 19 23 24 24 25 31 ..      items with an age of 19..24 are one slice
//! column sex     f  f  f  f  m  m  m  m ..      items with f are one slice
//! ```
//!
//! The items in a box are those of the shortest of its slices that are inside the box in the other columns, too. Cost:
//! a binary search per column, and one comparison or two per item of that slice.

use super::space::{Space, is_inside};

pub(super) struct SortedItems {
    /// By column: the items in the order of their coordinates, and these coordinates. Empty for padding.
    columns: Vec<(Vec<u32>, Vec<f32>)>,
}

impl SortedItems {
    pub(super) fn new(space: &Space<'_>) -> Self {
        let sorted = |column: usize| {
            if space.losses.is_padding(column) {
                return (Vec::new(), Vec::new());
            }
            let value = |item: &u32| space.at(*item)[column];
            let mut items: Vec<u32> = (0..space.items.len() as u32).collect();
            items.sort_by(|a, b| value(a).total_cmp(&value(b)).then(a.cmp(b)));
            let values = items.iter().map(value).collect();
            (items, values)
        };
        Self { columns: (0..space.losses.width()).map(sorted).collect() }
    }

    /// Bytes of the heap for `items` items.
    pub(super) fn bytes(items: u64, columns: u64) -> u64 {
        8 * items * columns
    }

    fn slice(&self, column: usize, low: f32, high: f32) -> (usize, usize) {
        let values = &self.columns[column].1;
        (values.partition_point(|&value| value < low), values.partition_point(|&value| value <= high))
    }

    /// Number of items in one column of a box.
    pub(super) fn count(&self, column: usize, low: f32, high: f32) -> usize {
        let (start, end) = self.slice(column, low, high);
        end - start
    }

    /// The range with about `more` further items below or above it; `None` if there are none on either side.
    pub(super) fn wider(&self, column: usize, (low, high): (f32, f32), more: usize, below: bool) -> Option<(f32, f32)> {
        let values = &self.columns[column].1;
        let (start, end) = self.slice(column, low, high);
        let down = (start > 0).then(|| (values[start.saturating_sub(more)], high));
        let up = (end < values.len()).then(|| (low, values[(end + more - 1).min(values.len() - 1)]));
        if below { down.or(up) } else { up.or(down) }
    }

    /// The shortest slice of a box, and its column.
    fn shortest(&self, (low, high): (&[f32], &[f32])) -> Option<(usize, usize, usize)> {
        let columns = (0..low.len()).filter(|&column| !self.columns[column].0.is_empty());
        let slices = columns.map(|column| (self.slice(column, low[column], high[column]), column));
        slices.map(|((start, end), column)| (start, end, column)).min_by_key(|(start, end, _)| end - start)
    }

    /// An upper bound on the items in a box.
    pub(super) fn most_inside(&self, bounds: (&[f32], &[f32])) -> usize {
        self.shortest(bounds).map_or(0, |(start, end, _)| end - start)
    }

    /// Writes the items in a box, at most `limit`; returns the number of items that were compared.
    pub(super) fn inside(
        &self,
        space: &Space<'_>,
        (low, high): (&[f32], &[f32]),
        limit: usize,
        found: &mut Vec<u32>,
    ) -> u64 {
        found.clear();
        let Some((start, end, column)) = self.shortest((low, high)) else { return 0 };
        let items = self.columns[column].0[start..end].iter().copied();
        found.extend(items.filter(|&item| is_inside((low, high), space.at(item))).take(limit));
        (end - start) as u64
    }
}
