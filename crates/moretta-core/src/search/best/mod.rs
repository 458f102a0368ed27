//! Best of several methods, improved: the default. Local recoding with the least loss that a budget of work allows.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records; the
//! result never loses more than any method that was tried, if all models are closed under union (with others, groups may
//! have to be merged in the end, `result.rs`). For whom: a data holder who wants the lowest loss and does
//! not care which method finds it.
//!
//! # How
//!
//! ```text
//! 1. starts      the methods that suit the table run (starts.rs); the result of least loss is kept
//! 2. improve     its groups change in many small random steps (improve.rs, anneal.rs), while a temperature falls:
//!                    exchange   A 20 23 | 40   B 38 39 | 21     ->  A 20 21 23   B 38 39 40
//!                    shrink     one end of one column of a group is cut off; others take its place
//!                    rebuild    a few neighboring groups are dissolved and grown again
//!                    cover      scattered groups are dissolved, and their records covered by new boxes
//! ```
//!
//! Every column is an interval of coordinates (`space.rs`), so that the loss after a step follows from the two least and
//! the two greatest coordinates per group and column (`state.rs`), whatever the kind of column.
//!
//! The budget is counted in boxes computed, not in seconds: the same seed gives the same groups on any machine and for
//! any number of threads. A stop (time limit, Ctrl-C) returns the best groups so far.
//!
//! Reference: simulated annealing of Kirkpatrick, Gelatt, Vecchi (1983) on the clusters of this program's own methods;
//! docs/decisions.md has what was tried. Cost: the starting methods, and the budget (`effort`).

mod anneal;
mod cover;
mod grow;
mod improve;
mod index;
mod neighbors;
mod pool;
mod rebuild;
mod result;
mod scattered;
mod shrink;
mod space;
mod starts;
mod state;
#[cfg(test)]
mod tests;

use std::cell::RefCell;

use serde::{Deserialize, Serialize};

use self::{
    improve::{BLOCK_RECORDS, Improver, Plan, Progress},
    result::Solution,
    space::BoxLoss,
    starts::StartMethod,
};
use super::{
    AcceptedObjectives, CancelOnly, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, SearchMemory, Stop,
    Task, Tried, check_possible,
    cluster::Clustering,
    local::{GroupRequirements, LossTable, MAX_RUNS, suppression_bytes, with_suppression},
    precision,
    rng::hash_seed,
    size::TaskSize,
};
use crate::objective::LossMetric;

/// Name in the policy.
pub const NAME: &str = "best";

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: NAME,
    summary: "local recoding: tries the methods that suit the table and improves the best result; lowest loss, supports every privacy model",
    parameters: &[Parameter::new(
        "effort",
        "\"default\"",
        "budget of the improvement: \"low\", \"default\" (some seconds on a table of 30,000 records) or \"high\" (about ten times as long)",
    )],
    objectives: AcceptedObjectives::Precision(LossMetric::Lm),
    build: |choice, objectives| {
        Ok(Box::new(Best(BestParams { loss: precision(objectives), ..choice.read_parameters()? })))
    },
};

/// Budget of the improvement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// A fifth of the default.
    Low,
    /// About as long as the methods that are tried.
    #[default]
    Default,
    /// Ten times the default.
    High,
}

impl Effort {
    /// All efforts.
    pub const ALL: [Self; 3] = [Self::Low, Self::Default, Self::High];

    /// Name in the policy.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Default => "default",
            Self::High => "high",
        }
    }

    /// Multiple of the default budget.
    fn factor(self) -> f64 {
        match self {
            Self::Low => 0.2,
            Self::Default => 1.0,
            Self::High => 10.0,
        }
    }
}

/// Parameters of the method.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct BestParams {
    /// Budget of the improvement.
    pub effort: Effort,
    /// Loss metric to minimize.
    #[serde(skip)]
    pub loss: LossMetric,
}

