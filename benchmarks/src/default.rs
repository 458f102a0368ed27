//! Benchmark of the default method on many tables: its loss over the least loss of the other methods.
//!
//! A whole run is long. Arguments choose a part: names of tables, `k=5`, `measure=ncp`, `effort=high`, in any number;
//! a part is printed but not written to docs/results.

use std::{error::Error, fmt::Write as _, fs, path::PathBuf, time::Duration, time::Instant};

use moretta_core::{
    counts::Counts,
    hierarchy::{Hierarchies, file},
    measure::{MeasureContext, Measures},
    observer::{Deadline, NoObserver},
    policy::{BoundPolicy, Policy},
    profile::Profile,
    run,
    search::{Stop, method_names},
    verify,
};
use moretta_papers::{
    data::{Random, TextRows, counted},
    machine,
};
use moretta_synthetic::{self as synthetic, People};

use crate::write_page;

/// Other methods. Those of global recoding lose far more on all of these tables.
const OTHERS: [&str; 5] = ["sweep", "k-member", "local-top-down", "local-bottom-up", "mondrian"];
const K: [u64; 5] = [2, 5, 10, 50, 100];
const MEASURES: [&str; 2] = ["ncp", "lm"];
/// A method that takes longer has no result.
pub const LIMIT: Duration = Duration::from_secs(120);
/// Records of the generated tables.
const WIDE_RECORDS: usize = 3000;
const PEOPLE: u64 = 20_000;

/// Columns by name, with their declaration; hierarchies by column; the records.
pub struct Source {
    pub name: &'static str,
    columns: Vec<(String, String)>,
    trees: Hierarchies,
    rows: TextRows,
}

const NUMBER: &str = "type = \"number\"\nmissing = \"category\"\n";
const CATEGORY: &str = "type = \"category\"\nmissing = \"category\"\n";

/// Folder of the public data.
pub fn folder() -> PathBuf {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from)
}

/// Reads columns of a CSV file without quotes. Lines with another number of cells are left out.
pub fn read(path: &str, separator: char, columns: &[String]) -> Result<TextRows, Box<dyn Error>> {
    let text = fs::read_to_string(folder().join(path))?;
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(separator).collect();
    let index = |name: &String| header.iter().position(|known| known == name).ok_or(format!("{path}: no `{name}`"));
    let indices: Vec<usize> = columns.iter().map(index).collect::<Result<_, _>>()?;
    let cells = lines.map(|line| line.split(separator).collect::<Vec<_>>()).filter(|cells| cells.len() == header.len());
    Ok(cells.map(|cells| indices.iter().map(|&index| cells[index].trim().to_owned()).collect()).collect())
}

impl Source {
    fn new(
        name: &'static str,
        (path, separator): (&str, char),
        columns: Vec<(String, String)>,
    ) -> Result<Self, Box<dyn Error>> {
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        Ok(Self { name, rows: read(path, separator, &names)?, columns, trees: Hierarchies::default() })
    }

    /// Columns with a hierarchy file each; those of `numbers` are free.
    fn with_files(
        name: &'static str,
        file: (&str, char),
        columns: &[&str],
        numbers: &[&str],
        hierarchy: impl Fn(&str) -> String,
    ) -> Result<Self, Box<dyn Error>> {
        let declared = |column: &&str| {
            let tree = format!("type = \"category\"\nhierarchy = \"{column}.csv\"\n");
            let declared = if numbers.contains(column) { NUMBER.to_owned() } else { tree };
            ((*column).to_owned(), declared)
        };
        let mut source = Self::new(name, file, columns.iter().map(declared).collect())?;
        for column in columns.iter().filter(|column| !numbers.contains(column)) {
            let text = fs::read_to_string(folder().join(hierarchy(column)))?;
            source.trees.insert((*column).to_owned(), file::parse(&text).map_err(|error| error.to_string())?);
        }
        Ok(source)
    }

