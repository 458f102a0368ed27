//! From a verified recoding to a published release: write, read back, publish.
//!
//! ```text
//! Policy + Profile + Recoding ──verify──▶ Verified ──write──▶ Written ──read_back──▶ ReadBack ──publish──▶ release
//! ```
//!
//! Each step takes only what the previous one returned, so a release cannot be published unless it was read back, and not
//! be read back as anything but what was verified. [`Written::read_back`] compares the file with the verified table
//! (columns, records, and in the quasi-identifier, sensitive and class columns every value) and asks every model of the
//! policy again, on the file alone. Columns that are copied are not compared.
//!
//! An engine cannot be made to publish what was not read back: [`Staged::publish`] wants a [`ReadBackProof`], and only
//! a read-back makes one.
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
//! An engine's own type is published with the proof that a read-back returned:
//!
//! ```
//! use moretta_core::engine::{EngineFault, ReadBackProof, Staged};
//!
//! fn publish<S: Staged>(staged: S, proof: ReadBackProof) -> Result<(), EngineFault> {
//!     staged.publish(proof)
//! }
//! ```
//!
//! A proof cannot be made elsewhere, so this does not compile:
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
    engine::{Engine, EngineFault, ReadBackProof, Staged},
    hierarchy::{DomainError, Hierarchies},
    observer::{Observer, Stage},
    policy::BoundPolicy,
    privacy::ModelError,
    profile::{Profile, Tables},
    readback::{self, Mismatch},
    rewrite_plan,
    verify::{self, Verified},
};

impl<'a> Verified<'a> {
    /// Second pass: writes the records that `counts` was made of, where only the data holder can reach them.
    pub fn write<E: Engine>(
        &'a self,
        engine: &E,
        counts: &Counts,
        target: &E::Target,
        (order, seed): (RecordOrder, u64),
        observer: &dyn Observer,
    ) -> Result<Written<'a, E::Staged>, EngineFault> {
        observer.stage(Stage::Writing);
        let rewrite = rewrite_plan::rewrite(self, counts, order, seed);
        let dropped = |name: &&String| self.policy().identifiers().any(|column| column.name == **name);
        let columns = engine.columns().iter().filter(|name| !dropped(name)).cloned().collect();
        Ok(Written { verified: self, columns, staged: engine.rewrite(&rewrite, target, observer)? })
    }
}

/// A release that is written, and nothing else is known of it yet.
#[derive(Debug)]
pub struct Written<'a, S> {
    verified: &'a Verified<'a>,
    /// The columns it should have.
    columns: Vec<String>,
    staged: S,
}

/// A release that was read back and found to be what was verified.
#[derive(Debug)]
pub struct ReadBack<S> {
    staged: S,
    proof: ReadBackProof,
}

/// Why a written release must not be published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadBackError {
    /// The file could not be read.
    #[error(transparent)]
    Engine(#[from] EngineFault),
    /// Columns are missing, or there are others.
    #[error("unexpected columns in the written file")]
    Columns,
    /// A sensitive or class value that the policy does not allow.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// Other groups or values than those that were verified.
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
    /// Checks the file that was written, not what was meant to be written.
    pub fn read_back(self, hierarchies: &Hierarchies, observer: &dyn Observer) -> Result<ReadBack<S>, ReadBackError> {
        observer.stage(Stage::Checking);
        let Self { verified, columns, staged } = self;
        let policy = verified.policy();
        let records = staged.open()?;
        if *records.columns() != *columns {
            return Err(ReadBackError::Columns);
        }
        let counts = records.count(&Profile::grouped_columns(policy), observer)?;
        drop(records);
        let file = Profile::of_release(policy, hierarchies, &counts)?;
        drop(counts);
        readback::compare(verified, &file)?;
        let bound = BoundPolicy::with_tables(policy, Tables { table: &file, ..verified.tables() })?;
        match verify::check(&bound).into_iter().find(|judgement| !judgement.holds) {
            Some(broken) => Err(ReadBackError::Broken(broken.model.to_string())),
            None => Ok(ReadBack { staged, proof: ReadBackProof::of_read_back() }),
        }
    }
}

impl<S: Staged> ReadBack<S> {
    /// Makes the release available under its target.
    pub fn publish(self) -> Result<(), EngineFault> {
        self.staged.publish(self.proof)
    }
}
