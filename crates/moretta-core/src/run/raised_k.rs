//! Repeats a search with a larger k, for models that the search itself cannot judge:
//!
//! - models of the table as a whole;
//! - models that are not closed under union: groups of the search that get the same labels are one group of the
//!   release.
//!
//! k is doubled until all models hold, then bisected:
//!
//! ```text
//! policy k = 5 fails;  double:  10 fails, 20 fails, 40 holds
//!                      bisect:  30 holds, 25 fails, 27 fails, 28 fails, 29 fails;  result: k = 30
//! ```
//!
//! The result is the smallest k tried that holds; a smaller one may exist, because a heuristic search need not be
//! monotone in k. If a model of the table is closed under union and all records in one group violate it, no release can
//! satisfy it, and the search ends with an error. Cost: about `2 log2(k)` searches.

use super::{Outcome, RunError};
use crate::{
    group_sizes::GroupSizes,
    observer::{Note, Observer, Stop},
    policy::BoundPolicy,
    privacy::{KAnonymity, PrivacyModel, only_k},
    recoding::Recoding,
    schema::Unit,
    search::{Method, SearchError, Task},
    verify::{VerifyError, verify},
};

/// Bisection stops when the range is at most 1/16 of its lower end: each further step costs a search and gains little.
/// Not tuned.
const PRECISION: u64 = 16;

/// Returns `first`, the result for the policy's own k, if it satisfies every model.
pub(super) fn search(
    bound: &BoundPolicy<'_>,
    method: &dyn Method,
    task: &Task<'_>,
    first: Outcome,
    observer: &dyn Observer,
) -> Result<Outcome, RunError> {
    if holds(bound, &first.recoding)? {
        return Ok(first);
    }
    check_whole_table(bound)?;
    let size = bound.profile().size();
    let policy_k = match bound.profile().unit() {
        Unit::Records => task.models.iter().filter_map(|model| only_k(&**model, task.profile)).max(),
        Unit::Persons => bound.policy().privacy.k(),
    };
    let policy_k = policy_k.unwrap_or(1);
    let mut failing_k = policy_k;
    let mut found = None;
    while found.is_none() && failing_k < size && observer.stop().is_none() {
        let k = failing_k.saturating_mul(2).min(size);
        match with_k(bound, method, task, k, observer)? {
            Some(outcome) => found = Some((k, outcome)),
            None => failing_k = k,
        }
    }
    // No k holds, or the search was stopped: returns the first result, which the caller's verification refuses.
    let Some((mut k, mut outcome)) = found else { return Ok(stopped(first, observer)) };
    while k - failing_k > (failing_k / PRECISION).max(1) && observer.stop().is_none() {
        let middle = failing_k + (k - failing_k) / 2;
        match with_k(bound, method, task, middle, observer)? {
            // A stopped search returns a partial result: the complete one with a larger k is better.
            Some(partial) if partial.stop != Stop::Finished => break,
            Some(better) => (k, outcome) = (middle, better),
            None => failing_k = middle,
        }
    }
    observer.note(&Note::RaisedK(k, bound.profile().unit()));
    outcome.work.push(("raised_k", k));
    Ok(stopped(outcome, observer))
}

/// Marks the outcome as stopped if the observer stopped between two searches.
fn stopped(outcome: Outcome, observer: &dyn Observer) -> Outcome {
    let stop = observer.stop().unwrap_or(outcome.stop);
    Outcome { stop, ..outcome }
}

/// Searches with groups of at least `k` records or persons; `None` if the result violates a model.
fn with_k(
    bound: &BoundPolicy<'_>,
    method: &dyn Method,
    task: &Task<'_>,
    k: u64,
    observer: &dyn Observer,
) -> Result<Option<Outcome>, RunError> {
    let mut models = bound.policy().privacy.bind(&bound.tables())?;
    models.extend(KAnonymity { k }.bind(&bound.tables())?);
    let outcome = method.run(&Task { models: &models.of_groups, ..*task }, observer)?;
    Ok(holds(bound, &outcome.recoding)?.then_some(outcome))
}

fn holds(bound: &BoundPolicy<'_>, recoding: &Recoding) -> Result<bool, RunError> {
    match verify(bound, recoding.clone()) {
        Ok(_) => Ok(true),
        Err(VerifyError::Broken(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns an error if all records in one group violate a model that is closed under union: then every release violates
/// it. (A model that is not closed may hold in smaller groups.)
fn check_whole_table(bound: &BoundPolicy<'_>) -> Result<(), SearchError> {
    let records = bound.profile().records();
    let whole = GroupSizes::of([bound.profile().size()]);
    let closed = bound.table_models().iter().filter(|model| model.is_closed_under_union());
    let broken = closed.filter(|model| model.margin(&whole) < 0.0);
    let broken: Vec<_> = broken.map(|model| (model.describe().to_string(), model.figure(&whole).text)).collect();
    if broken.is_empty() { Ok(()) } else { Err(SearchError::Impossible { broken, records, proven: true }) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        measure::{MeasureContext, Measures},
        observer::NoObserver,
        run,
        testing::{After, TestTable, models::AverageRisk},
    };

    /// Wherever the search is stopped, the outcome reports it, and a partial result never replaces a complete one.
    #[test]
    fn a_stop_is_reported_and_keeps_the_best_result() {
        let rows: Vec<String> = (0..60).map(|n| format!("{},{}", n * 7 % 40, n * n % 9)).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let columns = "columns.a.role = \"quasi-identifier\"\ncolumns.b.role = \"quasi-identifier\"\n";
        for method in ["mondrian", "bottom-up-generalization", "sweep"] {
            let mut table = TestTable::new(&format!("privacy.k = 2\n{columns}method.name = \"{method}\""), &[], &rows);
            table.policy.privacy.models.push(Arc::new(AverageRisk { max_risk: 0.1 }));
            let bound = BoundPolicy::new(&table.policy, &table.profile).unwrap();
            let loss = |outcome: Outcome| {
                let verified = verify(&bound, outcome.recoding).ok()?;
                Measures::of(&MeasureContext::of_recoding(&table.policy, &table.profile, verified.released()))
                    .get("ncp")
            };
            let whole = loss(run::search(&bound, 1, &NoObserver).unwrap()).unwrap();
            let mut found = 0;
            for checks in 0..400 {
                let observer = After::asked(checks);
                let outcome = run::search(&bound, 1, &observer).unwrap();
                assert_eq!(outcome.stop != Stop::Finished, observer.stopped(), "{method}, {checks}");
                let raised = outcome.work.iter().any(|(name, _)| *name == "raised_k");
                found += u32::from(raised && observer.stopped());
                let loss = loss(outcome);
                assert!(!raised || loss.is_some(), "{method}, {checks}: it must hold");
                assert!(observer.stopped() || loss == Some(whole), "{method}, {checks}");
            }
            assert!(found > 0 || method != "mondrian", "no stop within the bisection");
        }
    }
}
