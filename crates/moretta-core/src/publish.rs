//! From a verified recoding to a published release: write, read back, publish.
//!
//! ```text
//! Policy + Profile + Recoding
//!     │  verify::verify            every model holds in the recoded table
//!     ▼
//! Verified
//!     │  Verified::write           the engine writes the file, still hidden from recipients
//!     ▼
//! Written
//!     │  Written::read_back        1. the file is opened, its columns are compared
//!     │                            2. Records::count, Profile::of_release: its rows are counted
//!     │                            3. readback::compare_with_verified: same groups, same counts
//!     │                            4. verify::check: every model holds in the file itself (see Persons)
//!     ▼
//! ReadBack
//!     │  ReadBack::publish         the engine moves the file to its target
//!     ▼
//! release
//! ```
//!
//! Each step needs the result of the previous one, so the type checker enforces the order: a file that was not read
//! back cannot be published by mistake. [`Staged::publish`] needs a [`ReadBackProof`], which no other crate can make.
//! An engine is trusted not to write to the target itself.
//!
//! The comparison is by counts: each group must have the same labels, and each combination of sensitive and class
//! values equally often. Insensitive columns, which are copied, and the order of records are not compared.
//!
//! # Persons
//!
//! If the policy counts persons, the file does not show who they are. What is proved, and by whom:
//!
//! - [`verify`](mod@crate::verify) proves from the original, with its persons, that every model holds in every group
//!   of the recoding.
//! - The comparison proves that the file has exactly these groups: the same labels, and in each group each combination
//!   of sensitive and class values for the same number of records.
//! - The file itself is judged by what it shows: models that do not depend on persons (distinct l-diversity), and the
//!   number of records where a model requires a number of persons.
//! - Which of two records with equal original values and different persons is in which group is decided by the rewrite.
//!   Its key contains the person, and the engine checks that each row of the key has as many records as in the first
//!   pass. The read-back cannot see it.
//!
//! ```
//! use moretta_core::{engine::{EngineFault, Staged}, hierarchy::Hierarchies, observer::NoObserver};
//! use moretta_core::publish::{ReadBackError, Written};
//!
//! fn publish<S: Staged>(written: Written<'_, S>) -> Result<(), Box<dyn std::error::Error>> {
//!     let read_back = written.read_back(&Hierarchies::default(), &NoObserver)?;
//!     Ok(read_back.publish()?)
//! }
//! ```
//!
//! The same without the read-back does not compile:
//!
//! ```compile_fail
//! use moretta_core::{engine::{EngineFault, Staged}, hierarchy::Hierarchies, observer::NoObserver};
//! use moretta_core::publish::{ReadBackError, Written};
//!
//! fn publish<S: Staged>(written: Written<'_, S>) -> Result<(), Box<dyn std::error::Error>> {
//!     Ok(written.publish()?)
//! }
//! ```
//!
//! [`ReadBack::publish`] hands the engine the proof that [`Staged::publish`] requires:
//!
//! ```
//! use moretta_core::engine::{EngineFault, ReadBackProof, Staged};
//!
//! fn publish<S: Staged>(staged: S, proof: ReadBackProof) -> Result<(), EngineFault> {
//!     staged.publish(proof)
//! }
//! ```
//!
//! Another crate cannot make a proof, so this does not compile:
//!
//! ```compile_fail
//! use moretta_core::engine::{EngineFault, ReadBackProof, Staged};
//!
//! fn publish<S: Staged>(staged: S) -> Result<(), EngineFault> {
//!     staged.publish(ReadBackProof(()))
//! }
//! ```

use crate::{
    counts::{Counts, RecordOrder},
    engine::{Engine, EngineFault, ReadBackProof, Records, ReleaseFile, Staged, count_with_sizes},
    group_sizes::GroupSizes,
    hierarchy::{DomainError, Hierarchies},
    observer::{Observer, Stage},
    policy::BoundPolicy,
    privacy::ModelError,
    profile::{Profile, Tables},
    readback::{self, Mismatch},
    rewrite_plan,
    schema::Unit,
    seed::Seed,
    verify::{self, Verified},
};

