//! Verification: checks that a recoding satisfies the policy before anything is written.
//!
//! [`verify`] trusts nothing that the search computed. From the profile and the recoding alone it checks that
//!
//! 1. every cell covers the values that it replaces (`check_cut`, `check_local`), and a cell that prints an interval
//!    contains them as numbers (`check_labels`);
//! 2. every record is released exactly once, and no more are suppressed than the policy allows;
//! 3. every privacy model holds in every group, where groups are formed by the labels that will be printed.
//!
//! Only [`verify`] makes a [`Verified`], and only a `Verified` can be written (`Verified::write` in `publish.rs`, which
//! shows the whole flow). [`check`] judges an existing file: the read-back of a written release and `moretta check` use
//! it.
//!
//! Cost: one regrouping of the tuples for each distinct scope (set of columns that a model assumes known).

use std::cmp::Reverse;

use crate::{
    group_sizes::GroupSizes,
    hierarchy::{Cell, HierarchyChoice},
    ids::{ColumnId, TupleId, VariantId},
    policy::{BoundPolicy, Policy},
    privacy::{BoundModel, BoundTableModel, Description, Group, ModelError, ModelFacts, Sentence, redundant},
    profile::{Profile, Tables},
    recoding::{Cut, GroupAssignment, LocalRecoding, Recoding},
    released::{Grouping, Released},
};

/// Result of one privacy model for a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The model, in words.
    pub model: Description,
    /// The model, for programs.
    pub facts: ModelFacts,
    /// Whether the model holds.
    pub holds: bool,
    /// Groups that were judged. A model over several sets of columns counts the groups of each set.
    pub groups: usize,
    /// Size of the smallest judged group: its records or, if persons are counted, its persons.
    pub smallest_group: u64,
    /// Groups that violate the model: 0 for a model of the whole table, even if it is violated.
    pub failing_groups: usize,
    /// Records of these groups. A record in several of them counts several times.
    pub failing_records: u64,
    /// The smallest margin of all groups, as a share of the limit.
    pub worst_margin: f64,
    /// The figure with the smallest margin, in words.
    pub worst: String,
    /// The same figure as a number; not finite if the model's definition gives none.
    pub worst_figure: f64,
    /// The highest confidence of inferring a guarded value, if the model limits that.
    pub confidence: Option<f64>,
    /// A sentence about the result, for models whose worst figure does not say all.
    pub finding: Option<Sentence>,
    /// Whether a record may be in several of the groups, by several sets of columns.
    pub overlapping: bool,
    /// Whether the model judges the table as a whole, so that no group is the worst.
    pub of_table: bool,
    /// Number of the first record (from 1) of the worst failing groups, worst first. Numbers only: a message must not
    /// quote values.
    pub where_: Vec<u64>,
    /// Index of the judgement of a template that implies this one.
    pub implied_by: Option<usize>,
}

/// The labels of a released table: those of a recoding, or the texts of a file.
#[derive(Clone, Copy)]
enum ReleasedLabels<'a> {
    Recoding(&'a Released),
    File(&'a Profile),
}

impl<'a> ReleasedLabels<'a> {
    fn text(self, column: ColumnId, label: u32) -> &'a str {
        match self {
            Self::Recoding(released) => &released.labels(column.index())[label as usize],
            Self::File(file) => file.domain(column).text(label),
        }
    }
}

/// Maximum of failing groups that a judgement names; more do not help to find the cause. Not tuned.
const MAX_NAMED_GROUPS: usize = 5;

impl Judgement {
    /// A judgement before any group was judged.
    fn new(model: Description, facts: ModelFacts) -> Self {
        Self {
            model,
            facts,
            holds: true,
            groups: 0,
            smallest_group: 0,
            failing_groups: 0,
            failing_records: 0,
            worst_margin: f64::INFINITY,
            worst: String::new(),
            worst_figure: f64::NAN,
            confidence: None,
            finding: None,
            overlapping: false,
            of_table: false,
            where_: Vec::new(),
            implied_by: None,
        }
    }