    /// Quasi-identifiers of a policy file, all as numbers.
    fn with_policy(name: &'static str, file: (&str, char), policy: &str) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(folder().join(policy))?;
        let sections = text.split("[columns.\"").skip(1).filter(|section| section.contains("\"quasi-identifier\""));
        let names = sections.filter_map(|section| section.split('"').next());
        Self::new(name, file, names.map(|name| (name.to_owned(), NUMBER.to_owned())).collect())
    }

    /// All columns but the last; those of `numbers` are numbers, the others categories.
    fn of_all(name: &'static str, path: &str, numbers: &[&str]) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(folder().join(path))?;
        let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
        let declared = |column: &&str| {
            let declared = if numbers.contains(column) { NUMBER } else { CATEGORY };
            ((*column).to_owned(), declared.to_owned())
        };
        let mut source = Self::new(name, (path, ','), header[..header.len() - 1].iter().map(declared).collect())?;
        source.rows.retain(|row| !row.iter().any(|cell| cell == "?"));
        Ok(source)
    }

    /// Random correlated columns, numbers and categories.
    fn wide(name: &'static str, width: usize) -> Self {
        const VALUES: [usize; 5] = [2, 5, 12, 40, 200];
        let mut random = Random(width as u64);
        let row = |_| {
            let factors: Vec<usize> = (0..4).map(|_| random.below(1000)).collect();
            let value = |column: usize| {
                let mixed = 6 * factors[column % 4] + 4 * random.below(1000);
                (mixed * VALUES[column % 5] / 10_000).to_string()
            };
            (0..width).map(value).collect()
        };
        let declared = |column: usize| if column % 3 == 2 { CATEGORY } else { NUMBER };
        Self {
            name,
            rows: (0..WIDE_RECORDS).map(row).collect(),
            columns: (0..width).map(|column| (format!("c{column}"), declared(column).to_owned())).collect(),
            trees: Hierarchies::default(),
        }
    }

    fn people() -> Result<Self, Box<dyn Error>> {
        let columns = ["age", "sex", "postcode", "education", "occupation", "marital-status"];
        let (people, mut csv) = (People::new(1), synthetic::header());
        (0..PEOPLE).for_each(|index| people.person(index).write_csv(&mut csv));
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap_or_default();
        let index = |name: &&str| header.iter().position(|known| known == name).ok_or(format!("no `{name}`"));
        let indices: Vec<usize> = columns.iter().map(index).collect::<Result<_, _>>()?;
        let rows = lines.map(|cells| indices.iter().map(|&index| cells[index].to_owned()).collect()).collect();
        let (mut trees, mut declared) = (Hierarchies::default(), Vec::new());
        for column in columns {
            let kind = match synthetic::hierarchy(column).filter(|_| column != "age") {
                Some(text) => {
                    trees.insert(column.to_owned(), file::parse(&text).map_err(|error| error.to_string())?);
                    format!("type = \"category\"\nhierarchy = \"{column}.csv\"\n")
                }
                None if column == "age" => NUMBER.to_owned(),
                None => CATEGORY.to_owned(),
            };
            declared.push((column.to_owned(), kind));
        }
        Ok(Self { name: "people", columns: declared, trees, rows })
    }

    pub fn policy(&self, measure: &str, method: &str, k: u64) -> Result<Policy, Box<dyn Error>> {
        // Mondrian accepts no objective, and some methods have a parameter instead.
        let accepts = !method.contains("mondrian") && !method.contains("measure");
        let measure = if !accepts { String::new() } else { format!("measure.name = \"{measure}\"\n") };
        let mut text = format!("version = 1\n{measure}privacy.k = {k}\n[method]\n{method}\n");
        for (name, declared) in &self.columns {
            write!(text, "[columns.\"{name}\"]\nrole = \"quasi-identifier\"\n{declared}")?;
        }
        Ok(Policy::parse(&text, &method_names())?)
    }

    pub fn counts(&self) -> Counts {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        counted(&names, &self.rows)
    }
}

/// Makes a table.
pub type Make = fn() -> Result<Source, Box<dyn Error>>;

