//! Genetic search for a cut that fits the purpose of the release (Iyengar 2002).
//!
//! **What.** A global recoding (equal values are released as equal cells) under which every privacy model holds. The
//! cut may be any valid cut of a hierarchy and any intervals of free numbers, and it minimizes the policy's objectives:
//! the prediction of a class (CM) or of a number (RM), precision (LM, NCP), or a weighted sum of them.
//!
//! **Why.** For a data holder who knows the purpose and prefers the best cut to a fast result, or who will recode later
//! records by the same cut (`apply`).
//!
//! **How.**
//!
//! ```text
//! column      age                        job                         each column: a segment
//! values      20   25   30   45   60     clerk   manager   farmer    of the chromosome
//! chromosome     0    1    0    0              0         1           1 = separate the neighbors
//! cells       20-25     30-60            Office            farmer
//! ```
//!
//! 1. Seeds: cuts of bottom-up and of full-domain generalization (`seeds`), then random cuts until the population is
//!    full.
//! 2. Evolution (`evolve`, `population`): parents by rank, crossover, mutation, repair; a child replaces the worst
//!    individual if it is better. Groups that violate a model are suppressed (`constraints`); a cut that suppresses
//!    more records than the policy allows ranks behind all cuts that do not.
//! 3. Local search from the best individuals (`evolve`).
//! 4. Refinement by nested cells (`nested_cut`): a node may be released for some of its children only.
//!
//! Seeds, local search and refinement are additions to the paper; each can be switched off.
//!
//! **Cost.** One evaluation (`evaluate`) per child: a scan of the distinct tuples (`merged_tuples`, `row_groups`) and
//! of the columns' values. The default of 500,000 iterations limits the children and, on large tables, the rows
//! scanned.

mod chromosome;
mod constraints;
mod end_points;
mod evaluate;
mod evolve;
mod merged_tuples;
mod nested_cut;
mod objective;
mod population;
mod recoded_column;
mod row_groups;
mod seeds;
mod segment;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, num::NonZeroU32};

use serde::{Deserialize, Serialize};

use self::{
    chromosome::Chromosome,
    evaluate::EvaluationContext,
    evolve::{Evolution, ROWS_PER_CHILD},
    merged_tuples::MergedTuples,
    nested_cut::NestedCut,
    objective::BoundObjective,
    segment::Segment,
};
use super::{
    AcceptedObjectives, CancelOnly, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, SearchMemory, Stop,
    Task, Unsupported,
    bottom_up_generalization::{BottomUpGeneralization, BottomUpParams, Criterion},
    check_possible,
    size::{CELL, TaskSize},
};
use crate::{
    hierarchy::Cell,
    memory::{block, hash_table},
    objective::{LossMetric, Objective, ObjectiveKind},
    policy::{MethodChoice, PolicyError},
    profile::Column,
    recoding::{Constraints, Cut, Recoding},
};

const NAME: &str = "genetic";

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: NAME,
    summary: "global recoding: genetic search for the cut that minimizes the chosen measures of precision, classification or regression",
    parameters: &[
        Parameter::new("population", "5000", "number of cuts in the population"),
        Parameter::new("iterations", "500000", "maximum number of offspring, fewer on large tables"),
        Parameter::new("patience", "50000", "stop after this many offspring without improvement"),
        Parameter::new("mutation", "one bit", "share of a cut's bits that a mutation flips, on average"),
        Parameter::new("bias", "1.5", "how much more often the best cut is a parent than the median one, 1 to 2"),
        Parameter::new("seeds", "true", "also start from the cuts of bottom-up and full-domain generalization"),
        Parameter::new("local-search", "true", "improve the best cuts by local search"),
        Parameter::new("partial", "true", "finally allow a node to replace only some of its children"),
        Parameter::new(
            "points",
            "255",
            "maximum number of end points of a numeric column without hierarchy; quantiles if it has more values",
        ),
        Parameter::new("end-points", "none", "end points by column: { age = [18, 30, 65] }"),
    ],
    objectives: AcceptedObjectives::Any(LossMetric::Lm),
    build,
};

/// Parameters of the genetic search.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct GeneticParams {
    /// Number of cuts in the population, at most 100,000.
    pub population: NonZeroU32,
    /// Maximum number of children; fewer on large tables.
    pub iterations: u64,
    /// Children without an improvement of the best cut after which the search ends.
    pub patience: u64,
    /// Share of the bits that is mutated on average, from 0 to 1; default: one bit.
    pub mutation: Option<f64>,
    /// Selection bias, from 1 to 2: how much more often the best cut is a parent than the median.
    pub bias: f64,
    /// Whether the population starts with cuts of bottom-up and full-domain generalization.
    pub seeds: bool,
    /// Whether the best cuts are improved by local search.
    pub local_search: bool,
    /// Whether the result may release a node for some of its children only.
    pub partial: bool,
    /// Maximum end points per column of free numbers.
    pub points: NonZeroU32,
    /// End points by column, instead of all values or quantiles.
    pub end_points: BTreeMap<String, Vec<end_points::EndPoint>>,
}

