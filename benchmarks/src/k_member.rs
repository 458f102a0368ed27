//! Benchmark of k-member clustering on Adult: running time, distances computed compared with an exhaustive search, growth, and
//! the cost of blocks.

use std::{error::Error, fmt::Write as _, fs};

use moretta_core::{
    counts::Counts,
    hierarchy::Hierarchies,
    measure::{MeasureContext, Measures},
    policy::{BoundPolicy, Policy},
    profile::Profile,
    text::count,
    verify,
};
use moretta_pages::chart::{Axis, Chart, Line};
use moretta_papers::{
    adult::{BOTH, MIXED, NUMBERS},
    data::Data,
    machine,
};

use crate::{data, results, search_timed};

const TURNS: usize = 3;
/// Enlarged tables: copies, number of columns with random values, k, and block sizes.
const GROWTH_S: [usize; 5] = [1, 2, 5, 10, 23];
const RANDOM_COLUMNS: usize = 3;
const GROWTH_K: u64 = 10;
const BLOCKS: [u64; 3] = [5_000, 20_000, 50_000];

/// Result of one search.
pub struct Run {
    pub seconds: f64,
    pub measures: Measures,
    work: Vec<(&'static str, u64)>,
}

impl Run {
    fn work(&self, name: &str) -> u64 {
        self.work.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value)
    }

    pub fn measure(&self, name: &str) -> f64 {
        self.measures.get(name).unwrap_or(f64::NAN)
    }
}

/// Runs the policy's method several times; the best time counts, and the release is verified.
pub fn run_policy(
    policy: &Policy,
    trees: &Hierarchies,
    counts: &Counts,
    (seed, turns): (u64, usize),
) -> Result<Run, Box<dyn Error>> {
    let profile = Profile::build(policy, trees, counts)?;
    let bound = BoundPolicy::new(policy, &profile)?;
    let (outcome, seconds) = search_timed(&bound, seed, turns)?;
    let verified = verify::verify(&bound, outcome.recoding)?;
    let context = MeasureContext::of_recoding(policy, &profile, verified.released());
    Ok(Run { seconds, measures: Measures::of(&context), work: outcome.work })
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data() else {
        eprintln!("SKIPPED k-member: no Adult data; set MORETTA_DATA to the folder that has adult/");
        return Ok(());
    };
    let mut text = format!(
        "# k-member clustering on Adult\n\nMade by `benchmarks/run k-member` on {}.\n\nAll 45,222 records in one block; best of {TURNS} turns. *Distances* are the computed losses of records and bounds of nodes\nof the search tree. A search through all records, as published, computes the *full* number and finds the same clusters\n(the tests of `k_member` compare both).\n",
        machine::described()
    );
    for (set_up, title) in [
        (NUMBERS, "age, education-num, hours-per-week as numbers"),
        (MIXED, "age, education-num, workclass, marital-status, occupation, race, sex, native-country"),
    ] {
        let trees = set_up.trees(&data)?;
        let counts = set_up.counts(&set_up.rows(&data, BOTH)?);
        writeln!(text, "\n## {title}\n\n{} distinct tuples.\n", count(counts.rows() as u64))?;
        text += "| k | seconds | distances, records | nodes | full | full / computed | GCP | AVG |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
        for k in 2..=20 {
            let policy = set_up.policy(&format!("k = {k}"), "name = \"k-member\"")?;
            let run = run_policy(&policy, &trees, &counts, (1, TURNS))?;
            let (records, nodes) = (run.work("distances"), run.work("bounds"));
            let full = run.work("distances_of_a_full_search");
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
    fs::write(results("k-member.md"), &text)?;
    print!("{text}");
    Ok(())
}

fn growth(data: &Data) -> Result<String, Box<dyn Error>> {
    let trees = MIXED.trees(data)?;
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
        let counts = MIXED.enlarged_counts(&rows, s, RANDOM_COLUMNS, 1);
        write!(text, "| {} | {} |", count(counts.records), count(counts.rows() as u64))?;
        for (at, block) in [0].into_iter().chain(BLOCKS).enumerate() {
            let method = format!("name = \"k-member\"\nblock = {block}");
            let run = run_policy(&MIXED.policy(&format!("k = {GROWTH_K}"), &method)?, &trees, &counts, (1, 1))?;
            write!(text, " {:.2} s, {:.4} |", run.seconds, run.measure("gcp"))?;
            lines[at].points.push((counts.records as f64, run.seconds));
        }
        writeln!(text)?;
    }
    let chart = Chart {
        title: format!("k-member, eight columns, k = {GROWTH_K}"),
        x: Axis { title: "records", log: true },
        y: Axis { title: "seconds", log: true },
        lines,
    };
    fs::write(results("k-member-growth.svg"), chart.svg())?;
    Ok(text + "\n![growth](k-member-growth.svg)\n")
}
