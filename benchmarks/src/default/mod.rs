//! Benchmark of the default method on many tables: its loss over the least loss of the other methods.
//!
//! A whole run takes hours, so results are kept (`kept.rs`): a run that was stopped goes on where it was. Arguments
//! choose a part: names of tables, `k=5`, `measure=ncp`, `effort=high`, in any number; `effort=none` runs the
//! other methods only, `effort=kept` nothing, so that the page has what is kept. `fresh` ignores what was kept. The
//! page is written unless tables, k or measures are chosen.

mod kept;
pub mod tables;

use std::{error::Error, fmt::Write as _, time::Instant};

use moretta_core::{
    counts::Counts,
    measure::{MeasureContext, Measures},
    observer::{Deadline, NoObserver},
    policy::{BoundPolicy, Policy},
    profile::Profile,
    run,
    search::Stop,
    verify,
};
use moretta_papers::machine;

use self::{
    kept::{Kept, Lost},
    tables::{Make, SENSITIVE_TABLES, Source, TABLES, folder},
};
use crate::{processor_time, write_page};

/// Other methods. Those of global recoding lose far more on all of these tables.
const OTHERS: [&str; 5] = ["sweep", "k-member", "local-top-down", "local-bottom-up", "mondrian"];
const K: [u64; 5] = [2, 5, 10, 50, 100];
/// The same for further models.
const K_OF_MODELS: [u64; 2] = [5, 50];
const MEASURES: [&str; 2] = ["ncp", "lm"];
const EFFORTS: [&str; 2] = ["default", "high"];
/// Seconds of the processor; another method that takes longer has no result.
pub const LIMIT: f64 = 240.0;

/// Further models of the tables with a sensitive column: name, and lines of `[privacy]` where `COLUMN` is that column.
const MODELS: [(&str, &str); 8] = [
    ("k", ""),
    ("5 % suppressed", "max-suppressed = 0.05\n"),
    ("distinct 4-diversity", "[[privacy.l-diversity]]\ncolumn = \"COLUMN\"\nl = 4\n"),
    ("entropy 3-diversity", "[[privacy.l-diversity]]\ncolumn = \"COLUMN\"\nl = 3\nkind = \"entropy\"\n"),
    ("recursive (3, 3)", "[[privacy.l-diversity]]\ncolumn = \"COLUMN\"\nl = 3\nkind = \"recursive\"\nc = 3.0\n"),
    ("0.4-closeness", "[[privacy.t-closeness]]\ncolumn = \"COLUMN\"\nt = 0.4\ndistance = \"equal\"\n"),
    (
        "template, age and sex",
        "[[privacy.template]]\ngiven = [\"age\", \"sex\"]\ncolumn = \"COLUMN\"\nrarest = 0.5\nmax-confidence = 0.3\n",
    ),
    (
        "template, all columns",
        "[[privacy.template]]\ngiven = GIVEN\ncolumn = \"COLUMN\"\nrarest = 0.5\nmax-confidence = 0.3\n",
    ),
];

/// The part of the benchmark that the arguments choose.
struct Part {
    tables: Vec<String>,
    k: Vec<u64>,
    measures: Vec<&'static str>,
    effort: &'static str,
    is_fresh: bool,
}

impl Part {
    fn of(arguments: &[String]) -> Result<Self, Box<dyn Error>> {
        let known: Vec<&str> = TABLES.iter().chain(&SENSITIVE_TABLES).map(|(name, _)| *name).collect();
        let mut part =
            Self { tables: Vec::new(), k: Vec::new(), measures: Vec::new(), effort: "default", is_fresh: false };
        let one_of = |names: &[&'static str], name: &str| {
            let found = names.iter().find(|known| **known == name);
            found.copied().ok_or(format!("`{name}` is none of {}", names.join(", ")))
        };
        for argument in arguments {
            match argument.split_once('=') {
                Some(("k", number)) => part.k.push(number.parse()?),
                Some(("measure", name)) => part.measures.push(one_of(&MEASURES, name)?),
                Some(("effort", name)) => part.effort = one_of(&["kept", "none", EFFORTS[0], EFFORTS[1]], name)?,
                None if argument == "fresh" => part.is_fresh = true,
                _ => part.tables.push(one_of(&known, argument)?.to_owned()),
            }
        }
        Ok(part)
    }

