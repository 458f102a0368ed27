//! Further disclosures for which records are suppressed, after the search has disclosed all that the models allow.
//! Not part of the paper.
//!
//! A candidate releases a child of a released node, or both halves of a released interval. Groups may then
//! violate a model; these are suppressed as for any global recoding (`recoding/suppressor.rs`). It is accepted if the
//! suppressed records stay within the limit of the policy and the loss of precision falls. A suppressed record loses
//! everything. So the loss is never above that without suppression.
//!
//! ```text
//! k = 2; released: 20-29 3, 30-39 4    disclose 34: 34 3, 30-39 1: one record and the smallest group are suppressed
//! ```
//!
//! Candidates are tried in the order of the loss that they would save without suppression, greatest first: a batch in
//! parallel, whose best candidate is accepted. Cost: one grouping of the tuples per candidate; passes end with one that
//! accepts nothing.

use rayon::prelude::*;

use crate::{
    hierarchy::{Cell, Domain},
    ids::{ColumnId, TupleId},
    objective::LossMetric,
    recoding::{Action, Constraints, Cut, Step, suppressed_within},
    search::{Observer, Stop, Task, taxonomy::records_before},
};

/// Candidates that are tried in parallel. The result depends on it, so it is not the number of threads. Not tuned.
const BATCH: usize = 8;

/// Maximum passes over all candidates; later ones gain little.
const MAX_PASSES: usize = 20;

/// Minimum decrease of the loss; less could be rounding.
const MIN_GAIN: f64 = 1e-9;

/// Cells that a candidate releases instead of the cell around them.
struct Disclosure {
    column: usize,
    cells: Vec<Cell>,
    /// Decrease of the loss if nothing is suppressed for it.
    max_gain: f64,
}

struct Discloser<'a> {
    task: &'a Task<'a>,
    constraints: Constraints<'a>,
    loss: LossMetric,
    /// Loss of a suppressed record.
    full_loss: f64,
    /// By column and code: the number of records with a smaller code.
    records_before: Vec<Vec<u64>>,
}

/// Discloses more while the loss falls; returns why it was stopped, if it was. Adds the steps to the path.
pub(super) fn disclose_more(
    task: &Task<'_>,
    loss: LossMetric,
    cut: &mut Cut,
    path: &mut Vec<Step>,
    observer: &dyn Observer,
) -> Option<Stop> {
    let columns = task.profile.columns();
    let full_loss = columns.iter().map(|column| match loss {
        LossMetric::Lm => column.weight,
        LossMetric::Ncp => column.weight * column.domain.ncp(column.domain.whole()),
    });
    let discloser = Discloser {
        task,
        constraints: Constraints::new(task.profile, task.models),
        loss,
        full_loss: full_loss.sum(),
        records_before: (0..columns.len()).map(|column| records_before(task.profile, column)).collect(),
    };
    let mut lost = discloser.total(cut);
    for _ in 0..MAX_PASSES {
        let candidates = discloser.candidates(cut);
        let mut accepted = false;
        for batch in candidates.chunks(BATCH) {
            if let Some(stop) = observer.stop() {
                return Some(stop);
            }
            let tried: Vec<Option<(f64, Cut)>> =
                batch.par_iter().map(|disclosure| discloser.with(cut, disclosure, lost)).collect();
            let found = tried.into_iter().enumerate().filter_map(|(index, tried)| Some((tried?, index)));
            let Some(((found_loss, found), index)) = found.min_by(|a, b| a.0.0.total_cmp(&b.0.0)) else { continue };
            (lost, *cut, accepted) = (found_loss, found, true);
            let column = ColumnId::from_index(batch[index].column);
            let changes = batch[index].cells.iter().map(|cell| (column, *cell)).collect();
            path.push(Step { action: Action::Disclose, changes });
        }
        if !accepted {
            break;
        }
    }
    None
}

