//! Verification: does the policy hold in what is about to leave?
//!
//! [`verify`] regroups the profile under a recoding from scratch, without any index of the search that found it, by
//! what will be printed; checks that every cell covers what it stands for and every record leaves exactly once; and
//! lets every privacy model judge every group. Only this makes a [`Verified`], and only a `Verified` can be released.
//! [`check`] asks the same of a file as it stands.

use std::cmp::Reverse;

use crate::{
    hierarchy::Cell,
    ids::{ColumnId, TupleId, VariantId},
    policy::{BoundPolicy, Policy},
    privacy::{BoundModel, BoundTableModel, Description, Group, GroupSizes, ModelFacts, Sentence, redundant},
    profile::{Profile, Tables},
    recoding::{Cut, Groups, Recoding},
    released::{Grouping, Released},
};

/// How a table fares under one privacy model.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The model, in words.
    pub model: Description,
    /// The model, for programs.
    pub facts: ModelFacts,
    /// Whether the model holds.
    pub holds: bool,
    /// Groups that were judged: for a model of several sets of columns, those by each of them.
    pub groups: usize,
    /// Records of the smallest of them.
    pub smallest_group: u64,
    /// Groups that violate the model. A model of the whole table may be violated although no single group does it.
    pub failing_groups: usize,
    /// Records in those, a record once for each of its groups.
    pub failing_records: u64,
    /// The smallest margin of all groups, as a share of the limit.
    pub worst_margin: f64,
    /// The figure with the smallest margin, in words.
    pub worst: String,
    /// The same as a number; not finite if the model's definition has none.
    pub worst_figure: f64,
    /// The highest confidence of inferring a guarded value, if the model limits that.
    pub confidence: Option<f64>,
    /// A sentence on what was found, if the worst figure does not say all.
    pub finding: Option<Sentence>,
    /// Whether a record may be in several of the groups, by several sets of columns.
    pub overlapping: bool,
    /// Whether the model judges the table as a whole, so that no group is the worst.
    pub of_table: bool,
    /// For some failing groups (the worst first), the number of their first record (from 1). No values: where, not who.
    pub where_: Vec<u64>,
    /// The judgement (its index among all) on a template that this one follows from.
    pub implied_by: Option<usize>,
}

/// The models that judge a table.
#[derive(Clone, Copy)]
struct Models<'a> {
    of_groups: &'a [Box<dyn BoundModel>],
    of_table: &'a [Box<dyn BoundTableModel>],
}

impl<'a> Models<'a> {
    fn of(bound: &'a BoundPolicy<'_>) -> Self {
        Self { of_groups: bound.models(), of_table: bound.table_models() }
    }
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

/// How many failing groups are named.
const NAMED: usize = 5;

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

    /// The judgement of every model: those of groups in their order, parts of a model together, then those of the table.
    fn of_all(
        profile: &Profile,
        grouping: &Grouping,
        labels: ReleasedLabels<'_>,
        Models { of_groups: models, of_table }: Models<'_>,
    ) -> Vec<Self> {
        let (mut tallies, places) = tallies(models);
        // In the order of their scopes, so that models of the same scope share the regrouping, and only one regrouping
        // is in memory at a time.
        let mut order: Vec<usize> = (0..models.len()).collect();
        order.sort_by_key(|&index| models[index].scope());
        for alike in order.chunk_by(|&a, &b| models[a].scope() == models[b].scope()) {
            let scope = models[alike[0]].scope();
            let coarse = (scope.len() < profile.columns().len()).then(|| grouping.coarsened(scope));
            let view = View { profile, grouping: coarse.as_ref().unwrap_or(grouping), scope, labels };
            for &index in alike {
                tallies[places[index]].add(&view, &*models[index]);
            }
        }
        let mut judgements: Vec<Self> = tallies.into_iter().map(Tally::finish).collect();
        // All parts of a model say the same, so the last one may speak for them.
        for (place, model) in places.iter().zip(models).rev() {
            let Self { smallest_group, confidence, .. } = judgements[*place];
            let finding = &mut judgements[*place].finding;
            *finding = finding.take().or_else(|| model.finding(smallest_group, confidence));
        }
        for (model, by) in redundant(models) {
            judgements[places[model]].implied_by = Some(places[by]);
        }
        let sizes = GroupSizes::of((0..grouping.len()).map(|group| grouping.records(group)));
        judgements.extend(of_table.iter().map(|model| Self::of_table(&**model, &sizes)));
        judgements
    }

