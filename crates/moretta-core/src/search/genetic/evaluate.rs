//! Score of a cut: the weighted sum of the objectives, and the records suppressed beyond the policy's limit.
//!
//! **Why.** The search spends nearly all its time here: up to hundreds of thousands of cuts are evaluated.
//!
//! **How**, for one cut:
//!
//! ```text
//! load        chromosome -> cells and losses of each column        (recoded_column.rs)
//! cannot_beat loss without suppression > worst of the population?  -> dismissed without grouping
//! evaluate    rows -> groups with identical cells                  (row_groups.rs)
//!             groups that violate a model -> suppressed            (constraints.rs)
//!             objectives summed over groups -> Score
//! ```
//!
//! **Cost.** One scan of the rows per batch of columns, one of the runs per column, and one of the rows per objective
//! that is a prediction. Models that need the members of a group add a scan of the variants.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::{
    chromosome::Chromosome,
    constraints::suppressed_groups,
    merged_tuples::{MergedTuples, TargetCounts},
    objective::{BoundObjective, TargetKind},
    recoded_column::RecodedColumn,
    row_groups::{RowGroups, marked_sum},
    segment::Segment,
};
use crate::{hierarchy::Cell, measure::BoundCosts, profile::Profile, recoding::Constraints};

/// Data shared by all evaluations.
pub(super) struct EvaluationContext<'a> {
    pub profile: &'a Profile,
    pub segments: Vec<Segment<'a>>,
    /// Number of bits of a chromosome.
    pub bits: usize,
    pub objective: BoundObjective,
    pub constraints: Constraints<'a>,
    /// Maximum suppressed records.
    pub max_suppressed: u64,
}

/// Quality of a cut; smaller is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    /// Suppressed records beyond the maximum of the policy; 0 if the cut can be released.
    pub excess: u64,
    /// Weighted sum of the objectives.
    pub value: f64,
    /// Precision loss per record; breaks ties between equal values.
    pub precision_loss: f64,
}

impl EvaluationContext<'_> {
    /// Chromosome of zeros.
    pub(super) fn zeros(&self) -> Chromosome {
        Chromosome::zeros(self.bits)
    }

    /// Estimated work of one evaluation on `rows` merged tuples, in rows scanned. Includes the scan of each column's
    /// values.
    pub(super) fn work_on(&self, rows: usize) -> u64 {
        let row_work = if self.constraints.by_record { BY_RECORD_WORK } else { 1 };
        rows as u64 * row_work + self.work_of_columns()
    }

    /// Estimated work of loading the cells, in rows scanned.
    pub(super) fn work_of_columns(&self) -> u64 {
        self.segments.iter().map(|segment| segment.domain.len() as u64).sum()
    }
}

/// Work per row, in rows scanned, if a model needs the members of each group. A rough estimate, not tuned.
const BY_RECORD_WORK: u64 = 8;

impl Score {
    /// Compares by excess, then by value, then by precision loss.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let values = || self.value.total_cmp(&other.value).then(self.precision_loss.total_cmp(&other.precision_loss));
        self.excess.cmp(&other.excess).then_with(values)
    }

    pub(super) fn is_better(&self, other: &Self) -> bool {
        self.compare(other).is_lt()
    }
}

/// Maps the items in parallel, each evaluator taking a contiguous share. Results are in the order of the items.
pub(super) fn map_parallel<T: Sync, R: Send>(
    evaluators: &mut [Evaluator],
    items: &[T],
    map: impl Fn(&mut Evaluator, &T) -> R + Sync,
) -> Vec<R> {
    let share = items.len().div_ceil(evaluators.len().max(1)).max(1);
    let shares = evaluators.par_iter_mut().zip(items.par_chunks(share));
    let results: Vec<Vec<R>> =
        shares.map(|(evaluator, items)| items.iter().map(|item| map(evaluator, item)).collect()).collect();
    results.into_iter().flatten().collect()
}

/// Creates one evaluator per thread.
pub(super) fn evaluators() -> Vec<Evaluator> {
    std::iter::repeat_with(Evaluator::default).take(rayon::current_num_threads()).collect()
}

/// Evaluates cuts one at a time and reuses the buffers of the grouping.
#[derive(Debug, Default)]
pub(super) struct Evaluator {
    pub recoded: Vec<RecodedColumn>,
    groups: RowGroups,
    /// By group, whether it is suppressed or fully generalized.
    suppressed: Vec<bool>,
    counts: Vec<u64>,
    majorities: Vec<u64>,
}

impl Evaluator {
    /// Loads the cells of a valid chromosome.
    pub(super) fn load(&mut self, context: &EvaluationContext<'_>, chromosome: &Chromosome) {
        self.recoded.resize_with(context.segments.len(), RecodedColumn::default);
        for (column, (recoded, segment)) in self.recoded.iter_mut().zip(&context.segments).enumerate() {
            debug_assert!(segment.is_valid(chromosome), "a chromosome that is no valid cut");
            recoded.load(chromosome, segment);
            recoded.fill_losses(context.profile, column, &context.objective);
        }
    }

    /// Loads cells given by column and code. One cell may contain another.
    pub(super) fn load_cells(&mut self, context: &EvaluationContext<'_>, cells: &[Vec<Cell>]) {
        self.recoded.resize_with(cells.len(), RecodedColumn::default);
        cells.iter().enumerate().for_each(|(column, cells)| self.load_column(context, column, cells));
    }

    /// Replaces the cells of one column.
    pub(super) fn load_column(&mut self, context: &EvaluationContext<'_>, column: usize, cells: &[Cell]) {
        self.recoded[column].load_cells(cells);
        self.recoded[column].fill_losses(context.profile, column, &context.objective);
    }

