//! Tables in and out, by the Arrow C stream interface (PyCapsules): pyarrow is not needed.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
};

use arrow_array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
};
use arrow_pyarrow::FromPyArrow;
use moretta_core::observer::Observer;
use moretta_engine::MemoryTable;
use moretta_flow::FlowError;
use moretta_synthetic::{People, Person};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyCapsule,
};

use crate::error::to_python;

/// Records in memory: a release, or people of the demo.
#[pyclass(frozen, module = "moretta._native")]
pub(crate) struct Table(pub(crate) MemoryTable);

#[pymethods]
impl Table {
    /// The records as a stream of the Arrow C data interface. Types are not converted.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches: Vec<RecordBatch> = self.0.batches().to_vec();
        let schema = batches.first().map_or_else(|| self.0.schema().clone(), RecordBatch::schema);
        let reader = RecordBatchIterator::new(batches.into_iter().map(Ok), schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Number of records.
    fn __len__(&self) -> usize {
        self.0.records() as usize
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }
}

/// Where the records of an input are.
enum Records {
    Path(String),
    Table(MemoryTable),
    Stream(RecordBatchStreamReader),
    Batch(RecordBatch),
}

/// Table that a request reads: a path, or an object with an Arrow stream, which can be read once.
#[pyclass(frozen, module = "moretta._native")]
pub(crate) struct Input {
    name: String,
    records: Mutex<Option<Records>>,
}

#[pymethods]
impl Input {
    /// `name` is the name of a table in memory in messages.
    #[new]
    fn new(data: &Bound<'_, PyAny>, name: String) -> PyResult<Self> {
        let records = if let Ok(table) = data.cast::<Table>() {
            Records::Table(table.get().0.renamed(&name))
        } else if data.hasattr("__arrow_c_stream__")? {
            Records::Stream(RecordBatchStreamReader::from_pyarrow_bound(data)?)
        } else if data.hasattr("__arrow_c_array__")? {
            Records::Batch(RecordBatch::from_pyarrow_bound(data)?)
        } else if let Ok(path) = data.extract::<PathBuf>() {
            let path = path.into_os_string().into_string();
            Records::Path(path.map_err(|_| PyValueError::new_err("the path is not valid Unicode"))?)
        } else {
            return Err(PyTypeError::new_err(format!("{} is no table", data.get_type().name()?)));
        };
        Ok(Self { name, records: Mutex::new(Some(records)) })
    }
}

impl Input {
    /// Takes the records, for one request.
    pub(crate) fn take(&self) -> Taken {
        let records = self.records.lock().map(|mut records| records.take()).unwrap_or_default();
        Taken { name: self.name.clone(), records }
    }
}

/// Records of an input that are not read yet: a stream is read on the thread of the request.
pub(crate) struct Taken {
    name: String,
    records: Option<Records>,
}

impl Taken {
    /// The records in memory; a path is an error.
    pub(crate) fn table(self, observer: &dyn Observer) -> Result<MemoryTable, FlowError> {
        match self.read(observer)? {
            moretta_flow::Input::Memory(table) => Ok(table),
            moretta_flow::Input::Named(name) => Err(FlowError::input(name, "a path is no table in memory")),
        }
    }

    pub(crate) fn read(self, observer: &dyn Observer) -> Result<moretta_flow::Input, FlowError> {
        let table = |schema: &_, batches| MemoryTable::new(&self.name, schema, batches);
        Ok(match self.records {
            Some(Records::Path(path)) => path.into(),
            Some(Records::Table(table)) => table.into(),
            Some(Records::Batch(batch)) => table(&batch.schema(), vec![batch.clone()])?.into(),
            Some(Records::Stream(stream)) => {
                let (schema, mut batches) = (stream.schema(), Vec::new());
                for batch in stream {
                    if observer.stop().is_some() {
                        return Err(FlowError::interrupted());
                    }
                    // The text of the error is not shown: it may have values of any record.
                    let failed = "its source failed while it was read; read it with its own library to see why";
                    batches.push(batch.map_err(|_| FlowError::input(&self.name, failed))?);
                }
                table(&schema, batches)?.into()
            }
            None => return Err(FlowError::input(&self.name, "it was read already")),
        })
    }
}

/// Texts of hierarchies by column.
type Texts = Vec<(String, String)>;

/// Synthetic people, a policy for them, and the texts of its hierarchies by column.
#[pyfunction]
pub(crate) fn demo(py: Python<'_>, people: u64, seed: u64) -> PyResult<(Table, String, Texts)> {
    let table = py.detach(|| {
        let population = People::new(seed);
        let everyone: Vec<Person> = (0..people).map(|index| population.person(index)).collect();
        let texts = |text: &dyn Fn(&Person) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(everyone.iter().map(text)))
        };
        let numbers = |number: &dyn Fn(&Person) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(everyone.iter().map(number)))
        };
        let columns = [
            texts(&Person::name),
            numbers(&|person| person.age().into()),
            texts(&|person| person.sex().to_owned()),
            texts(&|person| format!("{:05}", person.postcode())),
            texts(&|person| person.education().to_owned()),
            texts(&|person| person.occupation().to_owned()),
            texts(&|person| person.marital_status().to_owned()),
            numbers(&|person| person.income().into()),
            texts(&|person| person.diagnosis().to_owned()),
            texts(&|person| person.insured().to_owned()),
        ];
        let batch = RecordBatch::try_from_iter(moretta_synthetic::COLUMNS.into_iter().zip(columns));
        let batch = batch.map_err(|error| FlowError::input("the demo", error))?;
        Ok(MemoryTable::new("the demo", &batch.schema(), vec![batch.clone()])?)
    });
    let hierarchies = moretta_synthetic::COLUMNS.into_iter();
    let hierarchies = hierarchies.filter_map(|column| Some((column.to_owned(), moretta_synthetic::hierarchy(column)?)));
    let table = table.map_err(|error: FlowError| to_python(py, &error))?;
    Ok((Table(table), moretta_synthetic::demo_policy().to_owned(), hierarchies.collect()))
}
