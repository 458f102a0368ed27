//! `init`: a first policy from a look at the data.

use moretta_core::{engine::Records, hierarchy::parse_number, policy::InputOptions};
use moretta_guess::Guesses;

use crate::{error::FlowError, files::OutputFile, session::Session};

/// Records in the sample: enough to distinguish an id from a postcode, and read in an instant.
const SAMPLE: usize = 100_000;

/// `moretta init`
#[derive(Debug, Clone)]
pub struct Init {
    /// A file, a folder of files, or a pattern.
    pub input: String,
    /// The policy to write.
    pub output: OutputFile,
}

/// A draft of a policy.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The guess for each column, with its reason.
    pub guesses: Guesses,
    /// The policy, with a comment on every guess.
    pub text: String,
}

impl Session<'_> {
    /// Inspects a dataset and drafts a policy.
    pub fn init(&self, request: &Init) -> Result<Draft, FlowError> {
        let engine = self.open(&request.input, &InputOptions::default())?;
        request.output.check(&[], &[&engine])?;
        let sample = engine.sample(SAMPLE)?;
        let numbers = sample.columns.iter().filter(|name| parse_number(name).is_ok()).count();
        if 3 * numbers >= sample.columns.len() {
            // The names are not shown: they may be a person's.
            let message = "a third of the first line are numbers; is the header that names the columns missing?";
            return Err(FlowError::input(&request.input, message));
        }
        let mut facts = moretta_guess::facts(&sample.columns, &sample.rows);
        facts.iter_mut().for_each(|column| column.complete = sample.rows.len() < SAMPLE);
        let guesses = moretta_guess::guess(&facts);
        let text = moretta_guess::policy_text(&guesses, &request.input);
        request.output.write(|| text.clone())?;
        Ok(Draft { guesses, text })
    }
}