impl<'a> Verified<'a> {
    /// Second pass over the input: writes the release where only the data holder can reach it. `counts` is the result
    /// of the first pass over the same records; its memory is free afterwards, for the read-back.
    pub fn write<E: Engine>(
        &'a self,
        engine: &E,
        counts: Counts,
        target: &E::Target,
        (order, seed): (RecordOrder, Seed),
        observer: &dyn Observer,
    ) -> Result<Written<'a, E::Staged>, EngineFault> {
        observer.stage(Stage::Writing);
        let rewrite = rewrite_plan::rewrite(self, counts, order, seed);
        let dropped = |name: &&String| self.policy().dropped().any(|column| column.name == **name);
        let expected_columns = engine.columns().iter().filter(|name| !dropped(name)).cloned().collect();
        Ok(Written { verified: self, expected_columns, staged: engine.rewrite(&rewrite, target, observer)? })
    }
}

/// A release that was written but not yet checked.
#[derive(Debug)]
pub struct Written<'a, S> {
    verified: &'a Verified<'a>,
    expected_columns: Vec<String>,
    staged: S,
}

/// A written release that equals the verified table and satisfies every model that a file can show.
#[derive(Debug)]
#[must_use = "a release is only published by `publish`"]
pub struct ReadBack<S> {
    staged: S,
    rows: GroupSizes,
    file: Option<ReleaseFile>,
    proof: ReadBackProof,
}

/// Why a written release must not be published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadBackError {
    /// The file could not be read.
    #[error(transparent)]
    Engine(#[from] EngineFault),
    /// The file has other columns than expected.
    #[error("unexpected columns in the written file")]
    Columns,
    /// A sensitive or class value that the policy does not allow.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The file has other groups or values than the verified table.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A model does not fit the file.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model does not hold in the file.
    #[error("the written file violates {0}")]
    Broken(String),
}

impl<S: Staged> Written<'_, S> {
    /// Opens the written file and checks it: columns, groups, values and every privacy model that a file can show.
    pub fn read_back(self, hierarchies: &Hierarchies, observer: &dyn Observer) -> Result<ReadBack<S>, ReadBackError> {
        observer.stage(Stage::Checking);
        let Self { verified, expected_columns, staged } = self;
        let policy = verified.policy();
        let records = staged.open()?;
        if *records.columns() != *expected_columns {
            return Err(ReadBackError::Columns);
        }
        let columns = Profile::released_columns(policy);
        let check = || {
            let (counts, rows) =
                count_with_sizes(&*records, &columns, std::slice::from_ref(&expected_columns), observer)?;
            let written = Profile::of_release(policy, hierarchies, &counts)?;
            drop(counts);
            readback::compare_with_verified(verified, &written)?;
            Ok::<_, ReadBackError>((written, rows))
        };
        // One thread can digest the file meanwhile.
        let (checked, file) = rayon::join(check, || staged.file(observer));
        let ((written, rows), file) = (checked?, file?);
        drop(records);
        let tables = Tables { table: &written, ..verified.tables() };
        let judgements = match policy.unit() {
            Unit::Records => verify::check(&BoundPolicy::with_tables(policy, tables)?),
            Unit::Persons => verify::check_without_persons(policy, tables)?,
        };
        match judgements.into_iter().find(|judgement| !judgement.holds) {
            Some(broken) => Err(ReadBackError::Broken(broken.model.to_string())),
            None => {
                let rows = rows.into_iter().next().unwrap_or_default();
                Ok(ReadBack { staged, rows, file, proof: ReadBackProof::of_read_back() })
            }
        }
    }
}

impl<S: Staged> ReadBack<S> {
    /// The file to be published; `None` if the release is not a file.
    pub fn file(&self) -> Option<&ReleaseFile> {
        self.file.as_ref()
    }

    /// Groups of records that have equal values in every released column.
    pub fn rows(&self) -> &GroupSizes {
        &self.rows
    }

    /// Opens the checked file, for requests that read it once more before it is published.
    pub fn open(&self) -> Result<Box<dyn Records + '_>, EngineFault> {
        self.staged.open()
    }

    /// Makes the release available under its target.
    pub fn publish(self) -> Result<(), EngineFault> {
        self.staged.publish(self.proof)
    }
}
