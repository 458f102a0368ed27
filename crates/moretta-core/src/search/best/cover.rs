//! The step that covers the records of scattered groups by new boxes: large neighborhood search.
//!
//! ```text
//! 1. dissolve    scattered groups (scattered.rs)
//! 2. candidates  boxes grown from random records of the pool, always in the column that covers most further records
//!                per loss, until they hold k; and the boxes of the dissolved groups
//! 3. cover       candidates are opened by increasing loss (with noise) while they hold k uncovered records; each other
//!                record joins the group whose loss grows least, and records move to cheaper boxes that contain them
//! ```
//!
//! Reference: Shaw, "Using constraint programming and local search methods to solve vehicle routing problems" (1998), on
//! lower-bounded facility location. Cost: O(candidates x columns x pool / 64) per step.

use std::rc::Rc;

use super::{
    anneal::Annealer,
    index::SortedItems,
    pool::{Pool, WiderRange},
    rebuild::CountedBox,
    scattered::{EPSILON, Scattered},
    space::{is_inside, widen},
};

/// Boxes that are grown.
const CANDIDATES: usize = 32;
/// Attempts per step; the best one is used.
const COVERS: usize = 3;

/// A box over the pool.
struct Candidate {
    /// Bit i: whether pool item i is inside.
    mask: Vec<u64>,
    loss: f32,
}

/// A column of a box that grows.
struct GrowingColumn {
    column: usize,
    mask: Rc<[u64]>,
    /// Next range, its mask and the increase of the loss.
    next: Option<WiderRange>,
}

