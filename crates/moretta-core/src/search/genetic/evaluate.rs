//! What a cut comes to: group the rows under it, take out what may not leave, and add up the policy's objectives.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::{
    chromosome::Chromosome,
    constraints::Constraints,
    merged_tuples::{MergedTuples, TargetCounts},
    objective::{BoundObjective, TargetKind},
    recoded_column::RecodedColumn,
    row_groups::RowGroups,
    segment::Segment,
};
use crate::{hierarchy::Cell, measure::BoundCosts, profile::Profile};

/// What all evaluations share.
pub(super) struct EvaluationContext<'a> {
    pub profile: &'a Profile,
    pub segments: Vec<Segment<'a>>,
    pub objective: BoundObjective,
    pub constraints: Constraints<'a>,
}

/// What a cut comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    /// How many records would be suppressed beyond what the policy allows.
    pub excess: u64,
    /// The weighted sum of the objectives.
    pub value: f64,
    /// What is lost in precision, which decides where the objectives do not.
    pub precision_loss: f64,
}

impl EvaluationContext<'_> {
    /// The rows under a mask; without one every tuple is a row.
    pub(super) fn merged_tuples(&self, mask: Option<&Chromosome>) -> MergedTuples {
        MergedTuples::new(self.profile, &self.segments, mask, &self.objective, &self.constraints.guarded)
    }

    /// About how many rows an evaluation on a table of so many is worth: the columns' values are gone through as well.
    pub(super) fn work_on(&self, rows: usize) -> u64 {
        let judged = if self.constraints.by_record { BY_RECORD } else { 1 };
        rows as u64 * judged + self.work_of_columns()
    }

    /// The same of the columns alone.
    pub(super) fn work_of_columns(&self) -> u64 {
        self.segments.iter().map(|segment| segment.domain.len() as u64).sum()
    }
}

/// A row costs as much as so many where a model can only be judged record by record.
const BY_RECORD: u64 = 8;

impl Score {
    /// The better first: what the policy allows, then the objectives, then precision.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let values = || self.value.total_cmp(&other.value).then(self.precision_loss.total_cmp(&other.precision_loss));
        self.excess.cmp(&other.excess).then_with(values)
    }

    pub(super) fn is_better(&self, than: &Self) -> bool {
        self.compare(than).is_lt()
    }
}

/// Does something with each of some things, on as many threads as there are evaluators.
pub(super) fn map_parallel<T: Sync, R: Send>(
    evaluators: &mut [Evaluator],
    things: &[T],
    each: impl Fn(&mut Evaluator, &T) -> R + Sync,
) -> Vec<R> {
    let share = things.len().div_ceil(evaluators.len().max(1)).max(1);
    let shares = evaluators.par_iter_mut().zip(things.par_chunks(share));
    let done: Vec<Vec<R>> = shares.map(|(own, things)| things.iter().map(|thing| each(own, thing)).collect()).collect();
    done.into_iter().flatten().collect()
}

/// One evaluator for each thread.
pub(super) fn evaluators() -> Vec<Evaluator> {
    std::iter::repeat_with(Evaluator::default).take(rayon::current_num_threads()).collect()
}

/// Evaluates one cut after another, with room that the next uses again.
#[derive(Debug, Default)]
pub(super) struct Evaluator {
    pub recoded: Vec<RecodedColumn>,
    groups: RowGroups,
    suppressed: Vec<bool>,
    counts: Vec<u64>,
    majorities: Vec<u64>,
}

impl Evaluator {
    /// Takes the cells of a valid string.
    pub(super) fn load(&mut self, context: &EvaluationContext<'_>, chromosome: &Chromosome) {
        self.recoded.resize_with(context.segments.len(), RecodedColumn::default);
        for (column, (recoded, segment)) in self.recoded.iter_mut().zip(&context.segments).enumerate() {
            debug_assert!(segment.is_valid(chromosome), "a string that is no cut");
            recoded.load(chromosome, segment);
            recoded.fill_losses(context.profile, column, &context.objective);
        }
    }

