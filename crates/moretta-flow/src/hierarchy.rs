//! `hierarchy`: building a hierarchy over a column's values, and checking one against them.

use std::path::PathBuf;

use moretta_core::{
    counts::CountedColumn,
    engine::Records,
    hierarchy::{
        DomainError, DomainProblem, HierarchyChoice, Tree, ValueParser, build_tree,
        draw::{self, Finding},
        file,
        numeric::{Builder, Built, widths},
    },
    observer::Stage,
    policy::InputOptions,
    text::{at_record, count},
};
use moretta_engine::LocalEngine;

use crate::{error::FlowError, files::OutputFile, policy::read_hierarchy, session::Session};

/// Largest hierarchy file: it has the path of every value to the root, and its reader keeps all of them.
const MAX_BYTES: u64 = 100_000_000;

/// `moretta hierarchy build`
#[derive(Debug, Clone)]
pub struct BuildHierarchy {
    /// A file, a folder of files, or a pattern.
    pub input: String,
    /// The column to build over.
    pub column: String,
    /// Texts that stand for a missing value, besides the usual ones.
    pub missing: Vec<String>,
    /// How the column's texts are read.
    pub reading: ValueParser,
    /// How the hierarchy is built.
    pub choice: HierarchyChoice,
    /// The hierarchy file.
    pub output: OutputFile,
}

/// `moretta hierarchy check`
#[derive(Debug, Clone)]
pub struct CheckHierarchy {
    /// The hierarchy file.
    pub file: PathBuf,
    /// A file, a folder of files, or a pattern.
    pub input: String,
    /// The column; by default it is named like the hierarchy file.
    pub column: Option<String>,
    /// Texts that stand for a missing value, besides the usual ones.
    pub missing: Vec<String>,
}

/// A hierarchy beside a column.
#[derive(Debug)]
pub struct CheckedHierarchy {
    /// The column that was compared.
    pub column: String,
    /// Distinct values of the column.
    pub values: usize,
    /// The hierarchy of the file.
    pub tree: Tree,
    /// Values without a leaf, and leaves without a value.
    pub findings: Vec<Finding>,
}

