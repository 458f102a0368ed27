//! Candidates and joint groups of a target, for one set of columns that the attacker knows.

use std::borrow::Cow;

use moretta_core::{
    hierarchy::{LabelReader, ROOT_LABEL},
    ids::{AttributeId, ColumnId, TupleId, VariantId},
    privacy::{BoundModel, Figure, Group},
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
pub(super) struct ReadRelease<'a> {
    file: &'a Profile,
    grouping: Grouping,
    /// By column and label.
    cells: Vec<Vec<CodeSet>>,
    /// Tuple of the suppressed records: `*` in every column.
    suppressed: Option<TupleId>,
}

impl<'a> ReadRelease<'a> {
    /// Reads the labels of a release in the domains of a profile.
    pub(super) fn new(index: usize, release: &'a ReleasedTable, domains: &Profile) -> Result<Self, LinkageError> {
        let file = &release.profile;
        let mut cells = Vec::new();
        for (position, (column, own)) in domains.columns().iter().zip(file.columns()).enumerate() {
            let reader = LabelReader::of_file(&column.domain, own.notation);
            let read = |label: u32| {
                let text = own.domain.text(label);
                if text == ROOT_LABEL {
                    // One code more than the domain has stands for values that no other label covers. Otherwise,
                    // without the original, a label around all values that are printed would equal `*`.
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
        let is_suppressed = |tuple: &TupleId| {
            let mut labels = file.codes(*tuple).iter().zip(file.columns());
            labels.all(|(label, column)| column.domain.text(*label) == ROOT_LABEL)
        };
        // Without quasi-identifiers, all records are one group, and none is suppressed.
        let mut tuples = (0..file.tuples()).map(TupleId::from_index).filter(|_| !file.columns().is_empty());
        Ok(Self { file, grouping: Grouping::of_tuples(file), cells, suppressed: tuples.find(is_suppressed) })
    }

    /// `copied` has the combination of each variant.
    fn scoped(&self, scope: &[ColumnId], copied: &[u32]) -> ScopedRelease {
        let coarse = (scope.len() < self.cells.len()).then(|| self.grouping.coarsened(scope));
        let grouping = coarse.as_ref().unwrap_or(&self.grouping);
        let (mut cells, mut values) = (Vec::with_capacity(grouping.len() * scope.len()), Vec::new());
        let mut suppressed = None;
        for group in 0..grouping.len() {
            let labels = grouping.key(group).iter().zip(scope);
            cells.extend(labels.map(|(label, column)| self.cells[column.index()][*label as usize].clone()));
            let is_suppressed = |member: &&VariantCount| Some(self.file.tuple_of(member.variant)) == self.suppressed;
            let (apart, members): (Vec<&VariantCount>, Vec<_>) =
                grouping.members(group).iter().partition(is_suppressed);
            let combinations = |members: Vec<&VariantCount>| {
                merged(members.iter().map(|member| (copied[member.variant.index()], member.records)).collect())
            };
            values.push(combinations(members));
            if !apart.is_empty() {
                suppressed = Some((group as u32, combinations(apart)));
            }
        }
        ScopedRelease { boxes: Boxes::new(scope.len(), cells), values, suppressed }
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
    /// By group, without suppressed records.
    values: Vec<Combinations>,
    /// The group with suppressed records, whose box contains every point, and their combinations.
    suppressed: Option<(u32, Combinations)>,
}

impl ScopedRelease {
    /// All records of a group.
    pub(super) fn of_group(&self, group: u32) -> Cow<'_, [(u32, u64)]> {
        self.candidates(&[group], true)
    }

    /// The records of some groups, with the suppressed ones if their group is among them. Without them (`!all`), unless
    /// no other record remains: then the target is suppressed in this release.
    fn candidates(&self, groups: &[u32], all: bool) -> Cow<'_, [(u32, u64)]> {
        let suppressed = self.suppressed.as_ref().filter(|(group, _)| groups.contains(group)).map(|(_, values)| values);
        let mut parts: Vec<&Combinations> = groups.iter().map(|group| &self.values[*group as usize]).collect();
        parts.retain(|values| !values.is_empty());
        parts.extend(suppressed.filter(|_| all || parts.is_empty()));
        match parts[..] {
            [values] => Cow::Borrowed(values),
            _ => merged(parts.into_iter().flatten().copied().collect()).into(),
        }
    }
}

/// All releases by the columns that some models assume to be known, and these models.
pub(super) struct Scope<'a> {
    pub(super) columns: &'a [ColumnId],
    pub(super) releases: Vec<ScopedRelease>,
    /// Indices among all models.
    pub(super) models: &'a [usize],
    all_models: &'a [Box<dyn BoundModel>],
    /// Columns in which certain values are counted: none unless the scope has all columns.
    sensitive: &'a [AttributeId],
    copied: &'a CopiedValues<'a>,
}

/// The judgement of a target's joint groups.
#[derive(Debug)]
pub(super) struct Verdict {
    /// Records of the smaller joint group.
    pub(super) records: u64,
    /// By model of the scope.
    pub(super) models: Vec<ModelVerdict>,
    /// By sensitive column: whether its value is certain from a single release, and from all.
    pub(super) certain: Vec<(bool, bool)>,
}

/// The judgement of one model.
#[derive(Debug)]
pub(super) struct ModelVerdict {
    pub(super) holds: bool,
    /// Margin and figure of the worse joint group, if its margin is below those of earlier targets.
    pub(super) worst: Option<(f64, Figure)>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(
        columns: &'a [ColumnId],
        releases: &[ReadRelease<'_>],
        (all_models, models): (&'a [Box<dyn BoundModel>], &'a [usize]),
        sensitive: &'a [AttributeId],
        copied: &'a CopiedValues<'a>,
    ) -> Self {
        let scoped = |(release, copied): (&ReadRelease<'_>, &Vec<u32>)| release.scoped(columns, copied);
        let releases = releases.iter().zip(&copied.of_releases).map(scoped).collect();
        Self { columns, releases, models, all_models, sensitive, copied }
    }

    /// The joint groups of a target whose candidates are these groups of each release: with the suppressed records, and
    /// without them if that is another one and not empty.
    fn joints(&self, groups: &[Vec<u32>]) -> Vec<Combinations> {
        let joint = |all: bool| {
            let mut candidates = self.releases.iter().zip(groups).map(|(release, g)| release.candidates(g, all));
            let first = candidates.next().unwrap_or_default().into_owned();
            candidates.fold(first, |joint, other| intersection(&joint, &other))
        };
        let mut joints = vec![joint(true)];
        if self.releases.iter().any(|release| release.suppressed.is_some()) {
            joints.extend(Some(joint(false)).filter(|other| !other.is_empty() && *other != joints[0]));
        }
        joints
    }

    /// Judges a target whose candidates are these groups of each release. A model must hold for every joint group.
    /// `margins` has the smallest margin of each model so far: figures are costly, and only the worst is reported.
    pub(super) fn judge(&self, groups: &[Vec<u32>], margins: impl Fn(usize) -> f64) -> Verdict {
        let joints = self.joints(groups);
        let member =
            |&(number, records): &(u32, u64)| VariantCount { variant: self.copied.variants[number as usize], records };
        let members: Vec<Vec<VariantCount>> = joints.iter().map(|joint| joint.iter().map(member).collect()).collect();
        let joint_groups: Vec<Group<'_>> =
            members.iter().map(|members| Group::new(self.copied.base, members)).collect();
        let judge = |index: &usize| {
            let model = &self.all_models[*index];
            let margin = |group: &&Group<'_>| model.margin(group);
            let worst = joint_groups.iter().min_by(|a, b| margin(a).total_cmp(&margin(b)));
            let worst = worst.filter(|group| margin(group) < margins(*index));
            ModelVerdict {
                holds: joint_groups.iter().all(|group| model.holds(group)),
                worst: worst.map(|group| (margin(&group), model.figure(group))),
            }
        };
        let certain = |attribute: &AttributeId| {
            let together = joints.iter().any(|joint| self.is_certain(joint, *attribute));
            let alone = |all: bool| {
                let mut candidates = self.releases.iter().zip(groups).map(|(release, g)| release.candidates(g, all));
                candidates.any(|values| self.is_certain(&values, *attribute))
            };
            (together && (alone(true) || alone(false)), together)
        };
        Verdict {
            records: joint_groups.iter().map(Group::records).min().unwrap_or(0),
            models: self.models.iter().map(judge).collect(),
            certain: self.sensitive.iter().map(certain).collect(),
        }
    }

    /// Whether a group of a release has a record with the values of a variant of the base.
    pub(super) fn has_values(&self, release: usize, group: u32, variant: VariantId) -> bool {
        let first = self.copied.first_variants[variant.index()];
        let values = self.releases[release].of_group(group);
        values.iter().any(|(number, _)| self.copied.variants[*number as usize] == first)
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
