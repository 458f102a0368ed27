//! `hierarchy`: builds a hierarchy for a column, checks one against a column, or writes one in another form.

use std::path::{Path, PathBuf};

use moretta_core::{
    counts::CountedColumn,
    encoding::Encoding,
    engine::Records,
    hierarchy::{
        Decimal, DomainError, DomainProblem, HierarchyChoice, Tree, ValueParser, build_tree,
        draw::{self, Finding},
        file::{self, Form, HierarchyFile},
        numeric::{Builder, Built, widths},
    },
    notation::Notation,
    observer::Stage,
    policy::InputOptions,
    schema::Kind,
    text::{at_record, count, shown},
};
use moretta_engine::LocalEngine;

use crate::{
    error::FlowError,
    files::OutputFile,
    input::Input,
    policy::{hierarchy_notes, read_hierarchy},
    session::Session,
};

/// Maximum size of a hierarchy file in bytes, because its reader keeps the path of every value in memory; not tuned.
const MAX_BYTES: u64 = 100_000_000;

/// Request of `moretta hierarchy build`.
#[derive(Debug, Clone)]
pub struct BuildHierarchy {
    /// Table that is read.
    pub input: Input,
    /// Column to build the hierarchy for.
    pub column: String,
    /// Texts that mean a missing value, besides the default ones.
    pub missing: Vec<String>,
    /// Type of the column and format of its dates.
    pub reading: ValueParser,
    /// Builder and its parameters.
    pub choice: HierarchyChoice,
    /// The hierarchy file.
    pub output: OutputFile,
}

/// Request of `moretta hierarchy check`.
#[derive(Debug, Clone)]
pub struct CheckHierarchy {
    /// The hierarchy file.
    pub file: PathBuf,
    /// Table that is read.
    pub input: Input,
    /// The column; by default it is named like the hierarchy file.
    pub column: Option<String>,
    /// Texts that mean a missing value, besides the default ones.
    pub missing: Vec<String>,
}

/// Request of `moretta hierarchy convert`.
#[derive(Debug, Clone)]
pub struct ConvertHierarchy {
    /// The hierarchy file.
    pub file: PathBuf,
    /// The column; by default it is named like the hierarchy file.
    pub column: Option<String>,
    /// Form of the output; by default that of the extension of `output`.
    pub form: Option<Form>,
    /// The hierarchy file to write.
    pub output: OutputFile,
}

/// Result of checking a hierarchy against a column.
#[derive(Debug)]
pub struct CheckedHierarchy {
    /// Name of the checked column.
    pub column: String,
    /// Number of distinct values of the column.
    pub values: usize,
    /// The hierarchy of the file.
    pub tree: Tree,
    /// Values without a leaf and leaves without a value.
    pub findings: Vec<Finding>,
}

