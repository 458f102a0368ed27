//! A policy's guarantees as sentences, and lists of names as people write them.

use maud::{Markup, html};
use moretta_core::{
    policy::{Distance, LDiversity, LDiversityKind, Lkc, Policy, TCloseness, Template, TemplateValues},
    schema::Role,
};

use crate::numbers::{count, counted, limit_percent};

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
    let privacy = &policy.privacy;
    let k = privacy.k.map(|k| k_anonymity(policy, k));
    let templates = privacy.templates.iter().map(template);
    let lkc = privacy.lkc.map(|asked| {
        let Lkc { k, c, .. } = asked;
        lkc(policy, asked, (k > 1).then_some(k), (c < 1.0).then(|| limit_percent(c)))
    });
    let diversity = privacy.l_diversity.iter().map(l_diversity);
    let closeness = privacy.t_closeness.iter().map(t_closeness);
    k.into_iter().chain(templates).chain(lkc).chain(diversity).chain(closeness).collect()
}

fn k_anonymity(policy: &Policy, k: u64) -> Markup {
    let names = quasi_identifiers(policy);
    html! {
        "every " @if names.len() == 1 { "value" } @else { "combination" } " of " (listed(&names, "and"))
        " is shared by at least " (count(k)) " records"
    }
}

fn template(template: &Template) -> Markup {
    let limit = limit_percent(template.max_confidence);
    html! {
        "whoever knows " (listed(&template.given, "and")) " of somebody can be at most " (limit) " sure that "
        (name(&template.column)) " is "
        @match &template.values {
            TemplateValues::Listed(values) => {
                (listed(values, "or"))
                @if values.len() > 1 { ", each taken on its own" }
            }
            TemplateValues::Rarest(share) => { "any one of the rarest " (limit_percent(*share)) " of its values" }
        }
    }
}

/// Who knows any few columns finds so many records and is so sure; what is none promises nothing.
pub(super) fn lkc(policy: &Policy, asked: Lkc, records: Option<u64>, sure: Option<String>) -> Markup {
    let names = quasi_identifiers(policy);
    let sensitive = policy.columns.iter().filter(|column| column.role == Role::Sensitive);
    let sensitive: Vec<&str> = sensitive.map(|column| column.name.as_str()).collect();
    html! {
        "whoever knows " @if asked.l < names.len() as u64 { "any " (asked.l) " of " } (listed(&names, "and"))
        " of somebody "
        @if let Some(records) = records { "finds at least " (counted(records, "record", "records")) " alike" }
        @if records.is_some() && sure.is_some() { " and " }
        @if let Some(sure) = &sure { "can be at most " (sure) " sure of any value of " (listed(&sensitive, "or")) }
    }
}

fn l_diversity(model: &LDiversity) -> Markup {
    let column = name(&model.column);
    html! {
        @match model.kind {
            LDiversityKind::Distinct => {
                "in every group, " (column) " has at least " (model.l.to_string()) " different values"
            }
            LDiversityKind::Entropy => {
                "in every group, the values of " (column) " are spread at least as evenly as " (model.l.to_string())
                " equally frequent ones (entropy)"
            }
            LDiversityKind::Recursive { c } => {
                "in every group, the commonest value of " (column) " occurs less than " (c.to_string())
                " times as often as number " (model.l.to_string()) " in frequency and all rarer ones together"
            }
        }
    }
}

fn t_closeness(model: &TCloseness) -> Markup {
    html! {
        "in every group, " (name(&model.column)) " is spread nearly as in the whole table: the two are at most "
        (model.t.to_string()) " apart, on a scale from 0 to 1 ("
        @match model.distance {
            Distance::Equal => "all values equally far from each other",
            Distance::Ordered => "values as far apart as their places in order",
            Distance::Hierarchical => "values as far apart as their closest common node in the hierarchy is high",
        }
        ")"
    }
}
