//! Requests that return figures: as JSON for programs, and as documents.

use std::path::PathBuf;

use moretta_flow::{
    Check, Compare, Evaluate, FindBound, FindRisks, FindTradeOff, Inferences, LinkReleases, Measure, OutputFile,
    Queries, SplitOptions,
};
use moretta_insight::{
    comparison::Comparison, evaluate::queries::Queries as Answered, inferences::Listing, risks::Risks,
    tradeoff::TradeOff,
};
use pyo3::{exceptions::PyValueError, prelude::*};

use crate::{
    data::Input,
    job::{Job, Makes, run},
    policy::PolicyValue,
    release::time_limit,
};

/// A result in several forms.
enum Found {
    TradeOff(Box<TradeOff>),
    Comparison(Box<Comparison>, Box<moretta_core::policy::Policy>),
    Listing(Box<Listing>),
    Queries(Box<Answered>),
    Risks(Box<Risks>),
}

/// A result that can be written as JSON and as other documents.
#[pyclass(frozen, module = "moretta._native")]
pub(crate) struct Document(Found);

#[pymethods]
impl Document {
    /// The result in a form: "json", or "csv", "svg" or "html" where the command line has it.
    fn render(&self, py: Python<'_>, form: &str, title: &str) -> PyResult<String> {
        let text = py.detach(|| match (&self.0, form) {
            (Found::TradeOff(found), "json") => Some(moretta::json::of(found)),
            (Found::TradeOff(found), "csv") => Some(moretta_pages::tradeoff::csv(found)),
            (Found::TradeOff(found), "svg") => Some(moretta_pages::tradeoff::svg(found, title)),
            (Found::TradeOff(found), "html") => Some(moretta_pages::tradeoff::page(found, title)),
            (Found::Comparison(found, _), "json") => Some(moretta::json::of(found)),
            (Found::Comparison(found, _), "csv") => Some(moretta_pages::comparison::csv(found)),
            (Found::Comparison(found, _), "svg") => moretta_pages::comparison::svg(found),
            (Found::Comparison(found, policy), "html") => Some(moretta_pages::comparison::page(found, policy, title)),
            (Found::Listing(found), "json") => Some(moretta_pages::inferences::json(found)),
            (Found::Listing(found), "csv") => Some(moretta_pages::inferences::csv(found)),
            (Found::Queries(found), "json") => Some(moretta_pages::queries::json(found)),
            (Found::Queries(found), "csv") => Some(moretta_pages::queries::csv(found)),
            (Found::Queries(found), "svg") => Some(moretta_pages::queries::svg(found)),
            (Found::Risks(found), "json") => Some(moretta::json::of(found)),
            (Found::Risks(found), "html") => Some(moretta_pages::risks::page(found)),
            _ => None,
        });
        text.ok_or_else(|| PyValueError::new_err("this result has no such form"))
    }
}

/// Verdicts of all models on a release, as JSON.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, job: &Job, released: &Input, policy: &PolicyValue) -> PyResult<String> {
    let (released, policy) = (released.take(), policy.source());
    run(py, job, Makes::Nothing, move |session, observer| {
        let checked = session.check(&Check { released: released.read(observer)?, policy })?;
        Ok(moretta::json::check(&checked))
    })
}

/// Information loss of a release, as JSON.
#[pyfunction]
pub(crate) fn measure(
    py: Python<'_>,
    job: &Job,
    original: &Input,
    released: &Input,
    policy: &PolicyValue,
) -> PyResult<String> {
    let (original, released, policy) = (original.take(), released.take(), policy.source());
    run(py, job, Makes::Nothing, move |session, observer| {
        let (original, released) = (original.read(observer)?, released.read(observer)?);
        Ok(moretta::json::measured(&session.measure(&Measure { original, released, policy })?))
    })
}

/// Options of queries. From a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct QueryArguments {
    queries: Option<PathBuf>,
    count: u32,
    columns: Option<usize>,
    sum: Option<String>,
    seed: u64,
}

/// Compares answers of a release with those of its original.
#[pyfunction]
pub(crate) fn queries(
    py: Python<'_>,
    job: &Job,
    original: &Input,
    released: &Input,
    policy: &PolicyValue,
    arguments: QueryArguments,
) -> PyResult<Document> {
    let (original, released, policy) = (original.take(), released.take(), policy.source());
    let QueryArguments { queries, count, columns, sum, seed } = arguments;
    run(py, job, Makes::Nothing, move |session, observer| {
        let (original, released) = (original.read(observer)?, released.read(observer)?);
        let output = OutputFile::default();
        let request = Queries { original, released, policy, queries, count, columns, sum, seed, output };
        Ok(Document(Found::Queries(Box::new(session.queries(&request)?))))
    })
}

/// Lists inferences of an attacker.
#[pyfunction]
#[pyo3(signature = (job, data, policy, above, max_listed))]
pub(crate) fn inferences(
    py: Python<'_>,
    job: &Job,
    data: &Input,
    policy: &PolicyValue,
    above: f64,
    max_listed: Option<usize>,
) -> PyResult<Document> {
    if !(0.0..1.0).contains(&above) {
        return Err(PyValueError::new_err("above must be a share from 0 to below 1"));
    }
    let (data, policy) = (data.take(), policy.source());
    run(py, job, Makes::Nothing, move |session, observer| {
        let (input, output) = (data.read(observer)?, OutputFile::default());
        let listing = session.inferences(&Inferences { input, policy, above, max_listed, output })?;
        Ok(Document(Found::Listing(Box::new(listing))))
    })
}

