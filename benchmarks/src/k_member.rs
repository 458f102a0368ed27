//! Benchmark of k-member clustering on Adult: running time, distances computed compared with an exhaustive search,
//! growth, and the cost of blocks.

use std::{error::Error, fmt::Write as _};

use moretta_core::text::count;
use moretta_pages::chart::Line;
use moretta_papers::{
    adult::{BOTH, MIXED, NUMBERS},
    data::Data,
    machine,
};

use crate::{Run, data, worked, write_growth, write_page};

const TURNS: usize = 3;
/// Enlarged tables: copies, number of columns with random values, k, and block sizes.
const GROWTH_S: [usize; 5] = [1, 2, 5, 10, 23];
const RANDOM_COLUMNS: usize = 3;
const GROWTH_K: u64 = 10;
const BLOCKS: [u64; 3] = [5_000, 20_000, 50_000];

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data("k-member") else { return Ok(()) };
    let mut text = format!(
        "# k-member clustering on Adult\n\nMade by `benchmarks/run k-member` on {}.\n\nAll 45,222 records in one block; best of {TURNS} turns. *Distances* are the computed losses of records and bounds of nodes\nof the search tree. A search through all records, as published, computes the *full* number and finds the same clusters\n(the tests of `k_member` compare both).\n",
        machine::described()
    );
    for (set_up, title) in [
        (NUMBERS, "age, education-num, hours-per-week as numbers"),
        (MIXED, "age, education-num, workclass, marital-status, occupation, race, sex, native-country"),
    ] {
        let table = set_up.table(&data, BOTH)?;
        writeln!(text, "\n## {title}\n\n{} distinct tuples.\n", count(table.counts.rows() as u64))?;
        text += "| k | seconds | distances, records | nodes | full | full / computed | GCP | AVG |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
        for k in 2..=20 {
            let policy = set_up.policy(&format!("k = {k}"), "name = \"k-member\"")?;
            let run = Run::new(&policy, &table, TURNS)?;
            let [records, nodes, full] =
                ["distances", "bounds", "distances_of_a_full_search"].map(|name| worked(&run.work, name));
            writeln!(
                text,
                "| {k} | {:.2} | {} | {} | {} | {} | {:.4} | {:.3} |",
                run.seconds,
                count(records),
                count(nodes),
                count(full),
                full / (records + nodes).max(1),
                run.measure("gcp"),
                run.measure("avg")
            )?;
        }
    }
    text += &growth(&data)?;
    write_page("k-member.md", &text)
}

fn growth(data: &Data) -> Result<String, Box<dyn Error>> {
    let rows = MIXED.rows(data, BOTH)?;
    let mut text = format!(
        "\n## Growth, and blocks\n\nThe eight columns, k = {GROWTH_K}; every record and s - 1 variations of it with random values in {RANDOM_COLUMNS} random columns. Blocks are\nmade by Mondrian and clustered separately, in parallel: seconds and GCP for each block size.\n\n| records | distinct tuples | one block |"
    );
    BLOCKS.iter().for_each(|block| text += &format!(" blocks of {} |", count(*block)));
    text += "\n| ---: | ---: | ---: | ---: | ---: | ---: |\n";
    let mut lines: Vec<Line> = ["one block".to_owned()]
        .into_iter()
        .chain(BLOCKS.map(|block| format!("blocks of {}", count(block))))
        .map(|name| Line { name, points: Vec::new() })
        .collect();
    for s in GROWTH_S {
        let table = MIXED.enlarged(data, &rows, (s, RANDOM_COLUMNS))?;
        write!(text, "| {} | {} |", count(table.counts.records), count(table.counts.rows() as u64))?;
        for (at, block) in [0].into_iter().chain(BLOCKS).enumerate() {
            let method = format!("name = \"k-member\"\nblock = {block}");
            let run = Run::new(&MIXED.policy(&format!("k = {GROWTH_K}"), &method)?, &table, 1)?;
            write!(text, " {:.2} s, {:.4} |", run.seconds, run.measure("gcp"))?;
            lines[at].points.push((table.counts.records as f64, run.seconds));
        }
        writeln!(text)?;
    }
    let title = format!("k-member, eight columns, k = {GROWTH_K}");
    Ok(text + &write_growth("k-member-growth.svg", title, "seconds", lines)?)
}
