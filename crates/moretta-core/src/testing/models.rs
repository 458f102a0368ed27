//! Privacy models for tests, of kinds that the registry does not contain: models that judge the table as a whole, need
//! a second table, or are not closed under union. A test adds them to a policy as a program would add its own model.

use std::sync::Arc;

use hashbrown::HashMap;
use serde::Serialize;

use crate::{
    declaration::ColumnPolicy,
    group_sizes::GroupSizes,
    hierarchy::{Domain, LabelReader},
    ids::{AttributeId, ColumnId, TupleId},
    privacy::{
        BoundModel, BoundModels, BoundTableModel, Description, Figure, Group, ModelError, ModelFacts, PrivacyModel,
        Sentence, attribute_named, every_column, names_of,
    },
    profile::{Profile, SecondTable, Tables},
    schema::Role,
    testing::conformance::Printed,
};

/// Limit on the average re-identification risk. The risk of a record is 1 / size of its group, so the average over all
/// records is groups / records. The model judges the table as a whole.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct AverageRisk {
    /// Maximum of groups / records; above 0, at most 1.
    #[serde(rename = "most")]
    pub max_risk: f64,
}

impl PrivacyModel for AverageRisk {
    fn key(&self) -> &'static str {
        "average-risk"
    }

    fn section(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn sentence(&self, _: &[ColumnPolicy]) -> Sentence {
        Sentence::default().text("the average risk is at most ").share(self.max_risk)
    }

    fn guards(&self, _: &[ColumnPolicy]) -> Vec<String> {
        Vec::new()
    }

    fn assumes_known(&self, columns: &[ColumnPolicy]) -> Vec<String> {
        names_of(columns, Role::QuasiIdentifier)
    }

    fn is_trivial(&self) -> bool {
        self.max_risk >= 1.0
    }

    fn bind(&self, _: &Tables<'_>) -> Result<BoundModels, ModelError> {
        Ok(BoundModels::of_table(*self))
    }
}

impl AverageRisk {
    /// Whether a printed table satisfies the model, computed directly from the definition.
    pub fn holds_naively(&self, printed: &Printed<'_>) -> bool {
        let groups = printed.groups(&printed.quasi_identifiers());
        let sizes: usize = groups.iter().map(|group| printed.size(group)).sum();
        groups.len() as f64 <= self.max_risk * sizes as f64 + 1e-9
    }
}

impl BoundTableModel for AverageRisk {
    fn describe(&self) -> Description {
        Description::new("average-risk", "average risk", format!("at most {}", self.max_risk))
    }

    fn is_closed_under_union(&self) -> bool {
        true
    }

    fn margin(&self, sizes: &GroupSizes) -> f64 {
        let risk = sizes.groups() as f64 / sizes.records().max(1) as f64;
        let margin = (self.max_risk - risk) / self.max_risk;
        if margin.abs() < 1e-9 { 0.0 } else { margin }
    }

    fn figure(&self, sizes: &GroupSizes) -> Figure {
        let risk = sizes.groups() as f64 / sizes.records().max(1) as f64;
        Figure::new(risk, format!("average risk {risk:.3}"))
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(*self)
    }
}

/// k-map: at least `k` people of a population match the labels of each group. The population is a second table.
///
/// This version counts all people whose values the labels cover, which is exact for local recoding without suppression.
/// If labels are nested or records are suppressed, some of these people would be released under other labels; a
/// complete implementation of k-map would not count them.
#[derive(Debug, Clone, Serialize)]
pub struct KMap {
    /// Minimum number of matching people per group.
    pub k: u64,
    /// Name of the population's file.
    pub population: String,
}

struct BoundKMap {
    model: KMap,
    population: Arc<SecondTable>,
    /// For each tuple of the table, the number of people with the same values.
    people_by_tuple: Vec<u64>,
    scope: Vec<ColumnId>,
}

impl PrivacyModel for KMap {
    fn key(&self) -> &'static str {
        "k-map"
    }

    fn section(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn sentence(&self, columns: &[ColumnPolicy]) -> Sentence {
        let names = names_of(columns, Role::QuasiIdentifier);
        Sentence::default()
            .text(format!("at least {} people of the population match every released combination of ", self.k))
            .names(&names, "and")
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

    fn second_tables(&self) -> Vec<String> {
        vec![self.population.clone()]
    }

    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let population = tables.second(&self.population);
        let population = population.ok_or_else(|| ModelError("k-map needs the table of the population".to_owned()))?;
        let people_by_tuple = people_by_tuple(population.profile(), tables.table);
        let (population, scope) = (Arc::clone(population), every_column(tables.table));
        Ok(BoundModels::of_group(BoundKMap { model: self.clone(), population, people_by_tuple, scope }))
    }
}

/// For each tuple of a table, the number of people with the same texts in all columns.
fn people_by_tuple(population: &Profile, table: &Profile) -> Vec<u64> {
    let mut people: HashMap<Vec<&str>, u64> = HashMap::new();
    for tuple in (0..population.tuples() as u32).map(TupleId) {
        *people.entry(texts(population, tuple)).or_default() += population.tuple_records(tuple);
    }
    let tuples = (0..table.tuples() as u32).map(TupleId);
    tuples.map(|tuple| people.get(&texts(table, tuple)).copied().unwrap_or(0)).collect()
}

/// Number of people whose values are all covered by the released labels. A label that cannot be read covers no value.
fn people_covered_by(population: &Profile, labels: &[&str]) -> u64 {
    let columns = population.columns().iter().zip(labels);
    let covered: Vec<Vec<bool>> = columns.map(|(column, label)| covered(&column.domain, label)).collect();
    let inside =
        |tuple: &TupleId| population.codes(*tuple).iter().zip(&covered).all(|(&code, covered)| covered[code as usize]);
    let tuples = (0..population.tuples() as u32).map(TupleId).filter(inside);
    tuples.map(|tuple| population.tuple_records(tuple)).sum()
}

