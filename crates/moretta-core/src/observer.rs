//! Progress and cancellation of one job: one trait for the passes over the records and for the search.
//!
//! A front end hands an [`Observer`] to a job and to nothing else, so that several jobs can run in one process, each
//! with its own progress and its own stop request. All methods may be called from any thread of the job.

use std::{fmt, time::Instant};

use serde::{Deserialize, Serialize};

use crate::{schema::Unit, text};

/// Receives the progress of a job and can ask it to stop.
pub trait Observer: Sync {
    /// A stage begins; the progress that follows belongs to it.
    fn stage(&self, _stage: Stage) {}

    /// The unit of work that begins within the stage, such as `sweep, k = 5`.
    fn task(&self, _name: &str) {}

    /// `done` of `of` units of the current stage. Calls of several threads may arrive out of order.
    fn progress(&self, _done: u64, _of: u64) {}

    /// Best value of the search so far: the lowest objective, or the highest bound.
    fn best(&self, _value: f64) {}

    /// Something the user should know, though the job goes on.
    fn note(&self, _note: &Note) {}

    /// Whether to stop, and why. Asked at least once per block of input (about a megabyte) and per search step.
    fn stop(&self) -> Option<Stop> {
        None
    }

    /// A stop request was honored and the job goes on, with the best result so far. From now on `stop` reports new
    /// requests only. An observer that ignores this call cancels the whole job: nothing is written.
    fn clear_stop(&self) {}
}

/// Never stops a job and ignores its progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// Forwards stop requests and hides progress: for a search inside a search.
pub struct CancelOnly<'a>(pub &'a dyn Observer);

impl Observer for CancelOnly<'_> {
    fn stop(&self) -> Option<Stop> {
        self.0.stop()
    }
}

/// Stops a search at a deadline, when the observer does, or when a limit is exceeded.
pub struct Deadline<'a> {
    observer: &'a dyn Observer,
    at: Option<Instant>,
    exceeded: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl<'a> Deadline<'a> {
    /// A deadline `limit` from now; `None` is no deadline.
    pub fn after(observer: &'a dyn Observer, limit: Option<std::time::Duration>) -> Self {
        Self { observer, at: limit.and_then(|limit| Instant::now().checked_add(limit)), exceeded: None }
    }

    /// Also stops when `exceeded` returns true; it is asked as often as the observer.
    pub fn or_when(self, exceeded: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { exceeded: Some(exceeded), ..self }
    }
}

impl Observer for Deadline<'_> {
    fn stage(&self, stage: Stage) {
        self.observer.stage(stage);
    }

    fn task(&self, name: &str) {
        self.observer.task(name);
    }

    fn progress(&self, done: u64, of: u64) {
        self.observer.progress(done, of);
    }

    fn best(&self, value: f64) {
        self.observer.best(value);
    }

    fn note(&self, note: &Note) {
        self.observer.note(note);
    }

    fn stop(&self) -> Option<Stop> {
        let late = || self.at.is_some_and(|at| Instant::now() >= at);
        let exceeded = || self.exceeded.is_some_and(|exceeded| exceeded());
        self.observer.stop().or_else(|| (late() || exceeded()).then_some(Stop::OutOfTime))
    }

    fn clear_stop(&self) {
        self.observer.clear_stop();
    }
}

/// Reason why a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Nothing was left to do.
    Finished,
    /// The time limit was reached.
    OutOfTime,
    /// The observer asked for it.
    Cancelled,
}

/// A stage of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// First pass: the records are counted.
    Reading,
    /// The method searches for a recoding.
    Searching,
    /// Points of a generalization path are measured.
    Measuring,
    /// Second pass: the release is written under a temporary name.
    Writing,
    /// A release is read and checked.
    Checking,
    /// Methods, or an applied recoding and a fresh one, are compared.
    Comparing,
    /// Queries are answered.
    Asking,
    /// Several releases are linked.
    Linking,
    /// Records are grouped by sets of columns.
    Grouping,
    /// A lower bound on the loss of any release is computed.
    Bounding,
}

