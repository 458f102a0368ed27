//! `inferences`: lists sensitive values that an attacker could infer from a file, original or released.

use moretta_core::observer::{Note, Stage};
use moretta_insight::inferences::{self, Listing, Question};

use crate::{
    error::FlowError,
    files::{OutputFile, OutputFormat},
    input::{Input, PolicySource},
    preflight,
    session::{Session, check_stop},
};

/// Request of `moretta inferences`.
#[derive(Debug, Clone)]
pub struct Inferences {
    /// The table: raw data or a release.
    pub input: Input,
    /// Policy of the request.
    pub policy: PolicySource,
    /// Only inferences above this confidence are listed, from 0 to below 1.
    pub above: f64,
    /// Maximum number of inferences listed; all by default.
    pub max_listed: Option<usize>,
    /// The list as .csv.
    pub output: OutputFile,
}

impl Session<'_> {
    /// Lists the sensitive values that an attacker could infer, with confidence. If the policy names nothing that could
    /// be inferred, the listing has no question.
    pub fn inferences(&self, request: &Inferences) -> Result<Listing, FlowError> {
        self.install(|| {
            let loaded = self.policy_for_release(&request.policy, &request.input)?;
            preflight::only_records(&loaded.policy, &loaded.name, "`inferences`")?;
            let (engine, loaded) = self.open_either(&request.input, loaded)?;
            let rule = "a list of inferences must be named .csv; `--json` prints JSON";
            request.output.format(&[OutputFormat::Csv], rule)?;
            request.output.check(&loaded.files, &[&engine])?;
            // Every text is a separate value, so original values and released labels are counted alike.
            let profile = self.released(&loaded, &engine, Stage::Reading)?;
            preflight::model_values(&loaded.policy, &profile, &loaded.name)?;
            self.note_spellings(&profile);
            let questions = Question::of_policy(&loaded.policy, &profile)?;
            let found = inferences::find(&profile, &questions, request.above, request.max_listed);
            check_stop(self.observer)?;
            let (file, privacy, above) = (request.input.to_string(), loaded.policy.privacy, request.above);
            let listing = Listing { file, privacy, above, profile, questions, found };
            request.output.write(|| moretta_pages::inferences::csv(&listing))?;
            let (shown, like) = ("real combinations of values", request.input.to_string());
            self.observer.note(&Note::Confidential { shown, like });
            Ok(listing)
        })
    }
}