impl Default for GeneticParams {
    fn default() -> Self {
        Self {
            population: NonZeroU32::new(5000).unwrap_or(NonZeroU32::MIN),
            iterations: 500_000,
            patience: 50_000,
            mutation: None,
            bias: 1.5,
            seeds: true,
            local_search: true,
            partial: true,
            points: NonZeroU32::new(255).unwrap_or(NonZeroU32::MIN),
            end_points: BTreeMap::new(),
        }
    }
}

fn build(choice: &MethodChoice, objectives: &[Objective]) -> Result<Box<dyn Method>, PolicyError> {
    let params: GeneticParams = choice.read_parameters()?;
    if let Some(rate) = params.mutation.filter(|rate| !(0.0..=1.0).contains(rate)) {
        return Err(choice.error("mutation", format!("`mutation` is {rate}; it must be from 0 to 1")));
    }
    if !(1.0..=2.0).contains(&params.bias) {
        return Err(choice.error("bias", format!("`bias` is {}; it must be from 1 to 2", params.bias)));
    }
    if params.population.get() > MAX_POPULATION {
        let message = format!("`population` is {}; it must be at most {MAX_POPULATION}", params.population);
        return Err(choice.error("population", message));
    }
    Ok(Box::new(Genetic { params, objectives: objectives.to_vec() }))
}

/// Upper limit of `population`, which bounds the memory.
const MAX_POPULATION: u32 = 100_000;
/// Bytes of an evaluator's tables of keys while they grow: the old one of 8 MiB and the new one of 16.
const EVALUATOR_BYTES: u64 = 24 << 20;
/// Iterations per search round of bottom-up generalization when it computes seeds. Not tuned.
const ITERATIONS_PER_ROUND: u64 = 1000;

/// Genetic search with its parameters.
#[derive(Debug, Clone)]
pub struct Genetic {
    /// Parameters from the policy.
    pub params: GeneticParams,
    /// Objectives to minimize; not empty.
    pub objectives: Vec<Objective>,
}

impl Genetic {
    /// Binds objectives, end points and models to the task.
    fn context<'a>(&self, task: &Task<'a>) -> Result<EvaluationContext<'a>, Unsupported> {
        let unfit = |reason: String| Unsupported { method: NAME, reason, instead: None };
        let objective = BoundObjective::new(&self.objectives, task.profile).map_err(unfit)?;
        let ends = end_points::codes(task.profile, &self.params).map_err(unfit)?;
        let mut segments: Vec<Segment<'a>> = Vec::new();
        let mut bits = 0;
        for (column, ends) in task.profile.columns().iter().zip(ends) {
            let segment = Segment::new(&column.domain, ends, bits);
            bits = segment.bits.end;
            segments.push(segment);
        }
        let constraints = Constraints::new(task.profile, task.models);
        let Task { profile, max_suppressed, .. } = *task;
        Ok(EvaluationContext { profile, segments, bits, objective, constraints, max_suppressed })
    }

    /// Runs bottom-up generalization for the objective with the largest weight; `None` if it fails, or if a model is
    /// not closed under union of groups, as it requires.
    fn bottom_up(&self, task: &Task<'_>, partial: bool, observer: &dyn Observer) -> Option<Outcome> {
        if !task.models.iter().all(|model| model.is_closed_under_union()) {
            return None;
        }
        let profile = task.profile;
        let heaviest = self.objectives.iter().reduce(|a, b| if b.weight > a.weight { b } else { a });
        let measure = match heaviest.map(|objective| &objective.kind) {
            Some(ObjectiveKind::Precision(LossMetric::Ncp)) => Criterion::Ncp,
            Some(kind @ ObjectiveKind::Classification { .. }) if kind.attribute_id(profile) == profile.class() => {
                Criterion::Class
            }
            _ => Criterion::Lm,
        };
        let params = BottomUpParams { measure: Some(measure), partial, ..Default::default() };
        // A short search gets short seeds.
        let rounds = u32::try_from(self.params.iterations / ITERATIONS_PER_ROUND).unwrap_or(u32::MAX);
        let params = BottomUpParams { search: params.search.min(rounds), ..params };
        BottomUpGeneralization(params).run(task, &CancelOnly(observer)).ok()
    }

    /// Refines the best cut of the evolution by nested cells and, if seeds are allowed, that of bottom-up
    /// generalization; returns the better result.
    fn refine_best(
        &self,
        task: &Task<'_>,
        context: &EvaluationContext<'_>,
        found: &NestedCut,
        observer: &dyn Observer,
    ) -> Option<NestedCut> {
        let merged = MergedTuples::new(context, None);
        let mut starts = vec![found.cells.clone()];
        if self.params.seeds
            && let Some(outcome) = self.bottom_up(task, true, observer)
            && let Recoding::Global(cut) = outcome.recoding
            && respects_end_points(context, &cut.cells)
        {
            starts.push(cut.cells);
        }
        let max_rows = self.params.iterations.saturating_mul(ROWS_PER_CHILD) / 4;
        let refined = starts.into_iter().map(|cells| nested_cut::refine(context, &merged, cells, max_rows, observer));
        refined.reduce(|a, b| if b.score.is_better(&a.score) { b } else { a })
    }
}

