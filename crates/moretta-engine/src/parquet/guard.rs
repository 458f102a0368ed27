//! Runs the Parquet decoder so that a panic of it becomes an error.
//!
//! Guarantee: [`decode`] returns [`EngineError::Damaged`] if the decoder panics, as it does on some damaged files. Only
//! the decoder runs inside, never the rest of a pass, so that a panic of our own is still a panic.
//!
//! The panic hook of the process would print a message all the same. A library must not replace it; a program that
//! wants no such message installs a hook that asks [`catches_panics`].

use std::{
    cell::Cell,
    fmt::Display,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use crate::error::EngineError;

thread_local! {
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of the current thread would be caught and returned as an error. For panic hooks.
pub fn catches_panics() -> bool {
    DECODING.get()
}

/// Runs a step of the decoder on a file. Errors of the decoder get the path of the file.
pub(crate) fn decode<T, E: Display>(path: &Path, step: impl FnOnce() -> Result<T, E>) -> Result<T, EngineError> {
    decode_as("Parquet", path, step)
}

/// Like [`decode`], for a file of another format.
pub(crate) fn decode_as<T, E: Display>(
    format: &'static str,
    path: &Path,
    step: impl FnOnce() -> Result<T, E>,
) -> Result<T, EngineError> {
    let outer = DECODING.replace(true);
    // State that the step has changed is not used after a panic: every caller drops its reader after an error.
    let result = catch_unwind(AssertUnwindSafe(step));
    DECODING.set(outer);
    match result {
        Ok(result) => result.map_err(EngineError::parquet(path)),
        // The decoder panics for one reason that is no damage.
        Err(panic) if message(&*panic).contains(INDEX_OVERFLOW) => Err(EngineError::parquet(path)(INDEX_OVERFLOW)),
        // The text of the panic is not shown: it is about the decoder, and it may have a part of the data.
        Err(_) => Err(EngineError::damaged_as(format, path, "the decoder cannot read it")),
    }
}

/// Panic of the decoder if an array cannot hold all texts.
pub(crate) const INDEX_OVERFLOW: &str = "index overflow decoding byte array";

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_with_the_path() {
        let path = Path::new("a.parquet");
        assert!(!catches_panics());
        let seen = decode(path, || Ok::<_, String>(catches_panics())).expect("no error");
        assert!(seen && !catches_panics());
        let error = decode(path, || -> Result<(), String> { panic!("Ada") }).expect_err("error").to_string();
        assert_eq!(error, "a.parquet: damaged Parquet file: the decoder cannot read it");
        assert!(!catches_panics());
        let error = decode(path, || Err::<(), _>("EOF")).expect_err("error").to_string();
        assert_eq!(error, "a.parquet: EOF");
    }
}