impl Session<'_> {
    /// Builds the hierarchy that a policy would build, and writes it if there is an output file.
    pub fn build_hierarchy(&self, request: &BuildHierarchy) -> Result<Tree, FlowError> {
        self.install(|| {
            let BuildHierarchy { input, column: name, .. } = request;
            check_choice(&request.choice)?;
            let engine = self.open_with_column(input, name)?;
            request.output.check(&[], &[&engine])?;
            let (mut column, records) = self.column(&engine, name, &request.missing)?;
            if column.values.is_empty() {
                let message = format!("column `{}` has no values to build a hierarchy for", shown(name));
                return Err(FlowError::input(input, message));
            }
            // Numbers in another notation are computed in plain notation and written in theirs.
            let texts = column.values.iter().map(|text| &**text);
            let notation = Notation::that_reads(texts).filter(|_| request.reading.kind() == Kind::Number);
            let notation = notation.unwrap_or_default();
            for text in &mut column.values {
                if let Some(number) = notation.number(text).filter(|_| !notation.is_plain()) {
                    *text = number.into();
                }
            }
            let tree = build_tree(&column, &records, &request.reading, &request.choice).map_err(|error| FlowError {
                message: format!("{input}: {}", described(&error)),
                ..FlowError::domain(input.name(), &error)
            })?;
            let tree = tree.ok_or_else(|| FlowError::usage("this method builds no hierarchy"))?;
            let tree = tree.relabeled(|label| (!notation.is_plain()).then(|| notation.write(label).into_owned()));
            check_size(name, &tree)?;
            request.output.write(|| file::write(&tree))?;
            Ok(tree)
        })
    }

    /// Reads a hierarchy file and notes how it was read. `column` is the column that it is for; by default it is named
    /// like the file.
    pub fn read_hierarchy(&self, path: &Path, column: Option<&str>) -> Result<HierarchyFile, FlowError> {
        // Without a policy, a file that is not UTF-8 most likely comes from a spreadsheet of Western Europe.
        let read = read_hierarchy(path, column, Some(Encoding::Windows1252))?;
        hierarchy_notes(path, &read).iter().for_each(|note| self.observer.note(note));
        Ok(read)
    }

    /// Writes a hierarchy file in another form, without repeated rows, with the labels that are released.
    pub fn convert_hierarchy(&self, request: &ConvertHierarchy) -> Result<(HierarchyFile, String), FlowError> {
        self.install(|| {
            let ConvertHierarchy { file: path, column, form, output } = request;
            output.check(std::slice::from_ref(path), &[])?;
            let form = match (form, &output.path) {
                (Some(form), _) => *form,
                (None, Some(output)) => form_of(output)?,
                (None, None) => Form::Delimited(';'),
            };
            let read = self.read_hierarchy(path, column.as_deref())?;
            let name = column.clone().unwrap_or_else(|| path.display().to_string());
            check_size(&name, &read.tree)?;
            let text = read.write(form).map_err(|error| FlowError::usage(format!("{}: {error}", path.display())))?;
            output.write(|| text.clone())?;
            Ok((read, text))
        })
    }

    /// Compares a hierarchy file with a column's values.
    pub fn check_hierarchy(&self, request: &CheckHierarchy) -> Result<CheckedHierarchy, FlowError> {
        self.install(|| {
            let read = self.read_hierarchy(&request.file, request.column.as_deref())?;
            let stem = request.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let name = request.column.clone().or(stem).unwrap_or_default();
            let engine = self.open_with_column(&request.input, &name)?;
            let (column, records) = self.column(&engine, &name, &request.missing).map_err(|mut error| {
                if request.column.is_none() && !engine.columns().contains(&name) {
                    error.message += "; by default the column is named like the file; use `--column` to name another";
                }
                error
            })?;
            let pairs: Vec<(&str, u64)> = column.values.iter().map(|value| &**value).zip(records).collect();
            let findings = draw::check(&read.tree, &pairs);
            Ok(CheckedHierarchy { column: name, values: pairs.len(), tree: read.tree, findings })
        })
    }

    /// Returns the distinct values of a column in order of first occurrence, and the number of records of each. Missing
    /// values are omitted: they have a separate leaf.
    fn column(
        &self,
        engine: &LocalEngine,
        name: &str,
        missing: &[String],
    ) -> Result<(CountedColumn, Vec<u64>), FlowError> {
        let default = InputOptions::default().missing;
        self.observer.stage(Stage::Reading);
        let counts = engine.count(&[name.to_owned()], self.observer)?;
        let mut rows: Vec<usize> = (0..counts.rows()).collect();
        rows.sort_unstable_by_key(|&row| counts.first_record(row));
        let mut column = CountedColumn { name: name.to_owned(), ..CountedColumn::default() };
        let mut records = Vec::new();
        for row in rows {
            let text = &counts.columns[0].values[counts.row(row)[0] as usize];
            if !default.iter().chain(missing).any(|missing| **missing == **text) {
                column.values.push(text.clone());
                if let Some(first) = counts.first_record(row) {
                    column.first_records.get_or_insert_default().push(first);
                }
                records.push(counts.counts[row]);
            }
        }
        Ok((column, records))
    }
}

