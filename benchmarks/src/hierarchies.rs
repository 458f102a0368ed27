//! Benchmark of building hierarchies over numbers from the data: running time and its growth.

use std::{error::Error, fmt::Write as _, hint::black_box, time::Instant};

use moretta_core::{
    hierarchy::{
        draw,
        numeric::{Builder, Built, DistinctValues},
    },
    text::count,
};
use moretta_pages::chart::{Axis, Chart, Line};
use moretta_papers::machine;

use crate::{best, write_chart, write_page};

const TURNS: usize = 3;
const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// Maximum values for the naive algorithm, which is quadratic.
const NAIVE: usize = 30_000;

/// Distinct values of a column with their texts and records.
struct ColumnNumbers {
    values: Vec<f64>,
    texts: Vec<Box<str>>,
    records: Vec<u64>,
}

impl ColumnNumbers {
    fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        values.dedup();
        let texts = values.iter().map(|value| value.to_string().into()).collect();
        let records = (0..values.len() as u64).map(|at| 1 + mixed(at) % 20).collect();
        Self { values, texts, records }
    }

    /// Random integers below 16 times the size.
    fn uniform(size: usize) -> Self {
        let mut values: Vec<u64> = (0..2 * size as u64).map(|at| mixed(at) % (16 * size as u64)).collect();
        values.sort_unstable();
        values.dedup();
        values.truncate(size);
        Self::new(values.into_iter().map(|value| value as f64).collect())
    }

    /// Squares: the gaps between neighbors grow.
    fn growing_gaps(size: usize) -> Self {
        Self::new((0..size as u64).map(|at| (at * at) as f64).collect())
    }

    /// Powers of two: the deepest tree that floats allow.
    fn doubling() -> Self {
        Self::new((-1000..1000).map(|power| 2f64.powi(power)).collect())
    }

    fn distinct(&self) -> DistinctValues<'_> {
        DistinctValues { values: &self.values, texts: &self.texts, records: &self.records }
    }

    /// Returns the levels of the tree and the best time in seconds.
    fn build(&self, builder: &Builder) -> (usize, f64) {
        let built = Built { builder: builder.clone(), levels: None };
        let mut seconds = Vec::new();
        let mut levels = 0;
        for _ in 0..TURNS {
            let start = Instant::now();
            let tree = built.tree(self.distinct());
            seconds.push(start.elapsed().as_secs_f64());
            levels = draw::summary(&tree).levels;
        }
        (levels, best(&seconds))
    }
}

/// Hashes a number to a pseudo-random one.
fn mixed(at: u64) -> u64 {
    let mut x = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// IOTF as published: each merge scans all neighboring pairs. Returns the intervals without labels.
fn naive(values: &[f64]) -> Vec<(f64, f64)> {
    let mut nodes: Vec<(f64, f64)> = values.iter().map(|&value| (value, value)).collect();
    let mut merged = Vec::new();
    while nodes.len() > 1 {
        let mut nearest = (f64::INFINITY, 0);
        for (at, pair) in nodes.windows(2).enumerate() {
            let size = pair[1].1 - pair[0].0;
            if size < nearest.0 {
                nearest = (size, at);
            }
        }
        nodes[nearest.1].1 = nodes.remove(nearest.1 + 1).1;
        merged.push(nodes[nearest.1]);
    }
    merged
}

fn builders() -> [(&'static str, Builder); 6] {
    let parts = vec![32, 16, 8, 4, 2];
    [
        ("IOTF", Builder::Iotf),
        ("OTF", Builder::Otf),
        ("Chu", Builder::Chu { threshold: 2 }),
        ("Han", Builder::Han { fan_out: 5, threshold: 4 }),
        ("equal width", Builder::EqualWidth(parts.clone())),
        ("equal frequency", Builder::EqualFrequency(parts)),
    ]
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let uniform: Vec<ColumnNumbers> = SIZES.iter().map(|&size| ColumnNumbers::uniform(size)).collect();
    let growing: Vec<ColumnNumbers> = SIZES.iter().map(|&size| ColumnNumbers::growing_gaps(size)).collect();
    let head = |first: &str| {
        let sizes: String = SIZES.iter().map(|&size| format!(" {} |", count(size as u64))).collect();
        format!("| {first} |{sizes} growth |\n| --- |{}\n", " ---: |".repeat(SIZES.len() + 1))
    };
    let mut lines = Vec::new();
    let mut table = |columns: &[ColumnNumbers], name: &'static str, builder: &Builder, drawn: bool| {
        let mut row = format!("| {name} |");
        let mut points = Vec::new();
        for column in columns {
            let (levels, seconds) = column.build(builder);
            let _ = write!(row, " {seconds:.4} s, {levels} levels |");
            points.push((column.values.len() as f64, seconds));
        }
        let growth = growth(&points);
        if drawn {
            lines.push(Line { name: name.to_owned(), points });
        }
        row + &format!(" {growth:.2} |\n")
    };
    let mut uniform_rows = head("uniform values");
    let mut growing_rows = head("growing gaps");
    for (name, builder) in builders() {
        uniform_rows += &table(&uniform, name, &builder, true);
        growing_rows += &table(&growing, name, &builder, false);
    }
    let mut rival = String::from(
        "| distinct values | as published, s | here, s | times as fast |\n| ---: | ---: | ---: | ---: |\n",
    );
    let mut points = Vec::new();
    for size in [1_000, 3_000, 10_000, NAIVE] {
        let column = ColumnNumbers::uniform(size);
        let start = Instant::now();
        black_box(naive(&column.values));
        let theirs = start.elapsed().as_secs_f64();
        let (_, ours) = column.build(&Builder::Iotf);
        writeln!(rival, "| {} | {theirs:.4} | {ours:.4} | {:.0} |", count(size as u64), theirs / ours)?;
        points.push((size as f64, theirs));
    }
    lines.push(Line { name: "IOTF as published".to_owned(), points });
    let mut deep = String::from("| | levels | s |\n| --- | ---: | ---: |\n");
    for (name, builder) in builders() {
        let (levels, seconds) = ColumnNumbers::doubling().build(&builder);
        writeln!(deep, "| {name} | {} | {seconds:.4} |", count(levels as u64))?;
    }
    let chart = Chart {
        title: "Building from uniform values".to_owned(),
        x: Axis { title: "distinct values", log: true },
        y: Axis { title: "seconds", log: true },
        lines,
    };
    let chart = write_chart("hierarchies.svg", "Seconds by distinct values", &chart)?;
    let text = format!(
        "# Hierarchies built from the data\n\nMade by `benchmarks/run hierarchies` on {}.\n\nTime from the sorted distinct values, with texts and counts, to the tree with its labels; best of {TURNS} turns. The last\ncolumn is the growth from ten thousand to a million values, relative to m log m: 1 means growth like m log m. Trees of\na million values no longer fit the processor's cache.\n\n{uniform_rows}\n{growing_rows}\n## IOTF and the published algorithm\n\nThe published IOTF scans all neighbors for each merge, O(m^2); its time excludes building the tree.\n\n{rival}\n{chart}\n## The deepest trees\n\nTwo thousand values, each twice the previous one: IOTF merges them one by one, so the tree has as many levels as\nvalues. Floating-point numbers do not allow a much longer chain.\n\n{deep}",
        machine::described()
    );
    write_page("hierarchies.md", &text)
}

/// Ratio of the last point's time to the second point's, divided by the ratio that m log m predicts.
fn growth(points: &[(f64, f64)]) -> f64 {
    let unit = |(size, seconds): (f64, f64)| seconds / (size * size.ln());
    unit(points[points.len() - 1]) / unit(points[1])
}
