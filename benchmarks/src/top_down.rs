//! Benchmark of top-down disclosure on Adult: running time with one QID and with several, and its growth.

use std::{error::Error, fmt::Write as _, sync::Arc, time::Instant};

use moretta_core::{
    policy::{BoundPolicy, Policy},
    privacy::{PrivacyModel, Template, TemplateValues},
    profile::Profile,
    recoding::{Action, Step},
    search::{NoObserver, Task, method_of},
    text::count,
};
use moretta_pages::chart::{Axis, Chart, Line};
use moretta_papers::{
    adult::{BOTH, GUARDED, SetUp},
    data::{Data, Random},
    machine,
};

use crate::{best, data, naive_top_down, worked, write_chart, write_page};

const SET_UP: SetUp = GUARDED;
const METHOD: &str = "name = \"top-down-disclosure\"";
const CONFIDENCES: [f64; 2] = [0.9, 1.0];
/// Enlarged tables: columns with random values, and copies in the table of the paper's size.
const RANDOM_COLUMNS: usize = 3;
const LARGE_S: usize = 22;
/// Published seconds of the search on a table of this size: with one QID of seven columns, and with several.
const PAPER_SECONDS: (f64, f64) = (150.0, 276.0);
/// Max-confidence of the published runs.
const PAPER_CONFIDENCE: f64 = 0.9;
const TARGET_SECONDS: f64 = 1.0;
const TURNS: usize = 5;
const QIDS: [usize; 4] = [3, 4, 5, 6];
/// Minimum and maximum columns of a QID, if there are several.
const QID_COLUMNS: (usize, usize) = (2, 5);
const DRAWS: usize = 30;
const DRAW_TURNS: usize = 2;
const GROWTH_S: [usize; 8] = [1, 2, 5, 11, 22, 44, 110, 221];
const GROWTH_TURNS: usize = 3;

/// Columns that an attacker is assumed to know together.
type Qid = Vec<&'static str>;

/// Result of one search; `seconds` is the best of several runs.
struct Run {
    path: Vec<Step>,
    work: Vec<(&'static str, u64)>,
    seconds: f64,
    /// Peak memory of the process, including the profile.
    peak_megabytes: Option<u64>,
}

impl Run {
    fn work(&self, name: &str) -> u64 {
        worked(&self.work, name)
    }

    fn memory(&self) -> String {
        self.peak_megabytes.map_or("unknown".to_owned(), count)
    }