    /// Judges every model. Judgements are in the order of the models, group models first; neighboring parts of a model
    /// share one judgement.
    fn judge_all(
        profile: &Profile,
        grouping: &Grouping,
        labels: ReleasedLabels<'_>,
        models: &[Box<dyn BoundModel>],
        table_models: &[Box<dyn BoundTableModel>],
    ) -> Vec<Self> {
        let (mut tallies, tally_indices) = tallies(models);
        // Sorted by scope: models with the same scope share a regrouping, and only one regrouping is in memory at a
        // time.
        let mut order: Vec<usize> = (0..models.len()).collect();
        order.sort_by_key(|&index| models[index].scope());
        for same_scope in order.chunk_by(|&a, &b| models[a].scope() == models[b].scope()) {
            let scope = models[same_scope[0]].scope();
            let coarse = (scope.len() < profile.columns().len()).then(|| grouping.coarsened(scope));
            let groups = ScopedGroups { profile, grouping: coarse.as_ref().unwrap_or(grouping), scope, labels };
            for &index in same_scope {
                tallies[tally_indices[index]].add(&groups, &*models[index]);
            }
        }
        let mut judgements: Vec<Self> = tallies.into_iter().map(Tally::finish).collect();
        // All parts of a model return the same finding, so that of the last part is used.
        for (&index, model) in tally_indices.iter().zip(models).rev() {
            let Self { smallest_group, confidence, .. } = judgements[index];
            let finding = &mut judgements[index].finding;
            *finding = finding.take().or_else(|| model.finding(smallest_group, confidence));
        }
        for (model, by) in redundant(models) {
            judgements[tally_indices[model]].implied_by = Some(tally_indices[by]);
        }
        let sizes = GroupSizes::of((0..grouping.len()).map(|group| grouping.size(group, profile)));
        judgements.extend(table_models.iter().map(|model| Self::of_table(&**model, &sizes)));
        judgements
    }

    fn of_table(model: &dyn BoundTableModel, sizes: &GroupSizes) -> Self {
        let (margin, figure) = (model.margin(sizes), model.figure(sizes));
        Self {
            holds: margin >= 0.0,
            groups: sizes.groups() as usize,
            smallest_group: sizes.smallest(),
            worst_margin: margin,
            worst: figure.text,
            worst_figure: figure.value,
            of_table: true,
            ..Self::new(model.describe(), model.facts())
        }
    }
}

/// Groups formed by the labels of some columns (the scope of a model).
struct ScopedGroups<'a> {
    profile: &'a Profile,
    grouping: &'a Grouping,
    /// The columns of the grouping's keys.
    scope: &'a [ColumnId],
    labels: ReleasedLabels<'a>,
}

impl ScopedGroups<'_> {
    /// Judges one group with its released labels.
    fn with_group<T>(&self, index: usize, judge: impl FnOnce(&Group<'_>) -> T) -> T {
        let label = |column: ColumnId| {
            let position = self.scope.binary_search(&column).ok()?;
            Some(self.labels.text(column, self.grouping.key(index)[position]))
        };
        judge(&Group::new(self.profile, self.grouping.members(index)).released(&label))
    }
}

/// A judgement while groups are added to it.
struct Tally {
    judgement: Judgement,
    failing: WorstGroups,
}

/// Margin and first record of the worst failing groups, worst first, with distinct records. At most
/// [`MAX_NAMED_GROUPS`] are kept, because there may be thousands of sets of columns with thousands of groups each.
#[derive(Default)]
struct WorstGroups(Vec<(f64, u64)>);

impl WorstGroups {
    fn add(&mut self, margin: f64, record: u64) {
        let is_worse = |known: &(f64, u64)| known.0.total_cmp(&margin).then(known.1.cmp(&record)).is_le();
        let index = self.0.partition_point(is_worse);
        if index == MAX_NAMED_GROUPS || self.0[..index].iter().any(|(_, other)| *other == record) {
            return;
        }
        self.0.retain(|(_, other)| *other != record);
        self.0.insert(index, (margin, record));
        self.0.truncate(MAX_NAMED_GROUPS);
    }
}

