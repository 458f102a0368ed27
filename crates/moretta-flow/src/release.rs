//! Makes a release: `anonymize` searches for a recoding, `apply` uses a saved one; the rest is the same for both.
//!
//! All files are written under temporary names before the first gets its own. Then recoding and reports are renamed,
//! and the release last, so that a new release is never without them ([`moretta_core::publish`]). A run that is killed
//! between two renames leaves a new report beside the old release, or none. Both name their release by its SHA-256.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use moretta_core::{
    counts::{Counts, RecordOrder},
    engine::{Engine, Staged},
    hierarchy::Hierarchies,
    measure::MeasureContext,
    observer::{Deadline, Note, Observer, Stage, Stop},
    policy::{BoundPolicy, PatternMatch, Policy},
    profile::Tables,
    publish::ReadBack,
    run,
    saved::Saved,
    search::{
        Outcome, Task,
        best::{self, Effort},
        method_of,
    },
    seed::Seed,
    text::shown,
    verify::{Verified, verify},
};
use moretta_engine::{
    CsvRelease, EngineError, FileKind, Format, LocalEngine, MemoryTable, Pending, Target, hold_signals,
    peak_memory_bytes, write_pending, write_table,
};
use moretta_insight::{
    kept::Kept,
    linkage::linking_policy,
    report::{Report, Seconds},
    tradeoff,
};

use crate::{
    error::FlowError,
    files::{OutputFormat, check_beside, check_outputs},
    input::{Destination, Input, PolicySource},
    linkage::{Earlier, EarlierFiles, EarlierReleases},
    memory::{Guard, Purpose},
    policy::LoadedPolicy,
    preflight,
    session::{Session, check_standard_input},
};

/// Request of `moretta anonymize`.
#[derive(Debug, Clone)]
pub struct Anonymize {
    /// Table that is read.
    pub input: Input,
    /// Policy of the request.
    pub policy: PolicySource,
    /// The release and its reports.
    pub output: Output,
    /// File to save the recoding in, for `apply`.
    pub recoding: Option<PathBuf>,
    /// Earlier releases of the same table.
    pub earlier: Earlier,
    /// Options of search and output.
    pub options: ReleaseOptions,
}

/// The files of a release.
#[derive(Debug, Clone)]
pub struct Output {
    /// Where the release goes.
    pub release: Destination,
    /// Reports: .json for programs, .html for people.
    pub reports: Vec<PathBuf>,
    /// Whether existing files may be overwritten.
    pub overwrite: bool,
    /// Format of a release to standard output (`-`); that of the session's `format`, or CSV, by default.
    pub format: Option<FileKind>,
}

/// Options of search and output.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReleaseOptions {
    /// Random seed of the search and of the record order; a random key by default.
    pub seed: Option<Seed>,
    /// Whether the records keep the order of the input.
    pub keep_order: bool,
    /// Limit of the search; then the best result so far is released.
    pub time_limit: Option<Duration>,
    /// Budget of the method `best`, instead of the policy's.
    pub effort: Option<Effort>,
    /// Step of the method's generalization path to release, instead of the result of the search.
    pub at: Option<usize>,
    /// Whether the report has the measures of every step of the method's generalization path.
    pub path: bool,
    /// Whether the report has a lower bound on the loss of any release.
    pub bound: bool,
    /// Whether the result has the recoding, for `apply`.
    pub recoding: bool,
}

/// Report and recoding of a release.
#[derive(Debug)]
pub struct Release {
    /// The policy, the guarantees that hold, and the information loss.
    pub report: Report,
    /// The recoding, if it was requested.
    pub recoding: Option<Saved>,
}

/// Stopwatch.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn lap(&mut self) -> f64 {
        let now = Instant::now();
        let lap = now.duration_since(self.0).as_secs_f64();
        self.0 = now;
        lap
    }
}

/// Notes that fewer records are suppressed than the policy allows. A search that was stopped has another reason.
fn note_budget(bound: &BoundPolicy<'_>, outcome: &Outcome, observer: &dyn Observer) {
    let (allowed, suppressed) = (bound.max_suppressed(), outcome.recoding.suppressed_records(bound.profile()));
    if suppressed < allowed && outcome.stop == Stop::Finished {
        let min_records = bound.models().iter().map(|model| model.min_records()).max().unwrap_or(1);
        observer.note(&Note::BudgetNotUsed { allowed, suppressed, min_records });
    }
}

