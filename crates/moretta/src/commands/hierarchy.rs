//! `moretta hierarchy build | show | check`.

use std::path::Path;

use moretta_core::{
    counts::Counts,
    hierarchy::{
        DomainProblem, Tree,
        draw::{self, DrawOptions, Finding, Near},
        file,
        numeric::{bins, widths},
        parse_number,
    },
    policy::InputOptions,
    text::count,
};
use moretta_engine::{Engine, LocalEngine};

use crate::{
    arguments::{Builder, Hierarchy, HierarchyBuild, HierarchyCheck, HierarchyShow, Resources},
    failure::Failure,
    inputs::{self, check_outputs, write_text},
    summary,
    watch::Watch,
};

/// How many values without a row are shown.
const SHOWN: usize = 10;

/// Runs it.
pub fn run(arguments: &Hierarchy) -> Result<(), Failure> {
    match arguments {
        Hierarchy::Build(arguments) => build(arguments),
        Hierarchy::Show(arguments) => show(arguments),
        Hierarchy::Check(arguments) => check(arguments),
    }
}

/// The distinct values of one column. What counts as missing is left out: it has a place of its own.
fn column(input: &str, name: &str) -> Result<(LocalEngine, Vec<Value>), Failure> {
    let options = InputOptions::default();
    let settings = inputs::settings(&Resources { threads: None, memory: None });
    let engine = inputs::engine(input, &options, settings)?;
    let counts = engine.group_and_count(&[name.to_owned()], &Watch::new("reading"))?;
    let values = values(&counts).into_iter().filter(|value| !options.missing.contains(&value.text)).collect();
    Ok((engine, values))
}

struct Value {
    text: String,
    records: u64,
    first: u64,
}

fn values(counts: &Counts) -> Vec<Value> {
    let text = |row: usize| counts.columns[0].values[counts.row(row)[0] as usize].to_string();
    let value = |row: usize| Value { text: text(row), records: counts.counts[row], first: counts.first_records[row] };
    let mut values: Vec<Value> = (0..counts.rows()).map(value).collect();
    values.sort_by_key(|value| value.first);
    values
}

fn build(arguments: &HierarchyBuild) -> Result<(), Failure> {
    check_steps(arguments)?;
    let HierarchyBuild { input, column: name, .. } = arguments;
    let (engine, values) = column(input, name)?;
    if let Some(output) = &arguments.output {
        let reads: Vec<_> = engine.source().paths().map(Path::to_path_buf).collect();
        check_outputs(&[output], &reads, arguments.overwrite)?;
    }
    let at_fault = |value: &Value, problem: DomainProblem| {
        Failure::input(format!("{input}: column `{name}`, record {}: {problem}", value.first))
    };
    let mut numbers: Vec<(f64, &Value)> = Vec::new();
    for value in &values {
        numbers.push((parse_number(&value.text).map_err(|problem| at_fault(value, problem))?, value));
    }
    numbers
        .sort_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| (x.text.len(), &x.text).cmp(&(y.text.len(), &y.text))));
    numbers.dedup_by(|next, kept| next.0 == kept.0);
    let texts: Vec<Box<str>> = numbers.iter().map(|(_, value)| value.text.as_str().into()).collect();
    let sizes: Vec<f64> = numbers.iter().map(|(number, _)| *number).collect();
    let tree = match arguments.method {
        Builder::Widths => widths::build(&sizes, &texts, &arguments.widths),
        Builder::Bins => bins::build(&sizes, &texts, &arguments.bins).map_err(|position| {
            let (low, high) = (arguments.bins[0], arguments.bins[arguments.bins.len() - 1]);
            let value = numbers[position].1;
            at_fault(value, DomainProblem::OutsideBins { value: value.text.clone(), low, high })
        })?,
    };
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

/// The same rules as the policy's, for the same steps.
fn check_steps(arguments: &HierarchyBuild) -> Result<(), Failure> {
    let wrong = |message: &str| Err(Failure::input(message));
    match arguments.method {
        Builder::Widths => {
            let widths = &arguments.widths;
            if widths.is_empty() {
                wrong("`--method widths` needs `--widths`, for example --widths 5,10,20")
            } else if !widths.iter().all(|width| width.is_finite() && *width > 0.0) {
                wrong("--widths: every width must be a number above 0")
            } else if !widths.windows(2).all(|pair| widths::nests(pair[0], pair[1])) {
                wrong("--widths: each must be a multiple of the one before, so that the levels nest: 5,10,20")
            } else {
                Ok(())
            }
        }
        Builder::Bins => {
            let edges = &arguments.bins;
            if edges.len() < 2 {
                wrong("`--method bins` needs `--bins` with at least two edges, for example --bins 0,18,65,120")
            } else if !edges.windows(2).all(|pair| pair[0] < pair[1]) || !edges.iter().all(|edge| edge.is_finite()) {
                wrong("--bins: the edges must ascend: 0,18,65,120")
            } else {
                Ok(())
            }
        }
    }
}

fn described(tree: &Tree) -> String {
    let draw::Summary { leaves, levels, nodes, .. } = draw::summary(tree);
    format!("{} values, {levels} levels, {} nodes", count(leaves as u64), count(nodes as u64))
}

fn show(arguments: &HierarchyShow) -> Result<(), Failure> {
    let tree = inputs::read_hierarchy(&arguments.file)?;
    let options = DrawOptions { max_children: arguments.children.max(1), ..DrawOptions::default() };
    summary::print(&format!("{}: {}\n{}", arguments.file.display(), described(&tree), draw::text(&tree, &options)));
    Ok(())
}

fn check(arguments: &HierarchyCheck) -> Result<(), Failure> {
    let tree = inputs::read_hierarchy(&arguments.file)?;
    let stem = arguments.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = arguments.column.clone().or(stem).unwrap_or_default();
    let (_, values) = column(&arguments.input, &name)?;
    let pairs: Vec<(&str, u64)> = values.iter().map(|value| (value.text.as_str(), value.records)).collect();
    let findings = draw::check(&tree, &pairs);
    let unused = findings.iter().filter(|finding| matches!(finding, Finding::NeverOccurs { .. })).count();
    let mut lacking = 0;
    for finding in &findings {
        if let Finding::NoLeaf { value, records, near } = finding {
            lacking += 1;
            if lacking > SHOWN {
                continue;
            }
            let hint = match near {
                Near::Nothing => String::new(),
                Near::Inner => "; it is a group there, not a value".to_owned(),
                Near::Leaf(leaf) => format!("; did you mean `{leaf}`?"),
            };
            summary::print(&format!("  lacks  `{value}` ({} records){hint}\n", count(*records)));
        }
    }
    summary::print(&format!(
        "{}: {}; {} of {} values of `{name}` have a row, {unused} rows are not needed\n",
        arguments.file.display(),
        described(&tree),
        values.len() - lacking,
        values.len()
    ));
    if lacking > SHOWN {
        summary::print(&format!("  and {} more values without a row\n", count((lacking - SHOWN) as u64)));
    }
    if lacking > 0 {
        return Err(Failure::unsatisfied(format!("{} lacks {lacking} values of `{name}`", arguments.file.display())));
    }
    Ok(())
}
