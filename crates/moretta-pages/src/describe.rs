//! Guarantees of a policy as sentences, and lists of names.

use maud::{Markup, html};
use moretta_core::{
    policy::Policy,
    privacy::{Part, Sentence},
    schema::Unit,
};

use crate::numbers::{counted, limit_percent, percent};

/// Maximum number of names in a list; longer lists are cut to keep sentences readable.
const MAX_NAMED: usize = 8;

/// A column name or a value, isolated from the text direction around it.
pub(super) fn name(text: &str) -> Markup {
    html! { bdi.name { (text) } }
}

/// All names, however many.
pub(super) fn all_listed<T: AsRef<str>>(names: &[T], last: &str) -> Markup {
    html! {
        @for (index, text) in names.iter().enumerate() {
            @if index > 0 && index + 1 == names.len() { " " (last) " " } @else if index > 0 { ", " }
            (name(text.as_ref()))
        }
    }
}

/// `a, b and c`, or `a, b and 7 more`
pub(super) fn listed<T: AsRef<str>>(names: &[T], last: &str) -> Markup {
    let shown = if names.len() > MAX_NAMED { MAX_NAMED - 1 } else { names.len() };
    html! {
        @for (index, text) in names[..shown].iter().enumerate() {
            @if index > 0 && index + 1 == names.len() { " " (last) " " } @else if index > 0 { ", " }
            (name(text.as_ref()))
        }
        @if shown < names.len() { " " (last) " " (names.len() - shown) " more" }
    }
}

/// Returns the names of the quasi-identifiers.
pub(super) fn quasi_identifiers(policy: &Policy) -> Vec<&str> {
    policy.quasi_identifiers().map(|column| column.name.as_str()).collect()
}

/// Returns a sentence per privacy model, without its full stop.
pub(super) fn guarantees(policy: &Policy) -> Vec<Markup> {
    policy.privacy.models.iter().map(|model| sentence(&model.sentence(&policy.columns))).collect()
}

/// Renders a sentence with its names marked up.
pub(super) fn sentence(sentence: &Sentence) -> Markup {
    html! {
        @for part in sentence.parts() {
            @match part {
                Part::Text(text) => (text),
                Part::Name(text) => (name(text)),
                Part::Names(names, last) => (listed(names, last)),
                Part::Share(share) => (limit_percent(*share)),
                Part::Measured(share) => (percent(*share)),
                Part::Size(size, Unit::Records) => (counted(*size, "record", "records")),
                Part::Size(size, Unit::Persons) => (counted(*size, "person", "persons")),
            }
        }
    }
}
