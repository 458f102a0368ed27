//! Exact decimal numbers.
//!
//! Beyond 2^53 neighboring whole numbers are the same float, and few decimal fractions are floats at all. Numbers that
//! are printed in labels, and comparisons that decide whether a label contains a value, are exact and use this type;
//! losses and distances use floats.

use std::{cmp::Ordering, fmt, str::FromStr};

use serde::{Serialize, Serializer};

/// A decimal number of any size and precision. Equal numbers have equal fields, however they were written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// False for zero.
    negative: bool,
    /// Without zeros at either end; empty for zero.
    digits: String,
    /// Power of ten of the last digit; 0 for zero.
    exponent: i64,
}

/// Largest power of ten, in either direction, that is printed with all its zeros: more than any float has.
const MAX_ZEROS: i64 = 400;

impl Decimal {
    /// Parses a number as Rust parses floats (`12`, `-0.5`, `+1e3`, `.5`); `None` for any other text, infinities and
    /// NaN included, and for exponents beyond 32 bits.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, i64::from(exponent.parse::<i32>().ok()?)),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then(|| Self::new(negative, &digits, exponent - fraction.len() as i64))
    }

    /// The number that a float prints as, which is the shortest that reads as the same float; `None` unless finite.
    pub fn of_float(value: f64) -> Option<Self> {
        Self::parse(&format!("{value:e}"))
    }

    /// The number `units` times ten to the power of `exponent`.
    pub(crate) fn of_units(units: i128, exponent: i64) -> Self {
        Self::new(units < 0, &units.unsigned_abs().to_string(), exponent)
    }

    fn new(negative: bool, digits: &str, exponent: i64) -> Self {
        let trimmed = digits.trim_end_matches('0');
        let exponent = exponent + (digits.len() - trimmed.len()) as i64;
        let digits = trimmed.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            Self { negative: false, digits, exponent: 0 }
        } else {
            Self { negative, digits, exponent }
        }
    }

    /// Power of ten of the last digit that is not 0.
    pub(crate) fn exponent(&self) -> i64 {
        self.exponent
    }

    /// The number as a multiple of ten to the power of `exponent`; `None` unless it is a whole multiple that fits.
    pub(crate) fn units(&self, exponent: i64) -> Option<i128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let zeros = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        let units = self.digits.parse::<i128>().ok()?.checked_mul(10i128.checked_pow(zeros)?)?;
        Some(if self.negative { -units } else { units })
    }

    /// The greatest whole multiple of ten to the power of `exponent` that is not above the number; `None` if it does
    /// not fit.
    pub(crate) fn floor_units(&self, exponent: i64) -> Option<i128> {
        let dropped = match exponent.checked_sub(self.exponent)? {
            ..=0 => return self.units(exponent),
            dropped => usize::try_from(dropped).ok()?,
        };
        let kept = self.digits.get(..self.digits.len().saturating_sub(dropped))?;
        let units = if kept.is_empty() { 0 } else { kept.parse::<i128>().ok()? };
        // The last digit is not 0, so the part that is dropped is not, either.
        Some(if self.negative { -units - 1 } else { units })
    }

    /// Whether it is above 0.
    pub fn is_positive(&self) -> bool {
        !self.negative && !self.digits.is_empty()
    }

    /// Digits without zeros at either end, and exponent: equal for equal numbers.
    pub(crate) fn scientific(&self) -> String {
        let Self { negative, digits, exponent } = self;
        match digits.as_str() {
            "" => "0".to_owned(),
            digits => format!("{}{digits}e{exponent}", if *negative { "-" } else { "" }),
        }
    }

    /// Sign as -1, 0 or 1.
    fn signum(&self) -> i8 {
        match (self.negative, self.digits.is_empty()) {
            (_, true) => 0,
            (true, false) => -1,
            (false, false) => 1,
        }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let power = |number: &Self| number.exponent + number.digits.len() as i64;
        // Without zeros at either end, digits that start at the same power of ten compare as texts.
        let size = || power(self).cmp(&power(other)).then_with(|| self.digits.cmp(&other.digits));
        let by_size = || if self.negative { size().reverse() } else { size() };
        self.signum().cmp(&other.signum()).then_with(by_size)
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::of_units(i128::from(value), 0)
    }
}

