//! Evolution in a steady state, after GENITOR: parents by rank, two-point crossover, mutation, repair; a child that is
//! better than the worst takes its place.
//!
//! Children are made in batches: all of a batch have their parents from the same population, are evaluated on as many
//! threads as there are, and join in the order in which they were made. So the answer depends on the seed alone.

use super::{
    GeneticParams,
    chromosome::Chromosome,
    evaluate::{EvaluationContext, Evaluator, Score, evaluators, map_parallel},
    merged_tuples::MergedTuples,
    population::{Individual, Population},
};
use crate::search::{Observer, Stop, rng::SearchRng};

/// So many children are made before the first of them joins.
const BATCH_SIZE: usize = 128;
/// After so many children the table is looked at: whether the population tells less apart than it does.
const MERGE_INTERVAL: u64 = 2048;
/// It is made anew where this share of its bits is no longer told apart by anybody.
const MIN_SHRINK: f64 = 0.1;
/// Ends of intervals are moved by so many admissible points in the local search.
const END_POINT_SHIFTS: [usize; 3] = [1, 2, 4];
/// No more neighbours of a string than this are looked at.
const MAX_NEIGHBORS: usize = 4000;
/// So many of the best are starting points of the local search.
const CLIMB_STARTS: usize = 3;
/// The local search takes place when nothing improved for this share of the patience.
const CLIMBS_PER_PATIENCE: u64 = 5;
/// A child is worth about so many rows looked at: on large tables there are fewer children.
pub(super) const ROWS_PER_CHILD: u64 = 40_000;
/// No more bits of a child than this are turned over.
const MAX_FLIPS: usize = 256;

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WorkCounts {
    /// Children made.
    pub iterations: u64,
    /// Strings that were evaluated.
    pub evaluations: u64,
    /// Strings that had been thought of before.
    pub repeated: u64,
    /// Strings that could not be good enough, by what they lose were nothing suppressed.
    pub dismissed: u64,
    /// Evaluations on a table of fewer rows.
    pub merged: u64,
    /// What all of it was worth, in rows looked at.
    pub rows: u64,
}

