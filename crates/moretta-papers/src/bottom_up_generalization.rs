//! Wang, Yu, Chakraborty (ICDM 2004): errors of a classifier after bottom-up generalization, and how long it takes.

use moretta_chart::{Axis, Line};
use moretta_core::{
    evaluate::{self, Errors},
    path,
    profile::Profile,
    recoding::saved::Saved,
    text::count,
};

use crate::{
    adult::{BOTH, CATEGORIES, SetUp, TEST, TRAIN},
    document::{Document, percent, points, span},
    error::PaperError,
    lab::{Lab, Run, Table},
};

const KS: [u64; 8] = [10, 20, 50, 100, 150, 200, 300, 500];
/// Published: the errors on the data as it is and at the root, the greatest difference that K made, seconds for the index
/// and for the search at 30,162 records, and at 1,356,660 records without pruning.
const PUBLISHED_B: f64 = 0.174;
const PUBLISHED_W: f64 = 0.246;
const PUBLISHED_MORE: f64 = 0.011;
const PUBLISHED_SECONDS: (f64, f64) = (7.0, 22.0);
const PUBLISHED_LARGE: (u64, f64) = (1_356_660, 730.0);
/// How far from a published error ours may be.
const NEAR: f64 = 0.005;
/// Errors that differ by no more are the same to the tenth of a point that the paper prints.
const ROUNDING: f64 = 0.0005;
/// Copies, random columns and the K of the large tables.
const COPIES: [usize; 5] = [1, 5, 10, 20, 30];
const RANDOM_COLUMNS: usize = 3;
const LARGE_K: u64 = 150;

/// Ways to run it: name, parameters, and hierarchies of another kind.
const WAYS: [(&str, &str, &str); 4] = [
    ("plain, as published", "take-back = false", "hierarchies"),
    ("with take-back", "search = 0\npartial = false", "hierarchies"),
    ("default", "", "hierarchies"),
    ("plain, other hierarchies", "take-back = false", "hierarchies-arx"),
];
const PLAIN: usize = 0;
const TAKE_BACK: usize = 1;
const DEFAULT: usize = 2;
/// The last steps of a climb that are shown.
const LAST: usize = 3;

/// The errors of each way at each K.
type Found = Vec<Vec<Errors>>;

pub(crate) fn run(lab: &Lab<'_>) -> Result<Document, PaperError> {
    let mut document = Document::new(
        "1-bottom-up-generalization",
        "Bottom-up generalization",
        "Wang, Yu, Chakraborty: Bottom-up generalization: a data mining solution to privacy protection, ICDM 2004. Adult, \
         30,162 training and 15,060 test records, seven categorical quasi-identifiers, class income. The recoding is \
         found on the training set and applied to the test set; errors are those of a C4.5 tree there.",
    );
    let mut found: Found = Vec::new();
    for (name, parameters, hierarchies) in WAYS {
        let set_up = SetUp { hierarchies: Some(hierarchies), ..CATEGORIES };
        let tables = (set_up.table(&lab.data, TRAIN)?, set_up.table(&lab.data, TEST)?);
        let mut errors = Vec::new();
        for k in KS {
            lab.step(&format!("paper 1: {name}, K = {k}"))?;
            errors.push(errors_of(lab, &set_up, &tables, (k, parameters))?.0);
        }
        found.push(errors);
    }
    baselines(&mut document, &found);
    table(&mut document, &found);
    climb(lab, &mut document)?;
    scale(lab, &mut document)?;
    Ok(document)
}

fn errors_of(
    lab: &Lab<'_>,
    set_up: &SetUp,
    (train, test): &(Table, Table),
    (k, parameters): (u64, &str),
) -> Result<(Errors, Run), PaperError> {
    let method = format!("name = \"bottom-up-generalization\"\n{parameters}");
    let policy = set_up.policy(&format!("k = {k}"), &method)?;
    let run = lab.run(&policy, train)?;
    let recoding = run.trial.verified.recoding();
    let saved = Saved::of(&policy, &train.trees, &run.profile, recoding);
    let test = saved.profile(&mut test.counts.clone())?;
    Ok((evaluate::errors(&run.profile, recoding, &saved, &test)?, run))
}

