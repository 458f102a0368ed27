//! Runs requests as command lines of the program and judges what a user sees.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    job::{Job, listing},
    judge::{self, Persons, Violation},
    release,
};

/// A command that takes longer is a hang. Shorter than the limit of a case, so that it is reported as one.
const MAX_TIME: Duration = Duration::from_secs(15);

/// Runs a request as a command line in the folder of the case and judges exit code, messages, files and release.
pub fn run(program: &Path, job: &Job, folder: &Path, persons: &Persons) -> Result<(), Violation> {
    let before = listing(folder);
    // Outside the folder of the case, which must stay as it is.
    let streams = tempfile::tempdir().map_err(|error| format!("no folder\n{error}"))?;
    let path = |name: &str| -> PathBuf { streams.path().join(name) };
    let file = |name: &str| std::fs::File::create(path(name)).map_err(|error| format!("no file\n{error}"));
    let child = Command::new(program)
        .args(job.arguments())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file("stdout")?)
        .stderr(file("stderr")?)
        .spawn();
    let code = wait(child.map_err(|error| format!("cannot start the program\n{error}"))?)?;
    let stderr = String::from_utf8_lossy(&std::fs::read(path("stderr")).unwrap_or_default()).into_owned();
    match code {
        Some(0..=2) => {}
        code => return Err(format!("exit code {code:?}\n{:?}: {stderr}", job.arguments())),
    }
    if stderr.contains("panicked at") {
        return Err(format!("panic shown to the user\n{:?}: {stderr}", job.arguments()));
    }
    // `check` and `hierarchy check` end with 1 and a table on stdout.
    let verdict = matches!(job, Job::Check { .. } | Job::CheckHierarchy { .. }) && code == Some(1);
    match code {
        Some(0) => persons.check(&stderr)?,
        _ if verdict => persons.check(&stderr)?,
        _ => judge::message(&stderr, persons)?,
    }
    judge::files(job, &before, folder, code == Some(0))?;
    if code == Some(0) { release::judge(job, folder) } else { Ok(()) }
}

/// Waits for the program; returns its exit code, `None` after a signal.
fn wait(mut child: Child) -> Result<Option<i32>, Violation> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if start.elapsed() > MAX_TIME => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("hang: command takes more than {} s", MAX_TIME.as_secs()));
            }
            Ok(None) => thread::sleep(Duration::from_millis(2)),
            Err(error) => return Err(format!("cannot wait for the program\n{error}")),
        }
    }
}
