//! Judges what a request released, whether it ran in this process or as a command line.
//!
//! - Groups have at least k records, counted in the printed text; identifiers are absent; `check` accepts the release.
//!   The policy is that of the policy file, or after `apply` the one inside the recoding.
//! - The HTML report names no cell of a quasi-identifier, sensitive or class column that fewer than max(k, 10) records
//!   carry, unless the policy names it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use moretta_core::{
    engine::Records,
    hierarchy::{Tree, file},
    observer::NoObserver,
    policy::Policy,
    saved::Saved,
    schema::Role,
};
use moretta_flow::{LoadedPolicy, Resources, Session};

use crate::{
    csv::{self, DELIMITERS, TextTable},
    job::{Job, POLICY, RECODING, REPORTS},
    judge::{MIN_CELL, Violation},
};

/// Minimum length in bytes of a number that is searched for in pages.
const MIN_NUMBER: usize = 7;

/// Minimum records that carry a value which a page names, however small k is: the promise of SECURITY.md.
const MIN_RECORDS: u64 = 10;

/// Judges the files of a request that succeeded.
pub fn judge(job: &Job, folder: &Path) -> Result<(), Violation> {
    let (Some(input), Some(output)) = (job.released_table(), job.output()) else { return Ok(()) };
    let loaded = match job {
        Job::Apply { .. } => of_recoding(folder),
        _ => LoadedPolicy::read(&folder.join(POLICY)).map_err(|error| error.message),
    };
    let loaded = loaded.map_err(|error| format!("policy of a release cannot be read\n{error}"))?;
    printed(&loaded.policy, folder, output)?;
    let session = Session::new(Resources { threads: Some(1), ..Resources::default() }, &NoObserver);
    let session = session.map_err(|error| format!("no session\n{}", error.message))?;
    checked(&session, &loaded, &folder.join(output))?;
    match fs::read_to_string(folder.join(REPORTS[1])) {
        Ok(page) => rare_cells(&session, &loaded, &folder.join(input), &shown_text(&page)),
        Err(_) => Ok(()),
    }
}

/// The policy and the hierarchies of the saved recoding, as `apply` reads them.
fn of_recoding(folder: &Path) -> Result<LoadedPolicy, String> {
    let text = fs::read_to_string(folder.join(RECODING)).map_err(|error| error.to_string())?;
    let Saved { policy, hierarchies, .. } = Saved::parse(&text).map_err(|error| error.to_string())?;
    let (name, folder) = (RECODING.to_owned(), folder.to_owned());
    Ok(LoadedPolicy {
        name,
        policy,
        hierarchies,
        folder,
        files: Vec::new(),
        unconfirmed: 0,
        patterns: Vec::new(),
        text: String::new(),
        notes: Vec::new(),
    })
}

/// Judges the printed text of a release.
fn printed(policy: &Policy, folder: &Path, output: &str) -> Result<(), Violation> {
    let usual = policy.input.header
        && policy.release.delimiter.is_none()
        && policy.input.quote == '"'
        && policy.input.delimiter.is_none_or(|sign| DELIMITERS.contains(&sign));
    if !output.ends_with(".csv") || !usual {
        return Ok(());
    }
    let names = |role: Role| -> Vec<String> {
        policy.columns.iter().filter(|column| column.role == role).map(|column| column.name.clone()).collect()
    };
    let quasi = names(Role::QuasiIdentifier);
    let text = fs::read(folder.join(output)).map_err(|error| format!("no release\n{error}"))?;
    let text = String::from_utf8(text).map_err(|_| "release is not UTF-8")?;
    let table = csv::parse_any(&text, &quasi).ok_or("release is not a CSV table to RFC 4180 readers")?;
    smallest_group(&table, &quasi, policy.privacy.k())?;
    match policy.dropped().find(|column| table[0].contains(&column.name)) {
        Some(column) => Err(format!("column released that must not be\n{}", column.name)),
        None => Ok(()),
    }
}

