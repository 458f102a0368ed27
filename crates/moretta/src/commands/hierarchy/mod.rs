//! `moretta hierarchy build | show | check | convert`.

mod build;

use std::path::PathBuf;

use moretta_core::{
    hierarchy::{
        Tree,
        draw::{self, DrawOptions, Finding, Near},
        file::{Form, HierarchyFile},
    },
    text::{count, counted, shown},
};
use moretta_flow::{CheckHierarchy, CheckedHierarchy, ConvertHierarchy, FlowError, OutputFile};

use super::run_request;
use crate::{
    arguments::{Delimiter, Hierarchy, HierarchyCheck, HierarchyConvert, HierarchyShow, Resources},
    stdout::{print, print_data},
    summary,
};

/// Maximum number of values without a row that are printed.
const SHOWN: usize = 10;

pub fn run(arguments: Hierarchy) -> Result<(), FlowError> {
    match arguments {
        Hierarchy::Build(arguments) => build::run(arguments),
        Hierarchy::Show(arguments) => show(&arguments),
        Hierarchy::Check(arguments) => check(arguments),
        Hierarchy::Convert(arguments) => convert(arguments),
    }
}

fn described(tree: &Tree) -> String {
    let draw::Summary { leaves, levels, nodes, .. } = draw::summary(tree);
    format!("{} values, {levels} levels, {} nodes", count(leaves as u64), count(nodes as u64))
}

fn show(arguments: &HierarchyShow) -> Result<(), FlowError> {
    let is_svg = |path: &PathBuf| path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
    if let Some(output) = arguments.output.as_ref().filter(|output| !is_svg(output)) {
        return Err(FlowError::usage(format!(
            "{}: the drawing is an SVG file; use the extension .svg",
            output.display()
        )));
    }
    let picture = OutputFile { path: arguments.output.clone(), overwrite: arguments.overwrite };
    picture.check(std::slice::from_ref(&arguments.file), &[])?;
    let HierarchyFile { tree, levels, .. } =
        run_request(&Resources::default(), |session| session.read_hierarchy(&arguments.file, None))?;
    let children = arguments.children.max(1);
    let options = match arguments.depth {
        Some(max_depth) => DrawOptions { max_children: children, max_depth, ..DrawOptions::default() },
        None => DrawOptions::fitting(&tree, children),
    };
    let deepest = draw::summary(&tree).levels as u32 - 1;
    let folded = options.max_depth < deepest && arguments.depth.is_none();
    let mut title = format!("{}: {}", summary::file_name(&arguments.file), described(&tree));
    if folded {
        title += &format!(", drawn down to {} of {deepest} levels below *", options.max_depth);
    }
    let mut said = format!("{title}\n");
    if !levels.is_empty() {
        said += &format!("levels: {}\n", levels.iter().map(|name| shown(name)).collect::<Vec<_>>().join(", "));
    }
    match &arguments.output {
        None => said += &draw::text(&tree, &options),
        Some(output) => {
            picture.write(|| draw::svg(&tree, &options, &title))?;
            said += &format!("wrote {}\n", summary::file_name(output));
        }
    }
    if folded {
        said += "use --depth to show more levels\n";
    }
    print(&said)
}

fn convert(arguments: HierarchyConvert) -> Result<(), FlowError> {
    let HierarchyConvert { file, column, delimiter, output, overwrite } = arguments;
    let form = delimiter.map(|delimiter| {
        Form::Delimited(match delimiter {
            Delimiter::Semicolon => ';',
            Delimiter::Comma => ',',
            Delimiter::Tab => '\t',
        })
    });
    if let (Some(_), Some(path)) = (form, output.as_ref().filter(|path| path.extension().is_some_and(|e| e == "json")))
    {
        let message = format!("{}: `--delimiter` has no effect on JSON; leave it out", path.display());
        return Err(FlowError::usage(message));
    }
    let request = ConvertHierarchy { file, column, form, output: OutputFile { path: output, overwrite } };
    let (read, text) = run_request(&Resources::default(), |session| session.convert_hierarchy(&request))?;
    match &request.output.path {
        None => print_data(&text),
        Some(output) => print(&format!("wrote {}: {}\n", summary::file_name(output), described(&read.tree))),
    }
}

fn check(arguments: HierarchyCheck) -> Result<(), FlowError> {
    let HierarchyCheck { file, input, column, missing } = arguments;
    let request = CheckHierarchy { file, input: input.into(), column, missing };
    let checked = run_request(&Resources::default(), |session| session.check_hierarchy(&request))?;
    let CheckedHierarchy { column: name, values, tree, findings } = checked;
    let (file, name) = (summary::file_name(&request.file), shown(&name));
    let unused = findings.iter().filter(|finding| matches!(finding, Finding::NeverOccurs { .. })).count();
    let lacking = findings.len() - unused;
    print(&format!(
        "{}: {}; {} of {} values of `{name}` have a row; {} unused\n",
        file,
        described(&tree),
        count((values - lacking) as u64),
        count(values as u64),
        counted(unused as u64, "row is", "rows are"),
    ))?;
    for finding in findings.iter().filter(|finding| matches!(finding, Finding::NoLeaf { .. })).take(SHOWN) {
        let Finding::NoLeaf { value, records, near } = finding else { continue };
        let hint = match near {
            Near::Nothing => String::new(),
            Near::Inner => "; in the hierarchy it is a group, not a value".to_owned(),
            Near::Leaf(leaf) => format!("; did you mean `{}`?", shown(leaf)),
        };
        let (value, records) = (shown(value), counted(*records, "record", "records"));
        print(&format!("  no row for `{value}` ({records}){hint}\n"))?;
    }
    if lacking > SHOWN {
        print(&format!("  and {} more values without a row\n", count((lacking - SHOWN) as u64)))?;
    }
    if lacking > 0 {
        let lacking = counted(lacking as u64, "value", "values");
        return Err(FlowError::unsatisfied(format!("{file} has no row for {lacking} of `{name}`")));
    }
    Ok(())
}