impl Session<'_> {
    /// Makes a release of a table, with reports and the saved recoding. Returns the report.
    pub fn anonymize(&self, request: &Anonymize) -> Result<Report, FlowError> {
        Ok(self.anonymize_with_recoding(request)?.report)
    }

    /// Like [`Session::anonymize`]; also returns the recoding, if the options or a file ask for it.
    pub fn anonymize_with_recoding(&self, request: &Anonymize) -> Result<Release, FlowError> {
        self.install(|| {
            check_standard_input(request.earlier.releases.iter().chain([&request.input]))?;
            self.copy_beside(request.output.release.file());
            let loaded = self.policy_for(&request.policy, &request.input)?;
            let engine = self.open(&request.input, &loaded.policy.input)?;
            let name = request.output.release.to_string();
            if !request.earlier.releases.is_empty() {
                preflight::only_records(&loaded.policy, &loaded.name, "`--earlier`")?;
            }
            let earlier = EarlierFiles::open(self, &request.earlier, &loaded.policy, name)?;
            let mut reads = loaded.files.clone();
            reads.extend(earlier.iter().flat_map(EarlierFiles::paths));
            let format = request.output.format.or(self.stream_format());
            let target =
                check_files(&request.output, request.recoding.as_deref(), &reads, (&engine, &loaded.policy), format)?;
            let path = request.options.path || !request.output.reports.is_empty();
            let recoding = request.options.recoding || request.recoding.is_some();
            let options = ReleaseOptions { path, recoding, ..request.options };
            let digests = if path { self.digests(&loaded.files)? } else { Vec::new() };
            let prepare = || self.prepare(&engine, &loaded, (&target, earlier.as_ref()), &options);
            let ((Release { mut report, recoding }, release), input) =
                self.with_digests(engine.source(), path, prepare)?;
            if path {
                let text = Some(loaded.text.clone());
                report.provenance =
                    Some(self.provenance(engine.source(), (input, digests), loaded.unconfirmed, text)?);
            }
            publish(release, &report, &request.output, request.recoding.as_ref().zip(recoding.as_ref()))?;
            Ok(Release { report, recoding })
        })
    }

    /// Writes a release that was published in memory to a file, which has the same cells. `report` is that of the release.
    pub fn write_release(
        &self,
        table: &MemoryTable,
        report: &Report,
        path: &Path,
        overwrite: bool,
    ) -> Result<(), FlowError> {
        self.install(|| {
            check_outputs(&[path], &[], overwrite)?;
            let mut target = Target::new(path)?;
            let release = &report.policy.release;
            if target.kind.format == Format::Csv && (release.guard_formulas || release.decimal.is_some()) {
                let message = "[release] has `guard-formulas` or `decimal`, which change the cells of a CSV file; release \
                               the table as a file, or write .parquet or .arrow";
                return Err(FlowError::usage(format!("{}: {message}", path.display())));
            }
            (target.overwrite, target.csv) = (overwrite, csv_release(&report.policy));
            Ok(write_table(table, &target, &self.engine_options(), self.observer)?)
        })
    }

    /// Makes and publishes a release of any engine's records.
    pub fn release<E: Engine>(
        &self,
        engine: &E,
        loaded: &LoadedPolicy,
        target: &E::Target,
        options: &ReleaseOptions,
    ) -> Result<Release, FlowError> {
        self.install(|| {
            let (release, records) = self.prepare(engine, loaded, (target, None), options)?;
            records.publish()?;
            Ok(release)
        })
    }

    /// Reads, searches, verifies, writes, reads back, and judges the release together with earlier ones. The second
    /// result is to be published.
    fn prepare<E: Engine>(
        &self,
        engine: &E,
        loaded: &LoadedPolicy,
        (target, earlier): (&E::Target, Option<&EarlierFiles>),
        options: &ReleaseOptions,
    ) -> Result<(Release, ReadBack<E::Staged>), FlowError> {
        let mut stopwatch = Stopwatch::start();
        let policy = &*with_effort(loaded, options.effort)?;
        let order = order(engine, policy, options.keep_order)?;
        earlier.map_or(Ok(()), |files| files.check_order(self, order))?;
        let (counts, profile, kept) = self.original_with_kept(loaded, engine)?;
        self.check_kept(policy, engine, &kept, "")?;
        let profile_seconds = stopwatch.lap();
        let seed = seed(options.seed)?;
        let others = self.second_tables(policy, &loaded.hierarchies, &loaded.folder)?;
        let bound = BoundPolicy::with_tables(policy, Tables { table: &profile, others: &others })?;
        let (linking, purpose) = (linking_policy(policy), Purpose::release(engine, target, options.path, &kept));
        let expected = earlier.map_or(Vec::new(), |files| files.expected(&bound));
        self.check_memory(&bound, &counts, (purpose, &expected))?;
        let earlier = earlier.map(|files| EarlierReleases::read(self, files, &linking, (&bound, counts.bytes())));
        let earlier = earlier.transpose()?;
        // The sizes of earlier releases are known now.
        earlier.as_ref().map_or(Ok(()), |read| self.check_memory(&bound, &counts, (purpose, &read.sizes())))?;
        // `moretta frontier` uses the same seed, so that the steps are the same.
        let path_seed = if options.at.is_some() { options.seed.map_or(0, Seed::for_search) } else { seed.for_search() };
        let task = Task::of(&bound, path_seed);
        let (outcome, first_valid) = match options.at {
            Some(at) => {
                preflight::path(&bound)?;
                tradeoff::outcome_at(policy, &task, at, self.observer)?
            }
            None => {
                let outcome = self.search(&bound, seed.for_search(), options.time_limit)?;
                note_budget(&bound, &outcome, self.observer);
                (outcome, None)
            }
        };
        let verified = verify(&bound, outcome.recoding).map_err(|error| match options.at {
            Some(at) => FlowError::unsatisfied(tradeoff::refused(at, first_valid, &error)),
            None => error.into(),
        })?;
        let stopped = (outcome.stop, &outcome.work[..]);
        let mut report = Report::of(policy, &profile, &verified, stopped, seed, engine.columns().len());
        report.at = options.at;
        report.tried = outcome.tried;
        report.seconds.profile = profile_seconds;
        report.seconds.search = stopwatch.lap();
        if options.path && !outcome.path.is_empty() {
            self.observer.stage(Stage::Measuring);
            let points = tradeoff::measured(&profile, policy, &outcome.path, &[], self.observer);
            report.path = points.ok_or_else(FlowError::interrupted)?;
            report.seconds.total = stopwatch.lap();
        }
        if options.bound {
            let context = MeasureContext::of_recoding(policy, &profile, verified.released());
            report.bound = Some(self.bound_of_release(&bound, &counts).compare_with(&context));
            report.seconds.total += stopwatch.lap();
        }
        self.notes(loaded);
        let saved = || Saved::of(policy, &loaded.hierarchies, &profile, verified.recoding());
        let mut recoding = options.recoding.then(saved);
        let input = RewriteInput { engine, hierarchies: &loaded.hierarchies, counts, target, order };
        let release = self.write_with_statistics(input, &verified, &mut report, (stopwatch, options.path))?;
        report.kept = Some(Kept::of(policy, &kept, release.rows()));
        if options.path {
            self.add_rows(&mut report, &verified, &release)?;
        }
        if let Some(saved) = &mut recoding {
            saved.release.clone_from(&report.release);
        }
        drop(verified);
        if let Some(earlier) = earlier {
            report.linkage = Some(earlier.judge(&release)?);
            report.peak_memory_bytes = self.alone().then(peak_memory_bytes).flatten();
        }
        Ok((Release { report, recoding }, release))
    }

    /// Runs the policy's method. If the observer stops an anytime method, its result so far is returned.
    fn search(&self, bound: &BoundPolicy<'_>, seed: u64, limit: Option<Duration>) -> Result<Outcome, FlowError> {
        let advice: BTreeSet<String> = bound.models().iter().filter_map(|model| model.advice()).collect();
        advice.into_iter().for_each(|advice| self.observer.note(&Note::ModelAdvice(advice)));
        self.observer.stage(Stage::Searching);
        let guard = Guard::new(self.memory_limit().filter(|_| self.alone()));
        let exceeded = || guard.is_exceeded();
        let outcome = run::search(bound, seed, &Deadline::after(self.observer, limit).or_when(&exceeded))?;
        guard.check()?;
        if outcome.stop == Stop::Cancelled {
            let anytime = method_of(bound.policy()).is_ok_and(|method| method.anytime());
            if !anytime || !outcome.recoding.discloses_anything(bound.profile()) {
                return Err(FlowError::interrupted());
            }
            self.observer.note(&Note::SearchInterrupted);
            self.observer.clear_stop();
        }
        Ok(outcome)
    }

    /// Reports notes that a data holder should read before relying on a release.
    fn notes(&self, loaded: &LoadedPolicy) {
        let LoadedPolicy { policy, unconfirmed, patterns, .. } = loaded;
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let (unguarded, unknown) = (owned(policy.unguarded()), owned(policy.taken_as_unknown()));
        if !unguarded.is_empty() {
            self.observer.note(&Note::Unguarded(unguarded));
        }
        if !unknown.is_empty() {
            self.observer.note(&Note::TakenAsUnknown(unknown));
        }
        for PatternMatch { pattern, role, columns } in patterns.iter().cloned() {
            self.observer.note(&Note::Pattern { pattern, role, columns });
        }
        if *unconfirmed > 0 {
            self.observer.note(&Note::Unconfirmed(*unconfirmed));
        }
    }

    /// Like [`Session::write`]; also adds the report's statistics if `wanted`. They need one thread, and so does the
    /// beginning of writing.
    pub(crate) fn write_with_statistics<E: Engine>(
        &self,
        input: RewriteInput<'_, E>,
        verified: &Verified<'_>,
        report: &mut Report,
        (stopwatch, wanted): (Stopwatch, bool),
    ) -> Result<ReadBack<E::Staged>, FlowError> {
        let statistics = || wanted.then(|| self.statistics(verified)).flatten();
        let (release, statistics) = rayon::join(|| self.write(input, verified, report, stopwatch), statistics);
        report.statistics = statistics;
        release
    }

    /// Writes the release and reads it back; completes the report's file and times.
    fn write<E: Engine>(
        &self,
        input: RewriteInput<'_, E>,
        verified: &Verified<'_>,
        report: &mut Report,
        mut stopwatch: Stopwatch,
    ) -> Result<ReadBack<E::Staged>, FlowError> {
        let RewriteInput { engine, hierarchies, counts, target, order } = input;
        // The report shows the order that was used, which `--keep-order` may have changed.
        report.policy.release.order = order;
        let written = verified.write(engine, counts, target, (order, report.seed), self.observer)?;
        report.seconds.release = stopwatch.lap();
        let release = written.read_back(hierarchies, self.observer)?;
        report.release = release.file().cloned();
        report.seconds.check = stopwatch.lap();
        // The total already includes the time of optional steps.
        let Seconds { profile, search, release: writing, check, total } = report.seconds;
        report.seconds.total = total + profile + search + writing + check;
        report.peak_memory_bytes = self.alone().then(peak_memory_bytes).flatten();
        Ok(release)
    }
}

