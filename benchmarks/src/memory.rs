//! Memory of whole releases against the figure that the program asks for: all methods, two tables, two sizes.
//!
//! Each method runs first with the smallest limit, where the table is refused with the memory that suffices to read it,
//! then with this limit, where the search is refused with a figure, and then with this figure as its limit. Every run
//! is a process of its own.

use std::{
    error::Error,
    fmt::Write as _,
    fs::{self, File},
    io::{BufRead as _, BufReader, BufWriter, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use moretta_core::search::method_names;
use moretta_papers::machine;

use crate::{work, write_page};

/// Distinct tuples of the tables.
const TUPLES: [u64; 2] = [500_000, 3_000_000];
/// A search that takes longer releases its best result so far.
const TIME_LIMIT: &str = "60s";
/// Maximum of peak memory over limit that the project accepts.
const TARGET: f64 = 1.3;

/// A table of the benchmark.
struct Table {
    name: &'static str,
    description: &'static str,
    header: &'static str,
    columns: &'static str,
}

const TABLES: [Table; 2] = [
    Table {
        name: "codes",
        description: "one quasi-identifier, a free number of eight digits, all different; a sensitive column",
        header: "code,diagnosis",
        columns: "[columns.code]\nrole = \"quasi-identifier\"\ntype = \"number\"\n",
    },
    Table {
        name: "people",
        description: "age, sex, zip code with a hierarchy of prefixes, salary; a sensitive column",
        header: "age,sex,zip,salary,diagnosis",
        columns: "[columns.age]\nrole = \"quasi-identifier\"\n[columns.sex]\nrole = \"quasi-identifier\"\n\
                  [columns.zip]\nrole = \"quasi-identifier\"\ntype = \"category\"\n\
                  hierarchy = { prefix = [4, 3, 2, 1] }\n[columns.salary]\nrole = \"quasi-identifier\"\n\
                  type = \"number\"\n",
    },
];

/// Result of a method.
struct ResultRow {
    table: &'static str,
    tuples: u64,
    method: &'static str,
    figure: u64,
    peak: u64,
    seconds: f64,
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let folder = work();
    let mut rows = Vec::new();
    for tuples in TUPLES {
        for table in &TABLES {
            let csv = folder.join(format!("memory-{}-{tuples}.csv", table.name));
            make_table(table, tuples, &csv)?;
            for method in method_names() {
                eprintln!("{} {tuples} {method}", table.name);
                rows.push(measure(&folder, table, tuples, method)?);
            }
        }
    }
    write_page("memory.md", &page(&rows)?)
}

/// A random number generator for tables (an LCG): the tables do not depend on any crate.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn make_table(table: &Table, tuples: u64, path: &Path) -> Result<(), Box<dyn Error>> {
    if path.exists() {
        return Ok(());
    }
    let part = path.with_extension("part");
    let mut file = BufWriter::with_capacity(1 << 20, File::create(&part)?);
    writeln!(file, "{}", table.header)?;
    let mut state = 7;
    for record in 0..tuples {
        let diagnosis = random(&mut state) % 20;
        if table.name == "codes" {
            writeln!(file, "{},d{diagnosis}", 10_000_000 + record * 29)?;
        } else {
            let (age, zip) = (17 + random(&mut state) % 78, 10_000 + random(&mut state) % 90_000);
            let salary = 10_000 + random(&mut state) % 90_000;
            writeln!(file, "{age},{},{zip},{salary},d{diagnosis}", ["f", "m"][record as usize % 2])?;
        }
    }
    file.flush()?;
    Ok(fs::rename(part, path)?)
}

fn measure(folder: &Path, table: &Table, tuples: u64, method: &'static str) -> Result<ResultRow, Box<dyn Error>> {
    let policy = format!(
        "version = 1\nprivacy.k = 5\nmethod.name = \"{method}\"\n{}[columns.diagnosis]\nrole = \"sensitive\"\n",
        table.columns
    );
    fs::write(folder.join("memory.toml"), policy)?;
    let csv = folder.join(format!("memory-{}-{tuples}.csv", table.name));
    // Refused while it is read, then before the search, until the figure suffices.
    let mut figure = "32MB".to_owned();
    for _ in 0..6 {
        let start = Instant::now();
        let run = anonymize(folder, &csv, &figure)?;
        let seconds = start.elapsed().as_secs_f64();
        match run {
            Ok(peak) => {
                return Ok(ResultRow { table: table.name, tuples, method, figure: bytes(&figure)?, peak, seconds });
            }
            Err(refused) => figure = refused,
        }
    }
    Err(format!("{method} is refused with every figure that it names").into())
}

/// Runs the program with a limit. Returns its peak memory, or the figure that it asks for instead.
fn anonymize(folder: &Path, csv: &Path, limit: &str) -> Result<Result<u64, String>, Box<dyn Error>> {
    let program = std::env::current_exe()?.with_file_name("moretta");
    let mut child = Command::new(program)
        .arg("anonymize")
        .arg(csv)
        .arg("--policy")
        .arg(folder.join("memory.toml"))
        .arg("--output")
        .arg(folder.join("memory-released.csv"))
        .args(["--overwrite", "--seed", "1", "--time-limit", TIME_LIMIT, "--memory", limit])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        peak = line.map_or(peak, |kilobytes: u64| peak.max(kilobytes * 1024));
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut messages = String::new();
    for line in BufReader::new(child.stderr.take().ok_or("no messages")?).lines() {
        messages += &line?;
    }
    if ended.success() {
        return Ok(Ok(peak));
    }
    let after = |words: &str| messages.split(words).nth(1).and_then(|rest| rest.split([',', ';']).next());
    // The memory that suffices to read the table; with it, the figure of the search is computed from the whole table.
    let to_count = after("to count all of it takes about ").map(|figure| figure.replace(' ', ""));
    let to_count = to_count.filter(|figure| bytes(figure).ok() > bytes(limit).ok());
    let figure = to_count.or_else(|| after("use --memory ").and_then(|rest| Some(rest.split(' ').next()?.to_owned())));
    figure.map(Err).ok_or_else(|| messages.into())
}

/// Number of bytes of a figure such as `1.9GB`.
fn bytes(figure: &str) -> Result<u64, Box<dyn Error>> {
    let (number, unit) = figure.split_at(figure.len().saturating_sub(2));
    let unit = if unit == "GB" { 1e9 } else { 1e6 };
    Ok((number.parse::<f64>()? * unit) as u64)
}

fn page(rows: &[ResultRow]) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    writeln!(text, "# Memory of a release against its limit\n")?;
    writeln!(text, "Made by `benchmarks/run memory` on {}.\n", machine::described())?;
    writeln!(
        text,
        "Each method is started with `--memory 32MB`, where the table is refused while it is read, then with the memory\n\
         that the message names for reading, where the search is refused, then with the figure of that message as its\n\
         limit. If reading and profile need more than the search, the first two figures are the same. *Peak* is the resident memory of the process (`VmHWM`) over all\n\
         steps: reading, search, verification, writing and reading back. Peak over limit must be at most {TARGET}. k = 5;\n\
         searches of more than {TIME_LIMIT} release their best result so far.\n"
    )?;
    for table in &TABLES {
        writeln!(text, "- `{}`: {}.", table.name, table.description)?;
    }
    for tuples in TUPLES {
        for table in &TABLES {
            writeln!(text, "\n## {} distinct tuples, `{}`\n", grouped(tuples), table.name)?;
            writeln!(
                text,
                "| method | limit, MB | peak, MB | peak / limit | s |\n| --- | ---: | ---: | ---: | ---: |"
            )?;
            for row in rows.iter().filter(|row| row.tuples == tuples && row.table == table.name) {
                let (figure, peak) = (row.figure / 1_000_000, row.peak / 1_000_000);
                let share = row.peak as f64 / row.figure as f64;
                writeln!(text, "| {} | {figure} | {peak} | {share:.2} | {:.0} |", row.method, row.seconds)?;
            }
        }
    }
    let shares = || rows.iter().map(|row| row.peak as f64 / row.figure as f64);
    let (least, most) = (shares().fold(f64::INFINITY, f64::min), shares().fold(0.0, f64::max));
    writeln!(text, "\nPeak over limit is {least:.2} to {most:.2} in all {} runs.", rows.len())?;
    Ok(text)
}

fn grouped(number: u64) -> String {
    moretta_core::text::count(number)
}