    fn is_whole(&self) -> bool {
        self.tables.is_empty() && self.k.is_empty() && self.measures.is_empty()
    }

    fn has(&self, table: &str, k: u64, measure: &str) -> bool {
        (self.tables.is_empty() || self.tables.iter().any(|name| name == table))
            && (self.k.is_empty() || self.k.contains(&k))
            && (self.measures.is_empty() || self.measures.contains(&measure))
    }
}

/// One line of a table: a table of records, a measure and the lines of `[privacy]`.
struct Cell {
    name: String,
    measure: &'static str,
    label: String,
    privacy: String,
}

/// Ratios of `best` by effort.
#[derive(Default)]
struct Ratios([Vec<f64>; EFFORTS.len()]);

impl Ratios {
    /// How many there are, their geometric mean and the largest.
    fn summary(&self) -> String {
        let of_effort = |(effort, ratios): (&&str, &Vec<f64>)| {
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len().max(1) as f64).exp();
            let worst = ratios.iter().copied().fold(0.0, f64::max);
            format!(
                "Effort \"{effort}\": geometric mean of {} ratios {mean:.3}, the largest {worst:.3}.\n",
                ratios.len()
            )
        };
        let known = EFFORTS.iter().zip(&self.0).filter(|(_, ratios)| !ratios.is_empty());
        format!("\n{}", known.map(of_effort).collect::<String>())
    }
}

/// Loss from 0 to 1 and seconds of the processor of a method; `None` if it refuses the policy or took too long.
pub fn lost(
    source: &Source,
    counts: &Counts,
    measure: &str,
    policy: &Policy,
    limit: Option<f64>,
) -> Result<Lost, Box<dyn Error>> {
    let profile = Profile::build(policy, &source.trees, counts)?;
    let bound = BoundPolicy::new(policy, &profile)?;
    let start = processor_time::of_process()?;
    let taken = || processor_time::of_process().map_or(0.0, |now| now - start);
    let (begin, threads) = (Instant::now(), std::thread::available_parallelism().map_or(1, usize::from) as f64);
    // Asked at every step, and the seconds of the processor take longer to read than those of the clock.
    let is_late = || limit.is_some_and(|limit| begin.elapsed().as_secs_f64() * threads > limit && taken() > limit);
    let outcome = match run::search(&bound, 1, &Deadline::after(&NoObserver, None).or_when(&is_late)) {
        Err(run::RunError::Unsupported(_)) => return Ok(None),
        outcome => outcome?,
    };
    let seconds = taken();
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
    let mut kept = Kept::open(part.is_fresh)?;
    let mut text = format!(
        "# The default method on many tables\n\nMade by `benchmarks/run default` on {}.\n\nLoss from 0 to 1 (`ncp`: GCP; `lm`: LM divided by the columns). In brackets: seconds of the processor, all threads of the\nsearch together; `best` takes about half of them on two cores. The ratio is that of `best` to the least loss of the others\n(limit {} s each; - if a method takes longer, refuses the policy or was not run). `high` is `best` with effort \"high\".\nMethods of global recoding are left out. Without hierarchies both measures are the same, so such tables are listed once.\n",
        machine::described(),
        LIMIT,
    );
    text += &section(&part, &mut kept, "k-anonymity", &TABLES, |source| {
        // Without hierarchies both measures are the same.
        let measures = if source.trees.iter().next().is_none() { &MEASURES[..1] } else { &MEASURES };
        let cells = measures.iter().flat_map(|measure| K.map(|k| (*measure, k)));
        cells.map(|(measure, k)| (measure, k, k.to_string(), format!("k = {k}\n"))).collect()
    })?;
    text += &section(&part, &mut kept, "Further models and persons", &SENSITIVE_TABLES, |source| {
        let column = if source.name.starts_with("adult") { "occupation" } else { "diagnosis" };
        let given: Vec<&str> = source.columns.iter().map(|(name, _)| name.as_str()).collect();
        let given = format!("{given:?}");
        let cells = MODELS.iter().flat_map(|model| K_OF_MODELS.map(|k| (model, k)));
        cells
            .map(|((name, lines), k)| {
                let lines = lines.replace("COLUMN", column).replace("GIVEN", &given);
                ("ncp", k, format!("{k}, {name}"), format!("k = {k}\n{lines}"))
            })
            .collect()
    })?;
    if part.is_whole() { write_page("default.md", &text) } else { Ok(()) }
}