    fn of_table(model: &dyn BoundTableModel, sizes: &GroupSizes) -> Self {
        let (margin, figure) = (model.margin(sizes), model.figure(sizes));
        Self {
            holds: margin >= 0.0,
            groups: sizes.groups() as usize,
            smallest_group: sizes.smallest(),
            worst_margin: margin,
            worst: figure.words,
            worst_figure: figure.value,
            of_table: true,
            ..Self::new(model.describe(), model.facts())
        }
    }
}

/// The groups that a model judges, and what they look like.
struct View<'a> {
    profile: &'a Profile,
    grouping: &'a Grouping,
    /// The columns of the grouping's keys.
    scope: &'a [ColumnId],
    labels: ReleasedLabels<'a>,
}

impl View<'_> {
    /// Judges one group with its released labels.
    fn with_group<T>(&self, index: usize, judge: impl FnOnce(&Group<'_>) -> T) -> T {
        let label = |column: ColumnId| {
            let place = self.scope.binary_search(&column).ok()?;
            Some(self.labels.text(column, self.grouping.key(index)[place]))
        };
        judge(&Group::new(self.profile, self.grouping.members(index)).released(&label))
    }
}

/// A judgement in the making.
struct Tally {
    judgement: Judgement,
    failing: Worst,
}

/// The worst failing groups by margin and first record, the worst first, none with the same record as another. There
/// may be thousands of sets of columns with as many groups each, so no more are kept than are named.
#[derive(Default)]
struct Worst(Vec<(f64, u64)>);

impl Worst {
    fn add(&mut self, margin: f64, record: u64) {
        let worse = |(other, of): &(f64, u64)| other.total_cmp(&margin).then(of.cmp(&record)).is_le();
        let place = self.0.partition_point(worse);
        if place == NAMED || self.0[..place].iter().any(|(_, other)| *other == record) {
            return;
        }
        self.0.retain(|(_, other)| *other != record);
        self.0.insert(place, (margin, record));
        self.0.truncate(NAMED);
    }
}

/// A tally for each model, one for all neighboring parts of a model; and the index of each model's tally.
fn tallies(models: &[Box<dyn BoundModel>]) -> (Vec<Tally>, Vec<usize>) {
    let mut tallies: Vec<Tally> = Vec::new();
    let mut places = Vec::with_capacity(models.len());
    for model in models {
        let description = model.describe();
        let same = |tally: &Tally| tally.judgement.overlapping && tally.judgement.model == description;
        if !(model.is_part() && tallies.last().is_some_and(same)) {
            let judgement = Judgement { overlapping: model.is_part(), ..Judgement::new(description, model.facts()) };
            tallies.push(Tally { judgement, failing: Worst::default() });
        }
        places.push(tallies.len() - 1);
    }
    (tallies, places)
}