impl Annealer<'_> {
    pub(super) fn cover(&mut self, index: &SortedItems) -> bool {
        let Some(Scattered { dissolved, donors }) = self.scattered_groups(index) else { return false };
        let limit = f64::from(self.accepted_growth());
        let before = self.state.total();
        let changed: Vec<u32> = dissolved.iter().copied().chain(donors.iter().map(|(group, _)| *group)).collect();
        let mut pool = Pool::default();
        dissolved.iter().for_each(|&group| pool.add(self.space(), self.state.members(group), self.state.loss(group)));
        donors.iter().for_each(|(group, items)| pool.add(self.space(), items, self.state.loss(*group)));
        pool.finish(self.space());
        let old: Vec<Vec<u32>> = changed.into_iter().map(|group| self.state.remove_group(group)).collect();
        // Each donor's remaining records stay a group, which pool records may join.
        let kept = old[dissolved.len()..].iter().zip(&donors);
        let kept: Vec<Vec<u32>> = kept
            .map(|(members, (_, given))| members.iter().copied().filter(|item| !given.contains(item)).collect())
            .collect();
        let candidates = self.candidates(&mut pool, &old);
        let mut best: Option<(f64, Vec<Vec<u32>>)> = None;
        for _ in 0..COVERS {
            let Some(groups) = self.covered(&pool, &candidates, &kept) else { continue };
            let loss = self.loss_of(&groups);
            if best.as_ref().is_none_or(|(known, _)| loss < *known) {
                best = Some((loss, groups));
            }
        }
        let Some((_, new)) = best else {
            old.into_iter().for_each(|members| _ = self.state.add_group(members));
            return false;
        };
        let new: Vec<u32> = new.into_iter().map(|members| self.state.add_group(members)).collect();
        self.pull(&new);
        if self.state.total() - before <= limit && new.iter().all(|&group| self.state.is_valid(group)) {
            return true;
        }
        new.into_iter().for_each(|group| _ = self.state.remove_group(group));
        old.into_iter().for_each(|members| _ = self.state.add_group(members));
        false
    }

    fn candidates(&mut self, pool: &mut Pool, old: &[Vec<u32>]) -> Vec<Candidate> {
        let space = self.space();
        let width = space.losses.width();
        let mut candidates: Vec<Candidate> = Vec::with_capacity(CANDIDATES + old.len());
        // The boxes of the dissolved groups hold all pool records that lie inside them.
        for members in old {
            let (low, high) = self.bounds_of(members);
            let mut mask = vec![0u64; pool.words];
            for (bit, &item) in pool.items.iter().enumerate() {
                mask[bit / 64] |= u64::from(is_inside((&low, &high), space.at(item))) << (bit % 64);
            }
            candidates.push(Candidate { mask, loss: space.losses.of(&low, &high) });
        }
        self.state.work += (width * pool.items.len() * old.len()) as u64 / 4;
        for _ in 0..CANDIDATES {
            let seed = pool.items[self.rng.below(pool.items.len())];
            if let Some(candidate) = self.grown(pool, seed)
                && !candidates.iter().any(|known| known.mask == candidate.mask)
            {
                candidates.push(candidate);
            }
        }
        candidates.sort_by(|a, b| a.loss.total_cmp(&b.loss).then_with(|| a.mask.cmp(&b.mask)));
        candidates
    }

    /// Box grown from a pool record until it holds the minimum of records.
    fn grown(&mut self, pool: &mut Pool, seed: u32) -> Option<Candidate> {
        let space = self.space();
        let min_records = self.state.min_records();
        let mut growing: Vec<GrowingColumn> = Vec::with_capacity(space.losses.width());
        for column in (0..space.losses.width()).filter(|&column| !space.losses.is_padding(column)) {
            let at = space.at(seed)[column];
            let mask = pool.mask(&mut self.state.work, column, at, at);
            let next = pool.next(space, &mut self.state.work, column, at, at);
            growing.push(GrowingColumn { column, mask, next });
        }
        let (words, len) = (pool.words, growing.len());
        let (mut inside, mut prefix) = (vec![u64::MAX; words], vec![u64::MAX; words]);
        let mut suffix = vec![u64::MAX; (len + 1) * words];
        loop {
            // Items inside the box in the columns from `at` on; all of them in the first row.
            for at in (0..len).rev() {
                for word in 0..words {
                    suffix[at * words + word] = suffix[(at + 1) * words + word] & growing[at].mask[word];
                }
            }
            inside.copy_from_slice(&suffix[..words]);
            let count = pool.records_in(&inside);
            if count >= min_records {
                break;
            }
            prefix.fill(u64::MAX);
            let mut best: Option<(f32, usize)> = None;
            for (at, column) in growing.iter().enumerate() {
                if let Some((_, _, mask, increase)) = &column.next {
                    for word in 0..words {
                        inside[word] = prefix[word] & mask[word] & suffix[(at + 1) * words + word];
                    }
                    // Beyond the minimum, further records are of little use.
                    let gain =
                        (pool.records_in(&inside).min(2 * min_records) - count.min(2 * min_records)) as f32 + 0.05;
                    let value = gain / (increase + EPSILON) * (0.6 + 0.8 * self.rng.unit() as f32);
                    if best.is_none_or(|(known, _)| value > known) {
                        best = Some((value, at));
                    }
                }
                prefix.iter_mut().zip(&*column.mask).for_each(|(a, b)| *a &= b);
            }
            self.state.work += (3 * len * words + 12 * len) as u64;
            let (_, at) = best?;
            let raised = &mut growing[at];
            let (low, high, mask, _) = raised.next.take()?;
            let next = pool.next(space, &mut self.state.work, raised.column, low, high);
            *raised = GrowingColumn { column: raised.column, mask, next };
        }
        let members: Vec<u32> = pool.bits(&inside).map(|bit| pool.items[bit]).collect();
        let (low, high) = self.bounds_of(&members);
        Some(Candidate { mask: inside, loss: space.losses.of(&low, &high) })
    }

    /// Opens candidates by increasing loss while they hold enough uncovered records; `None` if there are none. What
    /// donors keep are groups from the beginning.
    fn covered(&mut self, pool: &Pool, candidates: &[Candidate], kept: &[Vec<u32>]) -> Option<Vec<Vec<u32>>> {
        let space = self.space();
        let min_records = self.state.min_records();
        let by_gain = self.rng.below(2) == 0;
        let noise = 0.3 * self.rng.unit() as f32;
        let mut order: Vec<(f32, usize)> = Vec::with_capacity(candidates.len());
        for (number, candidate) in candidates.iter().enumerate() {
            let mut key = candidate.loss;
            if by_gain {
                // Loss minus what the records lose now.
                let inside = pool.bits(&candidate.mask).map(|bit| pool.old_losses[bit]);
                let (sum, count) = inside.fold((0.0, 0.0f32), |(sum, count), loss| (sum + loss, count + 1.0));
                key -= sum / count.max(1.0);
            }
            order.push((key + noise * (self.rng.unit() as f32 - 0.5) * candidate.loss, number));
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut left = vec![0u64; pool.words];
        (0..pool.items.len()).for_each(|bit| left[bit / 64] |= 1 << (bit % 64));
        let mut groups: Vec<Vec<u32>> = kept.to_vec();
        // By pool item its group, and by group the records that it does not need. What donors keep, they keep.
        let (mut owners, mut spare) = (vec![0; pool.items.len()], vec![0; kept.len()]);
        for (_, number) in order {
            let mask = &candidates[number].mask;
            let taken: Vec<u64> = mask.iter().zip(&left).map(|(a, b)| a & b).collect();
            let mut bits: Vec<usize> = pool.bits(&taken).collect();
            let mut records: u64 = bits.iter().map(|&bit| space.records(pool.items[bit])).sum();
            // Too few: open groups with records to spare give some that lie in the box.
            let is_short = 0 < records && records < min_records && 2 * records >= min_records;
            let mut filled: Vec<(usize, usize)> = Vec::new();
            if is_short && self.state.records_decide() {
                for bit in pool.bits(mask).filter(|bit| taken[bit / 64] >> (bit % 64) & 1 == 0) {
                    let (owner, of_item) = (owners[bit], space.records(pool.items[bit]));
                    if records >= min_records {
                        break;
                    }
                    if spare[owner] >= of_item {
                        spare[owner] -= of_item;
                        records += of_item;
                        filled.push((bit, owner));
                    }
                }
            }
            let members: Vec<u32> = bits.iter().map(|&bit| pool.items[bit]).collect();
            if records < min_records || !self.state.records_decide() && !self.state.would_be_valid(&members) {
                filled.iter().for_each(|&(bit, owner)| spare[owner] += space.records(pool.items[bit]));
                continue;
            }
            for &(bit, owner) in &filled {
                groups[owner].retain(|item| *item != pool.items[bit]);
                bits.push(bit);
            }
            bits.iter().for_each(|&bit| owners[bit] = groups.len());
            left.iter_mut().zip(&taken).for_each(|(left, taken)| *left &= !taken);
            spare.push(records - min_records);
            groups.push(bits.iter().map(|&bit| pool.items[bit]).collect());
        }
        self.state.work += (candidates.len() * pool.words) as u64;
        if groups.is_empty() {
            return None;
        }
        let mut boxes: Vec<CountedBox> = groups
            .iter()
            .map(|members| {
                let (low, high) = self.bounds_of(members);
                (low, high, members.iter().map(|&item| space.records(item)).sum())
            })
            .collect();
        let left: Vec<u32> = pool.bits(&left).map(|bit| pool.items[bit]).collect();
        for item in left {
            let at = space.at(item);
            let growth = |(low, high, records): &CountedBox| {
                let after = space.losses.with(low, high, at) * (*records + space.records(item)) as f32;
                after - space.losses.of(low, high) * *records as f32
            };
            let growths = boxes.iter().map(growth).enumerate();
            let (number, _) = growths.min_by(|a, b| a.1.total_cmp(&b.1))?;
            self.state.work += (2 * space.losses.width() * boxes.len()) as u64;
            let (low, high, records) = &mut boxes[number];
            widen(low, high, at);
            *records += space.records(item);
            groups[number].push(item);
        }
        Some(groups)
    }

    /// Moves records of some groups to others of them that lose less, as long as the groups that they leave stay valid.
    fn pull(&mut self, groups: &[u32]) {
        let items: Vec<u32> = groups.iter().flat_map(|&group| self.state.members(group).to_vec()).collect();
        let mut order: Vec<u32> = groups.to_vec();
        order.sort_by(|a, b| self.state.loss(*a).total_cmp(&self.state.loss(*b)).then(a.cmp(b)));
        for item in items {
            let from = self.state.group_of(item);
            if self.state.records(from) < self.state.min_records() + self.space().records(item) {
                continue;
            }
            for &to in &order {
                if to == from || self.state.loss(to) >= self.state.loss(from) {
                    break;
                }
                let change = self.state.move_change(item, to, &mut self.buffers);
                if change.is_some_and(|change| change < 0.0) {
                    self.state.transfer(item, to);
                    if !(self.state.records_decide() || self.state.is_valid(from) && self.state.is_valid(to)) {
                        self.state.transfer(item, from);
                        continue;
                    }
                    break;
                }
            }
        }
    }

    fn bounds_of(&mut self, items: &[u32]) -> (Vec<f32>, Vec<f32>) {
        let space = self.space();
        let width = space.losses.width();
        let (mut low, mut high) = (vec![f32::INFINITY; width], vec![f32::NEG_INFINITY; width]);
        items.iter().for_each(|&item| widen(&mut low, &mut high, space.at(item)));
        self.state.work += (width * items.len()) as u64 / 2;
        (low, high)
    }

    fn loss_of(&mut self, groups: &[Vec<u32>]) -> f64 {
        let space = self.space();
        let of_group = |members: &Vec<u32>| {
            let (low, high) = self.bounds_of(members);
            let records: u64 = members.iter().map(|&item| space.records(item)).sum();
            f64::from(space.losses.of(&low, &high)) * records as f64
        };
        groups.iter().map(of_group).sum()
    }
}
