//! Declarations of a data holder about a table: its columns, how the input is read and how the release is written.
//!
//! A [`Policy`](crate::policy::Policy) is a [`Declaration`] plus privacy models, a method and objectives. Modules below
//! the policy (profile, privacy models, released table, measures) depend on the declaration only.

mod columns;

use serde::{Deserialize, Serialize, Serializer};

pub use self::columns::Columns;
use crate::{
    counts::RecordOrder,
    dates::DateFormat,
    encoding::Encoding,
    hierarchy::{HierarchyChoice, ValueParser},
    notation::Notation,
    schema::{Kind, MissingRule, Role, Unit},
};

/// The declared columns of a table, and how it is read and written.
pub trait Declaration {
    /// All columns, in the order in which the policy names them first.
    fn columns(&self) -> &[ColumnPolicy];

    /// How the input is read.
    fn input(&self) -> &InputOptions;

    /// How the release is written.
    fn release(&self) -> &ReleaseOptions;

    /// Notation of the numbers of a release.
    fn release_notation(&self) -> Notation {
        match self.release().decimal {
            Some(decimal) => Notation { decimal, thousands: None },
            None => self.input().notation(),
        }
    }

    /// The texts that mean a missing value in a column.
    fn missing_texts<'a>(&'a self, column: &'a ColumnPolicy) -> impl Iterator<Item = &'a str> {
        self.input().missing.iter().chain(&column.missing_texts).map(String::as_str)
    }

    /// The quasi-identifier columns, in policy order.
    fn quasi_identifiers(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns().iter().filter(|column| column.role == Role::QuasiIdentifier)
    }

    /// The sensitive and class columns, in policy order: the values that privacy models and measures look at beside the
    /// quasi-identifier.
    fn attributes(&self) -> impl Iterator<Item = &ColumnPolicy> {
        self.columns().iter().filter(|column| matches!(column.role, Role::Sensitive | Role::Class))
    }

    /// The column with the number of the person, if privacy models count persons.
    fn person(&self) -> Option<&ColumnPolicy> {
        self.columns().iter().find(|column| column.role == Role::Person)
    }

    /// The unit in which sizes of groups are counted.
    fn unit(&self) -> Unit {
        if self.person().is_some() { Unit::Persons } else { Unit::Records }
    }

    /// The column with the number of the household, if reports have the risk of households.
    fn household(&self) -> Option<&ColumnPolicy> {
        self.columns().iter().find(|column| column.role == Role::Household)
    }
}

/// A column's role, and how its values may be generalized.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnPolicy {
    /// The column's name in the input.
    pub name: String,
    /// Decides whether the column is released, and how.
    pub role: Role,
    /// Whether it has numbers, dates or categories (the key `type`); by default inferred from the data.
    pub kind: Option<Kind>,
    /// Format of its dates; `None` is ISO 8601.
    pub format: Option<DateFormat>,
    /// Hierarchy by which its values are generalized.
    pub hierarchy: HierarchyChoice,
    /// Weight of the information loss in this column; 1 by default. Only a quasi-identifier can have another.
    pub weight: f64,
    /// Meaning of a missing value.
    pub missing: MissingRule,
    /// Further texts that mean a missing value in this column.
    pub missing_texts: Vec<String>,
    /// Whether spellings of one value count as one; true by default. Only for columns with role sensitive, class,
    /// person or household.
    pub fold: bool,
}

impl ColumnPolicy {
    /// Parser of its texts as values of this kind.
    pub(crate) fn parser(&self, kind: Kind) -> ValueParser {
        ValueParser::new(kind, self.format.as_ref())
    }
}

/// How the release is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ReleaseOptions {
    /// Label of a cell of several categories.
    pub labels: Labels,
    /// Label of a cell of several numbers.
    pub numbers: Numbers,
    /// Order of the released records.
    #[serde(serialize_with = "order_name")]
    pub order: RecordOrder,
    /// Kept columns whose values may single out records: the data holder has decided that recipients need them exactly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exact: Vec<String>,
    /// Delimiter of a CSV release, an ASCII character; by default that of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// Encoding of a CSV release; by default that of the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// Decimal mark of the release, `.` or `,`; by default numbers are written in the notation of the input. If it is
    /// set, the numbers of kept number columns are written with it too, without separators of thousands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// Whether a CSV release has a header; by default as the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
    /// Whether texts of a CSV release that a spreadsheet would compute as formulas get an apostrophe before them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guard_formulas: bool,
}

impl Default for ReleaseOptions {
    fn default() -> Self {
        Self {
            labels: Labels::Node,
            numbers: Numbers::Interval,
            order: RecordOrder::Shuffled,
            exact: Vec::new(),
            delimiter: None,
            encoding: None,
            decimal: None,
            header: None,
            guard_formulas: false,
        }
    }
}

impl ReleaseOptions {
    /// Whether the label of a cell with several values is computed from the group's own values (a set, mean, median or
    /// midpoint) instead of the cell.
    pub fn prints_group_values(&self, kind: Kind) -> bool {
        match kind {
            Kind::Category => self.labels == Labels::Set,
            Kind::Number => self.numbers != Numbers::Interval,
            Kind::Date => false,
        }
    }
}

/// Label of a cell of several categories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// As the label of its hierarchy node.
    #[default]
    Node,
    /// As the set of the values that occur: `{a, b}`.
    Set,
}

/// Label of a cell of several numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// As an interval: `[24, 32]`.
    #[default]
    Interval,
    /// As the mean of the group's values.
    Mean,
    /// As the median of the group's values.
    Median,
    /// As the middle between the smallest and the largest of the group's values.
    Midpoint,
}

/// How the input is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputOptions {
    /// Delimiter of cells, an ASCII character; by default detected from the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// Quote of cells, an ASCII character other than the delimiter.
    pub quote: char,
    /// Encoding of text files; by default UTF-8, or what their byte order mark says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<Encoding>,
    /// Decimal mark of numbers in text: `.` or `,`.
    #[serde(skip_serializing_if = "is_point")]
    pub decimal: char,
    /// Separator of thousands in numbers, one of [`Notation::THOUSANDS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// Whether the first line of a CSV file names the columns.
    #[serde(skip_serializing_if = "is_true")]
    pub header: bool,
    /// Names of the columns of a file without a header; empty for `c1`, `c2`, ..
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The texts that mean that a value is missing.
    pub missing: Vec<String>,
    /// Size of the population that the table was sampled from, if known: at least the number of records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<u64>,
}

impl Default for InputOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            quote: '"',
            encoding: None,
            decimal: '.',
            thousands: None,
            header: true,
            names: Vec::new(),
            missing: vec![String::new(), "?".to_owned()],
            population: None,
        }
    }
}

impl InputOptions {
    /// Notation of numbers in text.
    pub fn notation(&self) -> Notation {
        Notation { decimal: self.decimal, thousands: self.thousands }
    }
}

fn is_point(decimal: &char) -> bool {
    *decimal == '.'
}

fn is_true(value: &bool) -> bool {
    *value
}

fn order_name<S: Serializer>(order: &RecordOrder, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match order {
        RecordOrder::Input => "input",
        RecordOrder::Shuffled => "shuffled",
    })
}
