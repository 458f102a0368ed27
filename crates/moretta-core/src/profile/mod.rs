//! The profile of a table: its distinct tuples and variants with counts. A method sees nothing else of a table.
//!
//! An engine groups and counts the records ([`Counts`]). [`Profile::build`] gives every quasi-identifier its
//! [`Domain`], replaces values by their codes and sorts the tuples, so that the profile depends on the data alone and
//! not on how the engine divided its work. See [`ids`](crate::ids) for tuples and variants. Memory is linear in the
//! number of variants, not of records.

mod assemble;
mod attribute;
mod coarse;
mod fold;
mod label_domains;
mod order;
mod part;
mod persons;
mod read_values;
mod tables;

use std::{borrow::Cow, sync::OnceLock};

pub use self::attribute::Attribute;
pub(crate) use self::order::sorted_rows;
pub use self::tables::{SecondTable, Tables};

use hashbrown::HashSet;

use self::{
    attribute::Spelling,
    persons::UnitColumn,
    read_values::{ReadValues, infer_kind},
};
use crate::{
    counts::{CountedColumn, Counts},
    declaration::{ColumnPolicy, Declaration, Labels},
    hierarchy::{Domain, DomainError, DomainProblem, Hierarchies, HierarchyChoice, OccurringValues},
    ids::{AttributeId, ColumnId, TupleId, VariantId},
    notation::Notation,
    schema::{Kind, MissingRule, Role},
};

/// A quasi-identifier column of a profile.
#[derive(Debug, Clone)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Weight of its information loss.
    pub weight: f64,
    /// Its values and the cells that may be released in their place.
    pub domain: Domain,
    /// Notation of numbers in the domain's texts: plain, except for the labels of a released file.
    pub notation: Notation,
}

/// Distinct tuples and variants with counts. Tuples are sorted by their codes, the variants of a tuple by theirs.
#[derive(Debug, Clone)]
pub struct Profile {
    columns: Vec<Column>,
    attributes: Vec<Attribute>,
    records: u64,
    tuple_codes: Vec<u32>,
    tuple_offsets: Vec<u32>,
    tuple_records: Vec<u64>,
    variant_tuples: Vec<TupleId>,
    variant_codes: Vec<u32>,
    variant_records: Vec<u64>,
    variant_first: Option<Vec<u64>>,
    /// `None` if the table has no person column; then records are counted.
    persons: Option<UnitColumn>,
    households: Option<UnitColumn>,
    rows: Vec<VariantId>,
    /// Filled on first use.
    code_records: OnceLock<Vec<Vec<u64>>>,
}

/// Some of a variant's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct VariantCount {
    /// Id in the profile.
    pub variant: VariantId,
    /// Number of its records, at most all of them.
    pub records: u64,
}

impl Profile {
    /// Columns of an original table that an engine must group for this policy: quasi-identifiers first, then sensitive
    /// and class columns, then the person and the household.
    pub fn grouped_columns(policy: &impl Declaration) -> Vec<String> {
        Self::declared(policy).map(|column| column.name.clone()).collect()
    }

    /// Columns of a released file that an engine must group for this policy: it has no persons and no households.
    pub fn released_columns(policy: &impl Declaration) -> Vec<String> {
        policy.quasi_identifiers().chain(policy.attributes()).map(|column| column.name.clone()).collect()
    }

    fn declared(policy: &impl Declaration) -> impl Iterator<Item = &ColumnPolicy> {
        policy.quasi_identifiers().chain(policy.attributes()).chain(policy.person()).chain(policy.household())
    }

