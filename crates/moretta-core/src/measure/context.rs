//! Input of a measure.

use crate::{
    declaration::Declaration,
    objective::Objective,
    profile::Profile,
    released::{CellLoss, Released},
};

/// The parts of a policy that measures use.
pub trait MeasuredPolicy: Declaration {
    /// The k of k-anonymity; `None` if the policy does not require it, or if it counts persons.
    fn k(&self) -> Option<u64>;

    /// The objectives of `[measure]`.
    fn objectives(&self) -> &[Objective];
}

/// A released table, the profiles behind it, and what a policy says about measuring it.
///
/// There are two profiles because they differ in two cases: a file read back has a profile of its own, whose values are
/// the released labels; and a point of a generalization path is measured on a coarsened profile, in which one value
/// stands for all values of its cell. A measure of classes, numbers or group sizes reads `records`; one that counts
/// original values of quasi-identifiers reads `original`.
#[derive(Debug, Clone)]
pub struct MeasureContext<'a> {
    /// The released table.
    pub released: &'a Released,
    /// Profile of the original records, with their own values. Its domains are those of the released cells.
    pub original: &'a Profile,
    /// Profile that the members of released groups belong to. Its classes and numbers of records are the original's,
    /// its quasi-identifier values need not be.
    pub records: &'a Profile,
    /// Weight of each quasi-identifier.
    pub weights: Vec<f64>,
    /// The policy's k, if it has one that counts records.
    pub k: Option<u64>,
    /// The policy's objectives: `cm` and `rm` use the column and the parameters of the first of their kind.
    pub objectives: &'a [Objective],
}

impl<'a> MeasureContext<'a> {
    /// A recoding of a profile.
    pub fn of_recoding(policy: &'a impl MeasuredPolicy, profile: &'a Profile, released: &'a Released) -> Self {
        Self::new(policy, profile, profile, released)
    }

    /// A release whose records have a profile of their own: a file ([`Profile::of_release`]), or a recoding that was
    /// computed on [`Profile::coarsened`] of the original.
    pub fn new(
        policy: &'a impl MeasuredPolicy,
        original: &'a Profile,
        records: &'a Profile,
        released: &'a Released,
    ) -> Self {
        let weights = policy.quasi_identifiers().map(|column| column.weight).collect();
        Self { released, original, records, weights, k: policy.k(), objectives: policy.objectives() }
    }

    /// Number of records.
    pub(super) fn total(&self) -> f64 {
        self.records.records() as f64
    }

    /// Sum over columns, by their weights, of the mean loss of a cell.
    pub(super) fn weighted_mean_loss(&self, loss: impl Fn(&CellLoss) -> f64) -> f64 {
        self.mean_over_records(|group| {
            let cells = self.released.losses(group).iter().zip(&self.weights);
            cells.map(|(cell, weight)| weight * loss(cell)).sum::<f64>()
        })
    }

    /// Mean over records of a figure that all records of a group share.
    pub(super) fn mean_over_records(&self, of_group: impl Fn(usize) -> f64) -> f64 {
        let released = self.released;
        (0..released.groups()).map(|group| released.records(group) as f64 * of_group(group)).sum::<f64>() / self.total()
    }
}
