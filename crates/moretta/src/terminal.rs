//! The terminal: progress bars, signals and notes of a job.

use std::{
    io::IsTerminal,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use moretta_core::observer::{Note, Observer, Stage, Stop};
use moretta_engine::remove_pending_files;

use crate::{INTERRUPTED_CODE, summary};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C request a clean stop; a second Ctrl-C ends the process at once. SIGTERM and SIGHUP end it at once, too:
/// a request would not be seen while the process waits, for example for the reader of a pipe. Temporary files are
/// removed in each case.
///
/// SIGXFSZ is blocked, so that a write beyond the limit of a file's size (`ulimit -f`) is an error like any other.
///
/// To be called before the first thread starts: threads inherit which signals are blocked. (Child processes do not: the
/// standard library resets it.) A thread waits for the blocked signals, so that no code runs inside a signal handler.
#[cfg(unix)]
pub fn catch_signals() {
    use nix::sys::signal::{SigSet, Signal, raise};

    let mut caught: SigSet = [Signal::SIGINT, Signal::SIGTERM].into_iter().collect();
    if !hangup_is_ignored() {
        caught.add(Signal::SIGHUP);
    }
    // If it fails, the signals end the process as if nothing had been done here.
    if caught.thread_block().is_err() {
        return;
    }
    let _ = SigSet::from(Signal::SIGXFSZ).thread_block();
    let wait = move || {
        while let Ok(signal) = caught.wait() {
            if signal == Signal::SIGINT {
                interrupt();
                continue;
            }
            remove_pending_files();
            // The process ends by the signal, as its parent expects, unless the parent wants it to be ignored.
            let _ = caught.thread_unblock().and_then(|()| raise(signal));
            std::process::exit(128 + signal as i32);
        }
    };
    if std::thread::Builder::new().spawn(wait).is_err() {
        let _ = caught.thread_unblock();
    }
}

/// Whether the parent wants SIGHUP to be ignored, as `nohup` does. Without `unsafe` only Linux shows it.
#[cfg(unix)]
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|signals| signals & (1 << (nix::sys::signal::Signal::SIGHUP as u32 - 1)) != 0)
}

/// Makes Ctrl-C request a clean stop; a second Ctrl-C ends the process at once.
#[cfg(not(unix))]
pub fn catch_signals() {
    // Without a handler Ctrl-C still ends the process, and a partial release still has its temporary name.
    let _ = ctrlc::set_handler(interrupt);
}

fn interrupt() {
    if INTERRUPTED.swap(true, Relaxed) {
        remove_pending_files();
        std::process::exit(i32::from(INTERRUPTED_CODE));
    }
}

/// Shows the progress of one job as a bar; shows nothing if standard error is not a terminal.
#[derive(Debug)]
pub struct TerminalProgress {
    /// The bar of the current stage, and the stage's name.
    bar: Mutex<Option<(ProgressBar, &'static str)>>,
    visible: bool,
}

impl TerminalProgress {
    pub fn new() -> Self {
        Self { bar: Mutex::new(None), visible: std::io::stderr().is_terminal() }
    }

    /// Redraws the bar, for work that does not report progress.
    pub fn tick(&self) {
        self.with_bar(|bar, _| bar.tick());
    }

    fn lock(&self) -> MutexGuard<'_, Option<(ProgressBar, &'static str)>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_bar(&self, act: impl FnOnce(&ProgressBar, &'static str)) {
        if self.visible
            && let Some((bar, stage)) = &*self.lock()
        {
            act(bar, stage);
        }
    }

    fn clear(&self) {
        if let Some((bar, _)) = self.lock().take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for TerminalProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Observer for TerminalProgress {
    fn stage(&self, stage: Stage) {
        self.clear();
        if self.visible {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg:10} {bar:40} {percent:>3} %  {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(stage.name());
            *self.lock() = Some((bar, stage.name()));
        }
    }

    fn task(&self, name: &str) {
        self.with_bar(|bar, _| bar.set_message(name.to_owned()));
    }

    fn progress(&self, done: u64, of: u64) {
        self.with_bar(|bar, _| {
            bar.set_length(of);
            // Reports of several threads arrive out of order: the bar must not move back.
            if done > bar.position() {
                bar.set_position(done);
            }
        });
    }

    fn best(&self, value: f64) {
        self.with_bar(|bar, stage| bar.set_message(format!("{stage}  best {value:.4}")));
    }

    fn note(&self, note: &Note) {
        self.clear();
        let again = matches!(note, Note::SearchInterrupted | Note::BoundInterrupted | Note::ComparisonInterrupted);
        let hint = if again { "; press Ctrl-C again to abort without output" } else { "" };
        summary::note(&format!("{note}{hint}"));
    }

    fn stop(&self) -> Option<Stop> {
        INTERRUPTED.load(Relaxed).then_some(Stop::Cancelled)
    }

    fn clear_stop(&self) {
        INTERRUPTED.store(false, Relaxed);
    }
}
