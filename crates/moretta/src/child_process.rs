//! Runs one method at one k in a child process, so that its peak memory can be measured.
//!
//! The child is this program again, with one job. Its JSON has one row: figures, or why there are none. A child never
//! outlives its parent: Ctrl-C ends both; an error or panic of the parent kills the child ([`ChildGuard`]); and if a
//! signal ends the parent, the child's standard input closes, and the child exits ([`end_with_parent`]).

use std::{
    ffi::OsString,
    io::Read,
    process::{Child, Command, Stdio},
    sync::OnceLock,
    thread::{self, JoinHandle},
    time::Duration,
};

use moretta_core::observer::Observer;
use moretta_flow::{ErrorKind, FlowError, JobResult};
use moretta_insight::comparison::{Comparison, Job, Refused};

use crate::{
    INTERRUPTED_CODE,
    arguments::{Compare, Resources, SplitOptions},
    summary,
    terminal::TerminalProgress,
};

/// Interval at which the parent checks whether a child has ended; not tuned.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Kills the child when dropped.
struct ChildGuard(Child);

impl Drop for ChildGuard {
    fn drop(&mut self) {
        // The child may have ended already; other errors cannot be reported here.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Called by the child: exits when standard input closes, which happens when the parent ends.
pub fn end_with_parent() {
    thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(i32::from(INTERRUPTED_CODE));
    });
}

/// Command that starts this command line, if that is not the current executable.
static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets the command that starts this command line in another process.
pub fn start_with(program: Option<Vec<OsString>>) {
    if let Some(program) = program {
        // The command line of a process runs once.
        let _ = PROGRAM.set(program);
    }
}

/// A process of this program.
fn this_program() -> std::io::Result<Command> {
    match PROGRAM.get().and_then(|program| program.split_first()) {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            command.args(arguments);
            Ok(command)
        }
        None => Ok(Command::new(std::env::current_exe()?)),
    }
}

/// Runs a child on a table of `records` records. Returns a comparison of one row, or why there is none.
pub fn run(arguments: &Compare, job: &Job, records: u64, progress: &TerminalProgress) -> Result<JobResult, FlowError> {
    let start_error =
        |error: std::io::Error| FlowError::usage(format!("cannot start moretta for {}: {error}", job.name()));
    let child = this_program()
        .map_err(start_error)?
        .args(child_arguments(arguments, job))
        // Its message is parsed, so it must not be colored.
        .env_remove("CLICOLOR_FORCE")
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(start_error)?;
    let mut guard = ChildGuard(child);
    // Both pipes are read all the time: a child that fills a pipe would block.
    let stdout = read(guard.0.stdout.take());
    let stderr = read(guard.0.stderr.take());
    let code = wait(&mut guard.0, progress).map_err(start_error)?;
    let (stdout, stderr) = (joined(stdout), joined(stderr));
    if progress.stop().is_some() || code == Some(i32::from(INTERRUPTED_CODE)) {
        return Err(FlowError::interrupted());
    }
    result_of(job, records, code, &stdout, &stderr)
}

