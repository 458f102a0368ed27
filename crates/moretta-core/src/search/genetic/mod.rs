//! Genetic search for a cut that fits the use (Iyengar 2002): any valid cut of a taxonomy, any end points of intervals,
//! and whatever the release is for.
//!
//! Guarantees: a global recoding (equal values leave equal) under which every privacy model holds. For whom: a holder
//! who knows what the release is for, a class (CM), a number (RM), several of them, or nothing in particular (LM), and
//! who wants the best cut for that rather than a quick one; and who will recode later records in the same way (`apply`).
//!
//! **The string** (`chromosome`, `segment`) has a bit between each two neighbours that may be told apart; a string that
//! is no valid cut is repaired with as few changes as that takes. **The evolution** (`population`, `evolve`) is in a
//! steady state: parents by rank, two-point crossover, mutation, repair; a child that is better than the worst takes
//! its place. Records in groups that break a model are suppressed (`constraints`); what would suppress more than the policy
//! allows ranks behind all that does not.
//!
//! **Cost.** An evaluation (`evaluate`, `grouping`) is one pass over distinct tuples (`table`) with a look-up for every
//! few columns, and one over the columns' values. It is not done for strings that were thought of before, nor for those
//! that lose more than the worst before anything is suppressed; and tuples that nobody in the population tells apart
//! are one.
//!
//! **Beyond the paper**: it starts from the cuts of bottom-up generalization and of full-domain generalization
//! (`seeds`), climbs from the best strings to better neighbours, and in the end lets a node stand for some of its
//! children only (`partial`).

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
    constraints::Constraints,
    evaluate::EvaluationContext,
    evolve::{Evolution, ROWS_PER_CHILD, WorkCounts},
    nested_cut::NestedCut,
    objective::BoundObjective,
    segment::Segment,
};
use super::{
    AcceptedObjectives, Method, MethodEntry, Observer, Outcome, Parameter, SearchError, Stop, Task, Unsupported,
    bottom_up_generalization::{self, Criterion},
    check_possible,
};
use crate::{
    hierarchy::Cell,
    objective::{LossMetric, Objective, ObjectiveKind},
    policy::{MethodChoice, PolicyError},
    recoding::{Cut, Recoding},
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

/// The method's parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct GeneticParams {
    /// How many cuts are kept.
    pub population: NonZeroU32,
    /// How many cuts are bred at the most.
    pub iterations: u64,
    /// After so many that brought nothing better than the best it ends.
    pub patience: u64,
    /// What share of a string's bits is turned over on average; one bit where it is left out.
    pub mutation: Option<f64>,
    /// How much more often the best is a parent than one in the middle.
    pub bias: f64,
    /// Whether it starts from the cuts of others too.
    pub seeds: bool,
    /// Whether it goes from the best cuts to better ones beside them.
    pub local_search: bool,
    /// Whether a node may stand for some of its children only.
    pub partial: bool,
    /// How many end points a column of free numbers may have.
    pub points: NonZeroU32,
    /// The end points themselves, by column.
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

/// More cuts than this are not kept.
const MAX_POPULATION: u32 = 100_000;
/// A round of bottom-up generalization's search is worth so many iterations.
const ITERATIONS_PER_ROUND: u64 = 1000;

/// The method.
#[derive(Debug, Clone)]
pub struct Genetic {
    /// Its parameters.
    pub params: GeneticParams,
    /// What is to be small.
    pub objectives: Vec<Objective>,
}

impl Genetic {
    fn context<'a>(&self, task: &Task<'a>) -> Result<EvaluationContext<'a>, Unsupported> {
        let unfit = |reason: String| Unsupported { method: NAME, reason, instead: None };
        let objective = BoundObjective::new(&self.objectives, task.profile).map_err(unfit)?;
        let ends = end_points::codes(task.profile, &self.params).map_err(unfit)?;
        let mut segments: Vec<Segment<'a>> = Vec::new();
        for (column, ends) in task.profile.columns().iter().zip(ends) {
            let start = segments.last().map_or(0, |segment| segment.bits.end);
            segments.push(Segment::new(&column.domain, ends, start));
        }
        Ok(EvaluationContext { profile: task.profile, segments, objective, constraints: Constraints::new(task) })
    }

    /// How bottom-up generalization is to be of use here: for the objective that counts most.
    fn bottom_up(&self, task: &Task<'_>, partial: bool) -> bottom_up_generalization::BottomUpParams {
        let heaviest = self.objectives.iter().reduce(|a, b| if b.weight > a.weight { b } else { a });
        let measure = match heaviest.map(|objective| &objective.kind) {
            Some(ObjectiveKind::Precision(LossMetric::Ncp)) => Criterion::Ncp,
            Some(kind @ ObjectiveKind::Classification { .. })
                if kind.attribute_id(task.profile) == task.profile.class() =>
            {
                Criterion::Class
            }
            _ => Criterion::Lm,
        };
        let mut params =
            bottom_up_generalization::BottomUpParams { measure: Some(measure), partial, ..Default::default() };
        // Whoever wants it quick wants all of it quick.
        let rounds = u32::try_from(self.params.iterations / ITERATIONS_PER_ROUND);
        params.search = params.search.min(rounds.unwrap_or(u32::MAX));
        params
    }

    /// The best that comes of letting nodes stand for some of their children, from what was found here and, where others
    /// may be asked, from what bottom-up generalization finds.
    fn refined(
        &self,
        task: &Task<'_>,
        context: &EvaluationContext<'_>,
        found: Option<&NestedCut>,
        observer: &dyn Observer,
    ) -> Option<NestedCut> {
        let merged = context.merged_tuples(None);
        let mut starts: Vec<Vec<Vec<Cell>>> = found.map(|found| found.cells.clone()).into_iter().collect();
        if self.params.seeds
            && is_closed(task)
            && let Some(outcome) = seeds::bottom_up(task, self.bottom_up(task, true), observer)
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

    /// Every cut is judged by its own groups; the result is judged again before it is returned.
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
        let zeros = evolution.zeros();
        // Nothing told is always among them, and holds.
        evolution.try_all([zeros.clone()]);
        if self.params.seeds {
            // The quick ones first: whoever stops early gets the best of them.
            evolution.try_all(seeds::full_domain(&context, &zeros, evolution.quarter(), task.seed));
            if observer.stop().is_none()
                && is_closed(task)
                && let Some(outcome) = seeds::bottom_up(task, self.bottom_up(task, false), observer)
            {
                evolution.try_all(seeds::from_path(task, &context, &outcome, &zeros));
            }
        }
        evolution.fill();
        let stop = evolution.run();
        let work = evolution.work;
        let best = evolution.population.best().cloned();
        let mut found = best.map(|best| NestedCut { cells: cells(&context, &best.chromosome), score: best.score });
        if self.params.partial && observer.stop().is_none() {
            let refined = self.refined(task, &context, found.as_ref(), observer);
            let better = |refined: &NestedCut| found.as_ref().is_none_or(|found| refined.score.is_better(&found.score));
            if let Some(refined) = refined.filter(better) {
                if refined.score.excess == 0 {
                    observer.best(refined.score.value);
                }
                found = Some(refined);
            }
        }
        let cut = found.map_or_else(|| Cut::whole(task.profile), |found| with_suppression(task, found.cells));
        let stop = stop.or_else(|| observer.stop()).unwrap_or(Stop::Finished);
        Ok(Outcome { recoding: Recoding::Global(cut), stop, path: Vec::new(), work: named_counts(work) })
    }
}

