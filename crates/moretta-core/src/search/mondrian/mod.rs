//! Mondrian (LeFevre, DeWitt, Ramakrishnan 2006): cut the table in two, again and again, as long as both halves hold.
//!
//! Guarantees: every group satisfies every privacy model, and is released as the smallest box around its records.
//! For whom: a holder who wants a sound result in an instant, with any privacy model. The quality is middling: the
//! cuts look at one column at a time.
//!
//! A set of records is cut at the median of one column. As published that is the column whose released cell would
//! span most of its range (times the column's weight), or the next widest where the cut would break a model
//! (`choose = "widest"`). By default it is the column after whose cut the two halves have least to lose
//! (`choose = "gain"`): a skewed category, such as a country that nine in ten share, is then cut
//! while there are still enough records on its small side. On Adult with eight columns the published rule loses a
//! little less at k = 5 and half as much again at k = 100; docs/results has the figures. A column of free numbers is cut
//! between two values, a column with a tree between two children of the lowest node that covers the set, so that
//! halves soon fit a lower node. *Strict*: equal values stay together. *Relaxed*: records with the median value are
//! divided, so that a column of free numbers is cut exactly in half.
//!
//! Works on variants with counts, not on records; the two halves are independent and go on in parallel. Cost:
//! O(v p log v) for v variants and p columns where the cuts are balanced, at worst (a hierarchy that is a chain)
//! O(v^2 p); choosing by gain multiplies it by the columns that can be cut.

mod cut;
#[cfg(test)]
mod tests;

use rayon::{Scope, prelude::*};
use serde::{Deserialize, Serialize};
use std::sync::{
    Mutex, OnceLock, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use super::{
    AcceptedObjectives, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, Stop, Task, check_possible,
    cluster::{Cluster, outcome, ranges_of},
    rng::hash_seed,
};
use crate::profile::{Column, VariantCount};

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
    /// Whether records with the median number are divided.
    pub relaxed: bool,
    /// Which column is cut.
    pub choose: Choose,
}

/// Which of the columns that can be cut is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choose {
    /// The one that spans most of its range, as published.
    Widest,
    /// The one after whose cut the halves lose least.
    #[default]
    Gain,
}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct Mondrian(pub MondrianParams);

/// Sets below this many variants are not worth another thread.
const PARALLEL: usize = 2048;

type Halves = (Vec<VariantCount>, Vec<VariantCount>);

struct Search<'a> {
    task: &'a Task<'a>,
    params: MondrianParams,
    observer: &'a dyn Observer,
    min_records: u64,
    tried: AtomicU64,
    finished: AtomicU64,
    /// What it was stopped for before it was done.
    stopped: OnceLock<Stop>,
}

impl Method for Mondrian {
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let search = Search::new(task, self.0, observer, 1);
        let groups = search.split(task.profile.everything());
        let work = vec![("cuts", (groups.len() as u64).saturating_sub(1)), ("cuts_tried", search.tried.load(Relaxed))];
        let clusters = groups.into_par_iter().map(|members| Cluster::around(task, members)).collect();
        Ok(outcome(task, clusters, search.stopped.into_inner(), work))
    }
}

/// Cuts a set that holds into parts that hold and have at least so many records each, in an order that does not depend
/// on who computes them. Equal tuples stay together. Stopped, the parts are larger.
pub(super) fn split(
    task: &Task<'_>,
    set: Vec<VariantCount>,
    min_records: u64,
    observer: &dyn Observer,
) -> Vec<Vec<VariantCount>> {
    Search::new(task, MondrianParams::default(), observer, min_records).split(set)
}

impl<'a> Search<'a> {
    fn new(task: &'a Task<'a>, params: MondrianParams, observer: &'a dyn Observer, min_records: u64) -> Self {
        let least = task.models.iter().map(|model| model.min_records()).max().unwrap_or(1);
        Self {
            task,
            params,
            observer,
            min_records: least.max(min_records),
            tried: AtomicU64::new(0),
            finished: AtomicU64::new(0),
            stopped: OnceLock::new(),
        }
    }

    /// The groups of a set, in an order that does not depend on who computes them.
    fn split(&self, set: Vec<VariantCount>) -> Vec<Vec<VariantCount>> {
        let groups = Mutex::new(Vec::new());
        rayon::scope(|scope| self.work(scope, set, &groups));
        let mut groups = groups.into_inner().unwrap_or_else(PoisonError::into_inner);
        groups.sort_unstable();
        groups
    }

