//! Parts of a report that only the signer needs (origin, statistics, rows), and the check whether a report is about a
//! file.

use std::{path::PathBuf, time::SystemTime};

use moretta_core::{
    engine::{ReleaseFile, Staged},
    publish::ReadBack,
    schema::Unit,
    verify::Verified,
};
use moretta_engine::{Source, digest, sha256};
use moretta_insight::{provenance::Provenance, report::Report, statistics::Statistics, typical_rows::TypicalRows};
use rayon::prelude::*;

use crate::{
    error::{ErrorKind, FlowError},
    policy::read_text,
    session::Session,
};

/// Maximum cells of the first records of a release, from which typical rows are chosen.
const MAX_CELLS: u64 = 500_000;

/// Approximate bytes of such a cell.
const CELL_BYTES: u64 = 100;

impl Session<'_> {
    /// Adds what only a report for people needs: statistics and a few rows.
    pub(crate) fn describe<S: Staged>(
        &self,
        report: &mut Report,
        verified: &Verified<'_>,
        release: &ReadBack<S>,
    ) -> Result<(), FlowError> {
        let (policy, profile) = (verified.policy(), verified.profile());
        // A released file does not say which records are of one person, and a value of many records may be of one.
        if policy.unit() == Unit::Persons {
            return Ok(());
        }
        report.statistics = Some(Statistics::of(policy, profile, verified.released()));
        let records = release.open()?;
        let cells = self.memory_limit().map_or(MAX_CELLS, |limit| MAX_CELLS.min(limit / 8 / CELL_BYTES));
        let sample = records.sample(cells as usize / records.columns().len().max(1))?;
        report.typical_rows = Some(TypicalRows::of(policy, profile, &sample));
        Ok(())
    }

    /// Digests of the policy and the files that it names. To be taken when they are read, because they may change
    /// during the search.
    pub(crate) fn digests(&self, files: &[PathBuf]) -> Result<Vec<ReleaseFile>, FlowError> {
        files.iter().map(|path| Ok(digest(path, self.observer)?)).collect()
    }

    /// Describes the files of a release. The input is read once more for its digest; it must be what it was.
    pub(crate) fn provenance(
        &self,
        source: &Source,
        policy: Vec<ReleaseFile>,
        unconfirmed: usize,
        policy_text: Option<String>,
    ) -> Result<Provenance, FlowError> {
        let of_file = |file: usize| -> Result<ReleaseFile, FlowError> { Ok(source.digest(file, self.observer)?) };
        let input = (0..source.paths().count()).into_par_iter().map(of_file).collect::<Result<_, _>>()?;
        source.check_unchanged()?;
        let created = Provenance::utc(SystemTime::now());
        Ok(Provenance { created, program: Provenance::PROGRAM.to_owned(), input, policy, unconfirmed, policy_text })
    }
}

/// Request of `moretta report verify`.
#[derive(Debug, Clone)]
pub struct VerifyReport {
    /// A report: .html or .json.
    pub report: PathBuf,
    /// The released file.
    pub released: PathBuf,
}

/// Whether a report is about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedReport {
    /// SHA-256 of the release that the report is about.
    pub in_report: String,
    /// SHA-256 of the file.
    pub of_file: String,
}

impl VerifiedReport {
    /// Whether report and file belong together.
    pub fn matches(&self) -> bool {
        self.in_report == self.of_file
    }
}

/// Finds out whether a report is about a file, by the SHA-256.
pub fn verify_report(request: &VerifyReport) -> Result<VerifiedReport, FlowError> {
    let text = read_text(&request.report, ErrorKind::Input)?;
    let in_report = recorded(&text).ok_or_else(|| {
        FlowError::input(
            request.report.display(),
            "it names no release by its SHA-256, so it is no report of `anonymize` or `apply`",
        )
    })?;
    Ok(VerifiedReport { in_report, of_file: sha256(&request.released)? })
}

/// The SHA-256 that a report names, in JSON or HTML.
fn recorded(report: &str) -> Option<String> {
    let found = if report.trim_start().starts_with('{') {
        let json: serde_json::Value = serde_json::from_str(report).ok()?;
        json["release"]["sha256"].as_str().map(str::to_owned)
    } else {
        // Texts of a page are escaped, so that none can look like this tag.
        let after = report.split_once(moretta_pages::RELEASE_TAG)?.1;
        after.split_once('<').map(|(digest, _)| digest.to_owned())
    };
    found.filter(|digest| digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
