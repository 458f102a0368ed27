//! Refinement by nested cells (parameter `partial`), after the evolution.
//!
//! **Why.** A valid cut separates all children of a node or none. If most children are rare and few are frequent, this
//! loses more than necessary: the rare ones can be released as their parent while the frequent ones keep their own
//! cell.
//!
//! ```text
//! values         Germany  France  Malta   Monaco  Andorra    children of Europe
//! valid cut      Europe   Europe  Europe  Europe  Europe
//! valid cut      Germany  France  Malta   Monaco  Andorra
//! nested cells   Germany  France  Europe  Europe  Europe
//! ```
//!
//! **How.** Hill climbing from a cut. A change gives the values inside one child a cell of their own, or returns the
//! values of a cell to the nearest cell in use above it. Each round evaluates the changes and makes the best one, or
//! the best 2, 4, 8, .. together if that scores better still. It ends when no change improves the score.
//!
//! **Cost.** One evaluation per change, at most [`MAX_CHANGES`] per round, and a limit on the rows scanned in total.

use super::{
    evaluate::{EvaluationContext, Evaluator, Score, evaluators, map_parallel},
    merged_tuples::MergedTuples,
};
use crate::{
    hierarchy::{Cell, Domain, Tree},
    ids::NodeId,
    search::Observer,
};

/// Maximum changes evaluated per round; limits the time of a round on wide hierarchies. Not tuned.
const MAX_CHANGES: usize = 4000;
/// Changes evaluated between two checks for cancellation.
const STOP_CHECK_INTERVAL: usize = 128;

/// Cells by column and code, and their score. A cell may contain other cells of its column.
#[derive(Debug, Clone)]
pub(super) struct NestedCut {
    pub cells: Vec<Vec<Cell>>,
    pub score: Score,
}

/// Releases all codes of a column that are in cell `from` and inside the range of cell `inside` as cell `to`.
#[derive(Debug, Clone, Copy)]
struct Change {
    column: usize,
    from: Cell,
    inside: Cell,
    to: Cell,
}

impl Change {
    /// Returns the column's cells after the change.
    fn applied(self, context: &EvaluationContext<'_>, cells: &[Cell]) -> Vec<Cell> {
        let Self { column, from, inside, to } = self;
        let mut cells = cells.to_vec();
        let codes = &mut cells[inside.first as usize..=inside.last as usize];
        codes.iter_mut().filter(|cell| **cell == from).for_each(|cell| *cell = to);
        merge_stars(context.segments[column].domain, &mut cells);
        cells
    }
}

/// Merges all cells that are released as `*`: a missing value must not be distinguishable from fully generalized
/// values.
fn merge_stars(domain: &Domain, cells: &mut [Cell]) {
    if !domain.is_empty() && cells.contains(&domain.whole()) {
        cells.iter_mut().filter(|cell| domain.is_star(**cell)).for_each(|cell| *cell = domain.whole());
    }
}

/// Climbs from the given cells until no change improves the score or `max_rows` rows were scanned. Every row of
/// `merged` must be a single tuple, because cells may be finer than those of the population.
pub(super) fn refine(
    context: &EvaluationContext<'_>,
    merged: &MergedTuples,
    mut cells: Vec<Vec<Cell>>,
    max_rows: u64,
    observer: &dyn Observer,
) -> NestedCut {
    context.segments.iter().zip(&mut cells).for_each(|(segment, cells)| merge_stars(segment.domain, cells));
    let mut evaluators = evaluators();
    evaluators[0].load_cells(context, &cells);
    let current = NestedCut { score: evaluators[0].evaluate(context, merged), cells };
    let mut climb = Climb { context, merged, observer, evaluators, current, rows: 0, max_rows };
    let mut round = 0;
    let mut rounds_without_gain = 0;
    loop {
        let all = changes(context, &climb.current.cells);
        // If there are too many changes, each round tries every n-th of them, beginning with another one.
        let stride = all.len() / MAX_CHANGES + 1;
        let sample: Vec<Change> = all.into_iter().skip(round % stride).step_by(stride).collect();
        round += 1;
        let Some(better) = climb.better_changes(&sample) else { return climb.current };
        if !better.is_empty() {
            rounds_without_gain = 0;
            climb.apply_best(&better);
            continue;
        }
        rounds_without_gain += 1;
        if rounds_without_gain >= stride {
            return climb.current;
        }
    }
}

/// State of the hill climbing.
struct Climb<'a> {
    context: &'a EvaluationContext<'a>,
    merged: &'a MergedTuples,
    observer: &'a dyn Observer,
    evaluators: Vec<Evaluator>,
    current: NestedCut,
    /// Estimated rows scanned so far.
    rows: u64,
    max_rows: u64,
}

