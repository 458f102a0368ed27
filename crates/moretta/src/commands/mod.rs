//! One file per command. A command turns its arguments into a request, runs it and prints the result.

pub mod anonymize;
pub mod apply;
pub mod bound;
pub mod check;
pub mod compare;
pub mod demo;
pub mod evaluate;
pub mod frontier;
pub mod hierarchy;
pub mod inferences;
pub mod init;
pub mod linkage;
pub mod list;
pub mod measure;
pub mod policy;
pub mod queries;
pub mod report;
pub mod reproduce;
pub mod risks;

use moretta_flow::{FlowError, Session};

use crate::{arguments::Resources, terminal::TerminalProgress};

/// Runs a request in a new session with a progress bar, which is removed at the end.
fn run_request<T>(
    resources: &Resources,
    request: impl FnOnce(&Session<'_>) -> Result<T, FlowError>,
) -> Result<T, FlowError> {
    run_request_with_progress(resources, |session, _| request(session))
}

/// Like [`run_request`], for requests that use the progress bar themselves.
fn run_request_with_progress<T>(
    resources: &Resources,
    request: impl FnOnce(&Session<'_>, &TerminalProgress) -> Result<T, FlowError>,
) -> Result<T, FlowError> {
    let Resources { threads, memory, format } = *resources;
    let progress = TerminalProgress::new();
    // `alone`: the process runs only this request, so its peak memory can be reported.
    request(&Session::new(moretta_flow::Resources { threads, memory, format, alone: true }, &progress)?, &progress)
}
