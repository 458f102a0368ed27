//! Values that every release copies unchanged: sensitive, class and insensitive columns. They link the records of one
//! release with those of another.

use hashbrown::HashMap;
use moretta_core::{
    ids::{AttributeId, VariantId},
    profile::Profile,
};

use super::{LinkageError, ReleasedTable};

/// The distinct combinations of copied values of a table, numbered.
#[derive(Debug)]
pub(super) struct CopiedValues<'a> {
    pub(super) profile: &'a Profile,
    /// By combination: a variant of the profile with these values.
    pub(super) variants: Vec<VariantId>,
    /// By variant of the profile.
    pub(super) of_variant: Vec<u32>,
    numbers: HashMap<Vec<u32>, u32>,
    /// By combination.
    records: Vec<u64>,
}

impl<'a> CopiedValues<'a> {
    pub(super) fn new(profile: &'a Profile) -> Self {
        let mut copied = Self {
            profile,
            variants: Vec::new(),
            of_variant: Vec::new(),
            numbers: HashMap::new(),
            records: Vec::new(),
        };
        for variant in (0..profile.variants()).map(VariantId::from_index) {
            let values = values(profile, variant).collect();
            let number = *copied.numbers.entry(values).or_insert_with(|| {
                copied.variants.push(variant);
                copied.records.push(0);
                copied.records.len() as u32 - 1
            });
            copied.records[number as usize] += profile.variant_records(variant);
            copied.of_variant.push(number);
        }
        copied
    }

    /// The combination of each variant of a release; an error if the release has other values, or has them more or less
    /// often: then it was made from other records.
    pub(super) fn of_release(&self, index: usize, release: &ReleasedTable) -> Result<Vec<u32>, LinkageError> {
        let other = || LinkageError::OtherRecords { release: index };
        let profile = &release.profile;
        let codes = |(known, own): (&moretta_core::profile::Attribute, &moretta_core::profile::Attribute)| {
            own.values.iter().map(|text| known.code(text)).collect::<Vec<Option<u32>>>()
        };
        let codes: Vec<_> = self.profile.attributes().iter().zip(profile.attributes()).map(codes).collect();
        let mut records = vec![0; self.records.len()];
        let mut numbers = Vec::with_capacity(profile.variants());
        for variant in (0..profile.variants()).map(VariantId::from_index) {
            let known = values(profile, variant).zip(&codes).map(|(value, codes)| codes[value as usize]);
            let known: Vec<u32> = known.collect::<Option<_>>().ok_or_else(other)?;
            let number = *self.numbers.get(&known).ok_or_else(other)?;
            records[number as usize] += profile.variant_records(variant);
            numbers.push(number);
        }
        if records == self.records { Ok(numbers) } else { Err(other()) }
    }

    /// The value of a column in a combination.
    pub(super) fn value(&self, number: u32, attribute: AttributeId) -> u32 {
        self.profile.value(self.variants[number as usize], attribute)
    }
}

fn values(profile: &Profile, variant: VariantId) -> impl Iterator<Item = u32> {
    (0..profile.attributes().len()).map(move |attribute| profile.value(variant, AttributeId::from_index(attribute)))
}
