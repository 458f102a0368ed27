//! Some threads that take numbered pieces of work in order.
//!
//! Guarantee: of all failures the one with the lowest number is returned, and every piece before it has been done, so an
//! error does not depend on the number of threads. Nobody waits for ever: a failure (or a panic) wakes whoever waits for
//! a [`Sequencer`] behind it.
//!
//! Structure: `take` hands out pieces in order (it locks what it must), `work` does one; a [`Sequencer`] makes short parts of
//! the work happen in order.

use crate::error::EngineError;
use moretta_core::observer::Observer;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Locks, whether or not a thread panicked while it held the lock: the panic itself is passed on elsewhere.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A short part of the work that happens in order of the pieces' numbers, with some state of its own.
#[derive(Debug, Default)]
pub(crate) struct Sequencer<T> {
    state: Mutex<SequencerState<T>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SequencerState<T> {
    next: usize,
    failed: Option<usize>,
    inner: T,
}

impl<T> Sequencer<T> {
    /// Piece 0 comes first.
    pub(crate) fn new(inner: T) -> Self {
        Self { state: Mutex::new(SequencerState { next: 0, failed: None, inner }), changed: Condvar::new() }
    }

    /// Does something when all pieces before `number` have done theirs. After a failure of an earlier piece: `Cancelled`.
    pub(crate) fn take<R>(
        &self,
        number: usize,
        act: impl FnOnce(&mut T) -> Result<R, EngineError>,
    ) -> Result<R, EngineError> {
        let mut state = lock(&self.state);
        while state.next != number {
            if state.failed.is_some_and(|failed| failed <= number) {
                return Err(EngineError::Cancelled);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let result = act(&mut state.inner)?;
        state.next += 1;
        drop(state);
        self.changed.notify_all();
        Ok(result)
    }

    /// Lets nobody behind `number` wait any longer.
    fn fail(&self, number: usize) {
        let mut state = lock(&self.state);
        state.failed = Some(state.failed.map_or(number, |failed| failed.min(number)));
        drop(state);
        self.changed.notify_all();
    }

    /// The state, when all is done.
    pub(crate) fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).inner
    }
}

/// Anything that has to know of a failure.
pub(crate) trait Fails: Sync {
    /// Piece `number` failed.
    fn fail(&self, number: usize);
}

impl<T: Send> Fails for Sequencer<T> {
    fn fail(&self, number: usize) {
        Sequencer::fail(self, number);
    }
}

/// A failure with the number of the piece it happened in.
pub(crate) type Failed<E> = (usize, E);

struct Failures<'a, E> {
    first: Mutex<Option<Failed<E>>>,
    any: AtomicBool,
    sequencers: &'a [&'a dyn Fails],
}

impl<E> Failures<'_, E> {
    fn add(&self, number: usize, error: E) {
        let mut first = lock(&self.first);
        if first.as_ref().is_none_or(|(earlier, _)| number < *earlier) {
            *first = Some((number, error));
        }
        drop(first);
        self.wake(number);
    }

    fn wake(&self, number: usize) {
        self.any.store(true, Ordering::Release);
        for sequencer in self.sequencers {
            sequencer.fail(number);
        }
    }
}

/// Wakes everybody if its thread panics, so that the panic can be passed on.
struct OnPanic<'a, 'b, E>(&'a Failures<'b, E>);

impl<E> Drop for OnPanic<'_, '_, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.wake(0);
        }
    }
}

/// Hands out the numbers below `count`.
pub(crate) fn numbers<S>(count: usize) -> impl Fn(&mut S) -> Result<Option<usize>, Failed<EngineError>> + Sync {
    let next = AtomicUsize::new(0);
    move |_| Ok(Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < count))
}

/// Runs one thread for each state until `take` has no more pieces; the states come back in order.
pub(crate) fn run<S, E>(
    states: Vec<S>,
    observer: &dyn Observer,
    sequencers: &[&dyn Fails],
    take: impl Fn(&mut S) -> Result<Option<usize>, Failed<E>> + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
) -> Result<Vec<S>, Failed<E>>
where
    S: Send,
    E: Send + From<EngineError>,
{
    let failures = Failures { first: Mutex::new(None), any: AtomicBool::new(false), sequencers };
    let labour = |mut state: S| {
        let _guard = OnPanic(&failures);
        while !failures.any.load(Ordering::Acquire) {
            if observer.stop().is_some() {
                failures.add(0, EngineError::Cancelled.into());
                break;
            }
            match take(&mut state) {
                Ok(None) => break,
                Ok(Some(number)) => {
                    if let Err(error) = work(&mut state, number) {
                        failures.add(number, error);
                    }
                }
                Err((number, error)) => failures.add(number, error),
            }
        }
        state
    };
    let mut done = Vec::with_capacity(states.len());
    if states.len() == 1 {
        done.extend(states.into_iter().map(labour));
    } else {
        std::thread::scope(|scope| {
            let labour = &labour;
            let threads: Vec<_> = states.into_iter().map(|state| scope.spawn(move || labour(state))).collect();
            for thread in threads {
                match thread.join() {
                    Ok(state) => done.push(state),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    match failures.first.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(failed) => Err(failed),
        None => Ok(done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use moretta_core::observer::NoObserver;

    #[test]
    fn turns_come_in_order_and_the_lowest_failure_wins() {
        for threads in 1..5 {
            let sequencer = Sequencer::new(Vec::new());
            let failed = run(vec![(); threads], &NoObserver, &[&sequencer], numbers(100), |(), number| {
                sequencer.take(number, |seen: &mut Vec<usize>| {
                    seen.push(number);
                    Ok(())
                })?;
                if number >= 60 { Err(EngineError::changed(number.to_string())) } else { Ok(()) }
            });
            let (number, error) = failed.expect_err("failure");
            assert_eq!(number, 60);
            assert!(error.to_string().contains("(60)"));
            let seen = sequencer.into_inner();
            assert_eq!(seen, (0..seen.len()).collect::<Vec<_>>());
        }
    }
}