fn baselines(document: &mut Document, found: &Found) {
    let Errors { raw, root, .. } = found[PLAIN][0];
    let near = |ours: f64, published: f64| (ours - published).abs() <= NEAR;
    document.claim("B, error on the data as it is", "17.4 %", percent(raw), near(raw, PUBLISHED_B));
    document.claim("W, error with all columns at the root", "24.6 %", percent(root), near(root, PUBLISHED_W));
    let more = |way: usize| found[way].iter().map(|errors| errors.released - errors.raw);
    for way in [PLAIN, TAKE_BACK, DEFAULT] {
        let (least, most) = span(more(way));
        let holds = most <= PUBLISHED_MORE;
        let ours = format!("{} to {} points", points(least), points(most));
        document.claim(&format!("E - B for K = 10..500, {}", WAYS[way].0), "at most 1.1 points", ours, holds);
    }
    for way in [TAKE_BACK, DEFAULT] {
        let differences = found[way].iter().zip(&found[PLAIN]).map(|(way, plain)| way.released - plain.released);
        let (least, most) = span(differences);
        let ours = format!("by {} to {} points", points(-most), points(-least));
        let what = format!("E lower than plain, {}", WAYS[way].0);
        document.claim(&what, "(beyond the paper)", ours, most <= ROUNDING && least < 0.0);
    }
}

fn table(document: &mut Document, found: &Found) {
    document.section(
        "Errors",
        "E for each way to run it. *Plain* climbs and stops, as published. *Take-back* then takes back what is not \
         needed. *Default* also searches for a better cut and generalises single children where that is enough. *Other \
         hierarchies*: plain, with those of the ARX project; the taxonomies of the paper are not at hand.",
    );
    let head: Vec<&str> = ["K"].into_iter().chain(WAYS.iter().map(|(name, ..)| *name)).collect();
    let row = |(at, k): (usize, &u64)| {
        let errors = found.iter().map(|way| percent(way[at].released));
        [k.to_string()].into_iter().chain(errors).collect()
    };
    document.table(&head, &KS.iter().enumerate().map(row).collect::<Vec<_>>());
    let line = |name: &str, value: &dyn Fn(usize) -> f64| Line {
        name: name.to_owned(),
        points: KS.iter().enumerate().map(|(at, k)| (*k as f64, 100.0 * value(at))).collect(),
    };
    let mut lines: Vec<Line> =
        WAYS.iter().zip(found).map(|((name, ..), way)| line(name, &|at| way[at].released)).collect();
    lines.push(line("B, as it is", &|at| found[PLAIN][at].raw));
    lines.push(line("W, at the root", &|at| found[PLAIN][at].root));
    let axes = (Axis { title: "K", log: true }, Axis { title: "error, %", log: false });
    document.chart("errors", "Errors on the test set", axes, lines);
}

/// The last steps of the plain climb, where it goes wrong.
fn climb(lab: &Lab<'_>, document: &mut Document) -> Result<(), PaperError> {
    document.section(
        "The last steps of the plain climb",
        "Every step takes the generalization with the least information loss for each unit of anonymity that it brings, \
         and K caps the anonymity that counts. *CM*: records not of their group's majority class.",
    );
    let table = CATEGORIES.table(&lab.data, TRAIN)?;
    let mut rows = Vec::new();
    for k in [50, 100, 500] {
        let method = "name = \"bottom-up-generalization\"\ntake-back = false";
        let policy = CATEGORIES.policy(&format!("k = {k}"), method)?;
        let run = lab.run(&policy, &table)?;
        let points = path::measured(&run.profile, &policy, &run.trial.path, &[], lab.control);
        let points = points.ok_or(PaperError::Interrupted)?;
        for pair in points.windows(2).skip((points.len() - 1).saturating_sub(LAST)) {
            let changes: Vec<String> =
                pair[1].changes.iter().map(|change| format!("{} to {}", change.column, change.to)).collect();
            let cm = |at: usize| percent(pair[at].measures.get("cm").unwrap_or(f64::NAN));
            let anonymity = format!("{} to {}", count(pair[0].anonymity), count(pair[1].anonymity));
            rows.push(vec![k.to_string(), changes.join(", "), anonymity, format!("{} to {}", cm(0), cm(1))]);
        }
    }
    document.table(&["K", "generalization", "anonymity", "CM"], &rows);
    document.why(
        "**E - B of the plain climb is far above 1.1 points for K of 100 and more.** The table of its last steps shows why. Up to K = 50 \
         it ends by closing parts of occupation. From 100 on, closing marital-status, which tells most about the class, leaps past what \
         is asked in one step, and divided by so much anonymity even that loss is the least. Taking back cannot undo the one step that \
         reaches K. Which step leaps depends on the taxonomies, and the published ones are not at hand: ours have the same columns and numbers of \
         leaves and levels; with those of ARX the same climb errs otherwise (last column of the table of errors). The climb is the published one: it takes the \
         steps of the paper's example, and those of a naive implementation on random tables (tests in `search/bottom_up_generalization`). What a \
         user gets by default looks further than one climb, and stays well within the published difference at every K.",
    );
    Ok(())
}

