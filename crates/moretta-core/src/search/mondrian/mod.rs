//! Mondrian (LeFevre, DeWitt, Ramakrishnan 2006): multidimensional local recoding by recursive splits.
//!
//! **What.** Every group satisfies every privacy model and is released as the smallest box that covers its records.
//! **Why.** It is the fastest method here and works with any privacy model; the loss is moderate, because each split
//! looks at one column only.
//!
//! **How.** The set of all records is split in two at the median of one column, then each half again, as long as both
//! halves satisfy every model. Example with k = 2 and two numeric columns:
//!
//! ```text
//!  zip                        zip                        zip
//!   |  x      x  x             |  x  |   x  x             |  x  |   x  x
//!   |                          |     |                    |     |--------
//!   | x     x                  | x   | x                  | x   | x
//!   |   x       x              |   x |     x              |   x |     x
//!   +------------- age         +-----+-------- age        +-----+-------- age
//!     7 records                  split by age: 3 and 4      right half split by zip: 3, 2 and 2
//! ```
//!
//! - *Column* (`choose`). `"widest"`, as published: the column with the largest weighted NCP of the set's bounding box;
//!   if no split of it satisfies the models, the next widest. `"gain"`, the default: the column whose halves have the
//!   smallest remaining loss (`remaining_loss`). The default splits off the minority of a skewed column (a country that
//!   90 % of the records share) while the minority still has enough records. On Adult with eight columns, `"widest"`
//!   loses slightly less at k = 5 and half as much again at k = 100 (docs/results).
//! - *Boundary*. Free numbers are split between two values. A column with a hierarchy is split between two children of
//!   the lowest node that covers the set, so that the halves soon fit a lower node.
//! - *Strict or relaxed* (`relaxed`). Strict: equal values stay together. Relaxed: records with the median value are
//!   divided, so that free numbers are split exactly in half.
//!
//! **Cost.** O(v p log v) for v variants and p columns if the splits are balanced; O(v^2 p) in the worst case, a
//! hierarchy that is a chain. `"gain"` multiplies this by the number of columns that can be split. The two halves are
//! independent and are processed in parallel.

mod split;
#[cfg(test)]
mod tests;

use std::sync::{
    Mutex, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use rayon::{Scope, prelude::*};
use serde::{Deserialize, Serialize};

use super::{
    AcceptedObjectives, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, SearchMemory, Stop, Task,
    check_possible,
    cluster::{Cluster, Clustering, ranges_of},
    local::{suppression_bytes, with_suppression},
    rng::hash_seed,
    size::TaskSize,
};
use crate::{
    objective::LossMetric,
    profile::{Column, VariantCount},
};

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "mondrian",
    summary: "local recoding: recursively splits the records at the median while both halves satisfy the policy; fast, supports every privacy model",
    parameters: &[
        Parameter::new(
            "choose",
            "\"gain\"",
            "column to split: the one with the lowest loss after the split (\"gain\"), or the widest (\"widest\", as published)",
        ),
        Parameter::new("relaxed", "false", "split records that share the median number, so that both halves are equal"),
    ],
    objectives: AcceptedObjectives::Fixed,
    build: |choice, _| Ok(Box::new(Mondrian(choice.read_parameters()?))),
};

/// Mondrian's parameters.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct MondrianParams {
    /// Whether records with the median number may be divided between the halves.
    pub relaxed: bool,
    /// Rule by which the column of a split is chosen.
    pub choose: Choose,
}

/// Rule by which a split's column is chosen among the columns that can be split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choose {
    /// Column with the largest weighted NCP, as published.
    Widest,
    /// Column whose halves have the smallest remaining loss.
    #[default]
    Gain,
}

/// Mondrian with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct Mondrian(pub MondrianParams);

/// Minimum variants of a set whose halves are processed in parallel; for smaller sets a task costs more than it saves.
/// Affects speed only.
const MIN_PARALLEL_VARIANTS: usize = 2048;

type Halves = (Vec<VariantCount>, Vec<VariantCount>);

