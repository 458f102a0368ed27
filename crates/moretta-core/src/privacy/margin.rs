//! Margins: the distance of a figure from its limit, as a share of the limit, so that margins of different models can
//! be compared. Positive inside the limit, 0 at it, negative outside.
//!
//! A figure computed in floats equals its limit if they differ by less than [`TOLERANCE`] (relative to the limit if
//! that is above 1; [`ShareLimit`](super::ShareLimit) has the same tolerance, as shares are at most 1). Equal is
//! allowed, except where a definition is strict. Records are whole numbers and need no tolerance.

/// Rounding tolerance of all models.
pub(super) const TOLERANCE: f64 = 1e-9;

/// The margin of a figure that must not exceed its limit.
pub(super) fn at_most(limit: f64, figure: f64) -> f64 {
    share_of_limit(limit - figure, limit)
}

/// The margin of a figure that must reach its limit.
pub(super) fn at_least(limit: f64, figure: f64) -> f64 {
    share_of_limit(figure - limit, limit)
}

/// The same margin if the limit itself is not allowed.
pub(super) fn strictly(margin: f64) -> f64 {
    if margin == 0.0 { -TOLERANCE } else { margin }
}

/// A limit of 0 has no shares: there the distance itself is the margin.
fn share_of_limit(distance: f64, limit: f64) -> f64 {
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
    fn rounding_does_not_decide() {
        assert_eq!((at_most(0.3, 0.1 + 0.2), at_least(0.3, 0.1 + 0.2)), (0.0, 0.0));
        assert_eq!(at_least(1e12, 1e12 - 1.0), 0.0);
        assert!(strictly(at_most(0.3, 0.1 + 0.2)) < 0.0);
        assert_eq!(strictly(at_most(0.5, 0.25)), 0.5);
    }
}
