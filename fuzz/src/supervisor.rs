//! Runs one worker at a time, kills it if it hangs, counts the outcomes of the cases, and keeps failing inputs.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use crate::{
    kinds::KINDS,
    worker::{Work, case_folder},
};

/// A case that takes longer is a hang. Searches of cases are limited to a second.
const MAX_TIME: Duration = Duration::from_secs(20);
/// Failing cases with the same signature that are kept and printed in full.
const MAX_KEPT: usize = 2;

/// Counts of one kind.
#[derive(Debug, Default, Clone)]
struct Tally {
    cases: u64,
    skipped: u64,
    program: u64,
    panics: u64,
    violations: u64,
    hangs: u64,
    slowest_us: u64,
    total_us: u64,
    peak_kb: u64,
}

/// A run with its counts.
struct Run<'a> {
    work: &'a Work,
    failures: &'a Path,
    tallies: BTreeMap<String, Tally>,
    signatures: BTreeMap<String, usize>,
    next_seed: u64,
}

/// A line of a worker, or the end of its output.
enum Event {
    Line(String),
    Closed,
}

/// Runs cases for the given time and prints a table. Returns whether all passed.
pub fn run(work: &Work, failures: &Path) -> bool {
    let end = Instant::now() + Duration::from_secs(work.seconds);
    let mut run = Run { work, failures, tallies: BTreeMap::new(), signatures: BTreeMap::new(), next_seed: work.seed };
    println!("seed {}", work.seed);
    loop {
        let left = end.saturating_duration_since(Instant::now()).as_secs();
        // A worker without a single case would fail again.
        let cases = run.next_seed;
        if left == 0 || !run.one_worker(left) || run.next_seed == cases {
            break;
        }
    }
    run.print();
    run.next_seed != work.seed && run.tallies.values().all(|tally| tally.panics + tally.violations + tally.hangs == 0)
}

