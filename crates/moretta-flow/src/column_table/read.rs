//! Reads a table as a policy.
//!
//! The text of the policy is made line by line, with the cell that each line came from, and checked like any other
//! policy: so a wrong role, weight or hierarchy is reported with the usual message, at its cell.

use std::{collections::HashMap, fmt};

use moretta_core::{
    document::{Entry, PolicyError, TomlTable, Value, toml_key},
    policy::PolicyFile,
    search,
    suggest::nearest,
    text::shown,
};

use super::{HEADER, SECTION_ROLE, guard, inline, quoted, unguarded, value};

/// Characters per line of a comment.
const WIDTH: usize = 100;

/// An error in a table; as text, it follows the name of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableError {
    /// Row of the spreadsheet; the header is row 1.
    row: Option<usize>,
    column: Option<&'static str>,
    message: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row.map(|row| format!("row {row}"));
        let column = self.column.map(|column| format!("column `{column}`"));
        let place: Vec<String> = [row, column].into_iter().flatten().collect();
        place.iter().try_for_each(|place| write!(f, ", {place}"))?;
        write!(f, ": {}", self.message)
    }
}

/// One line of the table.
#[derive(Clone, Copy)]
struct Line<'t> {
    row: usize,
    cells: &'t [String],
    places: &'t HashMap<&'static str, usize>,
}

impl<'t> Line<'t> {
    fn cell(self, column: &str) -> &'t str {
        let cell = self.places.get(column).and_then(|place| self.cells.get(*place));
        // A name may begin or end with a blank.
        cell.map_or("", |cell| unguarded(if column == HEADER[0] { cell } else { cell.trim() }))
    }

    fn error(self, column: &'static str, message: impl Into<String>) -> TableError {
        TableError { row: Some(self.row), column: Some(column), message: message.into() }
    }

    fn toml_error(self, column: &'static str, error: &PolicyError) -> TableError {
        self.error(column, format!("`{}`: {}", shown(self.cell(column)), error.message))
    }

    /// A cell whose word has no case: spreadsheets and their users write `Number` and `TRUE`.
    fn word(self, column: &str) -> String {
        self.cell(column).to_lowercase()
    }

    fn is_section(self) -> bool {
        self.word("role") == SECTION_ROLE
    }
}

/// Returns the policy of a table.
pub(super) fn policy_of_table(header: &[String], rows: &[Vec<String>]) -> Result<String, TableError> {
    let places = places(header)?;
    let is_blank = |row: &&Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
    let lines = rows.iter().enumerate().filter(|(_, row)| !is_blank(row));
    let lines: Vec<Line<'_>> = lines.map(|(index, cells)| Line { row: index + 2, cells, places: &places }).collect();
    let mut first_rows: HashMap<(bool, &str), usize> = HashMap::new();
    for line in &lines {
        let name = line.cell(HEADER[0]);
        if let Some(first) = first_rows.insert((line.is_section(), name), line.row) {
            let message = format!("`{}` is in row {first} already; remove one of both", shown(name));
            return Err(line.error(HEADER[0], message));
        }
    }
    let mut draft = Draft::default();
    draft.push("version = 1", None);
    let mut models = Models::default();
    for line in lines.iter().filter(|line| line.is_section() && line.cell(HEADER[0]) == "privacy") {
        draft.section(*line, &mut models)?;
    }
    for line in lines.iter().filter(|line| !line.is_section()) {
        models.read_guards(*line)?;
    }
    models.write(&mut draft);
    for line in lines.iter().filter(|line| line.is_section() && line.cell(HEADER[0]) != "privacy") {
        draft.section(*line, &mut Models::default())?;
    }
    for line in lines.iter().filter(|line| !line.is_section()) {
        draft.column(*line)?;
    }
    draft.check()?;
    Ok(draft.text)
}

