//! Statistics of the quasi-identifiers before and after, as a recipient would compute them from the release.
//!
//! - A column of numbers: mean, standard deviation and quartiles. A released interval counts as its midpoint; `*` and
//!   missing values are left out.
//! - Two columns of numbers: Pearson's correlation, over records with both.
//! - Two columns of categories: the table of counts. A released label is spread evenly over the values that it covers.
//!   The result is the share of records that stand in another cell than in the original, and the cells that changed
//!   most.
//!
//! No figure is the value of a few records: a quartile is the mean of the `max(k, 10)` records around it, and cells of
//! pair tables are shown only if as many records are in them and carry their values. Dates are left out.
//!
//! Cost: O(values) per column; O(tuples + groups) per pair of numbers; O(groups · values²) per pair of categories,
//! which is bounded.

use moretta_core::{
    hierarchy::{Domain, ROOT_LABEL, interval_ends},
    ids::{ColumnId, TupleId},
    policy::Policy,
    profile::Profile,
    released::{Covered, Released},
    schema::Kind,
};
use serde::Serialize;

use crate::naming::floor;

/// Maximum number of pairs that a report shows: those that changed most.
const MAX_PAIRS: usize = 10;

/// Maximum number of cells shown of a pair of categories.
const MAX_CELLS: usize = 4;

/// Maximum number of columns of one type that are paired.
const MAX_PAIRED: usize = 12;

/// Maximum number of distinct values of a paired column of categories.
const MAX_VALUES: usize = 60;

/// Maximum additions for all pairs of categories; further pairs are not compared. About a second.
const MAX_PAIR_WORK: u64 = 300_000_000;

/// A figure of the original and of the release; `None` if no record has a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct BeforeAfter {
    /// In the original.
    pub before: Option<f64>,
    /// As a recipient computes it.
    pub after: Option<f64>,
}

impl BeforeAfter {
    /// Absolute difference; 0 if one is not defined.
    fn change(&self) -> f64 {
        self.before.zip(self.after).map_or(0.0, |(before, after)| (before - after).abs())
    }
}

/// Statistics of the quasi-identifiers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Columns of numbers, in policy order.
    pub numbers: Vec<NumberStatistics>,
    /// Pairs of columns of numbers, largest change first.
    pub correlations: Vec<Correlation>,
    /// Number of all such pairs.
    pub all_correlations: usize,
    /// Pairs of columns of categories, largest change first.
    pub pairs: Vec<PairTable>,
    /// Number of pairs of categories that were compared.
    pub all_pairs: usize,
}

/// Statistics of a column of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberStatistics {
    /// Name of the column.
    pub name: String,
    /// Mean.
    pub mean: BeforeAfter,
    /// Standard deviation.
    pub deviation: BeforeAfter,
    /// First quartile, median, third quartile.
    pub quartiles: [BeforeAfter; 3],
    /// Records released without a number: `*`, or a missing value.
    pub left_out: u64,
}

/// Correlation of two columns of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correlation {
    /// Names of the columns.
    pub columns: [String; 2],
    /// Pearson's coefficient; `None` if a column does not vary.
    #[serde(flatten)]
    pub coefficient: BeforeAfter,
}

/// Counts of two columns of categories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairTable {
    /// Names of the columns.
    pub columns: [String; 2],
    /// Share of the records that stand in another cell than in the original.
    pub moved: f64,
    /// The cells that changed most, of those that may be named.
    pub cells: Vec<PairCell>,
}

/// A cell of a table of counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairCell {
    /// The values of the two columns.
    pub values: [String; 2],
    /// Records of the original.
    pub before: u64,
    /// Records as a recipient estimates them.
    pub after: f64,
}

