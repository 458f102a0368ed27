//! Reads policies and hierarchy files.

use std::{
    ops::Deref,
    path::{Path, PathBuf},
};

use moretta_core::{
    encoding::Encoding,
    engine::{FaultLocation, Records},
    hierarchy::{
        Hierarchies, HierarchyChoice,
        file::{self, FileNote, HierarchyFile},
    },
    observer::Note,
    policy::{InputOptions, PatternMatch, Policy, PolicyError, PolicyFile, ReleaseOptions},
    search,
    text::shown,
};
use moretta_engine::decode_text;

use crate::{
    error::{ErrorKind, FlowError},
    input::{Input, PolicySource, PolicyValue},
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
    /// Notes on readings of the hierarchy files that a user may not expect.
    pub notes: Vec<Note>,
}

/// Records that say whether the first line is a header: a pattern could match the cells of a record.
const HEADER_RECORDS: usize = 1000;

impl LoadedPolicy {
    /// Reads a policy in which every name is that of a column; hierarchy files are found relative to it.
    pub fn read(path: &Path) -> Result<Self, FlowError> {
        Self::read_with(&path.to_path_buf().into(), |file| Ok(file))
    }

    /// Reads a policy; `resolve` replaces its patterns.
    fn read_with(
        source: &PolicySource,
        resolve: impl FnOnce(PolicyFile<'_>) -> Result<PolicyFile<'_>, PatternError>,
    ) -> Result<Self, FlowError> {
        let none = Hierarchies::default();
        let (path, folder, text, given) = match source {
            PolicySource::File(path) => {
                let folder = path.parent().unwrap_or(Path::new(""));
                (path, folder, read_text(path, ErrorKind::Policy)?, &none)
            }
            PolicySource::Value(PolicyValue { name, text, folder, hierarchies }) => {
                (name, &**folder, text.clone(), hierarchies)
            }
        };
        let wrong = |error| FlowError::policy(path, &text, &error);
        let file = resolve(PolicyFile::parse(&text).map_err(wrong)?).map_err(|error| match error {
            PatternError::Policy(error) => wrong(error),
            PatternError::Table(error) => error,
        })?;
        let policy = file.policy(&search::method_names()).map_err(wrong)?;
        let patterns = file.matches().to_vec();
        search::method_of(&policy).map_err(wrong)?;
        let (mut hierarchies, mut files, mut notes) = (Hierarchies::default(), Vec::new(), Vec::new());
        if matches!(source, PolicySource::File(_)) {
            files.push(path.clone());
        }
        for column in &policy.columns {
            if let HierarchyChoice::File(name) = &column.hierarchy {
                if let Some(tree) = given.get(&column.name) {
                    hierarchies.insert(column.name.clone(), tree.clone());
                    continue;
                }
                let file = folder.join(name);
                let mut read =
                    read_hierarchy(&file, Some(&column.name), policy.input.encoding).map_err(|mut error| {
                        let first_line = error.message.find('\n').unwrap_or(error.message.len());
                        error.message.insert_str(first_line, &format!(" (the hierarchy of `{}`)", shown(&column.name)));
                        error
                    })?;
                // `hierarchy show` says this; in every run it would be noise.
                read.notes.retain(|note| !matches!(note, FileNote::Root { .. }));
                notes.extend(hierarchy_notes(&file, &read));
                hierarchies.insert(column.name.clone(), read.tree);
                files.push(file);
            }
        }
        files.extend(second_tables(&policy, folder).into_iter().map(|(_, file)| file));
        let unconfirmed = text.lines().filter(|line| line.contains("# CONFIRM")).count();
        let (name, folder) = (path.display().to_string(), folder.to_owned());
        Ok(Self { name, policy, hierarchies, folder, files, unconfirmed, patterns, text, notes })
    }
}

/// Checks a policy without a table; one with patterns can only be checked as far as its syntax. The files that it names
/// are not read.
pub fn check_policy(value: &PolicyValue) -> Result<(), FlowError> {
    let wrong = |error| FlowError::policy(&value.name, &value.text, &error);
    let file = PolicyFile::parse(&value.text).map_err(wrong)?;
    if !file.has_patterns() {
        search::method_of(&file.policy(&search::method_names()).map_err(wrong)?).map_err(wrong)?;
    }
    Ok(())
}

/// Why patterns cannot be replaced.
enum PatternError {
    Policy(PolicyError),
    Table(FlowError),
}

impl Session<'_> {
    /// Reads a policy for a table; its patterns stand for columns of the table.
    pub fn policy_for(&self, policy: &PolicySource, table: &Input) -> Result<LoadedPolicy, FlowError> {
        self.policy_with_columns(policy, false, |input, _| self.open(table, input).map(Box::new))
    }