/// Returns one tally per model, or per run of parts of the same model, and the tally's index for each model.
fn tallies(models: &[Box<dyn BoundModel>]) -> (Vec<Tally>, Vec<usize>) {
    let mut tallies: Vec<Tally> = Vec::new();
    let mut tally_indices = Vec::with_capacity(models.len());
    for model in models {
        let description = model.describe();
        let same = |tally: &Tally| tally.judgement.overlapping && tally.judgement.model == description;
        if !(model.is_part() && tallies.last().is_some_and(same)) {
            let judgement = Judgement { overlapping: model.is_part(), ..Judgement::new(description, model.facts()) };
            tallies.push(Tally { judgement, failing: WorstGroups::default() });
        }
        tally_indices.push(tallies.len() - 1);
    }
    (tallies, tally_indices)
}

impl Tally {
    fn add(&mut self, groups: &ScopedGroups<'_>, model: &dyn BoundModel) {
        let judgement = &mut self.judgement;
        let ScopedGroups { profile, grouping, .. } = *groups;
        let mut worst_group = None;
        for index in 0..grouping.len() {
            let records = grouping.records(index);
            let (margin, holds, confidence, size) = groups.with_group(index, |group| {
                (model.margin(group), model.holds(group), model.confidence(group), group.size())
            });
            if margin < judgement.worst_margin {
                (judgement.worst_margin, worst_group) = (margin, Some(index));
            }
            judgement.smallest_group = if judgement.groups == 0 { size } else { judgement.smallest_group.min(size) };
            judgement.groups += 1;
            if let Some(confidence) = confidence {
                judgement.confidence = Some(judgement.confidence.map_or(confidence, |highest| highest.max(confidence)));
            }
            if !holds {
                judgement.holds = false;
                judgement.failing_groups += 1;
                judgement.failing_records += records;
                let first =
                    grouping.members(index).iter().filter_map(|member| profile.first_record(member.variant)).min();
                first.into_iter().for_each(|record| self.failing.add(margin, record));
            }
        }
        if let Some(index) = worst_group {
            let figure = groups.with_group(index, |group| model.figure(group));
            (judgement.worst, judgement.worst_figure) = (figure.text, figure.value);
        }
    }

    fn finish(self) -> Judgement {
        let Self { mut judgement, failing } = self;
        judgement.where_ = failing.0.into_iter().map(|(_, record)| record).collect();
        judgement
    }
}

/// Judges a file by every model. The policy is bound to the profile of the file itself ([`Profile::of_release`]).
pub fn check(bound: &BoundPolicy<'_>) -> Vec<Judgement> {
    let file = bound.profile();
    let labels = ReleasedLabels::File(file);
    Judgement::judge_all(file, &Grouping::of_tuples(file), labels, bound.models(), bound.table_models())
}

/// Judges a file of a policy that counts persons, which the file does not have: by the models that do not depend on
/// them, and by what the others require of records. The verdict does not replace [`verify`], which judges every model
/// on the original table.
pub(crate) fn check_without_persons(policy: &Policy, tables: Tables<'_>) -> Result<Vec<Judgement>, ModelError> {
    let models = policy.privacy.without_persons().bind(&tables)?;
    let (file, grouping) = (tables.table, Grouping::of_tuples(tables.table));
    Ok(Judgement::judge_all(file, &grouping, ReleasedLabels::File(file), &models.of_groups, &models.of_table))
}

/// A recoding that satisfies every model of its policy. Only [`verify`] makes one.
#[derive(Debug)]
pub struct Verified<'a> {
    policy: &'a Policy,
    tables: Tables<'a>,
    recoding: Recoding,
    released: Released,
    judgements: Vec<Judgement>,
}

impl<'a> Verified<'a> {
    /// The policy that the recoding satisfies.
    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The original table.
    pub fn profile(&self) -> &'a Profile {
        self.tables.table
    }

    /// The original table, and the second tables that models need.
    pub fn tables(&self) -> Tables<'a> {
        self.tables
    }

    /// The recoding that was verified.
    pub fn recoding(&self) -> &Recoding {
        &self.recoding
    }

    /// The table to be released.
    pub fn released(&self) -> &Released {
        &self.released
    }

    /// Gives up the proof: the parts can be measured, but not released.
    pub fn into_parts(self) -> (Recoding, Released) {
        (self.recoding, self.released)
    }

    /// The judgement of each model.
    pub fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }
}

