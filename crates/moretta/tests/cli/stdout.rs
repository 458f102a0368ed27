//! Standard output: output that is lost is an error, a closed pipe is not, and data is printed as it is.

use std::{
    collections::BTreeSet,
    fs::File,
    process::{Output, Stdio},
};

use crate::{folder::Folder, people};

/// Folder with everything that the commands below read.
fn folder() -> Folder {
    let folder = people::folder_to_predict(300);
    folder.edit("policy.toml", "k = 10\n", "k = 10\nmax-suppressed = 0.5\n");
    let files = ["-o", "released.csv", "--recoding", "recoding.json", "--report", "report.json"];
    folder.ok(&[&["anonymize", "people.csv", "-p", "policy.toml"], &files[..]].concat());
    folder
}

/// Every command that needs no further data, with its arguments; some in several forms of output.
const COMMANDS: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["help", "check"],
    &["init", "people.csv"],
    &["init", "people.csv", "-o", "drafted.toml"],
    &["risks", "people.csv"],
    &["risks", "people.csv", "--json"],
    &["policy", "policy.toml"],
    &["inferences", "people.csv", "-p", "policy.toml"],
    &["inferences", "people.csv", "-p", "policy.toml", "--json"],
    &["anonymize", "people.csv", "-p", "policy.toml", "-o", "new-1.csv"],
    &["anonymize", "people.csv", "-p", "policy.toml", "-o", "new-2.csv", "--json"],
    &["check", "released.csv", "-p", "policy.toml"],
    &["check", "released.csv", "-p", "policy.toml", "--json"],
    &["measure", "people.csv", "released.csv", "-p", "policy.toml"],
    &["measure", "people.csv", "released.csv", "-p", "policy.toml", "--json"],
    &["bound", "people.csv", "-p", "policy.toml"],
    &["bound", "people.csv", "-p", "policy.toml", "--released", "released.csv", "--json"],
    &["queries", "people.csv", "released.csv", "-p", "policy.toml"],
    &["queries", "people.csv", "released.csv", "-p", "policy.toml", "--json"],
    &["linkage", "released.csv", "released.csv", "-p", "policy.toml"],
    &["linkage", "released.csv", "released.csv", "-p", "policy.toml", "--json"],
    &["frontier", "people.csv", "-p", "policy.toml"],
    &["frontier", "people.csv", "-p", "policy.toml", "--json"],
    &["apply", "people.csv", "--recoding", "recoding.json", "-o", "new-3.csv"],
    &["apply", "people.csv", "--recoding", "recoding.json", "-o", "new-4.csv", "--json"],
    &["evaluate", "people.csv", "-p", "policy.toml", "--folds", "2"],
    &["evaluate", "people.csv", "-p", "policy.toml", "--folds", "2", "--json"],
    &["compare", "people.csv", "-p", "policy.toml", "--methods", "mondrian", "--folds", "2"],
    &["compare", "people.csv", "-p", "policy.toml", "--methods", "mondrian", "--folds", "2", "--json"],
    &["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf"],
    &["hierarchy", "build", "people.csv", "--column", "age", "--method", "iotf", "-o", "age.csv"],
    &["report", "verify", "report.json", "released.csv"],
    &["hierarchy", "show", "hierarchies/education.csv"],
    &["hierarchy", "check", "hierarchies/education.csv", "people.csv"],
    &["methods"],
    &["methods", "--json"],
    &["measures"],
    &["measures", "--json"],
    &["models"],
    &["models", "--json"],
    &["formats"],
    &["formats", "--json"],
    &["demo", "--people", "300"],
];

#[test]
fn every_command_is_tested() {
    let help = Folder::empty().ok(&["--help"]);
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let listed: BTreeSet<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let tested: BTreeSet<&str> =
        COMMANDS.iter().map(|command| command[0]).filter(|name| !name.starts_with('-')).collect();
    // `reproduce` needs the data of the papers; it prints by the same function.
    let missing: Vec<_> = listed.difference(&tested).collect();
    assert_eq!(missing, [&"reproduce"]);
}

#[cfg(target_os = "linux")]
#[test]
fn output_lost_to_a_full_device_is_an_error() {
    let folder = folder();
    for arguments in COMMANDS {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let Output { status, stderr, .. } = folder.command(arguments).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("cannot write to standard output: No space left on device"), "{arguments:?}: {said}");
        assert_eq!(said.contains("the release new-"), arguments.contains(&"anonymize") || arguments.contains(&"apply"));
    }
    // The files of these commands are complete.
    for name in ["new-1.csv", "new-2.csv", "new-3.csv", "new-4.csv"] {
        folder.ok(&["check", name, "-p", "policy.toml"]);
    }
    folder.ok(&["hierarchy", "check", "age.csv", "people.csv"]);
}

#[test]
fn a_closed_pipe_does_not_change_the_exit_code() {
    let folder = folder();
    let closed = |arguments: &[&str]| {
        let mut child = folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let Output { status, stderr, .. } = child.wait_with_output().unwrap();
        (status.code(), String::from_utf8(stderr).unwrap())
    };
    assert_eq!(closed(&["methods"]), (Some(0), String::new()));
    assert_eq!(closed(&["init", "people.csv"]), (Some(0), String::new()));
    assert_eq!(closed(&["check", "released.csv", "-p", "policy.toml"]), (Some(0), String::new()));
    let (code, said) = closed(&["check", "people.csv", "-p", "policy.toml"]);
    assert!(code == Some(1) && said.contains("does not satisfy") && !said.contains("standard output"), "{said}");
}

#[test]
fn data_is_printed_as_it_is_written_to_a_file() {
    let folder = Folder::empty();
    folder.write("codes.csv", "code,n\n\u{1b}[31mab,1\nac\u{9b}5m,2\n\u{1b}]0;title\u{7}d,3\n");
    let build = ["hierarchy", "build", "codes.csv", "--column", "code", "--method", "prefix", "--prefix", "2,1"];
    let printed = folder.ok(&build);
    folder.ok(&[&build[..], &["-o", "tree.csv"]].concat());
    assert_eq!(printed, folder.read("tree.csv"));
    assert!(printed.contains('\u{1b}'));
    let drafted = folder.ok(&["init", "codes.csv"]);
    folder.ok(&["init", "codes.csv", "-o", "drafted.toml"]);
    assert_eq!(drafted, folder.read("drafted.toml"));
}
