//! Inferences that the original data allows, and classification errors by number of sensitive columns.

use moretta_core::{hierarchy::Hierarchies, profile::Profile};
use moretta_insight::{
    evaluate::{Errors, Spread, mean},
    inferences::{self, Question, THRESHOLDS},
};
use moretta_pages::chart::{Axis, Line};
use rayon::prelude::*;

use super::{
    claims::{self, PUBLISHED, Published},
    credit::{CRX, DataSet, GERMAN, Loaded, policy},
};
use crate::{
    data::Random,
    document::{Document, percent, points},
    error::PaperError,
    experiment::Experiment,
};

/// Published numbers of inferences with confidence above 10, 30, 50, 70 and 90 %.
const PUBLISHED_INFERENCES: [(&DataSet, [u64; 5]); 2] =
    [(&CRX, [40, 27, 15, 8, 6]), (&GERMAN, [496, 337, 174, 162, 161])];
/// Random draws of sensitive columns.
const DRAWS: usize = 30;

/// Counts the inferences that the original data allows.
pub(super) fn inferences(experiment: &Experiment<'_>, document: &mut Document) -> Result<(), PaperError> {
    document.section(
        "Inferences in the raw data",
        "Number of combinations of the other columns from which a guarded value can be inferred with a confidence \
         above h, with all TopN columns sensitive.",
    );
    let mut rows = Vec::new();
    for (set, published) in PUBLISHED_INFERENCES {
        let loaded = Loaded::read(experiment, set)?;
        let policy = policy(set, set.top, 0.9)?;
        let profile = Profile::of_release(&policy, &Hierarchies::default(), &loaded.all(&policy))?;
        let found = inferences::find(&profile, &Question::of_policy(&policy, &profile)?, 0.9, Some(0));
        let ours = found.all.above.map(|tally| tally.inferences);
        let listed = |counts: [u64; 5]| counts.map(|count| count.to_string()).join(", ");
        let what = format!("{}, inferences above 10, 30, 50, 70, 90 %", set.name);
        document.claim(&what, &listed(published), listed(ours), ours == published);
        for (name, counts) in [("published", published), ("ours", ours)] {
            let cells = counts.iter().map(ToString::to_string);
            rows.push([format!("{}, {name}", set.name)].into_iter().chain(cells).collect::<Vec<_>>());
        }
    }
    let head: Vec<String> =
        ["data".to_owned()].into_iter().chain(THRESHOLDS.iter().map(|h| format!("above {}", percent(*h)))).collect();
    document.table(&head, &rows);
    Ok(())
}

/// Errors with the first `columns` sensitive columns and one max-confidence; `None` if the policy cannot be satisfied.
pub(super) struct ErrorsFor {
    pub(super) columns: usize,
    pub(super) confidence: f64,
    pub(super) errors: Option<Spread>,
}

/// Errors for the first N sensitive columns, and for N random ones.
pub(super) fn all(experiment: &Experiment<'_>, document: &mut Document) -> Result<(), PaperError> {
    for published in &PUBLISHED {
        let loaded = Loaded::read(experiment, published.set)?;
        let mut found = Vec::new();
        for columns in 1..=published.set.top.len() {
            for &confidence in published.set.confidences {
                let name = published.set.name;
                experiment.step(&format!("paper 2: {name}, Top{columns}, h = {}", percent(confidence)))?;
                let policy = policy(published.set, &published.set.top[..columns], confidence)?;
                let errors = loaded.errors(experiment, &policy)?.and_then(|errors| Spread::of(&errors));
                found.push(ErrorsFor { columns, confidence, errors });
            }
        }
        section(document, published, &found);
        claims::add(document, published, &found, loaded.majority())?;
        if published.set.hierarchies.is_none() {
            random(experiment, document, &loaded)?;
        }
    }
    Ok(())
}

pub(super) fn shown(value: f64, deviation: Option<f64>) -> String {
    deviation.map_or(percent(value), |deviation| format!("{} ± {:.1}", percent(value), 100.0 * deviation))
}

fn section(document: &mut Document, published: &Published, found: &[ErrorsFor]) {
    let set = published.set;
    let how = match (set.hierarchies, set.draws) {
        (Some(_), _) => {
            "As before, but with the hierarchies of the project: if a value cannot be disclosed, its parent may be. \
             The paper names this as an extension."
                .to_owned()
        }
        (None, None) => "The original training and test set, without hierarchies, as published.".to_owned(),
        _ => "The published split is not available: stratified splits of the published sizes; mean and standard \
             deviation."
            .to_owned(),
    };
    let top = set.top.join(", ");
    document.section(
        &format!("{}: the first N columns sensitive", set.name),
        &format!("{} categorical columns; TopN makes the first N of these sensitive: {top}. {how}", set.columns.len()),
    );
    let row = |found: &ErrorsFor| {
        let mut row = vec![format!("Top{}", found.columns), percent(found.confidence)];
        match &found.errors {
            None => row.extend(["cannot be met", "", "", "", ""].map(str::to_owned)),
            Some(Spread { mean, deviation }) => {
                let of = |value: fn(&Errors) -> f64| shown(value(mean), deviation.as_ref().map(value));
                row.extend([of(|e| e.raw), of(|e| e.released), of(|e| e.removed.unwrap_or(f64::NAN))]);
                let removed = mean.removed.unwrap_or(f64::NAN);
                row.extend([points(mean.released - mean.raw), points(removed - mean.released)]);
            }
        }
        row
    };
    let rows: Vec<Vec<String>> = found.iter().map(row).collect();
    document.table(&["sensitive", "h", "BE", "SE", "RE", "SE - BE", "RE - SE"], &rows);
    let at = |value: fn(&Errors) -> f64, h: f64| -> Vec<(f64, f64)> {
        let at = found.iter().filter(|found| found.confidence == h);
        at.filter_map(|found| Some((found.columns as f64, 100.0 * value(&found.errors.as_ref()?.mean)))).collect()
    };
    let widest = set.confidences[set.confidences.len() - 1];
    let mut lines: Vec<Line> = set
        .confidences
        .iter()
        .map(|&h| Line { name: format!("SE, h = {:.0} %", 100.0 * h), points: at(|e| e.released, h) })
        .collect();
    lines.push(Line { name: "BE".to_owned(), points: at(|e| e.raw, widest) });
    lines.push(Line { name: "RE".to_owned(), points: at(|e| e.removed.unwrap_or(f64::NAN), widest) });
    let axes = (Axis { title: "sensitive columns", log: false }, Axis { title: "error, %", log: false });
    let name = format!("{}-errors", set.name.to_lowercase().replace(' ', "-"));
    document.chart(&name, &format!("{}: errors against N of TopN", set.name), axes, lines);
}

