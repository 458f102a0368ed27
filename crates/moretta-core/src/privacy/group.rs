//! The view of a group of records that a model judges.
//!
//! If the table has a person column, models judge persons instead of records: the size of a group is the number of its
//! distinct persons, and the weight of a value is the number of distinct persons who carry it in the group. Each pair
//! of a person and a value counts once, so weights may add up to more than the size.

use std::cell::OnceCell;

use hashbrown::HashSet;

use crate::{
    ids::{AttributeId, ColumnId},
    profile::{Profile, VariantCount},
    schema::Unit,
    text::merge_counts,
};

/// Group (equivalence class): records released with identical quasi-identifier values.
pub struct Group<'a> {
    profile: &'a Profile,
    members: &'a [VariantCount],
    records: u64,
    /// Whether persons are counted.
    unit: Unit,
    /// Distinct persons, if they are counted.
    persons: OnceCell<u64>,
    /// By attribute. Cached because many models may judge one column (a template for each of its values).
    histograms: OnceCell<Box<[OnceCell<Histogram>]>>,
    labels: Option<&'a dyn Fn(ColumnId) -> Option<&'a str>>,
}

#[cfg(test)]
thread_local! {
    /// Members that this thread read for histograms, for tests of costs.
    pub(crate) static MEMBERS_COUNTED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Pairs of value code and weight (records, or distinct persons), sorted by code; values that do not occur are left
/// out.
pub type Histogram = Vec<(u32, u64)>;

impl<'a> Group<'a> {
    /// A group under construction: it has members but no released labels yet.
    pub fn new(profile: &'a Profile, members: &'a [VariantCount]) -> Self {
        let records = members.iter().map(|member| member.records).sum();
        let (unit, persons) = (profile.unit(), OnceCell::new());
        Self { profile, members, records, unit, persons, histograms: OnceCell::new(), labels: None }
    }

    /// A group whose records count, also if the table has persons: for measures of information loss.
    pub fn of_records(profile: &'a Profile, members: &'a [VariantCount]) -> Self {
        Self { unit: Unit::Records, ..Self::new(profile, members) }
    }

    /// A group of a released table. `labels` returns the label of a column, `None` if the group spans several.
    pub fn released(self, labels: &'a dyn Fn(ColumnId) -> Option<&'a str>) -> Self {
        Self { labels: Some(labels), ..self }
    }

    /// The profile that the group is part of.
    pub fn profile(&self) -> &'a Profile {
        self.profile
    }

    /// The variants of the group and the records of each in it.
    pub fn members(&self) -> &'a [VariantCount] {
        self.members
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// The unit of the size and of the weights of values.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Number of distinct persons or, if the table has no person column, of records.
    pub fn size(&self) -> u64 {
        match self.unit {
            Unit::Records => self.records,
            Unit::Persons => *self.persons.get_or_init(|| self.profile.size_of(self.members)),
        }
    }

    /// The released label of a column; `None` during a search, and for columns outside the model's scope.
    pub fn label(&self, column: ColumnId) -> Option<&'a str> {
        self.labels.and_then(|labels| labels(column))
    }

    /// Histogram of a sensitive or class column.
    pub fn histogram(&self, attribute: AttributeId) -> &Histogram {
        let all = self.histograms.get_or_init(|| self.profile.attributes().iter().map(|_| OnceCell::new()).collect());
        all[attribute.index()].get_or_init(|| self.count(attribute))
    }

    fn count(&self, attribute: AttributeId) -> Histogram {
        #[cfg(test)]
        MEMBERS_COUNTED.set(MEMBERS_COUNTED.get() + self.members.len() as u64);
        if let Some(persons) = self.persons_by_value(attribute) {
            return persons;
        }
        let values = self.profile.attributes()[attribute.index()].values.len();
        if values <= 4 * self.members.len() + 64 {
            let mut dense = vec![0u64; values];
            for member in self.members {
                dense[self.profile.value(member.variant, attribute) as usize] += member.records;
            }
            return (0..).zip(dense).filter(|(_, records)| *records > 0).collect();
        }
        let mut sparse: Vec<(u32, u64)> =
            self.members.iter().map(|member| (self.profile.value(member.variant, attribute), member.records)).collect();
        sparse.sort_unstable();
        merge_counts(&mut sparse);
        sparse
    }

    fn persons_by_value(&self, attribute: AttributeId) -> Option<Histogram> {
        match self.unit {
            Unit::Records => None,
            Unit::Persons => self.profile.persons_by_value(self.members, attribute),
        }
    }

    /// Sum of the weights of all values of a sensitive or class column: the records or, if persons are counted, the
    /// pairs of a person and a value.
    pub fn total(&self, attribute: AttributeId) -> u64 {
        match self.unit {
            Unit::Records => self.records,
            Unit::Persons => self.histogram(attribute).iter().map(|(_, persons)| persons).sum(),
        }
    }

    /// Weight of one value of a sensitive or class column: the records or, if persons are counted, the distinct persons
    /// that carry it.
    pub fn weight_of(&self, attribute: AttributeId, value: u32) -> u64 {
        let histogram = self.histogram(attribute);
        histogram.binary_search_by_key(&value, |(code, _)| *code).map_or(0, |at| histogram[at].1)
    }

    /// The confidence of inferring a value of a sensitive or class column: the share of records or, if persons are
    /// counted, of persons that carry it.
    pub fn share_of(&self, attribute: AttributeId, value: u32) -> f64 {
        self.weight_of(attribute, value) as f64 / self.size().max(1) as f64
    }
}

