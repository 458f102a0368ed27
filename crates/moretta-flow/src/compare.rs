//! `compare`: compares methods for several k. Nothing is released.
//!
//! Every job (a method and a k) searches on the whole table; then its release is measured, queried and, if there is a
//! class, used to train a classifier. Jobs run one at a time, so that they do not slow each other down. A front end may
//! run each job elsewhere ([`Session::compare_with`]), for instance in a process of its own to measure peak memory.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use moretta_core::{
    counts::Counts,
    observer::{CancelOnly, Deadline, NO_CLASS, Note, Observer, Stage},
    policy::{BoundPolicy, Policy},
    profile::Profile,
    run::VerifiedRun,
    search::{self, method_of, near_method},
    text::shown,
};
use moretta_engine::{EngineOptions, LocalEngine, peak_memory_bytes};
use moretta_insight::{
    comparison::{Answers, Comparison, Job, Refused, Row, RunResult, Splits},
    evaluate::{
        self, Errors, TestError, Tested,
        holdout::{self, Plan, Split},
        queries::{self, Draw},
    },
};

use crate::{
    error::{ErrorKind, FlowError},
    evaluate::{SplitOptions, check_size, class},
    files::{OutputFile, OutputFormat},
    input::{Input, PolicySource},
    memory::{self, Purpose},
    policy::LoadedPolicy,
    session::{Session, check_stop},
};

/// Request of `moretta compare`.
#[derive(Debug, Clone)]
pub struct Compare {
    /// Table that is read.
    pub input: Input,
    /// Policy of the request.
    pub policy: PolicySource,
    /// Names of methods; all by default.
    pub methods: Vec<String>,
    /// Values of k; the policy's by default.
    pub k: Vec<u64>,
    /// Test records; held-out records of the input by default.
    pub test: Option<Input>,
    /// How records of the input are held out.
    pub split_options: SplitOptions,
    /// Number of random queries of each kind.
    pub queries: u32,
    /// Random seed of searches, queries and held-out records.
    pub seed: u64,
    /// Limit of each search.
    pub time_limit: Option<Duration>,
    /// The comparison as .csv or .html.
    pub output: OutputFile,
}

/// Result of one job: a comparison of one row, or why there is none.
pub type JobResult = Result<Comparison, Refused>;

/// Runs one job elsewhere; the second argument is the number of records of the table.
pub type RunElsewhere<'a> = dyn Fn(&Job, u64) -> Result<JobResult, FlowError> + Sync + 'a;

/// A comparison and its jobs without a result.
#[derive(Debug)]
pub struct ComparisonOutcome {
    /// One row per job, also for jobs without a result.
    pub comparison: Comparison,
    refused: Vec<(Job, Refused)>,
}

impl ComparisonOutcome {
    /// Returns the comparison; an error if no job has a result.
    pub fn into_result(self) -> Result<Comparison, FlowError> {
        if self.refused.len() < self.comparison.rows.len() {
            return Ok(self.comparison);
        }
        let unsatisfied = self.refused.iter().any(|(_, refused)| refused.unsatisfied);
        let kind = if unsatisfied { ErrorKind::Unsatisfied } else { ErrorKind::Policy };
        let message = match &self.refused[..] {
            [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other.detail == first.detail) => {
                first.detail.clone()
            }
            all => {
                let line = |(job, refused): &(Job, Refused)| {
                    format!("\n  {}: {}", job.name(), refused.detail.replace('\n', "\n  "))
                };
                format!("no method found a release:{}", all.iter().map(line).collect::<String>())
            }
        };
        Err(FlowError::new(kind, message))
    }
}

/// Test records of the classifier.
enum TestRecords {
    /// There is no class, so nothing is tested.
    None,
    Separate(Counts),
    /// Held-out records of the table; the index is that of the class column.
    HeldOut(usize, Plan),
}

/// The input of all jobs, read once.
struct JobInput<'a> {
    request: &'a Compare,
    loaded: &'a LoadedPolicy,
    counts: Counts,
    profile: Profile,
    test: TestRecords,
    /// Whether the peak memory of the process is that of this job.
    alone: bool,
    /// Maximum bytes of the process.
    memory: Option<u64>,
    options: EngineOptions,
}

