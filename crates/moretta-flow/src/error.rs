//! Errors of requests: a kind for programs, a place, and a message for people.

use std::{fmt, path::Path};

use moretta_core::{
    engine::{EngineFault, FaultKind, FaultLocation},
    hierarchy::DomainError,
    policy::PolicyError,
    privacy::ModelError,
    publish::ReadBackError,
    run::RunError,
    search::SearchError,
    text::one_line,
    verify::VerifyError,
};
use moretta_engine::EngineError;
use moretta_insight::{evaluate::TestError, tradeoff::TradeOffError};

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowError {
    /// For programs: exit codes, exception classes, HTTP statuses.
    pub kind: ErrorKind,
    /// The file, record or column at fault, if there is one.
    pub place: Option<FaultLocation>,
    /// For people: what is wrong, where, and what to do. It shows at most one cell of the data.
    pub message: String,
}

/// The kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is invalid, or names files that cannot be read or written.
    Usage,
    /// The policy, or a hierarchy file that it names, is wrong.
    Policy,
    /// The request needs more memory than it may use.
    Memory,
    /// The data is not what the policy declares, or cannot be read.
    Input,
    /// The data does not or cannot satisfy the policy.
    Unsatisfied,
    /// The observer requested a stop.
    Interrupted,
    /// A defect of moretta.
    Internal,
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FlowError {}

impl FlowError {
    /// An error without a place.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, place: None, message: message.into() }
    }

    /// An invalid request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// A request that needs more memory than it may use.
    pub fn memory(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Memory, message)
    }

    /// The data does not or cannot satisfy the policy.
    pub fn unsatisfied(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsatisfied, message)
    }

    /// The observer requested a stop.
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted; nothing was written")
    }

    /// An error of one file; the message starts with its name.
    pub fn of_file(kind: ErrorKind, file: impl fmt::Display, message: impl fmt::Display) -> Self {
        let file = file.to_string();
        Self { kind, message: format!("{}: {message}", one_line(&file)), place: Some(FaultLocation::file(file)) }
    }

    /// Wrong data in one file.
    pub fn input(file: impl fmt::Display, message: impl fmt::Display) -> Self {
        Self::of_file(ErrorKind::Input, file, message)
    }

    /// A first line that looks like a record, by its first column with a value: its number (from 1) and the reason. The
    /// line is not shown, because it may be a record of a person.
    pub fn headerless(file: impl fmt::Display, (number, reason): (usize, &str)) -> Self {
        Self::input(
            file,
            format_args!(
                "column {number} of the first line does not look like a name: {reason}; add a header line with the names \
                 of the columns"
            ),
        )
    }

    /// A file that cannot be read or written.
    pub fn io(action: &str, path: &Path, error: &std::io::Error) -> Self {
        let file = path.display().to_string();
        let message = format!("cannot {action} {}: {error}", one_line(&file));
        Self { kind: ErrorKind::Usage, place: Some(FaultLocation::file(file)), message }
    }

    /// A wrong policy. The line is shown only if the file is named .toml: lines of a data file are records of people.
    pub fn policy(path: &Path, text: &str, error: &PolicyError) -> Self {
        let help = error.help.as_deref().map_or(String::new(), |help| format!("\n  help: {help}"));
        let is_policy = path.extension().is_some_and(|extension| extension == "toml");
        let shown = error.line_column(text).filter(|_| is_policy);
        let shown = shown.and_then(|at| Some((at, text.lines().nth(at.0 - 1)?)));
        let name = path.display().to_string();
        let file = one_line(&name);
        let message = match shown {
            Some(((line, column), shown)) => {
                let marked = marked(error, text, shown, (line, column));
                format!("{file}, line {line}: {}\n{marked}{help}", error.message)
            }
            None => {
                let line = error.line().map_or(String::new(), |line| format!(", line {line}"));
                format!("{file}{line}: {}{help}", error.message)
            }
        };
        let line = error.line().map(|line| line as u64);
        let place = Some(FaultLocation { line, ..FaultLocation::file(name) });
        Self { kind: ErrorKind::Policy, place, message }
    }

    /// Data that does not fit its declaration.
    pub fn domain(file: &str, error: &DomainError) -> Self {
        let place =
            FaultLocation { record: error.record, column: Some(error.column.clone()), ..FaultLocation::file(file) };
        Self { kind: ErrorKind::Input, place: Some(place), message: format!("{}: {error}", one_line(file)) }
    }

    /// An error of training or testing. If `test` is `None`, some records of the input were held out, and a search that
    /// fails on the others may succeed on all.
    pub fn test(error: TestError, input: &str, test: Option<&str>) -> Self {
        match error {
            TestError::Train(error) => Self::domain(input, &error),
            TestError::Test(error) => Self::domain(test.unwrap_or(input), &error),
            TestError::Run(error) => {
                let mut error = Self::from(error);
                if test.is_none() {
                    error.message = format!("on the training records (without those held out): {}", error.message);
                }
                error
            }
            error => Self::new(ErrorKind::Input, error.to_string()),
        }
    }
}

