//! Profile of some of a table's records, for a search that leaves the others out.

use std::sync::OnceLock;

use super::{Profile, VariantCount, persons::UnitColumn};
use crate::ids::{TupleId, VariantId};

impl Profile {
    /// Profile of some records, with the same domains and attributes, so that models bound to the whole table judge its
    /// groups. `members` are sorted, each variant once. Returns also the variant here of each of its variants.
    pub(crate) fn of_members(&self, members: &[VariantCount]) -> (Self, Vec<VariantId>) {
        let attributes = self.attributes.len();
        let mut part = Self {
            columns: self.columns.clone(),
            attributes: self.attributes.clone(),
            records: 0,
            tuple_codes: Vec::new(),
            tuple_offsets: Vec::new(),
            tuple_records: Vec::new(),
            variant_tuples: Vec::new(),
            variant_codes: Vec::new(),
            variant_records: Vec::new(),
            variant_first: self.variant_first.is_some().then(Vec::new),
            persons: self.persons.as_ref().map(UnitColumn::without_variants),
            households: self.households.as_ref().map(UnitColumn::without_variants),
            rows: Vec::new(),
            code_records: OnceLock::new(),
        };
        let mut previous = None;
        for &VariantCount { variant, records } in members {
            let tuple = self.tuple_of(variant);
            if previous != Some(tuple) {
                previous = Some(tuple);
                part.tuple_offsets.push(part.variant_records.len() as u32);
                part.tuple_codes.extend(self.codes(tuple));
                part.tuple_records.push(0);
            }
            let codes = variant.index() * attributes..(variant.index() + 1) * attributes;
            part.variant_codes.extend(&self.variant_codes[codes]);
            part.variant_tuples.push(TupleId::from_index(part.tuple_records.len() - 1));
            part.variant_records.push(records);
            if let (Some(first), Some(record)) = (&mut part.variant_first, self.first_record(variant)) {
                first.push(record);
            }
            for (part, all) in [(&mut part.persons, &self.persons), (&mut part.households, &self.households)] {
                if let (Some(part), Some(all)) = (part, all) {
                    part.of_variant.push(all.of_variant[variant.index()]);
                }
            }
            *part.tuple_records.last_mut().expect("pushed above") += records;
            part.records += records;
        }
        part.tuple_offsets.push(part.variant_records.len() as u32);
        (part, members.iter().map(|member| member.variant).collect())
    }
}
