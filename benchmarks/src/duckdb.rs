//! The rival, through its Python package: the same work, timed inside, without start-up.

use std::{error::Error, process::Command};

/// Runs statements one after the other on a fresh connection and returns the seconds of each.
pub fn seconds(threads: usize, statements: &[&str]) -> Result<Vec<f64>, Box<dyn Error>> {
    const SCRIPT: &str = "
import sys, time, json, duckdb
connection = duckdb.connect()
connection.execute(f'SET threads = {sys.argv[1]}')
connection.execute('SET enable_progress_bar = false')
taken = []
for statement in sys.argv[2:]:
    start = time.perf_counter()
    connection.execute(statement)
    taken.append(time.perf_counter() - start)
print(json.dumps(taken))
";
    let output = python().args(["-c", SCRIPT, &threads.to_string()]).args(statements).output()?;
    if !output.status.success() {
        return Err(format!("DuckDB: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Its version.
pub fn version() -> Result<String, Box<dyn Error>> {
    let output = python().args(["-c", "import duckdb; print(duckdb.__version__)"]).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn python() -> Command {
    Command::new(std::env::var_os("MORETTA_PYTHON").unwrap_or_else(|| "python3".into()))
}
