//! Parser of the user's file of queries.
//!
//! ```toml
//! [[query]]
//! count = true
//! where = { age = [20, 40], sex = "female" }
//! [[query]]
//! sum = "age"
//! where = { education = "Higher" }
//! ```
//!
//! A column of numbers or dates has two ends, both included, or one value; a column of categories has a value or an
//! inner node of its hierarchy. Without `where` all records are selected.

use moretta_core::{
    hierarchy::{Domain, LabelReader, ReadCell},
    ids::ColumnId,
    profile::Profile,
    schema::Kind,
    suggest::nearest,
    text::shown,
};
use toml::{Table, Value};

use super::{Aggregate, Condition, Query};

/// A query of the user's file, with its conditions as texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Own {
    /// The parsed query.
    pub query: Query,
    /// Columns with their ranges as written, in the file's order.
    pub conditions: Vec<(String, String)>,
}

/// An error in a file of queries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", .query.map_or(String::new(), |query| format!("query {query}: ")))]
pub struct QueryFileError {
    /// Number of the query (from 1); `None` if the error is not in a single query.
    pub query: Option<usize>,
    /// The kind of error.
    pub problem: QueryFileProblem,
}

/// Kinds of errors in a file of queries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryFileProblem {
    /// Not TOML.
    #[error("line {line}: {message}")]
    Toml {
        /// Line number (from 1).
        line: usize,
        /// Message of the TOML parser.
        message: String,
    },
    /// No queries.
    #[error("there is no query; write `[[query]]`, below it `count = true` and `where = {{ age = [20, 40] }}`")]
    None,
    /// A key at the top other than `query`.
    #[error("`{}` is not known; the file is a list of queries, each under `[[query]]`", shown(.key))]
    Top {
        /// The unknown key.
        key: String,
    },
    /// A key of a query that does not exist.
    #[error("`{}` is not known; a query has `count = true` or `sum = \"COLUMN\"`, and `where`", shown(.key))]
    Key {
        /// The unknown key.
        key: String,
    },
    /// Neither count nor sum, or both.
    #[error("write either `count = true` or `sum = \"COLUMN\"`")]
    Aggregate,
    /// A `where` that is no table.
    #[error("`where` must be a table of conditions: `where = {{ age = [20, 40], sex = \"female\" }}`")]
    Where,
    /// A column that is no quasi-identifier.
    #[error("`{}` is not a quasi-identifier of the policy; {}", shown(.column), one_of(.near, .known))]
    Column {
        /// Name of the column.
        column: String,
        /// The nearest name, if one is similar.
        near: Option<String>,
        /// The quasi-identifiers.
        known: Vec<String>,
    },
    /// A sum over a column that is not numeric.
    #[error("column `{}` has no numbers to sum; {}", shown(.column), one_of(&None, .known))]
    NoNumbers {
        /// Name of the column.
        column: String,
        /// The numeric columns.
        known: Vec<String>,
    },
    /// A condition on numbers or dates that is no range.
    #[error("column `{}`: write two {}", shown(.column), ends(*.kind, .column))]
    NoRange {
        /// Name of the column.
        column: String,
        /// `Number` or `Date`.
        kind: Kind,
    },
    /// A condition on categories that is no text.
    #[error("column `{0}`: write one value, or one inner node of its hierarchy, in quotes: `{0} = \"...\"`", shown(.column))]
    NoName {
        /// Name of the column.
        column: String,
    },
    /// A name that is neither a value nor a node of the column.
    #[error(
        "column `{}`: `{}` is not a value of the original or an inner node of the hierarchy{}",
        shown(.column), shown(.value),
        .near.as_ref().map_or(String::new(), |near| format!("; did you mean `{}`?", shown(near)))
    )]
    NoValue {
        /// Name of the column.
        column: String,
        /// The unknown name.
        value: String,
        /// The nearest name, if one is similar.
        near: Option<String>,
    },
}

fn ends(kind: Kind, column: &str) -> String {
    match kind {
        Kind::Date => "dates as the table writes them, the earlier one first, both inclusive".to_owned(),
        _ => format!("numbers, the lower one first, both inclusive: `{} = [20, 40]`", shown(column)),
    }
}

fn one_of(near: &Option<String>, known: &[String]) -> String {
    match near {
        Some(near) => format!("did you mean `{}`?", shown(near)),
        None if known.is_empty() => "no quasi-identifier has".to_owned(),
        None => format!("use one of: {}", known.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", ")),
    }
}

/// Parses queries about a table. Errors do not name the file; the caller adds it.
pub fn parse(text: &str, profile: &Profile) -> Result<Vec<Own>, QueryFileError> {
    let whole = |problem| QueryFileError { query: None, problem };
    let table: Table = text.parse().map_err(|error: toml::de::Error| whole(broken(text, &error)))?;
    if let Some(key) = table.keys().find(|key| *key != "query") {
        return Err(whole(QueryFileProblem::Top { key: key.clone() }));
    }
    let queries = table.get("query").and_then(Value::as_array).filter(|queries| !queries.is_empty());
    let queries = queries.ok_or_else(|| whole(QueryFileProblem::None))?;
    let own = |(index, query): (usize, &Value)| {
        let query = query.as_table().ok_or(QueryFileProblem::Aggregate).and_then(|query| own(query, profile));
        query.map_err(|problem| QueryFileError { query: Some(index + 1), problem })
    };
    queries.iter().enumerate().map(own).collect()
}

