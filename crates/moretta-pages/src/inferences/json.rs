//! Counts and all inferences as JSON.

use moretta_core::privacy::{Lkc, Template};
use moretta_insight::inferences::{GuardedValue, Inference, Listing, Question, THRESHOLDS, Tallies, Tally, columns};
use serde_json::{Value, json};

use crate::json::{in_order, pretty};

/// Returns the JSON text.
pub fn json(listing: &Listing) -> String {
    let privacy = &listing.privacy;
    let source = match (privacy.first::<Template>().is_none(), privacy.first::<Lkc>()) {
        (false, None) => "templates",
        (false, Some(_)) => "templates-and-lkc",
        (true, Some(_)) => "lkc",
        (true, None) => "sensitive-columns",
    };
    let mut document = json!({ "rows": listing.profile.records(), "asked": source, "above": listing.above });
    add_counts(&mut document, listing, &listing.found.all);
    let questions = listing.questions.iter().zip(&listing.found.by_question);
    document["questions"] = questions.map(|(question, tallies)| question_row(listing, question, tallies)).collect();
    let found = listing.found.listed.iter();
    document["inferences"] = found.map(|inference| inference_row(listing, inference)).collect();
    pretty(&document)
}

fn add_counts(to: &mut Value, listing: &Listing, tallies: &Tallies) {
    let above = |(above, tally): (f64, Tally)| json!({ "above": above, "inferences": tally.inferences, "records": tally.records });
    to["counts"] = THRESHOLDS.into_iter().zip(tallies.above).map(above).collect();
    to["listed"] = json!(tallies.listed);
    // Null if the policy sets no limit.
    to["broken"] = json!(listing.is_limited().then_some(tallies.above_limit));
}

fn question_row(listing: &Listing, question: &Question, tallies: &Tallies) -> Value {
    let attribute = listing.attribute(question);
    let guarded = |of: &GuardedValue| json!({ "value": attribute.values[of.value as usize], "max_confidence": of.max_confidence });
    let mut row = json!({ "given": listing.names(&columns(question)).collect::<Vec<_>>() });
    if question.known.len() > 1 {
        // Any combination of this many columns is known; without this field, all are.
        row["any"] = json!(question.known[0].len());
    }
    row["column"] = json!(attribute.name);
    row["values"] = question.values.iter().map(guarded).collect();
    add_counts(&mut row, listing, tallies);
    row
}

fn inference_row(listing: &Listing, inference: &Inference) -> Value {
    let (column, value) = listing.inferred(inference);
    json!({
        "given": in_order(listing.known(inference)),
        "column": column,
        "value": value,
        "confidence": inference.confidence(),
        "support": inference.support,
        "records": inference.records,
        "max_confidence": inference.max_confidence,
        "broken": inference.exceeds_limit(),
    })
}
