//! Initial chromosomes from other methods: the cuts on the path of bottom-up generalization and its result, and the cuts of
//! full-domain generalization, where all values of a column are on the same level.

use super::{chromosome::Chromosome, evaluate::EvaluationContext};
use crate::{
    hierarchy::Cell,
    recoding::{Cut, Recoding},
    search::{
        CancelOnly, Method, Observer, Outcome, Task,
        bottom_up_generalization::{BottomUpGeneralization, BottomUpParams},
        rng::hash_seed,
        taxonomy::Taxonomy,
    },
};

/// Cuts taken from a path: at most this many plus two. Not tuned.
const MAX_PATH_POINTS: usize = 256;
/// Maximum level vectors; if there are more, this many are drawn at random. Not tuned.
const MAX_LEVEL_VECTORS: usize = 20_000;

/// Runs bottom-up generalization; `None` if it fails.
pub(super) fn bottom_up(task: &Task<'_>, params: BottomUpParams, observer: &dyn Observer) -> Option<Outcome> {
    BottomUpGeneralization(params).run(task, &CancelOnly(observer)).ok()
}

/// Returns the original values, cuts along the path, and the final cut.
pub(super) fn from_path(
    task: &Task<'_>,
    context: &EvaluationContext<'_>,
    outcome: &Outcome,
    zeros: &Chromosome,
) -> Vec<Chromosome> {
    let mut cut = Cut::identity(task.profile);
    let mut chromosomes = vec![from_cells(context, &cut.cells, zeros)];
    let stride = outcome.path.len() / MAX_PATH_POINTS + 1;
    for (index, step) in outcome.path.iter().enumerate() {
        cut.apply(step);
        if index % stride == 0 {
            chromosomes.push(from_cells(context, &cut.cells, zeros));
        }
    }
    if let Recoding::Global(cut) = &outcome.recoding {
        chromosomes.push(from_cells(context, &cut.cells, zeros));
    }
    chromosomes
}

/// Returns the valid chromosome nearest to the cells, given by column and code.
fn from_cells(context: &EvaluationContext<'_>, cells: &[Vec<Cell>], zeros: &Chromosome) -> Chromosome {
    let mut chromosome = zeros.clone();
    context.segments.iter().zip(cells).for_each(|(segment, cells)| segment.set_nearest_cut(&mut chromosome, cells));
    chromosome
}

/// Returns the cuts of full-domain generalization: all level vectors, or `max_count` random ones if there are more.
pub(super) fn full_domain<'a>(
    context: &'a EvaluationContext<'_>,
    zeros: &'a Chromosome,
    max_count: usize,
    seed: u64,
) -> impl Iterator<Item = Chromosome> + use<'a> {
    let levels: Vec<Vec<Chromosome>> = Taxonomy::of_columns(context.profile)
        .iter()
        .zip(&context.segments)
        .map(|(taxonomy, segment)| {
            let tree = taxonomy.tree();
            let deepest = tree.nodes().map(|node| tree.depth(node)).max().unwrap_or(0);
            let level = |depth: u32| {
                let cell = |code: u32| {
                    let mut above = std::iter::successors(Some(tree.leaf(code)), |&node| tree.parent(node));
                    let found = above.find(|&node| tree.depth(node) <= depth);
                    taxonomy.cell(found.unwrap_or(tree.leaf(code)))
                };
                let cells: Vec<Cell> = (0..taxonomy.domain().len() as u32).map(cell).collect();
                let mut chromosome = zeros.clone();
                segment.set_nearest_cut(&mut chromosome, &cells);
                chromosome
            };
            (0..=deepest).map(level).collect()
        })
        .collect();
    let num_vectors =
        levels.iter().map(Vec::len).try_fold(1usize, |num_vectors, levels| num_vectors.checked_mul(levels));
    let max_count = max_count.min(MAX_LEVEL_VECTORS);
    let (count, at_random) = match num_vectors.filter(|&num_vectors| num_vectors <= max_count) {
        Some(num_vectors) => (num_vectors, false),
        None => (max_count, true),
    };
    (0..count).map(move |number| {
        let mut left = number as u64;
        let mut chromosome = zeros.clone();
        for (column, (levels, segment)) in levels.iter().zip(&context.segments).enumerate() {
            let num_levels = levels.len() as u64;
            let level =
                if at_random { hash_seed(seed, (number * context.segments.len() + column) as u64) } else { left }
                    % num_levels;
            left /= num_levels;
            chromosome.copy_from(&levels[level as usize], segment.bits.clone());
        }
        chromosome
    })
}