impl FromStr for Decimal {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text).ok_or("not a number")
    }
}

/// Without exponent, as floats are printed.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { negative, digits, exponent } = self;
        let sign = if *negative { "-" } else { "" };
        let fraction = exponent.unsigned_abs() as usize;
        match digits.len() {
            0 => f.write_str("0"),
            _ if exponent.abs() > MAX_ZEROS => f.write_str(&self.scientific()),
            _ if *exponent >= 0 => write!(f, "{sign}{digits}{}", "0".repeat(fraction)),
            len if len > fraction => write!(f, "{sign}{}.{}", &digits[..len - fraction], &digits[len - fraction..]),
            len => write!(f, "{sign}0.{}{digits}", "0".repeat(fraction - len)),
        }
    }
}

/// As a float if that is exact, otherwise as a whole number: a policy has no other numbers.
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let float: f64 = self.to_string().parse().map_err(serde::ser::Error::custom)?;
        let whole = self.units(0).and_then(|units| i64::try_from(units).ok());
        match whole.filter(|_| Self::of_float(float).as_ref() != Some(self)) {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(float),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn equal_numbers_are_equal_however_written() {
        for same in
            [["1000", "1e3"], ["1000.0", "+01000"], ["-0", "0e9"], [".5", "5e-1"], ["1.", "1"], ["-0.10", "-1E-1"]]
        {
            assert_eq!(decimal(same[0]), decimal(same[1]), "{same:?}");
        }
        for wrong in
            ["", "+", "-", ".", "e5", "1e", "1e+", "inf", "NaN", "1_0", " 1", "1,5", "0x1", "--1", "1e99999999999", "٣"]
        {
            assert_eq!(Decimal::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_are_written_so_that_they_are_read_back() {
        for (text, written) in
            [("5", "5.0"), ("0.1", "0.1"), ("9007199254740993", "9007199254740993"), ("1e22", "1e+22")]
        {
            let json = serde_json::to_string(&decimal(text)).unwrap();
            assert_eq!((json.as_str(), decimal(&json)), (written, decimal(text)));
        }
        assert_eq!(decimal("1e500").to_string(), "1e500");
    }

    /// Texts of numbers of all sizes; many are neighbors.
    fn texts() -> impl Strategy<Value = String> {
        let mantissa = prop_oneof![-20i64..20, (1i64 << 53) - 9..(1i64 << 53) + 9, any::<i64>()];
        (mantissa, prop_oneof![Just(0), -3i32..3, -330i32..290])
            .prop_map(|(mantissa, exponent)| format!("{mantissa}e{exponent}"))
    }

    /// Sign and digits around the point, padded so that they compare as texts.
    fn padded(number: &Decimal) -> (bool, String) {
        let text = number.to_string();
        let unsigned = text.trim_start_matches('-');
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        (text.starts_with('-'), format!("{whole:0>400}.{fraction:0<400}"))
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_padded_digits(a in texts(), b in texts()) {
            let (a, b) = (decimal(&a), decimal(&b));
            let ((minus_a, x), (minus_b, y)) = (padded(&a), padded(&b));
            let expected = match (minus_a, minus_b) {
                (true, true) => y.cmp(&x),
                (false, false) => x.cmp(&y),
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
            };
            prop_assert_eq!(a.cmp(&b), expected);
            prop_assert_eq!(decimal(&a.to_string()), a);
        }

        #[test]
        fn floats_print_as_floats_do(value in any::<f64>()) {
            let number = Decimal::of_float(value);
            prop_assert_eq!(number.map(|number| number.to_string()), value.is_finite().then(|| format!("{}", value + 0.0)));
        }
    }
}
