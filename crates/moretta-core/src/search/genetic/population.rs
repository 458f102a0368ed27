//! The population: strings in order of what they come to, none twice.

use hashbrown::HashSet;

use super::{chromosome::Chromosome, evaluate::Score};
use crate::search::rng::SearchRng;

/// A string and what it comes to.
#[derive(Debug, Clone)]
pub(super) struct Individual {
    pub chromosome: Chromosome,
    pub score: Score,
}

/// Strings in order, the best first.
#[derive(Debug)]
pub(super) struct Population {
    individuals: Vec<Individual>,
    /// Their places, the best first: less to move about than they are.
    ranks: Vec<u32>,
    capacity: usize,
    /// Every string that was ever thought of. One that is not in the population was worse than the worst, which only
    /// gets better: it need not be looked at again.
    seen: HashSet<u128>,
}

impl Population {
    /// Of at most so many.
    pub(super) fn new(capacity: usize) -> Self {
        Self { individuals: Vec::new(), ranks: Vec::new(), capacity: capacity.max(1), seen: HashSet::new() }
    }

    /// Whether a string is thought of for the first time.
    pub(super) fn is_new(&mut self, chromosome: &Chromosome) -> bool {
        self.seen.insert(chromosome.fingerprint())
    }

    /// Takes a string in where there is room or it is better than the worst, which then goes.
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

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ranks.len()
    }

    /// One by its rank, the best first.
    pub(super) fn ranked(&self, rank: usize) -> Option<&Individual> {
        self.ranks.get(rank).map(|&slot| &self.individuals[slot as usize])
    }

    /// All of them, the best first.
    pub(super) fn individuals(&self) -> impl Iterator<Item = &Individual> {
        self.ranks.iter().map(|&slot| &self.individuals[slot as usize])
    }

    pub(super) fn best(&self) -> Option<&Individual> {
        self.ranked(0)
    }

    /// What a string has to be better than.
    pub(super) fn worst(&self) -> Option<&Score> {
        self.ranked(self.capacity - 1).map(|worst| &worst.score)
    }

    /// One by its rank: with a bias of 2 the best is drawn twice as often as one in the middle, with 1 all alike.
    pub(super) fn draw(&self, bias: f64, rng: &mut SearchRng) -> &Individual {
        let share = match bias - 1.0 {
            over if over > 1e-9 => (bias - (bias * bias - 4.0 * over * rng.unit()).sqrt()) / (2.0 * over),
            _ => rng.unit(),
        };
        let rank = ((share * self.len() as f64) as usize).min(self.len() - 1);
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
    fn the_better_stay_and_are_drawn_more_often() {
        let mut population = Population::new(10);
        for number in 0..100 {
            let individual = individual(number, ((number * 37) % 100) as f64);
            assert!(population.is_new(&individual.chromosome) && !population.is_new(&individual.chromosome));
            population.insert(individual);
        }
        let values: Vec<f64> = population.individuals().map(|one| one.score.value).collect();
        assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        for (bias, least, capacity) in [(1.0, 80, 120), (2.0, 160, 240)] {
            let mut rng = SearchRng::new(1, 0);
            let drawn = (0..1000).filter(|_| population.draw(bias, &mut rng).score.value == 0.0).count();
            assert!((least..=capacity).contains(&drawn), "{bias}: {drawn}");
        }
    }
}
