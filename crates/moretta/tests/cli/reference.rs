//! `docs/reference` has what the program prints: the help of every command, and the lists of models, methods and
//! measures. After a change, run this test with `MORETTA_UPDATE_DOCS=1` and read the diff.

use serde_json::Value;

use crate::{
    documents::{read, require, with_block},
    folder::Folder,
    people,
};

/// JSON list that a command of the program prints.
fn list(folder: &Folder, command: &str) -> Vec<Value> {
    serde_json::from_str(&folder.ok(&[command, "--json"])).unwrap()
}

/// A text for a cell of a Markdown table.
fn cell(value: &Value) -> String {
    value.as_str().unwrap().replace('|', "\\|")
}

/// A Markdown table of a list of objects: a column per heading and key, the first as code.
fn table(rows: &[Value], columns: &[(&str, &str)]) -> String {
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let mut text = format!("| {} |\n|{}\n", headings.join(" | "), " --- |".repeat(columns.len()));
    for row in rows {
        let mut cells: Vec<String> = columns.iter().map(|(_, key)| cell(&row[*key])).collect();
        cells[0] = format!("`{}`", cells[0]);
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

#[test]
fn the_reference_has_the_help_of_every_command() {
    let folder = Folder::empty();
    let mut text = String::new();
    let mut open = vec![vec![]];
    while let Some(command) = open.pop() {
        let help = folder.ok(&[command.as_slice(), &["--help"]].concat());
        let name = [&["moretta"], command.as_slice()].concat().join(" ");
        let trimmed: Vec<&str> = help.lines().map(str::trim_end).collect();
        text += &format!("\n## {name}\n\n```text\n{}\n```\n", trimmed.join("\n"));
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        // A longer description goes on in lines that are indented further.
        let listed = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
        let names = listed.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help");
        let names: Vec<String> = names.map(str::to_owned).collect();
        // Leaked: a few names, in a test.
        open.extend(names.into_iter().rev().map(|name| [command.as_slice(), &[&*name.leak()]].concat()));
    }
    let document = "docs/reference/commands.md";
    require(document, &with_block(&read(document), "commands", &(text + "\n")));
}

#[test]
fn the_reference_has_every_privacy_model() {
    let folder = Folder::empty();
    let models = list(&folder, "models");
    let examples: Vec<&str> = models.iter().map(|model| model["example"].as_str().unwrap()).collect();
    let content = format!(
        "{}\n```toml\n{}\n```\n",
        table(&models, &[("Model", "name"), ("Guarantee", "summary")]),
        examples.join("\n\n")
    );
    let document = "docs/reference/models.md";
    require(document, &with_block(&read(document), "models", &content));
}

#[test]
fn the_reference_has_every_format() {
    let folder = Folder::empty();
    let listed = |value: &Value| {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|name| format!("`{}`", name.as_str().unwrap()))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let row = |format: &Value| {
        let (name, remark) = (cell(&format["name"]), cell(&format["remark"]));
        format!("| {name} | {} | {} | {remark} |\n", listed(&format["extensions"]), listed(&format["compressed"]))
    };
    let rows: String = list(&folder, "formats").iter().map(row).collect();
    let content =
        format!("\n| Format | Extensions | Compressed as a whole | Remark |\n| --- | --- | --- | --- |\n{rows}\n");
    let document = "docs/reference/commands.md";
    require(document, &with_block(&read(document), "formats", &content));
}

#[test]
fn the_reference_has_every_method_and_its_parameters() {
    let folder = Folder::empty();
    let document = "docs/reference/methods.md";
    let methods = list(&folder, "methods");
    let mut text =
        with_block(&read(document), "methods", &table(&methods, &[("Method", "name"), ("Summary", "summary")]));
    for method in &methods {
        let columns = [("Parameter", "key"), ("Default", "default"), ("Meaning", "meaning")];
        let parameters = table(method["parameters"].as_array().unwrap(), &columns);
        text = with_block(&text, method["name"].as_str().unwrap(), &parameters);
    }
    require(document, &text);
}

#[test]
fn the_reference_has_every_measure() {
    let folder = Folder::empty();
    let document = "docs/reference/measures.md";
    let content = table(&list(&folder, "measures"), &[("Measure", "name"), ("Definition", "summary")]);
    require(document, &with_block(&read(document), "measures", &content));
}

#[test]
fn the_reference_has_every_field_of_a_report() {
    let folder = people::folder(300);
    let report: Value = serde_json::from_str(&folder.anonymize(&["--json"]).stdout).unwrap();
    let page = read("docs/reference/report.md");
    let fields = report.as_object().unwrap().keys();
    let missing: Vec<&String> = fields.filter(|field| !page.contains(&format!("`{field}`"))).collect();
    assert!(missing.is_empty(), "docs/reference/report.md lacks {missing:?}");
}
