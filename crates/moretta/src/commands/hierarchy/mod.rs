//! `moretta hierarchy build | show | check`.

mod build;

use moretta_core::{
    counts::Counts,
    hierarchy::{
        Tree,
        draw::{self, DrawOptions, Finding, Near},
    },
    policy::InputOptions,
    text::{count, counted},
};
use moretta_engine::{Engine, LocalEngine};

use crate::{
    arguments::{Hierarchy, HierarchyCheck, HierarchyShow, Resources},
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
        Hierarchy::Build(arguments) => build::run(arguments),
        Hierarchy::Show(arguments) => show(arguments),
        Hierarchy::Check(arguments) => check(arguments),
    }
}

/// The distinct values of one column. What counts as missing is left out: it has a place of its own.
fn column(input: &str, name: &str, missing: &[String]) -> Result<(LocalEngine, Vec<Value>), Failure> {
    let mut options = InputOptions::default();
    options.missing.extend_from_slice(missing);
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

fn described(tree: &Tree) -> String {
    let draw::Summary { leaves, levels, nodes, .. } = draw::summary(tree);
    format!("{} values, {levels} levels, {} nodes", count(leaves as u64), count(nodes as u64))
}

fn show(arguments: &HierarchyShow) -> Result<(), Failure> {
    if let Some(output) = &arguments.output {
        if !output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg")) {
            return Err(Failure::input(format!("{}: a picture is an SVG file; name it .svg", output.display())));
        }
        check_outputs(&[output], std::slice::from_ref(&arguments.file), arguments.overwrite)?;
    }
    let tree = inputs::read_hierarchy(&arguments.file)?;
    let children = arguments.children.max(1);
    let options = match arguments.depth {
        Some(max_depth) => DrawOptions { max_children: children, max_depth, ..DrawOptions::default() },
        None => DrawOptions::fitting(&tree, children),
    };
    let deepest = draw::summary(&tree).levels as u32 - 1;
    let folded = options.max_depth < deepest && arguments.depth.is_none();
    let mut title = format!("{}: {}", arguments.file.display(), described(&tree));
    if folded {
        title += &format!(", drawn down to {} of {deepest} levels below *", options.max_depth);
    }
    let mut said = format!("{title}\n");
    match &arguments.output {
        None => said += &draw::text(&tree, &options),
        Some(output) => {
            write_text(output, &draw::svg(&tree, &options, &title), arguments.overwrite)?;
            said += &format!("wrote {}\n", output.display());
        }
    }
    if folded {
        said += "--depth shows more\n";
    }
    summary::print(&said);
    Ok(())
}

fn check(arguments: &HierarchyCheck) -> Result<(), Failure> {
    let tree = inputs::read_hierarchy(&arguments.file)?;
    let stem = arguments.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = arguments.column.clone().or(stem).unwrap_or_default();
    let (_, values) = column(&arguments.input, &name, &arguments.missing).map_err(|mut failure| {
        if arguments.column.is_none() && failure.message.contains(&format!("`{name}`")) {
            failure.message += "; say which column with `--column`, which is otherwise named like the file";
        }
        failure
    })?;
    let pairs: Vec<(&str, u64)> = values.iter().map(|value| (value.text.as_str(), value.records)).collect();
    let findings = draw::check(&tree, &pairs);
    let unused = findings.iter().filter(|finding| matches!(finding, Finding::NeverOccurs { .. })).count();
    let lacking = findings.len() - unused;
    let all = values.len() as u64;
    summary::print(&format!(
        "{}: {}; {} of {} values of `{name}` have a row, {} not needed\n",
        arguments.file.display(),
        described(&tree),
        count(all - lacking as u64),
        count(all),
        counted(unused as u64, "row is", "rows are"),
    ));
    let mut shown = 0;
    for finding in &findings {
        if let Finding::NoLeaf { value, records, near } = finding {
            shown += 1;
            if shown > SHOWN {
                break;
            }
            let hint = match near {
                Near::Nothing => String::new(),
                Near::Inner => "; it is a group there, not a value".to_owned(),
                Near::Leaf(leaf) => format!("; did you mean `{leaf}`?"),
            };
            summary::print(&format!("  lacks  `{value}` ({}){hint}\n", counted(*records, "record", "records")));
        }
    }
    if lacking > SHOWN {
        summary::print(&format!("  and {} more values without a row\n", count((lacking - SHOWN) as u64)));
    }
    if lacking > 0 {
        let lacking = counted(lacking as u64, "value", "values");
        return Err(Failure::unsatisfied(format!("{} lacks {lacking} of `{name}`", arguments.file.display())));
    }
    Ok(())
}
