//! Why an experiment could not be made.

use std::{io, path::PathBuf};

use moretta_core::{
    hierarchy::{DomainError, file::HierarchyFileError},
    policy::PolicyError,
    privacy::ModelError,
    run::RunError,
    verify::VerifyError,
};
use moretta_insight::evaluate::{EvaluateError, TestError, queries::UnreadLabel};

/// Why an experiment could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaperError {
    /// A file that is not there, or cannot be read.
    #[error("cannot read {}: {error}; `--data` names the folder that has adult/, german/ and crx/", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file that is not the data it should be.
    #[error("{}: {message}; is this the data set that the papers used?", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A hierarchy file that contradicts itself.
    #[error("{}: {error}", path.display())]
    Hierarchy {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: HierarchyFileError,
    },
    /// A table that does not fit its policy.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A policy that was written wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A model that does not fit the table.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A search that found nothing.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A recoding that does not hold.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// Errors that cannot be counted.
    #[error(transparent)]
    Evaluate(#[from] EvaluateError),
    /// A split that cannot be tested.
    #[error(transparent)]
    Test(#[from] TestError),
    /// A release that answers no queries.
    #[error(transparent)]
    Queries(#[from] UnreadLabel),
    /// An experiment without the figure it is about.
    #[error("the experiment has no {what}")]
    Without {
        /// What is missing.
        what: String,
    },
    /// Somebody stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl PaperError {
    /// Something that should be there is not.
    pub(crate) fn without(what: impl Into<String>) -> Self {
        Self::Without { what: what.into() }
    }
}
