//! `check`: checks whether a file satisfies a policy. It reads the file alone, as a recipient would.

use moretta_core::{
    engine::{FaultLocation, Records},
    ids::TupleId,
    observer::Stage,
    policy::{BoundPolicy, Policy},
    profile::{Column, Profile, Tables},
    readback,
    text::shown,
    verify::{self, Judgement},
};
use moretta_insight::{kept::Kept, report::Privacy};

use crate::{
    error::{ErrorKind, FlowError},
    input::{Input, PolicySource},
    policy::LoadedPolicy,
    session::Session,
};

/// Request of `moretta check`.
#[derive(Debug, Clone)]
pub struct Check {
    /// Release that is read.
    pub released: Input,
    /// Policy of the request.
    pub policy: PolicySource,
}

/// Result of a check.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Number of records in the file.
    pub records: u64,
    /// Number of distinct combinations of quasi-identifier values.
    pub groups: usize,
    /// Number of records in the smallest group; 0 if the file is empty.
    pub smallest: u64,
    /// Number of records with `*` in every quasi-identifier, suppressed or not.
    pub fully_generalized: u64,
    /// Columns that must not be released, and that the file still has: identifiers, the person, the household.
    pub identifiers: Vec<String>,
    /// One verdict per privacy model.
    pub judgements: Vec<Judgement>,
    /// The verdicts as reports show them.
    pub privacy: Privacy,
    /// Records that kept columns single out.
    pub kept: Kept,
}

impl Checked {
    /// Whether the file satisfies the policy.
    pub fn holds(&self) -> bool {
        let holds = self.judgements.iter().all(|judgement| judgement.holds);
        holds && self.identifiers.is_empty() && !self.kept.singles_out()
    }
}

impl Session<'_> {
    /// Checks a file against every model of a policy.
    pub fn check(&self, request: &Check) -> Result<Checked, FlowError> {
        self.install(|| {
            let loaded = self.policy_for_release(&request.policy, &request.released)?;
            self.checked(&self.open_release(&request.released, &loaded.policy)?, &loaded)
        })
    }

    /// Checks any engine's records against every model of a policy.
    pub fn check_records(&self, released: &(dyn Records + Sync), loaded: &LoadedPolicy) -> Result<Checked, FlowError> {
        self.install(|| self.checked(released, loaded))
    }

    fn checked(&self, released: &dyn Records, loaded: &LoadedPolicy) -> Result<Checked, FlowError> {
        let LoadedPolicy { policy, hierarchies, folder, .. } = loaded;
        without_persons(policy, released)?;
        let (file, kept) = self.released_with_kept(loaded, released, Stage::Checking)?;
        readback::check_forms(policy, hierarchies, &file).map_err(|error| {
            let column = Some(error.column.clone());
            let place = FaultLocation { record: error.record, column, ..FaultLocation::file(released.name()) };
            let message = format!("{}: {error}", released.name());
            FlowError { kind: ErrorKind::Input, place: Some(place), message }
        })?;
        self.note_spellings(&file);
        let others = self.second_tables(policy, hierarchies, folder)?;
        let judgements = verify::check(&BoundPolicy::with_tables(policy, Tables { table: &file, others: &others })?);
        let smallest = file.smallest_tuple();
        let present = policy.dropped().map(|column| column.name.clone());
        Ok(Checked {
            records: file.records(),
            groups: file.tuples(),
            smallest,
            fully_generalized: fully_generalized(&file),
            identifiers: present.filter(|name| released.columns().contains(name)).collect(),
            privacy: Privacy::of(policy, &judgements, smallest),
            judgements,
            kept,
        })
    }
}

/// Refuses a policy with models that count persons: a release does not say which records are of one person.
fn without_persons(policy: &Policy, released: &dyn Records) -> Result<(), FlowError> {
    let (Some(person), models) = (policy.person(), policy.privacy.of_persons()) else { return Ok(()) };
    if models.is_empty() {
        return Ok(());
    }
    let name = shown(&person.name);
    let present = released.columns().contains(&person.name);
    let column = if present { "; the file has this column, which must not be released" } else { "" };
    let message = format!(
        "the policy counts persons (column `{name}`), and a release does not say which records are of one person, so the \
         file cannot be judged by {}; `moretta anonymize` verifies them on the original before it publishes the file{column}",
        models.join(", ")
    );
    Err(FlowError::input(released.name(), message))
}

/// Counts the records with `*` in every quasi-identifier.
fn fully_generalized(file: &Profile) -> u64 {
    let is_star = |(column, code): (&Column, &u32)| column.domain.text(*code) == "*";
    let tuples = (0..file.tuples()).map(TupleId::from_index);
    let starred = tuples.filter(|tuple| file.columns().iter().zip(file.codes(*tuple)).all(is_star));
    starred.map(|tuple| file.tuple_records(tuple)).sum()
}
