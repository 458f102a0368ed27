//! `moretta hierarchy build`: writes the hierarchy that a policy with the same settings would build.

use clap::ValueEnum;
use moretta_core::{
    dates::DateFormat,
    hierarchy::{
        DateLevel, HierarchyChoice, ValueParser, file,
        numeric::{self, Built},
    },
    schema::Kind,
};
use moretta_flow::{BuildHierarchy, FlowError, OutputFile};

use super::{super::run_request, described};
use crate::{
    arguments::{
        BuildKind,
        Builder::{self, Bins, Chu, Dates, EqualFrequency, EqualWidth, Han, Iotf, Otf, Prefix, Widths},
        CalendarLevel, HierarchyBuild, Resources,
    },
    stdout::{print, print_data},
    summary,
};

pub fn run(arguments: HierarchyBuild) -> Result<(), FlowError> {
    check_flags(&arguments)?;
    let format = arguments
        .format
        .as_deref()
        .map(DateFormat::new)
        .transpose()
        .map_err(|problem| FlowError::usage(format!("--format: {problem}; for example --format %d.%m.%Y")))?;
    let reading = ValueParser::new(kind(&arguments), format.as_ref());
    let choice = choice(&arguments);
    let HierarchyBuild { input, column, missing, output, overwrite, .. } = arguments;
    let output = OutputFile { path: output, overwrite };
    let request = BuildHierarchy { input: input.into(), column, missing, reading, choice, output };
    let tree = run_request(&Resources::default(), |session| session.build_hierarchy(&request))?;
    match &request.output.path {
        None => print_data(&file::write(&tree)),
        Some(output) => print(&format!("wrote {}: {}\n", summary::file_name(output), described(&tree))),
    }
}

fn kind(arguments: &HierarchyBuild) -> Kind {
    match (arguments.method, arguments.kind) {
        (Prefix, _) => Kind::Category,
        (Dates, _) | (_, Some(BuildKind::Date)) => Kind::Date,
        (_, Some(BuildKind::Number) | None) => Kind::Number,
    }
}

/// Returns the `hierarchy` of a policy with these settings.
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

/// Refuses flags that the method ignores.
fn check_flags(arguments: &HierarchyBuild) -> Result<(), FlowError> {
    let dated = kind(arguments) == Kind::Date;
    if arguments.format.is_some() && !dated {
        return Err(FlowError::usage("`--format` is for dates; add `--type date` or `--method dates`"));
    }
    if dated && matches!(arguments.method, Widths | Bins) {
        return Err(FlowError::usage(format!(
            "`--method {}` is for numbers; for dates use `--method dates` or a method that builds from the data",
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
            Err(FlowError::usage(format!("`--{flag}` has no effect with `--method {method}`; it is for: {methods}")))
        }
    }
}

fn name(method: Builder) -> String {
    method.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
