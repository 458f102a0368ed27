//! Benchmark of bottom-up generalization on Adult: speedup by index and pruning, growth, and information loss.

use std::{error::Error, fmt::Write as _, time::Instant};

use moretta_core::{
    ids::NodeId,
    measure::{MeasureContext, Measures},
    policy::{BoundPolicy, Policy},
    profile::Profile,
    recoding::Step,
    search::Outcome,
    text::count,
    verify,
};
use moretta_pages::chart::{Axis, Chart, Line};
use moretta_papers::{
    adult::{BOTH, CATEGORIES, SetUp, TRAIN},
    data::Data,
    error::PaperError,
    experiment::ExperimentTable,
    machine,
};

use crate::{best, data, naive_bottom_up, search_timed, worked, write_chart, write_page};

const SET_UP: SetUp = CATEGORIES;
const NAME: &str = "name = \"bottom-up-generalization\"";
const PRUNED: &str = "take-back = false";
const UNPRUNED: &str = "take-back = false\nprune = false";
/// Published run: records, vids (distinct tuples), K, seconds without pruning.
const PAPER: (u64, u64, u64, f64) = (1_356_660, 127_831, 150, 730.0);
const ENLARGED: (usize, usize) = (30, 3);
const TURNS: usize = 5;
const QUALITY_TURNS: usize = 2;
/// Rows of the quality tables: title, parameters, maximum share of suppressed records.
const VARIANTS: &[(&str, &str, f64)] = &[
    ("plain, as published", "take-back = false", 0.0),
    ("take-back", "search = 0\npartial = false", 0.0),
    ("take-back, partial", "search = 0", 0.0),
    ("take-back and search", "partial = false", 0.0),
    ("**default**: take-back and search, partial", "", 0.0),
    ("default, 1 % suppressed", "", 0.01),
    ("default, 2 % suppressed", "", 0.02),
    ("default, 5 % suppressed", "", 0.05),
    ("plain, 1 % suppressed", "take-back = false", 0.01),
    ("plain, 2 % suppressed", "take-back = false", 0.02),
    ("plain, 5 % suppressed", "take-back = false", 0.05),
    ("`measure = \"lm\"`", "measure = \"lm\"", 0.0),
    ("`measure = \"lm\"`, 2 % suppressed", "measure = \"lm\"", 0.02),
    ("`measure = \"lm\"`, 5 % suppressed", "measure = \"lm\"", 0.05),
];
const QUALITY_K: [u64; 6] = [10, 25, 50, 100, 250, 500];
const CURVE_K: [u64; 10] = [2, 5, 10, 20, 50, 100, 150, 200, 500, 1000];
const CURVE_S: [usize; 7] = [1, 2, 5, 10, 15, 20, 30];
const CURVE_R: [usize; 5] = [1, 2, 3, 4, 5];

fn policy(k: u64, parameters: &str, suppressed: f64) -> Result<Policy, PaperError> {
    SET_UP.policy(&format!("k = {k}\nmax-suppressed = {suppressed}"), &format!("{NAME}\n{parameters}"))
}

/// Profile that searches run on, with the time to build it.
struct TimedProfile {
    profile: Profile,
    build_seconds: f64,
}

impl TimedProfile {
    fn new(table: &ExperimentTable) -> Result<Self, Box<dyn Error>> {
        let start = Instant::now();
        let profile = Profile::build(&SET_UP.policy("k = 2", NAME)?, &table.trees, &table.counts)?;
        Ok(Self { profile, build_seconds: start.elapsed().as_secs_f64() })
    }

    /// Runs the search without suppression `turns` times; returns its result and the best time.
    fn run(&self, k: u64, parameters: &str, turns: usize) -> Result<(Outcome, f64), Box<dyn Error>> {
        search_timed(&BoundPolicy::new(&policy(k, parameters, 0.0)?, &self.profile)?, turns)
    }
}

pub fn run() -> Result<(), Box<dyn Error>> {
    let Some(data) = data("bottom-up") else { return Ok(()) };
    let mut text = format!(
        "# Bottom-up generalization on Adult\n\nMade by `benchmarks/run bottom-up` on {}.\n\nSeven categorical quasi-identifiers ({}), class {};\ntimes are of the search alone, best of several turns, without building the profile.\n",
        machine::described(),
        SET_UP.columns.join(", "),
        SET_UP.class.unwrap_or("none"),
    );
    quality(&mut text, &data)?;
    let both = SET_UP.rows(&data, BOTH)?;
    let large = TimedProfile::new(&SET_UP.enlarged(&data, &both, ENLARGED)?)?;
    speed(&mut text, &large)?;
    curves(&mut text, &data, &both, &large)?;
    write_page("bottom-up-generalization.md", &text)
}

