//! Wang, Yu, Chakraborty (ICDM 2004): classification error after bottom-up generalization, and running time.

use moretta_core::{profile::Profile, text::count};
use moretta_insight::{
    evaluate::{self, Errors},
    tradeoff::{self, Point},
};
use moretta_pages::chart::{Axis, Line};

use crate::{
    adult::{BOTH, CATEGORIES, SetUp, TEST, TRAIN},
    document::{Document, line_by, percent, points, span},
    error::PaperError,
    experiment::{Experiment, ExperimentTable},
};

const KS: [u64; 8] = [10, 20, 50, 100, 150, 200, 300, 500];
/// Published errors: on the original data, with all columns at the root, and the greatest increase over all K.
const PUBLISHED_B: f64 = 0.174;
const PUBLISHED_W: f64 = 0.246;
const PUBLISHED_MORE: f64 = 0.011;
/// Maximum difference from a published error that counts as agreement.
const NEAR: f64 = 0.005;
/// Errors are equal if they differ by at most 0.1 percentage points, the precision that the paper prints.
const ROUNDING: f64 = 0.001;
/// Enlarged tables: copies, random columns and K.
const COPIES: [usize; 5] = [1, 5, 10, 20, 30];
const RANDOM_COLUMNS: usize = 3;
const LARGE_K: u64 = 150;

/// Variants of the method: name, parameters, and folder of the hierarchies.
const VARIANTS: [(&str, &str, &str); 4] = [
    ("plain, as published", "take-back = false", "hierarchies"),
    ("with take-back", "search = 0\npartial = false", "hierarchies"),
    ("default", "", "hierarchies"),
    ("plain, other hierarchies", "take-back = false", "hierarchies-arx"),
];
const PLAIN: usize = 0;
const TAKE_BACK: usize = 1;
const DEFAULT: usize = 2;
/// K of the searches whose paths are examined, and the number of last steps shown.
const CLIMBS: [u64; 3] = [50, 100, 500];
const LAST: usize = 3;

/// Errors by variant and K.
type ErrorsByVariant = Vec<Vec<Errors>>;

pub(crate) fn run(experiment: &Experiment<'_>) -> Result<Document, PaperError> {
    let mut document = Document::new(
        "1-bottom-up-generalization",
        "Bottom-up generalization",
        "Wang, Yu, Chakraborty: Bottom-up generalization: a data mining solution to privacy protection, ICDM 2004. \
         Adult, 30,162 training and 15,060 test records, seven categorical quasi-identifiers, class income. The \
         recoding is found on the training set and applied to the test set; errors are those of a C4.5 tree there.",
    );
    let mut errors_by_variant: ErrorsByVariant = Vec::new();
    for (name, parameters, hierarchies) in VARIANTS {
        let set_up = SetUp { hierarchies, ..CATEGORIES };
        let tables = (set_up.table(&experiment.data, TRAIN)?, set_up.table(&experiment.data, TEST)?);
        let mut errors = Vec::new();
        for k in KS {
            experiment.step(&format!("paper 1: {name}, K = {k}"))?;
            errors.push(errors_of(experiment, &set_up, &tables, (k, parameters))?);
        }
        errors_by_variant.push(errors);
    }
    let climbs = climbs(experiment)?;
    claims(&mut document, &errors_by_variant, &climbs)?;
    table(&mut document, &errors_by_variant);
    last_steps(&mut document, &climbs);
    scale(experiment, &mut document)?;
    Ok(document)
}

fn errors_of(
    experiment: &Experiment<'_>,
    set_up: &SetUp,
    (train, test): &(ExperimentTable, ExperimentTable),
    (k, parameters): (u64, &str),
) -> Result<Errors, PaperError> {
    let method = format!("name = \"bottom-up-generalization\"\n{parameters}");
    let policy = set_up.policy(&format!("k = {k}"), &method)?;
    let run = experiment.run(&policy, train)?;
    Ok(evaluate::tested(&policy, &train.trees, (&run.profile, &run.recoding), test.counts.clone())?.0)
}