    /// Takes cells by column and code, which may nest.
    pub(super) fn load_cells(&mut self, context: &EvaluationContext<'_>, cells: &[Vec<Cell>]) {
        self.recoded.resize_with(cells.len(), RecodedColumn::default);
        cells.iter().enumerate().for_each(|(column, cells)| self.load_column(context, column, cells));
    }

    /// Takes other cells in one column.
    pub(super) fn load_column(&mut self, context: &EvaluationContext<'_>, column: usize, cells: &[Cell]) {
        self.recoded[column].load_cells(cells);
        self.recoded[column].fill_losses(context.profile, column, &context.objective);
    }

    /// What would be lost in precision were nothing suppressed: never more than what is lost.
    fn loss_without_suppression(&self, merged: &MergedTuples) -> f64 {
        let columns = self.recoded.iter().zip(&merged.histograms).zip(&merged.run_starts);
        let of_column = |((recoded, histogram), run_starts): ((&RecodedColumn, &Vec<u64>), &Vec<u32>)| {
            let of_run = |(&records, &code): (&u64, &u32)| {
                records as f64 * recoded.losses[recoded.cell_of[code as usize] as usize]
            };
            histogram.iter().zip(run_starts).map(of_run).sum::<f64>()
        };
        columns.map(of_column).sum()
    }

    /// Whether the cells that were taken cannot come to less than some figures, whatever would be suppressed.
    pub(super) fn cannot_beat(&self, context: &EvaluationContext<'_>, merged: &MergedTuples, than: &Score) -> bool {
        let least = || self.loss_without_suppression(merged) / context.profile.records().max(1) as f64;
        context.objective.counts_precision && than.excess == 0 && least() > than.value
    }

    /// What the cells that were taken come to. They must be unions of the table's steps.
    pub(super) fn evaluate(&mut self, context: &EvaluationContext<'_>, merged: &MergedTuples) -> Score {
        self.groups.group(merged, &self.recoded);
        context.constraints.mark_suppressed(merged, &self.groups, &self.recoded, &mut self.suppressed);
        let suppressed_records = self.groups.records_of(&self.suppressed);
        self.mark_fully_generalized(context, merged);
        let fully_generalized = self.groups.records_of(&self.suppressed);

        let total = context.profile.records().max(1) as f64;
        let objective = &context.objective;
        let mut lost = self.loss_without_suppression(merged);
        if fully_generalized > 0 {
            lost += objective.suppressed_loss * fully_generalized as f64
                - self.groups.precision_loss_of(merged, &self.suppressed);
        }
        let precision_loss = lost / total;
        let mut value = if objective.counts_precision { precision_loss } else { 0.0 };
        for (target, counted) in objective.targets.iter().zip(&merged.targets) {
            let of_target = match (&target.kind, counted) {
                (TargetKind::Class(costs), TargetCounts::Classes(classes)) if costs.are_uniform() => {
                    self.mistakes(classes) as f64 / total
                }
                (TargetKind::Class(costs), TargetCounts::Classes(classes)) => self.costs(classes, costs) / total,
                (TargetKind::Number { total_dispersion, .. }, counted) if *total_dispersion > 0.0 => {
                    self.dispersion(merged, counted) / total_dispersion
                }
                _ => 0.0,
            };
            value += target.weight * of_target;
        }
        Score { excess: suppressed_records.saturating_sub(context.constraints.max_suppressed), value, precision_loss }
    }

    /// A group that prints `*` throughout tells no more than a suppressed one, and counts as that.
    fn mark_fully_generalized(&mut self, context: &EvaluationContext<'_>, merged: &MergedTuples) {
        if !self.recoded.iter().all(|recoded| recoded.stars.contains(&true)) {
            return;
        }
        for (suppressed, &row) in self.suppressed.iter_mut().zip(&self.groups.firsts) {
            let codes = context.profile.codes(merged.first_tuples[row as usize]);
            let star =
                |(recoded, &code): (&RecodedColumn, &u32)| recoded.stars[recoded.cell_of[code as usize] as usize];
            *suppressed |= self.recoded.iter().zip(codes).all(star);
        }
    }

