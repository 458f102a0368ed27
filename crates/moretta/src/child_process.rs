//! One method at one k in a process of its own, which is this program again: only so is the memory it takes its own.
//!
//! The child is asked for exactly one job, which it tries itself, and its JSON is read: figures, or why there are none.
//! It never outlives this process. Ctrl-C ends both; an error or a panic here ends it ([`Running`]); and where this
//! process is ended from outside, by whatever signal, its end of the child's standard input closes, which the child
//! waits for ([`end_with_parent`]).

use std::{
    ffi::OsString,
    io::Read,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use moretta_core::observer::Observer;
use moretta_flow::{ErrorKind, FlowError, JobResult};
use moretta_insight::comparison::{Comparison, Job, Refused};

use crate::{
    INTERRUPTED_CODE,
    arguments::{Compare, HeldBack, Resources},
    summary,
    terminal::TerminalProgress,
};

/// How often the parent checks whether a child has ended.
const NAP: Duration = Duration::from_millis(20);

/// A child that does not outlive this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // A child that has ended already is no error; any other error cannot be reported here.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// For the child: ends this process as soon as its parent is no more, which holds the other end of standard input.
pub fn end_with_parent() {
    thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(i32::from(INTERRUPTED_CODE));
    });
}

/// What a child found in a table of so many records: a comparison of one row, or why there is none.
pub fn run(arguments: &Compare, job: &Job, records: u64, progress: &TerminalProgress) -> Result<JobResult, FlowError> {
    let program = std::env::current_exe();
    let cannot = |error: std::io::Error| FlowError::usage(format!("cannot start moretta for {}: {error}", job.name()));
    let child = Command::new(program.map_err(cannot)?)
        .args(handed_on(arguments, job))
        // Its message is read, so it must be plain, whatever colours the user wants elsewhere.
        .env_remove("CLICOLOR_FORCE")
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    let mut running = Running(child);
    // Both are read all the time: a child that fills a pipe would wait for ever.
    let (said, complained) = (read(running.0.stdout.take()), read(running.0.stderr.take()));
    let code = wait(&mut running.0, progress).map_err(cannot)?;
    let (said, complained) = (joined(said), joined(complained));
    if progress.stop().is_some() || code == Some(i32::from(INTERRUPTED_CODE)) {
        return Err(FlowError::interrupted());
    }
    understood(job, records, code, &said, &complained)
}

/// What the end of a child means.
fn understood(
    job: &Job,
    records: u64,
    code: Option<i32>,
    said: &str,
    complained: &str,
) -> Result<JobResult, FlowError> {
    let kind = match code {
        None => return Ok(Err(Refused::open("ended by the system, perhaps for want of memory".to_owned()))),
        Some(0) => None,
        Some(1) => Some(ErrorKind::Unsatisfied),
        Some(2) => Some(ErrorKind::Input),
        Some(_) => {
            summary::pass_on(complained);
            let message = format!("moretta failed while trying {}; please report this", job.tried());
            return Err(FlowError::new(ErrorKind::Internal, message));
        }
    };
    if let Some(kind) = kind.filter(|_| said.trim().is_empty()) {
        // It failed before the search, although this process did not: what it reads has changed.
        return Err(FlowError::new(kind, message(complained)));
    }
    let unreadable =
        |why: &str| FlowError::new(ErrorKind::Internal, format!("{}: its figures cannot be read: {why}", job.name()));
    let found: Comparison = serde_json::from_str(said).map_err(|error| unreadable(&error.to_string()))?;
    if found.records != records {
        let (before, now) = (summary::records(records), summary::records(found.records));
        let message = format!("the input changed meanwhile: it had {before} at first, and then {now}");
        return Err(FlowError::new(ErrorKind::Input, message));
    }
    let [row] = found.rows.as_slice() else { return Err(unreadable("there is not exactly one row")) };
    if (row.method.as_str(), row.k) != (job.method, job.k) {
        return Err(unreadable("they are of another method or k"));
    }
    match (&row.found, &row.unsupported, kind) {
        (Some(_), None, None) => Ok(Ok(found)),
        (None, Some(unsupported), Some(kind)) => {
            let detail = row.detail.as_ref().unwrap_or(unsupported).clone();
            let unsatisfied = kind == ErrorKind::Unsatisfied;
            Ok(Err(Refused { unsupported: unsupported.clone(), detail, unsatisfied }))
        }
        _ => Err(unreadable("there are neither figures nor a reason why not")),
    }
}

/// The same command for one job.
fn handed_on(arguments: &Compare, job: &Job) -> Vec<OsString> {
    // Every one by name, so that a new one cannot be forgotten.
    let Compare {
        input,
        policy: policy_path,
        methods: _,
        k,
        test,
        held_back: HeldBack { folds, hold_out },
        queries,
        seed,
        time_limit,
        output: _,
        overwrite: _,
        json: _,
        child: _,
        resources: Resources { threads, memory },
    } = arguments;
    let mut policy = OsString::from("--policy=");
    policy.push(policy_path);
    let mut all = vec!["compare".into(), policy, "--json".into(), "--child".into()];
    let mut more = |name: &str, value: Option<String>| {
        all.extend(value.map(|value| OsString::from(format!("--{name}={value}"))));
    };
    more("methods", Some(job.method.to_owned()));
    more("k", job.k.filter(|_| !k.is_empty()).map(|k| k.to_string()));
    more("test", test.clone());
    more("folds", folds.map(|folds| folds.to_string()));
    more("hold-out", hold_out.map(|share| share.to_string()));
    more("queries", Some(queries.to_string()));
    more("seed", Some(seed.to_string()));
    more("time-limit", time_limit.map(|limit| format!("{}s", limit.as_secs_f64())));
    more("threads", threads.map(|threads| threads.to_string()));
    more("memory", memory.map(|bytes| bytes.to_string()));
    all.extend(["--".into(), OsString::from(input)]);
    all
}

