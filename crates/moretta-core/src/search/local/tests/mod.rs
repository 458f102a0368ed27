//! The box tree compared with a full scan, local top-down and bottom-up compared with plain references, and their
//! guarantees.

mod box_tree;
mod polish;
mod published;
mod random;
mod reference;
mod stopped;
mod suppression;

use crate::{
    ids::TupleId,
    objective::LossMetric,
    search::{
        Method, NoObserver, Outcome, Task,
        local_bottom_up::{self, LocalBottomUp},
        local_top_down::{self, LocalTopDown},
    },
    testing::{TestTable, tuples_of_groups},
};

const TOP_DOWN: LocalTopDown =
    LocalTopDown(local_top_down::LocalTopDownParams { block: None, polish: true, loss: LossMetric::Ncp });
const BOTTOM_UP: LocalBottomUp =
    LocalBottomUp(local_bottom_up::LocalBottomUpParams { polish: true, loss: LossMetric::Ncp });
/// As published, without polishing.
const PLAIN_TOP_DOWN: LocalTopDown =
    LocalTopDown(local_top_down::LocalTopDownParams { block: None, polish: false, loss: LossMetric::Ncp });
const PLAIN_BOTTOM_UP: LocalBottomUp =
    LocalBottomUp(local_bottom_up::LocalBottomUpParams { polish: false, loss: LossMetric::Ncp });
const BOTH: [&dyn Method; 2] = [&TOP_DOWN, &BOTTOM_UP];

fn run(method: &dyn Method, table: &TestTable, seed: u64) -> Outcome {
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed };
    method.run(&task, &NoObserver).expect("a table that can be released")
}

/// The tuples of each group's records, in order.
fn tuples(table: &TestTable, outcome: &Outcome) -> Vec<Vec<TupleId>> {
    tuples_of_groups(table, &outcome.recoding)
}