/// Whether all models are closed under union, on which bottom-up generalization relies.
fn is_closed(task: &Task<'_>) -> bool {
    task.models.iter().all(|model| model.is_closed_under_union())
}

/// Whether intervals of free numbers end only where they may.
fn respects_end_points(context: &EvaluationContext<'_>, cells: &[Vec<Cell>]) -> bool {
    let mut free = context.segments.iter().zip(cells).filter(|(segment, _)| segment.is_free());
    free.all(|(segment, cells)| {
        let ends: Vec<u32> = segment.bits.clone().map(|bit| segment.end_of(bit)).collect();
        (0u32..).zip(cells.windows(2)).all(|(code, two)| two[0] == two[1] || ends.binary_search(&code).is_ok())
    })
}

/// By column and code, what a string makes of it.
fn cells(context: &EvaluationContext<'_>, chromosome: &Chromosome) -> Vec<Vec<Cell>> {
    let of_segment = |segment: &Segment<'_>| {
        let mut cells = Vec::new();
        segment.each_cell(chromosome, |cell| cells.resize(cell.last as usize + 1, cell));
        cells
    };
    context.segments.iter().map(of_segment).collect()
}

/// The cut with what has to be suppressed; nothing told where that is more than the policy allows.
fn with_suppression(task: &Task<'_>, cells: Vec<Vec<Cell>>) -> Cut {
    let cut = Cut { cells, suppressed: Vec::new() };
    task.suppressed(&cut).map_or_else(|| Cut::whole(task.profile), |suppressed| Cut { suppressed, ..cut })
}

fn named_counts(work: WorkCounts) -> Vec<(&'static str, u64)> {
    vec![
        ("iterations", work.iterations),
        ("evaluations", work.evaluations),
        ("repeated", work.repeated),
        ("dismissed", work.dismissed),
        ("merged", work.merged),
        ("rows", work.rows),
    ]
}
