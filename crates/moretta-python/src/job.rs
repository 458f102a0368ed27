//! Runs a request on a thread of its own.
//!
//! The caller's thread waits without the GIL, in slices of [`SLICE`]. Between them it asks for signals and calls the
//! callbacks and what the request wants to call ([`CallPython`]), so that Python code runs on the thread that called. If
//! a signal or a callback raises, the request is asked to stop; one that makes no files is not waited for longer than
//! [`GRACE`], because its result is dropped anyway.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use moretta_core::observer::{Note, Observer, Stage, Stop};
use moretta_engine::EngineOptions;
use moretta_flow::{ErrorKind, FlowError, Resources, Session};
use pyo3::prelude::*;

use crate::error::{panicked, to_python};

/// Time between two looks at signals: short for a person, long for a processor.
const SLICE: Duration = Duration::from_millis(50);

/// Time that a stopped request has to end. Stages look for a stop every few milliseconds, but for some long steps.
const GRACE: Duration = Duration::from_millis(150);

/// Stack of the thread in bytes, as that of a main thread.
const STACK_BYTES: usize = 8 << 20;

/// Limits and callbacks of a request.
#[pyclass(frozen, module = "moretta._native")]
pub(crate) struct Job {
    resources: Resources,
    progress: Option<Py<PyAny>>,
    note: Option<Py<PyAny>>,
}

#[pymethods]
impl Job {
    /// `progress` is called with stage, task, done, total and best value; `note` with a text.
    #[new]
    #[pyo3(signature = (threads=None, memory=None, progress=None, note=None))]
    fn new(
        threads: Option<u16>,
        memory: Option<&str>,
        progress: Option<Py<PyAny>>,
        note: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let memory = memory.map(moretta::values::size).transpose();
        let memory = memory.map_err(pyo3::exceptions::PyValueError::new_err)?;
        let resources = Resources { threads, memory, format: None, alone: false };
        Ok(Self { resources, progress, note })
    }
}

impl Job {
    /// Options of an engine with the job's threads.
    pub(crate) fn engine_options(&self) -> EngineOptions {
        let options = EngineOptions::default();
        EngineOptions { threads: self.resources.threads.map_or(options.threads, usize::from), ..options }
    }
}

/// Progress of the current stage.
#[derive(Debug, Clone, Default)]
struct Progress {
    stage: &'static str,
    task: String,
    done: u64,
    total: u64,
    best: Option<f64>,
    is_new: bool,
}

/// Message of the thread of a request, in order.
enum Event<T> {
    Stage(Progress),
    Note(String),
    Call(Call),
    End(Result<T, FlowError>),
}

/// Python code that runs on the caller's thread.
type Call = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

/// Runs Python code for a request.
pub(crate) trait CallPython: Observer {
    /// Hands over a call. It is dropped if the request was abandoned.
    fn call_later(&self, call: Call);
}

impl dyn CallPython + '_ {
    /// Result of Python code on the caller's thread; `None` if it raised: the caller then gets the exception, and the
    /// request is asked to stop.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        work: impl FnOnce(Python<'_>) -> PyResult<R> + Send + 'static,
    ) -> Option<R> {
        let (result, received) = mpsc::sync_channel(1);
        self.call_later(Box::new(move |py| {
            // Without a receiver the request was abandoned.
            let _ = result.send(work(py)?);
            Ok(())
        }));
        received.recv().ok()
    }
}

/// Observer of a request; it is asked to stop by the caller's thread.
struct JobObserver<T> {
    stop: Arc<AtomicBool>,
    progress: Arc<Mutex<Progress>>,
    events: Mutex<Sender<Event<T>>>,
}

impl<T> JobObserver<T> {
    fn send(&self, event: Event<T>) {
        // Without a receiver the request was abandoned.
        let _ = self.events.lock().unwrap_or_else(PoisonError::into_inner).send(event);
    }

    fn update(&self, change: impl FnOnce(&mut Progress)) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut progress);
        progress.is_new = true;
    }
}

impl<T: Send> Observer for JobObserver<T> {
    fn stage(&self, stage: Stage) {
        let progress = Progress { stage: stage.name(), ..Progress::default() };
        self.update(|current| *current = progress.clone());
        self.send(Event::Stage(progress));
    }

    fn task(&self, name: &str) {
        self.update(|progress| name.clone_into(&mut progress.task));
    }

    fn progress(&self, done: u64, of: u64) {
        self.update(|progress| (progress.done, progress.total) = (done, of));
    }

    fn best(&self, value: f64) {
        self.update(|progress| progress.best = Some(value));
    }

