//! `moretta hierarchy build`: a hierarchy over a column's values, as a file: the same that the policy would give it.

use std::path::Path;

use clap::ValueEnum;
use moretta_core::{
    counts::CountedColumn,
    dates::DateFormat,
    hierarchy::{
        DateLevel, DomainError, DomainProblem, Reading, Tree, draw, file,
        numeric::{self, Built, widths},
        tree_over,
    },
    policy::HierarchyChoice,
    schema::Kind,
    text::count,
};

use super::{Value, column, described};
use crate::{
    arguments::{
        BuildKind,
        Builder::{self, Bins, Chu, Dates, EqualFrequency, EqualWidth, Han, Iotf, Otf, Prefix, Widths},
        CalendarLevel, HierarchyBuild,
    },
    failure::Failure,
    inputs::{check_outputs, write_text},
    summary,
};

/// The largest file that is written: every value has its path to the root there, and what reads it keeps all of them.
const LARGEST: u64 = 100_000_000;

/// Runs it.
pub fn run(arguments: &HierarchyBuild) -> Result<(), Failure> {
    check_flags(arguments)?;
    check_steps(arguments)?;
    let HierarchyBuild { input, column: name, .. } = arguments;
    let (engine, values) = column(input, name, &arguments.missing)?;
    if let Some(output) = &arguments.output {
        let reads: Vec<_> = engine.source().paths().map(Path::to_path_buf).collect();
        check_outputs(&[output], &reads, arguments.overwrite)?;
    }
    if values.is_empty() {
        return Err(Failure::input(format!("{input}: column `{name}` has no values to build a hierarchy over")));
    }
    let tree = tree(arguments, &values).map_err(|error| Failure::input(format!("{input}: {}", said(error))))?;
    check_size(arguments, &tree)?;
    let text = file::write(&tree);
    match &arguments.output {
        None => summary::print(&text),
        Some(output) => {
            write_text(output, &text, arguments.overwrite)?;
            summary::print(&format!("wrote {}: {}\n", output.display(), described(&tree)));
        }
    }
    Ok(())
}

/// The tree, or what is wrong with which record.
fn tree(arguments: &HierarchyBuild, values: &[Value]) -> Result<Tree, DomainError> {
    let column = CountedColumn {
        name: arguments.column.clone(),
        values: values.iter().map(|value| value.text.as_str().into()).collect(),
        first_records: values.iter().map(|value| value.first).collect(),
    };
    let records: Vec<u64> = values.iter().map(|value| value.records).collect();
    let format = arguments.format.as_deref().and_then(|format| DateFormat::new(format).ok());
    let reading = Reading::new(kind(arguments), format.as_ref());
    let tree = tree_over(&column, &records, &reading, &choice(arguments))?;
    Ok(tree.expect("every method builds a tree"))
}

