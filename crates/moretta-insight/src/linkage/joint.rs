//! Candidates and joint groups of a target, for one set of columns that the attacker knows.

use std::borrow::Cow;

use moretta_core::{
    hierarchy::{LabelReader, ROOT_LABEL},
    ids::{AttributeId, ColumnId, TupleId},
    privacy::{BoundModel, Group},
    profile::{Profile, VariantCount},
    released::Grouping,
    text::merge_counts,
};

use super::{
    LinkageError, ReleasedTable,
    boxes::{Boxes, CodeSet},
    copied::CopiedValues,
};

/// Combinations of copied values with their numbers of records, ascending.
pub(super) type Combinations = Vec<(u32, u64)>;

/// A release in the codes of a common domain.
#[derive(Debug)]
pub(super) struct ReadRelease {
    grouping: Grouping,
    /// By column and label.
    cells: Vec<Vec<CodeSet>>,
    /// Number of the copied values of each variant.
    copied: Vec<u32>,
}

impl ReadRelease {
    /// Reads the labels of a release in the domains of a profile.
    pub(super) fn new(
        index: usize,
        release: &ReleasedTable,
        domains: &Profile,
        copied: &CopiedValues<'_>,
    ) -> Result<Self, LinkageError> {
        let file = &release.profile;
        let mut cells = Vec::new();
        for (position, (column, own)) in domains.columns().iter().zip(file.columns()).enumerate() {
            let reader = LabelReader::new(&column.domain);
            let read = |label: u32| {
                let text = own.domain.text(label);
                if text == ROOT_LABEL {
                    // One code more than the domain has stands for values that no other label covers. Otherwise, without
                    // the original, a label around all values that are printed would equal `*`.
                    return Ok(CodeSet::Range(0, column.domain.len() as u32));
                }
                CodeSet::of(reader.codes_inside(text)).ok_or_else(|| LinkageError::Label {
                    release: index,
                    column: column.name.clone(),
                    record: first_record(file, position, label),
                    value: text.to_owned(),
                })
            };
            cells.push((0..own.domain.len() as u32).map(read).collect::<Result<_, _>>()?);
        }
        let copied = copied.of_release(index, release)?;
        Ok(Self { grouping: Grouping::of_tuples(file), cells, copied })
    }

    fn scoped(&self, scope: &[ColumnId]) -> ScopedRelease {
        let coarse = (scope.len() < self.cells.len()).then(|| self.grouping.coarsened(scope));
        let grouping = coarse.as_ref().unwrap_or(&self.grouping);
        let (mut cells, mut values) = (Vec::with_capacity(grouping.len() * scope.len()), Vec::new());
        for group in 0..grouping.len() {
            let labels = grouping.key(group).iter().zip(scope);
            cells.extend(labels.map(|(label, column)| self.cells[column.index()][*label as usize].clone()));
            let members = grouping.members(group).iter();
            values.push(merged(members.map(|member| (self.copied[member.variant.index()], member.records)).collect()));
        }
        ScopedRelease { boxes: Boxes::new(scope.len(), cells), values }
    }
}

/// Number of the first record that carries a label of a column.
fn first_record(file: &Profile, column: usize, label: u32) -> Option<u64> {
    let tuples = (0..file.tuples()).map(TupleId::from_index).filter(|tuple| file.codes(*tuple)[column] == label);
    tuples.flat_map(|tuple| file.variants_of(tuple)).filter_map(|variant| file.first_record(variant)).min()
}

fn merged(mut values: Combinations) -> Combinations {
    values.sort_unstable();
    merge_counts(&mut values);
    values
}

/// The groups of a release by the columns of a scope.
#[derive(Debug)]
pub(super) struct ScopedRelease {
    pub(super) boxes: Boxes,
    /// By group.
    pub(super) values: Vec<Combinations>,
}

impl ScopedRelease {
    /// All records of some groups.
    fn candidates(&self, groups: &[u32]) -> Cow<'_, [(u32, u64)]> {
        match groups {
            [group] => Cow::Borrowed(&self.values[*group as usize]),
            _ => merged(groups.iter().flat_map(|group| &self.values[*group as usize]).copied().collect()).into(),
        }
    }
}

/// All releases by the columns that some models assume to be known, and these models.
pub(super) struct Scope<'a> {
    pub(super) columns: &'a [ColumnId],
    pub(super) releases: Vec<ScopedRelease>,
    /// Indices among all models.
    pub(super) models: Vec<usize>,
    all_models: &'a [Box<dyn BoundModel>],
    /// Columns in which certain values are counted: none unless the scope has all columns.
    sensitive: &'a [AttributeId],
    copied: &'a CopiedValues<'a>,
}

/// The judgement of one joint group.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) records: u64,
    /// By model of the scope: its margin and whether it holds.
    pub(super) models: Vec<(f64, bool)>,
    /// By sensitive column: whether its value is certain from a single release, and from all.
    pub(super) certain: Vec<(bool, bool)>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        columns: &'a [ColumnId],
        releases: &[ReadRelease],
        (all_models, models): (&'a [Box<dyn BoundModel>], Vec<usize>),
        sensitive: &'a [AttributeId],
        copied: &'a CopiedValues<'a>,
    ) -> Self {
        let releases = releases.iter().map(|release| release.scoped(columns)).collect();
        Self { columns, releases, models, all_models, sensitive, copied }
    }

    /// The joint group of a target whose candidates are these groups of each release.
    pub(super) fn joint(&self, groups: &[Vec<u32>]) -> Combinations {
        let mut candidates = self.releases.iter().zip(groups).map(|(release, groups)| release.candidates(groups));
        let Some(first) = candidates.next() else { return Vec::new() };
        candidates.fold(first.into_owned(), |joint, other| intersection(&joint, &other))
    }

    /// A joint group as models see it: members of the profile that they are bound to.
    pub(super) fn members(&self, joint: &Combinations) -> Vec<VariantCount> {
        let member =
            |&(number, records): &(u32, u64)| VariantCount { variant: self.copied.variants[number as usize], records };
        joint.iter().map(member).collect()
    }

    pub(super) fn judge(&self, groups: &[Vec<u32>], joint: &Combinations) -> Verdict {
        let members = self.members(joint);
        let group = Group::new(self.copied.profile, &members);
        let judge = |model: &usize| {
            let model = &self.all_models[*model];
            (model.margin(&group), model.holds(&group))
        };
        let certain = |attribute: &AttributeId| {
            let together = self.is_certain(joint, *attribute);
            // A value that one release discloses, all of them together disclose, too.
            let single = |(release, groups): (&ScopedRelease, &Vec<u32>)| {
                self.is_certain(&release.candidates(groups), *attribute)
            };
            (together && self.releases.iter().zip(groups).any(single), together)
        };
        Verdict {
            records: group.records(),
            models: self.models.iter().map(judge).collect(),
            certain: self.sensitive.iter().map(certain).collect(),
        }
    }

    fn is_certain(&self, values: &[(u32, u64)], attribute: AttributeId) -> bool {
        let mut values = values.iter().map(|(number, _)| self.copied.value(*number, attribute));
        let first = values.next();
        first.is_some() && values.all(|value| Some(value) == first)
    }
}

/// Combinations in both, each as often as in the one that has it less often.
pub(super) fn intersection(a: &[(u32, u64)], b: &[(u32, u64)]) -> Combinations {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let in_both = |(number, records): &(u32, u64)| {
        let index = long.binary_search_by_key(number, |(number, _)| *number).ok()?;
        Some((*number, long[index].1.min(*records)))
    };
    short.iter().filter_map(in_both).collect()
}
