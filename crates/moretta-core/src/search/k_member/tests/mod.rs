mod divided;
mod published;
mod random;
mod reference;
mod stopped;

use super::{KMember, KMemberParams};
use crate::{
    ids::TupleId,
    search::{Method, NoObserver, Outcome, Task},
    testing::{TestTable, tuples_of_groups},
};

fn run(table: &TestTable, block: Option<u64>, seed: u64) -> Outcome {
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed };
    KMember(KMemberParams { block, ..KMemberParams::default() })
        .run(&task, &NoObserver)
        .expect("a table that can be clustered")
}

/// The tuples of each cluster's records, in order.
fn clusters(table: &TestTable, outcome: &Outcome) -> Vec<Vec<TupleId>> {
    tuples_of_groups(table, &outcome.recoding)
}
