//! Local recoding, top-down and bottom-up, against Mondrian: what each loses on Adult, how well its release answers
//! queries, what weights are good for, and how seconds grow.

use std::{error::Error, fmt::Write as _, fs, path::Path, time::Instant};

use hashbrown::HashMap;
use moretta_chart::{Axis, Chart, Line};
use moretta_core::{
    counts::Counts,
    evaluate::queries::{self, Aggregate, Boxes, Condition, Draw, Original, Query},
    hierarchy::{Tree, file},
    ids::ColumnId,
    measure::{self, Measures, Scene},
    policy::Policy,
    privacy,
    profile::Profile,
    schema::Kind,
    search::{self, Quiet, Task, method_names},
    text::count,
    verify::{self, Verified},
};

use crate::{
    adult::{self, BOTH, MIXED, Random, SetUp, TRAIN},
    best, machine, results,
};

const ADULT: SetUp = SetUp { hierarchies: None, ..MIXED };
/// The columns with a taxonomy; the other categories are flat.
const TAXONOMIES: [&str; 2] = ["workclass", "marital-status"];
/// Numbers, as many columns as wanted.
const NUMBERS: &[(&str, Kind)] = &[
    ("A1", Kind::Number),
    ("A2", Kind::Number),
    ("A3", Kind::Number),
    ("A4", Kind::Number),
    ("A5", Kind::Number),
    ("A6", Kind::Number),
];
const KS: [u64; 6] = [2, 5, 10, 25, 50, 100];
const TURNS: usize = 3;
/// Queries of one draw, and draws: a mean of relative errors is moved by a few queries.
const QUERIES: usize = 1000;
const DRAWS: u64 = 5;

/// The methods: name in tables, and what the policy says.
const METHODS: [(&str, &str); 4] = [
    ("local-top-down", "name = \"local-top-down\""),
    ("local-bottom-up", "name = \"local-bottom-up\""),
    ("Mondrian", "name = \"mondrian\""),
    ("Mondrian, widest", "name = \"mondrian\"\nchoose = \"widest\""),
];

/// Where figures differ from the published ones, and why.
const WHY: &str = "\nAt k = 100 *widest* has the lower mean because hardly any of its answers is more than twice the truth: a few such answers make most of the\ndifference. The errors of all other answers, and the median, are lower with the local methods.\n";

/// The weights of the published experiment.
const WEIGHTS: [u32; 4] = [8, 4, 2, 1];
const SYNTHETIC_RECORDS: usize = 10_000;
const SYNTHETIC_K: u64 = 10;

/// Records in the tables of the growth, and up to where bottom-up joins in.
const SIZES: [usize; 4] = [30_000, 100_000, 300_000, 1_000_000];
const BOTTOM_UP_UP_TO: usize = 100_000;
const GROWTH_K: u64 = 10;
/// Every record of the enlarged table has so many variations with itself, in so many columns.
const ENLARGED: (usize, usize) = (23, 3);
/// Where blocks are held against the whole table, and their sizes; 0: the whole table.
const BLOCKED_SIZES: [usize; 2] = [100_000, 300_000];
const BLOCKS: [u64; 4] = [10_000, 40_000, 100_000, 0];

/// A table, and what a policy says about its columns.
struct Table {
    counts: Counts,
    trees: HashMap<String, Tree>,
}

impl Table {
    fn policy(&self, k: u64, method: &str, weights: &[u32]) -> Result<Policy, Box<dyn Error>> {
        let mut text = format!("version = 1\nprivacy.k = {k}\n[method]\n{method}\n");
        let kinds = ADULT.columns.iter().chain(NUMBERS);
        let kinds: HashMap<&str, Kind> = kinds.copied().collect();
        for (at, column) in self.counts.columns.iter().enumerate() {
            let name = &column.name;
            let how = match kinds.get(name.as_str()) {
                Some(Kind::Number) => "type = \"number\"".to_owned(),
                _ if self.trees.contains_key(name) => format!("hierarchy = \"{name}.csv\""),
                _ => "type = \"category\"".to_owned(),
            };
            let weight = weights.get(at).unwrap_or(&1);
            writeln!(text, "[columns.{name}]\nrole = \"quasi-identifier\"\nweight = {weight}\n{how}")?;
        }
        Ok(Policy::parse(&text, &method_names())?)
    }

