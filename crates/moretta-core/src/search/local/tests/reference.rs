//! Both methods as the paper describes them, with full scans over single records; the real ones must give the same
//! groups.

use proptest::prelude::*;

use super::{PLAIN_BOTTOM_UP, PLAIN_TOP_DOWN, random, run, tuples};
use crate::{ids::TupleId, search::rng::hash_seed, testing::TestTable};

/// A record is represented by its tuple.
type Records = Vec<TupleId>;
type Box = Vec<(u32, u32)>;

struct Reference<'a> {
    table: &'a TestTable,
    k: usize,
}

/// The minimum, the first of equals.
fn least(costs: impl Iterator<Item = (f64, usize)>) -> Option<(f64, usize)> {
    costs.min_by(|a, b| a.0.total_cmp(&b.0))
}

impl Reference<'_> {
    fn around(&self, records: &[TupleId]) -> Box {
        let codes = |column: usize| records.iter().map(move |&tuple| self.table.profile.codes(tuple)[column]);
        let columns = 0..self.table.profile.columns().len();
        columns.map(|column| (codes(column).min().unwrap(), codes(column).max().unwrap())).collect()
    }

    fn column_losses(&self, around: &Box) -> Vec<f64> {
        let columns = self.table.profile.columns().iter().zip(around);
        columns.map(|(column, &(a, b))| column.weight * column.domain.ncp(column.domain.cover(a, b))).collect()
    }

    fn box_loss(&self, records: &[TupleId]) -> f64 {
        self.column_losses(&self.around(records)).iter().sum()
    }

    fn loss(&self, records: &[TupleId]) -> f64 {
        records.len() as f64 * self.box_loss(records)
    }

    fn growth(&self, joining: &[TupleId], other: &[TupleId]) -> f64 {
        let own = self.column_losses(&self.around(other));
        let around = self.column_losses(&self.around(&[joining, other].concat()));
        let (joining, other) = (joining.len() as f64, other.len() as f64);
        around.iter().zip(own).map(|(around, own)| joining * around + other * (around - own)).sum()
    }

    /// Moves records from `given` to a group, each time those of the tuple of least cost.
    fn grow(&self, group: &mut Records, given: &mut Records, mut wanted: usize) {
        given.sort_unstable();
        while wanted > 0 {
            let with = |tuple: TupleId| self.box_loss(&[group.as_slice(), &[tuple]].concat());
            let Some((_, at)) = least(given.iter().enumerate().map(|(at, &tuple)| (with(tuple), at))) else { break };
            let tuple = given[at];
            while wanted > 0 && given.get(at) == Some(&tuple) {
                group.push(given.remove(at));
                wanted -= 1;
            }
        }
    }

    /// Runs one round; sets for each remaining group whether it changed.
    fn round(&self, groups: &mut Vec<(Records, bool)>, may_take: bool) {
        groups.iter_mut().for_each(|(_, changed)| *changed = false);
        for at in 0..groups.len() {
            let (group, changed) = groups[at].clone();
            if group.is_empty() || group.len() >= self.k || changed {
                continue;
            }
            let others = |groups: &[(Records, bool)], more_than: usize| -> Vec<usize> {
                (0..groups.len()).filter(|&other| other != at && groups[other].0.len() > more_than).collect()
            };
            let growths = others(groups, 0).into_iter().map(|other| (self.growth(&group, &groups[other].0), other));
            let Some((growth, nearest)) = least(growths) else { break };
            let wanted = self.k - group.len();
            let part = |other: usize| {
                let (mut whole, mut rest) = (group.clone(), groups[other].0.clone());
                self.grow(&mut whole, &mut rest, wanted);
                (whole, rest)
            };
            let givers = if may_take { others(groups, self.k + wanted - 1) } else { Vec::new() };
            let offers = givers.into_iter().map(|giver| (self.loss(&part(giver).0), giver));
            let taken = least(offers).and_then(|(cost, giver)| {
                let (whole, rest) = part(giver);
                let by_taking = cost + self.loss(&rest) - self.loss(&groups[giver].0);
                (by_taking < growth).then_some((giver, whole, rest))
            });
            if let Some((giver, whole, rest)) = taken {
                (groups[at], groups[giver]) = ((whole, true), (rest, true));
            } else {
                groups[nearest].0.extend(group);
                (groups[nearest].1, groups[at].0) = (true, Vec::new());
            }
        }
        groups.retain(|(group, _)| !group.is_empty());
    }

    fn has_violating(&self, groups: &[(Records, bool)]) -> bool {
        groups.len() > 1 && groups.iter().any(|(group, _)| group.len() < self.k)
    }

    fn tuple(&self, tuple: u32) -> Records {
        vec![TupleId(tuple); self.table.profile.tuple_records(TupleId(tuple)) as usize]
    }

    fn bottom_up(&self) -> Vec<Records> {
        let mut groups: Vec<(Records, bool)> =
            (0..self.table.profile.tuples() as u32).map(|tuple| (self.tuple(tuple), false)).collect();
        while self.has_violating(&groups) {
            self.round(&mut groups, false);
            let parts =
                groups.into_iter().flat_map(|(group, changed)| if changed { self.divide(group) } else { vec![group] });
            groups = parts.map(|part| (part, false)).collect();
        }
        groups.into_iter().map(|(group, _)| group).collect()
    }

    fn divide(&self, mut group: Records) -> Vec<Records> {
        group.sort_unstable();
        let mut parts = Vec::new();
        let mut from = group[0];
        while group.len() >= 2 * self.k && group.first() != group.last() && self.box_loss(&group) > 0.0 {
            let apart = |tuple: TupleId| -self.box_loss(&[from, tuple]);
            let (_, at) = least(group.iter().enumerate().map(|(at, &tuple)| (apart(tuple), at))).unwrap();
            from = group[at];
            let of_one = group.iter().filter(|&&tuple| tuple == from).count().min(self.k);
            let mut part: Records = group.splice(at..at + of_one, []).collect();
            self.grow(&mut part, &mut group, self.k - of_one);
            parts.push(part);
        }
        parts.push(group);
        parts
    }

    fn top_down(&self, seed: u64) -> Vec<Records> {
        let mut parts = Vec::new();
        let mut open = vec![((0..self.table.profile.tuples() as u32).collect::<Vec<u32>>(), seed)];
        while let Some((set, seed)) = open.pop() {
            let records: Records = set.iter().flat_map(|&tuple| self.tuple(tuple)).collect();
            let seeds = if records.len() > self.k { self.seeds(&set, seed) } else { None };
            match seeds {
                Some(seeds) => open.extend(self.halves(set, seed, seeds)),
                None => parts.push(records),
            }
        }
        parts.iter_mut().for_each(|part| part.sort_unstable());
        parts.sort_unstable();
        let mut groups: Vec<(Records, bool)> = parts.into_iter().map(|part| (part, false)).collect();
        while self.has_violating(&groups) {
            self.round(&mut groups, true);
        }
        groups.into_iter().map(|(group, _)| group).collect()
    }

    fn seeds(&self, set: &[u32], seed: u64) -> Option<[usize; 2]> {
        let mut one = (hash_seed(seed, 0) % set.len() as u64) as usize;
        let (mut other, mut apart) = (one, 0.0);
        for _ in 0..6 {
            let pair = |at: usize| self.box_loss(&[TupleId(set[one]), TupleId(set[at])]);
            let others = (0..set.len()).filter(|&at| at != one);
            let Some((farthest, next)) = least(others.map(|at| (-pair(at), at))) else { break };
            if -farthest <= apart {
                break;
            }
            (other, one, apart) = (one, next, -farthest);
        }
        (apart > 0.0).then_some([other, one])
    }

    fn halves(&self, mut set: Vec<u32>, seed: u64, seeds: [usize; 2]) -> [(Vec<u32>, u64); 2] {
        let mut sides = seeds.map(|at| vec![set[at]]);
        set.swap_remove(seeds[0].max(seeds[1]));
        set.swap_remove(seeds[0].min(seeds[1]));
        for at in (1..set.len()).rev() {
            set.swap(at, (hash_seed(hash_seed(seed, 3), at as u64) % (at as u64 + 1)) as usize);
        }
        for tuple in set {
            let [to_one, to_other] = sides.each_ref().map(|side| {
                let side: Records = side.iter().flat_map(|&tuple| self.tuple(tuple)).collect();
                self.loss(&[side.as_slice(), &self.tuple(tuple)].concat()) - self.loss(&side)
            });
            sides[usize::from(to_other < to_one)].push(tuple);
        }
        let [one, other] = sides;
        [(one, hash_seed(seed, 1)), (other, hash_seed(seed, 2))]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn both_methods_do_what_their_references_do(
        rows in random::rows(),
        k in 2u64..12,
        weights in prop::array::uniform3(1u32..4),
        number in 0usize..3,
        suppress: bool,
        seed: u64,
    ) {
        let table = random::table(&rows, k, weights, number, suppress);
        if table.profile.records() < k {
            return Ok(());
        }
        let reference = Reference { table: &table, k: k as usize };
        let sorted = |mut groups: Vec<Records>| {
            groups.iter_mut().for_each(|group| group.sort_unstable());
            groups
        };
        prop_assert_eq!(tuples(&table, &run(&PLAIN_BOTTOM_UP, &table, seed)), sorted(reference.bottom_up()));
        prop_assert_eq!(tuples(&table, &run(&PLAIN_TOP_DOWN, &table, seed)), sorted(reference.top_down(seed)));
    }
}