fn claims(document: &mut Document, errors_by_variant: &ErrorsByVariant, climbs: &[Climb]) -> Result<(), PaperError> {
    let Errors { raw, root, .. } = errors_by_variant[PLAIN][0];
    let near = |ours: f64, published: f64| (ours - published).abs() <= NEAR;
    document.claim("B, error on the data as it is, within 0.5 points", "17.4 %", percent(raw), near(raw, PUBLISHED_B));
    document.claim(
        "W, error with all columns at the root, within 0.5 points",
        "24.6 %",
        percent(root),
        near(root, PUBLISHED_W),
    );
    let why = why(climbs);
    for way in [PLAIN, TAKE_BACK, DEFAULT] {
        let (least, most) = span(errors_by_variant[way].iter().map(|errors| errors.released - errors.raw))?;
        let ours = format!("{} to {} points", points(least), points(most));
        let what = format!("E - B for K = 10..500, {}", VARIANTS[way].0);
        document.claim(&what, "at most 1.1 points", ours, most <= PUBLISHED_MORE).because(&why);
    }
    for way in [TAKE_BACK, DEFAULT] {
        let differences = errors_by_variant[way]
            .iter()
            .zip(&errors_by_variant[PLAIN])
            .map(|(way, plain)| way.released - plain.released);
        let (least, most) = span(differences)?;
        let ours = format!("by {} to {} points", points(-most), points(-least));
        let what = format!("E lower than plain (or the same, to 0.1 points), {}", VARIANTS[way].0);
        document.claim(&what, "(beyond the paper)", ours, most <= ROUNDING && least < 0.0);
    }
    Ok(())
}

/// Explains from its steps where the plain search ends.
fn why(climbs: &[Climb]) -> String {
    let worst = |climb: &Climb| {
        let cm = |point: &Point| point.measures.get("cm").unwrap_or(0.0);
        let rise = |pair: &[Point]| cm(&pair[1]) - cm(&pair[0]);
        let worst = climb.points.windows(2).max_by(|a, b| rise(a).total_cmp(&rise(b)))?;
        let (before, after) = (percent(cm(&worst[0])), percent(cm(&worst[1])));
        Some(format!("K = {}: {}, CM {before} to {after}", climb.k, described(worst)))
    };
    let worst: Vec<String> = climbs.iter().filter_map(worst).collect();
    format!(
        "Each step takes the generalization with the least information loss per gained anonymity, counted up to K. A \
         generalization that gains much anonymity at once wins however much it loses, and take-back cannot revert the \
         one step that reaches K. For each K, the step with the largest loss: {}. Which step this is depends on the \
         taxonomies. The published ones are not available: ours have the same columns and numbers of leaves and \
         levels, and with those of ARX the errors differ (last column of the table of errors). The steps are those of \
         the paper's example, and those of a naive implementation on random tables (tests in \
         `search/bottom_up_generalization`).",
        worst.join("; ")
    )
}

fn table(document: &mut Document, errors_by_variant: &ErrorsByVariant) {
    document.section(
        "Errors",
        "E for each variant of the method. *Plain* stops when K is reached, as published. *Take-back* then reverts \
         unneeded steps. *Default* also searches for a better cut and generalizes single children if that is enough. \
         *Other hierarchies*: plain, with those of the ARX project; the taxonomies of the paper are not available.",
    );
    let head: Vec<&str> = ["K"].into_iter().chain(VARIANTS.iter().map(|(name, ..)| *name)).collect();
    document.table_by(&head, &KS, |at| errors_by_variant.iter().map(|way| percent(way[at].released)).collect());
    let ways = VARIANTS.iter().zip(errors_by_variant);
    let mut lines: Vec<Line> =
        ways.map(|((name, ..), way)| line_by(*name, &KS, |at| 100.0 * way[at].released)).collect();
    lines.push(line_by("B, as it is", &KS, |at| 100.0 * errors_by_variant[PLAIN][at].raw));
    lines.push(line_by("W, at the root", &KS, |at| 100.0 * errors_by_variant[PLAIN][at].root));
    let axes = (Axis { title: "K", log: true }, Axis { title: "error, %", log: false });
    document.chart("errors", "Errors on the test set", axes, lines);
}

/// All points of the path of a plain search.
struct Climb {
    k: u64,
    points: Vec<Point>,
}

