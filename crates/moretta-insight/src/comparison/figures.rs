//! The figures of a comparison: the only list, from which table, page and curves are made.

use moretta_core::text::count;

use super::RunResult;

/// A figure of a comparison's rows.
#[derive(Debug, Clone, Copy)]
pub struct Figure {
    /// Short name, used as column header.
    pub name: &'static str,
    /// Description for the page.
    pub summary: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Returns the value; `None` if the run has none.
    pub value: Value,
    /// Returns the standard deviation between splits.
    pub spread: Value,
    /// Whether methods are ranked by it; smaller is better.
    pub judged: bool,
    /// Whether the page draws a curve of it.
    pub drawn: bool,
}

/// Unit of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The unit of the measure itself.
    Own,
    /// Shares of 1, printed in percent.
    Share,
    /// Records or groups.
    Count,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// A value in this unit, without its name.
    pub fn cell(self, value: f64) -> String {
        match self {
            _ if !value.is_finite() => "-".to_owned(),
            Self::Own if value >= 10_000.0 => compact(value),
            Self::Own if value >= 100.0 => format!("{value:.1}"),
            Self::Own if value >= 10.0 => format!("{value:.2}"),
            Self::Own => format!("{value:.4}"),
            Self::Share => format!("{:.1}", 100.0 * value),
            Self::Count => count(value.round() as u64),
            Self::Seconds if value < 9.995 => format!("{value:.2}"),
            Self::Seconds => format!("{value:.1}"),
            Self::Bytes => format!("{:.1}", value / 1e6),
        }
    }

    /// Name after a value or in a column header; empty for plain numbers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own | Self::Count => "",
            Self::Share => "%",
            Self::Seconds => "s",
            Self::Bytes => "MB",
        }
    }

    /// A value with its unit.
    pub fn text(self, value: f64) -> String {
        format!("{} {}", self.cell(value), self.name()).trim_end().to_owned()
    }
}

/// Three digits and a unit prefix, for sums of squares and other large numbers.
fn compact(value: f64) -> String {
    let units = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    // 999.95 and more would round to 1000, so the next unit is used.
    let (unit, name) = units.into_iter().find(|(unit, _)| value >= unit * 0.9995).unwrap_or((1.0, ""));
    match value / unit {
        small if small < 9.995 => format!("{small:.2}{name}"),
        middle if middle < 99.95 => format!("{middle:.1}{name}"),
        large => format!("{large:.0}{name}"),
    }
}

type Value = fn(&RunResult) -> Option<f64>;

impl Figure {
    const fn new(name: &'static str, unit: Unit, summary: &'static str, value: Value) -> Self {
        Self { name, summary, unit, value, spread: |_| None, judged: true, drawn: false }
    }

    const fn drawn(self) -> Self {
        Self { drawn: true, ..self }
    }
}

/// All figures, in the order of the columns.
#[rustfmt::skip]
pub const FIGURES: &[Figure] = &[
    Figure::new("gcp", Unit::Own, "global certainty penalty: share of all precision that is lost, weighted by column",
        |found| found.measures.get("gcp")).drawn(),
    Figure::new("lm", Unit::Own, "Iyengar's loss metric: mean share of the range, or of the other values, that a cell covers; summed over columns",
        |found| found.measures.get("lm")).drawn(),
    Figure::new("cm", Unit::Own, "share of records suppressed or outside their group's majority class",
        |found| found.measures.get("cm")),
    Figure::new("dm", Unit::Own, "discernibility metric: sum of squared group sizes",
        |found| found.measures.get("dm")),
    Figure::new("avg", Unit::Own, "mean group size divided by k; 1 is best",
        |found| found.measures.get("avg")),
    Figure {
        spread: |found| found.spread.map(|spread| spread.released),
        ..Figure::new("E", Unit::Share, "error of a classifier trained on the release, on held-out records",
            |found| found.errors.map(|errors| errors.released)).drawn()
    },
    Figure::new("count", Unit::Share, "mean relative error of random COUNT queries",
        |found| found.queries.count.mean).drawn(),
    Figure::new("sum", Unit::Share, "mean relative error of random SUM queries",
        |found| found.queries.sum.and_then(|sum| sum.mean)),
    Figure {
        judged: false,
        ..Figure::new("groups", Unit::Count, "groups of records with identical released quasi-identifiers", |found| Some(found.groups as f64))
    },
    Figure::new("suppressed", Unit::Count, "suppressed records",
        |found| Some(found.suppressed_rows as f64)),
    Figure::new("seconds", Unit::Seconds, "time of search and verification",
        |found| Some(found.seconds)).drawn(),
    Figure::new("memory", Unit::Bytes, "peak memory of search and verification, including the table",
        |found| found.peak_memory_bytes.map(|bytes| bytes as f64)).drawn(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short() {
        let own = [0.0484, 1.0, 12.345, 123.45, 2345.6, 478_966.0, 999_960.0, 909_746_244.0];
        let shown = own.map(|value| Unit::Own.cell(value));
        assert_eq!(shown, ["0.0484", "1.0000", "12.35", "123.5", "2345.6", "479k", "1.00M", "910M"]);
        assert_eq!(Unit::Share.text(0.1849), "18.5 %");
        assert_eq!(Unit::Seconds.text(0.163), "0.16 s");
        assert_eq!(Unit::Seconds.text(12.34), "12.3 s");
        assert_eq!(Unit::Bytes.text(72_400_000.0), "72.4 MB");
        assert_eq!(Unit::Count.text(30_162.0), "30,162");
        assert_eq!(Unit::Share.text(f64::NAN), "- %");
    }
}
