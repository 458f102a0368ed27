//! Benchmark of the sweep on Adult: information loss compared with ARX, and growth of the running time.

use std::{error::Error, fmt::Write as _};

use moretta_core::{policy::Policy, text::count};
use moretta_pages::chart::Line;
use moretta_papers::{
    adult::{MIXED, SetUp, TRAIN},
    data::Data,
    error::PaperError,
    machine,
};

use crate::{Run, data, mondrian::put_in_readme, write_growth, write_page};

/// Columns and hierarchies with which ARX was measured.
pub const ARX: SetUp = SetUp {
    columns: &["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"],
    numbers: &[],
    ..MIXED
};

/// The same data with numbers as free numbers.
const FREE: SetUp = SetUp {
    columns: &["age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country"],
    ..MIXED
};

/// k, and LM / 8 of ARX 3.9.2 on the same table and hierarchies: local recoding with `optimizeIterativeFast`, loss
/// metric with generalization/suppression factor 0. Constants: this benchmark does not run ARX.
const ARX_LOSS: [(u64, f64); 4] = [(5, 0.0563), (10, 0.0788), (50, 0.1494), (100, 0.1917)];
const OTHERS: [&str; 4] = ["mondrian", "k-member", "local-top-down", "local-bottom-up"];
const TURNS: usize = 5;
/// Copies of each record in the enlarged tables; the copies have random values in `RANDOM_COLUMNS` columns.
const GROWTH_S: [usize; 4] = [1, 3, 10, 33];
const RANDOM_COLUMNS: usize = 3;
const GROWTH_K: u64 = 50;

fn policy(set_up: &SetUp, method: &str, k: u64) -> Result<Policy, PaperError> {
    set_up.policy(&format!("k = {k}"), &format!("name = \"{method}\""))
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data("sweep") else { return Ok(()) };
    let mut text = format!(
        "# The sweep on Adult\n\nMade by `benchmarks/run sweep` on {}.\n\nThe 30,162 records of the training set, eight quasi-identifiers, nothing suppressed; the search alone, best of {TURNS} turns.\n\n## All columns with the hierarchies of ARX\n\nLoss is LM / 8, from 0 (original values) to 1 (all `*`). ARX is version 3.9.2 on the same table and hierarchies: local recoding\nwith `optimizeIterativeFast`, loss metric with generalization/suppression factor 0. This benchmark does not run ARX; its\nfigures are constants.\n\n| k | ARX | sweep | seconds | share of ARX's loss | GCP |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n",
        machine::described()
    );
    let mut short = "| k | LM / 8 | ARX | search, s |\n| ---: | ---: | ---: | ---: |\n".to_owned();
    let table = ARX.table(&data, TRAIN)?;
    for (k, arx) in ARX_LOSS {
        let run = Run::new(&policy(&ARX, "sweep", k)?, &table, TURNS)?;
        let lm = run.measure("lm") / ARX.columns.len() as f64;
        eprintln!("k = {k}: {lm:.4}, {:.2} s", run.seconds);
        let (seconds, share) = (run.seconds, 100.0 * lm / arx);
        writeln!(short, "| {k} | {lm:.4} | {arx:.4} | {seconds:.2} |")?;
        writeln!(text, "| {k} | {arx:.4} | {lm:.4} | {seconds:.2} | {share:.1} % | {:.4} |", run.measure("gcp"))?;
    }
    text += &others(&data, &ARX, "\n## Our other methods there\n", "lm")?;
    text += &others(&data, &FREE, "\n## Age and education-num as numbers, any interval\n\nGCP.\n", "gcp")?;
    text += &growth(&data)?;
    write_page("sweep.md", &text)?;
    put_in_readme("sweep", &short, &machine::described())
}

/// Compares the methods by a measure and by time.
fn others(data: &Data, set_up: &SetUp, title: &str, measure: &str) -> Result<String, Box<dyn Error>> {
    let scale = if measure == "lm" { set_up.columns.len() as f64 } else { 1.0 };
    let mut text = format!("{title}\n| k | sweep |");
    OTHERS.iter().for_each(|method| text += &format!(" {method} |"));
    text += "\n| ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let table = set_up.table(data, TRAIN)?;
    for (k, _) in ARX_LOSS {
        write!(text, "| {k} |")?;
        for method in ["sweep"].iter().chain(&OTHERS) {
            let run = Run::new(&policy(set_up, method, k)?, &table, 1)?;
            eprintln!("{method}, k = {k}: {:.2} s", run.seconds);
            write!(text, " {:.4}, {:.2} s |", run.measure(measure) / scale, run.seconds)?;
        }
        text += "\n";
    }
    Ok(text)
}

fn growth(data: &Data) -> Result<String, Box<dyn Error>> {
    let rows = ARX.rows(data, TRAIN)?;
    let mut text = format!(
        "\n## Growth\n\nWith the hierarchies of ARX, k = {GROWTH_K}; every record and s - 1 variations of it with random values in {RANDOM_COLUMNS} random columns.\n\n| records | distinct tuples | seconds | LM / 8 |\n| ---: | ---: | ---: | ---: |\n"
    );
    let mut points = Vec::new();
    for s in GROWTH_S {
        let table = ARX.enlarged(data, &rows, (s, RANDOM_COLUMNS))?;
        let run = Run::new(&policy(&ARX, "sweep", GROWTH_K)?, &table, 2)?;
        let (records, tuples) = (count(table.counts.records), count(table.counts.rows() as u64));
        let lm = run.measure("lm") / ARX.columns.len() as f64;
        writeln!(text, "| {records} | {tuples} | {:.2} | {lm:.4} |", run.seconds)?;
        eprintln!("{records} records: {:.2} s", run.seconds);
        points.push((table.counts.records as f64, run.seconds));
    }
    let title = format!("sweep, eight columns, k = {GROWTH_K}");
    let lines = vec![Line { name: "sweep".to_owned(), points }];
    Ok(text + &write_growth("sweep-growth.svg", title, "seconds", lines)?)
}
