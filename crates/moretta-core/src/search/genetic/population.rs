//! Population: chromosomes ranked by their scores, without duplicates.

use hashbrown::HashSet;

use super::{chromosome::Chromosome, evaluate::Score};
use crate::search::rng::SearchRng;

/// Chromosome and its score.
#[derive(Debug, Clone)]
pub(super) struct Individual {
    pub chromosome: Chromosome,
    pub score: Score,
}

/// Ranked individuals of a limited number.
#[derive(Debug)]
pub(super) struct Population {
    individuals: Vec<Individual>,
    /// Indices of `individuals`, the best first. Inserting moves these instead of the individuals.
    ranks: Vec<u32>,
    capacity: usize,
    /// Fingerprints of all chromosomes generated so far. One that is not in the population was no better than the worst
    /// individual, and the worst only improves, so it need not be evaluated again.
    seen: HashSet<u128>,
}

impl Population {
    /// Empty population of at most `capacity` individuals.
    pub(super) fn new(capacity: usize) -> Self {
        Self { individuals: Vec::new(), ranks: Vec::new(), capacity: capacity.max(1), seen: HashSet::new() }
    }

    /// Whether the chromosome has not been passed before; records it.
    pub(super) fn is_new(&mut self, chromosome: &Chromosome) -> bool {
        self.seen.insert(chromosome.fingerprint())
    }

    /// Inserts the individual if there is room or if it is better than the worst, which it then replaces.
    pub(super) fn insert(&mut self, individual: Individual) {
        let score = individual.score;
        let rank = self.ranks.partition_point(|&other| !score.is_better(&self.individuals[other as usize].score));
        let slot = if self.individuals.len() < self.capacity {
            self.individuals.push(individual);
            self.individuals.len() as u32 - 1
        } else if rank < self.capacity {
            let worst = self.ranks.pop().unwrap_or(0);
            self.individuals[worst as usize] = individual;
            worst
        } else {
            return;
        };
        self.ranks.insert(rank, slot);
    }

    /// Number of individuals.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Individual of a rank; rank 0 is the best.
    pub(super) fn ranked(&self, rank: usize) -> Option<&Individual> {
        self.ranks.get(rank).map(|&slot| &self.individuals[slot as usize])
    }

    /// All individuals, the best first.
    pub(super) fn individuals(&self) -> impl Iterator<Item = &Individual> {
        self.ranks.iter().map(|&slot| &self.individuals[slot as usize])
    }

    /// The best individual of a population that is not empty.
    pub(super) fn best(&self) -> &Individual {
        &self.individuals[self.ranks[0] as usize]
    }

    /// Score that a new individual has to beat; `None` if there is room.
    pub(super) fn worst(&self) -> Option<&Score> {
        self.ranked(self.capacity - 1).map(|worst| &worst.score)
    }

    /// Draws an individual by linear ranking (Whitley 1989): with a bias of 2 the best is drawn twice as often as the
    /// median, with a bias of 1 all are equally likely.
    pub(super) fn draw(&self, bias: f64, rng: &mut SearchRng) -> &Individual {
        let excess = bias - 1.0;
        let quantile = if excess > 1e-9 {
            (bias - (bias * bias - 4.0 * excess * rng.unit()).sqrt()) / (2.0 * excess)
        } else {
            rng.unit()
        };
        let rank = ((quantile * self.len() as f64) as usize).min(self.len() - 1);
        &self.individuals[self.ranks[rank] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn individual(number: usize, value: f64) -> Individual {
        let mut chromosome = Chromosome::zeros(16);
        (0..16).for_each(|bit| chromosome.set(bit, number >> bit & 1 == 1));
        Individual { chromosome, score: Score { excess: 0, value, precision_loss: 0.0 } }
    }

    #[test]
    fn better_individuals_stay_and_are_drawn_more_often() {
        let mut population = Population::new(10);
        for number in 0..100 {
            let individual = individual(number, ((number * 37) % 100) as f64);
            assert!(population.is_new(&individual.chromosome) && !population.is_new(&individual.chromosome));
            population.insert(individual);
        }
        let values: Vec<f64> = population.individuals().map(|one| one.score.value).collect();
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        for (bias, min, max) in [(1.0, 80, 120), (2.0, 160, 240)] {
            let mut rng = SearchRng::new(1, 0);
            let drawn = (0..1000).filter(|_| population.draw(bias, &mut rng).score.value == 0.0).count();
            assert!((min..=max).contains(&drawn), "{bias}: {drawn}");
        }
    }
}