/// What a policy would have to say is a flag here.
fn said(error: DomainError) -> String {
    let place = format!("column `{}`, record {}", error.column, error.record.unwrap_or(0));
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

fn kind(arguments: &HierarchyBuild) -> Kind {
    match (arguments.method, arguments.kind) {
        (Prefix, _) => Kind::Category,
        (Dates, _) | (_, Some(BuildKind::Date)) => Kind::Date,
        (_, Some(BuildKind::Number) | None) => Kind::Number,
    }
}

/// What the policy would say.
fn choice(arguments: &HierarchyBuild) -> HierarchyChoice {
    let built = |builder: numeric::Builder| HierarchyChoice::Built(Built { builder, levels: arguments.levels });
    let threshold = |otherwise: u32| arguments.threshold.unwrap_or(otherwise) as usize;
    match arguments.method {
        Iotf => built(numeric::Builder::Iotf),
        Otf => built(numeric::Builder::Otf),
        Chu => built(numeric::Builder::Chu { threshold: threshold(numeric::Builder::CHU_THRESHOLD) }),
        Han => {
            let fan_out = arguments.fan_out.unwrap_or(numeric::Builder::HAN_FAN_OUT) as usize;
            built(numeric::Builder::Han { fan_out, threshold: threshold(numeric::Builder::HAN_THRESHOLD) })
        }
        EqualWidth => built(numeric::Builder::EqualWidth(parts(arguments))),
        EqualFrequency => built(numeric::Builder::EqualFrequency(parts(arguments))),
        Widths => HierarchyChoice::Widths(arguments.widths.clone()),
        Bins => HierarchyChoice::Bins(arguments.bins.clone()),
        Prefix => HierarchyChoice::Prefix(arguments.prefix.clone()),
        Dates if arguments.dates.is_empty() => HierarchyChoice::Dates(DateLevel::ALL.to_vec()),
        Dates => HierarchyChoice::Dates(arguments.dates.iter().map(|level| date_level(*level)).collect()),
    }
}

fn date_level(level: CalendarLevel) -> DateLevel {
    match level {
        CalendarLevel::Day => DateLevel::Day,
        CalendarLevel::Month => DateLevel::Month,
        CalendarLevel::Quarter => DateLevel::Quarter,
        CalendarLevel::Year => DateLevel::Year,
        CalendarLevel::Decade => DateLevel::Decade,
    }
}

fn parts(arguments: &HierarchyBuild) -> Vec<u32> {
    if arguments.parts.is_empty() { numeric::Builder::PARTS.to_vec() } else { arguments.parts.clone() }
}

/// A flag that the method does not heed would be silently without effect.
fn check_flags(arguments: &HierarchyBuild) -> Result<(), Failure> {
    let dated = kind(arguments) == Kind::Date;
    if arguments.format.is_some() && !dated {
        return Err(Failure::input("`--format` is for dates; give `--type date` or `--method dates`"));
    }
    if dated && matches!(arguments.method, Widths | Bins) {
        return Err(Failure::input(format!(
            "`--method {}` is for numbers; dates have `--method dates`, or one that builds from the data",
            name(arguments.method)
        )));
    }
    let flags: [(&str, bool, &[Builder]); 9] = [
        (
            "type",
            arguments.kind.is_some() && !(arguments.method == Dates && dated),
            &[Iotf, Otf, Chu, Han, EqualWidth, EqualFrequency, Widths, Bins],
        ),
        ("levels", arguments.levels.is_some(), &[Iotf, Otf, Chu, Han, EqualWidth, EqualFrequency]),
        ("fan-out", arguments.fan_out.is_some(), &[Han]),
        ("threshold", arguments.threshold.is_some(), &[Chu, Han]),
        ("parts", !arguments.parts.is_empty(), &[EqualWidth, EqualFrequency]),
        ("widths", !arguments.widths.is_empty(), &[Widths]),
        ("bins", !arguments.bins.is_empty(), &[Bins]),
        ("dates", !arguments.dates.is_empty(), &[Dates]),
        ("prefix", !arguments.prefix.is_empty(), &[Prefix]),
    ];
    match flags.iter().find(|(_, given, methods)| *given && !methods.contains(&arguments.method)) {
        None => Ok(()),
        Some((flag, _, methods)) => {
            let methods: Vec<String> = methods.iter().map(|method| name(*method)).collect();
            let (method, methods) = (name(arguments.method), methods.join(", "));
            Err(Failure::input(format!("`--{flag}` says nothing for `--method {method}`; it is for: {methods}")))
        }
    }
}

fn name(method: Builder) -> String {
    method.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The same rules as the policy's, for the same steps.
fn check_steps(arguments: &HierarchyBuild) -> Result<(), Failure> {
    let wrong = |message: &str| Err(Failure::input(message));
    let HierarchyBuild { widths, bins: edges, parts, dates, prefix, .. } = arguments;
    if let Some(Err(problem)) = arguments.format.as_deref().map(DateFormat::new) {
        return Err(Failure::input(format!("--format: {problem}; for example --format %d.%m.%Y")));
    }
    match arguments.method {
        Widths if widths.is_empty() => wrong("`--method widths` needs `--widths`, for example --widths 5,10,20"),
        Widths if !widths.iter().all(|width| width.is_finite() && *width > 0.0) => {
            wrong("--widths: every width must be a number above 0")
        }
        Widths if !widths.windows(2).all(|pair| widths::nests(pair[0], pair[1])) => {
            wrong("--widths: each must be a multiple of the one before, so that the levels nest: 5,10,20")
        }
        Bins if edges.len() < 2 => {
            wrong("`--method bins` needs `--bins` with at least two edges, for example --bins 0,18,65,120")
        }
        Bins if !edges.windows(2).all(|pair| pair[0] < pair[1]) || !edges.iter().all(|edge| edge.is_finite()) => {
            wrong("--bins: the edges must ascend: 0,18,65,120")
        }
        EqualWidth | EqualFrequency if parts.iter().any(|parts| *parts < 2) => {
            wrong("--parts: every level needs at least 2 parts")
        }
        EqualWidth | EqualFrequency
            if !parts.windows(2).all(|pair| pair[0] > pair[1] && pair[0].is_multiple_of(pair[1])) =>
        {
            wrong("--parts: each must be a multiple of the next, so that the levels nest: 32,16,8,4,2")
        }
        Dates if !dates.windows(2).all(|pair| pair[0] < pair[1]) => {
            wrong("--dates: the finest level comes first, each once: day,month,quarter,year,decade")
        }
        Prefix if prefix.is_empty() => wrong("`--method prefix` needs `--prefix`, for example --prefix 5,3,2"),
        Prefix if !prefix.windows(2).all(|pair| pair[0] > pair[1]) => {
            wrong("--prefix: the longest comes first, each shorter than the one before: 5,3,2")
        }
        _ => Ok(()),
    }
}

/// The paths of a deep tree are many times as large as the tree.
fn check_size(arguments: &HierarchyBuild, tree: &Tree) -> Result<(), Failure> {
    let bytes = file::bytes(tree);
    if bytes <= LARGEST {
        return Ok(());
    }
    let draw::Summary { leaves, levels, .. } = draw::summary(tree);
    Err(Failure::input(format!(
        "the hierarchy of `{}` would take {} MB as a file: {} levels for each of {} values; give `--levels`, for example --levels 6, to make it shallower",
        arguments.column,
        count(bytes / 1_000_000),
        count(levels as u64),
        count(leaves as u64),
    )))
}
