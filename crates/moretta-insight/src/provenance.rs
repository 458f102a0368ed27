//! Origin of a release: when, by which program, and from which files it was made. Files are named by their SHA-256, so
//! that the one who signs knows which files the report is about.

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use moretta_core::engine::ReleaseFile;
use serde::Serialize;

/// Origin of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Date and time in UTC, as in `2026-11-18 20:15 UTC`.
    pub created: String,
    /// Name and version of the program.
    pub program: String,
    /// Files of the input, in the order in which they were read.
    pub input: Vec<ReleaseFile>,
    /// The policy and the files that it names; for `apply` the recoding.
    pub policy: Vec<ReleaseFile>,
    /// Lines of the policy that are still marked CONFIRM.
    pub unconfirmed: usize,
    /// Text of the policy file, if there is one.
    #[serde(skip)]
    pub policy_text: Option<String>,
}

impl Provenance {
    /// The program that makes the release, as pages name it.
    pub const PROGRAM: &str = concat!("moretta ", env!("CARGO_PKG_VERSION"));

    /// Formats a time for [`Provenance::created`].
    pub fn utc(time: SystemTime) -> String {
        DateTime::<Utc>::from(time).format("%Y-%m-%d %H:%M UTC").to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_in_utc() {
        let at = |seconds| Provenance::utc(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(
            [0, 951_782_399, 1_795_000_000].map(at),
            ["1970-01-01 00:00 UTC", "2000-02-28 23:59 UTC", "2026-11-18 11:06 UTC"]
        );
    }
}