impl Method for Genetic {
    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        self.context(task).map(drop)
    }

    fn memory(&self, task: &Task<'_>) -> SearchMemory {
        let size = TaskSize::of(task).with_whole_tuples();
        let free = |column: &Column| (column.domain.len() as u64).min(u64::from(self.params.points.get()));
        let bits_of =
            |column: &Column| column.domain.tree().map_or_else(|| free(column), |_| column.domain.len() as u64);
        let bits: u64 = task.profile.columns().iter().map(bits_of).sum();
        let population = u64::from(self.params.population.get()) * (block(bits / 8 + 8) + 64);
        // Rows with their records, combinations and counts; sorting takes more than the rest of them.
        let rows = size.tuples * 56 + size.variants * 16;
        let sorting = 36 * size.tuples;
        let evaluator = 8 * size.tuples + size.groups * 24 + 24 * size.values + EVALUATOR_BYTES;
        let seeds =
            if self.params.seeds { BottomUpGeneralization(BottomUpParams::default()).memory(task).peak } else { 0 };
        // On large tables the work budget ends the search before the iterations do.
        let iterations = self.params.iterations.saturating_mul(ROWS_PER_CHILD) / size.tuples.max(ROWS_PER_CHILD);
        let fingerprints = hash_table(iterations.min(1 << 20), 16);
        let cells = 3 * CELL * size.values;
        let peak = population + fingerprints + cells + 2 * rows + (size.threads * evaluator).max(sorting) + seeds;
        SearchMemory { peak, groups: None }
    }

    /// The groups of every cut are checked, and the result is checked again before it is returned.
    fn relies_on_closure(&self) -> bool {
        false
    }

    fn anytime(&self) -> bool {
        true
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        check_possible(task)?;
        let context = self.context(task)?;
        let mut evolution = Evolution::new(&context, &self.params, task.seed, observer);
        // The fully generalized table satisfies every model, so there is always a valid cut.
        evolution.try_all([context.zeros()]);
        if self.params.seeds {
            // The fast seeds first, so that an early stop still returns the best of them.
            evolution.try_all(seeds::full_domain(&context, evolution.evaluations_in_quarter(), task.seed));
            if observer.stop().is_none()
                && let Some(outcome) = self.bottom_up(task, false, observer)
            {
                evolution.try_all(seeds::from_path(&context, &outcome));
            }
        }
        evolution.fill();
        let stop = evolution.run();
        let work = evolution.work;
        let best = evolution.population.best();
        let mut found = NestedCut { cells: cells(&context, &best.chromosome), score: best.score };
        if self.params.partial && observer.stop().is_none() {
            let refined = self.refine_best(task, &context, &found, observer);
            if let Some(refined) = refined.filter(|refined| refined.score.is_better(&found.score)) {
                if refined.score.excess == 0 {
                    observer.best(refined.score.value);
                }
                found = refined;
            }
        }
        let work = vec![
            ("iterations", work.iterations),
            ("evaluations", work.evaluations),
            ("repeated", work.repeated),
            ("dismissed", work.dismissed),
            ("merged", work.merged),
            ("rows", work.rows),
        ];
        let recoding = Recoding::Global(with_suppression(task, found.cells));
        let stop = stop.or_else(|| observer.stop()).unwrap_or(Stop::Finished);
        Ok(Outcome { recoding, stop, path: Vec::new(), work, tried: Vec::new() })
    }
}

/// Whether all intervals of free numbers end at admissible end points.
fn respects_end_points(context: &EvaluationContext<'_>, cells: &[Vec<Cell>]) -> bool {
    let mut free = context.segments.iter().zip(cells).filter(|(segment, _)| segment.is_free());
    free.all(|(segment, cells)| {
        let ends: Vec<u32> = segment.bits.clone().map(|bit| segment.end_of(bit)).collect();
        (0u32..).zip(cells.windows(2)).all(|(code, two)| two[0] == two[1] || ends.binary_search(&code).is_ok())
    })
}

/// Returns the cells of a valid chromosome by column and code.
fn cells(context: &EvaluationContext<'_>, chromosome: &Chromosome) -> Vec<Vec<Cell>> {
    let segment_cells = |segment: &Segment<'_>| {
        let mut cells = Vec::new();
        segment.each_cell(chromosome, |cell| cells.resize(cell.last as usize + 1, cell));
        cells
    };
    context.segments.iter().map(segment_cells).collect()
}

/// Adds the tuples that must be suppressed; returns the fully generalized cut if they exceed the maximum of the policy.
fn with_suppression(task: &Task<'_>, cells: Vec<Vec<Cell>>) -> Cut {
    let cut = Cut { cells, suppressed: Vec::new() };
    task.suppressed(&cut).map_or_else(|| Cut::whole(task.profile), |suppressed| Cut { suppressed, ..cut })
}