    /// Precision loss of all records if none is suppressed: a lower bound on the loss of the cut.
    fn loss_without_suppression(&self, merged: &MergedTuples) -> f64 {
        let columns = self.recoded.iter().zip(&merged.histograms).zip(&merged.run_starts);
        let column_loss = |((recoded, histogram), run_starts): ((&RecodedColumn, &Vec<u64>), &Vec<u32>)| {
            let run_loss = |(&records, &code): (&u64, &u32)| {
                records as f64 * recoded.losses[recoded.cell_of[code as usize] as usize]
            };
            histogram.iter().zip(run_starts).map(run_loss).sum::<f64>()
        };
        columns.map(column_loss).sum()
    }

    /// Whether the loaded cells cannot score better than `other`, whatever is suppressed. Cheap: no grouping.
    pub(super) fn cannot_beat(&self, context: &EvaluationContext<'_>, merged: &MergedTuples, other: &Score) -> bool {
        let min_loss = || self.loss_without_suppression(merged) / context.profile.records().max(1) as f64;
        context.objective.includes_precision && other.excess == 0 && min_loss() > other.value
    }

    /// Scores the loaded cells. Each cell must be a union of runs of the merged tuples.
    pub(super) fn evaluate(&mut self, context: &EvaluationContext<'_>, merged: &MergedTuples) -> Score {
        self.groups.group(merged, &self.recoded);
        self.suppressed = suppressed_groups(&context.constraints, merged, &self.groups, &self.recoded);
        let suppressed_records = marked_sum(&self.groups.sizes, &self.suppressed);
        self.mark_fully_generalized(context, merged);
        let suppressed_or_starred = marked_sum(&self.groups.sizes, &self.suppressed);

        let total = context.profile.records().max(1) as f64;
        let objective = &context.objective;
        let mut lost = self.loss_without_suppression(merged);
        if suppressed_or_starred > 0 {
            lost += objective.suppressed_loss * suppressed_or_starred as f64
                - self.groups.precision_loss_of(merged, &self.suppressed);
        }
        let precision_loss = lost / total;
        let mut value = if objective.includes_precision { precision_loss } else { 0.0 };
        for (target, counts) in objective.targets.iter().zip(&merged.targets) {
            let target_loss = match (&target.kind, counts) {
                (TargetKind::Class(costs), TargetCounts::Classes(classes)) => self.class_cost(classes, costs) / total,
                (TargetKind::Number { total_dispersion, .. }, counts) if *total_dispersion > 0.0 => {
                    self.dispersion(counts) / total_dispersion
                }
                _ => 0.0,
            };
            value += target.weight * target_loss;
        }
        Score { excess: suppressed_records.saturating_sub(context.max_suppressed), value, precision_loss }
    }

    /// Marks the groups with `*` in every quasi-identifier as suppressed: both are released alike.
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

    /// Number of records that are suppressed or not of their group's majority class.
    fn misclassified(&mut self, classes: &[Vec<(u32, u64)>]) -> u64 {
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

    /// Total misclassification cost.
    fn class_cost(&mut self, classes: &[Vec<(u32, u64)>], costs: &BoundCosts) -> f64 {
        if costs.are_uniform() {
            return self.misclassified(classes) as f64;
        }
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
        let cost = |(histogram, &suppressed): (&Vec<(u32, u64)>, &bool)| {
            if suppressed { suppressed_cost(histogram) } else { costs.of_group(histogram) }
        };
        groups.map(cost).sum()
    }

    /// Dispersion of a target's numbers within groups; all suppressed records are one group.
    fn dispersion(&self, counts: &TargetCounts) -> f64 {
        let ids = &self.groups.ids;
        let suppressed_id = self.groups.sizes.len();
        let group = |row: usize| if self.suppressed[ids[row] as usize] { suppressed_id } else { ids[row] as usize };
        let mut sizes: Vec<u64> = vec![0; suppressed_id + 1];
        for (size, (group, suppressed)) in self.groups.sizes.iter().zip(self.suppressed.iter().enumerate()) {
            sizes[if *suppressed { suppressed_id } else { group }] += size;
        }
        match counts {
            TargetCounts::Classes(_) => 0.0,
            TargetCounts::Sums(sums) => {
                let mut group_sums = vec![[0.0; 2]; suppressed_id + 1];
                for (row, [sum, squares]) in sums.iter().enumerate() {
                    let group_sum = &mut group_sums[group(row)];
                    group_sum[0] += sum;
                    group_sum[1] += squares;
                }
                let about_mean = |([sum, squares], &size): (&[f64; 2], &u64)| match size {
                    0 => 0.0,
                    size => (squares - sum * sum / size as f64).max(0.0),
                };
                group_sums.iter().zip(&sizes).map(about_mean).sum()
            }
            TargetCounts::InOrder(numbers) => {
                // The numbers are in increasing order: a group's median is the number at which half its records are
                // seen.
                let mut seen = vec![0u64; suppressed_id + 1];
                let mut medians = vec![0.0; suppressed_id + 1];
                for &(row, records, number) in numbers {
                    let group = group(row as usize);
                    let half = sizes[group].div_ceil(2);
                    if seen[group] < half {
                        medians[group] = number;
                    }
                    seen[group] += records;
                }
                let deviation = |&(row, records, number): &(u32, u64, f64)| {
                    (number - medians[group(row as usize)]).abs() * records as f64
                };
                numbers.iter().map(deviation).sum()
            }
        }
    }
}