    /// Profile of a table under a policy. `hierarchies` has the hierarchy files that the policy names.
    pub fn build(policy: &impl Declaration, hierarchies: &Hierarchies, counts: &Counts) -> Result<Self, DomainError> {
        let notation = policy.input().notation();
        Self::from_columns(policy, hierarchies, (counts, notation), false, |position, declared, notation| {
            let missing = missing_values(policy, declared, counts, position)?;
            let counted = (&counts.columns[position], &missing[..]);
            let ReadValues { kind, counted } = ReadValues::of(declared, None, counted, notation)?;
            // Records per value are needed only for a hierarchy built from the data.
            let built = matches!(declared.hierarchy, HierarchyChoice::Built(_));
            let records = if built { counts.records_of(position) } else { Vec::new() };
            let occurring = OccurringValues { column: &counted, missing: &missing, records: &records };
            let (parser, tree) = (declared.parser(kind), hierarchies.get(&declared.name));
            let translated = tree.filter(|_| kind == Kind::Number && !notation.is_plain());
            let translated = translated.map(|tree| tree.relabeled(|label| notation.label(label).map(Cow::into_owned)));
            let tree = translated.as_ref().or(tree);
            let (domain, map) = Domain::bind(occurring, &parser, &declared.hierarchy, tree, declared.missing)?;
            if policy.release().labels == Labels::Set && kind == Kind::Category {
                check_sets(&counted, &domain, &map)?;
            }
            Ok((domain, map))
        })
    }

    /// Profile of a released file: every released text is a value of its own. The counts are those of the
    /// [`released_columns`](Self::released_columns), so the profile has no persons.
    pub fn of_release(
        policy: &impl Declaration,
        hierarchies: &Hierarchies,
        counts: &Counts,
    ) -> Result<Self, DomainError> {
        let counted = (counts, policy.release_notation());
        Self::from_columns(policy, hierarchies, counted, true, |position, _, _| {
            Ok(Domain::opaque(&counts.columns[position]))
        })
    }

    /// `domain` returns the domain of the quasi-identifier at an index, whose numbers are in a notation, and the map
    /// from its raw codes to the domain's. The texts of a `released` file stay in the notation of the file.
    fn from_columns(
        policy: &impl Declaration,
        hierarchies: &Hierarchies,
        (counts, notation): (&Counts, Notation),
        released: bool,
        domain: impl Fn(usize, &ColumnPolicy, Notation) -> Result<(Domain, Vec<u32>), DomainError>,
    ) -> Result<Self, DomainError> {
        let (mut columns, mut attributes, mut codes) = (Vec::new(), Vec::new(), Vec::new());
        let mut units = [None, None];
        let mut declared_columns = Self::declared(policy);
        for (position, counted) in counts.columns.iter().enumerate() {
            // A file may lack the person and the household.
            let declared = declared_columns.find(|declared| declared.name == counted.name);
            let declared = declared.expect("the engine groups the columns it was asked to, in that order");
            let notation = if counted.typed { Notation::PLAIN } else { notation };
            if declared.role == Role::QuasiIdentifier {
                let (domain, map) = domain(position, declared, notation)?;
                let notation = if released { notation } else { Notation::PLAIN };
                columns.push(Column { name: declared.name.clone(), weight: declared.weight, domain, notation });
                codes.push(map);
            } else if matches!(declared.role, Role::Person | Role::Household) {
                let (unit, map) = UnitColumn::bind(policy, declared, counts, position)?;
                units[usize::from(declared.role == Role::Household)] = Some(unit);
                codes.push(map);
            } else {
                let (missing, tree) =
                    (missing_values(policy, declared, counts, position)?, hierarchies.get(&declared.name));
                let records = || counts.records_of(position);
                let (attribute, map) = Attribute::bind(policy, (counted, notation), declared, tree, &missing, records)?;
                attributes.push(attribute);
                codes.push(map);
            }
        }
        Ok(Self::assemble(columns, attributes, units, &codes, counts))
    }

    fn sizes(&self) -> Vec<usize> {
        let columns = self.columns.iter().map(|column| column.domain.len());
        let attributes = self.attributes.iter().map(|attribute| attribute.values.len());
        let units = self.persons.iter().chain(&self.households).map(|column| column.codes as usize);
        columns.chain(attributes).chain(units).collect()
    }