/// Boxes times columns to compute, for each unit of the square root of records times columns: larger tables get less
/// per record.
const WORK: f64 = 2_500_000.0;
/// Columns that the other costs of a step are worth.
const STEP_COLUMNS: f64 = 8.0;
/// Larger k have no larger budget.
const MAX_K: f64 = 100.0;
/// Limit of the same per record and column, for small tables.
const MAX_WORK_PER_CELL: f64 = 16_000.0;
/// Limit of the same, for tables that are too large for k-member: some seconds on two cores.
const MAX_WORK: f64 = 4e9;
/// First temperature as a share of the mean loss of a record, at a work of 1,000 per record and column; its limits; and
/// the last temperature. Measured on Adult and free1.
const START: f64 = 0.15;
const MIN_START: f64 = 0.1;
const MAX_START: f64 = 0.9;
const END: f64 = 0.02;

/// The best of several methods, improved.
#[derive(Debug, Clone, Copy)]
pub struct Best(pub BestParams);

impl Best {
    fn plan(&self, task: &Task<'_>) -> Plan {
        let (records, columns) = (task.profile.records() as f64, task.profile.columns().len() as f64);
        let k = GroupRequirements::of(task).min_records as f64;
        // A step has costs that do not depend on the columns, as much as some columns.
        let width = columns + STEP_COLUMNS;
        // In large groups a box takes less time, and a step more boxes; more so without hierarchies, where no step covers
        // many records at once.
        let has_tree = task.profile.columns().iter().any(|column| column.domain.tree().is_some());
        let k_of_work = if has_tree { 50.0 } else { 25.0 };
        let boxes = WORK * (records * width).sqrt() / width * (1.0 + k.min(MAX_K) / k_of_work);
        let limit = if starts::is_clustered(task.profile) { f64::INFINITY } else { MAX_WORK };
        let work = (boxes * columns).min(MAX_WORK_PER_CELL * records * columns).min(limit) * self.0.effort.factor();
        // More work per record allows to cool from a higher temperature.
        let start = START * (work / (1000.0 * records * columns).max(1.0)).sqrt();
        Plan { work: work as u64, start: start.clamp(MIN_START, MAX_START), end: END }
    }
}

impl Method for Best {
    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task);
        let starts = starts::all(self.0.loss).into_iter().map(|method| method.memory(task).peak).max().unwrap_or(0);
        let requirements = GroupRequirements::of(task);
        let kept = size.clusters(size.groups, size.members());
        let improvement = improve::bytes(task.profile, size.groups, requirements.min_records, size.threads);
        let peak = kept + starts.max(kept + improvement).max(kept + size.outcome()) + LossTable::bytes(task.profile);
        SearchMemory { peak: peak + suppression_bytes(task, &size), groups: Some(size.groups) }
    }

    /// Every group that a step changes is judged, and groups with equal boxes are judged together in the end.
    fn relies_on_closure(&self) -> bool {
        false
    }

    fn anytime(&self) -> bool {
        true
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        let (suppresses, plan) = (task.max_suppressed > 0, self.plan(task));
        let runs = if suppresses { 1 + MAX_RUNS as u64 } else { 1 };
        let first = First { progress: Progress::new(observer, runs * plan.steps()), result: RefCell::default() };
        let search = |task: &Task<'_>, observer: &dyn Observer| self.search(task, observer, &first);
        let outcome = with_suppression(task, self.0.loss, observer, search)?;
        let (mut tried, unsuppressed) = first.result.into_inner().unwrap_or_default();
        if !suppresses {
            return Ok(Outcome { tried, ..outcome });
        }
        let loss_table = LossTable::new(task.profile, self.0.loss);
        let (stop, work) = (Some(outcome.stop).filter(|stop| *stop != Stop::Finished), outcome.work.clone());
        let mut best = Solution::of_outcome(task, &loss_table, outcome);
        best.merge_violating(task, &loss_table);
        // Merged groups may lose more than without suppression.
        best = unsuppressed.filter(|first| first.loss < best.loss).unwrap_or(best);
        if let Some(own) = tried.last_mut().filter(|tried| tried.method == NAME) {
            own.loss = best.share_of_max_loss(task, &loss_table);
        }
        Ok(Outcome { tried, ..best.into_outcome(task, stop, work) })
    }
}

