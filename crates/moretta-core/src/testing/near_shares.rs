//! A model with lower and upper limits on shares, for tests of searches that keep counts.

use crate::{
    ids::{AttributeId, ColumnId},
    privacy::{BoundModel, Description, Figure, Group, Limit, ModelFacts, ShareLimit},
    profile::Profile,
};

/// The share of each guarded value in a group is above `1 / factor` times and below `factor` times that in the table.
///
/// It judges a group by its histogram in whole numbers, and [`limits`](BoundModel::limits) says the same in floats.
pub struct NearShares {
    scope: Vec<ColumnId>,
    attribute: AttributeId,
    factor: u64,
    /// By guarded value, the records of the table that carry it.
    guarded: Vec<(u32, u64)>,
    records: u64,
}

impl NearShares {
    /// Guards the first `values` values of a sensitive or class column; `scope` in order.
    pub fn new(profile: &Profile, scope: Vec<ColumnId>, column: &str, values: usize, factor: u64) -> Self {
        let attribute = profile.attribute(column).expect("a sensitive or class column");
        let everything = profile.everything();
        let mut guarded = Group::new(profile, &everything).histogram(attribute).clone();
        guarded.truncate(values);
        Self { scope, attribute, factor, guarded, records: profile.records() }
    }
}

impl BoundModel for NearShares {
    fn describe(&self) -> Description {
        let limit = format!("{} values of {:?}, factor {}", self.guarded.len(), self.attribute, self.factor);
        Description::new("near-shares", "near shares", limit)
    }

    fn is_closed_under_union(&self) -> bool {
        true
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    /// Distance from the nearer limit, multiplied by all denominators so that it is a whole number, minus 1: negative
    /// if a share equals a limit.
    fn margin(&self, group: &Group<'_>) -> f64 {
        let inside = |&(value, of_table): &(u32, u64)| {
            let in_group = i128::from(group.weight_of(self.attribute, value)) * i128::from(self.records);
            let in_table = i128::from(of_table) * i128::from(group.records());
            let factor = i128::from(self.factor);
            (in_group * factor - in_table).min(in_table * factor - in_group)
        };
        self.guarded.iter().map(inside).min().map_or(0.0, |inside| (inside - 1) as f64)
    }

    fn limits(&self) -> Option<Vec<Limit>> {
        let limit = |&(value, records): &(u32, u64)| {
            let (share, factor) = (records as f64 / self.records as f64, self.factor as f64);
            Limit::Share {
                attribute: self.attribute,
                value,
                share: ShareLimit::between(share / factor, share * factor),
            }
        };
        Some(self.guarded.iter().map(limit).collect())
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        Figure::new(self.margin(group), "a margin")
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.factor)
    }
}
