//! Turns the tree of a policy file into a [`Policy`], or into the first error.
//!
//! The version is checked first: a policy of a later version may have keys that are unknown here, and the error should
//! name the version. Columns are read before `[privacy]` and `[measure]`, which refer to them.

pub(super) mod columns;
mod hierarchy;
mod measure;

use super::{
    ColumnPolicy, DEFAULT_METHOD, InputOptions, Labels, Numbers, Policy, Privacy, ReleaseOptions, VERSION,
    method::MethodChoice,
};
use crate::{
    counts::RecordOrder,
    declaration::Columns,
    document::{Entry, Fields, Item, PolicyError, Span, TomlTable, Value, list, section, wrong},
    encoding::Encoding,
    notation::Notation,
    privacy::MODELS,
    schema::Role,
    suggest::nearest,
};

const LABELS: &[(&str, Labels)] = &[("node", Labels::Node), ("set", Labels::Set)];
const NUMBERS: &[(&str, Numbers)] = &[
    ("interval", Numbers::Interval),
    ("mean", Numbers::Mean),
    ("median", Numbers::Median),
    ("midpoint", Numbers::Midpoint),
];
const ORDERS: &[(&str, RecordOrder)] = &[("shuffled", RecordOrder::Shuffled), ("input", RecordOrder::Input)];

/// Keys of each section, to refuse unknown keys and to suggest the section of a misplaced one.
const TOP: &[&str] = &["version", "privacy", "method", "measure", "columns", "release", "input"];
const RELEASE: &[&str] =
    &["labels", "numbers", "order", "exact", "delimiter", "encoding", "decimal", "header", "guard-formulas"];
const INPUT: &[&str] =
    &["delimiter", "quote", "encoding", "decimal", "thousands", "header", "names", "missing", "population"];

/// Section that has a key, as worded in a message: `in [input]`.
fn section_of(key: &str) -> Option<String> {
    if TOP.contains(&key) {
        return Some("at the top of the policy".to_owned());
    }
    if Privacy::keys().contains(&key) {
        return Some("in [privacy]".to_owned());
    }
    if let Some(model) = MODELS.iter().find(|entry| entry.keys.contains(&key)) {
        return Some(format!("in {}", model.header()));
    }
    let measure_keys = measure::keys();
    let others: [(&str, &[&str]); 6] = [
        ("in the table of a column", columns::COLUMN),
        ("in `hierarchy`", hierarchy::KEYS),
        ("in [method] or [measure]", &["name"]),
        ("in [measure]", &measure_keys),
        ("in [release]", RELEASE),
        ("in [input]", INPUT),
    ];
    others.iter().find(|(_, keys)| keys.contains(&key)).map(|(place, _)| (*place).to_owned())
}

/// Checks the whole policy. Spans of the tree are byte ranges of `text`; if `known_methods` is `None`, any method name
/// is accepted.
pub(super) fn policy(table: &TomlTable, text: &str, known_methods: Option<&[&str]>) -> Result<Policy, PolicyError> {
    sections(table, text, known_methods).map_err(|error| error.suggest_section(section_of))
}

fn sections(table: &TomlTable, text: &str, known_methods: Option<&[&str]>) -> Result<Policy, PolicyError> {
    let version = version(table)?;
    let fields = Fields::new(table, "the policy", TOP)?;
    let columns = columns::columns(&fields)?;
    let privacy = Privacy::read(&fields, &columns)?;
    let method = method(table, text, known_methods)?;
    let measure = measure::measure(table, text, &columns)?;
    let input = input(table)?;
    let release = release(table, &columns, &input)?;
    Ok(Policy { version, privacy, method, measure, columns, release, input })
}

fn version(table: &TomlTable) -> Result<u32, PolicyError> {
    let Some(entry) = table.get("version") else {
        let error = PolicyError::new(&table.span, "the policy has no `version`");
        return Err(error.help(format!("begin it with `version = {VERSION}`")));
    };
    match entry.item.value {
        Value::Integer(version) if version == i64::from(VERSION) => Ok(VERSION),
        Value::Integer(version) if version > i64::from(VERSION) => Err(PolicyError::new(
            &entry.item.span,
            format!("`version` is {version}; this moretta reads policies of version {VERSION}"),
        )
        .help("a later moretta may read it")),
        _ => Err(wrong("version", &entry.item, &format!("{VERSION}"))),
    }
}

