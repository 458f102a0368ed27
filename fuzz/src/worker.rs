//! A process that runs cases until its time is over and reports each on stdout. The supervisor survives its death.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    case::{Case, Outcome, peak_memory_kb, record_panics, usual},
    guided::Guide,
    kinds::{KINDS, Kind},
};

/// Task of a worker.
#[derive(Debug, Clone)]
pub struct Work {
    /// Running time.
    pub seconds: u64,
    /// Seed of the first case; the next case has the next seed.
    pub seed: u64,
    /// Kinds to run; all if empty.
    pub kinds: Vec<String>,
    /// Folder for the files of the cases.
    pub folder: PathBuf,
    /// Path of `moretta`; without it, no case runs as a command line.
    pub program: Option<PathBuf>,
    /// Whether mutants are chosen by the code that they reach.
    pub guided: bool,
}

/// Runs cases. Each kind gets its share of the time.
pub fn run(work: &Work) {
    record_panics();
    let end = Instant::now() + Duration::from_secs(work.seconds);
    let kinds: Vec<&Kind> =
        KINDS.iter().filter(|kind| work.kinds.is_empty() || work.kinds.iter().any(|name| name == kind.name)).collect();
    let mut guide = match work.guided.then(Guide::new).transpose() {
        Ok(guide) => guide,
        Err(problem) => {
            println!("cannot guide: {problem}");
            return;
        }
    };
    let mut used: BTreeMap<&str, f64> = BTreeMap::new();
    let mut seed = work.seed;
    while Instant::now() < end {
        let spent = |kind: &&&Kind| used.get(kind.name).copied().unwrap_or(0.0) / f64::from(kind.share);
        let Some(kind) = kinds.iter().min_by(|a, b| spent(a).total_cmp(&spent(b))) else { return };
        println!("start\t{}\t{seed}", kind.name);
        let folder = case_folder(&work.folder, kind.name, seed);
        let start = Instant::now();
        if fs::create_dir_all(&folder).is_err() {
            println!("fail\t{}\t{seed}\t0\t0\tviolation\tcannot create {}", kind.name, folder.display());
            return;
        }
        let case = Case { kind, seed, folder: &folder, program: work.program.as_ref() };
        let outcome = match &mut guide {
            Some(guide) => guide.run(&case),
            None => case.run(&mut usual),
        };
        let elapsed = start.elapsed();
        *used.entry(kind.name).or_default() += elapsed.as_secs_f64();
        let passed = report(kind.name, seed, &outcome, elapsed);
        if passed {
            let _ = fs::remove_dir_all(&folder);
        }
        seed = seed.wrapping_add(1);
    }
    if let Some(guide) = &guide {
        guide.report();
    }
}

/// The folder of a case.
pub fn case_folder(work: &Path, kind: &str, seed: u64) -> PathBuf {
    work.join(format!("{kind}-{seed}"))
}

/// Reports the end of a case in one line. Returns whether it passed.
fn report(kind: &str, seed: u64, outcome: &Outcome, elapsed: Duration) -> bool {
    let (word, text) = match outcome {
        Outcome::Passed { through_program: true } => ("program", ""),
        Outcome::Passed { through_program: false } => ("passed", ""),
        Outcome::Skipped => ("skipped", ""),
        Outcome::Violation(text) if text.starts_with("hang") => ("hang", text.as_str()),
        Outcome::Violation(text) => ("violation", text.as_str()),
        Outcome::Panic(text) => ("panic", text.as_str()),
    };
    let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace(['\t', '\r'], " ");
    let peak = peak_memory_kb().unwrap_or(0);
    println!("end\t{kind}\t{seed}\t{}\t{peak}\t{word}\t{text}", elapsed.as_millis());
    let _ = std::io::stdout().flush();
    text.is_empty()
}
