//! The fuzzer: mutated inputs and random tables through every command that reads files and every method, judged by a
//! naive oracle.
//!
//! `fuzz/run` builds and starts it. A case is determined by its kind and its seed ([`kinds::KINDS`], [`rng::Rng`]):
//! the kind writes valid files into a folder, mutates one of them, and runs requests on them in this process or as
//! command lines of the program; [`judge`] has the rules. The kind `tables` makes releases with every method and
//! judges the printed text with the naive verdicts of the conformance suite of moretta-core.
//!
//! The [`supervisor`] runs a [`worker`] process, so that a hang or the death of a process is counted like a panic.

mod case;
#[path = "../../crates/moretta-core/tests/conformance/cells.rs"]
mod cells;
mod csv;
mod guided;
mod job;
mod judge;
mod kinds;
#[path = "../../crates/moretta-core/tests/conformance/losses.rs"]
#[allow(dead_code, reason = "shared with the conformance suite")]
mod losses;
mod mutate;
#[path = "../../crates/moretta-core/tests/conformance/naive_engine.rs"]
#[allow(dead_code, reason = "shared with the conformance suite")]
mod naive_engine;
#[path = "../../crates/moretta-core/tests/conformance/parameters.rs"]
mod parameters;
mod program;
#[path = "../../crates/moretta-core/tests/conformance/recipe.rs"]
#[allow(dead_code, reason = "shared with the conformance suite")]
mod recipe;
mod release;
mod rng;
mod stock;
mod supervisor;
#[cfg(test)]
mod tests;
mod worker;
#[path = "../../crates/moretta-core/tests/conformance/world.rs"]
#[allow(dead_code, reason = "shared with the conformance suite")]
mod world;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use case::{Case, MAX_MEMORY_KB, Outcome, record_panics, usual};
use worker::Work;

const USAGE: &str = "usage: fuzz/run SECONDS [--seed N] [--kind KIND].. [--guided]
       fuzz/run --case KIND:SEED [--with FILE]";

/// Arguments of the fuzzer.
struct Arguments {
    work: Work,
    is_worker: bool,
    case: Option<String>,
    with: Option<PathBuf>,
    failures: PathBuf,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs());
        let folder = std::env::temp_dir().join(format!("moretta-fuzz-{}", std::process::id()));
        // Seeds of runs in different seconds do not overlap.
        let seed = time << 24;
        let work = Work { seconds: 0, seed, kinds: Vec::new(), folder, program: None, guided: false };
        let failures = Path::new("fuzz/failures").to_owned();
        let mut all = Self { work, is_worker: false, case: None, with: None, failures };
        while let Some(word) = words.next() {
            match word.as_str() {
                "worker" => all.is_worker = true,
                "--guided" => all.work.guided = true,
                "--seconds" => all.work.seconds = words.next()?.parse().ok()?,
                "--seed" => all.work.seed = words.next()?.parse().ok()?,
                "--kind" => all.work.kinds.push(words.next().filter(|name| kinds::kind(name).is_some())?),
                "--folder" => all.work.folder = words.next()?.into(),
                "--program" => all.work.program = Some(words.next()?.into()),
                "--failures" => all.failures = words.next()?.into(),
                "--case" => all.case = Some(words.next()?),
                "--with" => all.with = Some(words.next()?.into()),
                seconds => all.work.seconds = seconds.parse().ok()?,
            }
        }
        (all.work.seconds > 0 || all.case.is_some()).then_some(all)
    }
}

fn main() -> ExitCode {
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let Arguments { work, .. } = &arguments;
    if arguments.is_worker {
        worker::run(work);
        return ExitCode::SUCCESS;
    }
    let passed = match &arguments.case {
        Some(case) => repeat(case, &arguments),
        None => {
            let passed = supervisor::run(work, &arguments.failures);
            let _ = std::fs::remove_dir_all(&work.folder);
            passed
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one case again and keeps its folder. With `--with`, the mutated file has the content of that file.
fn repeat(case: &str, arguments: &Arguments) -> bool {
    let named = case.split_once(':').and_then(|(name, seed)| Some((kinds::kind(name)?, seed.parse::<u64>().ok()?)));
    let Some((kind, seed)) = named else {
        eprintln!("{case}: not a case; {USAGE}");
        return false;
    };
    let folder = worker::case_folder(&arguments.work.folder, kind.name, seed);
    if let Err(error) = std::fs::create_dir_all(&folder) {
        eprintln!("cannot create {}: {error}", folder.display());
        return false;
    }
    record_panics();
    let program = arguments.work.program.as_ref();
    let case = Case { kind, seed, folder: &folder, program, max_memory_kb: MAX_MEMORY_KB };
    let outcome = match arguments.with.as_ref().map(std::fs::read) {
        Some(Ok(bytes)) => case.run(&mut |_, _, data| data.clone_from(&bytes)),
        Some(Err(error)) => {
            eprintln!("cannot read the file of --with: {error}");
            return false;
        }
        None => case.run(&mut usual),
    };
    println!("files of the case: {}", folder.display());
    match &outcome {
        Outcome::Passed { .. } => println!("passed"),
        Outcome::Skipped => println!("skipped: the seed makes no valid files to start from"),
        Outcome::Violation(text) => println!("violation: {text}"),
        Outcome::Panic(text) => println!("{text}"),
    }
    matches!(outcome, Outcome::Passed { .. } | Outcome::Skipped)
}
