//! Steady-state evolution of cuts, after GENITOR (Whitley 1989), with a local search.
//!
//! **What.** A ranked population of chromosomes. Each child replaces the worst individual if it is better:
//!
//! ```text
//! parent A   0 1 0|1 1 0|0 1       two-point crossover: a range of B replaces that of A
//! parent B   1 1 0|0 0 1|0 0
//! child      0 1 0|0 0 1|0 1       repair of the columns that a crossover point divides
//! child      0 1 0 0 0 1 1 1       mutation: one bit flipped on average
//! ```
//!
//! **How.** Parents are drawn by linear ranking. Children are made in batches: all children of a batch have parents
//! from the same population, are evaluated in parallel, and are inserted in the order in which they were made.
//! Therefore the result depends on the seed and not on the number of threads. The local search climbs from the best
//! individuals by single flips and by shifts of interval end points.
//!
//! **Cost.** An evaluation per child (see `evaluate.rs`). It is skipped if the chromosome was generated before, or if
//! its loss without suppression already exceeds the worst score. Evaluations scan merged tuples (see
//! `merged_tuples.rs`), fewer as the population converges.

use super::{
    GeneticParams,
    chromosome::Chromosome,
    evaluate::{EvaluationContext, Evaluator, Score, evaluators, map_parallel},
    merged_tuples::MergedTuples,
    population::{Individual, Population},
};
use crate::search::{Observer, Stop, rng::SearchRng};

/// Children made from the same population. A larger batch uses the threads better but delays good children. Not tuned.
const BATCH_SIZE: usize = 128;
/// Children between two attempts to merge tuples under the population's mask.
const MERGE_INTERVAL: u64 = 2048;
/// Share of the mask's bits that must have become 0 before the tuples are merged again: merging costs a sort.
const MIN_SHRINK: f64 = 0.1;
/// Distances, in admissible end points, by which the local search shifts the end of an interval.
const END_POINT_SHIFTS: [usize; 3] = [1, 2, 4];
/// Chromosomes with more bits than this have only a sample of their bits flipped by the local search.
const MAX_NEIGHBORS: usize = 4000;
/// Number of best individuals from which the local search starts.
const CLIMB_STARTS: usize = 3;
/// Number of local searches while `patience` children bring no improvement.
const CLIMBS_PER_PATIENCE: u64 = 5;
/// Work budget per iteration, in rows scanned. Larger tables use it up with fewer children.
pub(super) const ROWS_PER_CHILD: u64 = 40_000;
/// Maximum mutated bits per child.
const MAX_FLIPS: usize = 256;

/// Counters of the work done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WorkCounts {
    /// Children generated.
    pub iterations: u64,
    /// Chromosomes evaluated.
    pub evaluations: u64,
    /// Chromosomes skipped because they had been generated before.
    pub repeated: u64,
    /// Chromosomes skipped because their loss without suppression exceeds the worst score.
    pub dismissed: u64,
    /// Evaluations on merged tuples.
    pub merged: u64,
    /// Estimated work, in rows scanned.
    pub rows: u64,
}

/// Population with all that is needed to evolve it.
pub(super) struct Evolution<'a> {
    context: &'a EvaluationContext<'a>,
    params: &'a GeneticParams,
    observer: &'a dyn Observer,
    /// Rows under the mask of all ones: valid for every chromosome.
    full: MergedTuples,
    /// Mask of the population and the rows under it; valid for chromosomes within the mask.
    merged: Option<(Chromosome, MergedTuples)>,
    evaluators: Vec<Evaluator>,
    pub population: Population,
    rng: SearchRng,
    /// Fingerprints of the chromosomes whose neighbors have been tried.
    climbed: Vec<u128>,
    /// Best value reported to the observer.
    reported: Option<f64>,
    pub work: WorkCounts,
}

