//! `[privacy]`: the models that a policy asks for.

use std::{any::Any, sync::Arc};

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{BoundModels, KAnonymity, MODELS, ModelEntry, ModelError, PrivacyModel, SectionForm};
use crate::{
    declaration::{ColumnPolicy, Columns},
    document::{Fields, PolicyError, TomlTable, section, section_at},
    profile::Tables,
    schema::Role,
    text::shown,
};

const MAX_SUPPRESSED: &str = "max-suppressed";

/// The conditions that must hold in the release.
#[derive(Debug, Clone, Default)]
pub struct Privacy {
    /// The share of records that may be suppressed, 0 to 1.
    pub max_suppressed: f64,
    /// The models, in the order of the registry. A policy that was read has at least one that is not trivial.
    pub models: Vec<Arc<dyn PrivacyModel>>,
}

impl PartialEq for Privacy {
    fn eq(&self, other: &Self) -> bool {
        let same = |(one, other): (&Arc<dyn PrivacyModel>, &Arc<dyn PrivacyModel>)| **one == **other;
        self.max_suppressed == other.max_suppressed
            && self.models.len() == other.models.len()
            && self.models.iter().zip(&other.models).all(same)
    }
}

impl Privacy {
    /// The models of one type.
    pub fn all<T: Any>(&self) -> impl Iterator<Item = &T> {
        self.models.iter().filter_map(|model| model.get())
    }

    /// The first model of a type, for models that a policy has at most once.
    pub fn first<T: Any>(&self) -> Option<&T> {
        self.all().next()
    }

    /// The k of k-anonymity; `None` if the policy does not ask for it.
    pub fn k(&self) -> Option<u64> {
        self.first::<KAnonymity>().map(|model| model.k)
    }

    /// Sets or removes k-anonymity; the other models stay.
    pub fn set_k(&mut self, k: Option<u64>) {
        self.models.retain(|model| model.get::<KAnonymity>().is_none());
        if let Some(k) = k {
            self.models.insert(0, Arc::new(KAnonymity { k }));
        }
    }

    /// The models that cannot be judged without persons, in words.
    pub fn of_persons(&self) -> Vec<String> {
        let name = |model: &Arc<dyn PrivacyModel>| {
            let name = MODELS.iter().find(|entry| entry.key == model.key()).map_or(model.key(), |entry| entry.name);
            let section = model.section();
            match section.get("column").and_then(|column| column.as_str()) {
                Some(column) => format!("{name} of `{}`", shown(column)),
                None => name.to_owned(),
            }
        };
        self.models.iter().filter(|model| model.depends_on_persons()).map(name).collect()
    }

    /// The conditions that can be judged in a file without persons: the models that do not depend on persons, and the
    /// conditions on records that follow from the others.
    pub(crate) fn without_persons(&self) -> Self {
        let on_file = |model: &Arc<dyn PrivacyModel>| {
            if model.depends_on_persons() { model.implied_on_records() } else { Some(Arc::clone(model)) }
        };
        Self { models: self.models.iter().filter_map(on_file).collect(), ..*self }
    }

    /// The models that not every table satisfies.
    fn guarantees(&self) -> impl Iterator<Item = &Arc<dyn PrivacyModel>> {
        self.models.iter().filter(|model| !model.is_trivial())
    }

    /// Whether k-anonymity is the only guarantee.
    pub fn has_k_alone(&self) -> bool {
        self.guarantees().all(|model| model.get::<KAnonymity>().is_some())
    }

    /// Maximum number of suppressed records in a table with this many records.
    pub fn allowed_records(&self, records: u64) -> u64 {
        // A share such as 0.02 is not exact in binary: 2 % of 100 is 2.
        (self.max_suppressed * records as f64 + 1e-9).floor() as u64
    }