/// Measure, k, label, and lines of `[privacy]` of the cells of a table.
type Cells = Vec<(&'static str, u64, String, String)>;

fn section(
    part: &Part,
    kept: &mut Kept,
    title: &str,
    tables: &[(&'static str, Make)],
    cells: impl Fn(&Source) -> Cells,
) -> Result<String, Box<dyn Error>> {
    let mut text = format!(
        "\n## {title}\n\n| table | measure | k | best | ratio | high | ratio | {} |\n| --- | --- | --- | ---: | ---: | ---: | ---: |{}\n",
        OTHERS.join(" | "),
        " ---: |".repeat(OTHERS.len())
    );
    print!("{text}");
    let mut ratios = Ratios::default();
    for (name, make) in
        tables.iter().filter(|(name, _)| part.tables.is_empty() || part.tables.iter().any(|n| n == name))
    {
        let source = make()?;
        let counts = source.counts();
        for (measure, _, label, privacy) in
            cells(&source).into_iter().filter(|(measure, k, ..)| part.has(name, *k, measure))
        {
            let cell = Cell {
                name: format!("{name}-{measure}-{}", label.replace(|c: char| !c.is_ascii_alphanumeric(), "_")),
                measure,
                label,
                privacy,
            };
            let row = row(&source, &counts, &cell, part.effort, kept, &mut ratios)?;
            println!("{row}");
            text += &format!("{row}\n");
        }
    }
    let end = ratios.summary();
    println!("{end}");
    Ok(text + &end)
}

/// One line of the table.
fn row(
    source: &Source,
    counts: &Counts,
    cell: &Cell,
    effort: &str,
    kept: &mut Kept,
    ratios: &mut Ratios,
) -> Result<String, Box<dyn Error>> {
    let of = |method: &str, lines: &str, limit: Option<f64>| -> Result<Lost, Box<dyn Error>> {
        if let Some(known) = kept.get(&cell.name, method) {
            return Ok(known);
        }
        if effort == "kept" {
            return Ok(None);
        }
        let policy = source.policy(cell.measure, &cell.privacy, lines)?;
        let found = lost(source, counts, cell.measure, &policy, limit)?;
        kept.put(&cell.name, method, found)?;
        Ok(found)
    };
    let mut others = Vec::new();
    for method in OTHERS {
        others.push(of(method, &format!("name = \"{method}\""), Some(LIMIT))?);
    }
    let least = others.iter().flatten().map(|(loss, _)| *loss).fold(f64::INFINITY, f64::min);
    let mut line = format!("| {} | {} | {} |", source.name, cell.measure, cell.label);
    let shown = |lost: &Lost| lost.map_or("-".to_owned(), |(loss, seconds)| format!("{loss:.4} ({seconds:.2})"));
    for (known, ratios) in EFFORTS.into_iter().zip(&mut ratios.0) {
        let method = format!("best-{known}");
        let found = if known == effort {
            of(&method, &format!("name = \"best\"\neffort = \"{known}\""), None)?
        } else {
            kept.get(&cell.name, &method).flatten()
        };
        let ratio = found.filter(|_| least.is_finite()).map(|(loss, _)| if least > 0.0 { loss / least } else { 1.0 });
        ratios.extend(ratio);
        write!(line, " {} | {} |", shown(&found), ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")))?;
    }
    others.iter().try_for_each(|lost| write!(line, " {} |", shown(lost)))?;
    Ok(line)
}