/// Why a recoding must not be released.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A cell is no node or interval of its column, or does not cover a value that it replaces.
    #[error("column `{column}`: a released cell does not cover its original value")]
    NotCovered {
        /// Name of the column.
        column: String,
    },
    /// Records would be released more than once, or not at all.
    #[error("{found} of {expected} records would be released")]
    Records {
        /// Records in all groups.
        found: u64,
        /// Records in the table.
        expected: u64,
    },
    /// More records suppressed than the policy allows.
    #[error(
        "{found} records would be suppressed; the policy allows {allowed} (`max-suppressed` is the share it allows)"
    )]
    Suppressed {
        /// Suppressed records.
        found: u64,
        /// Records that the policy allows to suppress.
        allowed: u64,
    },
    /// A privacy model does not hold.
    #[error("{}", broken(.0))]
    Broken(Box<Judgement>),
}

fn broken(Judgement { model, groups, failing_groups, worst, .. }: &Judgement) -> String {
    match failing_groups {
        0 => format!("the table violates {model}: {worst}"),
        _ => format!("{failing_groups} of {groups} groups violate {model}; the worst has {worst}"),
    }
}

/// Checks a recoding against the policy; an error says why it must not be released.
pub fn verify<'a>(bound: &BoundPolicy<'a>, recoding: Recoding) -> Result<Verified<'a>, VerifyError> {
    let (models, table_models) = (bound.models(), bound.table_models());
    verify_with(bound.policy(), bound.tables(), recoding, models, table_models, bound.max_suppressed())
}

/// Like [`verify`], with the given models instead of the policy's. For tests, whose tables often need no guarantee.
#[cfg(any(test, feature = "testing"))]
pub fn verify_against<'a>(
    profile: &'a Profile,
    recoding: Recoding,
    models: &[Box<dyn BoundModel>],
    policy: &'a Policy,
    max_suppressed: u64,
) -> Result<Verified<'a>, VerifyError> {
    verify_with(policy, Tables::of(profile), recoding, models, &[], max_suppressed)
}

/// Like [`check`], with the given models. For tests.
#[cfg(any(test, feature = "testing"))]
pub fn check_against(profile: &Profile, models: &[Box<dyn BoundModel>]) -> Vec<Judgement> {
    Judgement::judge_all(profile, &Grouping::of_tuples(profile), ReleasedLabels::File(profile), models, &[])
}

fn verify_with<'a>(
    policy: &'a Policy,
    tables: Tables<'a>,
    recoding: Recoding,
    models: &[Box<dyn BoundModel>],
    table_models: &[Box<dyn BoundTableModel>],
    max_suppressed: u64,
) -> Result<Verified<'a>, VerifyError> {
    let profile = tables.table;
    match &recoding {
        Recoding::Global(cut) => check_cut(profile, cut)?,
        Recoding::Local(groups) => check_local(profile, groups)?,
    }
    let released = Released::of_recoding(profile, &recoding, &policy.release);
    check_labels(policy, profile, &released)?;
    let found: u64 = (0..released.groups()).map(|group| released.records(group)).sum();
    if found != profile.records() {
        return Err(VerifyError::Records { found, expected: profile.records() });
    }
    let suppressed = recoding.suppressed_records(profile);
    if suppressed > max_suppressed {
        return Err(VerifyError::Suppressed { found: suppressed, allowed: max_suppressed });
    }
    let labels = ReleasedLabels::Recoding(&released);
    let judgements = Judgement::judge_all(profile, released.grouping(), labels, models, table_models);
    if let Some(broken) = judgements.iter().find(|judgement| !judgement.holds) {
        return Err(VerifyError::Broken(Box::new(broken.clone())));
    }
    Ok(Verified { policy, tables, recoding, released, judgements })
}

fn not_covered(profile: &Profile, column: usize) -> VerifyError {
    VerifyError::NotCovered { column: profile.columns()[column].name.clone() }
}

