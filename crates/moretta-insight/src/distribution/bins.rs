//! Bars over numbers and dates: they start at round values and disclose neither the minimum nor the maximum.
//!
//! Steps of numbers are 1, 2 or 5 times a power of ten; steps of dates are days, months, quarters, years, decades and
//! longer. The step is the smallest one that divides the middle of the records into at most about [`MAX_BINS`] parts.
//! The middle leaves out 1 % of the records at either end, or `floor - 1` records if these are more (`floor` is the
//! minimum number of records per bar). So at least `floor` records lie at or beyond each of its ends. Values outside
//! the middle belong to the first and last bar, which are open: a single very large value is not disclosed, and it does
//! not squeeze all others into one bar. If the middle is one value, there is one bar.
//!
//! ```text
//! ages 17 (3 records), 23 (9), 37 (11), 38 (4), 61 (20), 90 (1); floor 10
//! middle:  23 .. 61                    the 10th smallest and the 10th largest
//! step:    5, edges at 20, 25, 30, ..  (61 - 23) / 16 = 2.4; the next step is 5
//! merged:  up to 24 | 25–39 | 40 or more
//! ```
//!
//! Bins with too few records are merged ([`Bins::merged`]). The records of a label without printed ends, such as `*`,
//! are distributed over the bars in proportion to their widths. The first and last bar count as one step wide, so that
//! this does not disclose how far their values reach.

use chrono::{DateTime, Datelike, NaiveDate};
use moretta_core::{hierarchy::Domain, schema::Kind};

use super::{Bar, ColumnCounts, spread};

/// Approximate maximum number of bars of a histogram, for readability. Not tuned.
const MAX_BINS: f64 = 16.0;

/// Share of the records that is ignored at either end when the step is chosen. Not tuned.
const TAIL_SHARE: f64 = 0.01;

const DAY: f64 = 86_400.0;

/// Calendar steps in years. With the longest one, 16 bars suffice for all years that `chrono` supports, about 500,000.
const YEAR_STEPS: [i64; 15] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];

/// Consecutive bins, each from one edge up to but excluding the next.
#[derive(Debug, Clone)]
pub(super) struct Bins {
    /// Starts of the bins, and the end of the last bin. Values before the first edge belong to the first bin, values
    /// after the last edge to the last.
    pub(super) edges: Vec<f64>,
    step: Step,
    /// Distance of neighboring values if they lie on a grid ([`Domain::step`]).
    pub(super) grid: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// 1, 2 or 5 times ten to this power.
    Decimal(i32),
    Day,
    Month,
    Quarter,
    Years(i64),
    /// A single bin with all values.
    Whole,
}

/// The bars of a column of numbers or dates.
pub(super) fn bars(domain: &Domain, counts: &ColumnCounts<'_>, floor: u64) -> Vec<Bar> {
    let bins = Bins::new(domain, counts.carriers, floor);
    let before = bins.count(domain, counts.before);
    let after = spread::over_bins(domain, counts, &bins);
    let bar = |(bin, before)| Bar { label: bins.label(bin), before, after: after.bins[bin], sure: after.sure[bin] };
    let mut bars: Vec<Bar> = before.into_iter().enumerate().map(bar).collect();
    let missing = counts.missing_carriers(domain);
    let present = counts.carriers.iter().sum::<u64>() - missing;
    let is_rare = missing < floor || present < floor;
    add_missing(&mut bars, counts.missing(domain), after.missing, is_rare);
    bars
}

/// Adds a bar of missing values or, if too few have one or too few have none, adds the missing values to the last bar.
fn add_missing(bars: &mut Vec<Bar>, before: u64, after: f64, is_rare: bool) {
    if before == 0 && after == 0.0 {
        return;
    }
    match bars.last_mut() {
        Some(last) if is_rare => {
            last.label += " or missing";
            last.before += before;
            last.after += after;
            last.sure += after;
        }
        _ => bars.push(Bar { label: "missing".to_owned(), before, after, sure: after }),
    }
}

/// Joins bins from left to right until each part has at least `floor` records; the last part takes the remaining bins.
/// Returns the first and last bin of each part.
fn parts(before: &[u64], floor: u64) -> Vec<(usize, usize)> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let (mut first, mut records) = (0, 0);
    for (bin, here) in before.iter().enumerate() {
        records += here;
        if records >= floor {
            parts.push((first, bin));
            (first, records) = (bin + 1, 0);
        }
    }
    match parts.last_mut() {
        Some(last) => last.1 = before.len() - 1,
        None => parts.push((0, before.len() - 1)),
    }
    parts
}

