//! One level of intervals between given edges: `[0, 18, 65, 120]` gives `[0, 17]`, `[18, 64]`, `[65, 120]`.
//!
//! An interval includes its lower edge; the last one includes both, so that the largest value has an interval.

use super::{Tree, all_whole, from_levels, interval_label, number_text};

/// Builds the tree over the distinct values in ascending order; the error is the index of the first value outside the
/// edges.
pub fn build(values: &[f64], texts: &[Box<str>], edges: &[f64]) -> Result<Tree, usize> {
    let whole = all_whole(values) && all_whole(edges);
    let labels = values.iter().enumerate().map(|(position, value)| {
        let above = edges.partition_point(|edge| edge <= value);
        let last = *value == edges[edges.len() - 1];
        match above {
            0 => Err(position),
            n if n == edges.len() && !last => Err(position),
            n if n >= edges.len() - 1 => {
                let low = edges[edges.len() - 2];
                Ok(format!("[{}, {}]", number_text(low), number_text(edges[edges.len() - 1])))
            }
            n => Ok(interval_label(edges[n - 1], edges[n], whole)),
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
        let values = [0.0, 17.0, 18.0, 64.0, 65.0, 120.0];
        let texts: Vec<Box<str>> = values.iter().map(|v| v.to_string().into()).collect();
        let tree = build(&values, &texts, &[0.0, 18.0, 65.0, 120.0]).unwrap();
        let labels: Vec<_> = file::rows(&tree).into_iter().map(|row| row[1].to_owned()).collect();
        assert_eq!(labels, ["[0, 17]", "[0, 17]", "[18, 64]", "[18, 64]", "[65, 120]", "[65, 120]"]);
        assert_eq!(build(&values, &texts, &[0.0, 18.0, 65.0]).unwrap_err(), 5);
        assert_eq!(build(&values, &texts, &[1.0, 120.0]).unwrap_err(), 0);
    }
}
