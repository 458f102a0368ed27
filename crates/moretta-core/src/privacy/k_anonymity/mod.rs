//! k-anonymity (Samarati and Sweeney 1998): every released combination of quasi-identifier values is shared by at least
//! `k` records, so each record is indistinguishable from at least `k - 1` others.

#[cfg(any(test, feature = "testing"))]
mod conformance;

use std::sync::Arc;

use serde::Serialize;

use super::{
    BoundModel, BoundModels, Description, Figure, Group, Limit, ModelEntry, ModelError, ModelFacts, PrivacyModel,
    SectionForm, Sentence, every_column, names_of, unit_of,
};
use crate::{
    declaration::ColumnPolicy,
    ids::ColumnId,
    profile::Tables,
    schema::{Role, Unit},
    text::count,
};

/// Accepted values of `k`, for the error messages of this model and of others with a `k`.
pub(super) const ACCEPTED_K: &str = "a whole number of at least 1 (usual: 5 to 50)";

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "k-anonymity",
    key: "k",
    form: SectionForm::Key,
    keys: &[],
    summary: "every released combination of quasi-identifier values is shared by at least k records",
    example: "[privacy]\nk = 10",
    read: |fields, _| Ok(Arc::new(KAnonymity { k: fields.required("k", ACCEPTED_K, fields.whole("k", ACCEPTED_K)?)? })),
    draft: |_| None,
    #[cfg(any(test, feature = "testing"))]
    conformance: conformance::CONFORMANCE,
};

/// Every group contains at least `k` records or, if the table has a person column, records of at least `k` persons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct KAnonymity {
    /// Minimum size of a group; at least 1.
    pub k: u64,
}

struct BoundKAnonymity {
    model: KAnonymity,
    scope: Vec<ColumnId>,
    unit: Unit,
}

impl PrivacyModel for KAnonymity {
    fn key(&self) -> &'static str {
        ENTRY.key
    }

    fn section(&self) -> serde_json::Value {
        self.k.into()
    }

    fn sentence(&self, columns: &[ColumnPolicy]) -> Sentence {
        let names = names_of(columns, Role::QuasiIdentifier);
        let subject = if names.len() == 1 { "every value of " } else { "every combination of " };
        let predicate = format!(" is shared by at least {} {}", count(self.k), unit_of(columns).plural());
        Sentence::default().text(subject).names(&names, "and").text(predicate)
    }

    fn guards(&self, _: &[ColumnPolicy]) -> Vec<String> {
        Vec::new()
    }

    fn assumes_known(&self, columns: &[ColumnPolicy]) -> Vec<String> {
        names_of(columns, Role::QuasiIdentifier)
    }

    fn is_trivial(&self) -> bool {
        self.k <= 1
    }

    /// k persons have at least k records.
    fn implied_on_records(&self) -> Option<Arc<dyn PrivacyModel>> {
        Some(Arc::new(*self))
    }

    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let (scope, unit) = (every_column(tables.table), tables.table.unit());
        Ok(BoundModels::of_group(BoundKAnonymity { model: *self, scope, unit }))
    }
}

impl BoundModel for BoundKAnonymity {
    fn describe(&self) -> Description {
        let counted = if self.unit == Unit::Persons { " persons" } else { "" };
        Description::new(ENTRY.key, ENTRY.name, format!("k = {}{counted}", self.model.k))
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn is_closed_under_union(&self) -> bool {
        true
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        let k = self.model.k as f64;
        (group.size() as f64 - k) / k
    }

    fn holds(&self, group: &Group<'_>) -> bool {
        group.size() >= self.model.k
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        Figure::new(group.size() as f64, self.unit.counted(group.size()))
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.model)
    }

    fn min_records(&self) -> u64 {
        self.model.k
    }

    fn limits(&self) -> Option<Vec<Limit>> {
        // A count of records does not say how many persons there are.
        (self.unit == Unit::Records).then(|| vec![Limit::Records(self.model.k)])
    }
}