/// Measures every variant at every K.
fn quality(text: &mut String, data: &Data) -> Result<(), Box<dyn Error>> {
    let profile = TimedProfile::new(&SET_UP.table(data, TRAIN)?)?.profile;
    writeln!(
        text,
        "\n## Quality\n\nThe training set, {} records, {} distinct tuples. LM is the mean over records of the loss summed over the seven\ncolumns (0 to 7); CM is the share of records suppressed or not of their group's majority class; a suppressed record\ncounts as lost in all seven columns and in its class. Lower is better in both. The smallest group is that of the\nrecords not suppressed.\nMilliseconds are of the search on {} threads.\n",
        count(profile.records()),
        count(profile.tuples() as u64),
        rayon::current_num_threads(),
    )?;
    let columns: String = QUALITY_K.iter().map(|k| format!(" K = {k} |")).collect();
    let heads = ["LM", "CM", "Smallest group", "Suppressed records", "Milliseconds"];
    let rule = " ---: |".repeat(QUALITY_K.len());
    let mut tables = heads.map(|head| format!("### {head}\n\n| |{columns}\n| --- |{rule}\n"));
    for (title, parameters, suppressed) in VARIANTS {
        let mut rows = heads.map(|_| format!("| {title} |"));
        for k in QUALITY_K {
            eprintln!("K = {k}, {title}");
            let policy = policy(k, parameters, *suppressed)?;
            let bound = BoundPolicy::new(&policy, &profile)?;
            let (outcome, seconds) = search_timed(&bound, QUALITY_TURNS)?;
            let verified = verify::verify(&bound, outcome.recoding)?;
            let released = verified.released();
            let measures = Measures::of(&MeasureContext::of_recoding(&policy, &profile, released));
            let value = |name: &str| measures.get(name).unwrap_or(f64::NAN);
            let kept = (0..released.groups()).filter(|&group| !released.is_suppressed(group));
            let smallest = kept.map(|group| released.records(group)).min().unwrap_or(0);
            let cells = [
                format!("{:.3}", value("lm")),
                format!("{:.4}", value("cm")),
                count(smallest),
                count(released.suppressed_records()),
                format!("{:.0}", 1000.0 * seconds),
            ];
            rows.iter_mut().zip(cells).for_each(|(row, cell)| *row += &format!(" {cell} |"));
        }
        for (table, row) in tables.iter_mut().zip(rows) {
            writeln!(table, "{row}")?;
        }
    }
    text.push_str(&tables.join("\n"));
    Ok(())
}

/// Compares the search with pruning, without pruning, and without an index.
fn speed(text: &mut String, table: &TimedProfile) -> Result<(), Box<dyn Error>> {
    let (_, paper_vids, k, paper_seconds) = PAPER;
    let (s, r) = ENLARGED;
    // Alternating, so that other load on the machine affects both alike.
    let (mut pruned, mut unpruned) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        eprintln!("speed, turn {} of {TURNS}", turn + 1);
        pruned.push(table.run(k, PRUNED, 1)?);
        unpruned.push(table.run(k, UNPRUNED, 1)?);
    }
    let seconds = |runs: &[(Outcome, f64)]| best(&runs.iter().map(|(_, seconds)| *seconds).collect::<Vec<_>>());
    let (fast, slow) = (seconds(&pruned), seconds(&unpruned));
    let (pruned, unpruned) = (&pruned[0].0, &unpruned[0].0);
    if pruned.path != unpruned.path {
        return Err("pruning changes the path".into());
    }
    eprintln!("speed, naive");
    let naive = naive_bottom_up::run(&table.profile, k);
    if !same_path(&table.profile, &pruned.path, &naive.path) {
        return Err("the naive method takes another path".into());
    }
    writeln!(
        text,
        "\n## Speed\n\nBoth sets, each record with {} variations that have random values in {r} random columns: {} records, {} distinct\ntuples (the profile: {:.2} s); K = {k}. All three take the same steps. With pruning, at most one generalization per\ncolumn is tried, and only on vids below K (a vid is a distinct tuple). Without pruning, every valid generalization is\ntried on all vids it changes. The naive method regroups the whole table for every valid generalization, on packed\ntuples; it ran once, the others in {TURNS} turns.\n",
        s - 1,
        table.profile.records(),
        table.profile.tuples(),
        table.build_seconds,
    )?;
    writeln!(
        text,
        "| search | seconds | over pruned | iterations | trials | most trials in an iteration | vids touched |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    )?;
    for (title, run, seconds) in [("index, pruned", pruned, fast), ("index, every valid one tried", unpruned, slow)] {
        let work = |name: &str| worked(&run.work, name);
        writeln!(
            text,
            "| {title} | {seconds:.3} | {:.1} | {} | {} | {} | {} |",
            seconds / fast,
            work("iterations"),
            work("trials"),
            work("most_trials"),
            work("vids_touched")
        )?;
    }
    writeln!(
        text,
        "| no index, every valid one tried | {:.3} | {:.1} | {} | {} | | {} |",
        naive.seconds,
        naive.seconds / fast,
        naive.path.len(),
        naive.trials,
        naive.tuples_touched
    )?;
    writeln!(
        text,
        "| published, without pruning, {paper_vids} vids, 2.4 GHz Pentium IV | {paper_seconds:.0} | {:.0} | | | | |",
        paper_seconds / fast
    )?;
    let met = |met: bool| if met { "met" } else { "missed" };
    writeln!(
        text,
        "\nTarget: pruned at least 20 times as fast as unpruned ({}: {:.1}), and below 0.5 s ({}: {fast:.3} s).",
        met(slow >= 20.0 * fast),
        slow / fast,
        met(fast < 0.5)
    )?;
    Ok(())
}

