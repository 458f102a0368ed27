//! The bound: a proven lower bound on the information loss of any release that satisfies a policy.
//!
//! It says how far a release is from the best possible one, whatever method or program made it. It needs columns with
//! trees, whose cells can be enumerated, and models that require a number of records in every group.
//!
//! # Proof
//!
//! A *box* is a vector of nodes, one per column; its cost `c` is the loss of a record that is released with the labels of
//! these nodes. Every record gets a *price*, any number. If
//!
//! > in every box with at least k records, the k largest prices sum to at most `k c`,
//!
//! the sum of all prices is a lower bound on the loss of any release whose groups have at least k records:
//!
//! ```text
//! a group of 4 records in a box of cost 0.5, k = 3
//!
//! prices   0.9  0.4  0.2  0.1       0.9 + 0.4 + 0.2 = 1.5 <= 3 * 0.5, so the mean of all four is at most 0.5, too:
//! losses   0.5  0.5  0.5  0.5       the prices of the group sum to at most its loss
//! ```
//!
//! 1. In columns with trees every released cell is a node, whether the recoding is global (also with nested cells) or
//!    local, and its loss is a function of the node. Labels of different nodes differ, so all records of a group have one
//!    vector of nodes: the group lies in a box, and each of its records loses the cost of the box. There is one
//!    exception: under `missing = "suppress"` a missing value is released as `*`, in one group with values whose cell is
//!    the root. The root covers all of them, and both cells lose the same, so the group lies in the box of the root.
//! 2. Suppressed records are one group, with `*` in every column, and must satisfy the policy like any other group. They
//!    lose at least the cost of the box of all roots. (LM counts 1 in a column with a single value, whose root costs 0.)
//! 3. Every group has at least k records: k is the largest number of records that a model with all quasi-identifiers
//!    requires. A model with fewer columns judges larger groups, so it has no say. If k counts persons, a group has at
//!    least k records, because each person has one. Other models only forbid more releases.
//! 4. A group of `n >= k` records: the mean of its prices is at most that of its k largest ones, which is at most that
//!    of the k largest in its box, hence at most `c`. So its prices sum to at most `n c`, its loss.
//! 5. The groups are a partition of the records, so the sum of all prices is at most the loss of the release.
//!
//! Boxes are the vectors of nodes at all depths of unequal trees, too (`boxes.rs`). A box is left out only if another one
//! with the same records costs no more.
//!
//! # Prices
//!
//! Any prices become feasible: the price of a record falls by the largest excess of its boxes, where the excess is how
//! much the mean of the k largest prices is above the cost. The k largest prices of each box then sum to at most what
//! they did minus k times its excess. Good prices are those of the dual of the linear program that assigns shares of the
//! records to boxes (lower-bounded facility location); `ascent.rs` searches for them. Equal records have equal prices: of
//! two feasible vectors that differ by a permutation of equal records, the mean is feasible, too.
//!
//! Floating point: the feasible prices are lowered by more than the rounding errors can amount to (`proven`), and the
//! figure by `ROUNDING`, for the rounding errors of the loss that it is compared with. Printed digits are rounded down.

mod ascent;
mod boxes;
mod instance;
mod projection;
#[cfg(test)]
mod tests;

use moretta_core::{
    ids::ColumnId,
    measure::{MeasureContext, Measures},
    objective::{LossMetric, Objective, ObjectiveKind},
    observer::{Observer, Stop},
    policy::{BoundPolicy, Policy},
    profile::Profile,
    schema::Kind,
    search::entry_of,
    text::{count, counted, listed, shown},
};
use serde::Serialize;

use self::{ascent::Budget, instance::Instance};

/// Units of work of a bound without a time limit: about half a minute on two cores. Adult needs a tenth of it.
pub const DEFAULT_WORK: u64 = 8_000_000_000;

/// Share by which the figure is lowered: more than the rounding errors of a loss that is summed over 10 million groups.
const ROUNDING: f64 = 1e-8;

/// Maximum level vectors. With more, the search would exceed its work before the first bound. Not tuned.
const MAX_VECTORS: f64 = 1e9;

/// The lower bound on the loss of any release, beside the loss of one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Certificate {
    /// Name of the measure of both figures: `gcp` or `lm`.
    pub measure: &'static str,
    /// Minimum records of a group, which the bound assumes; `None` if the policy requires none.
    pub k: Option<u64>,
    /// No release that satisfies the policy loses less; `None` if there is no bound.
    pub bound: Option<f64>,
    /// Loss of the release; `None` without a release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<f64>,
    /// How much the release loses above the bound, as a share of the bound; `None` if one of them is not known or the
    /// bound is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Why there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Why the search for a higher bound ended.
    pub stop: Stop,
    /// Whether the work did not suffice to end the search: more time could raise the bound.
    pub limited: bool,
    /// Running time; the caller fills it in.
    pub seconds: f64,
}