/// Checks that each combination of quasi-identifier texts occurs at least k times.
fn smallest_group(table: &TextTable, quasi: &[String], k: Option<u64>) -> Result<(), Violation> {
    let at: Vec<usize> = quasi.iter().filter_map(|name| table[0].iter().position(|known| known == name)).collect();
    let mut groups: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for row in &table[1..] {
        *groups.entry(at.iter().map(|&column| row[column].as_str()).collect()).or_default() += 1;
    }
    match groups.values().min() {
        Some(smallest) if k.is_some_and(|k| *smallest < k) => {
            Err(format!("release has a group below k\n{smallest} records, k = {k:?}"))
        }
        _ => Ok(()),
    }
}

/// Judges a release by `check`.
fn checked(session: &Session<'_>, loaded: &LoadedPolicy, released: &Path) -> Result<(), Violation> {
    // A file does not say which records are of one person, so `check` refuses it.
    if loaded.policy.person().is_some() {
        return Ok(());
    }
    let released = session.open_release(&released.display().to_string().into(), &loaded.policy);
    match released.and_then(|released| session.check_records(&released, loaded)) {
        Ok(checked) if checked.holds() => Ok(()),
        Ok(checked) => Err(format!("check finds that a release violates its policy\n{:?}", checked.judgements)),
        Err(error) => Err(format!("check refuses a release\n{}", error.message)),
    }
}

/// Checks that a page names no rare cell. The program's own reader counts the records, so that a damaged table has the
/// same cells here and there.
fn rare_cells(session: &Session<'_>, loaded: &LoadedPolicy, input: &Path, page: &str) -> Result<(), Violation> {
    let policy = &loaded.policy;
    let named = serde_json::to_string(policy).unwrap_or_default().to_lowercase();
    let input = input.display().to_string().into();
    let floor = policy.privacy.k().unwrap_or(0).max(MIN_RECORDS);
    let guarded = [Role::QuasiIdentifier, Role::Sensitive, Role::Class];
    let engine = session.open(&input, &policy.input).map_err(|error| format!("no input\n{}", error.message))?;
    let mut columns = Vec::new();
    let dropped = [Role::Identifier, Role::Person, Role::Household];
    for column in policy.columns.iter().filter(|column| !dropped.contains(&column.role)) {
        let Ok(counts) = engine.count(std::slice::from_ref(&column.name), &NoObserver) else { continue };
        let text = |row: usize| -> String { counts.columns[0].values[counts.row(row)[0] as usize].to_string() };
        let cells: Vec<(String, u64)> = (0..counts.rows()).map(|row| (text(row), counts.counts[row])).collect();
        columns.push((column, cells));
    }
    // A page may name a cell for another column in which it is frequent, or a day with many times.
    let mut frequent: BTreeSet<&str> = BTreeSet::new();
    for (_, cells) in &columns {
        let mut nodes: BTreeMap<&str, u64> = BTreeMap::new();
        for (cell, records) in cells {
            calendar_nodes(cell).into_iter().for_each(|node| *nodes.entry(node).or_default() += records);
        }
        frequent.extend(nodes.into_iter().filter(|(_, records)| *records >= floor).map(|(node, _)| node));
    }
    for (column, cells) in columns.iter().filter(|(column, _)| guarded.contains(&column.role)) {
        let cells: Vec<(&str, u64)> = cells.iter().map(|(cell, records)| (cell.as_str(), *records)).collect();
        let inner = loaded.hierarchies.get(&column.name).map(inner_nodes).unwrap_or_default();
        let mut rare = rare(&cells, floor);
        rare.retain(|cell| {
            // A group with the name of a value is printed with its level.
            let names_group = inner.iter().any(|label| label.starts_with(&format!("{cell} (level ")));
            let is_allowed = inner.contains(*cell) || names_group || frequent.contains(cell.trim());
            !named.contains(&cell.trim().to_lowercase()) && !is_allowed
        });
        if let Some(cell) = rare.into_iter().find(|cell| names(page, cell)) {
            let shown = cell.chars().take(100).collect::<String>();
            return Err(format!("page names a cell of fewer than max(k, 10) records\n`{shown}` in {}", column.name));
        }
    }
    Ok(())
}

