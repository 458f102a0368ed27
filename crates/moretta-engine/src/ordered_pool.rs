//! Worker threads that take numbered pieces of work in order. Results and errors do not depend on the number of
//! threads.
//!
//! Guarantee: of all failures, the one of the piece with the lowest number is returned, and every piece before it was
//! worked on. No thread waits forever: a failure or a panic wakes the threads that wait for a later turn.
//!
//! How: `take` hands out pieces in order (it locks what it needs), `work` does the long part of a piece in parallel. A
//! [`Sequencer`] runs a short part of the work in the order of the pieces, such as reserving the bytes of an output
//! file:
//!
//! ```text
//! thread A   take 0   work 0 ──────────▶ in order 0   take 2   work 2 ──▶ in order 2
//! thread B   take 1   work 1 ──▶ (waits for 0)        in order 1   take 3   work 3 ──▶ in order 3
//! ```

use std::sync::{
    Condvar, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use moretta_core::observer::Observer;

use crate::error::EngineError;

/// Locks a mutex even if a thread panicked while it held the lock: [`run`] passes the panic on.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a short part of the work on a shared state `T`, in the order of the piece numbers.
#[derive(Debug, Default)]
pub(crate) struct Sequencer<T> {
    state: Mutex<SequencerState<T>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SequencerState<T> {
    /// Number of the piece whose turn it is.
    next: usize,
    /// Lowest number of a piece that failed.
    failed: Option<usize>,
    inner: T,
}

impl<T> Sequencer<T> {
    /// A sequencer that starts with piece 0.
    pub(crate) fn new(inner: T) -> Self {
        Self { state: Mutex::new(SequencerState { next: 0, failed: None, inner }), changed: Condvar::new() }
    }

    /// Waits until all pieces before `number` had their turn, then runs `action`. Returns `Cancelled` if an earlier
    /// piece failed.
    pub(crate) fn in_order<R>(
        &self,
        number: usize,
        action: impl FnOnce(&mut T) -> Result<R, EngineError>,
    ) -> Result<R, EngineError> {
        let mut state = lock(&self.state);
        while state.next != number {
            if state.failed.is_some_and(|failed| failed <= number) {
                return Err(EngineError::Cancelled);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let result = action(&mut state.inner)?;
        state.next += 1;
        drop(state);
        self.changed.notify_all();
        Ok(result)
    }

    /// The state after the last piece.
    pub(crate) fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).inner
    }
}

/// Is informed when a piece fails.
pub(crate) trait FailureListener: Sync {
    /// Piece `number` failed. Threads that wait for a later turn must stop waiting.
    fn fail(&self, number: usize);
}

impl<T: Send> FailureListener for Sequencer<T> {
    fn fail(&self, number: usize) {
        let mut state = lock(&self.state);
        state.failed = Some(state.failed.map_or(number, |failed| failed.min(number)));
        drop(state);
        self.changed.notify_all();
    }
}

/// Number of the piece that failed, and its error.
pub(crate) type PieceFailure<E> = (usize, E);

struct Failures<'a, E> {
    first: Mutex<Option<PieceFailure<E>>>,
    any: AtomicBool,
    sequencers: &'a [&'a dyn FailureListener],
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

/// Wakes all waiting threads if its own thread panics, so that they end and the panic can be passed on.
struct OnPanic<'a, 'b, E>(&'a Failures<'b, E>);

impl<E> Drop for OnPanic<'_, '_, E> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.wake(0);
        }
    }
}

/// A `take` for [`run`] that hands out the numbers below `count`.
pub(crate) fn take_numbers_below<S>(
    count: usize,
) -> impl Fn(&mut S) -> Result<Option<usize>, PieceFailure<EngineError>> + Sync {
    let next = AtomicUsize::new(0);
    move |_| Ok(Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < count))
}

/// Maps items on at most `threads` threads; the results are in the order of the items.
pub(crate) fn map_each<T: Send, R: Send>(items: Vec<T>, threads: usize, map: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = threads.min(items.len());
    if threads < 2 {
        return items.into_iter().map(map).collect();
    }
    let (items, results) = (Mutex::new(items.into_iter().enumerate()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some((number, item)) = lock(&items).next() else { break };
            let result = map(item);
            lock(&results).push((number, result));
        }
    };
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Runs one thread per state until `take` returns `None`, and returns the states in order. A single state is run on the
/// calling thread.
pub(crate) fn run<S, E>(
    states: Vec<S>,
    observer: &dyn Observer,
    sequencers: &[&dyn FailureListener],
    take: impl Fn(&mut S) -> Result<Option<usize>, PieceFailure<E>> + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
) -> Result<Vec<S>, PieceFailure<E>>
where
    S: Send,
    E: Send + From<EngineError>,
{
    let failures = Failures { first: Mutex::new(None), any: AtomicBool::new(false), sequencers };
    let work_until_done = |mut state: S| {
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
    let mut finished = Vec::with_capacity(states.len());
    if states.len() == 1 {
        finished.extend(states.into_iter().map(work_until_done));
    } else {
        std::thread::scope(|scope| {
            let worker = &work_until_done;
            let threads: Vec<_> = states.into_iter().map(|state| scope.spawn(move || worker(state))).collect();
            for thread in threads {
                match thread.join() {
                    Ok(state) => finished.push(state),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        });
    }
    let first = failures.first.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.map_or(Ok(finished), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use moretta_core::observer::NoObserver;

    #[test]
    fn sequenced_work_runs_in_order_and_the_lowest_failure_wins() {
        for threads in 1..5 {
            let sequencer = Sequencer::new(Vec::new());
            let result = run(vec![(); threads], &NoObserver, &[&sequencer], take_numbers_below(100), |(), number| {
                sequencer.in_order(number, |seen: &mut Vec<usize>| {
                    seen.push(number);
                    Ok(())
                })?;
                if number >= 60 { Err(EngineError::changed(number.to_string())) } else { Ok(()) }
            });
            let (number, error) = result.expect_err("failure");
            assert_eq!(number, 60);
            assert!(error.to_string().contains("(60)"));
            let seen = sequencer.into_inner();
            assert_eq!(seen, (0..seen.len()).collect::<Vec<_>>());
        }
    }
}