/// The loss that a bound is about.
struct Measured {
    weights: Vec<f64>,
    /// The loss of a record, divided by this, is the figure that reports show.
    divisor: f64,
}

impl Certificate {
    /// Proves a bound for a policy that is bound to a table. `work` limits the search ([`DEFAULT_WORK`]), `bytes` its
    /// memory beyond [`memory`].
    pub fn prove(bound: &BoundPolicy<'_>, (work, bytes): (u64, u64), observer: &dyn Observer) -> Self {
        let (policy, profile) = (bound.policy(), bound.profile());
        let metric = metric_of(policy);
        let mut certificate = Self::empty(bound);
        let (metric, k) = match (&metric, certificate.k, missing_tree(policy, profile)) {
            (Err(reason), ..) => return certificate.without(reason.clone()),
            (_, _, Some(reason)) => return certificate.without(reason),
            (_, None, _) => {
                let reason = "no model of the policy requires a number of records in every group; set `k` in [privacy]";
                return certificate.without(reason.to_owned());
            }
            (Ok(metric), Some(k), None) => (*metric, k),
        };
        let records = profile.records();
        if records < k {
            let reason = format!("the table has only {}", counted(records, "record", "records"));
            return certificate.without(reason);
        }
        let vectors = level_vectors(profile);
        let too_many = |vectors: f64| {
            let vectors = if vectors < 1e15 { count(vectors as u64) } else { format!("{vectors:.0e}") };
            format!("the hierarchies have too many level vectors ({vectors}) to go through their boxes")
        };
        if vectors > MAX_VECTORS {
            return certificate.without(too_many(vectors));
        }
        let measured = Measured::of(policy, metric);
        let instance = Instance::new(profile, metric, &measured.weights, k);
        match ascent::prove(&instance, Budget::new(work, bytes), measured.divisor, observer) {
            Some(proven) => {
                let value = proven.per_record / measured.divisor * (1.0 - ROUNDING);
                certificate.bound = Some(value.max(0.0));
                (certificate.stop, certificate.limited) = (proven.stop, proven.is_limited);
                certificate
            }
            None => match observer.stop() {
                Some(stop) => {
                    Self { stop, ..certificate.without("the search was stopped before it had one".to_owned()) }
                }
                None => certificate.without(too_many(vectors)),
            },
        }
    }

    /// A certificate without a bound, for a reason of the caller.
    pub fn unavailable(bound: &BoundPolicy<'_>, reason: String) -> Self {
        Self::empty(bound).without(reason)
    }

    fn empty(bound: &BoundPolicy<'_>) -> Self {
        Self {
            measure: figure_name(metric_of(bound.policy()).unwrap_or_default()),
            k: min_records(bound),
            bound: None,
            lost: None,
            gap: None,
            unavailable: None,
            stop: Stop::Finished,
            limited: false,
            seconds: 0.0,
        }
    }

    fn without(self, reason: String) -> Self {
        Self { unavailable: Some(reason), ..self }
    }

    fn compare(mut self, lost: Option<f64>) -> Self {
        self.lost = lost;
        self.gap = match (lost, self.bound) {
            // A release that satisfies the policy loses at least the bound.
            (Some(lost), Some(bound)) if lost < bound => None,
            (Some(lost), Some(bound)) if bound > 0.0 => Some(lost / bound - 1.0),
            (Some(0.0), Some(_)) => Some(0.0),
            _ => None,
        };
        self
    }

    /// Adds the loss of a release. Its report shows the same figure: as the objective if the policy has `[measure]` with
    /// `lm`, otherwise as a measure.
    pub fn compare_with(self, release: &MeasureContext<'_>) -> Self {
        let lost = match release.objectives.first() {
            Some(objective) if self.measure == objective.kind.name() => objective.value(release),
            _ => Measures::of(release).get(self.measure),
        };
        let lost = lost.filter(|_| release.released.knows_cells());
        self.compare(lost)
    }

    /// The bound with four digits, rounded down.
    pub fn bound_text(&self) -> Option<String> {
        self.bound.map(|bound| format!("{:.4}", (bound * 1e4).floor() / 1e4))
    }

    /// The certificate as a sentence: what a release lost, and what no release can lose less than.
    pub fn sentence(&self) -> String {
        let measure = self.measure;
        let (Some(bound), Some(k)) = (self.bound_text(), self.k) else {
            let reason = self.unavailable.as_deref().unwrap_or("it was not computed");
            return format!("no lower bound on the loss is known: {reason}");
        };
        let Some(lost) = self.lost else {
            return format!(
                "no release with groups of at least {} along these hierarchies can lose less than {bound} ({measure})",
                counted(k, "record", "records")
            );
        };
        let gap = match self.gap {
            None if self.bound.is_some_and(|bound| lost < bound) => {
                "the release loses less, so it does not satisfy the policy".to_owned()
            }
            Some(gap) => format!("gap {:.1} %", (1000.0 * gap).ceil() / 10.0),
            None => format!("{measure}, which is all that can be proven"),
        };
        format!("lost {lost:.4} ({measure}); no such release can lose less than {bound} ({gap})")
    }
}