impl Run<'_> {
    /// Runs one worker until its time is over or it dies. Returns whether another one may follow.
    fn one_worker(&mut self, seconds: u64) -> bool {
        let mut child = match self.start(seconds) {
            Ok(child) => child,
            Err(error) => {
                println!("cannot start a worker: {error}");
                self.tallies.entry("worker".to_owned()).or_default().violations += 1;
                return false;
            }
        };
        let events = lines(&mut child);
        let mut running: Option<(String, u64)> = None;
        loop {
            match events.recv_timeout(MAX_TIME) {
                Ok(Event::Line(line)) => self.line(&line, &mut running),
                Ok(Event::Closed) => {
                    let status = child.wait();
                    if let Some((kind, seed)) = running {
                        let how = status.map_or_else(|error| error.to_string(), |status| status.to_string());
                        self.failed(&kind, seed, "panic", &format!("the process died: {how}"));
                    }
                    return true;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    if let Some((kind, seed)) = running {
                        let text = format!("hang: takes more than {} s", MAX_TIME.as_secs());
                        self.failed(&kind, seed, "hang", &text);
                    }
                    return true;
                }
            }
        }
    }

    fn start(&self, seconds: u64) -> std::io::Result<Child> {
        let work = self.work;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("worker").args(["--seconds", &seconds.to_string(), "--seed", &self.next_seed.to_string()]);
        command.arg("--folder").arg(&work.folder).args(work.kinds.iter().flat_map(|kind| ["--kind", kind]));
        command.args(work.program.iter().flat_map(|program| ["--program".as_ref(), program.as_os_str()]));
        command.args(work.guided.then_some("--guided"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()
    }

    fn line(&mut self, line: &str, running: &mut Option<(String, u64)>) {
        let fields: Vec<&str> = line.splitn(7, '\t').collect();
        match fields[..] {
            ["start", kind, seed] => {
                let seed: u64 = seed.parse().unwrap_or(0);
                self.next_seed = seed.wrapping_add(1);
                *running = Some((kind.to_owned(), seed));
            }
            ["end", kind, seed, micros, peak, word, text] => {
                *running = None;
                let tally = self.tallies.entry(kind.to_owned()).or_default();
                let micros = micros.parse().unwrap_or(0);
                tally.slowest_us = tally.slowest_us.max(micros);
                tally.total_us += micros;
                tally.peak_kb = tally.peak_kb.max(peak.parse().unwrap_or(0));
                let seed = seed.parse().unwrap_or(0);
                match word {
                    "passed" => tally.cases += 1,
                    "skipped" => tally.skipped += 1,
                    "program" => (tally.cases, tally.program) = (tally.cases + 1, tally.program + 1),
                    _ => self.failed(kind, seed, word, &text.replace("\\n", "\n").replace("\\\\", "\\")),
                }
            }
            _ => println!("{line}"),
        }
    }

    /// Counts a failing case, keeps its files and prints how to repeat it.
    fn failed(&mut self, kind: &str, seed: u64, word: &str, text: &str) {
        let tally = self.tallies.entry(kind.to_owned()).or_default();
        tally.cases += 1;
        match word {
            "panic" => tally.panics += 1,
            "hang" => tally.hangs += 1,
            _ => tally.violations += 1,
        }
        let signature = format!("{kind} {}", text.lines().next().unwrap_or_default());
        let count = self.signatures.entry(signature).or_default();
        *count += 1;
        let folder = case_folder(&self.work.folder, kind, seed);
        if *count <= MAX_KEPT {
            let kept = case_folder(self.failures, kind, seed);
            let shown: String = text.chars().take(1500).collect();
            println!("\n{word}: {shown}\n  repeat: fuzz/run --case {kind}:{seed}\n  inputs: {}", kept.display());
            copy(&folder, &kept);
        }
        let _ = fs::remove_dir_all(&folder);
    }

    fn print(&self) {
        println!("\nseeds {} to {}", self.work.seed, self.next_seed.wrapping_sub(1));
        println!("kind         cases  skipped  program  panics  violations  hangs  slowest, s  total, s  peak, MB");
        let mut total = Tally::default();
        let row = |name: &str, tally: &Tally| {
            let Tally { cases, skipped, program, panics, violations, hangs, slowest_us, total_us, peak_kb } = tally;
            let (slowest, all, peak) = (*slowest_us as f64 / 1e6, *total_us as f64 / 1e6, peak_kb / 1000);
            println!(
                "{name:10} {cases:7}  {skipped:7}  {program:7}  {panics:6}  {violations:10}  {hangs:5}  {slowest:10.2}  \
                 {all:8.1}  {peak:8}"
            );
        };
        for kind in KINDS.iter().map(|kind| kind.name).chain(["worker"]) {
            let Some(tally) = self.tallies.get(kind) else { continue };
            row(kind, tally);
            total = Tally {
                cases: total.cases + tally.cases,
                skipped: total.skipped + tally.skipped,
                program: total.program + tally.program,
                panics: total.panics + tally.panics,
                violations: total.violations + tally.violations,
                hangs: total.hangs + tally.hangs,
                slowest_us: total.slowest_us.max(tally.slowest_us),
                total_us: total.total_us + tally.total_us,
                peak_kb: total.peak_kb.max(tally.peak_kb),
            };
        }
        row("all", &total);
        for (signature, count) in &self.signatures {
            println!("{count:6} x {signature}");
        }
    }
}

/// Reads the lines of a worker on a thread, so that the supervisor can wait for them with a limit.
fn lines(child: &mut Child) -> mpsc::Receiver<Event> {
    let (sender, receiver) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(Event::Line(line)).is_err() {
                    return;
                }
            }
            let _ = sender.send(Event::Closed);
        });
    }
    receiver
}

/// Copies the files of a folder.
fn copy(from: &Path, to: &PathBuf) {
    let _ = fs::create_dir_all(to);
    for entry in fs::read_dir(from).into_iter().flatten().filter_map(Result::ok) {
        let _ = fs::copy(entry.path(), to.join(entry.file_name()));
    }
}