/// Finds the trade-off between privacy and loss.
#[pyfunction]
pub(crate) fn frontier(py: Python<'_>, job: &Job, data: &Input, policy: &PolicyValue, seed: u64) -> PyResult<Document> {
    let (data, policy) = (data.take(), policy.source());
    run(py, job, Makes::Nothing, move |session, observer| {
        let (input, output) = (data.read(observer)?, OutputFile::default());
        let found = session.find_trade_off(&FindTradeOff { input, policy, seed, output })?;
        Ok(Document(Found::TradeOff(Box::new(found))))
    })
}

/// Counts the records that columns and small sets of columns single out.
#[pyfunction]
pub(crate) fn risks(py: Python<'_>, job: &Job, data: &Input, columns: Vec<String>, most: usize) -> PyResult<Document> {
    if most == 0 {
        return Err(PyValueError::new_err("most must be at least 1"));
    }
    let data = data.take();
    run(py, job, Makes::Nothing, move |session, observer| {
        let (input, output) = (data.read(observer)?, OutputFile::default());
        Ok(Document(Found::Risks(Box::new(session.risks(&FindRisks { input, columns, most, output })?))))
    })
}

/// Counts what several releases of one table disclose together, as JSON.
#[pyfunction]
#[pyo3(signature = (job, releases, policy, original))]
pub(crate) fn linkage(
    py: Python<'_>,
    job: &Job,
    releases: Vec<Py<Input>>,
    policy: &PolicyValue,
    original: Option<&Input>,
) -> PyResult<String> {
    let releases: Vec<_> = releases.iter().map(|release| release.get().take()).collect();
    let (policy, original) = (policy.source(), original.map(Input::take));
    run(py, job, Makes::Nothing, move |session, observer| {
        let releases = releases.into_iter().map(|release| release.read(observer)).collect::<Result<_, _>>()?;
        let original = original.map(|original| original.read(observer)).transpose()?;
        Ok(moretta::json::of(&session.linkage(&LinkReleases { releases, policy, original })?))
    })
}

/// Proves a lower bound on the loss of any release, as JSON.
#[pyfunction]
#[pyo3(signature = (job, data, policy, released, limit))]
pub(crate) fn bound(
    py: Python<'_>,
    job: &Job,
    data: &Input,
    policy: &PolicyValue,
    released: Option<&Input>,
    limit: Option<&str>,
) -> PyResult<String> {
    let (data, policy, released) = (data.take(), policy.source(), released.map(Input::take));
    let time_limit = time_limit(limit)?;
    run(py, job, Makes::Nothing, move |session, observer| {
        let input = data.read(observer)?;
        let released = released.map(|released| released.read(observer)).transpose()?;
        Ok(moretta::json::of(&session.find_bound(&FindBound { input, policy, released, time_limit })?))
    })
}

/// Options of tests by a classifier. From a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TestArguments {
    test: Option<Py<Input>>,
    folds: Option<u16>,
    hold_out: Option<f64>,
    time_limit: Option<String>,
}

impl TestArguments {
    fn split_options(&self) -> PyResult<SplitOptions> {
        if self.hold_out.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
            return Err(PyValueError::new_err("hold_out must be a share between 0 and 1"));
        }
        Ok(SplitOptions { folds: self.folds, hold_out: self.hold_out })
    }
}

/// Trains a classifier on a release and tests it on held-out records, as JSON.
#[pyfunction]
#[pyo3(signature = (job, data, policy, seed, arguments))]
pub(crate) fn evaluate(
    py: Python<'_>,
    job: &Job,
    data: &Input,
    policy: &PolicyValue,
    seed: Option<u64>,
    arguments: TestArguments,
) -> PyResult<String> {
    let (data, policy, split_options) = (data.take(), policy.source(), arguments.split_options()?);
    let time_limit = time_limit(arguments.time_limit.as_deref())?;
    let test = arguments.test.map(|test| test.get().take());
    run(py, job, Makes::Nothing, move |session, observer| {
        let input = data.read(observer)?;
        let test = test.map(|test| test.read(observer)).transpose()?;
        let request = Evaluate { input, policy, test, split_options, seed, time_limit };
        Ok(moretta::json::evaluation(session.evaluate(&request)?.as_ref()))
    })
}

/// Methods and values of k to compare. From a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CompareArguments {
    methods: Vec<String>,
    k: Vec<u64>,
    queries: u32,
    seed: u64,
}

/// Compares methods for several k, in this process: there is no figure of memory.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    job: &Job,
    data: &Input,
    policy: &PolicyValue,
    arguments: CompareArguments,
    tests: TestArguments,
) -> PyResult<Document> {
    let CompareArguments { methods, k, queries, seed } = arguments;
    let (split_options, time_limit) = (tests.split_options()?, time_limit(tests.time_limit.as_deref())?);
    let (data, policy, test) = (data.take(), policy.source(), tests.test.map(|test| test.get().take()));
    run(py, job, Makes::Nothing, move |session, observer| {
        let input = data.read(observer)?;
        let test = test.map(|test| test.read(observer)).transpose()?;
        let loaded = session.policy_for(&policy, &input)?;
        let output = OutputFile::default();
        let request = Compare { input, policy, methods, k, test, split_options, queries, seed, time_limit, output };
        Ok(Document(Found::Comparison(Box::new(session.compare(&request)?), Box::new(loaded.policy))))
    })
}