impl<'a> Evolution<'a> {
    pub(super) fn new(
        context: &'a EvaluationContext<'a>,
        params: &'a GeneticParams,
        seed: u64,
        observer: &'a dyn Observer,
    ) -> Self {
        let mut all = context.zeros();
        all.fill(0..context.bits, true);
        Self {
            context,
            params,
            observer,
            full: MergedTuples::new(context, Some(&all)),
            merged: None,
            evaluators: evaluators(),
            population: Population::new(params.population.get() as usize),
            rng: SearchRng::new(seed, 0),
            climbed: Vec::new(),
            reported: None,
            work: WorkCounts::default(),
        }
    }

    /// Evaluates the chromosomes that are new and inserts them into the population. Returns the scores of the evaluated
    /// ones with their index in `chromosomes`.
    pub(super) fn try_all(&mut self, chromosomes: impl IntoIterator<Item = Chromosome>) -> Vec<(usize, Score)> {
        let mut tried = Vec::new();
        let mut chromosomes = chromosomes.into_iter().enumerate().peekable();
        // The first batch is evaluated even after cancellation: there must be a cut to release.
        while chromosomes.peek().is_some() && (self.population.len() == 0 || self.observer.stop().is_none()) {
            let is_new = |(_, chromosome): &(usize, Chromosome)| {
                let is_new = self.population.is_new(chromosome);
                self.work.repeated += u64::from(!is_new);
                is_new
            };
            let batch: Vec<(usize, Chromosome)> = chromosomes.by_ref().filter(is_new).take(BATCH_SIZE).collect();
            let scores = self.evaluate(&batch);
            for ((index, chromosome), score) in batch.into_iter().zip(scores) {
                if let Some(score) = score {
                    tried.push((index, score));
                    self.population.insert(Individual { chromosome, score });
                }
            }
            self.report_best();
        }
        tried
    }

    /// Reports the best value to the observer if it improved and its cut can be released.
    fn report_best(&mut self) {
        let Score { excess, value, .. } = self.population.best().score;
        if excess == 0 && self.reported.is_none_or(|reported| value < reported) {
            self.reported = Some(value);
            self.observer.best(value);
        }
    }

    /// Scores chromosomes in parallel; `None` for those that cannot beat the worst individual.
    fn evaluate(&mut self, chromosomes: &[(usize, Chromosome)]) -> Vec<Option<Score>> {
        let Self { context, ref full, ref merged, ref mut evaluators, ref mut work, .. } = *self;
        let worst = self.population.worst();
        let tuples_for = |chromosome: &Chromosome| match merged {
            Some((mask, tuples)) if chromosome.is_within(mask) => tuples,
            _ => full,
        };
        let score = |evaluator: &mut Evaluator, (_, chromosome): &(usize, Chromosome)| {
            let tuples = tuples_for(chromosome);
            evaluator.load(context, chromosome);
            let cannot_beat = worst.is_some_and(|worst| evaluator.cannot_beat(context, tuples, worst));
            (!cannot_beat).then(|| evaluator.evaluate(context, tuples))
        };
        let scores = map_parallel(evaluators, chromosomes, score);
        for ((_, chromosome), score) in chromosomes.iter().zip(&scores) {
            let rows = tuples_for(chromosome).len();
            work.evaluations += u64::from(score.is_some());
            work.dismissed += u64::from(score.is_none());
            work.merged += u64::from(score.is_some() && rows < full.len());
            work.rows += if score.is_some() { context.work_on(rows) } else { context.work_of_columns() };
        }
        scores
    }

    /// Maximum work of the search, in rows scanned.
    fn budget(&self) -> u64 {
        self.params.iterations.saturating_mul(ROWS_PER_CHILD)
    }

    /// Number of evaluations that use a quarter of the budget.
    pub(super) fn evaluations_in_quarter(&self) -> usize {
        let evaluation_work = self.context.work_on(self.full.len()).max(1);
        usize::try_from((self.budget() / 4 / evaluation_work).min(self.params.iterations)).unwrap_or(usize::MAX)
    }

