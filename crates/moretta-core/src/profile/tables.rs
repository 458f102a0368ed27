//! The table to be released, and the second tables that some privacy models need.

use std::sync::Arc;

use hashbrown::HashMap;

use super::Profile;
use crate::{
    counts::Counts,
    declaration::{ColumnPolicy, Declaration, InputOptions, ReleaseOptions},
    hierarchy::{Domain, DomainError, Hierarchies, LabelReader},
    ids::TupleId,
    schema::Role,
};

/// The tables that privacy models are bound to.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'a> {
    /// The table to be released, or a released file.
    pub table: &'a Profile,
    /// Second tables by the name that a model gives them.
    pub others: &'a [Arc<SecondTable>],
}

impl<'a> Tables<'a> {
    /// One table, without a second one.
    pub fn of(table: &'a Profile) -> Self {
        Self { table, others: &[] }
    }

    /// The second table of a name.
    pub fn second(&self, name: &str) -> Option<&'a Arc<SecondTable>> {
        self.others.iter().find(|other| other.name == name)
    }
}

/// A table beside the one to be released, such as the population that it was drawn from, or an earlier release: the
/// records by quasi-identifier values.
#[derive(Debug)]
pub struct SecondTable {
    /// The name that a model gives it.
    pub name: String,
    profile: Profile,
}

/// A declaration of quasi-identifiers only: a population register has no sensitive columns.
struct QuasiIdentifiers<'a, D: Declaration> {
    columns: Vec<ColumnPolicy>,
    policy: &'a D,
}

impl<D: Declaration> Declaration for QuasiIdentifiers<'_, D> {
    fn columns(&self) -> &[ColumnPolicy] {
        &self.columns
    }

    fn input(&self) -> &InputOptions {
        self.policy.input()
    }

    fn release(&self) -> &ReleaseOptions {
        self.policy.release()
    }
}

impl SecondTable {
    /// The columns that an engine must group: the quasi-identifiers.
    pub fn grouped_columns(policy: &impl Declaration) -> Vec<String> {
        policy.quasi_identifiers().map(|column| column.name.clone()).collect()
    }

    /// From the distinct rows of the quasi-identifiers. The hierarchies are those of the policy.
    pub fn build(
        name: impl Into<String>,
        policy: &impl Declaration,
        hierarchies: &Hierarchies,
        counts: &Counts,
    ) -> Result<Self, DomainError> {
        let quasi = policy.columns().iter().filter(|column| column.role == Role::QuasiIdentifier);
        let declared = QuasiIdentifiers { columns: quasi.cloned().collect(), policy };
        Ok(Self { name: name.into(), profile: Profile::build(&declared, hierarchies, counts)? })
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.profile.records()
    }

    /// For each tuple of another table, the records here with the same texts.
    pub fn records_of_tuples(&self, table: &Profile) -> Vec<u64> {
        let mut known: HashMap<Vec<&str>, u64> = HashMap::new();
        for tuple in (0..self.profile.tuples() as u32).map(TupleId) {
            *known.entry(texts(&self.profile, tuple)).or_default() += self.profile.tuple_records(tuple);
        }
        let tuples = (0..table.tuples() as u32).map(TupleId);
        tuples.map(|tuple| known.get(&texts(table, tuple)).copied().unwrap_or(0)).collect()
    }

    /// The records here whose values all lie in the released labels. A label that is no form of its column covers no
    /// record. Cost: one pass over the distinct tuples.
    pub fn records_in(&self, labels: &[&str]) -> u64 {
        let columns = self.profile.columns().iter().zip(labels);
        let covered: Vec<Vec<bool>> = columns.map(|(column, label)| covered(&column.domain, label)).collect();
        let inside = |tuple: &TupleId| {
            self.profile.codes(*tuple).iter().zip(&covered).all(|(&code, covered)| covered[code as usize])
        };
        let tuples = (0..self.profile.tuples() as u32).map(TupleId).filter(inside);
        tuples.map(|tuple| self.profile.tuple_records(tuple)).sum()
    }
}

fn texts(profile: &Profile, tuple: TupleId) -> Vec<&str> {
    profile.codes(tuple).iter().zip(profile.columns()).map(|(&code, column)| column.domain.text(code)).collect()
}

/// By code, whether a label covers it.
fn covered(domain: &Domain, label: &str) -> Vec<bool> {
    let mut covered = vec![false; domain.len()];
    LabelReader::new(domain).codes_inside(label).into_iter().for_each(|code| covered[code as usize] = true);
    covered
}
