//! One method at one k in a process of its own, which is this program again: only so is the memory it takes its own.
//!
//! The child is asked for exactly one pair, which it tries itself, and its JSON is read. Ctrl-C at a terminal reaches
//! both; whoever interrupts this process alone ends the child with it.

use std::{
    ffi::OsString,
    io::Read,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use moretta_engine::Control;

use super::{Comparison, Pair};
use crate::{
    arguments::Compare,
    failure::{self, Failure},
    watch::Watch,
};

/// So often it is asked whether a child has ended.
const NAP: Duration = Duration::from_millis(20);

/// What a child found: a comparison of one row, or why there is none.
pub fn run(arguments: &Compare, pair: &Pair, watch: &Watch) -> Result<Result<Comparison, Failure>, Failure> {
    let program = std::env::current_exe();
    let cannot = |error: std::io::Error| Failure::input(format!("cannot start moretta for {}: {error}", pair.name()));
    let mut child = Command::new(program.map_err(cannot)?)
        .args(handed_on(arguments, pair))
        // Its message is read, so it must be plain, whatever colours the user wants elsewhere.
        .env_remove("CLICOLOR_FORCE")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    // Both are read all the time: a child that fills a pipe would wait for ever.
    let (said, complained) = (read(child.stdout.take()), read(child.stderr.take()));
    let code = wait(&mut child, watch).map_err(cannot)?;
    let (said, complained) = (joined(said), joined(complained));
    if watch.cancelled() || code == Some(i32::from(failure::INTERRUPTED)) {
        return Err(Failure::interrupted());
    }
    let failed = |code: u8, message: String| Ok(Err(Failure { code, message }));
    match code {
        Some(0) => match serde_json::from_str(&said) {
            Ok(found) => Ok(Ok(found)),
            Err(error) => failed(failure::BAD_INPUT, format!("its figures cannot be read: {error}")),
        },
        Some(1) => failed(failure::UNSATISFIED, message(&complained)),
        Some(_) => failed(failure::BAD_INPUT, message(&complained)),
        None => failed(failure::BAD_INPUT, "ended by the system, perhaps for want of memory".to_owned()),
    }
}

/// The same command for one pair.
fn handed_on(arguments: &Compare, pair: &Pair) -> Vec<OsString> {
    let mut policy = OsString::from("--policy=");
    policy.push(&arguments.policy);
    let mut all = vec!["compare".into(), policy, "--json".into()];
    let mut more = |name: &str, value: Option<String>| {
        all.extend(value.map(|value| OsString::from(format!("--{name}={value}"))));
    };
    more("methods", Some(pair.method.to_owned()));
    more("k", pair.k.filter(|_| !arguments.k.is_empty()).map(|k| k.to_string()));
    more("test", arguments.test.clone());
    more("folds", arguments.held_back.folds.map(|folds| folds.to_string()));
    more("hold-out", arguments.held_back.hold_out.map(|share| share.to_string()));
    more("queries", Some(arguments.queries.to_string()));
    more("seed", Some(arguments.seed.to_string()));
    more("time-limit", arguments.time_limit.map(|limit| format!("{}s", limit.as_secs_f64())));
    more("threads", arguments.resources.threads.map(|threads| threads.to_string()));
    more("memory", arguments.resources.memory.map(|bytes| bytes.to_string()));
    all.extend(["--".into(), OsString::from(&arguments.input)]);
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
fn wait(child: &mut Child, watch: &Watch) -> std::io::Result<Option<i32>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if watch.cancelled() {
            child.kill()?;
            return Ok(child.wait()?.code());
        }
        watch.tick();
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
    use super::message;

    #[test]
    fn a_message_is_what_follows_the_word_error() {
        assert_eq!(message("note: an error: b\nerror: it breaks\n  error: 5\n"), "it breaks\n  error: 5");
        assert_eq!(message("killed\n"), "killed");
        assert_eq!(message(""), "");
    }
}