/// A cell, and if it is an ISO date (the stock has no others), its day and month: nodes that a page may name if enough
/// records are below them.
pub fn calendar_nodes(cell: &str) -> BTreeSet<&str> {
    let cell = cell.trim();
    let has_form = |text: &str| {
        text.bytes()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() })
    };
    let nodes = [10, 7].into_iter().filter_map(|length| cell.get(..length));
    nodes.filter(|_| cell.get(..10).is_some_and(has_form)).chain([cell]).collect()
}

/// Labels of nodes above the leaves: a page may name a node that enough records carry together, even if it is spelled
/// like a rare leaf.
fn inner_nodes(tree: &Tree) -> BTreeSet<String> {
    // Short paths repeat their leaf.
    let above =
        |row: Vec<&str>| row.iter().filter(|label| **label != row[0]).map(|label| (*label).to_owned()).collect();
    file::rows(tree).into_iter().flat_map(|row| -> Vec<String> { above(row) }).collect()
}

/// The cells of a column that fewer than `floor` records carry, and that are too long to occur by chance. Spellings
/// that the program may treat as one value count together.
pub fn rare<'a>(cells: &[(&'a str, u64)], floor: u64) -> Vec<&'a str> {
    let value = |cell: &str| match cell.trim().parse::<f64>() {
        Ok(number) => number.to_string(),
        Err(_) => moment(cell).chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase(),
    };
    let mut records: BTreeMap<String, u64> = BTreeMap::new();
    cells.iter().for_each(|(cell, count)| *records.entry(value(cell)).or_default() += count);
    // A short number may be a figure of the page.
    let min_length = |cell: &str| if cell.trim().parse::<f64>().is_ok() { MIN_NUMBER } else { MIN_CELL };
    let is_rare = |cell: &&str| cell.trim().len() >= min_length(cell) && records[&value(cell)] < floor;
    cells.iter().map(|(cell, _)| *cell).filter(is_rare).collect()
}

/// A date and time with a blank between them, without `Z` and midnight; other cells as they are.
fn moment(cell: &str) -> String {
    let cell = cell.trim();
    let date = cell.get(..10).filter(|date| calendar_nodes(date).len() == 2);
    match (date, cell.get(10..)) {
        (Some(date), Some(time)) => {
            let time = time.trim_start_matches(['T', ' ']).trim_end_matches('Z').trim_end_matches(":00");
            if matches!(time, "" | "00") { date.to_owned() } else { format!("{date} {time}") }
        }
        _ => cell.to_owned(),
    }
}

/// The text of a page that a reader sees: without tags and styles, with plain spaces and signs.
pub fn shown_text(page: &str) -> String {
    let body = page.find("<body").map_or(page, |at| &page[at..]);
    let mut text = String::new();
    for (at, part) in body.split('<').enumerate() {
        let shown = if at == 0 { part } else { part.split_once('>').map_or("", |(_, shown)| shown) };
        text.push('\n');
        text += shown;
    }
    let signs = [("\u{a0}", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    signs.into_iter().fold(text, |text, (sign, plain)| text.replace(sign, plain))
}

/// Whether a text has the cell as a whole, and not as the end of an interval or of a range of a histogram: the latter
/// are round values or the last ones before, whatever the records have.
pub fn names(text: &str, cell: &str) -> bool {
    let cell = cell.trim();
    let joins = |sign: char| sign.is_alphanumeric() || "-.,_−".contains(sign);
    text.match_indices(cell).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + cell.len()..]);
        // A sentence ends with a sign and a blank.
        let mut next = after.chars();
        let ends = match next.next() {
            Some('.' | ',') => next.next().is_none_or(char::is_whitespace),
            sign => !sign.is_some_and(joins),
        };
        let whole = ends && !before.ends_with(joins);
        let range = ["–", " or more", " or later", " to ", " – "].iter().any(|sign| after.starts_with(sign))
            || ["–", "up to ", "below ", " to "].iter().any(|sign| before.ends_with(sign));
        // An interval is named if enough records are inside it, however many carry its ends.
        let interval = before.ends_with('[') && after.starts_with(", ")
            || before.ends_with(", ") && (after.starts_with(']') || after.starts_with(')'));
        whole && !range && !interval
    })
}