impl Measured {
    /// The weights of the columns and the scale of the figure that a report shows: GCP, the objective `lm`, or without
    /// `[measure]` the measure `lm`, which ignores weights.
    fn of(policy: &Policy, metric: LossMetric) -> Self {
        let weights = policy.quasi_identifiers().map(|column| column.weight);
        match metric {
            LossMetric::Ncp => {
                let weights: Vec<f64> = weights.collect();
                Self { divisor: weights.iter().sum(), weights }
            }
            LossMetric::Lm if policy.measure.is_some() => Self { weights: weights.collect(), divisor: 1.0 },
            LossMetric::Lm => Self { weights: weights.map(|_| 1.0).collect(), divisor: 1.0 },
        }
    }
}

/// Name of the figure that reports show for a loss metric.
fn figure_name(metric: LossMetric) -> &'static str {
    match metric {
        LossMetric::Ncp => "gcp",
        LossMetric::Lm => "lm",
    }
}

/// The loss metric that the policy minimizes; a reason if there is none. A method with a fixed objective is measured by
/// NCP, as in summaries.
fn metric_of(policy: &Policy) -> Result<LossMetric, String> {
    let default = || entry_of(policy).map_or(Vec::new(), |entry| entry.default_objectives());
    let objectives = policy.measure.as_ref().map_or_else(default, |measure| measure.objectives.clone());
    match objectives.as_slice() {
        [] => Ok(LossMetric::Ncp),
        [Objective { kind: ObjectiveKind::Precision(metric), .. }] => Ok(*metric),
        [other] => Err(format!(
            "the policy minimizes `{}`; a bound is known only for the losses `ncp` and `lm`",
            other.kind.name()
        )),
        _ => {
            Err("the policy minimizes a sum of measures; a bound is known only for the losses `ncp` and `lm`"
                .to_owned())
        }
    }
}

/// Minimum records of a group that satisfies the policy; `None` if one record suffices.
fn min_records(bound: &BoundPolicy<'_>) -> Option<u64> {
    let columns = bound.profile().columns().len();
    let models = bound.models().iter().filter(|model| model.scope().len() == columns);
    models.map(|model| model.min_records()).max().filter(|&k| k > 1)
}

/// Why the released cells are not those of trees; `None` if they are.
fn missing_tree(policy: &Policy, profile: &Profile) -> Option<String> {
    let kinds: Vec<Kind> = profile.columns().iter().map(|column| column.domain.kind()).collect();
    if kinds.contains(&Kind::Category) && policy.release.prints_group_values(Kind::Category) {
        return Some("`labels = \"set\"` releases the values of each group, not the nodes of a hierarchy".to_owned());
    }
    if kinds.contains(&Kind::Number) && policy.release.prints_group_values(Kind::Number) {
        return Some("`numbers` releases one number per group, not the nodes of a hierarchy".to_owned());
    }
    let is_free = |index: &usize| profile.domain(ColumnId::from_index(*index)).tree().is_none();
    let free: Vec<String> =
        (0..kinds.len()).filter(is_free).map(|index| format!("`{}`", shown(&profile.columns()[index].name))).collect();
    let names: Vec<&str> = free.iter().map(String::as_str).take(MAX_NAMED).collect();
    match free.len() {
        0 => None,
        1 => Some(format!("{} is released as free intervals, which have no hierarchy", names[0])),
        len if len <= MAX_NAMED => {
            Some(format!("{} are released as free intervals, which have no hierarchy", listed(&names)))
        }
        len => Some(format!(
            "{} are released as free intervals, which have no hierarchy",
            counted(len as u64, "column", "columns")
        )),
    }
}

/// Maximum columns that a reason names.
const MAX_NAMED: usize = 5;

/// Number of level vectors: products of the depths of the trees.
fn level_vectors(profile: &Profile) -> f64 {
    let levels =
        |tree: &moretta_core::hierarchy::Tree| tree.nodes().map(|node| tree.depth(node)).max().unwrap_or(0) + 1;
    profile.columns().iter().filter_map(|column| column.domain.tree()).map(|tree| f64::from(levels(tree))).product()
}

/// Bytes of the heap that a bound needs beside the profile; more allow a higher bound.
pub fn memory(profile: &Profile) -> u64 {
    let (tuples, columns) = (profile.tuples() as u64, profile.columns().len() as u64);
    // Codes; a copy of the tuples per task of a pass; prices, excesses and shares of a step.
    let per_tuple = 4 * columns + 4 * boxes::MIN_TASKS as u64 + 80;
    let trees: u64 =
        profile.columns().iter().filter_map(|column| column.domain.tree()).map(|tree| 64 * tree.len() as u64).sum();
    tuples * per_tuple + trees
}