    fn note(&self, note: &Note) {
        self.send(Event::Note(note.to_string()));
    }

    fn stop(&self) -> Option<Stop> {
        // `clear_stop` is ignored: a request that was stopped has no result.
        self.stop.load(Ordering::Relaxed).then_some(Stop::Cancelled)
    }
}

impl<T: Send> CallPython for JobObserver<T> {
    fn call_later(&self, call: Call) {
        self.send(Event::Call(call));
    }
}

/// Whether a stopped request may end later.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Makes {
    /// It only returns a result, which is dropped.
    Nothing,
    /// It writes files, so that the caller must know whether it has.
    Files,
}

/// Runs a request and returns its result. `makes` says whether it writes files.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    job: &Job,
    makes: Makes,
    work: impl FnOnce(&Session<'_>, &dyn Observer) -> Result<T, FlowError> + Send + 'static,
) -> PyResult<T> {
    run_calling(py, job, makes, |session, observer| work(session, observer))
}

/// Like [`run`], for a request that calls Python.
pub(crate) fn run_calling<T: Send + 'static>(
    py: Python<'_>,
    job: &Job,
    makes: Makes,
    work: impl FnOnce(&Session<'_>, &dyn CallPython) -> Result<T, FlowError> + Send + 'static,
) -> PyResult<T> {
    let (events, received) = mpsc::channel();
    let (stop, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Progress::default())));
    let observer = JobObserver { stop: Arc::clone(&stop), progress: Arc::clone(&progress), events: Mutex::new(events) };
    let resources = job.resources;
    let request = move || {
        let run = || Session::new(resources, &observer).and_then(|session| work(&session, &observer));
        let result = catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err(panicked()));
        observer.send(Event::End(result));
    };
    let thread = thread::Builder::new().name("moretta".to_owned()).stack_size(STACK_BYTES).spawn(request);
    thread.map_err(|error| {
        to_python(py, &FlowError::new(ErrorKind::Usage, format!("the system starts no thread: {error}")))
    })?;
    let waiting = Waiting { job, received: Mutex::new(received), progress };
    waiting.wait(py).inspect_err(|_| {
        stop.store(true, Ordering::Relaxed);
        waiting.wait_for_end(py, makes);
    })
}

/// The caller's side of a request.
struct Waiting<'a, T> {
    job: &'a Job,
    received: Mutex<Receiver<Event<T>>>,
    progress: Arc<Mutex<Progress>>,
}

impl<T: Send> Waiting<'_, T> {
    fn next(&self, py: Python<'_>, limit: Duration) -> Result<Event<T>, RecvTimeoutError> {
        let received = &self.received;
        py.detach(|| received.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(limit))
    }

    /// Returns the result of the request; an error at once if a signal handler or a callback raises.
    fn wait(&self, py: Python<'_>) -> PyResult<T> {
        loop {
            match self.next(py, SLICE) {
                Ok(Event::End(result)) => return result.map_err(|error| to_python(py, &error)),
                Ok(Event::Stage(progress)) => self.show(py, &progress)?,
                Ok(Event::Call(call)) => call(py)?,
                Ok(Event::Note(text)) => {
                    self.job.note.as_ref().map_or(Ok(()), |note| note.call1(py, (text,)).map(drop))?;
                }
                Err(RecvTimeoutError::Timeout) => self.show_new(py)?,
                Err(RecvTimeoutError::Disconnected) => return Err(to_python(py, &panicked())),
            }
            py.check_signals()?;
        }
    }

    fn show_new(&self, py: Python<'_>) -> PyResult<()> {
        let progress = {
            let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut progress.is_new).then(|| progress.clone())
        };
        progress.map_or(Ok(()), |progress| self.show(py, &progress))
    }

    fn show(&self, py: Python<'_>, Progress { stage, task, done, total, best, .. }: &Progress) -> PyResult<()> {
        let Some(callback) = &self.job.progress else { return Ok(()) };
        callback.call1(py, (*stage, task, *done, *total, *best)).map(drop)
    }

    /// Waits for a stopped request.
    fn wait_for_end(&self, py: Python<'_>, makes: Makes) {
        let start = Instant::now();
        while makes == Makes::Files || start.elapsed() < GRACE {
            match self.next(py, SLICE) {
                Ok(Event::End(_)) | Err(RecvTimeoutError::Disconnected) => return,
                // What the request removes. The first exception is the one that is raised.
                Ok(Event::Call(call)) => drop(call(py)),
                _ => {}
            }
        }
    }
}
