//! `--memory` bounds the process: a run is refused before its search with a figure that suffices, or keeps the limit.

use std::{process::Stdio, time::Duration};

use serde_json::Value;

use crate::folder::Folder;

pub const METHODS: [&str; 9] = [
    "best",
    "mondrian",
    "bottom-up-generalization",
    "top-down-disclosure",
    "k-member",
    "local-top-down",
    "local-bottom-up",
    "sweep",
    "genetic",
];

/// Peak memory over limit that is accepted.
const MAX_SHARE: f64 = 1.3;

/// A table of 60,000 distinct tuples, and its policy.
fn folder(method: &str) -> Folder {
    let folder = Folder::empty();
    let row = |n: u64| format!("{},{},{},d{}\n", 10_000_000 + n * 29, n * 7919 % 60, n % 2, n * 31 % 20);
    let rows: String = (0..60_000).map(row).collect();
    folder.write("table.csv", format!("code,age,sex,diagnosis\n{rows}"));
    let policy = format!(
        "version = 1\nprivacy.k = 5\nmethod.name = \"{method}\"\n\
         [columns.code]\nrole = \"quasi-identifier\"\ntype = \"number\"\n[columns.age]\nrole = \"quasi-identifier\"\n\
         [columns.sex]\nrole = \"quasi-identifier\"\n[columns.diagnosis]\nrole = \"sensitive\"\n"
    );
    folder.write("policy.toml", policy);
    folder
}

fn run(folder: &Folder, limit: &str, output: &str) -> crate::folder::Run {
    let files = ["anonymize", "table.csv", "-p", "policy.toml", "-o", output, "--overwrite", "--json"];
    folder.run(&[&files[..], &["--seed", "1", "--time-limit", "5s", "--memory", limit]].concat())
}

/// The figure that a refusal asks for.
fn figure(message: &str) -> String {
    let after = message.split("use --memory ").nth(1).unwrap_or_else(|| panic!("no figure: {message}"));
    after.split([',', ' ', '\n']).next().unwrap().to_owned()
}

#[test]
fn a_release_keeps_its_limit_or_is_refused_with_a_figure_that_does() {
    for method in METHODS {
        let folder = folder(method);
        let refused = run(&folder, "32MB", "out.csv");
        assert_eq!(refused.code, 2, "{method}: {}", refused.stderr);
        assert!(refused.stderr.contains(&format!("with the method `{method}`")), "{}", refused.stderr);
        assert!(!folder.path("out.csv").exists());
        // The first figure is estimated from the first records; the second, if it comes, from the whole table.
        let mut limit = figure(&refused.stderr);
        let mut released = run(&folder, &limit, "out.csv");
        if released.code == 2 {
            limit = figure(&released.stderr);
            released = run(&folder, &limit, "out.csv");
        }
        assert_eq!(released.code, 0, "{method} with {limit}: {}", released.stderr);
        let report: Value = serde_json::from_str(&released.stdout).unwrap();
        if let Some(peak) = report["peak_memory_bytes"].as_f64() {
            let share = peak / (limit.trim_end_matches("MB").parse::<f64>().unwrap() * 1e6);
            assert!((0.2..=MAX_SHARE).contains(&share), "{method}: {peak} of {limit} is {share:.2}");
        }
    }
}

#[test]
fn the_limit_does_not_change_the_release() {
    let folder = folder("mondrian");
    assert_eq!(run(&folder, "80MB", "small.csv").code, 0);
    assert_eq!(run(&folder, "4GB", "large.csv").code, 0);
    assert_eq!(folder.read("small.csv"), folder.read("large.csv"));
}

#[test]
fn a_table_that_cannot_be_counted_is_refused_with_a_figure() {
    let folder = Folder::empty();
    let row = |n: u64| format!("{},{},d{}\n", 10_000_000 + n * 29, 20_000_000 + n * 31, n * 31 % 20);
    let rows: String = (0..150_000).map(row).collect();
    folder.write("table.csv", format!("a,b,diagnosis\n{rows}"));
    folder.write(
        "policy.toml",
        "version = 1\nprivacy.k = 5\nmethod.name = \"mondrian\"\n[columns.a]\nrole = \"quasi-identifier\"\n\
         [columns.b]\nrole = \"quasi-identifier\"\n[columns.diagnosis]\nrole = \"sensitive\"\n",
    );
    let refused = run(&folder, "32MB", "out.csv");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("the distinct rows do not fit into 32 MB"), "{}", refused.stderr);
    // The figure is estimated from the records read so far: the whole table may need a little more.
    let mut released = run(&folder, &figure(&refused.stderr), "out.csv");
    if released.code == 2 {
        released = run(&folder, &figure(&released.stderr), "out.csv");
    }
    assert_eq!(released.code, 0, "{}", released.stderr);
}