/// Turns the exit code and output of a child into its result. `code` is `None` if a signal ended the child.
fn result_of(job: &Job, records: u64, code: Option<i32>, stdout: &str, stderr: &str) -> Result<JobResult, FlowError> {
    let kind = match code {
        None => return Ok(Err(Refused::open("ended by the system, perhaps because memory ran out".to_owned()))),
        Some(0) => None,
        Some(1) => Some(ErrorKind::Unsatisfied),
        Some(2) => Some(ErrorKind::Input),
        Some(_) => {
            summary::pass_on(stderr);
            let message = format!("moretta failed on {}; please report this", job.tried());
            return Err(FlowError::new(ErrorKind::Internal, message));
        }
    };
    if let Some(kind) = kind.filter(|_| stdout.trim().is_empty()) {
        // The child failed before its search although this process did not: its input has changed.
        return Err(FlowError::new(kind, error_message(stderr)));
    }
    let unreadable = |why: &str| {
        let message = format!("{}: the result of the child process cannot be read: {why}", job.name());
        FlowError::new(ErrorKind::Internal, message)
    };
    let found: Comparison = serde_json::from_str(stdout).map_err(|error| unreadable(&error.to_string()))?;
    if found.records != records {
        let (before, now) = (summary::records(records), summary::records(found.records));
        let message = format!("the input changed during the comparison: it had {before}, now {now}");
        return Err(FlowError::new(ErrorKind::Input, message));
    }
    let [row] = found.rows.as_slice() else { return Err(unreadable("it does not have exactly one row")) };
    if (row.method.as_str(), row.k) != (job.method, job.k) {
        return Err(unreadable("it is for another method or k"));
    }
    match (&row.found, &row.unsupported, kind) {
        (Some(_), None, None) => Ok(Ok(found)),
        (None, Some(unsupported), Some(kind)) => {
            let detail = row.detail.as_ref().unwrap_or(unsupported).clone();
            let unsatisfied = kind == ErrorKind::Unsatisfied;
            Ok(Err(Refused { unsupported: unsupported.clone(), detail, unsatisfied }))
        }
        _ => Err(unreadable("it must have either figures or a reason")),
    }
}

/// Returns the arguments of this command for one job.
fn child_arguments(arguments: &Compare, job: &Job) -> Vec<OsString> {
    // Exhaustive, so that a new option cannot be forgotten.
    let Compare {
        input,
        policy: policy_path,
        methods: _,
        k,
        test,
        split_options: SplitOptions { folds, hold_out },
        queries,
        seed,
        time_limit,
        output: _,
        overwrite: _,
        json: _,
        child: _,
        resources: Resources { threads, memory, format: _ },
    } = arguments;
    let mut policy = OsString::from("--policy=");
    policy.push(policy_path);
    let mut child = vec!["compare".into(), policy, "--json".into(), "--child".into()];
    let mut add = |name: &str, value: Option<String>| {
        child.extend(value.map(|value| OsString::from(format!("--{name}={value}"))));
    };
    add("methods", Some(job.method.to_owned()));
    add("k", job.k.filter(|_| !k.is_empty()).map(|k| k.to_string()));
    add("test", test.clone());
    add("folds", folds.map(|folds| folds.to_string()));
    add("hold-out", hold_out.map(|share| share.to_string()));
    add("queries", Some(queries.to_string()));
    add("seed", Some(seed.to_string()));
    add("time-limit", time_limit.map(|limit| format!("{}s", limit.as_secs_f64())));
    add("threads", threads.map(|threads| threads.to_string()));
    add("memory", memory.map(|bytes| bytes.to_string()));
    child.extend(["--".into(), OsString::from(input)]);
    child
}

fn read(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // After an error the JSON is incomplete, which is reported when it is parsed.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn joined(reader: JoinHandle<Vec<u8>>) -> String {
    String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
}

