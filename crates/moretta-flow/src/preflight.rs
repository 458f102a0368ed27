//! Pre-flight checks: what must hold before a search, each check once and in one order for every request.
//!
//! ```text
//! original   header ▶ count ▶ values fit the policy ▶ model values ▶ objectives ▶ population ▶ bind the models
//! release    header ▶ count ▶ values fit the policy ▶ bind the models
//! ```
//!
//! [`original`] is for a table whose records were not generalized, [`release`] for a file as its recipient has it; their
//! callers bind the models last ([`BoundPolicy`]), because they go on with them.
//! Whether the method can serve the policy is the first thing that a search asks. `check` also asks whether cells have
//! released forms, which other requests see when they read the cells.

use moretta_core::{
    counts::Counts,
    engine::Records,
    observer::{Observer, Stage},
    policy::{BoundPolicy, Policy},
    profile::Profile,
};

use crate::{
    error::{ErrorKind, FlowError},
    policy::LoadedPolicy,
};

/// Reads and checks a table under a policy.
pub(crate) fn original(
    loaded: &LoadedPolicy,
    records: &dyn Records,
    observer: &dyn Observer,
) -> Result<(Counts, Profile), FlowError> {
    let counts = counts(&loaded.policy, records, observer)?;
    let profile = Profile::build(&loaded.policy, &loaded.hierarchies, &counts)
        .map_err(|error| FlowError::domain(&records.name(), &error))?;
    model_values(&loaded.policy, &profile, &loaded.name)?;
    objectives(&loaded.policy, &profile, &loaded.name)?;
    population(&loaded.policy, &profile, &loaded.name)?;
    Ok((counts, profile))
}

/// The distinct rows of the policy's columns, after the header was checked.
pub(crate) fn counts(policy: &Policy, records: &dyn Records, observer: &dyn Observer) -> Result<Counts, FlowError> {
    header(policy, records.name(), records.columns())?;
    observer.stage(Stage::Reading);
    Ok(records.count(&Profile::grouped_columns(policy), observer)?)
}

/// Reads a file as its recipient has it: every text is a value of its own, and identifiers are absent.
pub(crate) fn release(
    loaded: &LoadedPolicy,
    records: &dyn Records,
    stage: Stage,
    observer: &dyn Observer,
) -> Result<Profile, FlowError> {
    let policy = &loaded.policy;
    let mut columns = records.columns().to_vec();
    let absent = policy.identifiers().map(|column| &column.name).filter(|name| !records.columns().contains(name));
    columns.extend(absent.cloned());
    header(policy, records.name(), &columns)?;
    observer.stage(stage);
    let counts = records.count(&Profile::grouped_columns(policy), observer)?;
    let file = Profile::of_release(policy, &loaded.hierarchies, &counts);
    file.map_err(|error| FlowError::domain(&records.name(), &error))
}

/// Every column of the input must be declared, and the other way round.
fn header(policy: &Policy, name: String, columns: &[String]) -> Result<(), FlowError> {
    if !policy.columns.iter().any(|column| columns.contains(&column.name)) {
        // Then the first line may be a person, who must not be shown.
        let message = "no column of the policy is in the first line; is this another table, or is its header missing?";
        return Err(FlowError::input(name, message));
    }
    policy.check_columns(columns).map_err(|mismatch| FlowError::input(name, mismatch))
}

/// The values that models name must occur in the table; otherwise a misspelt one would hold unnoticed.
pub(crate) fn model_values(policy: &Policy, profile: &Profile, name: &str) -> Result<(), FlowError> {
    let check = policy.privacy.models.iter().try_for_each(|model| model.check_values(profile));
    check.map_err(|error| FlowError::of_file(ErrorKind::Policy, name, error))
}

/// The policy's objectives must make sense of the table; otherwise a search would minimize something else unnoticed.
fn objectives(policy: &Policy, profile: &Profile, name: &str) -> Result<(), FlowError> {
    let unfit = policy.objectives().iter().find_map(|objective| objective.unfit(profile));
    unfit.map_or(Ok(()), |message| Err(FlowError::of_file(ErrorKind::Policy, name, message)))
}

/// A generalization path says from where on the models of groups hold; it knows nothing of the table as a whole.
pub(crate) fn path(bound: &BoundPolicy<'_>) -> Result<(), FlowError> {
    match bound.table_models().first() {
        Some(model) => Err(FlowError::usage(format!(
            "{} judges the table as a whole, so there is no point of a generalization path from which on it holds",
            model.describe()
        ))),
        None => Ok(()),
    }
}

/// The population cannot be smaller than the table: it would make the risk look greater than it is, and most likely it
/// is another table's.
pub(crate) fn population(policy: &Policy, profile: &Profile, name: &str) -> Result<(), FlowError> {
    match policy.input.population.filter(|&population| population < profile.records()) {
        Some(population) => Err(FlowError::of_file(
            ErrorKind::Policy,
            name,
            format_args!(
                "`population` in [input] is {population}, but the table has {} records; it is how many people the \
                 table was drawn from, so at least as many",
                profile.records()
            ),
        )),
        None => Ok(()),
    }
}