impl Session<'_> {
    /// Compares methods for several k.
    pub fn compare(&self, request: &Compare) -> Result<Comparison, FlowError> {
        self.compare_with(request, None)?.into_result()
    }

    /// Like [`Session::compare`]; if there are several jobs, `elsewhere` runs each of them.
    pub fn compare_with(
        &self,
        request: &Compare,
        elsewhere: Option<&RunElsewhere<'_>>,
    ) -> Result<ComparisonOutcome, FlowError> {
        self.install(|| {
            let loaded = self.policy_for(&request.policy, &request.input)?;
            let jobs = jobs(request, &loaded.policy)?;
            let elsewhere = elsewhere.filter(|_| jobs.len() > 1);
            if elsewhere.is_some() {
                check_rereadable(request, &loaded)?;
            }
            self.check_class(request, &loaded.policy)?;
            let engine = self.open(&request.input, &loaded.policy.input)?;
            let rule = "a comparison must be named .csv or .html; `--json` prints JSON";
            let format = request.output.format(&[OutputFormat::Csv, OutputFormat::Html], rule)?;
            let test = request.test.as_ref().map(|test| self.open_test(&request.input, test, &loaded.policy));
            let test = test.transpose()?;
            let inputs: Vec<&LocalEngine> = [&engine].into_iter().chain(&test).collect();
            request.output.check(&loaded.files, &inputs)?;
            let (counts, profile) = self.original(&loaded, &engine)?;
            BoundPolicy::new(&loaded.policy, &profile)?;
            let plan = request.split_options.plan()?;
            let test = match (class(&loaded.policy), test) {
                (None, _) => TestRecords::None,
                (Some(_), Some(test)) => TestRecords::Separate(self.test_counts(&test, &loaded.policy)?),
                (Some(class), None) => {
                    check_size(&counts, plan, request.input.name())?;
                    TestRecords::HeldOut(class, plan)
                }
            };
            let empty = empty(request, &loaded.policy, &profile);
            let compared = match elsewhere {
                Some(elsewhere) => {
                    // Each job reads the table itself: free the memory.
                    drop((counts, profile, test));
                    let records = empty.records;
                    self.run_jobs(&jobs, empty, |job| elsewhere(job, records))?
                }
                None => {
                    let one = jobs.len() == 1;
                    let (memory, options) = (self.memory_limit(), self.engine_options());
                    let alone = one && self.alone();
                    let input = JobInput { request, loaded: &loaded, counts, profile, test, alone, memory, options };
                    let quiet = CancelOnly(self.observer);
                    self.run_jobs(&jobs, empty, |job| run(&input, job, if one { self.observer } else { &quiet }))?
                }
            };
            if compared.refused.len() < jobs.len() {
                let found = &compared.comparison;
                let file = request.input.file_name();
                request.output.write(|| match format {
                    Some(OutputFormat::Html) => moretta_pages::comparison::page(found, &loaded.policy, &file),
                    _ => moretta_pages::comparison::csv(found),
                })?;
            }
            Ok(compared)
        })
    }

    /// Refuses options of the test if there is no class: they would be ignored.
    fn check_class(&self, request: &Compare, policy: &Policy) -> Result<(), FlowError> {
        if policy.class().is_some() {
            return Ok(());
        }
        let SplitOptions { folds, hold_out } = &request.split_options;
        let given =
            [("--test", request.test.is_some()), ("--folds", folds.is_some()), ("--hold-out", hold_out.is_some())];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            return Err(FlowError::usage(format!("{flag}: {NO_CLASS}")));
        }
        self.observer.note(&Note::NoClass);
        Ok(())
    }

    /// Runs all jobs, one at a time.
    fn run_jobs(
        &self,
        jobs: &[Job],
        mut comparison: Comparison,
        run: impl Fn(&Job) -> Result<JobResult, FlowError>,
    ) -> Result<ComparisonOutcome, FlowError> {
        let mut refused = Vec::new();
        if jobs.len() > 1 {
            self.observer.stage(Stage::Comparing);
        }
        for (done, job) in jobs.iter().enumerate() {
            if jobs.len() > 1 {
                self.observer.progress(done as u64, jobs.len() as u64);
                self.observer.task(&job.name());
            }
            match run(job)? {
                Ok(one) => comparison.join(one),
                Err(one) => {
                    comparison.rows.push(one.row(job));
                    refused.push((job.clone(), one));
                }
            }
        }
        Ok(ComparisonOutcome { comparison, refused })
    }
}

