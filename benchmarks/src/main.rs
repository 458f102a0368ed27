//! Benchmarks: ratios to competing implementations, measured in one run on one machine and written to `docs/results`.
//!
//! Absolute times mean little on a shared machine. Therefore everything that is compared runs here, in alternating
//! turns, and the best turn of each counts. `benchmarks/run` builds, fetches the competitor and calls this program.

mod bottom_up;
mod bound;
mod default;
mod duckdb;
mod engine;
mod genetic;
mod growth;
mod hierarchies;
mod k_member;
mod local_recoding;
mod memory;
mod methods;
mod mondrian;
mod naive;
mod naive_bottom_up;
mod naive_top_down;
mod processor_time;
mod rivals;
mod sweep;
mod top_down;

use std::{error::Error, fs, path::PathBuf, time::Instant};

use moretta_core::{
    measure::{MeasureContext, Measures},
    observer::NoObserver,
    policy::{BoundPolicy, Policy},
    profile::Profile,
    run,
    search::Outcome,
    verify,
};
use moretta_pages::chart::{Axis, Chart, Line};
use moretta_papers::{data::Data, experiment::ExperimentTable};

/// Name of a benchmark and the function that runs it.
type Benchmark = (&'static str, fn() -> Result<(), Box<dyn Error>>);

const BENCHMARKS: [Benchmark; 15] = [
    ("default", default::run),
    ("engine", engine::run),
    ("growth", growth::run),
    ("mondrian", mondrian::run),
    ("bottom-up", bottom_up::run),
    ("top-down", top_down::run),
    ("hierarchies", hierarchies::run),
    ("k-member", k_member::run),
    ("local-recoding", local_recoding::run),
    ("sweep", sweep::run),
    ("bound", bound::run),
    ("genetic", genetic::run),
    ("memory", memory::run),
    ("rivals", rivals::run),
    ("methods", methods::run),
];

/// Path of a file in docs/results.
fn results(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/results").join(name)
}

/// Folder for large temporary files.
fn work() -> PathBuf {
    std::env::var_os("MORETTA_BENCH").map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Writes a page to docs/results and prints it.
fn write_page(name: &str, text: &str) -> Result<(), Box<dyn Error>> {
    fs::write(results(name), text)?;
    print!("{text}");
    Ok(())
}

/// Writes a chart to docs/results and returns the Markdown that embeds it.
fn write_chart(name: &str, alt: &str, chart: &Chart) -> Result<String, Box<dyn Error>> {
    fs::write(results(name), chart.svg())?;
    Ok(format!("![{alt}]({name})\n"))
}

/// Writes a chart of lines by records, both axes logarithmic, and returns the Markdown that embeds it.
fn write_growth(name: &str, title: String, y: &'static str, lines: Vec<Line>) -> Result<String, Box<dyn Error>> {
    let (x, y) = (Axis { title: "records", log: true }, Axis { title: y, log: true });
    Ok(format!("\n{}", write_chart(name, "growth", &Chart { title, x, y, lines })?))
}

/// Public data sets in `MORETTA_DATA` or next to the project; `None` with a message if neither exists.
fn data(benchmark: &str) -> Option<Data> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from);
    if !folder.join("adult/adult_train.csv").is_file() {
        eprintln!("SKIPPED {benchmark}: no Adult data; set MORETTA_DATA to the folder that has adult/");
        return None;
    }
    Some(Data::new(folder))
}

/// Minimum of several times, in seconds.
fn best(turns: &[f64]) -> f64 {
    turns.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Runs the policy's method several times; returns its result and the best time.
fn search_timed(bound: &BoundPolicy<'_>, turns: usize) -> Result<(Outcome, f64), Box<dyn Error>> {
    let (mut seconds, mut outcome) = (Vec::new(), None);
    for _ in 0..turns {
        let start = Instant::now();
        outcome = Some(run::search(bound, 1, &NoObserver)?);
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok((outcome.ok_or("no turns")?, best(&seconds)))
}

/// Counter of a search by name; 0 if there is none.
fn worked(work: &[(&'static str, u64)], name: &str) -> u64 {
    work.iter().find(|(known, _)| *known == name).map_or(0, |(_, value)| *value)
}

/// Verified result of a search.
struct Run {
    /// Best time of the search alone.
    seconds: f64,
    measures: Measures,
    work: Vec<(&'static str, u64)>,
}

impl Run {
    /// Runs the policy's method several times.
    fn new(policy: &Policy, table: &ExperimentTable, turns: usize) -> Result<Self, Box<dyn Error>> {
        let profile = Profile::build(policy, &table.trees, &table.counts)?;
        let bound = BoundPolicy::new(policy, &profile)?;
        let (outcome, seconds) = search_timed(&bound, turns)?;
        let verified = verify::verify(&bound, outcome.recoding)?;
        let context = MeasureContext::of_recoding(policy, &profile, verified.released());
        Ok(Self { seconds, measures: Measures::of(&context), work: outcome.work })
    }

    fn measure(&self, name: &str) -> f64 {
        self.measures.get(name).unwrap_or(f64::NAN)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = std::env::args().nth(1).unwrap_or_else(|| "all".to_owned());
    let chosen: Vec<&Benchmark> = BENCHMARKS.iter().filter(|(name, _)| asked == "all" || asked == *name).collect();
    if chosen.is_empty() {
        let names = BENCHMARKS.map(|(name, _)| name).join(", ");
        return Err(format!("there is no benchmark `{asked}`; there are {names} and all").into());
    }
    fs::create_dir_all(results(""))?;
    chosen.into_iter().try_for_each(|(_, run)| run())
}
