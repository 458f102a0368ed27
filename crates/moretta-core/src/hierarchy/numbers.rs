//! The numbers of a column of numbers, and the seconds of one of dates.

use std::ops::Range;

use super::domain::{Cell, Domain};
use crate::schema::Kind;

const DAY: f64 = 86_400.0;
/// Up to here every whole number is a float of its own.
const EXACT: f64 = (1u64 << 53) as f64;

impl Domain {
    /// The number or the seconds that a text stands for in this column; none where it stands for none.
    pub fn read_number(&self, text: &str) -> Option<f64> {
        if self.kind().is_ordered() { self.parser.number(text).ok() } else { None }
    }

    /// The codes of the numbers from `low` to `high`, both inside. A missing value is never among them.
    pub fn codes_between(&self, low: f64, high: f64) -> Range<u32> {
        let first = self.values.partition_point(|value| *value < low);
        let end = self.values.partition_point(|value| *value <= high);
        first as u32..end as u32
    }

    /// The least and the greatest number in a cell; none where it has none.
    pub fn ends(&self, cell: Cell) -> Option<(f64, f64)> {
        let last = (cell.last as usize).min(self.values.len().checked_sub(1)?);
        Some((*self.values.get(cell.first as usize)?, self.values[last]))
    }

    /// From one value to the next that could be: 1 where all numbers are whole, a day where no date has a time of day.
    /// None where there could always be one between two.
    pub fn step(&self) -> Option<f64> {
        let step = if self.kind() == Kind::Date { DAY } else { 1.0 };
        let on_grid = |value: &f64| value.abs() <= EXACT && value % step == 0.0;
        self.values.iter().all(on_grid).then_some(step)
    }
}
