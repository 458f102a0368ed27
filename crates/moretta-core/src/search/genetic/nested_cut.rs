//! After the search: a node may stand for some of its children only, and leave the others as they are.
//!
//! A valid cut tells all children of a node apart or none. Where most of them are rare that loses more than it must:
//! the rare ones can share their parent's name while the frequent ones keep theirs. From a cut, children are told one by
//! one or fall back to the nearest name above that is in use, whichever is best, until nothing is better.

use super::{
    evaluate::{EvaluationContext, Evaluator, Score, evaluators, map_parallel},
    merged_tuples::MergedTuples,
};
use crate::{
    hierarchy::{Cell, Domain, Tree},
    ids::NodeId,
    search::Observer,
};

/// No more changes than this are tried before the best of them is made.
const CHANGES: usize = 4000;
/// After so many somebody may want to stop.
const AT_ONCE: usize = 128;

/// Cells by column and code, and what they come to.
#[derive(Debug, Clone)]
pub(super) struct NestedCut {
    pub cells: Vec<Vec<Cell>>,
    pub score: Score,
}

/// All codes of a column that leave as one cell and are inside another leave as a third from here on.
#[derive(Debug, Clone, Copy)]
struct Change {
    column: usize,
    from: Cell,
    inside: Cell,
    to: Cell,
}

impl Change {
    /// A column's cells after it.
    fn applied(self, context: &EvaluationContext<'_>, cells: &[Cell]) -> Vec<Cell> {
        let Self { column, from, inside, to } = self;
        let mut cells = cells.to_vec();
        let codes = &mut cells[inside.first as usize..=inside.last as usize];
        codes.iter_mut().filter(|cell| **cell == from).for_each(|cell| *cell = to);
        one_star(context.segments[column].domain, &mut cells);
        cells
    }
}

/// A missing value that prints `*` is not told from others that do.
fn one_star(domain: &Domain, cells: &mut [Cell]) {
    if !domain.is_empty() && cells.contains(&domain.whole()) {
        cells.iter_mut().filter(|cell| domain.is_star(**cell)).for_each(|cell| *cell = domain.whole());
    }
}

/// Goes on from some cells until nothing is better, or so many rows were looked at. Every table row is a tuple.
pub(super) fn refine(
    context: &EvaluationContext<'_>,
    merged: &MergedTuples,
    mut cells: Vec<Vec<Cell>>,
    most_rows: u64,
    observer: &dyn Observer,
) -> NestedCut {
    context.segments.iter().zip(&mut cells).for_each(|(segment, cells)| one_star(segment.domain, cells));
    let mut evaluators = evaluators();
    evaluators[0].load_cells(context, &cells);
    let mut at = NestedCut { score: evaluators[0].evaluate(context, merged), cells };
    let (mut rows, mut phase, mut in_vain) = (0, 0, 0);
    loop {
        let all = changes(context, &at.cells);
        // Where there are very many changes, every second or third of them and so on, then the others.
        let every = all.len() / CHANGES + 1;
        let changes: Vec<Change> = all.into_iter().skip(phase % every).step_by(every).collect();
        phase += 1;
        evaluators.iter_mut().for_each(|evaluator| evaluator.load_cells(context, &at.cells));
        let one = |evaluator: &mut Evaluator, change: &Change| {
            evaluator.load_column(context, change.column, &change.applied(context, &at.cells[change.column]));
            let hopeless = evaluator.cannot_beat(context, merged, &at.score);
            let score = (!hopeless).then(|| evaluator.evaluate(context, merged));
            evaluator.load_column(context, change.column, &at.cells[change.column]);
            score
        };
        let mut better: Vec<(Score, Change)> = Vec::new();
        for some in changes.chunks(AT_ONCE) {
            if observer.stop().is_some() || rows > most_rows {
                return at;
            }
            rows += some.len() as u64 * context.work_on(merged.len());
            let tried = map_parallel(&mut evaluators, some, one).into_iter().zip(some);
            better.extend(tried.filter_map(|(score, change)| Some((score?, *change))));
        }
        better.retain(|(score, _)| score.is_better(&at.score));
        // Of several alike, the first.
        better.sort_by(|a, b| a.0.compare(&b.0));
        let Some(&(score, change)) = better.first() else {
            in_vain += 1;
            if in_vain < every {
                continue;
            }
            return at;
        };
        in_vain = 0;
        let start = at.cells.clone();
        at.cells[change.column] = change.applied(context, &start[change.column]);
        at.score = score;
        // Several at once, where that is better still.
        let several = std::iter::successors(Some(2), |many| Some(many * 2)).take_while(|many| *many <= better.len());
        for many in several {
            let mut cells = start.clone();
            for (_, change) in &better[..many] {
                cells[change.column] = change.applied(context, &cells[change.column]);
            }
            if !context.segments.iter().zip(&cells).all(|(segment, cells)| nest(segment.domain, cells)) {
                continue;
            }
            evaluators[0].load_cells(context, &cells);
            let score = evaluators[0].evaluate(context, merged);
            if score.is_better(&at.score) {
                at = NestedCut { cells, score };
            }
        }
    }
}

/// By node, whether some code leaves as it.
fn in_use(tree: &Tree, cells: &[Cell]) -> Vec<bool> {
    let mut in_use = vec![false; tree.len()];
    cells.iter().filter_map(|cell| cell.node()).for_each(|node| in_use[node.index()] = true);
    in_use
}

/// Whether every code leaves as the smallest cell in use that covers it.
fn nest(domain: &Domain, cells: &[Cell]) -> bool {
    let Some(tree) = domain.tree() else { return true };
    let in_use = in_use(tree, cells);
    let smallest = |code: u32| {
        let mut above = std::iter::successors(Some(tree.leaf(code)), |&node| tree.parent(node));
        above.find(|node| in_use[node.index()])
    };
    (0u32..).zip(cells).all(|(code, cell)| smallest(code) == cell.node())
}

/// What may be changed in the columns with a tree.
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
                let there = cells[inside.first as usize..=inside.last as usize].contains(&from);
                if there && !segment.domain.is_star(inside) {
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