struct MondrianSearch<'a> {
    task: &'a Task<'a>,
    params: MondrianParams,
    observer: &'a dyn Observer,
    /// Minimum records per group, from the models and the caller.
    min_records: u64,
    splits_tried: AtomicU64,
    records_done: AtomicU64,
    /// Reason for stopping early, if any.
    stopped: OnceLock<Stop>,
}

impl Method for Mondrian {
    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task);
        let size = if self.0.relaxed { size } else { size.with_whole_tuples() };
        let clusters = size.clusters(size.groups, size.members()) + 24 * size.groups;
        let peak = size.splits().max(clusters + size.outcome());
        SearchMemory { peak: peak + suppression_bytes(task, &size), groups: Some(size.groups) }
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        with_suppression(task, LossMetric::Ncp, observer, |task, observer| self.search(task, observer))
    }
}

impl Mondrian {
    fn search(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Clustering, SearchError> {
        check_possible(task)?;
        let search = MondrianSearch::new(task, self.0, observer, 1);
        let groups = search.split(task.profile.everything());
        let work =
            vec![("cuts", (groups.len() as u64).saturating_sub(1)), ("cuts_tried", search.splits_tried.load(Relaxed))];
        let clusters = groups.into_par_iter().map(|members| Cluster::around(task, members)).collect();
        Ok(Clustering::new(clusters, search.stopped.into_inner(), work))
    }
}

/// Splits a set that satisfies the models into parts that satisfy them and have at least `min_records` records each.
///
/// Equal tuples stay together. The order of the parts does not depend on the threads. If the observer stops the search,
/// the parts are larger.
pub(super) fn split(
    task: &Task<'_>,
    set: Vec<VariantCount>,
    min_records: u64,
    observer: &dyn Observer,
) -> Vec<Vec<VariantCount>> {
    MondrianSearch::new(task, MondrianParams::default(), observer, min_records).split(set)
}

impl<'a> MondrianSearch<'a> {
    fn new(task: &'a Task<'a>, params: MondrianParams, observer: &'a dyn Observer, min_records: u64) -> Self {
        let model_minimum = task.models.iter().map(|model| model.min_records()).max().unwrap_or(1);
        Self {
            task,
            params,
            observer,
            min_records: model_minimum.max(min_records),
            splits_tried: AtomicU64::new(0),
            records_done: AtomicU64::new(0),
            stopped: OnceLock::new(),
        }
    }

    /// Returns the groups of a set, sorted, so that their order does not depend on the threads.
    fn split(&self, set: Vec<VariantCount>) -> Vec<Vec<VariantCount>> {
        let groups = Mutex::new(Vec::new());
        rayon::scope(|scope| self.split_all(scope, set, &groups));
        let mut groups = groups.into_inner().unwrap_or_else(PoisonError::into_inner);
        groups.sort_unstable();
        groups
    }

    /// Splits until no set can be split. Pending sets are kept in a list and not on the call stack: if the hierarchy is
    /// a chain, the depth equals the number of variants.
    fn split_all<'s>(&'s self, scope: &Scope<'s>, set: Vec<VariantCount>, groups: &'s Mutex<Vec<Vec<VariantCount>>>) {
        let mut done = Vec::new();
        // A table without records has no groups.
        let mut pending: Vec<Vec<VariantCount>> = Some(set).filter(|set| !set.is_empty()).into_iter().collect();
        while let Some(set) = pending.pop() {
            let halves = if self.is_stopped() { None } else { self.split_set(&set) };
            let Some((low, high)) = halves else {
                let records = set.iter().map(|member| member.records).sum();
                let records_done = self.records_done.fetch_add(records, Relaxed) + records;
                self.observer.progress(records_done, self.task.profile.records());
                done.push(set);
                continue;
            };
            if set.len() >= MIN_PARALLEL_VARIANTS {
                scope.spawn(move |scope| self.split_all(scope, high, groups));
            } else {
                pending.push(high);
            }
            pending.push(low);
        }
        groups.lock().unwrap_or_else(PoisonError::into_inner).extend(done);
    }

