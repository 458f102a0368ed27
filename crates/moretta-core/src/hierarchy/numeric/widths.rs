//! Intervals of given widths, one level for each: with 5, 10 and 20, an age of 23 is `[20, 24]`, `[20, 29]`, `[20,
//! 39]`, `*`.
//!
//! Intervals start at multiples of their width, so the same widths give the same intervals for any data. Each width
//! is a multiple of the one before (checked by the policy), so the levels nest.

use super::{Tree, all_whole, from_levels, interval_label};

/// Whether `above` is a multiple of `below`, at least twice as large, so that levels of these widths nest.
pub fn nests(below: f64, above: f64) -> bool {
    let times = above / below;
    // With tolerance: 0.3 is a multiple of 0.1, though not as floats.
    times.is_finite() && times.round() >= 2.0 && (times - times.round()).abs() <= 1e-9 * times
}

/// Builds the tree over the distinct values in ascending order.
pub fn build(values: &[f64], texts: &[Box<str>], widths: &[f64]) -> Tree {
    let whole = all_whole(values) && all_whole(widths);
    let labels = |width: &f64| {
        let steps = Steps::of(*width);
        let label = |value: &f64| {
            let step = steps.around(*value);
            interval_label(steps.start(step), steps.start(step + 1.0), whole)
        };
        values.iter().map(label).collect()
    };
    from_levels(texts, &widths.iter().rev().map(labels).collect::<Vec<_>>())
}

/// Multiples of a width in exact decimals: those of 0.1 are 0.1, 0.2, 0.3 and not 0.30000000000000004.
struct Steps {
    width: f64,
    /// The width as a whole number of `1 / scale`; the width itself if it is not a short decimal number.
    units: f64,
    scale: f64,
}

impl Steps {
    fn of(width: f64) -> Self {
        let mut scales = (0..=12).map(|digits| 10f64.powi(digits)).map(|scale| (scale, (width * scale).round()));
        let decimal = scales.find(|(scale, units)| units / scale == width);
        let (scale, units) = decimal.unwrap_or((1.0, width));
        Self { width, units, scale }
    }

    /// Lower end of a step: the float nearest to the exact decimal number.
    fn start(&self, step: f64) -> f64 {
        step * self.units / self.scale
    }

    /// Step that contains a value, consistent with the printed ends.
    fn around(&self, value: f64) -> f64 {
        let mut step = (value / self.width).floor();
        // The quotient may be off by one unit in the last place; beyond 2^53 steps, neighboring steps are the same
        // float.
        if value < self.start(step) {
            step -= 1.0;
        } else if value >= self.start(step + 1.0) && self.start(step + 1.0) > self.start(step) {
            step += 1.0;
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::file;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_value_is_inside_what_prints(steps in -100_000i64..100_000, width in 0usize..9, off in 0u8..3) {
            let width = [0.1, 0.2, 0.05, 0.01, 0.3, 0.7, 0.001, 2.5, 1.0 / 3.0][width];
            let value = [steps as f64 * width, (steps as f64 * width * 1e6).round() / 1e6, steps as f64 / 10.0][off as usize];
            let tree = build(&[value], &[value.to_string().into()], &[width]);
            let label = tree.label(tree.parent(tree.leaf(0)).unwrap());
            if let Some((low, high)) = label.strip_prefix('[').and_then(|l| l.strip_suffix(')')).and_then(|l| l.split_once(", ")) {
                let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
                prop_assert!(low <= value && value < high, "{value} in {label}");
            }
        }
    }

    #[test]
    fn tenths_print_as_tenths() {
        assert_eq!(
            rows(&[1.7, 4.3], &[0.1, 1.0]),
            ["1.7;\"[1.7, 1.8)\";\"[1, 2)\";*", "4.3;\"[4.3, 4.4)\";\"[4, 5)\";*"]
        );
    }

    fn rows(values: &[f64], widths: &[f64]) -> Vec<String> {
        let texts: Vec<Box<str>> = values.iter().map(|v| v.to_string().into()).collect();
        file::write(&build(values, &texts, widths)).lines().map(str::to_owned).collect()
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