    /// How many records are suppressed or not of their group's majority class.
    fn mistakes(&mut self, classes: &[Vec<(u32, u64)>]) -> u64 {
        let groups = self.groups.sizes.len();
        self.majorities.clear();
        self.majorities.resize(groups, 0);
        self.counts.clear();
        self.counts.resize(groups, 0);
        for rows in classes {
            for &(row, records) in rows {
                self.counts[self.groups.ids[row as usize] as usize] += records;
            }
            for &(row, _) in rows {
                let group = self.groups.ids[row as usize] as usize;
                self.majorities[group] = self.majorities[group].max(std::mem::take(&mut self.counts[group]));
            }
        }
        let groups = self.groups.sizes.iter().zip(&self.majorities).zip(&self.suppressed);
        groups.map(|((size, majority), &suppressed)| if suppressed { *size } else { size - majority }).sum()
    }

    /// What mistakes cost where some are dearer than others.
    fn costs(&self, classes: &[Vec<(u32, u64)>], costs: &BoundCosts) -> f64 {
        let mut histograms: Vec<Vec<(u32, u64)>> = vec![Vec::new(); self.groups.sizes.len()];
        for (class, rows) in (0u32..).zip(classes) {
            for &(row, records) in rows {
                let histogram = &mut histograms[self.groups.ids[row as usize] as usize];
                match histogram.last_mut() {
                    Some((last, counted)) if *last == class => *counted += records,
                    _ => histogram.push((class, records)),
                }
            }
        }
        let suppressed_cost = |histogram: &[(u32, u64)]| -> f64 {
            histogram.iter().map(|&(class, records)| costs.of_suppressed(class) * records as f64).sum()
        };
        let groups = histograms.iter().zip(&self.suppressed);
        groups
            .map(
                |(histogram, &suppressed)| {
                    if suppressed { suppressed_cost(histogram) } else { costs.of_group(histogram) }
                },
            )
            .sum()
    }

    /// How much the numbers of a target differ within groups; what is suppressed is one group.
    fn dispersion(&self, merged: &MergedTuples, counted: &TargetCounts) -> f64 {
        let ids = &self.groups.ids;
        let suppressed_id = self.groups.sizes.len();
        let group = |row: usize| if self.suppressed[ids[row] as usize] { suppressed_id } else { ids[row] as usize };
        let mut sizes: Vec<u64> = vec![0; suppressed_id + 1];
        for (size, (group, suppressed)) in self.groups.sizes.iter().zip(self.suppressed.iter().enumerate()) {
            sizes[if *suppressed { suppressed_id } else { group }] += size;
        }
        match counted {
            TargetCounts::Classes(_) => 0.0,
            TargetCounts::Sums(sums) => {
                let mut of_group = vec![[0.0; 2]; suppressed_id + 1];
                for (row, [sum, squares]) in sums.iter().enumerate().take(merged.len()) {
                    let own = &mut of_group[group(row)];
                    own[0] += sum;
                    own[1] += squares;
                }
                let about_mean = |([sum, squares], &size): (&[f64; 2], &u64)| match size {
                    0 => 0.0,
                    size => (squares - sum * sum / size as f64).max(0.0),
                };
                of_group.iter().zip(&sizes).map(about_mean).sum()
            }
            TargetCounts::InOrder(numbers) => {
                // Numbers come in order, so a group's median is where half of its records have come.
                let (mut come, mut medians) = (vec![0u64; suppressed_id + 1], vec![0.0; suppressed_id + 1]);
                for &(row, records, number) in numbers {
                    let group = group(row as usize);
                    let half = sizes[group].div_ceil(2);
                    if come[group] < half {
                        medians[group] = number;
                    }
                    come[group] += records;
                }
                let off = |&(row, records, number): &(u32, u64, f64)| {
                    (number - medians[group(row as usize)]).abs() * records as f64
                };
                numbers.iter().map(off).sum()
            }
        }
    }
}