/// Every method with every k, ordered by k.
fn jobs(request: &Compare, policy: &Policy) -> Result<Vec<Job>, FlowError> {
    let mut methods: Vec<&'static str> = Vec::new();
    for name in request.methods.iter().map(|name| name.trim()) {
        let known = search::method_names().into_iter().find(|known| *known == name).ok_or_else(|| unknown(name))?;
        if !methods.contains(&known) {
            methods.push(known);
        }
    }
    if methods.is_empty() {
        methods = search::method_names();
    }
    if request.k.contains(&0) {
        return Err(FlowError::usage("--k 0: k must be at least 1"));
    }
    if request.k.contains(&1) && policy.privacy.has_k_alone() {
        return Err(FlowError::usage("--k 1: the policy has no other privacy model, so it would guarantee nothing"));
    }
    let mut ks: Vec<Option<u64>> = request.k.iter().copied().map(Some).collect();
    ks.sort_unstable();
    ks.dedup();
    if ks.is_empty() {
        ks = vec![policy.privacy.k()];
    }
    Ok(ks.into_iter().flat_map(|k| methods.iter().map(move |&method| Job { method, k })).collect())
}

fn unknown(name: &str) -> FlowError {
    let hint = match near_method(name) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known methods: `{}`", search::method_names().join("`, `")),
    };
    FlowError::usage(format!("--methods: there is no method `{}`; {hint}", shown(name)))
}

/// Refuses pipes and other files that cannot be read again: every job elsewhere reads all files.
fn check_rereadable(request: &Compare, loaded: &LoadedPolicy) -> Result<(), FlowError> {
    let data = [&request.input].into_iter().chain(&request.test).map(|input| Path::new(input.name()));
    let is_read_once = |path: &&Path| {
        let of_process = ["/dev/stdin", "/dev/fd", "/proc"].iter().any(|folder| path.starts_with(folder));
        of_process || path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    };
    match data.chain(loaded.files.iter().map(PathBuf::as_path)).find(is_read_once) {
        None => Ok(()),
        Some(path) => Err(FlowError::usage(format!(
            "{} can be read only once, but every method and k reads it again; save it to a file first",
            path.display()
        ))),
    }
}

/// Returns a comparison without rows.
fn empty(request: &Compare, policy: &Policy, profile: &Profile) -> Comparison {
    let names: Vec<&str> = policy.objectives().iter().map(|objective| objective.kind.name()).collect();
    Comparison {
        records: profile.records(),
        persons: profile.persons(),
        seed: request.seed,
        queries: request.queries,
        summed: None,
        measure: (!names.is_empty()).then(|| names.join(" + ")),
        tested: None,
        errors: None,
        spread: None,
        rows: Vec::new(),
    }
}

/// Runs one job: searches on the whole table, measures, queries and tests.
fn run(input: &JobInput<'_>, job: &Job, observer: &dyn Observer) -> Result<JobResult, FlowError> {
    let JobInput { request, profile, .. } = input;
    let policy = job.policy(&input.loaded.policy);
    // The message names the method; the line of the policy is omitted, because the policy may name another method.
    if let Err(error) = method_of(&policy) {
        return Ok(Err(Refused::open(error.message)));
    }
    // A policy that does not fit the table is refused by the run.
    if let (Some(limit), Ok(bound)) = (input.memory, BoundPolicy::new(&policy, profile))
        && let Some(reason) = memory::refused(&bound, &input.counts, (Purpose::Test, &[]), &input.options, limit)
    {
        return Ok(Err(Refused::open(reason)));
    }
    observer.stage(Stage::Searching);
    let start = Instant::now();
    let run = VerifiedRun::run(&policy, profile, request.seed, &Deadline::after(observer, request.time_limit));
    let seconds = start.elapsed().as_secs_f64();
    let peak_memory_bytes = input.alone.then(peak_memory_bytes).flatten();
    check_stop(observer)?;
    let run = match run {
        Ok(run) => run,
        Err(error) => return Ok(Err(Refused::by(&error))),
    };
    let (queries, summed) = answers(request, &policy, &run, observer)?;
    let mut found = measured(&run, queries, (seconds, peak_memory_bytes));
    let mut tested = None;
    match errors(input, &policy, run, observer)? {
        Ok(all) => {
            let errors: Vec<Errors> = all.iter().map(|tested| tested.errors).collect();
            found.set_errors(&errors);
            let records = all.iter().map(|tested| tested.records.test).sum();
            tested = (!all.is_empty()).then_some(Splits { splits: all.len(), records });
        }
        Err(reason) => found.untested = Some(reason),
    }
    let (errors, spread) = (found.errors.map(Into::into), found.spread.map(Into::into));
    let row = Row { method: job.method.to_owned(), k: job.k, unsupported: None, detail: None, found: Some(found) };
    let empty = empty(request, &policy, profile);
    Ok(Ok(Comparison { summed, tested, errors, spread, rows: vec![row], ..empty }))
}