/// A population on its way.
pub(super) struct Evolution<'a> {
    context: &'a EvaluationContext<'a>,
    params: &'a GeneticParams,
    observer: &'a dyn Observer,
    /// All that strings can tell apart.
    full: MergedTuples,
    /// What the population tells apart: the mask and the table.
    merged: Option<(Chromosome, MergedTuples)>,
    evaluators: Vec<Evaluator>,
    pub population: Population,
    rng: SearchRng,
    bits: usize,
    climbed: Vec<u128>,
    /// The best value that was told.
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
        let bits = context.segments.last().map_or(0, |segment| segment.bits.end);
        let mut all = Chromosome::zeros(bits);
        all.fill(0..bits, true);
        Self {
            context,
            params,
            observer,
            full: context.merged_tuples(Some(&all)),
            merged: None,
            evaluators: evaluators(),
            population: Population::new(params.population.get() as usize),
            rng: SearchRng::new(seed, 0),
            bits,
            climbed: Vec::new(),
            reported: None,
            work: WorkCounts::default(),
        }
    }

    /// An empty string.
    pub(super) fn zeros(&self) -> Chromosome {
        Chromosome::zeros(self.bits)
    }

    /// Evaluates strings that nobody has thought of yet, and lets those join that are good enough. Returns what they come
    /// to, by their places.
    pub(super) fn try_all(&mut self, chromosomes: impl IntoIterator<Item = Chromosome>) -> Vec<(usize, Score)> {
        let mut tried = Vec::new();
        let mut chromosomes = chromosomes.into_iter().enumerate().peekable();
        // Something has to be there to be released, even if nobody has time.
        while chromosomes.peek().is_some() && (self.population.len() == 0 || self.observer.stop().is_none()) {
            let (mut places, mut batch) = (Vec::with_capacity(BATCH_SIZE), Vec::with_capacity(BATCH_SIZE));
            for (place, chromosome) in chromosomes.by_ref() {
                if self.population.is_new(&chromosome) {
                    places.push(place);
                    batch.push(chromosome);
                } else {
                    self.work.repeated += 1;
                }
                if batch.len() == BATCH_SIZE {
                    break;
                }
            }
            let found = self.evaluate(&batch);
            for ((place, chromosome), score) in places.into_iter().zip(batch).zip(found) {
                if let Some(score) = score {
                    tried.push((place, score));
                    self.population.insert(Individual { chromosome, score });
                }
            }
            self.report_best();
        }
        tried
    }

    /// Tells the best value so far, where it is a new one and can be released.
    fn report_best(&mut self) {
        let best = self.population.best().map(|best| best.score).filter(|best| best.excess == 0);
        if let Some(best) = best
            && self.reported.is_none_or(|reported| best.value < reported)
        {
            self.reported = Some(best.value);
            self.observer.best(best.value);
        }
    }

    /// What strings come to, on all threads; none for one that cannot be good enough.
    fn evaluate(&mut self, chromosomes: &[Chromosome]) -> Vec<Option<Score>> {
        let (context, full, merged) = (self.context, &self.full, &self.merged);
        let worst = self.population.worst();
        let tuples_for = |chromosome: &Chromosome| match merged {
            Some((mask, tuples)) if chromosome.is_within(mask) => tuples,
            _ => full,
        };
        let one = |evaluator: &mut Evaluator, chromosome: &Chromosome| {
            let tuples = tuples_for(chromosome);
            evaluator.load(context, chromosome);
            let hopeless = worst.is_some_and(|worst| evaluator.cannot_beat(context, tuples, worst));
            (!hopeless).then(|| evaluator.evaluate(context, tuples))
        };
        let found = map_parallel(&mut self.evaluators, chromosomes, one);
        for (chromosome, score) in chromosomes.iter().zip(&found) {
            let rows = tuples_for(chromosome).len();
            self.work.evaluations += u64::from(score.is_some());
            self.work.dismissed += u64::from(score.is_none());
            self.work.merged += u64::from(score.is_some() && rows < full.len());
            self.work.rows += if score.is_some() { context.work_on(rows) } else { context.work_of_columns() };
        }
        found
    }

    /// How many rows may be looked at, all in all.
    fn budget(&self) -> u64 {
        self.params.iterations.saturating_mul(ROWS_PER_CHILD)
    }

    /// How many strings may be tried for a quarter of all work.
    pub(super) fn quarter(&self) -> usize {
        let of_one = self.context.work_on(self.full.len()).max(1);
        usize::try_from((self.budget() / 4 / of_one).min(self.params.iterations)).unwrap_or(usize::MAX)
    }

    /// Fills the population with cuts at random.
    pub(super) fn fill(&mut self) {
        let most = self.params.population.get() as usize;
        // Small tables have fewer cuts than there is room for, and large ones take long for so many.
        let enough = self.work.rows + self.budget().max(2 * ROWS_PER_CHILD * most as u64) / 4;
        let mut attempts = 0;
        while self.population.len() < most
            && attempts < 2 * most
            && self.work.rows < enough
            && self.observer.stop().is_none()
        {
            let draw = |_| {
                let mut chromosome = Chromosome::zeros(self.bits);
                self.context.segments.iter().for_each(|segment| segment.draw(&mut chromosome, &mut self.rng));
                chromosome
            };
            let chromosomes: Vec<Chromosome> = (0..BATCH_SIZE).map(draw).collect();
            attempts += chromosomes.len();
            self.try_all(chromosomes);
        }
    }

    /// Goes on until there were enough children, or none was better than the best for a while.
    pub(super) fn run(&mut self) -> Option<Stop> {
        let GeneticParams { iterations, patience, local_search, .. } = *self.params;
        let mut improved = 0;
        let mut best = self.population.best().map(|best| best.score);
        if local_search {
            self.climb_from_the_best();
        }
        while self.work.iterations < iterations
            && self.work.iterations - improved < patience
            && self.work.rows < self.budget()
        {
            if let Some(stop) = self.observer.stop() {
                return Some(stop);
            }
            let wanted = (iterations - self.work.iterations).min(BATCH_SIZE as u64);
            let children: Vec<Chromosome> = (0..wanted).map(|_| self.child()).collect();
            self.work.iterations += wanted;
            self.try_all(children);
            if self.work.iterations % MERGE_INTERVAL < wanted {
                self.merge_tuples();
            }
            let stale = self.work.iterations - improved;
            if local_search && stale % (patience / CLIMBS_PER_PATIENCE).max(1) < wanted && stale > wanted {
                self.climb_from_the_best();
            }
            let now = self.population.best().map(|best| best.score);
            if let Some(now) = now
                && best.is_none_or(|best| now.is_better(&best))
            {
                (best, improved) = (Some(now), self.work.iterations);
            }
            self.observer.progress(self.work.iterations, iterations);
        }
        if local_search {
            self.climb_from_the_best();
        }
        self.observer.stop()
    }

    /// Two parents, a piece of one in the other, and a few bits turned over.
    fn child(&mut self) -> Chromosome {
        let (bias, rng) = (self.params.bias, &mut self.rng);
        let mut child = self.population.draw(bias, rng).chromosome.clone();
        let other = &self.population.draw(bias, rng).chromosome;
        let (a, b) = (rng.below(self.bits + 1), rng.below(self.bits + 1));
        let (first, end) = (a.min(b), a.max(b));
        child.copy_from(other, first..end);
        for segment in &self.context.segments {
            // A column that comes whole from one parent is valid as it is.
            let within = |place: usize| segment.bits.start < place && place < segment.bits.end;
            if within(first) || within(end) {
                segment.repair(&mut child);
            }
        }
        let turned = self.params.mutation.map_or(1.0, |rate| rate * self.bits as f64);
        let another = turned / (turned + 1.0);
        let many = (0..MAX_FLIPS).take_while(|_| rng.unit() < another).count();
        let bits: Vec<usize> = (0..many).filter(|_| self.bits > 0).map(|_| rng.below(self.bits)).collect();
        bits.into_iter().for_each(|bit| self.flip(&mut child, bit));
        child
    }

    /// Makes the table smaller where the population tells less apart.
    fn merge_tuples(&mut self) {
        let mut mask = self.zeros();
        self.population.individuals().for_each(|individual| mask.unite(&individual.chromosome));
        let reported = |mask: &Chromosome| mask.ones(0..self.bits);
        let now = self.merged.as_ref().map_or(self.bits, |(mask, _)| reported(mask));
        if (reported(&mask) as f64) < (1.0 - MIN_SHRINK) * now as f64 {
            let tuples = self.context.merged_tuples(Some(&mask));
            self.merged = Some((mask, tuples));
        }
    }

    /// The local search: from each of the best to better neighbours, until there is none that is new.
    fn climb_from_the_best(&mut self) {
        // No more of it than a quarter of all work at a time.
        let enough = self.budget().min(self.work.rows + self.budget() / 4);
        for rank in 0..CLIMB_STARTS {
            let Some(start) = self.population.ranked(rank).cloned() else { return };
            let mut at = Some(start);
            while let Some(from) = at.filter(|from| !self.climbed.contains(&from.chromosome.fingerprint())) {
                if self.observer.stop().is_some() || self.work.rows > enough {
                    return;
                }
                self.climbed.push(from.chromosome.fingerprint());
                at = self.step_from(&from);
            }
        }
    }

    /// The best of a string's neighbours, and of several steps to better ones at once.
    fn step_from(&mut self, from: &Individual) -> Option<Individual> {
        let moves = self.moves(&from.chromosome);
        let neighbours: Vec<Chromosome> = moves.iter().map(|one| self.moved(from, std::slice::from_ref(one))).collect();
        let mut better = self.try_all(neighbours);
        better.retain(|(_, score)| score.is_better(&from.score));
        better.sort_by(|a, b| a.1.compare(&b.1).then(a.0.cmp(&b.0)));
        let moves: Vec<Vec<usize>> = better.iter().map(|(place, _)| moves[*place].clone()).collect();
        let single =
            better.first().map(|(_, score)| Individual { chromosome: self.moved(from, &moves[..1]), score: *score });
        let several: Vec<Chromosome> = std::iter::successors(Some(2), |many| Some(many * 2))
            .take_while(|many| *many <= moves.len())
            .map(|many| self.moved(from, &moves[..many]))
            .collect();
        let tried = self.try_all(several.clone());
        let several = tried.into_iter().map(|(place, score)| Individual { chromosome: several[place].clone(), score });
        single
            .into_iter()
            .chain(several)
            .reduce(|best, next| if next.score.is_better(&best.score) { next } else { best })
    }

    fn moved(&self, from: &Individual, moves: &[Vec<usize>]) -> Chromosome {
        let mut chromosome = from.chromosome.clone();
        moves.iter().flatten().for_each(|&bit| self.flip(&mut chromosome, bit));
        chromosome
    }

    /// Turns a bit over, in whichever column it is.
    fn flip(&self, chromosome: &mut Chromosome, bit: usize) {
        let segment = self.context.segments.partition_point(|segment| segment.bits.end <= bit);
        self.context.segments[segment].flip(chromosome, bit);
    }

    /// The bits to turn over on the way to each neighbour: one of them, or the end of an interval and another place for
    /// it.
    fn moves(&mut self, chromosome: &Chromosome) -> Vec<Vec<usize>> {
        let mut moves = Vec::new();
        // Where there are very many bits, some of them.
        let every = self.bits / MAX_NEIGHBORS + 1;
        let skipped = self.rng.below(every);
        for segment in &self.context.segments {
            for bit in segment.bits.clone().filter(|bit| bit % every == skipped) {
                moves.push(vec![bit]);
                if !segment.is_free() || !chromosome.get(bit) {
                    continue;
                }
                let up = END_POINT_SHIFTS.iter().map(|by| bit + by).filter(|&to| to < segment.bits.end);
                let down = END_POINT_SHIFTS
                    .iter()
                    .filter_map(|&by| bit.checked_sub(by))
                    .filter(|&to| to >= segment.bits.start);
                moves.extend(up.chain(down).filter(|&to| !chromosome.get(to)).map(|to| vec![to, bit]));
            }
        }
        moves
    }
}
