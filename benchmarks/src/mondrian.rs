//! Benchmark of Mondrian on Adult: information loss, running time and its growth.

use std::{error::Error, fmt::Write as _, fs};

use moretta_papers::{
    adult::{BOTH, MIXED, TRAIN},
    experiment::ExperimentTable,
    machine,
};

use crate::{Run, data, results, write_page};

const TURNS: usize = 5;
const K: [u64; 4] = [5, 10, 50, 100];

fn run_policy(table: &ExperimentTable, k: u64, method: &str, turns: usize) -> Result<Run, Box<dyn Error>> {
    Run::new(&MIXED.policy(&format!("k = {k}"), method)?, table, turns)
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data("mondrian") else { return Ok(()) };
    let train = MIXED.table(&data, TRAIN)?;
    let mut readme = String::from("| k | GCP | DM | search, ms |\n| ---: | ---: | ---: | ---: |\n");
    let mut variants = String::from(
        "| k | gain | gain, relaxed | widest (as published) | widest, relaxed |\n| ---: | ---: | ---: | ---: | ---: |\n",
    );
    for k in K {
        let run = run_policy(&train, k, "name = \"mondrian\"", TURNS)?;
        let milliseconds = 1000.0 * run.seconds;
        writeln!(readme, "| {k} | {:.4} | {} | {milliseconds:.0} |", run.measure("gcp"), run.measure("dm"))?;
        write!(variants, "| {k} |")?;
        for choose in ["gain", "widest"] {
            for relaxed in [false, true] {
                let method = format!("name = \"mondrian\"\nchoose = \"{choose}\"\nrelaxed = {relaxed}");
                write!(variants, " {:.4} |", run_policy(&train, k, &method, 1)?.measure("gcp"))?;
            }
        }
        writeln!(variants)?;
    }
    let machine = machine::described();
    let both = MIXED.rows(&data, BOTH)?;
    let mut growth = String::from(
        "| records | distinct tuples | search, s | by records, n log n | by distinct tuples, v log v |\n| ---: | ---: | ---: | ---: | ---: |\n",
    );
    let mut first = None;
    for s in [1, 2, 5, 10, 20] {
        let table = MIXED.enlarged(&data, &both, (s, 3))?;
        let seconds = run_policy(&table, 5, "name = \"mondrian\"", 3)?.seconds;
        let counts = &table.counts;
        let unit = |n: f64| seconds / (n * n.ln());
        let units = (unit(counts.records as f64), unit(counts.rows() as f64));
        let (by_records, by_tuples) = *first.get_or_insert(units);
        let ratios = format!("{:.2} | {:.2}", units.0 / by_records, units.1 / by_tuples);
        writeln!(growth, "| {} | {} | {seconds:.3} | {ratios} |", counts.records, counts.rows())?;
    }
    let text = format!(
        "# Mondrian on Adult\n\nMade by `benchmarks/run mondrian` on {machine}.\n\nAdult's training set, 30,162 records; age and education-num as numbers, workclass, marital-status, occupation, race, sex and\nnative-country with the hierarchies of ARX; strict, `choose = \"gain\"`; best of {TURNS} turns.\n\n{readme}\n## Choices, by GCP\n\n{variants}\n## Growth\n\nAll 45,222 records, each with s - 1 variations that have random values in three random columns; k = 5. The last\ntwo columns are relative to the first row: 1 means growth like n log n. Enlarging makes more distinct tuples than records,\nand the search works on distinct tuples; the remaining growth is because they no longer fit the processor's cache.\n\n{growth}"
    );
    write_page("mondrian.md", &text)?;
    put_in_readme("mondrian", &readme, &machine)
}

/// Replaces the table between two marks in the README.
pub fn put_in_readme(name: &str, table: &str, machine: &str) -> Result<(), Box<dyn Error>> {
    put_in("README.md", name, table, machine)
}

/// Replaces the text between two marks in a document.
pub fn put_in(document: &str, name: &str, table: &str, machine: &str) -> Result<(), Box<dyn Error>> {
    let path = results("../..").join(document);
    let text = fs::read_to_string(&path)?;
    let (start, end) = (format!("<!-- {name}: made by benchmarks/run {name} -->\n"), format!("<!-- {name}: end -->"));
    let (Some(from), Some(to)) = (text.find(&start), text.find(&end)) else {
        return Err(format!("{document} has no place for the table").into());
    };
    let filled = format!("{}{start}{table}\n({machine})\n{}", &text[..from], &text[to..]);
    Ok(fs::write(path, filled)?)
}
