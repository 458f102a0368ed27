//! Parts of a report that only the signer needs (origin, statistics, rows), and the check whether a report is about a
//! file.

use std::{
    panic::resume_unwind,
    path::PathBuf,
    sync::atomic::{AtomicU8, Ordering},
    time::SystemTime,
};

use moretta_core::{
    engine::{ReleaseFile, Staged},
    observer::{Observer, Stop},
    publish::ReadBack,
    schema::Unit,
    verify::Verified,
};
use moretta_engine::{Source, digest, sha256};
use moretta_insight::{provenance::Provenance, report::Report, statistics::Statistics, typical_rows::TypicalRows};

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
    /// Statistics of a release; `None` if the policy counts persons: a value of many records may be of one.
    pub(crate) fn statistics(&self, verified: &Verified<'_>) -> Option<Statistics> {
        let (policy, profile) = (verified.policy(), verified.profile());
        (policy.unit() == Unit::Records).then(|| Statistics::of(policy, profile, verified.released()))
    }

    /// Adds a few rows, which only a report for people needs.
    pub(crate) fn add_rows<S: Staged>(
        &self,
        report: &mut Report,
        verified: &Verified<'_>,
        release: &ReadBack<S>,
    ) -> Result<(), FlowError> {
        let (policy, profile) = (verified.policy(), verified.profile());
        // A released file does not say which records are of one person.
        if policy.unit() == Unit::Persons {
            return Ok(());
        }
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

    /// Does some work, and digests the input files meanwhile if `wanted`, on a thread of its own unless the session has
    /// only one. If the work fails, the digest ends.
    pub(crate) fn with_digests<T>(
        &self,
        source: &Source,
        wanted: bool,
        work: impl FnOnce() -> Result<T, FlowError>,
    ) -> Result<(T, Vec<ReleaseFile>), FlowError> {
        let digests = |observer: &dyn Observer| -> Result<Vec<ReleaseFile>, FlowError> {
            (0..source.paths().count()).map(|file| Ok(source.digest(file, observer)?)).collect()
        };
        if !wanted {
            return Ok((work()?, Vec::new()));
        }
        if self.engine_options().threads < 2 {
            let result = work()?;
            return Ok((result, digests(self.observer)?));
        }
        let beside = BesideWork { observer: self.observer, work: AtomicU8::new(RUNNING) };
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| digests(&beside));
            let result = work();
            beside.work.store(if result.is_ok() { DONE } else { FAILED }, Ordering::Relaxed);
            let digests = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            Ok((result?, digests?))
        })
    }

    /// Describes the files of a release. The input must be what it was; `input` are its digests.
    pub(crate) fn provenance(
        &self,
        source: &Source,
        (input, policy): (Vec<ReleaseFile>, Vec<ReleaseFile>),
        unconfirmed: usize,
        policy_text: Option<String>,
    ) -> Result<Provenance, FlowError> {
        source.check_unchanged()?;
        let created = Provenance::utc(SystemTime::now());
        Ok(Provenance { created, program: Provenance::PROGRAM.to_owned(), input, policy, unconfirmed, policy_text })
    }
}

const RUNNING: u8 = 0;
const DONE: u8 = 1;
const FAILED: u8 = 2;

/// Observer of what is done beside the work of a job. The work decides what a stop request means to the job, which may
/// go on with what it has; so requests count here only after it.
struct BesideWork<'a> {
    observer: &'a dyn Observer,
    work: AtomicU8,
}

impl Observer for BesideWork<'_> {
    fn stop(&self) -> Option<Stop> {
        match self.work.load(Ordering::Relaxed) {
            RUNNING => None,
            DONE => self.observer.stop(),
            _ => Some(Stop::Cancelled),
        }
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

#[cfg(test)]
mod tests {
    use moretta_core::observer::NoObserver;

    use super::*;

    struct Stopped;

    impl Observer for Stopped {
        fn stop(&self) -> Option<Stop> {
            Some(Stop::Cancelled)
        }
    }

    #[test]
    fn the_work_decides_about_requests_to_stop() {
        let stop = |observer: &dyn Observer, work| BesideWork { observer, work: AtomicU8::new(work) }.stop();
        let cancelled = Some(Stop::Cancelled);
        assert_eq!([RUNNING, DONE, FAILED].map(|work| stop(&Stopped, work)), [None, cancelled, cancelled]);
        assert_eq!([RUNNING, DONE, FAILED].map(|work| stop(&NoObserver, work)), [None, None, cancelled]);
    }
}