impl Climb<'_> {
    /// Evaluates single changes of the current cut and returns those that improve its score, the best first; `None` if
    /// the climb has to stop.
    fn better_changes(&mut self, changes: &[Change]) -> Option<Vec<(Score, Change)>> {
        let Self { context, merged, current, .. } = self;
        self.evaluators.iter_mut().for_each(|evaluator| evaluator.load_cells(context, &current.cells));
        let score = |evaluator: &mut Evaluator, change: &Change| {
            let cells = &current.cells[change.column];
            evaluator.load_column(context, change.column, &change.applied(context, cells));
            let cannot_beat = evaluator.cannot_beat(context, merged, &current.score);
            let score = (!cannot_beat).then(|| evaluator.evaluate(context, merged));
            evaluator.load_column(context, change.column, cells);
            score
        };
        let mut better: Vec<(Score, Change)> = Vec::new();
        for chunk in changes.chunks(STOP_CHECK_INTERVAL) {
            if self.observer.stop().is_some() || self.rows > self.max_rows {
                return None;
            }
            self.rows += chunk.len() as u64 * context.work_on(merged.len());
            let tried = map_parallel(&mut self.evaluators, chunk, score).into_iter().zip(chunk);
            better.extend(tried.filter_map(|(score, change)| Some((score?, *change))));
        }
        better.retain(|(score, _)| score.is_better(&current.score));
        // The sort is stable: ties keep the order of the changes.
        better.sort_by(|a, b| a.0.compare(&b.0));
        Some(better)
    }

    /// Makes the best change, or the best 2, 4, 8, .. changes together if their score is better still.
    fn apply_best(&mut self, better: &[(Score, Change)]) {
        let Self { context, merged, .. } = *self;
        let start = self.current.cells.clone();
        let (score, change) = better[0];
        self.current.cells[change.column] = change.applied(context, &start[change.column]);
        self.current.score = score;
        let counts = std::iter::successors(Some(2), |count| Some(count * 2)).take_while(|&count| count <= better.len());
        for count in counts {
            let mut cells = start.clone();
            for (_, change) in &better[..count] {
                cells[change.column] = change.applied(context, &cells[change.column]);
            }
            if !context.segments.iter().zip(&cells).all(|(segment, cells)| is_nested(segment.domain, cells)) {
                continue;
            }
            self.evaluators[0].load_cells(context, &cells);
            let score = self.evaluators[0].evaluate(context, merged);
            if score.is_better(&self.current.score) {
                self.current = NestedCut { cells, score };
            }
        }
    }
}

/// Returns, by node, whether some code is released as it.
fn in_use(tree: &Tree, cells: &[Cell]) -> Vec<bool> {
    let mut in_use = vec![false; tree.len()];
    cells.iter().filter_map(|cell| cell.node()).for_each(|node| in_use[node.index()] = true);
    in_use
}

/// Whether every code is released as the smallest cell in use that covers it.
fn is_nested(domain: &Domain, cells: &[Cell]) -> bool {
    let Some(tree) = domain.tree() else { return true };
    let in_use = in_use(tree, cells);
    let smallest = |code: u32| {
        let mut above = std::iter::successors(Some(tree.leaf(code)), |&node| tree.parent(node));
        above.find(|node| in_use[node.index()])
    };
    (0u32..).zip(cells).all(|(code, cell)| smallest(code) == cell.node())
}

/// Returns the changes of all columns with a hierarchy.
fn changes(context: &EvaluationContext<'_>, cells: &[Vec<Cell>]) -> Vec<Change> {
    let mut changes = Vec::new();
    for (column, (segment, cells)) in context.segments.iter().zip(cells).enumerate() {
        let Some(tree) = segment.domain.tree() else { continue };
        let mut used: Vec<Cell> = cells.clone();
        used.sort_unstable();
        used.dedup();
        let in_use = in_use(tree, &used);
        for &from in &used {
            let Some(node) = from.node() else { continue };
            for child in tree.children(node) {
                let inside = segment.domain.node_cell(child);
                let in_child = cells[inside.first as usize..=inside.last as usize].contains(&from);
                if in_child && !segment.domain.is_star(inside) {
                    changes.push(Change { column, from, inside, to: inside });
                }
            }
            let above: Vec<NodeId> = std::iter::successors(tree.parent(node), |&above| tree.parent(above)).collect();
            if let Some(&to) = above.iter().find(|above| in_use[above.index()]).or(above.first()) {
                changes.push(Change { column, from, inside: from, to: segment.domain.node_cell(to) });
            }
        }
    }
    changes
}