    /// Column and code of each disclosed value.
    fn disclosed(&self) -> impl Iterator<Item = (usize, u32)> {
        let disclosed = self.path.iter().filter(|step| step.action == Action::Disclose);
        disclosed.flat_map(|step| &step.changes).map(|(column, cell)| (column.index(), cell.first))
    }
}

/// Profile of the original records, each with `s - 1` variations.
fn enlarged(data: &Data, original: &[Vec<String>], s: usize) -> Result<Profile, Box<dyn Error>> {
    let table = SET_UP.enlarged(data, original, (s, RANDOM_COLUMNS))?;
    // The profile depends on the columns alone, not on the templates.
    let policy = policy(&[all_columns()], 1.0)?;
    Ok(Profile::build(&policy, &table.trees, &table.counts)?)
}

/// Runs the search `turns` times and keeps the best time.
fn search(profile: &Profile, qids: &[Qid], confidence: f64, turns: usize) -> Result<Run, Box<dyn Error>> {
    let policy = policy(qids, confidence)?;
    let bound = BoundPolicy::new(&policy, profile)?;
    let task = Task::of(&bound, 1);
    let method = method_of(&policy)?;
    let timed = || {
        let start = Instant::now();
        let outcome = method.run(&task, &NoObserver);
        (outcome, start.elapsed().as_secs_f64())
    };
    let ((first, seconds), peak_megabytes) = machine::peak_megabytes(timed);
    let mut seconds = vec![seconds];
    for _ in 1..turns {
        let (outcome, more) = timed();
        outcome?;
        seconds.push(more);
    }
    let outcome = first?;
    Ok(Run { path: outcome.path, work: outcome.work, seconds: best(&seconds), peak_megabytes })
}

fn described(profile: &Profile) -> String {
    format!("{} records, {} distinct tuples", count(profile.records()), count(profile.tuples() as u64))
}

fn all_columns() -> Qid {
    SET_UP.columns.to_vec()
}

/// Policy that limits the inference of the rarer half of the sensitive values from each QID.
fn policy(qids: &[Qid], confidence: f64) -> Result<Policy, Box<dyn Error>> {
    let template = |qid: &Qid| -> Arc<dyn PrivacyModel> {
        Arc::new(Template {
            given: qid.iter().map(|name| (*name).to_owned()).collect(),
            column: SET_UP.sensitive.unwrap_or_default().to_owned(),
            values: TemplateValues::Rarest(0.5),
            max_confidence: confidence,
        })
    };
    // The parser rejects a max-confidence of 1 in a file, so the templates are added afterwards.
    let mut policy = SET_UP.policy("k = 2", METHOD)?;
    policy.privacy.models = qids.iter().map(template).collect();
    Ok(policy)
}

fn met(met: bool) -> &'static str {
    if met { "met" } else { "missed" }
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data("top-down") else { return Ok(()) };
    let original = SET_UP.rows(&data, BOTH)?;
    let mut text = format!(
        "# Top-down disclosure on Adult\n\nMade by `benchmarks/run top-down` on {}.\n\nSeven categorical quasi-identifiers without hierarchies\n({}), class {}.\nThe rarer half of the values of {} must not be inferred (`rarest = 0.5`).\nTimes are of the search alone, without building the profile, on {} threads. Memory is the peak of the process during\nthe search, including the profile. Enlarged: both sets, each record with s - 1 variations that have random\nvalues in {} random quasi-identifiers. The published times are of a Pentium IV at 3 GHz.\n",
        machine::described(),
        all_columns().join(", "),
        SET_UP.class.unwrap_or("none"),
        SET_UP.sensitive.unwrap_or("none"),
        rayon::current_num_threads(),
        RANDOM_COLUMNS,
    );
    let (mut one, mut naive, mut several, mut growth) = (String::new(), String::new(), String::new(), Growth::new());
    // From the smallest table to the largest, so that memory kept from an earlier one hardly adds to the peak.
    for s in GROWTH_S {
        let profile = enlarged(&data, &original, s)?;
        growth.measure(s, &profile)?;
        if s == 1 {
            against_naive(&mut naive, &profile)?;
        }
        if s == LARGE_S {
            one_qid(&mut one, &profile)?;
            several_qids(&mut several, &profile)?;
        }
    }
    text.extend([one, naive, several]);
    growth.write(&mut text)?;
    write_page("top-down-disclosure.md", &text)
}

fn one_qid(text: &mut String, profile: &Profile) -> Result<(), Box<dyn Error>> {
    writeln!(
        text,
        "\n## One QID of seven columns\n\nEnlarged, s = {}: {}. Best of {TURNS} turns. A max-confidence of 1 forbids nothing (a\npolicy with nothing else is refused); it gives the longest search.\n\n| max-confidence | seconds | published, s | published over ours | iterations | partitions touched | confidences computed | candidates rescored | peak memory, MB |\n| ---: |{}",
        LARGE_S,
        described(profile),
        " ---: |".repeat(8),
    )?;
    let mut slowest = 0.0f64;
    for confidence in CONFIDENCES {
        eprintln!("one QID, {confidence:?}");
        let run = search(profile, &[all_columns()], confidence, TURNS)?;
        slowest = slowest.max(run.seconds);
        let published = Some(PAPER_SECONDS.0).filter(|_| confidence == PAPER_CONFIDENCE);
        let whole = |number: Option<f64>| number.map_or(String::new(), |number| count(number.round() as u64));
        writeln!(
            text,
            "| {confidence:?} | {:.3} | {} | {} | {} | {} | {} | {} | {} |",
            run.seconds,
            whole(published),
            whole(published.map(|published| published / run.seconds)),
            count(run.work("iterations")),
            count(run.work("partitions_touched")),
            count(run.work("confidences_computed")),
            count(run.work("candidates_rescored")),
            run.memory(),
        )?;
    }
    writeln!(
        text,
        "\nTarget: below {TARGET_SECONDS} s on two cores ({}: {slowest:.3} s).",
        met(slowest < TARGET_SECONDS)
    )?;
    Ok(())
}

