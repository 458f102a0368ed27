//! A policy's guarantees as sentences, and lists of names as people write them.

use maud::{Markup, html};
use moretta_core::{
    policy::Policy,
    privacy::{Part, Sentence},
};

use crate::numbers::{counted, limit_percent, percent};

/// Longer lists are cut, so that a table of a hundred columns still has a readable first sentence.
const MOST_NAMED: usize = 8;

/// A column's name or a value. Its direction of writing stays its own, whatever characters it has.
pub(super) fn name(text: &str) -> Markup {
    html! { bdi.name { (text) } }
}

/// `a, b and c`.
pub(super) fn listed<T: AsRef<str>>(names: &[T], last: &str) -> Markup {
    let shown = if names.len() > MOST_NAMED { MOST_NAMED - 1 } else { names.len() };
    html! {
        @for (index, text) in names[..shown].iter().enumerate() {
            @if index > 0 && index + 1 == names.len() { " " (last) " " } @else if index > 0 { ", " }
            (name(text.as_ref()))
        }
        @if shown < names.len() { " " (last) " " (names.len() - shown) " more" }
    }
}

/// The names of the quasi-identifiers.
pub(super) fn quasi_identifiers(policy: &Policy) -> Vec<&str> {
    policy.quasi_identifiers().map(|column| column.name.as_str()).collect()
}

/// Everything the policy guarantees, a sentence without its full stop for each.
pub(super) fn guarantees(policy: &Policy) -> Vec<Markup> {
    policy.privacy.models.iter().map(|model| sentence(&model.sentence(&policy.columns))).collect()
}

/// A sentence with its names marked up.
pub(super) fn sentence(sentence: &Sentence) -> Markup {
    html! {
        @for part in sentence.parts() {
            @match part {
                Part::Text(text) => (text),
                Part::Name(text) => (name(text)),
                Part::Names(names, last) => (listed(names, last)),
                Part::Share(share) => (limit_percent(*share)),
                Part::Measured(share) => (percent(*share)),
                Part::Records(records) => (counted(*records, "record", "records")),
            }
        }
    }
}