/// Input of the second pass over the records.
pub(crate) struct RewriteInput<'a, E: Engine> {
    pub(crate) engine: &'a E,
    pub(crate) hierarchies: &'a Hierarchies,
    pub(crate) counts: Counts,
    pub(crate) target: &'a E::Target,
    pub(crate) order: RecordOrder,
}

/// The policy with another budget of its method.
fn with_effort(loaded: &LoadedPolicy, effort: Option<Effort>) -> Result<Cow<'_, Policy>, FlowError> {
    let Some(effort) = effort else { return Ok(Cow::Borrowed(&loaded.policy)) };
    let method = &loaded.policy.method.name;
    if method != best::NAME {
        let (file, method) = (&loaded.name, shown(method));
        let message = format!("{file}: `--effort` is for the method `{}`; the policy names `{method}`", best::NAME);
        return Err(FlowError::usage(message));
    }
    let mut policy = loaded.policy.clone();
    policy.method.parameters.insert("effort".to_owned(), effort.name().into());
    Ok(Cow::Owned(policy))
}

/// Returns the order of the released records; an error if the engine cannot keep that of the input.
pub(crate) fn order<E: Engine>(engine: &E, policy: &Policy, keep: bool) -> Result<RecordOrder, FlowError> {
    let order = if keep { RecordOrder::Input } else { policy.release.order };
    match order {
        RecordOrder::Input if !engine.keeps_order() => {
            Err(FlowError::usage(format!("{}: these records have no order to keep", engine.name())))
        }
        order => Ok(order),
    }
}

