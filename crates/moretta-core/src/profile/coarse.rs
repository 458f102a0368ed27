//! Profiles to look at: one in which some values stand for others, one that is measured like another.

use super::Profile;
use crate::{
    counts::Counts,
    ids::{AttributeId, VariantId},
};

impl Profile {
    /// The same records with every code replaced by the one that stands for it, `stands[column][code]`; what becomes
    /// equal is merged. Domains, attributes and the number of records stay. Rows of counts are not kept: the result
    /// is for looking at, and cannot be released.
    pub fn coarsened(&self, stands: &[Vec<u32>]) -> Self {
        let identity = |values: usize| (0..values as u32).collect();
        let mut maps = stands.to_vec();
        maps.extend(self.attributes.iter().map(|attribute| identity(attribute.values.len())));
        let variants = || (0..self.variants() as u32).map(VariantId);
        let attributes = || (0..self.attributes.len()).map(AttributeId::from_index);
        let mut codes = Vec::with_capacity(self.variants() * maps.len());
        for variant in variants() {
            codes.extend(self.codes(self.tuple_of(variant)));
            codes.extend(attributes().map(|attribute| self.value(variant, attribute)));
        }
        let columns = maps.iter().map(|_| Default::default()).collect();
        let counts = Counts {
            columns,
            codes,
            counts: self.variant_records.clone(),
            first_records: self.variant_first.clone(),
            records: self.records,
        };
        let mut coarse = Self::assemble(self.columns.clone(), self.attributes.clone(), &maps, &counts);
        coarse.rows = Vec::new();
        coarse
    }
    /// The same records, of whose cells losses are measured as those of another profile of the same records. Rows of
    /// counts are not kept: the result is for looking at, and cannot be released.
    pub fn on_scale_of(&self, other: &Self) -> Self {
        let mut scaled = Self { rows: Vec::new(), ..self.clone() };
        for (column, other) in scaled.columns.iter_mut().zip(&other.columns) {
            column.domain = column.domain.on_scale_of(&other.domain);
        }
        scaled
    }
}
