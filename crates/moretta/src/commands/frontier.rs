//! `moretta frontier`: which k costs what, from one run to the root.

use std::path::{Path, PathBuf};

use moretta_core::search::Task;

use crate::{
    arguments::Frontier as Arguments,
    failure::Failure,
    frontier::{self, Frontier},
    inputs::{self, Asked},
    page, summary,
};

#[derive(Clone, Copy)]
enum Form {
    Csv,
    Svg,
    Html,
}

fn form(path: &Path) -> Result<Form, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Form::Csv),
        Some("svg") => Ok(Form::Svg),
        Some("html" | "htm") => Ok(Form::Html),
        _ => Err(Failure::input(format!(
            "{}: a frontier's name ends in .csv, .svg or .html; `--json` prints it as JSON",
            path.display()
        ))),
    }
}

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let asked = Asked::read(&arguments.policy)?;
    let policy = &asked.policy;
    let engine = inputs::engine(&arguments.input, &policy.input, inputs::settings(&arguments.resources))?;
    let output = arguments.output.as_deref().map(|path| form(path).map(|form| (path, form))).transpose()?;
    if let Some((path, _)) = output {
        let mut reads: Vec<PathBuf> = engine.source().paths().map(PathBuf::from).collect();
        reads.extend(asked.files.iter().cloned());
        inputs::check_beside(path, &arguments.input)?;
        inputs::check_outputs(&[path], &reads, arguments.overwrite)?;
    }
    let (_, profile) = inputs::profile(&engine, &arguments.input, policy, &asked.hierarchies)?;
    inputs::check_templates(policy, &profile, &arguments.policy)?;
    let models = inputs::bind(policy, &profile)?;
    let max_suppressed = policy.privacy.allowed_records(profile.records());
    let seed = arguments.seed.unwrap_or(0);
    let found = Frontier::find(policy, &Task { profile: &profile, models: &models, max_suppressed, seed })?;

    if let Some((path, form)) = output {
        let name = Path::new(&arguments.input).file_name().unwrap_or_default().to_string_lossy();
        let text = match form {
            Form::Csv => frontier::csv(&found),
            Form::Svg => frontier::svg(&found, &name),
            Form::Html => page::render_frontier(&found, &name),
        };
        inputs::write_text(path, &text, arguments.overwrite)?;
    }
    if arguments.json {
        summary::print(&(serde_json::to_string_pretty(&found).expect("texts and numbers") + "\n"));
    } else if let Some((path, _)) = output {
        summary::print(&frontier::written(&found, path));
    } else {
        summary::print(&frontier::table(&found, arguments.all));
    }
    Ok(())
}
