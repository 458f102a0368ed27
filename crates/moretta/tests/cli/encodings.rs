//! Tables in other encodings, compressed, in Arrow, and through pipes.

use std::{
    io::{Read, Write},
    process::Stdio,
};

use flate2::{Compression, read::MultiGzDecoder, write::GzEncoder};

use crate::folder::Folder;

/// People with letters that encodings write differently.
const PEOPLE: &str = "\
name,town,age,diagnosis
Ann,Köln,34,flu
Ben,Besançon,36,asthma
Cat,Köln,34,Ménière
Dan,Besançon,51,flu
Eve,Köln,47,asthma
Fay,Besançon,36,flu
Gus,Köln,51,Ménière
Hal,Besançon,47,asthma
";

const POLICY: &str = "\
version = 1
[privacy]
k = 2
[method]
name = \"mondrian\"
[columns.name]
role = \"identifier\"
[columns.town]
role = \"quasi-identifier\"
hierarchy = \"town.csv\"
[columns.age]
role = \"quasi-identifier\"
type = \"number\"
[columns.diagnosis]
role = \"sensitive\"
";

const TOWNS: &str = "Köln;Rhône;*\nBesançon;Rhône;*\n";

/// Latin-1; Windows-1252 writes all characters of these texts in the same way.
fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|char| u8::try_from(u32::from(char)).unwrap()).collect()
}

fn utf16(text: &str, mark: bool) -> Vec<u8> {
    let marked = if mark { format!("\u{feff}{text}") } else { text.to_owned() };
    marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut unpacked).unwrap();
    unpacked
}

fn folder(table: &str, bytes: impl AsRef<[u8]>, more: &str) -> Folder {
    let folder = Folder::empty();
    folder.write(table, bytes).write("policy.toml", format!("{POLICY}{more}")).write("town.csv", TOWNS);
    folder
}

fn anonymize(folder: &Folder, input: &str, output: &str) {
    folder.ok(&[
        "anonymize",
        input,
        "-p",
        "policy.toml",
        "-o",
        output,
        "--seed",
        "1",
        "--report",
        "r.json",
        "--overwrite",
    ]);
    folder.ok(&["check", output, "-p", "policy.toml"]);
    folder.ok(&["measure", input, output, "-p", "policy.toml"]);
}

/// The release of the plain table.
fn expected() -> String {
    let folder = folder("people.csv", PEOPLE, "");
    anonymize(&folder, "people.csv", "out.csv");
    folder.read("out.csv")
}

#[test]
fn every_encoding_has_the_same_release_in_its_own_bytes() {
    let expected = expected();
    assert!(expected.contains("Ménière"), "{expected}");
    for (bytes, key, released) in [
        (PEOPLE.as_bytes().to_vec(), "", expected.as_bytes().to_vec()),
        (latin(PEOPLE), "windows-1252", latin(&expected)),
        (latin(PEOPLE), "ISO-8859-1", latin(&expected)),
        (utf16(PEOPLE, true), "", utf16(&expected, true)),
        (utf16(PEOPLE, false), "utf-16le", utf16(&expected, false)),
        (format!("\u{feff}{PEOPLE}").into_bytes(), "utf-8-bom", format!("\u{feff}{expected}").into_bytes()),
    ] {
        let section = if key.is_empty() { String::new() } else { format!("[input]\nencoding = \"{key}\"\n") };
        let folder = folder("people.csv", bytes, &section);
        anonymize(&folder, "people.csv", "out.csv");
        assert_eq!(std::fs::read(folder.path("out.csv")).unwrap(), released, "{key}");
        // A release in another encoding than the input.
        folder.edit("policy.toml", "[method]", "[release]\nencoding = \"utf-8\"\n[method]");
        anonymize(&folder, "people.csv", "out.csv");
        assert_eq!(folder.read("out.csv"), expected, "{key}");
    }
}

#[test]
fn utf8_with_another_encoding_declared_is_noted() {
    let folder = folder("people.csv", PEOPLE, "[input]\nencoding = \"windows-1252\"\n");
    // As text in UTF-8, it is read so whatever `encoding` says, and has the values that the people are read with.
    folder.write("town.csv", TOWNS.replace('ö', "Ã¶").replace('ç', "Ã§"));
    let run = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stderr.replace("\n    ", " ").contains("people.csv: the policy declares another `encoding`"),
        "{}",
        run.stderr
    );
    folder.write("people.csv", latin(PEOPLE)).write("town.csv", latin(TOWNS));
    let run = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out2.csv"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!run.stderr.contains("declares another"), "{}", run.stderr);
}