const ADULT: [&str; 8] =
    ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];
const ADULT_NUMBERS: [&str; 3] = ["age", "education-num", "hours-per-week"];
const ADULT_MIXED: [&str; 9] = [
    "age",
    "education-num",
    "hours-per-week",
    "workclass",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
];

const TABLES: [(&str, Make); 11] = [
    ("adult", || adult("adult", &ADULT, &[])),
    ("adult-free", || adult("adult-free", &ADULT_MIXED, &ADULT_NUMBERS)),
    ("german", || {
        Source::of_all("german", "german/german.csv", &["duration-months", "amount", "installment-rate", "age"])
    }),
    ("crx", || Source::of_all("crx", "crx/crx.csv", &["A2", "A3", "A8", "A11", "A14", "A15"])),
    ("free1", || Source::with_policy("free1", ("more/free1/free1.csv", ','), "more/policies/free1.toml")),
    ("mach2019", || {
        Source::with_policy("mach2019", ("more/mach2019/mach2019_int.csv", ';'), "more/policies/mach2019.toml")
    }),
    ("cmc", || {
        let hierarchy = |column: &str| format!("more/cmc/hierarchies/cmc_hierarchy_{column}.csv");
        Source::with_files("cmc", ("more/cmc/cmc.csv", ';'), &["age", "Weducation", "children"], &[], hierarchy)
    }),
    ("synthea", || {
        let numbers = ["LAT", "LON", "HEALTHCARE_EXPENSES", "HEALTHCARE_COVERAGE"];
        let categories = ["MARITAL", "RACE", "ETHNICITY", "GENDER", "CITY", "COUNTY"];
        let columns = categories.map(|column| (column.to_owned(), CATEGORY.to_owned())).into_iter();
        let columns = columns.chain(numbers.map(|column| (column.to_owned(), NUMBER.to_owned())));
        Source::new("synthea", ("more/synthea/patients.csv", ';'), columns.collect())
    }),
    ("people", Source::people),
    ("wide10", || Ok(Source::wide("wide10", 10))),
    ("wide30", || Ok(Source::wide("wide30", 30))),
];
/// The widest table, apart, because the slower methods take minutes on it.
const WIDEST: (&str, Make) = ("wide100", || Ok(Source::wide("wide100", 100)));

/// Tables of the benchmark of all methods.
pub const MEASURED: [Make; 3] = [TABLES[0].1, TABLES[1].1, TABLES[4].1];

fn adult(name: &'static str, columns: &[&str], numbers: &[&str]) -> Result<Source, Box<dyn Error>> {
    let hierarchy = |column: &str| format!("adult/hierarchies-arx/{column}.csv");
    Source::with_files(name, ("adult/adult_train.csv", ','), columns, numbers, hierarchy)
}