impl Statistics {
    /// Statistics of a release.
    pub fn of(policy: &Policy, profile: &Profile, released: &Released) -> Self {
        let of_kind = |kind: Kind| {
            let columns = profile.columns().iter().enumerate();
            columns.filter(move |(_, column)| column.domain.kind() == kind).map(|(index, _)| index)
        };
        let numbers: Vec<NumberColumn> =
            of_kind(Kind::Number).map(|column| NumberColumn::of(profile, released, column)).collect();
        let window = floor(policy);
        let statistics = numbers.iter().map(|column| column.statistics(profile, released, window)).collect();
        let mut correlations = Vec::new();
        for (index, one) in numbers.iter().take(MAX_PAIRED).enumerate() {
            correlations.extend(numbers[..index].iter().map(|other| correlation(profile, released, other, one)));
        }
        let all_correlations = correlations.len();
        correlations.sort_by(|one: &Correlation, two| two.coefficient.change().total_cmp(&one.coefficient.change()));
        correlations.truncate(MAX_PAIRS);
        let categories: Vec<usize> = of_kind(Kind::Category)
            .filter(|&column| profile.columns()[column].domain.len() <= MAX_VALUES)
            .take(MAX_PAIRED)
            .collect();
        let (mut pairs, mut work) = (Vec::new(), 0);
        for (index, &one) in categories.iter().enumerate() {
            for &other in &categories[..index] {
                let values = |column: usize| profile.columns()[column].domain.len() as u64;
                work += released.groups() as u64 * values(one) * values(other);
                if work <= MAX_PAIR_WORK {
                    pairs.push(pair_table(profile, released, [other, one], window));
                }
            }
        }
        let all_pairs = pairs.len();
        pairs.sort_by(|one: &PairTable, two| two.moved.total_cmp(&one.moved));
        pairs.truncate(MAX_PAIRS);
        Self { numbers: statistics, correlations, all_correlations, pairs, all_pairs }
    }
}

/// Numbers, each with its records.
type Numbers = [(f64, u64)];

/// A column of numbers.
struct NumberColumn {
    column: usize,
    /// Number of each value; `None` if it is missing.
    values: Vec<Option<f64>>,
    /// Number of each label; `None` for `*` and a missing value.
    labels: Vec<Option<f64>>,
}

impl NumberColumn {
    fn of(profile: &Profile, released: &Released, column: usize) -> Self {
        let domain = &profile.columns()[column].domain;
        let labels = (0..).zip(released.labels(column));
        Self {
            column,
            values: (0..domain.len() as u32).map(|code| domain.number(code)).collect(),
            labels: labels.map(|(label, text)| midpoint(domain, text, released.covered(column, label))).collect(),
        }
    }

    fn statistics(&self, profile: &Profile, released: &Released, window: u64) -> NumberStatistics {
        let of = |numbers: &[Option<f64>], records: &[u64]| {
            let known = numbers.iter().zip(records).filter_map(|(number, records)| Some(((*number)?, *records)));
            let mut known: Vec<(f64, u64)> = known.filter(|(_, records)| *records > 0).collect();
            known.sort_by(|one, two| one.0.total_cmp(&two.0));
            known
        };
        let before = of(&self.values, profile.code_records(ColumnId::from_index(self.column)));
        let records = released.label_records(self.column);
        let after = of(&self.labels, &records);
        // The mean of a few numbers discloses them.
        let is_enough = |numbers: &Numbers| total(numbers) >= window as f64;
        let of_enough = |figure: &dyn Fn(&Numbers) -> Option<f64>, numbers: &Numbers| {
            if is_enough(numbers) { figure(numbers) } else { None }
        };
        let both = |figure: &dyn Fn(&Numbers) -> Option<f64>| BeforeAfter {
            before: of_enough(figure, &before),
            after: of_enough(figure, &after),
        };
        let without = self.labels.iter().zip(&records).filter(|(number, _)| number.is_none());
        NumberStatistics {
            name: profile.columns()[self.column].name.clone(),
            mean: both(&mean),
            deviation: both(&deviation),
            quartiles: [0.25, 0.5, 0.75].map(|share| both(&|numbers| quantile(numbers, share, window))),
            left_out: without.map(|(_, records)| records).sum(),
        }
    }
}

