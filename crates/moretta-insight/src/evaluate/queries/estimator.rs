//! Estimates the answers to COUNT and SUM queries as a recipient would, from the release alone.
//!
//! Within a group, the values that a label covers are assumed to be equally frequent, and the columns to be
//! independent.

use moretta_core::{
    hierarchy::Domain,
    policy::ReleaseOptions,
    profile::Profile,
    released::{Covered, Released},
    schema::Kind,
    text::shown,
};

use super::{Aggregate, Condition, Query};

/// Answers queries from the boxes of a release's groups. The boxes are stored by column.
#[derive(Debug, Clone)]
pub struct ReleaseEstimator {
    /// Records of each group.
    records: Vec<f64>,
    columns: Vec<LabelColumn>,
}

/// The labels of one column.
#[derive(Debug, Clone)]
struct LabelColumn {
    /// Distance of neighboring values, if all values lie on a grid (whole numbers, whole days).
    step: Option<f64>,
    /// By label, the values that it covers.
    label_values: Vec<CoveredValues>,
    /// By group, the index of its label.
    group_labels: Vec<u32>,
}

/// The values that a label covers: one side of a box.
#[derive(Debug, Clone, PartialEq)]
enum CoveredValues {
    /// Codes of leaves from the first to the last, both included.
    Node(u32, u32),
    /// Codes of leaves.
    Set(Vec<u32>),
    /// Numbers, or dates as seconds, from the lowest to the highest, both included.
    Interval(f64, f64),
    /// The missing value of a numeric column.
    Missing,
}

/// A released label that covers no value of the original.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("column `{}`: `{}` is not a label of any value of the original", shown(.column), shown(.label))]
pub struct UnreadableLabel {
    /// Name of the column.
    pub column: String,
    /// Text of the label.
    pub label: String,
}

impl ReleaseEstimator {
    /// `options` are those with which the release of `original` was printed.
    pub fn new(original: &Profile, released: &Released, options: &ReleaseOptions) -> Result<Self, UnreadableLabel> {
        let groups = 0..released.groups();
        let column = |(index, column): (usize, &moretta_core::profile::Column)| {
            let unreadable = |label: &str| UnreadableLabel { column: column.name.clone(), label: label.to_owned() };
            let labels = (0..).zip(released.labels(index).iter().map(|label| &**label));
            let read = |(id, label): (u32, &str)| {
                let covered = released.covered(index, id);
                covered_values(&column.domain, covered, label, options).ok_or_else(|| unreadable(label))
            };
            let label_values = labels.map(read).collect::<Result<_, _>>()?;
            let group_labels = groups.clone().map(|group| released.label_of(group, index)).collect();
            Ok(LabelColumn { step: column.domain.step(), label_values, group_labels })
        };
        let columns = original.columns().iter().enumerate().map(column).collect::<Result<_, _>>()?;
        Ok(Self { records: groups.clone().map(|group| released.records(group) as f64).collect(), columns })
    }

    /// Sums over groups: records times the share that satisfies each condition, and for a SUM times the mean.
    pub fn answer(&self, query: &Query) -> f64 {
        let mut factors: Vec<(&[u32], Vec<f64>)> = Vec::new();
        for (column, condition) in &query.conditions {
            let column = &self.columns[column.index()];
            let shares = column.label_values.iter().map(|values| values.share(condition, column.step)).collect();
            factors.push((&column.group_labels, shares));
        }
        if let Aggregate::Sum(summed) = query.aggregate {
            let column = &self.columns[summed.index()];
            let found = query.conditions.iter().find(|(column, _)| *column == summed);
            let condition = found.map(|(_, condition)| condition);
            let means = column.label_values.iter().map(|values| values.mean(condition, column.step)).collect();
            factors.push((&column.group_labels, means));
        }
        let of_group = |(group, records): (usize, &f64)| {
            let mut estimate = *records;
            for (group_labels, factor_of_label) in &factors {
                estimate *= factor_of_label[group_labels[group] as usize];
                if estimate == 0.0 {
                    break;
                }
            }
            estimate
        };
        self.records.iter().enumerate().map(of_group).sum()
    }
}

fn covered_values(
    domain: &Domain,
    covered: Option<Covered<'_>>,
    label: &str,
    options: &ReleaseOptions,
) -> Option<CoveredValues> {
    let is_ordered = domain.kind().is_ordered();
    match covered {
        Some(Covered::Set(codes)) => Some(CoveredValues::Set(codes.to_vec())),
        Some(Covered::Cell(cell)) if !is_ordered => Some(CoveredValues::Node(cell.first, cell.last)),
        Some(Covered::Cell(cell)) => {
            Some(domain.ends(cell).map_or(CoveredValues::Missing, |(low, high)| CoveredValues::Interval(low, high)))
        }
        // A mean, median or midpoint need not be a value of the column.
        None if domain.kind() == Kind::Number && options.prints_group_values(Kind::Number) => {
            domain.read_number(label).map(|number| CoveredValues::Interval(number, number))
        }
        None => None,
    }
}

impl CoveredValues {
    /// Share of the covered values that satisfy the condition. A missing value satisfies none.
    fn share(&self, condition: &Condition, step: Option<f64>) -> f64 {
        match (self, *condition) {
            (Self::Node(first, last), Condition::Codes(from, to)) => {
                let inside = (*last.min(&to) + 1).saturating_sub(*first.max(&from));
                f64::from(inside) / f64::from(last - first + 1)
            }
            (Self::Set(codes), Condition::Codes(from, to)) => {
                codes.iter().filter(|&&code| from <= code && code <= to).count() as f64 / codes.len() as f64
            }
            (&Self::Interval(low, high), Condition::Between(from, to)) => {
                match overlap((low, high), (from, to), step) {
                    None => 0.0,
                    Some(_) if low == high => 1.0,
                    Some((first, last)) => match step {
                        Some(step) => ((last - first) / step + 1.0) / ((high - low) / step + 1.0),
                        // Halved, so that a range near `f64::MAX` does not overflow.
                        None => (last / 2.0 - first / 2.0) / (high / 2.0 - low / 2.0),
                    },
                }
            }
            _ => 0.0,
        }
    }

    /// Mean of the covered numbers that satisfy the condition, or of all if there is no condition; 0 if there are none.
    fn mean(&self, condition: Option<&Condition>, step: Option<f64>) -> f64 {
        let inside = match (self, condition) {
            (&Self::Interval(low, high), None) => Some((low, high)),
            (&Self::Interval(low, high), Some(&Condition::Between(from, to))) => overlap((low, high), (from, to), step),
            _ => None,
        };
        inside.map_or(0.0, |(low, high)| low / 2.0 + high / 2.0)
    }
}

/// Part of the interval `low..=high` in the range `from..=to`: its first and last value, on the grid if there is one;
/// `None` if it is empty.
fn overlap((low, high): (f64, f64), (from, to): (f64, f64), step: Option<f64>) -> Option<(f64, f64)> {
    let (from, to) = match step {
        // A single value may be a mean, median or midpoint, which need not lie on the grid.
        Some(step) if low < high => ((from / step).ceil() * step, (to / step).floor() * step),
        _ => (from, to),
    };
    let (first, last) = (low.max(from), high.min(to));
    (first <= last).then_some((first, last))
}
