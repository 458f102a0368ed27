//! Intervals of given widths, one level for each: with 5, 10 and 20, an age of 23 is `[20, 24]`, `[20, 29]`, `[20,
//! 39]`, `*`.
//!
//! Intervals start at multiples of their width, so the same widths give the same intervals for any data. Each width
//! is a multiple of the one before (checked by the policy), so the levels nest.

use super::{Tree, all_whole, from_levels, interval_label};
use crate::hierarchy::Decimal;

/// Whether `above` is a multiple of `below`, at least twice as large, so that levels of these widths nest.
pub fn nests(below: &Decimal, above: &Decimal) -> bool {
    let exponent = below.exponent().min(above.exponent());
    match (below.units(exponent), above.units(exponent)) {
        (Some(below), Some(above)) => below > 0 && above > below && above % below == 0,
        _ => false,
    }
}

/// Builds the tree over the distinct values in ascending order. The error is the index of the first value that, in
/// units of the last digit of a width, has more digits than can be computed with (38), and this width.
pub fn build<'w>(values: &[Decimal], texts: &[Box<str>], widths: &'w [Decimal]) -> Result<Tree, (usize, &'w Decimal)> {
    let whole = all_whole(values) && all_whole(widths);
    let labels = |width: &'w Decimal| {
        let label = |(index, value): (usize, &Decimal)| {
            let (low, high) = around(value, width).ok_or((index, width))?;
            Ok(interval_label(&low, &high, whole))
        };
        values.iter().enumerate().map(label).collect()
    };
    let levels: Result<Vec<Vec<String>>, _> = widths.iter().rev().map(labels).collect();
    Ok(from_levels(texts, &levels?))
}

/// The multiples of a width around a value: the greatest that is not above it, and the next.
fn around(value: &Decimal, width: &Decimal) -> Option<(Decimal, Decimal)> {
    let exponent = width.exponent();
    let (units, width) = (value.floor_units(exponent)?, width.units(exponent)?);
    let low = units.checked_sub(units.checked_rem_euclid(width)?)?;
    Some((Decimal::of_units(low, exponent), Decimal::of_units(low.checked_add(width)?, exponent)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::file;

    #[test]
    fn tenths_print_as_tenths() {
        assert_eq!(
            rows(&[1.7, 4.3], &[0.1, 1.0]),
            ["1.7;\"[1.7, 1.8)\";\"[1, 2)\";*", "4.3;\"[4.3, 4.4)\";\"[4, 5)\";*"]
        );
    }

    fn decimals(values: &[f64]) -> Vec<Decimal> {
        values.iter().map(|value| Decimal::of_float(*value).unwrap()).collect()
    }

    fn rows(values: &[f64], widths: &[f64]) -> Vec<String> {
        let texts: Vec<Box<str>> = values.iter().map(|v| v.to_string().into()).collect();
        let tree = build(&decimals(values), &texts, &decimals(widths)).unwrap();
        file::write(&tree).lines().map(str::to_owned).collect()
    }

    #[test]
    fn widths_nest_exactly() {
        let nest = |below: f64, above: f64| nests(&decimals(&[below])[0], &decimals(&[above])[0]);
        assert!(nest(0.1, 0.3) && nest(5.0, 10.0) && nest(1e300, 2e300) && nest(5e-324, 1e-323));
        assert!(!nest(5.0, 5.0) && !nest(10.0, 5.0) && !nest(1.0 / 3.0, 1.0) && !nest(2.0, 5.0));
    }

    #[test]
    fn a_value_with_too_many_digits_for_its_width_is_refused() {
        let found = |value: f64, width: f64| {
            let (values, widths) = (decimals(&[1.0, value]), decimals(&[width]));
            let texts: Vec<Box<str>> = values.iter().map(|v| v.to_string().into()).collect();
            build(&values, &texts, &widths).map(|tree| tree.len()).map_err(|(index, _)| index)
        };
        assert_eq!([found(1e300, 5.0), found(-1e30, 1e-10)], [Err(1), Err(1)]);
        assert!(found(-1e-300, 5.0).is_ok() && found(3.0, 1e300).is_ok() && found(1e300, 1e290).is_ok());
    }

    #[test]
    fn whole_numbers_print_both_ends() {
        assert_eq!(
            rows(&[17.0, 20.0, 24.0, 25.0, 41.0], &[5.0, 10.0]),
            [
                "17;\"[15, 19]\";\"[10, 19]\";*",
                "20;\"[20, 24]\";\"[20, 29]\";*",
                "24;\"[20, 24]\";\"[20, 29]\";*",
                "25;\"[25, 29]\";\"[20, 29]\";*",
                "41;\"[40, 44]\";\"[40, 49]\";*",
            ]
        );
    }

    #[test]
    fn fractions_and_negatives_print_half_open() {
        assert_eq!(
            rows(&[-0.5, 0.25, 0.75], &[0.5, 1.0]),
            ["-0.5;\"[-0.5, 0)\";\"[-1, 0)\";*", "0.25;\"[0, 0.5)\";\"[0, 1)\";*", "0.75;\"[0.5, 1)\";\"[0, 1)\";*"]
        );
    }

    #[test]
    fn a_width_of_one_over_whole_numbers_adds_no_level() {
        assert_eq!(rows(&[1.0, 2.0], &[1.0, 10.0]), ["1;\"[0, 9]\";*", "2;\"[0, 9]\";*"]);
    }
}