    /// Runs a method several times; the best time counts. Then looks at the release.
    fn run<T>(
        &self,
        policy: &Policy,
        turns: usize,
        look: impl FnOnce(&Profile, &Verified) -> Result<T, Box<dyn Error>>,
    ) -> Result<(f64, T), Box<dyn Error>> {
        let profile = Profile::build(policy, &self.trees, &self.counts)?;
        let models = privacy::bind_all(policy, &profile)?;
        let task = Task { profile: &profile, models: &models, max_suppressed: 0, seed: 1 };
        let method = search::method_of(policy)?;
        let (mut seconds, mut outcome) = (Vec::new(), None);
        for _ in 0..turns {
            let start = Instant::now();
            outcome = Some(method.run(&task, &Quiet)?);
            seconds.push(start.elapsed().as_secs_f64());
        }
        let recoding = outcome.ok_or("no turns")?.recoding;
        let verified = verify::verify(&profile, recoding, &models, &policy.release, 0)?;
        Ok((best(&seconds), look(&profile, &verified)?))
    }
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = adult::data() else {
        eprintln!("SKIPPED local-recoding: no Adult data; set MORETTA_DATA to the folder that has adult/");
        return Ok(());
    };
    let mut text = format!(
        "# Local recoding: top-down and bottom-up against Mondrian\n\nMade by `benchmarks/run local-recoding` on {}.\n",
        machine::described()
    );
    text += &quality(&data)?;
    text += &weights()?;
    text += &growth(&data)?;
    text += &blocks(&data)?;
    fs::write(results("local-recoding.md"), &text)?;
    print!("{text}");
    Ok(())
}

fn taxonomies(data: &Path) -> Result<HashMap<String, Tree>, Box<dyn Error>> {
    let mut trees = HashMap::new();
    for name in TAXONOMIES {
        let text = fs::read_to_string(data.join(format!("adult/hierarchies/{name}.csv")))?;
        trees.insert(name.to_owned(), file::parse(&text)?);
    }
    Ok(trees)
}

/// One of the figures.
type Value = fn(&Figures) -> f64;

/// A table's name, and the table with so many records.
type Source<'a> = (&'static str, Box<dyn Fn(usize) -> Counts + 'a>);

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