impl Discloser<'_> {
    fn domain(&self, column: usize) -> &Domain {
        &self.task.profile.columns()[column].domain
    }

    /// Candidates, the one with the greatest possible gain first.
    fn candidates(&self, cut: &Cut) -> Vec<Disclosure> {
        let mut found = Vec::new();
        for (column, cells) in cut.cells.iter().enumerate() {
            for same in cells.chunk_by(|a, b| a == b) {
                let around = same[0];
                let parts = self.parts(column, around);
                found.extend(parts.into_iter().filter_map(|parts| {
                    // Values inside may have a smaller cell already.
                    let is_released = |cell: &Cell| {
                        cells[cell.first as usize..=cell.last as usize].iter().all(|released| *released == around)
                    };
                    let max_gain = parts.iter().map(|cell| self.gain(column, around, *cell)).sum();
                    (max_gain > MIN_GAIN && parts.iter().all(is_released)).then_some(Disclosure {
                        column,
                        cells: parts,
                        max_gain,
                    })
                }));
            }
        }
        found.sort_by(|a, b| b.max_gain.total_cmp(&a.max_gain).then_with(|| a.key().cmp(&b.key())));
        // A cell whose values are not adjacent was found for each of its runs.
        found.dedup_by(|next, kept| next.key() == kept.key());
        found
    }

    /// Cells that may be released inside a cell: each child of a node alone, or both halves of an interval.
    fn parts(&self, column: usize, around: Cell) -> Vec<Vec<Cell>> {
        let domain = self.domain(column);
        let (first, mut last) = (around.first, around.last);
        if let (Some(tree), Some(node)) = (domain.tree(), around.node()) {
            return tree.children(node).map(|child| vec![domain.node_cell(child)]).collect();
        }
        if Some(last) == domain.missing() {
            // A missing value is released as `*` together with others.
            return if first < last { vec![vec![domain.cover(first, last - 1)]] } else { Vec::new() };
        }
        if first >= last {
            return Vec::new();
        }
        let before = &self.records_before[column];
        let half = (before[first as usize] + before[last as usize + 1]) / 2;
        last = (first..last).find(|&code| before[code as usize + 1] >= half).unwrap_or(first);
        vec![vec![domain.cover(first, last), domain.cover(last + 1, around.last)]]
    }

    /// Decrease of the loss if the records of a cell are released with it.
    fn gain(&self, column: usize, around: Cell, cell: Cell) -> f64 {
        let (domain, before) = (self.domain(column), &self.records_before[column]);
        let records = before[cell.last as usize + 1] - before[cell.first as usize];
        let weight = self.task.profile.columns()[column].weight;
        weight * records as f64 * (self.loss.of(domain, around) - self.loss.of(domain, cell))
    }

    /// Returns the cut with a disclosure, if its loss is lower, with the loss.
    fn with(&self, cut: &Cut, disclosure: &Disclosure, lost: f64) -> Option<(f64, Cut)> {
        let mut cells = cut.cells.clone();
        for cell in &disclosure.cells {
            cells[disclosure.column][cell.first as usize..=cell.last as usize].fill(*cell);
        }
        let mut with = Cut { cells, suppressed: Vec::new() };
        with.suppressed = suppressed_within(&self.constraints, &with, self.task.max_suppressed)?;
        let total = self.total(&with);
        (total < lost - MIN_GAIN).then_some((total, with))
    }

    /// Loss of all records.
    fn total(&self, cut: &Cut) -> f64 {
        let profile = self.task.profile;
        let losses = |column: usize| -> Vec<f64> {
            let weight = profile.columns()[column].weight;
            cut.cells[column].iter().map(|cell| weight * self.loss.of(self.domain(column), *cell)).collect()
        };
        let losses: Vec<Vec<f64>> = (0..cut.cells.len()).map(losses).collect();
        let all = losses.iter().zip(&self.records_before).flat_map(|(losses, before)| {
            losses.iter().zip(before.windows(2)).map(|(loss, ends)| loss * (ends[1] - ends[0]) as f64)
        });
        let more = |&tuple: &TupleId| {
            let released: f64 =
                profile.codes(tuple).iter().zip(&losses).map(|(&code, losses)| losses[code as usize]).sum();
            profile.tuple_records(tuple) as f64 * (self.full_loss - released)
        };
        all.sum::<f64>() + cut.suppressed.iter().map(more).sum::<f64>()
    }
}

impl Disclosure {
    fn key(&self) -> (usize, &[Cell]) {
        (self.column, &self.cells)
    }
}