/// The part of the benchmark that the arguments choose.
struct Part {
    tables: Vec<(&'static str, Make)>,
    k: Vec<u64>,
    measures: Vec<&'static str>,
    effort: String,
    is_whole: bool,
}

impl Part {
    fn of(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let all: Vec<(&str, Make)> = TABLES.into_iter().chain([WIDEST]).collect();
        let (mut tables, mut k, mut measures, mut effort) = (Vec::new(), Vec::new(), Vec::new(), "default".to_owned());
        for argument in arguments {
            match argument.split_once('=') {
                Some(("k", number)) => k.push(number.parse()?),
                Some(("measure", name)) => {
                    measures.push(*MEASURES.iter().find(|known| **known == name).ok_or("measure=ncp or measure=lm")?);
                }
                Some(("effort", name)) => effort = name.to_owned(),
                _ => {
                    let known = all.iter().find(|(name, _)| name == argument);
                    let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
                    tables.push(*known.ok_or(format!("no table `{argument}`; there are {}", names.join(", ")))?);
                }
            }
        }
        let is_whole = arguments.is_empty();
        let or_all = |chosen: Vec<_>| if chosen.is_empty() { all.clone() } else { chosen };
        Ok(Self {
            tables: or_all(tables),
            k: if k.is_empty() { K.to_vec() } else { k },
            measures: if measures.is_empty() { MEASURES.to_vec() } else { measures },
            effort,
            is_whole,
        })
    }
}

/// Loss from 0 to 1 and seconds of a method; `None` if it took too long.
pub fn lost(
    source: &Source,
    policy: &Policy,
    counts: &Counts,
    measure: &str,
) -> Result<Option<(f64, f64)>, Box<dyn Error>> {
    let profile = Profile::build(policy, &source.trees, counts)?;
    let bound = BoundPolicy::new(policy, &profile)?;
    let start = Instant::now();
    let outcome = run::search(&bound, 1, &Deadline::after(&NoObserver, Some(LIMIT)))?;
    let seconds = start.elapsed().as_secs_f64();
    if outcome.stop != Stop::Finished {
        return Ok(None);
    }
    let verified = verify::verify(&bound, outcome.recoding)?;
    let measures = Measures::of(&MeasureContext::of_recoding(policy, &profile, verified.released()));
    let lm = measures.get("lm").map(|lm| lm / source.columns.len() as f64);
    let loss = if measure == "lm" { lm } else { measures.get("gcp") };
    Ok(Some((loss.ok_or("no loss")?, seconds)))
}

pub fn run() -> Result<(), Box<dyn Error>> {
    if !folder().join("adult/adult_train.csv").is_file() {
        eprintln!("SKIPPED default: no data; set MORETTA_DATA to the folder that has adult/");
        return Ok(());
    }
    let arguments: Vec<String> = std::env::args().skip(2).collect();
    let part = Part::of(&arguments)?;
    let mut text = format!(
        "# The default method on many tables\n\nMade by `benchmarks/run default` on {}.\n\nLoss from 0 to 1 (`ncp`: GCP; `lm`: LM divided by the columns), seconds of the search in brackets, effort \"{}\". The ratio is\nthat of `best` to the least loss of the others (limit {} s each). Methods of global recoding are left out.\n\n| table | measure | k | best | ratio | {} |\n| --- | --- | ---: | ---: | ---: |{}\n",
        machine::described(),
        part.effort,
        LIMIT.as_secs(),
        OTHERS.join(" | "),
        " ---: |".repeat(OTHERS.len())
    );
    print!("{text}");
    let mut ratios: Vec<f64> = Vec::new();
    for (_, make) in &part.tables {
        let source = make()?;
        let counts = source.counts();
        for measure in &part.measures {
            for &k in &part.k {
                let row = row(&source, &counts, measure, k, &part.effort, &mut ratios)?;
                println!("{row}");
                text += &format!("{row}\n");
            }
        }
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let end = format!("\nGeometric mean of the ratios: {mean:.3}; the largest: {worst:.3}.\n");
    println!("{end}");
    text += &end;
    if part.is_whole { write_page("default.md", &text) } else { Ok(()) }
}

/// One line of the table.
fn row(
    source: &Source,
    counts: &Counts,
    measure: &str,
    k: u64,
    effort: &str,
    ratios: &mut Vec<f64>,
) -> Result<String, Box<dyn Error>> {
    let (mut cells, mut least) = (String::new(), f64::INFINITY);
    for method in OTHERS {
        let policy = source.policy(measure, &format!("name = \"{method}\""), k)?;
        match lost(source, &policy, counts, measure)? {
            Some((loss, seconds)) => {
                least = least.min(loss);
                write!(cells, " {loss:.4} ({seconds:.2}) |")?;
            }
            None => cells += " - |",
        }
    }
    let policy = source.policy(measure, &format!("name = \"best\"\neffort = \"{effort}\""), k)?;
    let (loss, seconds) = lost(source, &policy, counts, measure)?.ok_or("best took too long")?;
    let ratio = if least > 0.0 { loss / least } else { 1.0 };
    ratios.push(ratio);
    Ok(format!("| {} | {measure} | {k} | {loss:.4} ({seconds:.2}) | {ratio:.3} |{cells}", source.name))
}
