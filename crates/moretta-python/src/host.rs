//! Tables of other engines (Spark, DuckDB): each pass is a call of a Python object, which runs a statement of SQL.
//!
//! Guarantee: order and checks of a release are those of moretta-flow, because a [`HostTable`] is an engine of the core
//! like the local one. A release is published by the object only after it was read back.
//!
//! The object has `name` and `columns` and the methods `count(columns)` (an `Input`: distinct values and number of
//! records), `sizes(sets)` (for each set of columns, pairs of size and number of groups), `first(records)` (an `Input`) and `rewrite(plan)`,
//! which returns an object of the same kind for what was written, with `publish()` and `discard()`. All run on the
//! thread of the caller. An exception of the object ends the request, and the caller gets it.

use std::sync::{Arc, Mutex, PoisonError};

use moretta_core::{
    counts::{Counts, Rewrite},
    engine::{Engine, EngineFault, FaultKind, ReadBackProof, Records, Sample, Staged},
    group_sizes::GroupSizes,
    observer::Observer,
};
use moretta_engine::{CountedRows, EngineOptions, LocalEngine, MemoryTable, Source, SqlPlan};
use moretta_flow::{ErrorKind, FlowError};
use pyo3::prelude::*;

use crate::{
    data::{Input, Table, Taken},
    job::{CallPython, Job, Makes, run_calling},
    policy::PolicyValue,
    release::{Arguments, Made, Report, SearchArguments},
};

/// The second pass of a release as tables to join with; `moretta-engine/src/sql_plan.rs` describes them.
#[pyclass(frozen, module = "moretta._native", get_all)]
pub(crate) struct Plan {
    key: Vec<String>,
    rewritten: Vec<String>,
    dropped: Vec<String>,
    rows: Py<Table>,
    splits: Py<Table>,
    shares: Py<Table>,
    groups: Py<Table>,
    secret: String,
}

impl Plan {
    fn new(py: Python<'_>, plan: SqlPlan) -> PyResult<Self> {
        let table = |table: MemoryTable| Py::new(py, Table(table));
        let SqlPlan { key, rewritten, dropped, rows, splits, shares, groups, secret } = plan;
        let (rows, splits, shares, groups) = (table(rows)?, table(splits)?, table(shares)?, table(groups)?);
        Ok(Self { key, rewritten, dropped, rows, splits, shares, groups, secret })
    }
}

/// A table of another engine.
struct HostTable<'a> {
    caller: &'a dyn CallPython,
    object: Arc<Py<PyAny>>,
    name: String,
    columns: Vec<String>,
    options: EngineOptions,
    /// Results of `count`; one of them has the key of the rewrite.
    counted: Mutex<Vec<CountedRows>>,
}

/// Result of Python code that is called with an object.
fn call<R: Send + 'static>(
    caller: &dyn CallPython,
    object: &Arc<Py<PyAny>>,
    work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R> + Send + 'static,
) -> Result<R, EngineFault> {
    if caller.stop().is_some() {
        return Err(EngineFault::Cancelled);
    }
    let object = Arc::clone(object);
    caller.call(move |py| work(object.bind(py))).ok_or(EngineFault::Cancelled)
}

fn fault(error: FlowError) -> EngineFault {
    match error.kind {
        ErrorKind::Interrupted => EngineFault::Cancelled,
        _ => EngineFault::Failed { kind: FaultKind::Source, place: error.place.clone(), error: Box::new(error) },
    }
}

impl<'a> HostTable<'a> {
    fn new(caller: &'a dyn CallPython, object: Arc<Py<PyAny>>, options: EngineOptions) -> Result<Self, EngineFault> {
        let (name, columns) = call(caller, &object, |object| {
            Ok((object.getattr("name")?.extract()?, object.getattr("columns")?.extract()?))
        })?;
        Ok(Self { caller, object, name, columns, options, counted: Mutex::default() })
    }

    /// The table that a method returns.
    fn table(
        &self,
        ask: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> + Send + 'static,
    ) -> Result<MemoryTable, EngineFault> {
        let taken: Taken = call(self.caller, &self.object, |object| Ok(ask(object)?.cast::<Input>()?.get().take()))?;
        taken.table(self.caller).map_err(fault)
    }
}

