//! Initial chromosomes from other methods: the cuts on the path of bottom-up generalization and its result, and the
//! cuts of full-domain generalization, where all values of a column are on the same level.

use super::{chromosome::Chromosome, evaluate::EvaluationContext};
use crate::{
    hierarchy::Cell,
    recoding::{Cut, Recoding},
    search::{Outcome, rng::hash_seed, taxonomy::Taxonomy},
};

/// Cuts taken from a path: at most this many plus two. Not tuned.
const MAX_PATH_POINTS: usize = 256;
/// Maximum level vectors; if there are more, this many are drawn at random. Not tuned.
const MAX_LEVEL_VECTORS: usize = 20_000;

/// Returns the original values, cuts along the path, and the final cut.
pub(super) fn from_path(context: &EvaluationContext<'_>, outcome: &Outcome) -> Vec<Chromosome> {
    let mut cut = Cut::identity(context.profile);
    let mut chromosomes = vec![from_cells(context, &cut.cells)];
    let stride = outcome.path.len() / MAX_PATH_POINTS + 1;
    for (index, step) in outcome.path.iter().enumerate() {
        cut.apply(step);
        if index % stride == 0 {
            chromosomes.push(from_cells(context, &cut.cells));
        }
    }
    if let Recoding::Global(cut) = &outcome.recoding {
        chromosomes.push(from_cells(context, &cut.cells));
    }
    chromosomes
}

/// Returns the valid chromosome nearest to the cells, given by column and code.
fn from_cells(context: &EvaluationContext<'_>, cells: &[Vec<Cell>]) -> Chromosome {
    let mut chromosome = context.zeros();
    context.segments.iter().zip(cells).for_each(|(segment, cells)| segment.set_nearest_cut(&mut chromosome, cells));
    chromosome
}

/// Returns the cuts of full-domain generalization: all level vectors, or `max_count` random ones if there are more.
pub(super) fn full_domain(
    context: &EvaluationContext<'_>,
    max_count: usize,
    seed: u64,
) -> impl Iterator<Item = Chromosome> {
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
                let mut chromosome = context.zeros();
                segment.set_nearest_cut(&mut chromosome, &cells);
                chromosome
            };
            (0..=deepest).map(level).collect()
        })
        .collect();
    let max_count = max_count.min(MAX_LEVEL_VECTORS);
    let count = levels.iter().try_fold(1usize, |count, levels| count.checked_mul(levels.len()));
    let count = count.filter(|&count| count <= max_count);
    (0..count.unwrap_or(max_count)).map(move |number| {
        let mut left = number as u64;
        let mut chromosome = context.zeros();
        for (column, (levels, segment)) in levels.iter().zip(&context.segments).enumerate() {
            let num_levels = levels.len() as u64;
            let random = hash_seed(seed, (number * context.segments.len() + column) as u64);
            let level = if count.is_none() { random } else { left } % num_levels;
            left /= num_levels;
            chromosome.copy_from(&levels[level as usize], segment.bits.clone());
        }
        chromosome
    })
}
