//! Coverage-guided mutation on stable Rust: mutants that reach new code are kept and mutated again.
//!
//! `fuzz/run --guided` builds the crates of the workspace with `-C instrument-coverage` and with counters that can be
//! relocated. The profile runtime then maps the counters to a file (`%c` in `LLVM_PROFILE_FILE`), which this process
//! reads like any other file: no unsafe code, no other tool. The counts of a case are the differences of the counters
//! before and after its requests; as in AFL, a count is a bucket (1, 2, 3, 4 to 7, ..), and a mutant with a bucket that
//! no other mutant had is kept.
//!
//! A case starts from one of a few stocks, so that a kept file meets the table and policy that it was kept for.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::PathBuf,
};

use crate::{
    case::{Case, Outcome},
    mutate::mutate,
    rng::Rng,
};

/// Stocks per kind; not tuned.
const STOCKS: usize = 24;
/// Kept mutants per stock; the oldest goes first. Not tuned.
const MAX_KEPT: usize = 60;
/// Larger mutants are not kept, in bytes: their children are slow, and rarely reach more.
const MAX_BYTES: usize = 100_000;
/// Version of the profile format that is understood (LLVM 19 and later).
const VERSION: u64 = 10;
/// Size in bytes of the header and of one function's record in this version.
const HEADER_BYTES: usize = 128;
const RECORD_BYTES: u64 = 64;

/// The coverage counters of this process.
struct Counters {
    file: File,
    /// Place of the counters in the file.
    offset: u64,
    values: Vec<u64>,
    /// One bit per bucket and counter that some case had.
    seen: Vec<u8>,
}

impl Counters {
    /// Finds the counters in the profile that the runtime maps.
    fn open() -> Result<Self, String> {
        let pattern = std::env::var("LLVM_PROFILE_FILE").map_err(|_| "LLVM_PROFILE_FILE is not set")?;
        let path = PathBuf::from(pattern.replace("%p", &std::process::id().to_string()).replace("%c", ""));
        let mut file = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut header = [0; HEADER_BYTES];
        file.read_exact(&mut header).map_err(|error| format!("{}: {error}", path.display()))?;
        let field = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[8 * at + byte]));
        let (version, ids, records, before) = (field(1) & 0xff_ffff, field(2), field(3), field(4));
        let (counters, after, bitmap, after_bitmap, names) = (field(5), field(6), field(7), field(8), field(9));
        let offset = HEADER_BYTES as u64 + ids + RECORD_BYTES * records + before;
        let end = offset + 8 * counters + after + bitmap + after_bitmap + names.next_multiple_of(8);
        let length = file.metadata().map_or(0, |data| data.len());
        if version != VERSION || end != length {
            return Err(format!("{}: profile of version {version} with {length} bytes is unknown", path.display()));
        }
        let counters = usize::try_from(counters).map_err(|error| error.to_string())?;
        Ok(Self { file, offset, values: vec![0; counters], seen: vec![0; counters] })
    }

    /// Reads the counters.
    fn read(&mut self) -> Vec<u64> {
        let mut bytes = vec![0; 8 * self.values.len()];
        let read = self.file.seek(SeekFrom::Start(self.offset)).and_then(|_| self.file.read_exact(&mut bytes));
        if read.is_err() {
            return self.values.clone();
        }
        bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(std::array::from_fn(|byte| chunk[byte]))).collect()
    }

    /// Starts the counts of a case.
    fn start(&mut self) {
        self.values = self.read();
    }

    /// Ends the counts of a case. Returns whether it reached something new.
    fn is_new(&mut self) -> bool {
        let now = self.read();
        let mut new = false;
        for ((before, after), seen) in self.values.iter().zip(&now).zip(&mut self.seen) {
            let bit = bucket(after.saturating_sub(*before));
            new |= bit & !*seen != 0;
            *seen |= bit;
        }
        new
    }
}

/// The bit of a count's bucket; 0 for none.
fn bucket(count: u64) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        _ => 128,
    }
}

/// Chooses what to mutate.
pub struct Guide {
    counters: Counters,
    kept: BTreeMap<(&'static str, u64), Vec<Vec<u8>>>,
    cases: u64,
}

impl Guide {
    /// Fails if the process is not built with counters.
    pub fn new() -> Result<Self, String> {
        Ok(Self { counters: Counters::open()?, kept: BTreeMap::new(), cases: 0 })
    }

    /// Runs a case of a kind with a mutated file: a mutant of a kept file, or of the valid file of a stock.
    pub fn run(&mut self, case: &Case<'_>) -> Outcome {
        let mut rng = Rng::new("guided", case.seed);
        let stock = rng.below(STOCKS) as u64;
        let kept = self.kept.entry((case.kind.name, stock)).or_default();
        let parent = if kept.is_empty() || rng.chance(10) { None } else { Some(rng.one(kept).clone()) };
        let counters = &mut self.counters;
        let (mut child, mut target) = (Vec::new(), String::new());
        let of_stock = Case { seed: stock, program: None, ..*case };
        let outcome = of_stock.run(&mut |_, inputs, data| {
            let valid = std::mem::take(data);
            child = parent.clone().unwrap_or(valid);
            mutate(&mut rng, inputs.format, &mut child, &inputs.splice);
            data.clone_from(&child);
            target.clone_from(&inputs.target);
            counters.start();
        });
        self.cases += 1;
        if !target.is_empty() && self.counters.is_new() && child.len() <= MAX_BYTES {
            kept.push(child);
            if kept.len() > MAX_KEPT {
                kept.remove(0);
            }
        }
        let repeat = |text: String| {
            let Case { kind, seed, .. } = case;
            let name = kind.name;
            format!("{text}\nguided: fuzz/run --case {name}:{stock} --with fuzz/failures/{name}-{seed}/{target}")
        };
        match outcome {
            Outcome::Violation(text) => Outcome::Violation(repeat(text)),
            Outcome::Panic(text) => Outcome::Panic(repeat(text)),
            outcome => outcome,
        }
    }

    /// Prints how much was reached and kept.
    pub fn report(&self) {
        let reached = self.counters.seen.iter().filter(|seen| **seen != 0).count();
        let (total, kept) = (self.counters.seen.len(), self.kept.values().map(Vec::len).sum::<usize>());
        println!("guided: {reached} of {total} counters reached, {kept} mutants kept of {}", self.cases);
    }
}
