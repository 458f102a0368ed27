//! The step that dissolves a few neighboring groups and grows others of their records.
//!
//! ```text
//! 1. the group of a random record and one to four groups of records near it are dissolved
//! 2. a random record of theirs starts a group, and the record that lets its loss grow least joins (with noise, so that
//!    no two attempts are alike) until the group satisfies the models; repeated while enough records remain
//! 3. each remaining record joins the group whose loss grows least
//! 4. every record is exchanged once, if the loss falls by it
//! ```
//!
//! The number of groups may change.

use super::{anneal::Annealer, space::widen};

/// Maximum items of the dissolved groups.
const MAX_ITEMS: usize = 600;
/// Maximum factor by which the growth of the loss by a record is exaggerated at random.
const NOISE: f32 = 0.3;
/// Number of scans in which a group grows, at least.
const CHUNKS: usize = 12;

/// Least and greatest coordinate of each column, and the number of records.
pub(super) type CountedBox = (Vec<f32>, Vec<f32>, u64);

impl Annealer<'_> {
    pub(super) fn rebuild(&mut self) -> bool {
        let Some(old) = self.neighboring_groups() else { return false };
        let limit = f64::from(self.accepted_growth());
        let before = self.state.total();
        let old: Vec<Vec<u32>> = old.into_iter().map(|group| self.state.remove_group(group)).collect();
        let base = self.state.total();
        let pool: Vec<u32> = old.iter().flatten().copied().collect();
        let Some(new) = self.grow_groups(pool, before + limit - base) else {
            old.into_iter().for_each(|members| _ = self.state.add_group(members));
            return false;
        };
        let new: Vec<u32> = new.into_iter().map(|members| self.state.add_group(members)).collect();
        self.improve_within(&new);
        let is_valid = new.iter().all(|&group| self.state.is_valid(group));
        if is_valid && self.state.total() - before <= limit {
            return true;
        }
        new.into_iter().for_each(|group| _ = self.state.remove_group(group));
        old.into_iter().for_each(|members| _ = self.state.add_group(members));
        false
    }

    /// Groups that are near each other: that of a random record, and of records near its members.
    fn neighboring_groups(&mut self) -> Option<Vec<u32>> {
        let item = self.random_item()?;
        let mut groups = vec![self.state.group_of(item)];
        let mut items = self.state.members(groups[0]).len();
        let wanted = 2 + self.rng.below(4);
        if items > MAX_ITEMS {
            return None;
        }
        for _ in 0..3 * wanted {
            if groups.len() == wanted {
                break;
            }
            // A draw of a near record.
            self.state.work += 64;
            let of = groups[self.rng.below(groups.len())];
            let members = self.state.members(of);
            let anchor = if groups.len() == 1 { item } else { members[self.rng.below(members.len())] };
            let Some(near) = self.near_item(anchor) else { continue };
            let group = self.state.group_of(near);
            let more = self.state.members(group).len();
            if !groups.contains(&group) && items + more <= MAX_ITEMS {
                items += more;
                groups.push(group);
            }
        }
        (groups.len() > 1 && items <= MAX_ITEMS).then_some(groups)
    }

    /// Grows groups of a pool of items; `None` if they lose more than `max_loss` or if too few records remain for one
    /// group.
    fn grow_groups(&mut self, mut pool: Vec<u32>, max_loss: f64) -> Option<Vec<Vec<u32>>> {
        let space = self.space();
        let width = space.losses.width();
        let noise: Vec<f32> = pool.iter().map(|_| 1.0 + NOISE * self.rng.unit() as f32).collect();
        let mut noise_of: Vec<(u32, f32)> = pool.iter().copied().zip(noise).collect();
        let mut left: u64 = pool.iter().map(|&item| space.records(item)).sum();
        let (mut groups, mut boxes): (Vec<Vec<u32>>, Vec<CountedBox>) = (Vec::new(), Vec::new());
        let mut loss = 0.0;
        let mut costs: Vec<(f32, usize)> = Vec::new();
        let min_records = self.state.min_records();
        while left >= min_records && !noise_of.is_empty() {
            let (first, _) = noise_of.swap_remove(self.rng.below(noise_of.len()));
            let (mut low, mut high) = (space.at(first).to_vec(), space.at(first).to_vec());
            let mut members = vec![first];
            let mut records = space.records(first);
            let mut of_box = 0.0;
            while records < min_records || !self.state.records_decide() && !self.state.would_be_valid(&members) {
                // In a large group several records join at once: fewer scans of the pool.
                let at_once = (min_records.saturating_sub(records) as usize / CHUNKS).max(1).min(noise_of.len());
                if at_once == 0 {
                    break;
                }
                costs.clear();
                costs.extend(noise_of.iter().enumerate().map(|(index, &(item, noise))| {
                    let loss = space.losses.with(&low, &high, space.at(item));
                    ((loss - of_box) * noise, index)
                }));
                self.state.work += (width * noise_of.len()) as u64;
                let order = |a: &(f32, usize), b: &(f32, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
                if at_once < costs.len() {
                    costs.select_nth_unstable_by(at_once - 1, order);
                    costs.truncate(at_once);
                }
                // From the last index on, so that removals do not move the others.
                costs.sort_unstable_by_key(|&(_, index)| std::cmp::Reverse(index));
                for &(_, index) in &costs {
                    let (item, _) = noise_of.swap_remove(index);
                    widen(&mut low, &mut high, space.at(item));
                    records += space.records(item);
                    members.push(item);
                }
                of_box = space.losses.of(&low, &high);
            }
            if records < min_records || !self.state.records_decide() && !self.state.would_be_valid(&members) {
                // Too few are left for another group.
                noise_of.extend(members.into_iter().map(|item| (item, 1.0)));
                break;
            }
            left -= records;
            loss += f64::from(of_box) * records as f64;
            if loss > max_loss {
                return None;
            }
            groups.push(members);
            boxes.push((low, high, records));
        }
        pool.clear();
        pool.extend(noise_of.into_iter().map(|(item, _)| item));
        if groups.is_empty() {
            return None;
        }
        for item in pool {
            let at = space.at(item);
            let growth = |(low, high, records): &CountedBox| {
                let after = space.losses.with(low, high, at) * (*records + space.records(item)) as f32;
                after - space.losses.of(low, high) * *records as f32
            };
            let growths = boxes.iter().map(growth).enumerate();
            let (index, _) = growths.min_by(|a, b| a.1.total_cmp(&b.1))?;
            self.state.work += (2 * width * boxes.len()) as u64;
            let (low, high, records) = &mut boxes[index];
            widen(low, high, at);
            *records += space.records(item);
            groups[index].push(item);
        }
        Some(groups)
    }

    /// Exchanges or moves every record of some groups once, if the loss falls by it.
    fn improve_within(&mut self, groups: &[u32]) {
        let items: Vec<u32> = groups.iter().flat_map(|&group| self.state.members(group).to_vec()).collect();
        for item in items {
            let from = self.state.group_of(item);
            if self.state.loss(from) <= 0.0 {
                continue;
            }
            let mut to = groups[self.rng.below(groups.len())];
            if to == from {
                to = groups[(groups.iter().position(|&group| group == from).unwrap_or(0) + 1) % groups.len()];
            }
            if to == from {
                return;
            }
            let moved = self.state.move_change(item, to, &mut self.buffers).unwrap_or(f32::INFINITY);
            let exchanged = self.state.best_exchange(item, to, &mut self.buffers, (1, 0.0));
            let best = exchanged.map_or(f32::INFINITY, |(change, _)| change);
            if moved.min(best) >= 0.0 {
                continue;
            }
            let partner = exchanged.filter(|_| best < moved).map(|(_, other)| other);
            self.state.transfer(item, to);
            partner.into_iter().for_each(|other| self.state.transfer(other, from));
            if !(self.state.records_decide() || self.state.is_valid(from) && self.state.is_valid(to)) {
                partner.into_iter().for_each(|other| self.state.transfer(other, to));
                self.state.transfer(item, from);
            }
        }
    }
}
