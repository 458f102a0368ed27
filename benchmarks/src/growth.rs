//! Growth of a whole release with the default method, from 30,000 to 10 M records: seconds and memory.

use std::{error::Error, fmt::Write as _, fs};

use moretta_core::text::count;
use moretta_pages::chart::Line;
use moretta_papers::machine;
use moretta_synthetic as synthetic;

use crate::{
    engine::{anonymize, make_people, make_policy},
    local_recoding::exponent,
    work, write_growth, write_page,
};

const RECORDS: [u64; 6] = [30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000];
/// Records per different person.
const COPIES: u64 = 10;
/// Steps of a release in its report, in the order of the page.
const STEPS: [&str; 4] = ["profile", "search", "release", "check"];

pub fn run() -> Result<(), Box<dyn Error>> {
    let folder = work();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    make_policy(&folder)?;
    let policy = synthetic::policy().replace("[columns.name]\nrole = \"identifier\"\n", "");
    fs::write(folder.join("policy.toml"), policy.replace("name = \"mondrian\"", "name = \"best\""))?;
    let mut text = format!(
        "# Growth of a whole release\n\nMade by `benchmarks/run growth` on {}.\n\n`moretta anonymize` with the default method and its default budget, one turn: synthetic people, {COPIES} records of each\ndifferent person, six quasi-identifiers, k = 10, 3-diversity and a template. Seconds of each step and of the process; peak\nmemory of the process. The exponent e (seconds grow like n^e) is relative to the row above; in the last row, it is over\nall rows.\n\n| records | distinct people | count | search | write | check | total, s | e | memory, MB | e | loss (LM) |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        machine::described()
    );
    let mut times: Vec<(f64, f64)> = Vec::new();
    let mut peaks: Vec<(f64, f64)> = Vec::new();
    for records in RECORDS {
        let csv = folder.join(format!("growth-{records}.csv"));
        make_people(&csv, records, records / COPIES)?;
        let (seconds, report) = anonymize(&folder, &csv, threads)?;
        fs::remove_file(&csv)?;
        let peak = report["peak_memory_bytes"].as_f64().unwrap_or(0.0) / 1e6;
        let of_last =
            |points: &[(f64, f64)], y| points.last().map_or(String::new(), |&last| exponent(last, (records as f64, y)));
        eprintln!("{records} records: {seconds:.2} s, {peak:.0} MB");
        write!(text, "| {} | {} |", count(records), count(records / COPIES))?;
        for step in STEPS {
            write!(text, " {:.2} |", report["seconds"][step].as_f64().unwrap_or(0.0))?;
        }
        let loss = report["measures"]["lm"].as_f64().unwrap_or(f64::NAN);
        let (time_exponent, peak_exponent) = (of_last(&times, seconds), of_last(&peaks, peak));
        writeln!(text, " {seconds:.2} | {time_exponent} | {peak:.0} | {peak_exponent} | {loss:.3} |")?;
        times.push((records as f64, seconds));
        peaks.push((records as f64, peak));
    }
    let over_all = [&times, &peaks].map(|points| exponent(points[0], points[points.len() - 1]));
    writeln!(text, "| all rows | | | | | | | {} | | {} | |", over_all[0], over_all[1])?;
    let title = "A release with the default method".to_owned();
    let lines = vec![Line { name: "seconds".to_owned(), points: times }];
    write_page("growth.md", &(text + &write_growth("growth.svg", title, "seconds", lines)?))
}
