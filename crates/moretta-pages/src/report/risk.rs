//! The risk of being found, before and after, for three kinds of people who might look.

use maud::{Markup, html};
use moretta_core::privacy::Lkc;
use moretta_insight::{
    report::Report,
    risk::{Risk, Risks},
};

use crate::{
    describe,
    numbers::{count, counted, length, percent},
    shell::{head, number, scrolling, text, wide},
};

/// A figure of the table.
type Figure = fn(&Risks) -> f64;

pub(super) fn part(report: &Report) -> Markup {
    let risk = &report.risk;
    html! {
        h3 #risk { "The risk of being found" }
        p {
            "For somebody who knows " (describe::listed(&describe::quasi_identifiers(&report.policy), "and"))
            " of a person exactly: the chance of picking this person’s record. " (in_short(risk, report.privacy.smallest_group))
        }
        (scrolling("Risk before and after", table(risk)))
        p.note { (population(report)) " Suppressed records count as one group, like any other." }
        (without_k(report))
    }
}

/// What whoever signs should remember.
fn in_short(risk: &Risk, smallest: u64) -> Markup {
    let (before, after) = (risk.before.prosecutor, risk.after.prosecutor);
    html! {
        strong {
            "Before, " (percent(before.unique)) " of the records looked like no other; in the release "
            @if after.unique == 0.0 { "none does" } @else { (percent(after.unique)) " still do" }
            ", and nobody is found with a chance of more than 1 in " (count(smallest.max(1))) "."
        }
    }
}

fn table(risk: &Risk) -> Markup {
    let threshold = format!("records found with a chance above {}", percent(risk.threshold));
    let prosecutor: [(&str, Figure); 4] = [
        ("who is easiest to find", |risks| risks.prosecutor.highest),
        ("on average", |risks| risks.prosecutor.mean),
        (&threshold, |risks| risks.prosecutor.above_threshold),
        ("records that look like no other", |risks| risks.prosecutor.unique),
    ];
    let journalist: [(&str, Figure); 2] =
        [("who is easiest to find", |risks| risks.journalist.highest), ("on average", |risks| risks.journalist.mean)];
    let marketer: [(&str, Figure); 1] = [("records that would be found", |risks| risks.marketer.expected)];
    html! {
        table.risk {
            caption { "Chances of being found, and shares of the records" }
            (head(&[text("Who looks"), wide("Before, after"), number("Before"), number("After")]))
            (rows(risk, "Knows that the person is in the table", "(the prosecutor)", &prosecutor))
            (rows(risk, "Does not know whether the person is in it", "(the journalist)", &journalist))
            (rows(risk, "Wants to find as many people as possible", "(the marketer)", &marketer))
        }
    }
}

fn rows(risk: &Risk, who: &str, name: &str, figures: &[(&str, Figure)]) -> Markup {
    html! {
        tbody {
            tr.role { th scope="rowgroup" colspan="4" { (who) " " span { (name) } } }
            @for (words, figure) in figures {
                @let (before, after) = (figure(&risk.before), figure(&risk.after));
                tr {
                    th scope="row" { (words) }
                    td.wide { (bars(before, after)) }
                    td.number { (percent(before)) }
                    td.number { (percent(after)) }
                }
            }
        }
    }
}

/// One above the other; the figures beside them say the same.
fn bars(before: f64, after: f64) -> Markup {
    html! {
        svg.bar width="100%" height="14" aria-hidden="true" {
            rect.track x="0" y="0" width="100%" height="14" {}
            rect.before x="0" y="0" width=(length(before * 100.0)) height="7" {}
            rect.after x="0" y="7" width=(length(after * 100.0)) height="7" {}
        }
    }
}

fn population(report: &Report) -> Markup {
    html! {
        @match report.risk.population {
            Some(people) => {
                "The policy says that the table was drawn from " (counted(people, "person", "people"))
                ", each with the same chance. The journalist and the marketer then have to guess among all of them "
                "who look alike; whoever looks like nobody else in the table may be alone outside as well, which "
                "counts."
            }
            None => {
                "The policy does not say number of people the table was drawn from (" code { "population" } " in "
                code { "[input]" } "), so the table itself counts as the population and the journalist is as sure as "
                "the prosecutor: the worst that can be."
            }
        }
    }
}

fn without_k(report: &Report) -> Markup {
    html! {
        @if report.policy.privacy.k().is_none() {
            p.note.warning {
                strong { "Note: " }
                @if report.policy.privacy.first::<Lkc>().is_some_and(|lkc| lkc.k > 1) {
                    "no least size of a group was asked for somebody who knows all of these columns (k), only for "
                    "somebody who knows a few of them."
                } @else {
                    "no least size of a group was asked for (k). The policy limits what can be inferred, not whether a "
                    "record can be found."
                }
            }
        }
    }
}
