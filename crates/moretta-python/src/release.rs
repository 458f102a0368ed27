//! Requests that make a release: in memory or as a file.

use std::{path::PathBuf, str::FromStr, time::Duration};

use moretta_core::{search::best::Effort, seed::Seed};
use moretta_engine::TableSlot;
use moretta_flow::{Anonymize, Apply, Destination, Earlier, Output, RecodingSource, ReleaseOptions, VerifyReport};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    data::{Input, Table},
    error::to_python,
    job::{Job, Makes, run},
    policy::PolicyValue,
};

/// Report on a release.
#[pyclass(frozen, module = "moretta._native")]
pub(crate) struct Report(pub(crate) moretta_insight::report::Report);

#[pymethods]
impl Report {
    /// The report for programs.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| self.0.to_json())
    }

    /// The report for people; `name` is the name of the release.
    fn html(&self, py: Python<'_>, name: &str) -> String {
        py.detach(|| moretta_pages::report(&self.0, name))
    }
}

/// A release: the table unless it is a file, the report, and the recoding as text if it was requested.
#[pyclass(frozen, module = "moretta._native", get_all)]
pub(crate) struct Made {
    pub(crate) table: Option<Py<Table>>,
    pub(crate) report: Py<Report>,
    pub(crate) recoding: Option<String>,
}

/// Files that a request writes, and how the release is made. From a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Arguments {
    output: Option<PathBuf>,
    reports: Vec<PathBuf>,
    recoding: Option<PathBuf>,
    overwrite: bool,
    seed: Option<String>,
    keep_order: bool,
    time_limit: Option<String>,
}

impl Arguments {
    fn seed(&self) -> PyResult<Option<Seed>> {
        let parsed = self.seed.as_deref().map(Seed::from_str).transpose();
        parsed.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    pub(crate) fn options(&self) -> PyResult<ReleaseOptions> {
        Ok(ReleaseOptions {
            seed: self.seed()?,
            keep_order: self.keep_order,
            time_limit: time_limit(self.time_limit.as_deref())?,
            // A report in memory is complete, as one in a file.
            path: true,
            ..ReleaseOptions::default()
        })
    }

    /// The files, and the slot of a release in memory.
    fn output(&self) -> (Output, TableSlot, Makes) {
        let slot = TableSlot::default();
        let release = match &self.output {
            Some(path) => Destination::File(path.clone()),
            None => Destination::Memory(slot.clone()),
        };
        let files = self.output.is_some() || !self.reports.is_empty() || self.recoding.is_some();
        let makes = if files { Makes::Files } else { Makes::Nothing };
        let output = Output { release, reports: self.reports.clone(), overwrite: self.overwrite, format: None };
        (output, slot, makes)
    }
}

/// Duration of a text such as `60s`.
pub(crate) fn time_limit(text: Option<&str>) -> PyResult<Option<Duration>> {
    text.map(moretta::values::time).transpose().map_err(PyValueError::new_err)
}

fn made(
    py: Python<'_>,
    slot: &TableSlot,
    report: moretta_insight::report::Report,
    recoding: Option<String>,
) -> PyResult<Made> {
    let table = slot.take().map(|table| Py::new(py, Table(table))).transpose()?;
    Ok(Made { table, report: Py::new(py, Report(report))?, recoding })
}

/// Options of a search. From a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SearchArguments {
    effort: Option<String>,
    at: Option<usize>,
    bound: bool,
    earlier: Vec<Py<Input>>,
    warn_if_linkable: bool,
}

impl SearchArguments {
    pub(crate) fn options(&self, arguments: &Arguments) -> PyResult<ReleaseOptions> {
        let effort = self.effort.as_ref().map(|name| {
            let known = Effort::ALL.into_iter().find(|effort| effort.name() == name);
            known.ok_or_else(|| PyValueError::new_err("effort must be \"low\", \"default\" or \"high\""))
        });
        let options = arguments.options()?;
        Ok(ReleaseOptions { effort: effort.transpose()?, at: self.at, bound: self.bound, recoding: true, ..options })
    }
}

/// Makes a release.
#[pyfunction]
pub(crate) fn anonymize(
    py: Python<'_>,
    job: &Job,
    data: &Input,
    policy: &PolicyValue,
    arguments: Arguments,
    search: SearchArguments,
) -> PyResult<Made> {
    let (output, slot, makes) = arguments.output();
    let options = search.options(&arguments)?;
    let (data, policy, recoding) = (data.take(), policy.source(), arguments.recoding);
    let earlier: Vec<_> = search.earlier.iter().map(|release| release.get().take()).collect();
    let warn = search.warn_if_linkable;
    let (report, recoding) = run(py, job, makes, move |session, observer| {
        let releases = earlier.into_iter().map(|release| release.read(observer)).collect::<Result<_, _>>()?;
        let (input, earlier) = (data.read(observer)?, Earlier { releases, warn });
        let request = Anonymize { input, policy, output, recoding, earlier, options };
        let release = session.anonymize_with_recoding(&request)?;
        Ok((release.report, release.recoding.map(|recoding| recoding.to_json())))
    })?;
    made(py, &slot, report, recoding)
}

/// Applies a recoding to new records. `recoding` is the text of a recoding.
#[pyfunction]
pub(crate) fn apply(
    py: Python<'_>,
    job: &Job,
    data: &Input,
    recoding: String,
    arguments: Arguments,
    compare: bool,
) -> PyResult<Made> {
    let (output, slot, makes) = arguments.output();
    let (seed, keep_order) = (arguments.seed()?, arguments.keep_order);
    let time_limit = time_limit(arguments.time_limit.as_deref())?;
    let data = data.take();
    let report = run(py, job, makes, move |session, observer| {
        let recoding = RecodingSource::Value(recoding);
        let input = data.read(observer)?;
        session.apply(&Apply { input, recoding, output, seed, keep_order, compare, time_limit })
    })?;
    made(py, &slot, report, None)
}

/// Writes a release in memory to a file.
#[pyfunction]
pub(crate) fn write_table(
    py: Python<'_>,
    job: &Job,
    table: &Table,
    report: &Report,
    path: PathBuf,
    overwrite: bool,
) -> PyResult<()> {
    let (table, report) = (table.0.clone(), report.0.clone());
    run(py, job, Makes::Files, move |session, _| session.write_release(&table, &report, &path, overwrite))
}

/// The SHA-256 of a release as its report names it, and that of a file.
#[pyfunction]
pub(crate) fn verify_report(py: Python<'_>, report: PathBuf, released: PathBuf) -> PyResult<(String, String)> {
    let verified = py.detach(|| moretta_flow::verify_report(&VerifyReport { report, released }));
    verified.map(|found| (found.in_report, found.of_file)).map_err(|error| to_python(py, &error))
}
