//! Output files that are not plain new files: links, pipes, devices; and files of two different runs.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    process::Command,
};

use sha2::{Digest, Sha256};

use crate::folder::Folder;

#[test]
fn a_symbolic_link_stays_and_the_file_it_leads_to_is_replaced() {
    let folder = Folder::with_people();
    folder.write("releases/2026.csv", "old");
    fs::set_permissions(folder.path("releases/2026.csv"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("releases/2026.csv", folder.path("out.csv")).unwrap();
    let refused = folder.anonymize(&[]);
    assert!(refused.code == 2 && refused.stderr.contains("out.csv exists"), "{}", refused.stderr);
    assert_eq!(folder.read("releases/2026.csv"), "old");
    let run = folder.anonymize(&["--overwrite"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(fs::read_link(folder.path("out.csv")).unwrap().to_str(), Some("releases/2026.csv"));
    let file = folder.path("releases/2026.csv").symlink_metadata().unwrap();
    assert!(file.is_file() && file.permissions().mode() & 0o777 == 0o640);
    folder.ok(&["check", "releases/2026.csv", "-p", "policy.toml"]);
    // A link to an input is an input, and a link to another output is that output.
    symlink("people.csv", folder.path("input.csv")).unwrap();
    let run = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "input.csv", "--overwrite"]);
    assert!(run.code == 2 && run.stderr.contains("input.csv is an input of this command"), "{}", run.stderr);
    symlink("out.csv", folder.path("report.json")).unwrap();
    let run = folder.anonymize(&["--overwrite", "--report", "report.json"]);
    assert!(run.code == 2 && run.stderr.contains("report.json is named twice"), "{}", run.stderr);
    // A link into the input folder would be read by the next run.
    folder.write("data/people.csv", folder.read("people.csv")).write("data/old.csv", folder.read("people.csv"));
    symlink("data/old.csv", folder.path("link.csv")).unwrap();
    let run = folder.run(&["anonymize", "data", "-p", "policy.toml", "-o", "link.csv", "--overwrite"]);
    assert!(run.code == 2 && run.stderr.contains("link.csv is in"), "{}", run.stderr);
}

#[test]
fn what_is_no_file_is_refused_before_the_work_and_stays() {
    let folder = Folder::with_people();
    assert!(Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap().success());
    symlink("nowhere.csv", folder.path("dangling.csv")).unwrap();
    symlink("/dev/null", folder.path("device.csv")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path("socket.csv")).unwrap();
    for (name, reason) in [
        ("pipe.csv", "it is a pipe, a socket or a device, not a file; name a file"),
        ("device.csv", "it is a pipe, a socket or a device, not a file; name a file"),
        ("socket.csv", "it is a pipe, a socket or a device, not a file; name a file"),
        ("dangling.csv", "it is a symbolic link that leads to no file"),
    ] {
        let kind = folder.path(name).symlink_metadata().unwrap().file_type();
        for more in [&[][..], &["--overwrite"]] {
            let run = folder.run(&[&["anonymize", "people.csv", "-p", "policy.toml", "-o", name], more].concat());
            assert_eq!(run.code, 2, "{name}: {}", run.stderr);
            assert!(run.stderr.contains(&format!("cannot write {name}: {reason}")), "{}", run.stderr);
        }
        assert_eq!(folder.path(name).symlink_metadata().unwrap().file_type(), kind);
    }
    let left: Vec<_> = fs::read_dir(folder.path("")).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(left.len(), 7, "{left:?}");
}

fn hash(folder: &Folder, name: &str) -> String {
    Sha256::digest(fs::read(folder.path(name)).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn report_and_recoding_name_the_release_by_its_hash() {
    for name in ["out.csv", "out.parquet"] {
        let folder = Folder::with_people();
        let files = ["--report", "report.json", "--report", "report.html", "--recoding", "recoding.json"];
        folder.ok(&[&["anonymize", "people.csv", "-p", "policy.toml", "-o", name][..], &files].concat());
        let bytes = folder.path(name).metadata().unwrap().len();
        let release = serde_json::json!({"file": name, "bytes": bytes, "sha256": hash(&folder, name)});
        for named in ["report.json", "recoding.json"] {
            let json: serde_json::Value = serde_json::from_str(&folder.read(named)).unwrap();
            assert_eq!(json["release"], release, "{named}");
        }
        assert!(folder.read("report.html").contains(&hash(&folder, name)));
    }
}

#[test]
fn a_recoding_beside_another_release_is_refused() {
    let folder = Folder::with_people();
    assert_eq!(folder.anonymize(&["--recoding", "recoding.json", "--seed", "1"]).code, 0);
    let apply = ["apply", "people.csv", "--recoding", "recoding.json", "-o", "new.csv", "--overwrite"];
    folder.ok(&apply);
    let release = folder.read("out.csv");
    // Another size, then another content of the same size.
    for other in [format!("{release}\n"), release.replace("flu", "fly")] {
        folder.write("out.csv", other);
        let before = folder.files();
        let run = folder.run(&apply);
        assert_eq!(run.code, 2);
        let said = "recoding.json: it is the recoding of another release than out.csv, whose SHA-256 is not the";
        assert!(run.stderr.contains(said), "{}", run.stderr);
        assert!(folder.files() == before);
    }
    fs::remove_file(folder.path("out.csv")).unwrap();
    folder.ok(&apply);
    // A recoding of a version of the program that did not record the release.
    let mut json: serde_json::Value = serde_json::from_str(&folder.read("recoding.json")).unwrap();
    assert!(json.as_object_mut().unwrap().remove("release").is_some());
    folder.write("recoding.json", json.to_string()).write("out.csv", "anything");
    folder.ok(&apply);
}
