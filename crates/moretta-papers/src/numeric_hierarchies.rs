//! Campan, Cooper, Truta (SDM 2011): loss of k-member clustering with different hierarchies over the same numbers.

use moretta_pages::chart::Axis;
use rayon::prelude::*;

use crate::{
    adult::{BOTH, NUMBERS},
    document::{Document, line_by, span},
    error::PaperError,
    experiment::{self, Experiment},
};

/// Name of a hierarchy and the policy text for a column, in the order of the tables.
type Hierarchy = (&'static str, fn(&str) -> &'static str);
const HIERARCHIES: [Hierarchy; 6] = [
    ("IOTF", |_| "\"iotf\""),
    ("OTF", |_| "\"otf\""),
    ("Chu", |_| "\"chu\""),
    ("Han", |_| "\"han\""),
    ("predefined", |column| match column {
        "education-num" => "{ widths = [2, 4, 8] }",
        _ => "{ widths = [5, 10, 20, 40] }",
    }),
    ("free", |_| "\"free\""),
];
const MEASURES: [(&str, &str); 5] =
    [("ntil", "NTIL"), ("nil1", "NIL_1"), ("nil_inf", "NIL_inf"), ("dm", "DM"), ("avg", "AVG")];
/// Indices into [`HIERARCHIES`] and [`MEASURES`].
const IOTF: usize = 0;
const OTF: usize = 1;
const CHU: usize = 2;
const HAN: usize = 3;
const PREDEFINED: usize = 4;
const FREE: usize = 5;
const NIL_INF: usize = 2;
const DM: usize = 3;
const AVG: usize = 4;
const KS: std::ops::RangeInclusive<u64> = 2..=20;
/// Runs with different seeds that are averaged: clustering starts at a random record.
const SEEDS: u64 = 5;
/// Relative difference of "about equal", and minimum share of "nearly every", as we read the paper.
const ABOUT: f64 = 0.05;
const NEARLY: f64 = 0.7;

/// Values by measure, hierarchy and k.
type Values = Vec<Vec<Vec<f64>>>;

pub(crate) fn run(experiment: &Experiment<'_>) -> Result<Document, PaperError> {
    let mut document = Document::new(
        "3-numeric-hierarchies",
        "Hierarchies for numbers, built from the data",
        "Campan, Cooper, Truta: On-the-fly generalization hierarchies for numerical attributes revisited, SDM 2011. \
         Adult, all 45,222 complete records; age, education-num and hours-per-week as numbers; greedy k-member \
         clustering for k = 2..20.",
    );
    document.section(
        "How it was made",
        &format!(
            "Each value is the mean of {SEEDS} seeds, because the first record of a clustering is random. \
             *Predefined*: intervals of widths 5, 10, 20, 40 (education-num: 2, 4, 8). Han with fan-out 5 and \
             threshold 4, Chu with threshold 2. *Free*: any interval. Lower is better in all five measures."
        ),
    );
    let values = measured(experiment)?;
    claims(&mut document, &values)?;
    tables(&mut document, &values);
    Ok(document)
}

fn measured(experiment: &Experiment<'_>) -> Result<Values, PaperError> {
    let table = NUMBERS.table(&experiment.data, BOTH)?;
    let mut values = vec![vec![Vec::new(); HIERARCHIES.len()]; MEASURES.len()];
    for (at, (name, hierarchy)) in HIERARCHIES.iter().enumerate() {
        for k in KS {
            experiment.step(&format!("paper 3: {name}, k = {k}"))?;
            let mut text = format!("privacy.k = {k}\nmethod.name = \"k-member\"\n");
            for column in NUMBERS.columns {
                let how = hierarchy(column);
                text +=
                    &format!("[columns.{column}]\nrole = \"quasi-identifier\"\ntype = \"number\"\nhierarchy = {how}\n");
            }
            let policy = experiment::policy(&text)?;
            let of_seed = |seed: u64| {
                let run = experiment.run_seeded(&policy, &table, seed)?;
                MEASURES.iter().map(|(name, _)| run.measure(name)).collect()
            };
            let seeds: Result<Vec<Vec<f64>>, PaperError> = (0..SEEDS).into_par_iter().map(of_seed).collect();
            let seeds = seeds?;
            for (measure, values) in values.iter_mut().enumerate() {
                values[at].push(seeds.iter().map(|found| found[measure]).sum::<f64>() / SEEDS as f64);
            }
        }
    }
    Ok(values)
}