#[test]
fn hierarchies_have_the_encoding_of_the_input_or_a_mark() {
    let expected = expected();
    for (bytes, towns) in
        [(latin(TOWNS), "windows-1252"), (utf16(TOWNS, true), "utf-8"), (utf16(TOWNS, true), "latin-1")]
    {
        let table = if towns == "utf-8" { PEOPLE.as_bytes().to_vec() } else { latin(PEOPLE) };
        let folder =
            folder("people.csv", table, &format!("[input]\nencoding = \"{towns}\"\n[release]\nencoding = \"utf-8\"\n"));
        folder.write("town.csv", bytes);
        anonymize(&folder, "people.csv", "out.csv");
        assert_eq!(folder.read("out.csv"), expected, "{towns}");
        assert!(folder.ok(&["hierarchy", "show", "town.csv"]).contains("Köln"));
    }
    let folder = folder("people.csv", PEOPLE, "");
    folder.write("town.csv", latin(TOWNS));
    let run = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("town.csv, line 1") && run.stderr.contains("set `encoding` in [input]"),
        "{}",
        run.stderr
    );
}

#[test]
fn init_finds_the_encoding() {
    for (bytes, expected, confirm) in [
        (PEOPLE.as_bytes().to_vec(), None, false),
        (latin(PEOPLE), Some("encoding = \"windows-1252\""), true),
        (utf16(PEOPLE, true), Some("encoding = \"utf-16\""), false),
        (utf16(PEOPLE, false), Some("encoding = \"utf-16le\""), true),
    ] {
        let folder = Folder::empty();
        folder.write("people.csv", bytes);
        let draft = folder.ok(&["init", "people.csv"]);
        let found = draft.lines().find(|line| line.starts_with("encoding"));
        assert_eq!(found, expected, "{draft}");
        assert_eq!(draft.contains("its encoding is guessed"), confirm, "{draft}");
        folder.ok(&["risks", "people.csv"]);
    }
}

#[test]
fn compressed_and_arrow_files_have_the_same_release() {
    let expected = expected();
    let folder = folder("people.csv.gz", gzip(PEOPLE.as_bytes()), "");
    let (first, rest) = PEOPLE.split_at(40);
    folder.write("members.csv.gz", [gzip(first.as_bytes()), gzip(rest.as_bytes())].concat());
    for input in ["people.csv.gz", "members.csv.gz"] {
        anonymize(&folder, input, "out.csv");
        assert_eq!(folder.read("out.csv"), expected);
    }
    anonymize(&folder, "people.csv.gz", "out.csv.gz");
    assert_eq!(gunzip(&std::fs::read(folder.path("out.csv.gz")).unwrap()), expected.as_bytes());
    for output in ["out.csv.zst", "out.parquet", "out.arrow", "out.feather", "out.arrows"] {
        anonymize(&folder, "people.csv.gz", output);
    }
    // Parquet with as many columns is shuffled in the same order.
    let sample = |file: &str| folder.ok(&["inferences", file, "-p", "policy.toml", "--json"]);
    let json = sample("out.csv.gz");
    for output in ["out.csv.zst", "out.parquet", "out.arrow", "out.feather", "out.arrows"] {
        assert_eq!(sample(output), json, "{output}");
    }
}