impl Bins {
    /// `before` is the number of original records by code, or other weights. Every bin has at least `floor` of them,
    /// unless there is only one bin.
    pub(super) fn new(domain: &Domain, before: &[u64], floor: u64) -> Self {
        let grid = domain.step();
        let whole = Self { edges: vec![0.0, 0.0], step: Step::Whole, grid };
        let Some((low, high)) = middle(domain, before, floor) else { return whole };
        let divided = if domain.kind() == Kind::Date { dates(low, high) } else { numbers(low, high, grid) };
        let merged = divided.and_then(|(edges, step)| {
            let bins = Self { edges, step, grid };
            bins.merged(&bins.count(domain, before), floor)
        });
        merged.unwrap_or(whole)
    }

    /// Merges bins until each has at least `floor` records; `None` if only one remains. The first and last merged bin
    /// keep only the edges of the original bin closest to the middle, which hides how far the values reach.
    fn merged(&self, before: &[u64], floor: u64) -> Option<Self> {
        let parts = parts(before, floor);
        let ([(_, first), .., (last, _)], step) = (&parts[..], self.step) else { return None };
        let mut edges = vec![self.edges[*first]];
        edges.extend(parts[1..].iter().map(|(first, _)| self.edges[*first]));
        edges.push(self.edges[last + 1]);
        Some(Self { edges, step, grid: self.grid })
    }

    /// Records of each bin.
    fn count(&self, domain: &Domain, before: &[u64]) -> Vec<u64> {
        let mut bins = vec![0; self.len()];
        for (code, records) in before.iter().enumerate() {
            if let Some(value) = domain.number(code as u32) {
                bins[self.bin(value)] += records;
            }
        }
        bins
    }

    pub(super) fn len(&self) -> usize {
        self.edges.len() - 1
    }

    /// The bin of a value.
    pub(super) fn bin(&self, value: f64) -> usize {
        self.edges[1..self.len()].partition_point(|edge| *edge <= value)
    }

    /// Text for a bin; the first and last are open.
    fn label(&self, bin: usize) -> String {
        let (from, to) = (self.edges[bin], self.edges[bin + 1]);
        match (bin == 0, bin + 1 == self.len()) {
            (true, true) => "all values".to_owned(),
            (true, false) => match self.last_value_before(to) {
                Some(end) => format!("up to {end}"),
                None => format!("below {}", self.text(to)),
            },
            (false, true) if self.is_date() => format!("{} or later", self.text(from)),
            (false, true) => format!("{} or more", self.text(from)),
            (false, false) => self.range(from, to),
        }
    }

    /// `20–24` if values lie on a grid, `0.5 to 1.5` if they do not.
    fn range(&self, from: f64, to: f64) -> String {
        let start = self.text(from);
        let decade = || months_of(from).is_some_and(|from| months_of(to) == Some(from + 120));
        if self.step == Step::Years(10) && decade() {
            return format!("{start}s");
        }
        match self.last_value_before(to) {
            Some(end) if end == start => start,
            Some(end) if start.starts_with('−') => format!("{start} – {end}"),
            Some(end) => format!("{start}–{end}"),
            None => format!("{start} to {}", self.text(to)),
        }
    }

    fn is_date(&self) -> bool {
        !matches!(self.step, Step::Decimal(_) | Step::Whole)
    }

    /// Text of the last value before an edge; `None` for numbers without a grid.
    fn last_value_before(&self, edge: f64) -> Option<String> {
        match self.step {
            Step::Decimal(_) => self.grid.map(|grid| self.text(edge - grid)),
            // A second before midnight is still on the last day, month or year.
            _ => Some(self.text(edge - 1.0)),
        }
    }

    fn text(&self, edge: f64) -> String {
        let date = || DateTime::from_timestamp(edge as i64, 0).map(|at| at.date_naive()).unwrap_or_default();
        match self.step {
            Step::Decimal(power) => number_text(edge, power),
            Step::Day => date().to_string(),
            Step::Month => date().format("%Y-%m").to_string(),
            Step::Quarter => format!("{}-Q{}", date().year(), date().month().div_ceil(3)),
            Step::Years(_) => date().year().to_string(),
            Step::Whole => String::new(),
        }
    }
}

/// Formats a number with as many decimals as a step of 1, 2 or 5 times ten to this power has.
fn number_text(value: f64, power: i32) -> String {
    let text = match power {
        -6..=12 => format!("{:.*}", (-power).max(0) as usize, value.abs()),
        _ => format!("{:e}", value.abs()),
    };
    if value < 0.0 { format!("−{text}") } else { text }
}

