//! Pessimistic pruning: compares errors on the training records, raised to an upper confidence limit.

use super::{Branches, Tree};

/// Probability that the true error rate exceeds the upper limit (Quinlan's default of 25 %).
pub const CONFIDENCE: f64 = 0.25;

/// Square of the normal deviate for [`CONFIDENCE`], by Quinlan's interpolation between 20 % (0.84) and 40 % (0.25).
const DEVIATE_SQUARED: f64 = 0.6925 * 0.6925;

/// A subtree is kept only if it expects fewer errors than a leaf by more than this (Quinlan's value).
const SLACK: f64 = 0.1;

impl Tree {
    pub(super) fn prune(&mut self) {
        let mut expected = vec![0.0; self.nodes.len()];
        // Children come after their parent, so the reverse order visits them first.
        for node in (0..self.nodes.len()).rev() {
            let (records, errors) = (self.nodes[node].records as f64, self.nodes[node].errors as f64);
            let as_leaf = errors + added_errors(records, errors);
            let below = self.nodes[node].branches.nodes();
            let as_tree: f64 = below.iter().map(|&child| expected[child]).sum();
            if below.is_empty() || as_leaf <= as_tree + SLACK {
                self.nodes[node].branches = Branches::Leaf;
                expected[node] = as_leaf;
            } else {
                expected[node] = as_tree;
            }
        }
    }
}

/// Errors to add to the observed ones to reach the upper confidence limit: Quinlan's `AddErrs`.
pub fn added_errors(records: f64, errors: f64) -> f64 {
    if records <= 0.0 {
        return 0.0;
    }
    let none = || records * (1.0 - CONFIDENCE.powf(1.0 / records));
    if errors < 1e-6 {
        none()
    } else if errors < 0.9999 {
        none() + errors * (added_errors(records, 1.0) - none())
    } else if errors + 0.5 >= records {
        0.67 * (records - errors)
    } else {
        let seen = errors + 0.5;
        let spread = DEVIATE_SQUARED * (seen * (1.0 - seen / records) + DEVIATE_SQUARED / 4.0);
        let share = (seen + DEVIATE_SQUARED / 2.0 + spread.sqrt()) / (records + DEVIATE_SQUARED);
        records * share - errors
    }
}
