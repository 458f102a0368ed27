//! Values that every release copies unchanged: sensitive, class and insensitive columns. They link the records of one
//! release with those of another.
//!
//! Records are linked by the text of the copied cells, not by its meaning: `HIV` and `hiv` are one value for the
//! models, but a recipient sees which of the two a record has, in every release. So combinations of texts are numbered
//! here, and each number has a variant of the profile that the models are bound to.
//!
//! Moretta itself writes the same texts to CSV and Parquet. Other programs may have written `1` as `1.0` in one of the
//! releases since. So a column whose texts differ between the releases is linked by its values. Then the spelling does
//! not link these releases; that two of three releases may still have the same spelling is not considered.

use hashbrown::HashMap;
use moretta_core::{
    hierarchy::parse_number,
    ids::{AttributeId, VariantId},
    notation::Notation,
    profile::{Attribute, Profile},
};

use super::{LinkageError, ReleasedTable};

/// The distinct combinations of copied texts of all releases, numbered.
#[derive(Debug)]
pub(super) struct CopiedValues<'a> {
    /// The profile that the models are bound to.
    pub(super) base: &'a Profile,
    /// By combination: the first variant of the base with these values.
    pub(super) variants: Vec<VariantId>,
    /// By variant of the base: the first one with the same values.
    pub(super) first_variants: Vec<VariantId>,
    /// By release and variant of its profile: the combination.
    pub(super) of_releases: Vec<Vec<u32>>,
}

impl<'a> CopiedValues<'a> {
    /// An error if a release has other values than the base, or has other combinations than the first release, or has
    /// them more or less often: then it was made from other records.
    pub(super) fn new(base: &'a Profile, releases: &[ReleasedTable]) -> Result<Self, LinkageError> {
        let mut known: HashMap<Vec<u32>, (VariantId, u64)> = HashMap::new();
        let mut first_variants = Vec::with_capacity(base.variants());
        for variant in (0..base.variants()).map(VariantId::from_index) {
            let entry = known.entry(values(base, variant).collect()).or_insert((variant, 0));
            entry.1 += base.variant_records(variant);
            first_variants.push(entry.0);
        }
        let keys = keys(base, releases);
        let (mut numbers, mut variants): (HashMap<Vec<u32>, u32>, Vec<VariantId>) = (HashMap::new(), Vec::new());
        let (mut of_releases, mut expected): (Vec<Vec<u32>>, Vec<u64>) = (Vec::new(), Vec::new());
        for (release, (ReleasedTable { profile, .. }, keys)) in releases.iter().zip(&keys).enumerate() {
            let other = || LinkageError::OtherRecords { release };
            let base_codes = base_codes(base, profile).ok_or_else(other)?;
            let (mut of_variants, mut records) = (Vec::with_capacity(profile.variants()), vec![0; variants.len()]);
            let mut of_values: HashMap<VariantId, u64> = HashMap::new();
            for variant in (0..profile.variants()).map(VariantId::from_index) {
                let codes =
                    |(attribute, codes): &(AttributeId, Vec<u32>)| codes[profile.value(variant, *attribute) as usize];
                let (first, _) = *known.get(&base_codes.iter().map(codes).collect::<Vec<u32>>()).ok_or_else(other)?;
                let key = values(profile, variant).zip(keys).map(|(value, keys)| keys[value as usize]).collect();
                let number = match numbers.get(&key) {
                    Some(number) => *number,
                    None if release > 0 => return Err(other()),
                    None => {
                        variants.push(first);
                        records.push(0);
                        *numbers.entry(key).insert(variants.len() as u32 - 1).get()
                    }
                };
                records[number as usize] += profile.variant_records(variant);
                *of_values.entry(first).or_default() += profile.variant_records(variant);
                of_variants.push(number);
            }
            let as_in_base = |(first, records): &(VariantId, u64)| of_values.get(first) == Some(records);
            if !known.values().all(as_in_base) || release > 0 && records != expected {
                return Err(other());
            }
            expected = records;
            of_releases.push(of_variants);
        }
        Ok(Self { base, variants, first_variants, of_releases })
    }

    /// The value of a column of the base in a combination.
    pub(super) fn value(&self, number: u32, attribute: AttributeId) -> u32 {
        self.base.value(self.variants[number as usize], attribute)
    }
}

fn values(profile: &Profile, variant: VariantId) -> impl Iterator<Item = u32> {
    (0..profile.attributes().len()).map(move |attribute| profile.value(variant, AttributeId::from_index(attribute)))
}

/// For each column of the base, the column of a release and the code in the base of each of its texts; `None` if a text
/// has none.
fn base_codes(base: &Profile, release: &Profile) -> Option<Vec<(AttributeId, Vec<u32>)>> {
    let column = |known: &Attribute| {
        let own = release.attribute(&known.name)?;
        let Attribute { values, notation, .. } = &release.attributes()[own.index()];
        Some((own, values.iter().map(|text| known.code_in(text, *notation)).collect::<Option<_>>()?))
    };
    base.attributes().iter().map(column).collect()
}

/// By release, column and code: equal keys link records.
fn keys(base: &Profile, releases: &[ReleasedTable]) -> Vec<Vec<Vec<u32>>> {
    let mut keys: Vec<Vec<Vec<u32>>> = vec![Vec::new(); releases.len()];
    let Some(first) = releases.first() else { return keys };
    for (index, column) in first.profile.attributes().iter().enumerate() {
        let texts = |release: &ReleasedTable| text_records(&release.profile, index);
        let expected = texts(first);
        let same = releases[1..]
            .iter()
            .all(|release| release.profile.attributes()[index].values == column.values && texts(release) == expected);
        let known = base.attribute(&column.name).map(|known| &base.attributes()[known.index()]);
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for (release, keys) in releases.iter().zip(&mut keys) {
            let Attribute { values: texts, notation, .. } = &release.profile.attributes()[index];
            keys.push(match same {
                // The texts are sorted, so equal codes are equal texts.
                true => (0..texts.len() as u32).collect(),
                false => texts
                    .iter()
                    .map(|text| {
                        let next = numbers.len() as u32;
                        *numbers.entry(value_key(known, text, *notation)).or_insert(next)
                    })
                    .collect(),
            });
        }
    }
    keys
}

/// Records by text of a column.
fn text_records(profile: &Profile, column: usize) -> Vec<u64> {
    let mut records = vec![0; profile.attributes()[column].values.len()];
    for variant in (0..profile.variants()).map(VariantId::from_index) {
        records[profile.value(variant, AttributeId::from_index(column)) as usize] += profile.variant_records(variant);
    }
    records
}

/// Texts with the same key mean the same value. A column that the base does not have is insensitive: its numbers are
/// compared as numbers, all else as text.
fn value_key(known: Option<&Attribute>, text: &str, notation: Notation) -> String {
    match known.map(|known| known.code_in(text, notation)) {
        Some(Some(code)) => code.to_string(),
        _ => {
            let number = notation.number(text).and_then(|number| parse_number(&number).ok());
            number.map_or_else(|| text.to_owned(), |number| number.to_string())
        }
    }
}
