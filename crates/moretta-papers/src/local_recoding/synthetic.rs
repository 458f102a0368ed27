//! Synthetic tables: information loss by distribution of the values, and the effect of weights.

use moretta_core::{hierarchy::Hierarchies, ids::ColumnId, text::count};
use moretta_insight::evaluate::queries::{self, Aggregate, Condition, Original, Query, ReleaseEstimator};
use moretta_pages::chart::{Axis, Line};

use super::METHODS;
use crate::{
    adult::SetUp,
    data::{Random, TextRows},
    document::Document,
    error::PaperError,
    experiment::{Experiment, ExperimentTable},
};

pub(super) const COLUMNS: SetUp = SetUp::of_numbers(&["A1", "A2", "A3", "A4"]);
const RECORDS: usize = 10_000;
const K: u64 = 10;
const QUERIES: usize = 1000;
/// Values are from 1 to this number.
const VALUES: usize = 16;
/// Standard deviations around the middle of the range; `None` is a uniform distribution.
const DEVIATIONS: [Option<f64>; 6] = [Some(0.2), Some(0.5), Some(1.0), Some(1.5), Some(2.0), None];
/// Column weights of the published experiment.
const WEIGHTS: [u32; 4] = [8, 4, 2, 1];

/// Table of random integers.
pub(super) fn table(deviation: Option<f64>) -> ExperimentTable {
    let mut random = Random(1);
    let mut value = || match deviation {
        Some(deviation) => gaussian(&mut random, deviation),
        None => 1 + random.below(VALUES),
    };
    let row = |_| COLUMNS.columns.iter().map(|_| value().to_string()).collect();
    let rows: TextRows = (0..RECORDS).map(row).collect();
    ExperimentTable { counts: COLUMNS.counts(&rows), trees: Hierarchies::default() }
}

/// Draws an approximately normal value: the sum of twelve uniform numbers (Irwin-Hall).
fn gaussian(random: &mut Random, deviation: f64) -> usize {
    let sum: usize = (0..12).map(|_| random.below(1000)).sum();
    let normal = (sum as f64 - 5994.0) / 1000.0;
    let middle = (VALUES + 1) as f64 / 2.0;
    (middle + deviation * normal).round().clamp(1.0, VALUES as f64) as usize
}

pub(super) fn named(deviation: Option<f64>) -> String {
    deviation.map_or("uniform".to_owned(), |deviation| format!("Gaussian, {deviation}"))
}

pub(super) fn run(experiment: &Experiment<'_>, document: &mut Document) -> Result<(), PaperError> {
    penalties(experiment, document)?;
    weights(experiment, document)
}

fn penalties(experiment: &Experiment<'_>, document: &mut Document) -> Result<(), PaperError> {
    document.section(
        "Synthetic tables",
        &format!(
            "{} records, four columns of whole numbers from 1 to {VALUES}, k = {K}, all weights 1: NCP for uniform \
             values, and for Gaussian values with the given standard deviation around the middle.",
            count(RECORDS as u64)
        ),
    );
    let (mut rows, mut lines) = (Vec::new(), vec![Vec::new(); METHODS.len()]);
    for deviation in DEVIATIONS {
        experiment.step(&format!("paper 4: synthetic, {}", named(deviation)))?;
        let table = table(deviation);
        let mut row = vec![named(deviation), count(table.counts.rows() as u64)];
        for (at, (_, method)) in METHODS.iter().enumerate() {
            let run = experiment.run(&COLUMNS.policy(&format!("k = {K}"), method)?, &table)?;
            let ncp = run.measure("ncp")?;
            row.push(count(ncp.round() as u64));
            if let Some(deviation) = deviation {
                lines[at].push((deviation, ncp));
            }
        }
        rows.push(row);
    }
    let head: Vec<&str> = ["values", "distinct"].into_iter().chain(METHODS.iter().map(|(name, _)| *name)).collect();
    document.table(&head, &rows);
    let line = |((name, _), points): (&(&str, &str), Vec<(f64, f64)>)| Line { name: (*name).to_owned(), points };
    let axes = (Axis { title: "standard deviation", log: false }, Axis { title: "NCP", log: false });
    let lines = METHODS.iter().zip(lines).map(line).collect();
    document.chart("synthetic", "Synthetic tables: NCP", axes, lines);
    Ok(())
}

