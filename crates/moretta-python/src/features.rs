//! Features of records for models, and labels of a saved recoding (`moretta.sklearn`).

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use moretta_core::{observer::Observer, schema::Kind};
use moretta_engine::MemoryTable;
use moretta_flow::{EncodeFeatures, FeatureOptions, FlowError, Session, TextColumn};
use moretta_insight::features::{Categories, KnownColumn};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyByteArray};

use crate::{
    data::{Input, Table},
    error::to_python,
    job::{Job, Makes, run},
    policy::PolicyValue,
};

/// Name, type and labels of a column.
type Known = (String, String, Vec<String>);

const KINDS: [(Kind, &str); 3] = [(Kind::Number, "number"), (Kind::Date, "date"), (Kind::Category, "category")];

fn options(policy: Option<&PolicyValue>, ordinal: bool) -> FeatureOptions {
    let categories = if ordinal { Categories::Ordinal } else { Categories::Indicators };
    FeatureOptions { policy: policy.map(PolicyValue::source), categories }
}

fn known_column((name, kind, labels): Known) -> PyResult<KnownColumn> {
    let kind = KINDS.iter().find(|(_, known)| *known == kind);
    let kind = kind.map(|(kind, _)| *kind).ok_or_else(|| PyValueError::new_err("there is no type of this name"))?;
    Ok(KnownColumn { name, kind, labels })
}

/// Columns of an encoder, names of its features, and texts of hierarchies by column.
type Fitted = (Vec<Known>, Vec<String>, Vec<(String, String)>);

/// Learns the features of a release.
#[pyfunction]
#[pyo3(signature = (job, data, policy, columns, ordinal))]
pub(crate) fn fit_features(
    py: Python<'_>,
    job: &Job,
    data: &Input,
    policy: Option<&PolicyValue>,
    columns: Option<Vec<String>>,
    ordinal: bool,
) -> PyResult<Fitted> {
    let (data, options) = (data.take(), options(policy, ordinal));
    let fitted = run(py, job, Makes::Nothing, move |session, observer| {
        session.fit_features(&data.read(observer)?, columns.as_deref(), &options)
    })?;
    let name = |kind: Kind| KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, name)| name).to_owned();
    let known = fitted.known.into_iter().map(|column| (column.name, name(column.kind), column.labels)).collect();
    Ok((known, fitted.names, fitted.hierarchies))
}

/// Features of records as 64-bit floats in native byte order, row by row.
#[pyfunction]
#[pyo3(signature = (job, data, policy, known, ordinal))]
pub(crate) fn encode_features<'py>(
    py: Python<'py>,
    job: &Job,
    data: &Input,
    policy: Option<&PolicyValue>,
    known: Vec<Known>,
    ordinal: bool,
) -> PyResult<Bound<'py, PyByteArray>> {
    let known = known.into_iter().map(known_column).collect::<PyResult<_>>()?;
    let (data, options) = (data.take(), options(policy, ordinal));
    let features = run(py, job, Makes::Nothing, move |session, observer| {
        session.encode_features(&EncodeFeatures { input: data.read(observer)?, known, options })
    })?;
    PyByteArray::new_with(py, features.len() * size_of::<f64>(), |bytes| {
        let cells = bytes.chunks_exact_mut(size_of::<f64>());
        cells.zip(&features).for_each(|(cell, feature)| cell.copy_from_slice(&feature.to_ne_bytes()));
        Ok(())
    })
}

/// Name of a column, its distinct texts, and the index of the text of each record as 32-bit integers.
type Texts<'py> = (String, Vec<String>, Bound<'py, PyByteArray>);

fn by_record(py: Python<'_>, columns: Vec<TextColumn>) -> PyResult<Vec<Texts<'_>>> {
    let bytes = |codes: &[u32]| {
        PyByteArray::new_with(py, size_of_val(codes), |bytes| {
            let cells = bytes.chunks_exact_mut(size_of::<u32>());
            cells.zip(codes).for_each(|(cell, code)| cell.copy_from_slice(&code.to_ne_bytes()));
            Ok(())
        })
    };
    columns.into_iter().map(|column| Ok((column.name, column.texts, bytes(&column.codes)?))).collect()
}

/// Labels that a global recoding gives to records, which are not released.
#[pyfunction]
pub(crate) fn relabel<'py>(py: Python<'py>, job: &Job, data: &Input, recoding: String) -> PyResult<Vec<Texts<'py>>> {
    let data = data.take();
    let relabel =
        move |session: &Session<'_>, observer: &dyn Observer| session.relabel(&recoding, &data.read(observer)?);
    by_record(py, run(py, job, Makes::Nothing, relabel)?)
}

/// Texts of some columns of a table.
#[pyfunction]
pub(crate) fn texts<'py>(py: Python<'py>, job: &Job, data: &Input, columns: Vec<String>) -> PyResult<Vec<Texts<'py>>> {
    let data = data.take();
    let read = move |session: &Session<'_>, observer: &dyn Observer| session.texts(&data.read(observer)?, &columns);
    by_record(py, run(py, job, Makes::Nothing, read)?)
}

/// Cells of a column: all numbers, or all texts.
#[derive(FromPyObject)]
pub(crate) enum Cells {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

/// Makes a table of columns of equal length: for arrays, which have no names and no Arrow interface.
#[pyfunction]
pub(crate) fn table_of_columns(py: Python<'_>, names: Vec<String>, columns: Vec<Cells>) -> PyResult<Table> {
    let array = |cells: Cells| -> ArrayRef {
        match cells {
            Cells::Numbers(numbers) => Arc::new(Float64Array::from(numbers)),
            Cells::Texts(texts) => Arc::new(StringArray::from(texts)),
        }
    };
    let batch = RecordBatch::try_from_iter(names.into_iter().zip(columns.into_iter().map(array)));
    let batch = batch.map_err(|_| PyValueError::new_err("the columns are none, or of different lengths"))?;
    let table = MemoryTable::new("the table", &batch.schema(), vec![batch.clone()]);
    table.map(Table).map_err(|error| to_python(py, &FlowError::from(error)))
}
