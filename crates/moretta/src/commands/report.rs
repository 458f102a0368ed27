//! `moretta report verify`

use moretta_flow::{FlowError, verify_report};
use serde::Serialize;

use crate::{
    arguments::VerifyReport,
    stdout::{print, print_data},
    summary::{GOOD, file_name, to_json},
};

#[derive(Serialize)]
struct VerifiedJson<'a> {
    matches: bool,
    report_sha256: &'a str,
    release_sha256: &'a str,
}

/// Fails if the report is about another file.
pub fn verify(arguments: VerifyReport) -> Result<(), FlowError> {
    let VerifyReport { report, released, json } = arguments;
    let request = moretta_flow::VerifyReport { report, released };
    let verified = verify_report(&request)?;
    let matches = verified.matches();
    let (report, released) = (file_name(&request.report), file_name(&request.released));
    if json {
        let (report_sha256, release_sha256) = (&*verified.in_report, &*verified.of_file);
        print_data(&to_json(&VerifiedJson { matches, report_sha256, release_sha256 }))?;
    } else if matches {
        let sha256 = &verified.of_file;
        print(&format!(
            "{GOOD}ok{GOOD:#}     {report} is about {released} (SHA-256 {sha256}); its text is not checked\n"
        ))?;
    }
    if matches {
        return Ok(());
    }
    Err(FlowError::unsatisfied(format!(
        "{report} is about another file than {released}: the release of the report has the SHA-256 {}, the file {}",
        verified.in_report, verified.of_file
    )))
}
