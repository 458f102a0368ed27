//! The terminal: progress, signals and notes of a job.

use std::{
    io::IsTerminal,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
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

/// Shows the progress of one job; shows nothing if standard error is not a terminal.
///
/// A stage begins with a spinner. It becomes a bar when the stage reports how much there is to do, and a spinner again once
/// all of that is done and the stage goes on: a bar that stands at 100 % would look like a program that hangs.
#[derive(Debug)]
pub struct TerminalProgress {
    display: Mutex<Option<Display>>,
    visible: bool,
}

/// The line of the current stage.
#[derive(Debug)]
struct Display {
    line: ProgressBar,
    stage: &'static str,
    task: String,
    best: Option<f64>,
    is_bar: bool,
}

const SPINNER: &str = "{msg}  {spinner}  {elapsed}";
const BAR: &str = "{msg}  {bar:30} {percent:>3} %  {elapsed}";
/// Time between two steps of the spinner and of the clock.
const TICK: Duration = Duration::from_millis(120);

impl Display {
    fn new(stage: &'static str, target: ProgressDrawTarget) -> Self {
        let line = ProgressBar::with_draw_target(None, target);
        let display = Self { line, stage, task: String::new(), best: None, is_bar: false };
        display.line.set_style(style(SPINNER));
        display.say();
        display
    }

    fn say(&self) {
        let mut text = self.stage.to_owned();
        if !self.task.is_empty() {
            text += &format!(": {}", self.task);
        }
        if let Some(best) = self.best {
            text += &format!("  best {best:.4}");
        }
        self.line.set_message(text);
    }

    fn progress(&mut self, done: u64, of: u64) {
        let is_bar = done < of;
        if is_bar {
            // Reports of several threads arrive out of order: the bar must not move back.
            if self.line.length() != Some(of) || done > self.line.position() {
                self.line.set_length(of);
                self.line.set_position(done);
            }
        }
        if is_bar != self.is_bar {
            self.is_bar = is_bar;
            self.line.set_style(style(if is_bar { BAR } else { SPINNER }));
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

impl TerminalProgress {
    pub fn new() -> Self {
        Self { display: Mutex::new(None), visible: std::io::stderr().is_terminal() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Display>> {
        self.display.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_display(&self, act: impl FnOnce(&mut Display)) {
        if self.visible
            && let Some(display) = &mut *self.lock()
        {
            act(display);
        }
    }

    fn clear(&self) {
        if let Some(display) = self.lock().take() {
            display.line.finish_and_clear();
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
            let display = Display::new(stage.name(), ProgressDrawTarget::stderr());
            display.line.enable_steady_tick(TICK);
            *self.lock() = Some(display);
        }
    }

    fn task(&self, name: &str) {
        self.with_display(|display| {
            name.clone_into(&mut display.task);
            display.say();
        });
    }

    fn progress(&self, done: u64, of: u64) {
        self.with_display(|display| display.progress(done, of));
    }

    fn best(&self, value: f64) {
        self.with_display(|display| {
            display.best = Some(value);
            display.say();
        });
    }

    fn note(&self, note: &Note) {
        let again = matches!(note, Note::SearchInterrupted | Note::BoundInterrupted | Note::ComparisonInterrupted);
        let hint = if again { "; press Ctrl-C again to abort without output" } else { "" };
        let say = || summary::note(&format!("{note}{hint}"));
        match &*self.lock() {
            Some(display) => display.line.suspend(say),
            None => say(),
        }
    }

    fn stop(&self) -> Option<Stop> {
        INTERRUPTED.load(Relaxed).then_some(Stop::Cancelled)
    }

    fn clear_stop(&self) {
        INTERRUPTED.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display() -> Display {
        Display::new("searching", ProgressDrawTarget::hidden())
    }

    #[test]
    fn a_stage_is_a_bar_while_there_is_something_left_to_do() {
        let mut display = display();
        assert_eq!((display.is_bar, display.line.length()), (false, None), "nothing is known yet");
        for (done, of, is_bar, position) in [
            (0, 100, true, 0),
            (40, 100, true, 40),
            // A late report of another thread.
            (30, 100, true, 40),
            (100, 100, false, 40),
            // The next phase.
            (1, 7, true, 1),
            (0, 0, false, 1),
        ] {
            display.progress(done, of);
            assert_eq!((display.is_bar, display.line.position()), (is_bar, position), "{done} of {of}");
        }
    }

    #[test]
    fn the_line_names_task_and_best_value() {
        let mut display = display();
        display.task = "improving".to_owned();
        display.best = Some(0.06951);
        display.say();
        assert_eq!(display.line.message(), "searching: improving  best 0.0695");
    }
}
