//! Benchmark of top-down and bottom-up local recoding compared with Mondrian: growth of the running time, and effect of
//! blocks. `moretta reproduce 4` measures the information loss.

use std::{error::Error, fmt::Write as _};

use moretta_core::{hierarchy::Hierarchies, text::count};
use moretta_pages::chart::Line;
use moretta_papers::{
    adult::{BOTH, SetUp, TWO_TAXONOMIES},
    data::{Data, Random, TextRows},
    error::PaperError,
    experiment::ExperimentTable,
    machine,
};

use crate::{Run, data, write_growth, write_page};

const ADULT: SetUp = TWO_TAXONOMIES;
const FOUR_NUMBERS: SetUp = SetUp::of_numbers(&["A1", "A2", "A3", "A4"]);
const SIX_NUMBERS: SetUp = SetUp::of_numbers(&["A1", "A2", "A3", "A4", "A5", "A6"]);
/// Methods: name in tables, and policy text.
const METHODS: [(&str, &str); 3] = [
    ("local-top-down", "name = \"local-top-down\""),
    ("local-bottom-up", "name = \"local-bottom-up\""),
    ("Mondrian", "name = \"mondrian\""),
];

/// Records of the growth tables, and the largest table for bottom-up, which is slower.
const SIZES: [usize; 4] = [30_000, 100_000, 300_000, 1_000_000];
const BOTTOM_UP_UP_TO: usize = 100_000;
const GROWTH_K: u64 = 10;
/// Enlarged table: records per original record, and columns with random values.
const ENLARGED: (usize, usize) = (23, 3);
/// Records of the tables on which block sizes are compared, and the block sizes; 0 is the whole table.
const BLOCKED_SIZES: [usize; 2] = [100_000, 300_000];
const BLOCKS: [u64; 4] = [10_000, 40_000, 100_000, 0];

/// Runs a method once.
fn run_method(set_up: &SetUp, table: &ExperimentTable, method: &str) -> Result<Run, Box<dyn Error>> {
    Run::new(&set_up.policy(&format!("k = {GROWTH_K}"), method)?, table, 1)
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data("local-recoding") else { return Ok(()) };
    let mut text = format!(
        "# Local recoding: top-down, bottom-up and Mondrian\n\nMade by `benchmarks/run local-recoding` on {}.\n",
        machine::described()
    );
    text += &growth(&data)?;
    text += &blocks(&data)?;
    write_page("local-recoding.md", &text)
}

/// Title, columns, and a function that makes a table with a given number of records.
type Source<'a> = (&'static str, SetUp, Box<dyn Fn(usize) -> Result<ExperimentTable, PaperError> + 'a>);

/// Table of uniform random numbers from 1 to `values`.
fn synthetic(set_up: &SetUp, records: usize, values: usize) -> ExperimentTable {
    let mut random = Random(1);
    let row = |_| set_up.columns.iter().map(|_| (1 + random.below(values)).to_string()).collect();
    let rows: TextRows = (0..records).map(row).collect();
    ExperimentTable { counts: set_up.counts(&rows), trees: Hierarchies::default() }
}

fn growth(data: &Data) -> Result<String, Box<dyn Error>> {
    let (s, r) = ENLARGED;
    let mut text = format!(
        "\n## Growth\n\nk = {GROWTH_K}, one turn. *Adult, enlarged*: as many of its records as needed, each with {} variations that have random values\nin {r} random\ncolumns; *16 values*: four columns of uniform numbers from 1 to 16; *200 values*: six columns of uniform numbers from\n1 to 200, so that hardly any two records are equal. Seconds of the search, and GCP. The exponent e (seconds grow like\nn^e) is relative to the previous row; in the last row of each table, it is over all rows.\n",
        s - 1
    );
    let rows = ADULT.rows(data, BOTH)?;
    let tables: [Source<'_>; 3] = [
        ("Adult, enlarged", ADULT, Box::new(|records| ADULT.enlarged(data, &rows[..records.div_ceil(s)], (s, r)))),
        ("16 values", FOUR_NUMBERS, Box::new(|records| Ok(synthetic(&FOUR_NUMBERS, records, 16)))),
        ("200 values", SIX_NUMBERS, Box::new(|records| Ok(synthetic(&SIX_NUMBERS, records, 200)))),
    ];
    let mut lines = Vec::new();
    for (title, set_up, table_of) in &tables {
        writeln!(
            text,
            "\n### {title}\n\n| records | distinct tuples | top-down | GCP | e | bottom-up | GCP | e | Mondrian | GCP |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        )?;
        let mut known: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
        for size in SIZES {
            let table = table_of(size)?;
            let records = table.counts.records as f64;
            write!(text, "| {} | {} |", count(table.counts.records), count(table.counts.rows() as u64))?;
            for (at, (_, method)) in METHODS.iter().enumerate() {
                if at == 1 && size > BOTTOM_UP_UP_TO {
                    text += " | | |";
                    continue;
                }
                let run = run_method(set_up, &table, method)?;
                let seconds = run.seconds;
                write!(text, " {seconds:.2} | {:.4} |", run.measure("gcp"))?;
                if let Some(known) = known.get_mut(at) {
                    let last = known.last().map_or(String::new(), |&last| exponent(last, (records, seconds)));
                    write!(text, " {last} |")?;
                    known.push((records, seconds));
                }
            }
            text += "\n";
        }
        let over_all = known.each_ref().map(|points| exponent(points[0], points[points.len() - 1]));
        writeln!(text, "| | | | | **{}** | | | **{}** | | |", over_all[0], over_all[1])?;
        for (points, (name, _)) in known.into_iter().zip(METHODS) {
            lines.push(Line { name: format!("{}, {title}", name.replace("local-", "")), points });
        }
    }
    let title = format!("Local recoding, k = {GROWTH_K}");
    Ok(text + &write_growth("local-recoding-growth.svg", title, "seconds", lines)?)
}

/// Compares block sizes by time and information loss.
fn blocks(data: &Data) -> Result<String, Box<dyn Error>> {
    let mut text = format!(
        "\n## Blocks\n\nThe enlarged Adult, k = {GROWTH_K}: groups that are too small join others of the same block (at most this many records), or of\nthe whole table.\n\n| records | block | top-down | GCP |\n| ---: | ---: | ---: | ---: |\n"
    );
    let (s, r) = ENLARGED;
    let rows = ADULT.rows(data, BOTH)?;
    for size in BLOCKED_SIZES {
        let table = ADULT.enlarged(data, &rows[..size.div_ceil(s)], (s, r))?;
        for block in BLOCKS {
            let run = run_method(&ADULT, &table, &format!("name = \"local-top-down\"\nblock = {block}"))?;
            let (seconds, gcp) = (run.seconds, run.measure("gcp"));
            let block = if block == 0 { "whole table".to_owned() } else { count(block) };
            writeln!(text, "| {} | {block} | {seconds:.2} | {gcp:.4} |", count(table.counts.records))?;
        }
    }
    Ok(text)
}

/// Exponent with which seconds grow with records between two points.
pub fn exponent((few, short): (f64, f64), (many, long): (f64, f64)) -> String {
    format!("{:.2}", (long / short).ln() / (many / few).ln())
}
