//! Benchmark against Python packages for anonymization, in one run: anonypyx, anonypy, anjana; pycanon checks.
//!
//! Each release, ours too, is written in the same notation and judged by the same programs: `moretta measure` and `check`,
//! the checker of pycanon, and the definition of the loss in a few lines of Python, which must agree with `measure`.

use std::{
    error::Error,
    fmt::Write as _,
    fs,
    io::Write as _,
    os::unix::process::ExitStatusExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use moretta_core::text::count;
use moretta_papers::machine;
use serde_json::{Value, json};

use crate::{
    default::tables::{folder, read},
    duckdb::python,
    mondrian::put_in_readme,
    processor_time, work, write_page,
};

const K: [u64; 3] = [5, 10, 50];
/// k of the short table in README.
const README_K: u64 = 10;
/// Seconds of the processor after which a package has no result.
const LIMIT: u64 = 120;
/// Memory that a package may have: about a third of that of the machine that was used.
const MEMORY: u64 = 8_000_000_000;
/// Maximum share of records, in percent, that anjana may suppress in its second row.
const SUPPRESSED: u64 = 5;
/// Programs of this project that are compared: name, and section of the policy.
const OURS: [(&str, &str); 2] = [("best", "name = \"best\"\n"), ("mondrian", "name = \"mondrian\"\n")];
/// Name in the tables, name in `rivals.py`, and maximum suppressed records in percent.
const RIVALS: [(&str, &str, u64); 5] = [
    ("anonypyx, Mondrian", "anonypyx-mondrian", 0),
    ("anonypyx, MDAV-generic", "anonypyx-mdav", 0),
    ("anonypy, Mondrian", "anonypy", 0),
    ("anjana", "anjana", 0),
    ("anjana, 5 % suppressed", "anjana", SUPPRESSED),
];
/// Differences of losses by rounding.
const ROUNDING: f64 = 1e-6;

/// A table: quasi-identifiers and one other column.
struct Table {
    name: &'static str,
    about: &'static str,
    file: (&'static str, char),
    /// Quasi-identifiers; whether each is a number.
    columns: Vec<(String, bool)>,
    /// The other column: anonypy does not run without one.
    kept: &'static str,
    /// Beginning and end of the name of a hierarchy file.
    hierarchies: Option<(&'static str, &'static str)>,
}

fn tables() -> Result<[Table; 3], Box<dyn Error>> {
    let categories = ["workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];
    let free1 = fs::read_to_string(folder().join("more/policies/free1.toml"))?;
    let sections = free1.split("[columns.\"").skip(1).filter(|section| section.contains("\"quasi-identifier\""));
    let number = |name: &str| (name.to_owned(), true);
    let adult = categories.map(|name| (name.to_owned(), false)).into_iter();
    Ok([
        Table {
            name: "adult",
            about: "age as a number and seven categories, for which moretta and anjana have the hierarchies of ARX",
            file: ("adult/adult_train.csv", ','),
            columns: [number("age")].into_iter().chain(adult).collect(),
            kept: "income",
            hierarchies: Some(("adult/hierarchies-arx/", ".csv")),
        },
        Table {
            name: "free1",
            about: "28 columns of codes, all as numbers",
            file: ("more/free1/free1.csv", ','),
            columns: sections.filter_map(|section| section.split('"').next()).map(number).collect(),
            kept: "AGEYOUNG",
            hierarchies: None,
        },
        Table {
            name: "cmc",
            about: "three numbers, for which anjana has hierarchies",
            file: ("more/cmc/cmc.csv", ';'),
            columns: ["age", "Weducation", "children"].map(number).into(),
            kept: "method",
            hierarchies: Some(("more/cmc/hierarchies/cmc_hierarchy_", ".csv")),
        },
    ])
}

impl Table {
    fn path(&self) -> PathBuf {
        work().join(format!("rivals-{}.csv", self.name))
    }

    /// All records; those that a package suppressed have `*` or all values.
    fn release(&self) -> PathBuf {
        work().join("rivals-release.csv")
    }

    /// The records that were not suppressed.
    fn released(&self) -> PathBuf {
        work().join("rivals-released.csv")
    }

    fn hierarchy(&self, column: &str) -> Option<PathBuf> {
        self.hierarchies.map(|(start, end)| folder().join(format!("{start}{column}{end}")))
    }

    /// Writes the table. Returns its records.
    fn write(&self) -> Result<u64, Box<dyn Error>> {
        let names: Vec<String> =
            self.columns.iter().map(|(name, _)| name.clone()).chain([self.kept.to_owned()]).collect();
        let rows = read(self.file.0, self.file.1, &names)?;
        let lines = rows.iter().map(|row| row.join(","));
        let lines: Vec<String> = [names.join(",")].into_iter().chain(lines).collect();
        fs::write(self.path(), lines.join("\n") + "\n")?;
        Ok(rows.len() as u64)
    }

    /// Writes a policy. Sets of values are the cells that the packages release, too.
    fn write_policy(&self, k: u64, suppressed: u64, method: &str) -> Result<PathBuf, Box<dyn Error>> {
        let path = work().join("rivals.toml");
        // Mondrian accepts no objective.
        let measure = if method.contains("mondrian") { "" } else { "measure.name = \"ncp\"\n" };
        let share = suppressed as f64 / 100.0;
        let mut text = format!(
            "version = 1\n{measure}release.labels = \"set\"\n[privacy]\nk = {k}\nmax-suppressed = {share}\n[method]\n{method}\n[columns.\"{}\"]\nrole = \"insensitive\"\n",
            self.kept
        );
        for (name, is_number) in &self.columns {
            write!(text, "[columns.\"{name}\"]\nrole = \"quasi-identifier\"\n")?;
            match self.hierarchy(name).filter(|_| !is_number) {
                None => text += "type = \"number\"\nhierarchy = \"free\"\n",
                Some(file) => write!(text, "type = \"category\"\nhierarchy = {}\n", json!(file))?,
            }
        }
        fs::write(&path, text)?;
        Ok(path)
    }

    /// Request to `rivals.py`.
    fn job(&self, k: u64) -> Value {
        let columns: Vec<Value> = self
            .columns
            .iter()
            .map(|(name, is_number)| json!({"name": name, "number": is_number, "hierarchy": self.hierarchy(name)}))
            .collect();
        json!({
            "table": self.path(), "release": self.release(), "released": self.released(), "columns": columns, "kept": self.kept, "k": k,
            "memory": MEMORY,
        })
    }
}

/// A release, judged.
struct Judged {
    gcp: f64,
    smallest: u64,
    pycanon: u64,
    seconds: f64,
    peak: u64,
}

pub fn run() -> Result<(), Box<dyn Error>> {
    if !folder().join("adult/adult_train.csv").is_file() {
        eprintln!("SKIPPED rivals: no data; set MORETTA_DATA to the folder that has adult/");
        return Ok(());
    }
    let mut text = introduction()?;
    let names = OURS.iter().map(|(name, _)| *name).chain(RIVALS.iter().map(|(name, ..)| *name));
    let names: Vec<&str> = names.collect();
    let mut short = format!("| table | {} |\n| --- |{}\n", names.join(" | "), " ---: |".repeat(names.len()));
    for table in tables()? {
        let records = table.write()?;
        writeln!(
            text,
            "\n## {}\n\n{} records, {} quasi-identifiers: {}.\n\n| k | program | GCP | smallest group | k by pycanon | CPU seconds | peak, MB |\n| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
            table.name,
            count(records),
            table.columns.len(),
            table.about
        )?;
        write!(short, "| {} |", table.name)?;
        for k in K {
            let ours = OURS.iter().map(|(name, method)| (*name, ours(&table, k, method)));
            let theirs = RIVALS.iter().map(|(name, rival, suppressed)| (*name, theirs(&table, k, rival, *suppressed)));
            for (name, result) in ours.chain(theirs) {
                let (long, cell) = row(result?);
                eprintln!("{} k = {k} {name}: {long}", table.name);
                writeln!(text, "| {k} | {name} | {long} |")?;
                if k == README_K {
                    write!(short, " {cell} |")?;
                }
            }
        }
        short += "\n";
    }
    write_page("rivals.md", &text)?;
    put_in_readme("rivals", &short, &machine::described())
}

/// Cells of the page and of the short table.
fn row(result: Result<Judged, String>) -> (String, String) {
    match result {
        Ok(Judged { gcp, smallest, pycanon, seconds, peak }) => {
            let peak = peak.div_ceil(1_000_000);
            (format!("{gcp:.4} | {smallest} | {pycanon} | {seconds:.2} | {peak}"), format!("{gcp:.4} ({seconds:.1} s)"))
        }
        Err(reason) => (format!("- | - | - | {reason} | -"), "-".to_owned()),
    }
}

fn introduction() -> Result<String, Box<dyn Error>> {
    let script = "import importlib.metadata as m; print(', '.join(f'{p} {m.version(p)}' for p in ('anonypyx', 'anonypy', 'anjana', 'pycanon')))";
    let output = python().args(["-c", script]).output()?;
    if !output.status.success() {
        return Err(format!("the Python packages: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let versions = String::from_utf8(output.stdout)?;
    Ok(format!(
        "# Python packages, side by side\n\nMade by `benchmarks/run rivals` on {}. {}.\n\n\
         Every release is in the same notation, intervals of numbers and sets of categories, and has all records. GCP is the\n\
         global certainty penalty, from 0 (original values) to 1 (all `*`), by `moretta measure`; a second implementation\n\
         (`benchmarks/rivals/rivals.py`) gets the same figure for each row, or the benchmark fails. The smallest group is by\n\
         `moretta measure`, and `moretta check` accepts each release; `k by pycanon` is its function `k_anonymity`. Seconds are\n\
         those of the processor, so that they do not depend on the load of the machine: of moretta for the whole command on all\n\
         threads (reading, search, verification, writing, reading back), of a package for its call alone. Memory is the peak of the process; Python with pandas has about 80 MB before the call. A package has\n\
         {} s and {} GB. moretta runs with `measure = \"ncp\"`, `labels = \"set\"` and seed 1.\n\n\
         What they offer, and how it is run:\n\n\
         - anonypyx: Mondrian (k, distinct l, t) and MDAV-generic (k); no hierarchies, no suppression. Its `human-readable`\n\
         \x20 intervals and sets are converted as they are.\n\
         - anonypy: Mondrian (k, l, t); no hierarchies. It does not run without a sensitive column, so each table has one more\n\
         \x20 column.\n\
         - anjana: generalization of whole columns along hierarchies (k, l, t and others), with suppression. Numbers without a\n\
         \x20 hierarchy get its own intervals of an eighth, a quarter and half of the range. A label counts as the narrowest cell\n\
         \x20 that contains the values under it. With {SUPPRESSED} % suppressed, suppressed records count as lost entirely, and\n\
         \x20 the groups are those of the others.\n\
         - pycanon: no releases; it checks those of the others.\n",
        machine::described(),
        versions.trim(),
        LIMIT,
        MEMORY / 1_000_000_000,
    ))
}

/// Result of a program, or why there is none.
type Release = Result<Result<Judged, String>, Box<dyn Error>>;

fn ours(table: &Table, k: u64, method: &str) -> Release {
    let policy = table.write_policy(k, 0, method)?;
    let report = work().join("rivals-report.json");
    let before = processor_time::of_children()?;
    moretta(&[
        Path::new("anonymize"),
        &table.path(),
        Path::new("--policy"),
        &policy,
        Path::new("--output"),
        &table.release(),
        Path::new("--report"),
        &report,
        Path::new("--overwrite"),
        Path::new("--seed=1"),
    ])?;
    let seconds = processor_time::of_children()? - before;
    fs::copy(table.release(), table.released())?;
    let report: Value = serde_json::from_slice(&fs::read(report)?)?;
    let peak = report["peak_memory_bytes"].as_u64().ok_or("the report has no peak memory")?;
    let judged = judge(table, k, &policy, (seconds, peak))?;
    let reported = report["measures"]["gcp"].as_f64().ok_or("the report has no gcp")?;
    if (reported - judged.gcp).abs() > ROUNDING {
        return Err(format!("the report says {reported}, the release has {}", judged.gcp).into());
    }
    Ok(Ok(judged))
}

fn theirs(table: &Table, k: u64, rival: &str, suppressed: u64) -> Release {
    let mut job = table.job(k);
    (job["do"], job["rival"], job["suppressed"]) = (json!("anonymize"), json!(rival), json!(suppressed));
    job["seconds"] = json!(LIMIT);
    let Some(result) = ask(&job)? else { return Ok(Err(format!("more than {LIMIT} s"))) };
    if let Some(reason) = result["reason"].as_str() {
        return Ok(Err(reason.to_owned()));
    }
    let (Some(seconds), Some(peak)) = (result["seconds"].as_f64(), result["peak"].as_u64()) else {
        return Err(format!("rivals.py: {result}").into());
    };
    let policy = table.write_policy(k, suppressed, "name = \"mondrian\"\n")?;
    Ok(Ok(judge(table, k, &policy, (seconds, peak))?))
}

/// Judges the release that was written last.
fn judge(table: &Table, k: u64, policy: &Path, (seconds, peak): (f64, u64)) -> Result<Judged, Box<dyn Error>> {
    let [original, release, released] = [table.path(), table.release(), table.released()];
    let under_policy = |command: &[&Path]| -> Result<Value, Box<dyn Error>> {
        let options: [&Path; 3] = [Path::new("--policy"), policy, Path::new("--json")];
        Ok(serde_json::from_slice(&moretta(&[command, &options].concat())?)?)
    };
    let checked = under_policy(&[Path::new("check"), &released])?;
    let measured = under_policy(&[Path::new("measure"), &original, &release])?;
    let mut job = table.job(k);
    job["do"] = json!("judge");
    let result = ask(&job)?.ok_or("rivals.py was stopped while it judged")?;
    let (Some(naive), Some(pycanon)) = (result["gcp"].as_f64(), result["k"].as_u64()) else {
        return Err(format!("rivals.py: {result}").into());
    };
    let (gcp, smallest) = (measured["gcp"].as_f64(), checked["privacy"]["smallest_group"].as_u64());
    let (Some(gcp), Some(smallest)) = (gcp, smallest) else {
        return Err(format!("no figures in {measured} and {checked}").into());
    };
    if (gcp - naive).abs() > ROUNDING {
        return Err(format!("moretta measures {gcp}, the definition says {naive}").into());
    }
    Ok(Judged { gcp, smallest, pycanon, seconds, peak })
}

/// Runs the program and returns its standard output.
fn moretta(arguments: &[&Path]) -> Result<Vec<u8>, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?.with_file_name("moretta")).args(arguments).output()?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("moretta {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into()),
    }
}

/// Asks `rivals.py`; `None` if it was killed by its limit of time.
fn ask(job: &Value) -> Result<Option<Value>, Box<dyn Error>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/rivals.py");
    let mut child = python().arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    child.stdin.take().ok_or("no input")?.write_all(job.to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    // Sent at the limit of time.
    const SIGXCPU: i32 = 24;
    if output.status.signal() == Some(SIGXCPU) {
        return Ok(None);
    }
    let shown = || format!("rivals.py ended with {} and {:?}", output.status, String::from_utf8_lossy(&output.stdout));
    Ok(Some(serde_json::from_slice(&output.stdout).map_err(|_| shown())?))
}
