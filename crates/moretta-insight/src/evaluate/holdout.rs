//! Random splits of a table into training and test records.
//!
//! The split is made on the counts, before anything else sees them, so that no information about the test records (a
//! value, the maximum, a frequency) can reach the search. It does not need single records: it draws how many records of
//! each distinct row belong to each part.
//!
//! Splits are stratified: every part has its share of each class, up to rounding. A split depends only on the table and
//! the seed, not on the order of rows or columns. [`Plan::check`] makes sure that both parts of every split have
//! records.
//!
//! How: within a class, each record goes to a part with a probability proportional to the number of records that the
//! part still needs. This is equivalent to dealing a shuffled deck: all divisions of the right sizes are equally
//! likely. Cost: O(records × parts) time, without memory for the deck.

use moretta_core::counts::Counts;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// How a table is split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Plan {
    /// Cross-validation with this many folds, at least 2: each fold is the test part once.
    Folds(usize),
    /// Independent random splits.
    Draws {
        /// Number of splits, at least 1.
        draws: usize,
        /// Share of the records in the test part, above 0 and below 1.
        share: f64,
    },
}

/// Why a table cannot be split by a plan.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Fewer than two folds.
    #[error("{folds} folds: at least 2 are needed")]
    Folds {
        /// The requested number of folds.
        folds: usize,
    },
    /// No split was requested.
    #[error("0 draws: at least 1 is needed")]
    NoDraws,
    /// The share is not between 0 and 1.
    #[error("a share of {share}: it must be above 0 and below 1")]
    Share {
        /// The requested share.
        share: f64,
    },
    /// A part would have no records.
    #[error("{records} records are too few to hold out some: one part would be empty")]
    TooFew {
        /// Records of the table.
        records: u64,
    },
}

impl Plan {
    /// Checks that each part of a table with this many records would have at least one record.
    pub fn check(&self, records: u64) -> Result<(), PlanError> {
        let enough = match *self {
            Plan::Folds(folds) if folds < 2 => return Err(PlanError::Folds { folds }),
            Plan::Draws { draws: 0, .. } => return Err(PlanError::NoDraws),
            Plan::Draws { share, .. } if !(share > 0.0 && share < 1.0) => return Err(PlanError::Share { share }),
            Plan::Folds(folds) => records >= folds as u64,
            Plan::Draws { share, .. } => (1..records).contains(&held_back(records, share)),
        };
        if enough { Ok(()) } else { Err(PlanError::TooFew { records }) }
    }
}

/// Number of test records for a share.
fn held_back(records: u64, share: f64) -> u64 {
    (records as f64 * share).round() as u64
}

/// A table split in two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Training records.
    pub train: Counts,
    /// Test records.
    pub test: Counts,
}

/// Returns the splits of a plan; empty if [`Plan::check`] refuses it. `class` is the index of a column of `counts`.
pub fn splits(counts: &Counts, class: usize, plan: Plan, seed: u64) -> impl Iterator<Item = Split> + '_ {
    let strata = strata(counts, class);
    let (rounds, dealt) = match plan {
        _ if plan.check(counts.records).is_err() => (0, None),
        Plan::Folds(folds) => (folds, Some(deal(counts, &strata, &even(&strata, folds), seed, 0))),
        Plan::Draws { draws, .. } => (draws, None),
    };
    (0..rounds).map(move |round| {
        let test = match (plan, &dealt) {
            (Plan::Draws { share, .. }, _) => {
                deal(counts, &strata, &in_two(&strata, share), seed, round as u64).swap_remove(1)
            }
            (Plan::Folds(_), dealt) => dealt.as_ref().map_or_else(Vec::new, |parts| parts[round].clone()),
        };
        let train: Vec<u64> = counts.counts.iter().zip(&test).map(|(all, test)| all - test).collect();
        Split { train: counts.with_records(&train), test: counts.with_records(&test) }
    })
}

/// The records of one class.
struct Stratum {
    /// Distinct rows with this class, in the order of their texts.
    rows: Vec<usize>,
    records: u64,
}