/// The first search, on all records.
struct First<'a> {
    progress: Progress<'a>,
    /// Losses of the methods that were tried, and the result if a model is not closed under union.
    result: RefCell<Option<(Vec<Tried>, Option<Solution>)>>,
}

impl Best {
    /// Searches without suppression. After the first search, only the method that lost least in it is tried again.
    fn search(&self, task: &Task<'_>, observer: &dyn Observer, first: &First<'_>) -> Result<Clustering, SearchError> {
        check_possible(task)?;
        let task = &Task { max_suppressed: 0, ..*task };
        let (loss_table, progress, plan) =
            (&LossTable::new(task.profile, self.0.loss), &first.progress, self.plan(task));
        let mut methods = starts::methods(task, self.0.loss);
        let is_first = first.result.borrow().is_none();
        if let Some((tried, _)) = &*first.result.borrow() {
            progress.goes_on_with_part();
            let least = tried.iter().filter(|tried| tried.method != NAME).min_by(|a, b| a.loss.total_cmp(&b.loss));
            let again = methods.iter().any(|start| least.is_some_and(|least| least.method == start.name));
            methods.retain(|start| !again || least.is_some_and(|least| least.method == start.name));
        }
        let (mut best, mut tried) = try_starts(task, methods, loss_table, observer, progress, &plan)?;
        let mut stop = best.stop.take().or(progress.stop());
        let improves = stop.is_none() && !best.clusters.is_empty();
        if improves {
            observer.task("improving");
            let box_loss = &BoxLoss::new(task.profile, loss_table);
            let requirements = GroupRequirements::of(task);
            let improver =
                Improver { task, loss_table, box_loss, requirements, progress, block_records: BLOCK_RECORDS };
            best.clusters = improver.improve(best.clusters, &plan, hash_seed(task.seed, 1));
            stop = progress.stop();
        }
        best.merge_violating(task, loss_table);
        if improves {
            tried.push(Tried { method: NAME, loss: best.share_of_max_loss(task, loss_table) });
        }
        let work = vec![("groups", best.clusters.len() as u64), ("budget", plan.work)];
        let may_be_merged = task.models.iter().any(|model| !model.is_closed_under_union());
        let clusters = if may_be_merged { best.clusters.clone() } else { std::mem::take(&mut best.clusters) };
        if is_first {
            *first.result.borrow_mut() = Some((tried, may_be_merged.then_some(best)));
        }
        Ok(Clustering::new(clusters, stop, work))
    }
}

/// Runs the starting methods one after another; returns the result of least loss, and what each lost.
fn try_starts(
    task: &Task<'_>,
    methods: Vec<StartMethod>,
    loss_table: &LossTable<'_>,
    observer: &dyn Observer,
    progress: &Progress<'_>,
    plan: &Plan,
) -> Result<(Solution, Vec<Tried>), SearchError> {
    let count = methods.len() as u64;
    let (mut best, mut tried): (Option<Solution>, Vec<Tried>) = (None, Vec::new());
    for start in methods {
        observer.task(&format!("trying {}", start.name));
        let outcome = start.method.run(task, &CancelOnly(observer))?;
        let stopped = outcome.stop != Stop::Finished;
        let found = Solution::of_outcome(task, loss_table, outcome);
        tried.push(Tried { method: start.name, loss: found.share_of_max_loss(task, loss_table) });
        if best.as_ref().is_none_or(|best| found.loss < best.loss) {
            progress.best(found.loss / task.profile.records().max(1) as f64);
            best = Some(found);
        }
        if !progress.add(plan.starts() / count) || stopped {
            break;
        }
    }
    let best = best.unwrap_or_else(Solution::empty);
    Ok((best, tried))
}
