//! Naive query answers from printed texts: every cell becomes the list of values that it covers, and every record
//! contributes an equal share to each of them.

use moretta_core::{
    ids::ColumnId, profile::Profile, released::Released, testing::conformance::is_missing, verify::verify_against,
};
use moretta_insight::evaluate::queries::{Aggregate, Condition, Draw, Original, Query, ReleaseEstimator, draw, summed};
use proptest::prelude::*;

use crate::{
    losses,
    naive_engine::print_release,
    random_cut::random_cut,
    world::{World, cases, worlds},
};

/// The values that a printed cell covers.
enum Values {
    /// Equally likely values: numbers, or codes of leaves; `None` for a missing number.
    List(Vec<Option<f64>>),
    /// Uniform from the first to the second.
    Between(f64, f64),
}

/// Distance of neighboring values if all numbers are whole, or all dates are without a time of day (dates are in
/// minutes here).
fn step(original: &losses::OriginalColumn<'_>) -> Option<f64> {
    let step = if original.spec.shape.is_date() { 1440.0 } else { 1.0 };
    let mut present = original.cells.iter().filter(|text| !is_missing(text));
    present.all(|text| original.spec.shape.number(text).unwrap() % step == 0.0).then_some(step)
}

fn values(original: &losses::OriginalColumn<'_>, profile: &Profile, column: ColumnId, released: &str) -> Values {
    let shape = &original.spec.shape;
    if !shape.is_ordered() {
        let domain = profile.domain(column);
        // A hierarchy may have a leaf `?` that is not the missing value's.
        let above =
            |text: &str| original.path_of(text).is_some_and(|path| path[1..].iter().any(|label| label == released));
        let covered = |code: &u32| match domain.text(*code) {
            _ if domain.missing() == Some(*code) => original.covers("?", released),
            text if is_missing(text) => above(text),
            text => original.covers(text, released),
        };
        let leaves = (0..domain.len() as u32).filter(|code| released == "*" || covered(code));
        return Values::List(leaves.map(|code| Some(f64::from(code))).collect());
    }
    if is_missing(released) {
        return Values::List(vec![None]);
    }
    let inside = if released == "*" { original.present() } else { original.texts_inside(released) };
    let numbers: Vec<f64> = inside.iter().map(|text| shape.number(text).unwrap()).collect();
    // A mean, median or midpoint need not be a value.
    let own = shape.number(released).filter(|_| shape.is_number());
    let low = own.unwrap_or_else(|| numbers.iter().copied().fold(f64::INFINITY, f64::min));
    let high = own.unwrap_or_else(|| numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    match step(original) {
        _ if numbers.is_empty() && own.is_none() => Values::List(vec![None]),
        _ if low == high => Values::List(vec![Some(low)]),
        Some(step) => {
            Values::List((0..=((high - low) / step) as u32).map(|n| Some(low + f64::from(n) * step)).collect())
        }
        None => Values::Between(low, high),
    }
}

impl Values {
    /// The share of the values inside a range, and their mean.
    fn inside(&self, (low, high): (f64, f64)) -> (f64, f64) {
        match self {
            Self::List(all) => {
                let inside: Vec<f64> = all.iter().flatten().copied().filter(|v| low <= *v && *v <= high).collect();
                let mean = if inside.is_empty() { 0.0 } else { inside.iter().sum::<f64>() / inside.len() as f64 };
                (inside.len() as f64 / all.len() as f64, mean)
            }
            Self::Between(first, last) => {
                let (first_in, last_in) = (first.max(low), last.min(high));
                if first_in > last_in {
                    return (0.0, 0.0);
                }
                ((last_in - first_in) / (last - first), (first_in + last_in) / 2.0)
            }
        }
    }
}

/// The range of each column that a query restricts, in the test's units.
fn ranges(world: &World, query: &Query) -> Vec<Option<(f64, f64)>> {
    let of_column = |column: usize| {
        let condition = query.conditions.iter().find(|(asked, _)| asked.index() == column)?.1;
        Some(match condition {
            Condition::Codes(first, last) => (f64::from(first), f64::from(last)),
            Condition::Between(low, high) if world.quasi[column].shape.is_date() => (low / 60.0, high / 60.0),
            Condition::Between(low, high) => (low, high),
        })
    };
    (0..world.quasi.len()).map(of_column).collect()
}

/// The answer from the cells, given by column.
fn answer(world: &World, profile: &Profile, query: &Query, cells: &[Vec<&str>]) -> f64 {
    let (originals, ranges) = (losses::OriginalColumn::all(world), ranges(world, query));
    let of_record = |record: usize| {
        let mut part = 1.0;
        for (column, original) in originals.iter().enumerate() {
            let id = ColumnId::from_index(column);
            let values = values(original, profile, id, cells[column][record]);
            let summed = query.aggregate == Aggregate::Sum(id);
            let (share, mean) = match ranges[column] {
                Some(range) => values.inside(range),
                None => (1.0, values.inside((f64::NEG_INFINITY, f64::INFINITY)).1),
            };
            let mean = if summed && ranges[column].is_none() { whole_mean(&values) } else { mean };
            part *= share * if summed { mean } else { 1.0 };
        }
        part
    };
    (0..world.rows.len()).map(of_record).sum()
}

fn whole_mean(values: &Values) -> f64 {
    match values {
        Values::Between(low, high) => (low + high) / 2.0,
        list => list.inside((f64::NEG_INFINITY, f64::INFINITY)).1,
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn answers_equal_those_of_expanded_records(world in worlds(), seed: u64, columns in prop::option::of(1usize..4)) {
        let mut dice = world.dice.clone();
        let counts = world.counts();
        let profile = world.profile(&counts);
        let options = &world.policy.release;
        let verified = verify_against(&profile, random_cut(&profile, &mut dice), &[], &world.policy, profile.records()).unwrap();
        let (header, rows, _) = print_release(&world, &counts, &verified);
        let at = |name: &str| header.iter().position(|known| known == name).unwrap();
        let cells = |at: usize| rows.iter().map(|row| row[at].as_str()).collect::<Vec<_>>();
        let after: Vec<Vec<&str>> = world.quasi.iter().map(|spec| cells(at(&spec.name))).collect();
        let original = Original::new(&profile);
        let estimator = ReleaseEstimator::new(&profile, verified.released(), options).unwrap();
        // The same from the printed file.
        let file = crate::naive_engine::group_and_count(&header, &rows, &Profile::released_columns(&world.policy));
        let file = Profile::of_release(&world.policy, &world.hierarchies, &file).unwrap();
        let read = ReleaseEstimator::new(&profile, &Released::of_opaque(&profile, &file), options).unwrap();
        let aggregates = [Some(Aggregate::Count), summed(&profile).map(Aggregate::Sum)];
        for aggregate in aggregates.into_iter().flatten() {
            for (query, truth) in draw(&original, aggregate, &Draw { count: 5, seed, columns }).queries {
                prop_assert!(close(truth.answer, true_answer(&world, &profile, &query)), "{:?}", query);
                let expected = answer(&world, &profile, &query, &after);
                let found = estimator.answer(&query);
                prop_assert!(close(found, expected), "{:?}: {} {}\n{:?}", query, found, expected, rows);
                prop_assert!(close(read.answer(&query), found));
            }
        }
    }
}

/// The true answer, record by record.
fn true_answer(world: &World, profile: &Profile, query: &Query) -> f64 {
    let (originals, ranges) = (losses::OriginalColumn::all(world), ranges(world, query));
    let value = |column: usize, text: &str| {
        let domain = profile.domain(ColumnId::from_index(column));
        let same = |code: &u32| {
            if is_missing(text) { domain.missing() == Some(*code) } else { domain.text(*code) == text }
        };
        let shape = &originals[column].spec.shape;
        if shape.is_ordered() {
            Some(text).filter(|text| !is_missing(text)).and_then(|text| shape.number(text))
        } else {
            (0..domain.len() as u32).find(same).map(f64::from)
        }
    };
    let mut total = 0.0;
    for record in 0..world.rows.len() {
        let of = |column: usize| value(column, originals[column].cells[record]);
        let holds = |(column, range): (usize, &Option<(f64, f64)>)| {
            range.is_none_or(|(low, high)| of(column).is_some_and(|v| low <= v && v <= high))
        };
        if ranges.iter().enumerate().all(holds) {
            total += match query.aggregate {
                Aggregate::Count => 1.0,
                Aggregate::Sum(column) => of(column.index()).unwrap_or(0.0),
            };
        }
    }
    total
}
