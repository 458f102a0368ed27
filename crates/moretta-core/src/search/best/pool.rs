//! The records that a step covers again, as bit masks: one bit per record of the pool.
//!
//! ```text
//! pool            19f 20f 24m 27m 31m
//! age 20..29       0   1   1   1   0
//! sex m            0   0   1   1   1
//! box of both      0   0   1   1   0     intersection, 64 records at a time
//! ```
//!
//! A mask of a range of a column is computed once per pool, by a scan of its coordinates.

use std::rc::Rc;

use super::space::Space;

/// The records of the dissolved groups while they are covered, with those that donors give.
#[derive(Default)]
pub(super) struct Pool {
    pub items: Vec<u32>,
    /// Loss per record in the group before.
    pub old_losses: Vec<f32>,
    pub words: usize,
    /// Records of the item in addition to one.
    extra: Vec<(usize, u64)>,
    /// Column-major coordinates.
    columns: Vec<Vec<f32>>,
    /// By column: ranges and their masks.
    masks: Vec<Vec<KnownMask>>,
}

/// Least and greatest coordinate of a range of a column, and its mask.
type KnownMask = (f32, f32, Rc<[u64]>);

/// A range of a column: least and greatest coordinate, mask, and the increase of the loss from the range before.
pub(super) type WiderRange = (f32, f32, Rc<[u64]>, f32);

impl Pool {
    pub(super) fn add(&mut self, space: &Space<'_>, items: &[u32], loss: f32) {
        let start = self.items.len();
        let more = items.iter().enumerate().filter(|(_, item)| space.records(**item) > 1);
        self.extra.extend(more.map(|(bit, &item)| (start + bit, space.records(item) - 1)));
        self.items.extend(items);
        self.old_losses.resize(self.items.len(), loss);
    }

    pub(super) fn finish(&mut self, space: &Space<'_>) {
        self.words = self.items.len().div_ceil(64);
        let column = |column: usize| self.items.iter().map(|&item| space.at(item)[column]).collect();
        self.columns = (0..space.losses.width()).map(column).collect();
        self.masks = vec![Vec::new(); space.losses.width()];
    }

    /// Items of the pool with a coordinate in a range.
    pub(super) fn mask(&mut self, work: &mut u64, column: usize, low: f32, high: f32) -> Rc<[u64]> {
        let known = self.masks[column].iter().find(|(first, last, _)| (*first, *last) == (low, high));
        if let Some((_, _, mask)) = known {
            return Rc::clone(mask);
        }
        let word = |values: &[f32]| {
            let bits = values.iter().enumerate();
            bits.fold(0u64, |word, (bit, &value)| word | u64::from(low <= value && value <= high) << bit)
        };
        let mask: Rc<[u64]> = self.columns[column].chunks(64).map(word).collect();
        *work += self.items.len() as u64 / 4;
        self.masks[column].push((low, high, Rc::clone(&mask)));
        mask
    }

    /// The next wider range of a column: that of the parent node, or with the nearest further value of the pool. With it
    /// its mask and the increase of the loss.
    pub(super) fn next(
        &mut self,
        space: &Space<'_>,
        work: &mut u64,
        column: usize,
        low: f32,
        high: f32,
    ) -> Option<WiderRange> {
        let loss = |low: f32, high: f32| {
            if low.is_finite() && high.is_finite() { space.losses.of_column(column, low, high) } else { f32::INFINITY }
        };
        let (next_low, next_high) = if space.losses.has_tree(column) {
            space.losses.parent(column, low, high)?
        } else {
            let (mut below, mut above) = (f32::NEG_INFINITY, f32::INFINITY);
            for &value in &self.columns[column] {
                below = if value < low && value > below { value } else { below };
                above = if value > high && value < above { value } else { above };
            }
            *work += self.items.len() as u64 / 4;
            let (down, up) = (loss(below, high), loss(low, above));
            if !down.min(up).is_finite() {
                return None;
            }
            if down <= up { (below, high) } else { (low, above) }
        };
        let increase = loss(next_low, next_high) - loss(low, high);
        Some((next_low, next_high, self.mask(work, column, next_low, next_high), increase))
    }

    pub(super) fn records_in(&self, mask: &[u64]) -> u64 {
        let items: u64 = mask.iter().map(|word| u64::from(word.count_ones())).sum();
        let extra = self.extra.iter().filter(|(bit, _)| mask[bit / 64] >> (bit % 64) & 1 == 1);
        items + extra.map(|(_, records)| records).sum::<u64>()
    }

    pub(super) fn bits<'m>(&self, mask: &'m [u64]) -> impl Iterator<Item = usize> + use<'m> {
        mask.iter().enumerate().flat_map(|(word, &bits)| {
            std::iter::successors((bits != 0).then_some(bits), |bits| Some(bits & (bits - 1)).filter(|bits| *bits != 0))
                .map(move |bits| word * 64 + bits.trailing_zeros() as usize)
        })
    }
}
