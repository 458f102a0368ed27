//! A release is read the same way by every program: cells that readers disagree about are quoted or refused.

use crate::folder::Folder;

const POLICY: &str = "version = 1\n[privacy]\nk = 3\n[release]\nexact = [\"note\", \"diagnosis\"]\n[columns.age]\nrole = \"quasi-identifier\"\n\
     [columns.note]\nrole = \"insensitive\"\n[columns.diagnosis]\nrole = \"sensitive\"\n";

/// A reader that begins a new record at every CR finds another person of 87 years.
const PEOPLE: &str = "age,note,diagnosis\n29,ok,flu\n29,fine\r87,HIV\n29,'-,flu\n41,#a,flu\n41,b,cold\n41,c,cold\n";

fn folder() -> Folder {
    let folder = Folder::empty();
    folder.write("people.csv", PEOPLE).write("policy.toml", POLICY);
    folder
}

#[test]
fn a_bare_cr_of_the_input_is_quoted_in_the_release() {
    let folder = folder();
    folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--keep-order"]);
    let expected =
        "age,note,diagnosis\n29,ok,flu\n29,\"fine\r87\",HIV\n29,\"'-\",flu\n41,\"#a\",flu\n41,b,cold\n41,c,cold\n";
    assert_eq!(folder.read("out.csv"), expected);
    folder.ok(&["check", "out.csv", "-p", "policy.toml"]);
    // An original is read as it is.
    folder.ok(&["inferences", "people.csv", "-p", "policy.toml"]);
}

#[test]
fn a_record_of_a_release_that_looks_like_a_comment_is_refused() {
    let folder = folder();
    folder.write("r.csv", "age,note,diagnosis\n29,a,flu\n 29,a,cold\n#29,a,flu\n");
    let run = folder.run(&["check", "r.csv", "-p", "policy.toml"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("r.csv, record 3 (line 4): a record that begins with `#`"), "{}", run.stderr);
}

#[test]
fn a_bare_cr_of_a_release_is_refused_by_every_command_that_reads_one() {
    let folder = folder();
    for command in [
        &["check", "people.csv", "-p", "policy.toml"][..],
        &["measure", "people.csv", "people.csv", "-p", "policy.toml"],
        &["queries", "people.csv", "people.csv", "-p", "policy.toml"],
        &["linkage", "people.csv", "people.csv", "-p", "policy.toml"],
        &["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--earlier", "people.csv"],
    ] {
        let run = folder.run(command);
        assert_eq!(run.code, 2, "{command:?} {}", run.stderr);
        let expected = "error: people.csv, record 2 (line 3): a carriage return (CR) in field 2 outside quotes";
        assert!(run.stderr.starts_with(expected), "{command:?} {}", run.stderr);
    }
}

#[test]
fn a_file_of_nul_bytes_or_of_one_long_line_is_refused() {
    let folder = folder();
    folder.write("nul.csv", "age,note,diagnosis\n29,a\0b,flu\n").write("long.csv", "a".repeat(6 << 20));
    for (file, expected) in [("nul.csv", "record 1: a NUL byte"), ("long.csv", "the first line is longer than 4 MB")] {
        let run = folder.run(&["init", file]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains(expected), "{}", run.stderr);
        assert!(run.stderr.len() < 300, "{}", run.stderr);
    }
}

/// A report said that the records are in random order although `--keep-order` was set.
#[test]
fn the_report_has_the_order_of_the_records() {
    let folder = folder();
    let arguments = ["anonymize", "people.csv", "-p", "policy.toml", "--report", "r.html", "--report", "r.json"];
    for (kept, page, json) in
        [(false, "in random order", "\"shuffled\""), (true, "in the order of the input", "\"input\"")]
    {
        let mut all = [&arguments[..], &["-o", "out.csv", "--overwrite"]].concat();
        all.extend(kept.then_some("--keep-order"));
        folder.ok(&all);
        assert!(folder.read("r.html").contains(&format!("records are released {page}")));
        assert!(folder.read("r.json").contains(&format!("\"order\": {json}")));
        assert_eq!(folder.read("r.html").contains("the shuffle can be undone"), !kept);
    }
}

#[test]
fn the_key_of_the_shuffle_is_in_the_report_and_repeats_the_release() {
    let folder = folder();
    let mut arguments = vec!["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--overwrite", "--json"];
    let seed = |text: &str| -> String {
        let report: serde_json::Value = serde_json::from_str(text).unwrap();
        report["seed"].as_str().unwrap().to_owned()
    };
    let first = seed(&folder.ok(&arguments));
    let release = folder.read("out.csv");
    assert!(first.len() == 32 && first.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
    assert_ne!(seed(&folder.ok(&arguments)), first);
    arguments.extend(["--seed", &first]);
    assert_eq!(seed(&folder.ok(&arguments)), first);
    assert_eq!(folder.read("out.csv"), release);
    arguments.pop();
    arguments.push("7");
    assert_eq!(seed(&folder.ok(&arguments)), "7");
    arguments.pop();
    arguments.push("0123");
    folder.ok(&arguments);
    arguments.pop();
    arguments.push("0123456789abcdef");
    let run = folder.run(&arguments);
    assert!(run.code == 2 && run.stderr.contains("32 hexadecimal digits"), "{}", run.stderr);
}

#[test]
fn damaged_parquet_is_an_error() {
    let folder = folder();
    folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.parquet"]);
    let intact = std::fs::read(folder.path("out.parquet")).unwrap();
    let footer = intact.len() - 8 - u32::from_le_bytes(intact[intact.len() - 8..][..4].try_into().unwrap()) as usize;
    let mut refused = 0;
    // The lowest bit of a number in a footer is its sign, at which the decoder of Parquet panics.
    for at in footer..intact.len() {
        let mut damaged = intact.clone();
        damaged[at] ^= 1;
        let name = "damaged.parquet";
        folder.write(name, damaged);
        let run = folder.run(&["init", name, "-o", "draft.toml", "--overwrite"]);
        assert!(
            matches!(run.code, 0 | 2) && !run.stderr.contains("panicked"),
            "byte {at}: {} {}",
            run.code,
            run.stderr
        );
        assert!(run.code == 0 || run.stderr.starts_with("error: damaged.parquet"), "byte {at}: {}", run.stderr);
        refused += usize::from(run.code == 2);
    }
    assert!(refused > 30, "{refused}");
}