fn check_cut(profile: &Profile, cut: &Cut) -> Result<(), VerifyError> {
    for (index, column) in profile.columns().iter().enumerate() {
        let domain = &column.domain;
        let cells = cut.cells.get(index).filter(|cells| cells.len() == domain.len());
        let cells = cells.ok_or_else(|| not_covered(profile, index))?;
        if !(cells.iter().all(|cell| domain.is_valid(*cell)) && are_properly_nested(cells)) {
            return Err(not_covered(profile, index));
        }
    }
    if !cut.suppressed.is_sorted_by(|a, b| a < b) || cut.suppressed.iter().any(|t| t.index() >= profile.tuples()) {
        return Err(VerifyError::Records { found: 0, expected: profile.records() });
    }
    Ok(())
}

/// Whether every code is released as the smallest cell that covers it, and no two cells overlap partly. Then the list
/// of cells determines the cell of any value, also of values in other tables.
fn are_properly_nested(cells: &[Cell]) -> bool {
    let mut distinct = cells.to_vec();
    distinct.sort_unstable_by_key(|cell| (cell.first, Reverse(cell.last), *cell));
    distinct.dedup();
    let mut next = distinct.into_iter().peekable();
    let mut open: Vec<Cell> = Vec::new();
    (0u32..).zip(cells).all(|(code, cell)| {
        while open.pop_if(|innermost| innermost.last < code).is_some() {}
        while let Some(opening) = next.next_if(|opening| opening.first == code) {
            if open.last().is_some_and(|around| around.last < opening.last) {
                return false;
            }
            open.push(opening);
        }
        open.last() == Some(cell)
    })
}

fn check_local(profile: &Profile, groups: &LocalRecoding) -> Result<(), VerifyError> {
    let p = profile.columns().len();
    let count = groups.boxes.len() / p;
    let mut unassigned: Vec<i128> =
        (0..profile.variants() as u32).map(|v| i128::from(profile.variant_records(VariantId(v)))).collect();
    for &GroupAssignment { group, variant, records } in &groups.assignments {
        if group.index() >= count || variant.index() >= unassigned.len() || records == 0 {
            return Err(VerifyError::Records { found: 0, expected: profile.records() });
        }
        unassigned[variant.index()] -= i128::from(records);
        if groups.suppressed == Some(group) {
            continue;
        }
        let tuple: TupleId = profile.tuple_of(variant);
        for (column, (cell, code)) in groups.box_of(group, p).iter().zip(profile.codes(tuple)).enumerate() {
            let domain = profile.domain(ColumnId::from_index(column));
            if !cell.contains(*code) || !domain.is_valid(*cell) {
                return Err(not_covered(profile, column));
            }
        }
    }
    if unassigned.iter().any(|records| *records != 0) {
        let found = groups.assignments.iter().fold(0u64, |found, assignment| found.saturating_add(assignment.records));
        return Err(VerifyError::Records { found, expected: profile.records() });
    }
    Ok(())
}

