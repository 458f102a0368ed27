//! Derived profiles for measuring: with merged values, or with the loss scale of another profile.

use super::{Profile, persons::UnitColumn};
use crate::{
    counts::Counts,
    ids::{AttributeId, VariantId},
};

impl Profile {
    /// Replaces every code by its representative, `representatives[column][code]`, and merges tuples that become equal.
    /// Domains, attributes and the number of records stay. The map from rows of the counts to variants is dropped, so
    /// the result can be measured but not released.
    pub fn coarsened(&self, representatives: &[Vec<u32>]) -> Self {
        let identity = |values: usize| (0..values as u32).collect();
        let mut maps = representatives.to_vec();
        maps.extend(self.attributes.iter().map(|attribute| identity(attribute.values.len())));
        let units = || self.persons.iter().chain(&self.households);
        maps.extend(units().map(|column| identity(column.codes as usize)));
        let variants = || (0..self.variants() as u32).map(VariantId);
        let attributes = || (0..self.attributes.len()).map(AttributeId::from_index);
        let mut codes = Vec::with_capacity(self.variants() * maps.len());
        for variant in variants() {
            codes.extend(self.codes(self.tuple_of(variant)));
            codes.extend(attributes().map(|attribute| self.value(variant, attribute)));
            codes.extend(units().map(|column| column.of_variant[variant.index()]));
        }
        let columns = maps.iter().map(|_| Default::default()).collect();
        let counts = Counts {
            columns,
            codes,
            counts: self.variant_records.clone(),
            first_records: self.variant_first.clone(),
            records: self.records,
        };
        let empty = [&self.persons, &self.households].map(|unit| unit.as_ref().map(UnitColumn::without_variants));
        let mut coarse = Self::assemble(self.columns.clone(), self.attributes.clone(), empty, &maps, &counts);
        coarse.rows = Vec::new();
        coarse
    }

    /// The same records, with losses measured on the scale of another profile of these records. The map from rows of
    /// the counts to variants is dropped, so the result can be measured but not released.
    pub fn on_scale_of(&self, other: &Self) -> Self {
        let mut scaled = Self { rows: Vec::new(), ..self.clone() };
        for (column, other) in scaled.columns.iter_mut().zip(&other.columns) {
            column.domain = column.domain.on_scale_of(&other.domain);
        }
        scaled
    }
}
