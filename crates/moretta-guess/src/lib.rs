//! Drafts a policy from a sample of the data, for `moretta init`.
//!
//! [`facts`] summarizes a sample, [`guess`] guesses the role of each column with a reason, and [`policy_text`] writes
//! the guesses as a policy to edit. Guarantees:
//!
//! - the text is a valid policy: [`Policy::parse`](moretta_core::policy::Policy::parse) accepts it if there is a
//!   column;
//! - every guess is marked `CONFIRM` and has a reason;
//! - the columns that stay unchanged single out at most one in a hundred records of the sample, alone and together;
//! - it contains no value of the data, only counts, so that it can be shared. (The exception are texts that mean a
//!   missing value, such as `N/A`, which the policy must name.)
//!
//! In doubt the column becomes a quasi-identifier: a loss of precision is visible in the report, an overlooked
//! quasi-identifier is not. A column stays unchanged only if there is a reason for it.
//!
//! ```text
//! values/  the values: their form, numbers, known words ─┐
//! topics   the name: words and what they mean ───────────┴─▶ detect/   role of each column, with a reason
//!                                                            table/    class, person, copies, unchanged columns
//!                                                            reading   numbers or codes
//!                                                            guard     rules for sensitive columns ──▶ text
//! ```
//!
//! ```
//! use moretta_core::{policy::Policy, schema::Role};
//! use moretta_guess as guess;
//! use moretta_insight::column_sets::ColumnSets;
//!
//! let columns = ["name", "age", "diagnosis"].map(String::from);
//! let person = |n: usize| [format!("Ada {n}"), (20 + n % 60).to_string(), ["flu", "asthma", "gout"][n % 3].to_owned()];
//! let rows: Vec<Vec<String>> = (0..200).map(|n| person(n).to_vec()).collect();
//!
//! let guesses = guess::guess(&guess::facts(&columns, &rows), &ColumnSets::of_rows(columns.len(), &rows));
//! let roles: Vec<Role> = guesses.columns.iter().map(|column| column.role).collect();
//! assert_eq!(roles, [Role::Identifier, Role::QuasiIdentifier, Role::Sensitive]);
//!
//! let text = guess::policy_text(&guesses, "people.csv");
//! assert!(Policy::parse(&text, &["best"]).is_ok());
//! ```

mod detect;
mod guard;
mod header;
mod notation;
mod reading;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod topics;
mod values;

use std::collections::{BTreeSet, HashMap, HashSet};

use moretta_core::{
    encoding::Encoding,
    hierarchy::{
        DateLevel, Decimal, HierarchyChoice,
        numeric::{Builder, Built},
        parse_number,
    },
    policy::InputOptions,
    schema::{Kind, Role},
    text::{count, shown},
};
use moretta_insight::column_sets::ColumnSets;

use self::{
    detect::{Decision, Evidence},
    reading::Reading,
    table::Relations,
    values::{Look, Shape, dates::DateStyle, patterns},
};
pub use self::{
    guard::Guard,
    header::name_like_a_value,
    notation::{FoundNotation, found_notation, in_plain_notation},
    text::policy_text,
};

/// Summary of a column of the sample.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnFacts {
    /// Name in the header.
    pub name: String,
    /// Distinct texts with their numbers of records, missing values included.
    pub values: Vec<(String, u64)>,
    /// Number of records in the sample.
    pub records: u64,
    /// Whether the sample has all records.
    pub complete: bool,
    /// Whether the values are lists or structures, which have no text.
    pub nested: bool,
    /// Number of runs of equal texts in the order of the records.
    pub runs: u64,
}

/// Guess for one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Name in the header.
    pub name: String,
    /// Guessed role.
    pub role: Role,
    /// Guessed type of the values.
    pub kind: Kind,
    /// Date format; `None` for ISO 8601 and for other types.
    pub format: Option<&'static str>,
    /// Suggested hierarchy of a quasi-identifier.
    pub hierarchy: Option<Suggestion>,
    /// Losses under several hierarchies, if they were tried: the first of them becomes the proposal.
    pub trial: Option<Trial>,
    /// Number of distinct values, without missing ones.
    pub different: u64,
    /// Number of records with a missing value.
    pub missing: u64,
    /// Texts that may mean a missing value in this column only.
    pub missing_texts: Vec<String>,
    /// Reason of the guess, without a value of the data.
    pub why: String,
    /// Further notes for the data holder, each a sentence.
    pub notes: Vec<String>,
    /// Rule for a sensitive column.
    pub guard: Option<Guard>,
}

