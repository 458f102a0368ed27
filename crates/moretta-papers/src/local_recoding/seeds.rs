//! How near the seeds of a split come to the pair that is farthest apart.

use moretta_core::{ids::TupleId, profile::Profile};

use super::{METHODS, TOP_DOWN, policy, synthetic};
use crate::{
    data::Random,
    document::{Document, percent},
    error::PaperError,
    lab::Lab,
};

/// So often the search for a pair begins anew.
const STARTS: usize = 200;
const ROUNDS: [usize; 4] = [1, 2, 3, 6];
/// Published: rounds, and the share of the largest penalty that they reach.
const PUBLISHED: [(usize, f64, &str); 2] = [(3, 0.97, "97 %"), (6, 0.9875, "98.75 %")];

pub(super) fn run(lab: &Lab<'_>, document: &mut Document) -> Result<(), PaperError> {
    lab.step("paper 4: seeds")?;
    document.section(
        "Seeds of a split",
        &format!(
            "Top-down takes a random record, the one farthest from it, the one farthest from that, and so on, and splits by the last two. The penalty of that pair as a \
             share of the largest of all pairs, mean of {STARTS} starts, on the synthetic tables."
        ),
    );
    let mut rows = Vec::new();
    let mut sums = [0.0; ROUNDS.len()];
    let tables = [Some(1.0), Some(2.0), None];
    for deviation in tables {
        let table = synthetic::table(deviation);
        let policy = policy(2, METHODS[TOP_DOWN].1, synthetic::COLUMNS, &[], &[])?;
        let shares = shares(&Profile::build(&policy, &table.trees, &table.counts)?);
        let name = deviation.map_or("uniform".to_owned(), |deviation| format!("Gaussian, {deviation}"));
        rows.push([name].into_iter().chain(shares.iter().map(|share| percent(*share))).collect());
        sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share / tables.len() as f64);
    }
    let head: Vec<String> =
        ["values".to_owned()].into_iter().chain(ROUNDS.iter().map(|rounds| format!("{rounds} rounds"))).collect();
    document.table(&head, &rows);
    for (rounds, least, said) in PUBLISHED {
        let share = ROUNDS.iter().position(|known| *known == rounds).map_or(f64::NAN, |at| sums[at]);
        let what = format!("{rounds} rounds reach this share of the largest penalty of a pair");
        document.claim(&what, said, percent(share), share >= least - 0.01);
    }
    document.why(
        "**More rounds bring nothing here.** The walk ends where two records are each other's farthest, and on these tables that is \
         after two or three rounds; which tables the paper took is not said.",
    );
    Ok(())
}

/// For each number of rounds, the mean share that is reached.
fn shares(profile: &Profile) -> [f64; ROUNDS.len()] {
    let tuples: Vec<&[u32]> = (0..profile.tuples() as u32).map(|tuple| profile.codes(TupleId(tuple))).collect();
    let penalty = |a: &[u32], b: &[u32]| -> f64 {
        let columns = profile.columns().iter().zip(a.iter().zip(b));
        columns.map(|(column, (&a, &b))| column.domain.ncp(column.domain.cover(a.min(b), a.max(b)))).sum()
    };
    let farthest = |from: usize| {
        let penalties = tuples.iter().map(|other| penalty(tuples[from], other));
        penalties.enumerate().fold((0, 0.0), |best, (at, found)| if found > best.1 { (at, found) } else { best })
    };
    let largest = (0..tuples.len()).map(|from| farthest(from).1).fold(0.0, f64::max);
    let mut random = Random(1);
    let mut sums = [0.0; ROUNDS.len()];
    for _ in 0..STARTS {
        let (mut at, mut reached) = (random.below(tuples.len()), 0.0);
        let mut next = ROUNDS.iter().zip(&mut sums).peekable();
        for round in 1..=ROUNDS[ROUNDS.len() - 1] {
            (at, reached) = farthest(at);
            if let Some((_, sum)) = next.next_if(|(rounds, _)| **rounds == round) {
                *sum += reached / largest;
            }
        }
        debug_assert!(reached <= largest);
    }
    sums.map(|sum| sum / STARTS as f64)
}
