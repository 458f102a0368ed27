//! Numeric values of a domain: numbers, or seconds of dates.

use std::ops::Range;

use super::domain::{Cell, Domain};
use crate::schema::Kind;

const DAY: f64 = 86_400.0;
/// Every whole number up to 2^53 is exactly a float.
const EXACT: f64 = (1u64 << 53) as f64;

impl Domain {
    /// Number of a text, or seconds of a date; `None` if the text is neither, or the column is a category.
    pub fn read_number(&self, text: &str) -> Option<f64> {
        if self.kind().is_ordered() { self.parser.number(text).ok() } else { None }
    }

    /// Codes of the numbers from `low` to `high`, both included. A missing value is never among them.
    pub fn codes_between(&self, low: f64, high: f64) -> Range<u32> {
        let first = self.values.partition_point(|value| *value < low);
        let end = self.values.partition_point(|value| *value <= high);
        first as u32..end as u32
    }

    /// Smallest and largest number in a cell; `None` if it contains no number.
    pub fn ends(&self, cell: Cell) -> Option<(f64, f64)> {
        let last = (cell.last as usize).min(self.values.len().checked_sub(1)?);
        Some((*self.values.get(cell.first as usize)?, self.values[last]))
    }

    /// Granularity of the values: 1 if all numbers are whole, a day in seconds if no date has a time of day; `None` if
    /// values are continuous.
    pub fn step(&self) -> Option<f64> {
        let step = if self.kind() == Kind::Date { DAY } else { 1.0 };
        let on_grid = |value: &f64| value.abs() <= EXACT && value % step == 0.0;
        self.values.iter().all(on_grid).then_some(step)
    }
}