fn against_naive(text: &mut String, profile: &Profile) -> Result<(), Box<dyn Error>> {
    writeln!(
        text,
        "\n### Compared with a naive search\n\nBoth sets, not enlarged: {}. The naive search regroups all records for every\ncandidate in every iteration, on packed tuples and on one thread; it ran once, ours in {TURNS} turns before it. Both\ndisclose the same values in the same order.\n\n| max-confidence | seconds | naive, s | ratio | iterations | confidences computed | candidates tried naively |\n| ---: |{}",
        described(profile),
        " ---: |".repeat(6),
    )?;
    for confidence in CONFIDENCES {
        eprintln!("naive, {confidence:?}");
        let run = search(profile, &[all_columns()], confidence, TURNS)?;
        let policy = policy(&[all_columns()], confidence)?;
        let naive = naive_top_down::run(profile, BoundPolicy::new(&policy, profile)?.models());
        if !run.disclosed().eq(naive.path.iter().copied()) {
            return Err("the naive search discloses other values".into());
        }
        writeln!(
            text,
            "| {confidence:?} | {:.4} | {:.3} | {:.0} | {} | {} | {} |",
            run.seconds,
            naive.seconds,
            naive.seconds / run.seconds,
            count(run.work("iterations")),
            count(run.work("confidences_computed")),
            count(naive.trials),
        )?;
    }
    Ok(())
}

/// Draws QIDs; none contains another, because the templates of the smaller QID would be redundant.
fn draw(random: &mut Random, qids: usize) -> Vec<Qid> {
    let within = |one: &Qid, other: &Qid| one.iter().all(|column| other.contains(column));
    let mut drawn: Vec<Qid> = Vec::new();
    let mut tries = 0;
    while drawn.len() < qids {
        // Start over if no further QID fits beside those already drawn.
        tries += 1;
        if tries % 1000 == 0 {
            drawn.clear();
        }
        let (fewest, most) = QID_COLUMNS;
        let mut qid = all_columns();
        let columns = fewest + random.below(most - fewest + 1);
        while qid.len() > columns {
            qid.remove(random.below(qid.len()));
        }
        if !drawn.iter().any(|other| within(other, &qid) || within(&qid, other)) {
            drawn.push(qid);
        }
    }
    drawn
}

