//! Hierarchies as values.

use std::path::PathBuf;

use moretta_core::{
    encoding::Encoding,
    hierarchy::{
        Tree, ValueParser,
        draw::{self, DrawOptions, Finding, Near},
        file,
    },
    policy::Policy,
    schema::Kind,
    search,
};
use moretta_flow::{BuildHierarchy, CheckHierarchy, FlowError, OutputFile, read_hierarchy};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    data::Input,
    error::to_python,
    job::{Job, Makes, run},
};

/// Generalization hierarchy of a column.
#[pyclass(frozen, module = "moretta._native")]
pub(crate) struct Hierarchy(pub(crate) Tree);

#[pymethods]
impl Hierarchy {
    /// Reads a hierarchy file of a column.
    #[staticmethod]
    #[pyo3(signature = (path, column=None))]
    fn read(py: Python<'_>, path: PathBuf, column: Option<&str>) -> PyResult<Self> {
        let read = py.detach(|| read_hierarchy(&path, column, Some(Encoding::Windows1252)));
        read.map(|read| Self(read.tree)).map_err(|error| to_python(py, &error))
    }

    /// Reads the text of a hierarchy file.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        file::parse(text).map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Builds the hierarchy that a policy with this declaration of the column would build. `policy` is a policy with
    /// this column only.
    #[staticmethod]
    fn build(
        py: Python<'_>,
        job: &Job,
        data: &Input,
        column: String,
        policy: &str,
        missing: Vec<String>,
    ) -> PyResult<Self> {
        let policy = Policy::parse(policy, &search::method_names());
        let policy = policy.map_err(|error| PyValueError::new_err(error.message))?;
        let declared = policy.column(&column).cloned();
        let data = data.take();
        run(py, job, Makes::Nothing, move |session, observer| {
            let declared = declared.ok_or_else(|| FlowError::usage("the column is not declared"))?;
            let reading = ValueParser::new(declared.kind.unwrap_or(Kind::Number), declared.format.as_ref());
            let (choice, output, input) = (declared.hierarchy, OutputFile::default(), data.read(observer)?);
            let request = BuildHierarchy { input, column, missing, reading, choice, output };
            session.build_hierarchy(&request).map(Self)
        })
    }

    /// The hierarchy file: a row per value, delimited by semicolons.
    fn text(&self) -> String {
        file::write(&self.0)
    }

    /// Draws the tree as text.
    #[pyo3(signature = (children, depth=None))]
    fn draw(&self, children: usize, depth: Option<u32>) -> String {
        draw::text(&self.0, &self.options(children, depth))
    }

    /// Draws the tree as SVG.
    #[pyo3(signature = (title, children, depth=None))]
    fn svg(&self, title: &str, children: usize, depth: Option<u32>) -> String {
        draw::svg(&self.0, &self.options(children, depth), title)
    }

    /// Numbers of leaves, levels and nodes.
    fn size(&self) -> (usize, usize, usize) {
        let draw::Summary { leaves, levels, nodes, .. } = draw::summary(&self.0);
        (leaves, levels, nodes)
    }
}

impl Hierarchy {
    fn options(&self, children: usize, depth: Option<u32>) -> DrawOptions {
        let children = children.max(1);
        match depth {
            Some(max_depth) => DrawOptions { max_children: children, max_depth, ..DrawOptions::default() },
            None => DrawOptions::fitting(&self.0, children),
        }
    }
}

/// Values without a row: text, records, and a similar label or "group".
type WithoutRow = Vec<(String, u64, Option<String>)>;

/// Number of distinct values of a column, those without a row in a hierarchy file, and rows without a value.
#[pyfunction]
#[pyo3(signature = (job, file, data, column, missing))]
pub(crate) fn check_hierarchy(
    py: Python<'_>,
    job: &Job,
    file: PathBuf,
    data: &Input,
    column: Option<String>,
    missing: Vec<String>,
) -> PyResult<(usize, WithoutRow, Vec<String>)> {
    let data = data.take();
    run(py, job, Makes::Nothing, move |session, observer| {
        let input = data.read(observer)?;
        let checked = session.check_hierarchy(&CheckHierarchy { file, input, column, missing })?;
        let (mut without_row, mut unused) = (Vec::new(), Vec::new());
        for finding in checked.findings {
            match finding {
                Finding::NoLeaf { value, records, near } => {
                    let near = match near {
                        Near::Nothing => None,
                        Near::Inner => Some("group".to_owned()),
                        Near::Leaf(leaf) => Some(leaf),
                    };
                    without_row.push((value, records, near));
                }
                Finding::NeverOccurs { leaf } => unused.push(leaf),
            }
        }
        Ok((checked.values, without_row, unused))
    })
}