fn quality(data: &Path) -> Result<String, Box<dyn Error>> {
    let table = Table { counts: ADULT.counts(&ADULT.rows(data, TRAIN)?), trees: taxonomies(data)? };
    let mut text = format!(
        "\n## Adult\n\nThe training set, {} records, {} distinct tuples. Age and education-num as numbers, workclass and marital-status with the\nhierarchies of the project, occupation, race, sex and native-country flat; all weights 1. Errors are relative, of {DRAWS} x {} random COUNT and as\nmany SUM(age) queries on all columns: their mean, and of COUNT the median, the share of answers that are more than twice the truth,\nand the mean error of the others. *Mondrian* is ours as it comes, *widest* cuts as\npublished. Best of {TURNS} turns.\n\n| k | method | GCP | NCP | DM | COUNT error | median | doubled | others | SUM error | seconds |\n| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        count(table.counts.records),
        count(table.counts.rows() as u64),
        count(QUERIES as u64)
    );
    // By k and method.
    let mut all: Vec<Vec<Figures>> = Vec::new();
    for k in KS {
        let mut row = Vec::new();
        for (name, method) in METHODS {
            let now = figures(&table, k, method)?;
            writeln!(
                text,
                "| {k} | {name} | {:.4} | {:.0} | {:.0} | {:.3} | {:.3} | {:.1} % | {:.3} | {:.3} | {:.2} |",
                now.gcp,
                now.ncp,
                now.dm,
                now.count,
                now.median,
                100.0 * now.doubled,
                now.others,
                now.sum,
                now.seconds
            )?;
            row.push(now);
        }
        all.push(row);
    }
    text += &verdict(&all);
    let charts: [(&str, &'static str, Value, bool); 4] = [
        ("gcp", "GCP", |figures| figures.gcp, false),
        ("dm", "DM", |figures| figures.dm, true),
        ("error", "relative error of COUNT", |figures| figures.count, false),
        ("seconds", "seconds", |figures| figures.seconds, true),
    ];
    for (file, title, value, log) in charts {
        let line = |(at, (name, _)): (usize, &(&str, &str))| Line {
            name: (*name).to_owned(),
            points: KS.iter().zip(&all).map(|(&k, row)| (k as f64, value(&row[at]))).collect(),
        };
        let chart = Chart {
            title: format!("Adult, 30,162 records: {title}"),
            x: Axis { title: "k", log: true },
            y: Axis { title, log },
            lines: METHODS.iter().enumerate().map(line).collect(),
        };
        let file = format!("local-recoding-{file}.svg");
        fs::write(results(&file), chart.svg())?;
        writeln!(text, "\n![{title}]({file})")?;
    }
    Ok(text)
}

fn figures(table: &Table, k: u64, method: &str) -> Result<Figures, Box<dyn Error>> {
    let policy = table.policy(k, method, &[])?;
    let look = |profile: &Profile, verified: &Verified| {
        let weights = measure::weights(&policy);
        let scene =
            Scene { released: verified.released(), records: profile, weights: &weights, k: Some(k), goals: &[] };
        let measures = Measures::of(&scene, true);
        let (mut counts, mut sums) = (Vec::new(), Vec::new());
        for seed in 1..=DRAWS {
            let plan = Draw { count: QUERIES, seed, columns: None };
            let compared = queries::compare(profile, verified.released(), &policy.release, None, &plan)?;
            counts.extend(compared.count.answered);
            sums.extend(compared.sum.into_iter().flat_map(|sum| sum.answered));
        }
        let errors: Vec<f64> = counts.iter().filter_map(|answered| answered.error()).collect();
        let others: Vec<f64> = errors.iter().copied().filter(|&error| error <= 1.0).collect();
        let (counts, sums) = (queries::errors(&counts), queries::errors(&sums));
        let value = |name: &str| measures.get(name).unwrap_or(f64::NAN);
        Ok(Figures {
            gcp: value("gcp"),
            ncp: value("ncp"),
            dm: value("dm"),
            count: counts.mean.unwrap_or(f64::NAN),
            sum: sums.mean.unwrap_or(f64::NAN),
            median: counts.median.unwrap_or(f64::NAN),
            doubled: 1.0 - others.len() as f64 / errors.len() as f64,
            others: others.iter().sum::<f64>() / others.len() as f64,
            seconds: f64::NAN,
        })
    };
    let (seconds, figures) = table.run(&policy, TURNS, look)?;
    Ok(Figures { seconds, ..figures })
}

/// What was published, and whether it is so here, against both Mondrians.
fn verdict(all: &[Vec<Figures>]) -> String {
    let mut text = String::from(
        "\n| published | method | against Mondrian | against Mondrian, widest |\n| --- | --- | --- | --- |\n",
    );
    let below: [(&str, Value); 5] = [
        ("lower NCP at every k", |figures| figures.ncp),
        ("lower DM", |figures| figures.dm),
        ("less error of COUNT", |figures| figures.count),
        ("(median)", |figures| figures.median),
        ("less error of SUM", |figures| figures.sum),
    ];
    for (claim, value) in below {
        for (at, (name, _)) in METHODS.iter().enumerate().take(2) {
            let against = |rival: usize| {
                let not = KS.iter().zip(all).filter(|(_, row)| value(&row[at]) >= value(&row[rival]));
                let not: Vec<String> = not.map(|(k, _)| k.to_string()).collect();
                if not.is_empty() { "yes".to_owned() } else { format!("**not** for k = {}", not.join(", ")) }
            };
            text += &format!("| {claim} | {name} | {} | {} |\n", against(2), against(3));
        }
    }
    let span = |value: &dyn Fn(&[Figures]) -> f64| {
        let values = all.iter().map(|row| value(row));
        values.fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)))
    };
    for (at, (name, _)) in METHODS.iter().enumerate().take(2) {
        let less = [2, 3].map(|rival: usize| span(&|row: &[Figures]| row[rival].ncp - row[at].ncp));
        let less =
            less.map(|(least, most)| format!("{} to {}", count(least.max(0.0) as u64), count(most.max(0.0) as u64)));
        text += &format!("| NCP about 20,000 lower | {name} | {} | {} |\n", less[0], less[1]);
    }
    for (at, claim) in ["5 to 6 times slower", "far slower"].iter().enumerate() {
        let times = [2, 3].map(|rival: usize| span(&|row: &[Figures]| row[at].seconds / row[rival].seconds));
        let times = times.map(|(least, most)| format!("{least:.0} to {most:.0} times"));
        text += &format!("| {claim} | {} | {} | {} |\n", METHODS[at].0, times[0], times[1]);
    }
    text + WHY
}

