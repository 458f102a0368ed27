//! Random queries.

use moretta_core::{
    hierarchy::Domain,
    ids::{ColumnId, NodeId},
    profile::Profile,
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use rayon::prelude::*;

use super::{Aggregate, Condition, Original, Query, Truth};

/// Draws per requested query before the drawing gives up: most draws of a sparse table have the answer 0. Not tuned.
const MAX_DRAWS_PER_QUERY: u64 = 1000;
/// Queries answered in parallel before the kept ones are counted; affects speed only.
const QUERIES_PER_BATCH: u64 = 4096;

/// How to draw random queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// Number of queries.
    pub count: usize,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of conditions; the columns are drawn for each query. Default: all quasi-identifiers.
    pub columns: Option<usize>,
}

/// Queries whose true answer is not 0.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The queries; fewer than requested if 1,000 draws per requested query did not suffice.
    pub queries: Vec<(Query, Truth)>,
    /// Number of queries drawn, including those with the true answer 0.
    pub drawn: u64,
}

/// Draws queries until there are enough whose true answer is not 0. A condition on numbers or dates is the range
/// between two random values of the column; on categories it is a random node of the hierarchy other than the root.
pub fn draw(original: &Original<'_>, aggregate: Aggregate, plan: &Draw) -> Drawn {
    let mut rng = QueryRng::new(plan.seed, aggregate);
    let max_draws = MAX_DRAWS_PER_QUERY * plan.count as u64;
    let mut found = Drawn { queries: Vec::with_capacity(plan.count), drawn: 0 };
    while found.queries.len() < plan.count && found.drawn < max_draws {
        let batch = 0..QUERIES_PER_BATCH.min(max_draws - found.drawn);
        let batch: Vec<Query> = batch.map(|_| rng.query(original.profile(), aggregate, plan.columns)).collect();
        let truths: Vec<Truth> = batch.par_iter().map(|query| original.answer(query)).collect();
        for (query, truth) in batch.into_iter().zip(truths) {
            if found.queries.len() < plan.count {
                found.drawn += 1;
                found.queries.extend((truth.answer != 0.0).then_some((query, truth)));
            }
        }
    }
    found
}

struct QueryRng(ChaCha8Rng);

impl QueryRng {
    /// COUNT and SUM queries use different random streams.
    fn new(seed: u64, aggregate: Aggregate) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(u64::from(aggregate != Aggregate::Count));
        Self(random)
    }

    /// Uniform in `0..bound`.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    fn query(&mut self, profile: &Profile, aggregate: Aggregate, columns: Option<usize>) -> Query {
        let mut order: Vec<usize> = (0..profile.columns().len()).collect();
        let num_columns = columns.unwrap_or(order.len()).min(order.len());
        if num_columns < order.len() {
            for at in 0..num_columns {
                let other = at + self.below(order.len() - at);
                order.swap(at, other);
            }
            order.truncate(num_columns);
            order.sort_unstable();
        }
        let asked = |column: usize| {
            let condition = self.condition(&profile.columns()[column].domain)?;
            Some((ColumnId::from_index(column), condition))
        };
        Query { aggregate, conditions: order.into_iter().filter_map(asked).collect() }
    }

    /// `None` if the column has nothing to choose from.
    fn condition(&mut self, domain: &Domain) -> Option<Condition> {
        if domain.kind().is_ordered() {
            let numbers = domain.len() - usize::from(domain.missing().is_some());
            let (one, other) = (self.below(numbers) as u32, self.below(numbers) as u32);
            return Some(Condition::Between(domain.number(one.min(other))?, domain.number(one.max(other))?));
        }
        let tree = domain.tree().filter(|tree| tree.len() > 1)?;
        let (first, last) = tree.range(NodeId::from_index(1 + self.below(tree.len() - 1)));
        Some(Condition::Codes(first, last))
    }
}