/// Runs a command with bytes on its standard input.
fn piped(folder: &Folder, input: &[u8], arguments: &[&str]) -> (i32, Vec<u8>, String) {
    let mut command = folder.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn tables_go_through_pipes() {
    let expected = expected();
    let folder = folder("people.csv", PEOPLE, "");
    let zipped = gzip(PEOPLE.as_bytes());
    let release = ["anonymize", "-", "-p", "policy.toml", "-o", "-", "--seed", "1"];
    for input in [PEOPLE.as_bytes(), &zipped] {
        let (code, stdout, stderr) = piped(&folder, input, &release);
        assert_eq!((code, &*String::from_utf8(stdout).unwrap()), (0, &*expected), "{stderr}");
        assert!(stderr.contains("released"), "the summary is not lost: {stderr}");
    }
    let (code, stdout, stderr) = piped(&folder, PEOPLE.as_bytes(), &[&release[..], &["--format", "csv.gz"]].concat());
    assert_ne!(code, 0, "the input is not gzip: {stderr}");
    assert!(stdout.is_empty());
    let (code, stdout, _) = piped(&folder, &zipped, &[&release[..], &["--format", "csv.gz"]].concat());
    assert_eq!((code, gunzip(&stdout)), (0, expected.clone().into_bytes()));
    let (code, stdout, _) = piped(&folder, PEOPLE.as_bytes(), &[&release[..], &["--output-format", "csv.gz"]].concat());
    assert_eq!((code, gunzip(&stdout)), (0, expected.clone().into_bytes()));
    let both = ["--format", "csv.gz", "--output-format", "csv"];
    let (code, stdout, _) = piped(&folder, &zipped, &[&release[..], &both].concat());
    assert_eq!((code, stdout), (0, expected.clone().into_bytes()));
    for format in ["parquet", "arrow", "arrows"] {
        folder.ok(&["anonymize", "people.csv", "-p", "policy.toml", "-o", &format!("all.{format}"), "--seed", "1"]);
        let bytes = std::fs::read(folder.path(&format!("all.{format}"))).unwrap();
        let (code, _, stderr) = piped(&folder, &bytes, &["check", "-", "-p", "policy.toml"]);
        assert_eq!(code, 0, "{format}: {stderr}");
        let arguments = ["anonymize", "people.csv", "-p", "policy.toml", "-o", "-", "--seed", "1", "--format", format];
        assert_eq!(piped(&folder, b"", &arguments).1, bytes, "{format}");
    }
    for arguments in [
        &["init", "-"][..],
        &["risks", "-"],
        &["inferences", "-", "-p", "policy.toml"],
        &["frontier", "-", "-p", "policy.toml"],
        &["hierarchy", "check", "town.csv", "-", "--column", "town"],
    ] {
        let (code, stdout, stderr) = piped(&folder, PEOPLE.as_bytes(), arguments);
        assert_eq!(code, 0, "{arguments:?}: {stderr}");
        assert!(!stdout.is_empty());
    }
    folder.write("out.csv", &expected);
    let (code, _, stderr) = piped(&folder, PEOPLE.as_bytes(), &["measure", "-", "out.csv", "-p", "policy.toml"]);
    assert_eq!(code, 0, "{stderr}");
    let (code, _, stderr) = piped(&folder, PEOPLE.as_bytes(), &["measure", "-", "-", "-p", "policy.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("`-` is named twice"), "{stderr}");
}

/// A fault of a table, and a part of the message.
#[test]
fn bad_files_are_refused_with_one_message_and_nothing_is_written() {
    let zipped = gzip(PEOPLE.repeat(50).as_bytes());
    let bomb = gzip(&[b"name,town,age,diagnosis\n".to_vec(), b"Ann,x,1,flu\n".repeat(8 << 20)].concat());
    let mut undefined = latin(PEOPLE);
    undefined[30] = 0x81;
    for (name, bytes, key, message) in [
        ("people.csv", latin(PEOPLE), "", "people.csv, record 1 (line 2): byte 30 of the file (0xF6) is not UTF-8"),
        ("people.csv", undefined, "windows-1252", "record 1 (line 2): byte 31 of the file (0x81) is not Windows-1252"),
        ("people.csv", utf16(PEOPLE, false), "", "set `encoding = \"utf-16le\"` in [input]"),
        (
            "people.csv",
            utf16(PEOPLE, true),
            "latin-1",
            "the byte order mark of UTF-16, and `encoding` of the policy is \"latin-1\"",
        ),
        ("people.csv", [utf16(PEOPLE, true), vec![0]].concat(), "", "record 9 (line 10): "),
        ("people.csv", zipped.clone(), "", "it is a gzip file: name it .gz"),
        ("people.csv.gz", PEOPLE.as_bytes().to_vec(), "", "damaged gzip data after 0 unpacked bytes"),
        ("people.csv.gz", zipped[..zipped.len() / 2].to_vec(), "", "the gzip data ends early: the file is cut off"),
        ("people.csv.gz", [&zipped[..], b"<html></html>"].concat(), "", "damaged gzip data after"),
        ("people.csv.gz", bomb, "", "it unpacks to more than 200 times its size"),
        ("people.arrow", PEOPLE.as_bytes().to_vec(), "", "damaged Arrow file"),
        ("people.arrow", b"FEA1\0\0\0\0".to_vec(), "", "Feather of version 1"),
        ("people.parquet.gz", zipped.clone(), "", "the name should end in"),
    ] {
        let section = if key.is_empty() { String::new() } else { format!("[input]\nencoding = \"{key}\"\n") };
        let folder = folder(name, bytes, &section);
        let before = folder.files();
        let run = folder.run(&["anonymize", name, "-p", "policy.toml", "-o", "out.csv", "--report", "r.html"]);
        assert_eq!(run.code, 2, "{name} {key}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{name}: {}\nexpected {message}", run.stderr);
        assert_eq!(run.stderr.trim_end().lines().count(), 1, "{}", run.stderr);
        assert_eq!(folder.files(), before);
    }
}

#[test]
fn a_release_that_its_encoding_does_not_have_is_refused() {
    for (table, towns, message) in [
        (
            PEOPLE.replace("Ménière", "Łódź"),
            TOWNS.to_owned(),
            "column `diagnosis`, record 3: a text has the character U+0141",
        ),
        (PEOPLE.to_owned(), TOWNS.replace("Rhône", "Łódź"), "column `town`: the label `Łódź` has the character U+0141"),
    ] {
        let folder = folder("people.csv", table, "[release]\nencoding = \"windows-1252\"\n");
        folder.write("town.csv", towns).edit("policy.toml", "k = 2", "k = 8");
        let run = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv", "--keep-order"]);
        assert_eq!(run.code, 2, "{}", run.stderr);
        assert!(run.stderr.contains(message) && run.stderr.contains("set `encoding = \"utf-8\"`"), "{}", run.stderr);
        assert!(!folder.path("out.csv").exists());
    }
}

#[test]
fn unknown_encodings_are_refused_with_a_suggestion() {
    let folder = folder("people.csv", PEOPLE, "[input]\nencoding = \"utf8-bom\"\n");
    let run = folder.run(&["anonymize", "people.csv", "-p", "policy.toml", "-o", "out.csv"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("`encoding` is \"utf8-bom\"") && run.stderr.contains("did you mean \"utf-8-bom\"?"),
        "{}",
        run.stderr
    );
}