/// Queries on the first columns, answered by releases with and without weights.
fn weights() -> Result<String, Box<dyn Error>> {
    let mut text = format!(
        "\n## Weights\n\n{} records, four columns of whole numbers from 1 to 16, k = {SYNTHETIC_K}; *Gaussian* around 8.5 with a standard deviation of 2. The mean relative error of {} random COUNT\nqueries on the first columns, with all weights 1 and with weights 8, 4, 2, 1.\n\n| values | method | weights | A1 | A1 A2 | A1 A2 A3 | A1 A2 A3 A4 |\n| --- | --- | --- | ---: | ---: | ---: | ---: |\n",
        count(SYNTHETIC_RECORDS as u64),
        count(QUERIES as u64)
    );
    for (values, value) in [("uniform", uniform as fn(&mut Random) -> usize), ("Gaussian", gaussian)] {
        let table = Table { counts: synthetic(SYNTHETIC_RECORDS, 4, value), trees: HashMap::new() };
        for (name, method) in METHODS.iter().take(3) {
            for weights in [[1; 4], WEIGHTS] {
                let policy = table.policy(SYNTHETIC_K, method, &weights)?;
                let look = |profile: &Profile, verified: &Verified| {
                    let boxes = Boxes::new(profile, verified.released(), &policy.release)?;
                    let original = Original::new(profile);
                    let errors = (1..=4).map(|columns| {
                        let answered = queries::ask(&original, &boxes, &ranges(columns));
                        queries::errors(&answered).mean.unwrap_or(f64::NAN)
                    });
                    Ok(errors.collect::<Vec<f64>>())
                };
                let (_, errors) = table.run(&policy, 1, look)?;
                write!(text, "| {values} | {name} | {} |", weights.map(|weight| weight.to_string()).join(", "))?;
                errors.iter().for_each(|error| text += &format!(" {error:.4} |"));
                text += "\n";
            }
        }
    }
    Ok(text)
}

/// Random ranges in the first columns.
fn ranges(columns: usize) -> Vec<Query> {
    let mut random = Random(columns as u64);
    let mut range = |column: usize| {
        let (one, other) = (1 + random.below(16), 1 + random.below(16));
        (ColumnId::from_index(column), Condition::Between(one.min(other) as f64, one.max(other) as f64))
    };
    let mut query = || Query { aggregate: Aggregate::Count, conditions: (0..columns).map(&mut range).collect() };
    (0..QUERIES).map(|_| query()).collect()
}

fn synthetic(records: usize, columns: usize, value: fn(&mut Random) -> usize) -> Counts {
    let set_up = SetUp { columns: &NUMBERS[..columns], ..ADULT };
    let mut random = Random(1);
    let row = |random: &mut Random| (0..columns).map(|_| value(random).to_string()).collect();
    let rows: Vec<Vec<String>> = (0..records).map(|_| row(&mut random)).collect();
    set_up.counts(&rows)
}

fn uniform(random: &mut Random) -> usize {
    1 + random.below(16)
}

/// Twelve uniform numbers make one that is near enough.
fn gaussian(random: &mut Random) -> usize {
    let sum: usize = (0..12).map(|_| random.below(1000)).sum();
    let normal = (sum as f64 - 5994.0) / 1000.0;
    (8.5 + 2.0 * normal).round().clamp(1.0, 16.0) as usize
}

fn many(random: &mut Random) -> usize {
    1 + random.below(200)
}

