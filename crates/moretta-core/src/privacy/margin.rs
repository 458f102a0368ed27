//! Margins: the distance of a figure from its limit, as a share of the limit, so that margins of different models can
//! be compared. A margin is positive if the limit is kept, 0 at the limit, and negative if the limit is violated.
//!
//! A floating-point figure equals its limit if they differ by less than [`TOLERANCE`], or by less than [`TOLERANCE`]
//! times the limit if the limit is above 1. [`ShareLimit::at_most`](super::ShareLimit::at_most) has the same tolerance;
//! that of [`ShareLimit::between`](super::ShareLimit::between) is always relative to its limits. A figure that equals
//! its limit is allowed, except where a model's definition is strict. Numbers of records are integers and need no
//! tolerance.

/// Rounding tolerance of all models; absolute for limits up to 1.
pub(super) const TOLERANCE: f64 = 1e-9;

/// Margin of a figure that must not exceed its limit.
pub(super) fn at_most(limit: f64, figure: f64) -> f64 {
    relative_to_limit(limit - figure, limit)
}

/// Margin of a figure that must be at least its limit.
pub(super) fn at_least(limit: f64, figure: f64) -> f64 {
    relative_to_limit(figure - limit, limit)
}

/// Turns a margin into that of a strict limit, which a figure must not equal: a margin of 0 becomes negative.
pub(super) fn strictly(margin: f64) -> f64 {
    if margin == 0.0 { -TOLERANCE } else { margin }
}

/// Returns `distance / limit`, rounded to 0 if the distance is within the tolerance. If the limit is 0, returns the
/// distance itself.
fn relative_to_limit(distance: f64, limit: f64) -> f64 {
    if distance.abs() < TOLERANCE * limit.max(1.0) {
        0.0
    } else if limit > 0.0 {
        distance / limit
    } else {
        distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_shares_of_the_limit() {
        assert_eq!((at_most(0.5, 0.25), at_most(0.5, 1.0)), (0.5, -1.0));
        assert_eq!((at_least(10.0, 5.0), at_least(10.0, 30.0)), (-0.5, 2.0));
        assert_eq!((at_most(0.0, 0.25), at_most(0.0, 0.0)), (-0.25, 0.0));
        assert_eq!(at_least(3.0, f64::NEG_INFINITY), f64::NEG_INFINITY);
    }

    #[test]
    fn a_figure_within_the_tolerance_equals_its_limit() {
        assert_eq!((at_most(0.3, 0.1 + 0.2), at_least(0.3, 0.1 + 0.2)), (0.0, 0.0));
        assert_eq!(at_least(1e12, 1e12 - 1.0), 0.0);
        assert!(strictly(at_most(0.3, 0.1 + 0.2)) < 0.0);
        assert_eq!(strictly(at_most(0.5, 0.25)), 0.5);
    }
}
