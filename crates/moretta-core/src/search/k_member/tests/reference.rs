//! The algorithm as published, on single records: every step compares all of them.

use crate::{ids::TupleId, profile::Profile, search::rng::hash_seed};

struct Reference<'a> {
    profile: &'a Profile,
    /// Number of distances that were computed.
    distances: u64,
}

/// Returns the tuples of each cluster's records, sorted, and the number of distances that were computed.
pub(super) fn clusters(profile: &Profile, k: usize, seed: u64) -> (Vec<Vec<TupleId>>, u64) {
    let mut reference = Reference { profile, distances: 0 };
    let mut left: Vec<TupleId> = (0..profile.tuples() as u32)
        .map(TupleId)
        .flat_map(|tuple| (0..profile.tuple_records(tuple)).map(move |_| tuple))
        .collect();
    let mut clusters: Vec<Vec<TupleId>> = Vec::new();
    let mut seed_record: Option<TupleId> = None;
    while left.len() >= k {
        let at = match seed_record {
            None => (hash_seed(hash_seed(seed, 0), left.len() as u64) % left.len() as u64) as usize,
            Some(previous) => {
                reference.first_least(&left, |reference, record| -reference.box_loss(&[previous, record]))
            }
        };
        let first = left.remove(at);
        seed_record = Some(first);
        let mut cluster = vec![first];
        while cluster.len() < k {
            // All candidates give a cluster of the same size, so the least loss is that of the best box.
            let at = reference
                .first_least(&left, |reference, record| reference.box_loss(&[&cluster[..], &[record]].concat()));
            cluster.push(left.remove(at));
        }
        clusters.push(cluster);
    }
    for record in left {
        let more =
            |cluster: &Vec<TupleId>| reference.loss(&[&cluster[..], &[record]].concat()) - reference.loss(cluster);
        let least = clusters.iter().map(more).fold(f64::MAX, f64::min);
        let at = clusters.iter().position(|cluster| more(cluster) <= least).expect("a cluster");
        clusters[at].push(record);
    }
    clusters.iter_mut().for_each(|cluster| cluster.sort_unstable());
    (clusters, reference.distances)
}

impl Reference<'_> {
    fn box_loss(&self, records: &[TupleId]) -> f64 {
        let columns = self.profile.columns().iter().enumerate();
        let of_column = columns.map(|(at, column)| {
            let codes = || records.iter().map(|&record| self.profile.codes(record)[at]);
            let cell = column.domain.cover(codes().min().unwrap_or(0), codes().max().unwrap_or(0));
            column.weight * column.domain.ncp(cell)
        });
        of_column.sum()
    }

    fn loss(&self, records: &[TupleId]) -> f64 {
        records.len() as f64 * self.box_loss(records)
    }

    fn first_least(&mut self, left: &[TupleId], value: impl Fn(&Self, TupleId) -> f64) -> usize {
        self.distances += left.len() as u64;
        let values: Vec<f64> = left.iter().map(|&record| value(self, record)).collect();
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        values.iter().position(|value| *value <= least).expect("a record")
    }
}