fn broken(text: &str, error: &toml::de::Error) -> QueryFileProblem {
    let at = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    QueryFileProblem::Toml { line, message: error.message().to_owned() }
}

fn own(query: &Table, profile: &Profile) -> Result<Own, QueryFileProblem> {
    if let Some(key) = query.keys().find(|key| !["count", "sum", "where"].contains(&key.as_str())) {
        return Err(QueryFileProblem::Key { key: key.clone() });
    }
    let aggregate = match (query.get("count"), query.get("sum")) {
        (Some(Value::Boolean(true)), None) => Aggregate::Count,
        (None, Some(Value::String(name))) => Aggregate::Sum(column_to_sum(profile, name)?),
        _ => return Err(QueryFileProblem::Aggregate),
    };
    let mut own = Own { query: Query { aggregate, conditions: Vec::new() }, conditions: Vec::new() };
    let nothing = Value::Table(Table::new());
    for (name, value) in query.get("where").unwrap_or(&nothing).as_table().ok_or(QueryFileProblem::Where)? {
        let column = column(profile, name)?;
        let (condition, text) = condition(profile.domain(column), name, value)?;
        own.query.conditions.extend(condition.map(|condition| (column, condition)));
        own.conditions.push((name.clone(), text));
    }
    Ok(own)
}

/// Returns the quasi-identifier of this name.
fn column(profile: &Profile, name: &str) -> Result<ColumnId, QueryFileProblem> {
    let names = || profile.columns().iter().map(|column| column.name.as_str());
    names().position(|known| known == name).map(ColumnId::from_index).ok_or_else(|| QueryFileProblem::Column {
        column: name.to_owned(),
        near: nearest(name, names()).map(str::to_owned),
        known: names().map(str::to_owned).collect(),
    })
}

/// Returns the quasi-identifier of this name, which must be numeric.
pub fn column_to_sum(profile: &Profile, name: &str) -> Result<ColumnId, QueryFileProblem> {
    let found = column(profile, name)?;
    if profile.domain(found).kind() == Kind::Number {
        return Ok(found);
    }
    let numbers = profile.columns().iter().filter(|column| column.domain.kind() == Kind::Number);
    let known = numbers.map(|column| column.name.clone()).collect();
    Err(QueryFileProblem::NoNumbers { column: name.to_owned(), known })
}

/// Parses a condition and returns it with its text; no condition for `*`.
fn condition(domain: &Domain, name: &str, value: &Value) -> Result<(Option<Condition>, String), QueryFileProblem> {
    let cell = match (value, LabelReader::new(domain)) {
        (Value::String(label), reader) => match reader.read(label) {
            Some(ReadCell::Cell(cell)) => Some((cell, label)),
            _ => None,
        },
        _ => None,
    };
    if let Some((cell, label)) = cell
        && cell == domain.whole()
        && domain.len() > 1
    {
        return Ok((None, label.clone()));
    }
    if domain.kind().is_ordered() {
        let found = match cell {
            Some((cell, label)) => domain.ends(cell).map(|ends| (ends, label.clone())),
            None => range(domain, value),
        };
        let no_range = || QueryFileProblem::NoRange { column: name.to_owned(), kind: domain.kind() };
        let ((low, high), text) = found.filter(|((low, high), _)| low <= high).ok_or_else(no_range)?;
        return Ok((Some(Condition::Between(low, high)), text));
    }
    let Value::String(label) = value else { return Err(QueryFileProblem::NoName { column: name.to_owned() }) };
    let (cell, _) = cell.ok_or_else(|| QueryFileProblem::NoValue {
        column: name.to_owned(),
        value: label.clone(),
        near: nearest(label, names(domain)).map(str::to_owned),
    })?;
    Ok((Some(Condition::Codes(cell.first, cell.last)), label.clone()))
}

/// Labels of all nodes but the root.
fn names(domain: &Domain) -> impl Iterator<Item = &str> {
    domain.tree().into_iter().flat_map(|tree| tree.nodes().skip(1).map(|node| tree.label(node)))
}

/// Two ends or one value, as numbers or seconds.
fn range(domain: &Domain, value: &Value) -> Option<((f64, f64), String)> {
    let end = |value: &Value| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Datetime(at) => at.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            _ => return None,
        };
        Some((domain.read_number(&text)?, text))
    };
    match value {
        Value::Array(ends) => {
            let [low, high] = ends.as_slice() else { return None };
            let ((low, from), (high, to)) = (end(low)?, end(high)?);
            Some(((low, high), format!("[{from}, {to}]")))
        }
        value => end(value).map(|(number, text)| ((number, number), text)),
    }
}
