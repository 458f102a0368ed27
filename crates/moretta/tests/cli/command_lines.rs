//! Every command line of the documents works as printed, and every output they show is what the program prints.
//!
//! Each document gets a fresh folder with made-up data (see [`inputs`]), and its fences are taken in order:
//!
//! - `sh` has commands, one per line or continued with a `\` at the end. Those of `moretta` are run as printed and must
//!   exit with 0 (or the code listed in [`EXIT_CODES`]), or are listed in [`ONLY_PARSED`]. All others are listed in
//!   [`OTHER_PROGRAMS`].
//! - a fence with a file name behind its language, such as `toml policy.toml`, is written to that file.
//! - `text` directly after `sh` is what the last of its commands prints, on both streams. If it ends with a line `..`,
//!   only its first lines are shown. [`masked`] says what differs from run to run and how it is shown.
//!
//! `MORETTA_UPDATE_DOCS=1` writes the outputs into the documents again.

use std::{collections::HashSet, io::Read as _};

use moretta_synthetic as synthetic;

use crate::{
    documents::{documents, fences, read, require},
    folder::Folder,
    people,
};

/// Commands of `moretta` that end with another exit code than 0, as the text around them says.
const EXIT_CODES: [(&str, i32); 3] = [
    ("moretta check patients.csv --policy policy.toml", 1),
    ("moretta linkage released.csv other.csv --policy policy.toml --original patients.csv", 1),
    ("moretta anonymize patients.csv --policy other.toml --output third.csv --earlier released.csv", 1),
];

/// Commands of `moretta` that need data which is not generated here: only their arguments are checked.
const ONLY_PARSED: [&str; 3] = [
    "moretta reproduce all --data DIR",
    "moretta anonymize adult_train.csv --policy examples/adult/policy.toml --output released.csv --report report.html",
    "moretta check released.csv --policy examples/adult/policy.toml",
];

/// Commands that build, install, test or benchmark. They are not run; arguments of `moretta` behind ` -- ` are checked.
const OTHER_PROGRAMS: [&str; 15] = [
    "cargo install --path crates/moretta",
    "cargo run --release -- demo",
    "./test",
    "pip install .",
    "pip install ./moretta polars scikit-learn",
    "python3 -m venv env && . env/bin/activate",
    "python",
    ".ci/run",
    "benchmarks/run",
    "fuzz/run 60",
    "fuzz/run 600 --kind csv --kind policy",
    "fuzz/run --guided 600",
    "fuzz/run --case csv:29885462511616",
    "./sbom > moretta.cdx.json",
    "INSTA_UPDATE=always MORETTA_UPDATE_DOCS=1 cargo nextest run -p moretta --test cli",
];

/// The data that the documents speak of: synthetic people of seed 1, as `moretta demo` makes them, and its hierarchies.
fn inputs() -> Folder {
    let folder = Folder::empty();
    folder.write("patients.csv", people::table(1, 0..2000));
    folder.write("new-patients.csv", people::table(1, 2500..4000));
    for column in synthetic::COLUMNS {
        if let Some(text) = synthetic::hierarchy(column) {
            folder.write(&format!("hierarchies/{column}.csv"), text);
        }
    }
    folder
}

