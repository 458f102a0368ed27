//! Top-down local recoding (Xu, Wang, Pei, Wang, Shi, Fu, KDD 2006): split the records in two around two that are far
//! apart, again and again.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records. For
//! whom: a holder who wants little lost in all columns at once, each as much as it weighs.
//!
//! A set of more than k records is split: from any record u the farthest is v, from v the farthest is the next u, three
//! rounds; the others come in a random order, each to the side whose penalty (its records times the weighted certainty
//! penalty of its box) grows less by it. To compare what the penalties grow to, and not by how much, would push records
//! to the smaller side wherever they belong: on Adult with eight columns and k = 10 that loses five times as much. A
//! side is split in turn where it holds. Sides that do not are short. Then each short group, in order, joins the group with
//! which it has the least penalty, or takes the records that it is short of from a group that keeps k, whichever adds
//! less; rounds of that until none is short. With models other than k, groups only join.
//!
//! Records with equal quasi-identifiers are one point with a count, and part only where some of them are taken. The nearest
//! group is found through a tree over the boxes of all groups (`local/boxes.rs`), and is the one that a look at every
//! group would find. Splits of different sets go on in parallel. Cost: O(t p log t) for t distinct tuples and p columns where splits
//! are balanced, at worst O(t^2 p); then a search of the tree for each short group.

mod split;

use serde::{Deserialize, Serialize};

use super::{
    Control, Method, MethodEntry, Outcome, SearchError, Stop, Task, check_possible,
    local::{Penalties, Pool, groups},
};
use crate::recoding::Recoding;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "local-top-down",
    summary: "local recoding: splits the records in two around two that are far apart, again and again; serves every privacy model",
    parameters: &[],
    build: |choice| Ok(Box::new(LocalTopDown(choice.read_parameters()?))),
};

/// The method's parameters: none.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct LocalTopDown(pub Settings);

impl Method for LocalTopDown {
    fn run(&self, task: &Task<'_>, control: &dyn Control) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let penalties = Penalties::new(task.profile);
        let (parts, splits, mut stop) = split::split(task, &penalties, control);
        let mut pool = Pool::new(task, &penalties, parts);
        while pool.is_short() && stop.is_none() {
            stop = pool.round(true, control);
        }
        pool.hurry();
        let work = vec![("splits", splits), ("joined", pool.joined), ("taken", pool.taken), ("costs", pool.costs())];
        let clusters = pool.into_groups().into_iter().map(|(group, _)| group).collect();
        Ok(Outcome {
            recoding: Recoding::Groups(groups(task, clusters)),
            stop: stop.unwrap_or(Stop::Finished),
            path: Vec::new(),
            work,
        })
    }
}