/// Returns the smallest and the largest value of the middle of the records; `None` if the first is not below the
/// second.
///
/// At least `floor` records lie at or below the first, and at least `floor` at or above the second. If 1 % at either
/// end leaves only one value, just `floor - 1` records are left out.
fn middle(domain: &Domain, before: &[u64], floor: u64) -> Option<(f64, f64)> {
    let values = || {
        let number = |(code, &records): (usize, &u64)| domain.number(code as u32).map(|value| (value, records));
        before.iter().enumerate().filter_map(number).filter(|(_, records)| *records > 0)
    };
    let records: u64 = values().map(|(_, records)| records).sum();
    let value_at = |rank: u64| {
        let mut passed = 0;
        values().find_map(|(value, here)| {
            passed += here;
            (passed > rank).then_some(value)
        })
    };
    let between = |tail: u64| {
        let (low, high) = (value_at(tail)?, value_at(records.checked_sub(tail + 1)?)?);
        (low < high).then_some((low, high))
    };
    let min_tail = floor.saturating_sub(1);
    between(min_tail.max((records as f64 * TAIL_SHARE) as u64)).or_else(|| between(min_tail))
}

/// Edges at multiples of 1, 2 or 5 times a power of ten; `None` if the range is empty, or if the edges are not
/// distinct finite floats.
fn numbers(low: f64, high: f64, grid: Option<f64>) -> Option<(Vec<f64>, Step)> {
    // Halved, so that a range near the largest float does not overflow.
    let ideal_step = (high / 2.0 - low / 2.0) / (MAX_BINS / 2.0);
    let min_step = grid.map_or(ideal_step, |grid| ideal_step.max(grid));
    if !(ideal_step > 0.0 && min_step.is_normal()) {
        return None;
    }
    // Starts one power lower, in case the logarithm is rounded up.
    let start = min_step.log10().floor() as i32 - 1;
    let steps = (start..=start + 3).flat_map(|power| [1, 2, 5].map(|digit| (digit, power)));
    let multiple = |factor: f64, digit: u32, power: i32| -> f64 {
        // Parsed as a decimal, because 3 * 0.1 is not 0.3 in floats.
        format!("{}e{power}", factor * f64::from(digit)).parse().unwrap_or(f64::INFINITY)
    };
    let (digit, power) = steps.into_iter().find(|&(digit, power)| {
        let step = multiple(1.0, digit, power);
        step >= min_step && grid.is_none_or(|_| power >= 0)
    })?;
    let step = multiple(1.0, digit, power);
    // 1e-9 absorbs the rounding error of the division.
    let first = (low / step + 1e-9).floor();
    let last = (high / step + 1e-9).floor().min(first + MAX_BINS + 1.0);
    let edges: Vec<f64> =
        (0..=(last - first) as u32 + 1).map(|index| multiple(first + f64::from(index), digit, power)).collect();
    are_finite_and_ascending(&edges).then_some((edges, Step::Decimal(power)))
}

fn are_finite_and_ascending(edges: &[f64]) -> bool {
    edges.windows(2).all(|two| two[0] < two[1]) && edges.iter().all(|edge| edge.is_finite())
}

/// Edges at the beginning of days, months, quarters or years; `None` if all dates are on one day or an edge is outside
/// the supported years.
pub(super) fn dates(low: f64, high: f64) -> Option<(Vec<f64>, Step)> {
    let (first, last) = ((low / DAY).floor(), (high / DAY).floor());
    if first == last {
        return None;
    }
    if last - first < MAX_BINS {
        let days = (last - first) as u32 + 1;
        return Some(((0..=days).map(|day| (first + f64::from(day)) * DAY).collect(), Step::Day));
    }
    let (first, last) = (months_of(low)?, months_of(high)?);
    let fits = |(months, _): &(i64, Step)| last.div_euclid(*months) - first.div_euclid(*months) < MAX_BINS as i64;
    let years = YEAR_STEPS.map(|years| (years * 12, Step::Years(years)));
    let (months, step) = [(1, Step::Month), (3, Step::Quarter)].into_iter().chain(years).find(fits)?;
    let parts = first.div_euclid(months)..=last.div_euclid(months) + 1;
    let edges: Vec<f64> = parts.map(|part| seconds_of(part * months)).collect::<Option<_>>()?;
    are_finite_and_ascending(&edges).then_some((edges, step))
}

/// Number of the month of a timestamp, counted from January of the year 0; `None` outside the supported years.
fn months_of(seconds: f64) -> Option<i64> {
    let date = DateTime::from_timestamp(seconds.floor() as i64, 0)?.date_naive();
    Some(i64::from(date.year()) * 12 + i64::from(date.month0()))
}

/// Timestamp of the beginning of a month, numbered as in [`months_of`]; `None` outside the supported years.
fn seconds_of(months: i64) -> Option<f64> {
    let year = i32::try_from(months.div_euclid(12)).ok()?;
    let date = NaiveDate::from_ymd_opt(year, months.rem_euclid(12) as u32 + 1, 1)?;
    Some(date.and_hms_opt(0, 0, 0)?.and_utc().timestamp() as f64)
}