impl Tally {
    fn add(&mut self, view: &View<'_>, model: &dyn BoundModel) {
        let judgement = &mut self.judgement;
        let View { profile, grouping, .. } = *view;
        let mut worst_group = None;
        for index in 0..grouping.len() {
            let records = grouping.records(index);
            let (margin, holds, confidence) =
                view.with_group(index, |group| (model.margin(group), model.holds(group), model.confidence(group)));
            if margin < judgement.worst_margin {
                (judgement.worst_margin, worst_group) = (margin, Some(index));
            }
            judgement.smallest_group =
                if judgement.groups == 0 { records } else { judgement.smallest_group.min(records) };
            judgement.groups += 1;
            if let Some(confidence) = confidence {
                judgement.confidence = Some(judgement.confidence.map_or(confidence, |most| most.max(confidence)));
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
            let figure = view.with_group(index, |group| model.figure(group));
            (judgement.worst, judgement.worst_figure) = (figure.words, figure.value);
        }
    }

    fn finish(self) -> Judgement {
        let Self { mut judgement, failing } = self;
        judgement.where_ = failing.0.into_iter().map(|(_, record)| record).collect();
        judgement
    }
}

/// Every model's judgement of a file as it stands. The policy is bound to the file's own profile
/// ([`Profile::of_release`]).
pub fn check(bound: &BoundPolicy<'_>) -> Vec<Judgement> {
    let file = bound.profile();
    let labels = ReleasedLabels::File(file);
    Judgement::of_all(file, &Grouping::of_tuples(file), labels, Models::of(bound))
}

/// A recoding that was found to satisfy every model of its policy. Only [`verify`] makes one.
#[derive(Debug)]
pub struct Verified<'a> {
    policy: &'a Policy,
    tables: Tables<'a>,
    recoding: Recoding,
    released: Released,
    judgements: Vec<Judgement>,
}

impl<'a> Verified<'a> {
    /// The policy it satisfies.
    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    /// The table it recodes.
    pub fn profile(&self) -> &'a Profile {
        self.tables.table
    }

    /// The table, and the second tables that models looked at.
    pub fn tables(&self) -> Tables<'a> {
        self.tables
    }

    /// The recoding.
    pub fn recoding(&self) -> &Recoding {
        &self.recoding
    }

    /// The table that will leave.
    pub fn released(&self) -> &Released {
        &self.released
    }

    /// The recoding and the table under it, for figures: these cannot be released.
    pub fn into_parts(self) -> (Recoding, Released) {
        (self.recoding, self.released)
    }

    /// How it fares under each model.
    pub fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }
}

/// Why a recoding must not be released.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A cell that is no node or interval of its column, or does not cover a value it stands for.
    #[error("column `{column}`: a released cell does not cover its original value")]
    NotCovered {
        /// The column.
        column: String,
    },
    /// Records that would leave more than once, or not at all.
    #[error("only {found} of {expected} records would be released")]
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
        /// How many.
        found: u64,
        /// How many may be.
        allowed: u64,
    },
    /// A privacy model that does not hold.
    #[error("{}", broken(.0))]
    Broken(Box<Judgement>),
}

fn broken(Judgement { model, groups, failing_groups, worst, .. }: &Judgement) -> String {
    match failing_groups {
        0 => format!("the table violates {model}: {worst}"),
        _ => format!("{failing_groups} of {groups} groups violate {model}; the worst has {worst}"),
    }
}

/// Makes a recoding a [`Verified`], or returns why it must not be released.
pub fn verify<'a>(bound: &BoundPolicy<'a>, recoding: Recoding) -> Result<Verified<'a>, VerifyError> {
    judge(bound.policy(), bound.tables(), recoding, Models::of(bound), bound.max_suppressed())
}

/// Verifies against any models, for tests that need a released table and no guarantee.
#[cfg(any(test, feature = "testing"))]
pub fn verify_against<'a>(
    profile: &'a Profile,
    recoding: Recoding,
    models: &[Box<dyn BoundModel>],
    policy: &'a Policy,
    max_suppressed: u64,
) -> Result<Verified<'a>, VerifyError> {
    judge(policy, Tables::of(profile), recoding, Models { of_groups: models, of_table: &[] }, max_suppressed)
}

/// Every model's judgement of a file, by any models.
#[cfg(any(test, feature = "testing"))]
pub fn check_against(profile: &Profile, models: &[Box<dyn BoundModel>]) -> Vec<Judgement> {
    let models = Models { of_groups: models, of_table: &[] };
    Judgement::of_all(profile, &Grouping::of_tuples(profile), ReleasedLabels::File(profile), models)
}

