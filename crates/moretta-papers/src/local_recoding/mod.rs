//! Xu, Wang, Pei, Wang, Shi, Fu (KDD 2006): top-down and bottom-up local recoding compared with Mondrian: information
//! loss, errors of query answers, and the effect of weights.

mod adult;
mod seeds;
mod synthetic;

use crate::{document::Document, error::PaperError, experiment::Experiment};

/// Methods: name in tables, and policy text.
const METHODS: [(&str, &str); 4] = [
    ("local-top-down", "name = \"local-top-down\""),
    ("local-bottom-up", "name = \"local-bottom-up\""),
    ("Mondrian", "name = \"mondrian\""),
    ("Mondrian, widest", "name = \"mondrian\"\nchoose = \"widest\""),
];
const TOP_DOWN: usize = 0;
const BOTTOM_UP: usize = 1;
const MONDRIAN: usize = 2;
const WIDEST: usize = 3;

pub(crate) fn run(experiment: &Experiment<'_>) -> Result<Document, PaperError> {
    let mut document = Document::new(
        "4-local-recoding",
        "Utility-based local recoding",
        "Xu, Wang, Pei, Wang, Shi, Fu: Utility-based anonymization using local recoding, KDD 2006. *Mondrian* is ours \
         with its defaults; *widest* splits the column with the widest range, as its authors published it and as the \
         paper uses it. Our methods move records between groups at the end (`polish`), which the paper does not do; \
         it only lowers the loss.",
    );
    adult::run(experiment, &mut document)?;
    synthetic::run(experiment, &mut document)?;
    seeds::run(experiment, &mut document)?;
    Ok(document)
}
