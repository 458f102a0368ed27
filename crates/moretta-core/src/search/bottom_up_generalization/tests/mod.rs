//! The example of the paper, and comparisons with a naive reference on random tables and on Adult.

mod adult;
mod models;
mod paper_example;
pub(super) mod random;
mod reference;

use super::{BottomUpGeneralization, BottomUpParams};
use crate::{
    hierarchy::Cell,
    ids::ColumnId,
    profile::Profile,
    recoding::Step,
    search::{Method, NoObserver, Outcome, SearchError, Task},
    testing::TestTable,
};

/// The method as published, without the later search that reverts generalizations.
fn as_published() -> BottomUpGeneralization {
    BottomUpGeneralization(BottomUpParams { take_back: false, ..BottomUpParams::default() })
}

fn run(method: BottomUpGeneralization, table: &TestTable, max_suppressed: u64) -> Result<Outcome, SearchError> {
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed, seed: 1 };
    let outcome = method.run(&task, &NoObserver);
    if let Ok(outcome) = &outcome {
        // Checked in every run of every test: with pruning, a step tries at most one generalization per column.
        let max_trials = outcome.work.iter().find(|(name, _)| *name == "most_trials").expect("a counter").1;
        assert!(!method.0.prune || max_trials <= table.profile.columns().len() as u64, "{:?}", outcome.work);
    }
    outcome
}

/// Steps as text: column and new label.
fn shown(profile: &Profile, steps: &[Step]) -> Vec<String> {
    let change = |(column, cell): &(ColumnId, Cell)| {
        format!("{} -> {}", profile.columns()[column.index()].name, profile.domain(*column).label(*cell))
    };
    steps.iter().map(|step| step.changes.iter().map(change).collect::<Vec<_>>().join(", ")).collect()
}
