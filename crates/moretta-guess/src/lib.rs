//! A first policy from a look at the data: what `moretta init` writes.
//!
//! [`facts`] sums a sample up, [`guess`] says what each column may be and why, and [`policy_text`] writes that down as a
//! policy to be edited. It promises three things:
//!
//! - the text is a policy: [`Policy::parse`](moretta_core::policy::Policy::parse) accepts it (as long as there is a column);
//! - nothing in it is decided: every guess bears the word `CONFIRM` and its reason;
//! - no value of the data stands in it, only how many there are: a policy may be passed around. (The exception are texts
//!   that mean that a value is missing, such as `N/A`, which the policy must name.)
//!
//! A guess looks at the name (`words.rs`: a table) and at the values (`look.rs`). Where they leave a doubt, the column becomes
//! a quasi-identifier: a loss of precision can be seen in the report, an overlooked quasi-identifier cannot.
//!
//! ```
//! use moretta_core::{policy::Policy, schema::Role};
//! use moretta_guess as guess;
//!
//! let columns = ["name", "age", "diagnosis"].map(String::from);
//! let rows = [["Ada", "36", "flu"], ["Alan", "41", "asthma"]].map(|row| row.map(String::from).to_vec());
//! let guesses = guess::guess(&guess::facts(&columns, &rows));
//! let roles: Vec<Role> = guesses.columns.iter().map(|column| column.role).collect();
//! assert_eq!(roles, [Role::Identifier, Role::QuasiIdentifier, Role::Sensitive]);
//!
//! let text = guess::policy_text(&guesses, "people.csv");
//! assert!(Policy::parse(&text, &["sweep"]).is_ok());
//! ```

mod dates;
mod decide;
mod look;
mod patterns;
#[cfg(test)]
mod tests;
mod text;
mod words;

use std::collections::{BTreeSet, HashMap, HashSet};

use moretta_core::policy::InputOptions;
use moretta_core::schema::{Kind, Role};

use self::dates::Written;
use self::decide::Decision;
use self::look::{Look, Shape};
pub use self::text::policy_text;

/// What is known of a column before anything is guessed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnFacts {
    /// Its name.
    pub name: String,
    /// The different texts, each with the number of records that have it. Missing ones are among them.
    pub values: Vec<(String, u64)>,
    /// How many records were looked at.
    pub records: u64,
    /// Whether these were all records there are.
    pub complete: bool,
}

/// What a column may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Its name.
    pub name: String,
    /// What it may be to the holder.
    pub role: Role,
    /// How its values compare.
    pub kind: Kind,
    /// How its dates are written, where that is not ISO 8601.
    pub format: Option<&'static str>,
    /// How its values could be made less precise, for a quasi-identifier.
    pub hierarchy: Option<Suggestion>,
    /// How many different values it has; missing ones are not counted.
    pub different: u64,
    /// How many records have no value in it.
    pub missing: u64,
    /// The reason, in words without a value of the data.
    pub why: String,
    /// More that the holder should know, each a sentence.
    pub notes: Vec<String>,
}

/// A hierarchy that would serve a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Suggestion {
    /// Intervals of these widths, ascending.
    Widths(Vec<f64>),
    /// So many first characters of a code, descending.
    Prefix(Vec<u32>),
    /// The calendar.
    Dates,
    /// A file that groups values that are alike.
    Groups,
}

/// All that was guessed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Guesses {
    /// The columns in the input's order. A name that comes twice is there once.
    pub columns: Vec<Guess>,
    /// The names that come twice: no policy can speak of them.
    pub repeated: Vec<String>,
    /// Texts of the data that may stand for a missing value, beyond those that a policy takes for one by default.
    pub markers: Vec<String>,
    /// How many records were looked at.
    pub records: u64,
    /// Whether these were all records there are.
    pub complete: bool,
}

/// Sums up rows, as they come from a sample. A row that is too short has empty cells.
///
/// The rows are taken for the first of more; set [`ColumnFacts::complete`] where they are all.
pub fn facts(columns: &[String], rows: &[Vec<String>]) -> Vec<ColumnFacts> {
    let column = |(index, name): (usize, &String)| {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut values: Vec<(String, u64)> = Vec::new();
        for row in rows {
            let text = row.get(index).map_or("", String::as_str);
            let place = *places.entry(text).or_insert(values.len());
            match values.get_mut(place) {
                Some((_, count)) => *count += 1,
                None => values.push((text.to_owned(), 1)),
            }
        }
        ColumnFacts { name: name.clone(), values, records: rows.len() as u64, complete: false }
    };
    columns.iter().enumerate().map(column).collect()
}

/// Guesses what each column is.
pub fn guess(facts: &[ColumnFacts]) -> Guesses {
    let mut names = HashSet::new();
    let (once, again): (Vec<_>, Vec<_>) = facts.iter().partition(|column| names.insert(column.name.as_str()));
    let default = InputOptions::default().missing;
    let found: BTreeSet<&str> = once.iter().flat_map(|column| markers(column)).collect();
    let known: HashSet<&str> = found.iter().copied().chain(default.iter().map(String::as_str)).collect();

    let looks: Vec<Look> = once.iter().map(|column| Look::at(column, &known)).collect();
    let decide = |(index, column): (usize, &&ColumnFacts)| {
        decide::decide(&column.name, &looks[index], column.complete, index + 1 == once.len())
    };
    let mut decisions: Vec<Decision> = once.iter().enumerate().map(decide).collect();
    decide::choose_class(&mut decisions);
    decide::ensure_quasi_identifier(&mut decisions, &looks);

    let repeated: BTreeSet<&str> = again.iter().map(|column| column.name.as_str()).collect();
    Guesses {
        columns: once.iter().zip(&looks).zip(decisions).map(|((column, look), made)| put(column, look, made)).collect(),
        repeated: repeated.into_iter().map(str::to_owned).collect(),
        markers: found
            .into_iter()
            .filter(|text| !default.iter().any(|known| known == text))
            .map(str::to_owned)
            .collect(),
        records: facts.iter().map(|column| column.records).max().unwrap_or(0),
        complete: facts.iter().all(|column| column.complete),
    }
}