/// Returns the number that a recipient uses for a label: the midpoint of an interval; `None` for `*`.
fn midpoint(domain: &Domain, text: &str, covered: Option<Covered<'_>>) -> Option<f64> {
    let printed = || interval_ends(text).and_then(|(low, high)| domain.read_number(low).zip(domain.read_number(high)));
    let middle = |(low, high): (f64, f64)| low / 2.0 + high / 2.0;
    match covered {
        _ if text == ROOT_LABEL => None,
        Some(Covered::Cell(cell)) if domain.is_star(cell) => None,
        Some(Covered::Cell(cell)) => {
            let ends = domain.ends(cell)?;
            Some(middle(printed().unwrap_or(ends)))
        }
        // A mean, median or midpoint.
        _ => domain.read_number(text),
    }
}

fn total(numbers: &Numbers) -> f64 {
    numbers.iter().map(|(_, records)| *records as f64).sum()
}

fn mean(numbers: &Numbers) -> Option<f64> {
    let total = total(numbers);
    // Each term is divided before it is added: the sum may exceed the largest float.
    (total > 0.0).then(|| numbers.iter().map(|(number, records)| number * (*records as f64 / total)).sum())
}

fn deviation(numbers: &Numbers) -> Option<f64> {
    let (total, mean) = (total(numbers), mean(numbers)?);
    let square = |(number, records): &(f64, u64)| (number - mean).powi(2) * (*records as f64 / total);
    Some(numbers.iter().map(square).sum::<f64>().sqrt())
}

/// Mean of the `window` records around a quantile, so that it is not the number of a few. `numbers` ascend.
fn quantile(numbers: &Numbers, share: f64, window: u64) -> Option<f64> {
    let total: u64 = numbers.iter().map(|(_, records)| records).sum();
    if total < window.max(1) {
        return None;
    }
    let middle = (share * total as f64) as u64;
    let from = middle.saturating_sub(window / 2).min(total - window);
    let to = from + window.max(1);
    let (mut before, mut part) = (0, Vec::new());
    for &(number, records) in numbers {
        let inside = to.min(before + records).saturating_sub(from.max(before));
        part.push((number, inside));
        before += records;
    }
    mean(&part)
}

fn correlation(profile: &Profile, released: &Released, one: &NumberColumn, two: &NumberColumn) -> Correlation {
    let tuples = (0..profile.tuples()).map(TupleId::from_index).filter_map(|tuple| {
        let number = |of: &NumberColumn| of.values[profile.codes(tuple)[of.column] as usize];
        Some((number(one)?, number(two)?, profile.tuple_records(tuple) as f64))
    });
    let groups = (0..released.groups()).filter_map(|group| {
        let number = |of: &NumberColumn| of.labels[released.label_of(group, of.column) as usize];
        Some((number(one)?, number(two)?, released.records(group) as f64))
    });
    let name = |of: &NumberColumn| profile.columns()[of.column].name.clone();
    Correlation {
        columns: [name(one), name(two)],
        coefficient: BeforeAfter { before: pearson(tuples), after: pearson(groups) },
    }
}

/// Pearson's coefficient of pairs of numbers with their records; `None` if the numbers of a side are all equal.
fn pearson(pairs: impl Iterator<Item = (f64, f64, f64)> + Clone) -> Option<f64> {
    let total: f64 = pairs.clone().map(|pair| pair.2).sum();
    // The variance of equal numbers is a rounding error, not 0.
    let is_constant = |number: fn((f64, f64, f64)) -> f64| {
        let mut numbers = pairs.clone().map(number);
        numbers.next().is_none_or(|first| numbers.all(|other| other == first))
    };
    if total <= 0.0 || is_constant(|pair| pair.0) || is_constant(|pair| pair.1) {
        return None;
    }
    let (mut x, mut y) = (0.0, 0.0);
    for (one, two, records) in pairs.clone() {
        x += one * (records / total);
        y += two * (records / total);
    }
    let (mut covariance, mut of_x, mut of_y) = (0.0, 0.0, 0.0);
    for (one, two, records) in pairs {
        let (one, two, share) = (one - x, two - y, records / total);
        covariance += one * two * share;
        of_x += one * one * share;
        of_y += two * two * share;
    }
    let coefficient = covariance / (of_x * of_y).sqrt();
    coefficient.is_finite().then(|| coefficient.clamp(-1.0, 1.0))
}

