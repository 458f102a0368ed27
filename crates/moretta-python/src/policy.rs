//! Policies as values: their syntax, their checks and drafts.

use std::path::PathBuf;

use moretta_core::hierarchy::Hierarchies;
use moretta_flow::{ConvertPolicy, Init, OutputFile, PolicySource, check_policy};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    data::Input,
    error::to_python,
    hierarchy::Hierarchy,
    job::{Job, Makes, run},
};

/// A policy: its text, the folder of its files, and hierarchies in place of files.
#[pyclass(frozen, module = "moretta._native")]
pub(crate) struct PolicyValue(moretta_flow::PolicyValue);

#[pymethods]
impl PolicyValue {
    /// Checks the policy. The files that it names are read by each request.
    #[new]
    fn new(
        py: Python<'_>,
        name: PathBuf,
        text: String,
        folder: PathBuf,
        hierarchies: Vec<(String, Py<Hierarchy>)>,
    ) -> PyResult<Self> {
        let hierarchies = hierarchies.into_iter().map(|(column, hierarchy)| (column, hierarchy.get().0.clone()));
        let hierarchies: Hierarchies = hierarchies.collect();
        let value = moretta_flow::PolicyValue { name, text, folder, hierarchies };
        check_policy(&value).map_err(|error| to_python(py, &error))?;
        Ok(Self(value))
    }
}

impl PolicyValue {
    pub(crate) fn source(&self) -> PolicySource {
        PolicySource::Value(self.0.clone())
    }
}

/// The tree of a policy as JSON.
#[pyfunction]
pub(crate) fn tree_of_policy(text: &str) -> PyResult<String> {
    let tree: toml::Table = text.parse().map_err(|error: toml::de::Error| PyValueError::new_err(error.to_string()))?;
    serde_json::to_string(&tree).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The text of a tree in JSON.
#[pyfunction]
pub(crate) fn write_policy(tree: &str) -> PyResult<String> {
    let tree: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(tree).map_err(|error| PyValueError::new_err(error.to_string()))?;
    toml::to_string(&tree).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The text of a draft policy for a table.
#[pyfunction]
pub(crate) fn draft(py: Python<'_>, job: &Job, data: &Input) -> PyResult<String> {
    let data = data.take();
    run(py, job, Makes::Nothing, move |session, observer| {
        let (output, table) = (OutputFile::default(), OutputFile::default());
        Ok(session.init(&Init { input: data.read(observer)?, output, table })?.text)
    })
}

/// Turns a policy file into a table with a line per column, or such a table into a policy.
#[pyfunction]
pub(crate) fn policy_table(
    py: Python<'_>,
    job: &Job,
    input: PathBuf,
    output: Option<PathBuf>,
    overwrite: bool,
) -> PyResult<String> {
    let output = OutputFile { path: output, overwrite };
    run(py, job, Makes::Files, move |session, _| session.convert_policy(&ConvertPolicy { input, output }))
}
