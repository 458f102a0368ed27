//! The records of each tuple that are in no group yet. A tuple is a *point*, numbered from 0.
//!
//! Records of a tuple are equal in every quasi-identifier, so the loss is the same whichever of them a group takes.
//! They are drawn at random, independently of their sensitive values: otherwise the choice itself could disclose such
//! values.

use crate::{
    ids::TupleId,
    profile::{Profile, VariantCount},
    search::rng::hash_seed,
};

pub(in crate::search) struct RemainingRecords<'a> {
    profile: &'a Profile,
    seed: u64,
    /// By point.
    tuples: Vec<TupleId>,
    /// By point: records that remain.
    left: Vec<u64>,
    /// The variants of point `p` are `variants[starts[p]..starts[p + 1]]`, with the records that remain.
    starts: Vec<u32>,
    variants: Vec<VariantCount>,
    records: u64,
}

impl<'a> RemainingRecords<'a> {
    /// `members` must be in the order of their variants, so that those of a tuple are adjacent.
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

    /// Number of records that remain.
    pub(in crate::search) fn records(&self) -> u64 {
        self.records
    }

    /// Number of records of a point that remain.
    pub(in crate::search) fn left(&self, point: u32) -> u64 {
        self.left[point as usize]
    }

    /// Number of points, with those that have no records left.
    pub(in crate::search) fn points(&self) -> u32 {
        self.tuples.len() as u32
    }

    pub(in crate::search) fn codes_of(&self, point: u32) -> &[u32] {
        self.profile.codes(self.tuples[point as usize])
    }

    /// Codes of all points, row-major.
    pub(in crate::search) fn codes(&self) -> Vec<u32> {
        self.tuples.iter().flat_map(|&tuple| self.profile.codes(tuple)).copied().collect()
    }

    /// Point of the remaining record with this number, counted from 0 in the order of the points.
    pub(in crate::search) fn point_of_record(&self, record: u64) -> Option<u32> {
        let mut before = 0;
        (0u32..).zip(&self.left).find_map(|(point, left)| {
            before += left;
            (record < before).then_some(point)
        })
    }

    /// Moves some of a point's records, drawn at random, to `into`.
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

    /// All records that remain.
    pub(in crate::search) fn rest(&self) -> Vec<VariantCount> {
        self.variants.iter().copied().filter(|member| member.records > 0).collect()
    }
}
