//! Adult: penalties and errors of queries against k.

use hashbrown::HashMap;
use moretta_chart::{Axis, Line};
use moretta_core::{
    evaluate::queries::{self, Draw},
    text::count,
};

use super::{BOTTOM_UP, METHODS, MONDRIAN, TOP_DOWN, WIDEST, policy};
use crate::{
    adult::{MIXED, SetUp, TRAIN},
    document::{Document, span, where_not},
    error::PaperError,
    lab::{Lab, Table},
};

const ADULT: SetUp = SetUp { hierarchies: None, ..MIXED };
/// The columns with a taxonomy; the other categories are flat.
const TAXONOMIES: [&str; 2] = ["workclass", "marital-status"];
const KS: [u64; 6] = [2, 5, 10, 25, 50, 100];
/// Queries of one draw, and draws: a mean of relative errors is moved by a few queries.
const QUERIES: usize = 1000;
const DRAWS: u64 = 5;

/// What a method did with one k.
#[derive(Debug, Clone, Copy)]
struct Figures {
    gcp: f64,
    ncp: f64,
    dm: f64,
    /// The mean relative error of counts and sums, and half of the counts have less than the last.
    count: f64,
    sum: f64,
    median: f64,
    /// The share of counts that are more than twice the truth, and the mean error of the others.
    doubled: f64,
    others: f64,
    seconds: f64,
}

/// One of the figures.
type Value = fn(&Figures) -> f64;

pub(super) fn run(lab: &Lab<'_>, document: &mut Document) -> Result<(), PaperError> {
    let mut trees = HashMap::new();
    for name in TAXONOMIES {
        trees.insert(name.to_owned(), lab.data.tree(&format!("adult/hierarchies/{name}.csv"))?);
    }
    let table = Table { counts: ADULT.counts(&ADULT.rows(&lab.data, TRAIN)?), trees };
    document.section(
        "Adult",
        &format!(
            "The training set, {} records. Age and education-num as numbers, workclass and marital-status with the \
             hierarchies of the project, occupation, race, sex and native-country flat; all weights 1. Errors are relative, of {DRAWS} x {} \
             random COUNT and as many SUM(age) queries on all columns: their mean, and of COUNT the median, the share of answers that are more than \
             twice the truth, and the mean error of the others.",
            count(table.counts.records),
            count(QUERIES as u64)
        ),
    );
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    for k in KS {
        let mut of_k = Vec::new();
        for (name, method) in METHODS {
            lab.step(&format!("paper 4: {name}, k = {k}"))?;
            let now = figures(lab, &table, k, method)?;
            rows.push(vec![
                format!("{name}, k = {k}"),
                format!("{:.4}", now.gcp),
                count(now.ncp.round() as u64),
                count(now.dm as u64),
                format!("{:.3}", now.count),
                format!("{:.3}", now.median),
                format!("{:.1} %", 100.0 * now.doubled),
                format!("{:.3}", now.others),
                format!("{:.3}", now.sum),
                format!("{:.2}", now.seconds),
            ]);
            of_k.push(now);
        }
        all.push(of_k);
    }
    let head = ["method", "GCP", "NCP", "DM", "COUNT error", "median", "doubled", "others", "SUM error", "seconds"];
    document.table(&head, &rows);
    claims(document, &all);
    charts(document, &all);
    Ok(())
}

fn figures(lab: &Lab<'_>, table: &Table, k: u64, method: &str) -> Result<Figures, PaperError> {
    let policy = policy(k, method, ADULT.columns, &[], &TAXONOMIES)?;
    let run = lab.run(&policy, table)?;
    let released = run.trial.verified.released();
    let (mut counts, mut sums) = (Vec::new(), Vec::new());
    for seed in 1..=DRAWS {
        let plan = Draw { count: QUERIES, seed, columns: None };
        let compared = queries::compare(&run.profile, released, &policy.release, None, &plan)?;
        counts.extend(compared.count.answered);
        sums.extend(compared.sum.into_iter().flat_map(|sum| sum.answered));
    }
    let errors: Vec<f64> = counts.iter().filter_map(|answered| answered.error()).collect();
    let others: Vec<f64> = errors.iter().copied().filter(|&error| error <= 1.0).collect();
    let (counts, sums) = (queries::errors(&counts), queries::errors(&sums));
    Ok(Figures {
        gcp: run.measure("gcp"),
        ncp: run.measure("ncp"),
        dm: run.measure("dm"),
        count: counts.mean.unwrap_or(f64::NAN),
        sum: sums.mean.unwrap_or(f64::NAN),
        median: counts.median.unwrap_or(f64::NAN),
        doubled: 1.0 - others.len() as f64 / errors.len() as f64,
        others: others.iter().sum::<f64>() / others.len() as f64,
        seconds: run.seconds,
    })
}