impl Stage {
    /// `reading`, `searching`, ..
    pub fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Searching => "searching",
            Self::Measuring => "measuring",
            Self::Writing => "writing",
            Self::Checking => "checking",
            Self::Comparing => "comparing",
            Self::Asking => "asking",
            Self::Linking => "linking",
            Self::Grouping => "grouping",
            Self::Bounding => "bounding",
        }
    }
}

/// Something the user should know before relying on a result. `Display` is the sentence for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Sensitive columns that no privacy model guards.
    Unguarded(Vec<String>),
    /// Quasi-identifiers that no privacy model assumes an attacker to know.
    TakenAsUnknown(Vec<String>),
    /// Texts of a sensitive or class column that count as spellings of fewer values.
    Folded {
        /// Name of the column.
        column: String,
        /// Number of distinct texts, missing ones aside.
        spellings: usize,
        /// Number of values that they are.
        values: usize,
    },
    /// Columns of the input whose name an earlier column has, too: their names were numbered.
    NumberedColumns(Vec<usize>),
    /// A file with this name that is read in a declared encoding of single bytes, although it is valid UTF-8.
    LooksLikeUtf8(String),
    /// A column that is read as a category, although all its texts would be numbers in another notation.
    OtherNotation {
        /// Name of the column.
        column: String,
        /// The keys of `[input]` that would make them numbers.
        keys: String,
    },
    /// Lines of the policy that still carry `init`'s mark CONFIRM.
    Unconfirmed(usize),
    /// The columns that a pattern of the policy stands for: a new column of the table may be among them.
    Pattern {
        /// The pattern.
        pattern: String,
        /// Role of the columns.
        role: String,
        /// The columns, in the order of the table.
        columns: Vec<String>,
    },
    /// How a hierarchy file was read, where a reader could expect something else.
    HierarchyFile {
        /// Name of the file.
        file: String,
        /// The reading, in words.
        reading: String,
    },
    /// Advice of a privacy model before the search, such as a group size that it implies.
    ModelAdvice(String),
    /// The search ran with this larger k, counted in this unit, because every smaller k that was tried violated a model
    /// that can only be checked after the search.
    RaisedK(u64, Unit),
    /// Fewer records are suppressed than the policy allows.
    BudgetNotUsed {
        /// Maximum number of suppressed records, at least 1.
        allowed: u64,
        /// Number of suppressed records.
        suppressed: u64,
        /// Minimum records of a group that satisfies the policy, hence of the suppressed records.
        min_records: u64,
    },
    /// The search was interrupted; its best result so far is released.
    SearchInterrupted,
    /// The search for a higher bound was interrupted; the best bound so far is reported.
    BoundInterrupted,
    /// The comparison was interrupted; the release is still written.
    ComparisonInterrupted,
    /// The policy's method has no generalization path; another method's is shown.
    NoPath {
        /// The policy's method.
        chosen: String,
        /// The method whose path is shown.
        shown: &'static str,
    },
    /// No column has the role `class`, so a comparison has no errors.
    NoClass,
    /// The release is published although it violates the policy together with earlier releases; in words.
    Linkable(String),
    /// The output shows confidential values of the data.
    Confidential {
        /// The values shown, e.g. "true answers".
        shown: &'static str,
        /// Name of the data that the values come from.
        like: String,
    },
}

/// Message for a table without a class column, whose classification error cannot be measured.
pub const NO_CLASS: &str = "no column has the role `class`, so no classifier can be trained";

/// Columns that the note on a pattern names.
const MAX_NAMED: usize = 20;