/// Suggested hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub enum Suggestion {
    /// Intervals of these widths, ascending.
    Widths(Vec<f64>),
    /// Numbers of leading characters of a code, descending.
    Prefix(Vec<u32>),
    /// Calendar levels.
    Dates,
    /// A hierarchy file that groups similar values.
    Groups,
}

/// A hierarchy of numbers or dates that a trial compares.
#[derive(Debug, Clone, PartialEq)]
pub enum Hierarchy {
    /// Any interval.
    Free,
    /// All levels of the calendar.
    Calendar,
    /// Intervals of these widths.
    Widths(Vec<f64>),
    /// Built from the data.
    Iotf,
}

/// Loss of all quasi-identifiers of a sample, from 0 to 1, under several hierarchies of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Records of the trial.
    pub records: usize,
    /// Minimum group size of the trial.
    pub k: usize,
    /// The least loss first.
    pub losses: Vec<(Hierarchy, f64)>,
}

impl Hierarchy {
    /// Value of the key `hierarchy` of a column.
    pub fn toml(&self) -> String {
        match self {
            Self::Free => "\"free\"".to_owned(),
            Self::Calendar => {
                let levels: Vec<String> = DateLevel::ALL.iter().map(|level| format!("\"{}\"", level.name())).collect();
                format!("{{ dates = [{}] }}", levels.join(", "))
            }
            Self::Widths(widths) => {
                let widths: Vec<String> = widths.iter().map(f64::to_string).collect();
                format!("{{ widths = [{}] }}", widths.join(", "))
            }
            Self::Iotf => "\"iotf\"".to_owned(),
        }
    }

    /// The hierarchy as a policy has it; `None` if a width is no decimal number.
    pub fn choice(&self) -> Option<HierarchyChoice> {
        Some(match self {
            Self::Free => HierarchyChoice::Free,
            Self::Calendar => HierarchyChoice::Dates(DateLevel::ALL.to_vec()),
            Self::Widths(widths) => {
                let widths = widths.iter().map(|width| Decimal::parse(&width.to_string()));
                HierarchyChoice::Widths(widths.collect::<Option<_>>()?)
            }
            Self::Iotf => HierarchyChoice::Built(Built { builder: Builder::Iotf, levels: None }),
        })
    }

    fn words(&self) -> &'static str {
        match self {
            Self::Free => "any interval",
            Self::Calendar => "the calendar",
            Self::Widths(_) => "fixed widths",
            Self::Iotf => "intervals built from the data (\"iotf\")",
        }
    }
}

impl Guess {
    /// Hierarchies of numbers or dates that a trial should compare. On equal losses the first wins.
    pub fn hierarchies_to_try(&self) -> Vec<Hierarchy> {
        let fixed = match &self.hierarchy {
            Some(Suggestion::Dates) => Some(Hierarchy::Calendar),
            Some(Suggestion::Widths(widths)) => Some(Hierarchy::Widths(widths.clone())),
            _ => None,
        };
        [Hierarchy::Free].into_iter().chain(fixed).chain([Hierarchy::Iotf]).collect()
    }
}

/// How a file of text is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    /// Delimiter, if it is none of the default.
    pub delimiter: Option<char>,
    /// Whether the first line names the columns.
    pub header: bool,
    /// Encoding, if it is not UTF-8.
    pub encoding: Option<Encoding>,
    /// Whether a byte order mark shows the encoding.
    pub encoding_is_certain: bool,
    /// Notation of numbers, with the columns that show it.
    pub numbers: FoundNotation,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            delimiter: None,
            header: true,
            encoding: None,
            encoding_is_certain: false,
            numbers: FoundNotation::default(),
        }
    }
}