    /// Fills the population with random cuts.
    pub(super) fn fill(&mut self) {
        let capacity = self.params.population.get() as usize;
        // Small tables may have fewer cuts than `capacity`: limit the attempts. Large tables take long: limit the rows.
        let max_rows = self.work.rows + self.budget().max(2 * ROWS_PER_CHILD * capacity as u64) / 4;
        let mut attempts = 0;
        while self.population.len() < capacity
            && attempts < 2 * capacity
            && self.work.rows < max_rows
            && self.observer.stop().is_none()
        {
            let draw = |_| {
                let mut chromosome = self.context.zeros();
                self.context.segments.iter().for_each(|segment| segment.draw(&mut chromosome, &mut self.rng));
                chromosome
            };
            let chromosomes: Vec<Chromosome> = (0..BATCH_SIZE).map(draw).collect();
            attempts += chromosomes.len();
            self.try_all(chromosomes);
        }
    }

    /// Breeds until the iterations, the patience or the work budget are used up. Returns the reason for an early stop.
    pub(super) fn run(&mut self) -> Option<Stop> {
        let GeneticParams { iterations, patience, local_search, .. } = *self.params;
        let mut last_improvement = 0;
        let mut best = self.population.best().score;
        if local_search {
            self.climb_from_best();
        }
        while self.work.iterations < iterations
            && self.work.iterations - last_improvement < patience
            && self.work.rows < self.budget()
        {
            if let Some(stop) = self.observer.stop() {
                return Some(stop);
            }
            let num_children = (iterations - self.work.iterations).min(BATCH_SIZE as u64);
            let children: Vec<Chromosome> = (0..num_children).map(|_| self.child()).collect();
            self.work.iterations += num_children;
            self.try_all(children);
            if self.work.iterations % MERGE_INTERVAL < num_children {
                self.merge_tuples();
            }
            let stale = self.work.iterations - last_improvement;
            if local_search && stale % (patience / CLIMBS_PER_PATIENCE).max(1) < num_children && stale > num_children {
                self.climb_from_best();
            }
            let now = self.population.best().score;
            if now.is_better(&best) {
                best = now;
                last_improvement = self.work.iterations;
            }
            self.observer.progress(self.work.iterations, iterations);
        }
        if local_search {
            self.climb_from_best();
        }
        self.observer.stop()
    }

    /// Makes a child by two-point crossover, repair and mutation.
    fn child(&mut self) -> Chromosome {
        let bias = self.params.bias;
        let bits = self.context.bits;
        let rng = &mut self.rng;
        let mut child = self.population.draw(bias, rng).chromosome.clone();
        let other = &self.population.draw(bias, rng).chromosome;
        let a = rng.below(bits + 1);
        let b = rng.below(bits + 1);
        let (first, end) = (a.min(b), a.max(b));
        child.copy_from(other, first..end);
        for segment in &self.context.segments {
            // A segment that comes from one parent as a whole is valid.
            let within = |point: usize| segment.bits.start < point && point < segment.bits.end;
            if within(first) || within(end) {
                segment.repair(&mut child);
            }
        }
        // The number of flips is geometric with this mean.
        let mean_flips = self.params.mutation.map_or(1.0, |rate| rate * bits as f64);
        let another = mean_flips / (mean_flips + 1.0);
        let num_flips = (0..MAX_FLIPS).take_while(|_| rng.unit() < another).count();
        let flipped: Vec<usize> = (0..num_flips).filter(|_| bits > 0).map(|_| rng.below(bits)).collect();
        flipped.into_iter().for_each(|bit| self.flip(&mut child, bit));
        child
    }

    /// Merges tuples again if the population's mask has lost enough bits.
    fn merge_tuples(&mut self) {
        let bits = self.context.bits;
        let mut mask = self.context.zeros();
        self.population.individuals().for_each(|individual| mask.unite(&individual.chromosome));
        let current_ones = self.merged.as_ref().map_or(bits, |(mask, _)| mask.ones(0..bits));
        if (mask.ones(0..bits) as f64) < (1.0 - MIN_SHRINK) * current_ones as f64 {
            let tuples = MergedTuples::new(self.context, Some(&mask));
            self.merged = Some((mask, tuples));
        }
    }

