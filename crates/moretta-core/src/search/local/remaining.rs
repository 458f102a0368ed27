//! The records that are left of each tuple.
//!
//! Records of a tuple are alike in every quasi-identifier, so the search does not care which of them it takes: chance
//! decides and not what is sensitive about them, otherwise a group would tell something of its members' secrets.

use crate::{
    ids::TupleId,
    profile::{Profile, VariantCount},
    search::rng::hash_seed,
};

pub(in crate::search) struct RemainingRecords<'a> {
    profile: &'a Profile,
    seed: u64,
    /// The tuples of the points, in order.
    tuples: Vec<TupleId>,
    /// How many records of each point's tuple are left.
    left: Vec<u64>,
    /// The variants of point `p` are `variants[starts[p]..starts[p + 1]]`, with the records that are left.
    starts: Vec<u32>,
    variants: Vec<VariantCount>,
    records: u64,
}

impl<'a> RemainingRecords<'a> {
    /// Of members in order of their variants, so that those of a tuple are together.
    pub(in crate::search) fn new(profile: &'a Profile, members: &[VariantCount], seed: u64) -> Self {
        let mut remaining = Self {
            profile,
            seed,
            tuples: Vec::new(),
            left: Vec::new(),
            starts: Vec::new(),
            variants: members.to_vec(),
            records: 0,
        };
        for (at, member) in members.iter().enumerate() {
            let tuple = profile.tuple_of(member.variant);
            if remaining.tuples.last() != Some(&tuple) {
                remaining.tuples.push(tuple);
                remaining.left.push(0);
                remaining.starts.push(at as u32);
            }
            *remaining.left.last_mut().expect("pushed above") += member.records;
            remaining.records += member.records;
        }
        remaining.starts.push(members.len() as u32);
        remaining
    }

    /// How many records are left.
    pub(in crate::search) fn records(&self) -> u64 {
        self.records
    }

    /// How many records a point has left.
    pub(in crate::search) fn left(&self, point: u32) -> u64 {
        self.left[point as usize]
    }

    /// How many points there are.
    pub(in crate::search) fn points(&self) -> u32 {
        self.tuples.len() as u32
    }

    /// The codes of a point.
    pub(in crate::search) fn codes_of(&self, point: u32) -> &[u32] {
        self.profile.codes(self.tuples[point as usize])
    }

    /// The codes of all points, one after the other.
    pub(in crate::search) fn codes(&self) -> Vec<u32> {
        self.tuples.iter().flat_map(|&tuple| self.profile.codes(tuple)).copied().collect()
    }

    /// The point of the record of this number, counted from 0 in the order of the points.
    pub(in crate::search) fn at(&self, record: u64) -> Option<u32> {
        let mut before = 0;
        (0u32..).zip(&self.left).find_map(|(point, left)| {
            before += left;
            (record < before).then_some(point)
        })
    }

    /// Takes some of a point's records.
    pub(in crate::search) fn take(&mut self, point: u32, records: u64, into: &mut Vec<VariantCount>) {
        let range = self.starts[point as usize] as usize..self.starts[point as usize + 1] as usize;
        let variants = &mut self.variants[range];
        self.records -= records;
        if let [only] = variants {
            only.records -= records;
            self.left[point as usize] -= records;
            into.push(VariantCount { variant: only.variant, records });
            return;
        }
        for _ in 0..records {
            let left = &mut self.left[point as usize];
            let tuple = u64::from(self.tuples[point as usize].0);
            let mut drawn = hash_seed(hash_seed(self.seed, tuple), *left) % *left;
            *left -= 1;
            for variant in variants.iter_mut() {
                if drawn < variant.records {
                    variant.records -= 1;
                    into.push(VariantCount { variant: variant.variant, records: 1 });
                    break;
                }
                drawn -= variant.records;
            }
        }
    }

    /// Everything that is left.
    pub(in crate::search) fn rest(&self) -> Vec<VariantCount> {
        self.variants.iter().copied().filter(|member| member.records > 0).collect()
    }
}
