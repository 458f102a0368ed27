//! Everything, for programs.

use moretta_core::privacy::{Lkc, Template};
use moretta_insight::inferences::{GuardedValue, Inference, Listing, Question, THRESHOLDS, Tallies, Tally, columns};
use serde_json::{Value, json};

use crate::json::{in_order, pretty};

/// As JSON.
pub fn json(listing: &Listing) -> String {
    let privacy = &listing.privacy;
    let asked = match (privacy.first::<Template>().is_none(), privacy.first::<Lkc>()) {
        (false, None) => "templates",
        (false, Some(_)) => "templates-and-lkc",
        (true, Some(_)) => "lkc",
        (true, None) => "sensitive-columns",
    };
    let mut everything = json!({ "rows": listing.profile.records(), "asked": asked, "above": listing.above });
    add_counts(&mut everything, listing, &listing.found.all);
    let questions = listing.questions.iter().zip(&listing.found.by_question);
    everything["questions"] = questions.map(|(asked, tallies)| question(listing, asked, tallies)).collect();
    let found = listing.found.listed.iter();
    everything["inferences"] = found.map(|inference| row(listing, inference)).collect();
    pretty(&everything)
}

fn add_counts(to: &mut Value, listing: &Listing, tallies: &Tallies) {
    let above = |(above, tally): (f64, Tally)| json!({ "above": above, "inferences": tally.inferences, "records": tally.records });
    to["counts"] = THRESHOLDS.into_iter().zip(tallies.above).map(above).collect();
    to["listed"] = json!(tallies.listed);
    // Null if the policy sets no limit.
    to["broken"] = json!(listing.is_limited().then_some(tallies.broken));
}

fn question(listing: &Listing, question: &Question, tallies: &Tallies) -> Value {
    let attribute = listing.attribute(question);
    let guarded = |of: &GuardedValue| json!({ "value": attribute.values[of.value as usize], "max_confidence": of.max_confidence });
    let mut asked = json!({ "given": listing.names(&columns(question)).collect::<Vec<_>>() });
    if question.known.len() > 1 {
        // Any choice of so many of them; otherwise all of them are known.
        asked["any"] = json!(question.known[0].len());
    }
    asked["column"] = json!(attribute.name);
    asked["values"] = question.values.iter().map(guarded).collect();
    add_counts(&mut asked, listing, tallies);
    asked
}

fn row(listing: &Listing, inference: &Inference) -> Value {
    let (column, value) = listing.inferred(inference);
    json!({
        "given": in_order(listing.known(inference)),
        "column": column,
        "value": value,
        "confidence": inference.confidence(),
        "support": inference.support,
        "records": inference.records,
        "max_confidence": inference.max_confidence,
        "broken": inference.is_broken(),
    })
}
