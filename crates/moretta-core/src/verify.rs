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
    policy::Policy,
    privacy::{BoundModel, BoundPolicy, Group, ModelFacts, redundant},
    profile::Profile,
    recoding::{Cut, Groups, Recoding},
    released::{Grouping, Released},
};

/// How a table fares under one privacy model.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The model, in words.
    pub model: String,
    /// The model, for programs.
    pub facts: ModelFacts,
    /// How many groups were judged: where the model speaks of several sets of columns, those by each of them.
    pub groups: usize,
    /// How many records the smallest of them has.
    pub smallest_group: u64,
    /// How many of them break the model.
    pub failing_groups: usize,
    /// How many records are in those, a record once for each of its groups.
    pub failing_records: u64,
    /// The least margin of all groups.
    pub worst_margin: f64,
    /// The figure of the group with the least margin, in words.
    pub worst: String,
    /// The highest confidence with which a guarded value is inferred, where the model limits that.
    pub confidence: Option<f64>,
    /// For some failing groups (the worst first), the number of their first record (from 1). No values: where, not who.
    pub where_: Vec<u64>,
    /// The judgement (its place among all) on a template that this one follows from.
    pub implied_by: Option<usize>,
}

/// How many failing groups are named.
const NAMED: usize = 5;

impl Judgement {
    /// Whether no group breaks the model.
    pub fn holds(&self) -> bool {
        self.failing_groups == 0
    }

    /// Every model's judgement, in the order of the models; those of LKC-privacy, one for each set of columns, have one.
    fn of_all(profile: &Profile, grouping: &Grouping, models: &[Box<dyn BoundModel>]) -> Vec<Self> {
        let (mut tallies, places) = tallies(models);
        // In the order of what they know, so that those that know the same columns share the regrouping, and only one
        // regrouping is held at a time.
        let mut order: Vec<usize> = (0..models.len()).collect();
        order.sort_by_key(|&index| models[index].scope());
        for alike in order.chunk_by(|&a, &b| models[a].scope() == models[b].scope()) {
            let scope = models[alike[0]].scope();
            let coarse = (scope.len() < profile.columns().len()).then(|| grouping.coarsened(scope));
            for &index in alike {
                tallies[places[index]].add(profile, coarse.as_ref().unwrap_or(grouping), &*models[index]);
            }
        }
        let mut judgements: Vec<Self> = tallies.into_iter().map(Tally::finish).collect();
        for (model, by) in redundant(models) {
            judgements[places[model]].implied_by = Some(places[by]);
        }
        judgements
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

/// A tally for each model, but one for all of LKC-privacy; and each model's tally.
fn tallies(models: &[Box<dyn BoundModel>]) -> (Vec<Tally>, Vec<usize>) {
    let mut tallies: Vec<Tally> = Vec::new();
    let mut lkc = None;
    let mut places = Vec::with_capacity(models.len());
    for model in models {
        let is_lkc = matches!(model.facts(), ModelFacts::Lkc { .. });
        let place = lkc.filter(|_| is_lkc).unwrap_or(tallies.len());
        if place == tallies.len() {
            tallies.push(Tally::of(&**model));
        }
        if is_lkc {
            lkc = Some(place);
        }
        places.push(place);
    }
    (tallies, places)
}

impl Tally {
    fn of(model: &dyn BoundModel) -> Self {
        let judgement = Judgement {
            model: model.describe(),
            facts: model.facts(),
            groups: 0,
            smallest_group: u64::MAX,
            failing_groups: 0,
            failing_records: 0,
            worst_margin: f64::INFINITY,
            worst: String::new(),
            confidence: None,
            where_: Vec::new(),
            implied_by: None,
        };
        Self { judgement, failing: Worst::default() }
    }

    /// Groups that are alike in what the model takes to be known.
    fn add(&mut self, profile: &Profile, grouping: &Grouping, model: &dyn BoundModel) {
        let judgement = &mut self.judgement;
        judgement.groups += grouping.len();
        let mut worst_group = None;
        for index in 0..grouping.len() {
            let group = Group::new(profile, grouping.members(index));
            let margin = model.margin(&group);
            if margin < judgement.worst_margin {
                (judgement.worst_margin, worst_group) = (margin, Some(index));
            }
            judgement.smallest_group = judgement.smallest_group.min(group.records());
            if let Some(confidence) = model.confidence(&group) {
                judgement.confidence = Some(judgement.confidence.map_or(confidence, |most| most.max(confidence)));
            }
            if !model.holds(&group) {
                judgement.failing_groups += 1;
                judgement.failing_records += group.records();
                let first =
                    grouping.members(index).iter().filter_map(|member| profile.first_record(member.variant)).min();
                first.into_iter().for_each(|record| self.failing.add(margin, record));
            }
        }
        if let Some(index) = worst_group {
            judgement.worst = model.figure(&Group::new(profile, grouping.members(index)));
        }
    }

    fn finish(self) -> Judgement {
        let Self { mut judgement, failing } = self;
        judgement.where_ = failing.0.into_iter().map(|(_, record)| record).collect();
        if judgement.groups == 0 {
            judgement.smallest_group = 0;
        }
        judgement
    }
}

/// Every model's judgement of a file as it stands. The policy is bound to the file's own profile
/// ([`Profile::of_release`]).
pub fn check(bound: &BoundPolicy<'_>) -> Vec<Judgement> {
    Judgement::of_all(bound.profile(), &Grouping::of_tuples(bound.profile()), bound.models())
}

/// A recoding that was found to satisfy every model of its policy. Only [`verify`] makes one.
#[derive(Debug)]
pub struct Verified<'a> {
    policy: &'a Policy,
    profile: &'a Profile,
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
        self.profile
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
    #[error("column `{column}`: a released cell does not cover the value it stands for")]
    NotCovered {
        /// The column.
        column: String,
    },
    /// Records that would leave more than once, or not at all.
    #[error("{found} of {expected} records would leave")]
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
    #[error("{} of {} groups break {}, the worst with {}", .0.failing_groups, .0.groups, .0.model, .0.worst)]
    Broken(Box<Judgement>),
}

/// Makes a recoding a [`Verified`], or returns why it must not be released.
pub fn verify<'a>(bound: &BoundPolicy<'a>, recoding: Recoding) -> Result<Verified<'a>, VerifyError> {
    judge(bound.policy(), bound.profile(), recoding, bound.models(), bound.max_suppressed())
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
    judge(policy, profile, recoding, models, max_suppressed)
}

/// Every model's judgement of a file, by any models.
#[cfg(any(test, feature = "testing"))]
pub fn check_against(profile: &Profile, models: &[Box<dyn BoundModel>]) -> Vec<Judgement> {
    Judgement::of_all(profile, &Grouping::of_tuples(profile), models)
}

fn judge<'a>(
    policy: &'a Policy,
    profile: &'a Profile,
    recoding: Recoding,
    models: &[Box<dyn BoundModel>],
    max_suppressed: u64,
) -> Result<Verified<'a>, VerifyError> {
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
    let judgements = Judgement::of_all(profile, released.grouping(), models);
    if let Some(broken) = judgements.iter().find(|judgement| !judgement.holds()) {
        return Err(VerifyError::Broken(Box::new(broken.clone())));
    }
    Ok(Verified { policy, profile, recoding, released, judgements })
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