/// Compares query errors on the first columns between releases with and without weights.
fn weights(experiment: &Experiment<'_>, document: &mut Document) -> Result<(), PaperError> {
    document.section(
        "Weights",
        &format!(
            "The uniform table and the Gaussian one with 2: the mean relative error of {} random COUNT queries on \
             the first columns, with all weights 1 and with weights 8, 4, 2, 1.",
            count(QUERIES as u64)
        ),
    );
    let (mut rows, mut better) = (Vec::new(), Vec::new());
    for deviation in [None, Some(2.0)] {
        let table = table(deviation);
        for (name, method) in METHODS.iter().take(3) {
            experiment.step(&format!("paper 4: weights, {name}, {}", named(deviation)))?;
            let plain = errors(experiment, &table, method, [1; 4])?;
            let weighted = errors(experiment, &table, method, WEIGHTS)?;
            for (weights, errors) in [([1; 4], &plain), (WEIGHTS, &weighted)] {
                let weights = weights.map(|weight| weight.to_string()).join(", ");
                let cells = errors.iter().map(|error| format!("{error:.4}"));
                rows.push([format!("{}, {name}", named(deviation)), weights].into_iter().chain(cells).collect());
            }
            better.push((format!("{name} ({})", named(deviation)), plain, weighted));
        }
    }
    document.table(&["values, method", "weights", "A1", "A1 A2", "A1 A2 A3", "A1 A2 A3 A4"], &rows);
    for (columns, title) in [(1, "A1"), (2, "A1 A2"), (3, "A1 A2 A3")] {
        let lower = better.iter().map(|(name, plain, weighted)| (name, weighted[columns - 1] < plain[columns - 1]));
        let of = |(name, plain, weighted): &(String, Vec<f64>, Vec<f64>)| {
            format!("{name} {:.3} instead of {:.3}", weighted[columns - 1], plain[columns - 1])
        };
        let all: Vec<String> = better.iter().map(of).collect();
        let what = format!("queries on {title} answered better with weights");
        document.claim_of_each(&what, "yes", "", lower).because(format!(
            "Weights of 8, 4, 2, 1 raise the precision of the first columns at the expense of later ones, and the \
             query uses one of those, too. Errors with weights: {}.",
            all.join("; ")
        ));
    }
    Ok(())
}

fn errors(
    experiment: &Experiment<'_>,
    table: &ExperimentTable,
    method: &str,
    weights: [u32; 4],
) -> Result<Vec<f64>, PaperError> {
    let mut policy = COLUMNS.policy(&format!("k = {K}"), method)?;
    policy.columns.iter_mut().zip(weights).for_each(|(column, weight)| column.weight = f64::from(weight));
    let run = experiment.run(&policy, table)?;
    let estimator = ReleaseEstimator::new(&run.profile, &run.released, &policy.release)?;
    let original = Original::new(&run.profile);
    let error = |columns: usize| {
        let answered = queries::ask(&original, &estimator, &ranges(columns));
        queries::errors(&answered).mean.unwrap_or(f64::NAN)
    };
    Ok((1..=COLUMNS.columns.len()).map(error).collect())
}

/// Draws queries with random ranges in the first columns.
fn ranges(columns: usize) -> Vec<Query> {
    let mut random = Random(columns as u64);
    let mut range = |column: usize| {
        let (one, other) = (1 + random.below(VALUES), 1 + random.below(VALUES));
        (ColumnId::from_index(column), Condition::Between(one.min(other) as f64, one.max(other) as f64))
    };
    let mut query = || Query { aggregate: Aggregate::Count, conditions: (0..columns).map(&mut range).collect() };
    (0..QUERIES).map(|_| query()).collect()
}