/// Returns the requested seed, or a random key: an attacker who finds the seed can undo the shuffle.
pub(crate) fn seed(requested: Option<Seed>) -> Result<Seed, FlowError> {
    requested.map_or_else(|| random_bytes().map(Seed::Key), Ok)
}

/// Returns random bytes of the operating system.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], FlowError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| FlowError::usage(format!("the system has no random numbers ({error}); use --seed N")))?;
    Ok(bytes)
}

/// Checks the output files of a release before the work starts.
pub(crate) fn check_files(
    output: &Output,
    recoding: Option<&Path>,
    read: &[PathBuf],
    (engine, policy): (&LocalEngine, &Policy),
    format: Option<FileKind>,
) -> Result<Target, FlowError> {
    let source = engine.source();
    let mut paths: Vec<&Path> = output.release.file().into_iter().collect();
    paths.iter().try_for_each(|release| check_beside(release, source.name()))?;
    paths.extend(output.reports.iter().map(PathBuf::as_path).chain(recoding));
    let reads: Vec<PathBuf> = source.paths().map(PathBuf::from).chain(read.iter().cloned()).collect();
    check_outputs(&paths, &reads, output.overwrite)?;
    output.reports.iter().try_for_each(|report| report_format(report).map(|_| ()))?;
    let wrong = |path: &Path, message: &str| FlowError::usage(format!("{}: {message}", path.display()));
    let mut target = match &output.release {
        Destination::Memory(slot) => Target::in_memory(slot.clone()),
        Destination::File(path) if output.release.file().is_some() => Target::new(path)?,
        Destination::File(stream) => Target::of_kind(stream, format.unwrap_or(FileKind::CSV)),
    };
    let tabs = target.kind.tabs;
    let delimiter = policy.release.delimiter.map(|delimiter| delimiter as u8);
    if tabs && source.format() == Format::Csv && delimiter.or(source.csv_options().delimiter) != Some(b'\t') {
        let message = "the release has the delimiter of the input, or of `[release]`, which is not a tab; name it .csv";
        return Err(wrong(&target.path, message));
    }
    if let Some(path) = recoding.filter(|path| path.extension().is_none_or(|extension| extension != "json")) {
        return Err(wrong(path, "a recoding must be named .json"));
    }
    (target.overwrite, target.csv) = (output.overwrite, csv_release(policy));
    Ok(target)
}

