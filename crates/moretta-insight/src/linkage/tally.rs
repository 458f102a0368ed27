//! Results of all models while joint groups are judged.

use moretta_core::{
    ids::{AttributeId, ColumnId},
    policy::BoundPolicy,
    privacy::Group,
    profile::Profile,
    schema::Role,
};

use super::{
    CertainValues, JointResult, Linkage, LinkageError, LinkedRelease, ReleasedTable, Targets,
    joint::{Combinations, Scope, Verdict},
};
use crate::naming;

/// The result under construction. Targets are added in order, so that it does not depend on the number of threads.
pub(super) struct Tally<'a> {
    bound: &'a BoundPolicy<'a>,
    models: Vec<JointResult>,
    margins: Vec<f64>,
    /// Entry of `models` for each bound model: parts of one model share an entry.
    pub(super) entries: Vec<usize>,
    certain: Vec<CertainValues>,
    smallest: Option<u64>,
}

impl<'a> Tally<'a> {
    pub(super) fn new(bound: &'a BoundPolicy<'a>) -> Result<Self, LinkageError> {
        if let Some(model) = bound.table_models().first() {
            return Err(LinkageError::TableModel(model.describe()));
        }
        let (mut models, mut entries): (Vec<JointResult>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut after_part = false;
        for model in bound.models() {
            let description = naming::description(&model.facts(), model.describe());
            let same = |last: &JointResult| after_part && model.is_part() && last.model == description;
            if !models.last().is_some_and(same) {
                let (worst, facts) = (String::new(), model.facts());
                models.push(JointResult { model: description, holds: true, violating: 0, worst, figure: None, facts });
            }
            after_part = model.is_part();
            entries.push(models.len() - 1);
        }
        let certain = |attribute: &AttributeId| {
            let column = bound.profile().attributes()[attribute.index()].name.clone();
            CertainValues { column, alone: 0, together: 0 }
        };
        let certain = sensitive(bound.profile()).iter().map(certain).collect();
        Ok(Self { bound, margins: vec![f64::INFINITY; models.len()], models, entries, certain, smallest: None })
    }

    /// Adds the verdict on targets that have the same joint group.
    pub(super) fn add(&mut self, scope: &Scope<'_>, verdict: &Verdict, targets: u64, joint: impl Fn() -> Combinations) {
        for (model, (margin, _)) in scope.models.iter().zip(&verdict.models) {
            let entry = self.entries[*model];
            if *margin < self.margins[entry] {
                self.margins[entry] = *margin;
                let members = scope.members(&joint());
                let figure = self.bound.models()[*model].figure(&Group::new(self.bound.profile(), &members));
                self.models[entry].worst = figure.text;
                self.models[entry].figure = Some(figure.value).filter(|value| value.is_finite());
            }
        }
        if scope.columns.len() == self.bound.profile().columns().len() {
            self.smallest = Some(self.smallest.map_or(verdict.records, |smallest| smallest.min(verdict.records)));
        }
        for (column, (alone, together)) in self.certain.iter_mut().zip(&verdict.certain) {
            column.alone += if *alone { targets } else { 0 };
            column.together += if *together { targets } else { 0 };
        }
    }

    /// Adds targets that violate the model of an entry.
    pub(super) fn violate(&mut self, entry: usize, targets: u64) {
        self.models[entry].violating += targets;
        self.models[entry].holds &= targets == 0;
    }

    pub(super) fn finish(self, targets: Targets, total: u64, releases: &[ReleasedTable]) -> Linkage {
        let linked = |release: &ReleasedTable| LinkedRelease {
            file: release.name.clone(),
            rows: release.profile.records(),
            groups: release.profile.tuples(),
        };
        Linkage {
            holds: self.models.iter().all(|model| model.holds),
            releases: releases.iter().map(linked).collect(),
            targets,
            total,
            smallest_joint_group: self.smallest.unwrap_or(0),
            certain: self.certain,
            models: self.models,
        }
    }
}

/// The sensitive columns of a profile.
pub(super) fn sensitive(profile: &Profile) -> Vec<AttributeId> {
    let attributes = profile.attributes().iter().enumerate();
    let is_sensitive = attributes.filter(|(_, attribute)| attribute.role == Role::Sensitive);
    is_sensitive.map(|(index, _)| AttributeId::from_index(index)).collect()
}

/// The sets of columns that models assume to be known, each with the indices of its models. All columns come first,
/// even if no model assumes all of them.
pub(super) fn scopes(bound: &BoundPolicy<'_>) -> Vec<(Vec<ColumnId>, Vec<usize>)> {
    let all: Vec<ColumnId> = (0..bound.profile().columns().len()).map(ColumnId::from_index).collect();
    let mut scopes = vec![(all, Vec::new())];
    for (index, model) in bound.models().iter().enumerate() {
        match scopes.iter_mut().find(|(columns, _)| *columns == model.scope()) {
            Some((_, models)) => models.push(index),
            None => scopes.push((model.scope().to_vec(), vec![index])),
        }
    }
    scopes
}
