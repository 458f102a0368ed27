//! The native part of the Python package `moretta`: each function makes a request of moretta-flow and runs it.
//!
//! The package's Python files (`python/moretta`) have the classes that users see. Here are the parts that need Rust:
//!
//! - `data.rs`: tables in and out by the Arrow C stream interface, without pyarrow.
//! - `job.rs`: a request runs on a thread of its own without the GIL; callbacks and signals stay on the caller's thread.
//! - `release.rs`: requests that make a release; `results.rs`: those that return figures; `hierarchy.rs`, `policy.rs`.
//! - `host.rs`: tables of engines that speak SQL, whose passes are calls of Python objects.
//! - `features.rs`: features of records for models.
//! - `error.rs`: errors of requests become exceptions of `moretta._errors`.

mod data;
mod error;
mod features;
mod hierarchy;
mod host;
mod job;
mod policy;
mod release;
mod results;

use std::{ffi::OsString, panic};

use pyo3::prelude::*;

/// The native part of the package `moretta`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        command_line,
        data::{Input, Table, demo},
        features::{encode_features, fit_features, relabel, table_of_columns, texts},
        hierarchy::{Hierarchy, check_hierarchy},
        host::{Plan, anonymize_table, apply_to_table, check_table},
        job::Job,
        lists,
        policy::{PolicyValue, draft, policy_table, tree_of_policy, write_policy},
        release::{Made, Report, anonymize, apply, verify_report, write_table},
        results::{Document, bound, check, compare, evaluate, frontier, inferences, linkage, measure, queries, risks},
    };

    /// Panics are caught and raised as `InternalError`, with their place; their message may have data.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::error::note_panics();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// Runs the command line and returns its exit code. `child` starts the same command line in another process.
#[pyfunction]
fn command_line(py: Python<'_>, arguments: Vec<OsString>, child: Vec<OsString>) -> u8 {
    // The program prints its panics itself.
    drop(panic::take_hook());
    /// Exit code of a program that panics.
    const PANICKED: u8 = 101;
    py.detach(|| panic::catch_unwind(|| moretta::run(&arguments, Some(child))).unwrap_or(PANICKED))
}

/// A list of the command line as JSON: "methods", "measures", "models" or "formats".
#[pyfunction]
fn lists(name: &str) -> PyResult<String> {
    match name {
        "methods" => Ok(moretta::json::methods()),
        "measures" => Ok(moretta::json::measures()),
        "models" => Ok(moretta::json::models()),
        "formats" => Ok(moretta::json::formats()),
        _ => Err(pyo3::exceptions::PyValueError::new_err("there is no list of this name")),
    }
}
