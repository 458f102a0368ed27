//! The first section: whether the release satisfies the policy, what the guarantees do not cover, and key figures. It
//! is green only if the policy is confirmed and unchanged columns single out few records.

use maud::{Markup, html};
use moretta_core::schema::Unit;
use moretta_insight::report::Report;

use super::{kept, provenance};
use crate::{
    describe,
    numbers::{NOTHING, count, counted, percent},
};

pub(super) fn section(report: &Report) -> Markup {
    let models = &report.privacy.models;
    let broken = models.iter().filter(|model| !model.holds).count();
    let is_confirmed = provenance::unconfirmed(report) == 0;
    let exposed = report.kept.as_ref().filter(|kept| kept.finds_many());
    let class = match (models.is_empty(), broken) {
        (false, 0) if is_confirmed && exposed.is_none() => "verdict good",
        (false, 0) => "verdict open",
        _ => "verdict bad",
    };
    html! {
        section class=(class) aria-labelledby="verdict" {
            @if models.is_empty() {
                h2 #verdict { "No guarantee was checked" }
                p { "The report has no privacy model, so it gives no guarantee for this release." }
            } @else if broken == 0 {
                @match exposed {
                    _ if !is_confirmed => h2 #verdict { "This release satisfies a policy that is not confirmed" },
                    None => h2 #verdict { (mark(true)) " This release satisfies the policy" },
                    Some(kept) => h2 #verdict {
                        "This release satisfies a policy that lets "
                        (percent(share(kept.together.unwrap_or_default().unique_rows, kept.rows)))
                        " of the records be found"
                    },
                }
                (satisfied(report))
            } @else {
                h2 #verdict { (mark(false)) " This release does not satisfy the policy" }
                p {
                    (broken) " of " (models.len()) @if models.len() == 1 { " check" } @else { " checks" }
                    @if broken == 1 { " fails" } @else { " fail" } ", see below. Do not publish this release."
                }
            }
            (provenance::warning(report))
            (kept::warning(report))
            (household_warning(report))
            (glance(report))
            @if report.provenance.is_some() {
                p.note { "Confidential: this report has figures of the original; keep it with the original. See Origin, below." }
            }
        }
    }
}

/// Says how many records are at high risk only because another member of the household is found.
fn household_warning(report: &Report) -> Markup {
    let above = report.risk.household.map_or(0, |households| households.after.above_only_by_household);
    html! {
        @if above > 0 {
            p.note.warning {
                strong { "Households are found together. " }
                (count(above)) " of " (counted(report.input.rows, "record has", "records have")) " a risk above " (percent(report.risk.threshold))
                " because finding one member of a household finds all; k does not limit that."
            }
        }
    }
}

/// A tick or a cross; hidden from screen readers, because the text says the same.
pub(super) fn mark(holds: bool) -> Markup {
    html! { span.good[holds].bad[!holds] aria-hidden="true" { @if holds { "✓" } @else { "✗" } } }
}

fn satisfied(report: &Report) -> Markup {
    let mut guarantees = describe::guarantees(&report.policy).into_iter();
    let rest = guarantees.len().saturating_sub(1);
    html! {
        @if let Some(first) = guarantees.next() { p.sentence { (first) "." } }
        @match rest {
            0 => {}
            1 => p { "The other guarantee holds too, see below." },
            n => p { "The " (n) " other guarantees hold too, see below." },
        }
    }
}

fn glance(report: &Report) -> Markup {
    let rows = report.input.rows;
    let starred = (report.starred_rows > report.suppressed_rows).then_some(report.starred_rows);
    let kept = report.kept.as_ref().and_then(|kept| kept.together).map(|together| share(together.unique_rows, rows));
    let smallest = match report.policy.unit() {
        Unit::Records => "Smallest group",
        Unit::Persons => "Persons in the smallest group",
    };
    let facts = [
        ("Records", count(rows)),
        (smallest, count(report.privacy.smallest_group)),
        ("Highest risk by quasi-identifiers", highest_risk(report).map_or(NOTHING.to_owned(), percent)),
        ("Records suppressed", percent(share(report.suppressed_rows, rows))),
        ("Information loss (GCP)", report.measures.get("gcp").map_or(NOTHING.to_owned(), percent)),
    ];
    html! {
        dl.glance {
            @for (term, figure) in facts { div { dt { (term) } dd { (figure) } } }
            @if let Some(persons) = report.input.persons { div { dt { "Persons" } dd { (count(persons)) } } }
            @if let Some(households) = report.risk.household {
                div { dt { "Mean risk by household" } dd { (percent(households.after.mean)) } }
            }
            @if let Some(kept) = kept {
                div { dt { "Records unique by kept columns" } dd { (percent(kept)) } }
            }
            @if let Some(starred) = starred {
                div { dt { "Records with * in every quasi-identifier" } dd { (percent(share(starred, rows))) } }
            }
        }
    }
}

/// Returns the probability of picking the right record in the smallest group.
fn highest_risk(report: &Report) -> Option<f64> {
    let smallest = report.privacy.smallest_group;
    (smallest > 0).then(|| share(1, smallest))
}

/// Returns `part / whole`, or 0 if `whole` is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}
