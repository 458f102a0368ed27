//! One file per command: arguments become a request, its result is printed.

pub mod anonymize;
pub mod apply;
pub mod check;
pub mod compare;
pub mod demo;
pub mod evaluate;
pub mod frontier;
pub mod hierarchy;
pub mod inferences;
pub mod init;
pub mod list;
pub mod measure;
pub mod queries;
pub mod reproduce;

use std::path::PathBuf;

use moretta_flow::{FlowError, OutputFile, Session};

use crate::{arguments::Resources, terminal::TerminalProgress};

/// Runs a request with a progress bar, and removes the bar at the end.
fn job<T>(resources: &Resources, work: impl FnOnce(&Session<'_>) -> Result<T, FlowError>) -> Result<T, FlowError> {
    job_with(resources, |session, _| work(session))
}

/// Like [`job`], for requests that use the progress bar.
fn job_with<T>(
    resources: &Resources,
    work: impl FnOnce(&Session<'_>, &TerminalProgress) -> Result<T, FlowError>,
) -> Result<T, FlowError> {
    let Resources { threads, memory } = *resources;
    let progress = TerminalProgress::new();
    work(&Session::new(moretta_flow::Resources { threads, memory, alone: true }, &progress)?, &progress)
}

fn output_file(path: &Option<PathBuf>, overwrite: bool) -> OutputFile {
    OutputFile { path: path.clone(), overwrite }
}