fn method(table: &TomlTable, text: &str, known: Option<&[&str]>) -> Result<MethodChoice, PolicyError> {
    let table = section(table, "method")?;
    let entries: &[Entry] = table.map_or(&[], |table| &table.entries);
    let item = entries.iter().find(|entry| entry.key == "name").map(|entry| &entry.item);
    let name = match item {
        None => DEFAULT_METHOD,
        Some(Item { value: Value::Text(name), .. }) => name,
        Some(item) => return Err(wrong("name", item, "the name of a method, in quotes")),
    };
    if let Some(known) = known.filter(|known| !known.contains(&name)) {
        let known_shown = list(known.iter().copied());
        let (span, message) = match item {
            Some(item) => (&item.span, format!("`name` is {item}; it must be {known_shown}")),
            None => (&None, format!("[method] has no `name`, which must be {known_shown}")),
        };
        let near = nearest(name, known.iter().copied());
        return Err(PolicyError::new(span, message).maybe_help(near.map(|near| format!("did you mean \"{near}\"?"))));
    }
    let parameters = entries.iter().filter(|entry| entry.key != "name");
    Ok(MethodChoice::from_entries(name.to_owned(), parameters, text))
}

fn release(table: &TomlTable, columns: &[ColumnPolicy], input: &InputOptions) -> Result<ReleaseOptions, PolicyError> {
    let dialect = release_dialect(table, input)?;
    let Some(table) = section(table, "release")? else { return Ok(dialect) };
    let fields = Fields::new(table, "[release]", RELEASE)?;
    Ok(ReleaseOptions {
        labels: fields.choice("labels", LABELS)?.unwrap_or(dialect.labels),
        numbers: fields.choice("numbers", NUMBERS)?.unwrap_or(dialect.numbers),
        order: fields.choice("order", ORDERS)?.unwrap_or(dialect.order),
        exact: exact(&fields, columns)?,
        ..dialect
    })
}

/// The keys of `[release]` that say how a file is written; the others have their defaults.
pub(super) fn release_dialect(table: &TomlTable, input: &InputOptions) -> Result<ReleaseOptions, PolicyError> {
    let default = ReleaseOptions::default();
    let Some(table) = section(table, "release")? else { return Ok(default) };
    let fields = Fields::new(table, "[release]", RELEASE)?;
    let delimiter = character(&fields, "delimiter", "one ASCII character in quotes, e.g. \";\" or \"\\t\"")?;
    if delimiter == Some(input.quote) {
        let message = "`delimiter` of [release] is the `quote` of [input]; they must differ";
        return Err(PolicyError::new(fields.span("delimiter"), message));
    }
    let header = flag(&fields, "header")?;
    if header == Some(false) && input.header {
        let error = PolicyError::new(fields.span("header"), "a release without a header needs an input without one");
        return Err(error.help(
            "`moretta check` reads the release later, and without a header only the order of the columns says which is \
             which; set `header = false` in [input] if the input has none",
        ));
    }
    let guard_formulas = flag(&fields, "guard-formulas")?.unwrap_or(default.guard_formulas);
    let (encoding, decimal) = (encoding(&fields)?, decimal(&fields)?);
    Ok(ReleaseOptions { delimiter, encoding, decimal, header, guard_formulas, ..default })
}

/// Kept columns that may single out records.
fn exact(fields: &Fields<'_>, columns: &[ColumnPolicy]) -> Result<Vec<String>, PolicyError> {
    let right = "a list of columns that are released unchanged although their values single out records";
    let kept = "a column with role \"sensitive\", \"class\" or \"insensitive\", whose values are released unchanged";
    let columns = Columns::new(columns);
    let names = fields.texts("exact", right)?.unwrap_or_default().into_iter();
    let checked = |(name, span): (&str, &Span)| {
        columns.require("exact", name, span, kept, Role::is_kept).map(|()| name.to_owned())
    };
    names.map(checked).collect()
}