    /// Cuts until nothing can be cut. Cuts may be as many as there are variants and all on one side (a hierarchy may
    /// be a chain), so what is left to do is kept in a list and not on the stack.
    fn work<'s>(&'s self, scope: &Scope<'s>, set: Vec<VariantCount>, groups: &'s Mutex<Vec<Vec<VariantCount>>>) {
        let mut done = Vec::new();
        // A table without records has no groups.
        let mut left: Vec<Vec<VariantCount>> = Some(set).filter(|set| !set.is_empty()).into_iter().collect();
        while let Some(set) = left.pop() {
            let halves = if self.is_stopped() { None } else { self.cut(&set) };
            let Some((low, high)) = halves else {
                let records = set.iter().map(|member| member.records).sum();
                let finished = self.finished.fetch_add(records, Relaxed) + records;
                self.observer.progress(finished, self.task.profile.records());
                done.push(set);
                continue;
            };
            if set.len() >= PARALLEL {
                scope.spawn(move |scope| self.work(scope, high, groups));
            } else {
                left.push(high);
            }
            left.push(low);
        }
        groups.lock().unwrap_or_else(PoisonError::into_inner).extend(done);
    }

    fn is_stopped(&self) -> bool {
        self.observer.stop().map(|stop| self.stopped.get_or_init(|| stop)).is_some()
    }

    /// The cut that is made: of those that hold, by the rule that was chosen.
    fn cut(&self, set: &[VariantCount]) -> Option<Halves> {
        let records: u64 = set.iter().map(|member| member.records).sum();
        if records < 2 * self.min_records {
            return None;
        }
        let columns = self.task.profile.columns();
        let bounds = ranges_of(self.task.profile, set);
        let mut spans: Vec<(f64, usize)> = bounds
            .iter()
            .enumerate()
            .filter(|(_, (first, last))| first < last)
            .map(|(column, &(first, last))| {
                let domain = &columns[column].domain;
                (columns[column].weight * domain.ncp(domain.cover(first, last)), column)
            })
            .collect();
        // Widest first; the sort is stable, so ties go to the column declared first.
        spans.sort_by(|a, b| b.0.total_cmp(&a.0));
        if self.params.choose == Choose::Widest {
            return spans.iter().find_map(|&(_, column)| self.cut_column(set, records, column, bounds[column]));
        }
        let mut best: Option<(f64, Halves)> = None;
        for &(_, column) in &spans {
            if let Some(halves) = self.cut_column(set, records, column, bounds[column]) {
                let left = self.potential(&halves.0) + self.potential(&halves.1);
                if best.as_ref().is_none_or(|(least, _)| left < *least) {
                    best = Some((left, halves));
                }
            }
        }
        best.map(|(_, halves)| halves)
    }

    /// What a set has still to lose by: half the weighted certainty penalty of its box, half how far its codes reach.
    ///
    /// The penalty alone would not see that a cut between two children of the root leads anywhere, as each half may
    /// still span several of them; the reach does.
    fn potential(&self, set: &[VariantCount]) -> f64 {
        let columns = self.task.profile.columns().iter();
        let of_column = |(column, (first, last)): (&Column, (u32, u32))| {
            let domain = &column.domain;
            let penalty = domain.ncp(domain.cover(first, last));
            let reach = match domain.tree() {
                Some(_) => f64::from(last - first) / (domain.len() - 1).max(1) as f64,
                None => penalty,
            };
            column.weight * (penalty + reach) / 2.0
        };
        let records: u64 = set.iter().map(|member| member.records).sum();
        records as f64 * columns.zip(ranges_of(self.task.profile, set)).map(of_column).sum::<f64>()
    }

    fn cut_column(&self, set: &[VariantCount], records: u64, column: usize, bounds: (u32, u32)) -> Option<Halves> {
        let profile = self.task.profile;
        let domain = &profile.columns()[column].domain;
        let code = |member: &VariantCount| profile.codes(profile.tuple_of(member.variant))[column];
        for boundary in cut::boundaries(domain, set, code, bounds, self.min_records, records) {
            let halves = cut::strict(set, code, boundary);
            if self.both_hold(&halves) {
                return Some(halves);
            }
        }
        let divisible = self.params.relaxed && domain.tree().is_none();
        if divisible {
            let halves = cut::relaxed(
                set,
                |member| (code(member), profile.tuple_of(member.variant)),
                |member| hash_seed(self.task.seed, u64::from(member.variant.0)),
                records / 2,
            );
            if self.both_hold(&halves) {
                return Some(halves);
            }
        }
        None
    }

    fn both_hold(&self, (low, high): &Halves) -> bool {
        self.tried.fetch_add(1, Relaxed);
        [low, high].into_iter().all(|half| !half.is_empty() && self.task.is_satisfied_by(half))
    }
}