fn pair_table(profile: &Profile, released: &Released, [one, two]: [usize; 2], floor: u64) -> PairTable {
    let domains = [one, two].map(|column| &profile.columns()[column].domain);
    let width = domains[1].len();
    let mut before = vec![0u64; domains[0].len() * width];
    for tuple in (0..profile.tuples()).map(TupleId::from_index) {
        let codes = profile.codes(tuple);
        before[codes[one] as usize * width + codes[two] as usize] += profile.tuple_records(tuple);
    }
    let codes = |column: usize| -> Vec<Vec<u32>> {
        let domain = &profile.columns()[column].domain;
        let covered = |label: usize| match released.covered(column, label as u32) {
            Some(Covered::Cell(cell)) => (cell.first..=cell.last).collect(),
            Some(Covered::Set(codes)) => codes.to_vec(),
            None => (0..domain.len() as u32).collect(),
        };
        (0..released.labels(column).len()).map(covered).collect()
    };
    let (rows, columns) = (codes(one), codes(two));
    let mut after = vec![0f64; before.len()];
    for group in 0..released.groups() {
        let row = &rows[released.label_of(group, one) as usize];
        let column = &columns[released.label_of(group, two) as usize];
        let part = released.records(group) as f64 / (row.len() * column.len()).max(1) as f64;
        for a in row {
            column.iter().for_each(|b| after[*a as usize * width + *b as usize] += part);
        }
    }
    let change = |cell: &usize| (after[*cell] - before[*cell] as f64).abs();
    let records = profile.records().max(1) as f64;
    let moved = (0..before.len()).map(|cell| change(&cell)).sum::<f64>() / 2.0 / records;
    let carried = |column: usize, code: usize| profile.code_records(ColumnId::from_index(column))[code] >= floor;
    let may_name = |cell: &usize| before[*cell] >= floor && carried(one, cell / width) && carried(two, cell % width);
    let mut cells: Vec<usize> = (0..before.len()).filter(may_name).collect();
    cells.sort_by(|one, two| change(two).total_cmp(&change(one)));
    cells.truncate(MAX_CELLS);
    let text = |domain: &Domain, code: usize| domain.text(code as u32).to_owned();
    let cell = |cell: usize| PairCell {
        values: [text(domains[0], cell / width), text(domains[1], cell % width)],
        before: before[cell],
        after: after[cell],
    };
    let name = |column: usize| profile.columns()[column].name.clone();
    PairTable { columns: [name(one), name(two)], moved, cells: cells.into_iter().map(cell).collect() }
}

#[cfg(test)]
mod tests {
    use moretta_core::{
        policy::ReleaseOptions,
        recoding::{Cut, Recoding},
        testing::TestTable,
    };

    use super::*;

    const NUMBERS: &str = "privacy.k = 2\n[columns]\nx = { role = \"quasi-identifier\", type = \"number\", hierarchy = { widths = [10] } }\n\
                           y = { role = \"quasi-identifier\", type = \"number\", hierarchy = \"free\" }";

    fn close(one: Option<f64>, two: f64) -> bool {
        one.is_some_and(|one| (one - two).abs() < 1e-9)
    }

    #[test]
    fn without_generalization_nothing_changes() {
        let rows: Vec<String> = (0..40).map(|n| format!("{},{}", n % 20, 3 * (n % 20))).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let table = TestTable::new(NUMBERS, &[], &rows);
        let released =
            Released::of_recoding(&table.profile, &Recoding::identity(&table.profile), &ReleaseOptions::default());
        let found = Statistics::of(&table.policy, &table.profile, &released);
        for column in &found.numbers {
            assert_eq!((column.mean.change(), column.deviation.change(), column.left_out), (0.0, 0.0, 0));
            assert!(column.quartiles.iter().all(|quartile| quartile.change() == 0.0));
        }
        assert!(close(found.numbers[0].mean.before, 9.5) && close(found.numbers[0].quartiles[1].before, 9.5));
        // The variance of 0..20 is (20² - 1) / 12.
        assert!(close(found.numbers[0].deviation.after, (399.0f64 / 12.0).sqrt()));
        assert!(close(found.correlations[0].coefficient.after, 1.0));
    }

