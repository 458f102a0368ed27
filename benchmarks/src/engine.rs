//! The two passes and the whole way, against DuckDB on the same file: 10 M synthetic people with few distinct rows, and
//! 2 M of whom nearly every one is distinct.

use std::{
    error::Error,
    fmt::Write as _,
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::Path,
    process::Command,
    time::Instant,
};

use moretta_core::observer::NoObserver;
use moretta_engine::{CsvOptions, EngineOptions, LocalEngine, Source};
use moretta_papers::machine;
use moretta_synthetic::{self as synthetic, People};

use crate::{best, duckdb, work, write_page};

/// Measurements per piece of work; the best counts.
const TURNS: usize = 3;

/// A table of the benchmark.
struct Case {
    /// Prefix of the names of its files.
    name: &'static str,
    records: u64,
    /// Number of different people the records are drawn from.
    distinct: u64,
    /// Columns that are counted.
    columns: &'static [&'static str],
    /// Whether Parquet is counted, too.
    parquet: bool,
    /// Maximum ratios of moretta's time to DuckDB's that the project accepts: counting, and the passes or the whole
    /// release.
    limits: [f64; 2],
    /// Whether the second limit includes the search.
    with_search: bool,
}

const CASES: [Case; 2] = [
    Case {
        name: "people",
        records: 10_000_000,
        distinct: 500_000,
        columns: synthetic::BENCH_COLUMNS,
        parquet: true,
        limits: [0.6, 0.8],
        with_search: true,
    },
    Case {
        name: "distinct",
        records: 2_000_000,
        distinct: 2_000_000,
        columns: &["age", "sex", "postcode", "education", "occupation", "marital-status"],
        parquet: false,
        limits: [0.5, 0.8],
        with_search: false,
    },
];

/// Seconds of moretta and DuckDB for one piece of work, per turn.
struct ResultRow {
    work: &'static str,
    ours: Vec<f64>,
    theirs: Vec<f64>,
    /// Maximum ratio of moretta's time to DuckDB's that the project accepts.
    limit: f64,
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    writeln!(text, "# The two passes over the records, and a whole release\n")?;
    writeln!(text, "Made by `benchmarks/run engine` on {}.", machine::described())?;
    writeln!(
        text,
        "DuckDB {} with the same number of threads; best of {TURNS} turns each, which alternate.",
        duckdb::version()?
    )?;
    for case in &CASES {
        measure(case, &mut text)?;
    }
    write_page("engine.md", &text)
}

/// Measures a table and appends its part of the page.
fn measure(case: &Case, text: &mut String) -> Result<(), Box<dyn Error>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = work();
    let (csv, parquet) = (folder.join(format!("{}.csv", case.name)), folder.join(format!("{}.parquet", case.name)));
    make_people(&csv, case.records, case.distinct)?;
    make_policy(&folder)?;
    let columns: Vec<String> = case.columns.iter().map(|name| (*name).to_owned()).collect();
    let read_csv = format!("read_csv('{}')", csv.display());
    if case.parquet && !parquet.exists() {
        duckdb::seconds(threads, &[&format!("COPY (FROM {read_csv}) TO '{}' (FORMAT parquet)", parquet.display())])?;
    }
    let read_parquet = format!("read_parquet('{}')", parquet.display());
    let quoted = columns.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let group = |source: &str| {
        format!("CREATE OR REPLACE TEMP TABLE t AS SELECT {quoted}, count(*) AS n FROM {source} GROUP BY ALL")
    };
    let copy = format!("COPY (FROM {read_csv}) TO '{}' (FORMAT csv)", folder.join("copy.csv").display());

    let row = |work, limit| ResultRow { work, ours: vec![], theirs: vec![], limit };
    let release = match case.with_search {
        true => "all of `anonymize`; GROUP BY and COPY in DuckDB",
        false => "counting, writing and checking in `anonymize`; GROUP BY and COPY in DuckDB",
    };
    let mut counted = vec![(row("group and count, CSV", case.limits[0]), &csv, &read_csv)];
    if case.parquet {
        counted.push((row("group and count, Parquet", case.limits[0]), &parquet, &read_parquet));
    }
    let mut released = row(release, case.limits[1]);
    let mut last_report = serde_json::Value::Null;
    let mut distinct = 0;
    for turn in 0..TURNS {
        eprintln!("{}: turn {} of {TURNS}", case.name, turn + 1);
        for (row, path, source) in &mut counted {
            let (seconds, found) = count(path, &columns, threads)?;
            distinct = found;
            row.ours.push(seconds);
            row.theirs.extend(duckdb::seconds(threads, &[&group(source)])?);
        }
        let (mut seconds, report) = anonymize(&folder, &csv, threads)?;
        if !case.with_search {
            seconds = ["profile", "release", "check"].iter().filter_map(|step| report["seconds"][step].as_f64()).sum();
        }
        last_report = report;
        released.ours.push(seconds);
        released.theirs.push(duckdb::seconds(threads, &[&group(&read_csv), &copy])?.iter().sum());
    }
    let rows: Vec<ResultRow> = counted.into_iter().map(|(row, ..)| row).chain([released]).collect();
    text.push_str(&section(case, &rows, &csv, distinct, &last_report)?);
    Ok(())
}