fn read(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What cannot be read is missing from the JSON, and then that is the complaint.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn joined(reader: JoinHandle<Vec<u8>>) -> String {
    String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned()
}

/// Its exit code; none where a signal ended it.
fn wait(child: &mut Child, progress: &TerminalProgress) -> std::io::Result<Option<i32>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if progress.stop().is_some() {
            child.kill()?;
            return Ok(child.wait()?.code());
        }
        progress.tick();
        thread::sleep(NAP);
    }
}

/// The message of a failure, without the notes before it: it begins a line, and goes on to the end.
fn message(stderr: &str) -> String {
    let begins = |(at, _): &(usize, &str)| *at == 0 || stderr[..*at].ends_with('\n');
    let begin = stderr.match_indices("error: ").find(begins);
    stderr[begin.map_or(0, |(at, word)| at + word.len())..].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use moretta_insight::comparison::testing::comparison;

    use super::*;
    use crate::arguments::{self, Arguments};

    const JOB: Job = Job { method: "sweep", k: Some(5) };

    #[test]
    fn a_message_is_what_follows_the_word_error() {
        assert_eq!(message("note: an error: b\nerror: it breaks\n  error: 5\n"), "it breaks\n  error: 5");
        assert_eq!(message("killed\n"), "killed");
        assert_eq!(message(""), "");
    }

    fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Compare {
        let all = [OsString::from("moretta")].into_iter().chain(arguments);
        match Arguments::try_parse_from(all).unwrap().command {
            arguments::Command::Compare(compare) => compare,
            _ => panic!("another command"),
        }
    }

    #[test]
    fn whatever_is_asked_is_handed_on() {
        let common =
            ["compare", "--policy", "my policy.toml", "--k", "20,5", "--methods", "mondrian,sweep", "--seed", "7"];
        let more: [&[&str]; 3] = [
            &["--folds", "3", "--hold-out", "0.3", "--time-limit", "1ms", "--queries", "12"],
            &["--test", "my test.csv", "--memory", "1.5GB", "--threads", "3", "--overwrite", "--output", "c.csv"],
            &[],
        ];
        for more in more {
            let mut asked = parsed([&common, more, &["--", "-x y.csv"]].concat().into_iter().map(OsString::from));
            let child = parsed(handed_on(&asked, &JOB));
            (asked.methods, asked.k) = (vec!["sweep".to_owned()], vec![5]);
            (asked.json, asked.child, asked.output, asked.overwrite) = (true, true, None, false);
            assert_eq!(format!("{child:?}"), format!("{asked:?}"));
        }
        // Left out, it is the policy's own k, which the child finds there too.
        let asked = parsed(["compare", "-p", "p.toml", "i.csv"].map(OsString::from));
        assert!(parsed(handed_on(&asked, &JOB)).k.is_empty());
    }

    fn one_row(at: usize) -> Comparison {
        let mut one = comparison();
        one.rows = vec![one.rows.swap_remove(at)];
        one
    }

    #[test]
    fn figures_are_read_and_refusals_are_rows() {
        let records = comparison().records;
        let said = serde_json::to_string(&one_row(0)).unwrap();
        assert!(understood(&JOB, records, Some(0), &said, "note: x").unwrap().is_ok());
        let refused = serde_json::to_string(&one_row(2)).unwrap();
        let job = Job { method: "k-member", k: Some(5) };
        for code in [1, 2] {
            let refused = understood(&job, records, Some(code), &refused, "error: x").unwrap().unwrap_err();
            assert_eq!(refused.unsatisfied, code == 1);
            assert!(refused.unsupported.starts_with("method `k-member` cannot serve"), "{}", refused.unsupported);
        }
        let ended = understood(&JOB, records, None, "", "").unwrap().unwrap_err();
        assert!(ended.unsupported.contains("memory"));
    }

    #[test]
    fn what_is_no_answer_is_never_a_row() {
        let records = comparison().records;
        let said = serde_json::to_string(&one_row(0)).unwrap();
        let fails = |records: u64, code: i32, said: &str| {
            understood(&JOB, records, Some(code), said, "error: gone\n").unwrap_err()
        };
        let broken = fails(records, 101, "");
        assert_eq!(broken.message, "moretta failed while trying sweep at k = 5; please report this");
        assert_eq!((broken.kind, fails(records, 3, &said).kind), (ErrorKind::Internal, ErrorKind::Internal));
        assert_eq!(fails(records, 2, ""), FlowError::new(ErrorKind::Input, "gone"));
        assert!(fails(records + 1, 0, &said).message.starts_with("the input changed meanwhile: it had 30,163 records"));
        // A figure of another type is lost without a word where the row is read, and its others with it.
        let wrong = said.replace("\"groups\":", "\"groups\":\"many\",\"were\":");
        let (mut none, mut both) = (one_row(0), one_row(0));
        (none.rows[0].found, both.rows[0].unsupported) = (None, Some("no".to_owned()));
        let texts = [none, both, comparison(), one_row(1)].map(|one| serde_json::to_string(&one).unwrap());
        for said in texts.iter().chain([&wrong, &said[1..].to_owned(), &String::new()]) {
            let message = fails(records, 0, said).message;
            assert!(message.starts_with("sweep, k = 5: its figures cannot be read: "), "{said}: {message}");
        }
        assert!(fails(records, 1, &said).message.contains("cannot be read"), "figures, but an exit code of refusal");
    }
}
