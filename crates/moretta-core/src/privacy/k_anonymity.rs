//! k-anonymity (Samarati, Sweeney 1998): nobody stands out from fewer than `k` records.

use super::{BoundModel, Group, Limit, ModelEntry, ModelError, ModelFacts, PrivacyModel, every_column};
use crate::{ids::ColumnId, profile::Profile, text::count};

pub(super) const ENTRY: ModelEntry = ModelEntry {
    name: "k-anonymity",
    summary: "every released combination of quasi-identifier values is shared by at least k records",
    example: "[privacy]\nk = 10",
    from_policy: |policy| {
        policy.privacy.k.map(|k| Box::new(KAnonymity { k }) as Box<dyn PrivacyModel>).into_iter().collect()
    },
};

/// At least `k` records in every group.
#[derive(Debug, Clone, Copy)]
pub struct KAnonymity {
    /// The least number of records.
    pub k: u64,
}

struct Bound {
    k: u64,
    scope: Vec<ColumnId>,
}

impl PrivacyModel for KAnonymity {
    fn bind(&self, profile: &Profile) -> Result<Vec<Box<dyn BoundModel>>, ModelError> {
        Ok(vec![Box::new(Bound { k: self.k, scope: every_column(profile) })])
    }
}

impl BoundModel for Bound {
    fn describe(&self) -> String {
        format!("k-anonymity (k = {})", self.k)
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        group.records() as f64 - self.k as f64
    }

    fn holds(&self, group: &Group<'_>) -> bool {
        group.records() >= self.k
    }

    fn least_records(&self) -> u64 {
        self.k
    }

    fn limits(&self) -> Option<Vec<Limit>> {
        Some(vec![Limit::Records(self.k)])
    }

    fn figure(&self, group: &Group<'_>) -> String {
        match group.records() {
            1 => "1 record".to_owned(),
            n => format!("{} records", count(n)),
        }
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::KAnonymity { k: self.k }
    }
}