fn climbs(experiment: &Experiment<'_>) -> Result<Vec<Climb>, PaperError> {
    let table = CATEGORIES.table(&experiment.data, TRAIN)?;
    let climb = |&k: &u64| {
        experiment.step(&format!("paper 1: the climb for K = {k}"))?;
        let method = "name = \"bottom-up-generalization\"\ntake-back = false";
        let policy = CATEGORIES.policy(&format!("k = {k}"), method)?;
        let run = experiment.run(&policy, &table)?;
        let all: Vec<usize> = (1..=run.path.len()).collect();
        let points = tradeoff::measured(&run.profile, &policy, &run.path, &all, experiment.observer);
        Ok(Climb { k, points: points.ok_or(PaperError::Interrupted)? })
    };
    CLIMBS.iter().map(climb).collect()
}

/// Describes a step with the anonymity before and after it.
fn described(pair: &[Point]) -> String {
    let changes: Vec<String> =
        pair[1].changes.iter().map(|change| format!("{} to {}", change.column, change.to)).collect();
    let (before, after) = (count(pair[0].anonymity), count(pair[1].anonymity));
    format!("{}, anonymity {before} to {after}", changes.join(", "))
}

fn last_steps(document: &mut Document, climbs: &[Climb]) {
    document.section(
        "The last steps of the plain method",
        "*CM*: the share of records that are not of their group's majority class.",
    );
    let mut rows = Vec::new();
    for Climb { k, points } in climbs {
        for pair in points.windows(2).skip((points.len() - 1).saturating_sub(LAST)) {
            let cm = |at: usize| percent(pair[at].measures.get("cm").unwrap_or(f64::NAN));
            rows.push(vec![format!("K = {k}"), described(pair), format!("{} to {}", cm(0), cm(1))]);
        }
    }
    document.table(&["climb", "generalization", "CM"], &rows);
}

/// Seconds by number of records.
fn scale(experiment: &Experiment<'_>, document: &mut Document) -> Result<(), PaperError> {
    document.section(
        "Scale",
        &format!(
            "Both sets (45,222 records), each record with s - 1 variations that have random values in \
             {RANDOM_COLUMNS} random columns; K = {LARGE_K}, plain. *Index*: from counted rows to the profile. The \
             ratio to a search without pruning and to a naive one is in \
             [bottom-up-generalization.md](../bottom-up-generalization.md)."
        ),
    );
    let rows_of_both = CATEGORIES.rows(&experiment.data, BOTH)?;
    let method = "name = \"bottom-up-generalization\"\ntake-back = false";
    let policy = CATEGORIES.policy(&format!("k = {LARGE_K}"), method)?;
    let (mut rows, mut line) = (Vec::new(), Vec::new());
    for s in COPIES {
        experiment.step(&format!("paper 1: enlarged {s} times"))?;
        let table = CATEGORIES.enlarged(&experiment.data, &rows_of_both, (s, RANDOM_COLUMNS))?;
        let start = std::time::Instant::now();
        let profile = Profile::build(&policy, &table.trees, &table.counts)?;
        let index = start.elapsed().as_secs_f64();
        let run = experiment.run(&policy, &table)?;
        let records = count(table.counts.records);
        rows.push(vec![
            s.to_string(),
            records,
            count(profile.tuples() as u64),
            format!("{index:.2}"),
            format!("{:.2}", run.seconds),
            count(run.worked("iterations")),
            count(run.worked("vids_touched")),
        ]);
        line.push((table.counts.records as f64, run.seconds));
        if s == COPIES[COPIES.len() - 1] {
            let ours = format!("{:.2} s with pruning", run.seconds);
            let what = format!("{} records, search", count(table.counts.records));
            document.aside(&what, "730 s without pruning, Pentium IV", ours);
        }
    }
    document.table(&["s", "records", "distinct", "index, s", "search, s", "iterations", "vids touched"], &rows);
    let axes = (Axis { title: "records", log: true }, Axis { title: "search, s", log: true });
    document.chart("scale", "Search against records", axes, vec![Line { name: "plain".to_owned(), points: line }]);
    let small = CATEGORIES.table(&experiment.data, TRAIN)?;
    let start = std::time::Instant::now();
    Profile::build(&policy, &small.trees, &small.counts)?;
    let index = start.elapsed().as_secs_f64();
    let run = experiment.run(&policy, &small)?;
    let ours = format!("{index:.2} s and {:.2} s", run.seconds);
    document.aside("30,162 records, index and search", "7 s and 22 s, Pentium IV", ours);
    Ok(())
}
