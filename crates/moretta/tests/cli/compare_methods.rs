//! `moretta compare`: every method and k, with the same figures as the other commands.

use std::{
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    folder::{Folder, Run},
    people,
};

const COMPARE: [&str; 6] = ["compare", "people.csv", "--policy", "policy.toml", "--queries", "100"];

fn compare(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&COMPARE, more].concat())
}

fn json(folder: &Folder, more: &[&str]) -> Value {
    let run = compare(folder, &[more, &["--json"]].concat());
    assert_eq!(run.code, 0, "{more:?}: {}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn rows(found: &Value) -> &Vec<Value> {
    found["rows"].as_array().unwrap()
}

/// Removes figures that differ between runs.
fn steady(mut found: Value) -> Value {
    for row in found["rows"].as_array_mut().unwrap() {
        row["seconds"] = Value::Null;
        row["peak_memory_bytes"] = Value::Null;
    }
    found
}

#[test]
fn every_method_and_k_has_the_figures_of_the_other_commands() {
    let folder = people::folder_to_predict(1000);
    let before = folder.files();
    let asked = ["--methods", "mondrian,sweep,mondrian", "--k", "20,5,5", "--seed", "3", "--folds", "2"];
    let found = json(&folder, &asked);
    assert_eq!(folder.files(), before, "nothing is written");
    let names: Vec<(&str, u64)> =
        rows(&found).iter().map(|row| (row["method"].as_str().unwrap(), row["k"].as_u64().unwrap())).collect();
    assert_eq!(names, [("mondrian", 5), ("sweep", 5), ("mondrian", 20), ("sweep", 20)], "each once, k by k");
    let policy = folder.read("policy.toml");
    for row in rows(&found) {
        let name = format!("name = \"{}\"", row["method"].as_str().unwrap());
        folder.write(
            "one.toml",
            policy.replace("name = \"mondrian\"", &name).replace("k = 10", &format!("k = {}", row["k"])),
        );
        let one = |arguments: &[&str]| -> Value { serde_json::from_str(&folder.ok(arguments)).unwrap() };
        let common = ["people.csv", "-p", "one.toml", "--seed", "3", "--json"];
        let release =
            one(&[&["anonymize", "-o", "out.csv", "--overwrite", "--report", "r.json"][..], &common].concat());
        assert_eq!(row["measures"], release["measures"], "{name}");
        assert_eq!(row["groups"], release["groups"]);
        assert_eq!(row["suppressed_rows"], release["suppressed_rows"]);
        assert_eq!(row["smallest_group"], release["privacy"]["smallest_group"]);
        let errors = one(&[&["evaluate", "--folds", "2"][..], &common].concat());
        assert_eq!((&row["errors"], &row["spread"]), (&errors["errors"], &errors["spread"]), "{name}");
        for baseline in ["B", "W", "RE"] {
            assert_eq!(found["errors"][baseline], errors["errors"][baseline], "the same for all");
        }
        let asked = ["queries", "people.csv", "out.csv", "-p", "one.toml", "--seed", "3", "--count", "100", "--json"];
        let answers = one(&asked);
        assert_eq!(row["queries"]["count"], answers["workloads"][0]["errors"]);
        assert_eq!(row["queries"]["sum"], answers["workloads"][1]["errors"]);
        assert!(row["seconds"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn the_same_again_and_on_any_number_of_threads() {
    let folder = people::folder_to_predict(600);
    folder.write("test.csv", people::table(1, 600..900));
    let asked = ["--methods", "mondrian,k-member", "--k", "4", "--test", "test.csv"];
    let found = steady(json(&folder, &asked));
    assert_eq!(found, steady(json(&folder, &[&asked[..], &["--threads", "1"]].concat())));
    assert_eq!(found, steady(json(&folder, &[&asked[..], &["--threads", "2", "--memory", "1GB"]].concat())));
    assert_eq!((&found["tested"]["splits"], &found["tested"]["records"]), (&1.into(), &300.into()));
    let evaluated =
        folder.ok(&["evaluate", "people.csv", "-p", "policy.toml", "--test", "test.csv", "--seed", "0", "--json"]);
    let evaluated: Value = serde_json::from_str(&evaluated).unwrap();
    assert_eq!(found["errors"]["B"], evaluated["errors"]["B"]);
    // A single job runs in this process, with the same figures.
    let alone = steady(json(&folder, &["--methods", "k-member", "--k", "4", "--test", "test.csv"]));
    assert_eq!(alone["rows"][0], found["rows"][1]);
}

#[test]
fn left_out_it_is_every_method_at_the_policy_s_own_k() {
    let folder = people::folder_to_predict(300);
    folder.edit("policy.toml", "k = 10", "k = 3");
    let found = json(&folder, &["--hold-out", "0.33", "--folds", "1", "--time-limit", "2s"]);
    let methods: Vec<&str> = rows(&found).iter().map(|row| row["method"].as_str().unwrap()).collect();
    assert_eq!(methods, moretta_core::search::method_names());
    for row in rows(&found) {
        assert_eq!(row["k"], 3);
        assert!(row["measures"]["gcp"].as_f64().unwrap() >= 0.0 && row["smallest_group"].as_u64() >= Some(3), "{row}");
    }
}

#[test]
fn a_method_that_cannot_is_a_row_with_its_reason() {
    let folder = people::folder_to_predict(300);
    let text = folder.read("policy.toml").replace("name = \"mondrian\"", "name = \"genetic\"\niterations = 200");
    folder.write("policy.toml", text + "\n[measure]\nname = \"cm\"\n");
    let asked = ["--methods", "mondrian,genetic", "--k", "3", "--hold-out", "0.33", "--folds", "1"];
    let found = json(&folder, &asked);
    let [mondrian, genetic] = rows(&found).as_slice() else { panic!("{found}") };
    let reason = mondrian["unsupported"].as_str().unwrap();
    assert!(
        reason.starts_with("method `mondrian` does not support [measure]") && reason.contains("`genetic`"),
        "{reason}"
    );
    assert!(mondrian.get("measures").is_none() && genetic.get("unsupported").is_none());
    assert_eq!((&found["measure"], &genetic["goal"]), (&"cm".into(), &genetic["measures"]["cm"]));
    let said = compare(&folder, &asked);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stdout.contains("mondrian  no result: method `mondrian` does not support [measure]"),
        "{}",
        said.stdout
    );
    // k is larger than the table: no method has a result, which is a row of the table.
    let run = compare(&folder, &["--methods", "genetic,mondrian", "--k", "301", "--output", "c.csv"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stderr.contains("genetic, k = 301: the policy cannot be satisfied"), "{}", run.stderr);
    let run = compare(&folder, &["--methods", "mondrian"]);
    assert!(run.code == 2 && run.stderr.contains("does not support [measure]"), "{}", run.stderr);
    assert!(!folder.path("c.csv").exists());
}

#[test]
fn a_k_beyond_the_table_leaves_the_others() {
    let folder = people::folder_to_predict(200);
    let found = json(&folder, &["--methods", "mondrian", "--k", "5,150,201", "--folds", "3"]);
    assert!(rows(&found)[0]["errors"]["E"].as_f64().is_some());
    // The training records are fewer than k.
    assert!(rows(&found)[1]["errors"].is_null());
    let untested = rows(&found)[1]["untested"].as_str().unwrap();
    assert!(
        untested.starts_with("on the training records (without those held out): the policy cannot be satisfied"),
        "{untested}"
    );
    let [unsupported, detail] = ["unsupported", "detail"].map(|name| rows(&found)[2][name].as_str().unwrap());
    assert_eq!(unsupported, "the policy cannot be satisfied, not even with all records in one group");
    assert!(detail.starts_with("the policy cannot be satisfied: even with all 200 records in one group"), "{detail}");
}

#[test]
fn without_a_class_there_are_no_errors_and_a_note_says_why() {
    let folder = people::folder(300);
    folder.edit("policy.toml", "role = \"class\"", "role = \"sensitive\"");
    let run = compare(&folder, &["--methods", "mondrian,sweep", "--k", "3"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("no column has the role `class`"), "{}", run.stderr);
    assert!(!run.stdout.contains("E %") && run.stdout.contains("count %"), "{}", run.stdout);
    assert_eq!(run.stderr.matches("note: ").count(), 1, "{}", run.stderr);
    // Options that would be ignored are refused before anything is read: the table need not exist.
    std::fs::remove_file(folder.path("people.csv")).unwrap();
    let ignored: [&[&str]; 3] = [&["--test", "people.csv"], &["--folds", "3"], &["--hold-out", "0.3"]];
    for more in ignored {
        let run = compare(&folder, more);
        let message = format!("{}: no column has the role `class`", more[0]);
        assert!(run.code == 2 && run.stderr.contains(&message), "{more:?}: {}", run.stderr);
    }
}

#[test]
fn nothing_is_done_where_something_is_wrong() {
    let folder = people::folder_to_predict(300);
    folder.write("there.csv", "kept\n").write("test.csv", people::table(1, 300..400));
    let before = folder.files();
    let wrong: [(&[&str], &str); 14] = [
        (&["--methods", "mondrain"], "no method `mondrain`; did you mean `mondrian`?"),
        (&["--methods", "zzzzzz"], "no method `zzzzzz`; known methods: `best`, `mondrian`, `bottom-up"),
        (&["--methods", "sweep,"], "no method ``"),
        (&["--k", "0"], "`0` is not a whole number of at least 1"),
        (&["--k", "-5"], "`-5` is not a whole number of at least 1"),
        (&["--k", "5,x"], "`x` is not a whole number of at least 1"),
        (&["--output", "c.svg"], "must be named .csv or .html; `--json`"),
        (&["--output", "there.csv"], "there.csv exists;"),
        (&["--output", "people.csv", "--overwrite"], "people.csv is an input of this command"),
        (&["--output", "test.csv", "--test", "test.csv", "--overwrite"], "test.csv is an input of this command"),
        (&["--output", "nowhere/c.csv"], "folder nowhere does not exist"),
        (&["--folds", "1"], "--hold-out 0.33"),
        (&["--folds", "3", "--test", "test.csv"], "cannot be used with"),
        (&["--test", "none.csv"], "none.csv"),
    ];
    for (more, message) in wrong {
        let run = compare(&folder, more);
        assert_eq!(run.code, 2, "{more:?}");
        assert!(run.stderr.contains(message), "{more:?}: {}", run.stderr);
        assert!(run.stdout.is_empty());
    }
    // A policy named .html, so that it can be named as an output.
    folder.write("policy.html", folder.read("policy.toml"));
    let run = folder.run(&["compare", "people.csv", "-p", "policy.html", "-o", "policy.html", "--overwrite"]);
    assert!(run.code == 2 && run.stderr.contains("policy.html is an input of this command"), "{}", run.stderr);
    std::fs::remove_file(folder.path("policy.html")).unwrap();
    assert_eq!(folder.files(), before);
    let alone = folder.read("policy.toml");
    let (from, to) = (alone.find("[[privacy.").unwrap(), alone.find("[method]").unwrap());
    assert!(from < to);
    folder.write("policy.toml", alone.replace(&alone[from..to], ""));
    let run = compare(&folder, &["--k", "1,5"]);
    assert!(run.code == 2 && run.stderr.contains("--k 1:"), "{}", run.stderr);
}

#[test]
fn files_have_every_row_and_are_replaced_only_on_request() {
    let folder = people::folder_to_predict(400);
    let asked = ["--methods", "mondrian,sweep", "--k", "4,8", "--hold-out", "0.33", "--folds", "1"];
    let found = json(&folder, &asked);
    for name in ["c.csv", "c.html"] {
        let with = |more: &[&str]| compare(&folder, &[&asked[..], &["--output", name], more].concat());
        let run = with(&[]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.starts_with(&format!("wrote {name}: 4 combinations")), "{}", run.stdout);
        let before = folder.read(name);
        assert_eq!(with(&[]).code, 2, "{name} is there already");
        assert_eq!(folder.read(name), before);
        assert_eq!(with(&["--overwrite"]).code, 0);
    }
    let csv = folder.read("c.csv");
    assert_eq!(people::column(&csv, "method"), ["mondrian", "sweep", "mondrian", "sweep"]);
    assert_eq!(people::column(&csv, "k"), ["4", "4", "8", "8"]);
    for (name, at) in [("gcp", ["measures", "gcp"]), ("E", ["errors", "E"]), ("W", ["errors", "W"])] {
        let expected: Vec<f64> = rows(&found).iter().map(|row| row[at[0]][at[1]].as_f64().unwrap()).collect();
        let written: Vec<f64> = people::column(&csv, name).iter().map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(written, expected, "{name}");
    }
    let page = folder.read("c.html");
    assert!(page.contains("default-src 'none'") && !page.contains("<script") && !page.contains("NaN"));
    assert_eq!(page.matches("class=\"chart\"").count(), 6);
    // No records: neither a name nor a postcode of the table is in it.
    let people = folder.read("people.csv");
    for column in ["name", "postcode"] {
        assert!(people::column(&people, column).iter().all(|value| !page.contains(value.as_str())), "{column}");
    }
    let left: Vec<_> = folder.files().into_keys().filter(|path| path.to_string_lossy().contains(".moretta")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Starts a comparison that does not end by itself; returns it and the process id of its first child.
#[cfg(target_os = "linux")]
fn endless(folder: &Folder) -> (Child, String) {
    let endless = "\"genetic\"\npopulation = 50\niterations = 1_000_000_000\npatience = 1_000_000_000\nseeds = false";
    folder.edit("policy.toml", "\"mondrian\"", endless);
    let asked = ["--methods", "genetic,mondrian", "--k", "5", "--output", "c.csv"];
    let mut command = folder.command(&[&COMPARE[..], &asked].concat());
    let parent = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Any thread may have started the child; a thread may end while they are listed.
    let threads = format!("/proc/{}/task", parent.id());
    let children = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children")).ok();
    let mut child = String::new();
    wait_for("it starts no child", || {
        let threads = std::fs::read_dir(&threads).unwrap().flatten();
        child = threads.filter_map(children).collect::<String>().trim().to_owned();
        // Between fork and exec the child still looks like its parent.
        !child.is_empty() && command_line(&child).contains("--child")
    });
    assert!(!child.contains(' '), "one at a time");
    (parent, child)
}

#[cfg(target_os = "linux")]
fn command_line(process: &str) -> String {
    std::fs::read(format!("/proc/{process}/cmdline"))
        .map(|text| String::from_utf8_lossy(&text).into())
        .unwrap_or_default()
}

#[cfg(target_os = "linux")]
fn wait_for(otherwise: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < deadline, "{otherwise}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(target_os = "linux")]
fn send(signal: &str, process: &Child) {
    let sent = std::process::Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_it_ends_its_child_and_writes_nothing() {
    let folder = people::folder_to_predict(1000);
    let (parent, child) = endless(&folder);
    send("-INT", &parent);
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty() && !folder.path("c.csv").exists());
    // The child was waited for, so it is not a zombie; another process may have its id by now.
    assert!(!command_line(&child).contains("--child"), "the child is still there");
}

#[cfg(target_os = "linux")]
#[test]
fn ended_by_any_signal_it_leaves_no_child_behind() {
    for signal in ["-TERM", "-HUP", "-KILL"] {
        let folder = people::folder_to_predict(1000);
        let (parent, child) = endless(&folder);
        send(signal, &parent);
        let output = parent.wait_with_output().unwrap();
        assert_eq!(output.status.code(), None, "{signal} ends it");
        wait_for("the child is still there", || !command_line(&child).contains("--child"));
        assert!(!folder.path("c.csv").exists());
    }
}

#[cfg(unix)]
#[test]
fn what_can_be_read_only_once_is_refused_before_anybody_reads_it() {
    let folder = people::folder_to_predict(300);
    let made = std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap();
    assert!(made.success());
    // No process writes into the pipe: opening it would block forever.
    let asked: [&[&str]; 3] = [
        &["pipe", "-p", "policy.toml"],
        &["people.csv", "-p", "policy.toml", "--test", "pipe"],
        &["/dev/stdin", "-p", "policy.toml"],
    ];
    for asked in asked {
        let run = folder.run(&[&["compare", "--methods", "mondrian,sweep"], asked].concat());
        assert_eq!(run.code, 2, "{asked:?}");
        assert!(run.stderr.contains("can be read only once") && run.stderr.contains("save it"), "{}", run.stderr);
    }
}
