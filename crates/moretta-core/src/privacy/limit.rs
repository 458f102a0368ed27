//! Limits on the counts of a group, for searches that keep counts instead of records.

use super::TOLERANCE;
use crate::ids::AttributeId;

/// A limit on the counts of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// Minimum number of records.
    Records(u64),
    /// Range of the share of its records that carry a value.
    Share {
        /// The sensitive or class column.
        attribute: AttributeId,
        /// Code of the value in that column.
        value: u32,
        /// The shares that satisfy the limit.
        share: ShareLimit,
    },
}

/// The shares (0 to 1) of a value that a group may have.
///
/// A group without the value has the share 0, which violates every lower limit. An empty group has no share and is not
/// judged. Limits are closed under union: the share of a union is between the shares of its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShareLimit {
    /// Exclusive lower limit; negative infinity if there is none.
    min: f64,
    max: f64,
    /// Shares of at least `max + max_tolerance` are too large: positive if `max` itself is allowed, otherwise negative.
    max_tolerance: f64,
}

impl ShareLimit {
    /// Shares up to `max`, equal included: no lower limit.
    pub fn at_most(max: f64) -> Self {
        Self { min: f64::NEG_INFINITY, max, max_tolerance: TOLERANCE }
    }

    /// Shares above `min` and below `max`. A share that equals one of them up to the tolerance is not allowed.
    ///
    /// The tolerance of these limits is relative to the limit. A share is a quotient of counts, and such a limit is a
    /// multiple of one, so their rounding errors are relative, too. An absolute tolerance would be larger than the
    /// limits of a rare value: if one record in 10^10 carries it, then even its share in the whole table, which is
    /// between its limits, would count as equal to them.
    pub fn between(min: f64, max: f64) -> Self {
        Self { min, max, max_tolerance: -TOLERANCE * max }
    }

    /// The shares that both limits allow.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let other_is_stricter = other.max - self.max < self.max_tolerance - other.max_tolerance;
        let upper = if other_is_stricter { other } else { self };
        Self { min: self.min.max(other.min), ..upper }
    }

    /// Whether a group with this share satisfies the limit.
    pub fn allows(&self, share: f64) -> bool {
        !self.is_too_small(share) && !self.is_too_large(share)
    }

    /// The distance of a share from the nearer limit, as a share of that limit: negative if it is not allowed.
    pub fn margin(&self, share: f64) -> f64 {
        let below = if self.max > 0.0 { (self.max - share) / self.max } else { self.max - share };
        let above = if self.min > 0.0 { (share - self.min) / self.min } else { f64::INFINITY };
        let margin = below.min(above);
        if self.allows(share) { margin.max(0.0) } else { margin.min(-TOLERANCE) }
    }

    /// Whether there is a lower limit.
    pub fn has_lower(&self) -> bool {
        self.min > f64::NEG_INFINITY
    }

    pub(crate) fn is_too_small(&self, share: f64) -> bool {
        share - self.min <= TOLERANCE * self.min
    }

    pub(crate) fn is_too_large(&self, share: f64) -> bool {
        share - self.max >= self.max_tolerance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upper_limit_allows_equal_shares() {
        let limit = ShareLimit::at_most(0.75);
        assert!(!limit.has_lower());
        for share in [0.0, 0.5, 0.75, 0.75 + 5e-10] {
            assert!(limit.allows(share), "{share}");
        }
        for share in [0.75 + 2e-9, 0.8, 1.0] {
            assert!(!limit.allows(share), "{share}");
        }
        assert!(ShareLimit::at_most(0.0).allows(0.0));
    }

    #[test]
    fn a_margin_is_a_share_of_the_nearer_limit() {
        let limit = ShareLimit::between(0.2, 0.5);
        for (share, margin) in [(0.0, -1.0), (0.1, -0.5), (0.3, 0.4), (0.45, 0.1), (1.0, -1.0)] {
            assert!((limit.margin(share) - margin).abs() < 1e-12, "{share}: {}", limit.margin(share));
        }
        assert!(limit.margin(0.2) < 0.0 && limit.margin(0.5) < 0.0);
        assert_eq!((ShareLimit::at_most(0.5).margin(0.5), ShareLimit::at_most(0.5).margin(0.25)), (0.0, 0.5));
    }

    #[test]
    fn strict_limits_exclude_equal_shares() {
        let limit = ShareLimit::between(0.2, 0.5);
        assert!(limit.has_lower());
        for share in [0.2 + 1e-9, 0.3, 0.5 - 1e-9] {
            assert!(limit.allows(share), "{share}");
        }
        for share in [0.0, 0.1, 0.2 - 1e-10, 0.2, 0.2 + 1e-10, 0.5 - 1e-10, 0.5, 0.5 + 1e-10, 1.0] {
            assert!(!limit.allows(share), "{share}");
        }
        // The value must occur.
        assert!(!ShareLimit::between(0.0, 0.5).allows(0.0));
        assert!(ShareLimit::between(0.0, 0.5).allows(1e-15));
    }

    #[test]
    fn strict_limits_of_rare_values_are_as_precise_as_others() {
        for exponent in 0..16 {
            let share = 0.1f64.powi(exponent);
            let limit = ShareLimit::between(share / 2.0, share * 2.0);
            assert!(limit.allows(share) && limit.allows(share / 1.99) && limit.allows(share * 1.99), "{share}");
            assert!(!limit.allows(share / 2.0) && !limit.allows(share * 2.0) && !limit.allows(0.0), "{share}");
        }
    }

    #[test]
    fn rounding_does_not_hide_that_a_share_equals_a_strict_limit() {
        let delta = 1.5f64.log2();
        for records in 1..200u32 {
            let share = 2.0 / f64::from(2 + records);
            let limit = ShareLimit::between(share * (-delta).exp2(), share * delta.exp2());
            // 2/3 and 3/2 of the share, as quotients of counts.
            assert!(!limit.allows(4.0 / f64::from(6 + 3 * records)), "{records}");
            assert!(!limit.allows(3.0 / f64::from(2 + records)), "{records}");
            assert!(limit.allows(share), "{records}");
        }
    }

    #[test]
    fn two_limits_together_allow_what_both_allow() {
        let limits = [
            ShareLimit::at_most(0.4),
            ShareLimit::at_most(0.5),
            ShareLimit::between(0.1, 0.5),
            ShareLimit::between(0.2, 0.4),
            ShareLimit::between(0.4, 0.9),
        ];
        let near = |limit: f64| [-2e-9, -1e-10, 0.0, 1e-10, 2e-9].map(|difference| limit + difference);
        for (one, other) in limits.iter().flat_map(|one| limits.iter().map(move |other| (*one, *other))) {
            for share in [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9, 1.0].into_iter().flat_map(near) {
                let both = one.allows(share) && other.allows(share);
                assert_eq!(one.and(other).allows(share), both, "{share}: {one:?} and {other:?}");
            }
        }
    }
}
