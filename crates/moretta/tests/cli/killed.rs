//! A killed run leaves the complete old release or the complete new one. An interrupted run (Ctrl-C) writes nothing, or
//! the best result so far if the method has one.

use std::{
    fs,
    process::Stdio,
    time::{Duration, Instant},
};

use moretta_synthetic::{self as synthetic, People};

use crate::{folder::Folder, people};

const RECORDS: u64 = 1_000_000;
const KILLS: u64 = 16;

#[test]
fn a_run_killed_at_a_random_moment_leaves_no_partial_release() {
    let folder = people::folder(1);
    let everyone = People::with_distinct(1, 20_000);
    let mut text = synthetic::header();
    (0..RECORDS).for_each(|index| everyone.person(index).write_csv(&mut text));
    folder.write("people.csv", &text);
    drop(text);
    let arguments =
        ["anonymize", "people.csv", "--policy", "policy.toml", "--output", "out.csv", "--seed", "1", "--overwrite"];
    let start = Instant::now();
    folder.ok(&arguments);
    let duration = start.elapsed();
    let complete = fs::read(folder.path("out.csv")).unwrap();
    assert_eq!(complete.iter().filter(|byte| **byte == b'\n').count() as u64, RECORDS + 1);

    let old = b"the old release\n".to_vec();
    let (mut untouched, mut replaced) = (0, 0);
    let mut random = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos() as u64;
    for kill in 0..KILLS {
        // A random moment in each sixteenth of 1.1 times the duration of a run, to cover the final renaming too.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let fraction = (kill as f64 + (random >> 11) as f64 / (1u64 << 53) as f64) / KILLS as f64 * 1.1;
        fs::write(folder.path("out.csv"), &old).unwrap();
        let mut child = folder.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs_f64(duration.as_secs_f64() * fraction));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read(folder.path("out.csv")).unwrap();
        assert!(found == old || found == complete, "killed at {fraction:.3} of {duration:?}: {} bytes", found.len());
        if found == old {
            untouched += 1
        } else {
            replaced += 1
        }
        remove_temporary_files(&folder);
    }
    eprintln!("killed {KILLS} runs of {duration:?} each: {untouched} left the old file, {replaced} the new one");
    assert!(untouched > 0);
}

/// Removes the temporary files that a killed run may leave, and checks that it left no others.
fn remove_temporary_files(folder: &Folder) {
    for name in folder.files().keys().filter(|name| name.to_string_lossy().starts_with(".moretta-")) {
        fs::remove_file(folder.path(&name.to_string_lossy())).unwrap();
    }
    let left =
        folder.files().into_keys().filter(|name| name.parent().is_none_or(|parent| parent.as_os_str().is_empty()));
    assert_eq!(left.count(), 3, "people.csv, policy.toml, out.csv");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_writes_nothing() {
    let folder = people::folder(300_000);
    let before = folder.files();
    let child = folder
        .command(&["anonymize", "people.csv", "--policy", "policy.toml", "--output", "out.csv"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Waits until the run writes: then its signal handler is installed, and a temporary file exists.
    let is_temporary = |entry: fs::DirEntry| {
        let has_content = entry.metadata().is_ok_and(|metadata| metadata.len() > 0);
        has_content && entry.file_name().to_string_lossy().starts_with(".moretta-")
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !fs::read_dir(folder.path("")).unwrap().flatten().any(is_temporary) {
        assert!(Instant::now() < deadline, "the run did not begin to write");
        std::thread::sleep(Duration::from_millis(1));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.files() == before);
}

#[cfg(unix)]
#[test]
fn an_interrupted_genetic_search_releases_the_best_result_so_far() {
    // Far more iterations than the test can wait for.
    let folder = people::folder(1000);
    let endless = "\"genetic\"\npopulation = 50\niterations = 1_000_000_000\npatience = 1_000_000_000\nseeds = false";
    folder.edit("policy.toml", "\"mondrian\"", endless);
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
