//! The second half of the way, the same for `anonymize` and `apply`: verified → written → read back → named.
//!
//! Whatever goes wrong, the target path holds what it held before: the file gets its name only after it was read back
//! and found to have the right columns and records, in its quasi-identifier, sensitive and class columns exactly what
//! was verified, and to satisfy every model on its own account. (Columns that are copied are not compared.)

use std::{path::PathBuf, time::Instant};

use hashbrown::HashMap;
use moretta_core::{
    counts::{Counts, RecordOrder},
    hierarchy::Tree,
    policy::Policy,
    profile::Profile,
    readback, release,
    report::{Report, Seconds},
    verify::{self, Verified},
};
use moretta_engine::{Engine, Format, LocalEngine, Settings, Source, Target, write_pending};

use crate::{
    arguments::Output,
    failure::Failure,
    inputs::{self, check_outputs},
    page, summary,
    watch::Watch,
};

/// A table that has been read and a policy for it.
pub struct Table<'a> {
    /// Where the records are.
    pub engine: &'a LocalEngine,
    /// The policy.
    pub policy: &'a Policy,
    /// Its hierarchies.
    pub hierarchies: &'a HashMap<String, Tree>,
    /// The first pass's counts.
    pub counts: &'a Counts,
    /// Their profile.
    pub profile: &'a Profile,
    /// How the work is divided.
    pub settings: &'a Settings,
}

/// A time that is running.
pub struct Clock(Instant);

impl Clock {
    /// From now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the last time it was asked, or since its start.
    pub fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let lap = now.duration_since(self.0).as_secs_f64();
        self.0 = now;
        lap
    }
}

/// The files that a release writes, checked before anything else is done.
pub fn check_paths(
    output: &Output,
    recoding: Option<&PathBuf>,
    reads: &[PathBuf],
    source: &Source,
) -> Result<Target, Failure> {
    let mut paths = vec![output.output.as_path()];
    paths.extend(output.report.iter().map(PathBuf::as_path));
    paths.extend(recoding.map(PathBuf::as_path));
    check_outputs(&paths, reads, output.overwrite)?;
    for report in &output.report {
        report_form(report)?;
    }
    let tabs = output.output.extension().is_some_and(|extension| extension == "tsv");
    if tabs && source.format() == Format::Csv && source.csv_options().delimiter != Some(b'\t') {
        let message = "the release has the delimiter of the input, which is no tab; name it .csv";
        return Err(Failure::input(format!("{}: {message}", output.output.display())));
    }
    if let Some(path) = recoding.filter(|path| path.extension().is_none_or(|extension| extension != "json")) {
        return Err(Failure::input(format!("{}: a recoding's name ends in .json", path.display())));
    }
    Ok(Target::new(output.output.clone())?)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReportForm {
    Json,
    Html,
}

fn report_form(path: &std::path::Path) -> Result<ReportForm, Failure> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Ok(ReportForm::Json),
        Some("html" | "htm") => Ok(ReportForm::Html),
        _ => Err(Failure::input(format!("{}: a report's name ends in .json or .html", path.display()))),
    }
}

/// A seed of the user's, or one that nobody knows: whoever knows it can undo the shuffle. Of 53 bits, so that every
/// reader of JSON gets it whole.
pub fn seed(asked: Option<u64>) -> Result<u64, Failure> {
    match asked {
        Some(seed) => Ok(seed),
        None => getrandom::u64()
            .map(|seed| seed >> 11)
            .map_err(|error| Failure::input(format!("no random seed to be had ({error}); give --seed N"))),
    }
}

/// Writes the release, reads it back, gives it its name, and reports.
pub fn finish(
    table: &Table<'_>,
    verified: &Verified,
    mut report: Report,
    output: &Output,
    target: &Target,
    recoding: Option<(&PathBuf, String)>,
    mut clock: Clock,
) -> Result<(), Failure> {
    let order = if output.keep_order { RecordOrder::Input } else { table.policy.release.order };
    let rewrite = release::rewrite(table.policy, table.profile, table.counts, verified, order, report.seed);
    let written = table.engine.rewrite(&rewrite, target, &Watch::new("writing"))?;
    drop(rewrite);
    report.seconds.release = clock.lap();

    read_back(table, verified, &written)?;
    report.seconds.check = clock.lap();
    // What was done besides is in the total already.
    let Seconds { profile, search, release, check, total } = report.seconds;
    report.seconds.total = total + profile + search + release + check;
    report.peak_memory_bytes = moretta_engine::peak_memory_bytes();

    // All files are on the disk before the first of them gets its name; the release goes first.
    let json = serde_json::to_string_pretty(&report).expect("a report is texts and numbers") + "\n";
    let name = output.output.file_name().unwrap_or_default().to_string_lossy();
    let mut beside = Vec::new();
    if let Some((path, text)) = recoding {
        beside.push(write_pending(path, text.as_bytes())?);
    }
    for path in &output.report {
        let text = match report_form(path)? {
            ReportForm::Json => json.clone(),
            ReportForm::Html => page::render(&report, &name),
        };
        beside.push(write_pending(path, text.as_bytes())?);
    }
    written.pending.persist(output.overwrite)?;
    for pending in beside {
        pending.persist(output.overwrite)?;
    }
    if output.json {
        summary::print(&json);
    } else {
        summary::print(&summary::release(&report, output));
    }
    Ok(())
}

/// The check that matters: on the file that was written, not on what was meant to be written.
fn read_back(table: &Table<'_>, verified: &Verified, written: &moretta_engine::Written) -> Result<(), Failure> {
    let source = written.pending.open(&written.csv)?;
    let dropped = |name: &&String| table.policy.identifiers().any(|column| column.name == **name);
    let expected: Vec<&String> = table.engine.source().columns().iter().filter(|name| !dropped(name)).collect();
    if expected != source.columns().iter().collect::<Vec<_>>() {
        return Err(Failure::unsatisfied("nothing was kept: the written file has other columns than it should"));
    }
    let engine = LocalEngine::with_settings(source, table.settings.clone());
    let counts = engine.group_and_count(&Profile::grouped_columns(table.policy), &Watch::new("checking"))?;
    let unfit = |reason: String| Failure::unsatisfied(format!("nothing was kept: {reason}"));
    let file =
        Profile::of_release(table.policy, table.hierarchies, &counts).map_err(|error| unfit(error.to_string()))?;
    drop(counts);
    readback::compare(table.profile, verified, &file).map_err(|error| unfit(error.to_string()))?;
    let models = inputs::bind(table.policy, &file)?;
    match verify::check(&file, &models).into_iter().find(|judgement| !judgement.holds()) {
        Some(broken) => Err(unfit(format!("the written file breaks {}", broken.model))),
        None => Ok(()),
    }
}