pub(super) fn input(table: &TomlTable) -> Result<InputOptions, PolicyError> {
    let default = InputOptions::default();
    let Some(table) = section(table, "input")? else { return Ok(default) };
    let fields = Fields::new(table, "[input]", INPUT)?;
    let delimiter = character(&fields, "delimiter", "one ASCII character in quotes, e.g. \";\" or \"\\t\"")?;
    let quote = character(&fields, "quote", "one ASCII character in quotes, e.g. \"'\"")?.unwrap_or(default.quote);
    if delimiter == Some(quote) {
        let at_fault = if fields.item("quote").is_some() { "quote" } else { "delimiter" };
        let message = "`delimiter` and `quote` are the same character; they must differ";
        return Err(PolicyError::new(fields.span(at_fault), message));
    }
    let notation = notation(&fields)?;
    let header = flag(&fields, "header")?.unwrap_or(default.header);
    let names = names(&fields, header)?;
    let missing = match fields.texts("missing", "a list of the texts that mean that a value is missing")? {
        None => default.missing,
        Some(texts) => texts.into_iter().map(|(text, _)| text.to_owned()).collect(),
    };
    let population =
        fields.whole("population", "a whole number of at least 1: number of people the table was drawn from")?;
    let Notation { decimal, thousands } = notation;
    let encoding = encoding(&fields)?;
    Ok(InputOptions { delimiter, quote, encoding, decimal, thousands, header, names, missing, population })
}

/// How numbers are written.
fn notation(fields: &Fields<'_>) -> Result<Notation, PolicyError> {
    let decimal = decimal(fields)?.unwrap_or(Notation::PLAIN.decimal);
    let right = "the separator of thousands in numbers: \".\", \",\", \" \" or \"'\"";
    let thousands = match (fields.item("thousands"), fields.text("thousands", right)?) {
        (Some(item), Some(text)) => {
            let known = Notation::THOUSANDS.into_iter().find(|separator| text == separator.to_string());
            // Other spaces are read as the plain one.
            let space = matches!(text, "\u{a0}" | "\u{2009}" | "\u{202f}").then_some(' ');
            let apostrophe = (text == "\u{2019}").then_some('\'');
            Some(known.or(space).or(apostrophe).ok_or_else(|| wrong("thousands", item, right))?)
        }
        _ => None,
    };
    if thousands == Some(decimal) {
        let message = format!("`decimal` and `thousands` are both \"{decimal}\"; a number would have two values");
        let error = PolicyError::new(fields.span("thousands"), message);
        let other = if decimal == '.' { ',' } else { '.' };
        return Err(error.help(format!("for numbers such as 1{decimal}234{other}5 set `decimal = \"{other}\"`")));
    }
    Ok(Notation { decimal, thousands })
}

/// Encoding of a text file; names are accepted in any case.
fn encoding(fields: &Fields<'_>) -> Result<Option<Encoding>, PolicyError> {
    let Some(name) = fields.text("encoding", "the name of an encoding, e.g. \"windows-1252\"")? else {
        return Ok(None);
    };
    let known = Encoding::of_name(name);
    known.map(Some).ok_or_else(|| fields.unknown_word("encoding", name, Encoding::names()))
}

fn decimal(fields: &Fields<'_>) -> Result<Option<char>, PolicyError> {
    let right = "the decimal mark of numbers: \".\" or \",\"";
    match (fields.item("decimal"), fields.text("decimal", right)?) {
        (_, Some(".")) => Ok(Some('.')),
        (_, Some(",")) => Ok(Some(',')),
        (Some(item), Some(_)) => Err(wrong("decimal", item, right)),
        _ => Ok(None),
    }
}

/// Names of the columns of a file without a header.
fn names(fields: &Fields<'_>, header: bool) -> Result<Vec<String>, PolicyError> {
    let right = "a list of the names of all columns, in the order of the file";
    let names = fields.texts("names", right)?.unwrap_or_default();
    if header && fields.item("names").is_some() {
        let error = PolicyError::new(fields.span("names"), "`names` is for files without a header");
        return Err(error.help("add `header = false` if the first line is a record"));
    }
    Ok(names.into_iter().map(|(name, _)| name.to_owned()).collect())
}

fn flag(fields: &Fields<'_>, key: &str) -> Result<Option<bool>, PolicyError> {
    fields.read(key, "true or false", |value| match value {
        Value::Bool(flag) => Some(*flag),
        _ => None,
    })
}

/// One ASCII character other than a line break: files are scanned as bytes.
fn character(fields: &Fields<'_>, key: &str, right: &str) -> Result<Option<char>, PolicyError> {
    let (Some(item), Some(text)) = (fields.item(key), fields.text(key, right)?) else { return Ok(None) };
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) if one.is_ascii() && !matches!(one, '\n' | '\r' | '\0') => Ok(Some(one)),
        _ => Err(wrong(key, item, right)),
    }
}
