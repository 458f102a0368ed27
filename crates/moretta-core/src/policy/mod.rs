//! What the holder asks for: the policy, a TOML file, checked before anything else happens.
//!
//! A policy goes one way: text → tree (what the file says, with the place of every key and value) →
//! `check` → [`Policy`]. [`Policy::parse`] does all of it and is the only way in, together with serde's `Deserialize`, which a
//! recoding file uses to read back the policy it carries: both run the same checks. So whoever holds a [`Policy`]
//! that was read may rely on:
//!
//! - it states at least one guarantee that some table would violate, and names at least one quasi-identifier;
//! - every column that a privacy model names is declared, in a role that fits: what is *given* is a quasi-identifier,
//!   what is guarded or predicted is sensitive or a class;
//! - every number is finite and in its range; widths and bins ascend, prefixes descend; a hierarchy fits its column's type.
//!
//! What needs the data (does the column exist, is it a number, does the value occur) is checked later:
//! [`Policy::check_columns`] holds the policy against a header.
//!
//! A policy that says something else is refused with a [`PolicyError`] that names the line and what would be right.
//! Serialised, a policy has the keys of the TOML file, defaults filled in.
//!
//! ```
//! use moretta_core::policy::Policy;
//!
//! let text = r#"
//! version = 1
//! [privacy]
//! k = 5
//! [columns.age]
//! role = "quasi-identifer"
//! "#;
//! let error = Policy::parse(text, &["sweep"]).unwrap_err();
//! assert_eq!(error.line_column(text), Some((6, 8)));
//! assert_eq!(error.help.as_deref(), Some("did you mean \"quasi-identifier\"?"));
//!
//! let policy = Policy::parse(&text.replace("identifer", "identifier"), &["sweep"]).unwrap();
//! assert_eq!(policy.privacy.k, Some(5));
//! assert_eq!(policy.method.name, "sweep");
//! ```

mod check;
mod columns;
mod error;
mod header;
mod json;
mod method;
#[cfg(test)]
mod tests;
mod tree;

use serde::{Deserialize, Serialize};

pub use self::error::PolicyError;
pub use self::header::{AbsentColumn, ColumnMismatch, toml_key};
pub use self::method::MethodChoice;
use crate::counts::RecordOrder;
use crate::dates::DateFormat;
use crate::hierarchy::{HierarchyChoice, Reading};
use crate::objective::Goal;
use crate::schema::{Kind, MissingRule, Role};

/// The version of the policy language that this crate reads.
pub const VERSION: u32 = 1;

/// The method that is used where the policy names none.
pub const DEFAULT_METHOD: &str = "sweep";

/// A checked policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Policy {
    /// The version of the policy language.
    pub version: u32,
    /// What must hold in the release.
    pub privacy: Privacy,
    /// How it is to be reached.
    pub method: MethodChoice,
    /// What the release is for, where the policy says so; else the method makes small what its authors chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<MeasureChoice>,
    /// All columns, in the order in which the file names them first; ties between columns go to the earlier one.
    #[serde(serialize_with = "json::columns")]
    pub columns: Vec<ColumnPolicy>,
    /// How the release is written.
    pub release: ReleaseOptions,
    /// How the input is read.
    pub input: InputOptions,
}

/// What the release is for, and so what the method is to make small: `[measure]`, or several `[[measure]]` added up.
#[derive(Debug, Clone)]
pub struct MeasureChoice {
    /// The measures, at least one, none twice.
    pub goals: Vec<Goal>,
    place: error::Place,
}

/// Where it stands in the text is not compared.
impl PartialEq for MeasureChoice {
    fn eq(&self, other: &MeasureChoice) -> bool {
        self.goals == other.goals
    }
}

impl MeasureChoice {
    /// A complaint about the choice, with its place.
    pub fn error(&self, message: impl Into<String>) -> PolicyError {
        self.place.error(message)
    }
}

/// What must hold in the release. At least one part of it asks for something.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Privacy {
    /// Every combination of released quasi-identifier values is carried by at least `k` records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// The share of records that may be suppressed, 0 to 1.
    pub max_suppressed: f64,
    /// Caps on what can be inferred.
    #[serde(rename = "template", skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<Template>,
    /// A limit on what any few of the quasi-identifiers give away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lkc: Option<Lkc>,
    /// Lower bounds on the variety of a column within each group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub l_diversity: Vec<LDiversity>,
    /// Upper bounds on how far a column's distribution within a group may be from that in the whole table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub t_closeness: Vec<TCloseness>,
}

impl Privacy {
    /// How many of so many records may be suppressed.
    pub fn allowed_records(&self, records: u64) -> u64 {
        // A share such as 0.02 is a little off in binary: 2 % of 100 is 2.
        (self.max_suppressed * records as f64 + 1e-9).floor() as u64
    }

    /// Whether k is the only guarantee.
    pub fn has_k_alone(&self) -> bool {
        let Self { k: _, max_suppressed: _, templates, lkc, l_diversity, t_closeness } = self;
        templates.is_empty() && lkc.is_none() && l_diversity.is_empty() && t_closeness.is_empty()
    }
}

/// A privacy template: nobody, given the released values of some columns, can infer a value with more than this confidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Template {
    /// What is known: quasi-identifier columns, at least one, none twice.
    pub given: Vec<String>,
    /// The column that is guarded: sensitive or class.
    pub column: String,
    /// Which of its values are guarded, each on its own.
    #[serde(flatten)]
    pub values: TemplateValues,
    /// Above 0, at most 1.
    pub max_confidence: f64,
}