/// Compares with the published rankings of the hierarchies.
fn claims(document: &mut Document, values: &Values) -> Result<(), PaperError> {
    let ks = || KS.enumerate();
    for (measure, (_, title)) in MEASURES.iter().enumerate().take(NIL_INF) {
        for (at, (name, _)) in HIERARCHIES.iter().enumerate().take(FREE).skip(OTF) {
            let lower = ks().map(|(row, k)| (k, values[measure][IOTF][row] < values[measure][at][row]));
            document.claim_of_each(&format!("{title} of IOTF below {name}"), "for every k", "k", lower);
        }
        let free = ks().map(|(row, k)| (k, values[measure][FREE][row] < values[measure][IOTF][row]));
        document.claim_of_each(&format!("{title} without a hierarchy below IOTF"), "for every k", "k", free);
        let worst = ks().map(|(row, k)| {
            let others = [IOTF, OTF, CHU].map(|at| values[measure][at][row]).into_iter().fold(0.0, f64::max);
            (k, values[measure][HAN][row] > others && values[measure][PREDEFINED][row] > others)
        });
        document.claim_of_each(&format!("{title} of Han and predefined the worst"), "for every k", "k", worst);
    }
    for (at, title) in [(DM, "DM"), (AVG, "AVG")] {
        let mut apart = Vec::new();
        for (row, _) in ks() {
            let (least, most) = span([IOTF, OTF, CHU].map(|hierarchy| values[at][hierarchy][row]).into_iter())?;
            apart.push(most / least - 1.0);
        }
        let (_, most) = span(apart.into_iter())?;
        let ours = format!("within {:.1} % of each other", 100.0 * most);
        document.claim(&format!("{title} of IOTF, OTF and Chu, within 5 %"), "about equal", ours, most <= ABOUT);
    }
    let ones = |at: usize| ks().filter(|(row, _)| values[NIL_INF][at][*row] >= 0.999_999).count();
    let each: Vec<String> =
        HIERARCHIES.iter().enumerate().take(FREE).map(|(at, (name, _))| format!("{name} {}", ones(at))).collect();
    let all: usize = (0..FREE).map(ones).sum();
    let holds = all as f64 >= NEARLY * (FREE * KS.count()) as f64;
    let ours = format!("of {} values of k: {}", KS.count(), each.join(", "));
    document.claim("NIL_inf is 1 with a hierarchy, in at least 7 of 10 cases", "in nearly every case", ours, holds);
    Ok(())
}

fn tables(document: &mut Document, values: &Values) {
    for ((name, title), values) in MEASURES.iter().zip(values) {
        document.section(title, "");
        let head: Vec<&str> = ["k"].into_iter().chain(HIERARCHIES.iter().map(|(name, _)| *name)).collect();
        let cell = |value: f64| if *name == "dm" { format!("{value:.0}") } else { format!("{value:.4}") };
        let ks: Vec<u64> = KS.collect();
        document.table_by(&head, &ks, |row| values.iter().map(|of| cell(of[row])).collect());
        let axes = (Axis { title: "k", log: false }, Axis { title, log: false });
        let lines = HIERARCHIES.iter().zip(values).map(|((name, _), of)| line_by(*name, &ks, |at| of[at])).collect();
        document.chart(&name.replace('_', "-"), &format!("{title}, k-member on Adult"), axes, lines);
    }
}