/// Seconds against records.
fn scale(lab: &Lab<'_>, document: &mut Document) -> Result<(), PaperError> {
    document.section(
        "Scale",
        &format!(
            "Both sets (45,222 records), each record with s - 1 variations that have random values in {RANDOM_COLUMNS} random \
             columns; K = {LARGE_K}, plain. *Index*: from counted rows to the profile that is searched. The ratio to a search without \
             pruning and to a naive one is in [bottom-up-generalization.md](../bottom-up-generalization.md)."
        ),
    );
    let rows_of_both = CATEGORIES.rows(&lab.data, BOTH)?;
    let trees = CATEGORIES.trees(&lab.data)?;
    let method = "name = \"bottom-up-generalization\"\ntake-back = false";
    let policy = CATEGORIES.policy(&format!("k = {LARGE_K}"), method)?;
    let (mut rows, mut line) = (Vec::new(), Vec::new());
    for s in COPIES {
        lab.step(&format!("paper 1: enlarged {s} times"))?;
        let table =
            Table { counts: CATEGORIES.enlarged_counts(&rows_of_both, s, RANDOM_COLUMNS, 1), trees: trees.clone() };
        let start = std::time::Instant::now();
        let profile = Profile::build(&policy, &table.trees, &table.counts)?;
        let index = start.elapsed().as_secs_f64();
        let run = lab.run(&policy, &table)?;
        let records = count(table.counts.records);
        rows.push(vec![
            s.to_string(),
            records,
            count(profile.tuples() as u64),
            format!("{index:.2}"),
            format!("{:.2}", run.seconds),
            count(run.trial.worked("iterations")),
            count(run.trial.worked("vids_touched")),
        ]);
        line.push((table.counts.records as f64, run.seconds));
        if table.counts.records == PUBLISHED_LARGE.0 {
            let ours = format!("{:.2} s with pruning", run.seconds);
            let what = format!("{} records, search", count(PUBLISHED_LARGE.0));
            document.claim(&what, "730 s without pruning, Pentium IV", ours, run.seconds < PUBLISHED_LARGE.1);
        }
    }
    document.table(&["s", "records", "distinct", "index, s", "search, s", "iterations", "vids touched"], &rows);
    let axes = (Axis { title: "records", log: true }, Axis { title: "search, s", log: true });
    document.chart("scale", "Search against records", axes, vec![Line { name: "plain".to_owned(), points: line }]);
    let small = CATEGORIES.table(&lab.data, TRAIN)?;
    let start = std::time::Instant::now();
    Profile::build(&policy, &small.trees, &small.counts)?;
    let index = start.elapsed().as_secs_f64();
    let run = lab.run(&policy, &small)?;
    let ours = format!("{index:.2} s and {:.2} s", run.seconds);
    let holds = index < PUBLISHED_SECONDS.0 && run.seconds < PUBLISHED_SECONDS.1;
    document.claim("30,162 records, index and search", "7 s and 22 s, Pentium IV", ours, holds);
    Ok(())
}