/// The values that a template guards.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum TemplateValues {
    /// These: at least one, none twice.
    #[serde(rename = "values")]
    Listed(Vec<String>),
    /// This share (above 0, at most 1) of the column's values, the least frequent ones.
    #[serde(rename = "rarest")]
    Rarest(f64),
}

/// Whoever knows any `l` of the quasi-identifiers finds at least `k` records alike, and infers no value of a sensitive
/// column with more than confidence `c`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Lkc {
    /// At least 1. More than there are quasi-identifiers means all of them.
    pub l: u64,
    /// At least 1.
    pub k: u64,
    /// Above 0, at most 1.
    pub c: f64,
}

impl Lkc {
    /// More sets of columns than this are refused: each is regrouped and judged on its own.
    pub const MOST_SETS: u64 = 5_000;

    /// How many sets of `chosen` columns there are among `columns`; from `enough` on it is only known to be no fewer.
    pub(crate) fn sets(columns: u64, chosen: u64, enough: u64) -> u64 {
        let chosen = chosen.min(columns);
        let chosen = chosen.min(columns - chosen);
        let mut sets = 1u64;
        for index in 0..chosen {
            // A binomial of its own after each step, and the next is never smaller.
            match sets.checked_mul(columns - index) {
                Some(product) if product / (index + 1) < enough => sets = product / (index + 1),
                _ => return enough,
            }
        }
        sets
    }
}

/// Each group holds at least `l` well-represented values of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LDiversity {
    /// The column that is guarded: sensitive or class.
    pub column: String,
    /// At least 1. Whole for distinct and recursive, at least 2 for recursive.
    #[serde(serialize_with = "json::whole_if_possible")]
    pub l: f64,
    /// What well-represented means.
    #[serde(flatten)]
    pub kind: LDiversityKind,
}

/// What well-represented means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LDiversityKind {
    /// `l` different values occur. The default.
    Distinct,
    /// The entropy of the values is at least ln `l`.
    Entropy,
    /// The most frequent value occurs less than `c` times as often as the `l`-th most frequent and all rarer ones together.
    Recursive {
        /// Above 0.
        c: f64,
    },
}

/// Each group's distribution of a column is within `t` of the whole table's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TCloseness {
    /// The column that is guarded: sensitive or class.
    pub column: String,
    /// 0 to 1.
    pub t: f64,
    /// How far two values are apart.
    pub distance: Distance,
}

/// How far two values of a column are apart, for the earth mover's distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// 1 when they differ.
    Equal,
    /// By their places in the column's order.
    Ordered,
    /// By the height of their closest common ancestor.
    Hierarchical,
}

/// What a column is, and how it may be made less precise.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnPolicy {
    /// The column's name in the input.
    pub name: String,
    /// What it is to the holder.
    pub role: Role,
    /// Whether it is read as numbers, dates or names (the key `type`); inferred from the data when left out.
    pub kind: Option<Kind>,
    /// How its dates are written, where that is not ISO 8601.
    pub format: Option<DateFormat>,
    /// How its values are made less precise.
    pub hierarchy: HierarchyChoice,
    /// What a loss in this column counts. 1 unless set; only a quasi-identifier has another.
    pub weight: f64,
    /// What a missing value means.
    pub missing: MissingRule,
}

impl ColumnPolicy {
    /// How its texts are read, if they are of this kind.
    pub(crate) fn reading(&self, kind: Kind) -> Reading {
        Reading::new(kind, self.format.as_ref())
    }
}

/// How the release is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReleaseOptions {
    /// How a categorical box prints.
    pub labels: Labels,
    /// How a box of numbers prints.
    pub numbers: Numbers,
    /// In which order the records leave.
    #[serde(serialize_with = "json::order")]
    pub order: RecordOrder,
}

impl Default for ReleaseOptions {
    fn default() -> ReleaseOptions {
        ReleaseOptions { labels: Labels::Node, numbers: Numbers::Interval, order: RecordOrder::Shuffled }
    }
}

impl ReleaseOptions {
    /// Whether a cell of several values prints what its group's records hold (a set or one number) instead of the cell.
    pub fn has_own_form(&self, kind: Kind) -> bool {
        match kind {
            Kind::Category => self.labels == Labels::Set,
            Kind::Number => self.numbers != Numbers::Interval,
            Kind::Date => false,
        }
    }
}

/// How a categorical box prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Labels {
    /// As the label of its hierarchy node.
    #[default]
    Node,
    /// As the set of the values that occur: `{a, b}`.
    Set,
}

/// How a box of numbers prints.
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
    /// As the middle between the least and the greatest of the group's values.
    Midpoint,
}

/// How the input is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputOptions {
    /// What stands between two cells, an ASCII character; found out from the file when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// What a cell is quoted with, an ASCII character other than the delimiter.
    pub quote: char,
    /// The texts that mean that a value is missing.
    pub missing: Vec<String>,
    /// How many people the table was drawn from, where the holder knows: at least as many as it has records.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<u64>,
}

impl Default for InputOptions {
    fn default() -> InputOptions {
        InputOptions { delimiter: None, quote: '"', missing: vec![String::new(), "?".to_owned()], population: None }
    }
}

impl Policy {
    /// Reads a policy and checks it. `known_methods` are the names that `[method]` may choose from.
    pub fn parse(text: &str, known_methods: &[&str]) -> Result<Policy, PolicyError> {
        tree::Table::parse(text)
            .and_then(|table| check::policy(&table, text, Some(known_methods)))
            .map_err(|error| error.in_text(text))
    }

    /// What the release is to be good for, as far as the policy says so.
    pub fn goals(&self) -> &[Goal] {
        self.measure.as_ref().map_or(&[], |measure| &measure.goals)
    }
}
