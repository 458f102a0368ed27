//! The methods whose results are improved, and which of them suit a table.
//!
//! Every candidate runs unless it would take long: the sweep by the product of its level vectors, tuples and columns,
//! k-member and bottom-up while the table is small enough for searches that grow faster than the table.

use crate::{
    objective::LossMetric,
    profile::Profile,
    search::{
        Method, Task,
        k_member::{KMember, KMemberParams},
        local::GroupRequirements,
        local_bottom_up::{LocalBottomUp, LocalBottomUpParams},
        local_top_down::{LocalTopDown, LocalTopDownParams},
        mondrian::{Mondrian, MondrianParams},
        sweep::{Sweep, SweepParams},
    },
};

/// A method and its name.
pub(super) struct StartMethod {
    pub name: &'static str,
    pub method: Box<dyn Method>,
}

/// Maximum product of level vectors, tuples and columns of a sweep, where larger tables count as a block: about a second
/// per block.
const MAX_SWEPT: u128 = 8_000_000_000;
/// The same for a sweep that grows its level vectors, because there are too many to try all, on a table of few columns:
/// Adult with three free numbers (nine columns), k = 10: 0.0815 if it starts from the sweep, 0.0780 if not.
const MAX_GROWN: u128 = 1_500_000_000;
/// Minimum columns of a wide table, where the sweep often loses least: 100 columns, k = 50: 0.696, and 0.701 if `best`
/// starts from other methods. Not tuned between 9 and 28 columns.
const WIDE: u64 = 20;
/// Minimum group size for the sweep of a wide table. Groups of two take it 30 s of processor time on 3,000 records of 30
/// columns, groups of five 0.5 s.
const MIN_SWEPT_K: u64 = 3;
const BLOCK_TUPLES: u64 = 100_000;
/// Maximum tuples for top-down: more take it longer than all others together.
const MAX_SPLIT: u64 = 200_000;
/// Maximum product of tuples and columns for k-member. Of larger tables the improvement grows groups of its own
/// (`grow.rs`), in a fraction of the time.
const MAX_CLUSTERED: u64 = 2_500_000;
/// Maximum product of tuples, tuples and columns for bottom-up.
const MAX_COMPARED: u64 = 400_000_000;

/// Returns the methods to run, the fastest first.
pub(super) fn methods(task: &Task<'_>, loss: LossMetric) -> Vec<StartMethod> {
    let profile = task.profile;
    let (tuples, columns) = (profile.tuples() as u64, profile.columns().len() as u64);
    let vectors = Sweep::all_vectors(profile);
    let mut methods = vec![start("mondrian", Mondrian(MondrianParams::default()))];
    if task.models.iter().any(|model| !model.is_closed_under_union()) {
        return methods;
    }
    let polish = tuples * columns <= 100_000;
    if tuples <= MAX_SPLIT {
        let params = LocalTopDownParams { loss, polish, ..Default::default() };
        methods.push(start("local-top-down", LocalTopDown(params)));
    }
    if is_clustered(profile) {
        methods.push(start("k-member", KMember(KMemberParams { loss, ..Default::default() })));
    }
    if tuples * tuples * columns <= MAX_COMPARED {
        methods.push(start("local-bottom-up", LocalBottomUp(LocalBottomUpParams { loss, polish })));
    }
    let max_vectors = u128::from(SweepParams::default().vectors);
    let grown = vectors > max_vectors;
    let swept = vectors.min(max_vectors) * u128::from(tuples.min(BLOCK_TUPLES) * columns);
    let is_wide = columns >= WIDE && GroupRequirements::of(task).min_records >= MIN_SWEPT_K;
    if swept <= if grown && !is_wide { MAX_GROWN } else { MAX_SWEPT } {
        // Grown level vectors leave more to polish.
        let params = SweepParams { loss, polish: Some(swept > MAX_GROWN && grown), ..Default::default() };
        methods.push(start("sweep", Sweep(params)));
    }
    methods
}

/// Whether k-member runs on a table of this size.
pub(super) fn is_clustered(profile: &Profile) -> bool {
    profile.tuples() as u64 * profile.columns().len() as u64 <= MAX_CLUSTERED
}

/// All methods that may run, for an estimate of their memory.
pub(super) fn all(loss: LossMetric) -> Vec<Box<dyn Method>> {
    vec![
        Box::new(Mondrian(MondrianParams::default())),
        Box::new(LocalTopDown(LocalTopDownParams { loss, ..Default::default() })),
        Box::new(KMember(KMemberParams { loss, ..Default::default() })),
        Box::new(LocalBottomUp(LocalBottomUpParams { loss, polish: true })),
        Box::new(Sweep(SweepParams { loss, polish: Some(true), ..Default::default() })),
    ]
}

fn start(name: &'static str, method: impl Method + 'static) -> StartMethod {
    StartMethod { name, method: Box::new(method) }
}