/// The form of a file by its extension.
fn form_of(path: &Path) -> Result<Form, FlowError> {
    match path.extension().and_then(|ending| ending.to_str()).map(str::to_lowercase).as_deref() {
        Some("csv" | "txt") => Ok(Form::Delimited(';')),
        Some("tsv" | "tab") => Ok(Form::Delimited('\t')),
        Some("json") => Ok(Form::Json),
        _ => Err(FlowError::usage(format!(
            "{}: a hierarchy is written as .csv, .tsv or .json; use one of these extensions",
            path.display()
        ))),
    }
}

/// Applies the checks that a policy would, with flags instead of keys in the messages.
fn check_choice(choice: &HierarchyChoice) -> Result<(), FlowError> {
    let ascend = |edges: &[Decimal]| edges.windows(2).all(|pair| pair[0] < pair[1]);
    let problem = match choice {
        HierarchyChoice::Widths(widths) if widths.is_empty() => {
            "`--method widths` needs `--widths`, for example --widths 5,10,20"
        }
        HierarchyChoice::Widths(widths) if !widths.iter().all(Decimal::is_positive) => {
            "--widths: every width must be a number above 0"
        }
        HierarchyChoice::Widths(widths) if !widths.windows(2).all(|pair| widths::nests(&pair[0], &pair[1])) => {
            "--widths: each must be a multiple of the one before, so that levels nest, for example 5,10,20"
        }
        HierarchyChoice::Bins(edges) if edges.len() < 2 => {
            "`--method bins` needs `--bins` with at least two edges, for example --bins 0,18,65,120"
        }
        HierarchyChoice::Bins(edges) if !ascend(edges) => "--bins: the edges must ascend, for example 0,18,65,120",
        HierarchyChoice::Built(Built {
            builder: Builder::EqualWidth(parts) | Builder::EqualFrequency(parts), ..
        }) => {
            let nest = parts.windows(2).all(|pair| pair[0] > pair[1] && pair[0].is_multiple_of(pair[1]));
            if parts.iter().any(|parts| *parts < 2) {
                "--parts: every level needs at least 2 parts"
            } else if nest {
                return Ok(());
            } else {
                "--parts: each must be a multiple of the next, so that levels nest, for example 32,16,8,4,2"
            }
        }
        HierarchyChoice::Dates(levels) if !levels.windows(2).all(|pair| pair[0] < pair[1]) => {
            "--dates: list each level once, finest first: day,month,quarter,year,decade"
        }
        HierarchyChoice::Prefix(lengths) if lengths.is_empty() => {
            "`--method prefix` needs `--prefix`, for example --prefix 5,3,2"
        }
        HierarchyChoice::Prefix(lengths) if !lengths.windows(2).all(|pair| pair[0] > pair[1]) => {
            "--prefix: each length must be smaller than the one before, for example 5,3,2"
        }
        _ => return Ok(()),
    };
    Err(FlowError::usage(problem))
}

/// Returns the message with flags instead of policy keys.
fn described(error: &DomainError) -> String {
    let place = format!("column `{}`{}", shown(&error.column), at_record(error.record));
    match &error.problem {
        DomainProblem::NotANumber { value } => format!(
            "{place}: `{0}` is not a number; use `--type date` for dates (with `--format` unless they are written like 1984-03-31), `--method prefix` for codes, or `--missing {0}` if it means a missing value",
            shown(value)
        ),
        DomainProblem::NotADate { value, format } => {
            let like = format.as_deref().unwrap_or("1984-03-31 or 1984-03-31T12:30");
            let value = shown(value);
            format!(
                "{place}: `{value}` is not a date written like {like}, or there is no such day; correct it, set the date format, for example `--format %d.%m.%Y`, or use `--missing {value}` if it means a missing value"
            )
        }
        _ => error.to_string(),
    }
}

/// Refuses a hierarchy whose file would be too large: it lists the full path of every value.
fn check_size(column: &str, tree: &Tree) -> Result<(), FlowError> {
    let bytes = file::bytes(tree);
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let draw::Summary { leaves, levels, .. } = draw::summary(tree);
    Err(FlowError::usage(format!(
        "the hierarchy file of `{}` would have {} MB ({} levels for each of {} values); limit the levels, for example with --levels 6",
        shown(column),
        count(bytes / 1_000_000),
        count(levels as u64),
        count(leaves as u64),
    )))
}