    fn is_stopped(&self) -> bool {
        self.observer.stop().map(|stop| self.stopped.get_or_init(|| stop)).is_some()
    }

    /// Returns the halves of the best valid split by the chosen rule; `None` if there is no valid split.
    fn split_set(&self, set: &[VariantCount]) -> Option<Halves> {
        let records: u64 = set.iter().map(|member| member.records).sum();
        if records < 2 * self.min_records {
            return None;
        }
        let columns = self.task.profile.columns();
        let bounds = ranges_of(self.task.profile, set);
        let mut widths: Vec<(f64, usize)> = bounds
            .iter()
            .enumerate()
            .filter(|(_, (first, last))| first < last)
            .map(|(column, &(first, last))| {
                let domain = &columns[column].domain;
                (columns[column].weight * domain.ncp(domain.cover(first, last)), column)
            })
            .collect();
        // Widest first; the sort is stable, so ties go to the column declared first.
        widths.sort_by(|a, b| b.0.total_cmp(&a.0));
        if self.params.choose == Choose::Widest {
            return widths.iter().find_map(|&(_, column)| self.split_column(set, records, column, bounds[column]));
        }
        let mut best: Option<(f64, Halves)> = None;
        for &(_, column) in &widths {
            if let Some(halves) = self.split_column(set, records, column, bounds[column]) {
                let loss = self.remaining_loss(&halves.0) + self.remaining_loss(&halves.1);
                if best.as_ref().is_none_or(|(min_loss, _)| loss < *min_loss) {
                    best = Some((loss, halves));
                }
            }
        }
        best.map(|(_, halves)| halves)
    }

    /// Estimated loss of a set: the weighted mean of its bounding box's NCP and of the relative span of its codes,
    /// summed over columns and multiplied by the records.
    ///
    /// NCP alone would see no gain in a split between two children of the root, because each half may still span
    /// several children and then has the NCP of the root. The span of codes does shrink.
    fn remaining_loss(&self, set: &[VariantCount]) -> f64 {
        let columns = self.task.profile.columns().iter();
        let column_loss = |(column, (first, last)): (&Column, (u32, u32))| {
            let domain = &column.domain;
            let ncp = domain.ncp(domain.cover(first, last));
            let span = match domain.tree() {
                Some(_) => f64::from(last - first) / (domain.len() - 1).max(1) as f64,
                None => ncp,
            };
            column.weight * (ncp + span) / 2.0
        };
        let records: u64 = set.iter().map(|member| member.records).sum();
        records as f64 * columns.zip(ranges_of(self.task.profile, set)).map(column_loss).sum::<f64>()
    }

    /// Returns the first valid split in the column: the strict ones first, then the relaxed one.
    fn split_column(&self, set: &[VariantCount], records: u64, column: usize, bounds: (u32, u32)) -> Option<Halves> {
        let profile = self.task.profile;
        let domain = &profile.columns()[column].domain;
        let code = |member: &VariantCount| profile.codes(profile.tuple_of(member.variant))[column];
        for boundary in split::boundaries(domain, set, code, bounds, self.min_records, records) {
            let halves = split::strict(set, code, boundary);
            if self.both_satisfy(&halves) {
                return Some(halves);
            }
        }
        let divisible = self.params.relaxed && domain.tree().is_none();
        if divisible {
            let halves = split::relaxed(
                set,
                |member| (code(member), profile.tuple_of(member.variant)),
                |member| hash_seed(self.task.seed, u64::from(member.variant.0)),
                records / 2,
            );
            if self.both_satisfy(&halves) {
                return Some(halves);
            }
        }
        None
    }

    fn both_satisfy(&self, (low, high): &Halves) -> bool {
        self.splits_tried.fetch_add(1, Relaxed);
        [low, high].into_iter().all(|half| !half.is_empty() && self.task.is_satisfied_by(half))
    }
}
