//! Progress on a terminal, Ctrl-C and time limits: the outside world of the passes and the search.

use std::{
    io::IsTerminal,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use moretta_core::observer::{Observer, Stop};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C asks for a clean stop; a second one ends the process at once.
pub fn catch_interrupts() {
    // Without a handler Ctrl-C still ends the process, and temporary files bear no release's name.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Relaxed) {
            std::process::exit(i32::from(crate::failure::INTERRUPTED));
        }
    });
}

/// The stop that was asked for has been made: from here on everything goes on until the next.
pub fn go_on() {
    INTERRUPTED.store(false, Relaxed);
}

/// Watches one station of the way.
#[derive(Debug)]
pub struct Watch {
    station: &'static str,
    bar: ProgressBar,
    deadline: Option<Instant>,
}

impl Watch {
    /// A station by name: a bar on a terminal, nothing in a pipe.
    pub fn new(station: &'static str) -> Self {
        let target =
            if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        let style = ProgressStyle::with_template("{msg:10} {bar:40} {percent:>3} %  {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(station);
        Self { station, bar, deadline: None }
    }

    /// Stops a search after so long.
    pub fn with_limit(mut self, limit: Option<Duration>) -> Self {
        self.deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        self
    }

    /// What is being done just now, in place of the station's name.
    pub fn tell(&self, text: String) {
        if !self.bar.is_hidden() {
            self.bar.set_message(text);
        }
    }

    /// It is still at it, though nothing is told.
    pub fn tick(&self) {
        if !self.bar.is_hidden() {
            self.bar.tick();
        }
    }

    fn show(&self, done: u64, total: u64) {
        if !self.bar.is_hidden() {
            self.bar.set_length(total);
            // Reports come out of order from several threads: the bar never goes back.
            if done > self.bar.position() {
                self.bar.set_position(done);
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Watch {
    fn stop(&self) -> Option<Stop> {
        if INTERRUPTED.load(Relaxed) {
            Some(Stop::Cancelled)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Some(Stop::OutOfTime)
        } else {
            None
        }
    }

    fn progress(&self, done: u64, of: u64) {
        self.show(done, of);
    }

    fn best(&self, value: f64) {
        if !self.bar.is_hidden() {
            self.bar.set_message(format!("{}  best {value:.4}", self.station));
        }
    }
}
