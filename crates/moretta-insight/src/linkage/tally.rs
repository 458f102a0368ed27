//! Results of all models while joint groups are judged.

use std::collections::BTreeSet;

use moretta_core::{
    ids::{AttributeId, ColumnId},
    policy::BoundPolicy,
    profile::Profile,
    schema::Role,
};

use super::{
    CertainValues, JointResult, Linkage, LinkageError, LinkedRelease, ReleasedTable, Targets,
    joint::{Scope, Verdict},
};
use crate::naming;

/// The result under construction. Targets are added in order, so that it does not depend on the number of threads.
pub(super) struct Tally<'a> {
    bound: &'a BoundPolicy<'a>,
    pub(super) models: Vec<JointResult>,
    /// Smallest margin by entry of `models`.
    margins: Vec<f64>,
    /// Entry of `models` for each bound model: parts of one model share an entry.
    entries: Vec<usize>,
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
                models.push(JointResult {
                    model: description,
                    holds: true,
                    violating: 0,
                    total: 0,
                    worst,
                    figure: None,
                    facts,
                });
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

    /// Smallest margin of a bound model, and of the other parts of its model, so far.
    pub(super) fn margin(&self, model: usize) -> f64 {
        self.margins[self.entries[model]]
    }

    /// Entries of the models of a scope.
    pub(super) fn entries_of(&self, scope: &Scope<'_>) -> BTreeSet<usize> {
        scope.models.iter().map(|model| self.entries[*model]).collect()
    }

    /// Entries of the models that a verdict finds violated.
    pub(super) fn violated(&self, scope: &Scope<'_>, verdict: &Verdict) -> BTreeSet<usize> {
        let models = scope.models.iter().zip(&verdict.models).filter(|(_, verdict)| !verdict.holds);
        models.map(|(model, _)| self.entries[*model]).collect()
    }

    /// Adds the verdict on targets that have the same joint groups.
    pub(super) fn add(&mut self, scope: &Scope<'_>, verdict: Verdict, targets: u64) {
        for (model, verdict) in scope.models.iter().zip(verdict.models) {
            let entry = self.entries[*model];
            if let Some((margin, figure)) = verdict.worst.filter(|(margin, _)| *margin < self.margins[entry]) {
                self.margins[entry] = margin;
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

    /// Adds targets that were judged by the model of an entry, and those of them that violate it.
    pub(super) fn judged(&mut self, entry: usize, violating: u64, targets: u64) {
        let model = &mut self.models[entry];
        model.violating += violating;
        model.total += targets;
        model.holds &= violating == 0;
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
