//! Runs one case and returns its outcome.

use std::{
    fs,
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::Mutex,
};

use crate::{
    judge::{self, Persons, Violation},
    kinds::{Inputs, Kind, Source},
    mutate::mutate,
    program,
    rng::Rng,
};

/// Share of the cases with mutated files, in percent, that run as command lines of the program.
const THROUGH_PROGRAM: usize = 4;
/// Bound on the resident memory of a worker during a case, in kilobytes. Not tuned.
pub const MAX_MEMORY_KB: u64 = 500_000;

/// Outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All rules were kept.
    Passed {
        /// Whether the program ran as a process of its own.
        through_program: bool,
    },
    /// The random choices made no valid files to start from.
    Skipped,
    /// A rule was broken.
    Violation(Violation),
    /// The library panicked.
    Panic(String),
}

/// Place and message of the last panic of any thread.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Records panics instead of printing them.
pub fn record_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|place| format!("{}:{}", place.file(), place.line())).unwrap_or_default();
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = format!("panic at {place}\n{text}");
        }
    }));
}

/// A case and where it runs.
pub struct Case<'a> {
    /// Determines, with the seed, all choices.
    pub kind: &'a Kind,
    /// Any number; `KIND:SEED` names the case.
    pub seed: u64,
    /// Its folder, which is empty.
    pub folder: &'a Path,
    /// The program, if it may be run.
    pub program: Option<&'a PathBuf>,
    /// Bound on the resident memory of this process, in kilobytes.
    pub max_memory_kb: u64,
}

impl Case<'_> {
    /// Makes the files of the case, runs its requests and judges them. `change` replaces the usual mutation.
    pub fn run(&self, change: &mut dyn FnMut(&mut Rng, &Inputs, &mut Vec<u8>)) -> Outcome {
        reset_peak_memory();
        let result = panic::catch_unwind(AssertUnwindSafe(|| self.judged(change)));
        let outcome = match result {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(violation)) => Outcome::Violation(violation),
            Err(_) => Outcome::Panic(LAST_PANIC.lock().map(|last| last.clone()).unwrap_or_default()),
        };
        match (&outcome, peak_memory_kb()) {
            (Outcome::Passed { .. }, Some(peak)) if peak > self.max_memory_kb => {
                Outcome::Violation(format!("memory above {} MB\n{} MB", self.max_memory_kb / 1000, peak / 1000))
            }
            _ => outcome,
        }
    }

    fn judged(&self, change: &mut dyn FnMut(&mut Rng, &Inputs, &mut Vec<u8>)) -> Result<Outcome, Violation> {
        let mut rng = Rng::new(self.kind.name, self.seed);
        let make = match self.kind.source {
            Source::Generated(run) => {
                run(&mut rng, self.folder)?;
                return Ok(Outcome::Passed { through_program: false });
            }
            Source::Mutated(make) => make,
        };
        let Ok(inputs) = make(&mut rng, self.folder) else { return Ok(Outcome::Skipped) };
        let target = self.folder.join(&inputs.target);
        let mut data = fs::read(&target).map_err(|error| format!("cannot read\n{error}"))?;
        change(&mut rng, &inputs, &mut data);
        fs::write(&target, &data).map_err(|error| format!("cannot write\n{error}"))?;
        let persons = Persons::new(&inputs.table, self.folder, &inputs.tables);
        let program = self.program.filter(|_| rng.chance(THROUGH_PROGRAM));
        for job in &inputs.jobs {
            match program {
                Some(program) => program::run(program, job, self.folder, &persons)?,
                None => drop(judge::in_process(job, self.folder, &persons)?),
            }
        }
        Ok(Outcome::Passed { through_program: program.is_some() })
    }
}

/// The usual mutation of a case.
pub fn usual(rng: &mut Rng, inputs: &Inputs, data: &mut Vec<u8>) {
    mutate(rng, inputs.format, data, &inputs.splice);
}

/// Lets the peak of the resident memory start from the current value. Linux only.
fn reset_peak_memory() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Peak of the resident memory in kilobytes; `None` if the system does not report it.
pub fn peak_memory_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
