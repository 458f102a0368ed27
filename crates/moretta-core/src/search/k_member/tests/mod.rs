mod divided;
mod published;
mod random;
mod stopped;
mod twin;

use super::{KMember, Settings};
use crate::{
    ids::TupleId,
    recoding::Recoding,
    search::{Method, Outcome, Quiet, Task},
    testing::TestTable,
};

fn run(table: &TestTable, block: Option<u64>, seed: u64) -> Outcome {
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed };
    KMember(Settings { block }).run(&task, &Quiet).expect("a table that can be clustered")
}

/// The tuples of each cluster's records, in order.
fn clusters(table: &TestTable, outcome: &Outcome) -> Vec<Vec<TupleId>> {
    let Recoding::Groups(groups) = &outcome.recoding else { panic!("k-member makes groups") };
    let mut clusters = vec![Vec::new(); groups.boxes.len() / table.profile.columns().len()];
    for share in &groups.shares {
        let tuple = table.profile.tuple_of(share.variant);
        clusters[share.group.index()].extend((0..share.records).map(|_| tuple));
    }
    clusters.iter_mut().for_each(|cluster: &mut Vec<TupleId>| cluster.sort_unstable());
    clusters
}
