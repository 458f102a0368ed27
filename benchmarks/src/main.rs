//! Benchmarks: ratios to competing implementations, measured in one run on one machine and written to `docs/results`.
//!
//! Absolute times mean little on a shared machine. Therefore everything that is compared runs here, in alternating turns,
//! and the best turn of each counts. `benchmarks/run` builds, fetches the competitor and calls this program.

mod bottom_up;
mod duckdb;
mod engine;
mod genetic;
mod hierarchies;
mod k_member;
mod local_recoding;
mod mondrian;
mod naive_bottom_up;
mod naive_top_down;
mod sweep;
mod top_down;

use std::{error::Error, path::PathBuf, time::Instant};

use moretta_core::{observer::NoObserver, policy::BoundPolicy, run, search::Outcome};
use moretta_papers::data::Data;

/// Name of a benchmark and the function that runs it.
type Benchmark = (&'static str, fn() -> Result<(), Box<dyn Error>>);

const BENCHMARKS: [Benchmark; 9] = [
    ("engine", engine::run),
    ("mondrian", mondrian::run),
    ("bottom-up", bottom_up::run),
    ("top-down", top_down::run),
    ("hierarchies", hierarchies::run),
    ("k-member", k_member::run),
    ("local-recoding", local_recoding::run),
    ("sweep", sweep::run),
    ("genetic", genetic::run),
];

/// Path of a file in docs/results.
fn results(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/results").join(name)
}

/// Folder for large temporary files.
fn work() -> PathBuf {
    std::env::var_os("MORETTA_BENCH").map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Public data sets in `MORETTA_DATA` or next to the project; `None` if neither exists.
fn data() -> Option<Data> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from);
    folder.join("adult/adult_train.csv").is_file().then(|| Data::new(folder))
}

/// Minimum of several times, in seconds.
fn best(turns: &[f64]) -> f64 {
    turns.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Runs the policy's method several times; returns its result and the best time.
fn search_timed(bound: &BoundPolicy<'_>, seed: u64, turns: usize) -> Result<(Outcome, f64), Box<dyn Error>> {
    let (mut seconds, mut outcome) = (Vec::new(), None);
    for _ in 0..turns {
        let start = Instant::now();
        outcome = Some(run::search(bound, seed, &NoObserver)?);
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok((outcome.ok_or("no turns")?, best(&seconds)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = std::env::args().nth(1).unwrap_or_else(|| "all".to_owned());
    let chosen: Vec<&Benchmark> = BENCHMARKS.iter().filter(|(name, _)| asked == "all" || asked == *name).collect();
    if chosen.is_empty() {
        let names = BENCHMARKS.map(|(name, _)| name).join(", ");
        return Err(format!("there is no benchmark `{asked}`; there are {names} and all").into());
    }
    std::fs::create_dir_all(results(""))?;
    chosen.into_iter().try_for_each(|(_, run)| run())
}