/// What was published, and whether it is so here, against Mondrian as published and against ours.
fn claims(document: &mut Document, all: &[Vec<Figures>]) {
    let below: [(&str, Value); 5] = [
        ("NCP", |figures| figures.ncp),
        ("DM", |figures| figures.dm),
        ("mean error of COUNT", |figures| figures.count),
        ("median error of COUNT", |figures| figures.median),
        ("mean error of SUM", |figures| figures.sum),
    ];
    for (what, value) in below {
        for at in [TOP_DOWN, BOTTOM_UP] {
            for rival in [WIDEST, MONDRIAN] {
                let lower = KS.iter().zip(all).map(|(k, row)| (k, value(&row[at]) < value(&row[rival])));
                let (said, holds) = where_not("k", lower);
                let (name, against) = (METHODS[at].0, METHODS[rival].0);
                document.claim(&format!("{what} of {name} below that of {against}"), "at every k", said, holds);
            }
        }
    }
    for at in [TOP_DOWN, BOTTOM_UP] {
        let (least, most) = span(all.iter().map(|row| row[WIDEST].ncp - row[at].ncp));
        let ours = format!("{} to {}", count(least.max(0.0) as u64), count(most.max(0.0) as u64));
        let holds = most >= 20_000.0;
        document.claim(
            &format!("NCP of {} below that of Mondrian, widest, by", METHODS[at].0),
            "about 20,000",
            ours,
            holds,
        );
    }
    for (at, published) in [(TOP_DOWN, "5 to 6 times slower"), (BOTTOM_UP, "far slower")] {
        let (least, most) = span(all.iter().map(|row| row[at].seconds / row[WIDEST].seconds));
        let ours = format!("{least:.0} to {most:.0} times");
        document.claim(&format!("{} against Mondrian, widest", METHODS[at].0), published, ours, least >= 1.0);
    }
    let share = |value: Value, at: usize, row: &[Figures]| value(&row[at]) < value(&row[WIDEST]);
    let last = &all[all.len() - 1];
    if [TOP_DOWN, BOTTOM_UP].iter().any(|&at| !share(|f| f.count, at, last)) {
        let said = |at: usize| {
            let Figures { doubled, others, .. } = last[at];
            format!("{} {:.1} % and {others:.3}", METHODS[at].0, 100.0 * doubled)
        };
        document.why(&format!(
            "**Queries at k = {}.** The mean relative error is made by few queries with a true answer of a handful of records. Of answers more than \
             twice the truth, and as mean error of all others, there are: {}; {}; {}. A method that spreads every group widely hardly ever answers \
             too much. The median is lower with the local methods at every k.",
            KS[KS.len() - 1],
            said(TOP_DOWN),
            said(BOTTOM_UP),
            said(WIDEST)
        ));
    }
    document.why(
        "**Times.** Our Mondrian takes hundredths of a second, so that ratios to it are of other things than in 2006; and the \
         local methods polish their groups afterwards. Seconds are in the table.",
    );
}

fn charts(document: &mut Document, all: &[Vec<Figures>]) {
    let charts: [(&str, &'static str, Value, bool); 5] = [
        ("ncp", "NCP", |figures| figures.ncp, false),
        ("dm", "DM", |figures| figures.dm, true),
        ("count", "relative error of COUNT", |figures| figures.count, false),
        ("sum", "relative error of SUM", |figures| figures.sum, false),
        ("seconds", "seconds", |figures| figures.seconds, true),
    ];
    for (file, title, value, log) in charts {
        let line = |(at, (name, _)): (usize, &(&str, &str))| Line {
            name: (*name).to_owned(),
            points: KS.iter().zip(all).map(|(&k, row)| (k as f64, value(&row[at]))).collect(),
        };
        let axes = (Axis { title: "k", log: true }, Axis { title, log });
        document.chart(file, &format!("Adult: {title}"), axes, METHODS.iter().enumerate().map(line).collect());
    }
}