#[test]
fn other_commands_keep_the_limit_too() {
    let folder = folder("sweep");
    folder.edit("policy.toml", "role = \"sensitive\"", "role = \"class\"");
    for command in ["frontier", "evaluate", "compare"] {
        let mut asked = vec![command, "table.csv", "-p", "policy.toml", "--memory", "45MB"];
        asked.extend(if command == "compare" { &["--k", "5", "--methods", "sweep"][..] } else { &[] });
        let refused = folder.run(&asked);
        assert_eq!(refused.code, 2, "{command}: {}", refused.stdout);
        assert!(refused.stderr.contains("use --memory"), "{command}: {}", refused.stderr);
    }
    let least = folder.run(&["check", "table.csv", "-p", "policy.toml", "--memory", "31MB"]);
    assert!(least.code == 2 && least.stderr.contains("at least 32MB"), "{}", least.stderr);
}

#[test]
fn risks_keep_the_limit_or_are_refused_with_a_figure_that_does() {
    let folder = Folder::empty();
    let row = |n: u64| format!("{},{},{},d{}\n", 10_000_000 + n * 29, n * 7919 % 60, n % 2, n * 31 % 20);
    folder.write("table.csv", "code,age,sex,diagnosis\n".to_owned() + &(0..300_000).map(row).collect::<String>());
    let limited = |limit: &str| run_with_peak(&folder, &["risks", "table.csv", "--json", "--memory", limit]);
    let (mut run, mut peak) = limited("32MB");
    assert_eq!(run.code, 2, "{}", run.stdout);
    let mut limit = figure(&run.stderr);
    // The first figure is estimated before all records are read.
    for _ in 0..2 {
        (run, peak) = limited(&limit);
        if run.code == 2 {
            limit = figure(&run.stderr);
        }
    }
    assert_eq!(run.code, 0, "{}", run.stderr);
    if let Some(peak) = peak {
        let share = peak / (limit.trim_end_matches("MB").parse::<f64>().unwrap() * 1e6);
        assert!((0.2..=MAX_SHARE).contains(&share), "{peak} of {limit} is {share:.2}");
    }
}

/// Runs a command and returns the peak memory of its process; `None` if the system does not report it.
fn run_with_peak(folder: &Folder, arguments: &[&str]) -> (crate::folder::Run, Option<f64>) {
    let mut child = folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (status, mut peak) = (format!("/proc/{}/status", child.id()), None);
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
        peak = kilobytes.map(|kilobytes| kilobytes * 1024.0).or(peak);
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    (crate::folder::Run { code: output.status.code().unwrap_or(-1), stdout, stderr }, peak)
}

#[test]
fn linked_releases_keep_the_limit_or_are_refused_with_a_figure_that_does() {
    let folder = folder("mondrian");
    for (file, k) in [("1.csv", "4"), ("2.csv", "5"), ("3.csv", "6")] {
        folder.write("other.toml", folder.read("policy.toml").replace("privacy.k = 5", &format!("privacy.k = {k}")));
        folder.ok(&["anonymize", "table.csv", "-p", "other.toml", "-o", file, "--seed", k]);
    }
    let releases = ["1.csv", "2.csv", "3.csv"];
    let linkage = [&["linkage", "-p", "policy.toml", "--json"], &releases[..]].concat();
    let people = [&linkage[..], &["--original", "table.csv"]].concat();
    let anonymize =
        ["anonymize", "table.csv", "-p", "policy.toml", "-o", "out.csv", "--json", "--seed", "7", "--overwrite"];
    let earlier = [&anonymize[..], &["--if-linkable", "warn", "--earlier"], &releases[..]].concat();
    for arguments in [linkage, people, earlier] {
        let limited =
            |limit: &str| run_with_peak(&folder, &[&arguments[..1], &["--memory", limit], &arguments[1..]].concat());
        let mut limit = "32MB".to_owned();
        let (mut run, mut peak) = limited(&limit);
        assert!(run.code == 2 && !folder.path("out.csv").exists(), "{arguments:?}: {}", run.stderr);
        // The first figure is estimated before all releases are read.
        for _ in 0..2 {
            if run.code == 2 {
                limit = figure(&run.stderr);
                (run, peak) = limited(&limit);
            }
        }
        assert!(run.code < 2, "{arguments:?} with {limit}: {}", run.stderr);
        if let Some(peak) = peak {
            let share = peak / (limit.trim_end_matches("MB").parse::<f64>().unwrap() * 1e6);
            assert!((0.2..=MAX_SHARE).contains(&share), "{arguments:?}: {peak} of {limit} is {share:.2}");
        }
    }
}