    /// Bytes of the heap that the profile takes, with the records per code that are counted on first use.
    pub fn bytes(&self) -> u64 {
        let (p, attributes) = (self.columns.len(), self.attributes.len());
        let first = if self.variant_first.is_some() { 8 } else { 0 };
        let arrays =
            self.tuples() * (4 * p + 12) + self.variants() * (4 * attributes + 12 + first) + 4 * self.rows.len();
        let columns = self.columns.iter().map(|column| column.domain.bytes() + 8 * column.domain.len() as u64);
        let units: u64 = self.persons.iter().chain(&self.households).map(UnitColumn::bytes).sum();
        arrays as u64 + units + columns.sum::<u64>() + self.attributes.iter().map(Attribute::bytes).sum::<u64>()
    }

    /// The quasi-identifier columns, in the order of the policy.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The domain of one column.
    pub fn domain(&self, column: ColumnId) -> &Domain {
        &self.columns[column.index()].domain
    }

    /// The domain of one column, to falsify it.
    #[cfg(test)]
    pub(crate) fn domain_mut(&mut self, column: ColumnId) -> &mut Domain {
        &mut self.columns[column.index()].domain
    }

    /// The sensitive and class columns, in the order of the policy.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Sensitive or class column of this name.
    pub fn attribute(&self, name: &str) -> Option<AttributeId> {
        self.attributes.iter().position(|attribute| attribute.name == name).map(AttributeId::from_index)
    }

    /// First class column.
    pub fn class(&self) -> Option<AttributeId> {
        self.attributes.iter().position(|attribute| attribute.role == Role::Class).map(AttributeId::from_index)
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Number of tuples.
    pub fn tuples(&self) -> usize {
        self.tuple_records.len()
    }

    /// Number of variants.
    pub fn variants(&self) -> usize {
        self.variant_records.len()
    }

    /// Number of records of the rarest tuple.
    pub fn smallest_tuple(&self) -> u64 {
        self.tuple_records.iter().copied().min().unwrap_or(0)
    }

    /// The codes of a tuple, one for each column.
    pub fn codes(&self, tuple: TupleId) -> &[u32] {
        let p = self.columns.len();
        &self.tuple_codes[tuple.index() * p..(tuple.index() + 1) * p]
    }

    /// Number of records that have each code of a column. Counted once, on first use: it costs a pass over the tuples.
    pub fn code_records(&self, column: ColumnId) -> &[u64] {
        let counted = self.code_records.get_or_init(|| {
            let mut records: Vec<Vec<u64>> = self.columns.iter().map(|column| vec![0; column.domain.len()]).collect();
            for (codes, tuple_records) in self.tuple_codes.chunks(self.columns.len().max(1)).zip(&self.tuple_records) {
                codes.iter().zip(&mut records).for_each(|(&code, records)| records[code as usize] += tuple_records);
            }
            records
        });
        &counted[column.index()]
    }

    /// Number of records with a tuple.
    pub fn tuple_records(&self, tuple: TupleId) -> u64 {
        self.tuple_records[tuple.index()]
    }

    /// The variants of a tuple.
    pub fn variants_of(&self, tuple: TupleId) -> impl Iterator<Item = VariantId> + use<> {
        (self.tuple_offsets[tuple.index()]..self.tuple_offsets[tuple.index() + 1]).map(VariantId)
    }

    /// The tuple of a variant.
    pub fn tuple_of(&self, variant: VariantId) -> TupleId {
        self.variant_tuples[variant.index()]
    }

    /// Number of records with a variant.
    pub fn variant_records(&self, variant: VariantId) -> u64 {
        self.variant_records[variant.index()]
    }

    /// Number (from 1) of the first record with a variant; `None` if records have no numbers.
    pub fn first_record(&self, variant: VariantId) -> Option<u64> {
        self.variant_first.as_ref().map(|first| first[variant.index()])
    }

    /// The code of a variant's value in a sensitive or class column.
    pub fn value(&self, variant: VariantId, attribute: AttributeId) -> u32 {
        self.variant_codes[variant.index() * self.attributes.len() + attribute.index()]
    }

    /// Variant of a distinct row of the counts. Several rows may be one variant (`1` and `1.0`).
    pub fn variant_of_row(&self, row: usize) -> VariantId {
        self.rows[row]
    }

    fn member(&self, variant: VariantId) -> VariantCount {
        VariantCount { variant, records: self.variant_records(variant) }
    }

    /// All variants of a tuple with all their records.
    pub(crate) fn members_of(&self, tuple: TupleId) -> impl Iterator<Item = VariantCount> {
        self.variants_of(tuple).map(|variant| self.member(variant))
    }

    /// Share of each value of a sensitive or class column, by code: of all records or, if persons are counted, of all
    /// pairs of a person and a value.
    pub fn shares(&self, attribute: AttributeId) -> Vec<f64> {
        let mut records = vec![0u64; self.attributes[attribute.index()].values.len()];
        if let Some(persons) = self.persons_by_value(&self.everything(), attribute) {
            let pairs: u64 = persons.iter().map(|(_, persons)| persons).sum();
            persons.into_iter().for_each(|(value, persons)| records[value as usize] = persons);
            return records.into_iter().map(|persons| persons as f64 / pairs.max(1) as f64).collect();
        }
        for member in self.everything() {
            records[self.value(member.variant, attribute) as usize] += member.records;
        }
        records.into_iter().map(|records| records as f64 / self.records.max(1) as f64).collect()
    }

    /// All variants with all their records.
    pub fn everything(&self) -> Vec<VariantCount> {
        (0..self.variants() as u32).map(|variant| self.member(VariantId(variant))).collect()
    }
}

fn first_by_record(column: &CountedColumn, bad: impl Fn(usize) -> bool) -> Option<usize> {
    (0..column.values.len()).filter(|&raw| bad(raw)).min_by_key(|&raw| (column.first_record(raw), &column.values[raw]))
}

/// The texts of a column that mean a missing value. They are released as they are, whatever the notation of the release.
pub(crate) struct MissingTexts<'a> {
    spelling: Spelling,
    keys: HashSet<Cow<'a, str>>,
}