    /// Local search: from each of the best individuals to its best neighbor, as long as that is better and new.
    fn climb_from_best(&mut self) {
        // One call uses at most a quarter of the budget.
        let max_rows = self.budget().min(self.work.rows + self.budget() / 4);
        for rank in 0..CLIMB_STARTS {
            let Some(start) = self.population.ranked(rank).cloned() else { return };
            let mut current = Some(start);
            while let Some(from) = current.filter(|from| !self.climbed.contains(&from.chromosome.fingerprint())) {
                if self.observer.stop().is_some() || self.work.rows > max_rows {
                    return;
                }
                self.climbed.push(from.chromosome.fingerprint());
                current = self.step_from(&from);
            }
        }
    }

    /// Returns the best result of single moves and of the best 2, 4, 8, .. moves together; `None` if no move improves.
    fn step_from(&mut self, from: &Individual) -> Option<Individual> {
        let moves = self.moves(&from.chromosome);
        let neighbors: Vec<Chromosome> = moves.iter().map(|one| self.moved(from, std::slice::from_ref(one))).collect();
        let mut better = self.try_all(neighbors);
        better.retain(|(_, score)| score.is_better(&from.score));
        better.sort_by(|a, b| a.1.compare(&b.1).then(a.0.cmp(&b.0)));
        let moves: Vec<Vec<usize>> = better.iter().map(|(index, _)| moves[*index].clone()).collect();
        let single =
            better.first().map(|(_, score)| Individual { chromosome: self.moved(from, &moves[..1]), score: *score });
        let several: Vec<Chromosome> = std::iter::successors(Some(2), |count| Some(count * 2))
            .take_while(|count| *count <= moves.len())
            .map(|count| self.moved(from, &moves[..count]))
            .collect();
        let tried = self.try_all(several.clone());
        let several = tried.into_iter().map(|(index, score)| Individual { chromosome: several[index].clone(), score });
        single
            .into_iter()
            .chain(several)
            .reduce(|best, next| if next.score.is_better(&best.score) { next } else { best })
    }

    /// Applies several moves, each a list of bits to flip.
    fn moved(&self, from: &Individual, moves: &[Vec<usize>]) -> Chromosome {
        let mut chromosome = from.chromosome.clone();
        moves.iter().flatten().for_each(|&bit| self.flip(&mut chromosome, bit));
        chromosome
    }

    /// Flips a bit, with the rules of its segment.
    fn flip(&self, chromosome: &mut Chromosome, bit: usize) {
        let segment = self.context.segments.partition_point(|segment| segment.bits.end <= bit);
        self.context.segments[segment].flip(chromosome, bit);
    }

    /// Returns the moves to neighbors, each a list of bits to flip: one bit, or two bits that shift the end of an
    /// interval.
    fn moves(&mut self, chromosome: &Chromosome) -> Vec<Vec<usize>> {
        let mut moves = Vec::new();
        // A random residue class of the bits if there are too many.
        let stride = self.context.bits / MAX_NEIGHBORS + 1;
        let residue = self.rng.below(stride);
        for segment in &self.context.segments {
            for bit in segment.bits.clone().filter(|bit| bit % stride == residue) {
                moves.push(vec![bit]);
                if !segment.is_free() || !chromosome.get(bit) {
                    continue;
                }
                let up = END_POINT_SHIFTS.iter().map(|by| bit + by);
                let down = END_POINT_SHIFTS.iter().filter_map(|&by| bit.checked_sub(by));
                let targets = up.chain(down).filter(|to| segment.bits.contains(to) && !chromosome.get(*to));
                moves.extend(targets.map(|to| vec![to, bit]));
            }
        }
        moves
    }
}
