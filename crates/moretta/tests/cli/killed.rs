//! Runs that a signal ends. A killed run leaves each file as it was or complete and new, each new file names the new
//! release by its hash, and nothing else can be read by others. SIGTERM leaves nothing behind. An interrupted run
//! (Ctrl-C) writes nothing, or the best result so far if the method has one.
//!
//! `MORETTA_KILLS=300` sets the number of kills at random moments; a third as many runs get SIGTERM.

#![cfg(unix)]

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use sha2::{Digest, Sha256};

use crate::{folder::Folder, people};

const SIGHUP: i32 = 1;
const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// The files of a run in the order in which they get their names, and their permissions.
const OUTPUTS: [(&str, u32); 4] =
    [("recoding.json", 0o644), ("report.json", 0o600), ("report.html", 0o640), ("out.csv", 0o604)];

/// Arguments of a run that writes all outputs, with a seed.
fn arguments(seed: &str) -> Vec<&str> {
    let files = ["--recoding", "recoding.json", "--report", "report.json", "--report", "report.html"];
    let run = ["anonymize", "people.csv", "--policy", "policy.toml", "--output", "out.csv", "--seed", seed];
    [&run[..], &files].concat()
}

/// Folder, old outputs, and the outputs of the run to be killed.
struct Runs {
    folder: Folder,
    old: Vec<Vec<u8>>,
    new: Vec<Vec<u8>>,
    /// Seconds from the start to the end of each step: reading, search, writing, read-back, end.
    steps: [f64; 5],
}

impl Runs {
    fn new(people: u64) -> Self {
        let folder = people::folder(people);
        let outputs = || OUTPUTS.map(|(name, _)| fs::read(folder.path(name)).unwrap()).to_vec();
        folder.ok(&arguments("1"));
        let old = outputs();
        let start = Instant::now();
        folder.ok(&[&arguments("2")[..], &["--overwrite"]].concat());
        let whole = start.elapsed().as_secs_f64();
        let new = outputs();
        assert_ne!(old[3], new[3]);
        let report: serde_json::Value = serde_json::from_slice(&new[1]).unwrap();
        let seconds = |step: &str| report["seconds"][step].as_f64().unwrap();
        let known = seconds("total");
        let (mut steps, mut end) = ([0.0; 5], 0.0);
        // The path of a method, which is part of the total, is measured after the search.
        for (at, step) in ["profile", "search", "release", "check"].into_iter().enumerate() {
            end += seconds(step);
            steps[at] = end;
        }
        steps[4] = whole.max(known) * 1.05;
        Self { folder, old, new, steps }
    }