/// Waits for the child. Returns its exit code, `None` if a signal ended it.
fn wait(child: &mut Child, progress: &TerminalProgress) -> std::io::Result<Option<i32>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if progress.stop().is_some() {
            child.kill()?;
            return Ok(child.wait()?.code());
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Returns the error message, without the notes before it: it starts a line and goes on to the end.
fn error_message(stderr: &str) -> String {
    let starts_line = |(start, _): &(usize, &str)| *start == 0 || stderr[..*start].ends_with('\n');
    let prefix = stderr.match_indices("error: ").find(starts_line);
    stderr[prefix.map_or(0, |(start, text)| start + text.len())..].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use moretta_insight::comparison::testing::comparison;

    use super::*;
    use crate::arguments::{self, Arguments};

    const JOB: Job = Job { method: "sweep", k: Some(5) };

    #[test]
    fn a_message_follows_the_word_error() {
        assert_eq!(error_message("note: an error: b\nerror: it breaks\n  error: 5\n"), "it breaks\n  error: 5");
        assert_eq!(error_message("killed\n"), "killed");
        assert_eq!(error_message(""), "");
    }

    fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Compare {
        let all = [OsString::from("moretta")].into_iter().chain(arguments);
        match Arguments::try_parse_from(all).unwrap().command {
            arguments::Command::Compare(compare) => compare,
            _ => panic!("another command"),
        }
    }

    #[test]
    fn every_option_is_passed_to_the_child() {
        let common =
            ["compare", "--policy", "my policy.toml", "--k", "20,5", "--methods", "mondrian,sweep", "--seed", "7"];
        let more: [&[&str]; 3] = [
            &["--folds", "3", "--hold-out", "0.3", "--time-limit", "1ms", "--queries", "12"],
            &["--test", "my test.csv", "--memory", "1.5GB", "--threads", "3", "--overwrite", "--output", "c.csv"],
            &[],
        ];
        for more in more {
            let mut requested = parsed([&common, more, &["--", "-x y.csv"]].concat().into_iter().map(OsString::from));
            let child = parsed(child_arguments(&requested, &JOB));
            (requested.methods, requested.k) = (vec!["sweep".to_owned()], vec![5]);
            (requested.json, requested.child, requested.output, requested.overwrite) = (true, true, None, false);
            assert_eq!(format!("{child:?}"), format!("{requested:?}"));
        }
        // Without --k, the child reads k from the policy.
        let requested = parsed(["compare", "-p", "p.toml", "i.csv"].map(OsString::from));
        assert!(parsed(child_arguments(&requested, &JOB)).k.is_empty());
    }

    fn one_row(row: usize) -> Comparison {
        let mut one = comparison();
        one.rows = vec![one.rows.swap_remove(row)];
        one
    }

    #[test]
    fn figures_are_read_and_refusals_are_rows() {
        let records = comparison().records;
        let said = serde_json::to_string(&one_row(0)).unwrap();
        assert!(result_of(&JOB, records, Some(0), &said, "note: x").unwrap().is_ok());
        let refused = serde_json::to_string(&one_row(2)).unwrap();
        let job = Job { method: "k-member", k: Some(5) };
        for code in [1, 2] {
            let refused = result_of(&job, records, Some(code), &refused, "error: x").unwrap().unwrap_err();
            assert_eq!(refused.unsatisfied, code == 1);
            assert!(refused.unsupported.starts_with("method `k-member` cannot serve"), "{}", refused.unsupported);
        }
        let ended = result_of(&JOB, records, None, "", "").unwrap().unwrap_err();
        assert!(ended.unsupported.contains("memory"));
    }

    #[test]
    fn an_invalid_result_is_never_a_row() {
        let records = comparison().records;
        let said = serde_json::to_string(&one_row(0)).unwrap();
        let fails = |records: u64, code: i32, said: &str| {
            result_of(&JOB, records, Some(code), said, "error: gone\n").unwrap_err()
        };
        let broken = fails(records, 101, "");
        assert_eq!(broken.message, "moretta failed on sweep at k = 5; please report this");
        assert_eq!((broken.kind, fails(records, 3, &said).kind), (ErrorKind::Internal, ErrorKind::Internal));
        assert_eq!(fails(records, 2, ""), FlowError::new(ErrorKind::Input, "gone"));
        assert!(
            fails(records + 1, 0, &said)
                .message
                .starts_with("the input changed during the comparison: it had 30,163 records")
        );
        // A figure of the wrong type makes serde drop all figures of the row without an error.
        let wrong = said.replace("\"groups\":", "\"groups\":\"many\",\"were\":");
        let (mut none, mut both) = (one_row(0), one_row(0));
        (none.rows[0].found, both.rows[0].unsupported) = (None, Some("no".to_owned()));
        let texts = [none, both, comparison(), one_row(1)].map(|one| serde_json::to_string(&one).unwrap());
        for said in texts.iter().chain([&wrong, &said[1..].to_owned(), &String::new()]) {
            let message = fails(records, 0, said).message;
            assert!(
                message.starts_with("sweep, k = 5: the result of the child process cannot be read: "),
                "{said}: {message}"
            );
        }
        assert!(fails(records, 1, &said).message.contains("cannot be read"), "figures, but an exit code of refusal");
    }
}