impl<'a> MissingTexts<'a> {
    /// `typed` as in [`CountedColumn::typed`].
    pub(crate) fn of(policy: &'a impl Declaration, declared: &'a ColumnPolicy, typed: bool) -> Self {
        // A spelling of a missing text in a sensitive or class column is no value either: it would count as diversity.
        let spelling = Spelling::of(policy, declared, typed);
        Self { spelling, keys: policy.missing_texts(declared).map(|text| spelling.key(text)).collect() }
    }

    pub(crate) fn contain(&self, text: &str) -> bool {
        self.keys.contains(&self.spelling.key(text))
    }
}

/// By raw code, whether the text means a missing value; an error if there are some and the column has no rule for them.
fn missing_values(
    policy: &impl Declaration,
    declared: &ColumnPolicy,
    counts: &Counts,
    position: usize,
) -> Result<Vec<bool>, DomainError> {
    let counted = &counts.columns[position];
    let texts = MissingTexts::of(policy, declared, counted.typed);
    let missing: Vec<bool> = counted.values.iter().map(|value| texts.contain(value)).collect();
    if declared.missing == MissingRule::Error
        && let Some(raw) = first_by_record(counted, |raw| missing[raw])
    {
        let rows = (0..counts.rows()).filter(|&row| missing[counts.row(row)[position] as usize]);
        let records = rows.map(|row| counts.counts[row]).sum();
        return Err(DomainError::of_value(counted, raw, DomainProblem::Missing { records }));
    }
    Ok(missing)
}

fn check_sets(counted: &CountedColumn, domain: &Domain, map: &[u32]) -> Result<(), DomainError> {
    let Some(code) = domain.unfit_for_sets() else { return Ok(()) };
    let problem = DomainProblem::NotInSet { value: domain.text(code).to_owned() };
    let raw = first_by_record(counted, |raw| map[raw] == code);
    let record = raw.and_then(|raw| counted.first_record(raw));
    Err(DomainError { column: counted.name.clone(), record, in_hierarchy: false, problem })
}
