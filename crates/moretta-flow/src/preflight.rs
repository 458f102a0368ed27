//! Pre-flight checks: run before a search, in the same order for every request.
//!
//! ```text
//! original   header ▶ count ▶ values fit the policy ▶ model values ▶ objectives ▶ population ▶ bind the models
//! release    header ▶ count ▶ values fit the policy ▶ bind the models
//! ```
//!
//! [`Session::original`] is for a table that was not generalized, [`Session::released`] for a released file. Their
//! callers bind the models last ([`BoundPolicy`]), because they use the bound models. The search itself checks first
//! whether the method supports the policy. `check` also verifies the form of released cells; other requests do so when
//! they parse the cells.

use moretta_core::{
    counts::Counts,
    engine::Records,
    observer::Stage,
    policy::{BoundPolicy, Policy},
    profile::Profile,
};

use crate::{
    error::{ErrorKind, FlowError},
    policy::LoadedPolicy,
    session::Session,
};

impl Session<'_> {
    /// Reads and checks a table under a policy.
    pub(crate) fn original(&self, loaded: &LoadedPolicy, table: &dyn Records) -> Result<(Counts, Profile), FlowError> {
        let counts = self.counts(&loaded.policy, table)?;
        let profile = Profile::build(&loaded.policy, &loaded.hierarchies, &counts)
            .map_err(|error| FlowError::domain(&table.name(), &error))?;
        model_values(&loaded.policy, &profile, &loaded.name)?;
        objectives(&loaded.policy, &profile, &loaded.name)?;
        population(&loaded.policy, &profile, &loaded.name)?;
        Ok((counts, profile))
    }

    /// Checks the header and counts the distinct rows of the policy's columns.
    pub(crate) fn counts(&self, policy: &Policy, table: &dyn Records) -> Result<Counts, FlowError> {
        header(policy, table.name(), table.columns())?;
        self.observer.stage(Stage::Reading);
        Ok(table.count(&Profile::grouped_columns(policy), self.observer)?)
    }

    /// Reads a released file: every text is a separate value, and identifiers may be absent.
    pub(crate) fn released(
        &self,
        loaded: &LoadedPolicy,
        file: &dyn Records,
        stage: Stage,
    ) -> Result<Profile, FlowError> {
        let policy = &loaded.policy;
        let mut columns = file.columns().to_vec();
        let absent = policy.identifiers().map(|column| &column.name).filter(|name| !file.columns().contains(name));
        columns.extend(absent.cloned());
        header(policy, file.name(), &columns)?;
        self.observer.stage(stage);
        let counts = file.count(&Profile::grouped_columns(policy), self.observer)?;
        let profile = Profile::of_release(policy, &loaded.hierarchies, &counts);
        profile.map_err(|error| FlowError::domain(&file.name(), &error))
    }
}

/// Checks that the policy and the input have the same columns.
fn header(policy: &Policy, name: String, columns: &[String]) -> Result<(), FlowError> {
    if !policy.columns.iter().any(|column| columns.contains(&column.name)) {
        // The first line is not shown: it may be a record of a person.
        let message =
            "no column of the policy is in the first line; check that this is the right table and that it has a header";
        return Err(FlowError::input(name, message));
    }
    policy.check_columns(columns).map_err(|mismatch| FlowError::input(name, mismatch))
}

/// Checks that the values named by models occur in the table: a misspelled value would protect nothing.
pub(crate) fn model_values(policy: &Policy, profile: &Profile, name: &str) -> Result<(), FlowError> {
    let check = policy.privacy.models.iter().try_for_each(|model| model.check_values(profile));
    check.map_err(|error| FlowError::of_file(ErrorKind::Policy, name, error))
}

/// Checks that the objectives of the policy fit the table.
fn objectives(policy: &Policy, profile: &Profile, name: &str) -> Result<(), FlowError> {
    let unfit = policy.objectives().iter().find_map(|objective| objective.unfit(profile));
    unfit.map_or(Ok(()), |message| Err(FlowError::of_file(ErrorKind::Policy, name, message)))
}

/// Refuses models of the whole table: a generalization path only evaluates models of groups.
pub(crate) fn path(bound: &BoundPolicy<'_>) -> Result<(), FlowError> {
    match bound.table_models().first() {
        Some(model) => Err(FlowError::usage(format!(
            "{} judges the table as a whole, so it cannot be evaluated along a generalization path",
            model.describe()
        ))),
        None => Ok(()),
    }
}

/// Refuses a population smaller than the table: it is probably a mistake, and the computed risk would be wrong.
pub(crate) fn population(policy: &Policy, profile: &Profile, name: &str) -> Result<(), FlowError> {
    match policy.input.population.filter(|&population| population < profile.records()) {
        Some(population) => Err(FlowError::of_file(
            ErrorKind::Policy,
            name,
            format_args!(
                "`population` in [input] is {population}, but the table has {} records; set it to the number of people \
                 that the table was drawn from",
                profile.records()
            ),
        )),
        None => Ok(()),
    }
}