/// The strata, in the order of the class texts.
fn strata(counts: &Counts, class: usize) -> Vec<Stratum> {
    let ranks: Vec<Vec<u32>> = counts.columns.iter().map(|column| ranks(&column.values)).collect();
    let rank = |row: usize, column: usize| ranks[column][counts.row(row)[column] as usize];
    let mut by_name: Vec<usize> = (0..ranks.len()).collect();
    by_name.sort_by_key(|&column| &counts.columns[column].name);
    let texts = |row: usize| by_name.iter().map(move |&column| rank(row, column));
    let mut rows: Vec<usize> = (0..counts.rows()).collect();
    rows.sort_by(|&a, &b| rank(a, class).cmp(&rank(b, class)).then_with(|| texts(a).cmp(texts(b))));
    let stratum =
        |rows: &[usize]| Stratum { rows: rows.to_vec(), records: rows.iter().map(|&row| counts.counts[row]).sum() };
    rows.chunk_by(|&a, &b| rank(a, class) == rank(b, class)).map(stratum).collect()
}

/// Rank of each text in sorted order.
fn ranks(texts: &[Box<str>]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..texts.len() as u32).collect();
    order.sort_by_key(|&code| &texts[code as usize]);
    let mut ranks = vec![0; texts.len()];
    (0u32..).zip(order).for_each(|(rank, code)| ranks[code as usize] = rank);
    ranks
}

/// By class, the number of records of each part; they differ by at most one. Surplus records continue round-robin from
/// class to class, so that the total sizes of the parts also differ by at most one.
fn even(strata: &[Stratum], parts: usize) -> Vec<Vec<u64>> {
    let mut next = 0;
    let quota = |stratum: &Stratum| {
        let each = stratum.records / parts as u64;
        let more = (stratum.records % parts as u64) as usize;
        let mut quota = vec![each; parts];
        (0..more).for_each(|step| quota[(next + step) % parts] += 1);
        next = (next + more) % parts;
        quota
    };
    strata.iter().map(quota).collect()
}

/// By class, the numbers of training and test records. The total of test records is the rounded share; each class
/// deviates from its exact share by less than one record (largest remainders).
fn in_two(strata: &[Stratum], share: f64) -> Vec<Vec<u64>> {
    let all: u64 = strata.iter().map(|stratum| stratum.records).sum();
    let wanted = held_back(all, share);
    let exact: Vec<f64> =
        strata.iter().map(|stratum| stratum.records as f64 * wanted as f64 / (all as f64).max(1.0)).collect();
    let mut held: Vec<u64> = exact.iter().map(|exact| exact.floor() as u64).collect();
    let mut by_rest: Vec<usize> = (0..strata.len()).collect();
    by_rest.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()).then(a.cmp(&b)));
    let missing = wanted.saturating_sub(held.iter().sum()) as usize;
    by_rest.into_iter().take(missing).for_each(|at| held[at] += 1);
    strata.iter().zip(held).map(|(stratum, held)| vec![stratum.records - held, held]).collect()
}