fn judge<'a>(
    policy: &'a Policy,
    tables: Tables<'a>,
    recoding: Recoding,
    models: Models<'_>,
    max_suppressed: u64,
) -> Result<Verified<'a>, VerifyError> {
    let profile = tables.table;
    match &recoding {
        Recoding::Cut(cut) => check_cut(profile, cut)?,
        Recoding::Groups(groups) => check_groups(profile, groups)?,
    }
    let released = Released::of_recoding(profile, &recoding, &policy.release);
    let found: u64 = (0..released.groups()).map(|group| released.records(group)).sum();
    if found != profile.records() {
        return Err(VerifyError::Records { found, expected: profile.records() });
    }
    let suppressed = recoding.suppressed_records(profile);
    if suppressed > max_suppressed {
        return Err(VerifyError::Suppressed { found: suppressed, allowed: max_suppressed });
    }
    let labels = ReleasedLabels::Recoding(&released);
    let judgements = Judgement::of_all(profile, released.grouping(), labels, models);
    if let Some(broken) = judgements.iter().find(|judgement| !judgement.holds) {
        return Err(VerifyError::Broken(Box::new(broken.clone())));
    }
    Ok(Verified { policy, tables, recoding, released, judgements })
}

fn not_covered(profile: &Profile, column: usize) -> VerifyError {
    VerifyError::NotCovered { column: profile.columns()[column].name.clone() }
}

fn check_cut(profile: &Profile, cut: &Cut) -> Result<(), VerifyError> {
    for (column, described) in profile.columns().iter().enumerate() {
        let domain = &described.domain;
        let cells = cut.cells.get(column).filter(|cells| cells.len() == domain.len());
        let cells = cells.ok_or_else(|| not_covered(profile, column))?;
        let in_place = cells.iter().all(|cell| domain.is_valid(*cell)) && nest(cells);
        if !in_place {
            return Err(not_covered(profile, column));
        }
    }
    if !cut.suppressed.is_sorted_by(|a, b| a < b) || cut.suppressed.iter().any(|t| t.index() >= profile.tuples()) {
        return Err(VerifyError::Records { found: 0, expected: profile.records() });
    }
    Ok(())
}

/// Whether every code leaves as the smallest of all the cells that cover it, and no two cells cross: then a value's
/// cell can be told from the list of cells alone, in this table and in any other.
fn nest(cells: &[Cell]) -> bool {
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

fn check_groups(profile: &Profile, groups: &Groups) -> Result<(), VerifyError> {
    let p = profile.columns().len();
    let count = groups.boxes.len() / p;
    let mut left: Vec<i128> =
        (0..profile.variants() as u32).map(|v| i128::from(profile.variant_records(VariantId(v)))).collect();
    for share in &groups.shares {
        let known = share.group.index() < count && share.variant.index() < left.len() && share.records > 0;
        if !known {
            return Err(VerifyError::Records { found: 0, expected: profile.records() });
        }
        left[share.variant.index()] -= i128::from(share.records);
        if groups.suppressed == Some(share.group) {
            continue;
        }
        let tuple: TupleId = profile.tuple_of(share.variant);
        for (column, (cell, code)) in groups.cells(share.group, p).iter().zip(profile.codes(tuple)).enumerate() {
            let domain = profile.domain(ColumnId::from_index(column));
            if !cell.contains(*code) || !domain.is_valid(*cell) {
                return Err(not_covered(profile, column));
            }
        }
    }
    if left.iter().any(|records| *records != 0) {
        let found = groups.shares.iter().fold(0u64, |found, share| found.saturating_add(share.records));
        return Err(VerifyError::Records { found, expected: profile.records() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{NAMED, Worst, check_against};
    use crate::testing::TestTable;

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
            let mut worst = Worst::default();
            let mut all: Vec<(f64, u64)> = groups.iter().map(|&(margin, record)| (f64::from(margin), record)).collect();
            for &(margin, record) in &all {
                worst.add(margin, record);
                prop_assert!(worst.0.len() <= NAMED);
            }
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let mut expected: Vec<u64> = Vec::new();
            for (_, record) in all {
                if expected.len() < NAMED && !expected.contains(&record) {
                    expected.push(record);
                }
            }
            prop_assert_eq!(worst.0.into_iter().map(|(_, record)| record).collect::<Vec<_>>(), expected);
        }
    }
}