/// RanN: N random sensitive columns, averaged over draws.
fn random(experiment: &Experiment<'_>, document: &mut Document, loaded: &Loaded) -> Result<(), PaperError> {
    let set = loaded.set;
    document.paragraph(&format!(
        "RanN: N random sensitive columns, the mean of {DRAWS} draws. Draws for which a template cannot be met even \
         with everything suppressed are left out and counted."
    ));
    let mut rows = Vec::new();
    for columns in 1..=set.top.len() {
        let mut random = Random(columns as u64);
        let draws: Vec<Vec<&str>> = (0..DRAWS).map(|_| draw(&mut random, set.columns, columns)).collect();
        for &confidence in set.confidences {
            experiment.step(&format!("paper 2: {}, Ran{columns}, h = {}", set.name, percent(confidence)))?;
            let errors = |sensitive: &Vec<&str>| {
                let errors = loaded.errors(experiment, &policy(set, sensitive, confidence)?)?;
                Ok(errors.and_then(|errors| Spread::of(&errors)).map(|spread| spread.mean))
            };
            let found: Result<Vec<Option<Errors>>, PaperError> = draws.par_iter().map(errors).collect();
            let found: Vec<Errors> = found?.into_iter().flatten().collect();
            let of = |value: fn(&Errors) -> f64| mean(&found.iter().map(value).collect::<Vec<_>>());
            let said = |value: Option<f64>| value.map_or(String::new(), percent);
            let less = |a: Option<f64>, b: Option<f64>| a.zip(b).map_or(String::new(), |(a, b)| points(a - b));
            let (raw, released) = (of(|e| e.raw), of(|e| e.released));
            let removed = of(|e| e.removed.unwrap_or(f64::NAN));
            rows.push(vec![
                format!("Ran{columns}"),
                percent(confidence),
                said(raw),
                said(released),
                said(removed),
                less(released, raw),
                less(removed, released),
                (DRAWS - found.len()).to_string(),
            ]);
        }
    }
    document.table(&["sensitive", "h", "BE", "SE", "RE", "SE - BE", "RE - SE", "cannot be met"], &rows);
    Ok(())
}

/// Draws `num_drawn` different columns.
fn draw(random: &mut Random, columns: &[&'static str], num_drawn: usize) -> Vec<&'static str> {
    let mut left: Vec<&'static str> = columns.to_vec();
    (0..num_drawn).map(|_| left.swap_remove(random.below(left.len()))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use moretta_core::search::NoObserver;

    use super::*;
    use crate::{
        data::Data,
        top_down_disclosure::{claims::NEAR, credit::ADULT},
    };

    /// Skipped if the data sets are not available.
    #[test]
    fn the_baselines_are_the_published_ones() {
        let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        let folder = std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from);
        if !folder.join("crx/crx.csv").is_file() {
            eprintln!("SKIPPED the_baselines_are_the_published_ones: set MORETTA_DATA to the folder that has crx/");
            return;
        }
        let experiment = Experiment { data: Data::new(folder), observer: &NoObserver, report: &|_| {} };
        for published in &PUBLISHED {
            let set = published.set;
            let loaded = Loaded::read(&experiment, set).unwrap();
            let policy = policy(set, &set.top[..1], 0.9).unwrap();
            let found = Spread::of(&loaded.errors(&experiment, &policy).unwrap().unwrap()).unwrap();
            let spread = found.deviation.map_or(NEAR, |deviation| deviation.raw.max(NEAR));
            let (ours, name) = (found.mean.raw, set.name);
            assert!((ours - published.base).abs() <= spread, "{name}: {ours} against {}", published.base);
            if let Some(more) = published.more {
                let more_here = found.mean.released - ours;
                assert!(more_here < more, "{name}: {more_here}");
            }
        }
    }

    #[test]
    fn drawn_columns_are_different_ones() {
        let mut random = Random(1);
        for wanted in 0..=ADULT.columns.len() {
            let mut drawn = draw(&mut random, ADULT.columns, wanted);
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn.len(), wanted);
        }
    }
}
