//! The search: selects the candidate with the highest score, checks it against the guards, and discloses or rejects it.
//!
//! Candidates that violate a template are rejected as soon as the confidence index finds them, so every open candidate
//! keeps all templates. The guards are more expensive and are only asked about the selected candidate.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{
    TIE,
    candidates::{Candidate, CandidateSet},
    confidences::Confidences,
    constraints::Constraints,
    guards::{MinRecordsGuard, ModelGuard},
    projected_rows::Projection,
};
use crate::{
    hierarchy::Cell,
    ids::ColumnId,
    recoding::{Action, Step},
    search::{Observer, Task, information::Criterion},
};

/// State of the search: the disclosed cells and the open candidates.
pub(super) struct TopDownSearch<'a> {
    pub(super) candidates: CandidateSet<'a>,
    pub(super) confidences: Confidences,
    size_guards: Vec<MinRecordsGuard>,
    model_guards: Vec<ModelGuard<'a>>,
    /// Open candidates with their scores, in order of column and value.
    open: Vec<(u32, f64)>,
    /// Number of candidates when `open` was last updated: later ones are not in it yet.
    num_scored: usize,
    pub(super) path: Vec<Step>,
    pub(super) rescored: u64,
    pub(super) refused: u64,
}

/// The first step: suppresses every column that some model assumes to be known.
pub(super) fn first_step(cells: &[Vec<Cell>], masked: &[bool]) -> Step {
    let whole = |column: usize| Some(*cells[column].first()?).filter(|_| masked[column]);
    let hidden = (0..masked.len()).filter_map(|column| Some((ColumnId::from_index(column), whole(column)?)));
    Step { action: Action::Generalize, changes: hidden.collect() }
}

impl<'a> TopDownSearch<'a> {
    /// Starts with nothing disclosed. Returns `None` if the observer stops it during the setup.
    pub(super) fn new(task: &Task<'a>, measure: Criterion, tries: u32, observer: &dyn Observer) -> Option<Self> {
        let constraints = Constraints::of(task);
        let profile = task.profile;
        let candidates = CandidateSet::new(
            profile,
            measure,
            tries as usize,
            &constraints.masked,
            constraints.min_records_by_column(),
        );
        let first = first_step(candidates.cells(), &constraints.masked);
        let project =
            |scope: &&Vec<usize>| observer.stop().is_none().then(|| ((*scope).clone(), Projection::of(profile, scope)));
        let rows: BTreeMap<Vec<usize>, Projection> =
            constraints.scopes().par_iter().map(project).collect::<Option<_>>()?;
        let confidences = Confidences::new(profile, &candidates, &constraints.templates, &rows, observer)?;
        let limits: Vec<(&Vec<usize>, &u64)> = constraints.min_records.iter().collect();
        let size_guards = limits
            .par_iter()
            .map(|(scope, min_records)| MinRecordsGuard::new(profile, &rows[*scope], **min_records))
            .collect();
        let others = constraints.other_models.into_iter();
        let model_guards = others.map(|(scope, models)| ModelGuard::new(profile, &scope, models)).collect();
        let mut search = Self {
            candidates,
            confidences,
            size_guards,
            model_guards,
            open: Vec::new(),
            num_scored: 0,
            path: vec![first],
            rescored: 0,
            refused: 0,
        };
        search.replace_violating(observer);
        Some(search)
    }

    fn score(&self, id: u32) -> f64 {
        let candidate = self.candidates.get(id);
        candidate.gain / (self.confidences.privacy_loss(candidate.column, id) + 1.0)
    }

    /// Adds new candidates to `open` and rejects those that violate a template, which may add further ones, until none
    /// does.
    fn replace_violating(&mut self, observer: &dyn Observer) {
        loop {
            if self.num_scored < self.candidates.len() {
                let new = self.num_scored as u32..self.candidates.len() as u32;
                let new: Vec<(u32, f64)> = new.map(|id| (id, self.score(id))).collect();
                self.open.extend(new);
                self.num_scored = self.candidates.len();
                let candidates = &self.candidates;
                self.open.sort_by_key(|(id, _)| (candidates.get(*id).column, candidates.get(*id).first));
            }
            let violating = self.confidences.take_violating(&self.candidates);
            if violating.is_empty() || observer.stop().is_some() {
                return;
            }
            self.reject(&violating);
        }
    }

    /// Rejects candidates and replaces them by their alternatives.
    fn reject(&mut self, ids: &[u32]) {
        let new = self.candidates.len();
        ids.iter().for_each(|&id| self.candidates.reject(id));
        self.open.retain(|(id, _)| self.candidates.is_open(*id));
        if self.candidates.len() > new {
            self.confidences.replace(&self.candidates, ids, new);
        }
    }

    /// Number of candidates so far, and how many of them are still open.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.candidates.len() as u64, self.open.len() as u64)
    }

    /// The beneficial candidate with the highest score; of ties, the first.
    pub(super) fn next(&self) -> Option<u32> {
        let useful = || self.open.iter().filter(|(id, _)| self.candidates.is_beneficial(*id));
        let highest = useful().map(|(_, score)| *score).max_by(f64::total_cmp)?;
        useful().find(|(_, score)| *score >= highest - TIE).map(|(id, _)| *id)
    }

    /// Discloses a candidate if every model allows it; otherwise rejects it.
    pub(super) fn try_disclose(&mut self, id: u32, observer: &dyn Observer) {
        let candidate = self.candidates.get(id);
        let allowed = self.size_guards.par_iter().all(|guard| guard.allows(candidate))
            && self.model_guards.iter().all(|guard| guard.allows(candidate));
        if allowed {
            self.disclose(id);
        } else {
            self.refused += 1;
            self.reject(&[id]);
        }
        self.replace_violating(observer);
    }

    /// Discloses a candidate without checking the models.
    pub(super) fn disclose(&mut self, id: u32) {
        let Candidate { column, disclosed, rest, source, .. } = *self.candidates.get(id);
        self.size_guards.par_iter_mut().for_each(|guard| guard.disclose(self.candidates.get(id)));
        self.model_guards.iter_mut().for_each(|guard| guard.disclose(self.candidates.get(id)));
        self.candidates.disclose(id);
        self.confidences.disclose(&self.candidates, id);
        let changes = std::iter::once(disclosed).chain(rest).map(|cell| (ColumnId::from_index(column), cell)).collect();
        self.path.push(Step { action: Action::Disclose, changes });
        let together: Vec<bool> =
            (0..self.candidates.cells().len()).map(|other| self.confidences.share_a_scope(column, other)).collect();
        let mut open = std::mem::take(&mut self.open);
        open.retain(|(id, _)| self.candidates.is_open(*id));
        let stale = |candidate: &Candidate| together[candidate.column] || candidate.source == source;
        let rescored = open.iter_mut().filter(|(id, _)| stale(self.candidates.get(*id)));
        self.rescored += rescored.map(|(id, score)| *score = self.score(*id)).count() as u64;
        self.open = open;
    }
}
