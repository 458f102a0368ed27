//! `moretta queries`: what a release answers, and how far that is from the truth.

use std::path::{Path, PathBuf};

use moretta_core::{
    evaluate::queries::{self, Boxes, Draw, Original},
    policy::Policy,
    profile::Profile,
};
use moretta_engine::{Observer, Settings};

use crate::{
    arguments::Queries as Arguments,
    failure::Failure,
    inputs::{self, Asked, Pair},
    queries::{Answers, Kind, Queries},
    summary,
    watch::Watch,
};

#[derive(Clone, Copy, PartialEq)]
enum Form {
    Csv,
    Svg,
}

fn form(path: &Path) -> Result<Form, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => Ok(Form::Csv),
        Some("svg") => Ok(Form::Svg),
        _ => Err(Failure::input(format!(
            "{}: a file of answers ends in .csv, a picture of their errors in .svg; `--json` prints JSON",
            path.display()
        ))),
    }
}

/// Runs it.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let asked = Asked::read(&arguments.policy)?;
    let policy = &asked.policy;
    let own = arguments.queries.as_deref().map(|path| inputs::read_text(path).map(|text| (path, text))).transpose()?;
    let output = arguments.output.as_deref().map(|path| form(path).map(|form| (path, form))).transpose()?;
    if let Some((path, _)) = output {
        check_output(path, arguments, policy, &asked.files)?;
    }
    let pair = Pair::read(&arguments.original, &arguments.released, policy, &asked.hierarchies, &arguments.resources)?;
    let watch = Watch::new("asking");
    let answers = match &own {
        Some((path, text)) => ask_own(arguments, policy, &pair, (path, text))?,
        None => ask_random(arguments, policy, &pair)?,
    };
    if watch.stop().is_some() {
        return Err(Failure::interrupted());
    }
    drop(watch);

    let found = Queries { file: &arguments.released, records: pair.original.records(), answers };
    if let Some((path, form)) = output {
        let text = match form {
            Form::Csv => found.csv(),
            Form::Svg => found.svg(),
        };
        inputs::write_text(path, &text, arguments.overwrite)?;
    }
    if own.is_some() || output.is_some_and(|(_, form)| form == Form::Csv) {
        summary::note(&format!("this shows true answers: it is as confidential as {}", arguments.original));
    }
    summary::print(&match output {
        _ if arguments.json => found.json(),
        Some((path, _)) => found.written(path),
        None => found.text(),
    });
    Ok(())
}

fn boxes(arguments: &Arguments, policy: &Policy, pair: &Pair) -> Result<Boxes, Failure> {
    let boxes = Boxes::new(&pair.original, &pair.released, &policy.release);
    boxes.map_err(|error| Failure::input(format!("{}: {error}", arguments.released)))
}

fn ask_own(
    arguments: &Arguments,
    policy: &Policy,
    pair: &Pair,
    (path, text): (&Path, &str),
) -> Result<Answers, Failure> {
    let wrong = |error| Failure::input(format!("{}: {error}", path.display()));
    let own = queries::parse(text, &pair.original).map_err(wrong)?;
    let asked: Vec<_> = own.iter().map(|own| own.query.clone()).collect();
    let answered = queries::ask(&Original::new(&pair.original), &boxes(arguments, policy, pair)?, &asked);
    let named = |own: queries::Own| (Kind::of(own.query.aggregate, &pair.original), own.conditions);
    Ok(Answers::Own(own.into_iter().map(named).zip(answered).collect()))
}

fn ask_random(arguments: &Arguments, policy: &Policy, pair: &Pair) -> Result<Answers, Failure> {
    let profile: &Profile = &pair.original;
    let (columns, known) = (arguments.columns.map(usize::from), profile.columns().len());
    if let Some(columns) = columns.filter(|columns| *columns > known) {
        return Err(Failure::input(format!("--columns {columns}: the policy has {known} quasi-identifiers")));
    }
    let sum = arguments.sum.as_ref().map(|name| {
        queries::column_to_sum(profile, name).map_err(|problem| Failure::input(format!("--sum {name}: {problem}")))
    });
    let draw = Draw { count: arguments.count as usize, seed: arguments.seed, columns };
    let found = queries::compare(profile, &pair.released, &policy.release, sum.transpose()?, &draw)
        .map_err(|error| Failure::input(format!("{}: {error}", arguments.released)))?;
    let workloads = [Some(found.count), found.sum].into_iter().flatten();
    let named = |workload: queries::Workload| (Kind::of(workload.aggregate, profile), workload);
    Ok(Answers::Random { draw, workloads: workloads.map(named).collect() })
}

fn check_output(path: &Path, arguments: &Arguments, policy: &Policy, read: &[PathBuf]) -> Result<(), Failure> {
    let mut reads = read.to_vec();
    reads.extend(arguments.queries.clone());
    for input in [&arguments.original, &arguments.released] {
        let engine = inputs::engine(input, &policy.input, Settings::default())?;
        reads.extend(engine.source().paths().map(PathBuf::from));
        inputs::check_beside(path, input)?;
    }
    inputs::check_outputs(&[path], &reads, arguments.overwrite)
}
