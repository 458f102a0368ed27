//! DuckDB through its Python package, for comparison. Times are measured inside Python, without its start-up.

use std::{error::Error, process::Command};

/// Runs statements in order on a new connection and returns the seconds of each.
pub fn seconds(threads: usize, statements: &[&str]) -> Result<Vec<f64>, Box<dyn Error>> {
    const SCRIPT: &str = "
import sys, time, json, duckdb
connection = duckdb.connect()
connection.execute(f'SET threads = {sys.argv[1]}')
connection.execute('SET enable_progress_bar = false')
seconds = []
for statement in sys.argv[2:]:
    start = time.perf_counter()
    connection.execute(statement)
    seconds.append(time.perf_counter() - start)
print(json.dumps(seconds))
";
    let output = python().args(["-c", SCRIPT, &threads.to_string()]).args(statements).output()?;
    if !output.status.success() {
        return Err(format!("DuckDB: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Version of the installed Python package `duckdb`.
pub fn version() -> Result<String, Box<dyn Error>> {
    let output = python().args(["-c", "import duckdb; print(duckdb.__version__)"]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The Python interpreter with the packages that are compared.
pub fn python() -> Command {
    Command::new(std::env::var_os("MORETTA_PYTHON").unwrap_or_else(|| "python3".into()))
}