/// The printed lines without the parts that differ from run to run: in lines that have a time such as `0.13 s`, numbers
/// with a decimal point are shown as `0.00`; tables of `compare` are shown without their columns of seconds and memory.
fn masked(output: &str) -> Vec<String> {
    let mut width = usize::MAX;
    let mut lines = Vec::new();
    for line in output.lines() {
        if line.ends_with("MB") && line.contains("groups") {
            width = line.split("groups").next().unwrap().chars().count() + "groups".len();
        } else if line.is_empty() {
            width = usize::MAX;
        }
        let line: String = line.chars().take(width).collect();
        let line = if has_time(&line) { with_zeros(&line) } else { line };
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// The number with a decimal point in a word, without brackets and punctuation around it.
fn decimal(word: &str) -> Option<&str> {
    let number = word.trim_matches(|c: char| !c.is_ascii_digit());
    (number.contains('.') && number.chars().all(|c| c.is_ascii_digit() || c == '.')).then_some(number)
}

fn has_time(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).any(|pair| decimal(pair[0]).is_some() && pair[1].trim_end_matches([')', ',', ';']) == "s")
}

fn with_zeros(line: &str) -> String {
    let replace = |word: &str| decimal(word).map_or(word.to_owned(), |number| word.replace(number, "0.00"));
    line.split(' ').map(replace).collect::<Vec<_>>().join(" ")
}

/// The commands of a fence: continued lines joined, comments removed, runs of blanks outside quotes made one.
fn commands(lines: &[&str]) -> Vec<Vec<String>> {
    let joined = lines.join("\n").replace("\\\n", " ");
    joined.lines().map(words).filter(|words| !words.is_empty()).collect()
}

/// The words of a command line as a shell divides them: quotes of both kinds, and a comment after `#`.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (None, '#') if word.is_none() => break,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if open == c => quote = None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Runs a command; its exit code, and what it printed on both streams in the order in which it did.
fn run(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = folder.command(arguments);
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut child = command.spawn().unwrap();
    // The command keeps the writing ends open, and reading would not end.
    drop(command);
    let mut output = String::new();
    reader.read_to_string(&mut output).unwrap();
    (child.wait().unwrap().code().unwrap_or(-1), output)
}

/// Fails if `moretta` does not accept these arguments. Clap looks at all of them before it prints the help.
fn require_arguments(folder: &Folder, at: &str, arguments: &[&str]) {
    let run = folder.run(&[arguments, &["--help"]].concat());
    assert_eq!(run.code, 0, "{at}: wrong arguments: {}", run.stderr);
}

/// Runs or checks the commands of a document, and returns it with the outputs that they have now.
fn with_outputs(document: &str, text: &str, used: &mut HashSet<String>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let folder = inputs();
    let mut replaced = Vec::new();
    let mut last: Option<(usize, String)> = None;
    for fence in fences(&lines) {
        let inside = &lines[fence.lines.clone()];
        let mut info = fence.info.split(' ');
        let (language, file) = (info.next().unwrap_or(""), info.next());
        if let Some(file) = file {
            folder.write(file, inside.join("\n") + "\n");
        } else if language == "sh" {
            for command in commands(inside) {
                let line = command.join(" ");
                let at = format!("{document}:{}: {line}", fence.lines.start + 1);
                let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
                let code = EXIT_CODES.iter().find(|(listed, _)| *listed == line).map_or(0, |(_, code)| *code);
                if OTHER_PROGRAMS.contains(&line.as_str()) {
                    if let Some(from) = arguments.iter().position(|word| *word == "--") {
                        require_arguments(&folder, &at, &arguments[from + 1..]);
                    }
                } else if ONLY_PARSED.contains(&line.as_str()) {
                    require_arguments(&folder, &at, &arguments[1..]);
                } else {
                    assert_eq!(arguments[0], "moretta", "{at}: a command that no list of this test has");
                    let (ended, output) = run(&folder, &arguments[1..]);
                    assert_eq!(ended, code, "{at}: exit code\n{output}");
                    last = Some((fence.lines.end + 1, output));
                }
                used.insert(line);
            }
        } else if language == "text"
            && let Some((end, output)) = last.take()
            && lines[end..fence.lines.start - 1].iter().all(|line| line.trim().is_empty())
        {
            let mut now = masked(&output);
            if inside.last() == Some(&"..") {
                now.truncate(inside.len() - 1);
                now.push("..".to_owned());
            }
            replaced.push((fence.lines, now));
        }
    }
    for (range, now) in replaced.iter().rev() {
        lines.splice(range.clone(), now.iter().map(String::as_str));
    }
    lines.join("\n") + "\n"
}

#[test]
fn every_command_of_the_documents_works_and_prints_what_they_show() {
    let mut used = HashSet::new();
    for document in documents() {
        let text = read(&document);
        let now = with_outputs(&document, &text, &mut used);
        // Other documents are left alone: another test may be writing them.
        if now != text {
            require(&document, &now);
        }
    }
    let listed = EXIT_CODES.iter().map(|(line, _)| *line).chain(ONLY_PARSED).chain(OTHER_PROGRAMS);
    let unused: Vec<&str> = listed.filter(|line| !used.contains(*line)).collect();
    assert!(unused.is_empty(), "listed here, but in no document: {unused:?}");
}

#[test]
fn command_lines_are_divided_as_a_shell_does() {
    let lines = ["a 'b c' \\", "  \"d\"  # e", "", "# f", "g h#i"];
    assert_eq!(commands(&lines), [vec!["a", "b c", "d"], vec!["g", "h#i"]]);
}

#[test]
fn times_are_masked() {
    assert_eq!(masked("  took   0.13 s (read 0.10, search 1.20)"), ["  took   0.00 s (read 0.00, search 0.00)"]);
    assert_eq!(masked("sweep on 1.5 records (4.01 s)\nlm 0.1300"), ["sweep on 0.00 records (0.00 s)", "lm 0.1300"]);
    assert_eq!(
        masked("a 0.1300  groups    s   MB\nb 0.2400      17  0.1  1.5"),
        ["a 0.1300  groups", "b 0.2400      17"]
    );
}
