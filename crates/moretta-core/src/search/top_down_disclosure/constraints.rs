//! The constraints of the policy, sorted by how the search checks them.

use std::collections::{BTreeMap, HashSet};

use crate::{
    ids::AttributeId,
    privacy::{BoundModel, Limit, ShareLimit, redundant},
    profile::Profile,
    search::Task,
};

/// A limit on the share of a sensitive value in every group of records with equal values in the columns of the scope.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Template {
    pub(super) scope: Vec<usize>,
    pub(super) attribute: AttributeId,
    pub(super) value: u32,
    pub(super) share: ShareLimit,
}

/// The constraints of a policy. A scope is the set of columns that a model assumes the attacker knows.
pub(super) struct Constraints<'a> {
    /// In order of scope, at most one per scope and value.
    pub(super) templates: Vec<Template>,
    /// By scope, the minimum number of records per group.
    pub(super) min_records: BTreeMap<Vec<usize>, u64>,
    /// By scope, all other models.
    pub(super) other_models: BTreeMap<Vec<usize>, Vec<&'a dyn BoundModel>>,
    /// By column, whether some scope contains it. Other columns are released unchanged.
    pub(super) masked: Vec<bool>,
}

impl<'a> Constraints<'a> {
    pub(super) fn of(task: &Task<'a>) -> Self {
        let mut templates: BTreeMap<(Vec<usize>, AttributeId, u32), ShareLimit> = BTreeMap::new();
        let (mut min_records, mut other_models) = (BTreeMap::new(), BTreeMap::new());
        let mut masked = vec![false; task.profile.columns().len()];
        // A model that follows from another one needs no check of its own.
        let redundant: HashSet<usize> = redundant(task.models).into_iter().map(|(model, _)| model).collect();
        for (_, model) in task.models.iter().enumerate().filter(|(index, _)| !redundant.contains(index)) {
            let scope: Vec<usize> = model.scope().iter().map(|column| column.index()).collect();
            scope.iter().for_each(|&column| masked[column] = true);
            let Some(limits) = model.limits() else {
                other_models.entry(scope).or_insert_with(Vec::new).push(&**model);
                continue;
            };
            for limit in limits {
                match limit {
                    Limit::Records(records) => {
                        let known = min_records.entry(scope.clone()).or_insert(0);
                        *known = records.max(*known);
                    }
                    Limit::Share { attribute, value, share } => {
                        let known = templates.entry((scope.clone(), attribute, value)).or_insert(share);
                        *known = known.and(share);
                    }
                }
            }
        }
        min_records.retain(|_, records| *records > 1);
        let template = |((scope, attribute, value), share)| Template { scope, attribute, value, share };
        Self { templates: templates.into_iter().map(template).collect(), min_records, other_models, masked }
    }

    /// By column, the minimum number of records per group over all scopes that contain the column.
    pub(super) fn min_records_by_column(&self) -> Vec<u64> {
        let of_column = |column: usize| self.min_records.iter().filter(move |(scope, _)| scope.contains(&column));
        (0..self.masked.len())
            .map(|column| of_column(column).map(|(_, min_records)| *min_records).max().unwrap_or(1))
            .collect()
    }

    /// The distinct scopes of templates and minimum sizes.
    pub(super) fn scopes(&self) -> Vec<&Vec<usize>> {
        let mut scopes: Vec<&Vec<usize>> = self.templates.iter().map(|template| &template.scope).collect();
        scopes.extend(self.min_records.keys());
        scopes.sort_unstable();
        scopes.dedup();
        scopes
    }

    /// Estimated memory of the counts of all rows, in bytes.
    pub(super) fn bytes(&self, profile: &Profile) -> u64 {
        let rows = |scope: &[usize]| {
            let sizes = scope.iter().map(|&column| profile.columns()[column].domain.len() as u64);
            sizes.fold(1, u64::saturating_mul).min(profile.tuples() as u64)
        };
        // Per row: its codes, its index by code and its group; and a count for each template.
        let scopes = self.scopes();
        let row_bytes: u64 = scopes.iter().map(|scope| rows(scope).saturating_mul(8 * scope.len() as u64 + 12)).sum();
        let counts = self.templates.iter().map(|template| rows(&template.scope).saturating_mul(4));
        row_bytes.saturating_add(counts.fold(0, u64::saturating_add))
    }
}
