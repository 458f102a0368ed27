//! A session: threads, memory limit and observer of one job.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use moretta_core::{
    engine::Records,
    hierarchy::Hierarchies,
    observer::{Observer, Stage},
    policy::{InputOptions, Policy},
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
        self.open_as(input, options, false)
    }

    /// Opens a release. Text that other readers may read as other records is refused.
    pub fn open_release(&self, input: &str, options: &InputOptions) -> Result<LocalEngine, FlowError> {
        self.open_as(input, options, true)
    }

    fn open_as(&self, input: &str, options: &InputOptions, release: bool) -> Result<LocalEngine, FlowError> {
        let csv = CsvOptions { delimiter: options.delimiter.map(|c| c as u8), quote: options.quote as u8, release };
        let options = self.engine_options();
        let options = self.memory_limit().map_or(options.clone(), |limit| options.within(limit));
        Ok(LocalEngine::with_options(Source::open(input, &csv)?, options))
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

/// Returns an error if the observer requested a stop.
pub(crate) fn check_stop(observer: &dyn Observer) -> Result<(), FlowError> {
    observer.stop().map_or(Ok(()), |_| Err(FlowError::interrupted()))
}
