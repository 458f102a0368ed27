//! The least-loss-first sweep, a method of our own.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records. For whom: a
//! holder whose columns have hierarchies, with any k and any privacy model. It lost less than every other method tried
//! there, ours or others'.
//!
//! The combinations of levels, one level for each column, are taken from the least to the most lossy. At each one the records
//! that are left are grouped by it, every group that satisfies the policy is released, and the sweep goes on with the rest. So
//! each record leaves in about the smallest box in which there are enough others that have not left in a smaller one. What no
//! combination releases joins the group that it costs least.
//!
//! A level is a depth of a column's tree; free numbers have a tree of halves, and are released as intervals of their own.
//! Where there are too many combinations, levels that lie close to others are left out (`vectors`).
//!
//! Cost: for each combination, what is left, once; most records leave early.

mod grouping;
mod levels;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::{
    grouping::Grouping,
    levels::{Levels, in_order},
};
use super::{
    Control, Method, MethodEntry, Outcome, Parameter, SearchError, Stop, Task, check_possible,
    local::{Cluster, Penalties, groups, in_a_hurry, least_records, place},
};
use crate::{ids::TupleId, privacy::Member, recoding::Recoding};

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "sweep",
    summary: "local recoding: releases every group that holds at the least lossy combination of levels, then goes on with the rest",
    parameters: &[Parameter {
        key: "vectors",
        default: "20000",
        meaning: "try at most so many combinations of levels; levels that lie close to others are left out",
    }],
    build: |choice| {
        let settings: Settings = choice.read_parameters()?;
        match settings.vectors {
            0 => Err(choice.error("vectors", "`vectors` is 0; it must be a whole number of at least 1")),
            _ => Ok(Box::new(Sweep(settings))),
        }
    },
};

/// The method's parameters.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// At most so many combinations of levels.
    pub vectors: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { vectors: 20_000 }
    }
}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct Sweep(pub Settings);

impl Method for Sweep {
    fn run(&self, task: &Task<'_>, control: &dyn Control) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let profile = task.profile;
        let columns = Levels::of_columns(profile, self.0.vectors as usize);
        let vectors = if profile.records() == 0 { Vec::new() } else { in_order(&columns) };
        let least = least_records(task);
        let mut grouping = Grouping::new(profile);
        let mut left: Vec<TupleId> = (0..profile.tuples() as u32).map(TupleId).collect();
        let mut clusters: Vec<Cluster> = Vec::new();
        let (mut tried, mut looked_at, mut released) = (0, 0, 0);
        let mut stop = Stop::Finished;
        for vector in &vectors {
            if left.is_empty() {
                break;
            }
            if let Some(early) = control.stop() {
                stop = early;
                break;
            }
            tried += 1;
            looked_at += left.len() as u64;
            let found = grouping.groups(&left, &columns, vector, least);
            let found = found.into_iter().map(|tuples| Cluster::around(task, members(task, &tuples)));
            let before = clusters.len();
            clusters.extend(found.filter(|cluster| cluster.holds(task)));
            if clusters.len() > before {
                let mut gone: Vec<TupleId> =
                    clusters[before..].iter().flat_map(|cluster| cluster.tuples(profile)).collect();
                gone.sort_unstable();
                left.retain(|tuple| gone.binary_search(tuple).is_err());
                released += clusters[before..].iter().map(Cluster::records).sum::<u64>();
                control.progress(released, profile.records());
            }
        }
        let penalties = Penalties::new(profile);
        let leftovers = finish(task, stop, &mut clusters, &members(task, &left));
        place(task, &penalties, &mut clusters, &leftovers);
        let work = vec![
            ("vectors", vectors.len() as u64),
            ("vectors_tried", tried),
            ("tuples_looked_at", looked_at),
            ("leftovers", leftovers.iter().map(|member| member.records).sum()),
        ];
        Ok(Outcome { recoding: Recoding::Groups(groups(task, clusters)), stop, path: Vec::new(), work })
    }
}

/// Stopped early, what is left is cut by Mondrian, if it holds; what is still left over then.
fn finish(task: &Task<'_>, stop: Stop, clusters: &mut Vec<Cluster>, left: &[Member]) -> Vec<Member> {
    if stop == Stop::Finished || left.is_empty() || !Cluster::around(task, left.to_vec()).holds(task) {
        return left.to_vec();
    }
    clusters.extend(in_a_hurry(task, left.to_vec()));
    Vec::new()
}

/// All records of some tuples.
fn members(task: &Task<'_>, tuples: &[TupleId]) -> Vec<Member> {
    let variants = tuples.iter().flat_map(|&tuple| task.profile.variants_of(tuple));
    variants.map(|variant| Member { variant, records: task.profile.variant_records(variant) }).collect()
}
