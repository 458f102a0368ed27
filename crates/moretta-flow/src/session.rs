//! A session: threads, memory limit and observer of one job.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use moretta_core::{
    engine::Records,
    hierarchy::Hierarchies,
    observer::{Note, Observer, Stage},
    policy::{InputOptions, Policy, ReleaseOptions},
    profile::SecondTable,
};
use moretta_engine::{CsvOptions, EngineOptions, LocalEngine, Source};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{error::FlowError, memory::MIN_MEMORY, policy::second_tables};

/// Stack size of a worker thread in bytes: the usual size of a main thread, enough for deep recursions.
const STACK_BYTES: usize = 8 << 20;

/// Limits of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Number of threads; all cores by default.
    pub threads: Option<u16>,
    /// Maximum bytes of the process, at least `MIN_MEMORY`; no limit by default. A request that needs more is refused.
    pub memory: Option<u64>,
    /// Whether the process runs nothing else, so that its peak memory is the job's and can be reported.
    pub alone: bool,
}

/// Runs requests on its own threads and reports to one observer. Several sessions can run in one process.
pub struct Session<'a> {
    pub(crate) observer: &'a dyn Observer,
    resources: Resources,
    pool: ThreadPool,
}

impl<'a> Session<'a> {
    /// Starts the threads of the session.
    pub fn new(resources: Resources, observer: &'a dyn Observer) -> Result<Self, FlowError> {
        if let Some(limit) = resources.memory.filter(|&limit| limit < MIN_MEMORY) {
            let least = MIN_MEMORY / 1_000_000;
            let message =
                format!("--memory is {limit} bytes; it must be at least {least}MB, which the program itself needs");
            return Err(FlowError::usage(message));
        }
        let threads = resources.threads.map_or(0, |threads| usize::from(threads).max(1));
        let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
        let pool = pool.map_err(|error| FlowError::usage(format!("cannot start {threads} threads: {error}")))?;
        Ok(Self { observer, resources, pool })
    }

    /// Runs work on the session's threads.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Opens a file, a folder of files, or a pattern.
    pub fn open(&self, input: &str, options: &InputOptions) -> Result<LocalEngine, FlowError> {
        self.open_as(input, csv_options(options))
    }

    /// Opens a release, in the dialect of releases. Text that other readers may read as other records is refused.
    pub fn open_release(&self, input: &str, policy: &Policy) -> Result<LocalEngine, FlowError> {
        let names = || released_names(policy);
        self.open_as(input, release_options(&policy.input, &policy.release, names))
    }

    /// Opens a release of a policy whose patterns are not replaced yet.
    pub(crate) fn open_release_of(
        &self,
        input: &str,
        options: &InputOptions,
        release: &ReleaseOptions,
    ) -> Result<LocalEngine, FlowError> {
        self.open_as(input, release_options(options, release, Vec::new))
    }

    fn open_as(&self, input: &str, csv: CsvOptions) -> Result<LocalEngine, FlowError> {
        let options = self.engine_options();
        let options = self.memory_limit().map_or(options.clone(), |limit| options.within(limit));
        let source = Source::open(input, &csv)?;
        if !source.renamed_columns().is_empty() {
            self.observer.note(&Note::NumberedColumns(source.renamed_columns().to_vec()));
        }
        Ok(LocalEngine::with_options(source, options))
    }

    /// Options of engines, without the memory limit.
    pub(crate) fn engine_options(&self) -> EngineOptions {
        let options = EngineOptions::default();
        EngineOptions { threads: self.resources.threads.map_or(options.threads, usize::from), ..options }
    }

    /// Maximum bytes of the process.
    pub(crate) fn memory_limit(&self) -> Option<u64> {
        self.resources.memory
    }

    /// Reads the second tables that the models of a policy need, for example a population.
    pub(crate) fn second_tables(
        &self,
        policy: &Policy,
        hierarchies: &Hierarchies,
        folder: &Path,
    ) -> Result<Vec<Arc<SecondTable>>, FlowError> {
        let read = |(name, file): (String, PathBuf)| {
            let input = file.display().to_string();
            let engine = self.open(&input, &policy.input)?;
            self.observer.stage(Stage::Reading);
            let counts = engine.count(&SecondTable::grouped_columns(policy), self.observer)?;
            let table = SecondTable::build(name, policy, hierarchies, &counts);
            table.map(Arc::new).map_err(|error| FlowError::domain(&input, &error))
        };
        second_tables(policy, folder).into_iter().map(read).collect()
    }

    /// Whether the peak memory of the process is that of this session's job.
    pub(crate) fn alone(&self) -> bool {
        self.resources.alone
    }
}

/// Options to read an original.
fn csv_options(options: &InputOptions) -> CsvOptions {
    let names = if options.names.is_empty() { Vec::new() } else { vec![options.names.clone()] };
    CsvOptions {
        delimiter: options.delimiter.map(|c| c as u8),
        quote: options.quote as u8,
        names: (!options.header).then_some(names),
        ..CsvOptions::default()
    }
}

/// Options to read a release; `names` returns the lists of names that its columns may have without a header.
fn release_options(
    input: &InputOptions,
    release: &ReleaseOptions,
    names: impl FnOnce() -> Vec<Vec<String>>,
) -> CsvOptions {
    let original = csv_options(input);
    CsvOptions {
        delimiter: release.delimiter.map(|c| c as u8).or(original.delimiter),
        names: (!release.header.unwrap_or(input.header)).then(names),
        guard_formulas: release.guard_formulas,
        release: true,
        ..original
    }
}

/// The columns of a release without a header: those that are released, or all of them in a file that is none.
fn released_names(policy: &Policy) -> Vec<Vec<String>> {
    let all = match &policy.input.names[..] {
        [] => (1..=policy.columns.len()).map(|number| format!("c{number}")).collect(),
        names => names.to_vec(),
    };
    let is_dropped = |name: &String| policy.dropped().any(|column| column.name == *name);
    vec![all.iter().filter(|name| !is_dropped(name)).cloned().collect(), all]
}

/// Returns an error if the observer requested a stop.
pub(crate) fn check_stop(observer: &dyn Observer) -> Result<(), FlowError> {
    observer.stop().map_or(Ok(()), |_| Err(FlowError::interrupted()))
}
