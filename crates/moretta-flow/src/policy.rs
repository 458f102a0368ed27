//! Reads policies and hierarchy files.

use std::path::{Path, PathBuf};

use moretta_core::{
    engine::{FaultLocation, Records},
    hierarchy::{Hierarchies, HierarchyChoice, Tree, file},
    policy::{InputOptions, PatternMatch, Policy, PolicyError, PolicyFile},
    search,
    text::shown,
};
use moretta_engine::LocalEngine;

use crate::{
    error::{ErrorKind, FlowError},
    session::Session,
};

/// A policy and the hierarchies it names, ready to be bound to a table.
#[derive(Debug, Clone)]
pub struct LoadedPolicy {
    /// Name of the policy in messages.
    pub name: String,
    /// The policy; its method and parameters are checked.
    pub policy: Policy,
    /// Hierarchies that are files, by column.
    pub hierarchies: Hierarchies,
    /// Folder that relative file names of the policy refer to.
    pub folder: PathBuf,
    /// All files that are read: the same request must not write them.
    pub files: Vec<PathBuf>,
    /// Number of lines still marked CONFIRM by `init`.
    pub unconfirmed: usize,
    /// The columns that its patterns stand for.
    pub patterns: Vec<PatternMatch>,
    /// Text of the policy file.
    pub text: String,
}

/// Records that say whether the first line is a header: a pattern could match the cells of a record.
const HEADER_RECORDS: usize = 1000;

impl LoadedPolicy {
    /// Reads a policy in which every name is that of a column; hierarchy files are found relative to it.
    pub fn read(path: &Path) -> Result<Self, FlowError> {
        Self::read_with(path, |file| Ok(file))
    }

    /// Reads a policy; `resolve` replaces its patterns.
    fn read_with(
        path: &Path,
        resolve: impl FnOnce(PolicyFile<'_>) -> Result<PolicyFile<'_>, PatternError>,
    ) -> Result<Self, FlowError> {
        let text = read_text(path, ErrorKind::Policy)?;
        let wrong = |error| FlowError::policy(path, &text, &error);
        let file = resolve(PolicyFile::parse(&text).map_err(wrong)?).map_err(|error| match error {
            PatternError::Policy(error) => wrong(error),
            PatternError::Table(error) => error,
        })?;
        let policy = file.policy(&search::method_names()).map_err(wrong)?;
        let patterns = file.matches().to_vec();
        search::method_of(&policy).map_err(wrong)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let (mut hierarchies, mut files) = (Hierarchies::default(), vec![path.to_owned()]);
        for column in &policy.columns {
            if let HierarchyChoice::File(name) = &column.hierarchy {
                let file = folder.join(name);
                let tree = read_hierarchy(&file).map_err(|mut error| {
                    error.message += &format!(" (the hierarchy of `{}`)", shown(&column.name));
                    error
                })?;
                hierarchies.insert(column.name.clone(), tree);
                files.push(file);
            }
        }
        files.extend(second_tables(&policy, folder).into_iter().map(|(_, file)| file));
        let unconfirmed = text.lines().filter(|line| line.contains("# CONFIRM")).count();
        let (name, folder) = (path.display().to_string(), folder.to_owned());
        Ok(Self { name, policy, hierarchies, folder, files, unconfirmed, patterns, text })
    }
}

/// Why patterns cannot be replaced.
enum PatternError {
    Policy(PolicyError),
    Table(FlowError),
}

impl Session<'_> {
    /// Reads a policy for a table; its patterns stand for columns of the table.
    pub fn policy_for(&self, policy: &Path, table: &str) -> Result<LoadedPolicy, FlowError> {
        self.policy_with_columns(policy, false, |input| self.open(table, input))
    }

    /// Reads a policy for a released file, which lacks the columns that are never released.
    pub fn policy_for_release(&self, policy: &Path, release: &str) -> Result<LoadedPolicy, FlowError> {
        self.policy_with_columns(policy, true, |input| self.open_release(release, input))
    }

    fn policy_with_columns(
        &self,
        policy: &Path,
        released: bool,
        open: impl FnOnce(&InputOptions) -> Result<LocalEngine, FlowError>,
    ) -> Result<LoadedPolicy, FlowError> {
        LoadedPolicy::read_with(policy, |file| {
            if !file.has_patterns() {
                return Ok(file);
            }
            let table = open(&file.input().map_err(PatternError::Policy)?).map_err(PatternError::Table)?;
            let sample = table.sample(HEADER_RECORDS).map_err(|fault| PatternError::Table(fault.into()))?;
            let facts = moretta_guess::facts(&sample.columns, &sample.rows);
            if let Some(found) = moretta_guess::name_like_a_value(&facts) {
                return Err(PatternError::Table(FlowError::headerless(table.name(), found)));
            }
            file.resolve(table.columns(), released).map_err(PatternError::Policy)
        })
    }
}

/// Returns the second tables that the models of a policy need: name and file of each.
pub(crate) fn second_tables(policy: &Policy, folder: &Path) -> Vec<(String, PathBuf)> {
    let mut names: Vec<String> = policy.privacy.models.iter().flat_map(|model| model.second_tables()).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| (name.clone(), folder.join(name))).collect()
}

/// Reads a text file, which must be UTF-8.
pub(crate) fn read_text(path: &Path, kind: ErrorKind) -> Result<String, FlowError> {
    let bytes = std::fs::read(path).map_err(|error| FlowError::io("read", path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let file = path.display().to_string();
        let message = format!("{file}, line {line}: not UTF-8 text; save the file as UTF-8");
        FlowError { kind, place: Some(FaultLocation { line: Some(line), ..FaultLocation::file(file) }), message }
    })
}

/// Reads a hierarchy file.
pub fn read_hierarchy(path: &Path) -> Result<Tree, FlowError> {
    file::parse(&read_text(path, ErrorKind::Policy)?).map_err(|error| {
        let file = path.display().to_string();
        let message = format!("{file}, {error}");
        let place = FaultLocation { line: Some(error.row as u64), ..FaultLocation::file(file) };
        FlowError { kind: ErrorKind::Policy, place: Some(place), message }
    })
}
