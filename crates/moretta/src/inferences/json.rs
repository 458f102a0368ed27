//! Everything, for programs.

use moretta_core::inferences::{Inference, Question, THRESHOLDS, Tallies, Tally};
use serde::{Serialize, Serializer};

use super::{Listing, columns};

#[derive(Serialize)]
struct Everything<'a> {
    rows: u64,
    /// What was asked: `templates`, `lkc`, `templates-and-lkc`, or `sensitive-columns` where there is neither.
    asked: &'static str,
    above: f64,
    #[serde(flatten)]
    counts: Counts,
    questions: Vec<Asked<'a>>,
    inferences: Vec<Told<'a>>,
}

#[derive(Serialize)]
struct Counts {
    counts: Vec<Above>,
    listed: Tally,
    /// None where the policy sets no limit.
    broken: Option<Tally>,
}

#[derive(Serialize)]
struct Above {
    above: f64,
    #[serde(flatten)]
    tally: Tally,
}

#[derive(Serialize)]
struct Asked<'a> {
    given: Vec<&'a str>,
    /// Where it is any choice of so many of them; otherwise all of them are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    any: Option<usize>,
    column: &'a str,
    values: Vec<Guarded<'a>>,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize)]
struct Guarded<'a> {
    value: &'a str,
    max_confidence: Option<f64>,
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(serialize_with = "in_order")]
    given: Vec<(&'a str, &'a str)>,
    column: &'a str,
    value: &'a str,
    confidence: f64,
    support: u64,
    records: u64,
    max_confidence: Option<f64>,
    broken: bool,
}

fn in_order<S: Serializer>(pairs: &[(&str, &str)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}

impl Listing<'_> {
    /// As JSON.
    pub fn json(&self) -> String {
        let everything = Everything {
            rows: self.profile.records(),
            asked: match (self.privacy.templates.is_empty(), self.privacy.lkc) {
                (false, None) => "templates",
                (false, Some(_)) => "templates-and-lkc",
                (true, Some(_)) => "lkc",
                (true, None) => "sensitive-columns",
            },
            above: self.above,
            counts: self.counts(&self.found.all),
            questions: self.questions.iter().zip(&self.found.by_question).map(|(q, of)| self.asked(q, of)).collect(),
            inferences: self.found.listed.iter().map(|inference| self.told(inference)).collect(),
        };
        serde_json::to_string_pretty(&everything).expect("texts and numbers") + "\n"
    }

    fn counts(&self, tallies: &Tallies) -> Counts {
        let above = |(above, tally)| Above { above, tally };
        Counts {
            counts: THRESHOLDS.into_iter().zip(tallies.above).map(above).collect(),
            listed: tallies.listed,
            broken: self.is_limited().then_some(tallies.broken),
        }
    }

    fn asked<'a>(&'a self, question: &'a Question, tallies: &Tallies) -> Asked<'a> {
        let attribute = self.attribute(question);
        let guarded = |of: &moretta_core::inferences::Guarded| Guarded {
            value: &attribute.values[of.value as usize],
            max_confidence: of.max_confidence,
        };
        Asked {
            given: columns(question).iter().map(|id| self.profile.columns()[id.index()].name.as_str()).collect(),
            any: (question.known.len() > 1).then(|| question.known[0].len()),
            column: &attribute.name,
            values: question.values.iter().map(guarded).collect(),
            counts: self.counts(tallies),
        }
    }

    fn told(&self, inference: &Inference) -> Told<'_> {
        let (column, value) = self.inferred(inference);
        Told {
            given: self.known(inference).collect(),
            column,
            value,
            confidence: inference.confidence(),
            support: inference.support,
            records: inference.records,
            max_confidence: inference.max_confidence,
            broken: inference.is_broken(),
        }
    }
}
