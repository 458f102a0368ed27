//! Cases with a mutated text file: policy, hierarchy, recoding, CSV table, queries, release.

use std::{fs, path::Path};

use moretta_core::search::METHODS;

use super::{Inputs, Skipped};
use crate::{
    csv::DELIMITERS,
    job::{Job, Notes, POLICY, RECODING, REPORTS},
    mutate::Format,
    rng::Rng,
    stock::Stock,
};

const TABLE: &str = "table.csv";
const RELEASE: &str = "earlier.csv";
/// Copy of the release, which is not mutated.
const INTACT: &str = "intact.csv";
const QUERIES: &str = "queries.toml";

/// Writes a random stock with a random delimiter.
fn stock(rng: &mut Rng, folder: &Path) -> Result<Stock, Skipped> {
    let mut stock = Stock::any(rng);
    let delimiter = if rng.chance(70) { ',' } else { *rng.one(&DELIMITERS) };
    if rng.chance(25) {
        dialect(rng, &mut stock);
    }
    stock.write(folder, delimiter).map_err(|_| Skipped)?;
    Ok(stock)
}

/// Writes the numbers of the table with a decimal comma, and declares it and a random dialect of the release.
fn dialect(rng: &mut Rng, stock: &mut Stock) {
    // The numbers of hierarchy files would need the same.
    if !stock.hierarchies.is_empty() || stock.policy.contains("[input]") || stock.policy.contains("[release]") {
        return;
    }
    for cell in stock.table.iter_mut().skip(1).flatten() {
        if cell.parse::<f64>().is_ok_and(f64::is_finite) {
            *cell = cell.replacen('.', ",", 1);
        }
    }
    let release = ["", "decimal = \".\"\n", "decimal = \",\"\nguard-formulas = true\n", "guard-formulas = true\n"];
    let thousands = rng.one(&["", "thousands = \".\"\n", "thousands = \" \"\n"]);
    stock.policy += &format!("\n[input]\ndecimal = \",\"\n{thousands}[release]\n{}", rng.one(&release));
}

/// A request for a release, with report and recoding in a third of the cases.
pub fn anonymize(rng: &mut Rng, input: &'static str, output: &'static str) -> Job {
    let (seed, keep_order, extras) = (rng.next() >> 11, rng.chance(50), rng.chance(30));
    Job::Anonymize { input, output, seed, threads: 1, keep_order, extras, earlier: None }
}

/// A request that compares two methods.
fn compare(rng: &mut Rng) -> Job {
    Job::Compare { input: TABLE, methods: [rng.one(METHODS).name, rng.one(METHODS).name] }
}

fn inputs(stock: Stock, target: &str, format: Format, splice: Vec<u8>, jobs: Vec<Job>) -> Inputs {
    Inputs { target: target.to_owned(), format, splice, jobs, table: stock.table, tables: vec![TABLE, RELEASE, INTACT] }
}

pub fn policy(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let stock = stock(rng, folder)?;
    let splice = Stock::any(rng).policy.into_bytes();
    let jobs = match rng.below(10) {
        0 => vec![Job::Check { released: TABLE }],
        1 => vec![Job::Inferences { input: TABLE }],
        2 => vec![Job::Frontier { input: TABLE }],
        3 => vec![Job::Evaluate { input: TABLE }],
        4 => vec![compare(rng)],
        5 => vec![Job::Bound { input: TABLE }],
        _ => vec![anonymize(rng, TABLE, "out.csv")],
    };
    Ok(inputs(stock, "policy.toml", Format::Toml, splice, jobs))
}

/// Rewrites a hierarchy file in another of the forms that the program reads, with the same tree.
fn other_form(rng: &mut Rng, folder: &Path, file: &str, stock: &mut Stock) -> Result<(String, Format), Skipped> {
    let text = fs::read_to_string(folder.join(file)).map_err(|_| Skipped)?;
    let lines = || text.lines().filter(|line| line.ends_with(";*"));
    let (name, text) = match rng.below(6) {
        // The root has another label, and a row is repeated.
        0 => {
            let rows: Vec<String> = lines().map(|line| line.replacen(";*", ";All", 1) + ";\n").collect();
            (file.to_owned(), rows.concat() + rows.first().map_or("", |row| row))
        }
        // The levels have names.
        1 => {
            let fields = lines().next().map_or(0, |line| line.matches(';').count()) + 1;
            let names: String = (0..fields).map(|level| format!(";level {level}")).collect();
            (file.to_owned(), format!("#levels{names}\n{text}"))
        }
        // The groups have the labels of values.
        2 => {
            let first = |line: &str| line.split(';').next().unwrap_or_default().to_owned();
            let value = lines().next().map(first).ok_or(Skipped)?;
            let row = |line: &str| format!("{};{value};*\n", first(line));
            (file.to_owned(), lines().map(row).collect())
        }
        3 | 4 => {
            let form = moretta_core::hierarchy::file::Form::Json;
            let read = moretta_core::hierarchy::file::read(&text, None).map_err(|_| Skipped)?;
            (file.replace(".csv", ".json"), read.write(form).map_err(|_| Skipped)?)
        }
        _ => (file.to_owned(), text),
    };
    fs::write(folder.join(&name), text).map_err(|_| Skipped)?;
    if name != file {
        fs::remove_file(folder.join(file)).map_err(|_| Skipped)?;
        let policy = stock.policy.replace(file, &name);
        fs::write(folder.join(POLICY), &policy).map_err(|_| Skipped)?;
        stock.policy = policy;
    }
    let format = if name.ends_with(".json") { Format::Json } else { Format::Csv };
    Ok((name, format))
}