fn names(columns: &[String]) -> String {
    columns.iter().map(|name| text::shown(name)).collect::<Vec<_>>().join("`, `")
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unguarded(columns) => write!(
                f,
                "no privacy model protects the sensitive values of `{}`: all records of a group may share one value",
                names(columns)
            ),
            Self::TakenAsUnknown(columns) => write!(
                f,
                "every privacy model assumes that attackers do not know `{}`: nothing protects these quasi-identifiers",
                names(columns)
            ),
            Self::Folded { column, spellings, values } => write!(
                f,
                "`{}`: {spellings} spellings count as {values} values, because they differ only in blanks, case, \
                 Unicode form or the spelling of numbers; set `fold = false` for the column if they are different values",
                text::shown(column)
            ),
            Self::NumberedColumns(columns) => {
                let what = if columns.len() == 1 { "column" } else { "columns" };
                let numbers: Vec<String> = columns.iter().take(MAX_NAMED).map(usize::to_string).collect();
                let more = if columns.len() > MAX_NAMED { ", .." } else { "" };
                write!(
                    f,
                    "{what} {}{more} of the input: an earlier column has the same name, so the name gets a number (`x` \
                     becomes `x_2`)",
                    numbers.join(", ")
                )
            }
            Self::LooksLikeUtf8(file) => write!(
                f,
                "{file}: the policy declares another `encoding`, but the file is valid UTF-8: if letters beyond ASCII are \
                 released as `Ã¤` or `â‚¬`, remove `encoding` from the policy"
            ),
            Self::OtherNotation { column, keys } => write!(
                f,
                "`{}` is read as a category, but its values look like numbers in another notation; set {keys} in \
                 [input], or declare the column `type = \"category\"`",
                text::shown(column)
            ),
            Self::Unconfirmed(lines) => {
                write!(f, "{lines} lines of the policy are still marked CONFIRM; review them and remove the mark")
            }
            Self::Pattern { pattern, role, columns } => {
                let (pattern, role) = (text::shown(pattern), text::shown(role));
                let number = text::counted(columns.len() as u64, "column", "columns");
                write!(f, "the pattern `{pattern}` gives the role \"{role}\" to {number}")?;
                let named = &columns[..columns.len().min(MAX_NAMED)];
                let more = columns.len() - named.len();
                let more = if more > 0 { format!(" and {} more", text::count(more as u64)) } else { String::new() };
                if named.is_empty() { Ok(()) } else { write!(f, ": `{}`{more}", names(named)) }
            }
            Self::HierarchyFile { file, reading } => write!(f, "{}: {reading}", text::shown(file)),
            Self::ModelAdvice(advice) => f.write_str(advice),
            Self::RaisedK(k, unit) => {
                let unit = unit.plural();
                write!(f, "groups have at least {k} {unit}, because smaller values of k violated the policy")
            }
            Self::BudgetNotUsed { allowed, suppressed: 0, min_records } if allowed < min_records => write!(
                f,
                "`max-suppressed` allows {}, but suppressed records form a group of at least {}: none was suppressed",
                text::counted(*allowed, "record", "records"),
                text::count(*min_records)
            ),
            Self::BudgetNotUsed { allowed, suppressed, .. } => write!(
                f,
                "`max-suppressed` allows {}; {}, because the search found no lower loss with more",
                text::counted(*allowed, "record", "records"),
                match suppressed {
                    0 => "none was suppressed".to_owned(),
                    1 => "1 was suppressed".to_owned(),
                    _ => format!("{} were suppressed", text::count(*suppressed)),
                }
            ),
            Self::SearchInterrupted => f.write_str("interrupted: releasing the best result so far"),
            Self::BoundInterrupted => f.write_str("interrupted: reporting the best bound so far"),
            Self::ComparisonInterrupted => f.write_str("interrupted: comparison stopped; the release is written"),
            Self::NoPath { chosen, shown } => write!(
                f,
                "`{chosen}` has no generalization path; showing `{shown}` (to release one of its steps, name it in the \
                 policy)"
            ),
            Self::NoClass => write!(f, "{NO_CLASS}: classification errors are not compared"),
            Self::Linkable(found) => {
                write!(f, "{found}; give this release only to recipients who cannot have the others")
            }
            Self::Confidential { shown, like } => {
                write!(f, "the output shows {shown}, so it is as confidential as {like}")
            }
        }
    }
}
