//! One level of intervals between given edges: `[0, 18, 65, 120]` gives `[0, 17]`, `[18, 64]`, `[65, 120]`.
//!
//! An interval includes its lower edge; the last one includes both, so that the largest value has an interval.

use super::{Tree, all_whole, from_levels, interval_label};
use crate::hierarchy::Decimal;

/// Builds the tree over the distinct values in ascending order; the error is the index of the first value outside the
/// edges. There must be at least two edges.
pub fn build(values: &[Decimal], texts: &[Box<str>], edges: &[Decimal]) -> Result<Tree, usize> {
    let whole = all_whole(values) && all_whole(edges);
    let [.., last_low, highest] = edges else { return Err(0) };
    let labels = values.iter().enumerate().map(|(position, value)| {
        let above = edges.partition_point(|edge| edge <= value);
        match above {
            0 => Err(position),
            n if n == edges.len() && value != highest => Err(position),
            n if n >= edges.len() - 1 => Ok(format!("[{last_low}, {highest}]")),
            n => Ok(interval_label(&edges[n - 1], &edges[n], whole)),
        }
    });
    let labels: Result<Vec<String>, usize> = labels.collect();
    Ok(from_levels(texts, &[labels?]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::file;

    #[test]
    fn edges_belong_to_the_interval_above_and_the_last_to_the_last() {
        let values = [0, 17, 18, 64, 65, 120].map(Decimal::from);
        let texts: Vec<Box<str>> = values.iter().map(|v| v.to_string().into()).collect();
        let build =
            |edges: &[i64]| build(&values, &texts, &edges.iter().copied().map(Decimal::from).collect::<Vec<_>>());
        let tree = build(&[0, 18, 65, 120]).unwrap();
        let labels: Vec<_> = file::rows(&tree).into_iter().map(|row| row[1].to_owned()).collect();
        assert_eq!(labels, ["[0, 17]", "[0, 17]", "[18, 64]", "[18, 64]", "[65, 120]", "[65, 120]"]);
        assert_eq!(build(&[0, 18, 65]).unwrap_err(), 5);
        assert_eq!(build(&[1, 120]).unwrap_err(), 0);
    }
}