impl Session<'_> {
    /// Builds the hierarchy that a policy would give a column, and writes it as a file if asked to.
    pub fn build_hierarchy(&self, request: &BuildHierarchy) -> Result<Tree, FlowError> {
        self.install(|| {
            let BuildHierarchy { input, column: name, .. } = request;
            check_choice(&request.choice)?;
            let engine = self.open(input, &InputOptions::default())?;
            request.output.check(&[], &[&engine])?;
            let (column, records) = self.column(&engine, name, &request.missing)?;
            if column.values.is_empty() {
                let message = format!("column `{name}` has no values to build a hierarchy over");
                return Err(FlowError::input(input, message));
            }
            let tree = build_tree(&column, &records, &request.reading, &request.choice).map_err(|error| FlowError {
                message: format!("{input}: {}", described(&error)),
                ..FlowError::domain(input, &error)
            })?;
            let tree = tree.ok_or_else(|| FlowError::usage("this choice has no hierarchy to build"))?;
            check_size(name, &tree)?;
            request.output.write(|| file::write(&tree))?;
            Ok(tree)
        })
    }

    /// Compares a hierarchy file with a column's values.
    pub fn check_hierarchy(&self, request: &CheckHierarchy) -> Result<CheckedHierarchy, FlowError> {
        self.install(|| {
            let tree = read_hierarchy(&request.file)?;
            let stem = request.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let name = request.column.clone().or(stem).unwrap_or_default();
            let engine = self.open(&request.input, &InputOptions::default())?;
            let (column, records) = self.column(&engine, &name, &request.missing).map_err(|mut error| {
                if request.column.is_none() && error.message.contains(&format!("`{name}`")) {
                    error.message += "; say which column with `--column`, which is otherwise named like the file";
                }
                error
            })?;
            let pairs: Vec<(&str, u64)> = column.values.iter().map(|value| &**value).zip(records).collect();
            let findings = draw::check(&tree, &pairs);
            Ok(CheckedHierarchy { column: name, values: pairs.len(), tree, findings })
        })
    }

    /// The distinct values of a column, in order of their first records, and how many records carry each. What counts as
    /// missing is left out: it has a leaf of its own.
    fn column(
        &self,
        engine: &LocalEngine,
        name: &str,
        missing: &[String],
    ) -> Result<(CountedColumn, Vec<u64>), FlowError> {
        let usual = InputOptions::default().missing;
        self.observer.stage(Stage::Reading);
        let counts = engine.count(&[name.to_owned()], self.observer)?;
        let mut rows: Vec<usize> = (0..counts.rows()).collect();
        rows.sort_unstable_by_key(|&row| counts.first_record(row));
        let mut column = CountedColumn { name: name.to_owned(), ..CountedColumn::default() };
        let mut records = Vec::new();
        for row in rows {
            let text = &counts.columns[0].values[counts.row(row)[0] as usize];
            if !usual.iter().chain(missing).any(|missing| **missing == **text) {
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

/// The rules of a policy, for the same choices.
fn check_choice(choice: &HierarchyChoice) -> Result<(), FlowError> {
    let ascend = |edges: &[f64]| edges.windows(2).all(|pair| pair[0] < pair[1]);
    let problem = match choice {
        HierarchyChoice::Widths(widths) if widths.is_empty() => {
            "`--method widths` needs `--widths`, for example --widths 5,10,20"
        }
        HierarchyChoice::Widths(widths) if !widths.iter().all(|width| width.is_finite() && *width > 0.0) => {
            "--widths: every width must be a number above 0"
        }
        HierarchyChoice::Widths(widths) if !widths.windows(2).all(|pair| widths::nests(pair[0], pair[1])) => {
            "--widths: each must be a multiple of the one before, so that the levels nest: 5,10,20"
        }
        HierarchyChoice::Bins(edges) if edges.len() < 2 => {
            "`--method bins` needs `--bins` with at least two edges, for example --bins 0,18,65,120"
        }
        HierarchyChoice::Bins(edges) if !ascend(edges) || !edges.iter().all(|edge| edge.is_finite()) => {
            "--bins: the edges must ascend: 0,18,65,120"
        }
        HierarchyChoice::Built(Built {
            builder: Builder::EqualWidth(parts) | Builder::EqualFrequency(parts), ..
        }) => {
            let nest = parts.windows(2).all(|pair| pair[0] > pair[1] && pair[0].is_multiple_of(pair[1]));
            match parts.iter().all(|parts| *parts >= 2) {
                false => "--parts: every level needs at least 2 parts",
                true if nest => return Ok(()),
                true => "--parts: each must be a multiple of the next, so that the levels nest: 32,16,8,4,2",
            }
        }
        HierarchyChoice::Dates(levels) if !levels.windows(2).all(|pair| pair[0] < pair[1]) => {
            "--dates: the finest level comes first, each once: day,month,quarter,year,decade"
        }
        HierarchyChoice::Prefix(lengths) if lengths.is_empty() => {
            "`--method prefix` needs `--prefix`, for example --prefix 5,3,2"
        }
        HierarchyChoice::Prefix(lengths) if !lengths.windows(2).all(|pair| pair[0] > pair[1]) => {
            "--prefix: the longest comes first, each shorter than the one before: 5,3,2"
        }
        _ => return Ok(()),
    };
    Err(FlowError::usage(problem))
}

/// The message, with flags where that of a policy has keys.
fn described(error: &DomainError) -> String {
    let place = format!("column `{}`{}", error.column, at_record(error.record));
    match &error.problem {
        DomainProblem::NotANumber { value } => format!(
            "{place}: `{value}` is not a number; dates have `--type date` (and `--format`, where they are not written like 1984-03-31), codes `--method prefix`, and `--missing {value}` says that it stands for a missing value"
        ),
        DomainProblem::NotADate { value, format } => {
            let like = format.as_deref().unwrap_or("1984-03-31 or 1984-03-31T12:30");
            format!(
                "{place}: `{value}` is not a date written like {like}, or there is no such day; correct it, say how dates are written, as in `--format %d.%m.%Y`, or give `--missing {value}` if it stands for a missing value"
            )
        }
        _ => error.to_string(),
    }
}

/// The paths of a deep tree are many times as large as the tree.
fn check_size(column: &str, tree: &Tree) -> Result<(), FlowError> {
    let bytes = file::bytes(tree);
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    let draw::Summary { leaves, levels, .. } = draw::summary(tree);
    Err(FlowError::usage(format!(
        "the hierarchy of `{column}` would take {} MB as a file: {} levels for each of {} values; give `--levels`, for example --levels 6, to make it shallower",
        count(bytes / 1_000_000),
        count(levels as u64),
        count(leaves as u64),
    )))
}