pub fn hierarchy(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let mut stock = stock(rng, folder)?;
    let column = stock.tree_column.clone().ok_or(Skipped)?;
    let file = format!("{column}.csv");
    let splice = stock.hierarchies.iter().find(|(name, _)| *name != file).map(|(_, text)| text.clone());
    let (file, format) = other_form(rng, folder, &file, &mut stock)?;
    let jobs = match rng.below(8) {
        0 => vec![Job::ShowHierarchy { file: file.clone() }],
        1 => vec![Job::CheckHierarchy { file: file.clone(), input: TABLE, column }],
        2 => vec![Job::ConvertHierarchy { file: file.clone(), output: ["h.json", "h.tsv"][rng.below(2)] }],
        _ => vec![anonymize(rng, TABLE, "out.csv")],
    };
    Ok(inputs(stock, &file, format, splice.unwrap_or_default().into_bytes(), jobs))
}

pub fn csv(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let stock = stock(rng, folder)?;
    let splice = crate::csv::print(&Stock::any(rng).table, ',').into_bytes();
    let column = stock.number_column.clone();
    let jobs = match rng.below(11) {
        0 => vec![Job::Init { input: TABLE }, Job::Risks { input: TABLE }],
        1 => vec![Job::Inferences { input: TABLE }],
        2 => vec![Job::BuildHierarchy { input: TABLE, column }],
        3 => vec![Job::Check { released: TABLE }],
        4 => stock
            .tree_column
            .iter()
            .map(|column| Job::CheckHierarchy { file: format!("{column}.csv"), input: TABLE, column: column.clone() })
            .collect(),
        5 => vec![Job::Evaluate { input: TABLE }],
        6 => vec![compare(rng)],
        _ => vec![anonymize(rng, TABLE, "out.csv")],
    };
    Ok(inputs(stock, TABLE, Format::Csv, splice, jobs))
}

/// Makes a release of the stock under another name, and leaves the recoding if `recoding`.
fn released(rng: &mut Rng, folder: &Path, recoding: bool) -> Result<Stock, Skipped> {
    let stock = stock(rng, folder)?;
    let (keep_order, extras) = (rng.chance(50), true);
    let job = Job::Anonymize { input: TABLE, output: RELEASE, seed: 1, threads: 1, keep_order, extras, earlier: None };
    job.run(folder, &Notes::default()).map_err(|_| Skipped)?;
    let unneeded = REPORTS.into_iter().chain((!recoding).then_some(RECODING));
    unneeded.for_each(|name| drop(fs::remove_file(folder.join(name))));
    Ok(stock)
}

pub fn recoding(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let stock = released(rng, folder, true)?;
    let splice = fs::read(folder.join(RECODING)).map_err(|_| Skipped)?;
    let (keep_order, extras) = (rng.chance(50), rng.chance(30));
    let jobs = vec![Job::Apply { input: TABLE, output: "out.csv", keep_order, extras }];
    Ok(inputs(stock, RECODING, Format::Json, splice, jobs))
}

pub fn queries(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let stock = released(rng, folder, false)?;
    let mut text = String::new();
    for _ in 0..1 + rng.below(4) {
        text += "[[query]]\n";
        text += &match rng.chance(60) {
            true => "count = true\n".to_owned(),
            false => format!("sum = \"{}\"\n", stock.number_column),
        };
        let column = rng.below(stock.table[0].len());
        let (name, value) = (&stock.table[0][column], &rng.clone().one(&stock.table[1..])[column]);
        text += &match value.parse::<f64>() {
            Ok(number) => format!("where = {{ {name} = [{}, {}] }}\n", number - 1.0, number + 9.0),
            Err(_) => format!("where = {{ {name} = {value:?} }}\n"),
        };
    }
    fs::write(folder.join(QUERIES), &text).map_err(|_| Skipped)?;
    let jobs = vec![Job::Queries { original: TABLE, released: RELEASE, queries: Some(QUERIES) }];
    Ok(inputs(stock, QUERIES, Format::Toml, text.into_bytes(), jobs))
}

pub fn release(rng: &mut Rng, folder: &Path) -> Result<Inputs, Skipped> {
    let stock = released(rng, folder, false)?;
    let splice = fs::read(folder.join(TABLE)).map_err(|_| Skipped)?;
    fs::copy(folder.join(RELEASE), folder.join(INTACT)).map_err(|_| Skipped)?;
    let jobs = match rng.below(8) {
        0 => vec![Job::Measure { original: TABLE, released: RELEASE }],
        1 => vec![Job::Queries { original: TABLE, released: RELEASE, queries: None }],
        2 => vec![Job::Linkage { releases: [INTACT, RELEASE], original: rng.chance(50).then_some(TABLE) }],
        3 => {
            let (seed, keep_order, earlier) = (rng.next() >> 11, rng.chance(50), Some(RELEASE));
            let (output, threads, extras) = ("out.csv", 1, false);
            vec![Job::Anonymize { input: TABLE, output, seed, threads, keep_order, extras, earlier }]
        }
        _ => vec![Job::Check { released: RELEASE }],
    };
    Ok(inputs(stock, RELEASE, Format::Csv, splice, jobs))
}
