//! Searches again with a larger k, for models that a search cannot judge: those of the table as a whole, and models that
//! are not closed under union if several groups of the search have the same labels and are one group of the release.
//!
//! Larger groups make such models hold in the end, because all records in one group satisfy them (or nothing does). The
//! smallest k that suffices is found by doubling and bisection; a heuristic search need not be monotone in k, so it is
//! the smallest of those that were tried. Cost: about `2 log2(k)` searches.

use super::{Outcome, TrialError};
use crate::{
    observer::{Note, Observer},
    policy::BoundPolicy,
    privacy::{GroupSizes, KAnonymity, PrivacyModel, only_k},
    recoding::Recoding,
    search::{Method, SearchError, Task},
    verify::{VerifyError, verify},
};

/// Bisection ends when the range is at most this part of its lower end: the last steps cost a search each and gain little.
const PRECISION: u64 = 16;

/// `first` is the result without a larger k.
pub(super) fn search(
    bound: &BoundPolicy<'_>,
    method: &dyn Method,
    task: &Task<'_>,
    first: Outcome,
    observer: &dyn Observer,
) -> Result<Outcome, TrialError> {
    if holds(bound, &first.recoding)? {
        return Ok(first);
    }
    check_whole_table(bound)?;
    let records = bound.profile().records();
    let asked = task.models.iter().filter_map(|model| only_k(&**model, task.profile)).max().unwrap_or(1);
    let (mut failing, mut found) = (asked, None);
    while found.is_none() && failing < records && observer.stop().is_none() {
        let k = failing.saturating_mul(2).min(records);
        match with_k(bound, method, task, k, observer)? {
            Some(outcome) => found = Some((k, outcome)),
            None => failing = k,
        }
    }
    // A search that was stopped may not hold: verification refuses it.
    let Some((mut k, mut outcome)) = found else { return Ok(first) };
    while k - failing > (failing / PRECISION).max(1) && observer.stop().is_none() {
        let middle = failing + (k - failing) / 2;
        match with_k(bound, method, task, middle, observer)? {
            Some(better) => (k, outcome) = (middle, better),
            None => failing = middle,
        }
    }
    observer.note(&Note::RaisedK(k));
    outcome.work.push(("raised_k", k));
    Ok(outcome)
}

/// The result with groups of at least `k` records, if it satisfies every model.
fn with_k(
    bound: &BoundPolicy<'_>,
    method: &dyn Method,
    task: &Task<'_>,
    k: u64,
    observer: &dyn Observer,
) -> Result<Option<Outcome>, TrialError> {
    let mut models = bound.policy().privacy.bind(&bound.tables())?;
    models.extend(KAnonymity { k }.bind(&bound.tables())?);
    let outcome = method.run(&Task { models: &models.of_groups, ..*task }, observer)?;
    Ok(holds(bound, &outcome.recoding)?.then_some(outcome))
}

fn holds(bound: &BoundPolicy<'_>, recoding: &Recoding) -> Result<bool, TrialError> {
    match verify(bound, recoding.clone()) {
        Ok(_) => Ok(true),
        Err(VerifyError::Broken(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// An error if a model of the table is violated even by all records in one group.
fn check_whole_table(bound: &BoundPolicy<'_>) -> Result<(), SearchError> {
    let records = bound.profile().records();
    let whole = GroupSizes::of([records].into_iter());
    let broken = bound.table_models().iter().filter(|model| model.margin(&whole) < 0.0);
    let proven = broken.clone().any(|model| model.is_closed_under_union());
    let broken: Vec<_> = broken.map(|model| (model.describe().to_string(), model.figure(&whole).words)).collect();
    if broken.is_empty() { Ok(()) } else { Err(SearchError::Impossible { broken, records, proven }) }
}