    #[test]
    fn an_interval_counts_as_its_midpoint() {
        let rows: Vec<String> = (0..20).map(|n| format!("{n},{n}")).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let table = TestTable::new(NUMBERS, &[], &rows);
        let mut cut = Cut::identity(&table.profile);
        // [0, 9] and [10, 19], and [0, 19] for y.
        let domain = &table.profile.columns()[0].domain;
        cut.cells[0] = (0..20).map(|code| if code < 10 { domain.cover(0, 9) } else { domain.cover(10, 19) }).collect();
        cut.cells[1] = vec![table.profile.columns()[1].domain.whole(); 20];
        let statistics = |cut: &Cut| {
            let recoding = Recoding::Global(cut.clone());
            let released = Released::of_recoding(&table.profile, &recoding, &ReleaseOptions::default());
            Statistics::of(&table.policy, &table.profile, &released)
        };
        let found = statistics(&cut);
        let [x, y] = &found.numbers[..] else { panic!("two columns") };
        assert!(close(x.mean.after, 9.5) && close(x.deviation.after, 5.0), "{x:?}");
        assert!(close(y.mean.after, 9.5) && close(y.deviation.after, 0.0) && y.left_out == 0, "{y:?}");
        assert_eq!(found.correlations[0].coefficient.after, None, "y does not vary");
        // Suppressed records have no number.
        cut.suppressed = (0..table.profile.tuples()).map(TupleId::from_index).collect();
        let found = statistics(&cut);
        assert_eq!((found.numbers[1].mean.after, found.numbers[1].left_out), (None, 20));
    }

    #[test]
    fn a_quantile_is_the_mean_of_the_records_around_it() {
        let numbers: Vec<(f64, u64)> = (0..100).map(|n| (f64::from(n), 1)).collect();
        assert!(close(quantile(&numbers, 0.5, 10), 49.5));
        assert!(close(quantile(&numbers, 0.0, 10), 4.5) && close(quantile(&numbers, 1.0, 10), 94.5));
        assert_eq!(quantile(&numbers[..9], 0.5, 10), None, "fewer records than may be named");
        assert!(close(quantile(&[(1.0, 30), (7.0, 10)], 0.5, 10), 1.0));
    }

    #[test]
    fn counts_of_pairs_are_estimated_from_labels() {
        let policy = "privacy.k = 2\n[columns]\na = { role = \"quasi-identifier\", type = \"category\" }\n\
                      b = { role = \"quasi-identifier\", type = \"category\" }";
        let table = TestTable::new(policy, &[], &[("p,r", 20), ("p,s", 20), ("q,r", 12), ("q,t", 8)]);
        let mut cut = Cut::identity(&table.profile);
        let domain = &table.profile.columns()[1].domain;
        cut.cells[1] = vec![domain.whole(); domain.len()];
        let released = Released::of_recoding(&table.profile, &Recoding::Global(cut), &ReleaseOptions::default());
        let found = Statistics::of(&table.policy, &table.profile, &released);
        // `*` covers r, s and t: 40 records of p and 20 of q are spread evenly.
        let (p, q) = (40.0 / 3.0, 20.0 / 3.0);
        let moved = (2.0 * (20.0 - p) + p + (12.0 - q) + q + (8.0 - q)) / 2.0 / 60.0;
        let pair = &found.pairs[0];
        assert!((pair.moved - moved).abs() < 1e-9, "{} {moved}", pair.moved);
        assert!(pair.cells.iter().all(|cell| cell.before >= 10), "no cell of few records: {pair:?}");
        let shown = &pair.cells[0];
        assert_eq!((shown.before, (shown.after * 1e6).round()), (20, (p * 1e6).round()));
        assert_eq!((found.all_pairs, found.all_correlations), (1, 0));
    }
}
