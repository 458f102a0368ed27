//! Benchmark of top-down and bottom-up local recoding compared with Mondrian: growth of the running time, and effect of
//! blocks. `moretta reproduce 4` measures the information loss.

use std::{error::Error, fmt::Write as _, fs};

use hashbrown::HashMap;
use moretta_core::{
    counts::Counts,
    hierarchy::Hierarchies,
    measure::{MeasureContext, Measures},
    policy::{BoundPolicy, Policy},
    profile::Profile,
    schema::Kind,
    search::method_names,
    text::count,
    verify::{self, Verified},
};
use moretta_pages::chart::{Axis, Chart, Line};
use moretta_papers::{
    adult::{BOTH, MIXED, SetUp},
    data::{Data, Random},
    machine,
};

use crate::{data, results, search_timed};

const ADULT: SetUp = SetUp { hierarchies: None, ..MIXED };
/// Columns with a taxonomy; the other categories are flat.
const TAXONOMIES: [&str; 2] = ["workclass", "marital-status"];
/// Columns of the synthetic tables; a table uses the first ones.
const NUMBERS: &[(&str, Kind)] = &[
    ("A1", Kind::Number),
    ("A2", Kind::Number),
    ("A3", Kind::Number),
    ("A4", Kind::Number),
    ("A5", Kind::Number),
    ("A6", Kind::Number),
];
/// Methods: name in tables, and policy text.
const METHODS: [(&str, &str); 4] = [
    ("local-top-down", "name = \"local-top-down\""),
    ("local-bottom-up", "name = \"local-bottom-up\""),
    ("Mondrian", "name = \"mondrian\""),
    ("Mondrian, widest", "name = \"mondrian\"\nchoose = \"widest\""),
];

/// Records of the growth tables, and the largest table for bottom-up, which is slower.
const SIZES: [usize; 4] = [30_000, 100_000, 300_000, 1_000_000];
const BOTTOM_UP_UP_TO: usize = 100_000;
const GROWTH_K: u64 = 10;
/// Enlarged table: records per original record, and columns with random values.
const ENLARGED: (usize, usize) = (23, 3);
/// Records of the tables on which block sizes are compared, and the block sizes; 0 is the whole table.
const BLOCKED_SIZES: [usize; 2] = [100_000, 300_000];
const BLOCKS: [u64; 4] = [10_000, 40_000, 100_000, 0];

/// Counted rows and hierarchies.
struct CountedTable {
    counts: Counts,
    trees: Hierarchies,
}

impl CountedTable {
    fn policy(&self, k: u64, method: &str, weights: &[u32]) -> Result<Policy, Box<dyn Error>> {
        let mut text = format!("version = 1\nprivacy.k = {k}\n[method]\n{method}\n");
        let kinds = ADULT.columns.iter().chain(NUMBERS);
        let kinds: HashMap<&str, Kind> = kinds.copied().collect();
        for (at, column) in self.counts.columns.iter().enumerate() {
            let name = &column.name;
            let how = match kinds.get(name.as_str()) {
                Some(Kind::Number) => "type = \"number\"".to_owned(),
                _ if self.trees.get(name).is_some() => format!("hierarchy = \"{name}.csv\""),
                _ => "type = \"category\"".to_owned(),
            };
            let weight = weights.get(at).unwrap_or(&1);
            writeln!(text, "[columns.{name}]\nrole = \"quasi-identifier\"\nweight = {weight}\n{how}")?;
        }
        Ok(Policy::parse(&text, &method_names())?)
    }

    /// Runs a method several times; returns the best time and what `look` reads from the release.
    fn run<T>(
        &self,
        policy: &Policy,
        turns: usize,
        look: impl FnOnce(&Profile, &Verified) -> Result<T, Box<dyn Error>>,
    ) -> Result<(f64, T), Box<dyn Error>> {
        let profile = Profile::build(policy, &self.trees, &self.counts)?;
        let bound = BoundPolicy::new(policy, &profile)?;
        let (outcome, seconds) = search_timed(&bound, 1, turns)?;
        let verified = verify::verify(&bound, outcome.recoding)?;
        Ok((seconds, look(&profile, &verified)?))
    }
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data() else {
        eprintln!("SKIPPED local-recoding: no Adult data; set MORETTA_DATA to the folder that has adult/");
        return Ok(());
    };
    let mut text = format!(
        "# Local recoding: top-down, bottom-up and Mondrian\n\nMade by `benchmarks/run local-recoding` on {}.\n",
        machine::described()
    );
    text += &growth(&data)?;
    text += &blocks(&data)?;
    fs::write(results("local-recoding.md"), &text)?;
    print!("{text}");
    Ok(())
}

fn taxonomies(data: &Data) -> Result<Hierarchies, Box<dyn Error>> {
    let mut trees = Hierarchies::default();
    for name in TAXONOMIES {
        trees.insert(name.to_owned(), data.tree(&format!("adult/hierarchies/{name}.csv"))?);
    }
    Ok(trees)
}

/// Name of a table, and a function that makes it with a given number of records.
type Source<'a> = (&'static str, Box<dyn Fn(usize) -> Counts + 'a>);

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

fn many(random: &mut Random) -> usize {
    1 + random.below(200)
}

fn growth(data: &Data) -> Result<String, Box<dyn Error>> {
    let (s, r) = ENLARGED;
    let mut text = format!(
        "\n## Growth\n\nk = {GROWTH_K}, one turn. *Adult, enlarged*: as many of its records as needed, each with {} variations that have random values\nin {r} random\ncolumns; *16 values*: four columns of uniform numbers from 1 to 16; *200 values*: six columns of uniform numbers from\n1 to 200, so that hardly any two records are equal. Seconds of the search, and GCP. The exponent e (seconds grow like\nn^e) is relative to the previous row; in the last row of each table, it is over all rows.\n",
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
            let trees = if *title == "Adult, enlarged" { trees.clone() } else { Hierarchies::default() };
            let table = CountedTable { counts: counts(size), trees };
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

/// Compares block sizes by time and information loss.
fn blocks(data: &Data) -> Result<String, Box<dyn Error>> {
    let mut text = format!(
        "\n## Blocks\n\nThe enlarged Adult, k = {GROWTH_K}: groups that are too small join others of the same block (at most this many records), or of\nthe whole table.\n\n| records | block | top-down | GCP |\n| ---: | ---: | ---: | ---: |\n"
    );
    let (s, r) = ENLARGED;
    let rows = ADULT.rows(data, BOTH)?;
    for size in BLOCKED_SIZES {
        let counts = ADULT.enlarged_counts(&rows[..size.div_ceil(s)], s, r, 1);
        let table = CountedTable { counts, trees: taxonomies(data)? };
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
    let context = MeasureContext::of_recoding(policy, profile, verified.released());
    Measures::of(&context).get("gcp").unwrap_or(f64::NAN)
}

/// Exponent with which seconds grow with records between two points.
fn exponent((few, short): (f64, f64), (many, long): (f64, f64)) -> String {
    format!("{:.2}", (long / short).ln() / (many / few).ln())
}
