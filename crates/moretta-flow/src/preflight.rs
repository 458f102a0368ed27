//! Pre-flight checks: run before a search, in the same order for every request.
//!
//! ```text
//! original   header ▶ count ▶ memory ▶ values fit the policy ▶ model values ▶ objectives ▶ population ▶ kept columns
//!            ▶ bind the models ▶ memory of the search
//! release    header ▶ count ▶ memory ▶ values fit the policy ▶ bind the models
//! ```
//!
//! [`Session::original`] is for a table that was not generalized, [`Session::released`] for a released file. Their
//! callers check the kept columns if they write a release, and bind the models last ([`BoundPolicy`]), because they use
//! the bound models. The search itself checks first whether the method supports the policy. `check` also verifies the
//! form of released cells; other requests do so when they parse the cells.

use std::collections::HashSet;

use moretta_core::{
    counts::{CountedColumn, Counts},
    declaration::Declaration,
    engine::{Records, count_with_sizes},
    group_sizes::GroupSizes,
    notation::Notation,
    observer::{Note, Stage},
    policy::{BoundPolicy, Policy},
    profile::{Attribute, Profile},
    schema::{Kind, Unit},
    text::shown,
};
use moretta_insight::kept::{Kept, KeptSizes};

use crate::{
    error::{ErrorKind, FlowError},
    policy::LoadedPolicy,
    session::Session,
};

