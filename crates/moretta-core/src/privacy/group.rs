//! The view of a group of records that a model judges.

use std::cell::OnceCell;

use crate::{
    ids::{AttributeId, ColumnId},
    profile::{Profile, VariantCount},
    text::merge_counts,
};

/// Group (equivalence class): records released with identical quasi-identifier values.
pub struct Group<'a> {
    profile: &'a Profile,
    members: &'a [VariantCount],
    records: u64,
    /// By attribute. Cached because many models may judge one column (a template for each of its values).
    histograms: OnceCell<Box<[OnceCell<Histogram>]>>,
    labels: Option<&'a dyn Fn(ColumnId) -> Option<&'a str>>,
}

#[cfg(test)]
thread_local! {
    /// Members that this thread read for histograms, for tests of costs.
    pub(crate) static MEMBERS_COUNTED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Pairs of value code and records, sorted by code; values without records are left out.
pub type Histogram = Vec<(u32, u64)>;

impl<'a> Group<'a> {
    /// A group under construction: it has members but no released labels yet.
    pub fn new(profile: &'a Profile, members: &'a [VariantCount]) -> Self {
        let records = members.iter().map(|member| member.records).sum();
        Self { profile, members, records, histograms: OnceCell::new(), labels: None }
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

    /// Records with one value of a sensitive or class column.
    pub fn records_with(&self, attribute: AttributeId, value: u32) -> u64 {
        let histogram = self.histogram(attribute);
        histogram.binary_search_by_key(&value, |(code, _)| *code).map_or(0, |at| histogram[at].1)
    }

    /// The share of records with one value of a sensitive or class column.
    pub fn share_of(&self, attribute: AttributeId, value: u32) -> f64 {
        self.records_with(attribute, value) as f64 / self.records.max(1) as f64
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
}

impl<'a> GrowingGroup<'a> {
    pub(crate) fn new(profile: &'a Profile) -> Self {
        let histograms = profile.attributes().iter().map(|_| OnceCell::new()).collect();
        Self { profile, members: Vec::new(), records: 0, histograms }
    }

    /// Adds the members that `append` appends.
    pub(crate) fn extend(&mut self, append: impl FnOnce(&mut Vec<VariantCount>)) {
        let before = self.members.len();
        append(&mut self.members);
        let added = &self.members[before..];
        self.records += added.iter().map(|member| member.records).sum::<u64>();
        for (attribute, histogram) in self.histograms.iter_mut().enumerate() {
            let Some(histogram) = histogram.get_mut() else { continue };
            for member in added {
                let value = self.profile.value(member.variant, AttributeId::from_index(attribute));
                match histogram.binary_search_by_key(&value, |(code, _)| *code) {
                    Ok(at) => histogram[at].1 += member.records,
                    Err(at) => histogram.insert(at, (value, member.records)),
                }
            }
        }
    }

    pub(crate) fn judge<R>(&mut self, judge: impl FnOnce(&Group<'_>) -> R) -> R {
        let histograms = OnceCell::from(std::mem::take(&mut self.histograms));
        let Self { profile, ref members, records, .. } = *self;
        let group = Group { profile, members, records, histograms, labels: None };
        let result = judge(&group);
        self.histograms = group.histograms.into_inner().unwrap_or_default();
        result
    }

    /// Number of distinct values in the histograms that are kept: the cost of a judgement.
    pub(crate) fn values(&self) -> usize {
        self.histograms.iter().filter_map(OnceCell::get).map(Vec::len).sum()
    }
}

/// Sizes of all groups of a released table: pairs of size and number of groups, small sizes first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupSizes(Vec<(u64, u64)>);

impl GroupSizes {
    /// Takes the records of each group, in any order.
    pub fn of(records: impl Iterator<Item = u64>) -> Self {
        let mut sizes: Vec<(u64, u64)> = records.map(|records| (records, 1)).collect();
        sizes.sort_unstable();
        sizes.dedup_by(|next, kept| {
            next.0 == kept.0 && {
                kept.1 += next.1;
                true
            }
        });
        Self(sizes)
    }

    /// Pairs of size and number of groups, small sizes first.
    pub fn sizes(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Number of groups.
    pub fn groups(&self) -> u64 {
        self.0.iter().map(|(_, groups)| groups).sum()
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.0.iter().map(|(size, groups)| size * groups).sum()
    }

    /// Records of the smallest group; 0 if there is none.
    pub fn smallest(&self) -> u64 {
        self.0.first().map_or(0, |(size, _)| *size)
    }
}
