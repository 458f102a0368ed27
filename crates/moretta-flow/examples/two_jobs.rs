//! Makes one release with a progress callback, and cancels another: `two_jobs PEOPLE.csv POLICY.toml OUT.csv`
use std::path::PathBuf;

use moretta_core::observer::{Observer, Stage, Stop};
use moretta_flow::{Anonymize, Earlier, ErrorKind, FlowError, Output, ReleaseOptions, Resources, Session};

struct Progress(Option<Stop>);

impl Observer for Progress {
    fn stage(&self, stage: Stage) {
        println!("{} ..", stage.name());
    }
    fn stop(&self) -> Option<Stop> {
        self.0
    }
}

pub(crate) fn release(input: String, policy: String, output: String) -> Result<(), FlowError> {
    let output = Output { release: PathBuf::from(output).into(), reports: Vec::new(), overwrite: false, format: None };
    let options = ReleaseOptions::default();
    let (input, policy) = (input.into(), PathBuf::from(policy).into());
    let request = Anonymize { input, policy, output, recoding: None, earlier: Earlier::default(), options };
    let cancelled = Session::new(Resources::default(), &Progress(Some(Stop::Cancelled)))?.anonymize(&request);
    assert!(cancelled.is_err_and(|error| error.kind == ErrorKind::Interrupted));
    let report = Session::new(Resources::default(), &Progress(None))?.anonymize(&request)?;
    println!("{} groups, the smallest of {}", report.groups, report.privacy.smallest_group);
    Ok(())
}

pub(crate) fn main() -> Result<(), FlowError> {
    let argument = |at| std::env::args().nth(at).expect("two_jobs PEOPLE.csv POLICY.toml OUT.csv");
    release(argument(1), argument(2), argument(3))
}
