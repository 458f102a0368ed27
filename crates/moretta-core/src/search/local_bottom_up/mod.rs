//! Bottom-up local recoding (Xu, Wang, Pei, Wang, Shi, Fu, KDD 2006): join groups that are alike until all hold.
//!
//! Guarantees: every group satisfies every privacy model and is released as the smallest box around its records; with k alone
//! a group has k to 2k - 1 records unless they are of one tuple. For whom: a holder who wants little lost in all columns at
//! once, each as much as it weighs, on a table of some ten thousand records.
//!
//! Every tuple is a group. In a round each group that is short, and none has joined yet, joins the one whose loss (its
//! records times the weighted certainty penalty of its box) grows least by it. To compare what losses grow to, as published, and
//! not by how much, would keep away from groups that have lost already, where little more is lost: on Adult with eight columns
//! that loses a third to a half more from k = 5 on, and no less than Mondrian from k = 25 on. Then groups of 2k records or more are
//! divided into as many as have k each. Each round at least doubles the smallest group, so for k alone there are at
//! most log2 k of them, rounded up. With other models a group is divided only where all its parts hold. Nothing is left to
//! chance but which of equal records go where.
//!
//! The nearest group is found through a tree over the boxes of all groups (`local/boxes.rs`), and is the one that a look
//! at every group would find. Searches go on in parallel, ahead of the turns. Cost: a search of the tree per
//! short group and round, O(t^2 p log k) at worst for t distinct tuples and p columns, as published.

mod divide;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::divide::divide;
use super::{
    Method, MethodEntry, Minimises, Observer, Outcome, Parameter, SearchError, Task, check_possible,
    cluster::{Cluster, outcome},
    local::{Needs, Penalties, Pool, polish},
    precision,
};
use crate::objective::Loss;

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "local-bottom-up",
    summary: "local recoding: merges the most similar groups until all satisfy the policy; supports every privacy model",
    parameters: &[Parameter::new("polish", "true", "finally move records between groups while the loss falls")],
    minimises: Minimises::Precision(Loss::Ncp),
    build: |choice, goals| {
        Ok(Box::new(LocalBottomUp(Settings { loss: precision(goals), ..choice.read_parameters()? })))
    },
};

/// The method's parameters.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// Whether records move between groups in the end.
    pub polish: bool,
    /// What is to be little.
    #[serde(skip)]
    pub loss: Loss,
}

impl Default for Settings {
    fn default() -> Self {
        Self { polish: true, loss: Loss::Ncp }
    }
}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct LocalBottomUp(pub Settings);

impl Method for LocalBottomUp {
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let penalties = Penalties::new(task.profile, self.0.loss);
        let everything = task.profile.everything();
        let tuples = everything.chunk_by(|a, b| task.profile.tuple_of(a.variant) == task.profile.tuple_of(b.variant));
        let mut clusters: Vec<Cluster> = tuples.map(|members| Cluster::around(task, members.to_vec())).collect();
        let (mut rounds, mut joined, mut costs, mut stop) = (0, 0, 0, None);
        loop {
            let mut pool = Pool::new(task, &penalties, clusters);
            let was_short = pool.is_short();
            if was_short {
                rounds += 1;
                stop = pool.round(false, observer);
            }
            if stop.is_some() {
                pool.hurry();
            }
            (joined, costs) = (joined + pool.joined, costs + pool.costs());
            let changed = pool.into_groups().into_par_iter();
            clusters =
                changed
                    .flat_map_iter(|(group, changed)| {
                        if changed && stop.is_none() { divide(task, &penalties, group) } else { vec![group] }
                    })
                    .collect();
            if !was_short || stop.is_some() {
                break;
            }
        }
        let mut work = vec![("rounds", rounds), ("joined", joined), ("costs", costs)];
        if self.0.polish {
            // With k alone groups stay below 2k.
            let Needs { least, enough, .. } = Needs::of(task);
            let most = if enough { 2 * least - 1 } else { u64::MAX };
            let polished = polish(task, &penalties, &mut clusters, most, observer);
            stop = stop.or(polished.stop);
            work.extend(polished.work());
        }
        Ok(outcome(task, clusters, stop, work))
    }
}
