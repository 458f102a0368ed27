//! Benchmark of the lower bound: how far the sweep is from it on Adult, and how long the bound takes.

use std::{error::Error, fmt::Write as _, time::Instant};

use moretta_core::{
    measure::MeasureContext, observer::NoObserver, policy::BoundPolicy, profile::Profile, text::count, verify,
};
use moretta_engine::peak_memory_bytes;
use moretta_insight::bound::{Certificate, DEFAULT_WORK};
use moretta_papers::{adult::TRAIN, machine};

use crate::{data, search_timed, sweep::ARX, write_page};

/// Values of k, and the bound (LM / 8) that a prototype with a subgradient method proved in 60 to 170 seconds
/// (constants).
const PROTOTYPE: [(u64, f64); 5] = [(2, f64::NAN), (5, 0.0427), (10, 0.0645), (50, 0.1315), (100, 0.1716)];

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data("bound") else { return Ok(()) };
    let table = ARX.table(&data, TRAIN)?;
    let build = if cfg!(debug_assertions) { ", a development build" } else { "" };
    let mut text = format!(
        "# The lower bound on Adult\n\nMade by `benchmarks/run bound` on {}{build}.\n\nThe {} records of the training set, eight quasi-identifiers with the hierarchies of ARX, nothing suppressed. LM / 8, from 0\n(original values) to 1 (all `*`). No release whose groups have at least k records and whose cells are nodes of these\nhierarchies loses less than the bound; `gap` is how much the sweep loses above it. The prototype used a subgradient method\nfor 60 to 170 s. Memory is the peak of the program, with all k up to this one.\n\n| k | bound | seconds | sweep | gap | prototype's bound | memory, MB |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        machine::described(),
        count(table.counts.records)
    );
    let columns = ARX.columns.len() as f64;
    for (k, prototype) in PROTOTYPE {
        let policy = ARX.policy(&format!("k = {k}"), "name = \"sweep\"")?;
        let profile = Profile::build(&policy, &table.trees, &table.counts)?;
        let bound = BoundPolicy::new(&policy, &profile)?;
        let start = Instant::now();
        let certificate = Certificate::prove(&bound, (DEFAULT_WORK, u64::MAX), &NoObserver);
        let seconds = start.elapsed().as_secs_f64();
        let (outcome, _) = search_timed(&bound, 1)?;
        let verified = verify::verify(&bound, outcome.recoding)?;
        let certificate =
            certificate.compare_with(&MeasureContext::of_recoding(&policy, &profile, verified.released()));
        eprintln!("k = {k}: {}, {seconds:.1} s", certificate.sentence());
        let (Some(proven), Some(lost), Some(gap)) = (certificate.bound, certificate.lost, certificate.gap) else {
            return Err(certificate.sentence().into());
        };
        let down = (proven / columns * 1e4).floor() / 1e4;
        let prototype = if prototype.is_nan() { "-".to_owned() } else { format!("{prototype:.4}") };
        let memory = peak_memory_bytes().map_or("-".to_owned(), |bytes| format!("{}", bytes / 1_000_000));
        let (lost, gap) = (lost / columns, 100.0 * gap);
        writeln!(text, "| {k} | {down:.4} | {seconds:.1} | {lost:.4} | {gap:.1} % | {prototype} | {memory} |")?;
    }
    write_page("bound.md", &text)
}