/// Finds the columns of the table.
fn places(header: &[String]) -> Result<HashMap<&'static str, usize>, TableError> {
    let mut places = HashMap::new();
    for (place, name) in header.iter().enumerate() {
        let error = |message| TableError { row: Some(1), column: None, message };
        let Some(known) = HEADER.iter().find(|known| known.eq_ignore_ascii_case(name.trim())) else {
            let near = nearest(name, HEADER).map(|near| format!("; did you mean `{near}`?"));
            let message = format!(
                "the header has `{}`; the columns of such a table are {}{}",
                shown(name),
                HEADER.join(", "),
                near.unwrap_or_default()
            );
            return Err(error(message));
        };
        if places.insert(*known, place).is_some() {
            return Err(error(format!("the header has `{known}` twice")));
        }
    }
    match HEADER[..2].iter().find(|required| !places.contains_key(**required)) {
        Some(absent) => {
            let message = format!("the header has no `{absent}`; begin the table with {}", HEADER.join(","));
            Err(TableError { row: Some(1), column: None, message })
        }
        None => Ok(places),
    }
}

/// Sections `[[privacy.MODEL]]` by model, each with its lines of TOML and the cell that it came from.
#[derive(Default)]
struct Models(Vec<(String, Vec<String>, Cell)>);

