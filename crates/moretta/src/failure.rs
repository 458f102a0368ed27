//! What goes wrong, as the user sees it: one message and an exit code. Typed errors end here.

use std::path::Path;

use moretta_core::{
    evaluate::TestError,
    hierarchy::{DomainError, file::HierarchyFileError},
    policy::PolicyError,
    privacy::ModelError,
    search::SearchError,
    trial::TrialError,
    verify::VerifyError,
};
use moretta_engine::EngineError;

/// A message and the exit code it goes with.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// 1: the data does not satisfy the policy, or cannot. 2: bad usage or input. 101: a fault of moretta's own. 130:
    /// interrupted.
    pub code: u8,
    /// One clear message; further lines only to show the place.
    pub message: String,
}

/// The data does not satisfy the policy, or cannot.
pub const UNSATISFIED: u8 = 1;
/// Bad usage or input.
pub const BAD_INPUT: u8 = 2;
/// A fault of moretta's own: the code that a panic ends with.
pub const BROKEN: u8 = 101;
/// Ctrl-C.
pub const INTERRUPTED: u8 = 130;

impl Failure {
    /// Bad usage or input.
    pub fn input(message: impl Into<String>) -> Self {
        Self { code: BAD_INPUT, message: message.into() }
    }

    /// The data does not satisfy the policy, or cannot.
    pub fn unsatisfied(message: impl Into<String>) -> Self {
        Self { code: UNSATISFIED, message: message.into() }
    }

    /// Ctrl-C.
    pub fn interrupted() -> Self {
        Self { code: INTERRUPTED, message: "interrupted; nothing was written".to_owned() }
    }

    /// A policy that is wrong, with the line shown.
    pub fn policy(path: &Path, text: &str, error: &PolicyError) -> Self {
        let help = error.help.as_deref().map_or(String::new(), |help| format!("\n  help: {help}"));
        let place = error.line_column(text);
        // A data file given as a policy by mistake: its lines are persons.
        let is_policy = path.extension().is_some_and(|extension| extension == "toml");
        let Some(((line, column), shown)) =
            place.filter(|_| is_policy).and_then(|at| Some((at, text.lines().nth(at.0 - 1)?)))
        else {
            let line = error.line().map_or(String::new(), |line| format!(", line {line}"));
            return Self::input(format!("{}{line}: {}{help}", path.display(), error.message));
        };
        let within =
            error.span.as_ref().map_or(1, |span| text[span.clone()].lines().next().unwrap_or("").chars().count());
        let room = shown.chars().count() + 1 - column.min(shown.chars().count());
        let marks = "^".repeat(within.clamp(1, room.max(1)));
        let gutter = line.to_string();
        let blank = " ".repeat(gutter.len());
        let before: String = shown.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        Self::input(format!(
            "{}, line {line}: {}\n  {gutter} | {shown}\n  {blank} | {before}{marks}{help}",
            path.display(),
            error.message,
        ))
    }

    /// Data that its declaration does not allow.
    pub fn domain(source: &str, error: &DomainError) -> Self {
        Self::input(format!("{source}: {error}"))
    }

    /// What went wrong with records to learn from and, where they are a file of their own, to test with. Where they are
    /// none, some of the input's were held back, and what cannot be done with the rest may well be done with all.
    pub fn test(error: TestError, input: &str, test: Option<&str>) -> Self {
        match error {
            TestError::Train(error) => Self::domain(input, &error),
            TestError::Test(error) => Self::domain(test.unwrap_or(input), &error),
            TestError::Trial(error) => {
                let Self { code, message } = error.into();
                let message =
                    if test.is_some() { message } else { format!("without the records held back: {message}") };
                Self { code, message }
            }
            error => Self::input(error.to_string()),
        }
    }

    /// A hierarchy file that contradicts itself.
    pub fn hierarchy(path: &Path, error: &HierarchyFileError) -> Self {
        Self::input(format!("{}, {error}", path.display()))
    }

    /// A file that cannot be read or written.
    pub fn file(action: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::input(format!("cannot {action} {}: {error}", path.display()))
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Cancelled => Self::interrupted(),
            error => Self::input(error.to_string()),
        }
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Impossible { .. } => Self::unsatisfied(error.to_string()),
            error => Self::input(error.to_string()),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::input(error.to_string())
    }
}

/// Of a command that would not have written anything.
impl From<TrialError> for Failure {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::Search(error) => error.into(),
            TrialError::Verify(error) => Self::unsatisfied(format!("what was found does not hold: {error}")),
            error => Self::input(error.to_string()),
        }
    }
}

/// Of a command that would have written a release.
impl From<VerifyError> for Failure {
    fn from(error: VerifyError) -> Self {
        Self::unsatisfied(format!("nothing was written, because {error}"))
    }
}