/// Guesses for all columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guesses {
    /// In the order of the input; a repeated name appears once.
    pub columns: Vec<Guess>,
    /// Repeated names, which a policy cannot declare.
    pub repeated: Vec<String>,
    /// Texts of the data that may mean a missing value, besides the defaults of a policy.
    pub markers: Vec<String>,
    /// How the file is written, where it is not the default; set by the caller.
    pub dialect: Dialect,
    /// Number of records in the sample.
    pub records: u64,
    /// Whether the sample has all records.
    pub complete: bool,
}

/// Summarizes the rows of a sample. Missing cells of a short row count as empty.
///
/// The caller sets [`ColumnFacts::complete`] if the sample has all records, and [`ColumnFacts::nested`].
pub fn facts(columns: &[String], rows: &[Vec<String>]) -> Vec<ColumnFacts> {
    let column = |(index, name): (usize, &String)| {
        let mut indices: HashMap<&str, usize> = HashMap::new();
        let mut values: Vec<(String, u64)> = Vec::new();
        let (mut runs, mut before) = (0, None);
        for row in rows {
            let text = row.get(index).map_or("", String::as_str);
            runs += u64::from(before.replace(text) != Some(text));
            let index = *indices.entry(text).or_insert(values.len());
            match values.get_mut(index) {
                Some((_, count)) => *count += 1,
                None => values.push((text.to_owned(), 1)),
            }
        }
        ColumnFacts { name: name.clone(), values, records: rows.len() as u64, runs, ..ColumnFacts::default() }
    };
    columns.iter().enumerate().map(column).collect()
}

/// Guesses the role of each column. `sets` has the same columns and records as `facts`.
pub fn guess(facts: &[ColumnFacts], sets: &ColumnSets) -> Guesses {
    let mut names = HashSet::new();
    let (once, again): (Vec<_>, Vec<_>) =
        facts.iter().enumerate().partition(|(_, column)| names.insert(column.name.as_str()));
    let default = InputOptions::default().missing;
    let found: BTreeSet<&str> = once.iter().flat_map(|(_, column)| markers(column)).collect();
    let known: HashSet<&str> = found.iter().copied().chain(default.iter().map(String::as_str)).collect();

    let of_column = |column: &'_ ColumnFacts| -> Vec<String> {
        let mut texts: Vec<String> = values::sentinels::of(column).into_iter().map(str::to_owned).collect();
        texts.extend(sas_missing(column).map(str::to_owned));
        texts
    };
    let missing_texts: Vec<Vec<String>> = once.iter().map(|(_, column)| of_column(column)).collect();
    let look = |((_, column), texts): (&(usize, &'_ ColumnFacts), &Vec<String>)| {
        let known = known.iter().copied().chain(texts.iter().map(String::as_str)).collect();
        Look::at(column, &known)
    };
    let mut columns: Vec<Evidence> =
        once.iter().zip(&missing_texts).map(|place| Evidence::new(place.0.1, look(place))).collect();
    let at_of: Vec<usize> = once.iter().map(|(at, _)| *at).collect();
    let relations = Relations::of(&columns, sets, &at_of);
    add_neighbors(&mut columns, &relations);

    let mut decisions: Vec<Decision> = columns.iter().map(detect::decide).collect();
    table::choose_class(&mut decisions, &columns, &relations);
    table::choose_person(&mut decisions, &columns, (sets, &at_of));
    table::choose_household(&mut decisions, &columns);
    table::agree_on_roles(&mut decisions, &columns, &relations);
    table::settle_kept(&mut decisions, &columns, (sets, &at_of), &relations);
    table::ensure_quasi_identifier(&mut decisions, &columns);
    table::note_relations(&mut decisions, &columns, &relations);

    let counts_persons = decisions.iter().any(|decision| decision.role == Role::Person);
    let repeated: BTreeSet<&str> = again.iter().map(|(_, column)| column.name.as_str()).collect();
    let to_guess = |(at, decision): (usize, Decision)| {
        let named_by = relations.determines(at).find(|&other| names_values(&columns[at].look, &columns[other].look));
        let named_by = named_by.map(|other| columns[other].name);
        let guess = to_guess(once[at].1, &columns[at], decision, named_by, counts_persons);
        Guess { missing_texts: missing_texts[at].clone(), ..guess }
    };
    Guesses {
        columns: decisions.into_iter().enumerate().map(to_guess).collect(),
        repeated: repeated.into_iter().map(str::to_owned).collect(),
        markers: found
            .into_iter()
            .filter(|text| !default.iter().any(|known| known == text))
            .map(str::to_owned)
            .collect(),
        dialect: Dialect::default(),
        records: facts.iter().map(|column| column.records).max().unwrap_or(0),
        complete: facts.iter().all(|column| column.complete),
    }
}