impl Records for HostTable<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn count(&self, columns: &[String], observer: &dyn Observer) -> Result<Counts, EngineFault> {
        let names = columns.to_vec();
        let table = self.table(move |object| object.call_method1("count", (names,)))?.renamed(&self.name);
        let (rows, counts) = CountedRows::read(&table, columns, self.options.clone(), observer)?;
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
        Ok(counts)
    }

    fn group_sizes(&self, sets: &[Vec<String>], _observer: &dyn Observer) -> Result<Vec<GroupSizes>, EngineFault> {
        if sets.is_empty() {
            return Ok(Vec::new());
        }
        let names = sets.to_vec();
        let ask = move |object: &Bound<'_, PyAny>| object.call_method1("sizes", (names,))?.extract();
        let pairs: Vec<Vec<(u64, u64)>> = call(self.caller, &self.object, ask)?;
        if pairs.len() != sets.len() {
            return Err(EngineFault::failed("there are not as many lists of sizes as sets of columns"));
        }
        Ok(pairs.into_iter().map(GroupSizes::of_pairs).collect())
    }

    fn sample(&self, records: usize) -> Result<Sample, EngineFault> {
        let table = self.table(move |object| object.call_method1("first", (records,)))?;
        let sample = LocalEngine::new(Source::of_table(table)).first_records(records)?;
        Ok(Sample { columns: self.columns.clone(), rows: sample.rows })
    }
}

impl<'a> Engine for HostTable<'a> {
    type Target = ();
    type Staged = HostStaged<'a>;

    fn keeps_order(&self) -> bool {
        false
    }

    fn rewrite(
        &self,
        rewrite: &Rewrite,
        _target: &(),
        _observer: &dyn Observer,
    ) -> Result<HostStaged<'a>, EngineFault> {
        let counted = std::mem::take(&mut *self.counted.lock().unwrap_or_else(PoisonError::into_inner));
        let of_key = counted.iter().find(|rows| rows.has_key_of(rewrite));
        let Some(of_key) = of_key else { return Err(EngineFault::failed("the key of the rewrite was not counted")) };
        let plan = SqlPlan::of(rewrite, of_key)?;
        drop(counted);
        let written = call(self.caller, &self.object, |object| {
            Ok(object.call_method1("rewrite", (Plan::new(object.py(), plan)?,))?.unbind())
        });
        let object = Arc::new(written?);
        Ok(HostStaged { caller: self.caller, object, options: self.options.clone(), published: false })
    }
}

/// What an object wrote.
struct HostStaged<'a> {
    caller: &'a dyn CallPython,
    object: Arc<Py<PyAny>>,
    options: EngineOptions,
    published: bool,
}

impl Staged for HostStaged<'_> {
    fn open(&self) -> Result<Box<dyn Records + '_>, EngineFault> {
        Ok(Box::new(HostTable::new(self.caller, Arc::clone(&self.object), self.options.clone())?))
    }

    fn publish(mut self, _proof: ReadBackProof) -> Result<(), EngineFault> {
        call(self.caller, &self.object, |object| object.call_method0("publish").map(drop))?;
        self.published = true;
        Ok(())
    }
}

impl Drop for HostStaged<'_> {
    fn drop(&mut self) {
        if !self.published {
            let object = Arc::clone(&self.object);
            self.caller.call(move |py| object.bind(py).call_method0("discard").map(drop));
        }
    }
}

/// Makes a release of a table of another engine.
#[pyfunction]
pub(crate) fn anonymize_table(
    py: Python<'_>,
    job: &Job,
    table: Py<PyAny>,
    policy: &PolicyValue,
    arguments: Arguments,
    search: SearchArguments,
) -> PyResult<Made> {
    let (policy, options, engine_options) = (policy.source(), search.options(&arguments)?, job.engine_options());
    let (report, recoding) = run_calling(py, job, Makes::Files, move |session, caller| {
        let engine = HostTable::new(caller, Arc::new(table), engine_options)?;
        let loaded = session.policy_for_records(&policy, &engine, false)?;
        let release = session.release(&engine, &loaded, &(), &options)?;
        Ok((release.report, release.recoding.map(|recoding| recoding.to_json())))
    })?;
    Ok(Made { table: None, report: Py::new(py, Report(report))?, recoding })
}

/// Applies a recoding to a table of another engine.
#[pyfunction]
pub(crate) fn apply_to_table(
    py: Python<'_>,
    job: &Job,
    table: Py<PyAny>,
    recoding: String,
    arguments: Arguments,
) -> PyResult<Made> {
    let (options, engine_options) = (arguments.options()?, job.engine_options());
    let report = run_calling(py, job, Makes::Files, move |session, caller| {
        let engine = HostTable::new(caller, Arc::new(table), engine_options)?;
        session.apply_to(&engine, &recoding, &(), &options)
    })?;
    Ok(Made { table: None, report: Py::new(py, Report(report))?, recoding: None })
}

/// Verdicts of all models on a table of another engine, as JSON.
#[pyfunction]
pub(crate) fn check_table(py: Python<'_>, job: &Job, table: Py<PyAny>, policy: &PolicyValue) -> PyResult<String> {
    let (policy, engine_options) = (policy.source(), job.engine_options());
    run_calling(py, job, Makes::Files, move |session, caller| {
        let released = HostTable::new(caller, Arc::new(table), engine_options)?;
        let loaded = session.policy_for_records(&policy, &released, true)?;
        Ok(moretta::json::check(&session.check_records(&released, &loaded)?))
    })
}
