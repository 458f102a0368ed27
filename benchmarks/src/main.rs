//! Benchmarks: ratios against rivals from one run on one machine, written to `docs/results`.
//!
//! Times alone say little on a machine that others use too, so everything that is compared runs here, turn by turn,
//! and the best turn of each counts. `benchmarks/run` builds, fetches the rival and calls this.

mod adult;
mod bottom_up;
mod duckdb;
mod engine;
mod machine;
mod mondrian;
mod naive;
mod naive_top_down;
mod plot;
mod top_down;

use std::{error::Error, path::PathBuf};

const BENCHMARKS: [&str; 4] = ["engine", "mondrian", "bottom-up", "top-down"];

/// Where results go.
fn results(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/results").join(name)
}

/// Where large files go.
fn work() -> PathBuf {
    std::env::var_os("MORETTA_BENCH").map_or_else(std::env::temp_dir, PathBuf::from)
}

/// The best of several turns, in seconds.
fn best(turns: &[f64]) -> f64 {
    turns.iter().copied().fold(f64::INFINITY, f64::min)
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = std::env::args().nth(1).unwrap_or_else(|| "all".to_owned());
    let all = asked == "all";
    if !all && !BENCHMARKS.contains(&asked.as_str()) {
        return Err(format!("there is no benchmark `{asked}`; there are {} and all", BENCHMARKS.join(", ")).into());
    }
    std::fs::create_dir_all(results(""))?;
    if all || asked == "engine" {
        engine::run()?;
    }
    if all || asked == "mondrian" {
        mondrian::run()?;
    }
    if all || asked == "bottom-up" {
        bottom_up::run()?;
    }
    if all || asked == "top-down" {
        top_down::run()?;
    }
    Ok(())
}
