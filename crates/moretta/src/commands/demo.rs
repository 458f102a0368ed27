//! `moretta demo`: synthetic people, a policy, a release and its report in one folder.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use moretta_core::text::count;
use moretta_engine::{CsvOptions, LocalEngine, Source};
use moretta_flow::FlowError;
use moretta_synthetic::{self as synthetic, People};

use crate::{
    arguments::{Anonymize, Demo, Output, Resources},
    commands::anonymize,
    stdout::print,
};

const PEOPLE: &str = "people.csv";
const POLICY: &str = "policy.toml";
const HIERARCHIES: &str = "hierarchies";
const RELEASED: &str = "released.csv";
const REPORT_HTML: &str = "report.html";
const REPORT_JSON: &str = "report.json";
const RECODING: &str = "recoding.json";
/// Number of rows printed of the input and of the release.
const SHOWN: usize = 5;

pub fn run(arguments: &Demo) -> Result<(), FlowError> {
    let folder = &arguments.folder;
    check_folder(folder, arguments.overwrite)?;
    let people = folder.join(PEOPLE);
    write_inputs(arguments, &people)?;
    print(&format!("generated {} synthetic people: {}\n\n", count(arguments.people), people.display()))?;
    show(&people, SHOWN)?;

    let released = folder.join(RELEASED);
    let program = program();
    print(&format!(
        "\n$ {program} anonymize {} --policy {} --output {} \\\n    --report {} --report {} --recoding {}\n",
        quoted(&people),
        quoted(&folder.join(POLICY)),
        quoted(&released),
        quoted(&folder.join(REPORT_HTML)),
        quoted(&folder.join(REPORT_JSON)),
        quoted(&folder.join(RECODING))
    ))?;
    anonymize::run(Anonymize {
        input: people.to_string_lossy().into_owned(),
        policy: folder.join(POLICY),
        output: Output {
            output: released.clone(),
            report: vec![folder.join(REPORT_HTML), folder.join(REPORT_JSON)],
            seed: Some(arguments.seed.into()),
            keep_order: false,
            overwrite: true,
            json: false,
            output_format: None,
        },
        recoding: Some(folder.join(RECODING)),
        at: None,
        effort: None,
        time_limit: None,
        bound: false,
        earlier: Vec::new(),
        if_linkable: None,
        resources: Resources::default(),
    })?;
    print("\n")?;
    show(&released, SHOWN)?;
    let (report, policy) = (folder.join(REPORT_HTML), folder.join(POLICY));
    print(&format!(
        "\nNext: open {} in a browser. Then change k in {} and compare:\n\n{program} anonymize {} --policy {} --output {} \
         --report {} --overwrite\n",
        report.display(),
        policy.display(),
        quoted(&people),
        quoted(&policy),
        quoted(&released),
        quoted(&report),
    ))
}

/// The program as it was called, so that a printed command runs as it is printed, also after `cargo run`, when `PATH`
/// has no `moretta`.
fn program() -> String {
    let called = crate::called().map(PathBuf::from);
    called.filter(|path| path.components().count() > 1).map_or_else(|| "moretta".to_owned(), |path| quoted(&path))
}

/// A path as a word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:".contains(c);
    if text.chars().all(is_plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Refuses a folder with other files, and one with an earlier demo unless it may be overwritten.
fn check_folder(folder: &Path, overwrite: bool) -> Result<(), FlowError> {
    let known = [PEOPLE, POLICY, HIERARCHIES, RELEASED, REPORT_HTML, REPORT_JSON, RECODING];
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let shown = folder.display();
    if names.iter().any(|name| !known.iter().any(|known| name == known)) {
        return Err(FlowError::usage(format!(
            "{shown} has files that are not part of a demo; name another folder: moretta demo FOLDER"
        )));
    }
    if !names.is_empty() && !overwrite {
        return Err(FlowError::usage(format!("{shown} exists; name another folder, or use --overwrite")));
    }
    Ok(())
}

fn write_inputs(arguments: &Demo, people: &Path) -> Result<(), FlowError> {
    let hierarchies = arguments.folder.join(HIERARCHIES);
    fs::create_dir_all(&hierarchies).map_err(|error| FlowError::io("create", &hierarchies, &error))?;
    let write =
        |path: PathBuf, text: &str| fs::write(&path, text).map_err(|error| FlowError::io("write", &path, &error));
    write(arguments.folder.join(POLICY), synthetic::demo_policy())?;
    for column in synthetic::COLUMNS {
        if let Some(text) = synthetic::hierarchy(column) {
            write(hierarchies.join(format!("{column}.csv")), &text)?;
        }
    }
    let failed = |error: std::io::Error| FlowError::io("write", people, &error);
    let mut file = std::io::BufWriter::new(fs::File::create(people).map_err(failed)?);
    let everyone = People::new(arguments.seed);
    let mut lines = synthetic::header();
    for index in 0..arguments.people {
        everyone.person(index).write_csv(&mut lines);
        if lines.len() > 1 << 20 {
            file.write_all(lines.as_bytes()).map_err(failed)?;
            lines.clear();
        }
    }
    file.write_all(lines.as_bytes()).and_then(|()| file.flush()).map_err(failed)
}

/// Prints the first rows of a file as a table.
fn show(path: &Path, rows: usize) -> Result<(), FlowError> {
    let source = Source::open(&path.to_string_lossy(), &CsvOptions::default())?;
    let sample = LocalEngine::new(source).first_records(rows)?;
    let lines: Vec<&Vec<String>> = std::iter::once(&sample.columns).chain(&sample.rows).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..sample.columns.len()).map(width).collect();
    for line in lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        print(&format!("  {}\n", cells.join("  ").trim_end()))?;
    }
    Ok(())
}