/// Dialect of a CSV release of a policy.
fn csv_release(policy: &Policy) -> CsvRelease {
    let release = &policy.release;
    CsvRelease {
        delimiter: release.delimiter.map(|delimiter| delimiter as u8),
        encoding: release.encoding,
        header: release.header,
        guard_formulas: release.guard_formulas,
    }
}

fn report_format(path: &Path) -> Result<OutputFormat, FlowError> {
    OutputFormat::of(path, &[OutputFormat::Json, OutputFormat::Html], "a report must be named .json or .html")
}

/// Publishes the recoding, the reports and then the release. All files are written before the first is renamed, and no
/// file is renamed if another's target exists and may not be overwritten.
pub(crate) fn publish<S: Staged>(
    release: ReadBack<S>,
    report: &Report,
    output: &Output,
    recoding: Option<(&PathBuf, &Saved)>,
) -> Result<(), FlowError> {
    let name = output.release.file_name();
    let mut beside: Vec<Pending> = Vec::new();
    let mut add = |path: &Path, text: String| -> Result<(), FlowError> {
        beside.push(write_pending(path, text.as_bytes(), output.overwrite)?);
        Ok(())
    };
    if let Some((path, recoding)) = recoding {
        add(path, recoding.to_json())?;
    }
    for path in &output.reports {
        let text = match report_format(path)? {
            OutputFormat::Html => moretta_pages::report(report, &name),
            _ => report.to_json(),
        };
        add(path, text)?;
    }
    // A signal waits until all files have their names.
    let _held = hold_signals();
    beside.iter().try_for_each(Pending::check_free)?;
    if let Some(path) = output.release.file().filter(|path| !output.overwrite && path.symlink_metadata().is_ok()) {
        return Err(EngineError::TargetExists { path: path.to_owned() }.into());
    }
    let names: Vec<PathBuf> = beside.iter().map(|file| file.target().to_owned()).collect();
    for (index, file) in beside.into_iter().enumerate() {
        file.persist().map_err(|error| {
            partly(error.into(), &names[..index], &names[index + 1..], Some(&output.release.to_string()))
        })?;
    }
    release.publish().map_err(|error| partly(error.into(), &names, &[], None))
}

/// Adds to the error of one file which files before it are published and which after it are not.
fn partly(mut error: FlowError, before: &[PathBuf], after: &[PathBuf], release: Option<&String>) -> FlowError {
    let names = |files: &[PathBuf]| files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    if !before.is_empty() {
        error.message += &format!("; already published: {}", names(before).join(", "));
    }
    if let Some(release) = release {
        error.message += &format!("; not published: {}", [names(after), vec![release.clone()]].concat().join(", "));
    }
    error
}
