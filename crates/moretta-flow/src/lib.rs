//! Runs requests: every front end passes a request and gets a release or figures.
//!
//! A [`Session`] has its own threads and reports to one [`Observer`](moretta_core::observer::Observer). Each request
//! is a plain struct and has one method of the session; errors are [`FlowError`]s with a kind, a place and a message.
//! Nothing here prints, parses arguments, or keeps global state.
//!
//! ```text
//! Anonymize ─▶ policy ─▶ preflight ─▶ search ─▶ verify ─▶ write ─▶ read back ─▶ publish ─▶ Report
//! ```
//!
//! Every request opens its policy ([`LoadedPolicy`]) and runs the same pre-flight checks in the same order; a release
//! is made by [`moretta_core::publish`], for files by [`Session::anonymize`] and [`Session::apply`], for the records of
//! any [`Engine`](moretta_core::engine::Engine) by [`Session::release`].
//!
//! ```
//! use moretta_core::observer::NoObserver;
//! use moretta_flow::{Anonymize, Earlier, Output, ReleaseOptions, Resources, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = |name: &str| folder.path().join(name);
//! std::fs::write(path("people.csv"), "name,age\nAda,36\nAlan,41\nGrace,45\n")?;
//! std::fs::write(
//!     path("policy.toml"),
//!     "version = 1\n[privacy]\nk = 3\n[columns]\nname.role = \"identifier\"\nage.role = \"quasi-identifier\"\n",
//! )?;
//! let report = Session::new(Resources::default(), &NoObserver)?.anonymize(&Anonymize {
//!     input: path("people.csv").display().to_string().into(),
//!     policy: path("policy.toml").into(),
//!     output: Output { release: path("out.csv").into(), reports: vec![path("report.html")], overwrite: false, format: None },
//!     recoding: None,
//!     earlier: Earlier::default(),
//!     options: ReleaseOptions::default(),
//! })?;
//! assert_eq!(report.groups, 1);
//! assert_eq!(std::fs::read_to_string(path("out.csv"))?, "age\n\"[36, 45]\"\n\"[36, 45]\"\n\"[36, 45]\"\n");
//! # Ok(()) }
//! ```

mod apply;
mod bound;
mod check;
mod column_table;
mod compare;
mod dialect;
mod error;
mod evaluate;
mod features;
mod files;
mod hierarchy;
mod hierarchy_trial;
mod inferences;
mod init;
mod input;
mod kept;
mod linkage;
mod measure;
mod memory;
mod policy;
mod preflight;
mod provenance;
mod release;
mod risks;
mod session;
mod tradeoff;

pub use self::{
    apply::Apply,
    bound::FindBound,
    check::{Check, Checked},
    column_table::ConvertPolicy,
    compare::{Compare, ComparisonOutcome, JobResult, RunElsewhere},
    error::{ErrorKind, FlowError},
    evaluate::{Evaluate, Evaluation, SplitOptions},
    features::{EncodeFeatures, FeatureOptions, FittedFeatures, TextColumn},
    files::OutputFile,
    hierarchy::{BuildHierarchy, CheckHierarchy, CheckedHierarchy, ConvertHierarchy},
    inferences::Inferences,
    init::{Draft, Init},
    input::{Destination, Input, PolicySource, PolicyValue, RecodingSource},
    linkage::{Earlier, LinkReleases},
    measure::{Measure, Measured, Queries},
    policy::{LoadedPolicy, check_policy, read_hierarchy},
    provenance::{VerifiedReport, VerifyReport, verify_report},
    release::{Anonymize, Output, Release, ReleaseOptions},
    risks::FindRisks,
    session::{Resources, STANDARD_STREAM, Session},
    tradeoff::FindTradeOff,
};