fn several_qids(text: &mut String, profile: &Profile) -> Result<(), Box<dyn Error>> {
    let (fewest, most) = QID_COLUMNS;
    writeln!(
        text,
        "\n## Several QIDs\n\nThe same table; each QID has {fewest} to {most} of the seven columns, drawn at random, none within another; {DRAWS} draws for each\nnumber of QIDs, the best of\n{DRAW_TURNS} turns for each draw.\n\n| QIDs | max-confidence | mean seconds | max seconds | published over our mean | mean iterations | mean partitions touched | mean candidates rescored |\n| ---: |{}",
        " ---: |".repeat(7),
    )?;
    let line = |name: &str, confidence: f64| Line { name: format!("{name}, {confidence:?}"), points: Vec::new() };
    let mut lines: Vec<Line> =
        CONFIDENCES.iter().flat_map(|&confidence| [line("mean", confidence), line("max", confidence)]).collect();
    let mut slowest = (0.0f64, 0.0f64);
    for qids in QIDS {
        let mut random = Random(qids as u64);
        let draws: Vec<Vec<Qid>> = (0..DRAWS).map(|_| draw(&mut random, qids)).collect();
        for (confidence, lines) in CONFIDENCES.into_iter().zip(lines.chunks_mut(2)) {
            eprintln!("{qids} QIDs, {confidence:?}");
            let runs = draws
                .iter()
                .map(|draw| search(profile, draw, confidence, DRAW_TURNS))
                .collect::<Result<Vec<_>, _>>()?;
            let mean = |of: &dyn Fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / runs.len() as f64;
            let mean_work = |name| count(mean(&|run| run.work(name) as f64).round() as u64);
            let mean_seconds = mean(&|run| run.seconds);
            let max_seconds = runs.iter().map(|run| run.seconds).fold(0.0, f64::max);
            slowest = (slowest.0.max(mean_seconds), slowest.1.max(max_seconds));
            lines[0].points.push((qids as f64, mean_seconds));
            lines[1].points.push((qids as f64, max_seconds));
            writeln!(
                text,
                "| {qids} | {confidence:?} | {mean_seconds:.3} | {max_seconds:.3} | {} | {} | {} | {} |",
                count((PAPER_SECONDS.1 / mean_seconds).round() as u64),
                mean_work("iterations"),
                mean_work("partitions_touched"),
                mean_work("candidates_rescored"),
            )?;
        }
    }
    writeln!(
        text,
        "\nPublished: {:.0} s, for 3 to 6 QIDs. Target: below {TARGET_SECONDS} s on two cores (mean {}: {:.3} s; every draw {}: {:.3} s).\n",
        PAPER_SECONDS.1,
        met(slowest.0 < TARGET_SECONDS),
        slowest.0,
        met(slowest.1 < TARGET_SECONDS),
        slowest.1,
    )?;
    let x = Axis { title: "QIDs", log: false };
    let chart = Chart { title: "search against QIDs".to_owned(), x, y: SECONDS, lines };
    *text += &write_chart("top-down-by-qids.svg", &chart.title, &chart)?;
    Ok(())
}

const SECONDS: Axis = Axis { title: "search, seconds", log: true };

/// Measurements of the search with one QID on tables of growing size.
struct Growth {
    rows: String,
    /// Records and seconds, and records and the seconds predicted from the first table by distinct tuples.
    points: Vec<(f64, f64)>,
    even: Vec<(f64, f64)>,
    /// Seconds per distinct tuple of the first table.
    first: Option<f64>,
}

impl Growth {
    fn new() -> Self {
        Self { rows: String::new(), points: Vec::new(), even: Vec::new(), first: None }
    }

    fn measure(&mut self, s: usize, profile: &Profile) -> Result<(), Box<dyn Error>> {
        eprintln!("growth, s = {s}");
        let run = search(profile, &[all_columns()], PAPER_CONFIDENCE, GROWTH_TURNS)?;
        let (records, tuples) = (profile.records(), profile.tuples());
        let per_tuple = run.seconds / tuples as f64;
        let first = *self.first.get_or_insert(per_tuple);
        writeln!(
            self.rows,
            "| {s} | {} | {} | {:.4} | {:.2} | {:.2} | {} | {} |",
            count(records),
            count(tuples as u64),
            run.seconds,
            1e6 * per_tuple,
            per_tuple / first,
            count(run.work("iterations")),
            run.memory(),
        )?;
        self.points.push((records as f64, run.seconds));
        self.even.push((records as f64, first * tuples as f64));
        Ok(())
    }

    fn write(self, text: &mut String) -> Result<(), Box<dyn Error>> {
        writeln!(
            text,
            "\n## Growth\n\nOne QID of seven columns, max-confidence = {PAPER_CONFIDENCE}; best of {GROWTH_TURNS} turns.\n\n| s | records | distinct tuples | seconds | microseconds per tuple | relative to the first | iterations | peak memory, MB |\n| ---: |{}\n{}",
            " ---: |".repeat(7),
            self.rows,
        )?;
        let lines = vec![
            Line { name: "search".to_owned(), points: self.points },
            Line { name: "like the distinct tuples".to_owned(), points: self.even },
        ];
        let x = Axis { title: "records", log: true };
        let chart = Chart { title: "search against records".to_owned(), x, y: SECONDS, lines };
        *text += &write_chart("top-down-by-records.svg", &chart.title, &chart)?;
        Ok(())
    }
}