/// The texts of a column that may stand for a missing value.
fn markers(column: &ColumnFacts) -> impl Iterator<Item = &str> {
    let texts = || column.values.iter().map(|(text, _)| text.as_str());
    // `NA` among two-letter codes is Namibia, North America or sodium.
    let two_letters = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    let codes = texts().filter(|text| two_letters(text)).count() > 5;
    // `-` beside `+` is a result.
    let signs = texts().any(|text| text.trim() == "+");
    texts().filter(move |text| {
        let meant = (codes && two_letters(text)) || (signs && text.trim() == "-");
        patterns::is_missing_marker(text) && !meant
    })
}

fn put(column: &ColumnFacts, look: &Look, made: Decision) -> Guess {
    let kind = match look.shape {
        // Classes are told apart, not measured, even where they are called 0 and 1.
        _ if made.role == Role::Class => Kind::Category,
        Shape::Numbers { .. } if !made.is_code => Kind::Number,
        Shape::Dates(Written::Iso | Written::As(_)) => Kind::Date,
        _ => Kind::Category,
    };
    let format = match look.shape {
        Shape::Dates(Written::As(format)) if kind == Kind::Date => Some(format),
        _ => None,
    };
    let mut notes = made.notes;
    if let Shape::Dates(written) = look.shape
        && matches!(made.role, Role::QuasiIdentifier | Role::Sensitive)
    {
        notes.extend(unclear(written));
    }
    if look.has_star {
        notes.push("One value is `*`, which stands for a suppressed one: is this file a release already?".to_owned());
    }
    Guess {
        name: column.name.clone(),
        role: made.role,
        kind,
        format,
        hierarchy: if made.role == Role::QuasiIdentifier { suggestion(look, kind, made.is_code) } else { None },
        different: look.different,
        missing: look.missing,
        why: made.why,
        notes,
    }
}

/// Why dates are not read as such, where they are not.
fn unclear(written: Written) -> Option<String> {
    match written {
        Written::Iso | Written::As(_) => None,
        Written::Either(first, second) => Some(format!(
            "CONFIRM: its dates could be written {first} or {second}, and no value tells which. Say so, and they are \
             grouped by month and year: type = \"date\" with format = \"{first}\" or the other."
        )),
        Written::Otherwise => Some(
            "Most of its values look like dates, but not all are written in one way and with years of four digits. If \
             they were, type = \"date\" would group them by month and year."
                .to_owned(),
        ),
    }
}

/// The more values, the more a hierarchy helps; two or three have nothing between themselves and `*`.
fn suggestion(look: &Look, kind: Kind, is_code: bool) -> Option<Suggestion> {
    match look.shape {
        Shape::Numbers { low, high, whole, .. } if kind == Kind::Number => {
            widths(high - low, whole).map(Suggestion::Widths)
        }
        _ if is_code && look.longest.is_some() => lengths(look.longest?).map(Suggestion::Prefix),
        Shape::Dates(_) if kind == Kind::Date => Some(Suggestion::Dates),
        _ => (look.different > 3).then_some(Suggestion::Groups),
    }
}

/// At most four lengths below that of the longest code, evenly spread.
fn lengths(longest: u32) -> Option<Vec<u32>> {
    const MOST: u32 = 4;
    let most = longest.saturating_sub(1);
    let levels = most.min(MOST);
    (levels > 0).then(|| (1..=levels).rev().map(|level| (most * level).div_ceil(levels)).collect())
}

/// Three round widths that double, the narrowest about a sixteenth of the range. They tell its size, and no value.
fn widths(range: f64, whole: bool) -> Option<Vec<f64>> {
    let least = if whole { 2.0 } else { 0.0 };
    let digits = (range / 16.0).log10().floor();
    if !range.is_finite() || range <= 0.0 || !(-9.0..=15.0).contains(&digits) {
        return None;
    }
    let scaled = |number: f64, exponent: f64| {
        // Divided where it is a fraction: 1 / 10 prints as 0.1, 1 * 10^-1 may not.
        if exponent < 0.0 { number / 10f64.powi(-exponent as i32) } else { number * 10f64.powi(exponent as i32) }
    };
    let candidates = [(1.0, digits), (2.0, digits), (5.0, digits), (1.0, digits + 1.0), (2.0, digits + 1.0)];
    let (number, exponent) = candidates.into_iter().find(|(number, exponent)| {
        let width = scaled(*number, *exponent);
        width >= least && width >= range / 16.0
    })?;
    let widths = [1.0, 2.0, 4.0].map(|times| scaled(times * number, exponent));
    let widths: Vec<f64> = widths.into_iter().filter(|width| *width < range).collect();
    (!widths.is_empty()).then_some(widths)
}
