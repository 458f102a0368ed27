//! The search: whose turn it is, whether it may be told, and what changes then.

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

/// What is told so far, and what could be told next.
pub(super) struct TopDownSearch<'a> {
    pub(super) candidates: CandidateSet<'a>,
    pub(super) confidences: Confidences,
    size_guards: Vec<MinRecordsGuard>,
    model_guards: Vec<ModelGuard<'a>>,
    /// The open candidates in order of column and value, with their scores.
    open: Vec<(u32, f64)>,
    /// How many candidates there were when `open` was last brought up to date.
    known: usize,
    pub(super) path: Vec<Step>,
    pub(super) rescored: u64,
    pub(super) refused: u64,
}

/// Everything that anybody is taken to know is suppressed.
pub(super) fn first_step(cells: &[Vec<Cell>], masked: &[bool]) -> Step {
    let whole = |column: usize| Some(*cells[column].first()?).filter(|_| masked[column]);
    let hidden = (0..masked.len()).filter_map(|column| Some((ColumnId::from_index(column), whole(column)?)));
    Step { action: Action::Generalize, changes: hidden.collect() }
}

impl<'a> TopDownSearch<'a> {
    /// With nothing told yet. None where it is stopped before it can begin.
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
        let (open, known, path) = (Vec::new(), 0, vec![first]);
        let (rescored, refused) = (0, 0);
        let mut search =
            Self { candidates, confidences, size_guards, model_guards, open, known, path, rescored, refused };
        search.replace_violating(observer);
        Some(search)
    }

    fn score(&self, id: u32) -> f64 {
        let candidate = self.candidates.get(id);
        candidate.gain / (self.confidences.privacy_loss(candidate.column, id) + 1.0)
    }

    /// New candidates come in. Those that break a template make way for others, until none does.
    fn replace_violating(&mut self, observer: &dyn Observer) {
        loop {
            if self.known < self.candidates.len() {
                let new = self.known as u32..self.candidates.len() as u32;
                let new: Vec<(u32, f64)> = new.map(|id| (id, self.score(id))).collect();
                self.open.extend(new);
                self.known = self.candidates.len();
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

    fn reject(&mut self, ids: &[u32]) {
        let new = self.candidates.len();
        ids.iter().for_each(|&id| self.candidates.reject(id));
        self.open.retain(|(id, _)| self.candidates.is_open(*id));
        if self.candidates.len() > new {
            self.confidences.replace(&self.candidates, ids, new);
        }
    }

    /// How many candidates there were, and how many of them are still open.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.candidates.len() as u64, self.open.len() as u64)
    }

    /// The candidate whose turn it is.
    pub(super) fn next(&self) -> Option<u32> {
        let useful = || self.open.iter().filter(|(id, _)| self.candidates.is_beneficial(*id));
        let highest = useful().map(|(_, score)| *score).max_by(f64::total_cmp)?;
        useful().find(|(_, score)| *score >= highest - TIE).map(|(id, _)| *id)
    }

    /// Tells a candidate, where every model allows it; otherwise it makes way.
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

    /// Tells a candidate, whatever follows from it.
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
