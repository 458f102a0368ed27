//! Wang, Fung, Yu (KAIS 2007): inferences in the original data, classification error under privacy templates, and
//! running time.

mod claims;
mod credit;
mod errors;
mod scale;

use crate::{document::Document, error::PaperError, experiment::Experiment};

pub(crate) fn run(experiment: &Experiment<'_>) -> Result<Document, PaperError> {
    let mut document = Document::new(
        "2-top-down-disclosure",
        "Top-down disclosure",
        "Wang, Fung, Yu: Handicapping attacker's confidence: an alternative to k-anonymization, Knowledge and \
         Information Systems 11, 2007. The less frequent half of the values of the sensitive columns must not be \
         inferred from the other categorical columns with a confidence above h. As in the paper, the suppressions \
         are found on all records, which are then split; errors are those of a C4.5 tree on the test part. BE: on \
         the data as it is; SE: on the release; RE: without the sensitive columns.",
    );
    errors::inferences(experiment, &mut document)?;
    errors::all(experiment, &mut document)?;
    scale::run(experiment, &mut document)?;
    Ok(document)
}
