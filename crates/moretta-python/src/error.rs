//! Errors of requests as Python exceptions, which `python/moretta/_errors.py` defines.

use std::{
    panic::{self, PanicHookInfo},
    sync::{Mutex, PoisonError},
};

use moretta_flow::{ErrorKind, FlowError};
use pyo3::{prelude::*, types::PyDict};

/// Source line of the last panic.
static PANICKED: Mutex<Option<String>> = Mutex::new(None);

/// Keeps panics silent and remembers their place. The message of a panic may have data, so it is dropped.
pub(crate) fn note_panics() {
    panic::set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        // The decoders of Parquet and Arrow panic on some damaged files, and the engine makes errors of it.
        if !moretta_engine::catches_panics() {
            let place = info.location().map(|place| format!("{}:{}", place.file(), place.line()));
            *PANICKED.lock().unwrap_or_else(PoisonError::into_inner) = place;
        }
    }));
}

/// The error of a request that panicked.
pub(crate) fn panicked() -> FlowError {
    let place = PANICKED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let place = place.unwrap_or_else(|| "an unknown place".to_owned());
    FlowError::new(ErrorKind::Internal, format!("moretta has a defect at {place}; please report this"))
}

/// Makes the exception of an error.
pub(crate) fn to_python(py: Python<'_>, error: &FlowError) -> PyErr {
    let kind = match error.kind {
        ErrorKind::Usage => "UsageError",
        ErrorKind::Policy => "PolicyError",
        ErrorKind::Input => "InputError",
        ErrorKind::Unsatisfied => "Unsatisfiable",
        ErrorKind::Memory => "MemoryLimit",
        ErrorKind::Interrupted | ErrorKind::Internal => "InternalError",
    };
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let place = PyDict::new(py);
        if let Some(found) = &error.place {
            place.set_item("path", &found.file)?;
            place.set_item("line", found.line)?;
            place.set_item("record", found.record)?;
            place.set_item("column", &found.column)?;
        }
        py.import("moretta._errors")?.getattr(kind)?.call((&error.message,), Some(&place))
    };
    make().map_or_else(|failed| failed, PyErr::from_value)
}