impl Session<'_> {
    /// Reads and checks a table under a policy.
    pub(crate) fn original(&self, loaded: &LoadedPolicy, table: &dyn Records) -> Result<(Counts, Profile), FlowError> {
        let (counts, profile, _) = self.original_with_sizes(loaded, table, &[])?;
        Ok((counts, profile))
    }

    /// Reads and checks a table under a policy, and counts the groups by its kept columns.
    pub(crate) fn original_with_kept(
        &self,
        loaded: &LoadedPolicy,
        table: &dyn Records,
    ) -> Result<(Counts, Profile, KeptSizes), FlowError> {
        if loaded.policy.unit() == Unit::Persons {
            let (counts, profile, _) = self.original_with_sizes(loaded, table, &[])?;
            return Ok((counts, profile, self.kept_of_persons(&loaded.policy, table)?));
        }
        let (counts, profile, sizes) = self.original_with_sizes(loaded, table, &KeptSizes::sets(&loaded.policy))?;
        Ok((counts, profile, KeptSizes::new(&loaded.policy, sizes)))
    }

    /// Counts the persons of the groups by kept columns, in a pass of its own.
    fn kept_of_persons(&self, policy: &Policy, table: &dyn Records) -> Result<KeptSizes, FlowError> {
        let counts = table.count(&KeptSizes::columns_of_persons(policy), self.observer)?;
        self.check_profile_memory(&counts, 0)?;
        Ok(KeptSizes::of_persons(policy, &counts))
    }

    fn original_with_sizes(
        &self,
        loaded: &LoadedPolicy,
        table: &dyn Records,
        sets: &[Vec<String>],
    ) -> Result<(Counts, Profile, Vec<GroupSizes>), FlowError> {
        check_columns(&loaded.policy, table)?;
        self.observer.stage(Stage::Reading);
        let counted = count_with_sizes(table, &Profile::grouped_columns(&loaded.policy), sets, self.observer);
        let (counts, sizes) = counted.map_err(|fault| self.counting_refused(loaded, table, fault))?;
        self.check_profile_memory(&counts, 0).map_err(|refused| self.with_figure(loaded, table, &counts, refused))?;
        let profile = Profile::build(&loaded.policy, &loaded.hierarchies, &counts)
            .map_err(|error| FlowError::domain(&table.name(), &error))?;
        model_values(&loaded.policy, &profile, &loaded.name)?;
        objectives(&loaded.policy, &profile, &loaded.name)?;
        population(&loaded.policy, &profile, &loaded.name)?;
        self.note_spellings(&profile);
        self.note_notations(&loaded.policy, &counts, &profile);
        Ok((counts, profile, sizes))
    }

    /// Notes the columns in which spellings count as one value.
    pub(crate) fn note_spellings(&self, profile: &Profile) {
        profile.attributes().iter().filter_map(Attribute::folded).for_each(|note| self.observer.note(&note));
    }

    /// Notes the columns without a type whose texts would all be numbers in another notation: they were read as
    /// categories.
    fn note_notations(&self, policy: &Policy, counts: &Counts, profile: &Profile) {
        let kinds = profile.columns().iter().map(|column| (&column.name, column.domain.kind()));
        let kinds = kinds.chain(profile.attributes().iter().map(|column| (&column.name, column.kind())));
        let categories: HashSet<&String> =
            kinds.filter(|(_, kind)| *kind == Kind::Category).map(|(name, _)| name).collect();
        let of_text = |column: &&CountedColumn| !column.typed && categories.contains(&column.name);
        for column in counts.columns.iter().filter(of_text) {
            let Some(declared) = policy.column(&column.name).filter(|column| column.kind.is_none()) else { continue };
            let is_missing = |text: &&str| policy.missing_texts(declared).any(|missing| missing == *text);
            let texts = column.values.iter().map(|text| &**text).filter(|text| !is_missing(text));
            let Some(other) = Notation::that_reads(texts) else { continue };
            if other != policy.input.notation() {
                let keys = other.keys();
                self.observer.note(&Note::OtherNotation { column: column.name.clone(), keys });
            }
        }
    }

    /// Checks the header and counts the distinct rows of the policy's columns. `others` tables will be linked with it.
    pub(crate) fn counts(&self, policy: &Policy, table: &dyn Records, others: usize) -> Result<Counts, FlowError> {
        check_columns(policy, table)?;
        self.observer.stage(Stage::Reading);
        let counts = table.count(&Profile::grouped_columns(policy), self.observer)?;
        self.check_profile_memory(&counts, others)?;
        Ok(counts)
    }

    /// Like [`Session::counts`], with the groups by kept columns.
    pub(crate) fn counts_with_kept(
        &self,
        policy: &Policy,
        table: &dyn Records,
    ) -> Result<(Counts, KeptSizes), FlowError> {
        check_columns(policy, table)?;
        self.observer.stage(Stage::Reading);
        if policy.unit() == Unit::Persons {
            let counts = table.count(&Profile::grouped_columns(policy), self.observer)?;
            self.check_profile_memory(&counts, 0)?;
            return Ok((counts, self.kept_of_persons(policy, table)?));
        }
        let sets = KeptSizes::sets(policy);
        let (counts, sizes) = count_with_sizes(table, &Profile::grouped_columns(policy), &sets, self.observer)?;
        self.check_profile_memory(&counts, 0)?;
        Ok((counts, KeptSizes::new(policy, sizes)))
    }

    /// Reads a released file: every text is a separate value, and identifiers may be absent.
    pub(crate) fn released(
        &self,
        loaded: &LoadedPolicy,
        file: &dyn Records,
        stage: Stage,
    ) -> Result<Profile, FlowError> {
        Ok(self.released_with_sizes(loaded, file, stage, &[])?.0)
    }

    /// Like [`Session::released`], with the figures of kept columns.
    pub(crate) fn released_with_kept(
        &self,
        loaded: &LoadedPolicy,
        file: &dyn Records,
        stage: Stage,
    ) -> Result<(Profile, Kept), FlowError> {
        let policy = &loaded.policy;
        let mut sets = KeptSizes::sets(policy);
        let released = policy.columns.iter().filter(|column| column.role.is_released());
        sets.push(released.map(|column| column.name.clone()).collect());
        let (profile, mut sizes) = self.released_with_sizes(loaded, file, stage, &sets)?;
        let rows = sizes.pop().unwrap_or_default();
        let kept = Kept::of(policy, &KeptSizes::new(policy, sizes), &rows);
        Ok((profile, kept))
    }

    fn released_with_sizes(
        &self,
        loaded: &LoadedPolicy,
        file: &dyn Records,
        stage: Stage,
        sets: &[Vec<String>],
    ) -> Result<(Profile, Vec<GroupSizes>), FlowError> {
        let policy = &loaded.policy;
        policy.check_released_columns(file.columns()).map_err(|mismatch| FlowError::input(file.name(), mismatch))?;
        self.observer.stage(stage);
        let (counts, sizes) = count_with_sizes(file, &Profile::released_columns(policy), sets, self.observer)?;
        self.check_profile_memory(&counts, 0)?;
        let profile = Profile::of_release(policy, &loaded.hierarchies, &counts);
        Ok((profile.map_err(|error| FlowError::domain(&file.name(), &error))?, sizes))
    }
}

fn check_columns(policy: &Policy, table: &dyn Records) -> Result<(), FlowError> {
    policy.check_columns(table.columns()).map_err(|mismatch| FlowError::input(table.name(), mismatch))
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

/// Refuses a policy that counts persons, for requests that can count records only.
pub(crate) fn only_records(policy: &Policy, name: &str, request: &str) -> Result<(), FlowError> {
    let Some(person) = policy.person() else { return Ok(()) };
    let message = format!(
        "{request} counts records, and the policy counts persons (column `{}`): the figures would be wrong",
        shown(&person.name)
    );
    Err(FlowError::of_file(ErrorKind::Policy, name, message))
}

/// Refuses a population smaller than the table: it is probably a mistake, and the computed risk would be wrong.
pub(crate) fn population(policy: &Policy, profile: &Profile, name: &str) -> Result<(), FlowError> {
    match policy.input.population.filter(|&population| population < profile.size()) {
        Some(population) => Err(FlowError::of_file(
            ErrorKind::Policy,
            name,
            format_args!(
                "`population` in [input] is {population}, but the table has {}; set it to the number of people that the \
                 table was drawn from",
                profile.unit().counted(profile.size())
            ),
        )),
        None => Ok(()),
    }
}