/// A group that gains members between judgements. Histograms that a model has asked for are kept up to date, so that
/// members are counted once, however often the group is judged.
pub(crate) struct GrowingGroup<'a> {
    profile: &'a Profile,
    members: Vec<VariantCount>,
    records: u64,
    /// As in [`Group`].
    histograms: Box<[OnceCell<Histogram>]>,
    /// `None` if records are counted.
    seen: Option<SeenPersons>,
}

/// The persons of a growing group, to count new ones only.
#[derive(Default)]
struct SeenPersons {
    persons: HashSet<u32>,
    /// By attribute with a histogram: its pairs of a value and a person.
    pairs: Vec<Option<HashSet<u64>>>,
}

impl<'a> GrowingGroup<'a> {
    pub(crate) fn new(profile: &'a Profile) -> Self {
        let histograms = profile.attributes().iter().map(|_| OnceCell::new()).collect();
        let pairs = vec![None; profile.attributes().len()];
        let seen = profile.persons().map(|_| SeenPersons { pairs, ..SeenPersons::default() });
        Self { profile, members: Vec::new(), records: 0, histograms, seen }
    }

    /// Adds the members that `append` appends.
    pub(crate) fn extend(&mut self, append: impl FnOnce(&mut Vec<VariantCount>)) {
        let before = self.members.len();
        append(&mut self.members);
        let added = &self.members[before..];
        self.records += added.iter().map(|member| member.records).sum::<u64>();
        if let Some(seen) = &mut self.seen {
            seen.persons.extend(added.iter().filter_map(|member| self.profile.person(member.variant)));
        }
        for (index, histogram) in self.histograms.iter_mut().enumerate() {
            let (Some(histogram), attribute) = (histogram.get_mut(), AttributeId::from_index(index)) else { continue };
            let Some(seen) = &mut self.seen else {
                for member in added {
                    add_weight(histogram, self.profile.value(member.variant, attribute), member.records);
                }
                continue;
            };
            let pairs = |members| self.profile.values_and_persons(members, attribute).into_iter().flatten();
            let known = seen.pairs[index].get_or_insert_with(|| pairs(&self.members[..before]).collect());
            for pair in pairs(added).filter(|pair| known.insert(*pair)) {
                add_weight(histogram, (pair >> 32) as u32, 1);
            }
        }
    }

    pub(crate) fn judge<R>(&mut self, judge: impl FnOnce(&Group<'_>) -> R) -> R {
        let histograms = OnceCell::from(std::mem::take(&mut self.histograms));
        let Self { profile, ref members, records, .. } = *self;
        let persons = self.seen.as_ref().map_or_else(OnceCell::new, |seen| OnceCell::from(seen.persons.len() as u64));
        let group = Group { profile, members, records, unit: profile.unit(), persons, histograms, labels: None };
        let result = judge(&group);
        self.histograms = group.histograms.into_inner().unwrap_or_default();
        result
    }

    /// Number of distinct values in the histograms that are kept: the cost of a judgement.
    pub(crate) fn values(&self) -> usize {
        self.histograms.iter().filter_map(OnceCell::get).map(Vec::len).sum()
    }
}

/// Adds to the weight of a value.
fn add_weight(histogram: &mut Histogram, value: u32, weight: u64) {
    match histogram.binary_search_by_key(&value, |(code, _)| *code) {
        Ok(at) => histogram[at].1 += weight,
        Err(at) => histogram.insert(at, (value, weight)),
    }
}