fn same_path(profile: &Profile, steps: &[Step], nodes: &[(usize, NodeId)]) -> bool {
    let cells = nodes.iter().map(|&(column, node)| (column, profile.columns()[column].domain.node_cell(node)));
    let changes = steps.iter().flat_map(|step| &step.changes).map(|&(column, cell)| (column.index(), cell));
    changes.eq(cells)
}

/// Measures how time and work grow with K, with copies and with random columns.
fn curves(text: &mut String, data: &Data, both: &[Vec<String>], large: &TimedProfile) -> Result<(), Box<dyn Error>> {
    let k = PAPER.2;
    let (s, r) = ENLARGED;
    writeln!(text, "\n## Growth\n\nUnless varied, K = {k}, s = {s} (copies), r = {r} (random columns).")?;
    let mut curve = Curve::new("K", true);
    for k in CURVE_K {
        curve.measure(k as f64, large, k)?;
    }
    curve.write(text, "bottom-up-by-k")?;
    let mut curve = Curve::new("s", false);
    for s in CURVE_S {
        curve.measure(s as f64, &TimedProfile::new(&SET_UP.enlarged(data, both, (s, r))?)?, k)?;
    }
    curve.write(text, "bottom-up-by-s")?;
    let mut curve = Curve::new("r", false);
    for r in CURVE_R {
        curve.measure(r as f64, &TimedProfile::new(&SET_UP.enlarged(data, both, (s, r))?)?, k)?;
    }
    curve.write(text, "bottom-up-by-r")
}

/// Time and work of the pruned and the unpruned search by one variable.
struct Curve {
    against: Axis,
    rows: String,
    /// Pruned and unpruned: seconds, then vids touched.
    lines: [Line; 4],
}

impl Curve {
    fn new(against: &'static str, log: bool) -> Self {
        let line = |name: &str| Line { name: name.to_owned(), points: Vec::new() };
        let rows = format!(
            "| {against} | distinct tuples | pruned, s | unpruned, s | ratio | iterations | trials, pruned | trials, unpruned | vids touched, pruned | vids touched, unpruned |\n| ---: |{}\n",
            " ---: |".repeat(9)
        );
        let lines = [line("pruned"), line("every valid one tried"), line("pruned"), line("every valid one tried")];
        Self { against: Axis { title: against, log }, rows, lines }
    }

    fn measure(&mut self, at: f64, table: &TimedProfile, k: u64) -> Result<(), Box<dyn Error>> {
        eprintln!("curve, {} = {at}", self.against.title);
        let (pruned, pruned_seconds) = table.run(k, PRUNED, 3)?;
        let (unpruned, unpruned_seconds) = table.run(k, UNPRUNED, 1)?;
        let (vids, unpruned_vids) = (worked(&pruned.work, "vids_touched"), worked(&unpruned.work, "vids_touched"));
        writeln!(
            self.rows,
            "| {at} | {} | {pruned_seconds:.3} | {unpruned_seconds:.3} | {:.1} | {} | {} | {} | {vids} | {unpruned_vids} |",
            table.profile.tuples(),
            unpruned_seconds / pruned_seconds,
            worked(&pruned.work, "iterations"),
            worked(&pruned.work, "trials"),
            worked(&unpruned.work, "trials"),
        )?;
        let values = [pruned_seconds, unpruned_seconds, vids as f64, unpruned_vids as f64];
        for (line, value) in self.lines.iter_mut().zip(values) {
            line.points.push((at, value));
        }
        Ok(())
    }

    fn write(self, text: &mut String, file: &str) -> Result<(), Box<dyn Error>> {
        let against = self.against.title;
        writeln!(text, "\n### Against {against}\n\n{}", self.rows)?;
        let [pruned, unpruned, pruned_vids, unpruned_vids] = self.lines;
        let charts = [
            ("time", "search, seconds", vec![pruned, unpruned]),
            ("vids", "vids touched", vec![pruned_vids, unpruned_vids]),
        ];
        for (kind, title, lines) in charts {
            let y = Axis { title, log: true };
            let chart = Chart { title: format!("{title} against {against}"), x: self.against, y, lines };
            *text += &write_chart(&format!("{file}-{kind}.svg"), &chart.title, &chart)?;
        }
        Ok(())
    }
}
