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
    policy::ReleaseOptions,
    privacy::{BoundModel, Group, ModelFacts},
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
    /// How many groups were judged.
    pub groups: usize,
    /// How many of them break the model.
    pub failing_groups: usize,
    /// How many records are in those.
    pub failing_records: u64,
    /// The least margin of all groups.
    pub worst_margin: f64,
    /// The figure of the group with the least margin, in words.
    pub worst: String,
    /// For some failing groups (the worst first), the number of their first record (from 1). No values: where, not who.
    pub where_: Vec<u64>,
}

/// How many failing groups are named.
const NAMED: usize = 5;

impl Judgement {
    /// Whether no group breaks the model.
    pub fn holds(&self) -> bool {
        self.failing_groups == 0
    }

    /// Every model's judgement. Models that know the same columns share the regrouping.
    fn of_all(profile: &Profile, grouping: &Grouping, models: &[Box<dyn BoundModel>]) -> Vec<Self> {
        let mut coarse: Option<(&[ColumnId], Grouping)> = None;
        let mut judgements = Vec::new();
        for model in models {
            let scope = model.scope();
            if scope.len() == profile.columns().len() {
                judgements.push(Self::of(profile, grouping, &**model));
                continue;
            }
            if coarse.as_ref().is_none_or(|(known, _)| *known != scope) {
                coarse = Some((scope, grouping.coarsened(scope)));
            }
            if let Some((_, grouping)) = &coarse {
                judgements.push(Self::of(profile, grouping, &**model));
            }
        }
        judgements
    }

    /// Of groups that are alike in what the model takes to be known.
    fn of(profile: &Profile, grouping: &Grouping, model: &dyn BoundModel) -> Self {
        let mut judgement = Self {
            model: model.describe(),
            facts: model.facts(),
            groups: grouping.len(),
            failing_groups: 0,
            failing_records: 0,
            worst_margin: f64::INFINITY,
            worst: String::new(),
            where_: Vec::new(),
        };
        let mut worst_group = None;
        let mut failing = Vec::new();
        for index in 0..grouping.len() {
            let group = Group::new(profile, grouping.members(index));
            let margin = model.margin(&group);
            if margin < judgement.worst_margin {
                (judgement.worst_margin, worst_group) = (margin, Some(index));
            }
            if !model.holds(&group) {
                judgement.failing_groups += 1;
                judgement.failing_records += group.records();
                let first = grouping.members(index).iter().map(|member| profile.first_record(member.variant)).min();
                failing.push((margin, first.unwrap_or(0)));
            }
        }
        if let Some(index) = worst_group {
            judgement.worst = model.figure(&Group::new(profile, grouping.members(index)));
        }
        failing.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        judgement.where_ = failing.into_iter().take(NAMED).map(|(_, record)| record).collect();
        judgement
    }
}

/// Every model's judgement of a file as it stands. The profile is the file's own ([`Profile::of_release`]).
pub fn check(profile: &Profile, models: &[Box<dyn BoundModel>]) -> Vec<Judgement> {
    let grouping = Grouping::of_tuples(profile);
    Judgement::of_all(profile, &grouping, models)
}

/// A recoding that was found to do what the policy asks. There is no other way to make one than [`verify`].
#[derive(Debug)]
pub struct Verified {
    recoding: Recoding,
    released: Released,
    judgements: Vec<Judgement>,
}

impl Verified {
    /// The recoding.
    pub fn recoding(&self) -> &Recoding {
        &self.recoding
    }

    /// The table that will leave.
    pub fn released(&self) -> &Released {
        &self.released
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

/// Makes a recoding a [`Verified`], or says why not.
pub fn verify(
    profile: &Profile,
    recoding: Recoding,
    models: &[Box<dyn BoundModel>],
    options: &ReleaseOptions,
    max_suppressed: u64,
) -> Result<Verified, VerifyError> {
    match &recoding {
        Recoding::Cut(cut) => check_cut(profile, cut)?,
        Recoding::Groups(groups) => check_groups(profile, groups)?,
    }
    let released = Released::of_recoding(profile, &recoding, options);
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
    Ok(Verified { recoding, released, judgements })
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
