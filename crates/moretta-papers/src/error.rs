//! Errors of an experiment.

use std::{io, path::PathBuf};

use moretta_core::{
    hierarchy::{DomainError, file::HierarchyFileError},
    policy::PolicyError,
    privacy::ModelError,
    run::RunError,
    verify::VerifyError,
};
use moretta_insight::evaluate::{EvaluateError, TestError, queries::UnreadableLabel};

/// Reason why an experiment failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaperError {
    /// A file is missing or cannot be read.
    #[error("cannot read {}: {error}; `--data` names the folder that has adult/, german/ and crx/", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
    /// A file does not have the expected content.
    #[error("{}: {message}; is this the data set that the papers used?", path.display())]
    Data {
        /// Path of the file.
        path: PathBuf,
        /// Difference from the expected content.
        message: String,
    },
    /// A hierarchy file is invalid.
    #[error("{}: {error}", path.display())]
    Hierarchy {
        /// Path of the file.
        path: PathBuf,
        /// Error of the parser.
        error: HierarchyFileError,
    },
    /// The table does not fit its policy.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The policy is invalid.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A privacy model does not fit the table.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The search failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The recoding violates a privacy model.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The classification error cannot be computed.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// The test set cannot be evaluated.
    #[error(transparent)]
    Test(#[from] TestError),
    /// The release cannot answer queries.
    #[error(transparent)]
    Queries(#[from] UnreadableLabel),
    /// A figure that the experiment reports is missing.
    #[error("the experiment has no {what}")]
    Without {
        /// Name of the missing figure.
        what: String,
    },
    /// The user interrupted the experiment.
    #[error("interrupted")]
    Interrupted,
}

impl PaperError {
    /// Error for a missing figure.
    pub(crate) fn without(what: impl Into<String>) -> Self {
        Self::Without { what: what.into() }
    }
}