/// Writes a table of synthetic people, drawn from `distinct` different ones, unless the file exists.
pub fn make_people(path: &Path, records: u64, distinct: u64) -> Result<(), Box<dyn Error>> {
    if path.exists() {
        return Ok(());
    }
    eprintln!("making up {records} people");
    let people = People::with_distinct(1, distinct);
    let part = path.with_extension("part");
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&part)?);
    let mut lines = synthetic::bench_header();
    for index in 0..records {
        people.person(index).write_bench_csv(&mut lines);
        if lines.len() > 1 << 20 {
            file.write_all(lines.as_bytes())?;
            lines.clear();
        }
    }
    file.write_all(lines.as_bytes())?;
    file.flush()?;
    Ok(fs::rename(part, path)?)
}

/// Writes the policy of the demo, without the column `name`, which the benchmark's table does not have.
pub fn make_policy(folder: &Path) -> Result<(), Box<dyn Error>> {
    let policy = synthetic::policy().replace("[columns.name]\nrole = \"identifier\"\n", "");
    fs::write(folder.join("policy.toml"), policy)?;
    fs::create_dir_all(folder.join("hierarchies"))?;
    for column in synthetic::COLUMNS {
        if let Some(text) = synthetic::hierarchy(column) {
            fs::write(folder.join(format!("hierarchies/{column}.csv")), text)?;
        }
    }
    Ok(())
}

fn count(path: &Path, columns: &[String], threads: usize) -> Result<(f64, usize), Box<dyn Error>> {
    let start = Instant::now();
    let source = Source::open(&path.to_string_lossy(), &CsvOptions::default())?;
    let engine = LocalEngine::with_options(source, EngineOptions { threads, ..EngineOptions::default() });
    let counts = engine.group_and_count(columns, &NoObserver)?;
    Ok((start.elapsed().as_secs_f64(), counts.rows()))
}

/// Runs the program in a separate process, so that its peak memory is measured alone. Returns seconds and report.
pub fn anonymize(folder: &Path, csv: &Path, threads: usize) -> Result<(f64, serde_json::Value), Box<dyn Error>> {
    let program = std::env::current_exe()?.with_file_name("moretta");
    let start = Instant::now();
    let output = Command::new(program)
        .arg("anonymize")
        .arg(csv)
        .arg("--policy")
        .arg(folder.join("policy.toml"))
        .arg("--output")
        .arg(folder.join("released.csv"))
        .args(["--overwrite", "--json", "--seed", "1", "--threads", &threads.to_string()])
        .output()?;
    let seconds = start.elapsed().as_secs_f64();
    if !output.status.success() {
        return Err(format!("moretta: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok((seconds, serde_json::from_slice(&output.stdout)?))
}

fn section(
    case: &Case,
    rows: &[ResultRow],
    csv: &Path,
    distinct: usize,
    report: &serde_json::Value,
) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    let gigabytes = fs::metadata(csv)?.len() as f64 / 1e9;
    writeln!(text, "\n## {} records with {distinct} distinct rows\n", case.records)?;
    writeln!(
        text,
        "Synthetic people: {gigabytes:.2} GB of CSV, {} columns, {} of them counted.\n",
        synthetic::BENCH_COLUMNS.len(),
        case.columns.len(),
    )?;
    writeln!(text, "| work | moretta, s | DuckDB, s | ratio | target |\n| --- | ---: | ---: | ---: | ---: |")?;
    for ResultRow { work, ours, theirs, limit } in rows {
        let (ours, theirs) = (best(ours), best(theirs));
        writeln!(text, "| {work} | {ours:.2} | {theirs:.2} | {:.2} | {limit} |", ours / theirs)?;
    }
    let seconds = &report["seconds"];
    let station = |name: &str| seconds[name].as_f64().unwrap_or(0.0);
    writeln!(
        text,
        "\nThe last turn of `anonymize`: profile {:.2} s, search and verification {:.2} s, release {:.2} s, check of the written\nfile {:.2} s; peak memory {} MB; {} groups, the smallest of {}.",
        station("profile"),
        station("search"),
        station("release"),
        station("check"),
        report["peak_memory_bytes"].as_u64().unwrap_or(0) / 1_000_000,
        report["groups"],
        report["privacy"]["smallest_group"],
    )?;
    Ok(text)
}
