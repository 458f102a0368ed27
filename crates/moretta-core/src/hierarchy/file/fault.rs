//! Faults of hierarchy files. All faults of a file are listed at once, so that it is corrected in one go.

use std::fmt;

use crate::text::{count, shown};

/// Faults that a message lists; further ones are counted. Twenty lines fit a screen.
const LISTED: usize = 20;

/// The faults of a hierarchy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyFileError {
    /// The first faults, in order of the file; never empty.
    pub faults: Vec<Fault>,
    /// Number of further faults.
    pub more: u64,
}

/// One fault and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct Fault {
    /// Where the fault is.
    pub place: Place,
    /// The contradiction; its message says how to correct it.
    pub problem: HierarchyProblem,
}

/// A place in a hierarchy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A line of the file, from 1.
    Row(usize),
    /// A node of a JSON tree, with the keys and indexes (from 1) that lead to it.
    Node(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(row) => write!(f, "row {row}"),
            Self::Node(path) if path.is_empty() => f.write_str("top of the tree"),
            Self::Node(path) => f.write_str(path),
        }
    }
}

impl HierarchyFileError {
    /// An error with one fault.
    pub fn one(place: Place, problem: HierarchyProblem) -> Self {
        Self { faults: vec![Fault { place, problem }], more: 0 }
    }

    /// Line of the first fault; `None` in a JSON tree.
    pub fn row(&self) -> Option<usize> {
        match self.faults.first()?.place {
            Place::Row(row) => Some(row),
            Place::Node(_) => None,
        }
    }
}

impl fmt::Display for HierarchyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ([fault], 0) = (self.faults.as_slice(), self.more) {
            return fault.fmt(f);
        }
        write!(f, "{} faults", count(self.faults.len() as u64 + self.more))?;
        for (index, fault) in self.faults.iter().enumerate() {
            // A table of records may be given as a hierarchy: no message shows more than one of its texts.
            match fault.problem.without_label().filter(|_| index > 0) {
                Some(brief) => write!(f, "\n  {}: {brief}", fault.place)?,
                None => write!(f, "\n  {fault}")?,
            }
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n  and {} more", count(more)),
        }
    }
}

impl std::error::Error for HierarchyFileError {}

/// Collects the faults of a file.
#[derive(Debug, Default)]
pub(super) struct Faults {
    listed: Vec<Fault>,
    more: u64,
}

impl Faults {
    pub(super) fn push(&mut self, place: &Place, problem: HierarchyProblem) {
        if self.listed.len() < LISTED {
            self.listed.push(Fault { place: place.clone(), problem });
        } else {
            self.more += 1;
        }
    }

    /// Ends with an error if there are faults.
    pub(super) fn check(&mut self) -> Result<(), HierarchyFileError> {
        if self.listed.is_empty() {
            return Ok(());
        }
        Err(HierarchyFileError { faults: std::mem::take(&mut self.listed), more: self.more })
    }
}

impl HierarchyProblem {
    /// The message with a field instead of its text; `None` if the message shows no text.
    fn without_label(&self) -> Option<String> {
        match self {
            Self::LeafTwice { earlier, .. } => Some(format!("the value has another path in {earlier}")),
            Self::TwoParents { field, earlier, .. } => {
                Some(format!("the group in field {field} has another parent in {earlier}"))
            }
            _ => None,
        }
    }
}

/// The ways in which a hierarchy file can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyProblem {
    /// No rows at all.
    #[error("the file has no rows; it needs one row per value: the value, its parent, and so on up to `*`")]
    Empty,
    /// A row with another number of fields than the first.
    #[error("{found} fields where the first row has {expected}; repeat a label to fill a shorter path")]
    Ragged {
        /// Fields in this row.
        found: usize,
        /// Fields in the first row.
        expected: usize,
    },
    /// A row with one field.
    #[error("one field; a row needs at least a value and `*`, separated by `;`, tab or `,`")]
    OneField,
    /// An empty field.
    #[error("field {field} is empty; every level needs a label")]
    EmptyField {
        /// The field, from 1.
        field: usize,
    },
    /// A row that does not end in the root.
    ///
    /// The field is not shown: a file of records with another delimiter has the whole record in it.
    #[error("the last field is not that of the other rows; all rows must end in the same label, usually `*`")]
    NoRoot,
    /// The label `*` below the root.
    #[error("`*` is in field {field}; it is the root and must be the last field")]
    RootBelow {
        /// The field, from 1.
        field: usize,
    },
    /// A value with two paths.
    #[error("the value `{}` has another path in {earlier}; each value has one", shown(.leaf))]
    LeafTwice {
        /// Label of the value.
        leaf: String,
        /// Its first row.
        earlier: Place,
    },
    /// A label with two parents on one level.
    #[error(
        "`{}` has another parent here than in {earlier}; released alone, the two could not be distinguished: correct \
         the parent, or give each group its own label",
        shown(.label)
    )]
    TwoParents {
        /// Label of the group.
        label: String,
        /// Its field, from 1.
        field: usize,
        /// The row of the other parent.
        earlier: Place,
    },
    /// A quote that is not closed, or text after a closing quote.
    #[error("a quoted field is not closed properly; double a quote that belongs to the text")]
    Quote,
    /// Names of levels that do not fit the rows.
    #[error("{found} names of levels for rows of {expected} fields; name each field")]
    LevelCount {
        /// Number of names.
        found: usize,
        /// Fields in a row.
        expected: usize,
    },
    /// Two levels with one name, or a level without one.
    #[error("the name `{}` of level {level} is empty or names another level, too", shown(.name))]
    LevelName {
        /// Name of the level as written.
        name: String,
        /// The level, from 1.
        level: usize,
    },
    /// Not JSON. The message names the line and shows no text of the file.
    #[error("not valid JSON: {0}")]
    Json(String),
    /// A part of a JSON tree that is neither a group nor a value.
    #[error(
        "{0} is neither a value (a text or a whole number) nor a group, such as {{\"Office\": [\"Clerk\", \"Typist\"]}}"
    )]
    JsonKind(&'static str),
    /// Names of levels that are no array of texts.
    #[error("the names of the levels are an array of texts, the values' first: [\"job\", \"branch\", \"*\"]")]
    JsonLevels,
    /// A group without values.
    #[error("the group has no values; remove it, or list its values")]
    EmptyGroup,
    /// A hierarchy of Amnesia that is computed from ranges or masks.
    #[error("a hierarchy of Amnesia of this kind has no values; use `{0}` in the policy instead of a file")]
    AmnesiaKind(&'static str),
    /// A line of a hierarchy of Amnesia that is no list of children.
    #[error("not a line like `parent has child child`")]
    AmnesiaLine,
    /// A node above itself.
    #[error("`{}` is above itself in the hierarchy; a path to the root cannot have a cycle", shown(.label))]
    Cycle {
        /// Label of the node.
        label: String,
    },
    /// More levels than a file can have.
    #[error("the tree has more than {max} levels")]
    TooDeep {
        /// Maximum number of levels.
        max: usize,
    },
}
