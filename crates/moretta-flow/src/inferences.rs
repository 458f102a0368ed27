//! `inferences`: what a file gives away as it stands, raw or released.

use std::path::PathBuf;

use moretta_core::{
    observer::{Note, Stage},
    policy::Policy,
    privacy::Template,
    schema::Role,
};
use moretta_insight::inferences::{self, Listing, Question};

use crate::{
    error::{ErrorKind, FlowError},
    files::{Form, OutputFile},
    policy::LoadedPolicy,
    preflight,
    session::{Session, check_stop},
};

/// `moretta inferences`
#[derive(Debug, Clone)]
pub struct Inferences {
    /// A file, a folder of files, or a pattern: raw data or a release.
    pub input: String,
    /// The policy file.
    pub policy: PathBuf,
    /// Inferences above this confidence are listed.
    pub above: f64,
    /// At most this many are listed.
    pub most: Option<usize>,
    /// The list as .csv.
    pub output: OutputFile,
}

impl Session<'_> {
    /// Lists the sensitive values that an attacker could infer, with confidence.
    pub fn inferences(&self, request: &Inferences) -> Result<Listing, FlowError> {
        self.install(|| {
            let loaded = LoadedPolicy::read(&request.policy)?;
            check_asks(&loaded.policy, &loaded.name)?;
            let engine = self.open(&request.input, &loaded.policy.input)?;
            let rule = "a list of inferences is CSV, its name ends in .csv; `--json` prints it as JSON";
            request.output.form(&[Form::Csv], rule)?;
            request.output.check(&loaded.files, &[&engine])?;
            // Every text is a value of its own: raw values and released labels are counted by the same code.
            let profile = preflight::release(&loaded, &engine, Stage::Reading, self.observer)?;
            preflight::model_values(&loaded.policy, &profile, &loaded.name)?;
            let questions = Question::of_policy(&loaded.policy, &profile)?;
            let found = inferences::find(&profile, &questions, request.above, request.most);
            check_stop(self.observer)?;
            let (file, privacy, above) = (request.input.clone(), loaded.policy.privacy, request.above);
            let listing = Listing { file, privacy, above, profile, questions, found };
            request.output.write(|| moretta_pages::inferences::csv(&listing))?;
            let (shown, like) = ("real combinations of values", request.input.clone());
            self.observer.note(&Note::Confidential { shown, like });
            Ok(listing)
        })
    }
}

fn check_asks(policy: &Policy, name: &str) -> Result<(), FlowError> {
    let sensitive = policy.columns.iter().any(|column| column.role == Role::Sensitive);
    if sensitive || policy.privacy.first::<Template>().is_some() {
        return Ok(());
    }
    let message =
        "there is nothing to infer: no column has the role `sensitive`, and there is no `[[privacy.template]]`";
    Err(FlowError::of_file(ErrorKind::Policy, name, message))
}