fn texts(profile: &Profile, tuple: TupleId) -> Vec<&str> {
    profile.codes(tuple).iter().zip(profile.columns()).map(|(&code, column)| column.domain.text(code)).collect()
}

/// For each code, whether the label covers it.
fn covered(domain: &Domain, label: &str) -> Vec<bool> {
    let mut covered = vec![false; domain.len()];
    LabelReader::new(domain).codes_inside(label).into_iter().for_each(|code| covered[code as usize] = true);
    covered
}

impl BoundKMap {
    /// Number of people who match the labels of a group. During a search a group has no labels; then the number of
    /// people who have the values of one of its tuples.
    fn people(&self, group: &Group<'_>) -> u64 {
        let labels: Option<Vec<&str>> = self.scope.iter().map(|column| group.label(*column)).collect();
        match labels {
            Some(labels) => people_covered_by(self.population.profile(), &labels),
            None => {
                let mut tuples: Vec<usize> =
                    group.members().iter().map(|member| group.profile().tuple_of(member.variant).index()).collect();
                tuples.sort_unstable();
                tuples.dedup();
                tuples.into_iter().map(|tuple| self.people_by_tuple[tuple]).sum()
            }
        }
    }
}

impl BoundModel for BoundKMap {
    fn describe(&self) -> Description {
        Description::new("k-map", "k-map", format!("k = {}", self.model.k))
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn is_closed_under_union(&self) -> bool {
        true
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        let k = self.model.k as f64;
        (self.people(group) as f64 - k) / k
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        let people = self.people(group);
        Figure::new(people as f64, format!("{people} people"))
    }

    fn has_tuple_data(&self) -> bool {
        true
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.model.clone())
    }
}

/// delta-disclosure as it is often implemented: values that do not occur in a group are ignored. This model is *not*
/// closed under union: if one group lacks a value and another has a small share of it, their union may have too small a
/// share.
#[derive(Debug, Clone, Serialize)]
pub struct LaxDisclosure {
    /// Name of the guarded column.
    pub column: String,
    /// Maximum of |log2(share in the group / share in the table)| over the values in the group.
    pub delta: f64,
    /// Return value of `is_closed_under_union`. `false` is correct; `true` lets a test check that a wrong claim is
    /// detected.
    pub claims_closure: bool,
}

struct BoundLaxDisclosure {
    model: LaxDisclosure,
    attribute: AttributeId,
    /// Share of each value in the table.
    shares: Vec<f64>,
    scope: Vec<ColumnId>,
}

impl PrivacyModel for LaxDisclosure {
    fn key(&self) -> &'static str {
        "lax-disclosure"
    }

    fn section(&self) -> serde_json::Value {
        serde_json::json!(self)
    }

    fn sentence(&self, _: &[ColumnPolicy]) -> Sentence {
        Sentence::default().text("no value in a group is much more or much less frequent there than in the table")
    }

    fn guards(&self, _: &[ColumnPolicy]) -> Vec<String> {
        vec![self.column.clone()]
    }

    fn assumes_known(&self, columns: &[ColumnPolicy]) -> Vec<String> {
        names_of(columns, Role::QuasiIdentifier)
    }

    fn is_trivial(&self) -> bool {
        false
    }

    fn bind(&self, tables: &Tables<'_>) -> Result<BoundModels, ModelError> {
        let attribute = attribute_named(tables.table, &self.column)?;
        let (shares, scope) = (tables.table.shares(attribute), every_column(tables.table));
        Ok(BoundModels::of_group(BoundLaxDisclosure { model: self.clone(), attribute, shares, scope }))
    }
}

impl LaxDisclosure {
    /// Whether a printed table satisfies the model, computed directly from the definition.
    pub fn holds_naively(&self, printed: &Printed<'_>) -> bool {
        let column = printed.column(&self.column);
        let everything = column.everything();
        let table = column.counts(&everything);
        let holds = |group: &[usize]| {
            column.counts(group).iter().all(|(value, count)| {
                let share = *count as f64 / column.total(group) as f64;
                (share / (table[value] as f64 / column.total(&everything) as f64)).log2().abs() <= self.delta + 1e-9
            })
        };
        printed.verdict(&printed.quasi_identifiers(), holds).holds
    }
}

impl BoundLaxDisclosure {
    /// Maximum of |log2(share in the group / share in the table)| over the values in the group.
    fn worst(&self, group: &Group<'_>) -> f64 {
        let ratio = |&(value, records): &(u32, u64)| {
            (records as f64 / group.total(self.attribute) as f64 / self.shares[value as usize]).log2().abs()
        };
        group.histogram(self.attribute).iter().map(ratio).fold(0.0, f64::max)
    }
}

impl BoundModel for BoundLaxDisclosure {
    fn describe(&self) -> Description {
        Description::new("lax-disclosure", "lax disclosure", format!("delta = {}", self.model.delta))
    }

    fn scope(&self) -> &[ColumnId] {
        &self.scope
    }

    fn is_closed_under_union(&self) -> bool {
        self.model.claims_closure
    }

    fn margin(&self, group: &Group<'_>) -> f64 {
        let margin = (self.model.delta - self.worst(group)) / self.model.delta;
        if margin.abs() < 1e-9 { 0.0 } else { margin }
    }

    fn figure(&self, group: &Group<'_>) -> Figure {
        let worst = self.worst(group);
        Figure::new(worst, format!("a share changed by {worst:.2} bits"))
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts::new(self.model.clone())
    }
}