fn growth(data: &Path) -> Result<String, Box<dyn Error>> {
    let (s, r) = ENLARGED;
    let mut text = format!(
        "\n## Growth\n\nk = {GROWTH_K}, one turn. *Adult, enlarged*: as many of its records as needed, each with {} variations that have random values in {r} random\ncolumns; *16 values*: four columns of uniform numbers from 1 to 16; *200 values*: six columns of uniform numbers from 1 to 200, so that hardly two\nrecords are alike. Seconds of the search, and GCP; the exponent e of seconds like n^e is from the row before, and in the last row of each table\nover all rows.\n",
        s - 1
    );
    let rows = ADULT.rows(data, BOTH)?;
    let tables: [Source<'_>; 3] = [
        ("Adult, enlarged", Box::new(|records| ADULT.enlarged_counts(&rows[..records.div_ceil(s)], s, r, 1))),
        ("16 values", Box::new(|records| synthetic(records, 4, uniform))),
        ("200 values", Box::new(|records| synthetic(records, 6, many))),
    ];
    let trees = taxonomies(data)?;
    let mut lines = Vec::new();
    for (title, counts) in &tables {
        writeln!(
            text,
            "\n### {title}\n\n| records | distinct tuples | top-down | GCP | e | bottom-up | GCP | e | Mondrian | GCP |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
        )?;
        let mut known: [Vec<(f64, f64)>; 2] = [Vec::new(), Vec::new()];
        for size in SIZES {
            let trees = if *title == "Adult, enlarged" { trees.clone() } else { HashMap::new() };
            let table = Table { counts: counts(size), trees };
            let records = table.counts.records as f64;
            write!(text, "| {} | {} |", count(table.counts.records), count(table.counts.rows() as u64))?;
            for (at, (_, method)) in METHODS.iter().enumerate().take(3) {
                if at == 1 && size > BOTTOM_UP_UP_TO {
                    text += " | | |";
                    continue;
                }
                let policy = table.policy(GROWTH_K, method, &[])?;
                let (seconds, gcp) = table.run(&policy, 1, |profile, verified| Ok(gcp(&policy, profile, verified)))?;
                write!(text, " {seconds:.2} | {gcp:.4} |")?;
                if let Some(known) = known.get_mut(at) {
                    let last = known.last().map_or(String::new(), |&last| exponent(last, (records, seconds)));
                    write!(text, " {last} |")?;
                    known.push((records, seconds));
                }
            }
            text += "\n";
        }
        let over_all = known.each_ref().map(|points| exponent(points[0], points[points.len() - 1]));
        writeln!(text, "| | | | | **{}** | | | **{}** | | |", over_all[0], over_all[1])?;
        for (points, (name, _)) in known.into_iter().zip(METHODS) {
            lines.push(Line { name: format!("{}, {title}", name.replace("local-", "")), points });
        }
    }
    let chart = Chart {
        title: format!("Local recoding, k = {GROWTH_K}"),
        x: Axis { title: "records", log: true },
        y: Axis { title: "seconds", log: true },
        lines,
    };
    fs::write(results("local-recoding-growth.svg"), chart.svg())?;
    Ok(text + "\n![growth](local-recoding-growth.svg)\n")
}

/// What blocks save, and what they cost.
fn blocks(data: &Path) -> Result<String, Box<dyn Error>> {
    let mut text = format!(
        "\n## Blocks\n\nThe enlarged Adult, k = {GROWTH_K}: short groups look for others in a block of at most so many records, or in the whole table.\n\n| records | block | top-down | GCP |\n| ---: | ---: | ---: | ---: |\n"
    );
    let (s, r) = ENLARGED;
    let rows = ADULT.rows(data, BOTH)?;
    for size in BLOCKED_SIZES {
        let counts = ADULT.enlarged_counts(&rows[..size.div_ceil(s)], s, r, 1);
        let table = Table { counts, trees: taxonomies(data)? };
        for block in BLOCKS {
            let policy = table.policy(GROWTH_K, &format!("name = \"local-top-down\"\nblock = {block}"), &[])?;
            let (seconds, gcp) = table.run(&policy, 1, |profile, verified| Ok(gcp(&policy, profile, verified)))?;
            let block = if block == 0 { "whole table".to_owned() } else { count(block) };
            writeln!(text, "| {} | {block} | {seconds:.2} | {gcp:.4} |", count(table.counts.records))?;
        }
    }
    Ok(text)
}

fn gcp(policy: &Policy, profile: &Profile, verified: &Verified) -> f64 {
    let weights = measure::weights(policy);
    let scene = Scene { released: verified.released(), records: profile, weights: &weights, k: None, goals: &[] };
    Measures::of(&scene, true).get("gcp").unwrap_or(f64::NAN)
}

/// How seconds grow with records between two points.
fn exponent((few, short): (f64, f64), (many, long): (f64, f64)) -> String {
    format!("{:.2}", (long / short).ln() / (many / few).ln())
}