/// Adds to each column what other columns say of it.
fn add_neighbors(columns: &mut [Evidence<'_>], relations: &Relations) {
    let may_be_coordinates: Vec<bool> = columns.iter().map(detect::form::may_be_coordinates).collect();
    let is_category: Vec<bool> = columns.iter().map(|column| column.look.has_few_values()).collect();
    for (at, column) in columns.iter_mut().enumerate() {
        let beside = [at.checked_sub(1), Some(at + 1)];
        column.beside_coordinates =
            beside.into_iter().flatten().any(|other| may_be_coordinates.get(other) == Some(&true));
        column.is_of_a_group = relations.determined_by(at).any(|other| is_category[other]);
    }
}

/// Whether texts are the names of codes: at least one for every two codes.
fn names_values(codes: &Look, texts: &Look) -> bool {
    let is_text = matches!(texts.shape, Shape::Texts | Shape::Names | Shape::Medical(_) | Shape::FreeText);
    is_text && texts.different.saturating_mul(2) >= codes.different
}

/// The missing value of SAS, a single point, among numbers.
fn sas_missing(column: &ColumnFacts) -> Option<&str> {
    let texts = || column.values.iter().map(|(text, _)| text.as_str());
    let mut others = texts().filter(|text| *text != "." && !patterns::is_missing_marker(text)).peekable();
    let among_numbers = others.peek().is_some() && others.all(|text| parse_number(text).is_ok());
    texts().find(|text| *text == "." && among_numbers)
}

/// Returns the texts of a column that may mean a missing value.
fn markers(column: &ColumnFacts) -> impl Iterator<Item = &str> {
    let texts = || column.values.iter().map(|(text, _)| text.as_str());
    // `NA` among two-letter codes is Namibia, North America or sodium.
    let two_letters = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    let codes = texts().filter(|text| two_letters(text)).count() > 5;
    // `-` in a column with `+` is a test result.
    let signs = texts().any(|text| text.trim() == "+");
    texts().filter(move |text| {
        let meant = (codes && two_letters(text)) || (signs && text.trim() == "-");
        patterns::is_missing_marker(text) && !meant
    })
}

fn to_guess(
    facts: &ColumnFacts,
    column: &Evidence<'_>,
    decision: Decision,
    named_by: Option<&str>,
    counts_persons: bool,
) -> Guess {
    let look = &column.look;
    let named_by = named_by.map(|name| format!("`{}`", shown(name)));
    let reading = reading::of(column, decision.reading.as_ref(), named_by.as_deref());
    let kind = match (decision.role, &look.shape) {
        // Classes are categories, even if they are called 0 and 1.
        (Role::Class, _) => Kind::Category,
        (_, Shape::Dates(DateStyle::Ambiguous(..) | DateStyle::Unknown)) => Kind::Category,
        _ => reading.kind,
    };
    let format = match look.shape {
        Shape::Dates(DateStyle::As(format)) if kind == Kind::Date => Some(format),
        _ => None,
    };
    let mut notes = decision.notes;
    if matches!(decision.role, Role::QuasiIdentifier | Role::Sensitive) {
        notes.extend(reading.note.clone());
        if let Shape::Dates(style) = look.shape {
            notes.extend(date_note(style));
        }
        notes.extend(placeholder_note(look, kind));
    }
    if look.has_star {
        notes.push("One value is `*`, which means a suppressed value: is this file already a release?".to_owned());
    }
    let guard = if decision.role == Role::Sensitive { Guard::of(facts, look, counts_persons) } else { None };
    Guess {
        name: column.name.to_owned(),
        role: decision.role,
        kind,
        format,
        hierarchy: if decision.role == Role::QuasiIdentifier { suggestion(look, kind, &reading) } else { None },
        trial: None,
        different: look.different,
        missing: look.missing,
        missing_texts: Vec::new(),
        why: decision.why,
        notes,
        guard,
    }
}

/// Returns a note if a frequent value looks like one that stands for a missing value. A frequent 0 is an ordinary
/// amount.
fn placeholder_note(look: &Look, kind: Kind) -> Option<String> {
    let (records, is_number) = (look.placeholder, kind == Kind::Number);
    let found = records > 0 && (!is_number || look.numbers().is_some_and(|numbers| numbers.low < 0.0));
    found.then(|| {
        format!(
            "One value is in {} of {} records and looks like a placeholder for a missing value (zeros, nines, or the first \
             day of a calendar). If it is one, list it under `missing-texts` of this column.",
            count(records),
            count(look.present)
        )
    })
}

/// Returns a note if the dates have no unique format.
fn date_note(style: DateStyle) -> Option<String> {
    match style {
        DateStyle::Iso | DateStyle::As(_) => None,
        DateStyle::Ambiguous(first, second) => Some(format!(
            "CONFIRM: both date formats {first} and {second} fit all values. Set type = \"date\" and the right one, for \
             example format = \"{first}\", to group dates by month and year."
        )),
        DateStyle::Unknown => Some(
            "Most values look like dates, but no format with four-digit years fits all of them. With one format, \
             type = \"date\" would group them by month and year."
                .to_owned(),
        ),
    }
}

/// Suggests a hierarchy; none for categories of at most three values, which have no level between values and `*`.
fn suggestion(look: &Look, kind: Kind, reading: &Reading) -> Option<Suggestion> {
    match &look.shape {
        Shape::Numbers(numbers) if kind == Kind::Number => {
            widths(numbers.high - numbers.low, numbers.whole).map(Suggestion::Widths)
        }
        _ if reading.has_prefixes && look.longest.is_some() => lengths(look.longest?).map(Suggestion::Prefix),
        Shape::Dates(_) if kind == Kind::Date => Some(Suggestion::Dates),
        _ => (look.different > 3).then_some(Suggestion::Groups),
    }
}

/// Returns at most four prefix lengths, evenly spread below the length of the longest code.
fn lengths(longest: u32) -> Option<Vec<u32>> {
    const MAX_LEVELS: u32 = 4;
    let longest_prefix = longest.saturating_sub(1);
    let levels = longest_prefix.min(MAX_LEVELS);
    (levels > 0).then(|| (1..=levels).rev().map(|level| (longest_prefix * level).div_ceil(levels)).collect())
}

/// Returns up to three round widths that double, the narrowest about a sixteenth of the range. They disclose only the
/// order of magnitude of the range.
fn widths(range: f64, whole: bool) -> Option<Vec<f64>> {
    let min_width = if whole { 2.0 } else { 0.0 };
    let digits = (range / 16.0).log10().floor();
    if !range.is_finite() || range <= 0.0 || !(-9.0..=15.0).contains(&digits) {
        return None;
    }
    let scaled = |number: f64, exponent: f64| {
        // Divides for fractions: 1 / 10 prints as 0.1, 1 * 10^-1 may not.
        if exponent < 0.0 { number / 10f64.powi(-exponent as i32) } else { number * 10f64.powi(exponent as i32) }
    };
    let candidates = [(1.0, digits), (2.0, digits), (5.0, digits), (1.0, digits + 1.0), (2.0, digits + 1.0)];
    let (number, exponent) = candidates.into_iter().find(|(number, exponent)| {
        let width = scaled(*number, *exponent);
        width >= min_width && width >= range / 16.0
    })?;
    let widths = [1.0, 2.0, 4.0].map(|times| scaled(times * number, exponent));
    let widths: Vec<f64> = widths.into_iter().filter(|width| *width < range).collect();
    (!widths.is_empty()).then_some(widths)
}