/// Checks that every printed interval contains the values that it replaces, and that every printed number is that
/// value: the label is parsed and compared exactly, whatever its cell says. Codes are in ascending order, so the first
/// and the last under a label suffice.
fn check_labels(policy: &Policy, profile: &Profile, released: &Released) -> Result<(), VerifyError> {
    let columns = policy.quasi_identifiers().zip(profile.columns()).enumerate();
    for (index, (declared, column)) in columns.filter(|(_, (_, column))| column.domain.kind().is_ordered()) {
        let domain = &column.domain;
        // A mean is no value of its group, and a hierarchy file may name a node by a number.
        let has_own_names = matches!(declared.hierarchy, HierarchyChoice::File(_));
        let prints_values = !policy.release.prints_group_values(domain.kind()) && !has_own_names;
        let is_wrong = |label: &str, code: u32| {
            domain.excludes(label, code) || prints_values && domain.is_other_number(label, code)
        };
        let mut codes: Vec<Option<(u32, u32)>> = vec![None; released.labels(index).len()];
        for group in 0..released.groups() {
            let known = &mut codes[released.label_of(group, index) as usize];
            for member in released.grouping().members(group) {
                let code = profile.codes(profile.tuple_of(member.variant))[index];
                let (first, last) = known.unwrap_or((code, code));
                *known = Some((first.min(code), last.max(code)));
            }
        }
        let labels = released.labels(index).iter().zip(codes);
        let mut ends = labels.filter_map(|(label, codes)| Some((label, codes?)));
        if ends.any(|(label, (first, last))| is_wrong(label, first) || is_wrong(label, last)) {
            return Err(not_covered(profile, index));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{MAX_NAMED_GROUPS, VerifyError, WorstGroups, check_against, check_labels, verify_against};
    use crate::{
        ids::ColumnId,
        recoding::{Cut, Recoding},
        released::Released,
        testing::TestTable,
    };

    /// The cell still covers its codes, but the interval that it prints does not contain their numbers.
    #[test]
    fn a_printed_interval_that_excludes_its_value_is_refused() {
        let policy = "privacy.k = 2\n[columns]\na.role = \"quasi-identifier\"";
        let mut table = TestTable::new(policy, &[], &[("1", 1), ("2", 1), ("9007199254740993", 1)]);
        let cut = |table: &TestTable| Recoding::Global(Cut::whole(&table.profile));
        let verified =
            |table: &TestTable| verify_against(&table.profile, cut(table), &table.models, &table.policy, 0).map(|_| ());
        assert_eq!(verified(&table), Ok(()));
        table.profile.domain_mut(ColumnId(0)).falsify(2, "0.5");
        assert_eq!(verified(&table), Err(VerifyError::NotCovered { column: "a".to_owned() }));
    }

    #[test]
    fn a_printed_number_that_is_not_its_value_is_refused() {
        let table = |release: &str, hierarchy: &str| {
            let policy = format!("privacy.k = 2\n{release}[columns.a]\nrole = \"quasi-identifier\"\n{hierarchy}");
            TestTable::new(&policy, &[], &[("1", 2), ("2", 2)])
        };
        let verified = |table: &TestTable| {
            let cut = Recoding::Global(Cut::identity(&table.profile));
            let released = Released::of_recoding(&table.profile, &cut, &table.policy.release);
            let mut falsified = table.profile.clone();
            falsified.domain_mut(ColumnId(0)).falsify(1, "2.5");
            [&table.profile, &falsified].map(|profile| check_labels(&table.policy, profile, &released))
        };
        let wrong = Err(VerifyError::NotCovered { column: "a".to_owned() });
        assert_eq!(verified(&table("", "")), [Ok(()), wrong]);
        assert_eq!(verified(&table("[release]\nnumbers = \"mean\"\n", "")), [Ok(()), Ok(())]);
    }

    #[test]
    fn templates_that_read_alike_are_judged_apart() {
        let template = |given: &str| {
            format!("[[privacy.template]]\ngiven = [{given}]\ncolumn = \"s\"\nvalues = [\"x\"]\nmax-confidence = 0.5\n")
        };
        let policy = "[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\n\"a, b\".role = \
                      \"quasi-identifier\"\ns.role = \"sensitive\"\n"
            .to_owned()
            + &template("\"a\", \"b\"")
            + &template("\"a, b\"");
        let table = TestTable::new(&policy, &[], &[("1,1,1,x", 1), ("1,1,2,y", 1)]);
        let judgements = check_against(&table.profile, &table.models);
        let found: Vec<(usize, usize)> = judgements.iter().map(|of| (of.groups, of.failing_groups)).collect();
        assert_eq!(judgements[0].model, judgements[1].model);
        assert_eq!(found, [(1, 0), (2, 1)]);
    }

    proptest! {
        #[test]
        fn the_worst_are_those_of_a_full_list(groups in prop::collection::vec((-4i8..0, 1u64..12), 0..40)) {
            let mut worst = WorstGroups::default();
            let mut all: Vec<(f64, u64)> = groups.iter().map(|&(margin, record)| (f64::from(margin), record)).collect();
            for &(margin, record) in &all {
                worst.add(margin, record);
                prop_assert!(worst.0.len() <= MAX_NAMED_GROUPS);
            }
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut expected: Vec<u64> = Vec::new();
            for (_, record) in all {
                if expected.len() < MAX_NAMED_GROUPS && !expected.contains(&record) {
                    expected.push(record);
                }
            }
            prop_assert_eq!(worst.0.into_iter().map(|(_, record)| record).collect::<Vec<_>>(), expected);
        }
    }
}