/// Maximum characters of a policy's line in a message: two lines of a terminal. Not tuned.
const MAX_LINE: usize = 160;

/// Returns the wrong line of the policy, with the place marked below it. Of a long line, the part around the place.
fn marked(error: &PolicyError, text: &str, shown: &str, (line, column): (usize, usize)) -> String {
    let characters: Vec<char> = shown.chars().collect();
    let at = (column - 1).min(characters.len());
    let first = if characters.len() > MAX_LINE { at.saturating_sub(MAX_LINE / 2) } else { 0 };
    let end = (first + MAX_LINE).min(characters.len());
    let cut = |is_cut: bool| if is_cut { ".." } else { "" };
    let (left, right) = (cut(first > 0), cut(end < characters.len()));
    let part: String = characters[first..end].iter().collect();
    let length = error.span.as_ref().map_or(1, |span| text[span.clone()].lines().next().unwrap_or("").chars().count());
    let marks = "^".repeat(length.clamp(1, (end - at).max(1)));
    let gutter = line.to_string();
    let (blank, below) = (" ".repeat(gutter.len()), " ".repeat(left.len()));
    let before: String = characters[first..at].iter().map(|c| if *c == '\t' { '\t' } else { ' ' }).collect();
    format!("  {gutter} | {left}{part}{right}\n  {blank} | {below}{before}{marks}")
}

impl From<EngineFault> for FlowError {
    fn from(fault: EngineFault) -> Self {
        let message = fault.to_string();
        match fault {
            EngineFault::Cancelled => Self::interrupted(),
            EngineFault::Failed { kind: FaultKind::Source, place, .. } => {
                Self { kind: ErrorKind::Input, place, message }
            }
            EngineFault::Failed { kind: FaultKind::Usage, place, .. } => {
                Self { kind: ErrorKind::Usage, place, message }
            }
            _ => Self::new(ErrorKind::Internal, message),
        }
    }
}

impl From<EngineError> for FlowError {
    fn from(error: EngineError) -> Self {
        EngineFault::from(error).into()
    }
}

impl From<SearchError> for FlowError {
    fn from(error: SearchError) -> Self {
        let kind = match error {
            SearchError::Impossible { .. } => ErrorKind::Unsatisfied,
            _ => ErrorKind::Policy,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<ModelError> for FlowError {
    fn from(error: ModelError) -> Self {
        Self::new(ErrorKind::Policy, error.to_string())
    }
}

/// For requests that write no release.
impl From<RunError> for FlowError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Search(error) => error.into(),
            error @ RunError::Verify(_) => Self::unsatisfied(error.to_string()),
            error => Self::new(ErrorKind::Policy, error.to_string()),
        }
    }
}

/// For requests that write a release.
impl From<VerifyError> for FlowError {
    fn from(error: VerifyError) -> Self {
        Self::unsatisfied(format!("nothing was written: {error}"))
    }
}

impl From<TradeOffError> for FlowError {
    fn from(error: TradeOffError) -> Self {
        match error {
            TradeOffError::Interrupted => Self::interrupted(),
            TradeOffError::Search(error) => error.into(),
            TradeOffError::Policy(error) => Self::new(ErrorKind::Policy, error.to_string()),
            error => Self::usage(error.to_string()),
        }
    }
}

impl From<ReadBackError> for FlowError {
    fn from(error: ReadBackError) -> Self {
        match error {
            ReadBackError::Engine(fault) => fault.into(),
            ReadBackError::Model(error) => error.into(),
            error => Self::unsatisfied(format!("verification failed: {error}; output discarded")),
        }
    }
}

#[cfg(test)]
mod tests {
    use moretta_core::{policy::Policy, search::method_names};

    use super::*;

    /// The message about a policy with this line.
    fn message(line: &str) -> String {
        let policy = format!("version = 1\ncolumns.a.role = \"quasi-identifier\"\n{line}\n");
        let error = Policy::parse(&policy, &method_names()).expect_err("a wrong policy");
        FlowError::policy(Path::new("p.toml"), &policy, &error).message
    }

    #[test]
    fn the_place_in_the_policy_is_marked() {
        let found = message("privacy = { k = 0 }");
        assert!(found.ends_with("\n  3 | privacy = { k = 0 }\n    |                 ^"), "{found}");
    }

    /// Found by the fuzzer: a line of 200 kB was shown whole.
    #[test]
    fn of_a_long_line_the_part_around_the_place_is_shown() {
        let list = vec!["9223372036854775807"; 5000].join(", ");
        let found = message(&format!("privacy.k = [{list}]"));
        assert!(found.contains("\n  3 | privacy.k = [9223372036854775807, ") && found.contains("..\n"), "{found}");
        assert!(found.len() < 600, "{found}");
        let found = message(&format!("privacy = {{ max-suppressed = 0{}, k = \"no\" }}", " ".repeat(5000)));
        let shown: Vec<&str> = found.lines().skip(1).collect();
        assert!(shown[0].starts_with("  3 | ..  ") && shown[0].len() < 200, "{found}");
        assert_eq!(shown[0].find("\"no\""), shown[1].find("^^^^"), "{found}");
    }
}
