//! Benchmark of every method on three tables, for the guide's table of methods.

use std::{error::Error, fmt::Write as _};

use moretta_core::search::method_names;
use moretta_papers::machine;

use crate::{
    default::{
        LIMIT, lost,
        tables::{Source, TABLES, folder},
    },
    mondrian::put_in,
};

const K: u64 = 10;
const MEASURED: [&str; 3] = ["adult", "adult-free", "free1"];

/// What each method is for, and keys of `[method]` without which it would minimize something else.
const WANTED: [(&str, &str, &str); 9] = [
    ("best", "least loss (the default)", ""),
    ("sweep", "low loss in less time, if columns have hierarchies", ""),
    ("local-top-down", "low loss in less time, for large k or large tables of free numbers", ""),
    ("local-bottom-up", "groups of even size", ""),
    ("k-member", "low loss in less time, for small k if most columns are free numbers", ""),
    ("mondrian", "the fastest search", ""),
    (
        "bottom-up-generalization",
        "the same label for the same value everywhere, so that columns can be joined or modeled",
        "measure = \"ncp\"",
    ),
    ("top-down-disclosure", "limits on what can be inferred: templates, LKC-privacy", "measure = \"ncp\""),
    ("genetic", "the best release [for a purpose](#optimize-for-a-purpose)", ""),
];

pub fn run() -> Result<(), Box<dyn Error>> {
    if !folder().join("adult/adult_train.csv").is_file() {
        eprintln!("SKIPPED methods: no data; set MORETTA_DATA to the folder that has adult/");
        return Ok(());
    }
    let known = |name: &&str| WANTED.iter().any(|(wanted, ..)| wanted == name);
    if let Some(name) = method_names().into_iter().find(|name| !known(name)) {
        return Err(format!("nothing says what the method `{name}` is for").into());
    }
    let chosen = TABLES.iter().filter(|(name, _)| MEASURED.contains(name));
    let sources: Vec<Source> = chosen.map(|(_, make)| make()).collect::<Result<_, _>>()?;
    let names: Vec<String> = sources.iter().map(|source| source.name.to_owned()).collect();
    let mut table =
        format!("| you want | method | {} |\n| --- | --- |{}\n", names.join(" | "), " ---: |".repeat(sources.len()));
    let counts: Vec<_> = sources.iter().map(Source::counts).collect();
    for (method, want, keys) in WANTED {
        write!(table, "| {want} | `{method}` |")?;
        for (source, counts) in sources.iter().zip(&counts) {
            let policy = source.policy("ncp", &format!("k = {K}"), &format!("name = \"{method}\"\n{keys}"))?;
            let result = lost(source, counts, "ncp", &policy, Some(LIMIT))?;
            let cell = result.map_or("-".to_owned(), |(loss, seconds)| format!("{loss:.3} ({seconds:.1} s)"));
            eprintln!("{method}, {}: {cell}", source.name);
            write!(table, " {cell} |")?;
        }
        table += "\n";
    }
    write!(
        table,
        "\nThe figures are the loss (GCP, from 0 to 1) and the seconds of the processor with k = {K}, nothing suppressed, minimizing\n`ncp`: adult has 30,162 records and eight columns with hierarchies, adult-free nine columns, three of them free numbers,\nfree1 4,000 records and 28 free numbers. `-`: more than {LIMIT} s.\n"
    )?;
    put_in("GUIDE.md", "methods", &table, &machine::described())
}