/// Returns the figures of a run on the whole table, without errors of the classifier.
fn measured(run: &VerifiedRun<'_>, queries: Answers, (seconds, peak_memory_bytes): (f64, Option<u64>)) -> RunResult {
    let released = run.verified.released();
    let grouping = released.grouping();
    let sizes = (0..grouping.len()).map(|group| grouping.size(group, run.verified.profile()));
    RunResult {
        stop: run.stop,
        measures: run.measures(),
        objective: run.objective_value(),
        groups: released.groups() as u64,
        smallest_group: sizes.min().unwrap_or(0),
        suppressed_rows: run.verified.recoding().suppressed_records(run.verified.profile()),
        errors: None,
        spread: None,
        untested: None,
        queries,
        seconds,
        peak_memory_bytes,
    }
}

/// Returns the errors of random queries, and the column that is summed.
fn answers(
    request: &Compare,
    policy: &Policy,
    run: &VerifiedRun<'_>,
    observer: &dyn Observer,
) -> Result<(Answers, Option<String>), FlowError> {
    observer.stage(Stage::Asking);
    let profile = run.verified.profile();
    let draw = Draw { count: request.queries as usize, seed: request.seed, columns: None };
    let answered = queries::compare(profile, run.verified.released(), &policy.release, None, &draw);
    check_stop(observer)?;
    let answered = answered.map_err(|error| FlowError::new(ErrorKind::Input, error.to_string()))?;
    let count = queries::errors(&answered.count.answered);
    let sum = answered.sum.map(|sum| queries::errors(&sum.answered));
    let column = queries::summed(profile).map(|column| profile.columns()[column.index()].name.clone());
    Ok((Answers { count, sum }, column))
}

/// Returns the errors on each split, or why there is no release of the training records.
fn errors(
    input: &JobInput<'_>,
    policy: &Policy,
    run: VerifiedRun<'_>,
    observer: &dyn Observer,
) -> Result<Result<Vec<Tested>, String>, FlowError> {
    let JobInput { request, loaded, counts, profile, test, .. } = input;
    let tested = match test {
        TestRecords::None => Ok(Vec::new()),
        TestRecords::Separate(test) => {
            // The whole table is the training set, and its release exists.
            let recoding = run.verified.recoding();
            let tested = evaluate::tested(policy, &loaded.hierarchies, (profile, recoding), test.clone());
            let whole = |(errors, records)| Tested { errors, records, stop: run.stop, measures: run.measures() };
            tested.map(|tested| vec![whole(tested)])
        }
        TestRecords::HeldOut(class, plan) => {
            drop(run);
            // Fix the column types: a part of the table could look numeric where the whole is not.
            let policy = policy.with_kinds_of(profile);
            let test = |split: Split| {
                observer.stage(Stage::Searching);
                let limited = Deadline::after(observer, request.time_limit);
                let tested = Tested::run(&policy, &loaded.hierarchies, split, request.seed, &limited);
                check_stop(observer).map(|()| tested)
            };
            let splits = holdout::splits(counts, *class, *plan, request.seed);
            let tested: Vec<Result<Tested, TestError>> = splits.map(test).collect::<Result<_, FlowError>>()?;
            tested.into_iter().collect()
        }
    };
    // If the training records cannot be anonymized, the row says so; anything else is an error.
    match tested {
        Ok(tested) => Ok(Ok(tested)),
        Err(error) => {
            let of_row = matches!(error, TestError::Run(_));
            let error = FlowError::test(error, request.input.name(), request.test.as_ref().map(Input::name));
            if of_row { Ok(Err(error.message)) } else { Err(error) }
        }
    }
}
