//! The experiment of Campan, Cooper and Truta: what k-member clustering loses with each hierarchy over the same numbers.

use std::{error::Error, fmt::Write as _, fs};

use hashbrown::HashMap;
use moretta_chart::{Axis, Chart, Line};

use crate::{
    adult::{self, BOTH},
    k_member::{NUMBERS, run_policy},
    machine, results,
};

/// The hierarchies in the order of the tables: name, and what the policy says for a column.
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
const KS: std::ops::RangeInclusive<u64> = 2..=20;
/// The first seed of a clustering is chance: the mean of these many.
const SEEDS: u64 = 5;

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = adult::data() else {
        eprintln!("SKIPPED numeric-hierarchies: no Adult data; set MORETTA_DATA to the folder that has adult/");
        return Ok(());
    };
    let counts = NUMBERS.counts(&NUMBERS.rows(&data, BOTH)?);
    // By measure, hierarchy and k.
    let mut values = vec![vec![Vec::new(); HIERARCHIES.len()]; MEASURES.len()];
    for (at, (_, hierarchy)) in HIERARCHIES.iter().enumerate() {
        for k in KS {
            let mut policy = format!("version = 1\nprivacy.k = {k}\nmethod.name = \"k-member\"\n");
            for (column, _) in NUMBERS.columns {
                let how = hierarchy(column);
                policy +=
                    &format!("[columns.{column}]\nrole = \"quasi-identifier\"\ntype = \"number\"\nhierarchy = {how}\n");
            }
            let policy = moretta_core::policy::Policy::parse(&policy, &moretta_core::search::method_names())?;
            let mut sums = [0.0; MEASURES.len()];
            for seed in 0..SEEDS {
                let run = run_policy(&policy, &HashMap::new(), &counts, (seed, 1))?;
                MEASURES.iter().zip(&mut sums).for_each(|((name, _), sum)| *sum += run.measure(name));
            }
            sums.iter().zip(&mut values).for_each(|(sum, values)| values[at].push(sum / SEEDS as f64));
        }
    }
    let mut text = format!(
        "# Hierarchies for numbers, built from the data\n\nMade by `benchmarks/run numeric-hierarchies` on {}.\n\nThe experiment of Campan, Cooper and Truta (SDM 2011): Adult, all 45,222 complete records; age, education-num and hours-per-week;\nk-member clustering for k = 2..20, each the mean of {SEEDS} seeds. *Predefined*: intervals of widths 5, 10, 20, 40 (education-num: 2, 4, 8). Han with\nfan-out 5 and threshold 4, Chu with threshold 2. *Free*: any interval. Less is better in all five.\n\n",
        machine::described()
    );
    text += &verdict(&values);
    for ((name, title), values) in MEASURES.iter().zip(&values) {
        write!(text, "\n## {title}\n\n| k |")?;
        HIERARCHIES.iter().for_each(|(hierarchy, _)| text += &format!(" {hierarchy} |"));
        writeln!(text, "\n| ---: |{}", " ---: |".repeat(HIERARCHIES.len()))?;
        for (row, k) in KS.enumerate() {
            write!(text, "| {k} |")?;
            for of_hierarchy in values {
                match *name {
                    "dm" => write!(text, " {:.0} |", of_hierarchy[row])?,
                    _ => write!(text, " {:.4} |", of_hierarchy[row])?,
                }
            }
            writeln!(text)?;
        }
        let line = |(at, (name, _)): (usize, &Hierarchy)| Line {
            name: (*name).to_owned(),
            points: KS.map(|k| k as f64).zip(values[at].iter().copied()).collect(),
        };
        let chart = Chart {
            title: format!("{title}, k-member on Adult"),
            x: Axis { title: "k", log: false },
            y: Axis { title, log: false },
            lines: HIERARCHIES.iter().enumerate().map(line).collect(),
        };
        let file = format!("numeric-hierarchies-{}.svg", name.replace('_', "-"));
        fs::write(results(&file), chart.svg())?;
        writeln!(text, "\n![{title}]({file})")?;
    }
    fs::write(results("numeric-hierarchies.md"), &text)?;
    print!("{text}");
    Ok(())
}

/// Where the published ranking holds, and where not.
fn verdict(values: &[Vec<Vec<f64>>]) -> String {
    let mut text = String::from("| published | here |\n| --- | --- |\n");
    for (measure, (_, title)) in MEASURES.iter().enumerate().take(2) {
        for (at, (name, _)) in HIERARCHIES.iter().enumerate().skip(1).take(4) {
            let lower = |row: &usize| values[measure][0][*row] < values[measure][at][*row];
            text += &format!("| IOTF below {name} in {title} for every k | {} |\n", where_not(lower));
        }
        let free = |row: &usize| values[measure][5][*row] < values[measure][0][*row];
        text += &format!("| free below IOTF in {title} for every k | {} |\n", where_not(free));
    }
    for measure in [3, 4] {
        let (at, title) = (measure, MEASURES[measure].1);
        let most = KS.enumerate().map(|(row, _)| {
            let three = [0, 1, 2].map(|hierarchy: usize| values[at][hierarchy][row]);
            let (least, most) = three.iter().fold((f64::MAX, f64::MIN), |(a, b), v| (a.min(*v), b.max(*v)));
            most / least - 1.0
        });
        let most = 100.0 * most.fold(0.0, f64::max);
        text += &format!("| IOTF, OTF and Chu about equal in {title} | within {most:.2} % of each other |\n");
    }
    let ones = |at: usize| KS.enumerate().filter(|(row, _)| values[2][at][*row] >= 0.999_999).count();
    let ones: Vec<String> =
        HIERARCHIES.iter().enumerate().take(5).map(|(at, (name, _))| format!("{name} {}", ones(at))).collect();
    text + &format!(
        "| NIL_inf is 1 in nearly every case with a hierarchy | of {} values of k: {} |\n",
        KS.count(),
        ones.join(", ")
    )
}

fn where_not(holds: impl Fn(&usize) -> bool) -> String {
    let not: Vec<String> = KS.enumerate().filter(|(row, _)| !holds(row)).map(|(_, k)| k.to_string()).collect();
    if not.is_empty() { "yes".to_owned() } else { format!("**not** for k = {}", not.join(", ")) }
}