    /// Binds every model.
    pub fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let mut bound = BoundModels::default();
        for model in &self.models {
            bound.extend(model.bind(tables)?);
        }
        Ok(bound)
    }

    /// The sensitive columns that no model guards.
    pub fn unguarded<'c>(&self, columns: &'c [ColumnPolicy]) -> Vec<&'c str> {
        let guarded: Vec<String> = self.guarantees().flat_map(|model| model.guards(columns)).collect();
        let sensitive = columns.iter().filter(|column| column.role == Role::Sensitive);
        sensitive.map(|column| column.name.as_str()).filter(|name| !guarded.iter().any(|known| known == name)).collect()
    }

    /// The quasi-identifiers that no model assumes an attacker to know.
    pub fn taken_as_unknown<'c>(&self, columns: &'c [ColumnPolicy]) -> Vec<&'c str> {
        let known: Vec<String> = self.guarantees().flat_map(|model| model.assumes_known(columns)).collect();
        let quasi = columns.iter().filter(|column| column.role == Role::QuasiIdentifier);
        quasi.map(|column| column.name.as_str()).filter(|name| !known.iter().any(|other| other == name)).collect()
    }

    /// Reads `[privacy]` and every section below it.
    pub fn read(policy: &Fields<'_>, columns: &[ColumnPolicy]) -> Result<Self, PolicyError> {
        let Some(table) = section(policy.table, "privacy")? else {
            return Err(policy.error("the policy has no [privacy]: it states no guarantee").help(guarantee_help()));
        };
        let fields = Fields::new(table, "[privacy]", &Self::keys())?;
        let columns = Columns::new(columns);
        let accepted = "a share of the records, from 0 to 1 (usual: 0 to 0.05)";
        let max_suppressed = fields.number(MAX_SUPPRESSED, accepted, |share| (0.0..=1.0).contains(&share))?;
        let mut privacy = Self { max_suppressed: max_suppressed.unwrap_or(0.0), models: Vec::new() };
        for entry in MODELS {
            for fields in sections(&fields, entry)? {
                privacy.models.push((entry.read)(&fields, &columns)?);
            }
        }
        privacy.check_guarantee(&fields)?;
        Ok(privacy)
    }

    /// The keys of `[privacy]`.
    pub(crate) fn keys() -> Vec<&'static str> {
        let models = |is_key: bool| MODELS.iter().filter(move |entry| (entry.form == SectionForm::Key) == is_key);
        let keys = models(true).map(|entry| entry.key).chain([MAX_SUPPRESSED]);
        keys.chain(models(false).map(|entry| entry.key)).collect()
    }

    /// Refuses a policy that every table satisfies: a release is proved against the policy, and a proof of nothing
    /// looks like a proof of something.
    fn check_guarantee(&self, fields: &Fields<'_>) -> Result<(), PolicyError> {
        if self.guarantees().next().is_some() {
            return Ok(());
        }
        let error = match fields.item("k") {
            Some(item) if self.models.len() == 1 => {
                PolicyError::new(&item.span, "`k` is 1 and nothing else is asked: that guarantees nothing")
            }
            None if self.models.is_empty() => fields.error("[privacy] states no guarantee"),
            _ => fields.error("[privacy] guarantees nothing: every table satisfies what it asks for"),
        };
        Err(error.help(guarantee_help()))
    }
}

/// The sections of a model, each with its keys checked.
fn sections<'t>(privacy: &Fields<'t>, entry: &ModelEntry) -> Result<Vec<Fields<'t>>, PolicyError> {
    let header = entry.header();
    let tables: Vec<&TomlTable> = match entry.form {
        SectionForm::Key => privacy.item(entry.key).map(|_| privacy.table).into_iter().collect(),
        SectionForm::Table => {
            let path = format!("privacy.{}", entry.key);
            section_at(privacy.table, entry.key, &path)?.into_iter().collect()
        }
        SectionForm::List => privacy.tables(entry.key, &header)?,
    };
    let keys = if entry.form == SectionForm::Key { Privacy::keys() } else { entry.keys.to_vec() };
    tables.into_iter().map(|table| Fields::new(table, header.clone(), &keys)).collect()
}

/// Help for a policy without a guarantee.
fn guarantee_help() -> String {
    let others = MODELS.iter().filter(|entry| entry.form != SectionForm::Key).map(ModelEntry::header);
    let others: Vec<String> = others.collect();
    let (last, others) = others.split_last().expect("models other than k");
    format!("ask for `k` of at least 2 (usual: 5 to 50), or add {} or {last}", others.join(", "))
}

/// Writes the section as in a policy: the models under their keys, in the order of the registry. Models that are not in
/// the registry come last; a policy with such a model cannot be parsed again, because its key is unknown.
impl Serialize for Privacy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for key in Self::keys() {
            match key {
                MAX_SUPPRESSED => map.serialize_entry(key, &self.max_suppressed)?,
                _ => self.serialize_models(&mut map, key)?,
            }
        }
        let mut others: Vec<&str> = self.models.iter().map(|model| model.key()).collect();
        others.retain(|key| MODELS.iter().all(|entry| entry.key != *key));
        others.sort_unstable();
        others.dedup();
        others.into_iter().try_for_each(|key| self.serialize_models(&mut map, key))?;
        map.end()
    }
}

impl Privacy {
    /// Writes the models of a key: a list if the registry says so, or if there are several.
    fn serialize_models<M: SerializeMap>(&self, map: &mut M, key: &str) -> Result<(), M::Error> {
        let sections: Vec<_> =
            self.models.iter().filter(|model| model.key() == key).map(|model| model.section()).collect();
        let is_list = MODELS.iter().any(|entry| entry.key == key && entry.form == SectionForm::List);
        match sections.as_slice() {
            [] => Ok(()),
            [section] if !is_list => map.serialize_entry(key, section),
            sections => map.serialize_entry(key, sections),
        }
    }
}
