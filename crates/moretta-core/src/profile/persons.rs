//! The person and the household of each variant, as codes without texts.
//!
//! Both columns are counted with the quasi-identifiers and attributes, so that a variant is of one person and one
//! household. Their texts stay in the counts: nothing that lists the columns of a profile can show a person.

use hashbrown::HashMap;

use super::{Profile, Spelling, VariantCount, missing_values};
use crate::{
    counts::Counts,
    declaration::{ColumnPolicy, Declaration},
    hierarchy::DomainError,
    ids::{AttributeId, VariantId},
    schema::Unit,
};

/// The codes of the person or household column.
#[derive(Debug, Clone, Default)]
pub(super) struct UnitColumn {
    /// Number of codes; all smaller codes may occur.
    pub(super) codes: u32,
    /// Code of records without a value.
    pub(super) missing: Option<u32>,
    /// By variant.
    pub(super) of_variant: Vec<u32>,
}

impl UnitColumn {
    /// Returns the column without variants, and the code of each raw code. Spellings of one value have one code, so
    /// that there are rather too few persons than too many. Codes are in the order of the texts.
    pub(super) fn bind(
        policy: &impl Declaration,
        declared: &ColumnPolicy,
        counts: &Counts,
        position: usize,
    ) -> Result<(Self, Vec<u32>), DomainError> {
        let missing = missing_values(policy, declared, counts, position)?;
        let spelling = Spelling::of(policy, declared, counts.columns[position].typed);
        let keys: Vec<_> = counts.columns[position].values.iter().map(|text| spelling.key(text)).collect();
        let mut present: Vec<&str> =
            keys.iter().zip(&missing).filter(|(_, missing)| !**missing).map(|(key, _)| &**key).collect();
        present.sort_unstable();
        present.dedup();
        let codes: HashMap<&str, u32> = present.iter().copied().zip(0..).collect();
        let num_present = codes.len() as u32;
        let code = |(key, missing): (&std::borrow::Cow<'_, str>, &bool)| {
            if *missing { num_present } else { codes[&**key] }
        };
        let map = keys.iter().zip(&missing).map(code).collect();
        let has_missing = missing.contains(&true);
        let column = Self {
            codes: num_present + u32::from(has_missing),
            missing: has_missing.then_some(num_present),
            of_variant: Vec::new(),
        };
        Ok((column, map))
    }

    /// The same column for other variants.
    pub(super) fn without_variants(&self) -> Self {
        Self { of_variant: Vec::new(), ..*self }
    }

    pub(super) fn bytes(&self) -> u64 {
        4 * self.of_variant.len() as u64
    }
}

impl Profile {
    /// Number of persons; `None` if records are counted. All records without a person are one.
    pub fn persons(&self) -> Option<u64> {
        self.persons.as_ref().map(|column| u64::from(column.codes))
    }

    /// The unit in which sizes of groups are counted.
    pub fn unit(&self) -> Unit {
        if self.persons.is_some() { Unit::Persons } else { Unit::Records }
    }

    /// Number of persons or, without a person column, of records.
    pub fn size(&self) -> u64 {
        self.persons().unwrap_or(self.records)
    }

    /// Code of a variant's person, below [`persons`](Self::persons).
    pub fn person(&self, variant: VariantId) -> Option<u32> {
        self.persons.as_ref().map(|column| column.of_variant[variant.index()])
    }

    /// Whether the table has a household column.
    pub fn has_households(&self) -> bool {
        self.households.is_some()
    }

    /// Code of a variant's household; `None` if its records have none.
    pub fn household(&self, variant: VariantId) -> Option<u32> {
        let column = self.households.as_ref()?;
        Some(column.of_variant[variant.index()]).filter(|code| Some(*code) != column.missing)
    }

    /// Number of distinct persons among some members; `None` if records are counted.
    pub fn persons_of(&self, members: &[VariantCount]) -> Option<u64> {
        let column = self.persons.as_ref()?;
        let persons = members.iter().map(|member| column.of_variant[member.variant.index()]);
        // A bit per person, unless there are far more persons than members.
        let words = column.codes as usize / 64 + 1;
        if words <= members.len() + 64 {
            let mut seen = vec![0u64; words];
            persons.for_each(|person| seen[person as usize / 64] |= 1 << (person % 64));
            return Some(seen.iter().map(|word| u64::from(word.count_ones())).sum());
        }
        let mut persons: Vec<u32> = persons.collect();
        persons.sort_unstable();
        persons.dedup();
        Some(persons.len() as u64)
    }

    /// Size of a group: its distinct persons or, without a person column, its records.
    pub fn size_of(&self, members: &[VariantCount]) -> u64 {
        self.persons_of(members).unwrap_or_else(|| members.iter().map(|member| member.records).sum())
    }

    /// Number of distinct persons by value of a sensitive or class column, sorted by value; `None` if records are
    /// counted.
    pub(crate) fn persons_by_value(&self, members: &[VariantCount], attribute: AttributeId) -> Option<Vec<(u32, u64)>> {
        let mut pairs: Vec<u64> = self.values_and_persons(members, attribute)?.collect();
        pairs.sort_unstable();
        pairs.dedup();
        let same_value = pairs.chunk_by(|a, b| a >> 32 == b >> 32);
        Some(same_value.map(|pairs| ((pairs[0] >> 32) as u32, pairs.len() as u64)).collect())
    }

    /// The value and the person of each member, as one number: the value in the high half, the person in the low one.
    pub(crate) fn values_and_persons<'m>(
        &'m self,
        members: &'m [VariantCount],
        attribute: AttributeId,
    ) -> Option<impl Iterator<Item = u64> + 'm> {
        let column = self.persons.as_ref()?;
        Some(members.iter().map(move |&VariantCount { variant, .. }| {
            u64::from(self.value(variant, attribute)) << 32 | u64::from(column.of_variant[variant.index()])
        }))
    }
}
