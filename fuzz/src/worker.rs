//! A process that runs cases until its time is over and reports each on stdout. The supervisor survives its death.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{
    case::{Case, MAX_MEMORY_KB, Outcome, peak_memory_kb, record_panics, usual},
    guided::Guide,
    kinds::{KINDS, Kind, round},
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

impl Work {
    /// The cases to run, in order: kind and seed of each. A function of the seed and the kinds alone, so that a run can
    /// be repeated, and the worker after one that died goes on with the sequence.
    pub fn cases(&self) -> impl Iterator<Item = (&'static Kind, u64)> + use<> {
        let named = |kind: &&Kind| self.kinds.is_empty() || self.kinds.iter().any(|name| name == kind.name);
        let kinds: Vec<&Kind> = KINDS.iter().filter(named).filter(|kind| !self.guided || kind.is_mutated()).collect();
        let (round, seed) = (round(&kinds), self.seed);
        let number = if round.is_empty() { 0 } else { u64::MAX };
        (0..number).map(move |at| seed.wrapping_add(at)).map(move |seed| {
            let place = seed % round.len() as u64;
            (round[place as usize], seed)
        })
    }
}

/// Runs cases until the time is over, or one of them needed too much memory.
pub fn run(work: &Work) {
    let end = Instant::now() + Duration::from_secs(work.seconds);
    let mut guide = match work.guided.then(Guide::new).transpose() {
        Ok(guide) => guide,
        Err(problem) => {
            println!("cannot guide: {problem}");
            return;
        }
    };
    if work.cases().next().is_none() {
        println!("no cases: --guided needs a kind with a mutated file");
    }
    record_panics();
    run_cases(work, guide.as_mut(), MAX_MEMORY_KB, || Instant::now() < end);
    if let Some(guide) = &guide {
        guide.report();
    }
}

/// Runs cases as long as `goes_on`. Returns their number.
///
/// Ends after a case that needed more than `max_memory_kb`: freed memory stays with the process, so that the next cases
/// would be reported for the memory of this one. The supervisor starts a new process.
pub fn run_cases(work: &Work, mut guide: Option<&mut Guide>, max_memory_kb: u64, goes_on: impl Fn() -> bool) -> usize {
    let mut number = 0;
    for (kind, seed) in work.cases().take_while(|_| goes_on()) {
        number += 1;
        println!("start\t{}\t{seed}", kind.name);
        let folder = case_folder(&work.folder, kind.name, seed);
        if fs::create_dir_all(&folder).is_err() {
            println!("end\t{}\t{seed}\t0\t0\tviolation\tcannot create {}", kind.name, folder.display());
            return number;
        }
        let start = Instant::now();
        let case = Case { kind, seed, folder: &folder, program: work.program.as_ref(), max_memory_kb };
        let outcome = match &mut guide {
            Some(guide) => guide.run(&case),
            None => case.run(&mut usual),
        };
        let peak_kb = peak_memory_kb().unwrap_or(0);
        if report(kind.name, seed, &outcome, start.elapsed(), peak_kb) {
            let _ = fs::remove_dir_all(&folder);
        }
        if peak_kb > max_memory_kb {
            return number;
        }
    }
    number
}

/// The folder of a case.
pub fn case_folder(work: &Path, kind: &str, seed: u64) -> PathBuf {
    work.join(format!("{kind}-{seed}"))
}

/// Reports the end of a case in one line. Returns whether it passed.
fn report(kind: &str, seed: u64, outcome: &Outcome, elapsed: Duration, peak_kb: u64) -> bool {
    let (word, text) = match outcome {
        Outcome::Passed { through_program: true } => ("program", ""),
        Outcome::Passed { through_program: false } => ("passed", ""),
        Outcome::Skipped => ("skipped", ""),
        Outcome::Violation(text) if text.starts_with("hang") => ("hang", text.as_str()),
        Outcome::Violation(text) => ("violation", text.as_str()),
        Outcome::Panic(text) => ("panic", text.as_str()),
    };
    let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace(['\t', '\r'], " ");
    println!("end\t{kind}\t{seed}\t{}\t{peak_kb}\t{word}\t{text}", elapsed.as_micros());
    let _ = std::io::stdout().flush();
    text.is_empty()
}