    /// Puts the old outputs back; without `overwrite` removes them.
    fn reset(&self, overwrite: bool) {
        for (old, (name, mode)) in self.old.iter().zip(OUTPUTS) {
            let path = self.folder.path(name);
            let _ = fs::remove_file(&path);
            if overwrite {
                fs::write(&path, old).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }

    fn start(&self) -> Child {
        let mut command = self.folder.command(&[&arguments("2")[..], &["--overwrite"]].concat());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// A moment in the given fraction of a step, in seconds from the start.
    fn moment(&self, step: usize, fraction: f64) -> f64 {
        let from = if step == 0 { 0.0 } else { self.steps[step - 1] };
        from + fraction * (self.steps[step] - from)
    }

    /// Checks all files after a kill, removes the temporary ones, and returns which outputs are new.
    fn check(&self, overwrite: bool, context: &str) -> [bool; 4] {
        for name in temporary_files(&self.folder) {
            let path = self.folder.path(&name);
            let mode = path.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{context}: {name} can be read by others ({mode:o})");
            fs::remove_file(path).unwrap();
        }
        let hash = sha256(&self.new[3]);
        let is_new = |index: usize| {
            let (name, mode) = OUTPUTS[index];
            let Ok(found) = fs::read(self.folder.path(name)) else {
                assert!(!overwrite, "{context}: {name} is gone");
                return false;
            };
            let permissions = self.folder.path(name).metadata().unwrap().permissions().mode() & 0o777;
            if found == self.old[index] {
                assert!(overwrite && permissions == mode, "{context}: {name} has {permissions:o}");
                return false;
            }
            // Before its permissions are set, only the owner can read a file.
            let allowed = if overwrite { mode } else { 0o666 };
            assert_eq!(permissions & !allowed, 0, "{context}: {name} has {permissions:o}");
            match name {
                // Reports have the times of the run.
                "report.json" => {
                    let report: serde_json::Value = serde_json::from_slice(&found).unwrap();
                    assert_eq!(report["release"]["sha256"], hash, "{context}");
                }
                "report.html" => {
                    let page = String::from_utf8(found).unwrap();
                    assert!(page.contains(&hash) && page.trim_end().ends_with("</html>"), "{context}");
                }
                _ => assert!(found == self.new[index], "{context}: {name} is neither old nor new"),
            }
            true
        };
        let new = [0, 1, 2, 3].map(is_new);
        assert!(new.is_sorted_by(|before, after| before >= after), "{context}: not in order: {new:?}");
        let outputs = if overwrite { 4 } else { new.iter().filter(|new| **new).count() };
        let known = self.folder.files().into_keys().filter(|path| !path.starts_with("hierarchies")).count();
        assert_eq!(known, outputs + 2, "{context}: other files are left");
        new
    }
}

fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn temporary_files(folder: &Folder) -> Vec<String> {
    let names = folder.files().into_keys().map(|path| path.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".moretta-")).collect()
}

/// Number of kills in this run of the tests.
fn kills(otherwise: u64) -> u64 {
    std::env::var("MORETTA_KILLS").ok().and_then(|number| number.parse().ok()).unwrap_or(otherwise)
}

fn send(signal: i32, child: &Child) {
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Sends a signal to runs at random moments of each of their five steps, until it has ended `number` of them; returns
/// what each run left, and how it ended.
fn at_random_moments(runs: &Runs, signal: i32, number: u64) -> Vec<(String, ExitStatus)> {
    let mut random = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos() as u64;
    eprintln!("steps end after {:.3?} s; seed {random}", runs.steps);
    let mut one = |run: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = runs.moment(run as usize % 5, (random >> 11) as f64 / (1u64 << 53) as f64);
        runs.reset(true);
        let mut child = runs.start();
        std::thread::sleep(Duration::from_secs_f64(at));
        send(signal, &child);
        let status = child.wait().unwrap();
        let left = temporary_files(&runs.folder);
        let context = format!("signal {signal} after {at:.4} s");
        if signal == SIGTERM {
            assert!(left.is_empty(), "{context}: {left:?} is left");
        }
        let new = runs.check(true, &context);
        (format!("{} of 4 files new, {} temporary", new.iter().filter(|new| **new).count(), left.len()), status)
    };
    let (mut found, mut ended) = (Vec::new(), 0);
    // Some runs end before the signal. The bound is for a machine on which the first run was much slower than others.
    while ended < number && found.len() < 10 * number as usize {
        let (left, status) = one(found.len() as u64);
        ended += u64::from(status.signal() == Some(signal));
        found.push((left, status));
    }
    found
}

/// Number of runs that the signal ended.
fn ended_by(signal: i32, found: &[(String, ExitStatus)]) -> u64 {
    found.iter().filter(|(_, status)| status.signal() == Some(signal)).count() as u64
}

/// Prints how many runs left what.
fn print_counts(found: &[(String, ExitStatus)]) {
    let kinds: BTreeSet<String> = found.iter().map(|(left, status)| format!("{left}, {status}")).collect();
    for kind in kinds {
        let number = found.iter().filter(|(left, status)| kind == format!("{left}, {status}")).count();
        eprintln!("  {number} runs: {kind}");
    }
}

#[test]
fn a_run_killed_at_a_random_moment_leaves_complete_files() {
    let runs = Runs::new(15_000);
    let found = at_random_moments(&runs, SIGKILL, kills(40));
    print_counts(&found);
    assert_eq!(ended_by(SIGKILL, &found), kills(40), "too many runs ended before they were killed");
}

#[test]
fn a_run_ended_by_sigterm_leaves_nothing_behind() {
    let runs = Runs::new(15_000);
    let found = at_random_moments(&runs, SIGTERM, kills(45) / 3);
    print_counts(&found);
    for (left, status) in &found {
        // The signal waits for the last rename, so all files are old or all are new.
        assert!(left.starts_with("0 of") || left.starts_with("4 of"), "{left}");
        assert!(status.signal() == Some(SIGTERM) || status.code() == Some(0), "{status}");
    }
    assert_eq!(ended_by(SIGTERM, &found), kills(45) / 3, "too many runs ended before the signal");
}

/// Kills runs at each system call that changes a name, permissions or the disk, before the call is done.
#[cfg(target_os = "linux")]
#[test]
fn a_run_killed_at_any_rename_leaves_files_that_name_their_release() {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    if !works.is_ok_and(|status| status.success()) {
        assert!(std::env::var_os("MORETTA_NEEDS_STRACE").is_none(), "strace is missing or forbidden");
        eprintln!(
            "SKIPPED a_run_killed_at_any_rename_leaves_files_that_name_their_release: strace is missing or forbidden"
        );
        return;
    }
    const CALLS: &str =
        "?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat,?chmod,fchmod,fchmodat,fsync,fdatasync";
    let runs = Runs::new(2_000);
    for overwrite in [true, false] {
        let mut states = BTreeSet::new();
        for call in 1.. {
            runs.reset(overwrite);
            let mut command = Command::new("strace");
            command.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={CALLS}")]);
            command.args(["-e", &format!("inject={CALLS}:signal=KILL:when={call}"), env!("CARGO_BIN_EXE_moretta")]);
            command.args(arguments("2")).args(overwrite.then_some("--overwrite")).current_dir(runs.folder.path(""));
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            let context = format!("killed at call {call}, overwrite {overwrite}");
            let new = runs.check(overwrite, &context).iter().filter(|new| **new).count();
            if status.code() == Some(0) {
                assert_eq!(new, 4);
                eprintln!("killed at each of {} calls, overwrite {overwrite}: {states:?} files new", call - 1);
                break;
            }
            assert_eq!(status.signal(), Some(SIGKILL), "{context}");
            states.insert(new);
            // A new recoding beside the old release is refused.
            let apply = ["apply", "people.csv", "--recoding", "recoding.json", "-o", "applied.csv"];
            if new > 0 {
                let applied = runs.folder.run(&apply);
                let mixed = new < 4 && overwrite;
                assert_eq!(applied.code, if mixed { 2 } else { 0 }, "{context}: {}", applied.stderr);
                assert!(
                    !mixed || applied.stderr.contains("recoding of another release than out.csv"),
                    "{}",
                    applied.stderr
                );
                let _ = fs::remove_file(runs.folder.path("applied.csv"));
            }
        }
        assert_eq!(states, BTreeSet::from([0, 1, 2, 3, 4]), "kills between all renames");
    }
}

/// Starts a run and waits until it has written a part of its release.
fn writing(folder: &Folder, before: impl FnOnce(&mut Command)) -> Child {
    let mut command = folder.command(&["anonymize", "people.csv", "--policy", "policy.toml", "--output", "out.csv"]);
    before(&mut command);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let is_temporary = |entry: fs::DirEntry| {
        let has_content = entry.metadata().is_ok_and(|metadata| metadata.len() > 0);
        has_content && entry.file_name().to_string_lossy().starts_with(".moretta-")
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !fs::read_dir(folder.path("")).unwrap().flatten().any(is_temporary) {
        assert!(Instant::now() < deadline, "the run did not begin to write");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn an_interrupted_run_writes_nothing() {
    let folder = people::folder(300_000);
    let before = folder.files();
    for (signal, code) in [("-INT", Some(130)), ("-TERM", None), ("-HUP", None)] {
        let child = writing(&folder, |_| ());
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), code, "{signal}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(folder.files() == before, "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_under_nohup_survives_its_terminal() {
    let folder = people::folder(300_000);
    // `nohup` ignores SIGHUP and becomes the command.
    let program = env!("CARGO_BIN_EXE_moretta");
    let child = writing(&folder, |command| {
        let mut nohup = Command::new("nohup");
        nohup.arg(program).args(command.get_args()).current_dir(folder.path(""));
        *command = nohup;
    });
    send(SIGHUP, &child);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path("out.csv").is_file() && temporary_files(&folder).is_empty());
}

#[test]
fn sigterm_ends_a_run_that_waits_for_the_reader_of_its_output() {
    let folder = Folder::empty();
    let numbers: String = (0..30_000).map(|number| format!("{number}\n")).collect();
    folder.write("numbers.csv", format!("n\n{numbers}"));
    let build = ["hierarchy", "build", "numbers.csv", "--column", "n", "--method", "widths", "--widths", "10"];
    let mut child = folder.command(&build).stdout(Stdio::piped()).spawn().unwrap();
    // It prints more than a pipe can hold, and only one byte is read.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    send(SIGTERM, &child);
    assert_eq!(child.wait().unwrap().signal(), Some(SIGTERM));
}

#[test]
fn a_file_beyond_the_size_limit_is_an_error() {
    let folder = people::folder(20_000);
    let before = folder.files();
    let anonymize = "ulimit -f 64; exec \"$0\" anonymize people.csv -p policy.toml -o out.csv";
    let mut command = Command::new("sh");
    command.args(["-c", anonymize, env!("CARGO_BIN_EXE_moretta")]).current_dir(folder.path(""));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{}: {said}", output.status);
    assert!(said.contains("cannot write") && said.contains("File too large"), "{said}");
    assert!(folder.files() == before);
}

/// Folder with a policy whose search has far more iterations than a test can wait for.
fn endless() -> Folder {
    let folder = people::folder(1000);
    let endless = "\"genetic\"\npopulation = 50\niterations = 1_000_000_000\npatience = 1_000_000_000\nseeds = false";
    folder.edit("policy.toml", "\"mondrian\"", endless);
    folder
}

#[test]
fn an_interrupted_genetic_search_releases_the_best_result_so_far() {
    let folder = endless();
    let arguments = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--json", "--overwrite"];
    for tenths in [10, 20, 40, 80, 160] {
        let child = folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(100 * tenths));
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // On a slow machine there may be no result yet.
        if output.status.code() == Some(130) {
            assert!(!folder.path("out.csv").exists());
            continue;
        }
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("interrupted: releasing the best result so far"), "{said}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["stop"], "cancelled");
        assert!(report["measures"]["gcp"].as_f64().unwrap() < 1.0);
        folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
        return;
    }
    panic!("no search found a valid release before it was interrupted");
}

#[test]
fn sigterm_during_an_anytime_search_releases_nothing() {
    let folder = endless();
    let before = folder.files();
    let mut child = folder.command(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    send(SIGTERM, &child);
    assert_eq!(child.wait().unwrap().signal(), Some(SIGTERM));
    assert!(folder.files() == before);
}
