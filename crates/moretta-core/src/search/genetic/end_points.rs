//! End points: the codes that may be the last of an interval of free numbers.
//!
//! They come from the policy (`end-points`), or they are all boundaries between two values; if these exceed `points`,
//! the quantiles of the records are taken instead.

use serde::{Deserialize, Serialize};

use super::GeneticParams;
use crate::{
    hierarchy::Domain,
    profile::{Column, Profile},
    schema::Kind,
    search::taxonomy::records_before,
    suggest::nearest,
    text::shown,
};

/// End point in a policy: a number, or a date as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number, or a date in quotes")]
pub enum EndPoint {
    /// Point in a column of numbers.
    Number(f64),
    /// Point in a column of dates, in the format of its values.
    Text(String),
}

/// Returns, by column, the codes that may be the last of an interval of free numbers; empty for columns with a
/// hierarchy.
pub(super) fn codes(profile: &Profile, params: &GeneticParams) -> Result<Vec<Vec<u32>>, String> {
    for name in params.end_points.keys() {
        let reason = match profile.columns().iter().find(|column| column.name == *name) {
            Some(column) if column.domain.tree().is_none() => continue,
            Some(_) => "which has a hierarchy; they are for free numbers and dates (`hierarchy = \"free\"`)".to_owned(),
            None => {
                let names = profile.columns().iter().map(|column| column.name.as_str());
                let near =
                    nearest(name, names).map_or(String::new(), |near| format!("; did you mean `{}`?", shown(near)));
                format!("which is not a quasi-identifier{near}")
            }
        };
        return Err(format!("`end-points` names `{}`, {reason}", shown(name)));
    }
    let column_codes = |(index, column): (usize, &Column)| {
        let domain = &column.domain;
        if domain.tree().is_some() || domain.len() < 2 {
            return Ok(Vec::new());
        }
        let mut ends = match params.end_points.get(&column.name) {
            Some(points) => fixed(&column.name, domain, points)?,
            None => quantiles(profile, index, params.points.get() as usize),
        };
        // A missing value belongs to no interval, so it needs a boundary of its own.
        ends.extend(domain.missing().map(|missing| missing - 1));
        ends.sort_unstable();
        ends.dedup();
        Ok(ends)
    };
    profile.columns().iter().enumerate().map(column_codes).collect()
}

/// Number of codes that are not the missing value.
fn num_numbers(domain: &Domain) -> u32 {
    domain.missing().unwrap_or(domain.len() as u32)
}

/// Returns, for each point, the code of the greatest value that is at most the point.
fn fixed(name: &str, domain: &Domain, points: &[EndPoint]) -> Result<Vec<u32>, String> {
    let mut ends = Vec::new();
    for point in points {
        let is_of_kind = |number: &f64| number.is_finite() && domain.kind() == Kind::Number;
        let (value, text) = match point {
            EndPoint::Number(number) => (Some(*number).filter(is_of_kind), number.to_string()),
            EndPoint::Text(text) => (domain.read_number(text), format!("\"{}\"", shown(text))),
        };
        let name = shown(name);
        let value =
            value.ok_or_else(|| format!("`end-points` of `{name}` has {text}, which is not a value of its type"))?;
        let is_within = |&code: &u32| domain.number(code).is_some_and(|number| number <= value);
        let num_within = (0..num_numbers(domain)).take_while(is_within).count() as u32;
        // A point below or above all values separates nothing.
        ends.extend((1..num_numbers(domain)).contains(&num_within).then(|| num_within - 1));
    }
    Ok(ends)
}

/// Returns every boundary between two values; if there are more than `max_points`, the boundaries at quantiles of the
/// records.
fn quantiles(profile: &Profile, column: usize, max_points: usize) -> Vec<u32> {
    let domain = &profile.columns()[column].domain;
    let numbers = num_numbers(domain) as usize;
    if numbers <= max_points + 1 {
        return (0..numbers.saturating_sub(1) as u32).collect();
    }
    let upto = &records_before(profile, column)[1..=numbers];
    let total = upto[numbers - 1] as u128;
    let end = |quantile: usize| {
        let rank = (total * quantile as u128 / (max_points as u128 + 1)) as u64;
        (upto.partition_point(|&records| records < rank) as u32).min(numbers as u32 - 2)
    };
    (1..=max_points).map(end).collect()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::testing::TestTable;

    #[test]
    fn end_points_are_given_or_quantiles() {
        let policy = "privacy.k = 2\ncolumns.n = { role = \"quasi-identifier\", missing = \"category\" }\n\
                      columns.c.role = \"quasi-identifier\"\ncolumns.d = { role = \"quasi-identifier\", type = \"date\", \
                      hierarchy = \"free\" }";
        let rows = [
            "1,a,1990-01-01",
            "2,a,1991-01-01",
            "4,a,1992-01-01",
            "9,a,1992-01-01",
            "3,a,1990-01-01",
            "?,a,1990-01-01",
        ];
        let rows: Vec<(&str, u64)> = rows.into_iter().zip([1, 1, 1, 1, 6, 3]).collect();
        let table = TestTable::new(policy, &[], &rows);
        let codes_with = |params: GeneticParams| codes(&table.profile, &params);
        assert_eq!(codes_with(GeneticParams::default()).unwrap(), [vec![0, 1, 2, 3, 4], vec![], vec![0, 1]]);
        let points = |max: u32| GeneticParams { points: NonZeroU32::new(max).unwrap(), ..GeneticParams::default() };
        assert_eq!(codes_with(points(1)).unwrap()[0], [2, 4]);
        assert_eq!(codes_with(points(2)).unwrap()[0], [2, 4]);
        let fixed = |name: &str, points: Vec<EndPoint>| GeneticParams {
            end_points: [(name.to_owned(), points)].into(),
            ..GeneticParams::default()
        };
        let numbers = |points: &[f64]| points.iter().map(|&number| EndPoint::Number(number)).collect();
        assert_eq!(codes_with(fixed("n", numbers(&[-5.0, 3.5, 2.0, 8.0, 9.0, 20.0]))).unwrap()[0], [1, 2, 3, 4]);
        let date = |text: &str| vec![EndPoint::Text(text.to_owned())];
        assert_eq!(codes_with(fixed("d", date("1991-06-30"))).unwrap()[2], [1]);
        for (name, points) in [("c", numbers(&[1.0])), ("n", date("May")), ("d", numbers(&[1991.0]))] {
            assert!(codes_with(fixed(name, points)).unwrap_err().contains(&format!("`{name}`")));
        }
    }
}