    /// Reads a policy for a released file, which lacks the columns that are never released.
    pub fn policy_for_release(&self, policy: &PolicySource, release: &Input) -> Result<LoadedPolicy, FlowError> {
        let open = |input: &_, options: &_| self.open_release_of(release, input, options).map(Box::new);
        self.policy_with_columns(policy, true, open)
    }

    /// Reads a policy for any engine's records; `released` if they are a release.
    pub fn policy_for_records(
        &self,
        policy: &PolicySource,
        table: &dyn Records,
        released: bool,
    ) -> Result<LoadedPolicy, FlowError> {
        self.policy_with_columns(policy, released, |_, _| Ok(table))
    }

    fn policy_with_columns<T: Deref<Target: Records>>(
        &self,
        policy: &PolicySource,
        released: bool,
        open: impl FnOnce(&InputOptions, &ReleaseOptions) -> Result<T, FlowError>,
    ) -> Result<LoadedPolicy, FlowError> {
        let loaded = LoadedPolicy::read_with(policy, |file| {
            if !file.has_patterns() {
                return Ok(file);
            }
            let (input, release) = file.tables().map_err(PatternError::Policy)?;
            let table = open(&input, &release).map_err(PatternError::Table)?;
            let sample = table.sample(HEADER_RECORDS).map_err(|fault| PatternError::Table(fault.into()))?;
            let facts = moretta_guess::facts(&sample.columns, &sample.rows);
            if let Some(found) = moretta_guess::name_like_a_value(&facts).filter(|_| input.header) {
                return Err(PatternError::Table(FlowError::headerless(table.name(), found)));
            }
            file.resolve(table.columns(), released).map_err(PatternError::Policy)
        })?;
        loaded.notes.iter().for_each(|note| self.observer.note(note));
        Ok(loaded)
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
        not_text(path, kind, before, "UTF-8 text; save the file as UTF-8")
    })
}

/// Error of a file that is not text after the bytes `before`.
fn not_text(path: &Path, kind: ErrorKind, before: &[u8], right: &str) -> FlowError {
    let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let file = path.display().to_string();
    let message = format!("{file}, line {line}: not {right}");
    FlowError { kind, place: Some(FaultLocation { line: Some(line), ..FaultLocation::file(file) }), message }
}

/// First bytes of files that are no text, and what they are: hierarchies are exported under names such as these.
const BINARY: &[(&[u8], &str)] = &[
    (
        b"\xac\xed\x00\x05",
        "a hierarchy specification of ARX (.ahs, serialized Java objects), which only ARX reads; export the hierarchy \
         there as CSV",
    ),
    (
        b"PK\x03\x04",
        "an archive, such as a project of ARX (.deid) or a spreadsheet (.xlsx); export the hierarchy as CSV",
    ),
];

/// Reads a hierarchy file: a JSON tree if it is named `.json`, otherwise text with a row per value. `column` is the
/// column that it is for; by default the file is named like it. A file that is not UTF-8 and has no byte order mark is
/// read in `encoding`.
pub fn read_hierarchy(
    path: &Path,
    column: Option<&str>,
    encoding: Option<Encoding>,
) -> Result<HierarchyFile, FlowError> {
    let bytes = std::fs::read(path).map_err(|error| FlowError::io("read", path, &error))?;
    if let Some((_, what)) = BINARY.iter().find(|(start, _)| bytes.starts_with(start)) {
        return Err(FlowError::of_file(ErrorKind::Policy, path.display(), format_args!("this is {what}")));
    }
    let before = |offset: u64| bytes.get(..offset as usize).unwrap_or_default();
    let text = decode_text(bytes.clone(), encoding).map_err(|bad| {
        let right = match encoding.filter(|encoding| !encoding.is_utf8()) {
            None => "UTF-8 text; save the file as UTF-8, or set `encoding` in [input] of the policy".to_owned(),
            Some(encoding) => format!("text in {}, the `encoding` of [input]; save the file as UTF-8", encoding.name()),
        };
        not_text(path, ErrorKind::Policy, before(bad.found.map_or(0, |(_, offset)| offset)), &right)
    })?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    let read = if is_json { file::read_json(&text) } else { file::read(&text, column.or(stem.as_deref())) };
    read.map_err(|error| {
        let file = path.display().to_string();
        let message = match error.faults.as_slice() {
            [_] => format!("{file}, {error}"),
            _ => format!("{file}: {error}"),
        };
        let place = FaultLocation { line: error.row().map(|row| row as u64), ..FaultLocation::file(file) };
        FlowError { kind: ErrorKind::Policy, place: Some(place), message }
    })
}

/// Notes on how a hierarchy file was read.
pub(crate) fn hierarchy_notes(path: &Path, read: &HierarchyFile) -> Vec<Note> {
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let note = |note: &FileNote| Note::HierarchyFile { file: file.to_string(), reading: note.to_string() };
    read.notes.iter().map(note).collect()
}