/// Row and column of a cell.
type Cell = Option<(usize, &'static str)>;

impl Models {
    fn read_guards(&mut self, line: Line<'_>) -> Result<(), TableError> {
        let is_ordered = matches!(line.word("type").as_str(), "number" | "date");
        let guards = guard::read(line.cell("guard"), is_ordered).map_err(|message| line.error("guard", message))?;
        for guard in guards {
            let column = format!("column = {}", quoted(line.cell(HEADER[0])));
            let keys = guard.keys.iter().map(|(key, toml)| format!("{} = {toml}", toml_key(key)));
            let lines = std::iter::once(column).chain(keys).collect();
            self.0.push((guard.model.key.to_owned(), lines, Some((line.row, "guard"))));
        }
        Ok(())
    }

    fn write(&self, draft: &mut Draft) {
        for (model, lines, cell) in &self.0 {
            draft.push("", None);
            draft.push(&format!("[[privacy.{model}]]"), *cell);
            lines.iter().for_each(|line| draft.push(line, *cell));
        }
    }
}

/// The text of the policy, and by line the cell that it came from.
#[derive(Default)]
struct Draft {
    text: String,
    cells: Vec<Cell>,
}

impl Draft {
    fn push(&mut self, line: &str, cell: Cell) {
        self.text += line;
        self.text.push('\n');
        self.cells.push(cell);
    }

    /// Writes the reason as a comment, with a mark if the line is not confirmed.
    fn comment(&mut self, line: Line<'_>) -> Result<(), TableError> {
        let mark = match line.word("confirmed").as_str() {
            "yes" | "true" => "",
            "no" | "false" | "" => "CONFIRM: ",
            other => {
                let message = format!("`{}` is neither yes nor no", shown(other));
                return Err(line.error("confirmed", message));
            }
        };
        self.push("", None);
        let reason = line.cell("reason");
        let reason = if reason.is_empty() && !mark.is_empty() { "not confirmed" } else { reason };
        let mut comment = String::new();
        for word in format!("{mark}{reason}").split_whitespace() {
            let word: String = word.chars().filter(|character| !character.is_control()).collect();
            if comment.chars().count() + word.chars().count() > WIDTH {
                self.push(&comment, None);
                comment = "#  ".to_owned();
            }
            comment += if comment.is_empty() { "# " } else { " " };
            comment += &word;
        }
        if !comment.is_empty() {
            self.push(&comment, None);
        }
        Ok(())
    }

    /// Writes a section; models of `[privacy]` are collected in `models`.
    fn section(&mut self, line: Line<'_>, models: &mut Models) -> Result<(), TableError> {
        let (name, more) = (line.cell(HEADER[0]), line.cell("more"));
        let cell = Some((line.row, "more"));
        let is_list = more.starts_with('[');
        let found = value(&if is_list { more.to_owned() } else { format!("{{ {more} }}") });
        let found = found.map_err(|error| line.toml_error("more", &error))?;
        self.comment(line)?;
        let key = toml_key(name);
        match &found {
            Value::Table(table) => {
                self.push(&format!("[{key}]"), Some((line.row, HEADER[0])));
                table.entries.iter().for_each(|entry| match as_models(name, entry) {
                    Some(tables) => tables.into_iter().for_each(|table| {
                        let lines = table.entries.iter().map(entry_line).collect();
                        models.0.push((entry.key.clone(), lines, cell));
                    }),
                    None => self.push(&entry_line(entry), cell),
                });
            }
            Value::Array(items) => {
                for item in items {
                    let Value::Table(table) = &item.value else {
                        return Err(line.error("more", format!("{item} is not a table in a list such as [{{ .. }}]")));
                    };
                    self.push(&format!("[[{key}]]"), Some((line.row, HEADER[0])));
                    table.entries.iter().for_each(|entry| self.push(&entry_line(entry), cell));
                }
            }
            _ => return Err(line.error("more", "this is no section of a policy")),
        }
        Ok(())
    }

    fn column(&mut self, line: Line<'_>) -> Result<(), TableError> {
        self.comment(line)?;
        let name = toml_key(line.cell(HEADER[0]));
        self.push(&format!("[columns.{name}]"), Some((line.row, HEADER[0])));
        if line.cell("role").is_empty() {
            return Err(line.error("role", "the role is empty; `identifier` drops the column"));
        }
        for key in super::KEYS {
            let text = line.cell(key);
            if text.is_empty() {
                continue;
            }
            let word = line.word(key);
            let text = if matches!(key, "role" | "type" | "missing") { &word } else { text };
            let is_toml = key == "weight" || text.starts_with(['{', '[', '"']);
            let toml = if is_toml {
                inline(&value(text).map_err(|error| line.toml_error(key, &error))?)
            } else {
                quoted(text)
            };
            self.push(&format!("{key} = {toml}"), Some((line.row, key)));
        }
        let more = value(&format!("{{ {} }}", line.cell("more"))).map_err(|error| line.toml_error("more", &error))?;
        if let Value::Table(table) = more {
            table.entries.iter().for_each(|entry| self.push(&entry_line(entry), Some((line.row, "more"))));
        }
        Ok(())
    }

    /// Checks the policy. With patterns, a section may name columns that are not known yet: its errors are found later.
    fn check(&self) -> Result<(), TableError> {
        let checked = PolicyFile::parse(&self.text).and_then(|file| {
            let checked =
                file.policy(&search::method_names()).and_then(|policy| search::method_of(&policy).map(|_| ()));
            match checked {
                Err(error) if file.has_patterns() && !self.is_of_column(&error) => Ok(()),
                checked => checked,
            }
        });
        checked.map_err(|error| {
            let cell = self.cell_of(&error);
            let help = error.help.as_ref().map(|help| format!("; {help}"));
            let (row, column) = (cell.map(|(row, _)| row), cell.map(|(_, column)| column));
            let message = match cell {
                Some(_) => error.message.clone(),
                // The message is about a section that the table does not have.
                None => format!("{} (a section of the policy is a line with the role `{SECTION_ROLE}`)", error.message),
            };
            TableError { row, column, message: message + &help.unwrap_or_default() }
        })
    }

    fn cell_of(&self, error: &PolicyError) -> Cell {
        let (line, _) = error.line_column(&self.text)?;
        self.cells.get(line - 1).copied().flatten()
    }

    fn is_of_column(&self, error: &PolicyError) -> bool {
        self.cell_of(error).is_some_and(|(_, column)| column != "more")
    }
}

/// The sections of a list of models in `[privacy]`; `None` if the entry is none.
fn as_models<'e>(section: &str, entry: &'e Entry) -> Option<Vec<&'e TomlTable>> {
    let Value::Array(items) = &entry.item.value else { return None };
    let table = |item: &'e moretta_core::document::Item| match &item.value {
        Value::Table(table) => Some(table),
        _ => None,
    };
    if section == "privacy" && !items.is_empty() { items.iter().map(table).collect() } else { None }
}

fn entry_line(entry: &Entry) -> String {
    format!("{} = {}", toml_key(&entry.key), inline(&entry.item.value))
}
