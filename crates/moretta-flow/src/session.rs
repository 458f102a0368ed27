//! A session: threads, memory limit and observer of one job.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use moretta_core::{
    engine::Records,
    hierarchy::Hierarchies,
    observer::{Note, Observer, Stage},
    policy::{InputOptions, Policy, ReleaseOptions},
    profile::SecondTable,
};
use moretta_engine::{CopiedInput, CsvOptions, EngineOptions, FileKind, FoundEncoding, LocalEngine, Source};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::{error::FlowError, input::Input, memory::MIN_MEMORY, policy::second_tables};

/// Stack size of a worker thread in bytes: the usual size of a main thread, enough for deep recursions.
const STACK_BYTES: usize = 8 << 20;

/// Limits of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resources {
    /// Number of threads; all cores by default.
    pub threads: Option<u16>,
    /// Maximum bytes of the process, at least `MIN_MEMORY`; no limit by default. A request that needs more is refused.
    pub memory: Option<u64>,
    /// Format of standard input and standard output, where a request names `-`; found from the first bytes, or CSV, by
    /// default.
    pub format: Option<FileKind>,
    /// Whether the process runs nothing else, so that its peak memory is the job's and can be reported.
    pub alone: bool,
}

/// Runs requests on its own threads and reports to one observer. Several sessions can run in one process.
pub struct Session<'a> {
    pub(crate) observer: &'a dyn Observer,
    resources: Resources,
    pool: ThreadPool,
    standard_input: Mutex<StandardInput>,
}

/// Name of standard input and standard output in requests.
pub const STANDARD_STREAM: &str = "-";

/// Bytes of a table from which its encoding is found: far more than a sample needs, and soon read.
const ENCODING_BYTES: u64 = 64 << 20;

/// Standard input, which is copied when a request first opens it.
#[derive(Debug, Default)]
struct StandardInput {
    /// Folder of the copy; that of temporary files by default.
    folder: Option<PathBuf>,
    copy: Option<CopiedInput>,
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
        Ok(Self { observer, resources, pool, standard_input: Mutex::default() })
    }

    /// Runs work on the session's threads.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// Opens a table.
    pub fn open(&self, input: &Input, options: &InputOptions) -> Result<LocalEngine, FlowError> {
        self.open_as(input, csv_options(options))
    }

    /// Opens a release, in the dialect of releases. Text that other readers may read as other records is refused.
    pub fn open_release(&self, input: &Input, policy: &Policy) -> Result<LocalEngine, FlowError> {
        let names = || released_names(policy);
        self.open_as(input, release_options(&policy.input, &policy.release, names))
    }

    /// Opens a release of a policy whose patterns are not replaced yet.
    pub(crate) fn open_release_of(
        &self,
        input: &Input,
        options: &InputOptions,
        release: &ReleaseOptions,
    ) -> Result<LocalEngine, FlowError> {
        self.open_as(input, release_options(options, release, Vec::new))
    }

    fn open_as(&self, input: &Input, csv: CsvOptions) -> Result<LocalEngine, FlowError> {
        let options = self.engine_options();
        let options = self.memory_limit().map_or(options.clone(), |limit| options.within(limit));
        let csv = CsvOptions { memory: self.memory_limit(), ..csv };
        let source = match input {
            Input::Memory(table) => Source::of_table(table.clone()),
            Input::Named(name) if name == STANDARD_STREAM => {
                Source::open_copy(&self.standard_input()?, self.resources.format, &csv)?
            }
            Input::Named(name) => Source::open(name, &csv)?,
        };
        if !source.renamed_columns().is_empty() {
            self.observer.note(&Note::NumberedColumns(source.renamed_columns().to_vec()));
        }
        if source.looks_like_utf8() {
            self.observer.note(&Note::LooksLikeUtf8(source.name().to_owned()));
        }
        Ok(LocalEngine::with_options(source, options))
    }

    /// Finds the encoding of a table for which there is no policy; `None` for UTF-8.
    pub(crate) fn find_encoding(&self, input: &Input) -> Result<Option<FoundEncoding>, FlowError> {
        Ok(match input {
            Input::Memory(_) => None,
            Input::Named(name) if name == STANDARD_STREAM => {
                Source::find_copy_encoding(&self.standard_input()?, self.resources.format, ENCODING_BYTES)?
            }
            Input::Named(name) => Source::find_encoding(name, ENCODING_BYTES)?,
        })
    }

    /// The copy of standard input, which can be read only once.
    fn standard_input(&self) -> Result<CopiedInput, FlowError> {
        let mut input = self.standard_input.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copy) = &input.copy {
            return Ok(copy.clone());
        }
        let folder = input.folder.clone().unwrap_or_else(std::env::temp_dir);
        let copy = CopiedInput::new(std::io::stdin().lock(), &folder, self.observer)?;
        input.copy = Some(copy.clone());
        Ok(copy)
    }

    /// Copies standard input, if it is read, beside this file: there is room for a release as large.
    pub(crate) fn copy_beside(&self, output: Option<&Path>) {
        let folder = output.and_then(Path::parent);
        let folder = folder.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let folder = folder.filter(|folder| folder.is_dir());
        self.standard_input.lock().unwrap_or_else(PoisonError::into_inner).folder = folder.map(Path::to_path_buf);
    }

    /// Format of standard output.
    pub(crate) fn stream_format(&self) -> Option<FileKind> {
        self.resources.format
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
            let engine = self.open(&Input::from(input.clone()), &policy.input)?;
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

/// Returns an error if standard input is named more than once: it can be read only once.
pub(crate) fn check_standard_input<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> Result<(), FlowError> {
    if inputs.into_iter().filter(|input| input.is_stream()).count() > 1 {
        return Err(FlowError::usage("`-` is named twice, and standard input can be read only once; name a file"));
    }
    Ok(())
}

/// Options to read an original.
fn csv_options(options: &InputOptions) -> CsvOptions {
    let names = if options.names.is_empty() { Vec::new() } else { vec![options.names.clone()] };
    CsvOptions {
        delimiter: options.delimiter.map(|c| c as u8),
        quote: options.quote as u8,
        encoding: options.encoding,
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
        encoding: release.encoding.or(original.encoding),
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