/// By part and distinct row, the number of the row's records in the part.
fn deal(counts: &Counts, strata: &[Stratum], quotas: &[Vec<u64>], seed: u64, round: u64) -> Vec<Vec<u64>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(round);
    let mut parts = vec![vec![0; counts.rows()]; quotas.first().map_or(0, Vec::len)];
    for (stratum, quota) in strata.iter().zip(quotas) {
        let (mut lacking, mut left) = (quota.clone(), stratum.records);
        for &row in &stratum.rows {
            for _ in 0..counts.counts[row] {
                let mut at = ((u128::from(random.next_u64()) * u128::from(left)) >> 64) as u64;
                let part = lacking.iter().position(|&lacking| {
                    let here = at < lacking;
                    at = at.wrapping_sub(if here { 0 } else { lacking });
                    here
                });
                // The parts together lack as many records as are left, so one of them takes the record.
                let Some(part) = part else { continue };
                lacking[part] -= 1;
                left -= 1;
                parts[part][row] += 1;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use moretta_core::counts::CountedColumn;

    /// Rows of town, class and records.
    fn counts(rows: &[(u8, u8, u64)]) -> Counts {
        let column = |name: &str| CountedColumn { name: name.to_owned(), ..CountedColumn::default() };
        let mut counts = Counts { columns: vec![column("town"), column("class")], ..Counts::default() };
        for &(town, class, records) in rows {
            let texts = [format!("t{town}"), format!("c{class}")];
            for (column, text) in counts.columns.iter_mut().zip(texts) {
                let known = column.values.iter().position(|value| **value == *text);
                let code = known.unwrap_or_else(|| {
                    column.values.push(text.into());
                    column.first_records.get_or_insert_default().push(counts.records + 1);
                    column.values.len() - 1
                });
                counts.codes.push(code as u32);
            }
            counts.counts.push(records);
            counts.first_records.get_or_insert_default().push(counts.records + 1);
            counts.records += records;
        }
        counts
    }

    /// Rows as texts with their records, in order.
    fn written(counts: &Counts) -> Vec<(String, u64)> {
        let text = |row: usize| {
            let values = counts.row(row).iter().zip(&counts.columns);
            values.map(|(&code, column)| &*column.values[code as usize]).collect::<Vec<_>>().join(",")
        };
        let mut rows: Vec<_> = (0..counts.rows()).map(|row| (text(row), counts.counts[row])).collect();
        rows.sort();
        rows
    }

    fn table() -> impl Strategy<Value = Vec<(u8, u8, u64)>> {
        proptest::collection::btree_map((0u8..6, 0u8..3), 1u64..9, 1..15)
            .prop_map(|rows| rows.into_iter().map(|((town, class), records)| (town, class, records)).collect())
    }

    fn of_class(counts: &Counts, class: &str) -> u64 {
        written(counts).iter().filter(|(text, _)| text.ends_with(class)).map(|(_, records)| records).sum()
    }

    proptest! {
        #[test]
        fn every_record_is_tested_once_and_nothing_is_lost(rows in table(), folds in 2usize..6, seed in 0u64..9) {
            let counts = counts(&rows);
            prop_assume!(Plan::Folds(folds).check(counts.records).is_ok());
            let mut tested: Vec<(String, u64)> = Vec::new();
            let sizes: Vec<u64> = splits(&counts, 1, Plan::Folds(folds), seed).map(|split| {
                prop_assert_eq!(split.train.records + split.test.records, counts.records);
                for part in [&split.train, &split.test] {
                    prop_assert_eq!(part.counts.iter().sum::<u64>(), part.records);
                    for (at, column) in part.columns.iter().enumerate() {
                        // A value that only the other part has is not even known.
                        prop_assert!(part.records_of(at).iter().all(|&records| records > 0));
                        prop_assert_eq!(Some(column.values.len()), column.first_records.as_ref().map(Vec::len));
                    }
                }
                tested.extend(written(&split.test));
                Ok(split.test.records)
            }).collect::<Result<_, _>>()?;
            tested.sort();
            let mut whole: Vec<(String, u64)> = Vec::new();
            for (text, records) in tested {
                match whole.last_mut().filter(|(last, _)| *last == text) {
                    Some((_, sum)) => *sum += records,
                    None => whole.push((text, records)),
                }
            }
            prop_assert_eq!(whole, written(&counts));
            let (smallest, largest) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            prop_assert!(largest - smallest <= 1, "{:?}", sizes);
        }

        #[test]
        fn every_part_has_its_share_of_each_class(rows in table(), share in 0.05f64..0.95, seed in 0u64..9) {
            let counts = counts(&rows);
            for split in splits(&counts, 1, Plan::Draws { draws: 2, share }, seed) {
                prop_assert_eq!(split.test.records, (counts.records as f64 * share).round() as u64);
                let share = split.test.records as f64 / counts.records as f64;
                for class in ["c0", "c1", "c2"] {
                    let exact = of_class(&counts, class) as f64 * share;
                    prop_assert!((of_class(&split.test, class) as f64 - exact).abs() < 1.0);
                }
            }
        }

        #[test]
        fn the_order_of_rows_and_columns_does_not_matter(rows in table(), seed in 0u64..9) {
            let (first, mut turned) = (counts(&rows), rows);
            turned.reverse();
            let mut turned = counts(&turned);
            turned.columns.reverse();
            turned.codes.chunks_mut(2).for_each(<[u32]>::reverse);
            for plan in [Plan::Folds(3), Plan::Draws { draws: 3, share: 0.3 }] {
                let parts = |counts: &Counts, class: usize| -> Vec<_> {
                    splits(counts, class, plan, seed).map(|split| [split.train, split.test].map(|part| {
                        let mut rows = written(&part);
                        // Town before class, whatever the order.
                        rows.iter_mut().filter(|_| class == 0).for_each(|(text, _)| {
                            *text = text.split(',').rev().collect::<Vec<_>>().join(",");
                        });
                        rows.sort();
                        rows
                    })).collect()
                };
                prop_assert_eq!(parts(&first, 1), parts(&turned, 0));
            }
        }
    }

    #[test]
    fn every_division_is_as_likely_as_any_other() {
        // Two rows of two records, half of all held back: of the six pairs, one is the first row's, one the second's.
        let counts = counts(&[(0, 0, 2), (1, 0, 2)]);
        let mut found = [0; 3];
        for split in splits(&counts, 1, Plan::Draws { draws: 6000, share: 0.5 }, 7) {
            let first =
                written(&split.test).iter().find(|(text, _)| text == "t0,c0").map_or(0, |(_, records)| *records);
            found[first as usize] += 1;
        }
        for (found, expected) in found.into_iter().zip([1000, 4000, 1000]) {
            assert!(i32::abs(found - expected) < 200, "{found} instead of about {expected}");
        }
    }

    #[test]
    fn a_plan_that_leaves_a_part_without_records_is_refused_and_splits_nothing() {
        let draws = |share| Plan::Draws { draws: 2, share };
        let few = Err(PlanError::TooFew { records: 4 });
        let cases = [
            (Plan::Folds(0), Err(PlanError::Folds { folds: 0 })),
            (Plan::Folds(1), Err(PlanError::Folds { folds: 1 })),
            (Plan::Folds(2), Ok(())),
            (Plan::Folds(4), Ok(())),
            (Plan::Folds(5), few),
            (Plan::Folds(usize::MAX), few),
            (Plan::Draws { draws: 0, share: 0.5 }, Err(PlanError::NoDraws)),
            (draws(0.0), Err(PlanError::Share { share: 0.0 })),
            (draws(-0.5), Err(PlanError::Share { share: -0.5 })),
            (draws(1.0), Err(PlanError::Share { share: 1.0 })),
            (draws(f64::INFINITY), Err(PlanError::Share { share: f64::INFINITY })),
            (draws(0.1), few),
            (draws(0.125), Ok(())),
            (draws(0.87), Ok(())),
            (draws(0.9), few),
        ];
        let counts = counts(&[(0, 0, 3), (1, 1, 1)]);
        for (plan, expected) in cases {
            assert_eq!(plan.check(counts.records), expected, "{plan:?}");
            let found: Vec<Split> = splits(&counts, 1, plan, 3).collect();
            assert_eq!(found.is_empty(), expected.is_err(), "{plan:?}");
            assert!(found.iter().all(|split| split.train.records > 0 && split.test.records > 0), "{plan:?}");
        }
        // Nothing equals NaN.
        assert!(matches!(draws(f64::NAN).check(4), Err(PlanError::Share { .. })));
        assert_eq!(splits(&counts, 1, draws(f64::NAN), 3).count(), 0);
        for plan in [Plan::Folds(2), draws(0.5)] {
            assert_eq!(plan.check(0), Err(PlanError::TooFew { records: 0 }));
            assert!(plan.check(1).is_err(), "{plan:?}");
        }
    }

    #[test]
    fn other_seeds_and_rounds_give_other_splits() {
        let rows: Vec<(u8, u8, u64)> = (0..40).map(|town| (town, town % 2, 3)).collect();
        let counts = counts(&rows);
        let tests = |seed| -> Vec<_> {
            let plan = Plan::Draws { draws: 2, share: 0.5 };
            splits(&counts, 1, plan, seed).map(|split| written(&split.test)).collect()
        };
        assert_eq!(tests(1), tests(1));
        assert_ne!(tests(1), tests(2));
        assert_ne!(tests(1)[0], tests(1)[1]);
    }
}
