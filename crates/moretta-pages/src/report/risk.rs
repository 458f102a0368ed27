//! Re-identification risk before and after, for the three attackers of the literature: prosecutor, journalist,
//! marketer.

use maud::{Markup, html};
use moretta_core::{privacy::Lkc, schema::Unit};
use moretta_insight::{
    household::Households,
    report::Report,
    risk::{Risk, Risks},
};

use super::kept;
use crate::{
    describe,
    numbers::{count, counted, length, percent},
    shell::{head, number, scrolling, text, wide},
};

/// Reads one figure of the table.
type Figure = fn(&Risks) -> f64;

pub(super) fn part(report: &Report) -> Markup {
    let risk = &report.risk;
    html! {
        h3 #risk { "Re-identification risk" }
        p {
            "Probability that an attacker who knows the exact "
            (describe::all_listed(&describe::quasi_identifiers(&report.policy), "and"))
            " of a person picks this person’s record. "
            (main_result(risk, report.privacy.smallest_group, report.policy.unit()))
            @if report.kept.as_ref().is_some_and(|kept| kept.finds_many()) {
                " An attacker who knows values that are released unchanged finds many more, see below."
            }
        }
        (scrolling("Risk before and after", table(risk, report.policy.unit())))
        p.note { (population(report)) " Suppressed records count as one group." }
        (household(report))
        (kept::part(report))
        (without_k(report))
    }
}

/// The main result in one sentence.
fn main_result(risk: &Risk, smallest: u64, unit: Unit) -> Markup {
    let (before, after) = (risk.before.prosecutor, risk.after.prosecutor);
    html! {
        strong {
            "In the original, " (percent(before.unique)) " of the " (unit.plural()) " were unique; in the release "
            @if after.unique == 0.0 { "none is" } @else { (percent(after.unique)) " still are" }
            @match risk.largest_share {
                None => {
                    ", and an attacker who knows nothing else finds no person with a probability above 1 in "
                    (count(smallest.max(1))) "."
                }
                Some(share) => {
                    ", and every person is in a group of at least " (unit.counted(smallest)) ". One person has up to "
                    (percent(share)) " of the records of a group: an attacker who picks one of its records at random picks "
                    "one of that person with this probability."
                }
            }
        }
    }
}

fn table(risk: &Risk, unit: Unit) -> Markup {
    let units = unit.plural();
    let threshold = format!("{units} with a risk above {}", percent(risk.threshold));
    let (unique, found) = (format!("unique {units}"), format!("{units} re-identified on average"));
    let prosecutor: [(&str, Figure); 4] = [
        ("highest risk", |risks| risks.prosecutor.highest),
        ("mean risk", |risks| risks.prosecutor.mean),
        (&threshold, |risks| risks.prosecutor.above_threshold),
        (&unique, |risks| risks.prosecutor.unique),
    ];
    let journalist: [(&str, Figure); 2] =
        [("highest risk", |risks| risks.journalist.highest), ("mean risk", |risks| risks.journalist.mean)];
    let marketer: [(&str, Figure); 1] = [(&found, |risks| risks.marketer.expected)];
    html! {
        table.risk {
            caption { "Probabilities of re-identification, and shares of the " (units) }
            (head(&[text("Attacker"), wide("Before, after"), number("Before"), number("After")]))
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

/// Two bars, one above the other; decoration of the numbers next to them.
fn bars(before: f64, after: f64) -> Markup {
    html! {
        svg.bar width="100%" height="14" aria-hidden="true" {
            rect.track x="0" y="0" width="100%" height="14" {}
            rect.before x="0" y="0" width=(length(before * 100.0)) height="7" {}
            rect.after x="0" y="7" width=(length(after * 100.0)) height="7" {}
        }
    }
}

/// The risk that a household is found by any of its members.
fn household(report: &Report) -> Markup {
    let Some(Households { before, after }) = report.risk.household else { return html! {} };
    let threshold = percent(report.risk.threshold);
    html! {
        p {
            "An attacker who finds one member of a household finds all of them: the mean risk of a record is then "
            (percent(before.mean)) " in the original and " (percent(after.mean)) " in the release, where "
            (format!("{:.1}", after.expected)) " records are found on average (" (format!("{:.1}", before.expected))
            " before). "
            (counted(after.above_only_by_household, "record has", "records have")) " a risk above " (threshold)
            " only because of the household (" (count(before.above_only_by_household)) " before)."
        }
    }
}

fn population(report: &Report) -> Markup {
    html! {
        @match report.risk.population {
            Some(people) => {
                "The policy says that the table was drawn from " (counted(people, "person", "people"))
                ", each with the same probability. The journalist and the marketer must guess among all people of the "
                "population with the same values; a record that is unique in the table may be unique in the population "
                "too, which is taken into account."
            }
            None => {
                "The policy does not say how many people the table was drawn from (" code { "population" } " in "
                code { "[input]" } "), so the table itself counts as the population, and the risk of the journalist "
                "equals that of the prosecutor: the worst case."
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
                    "the policy sets no minimum group size (k) against an attacker who knows all of these columns, only "
                    "against one who knows a few of them."
                } @else {
                    "the policy sets no minimum group size (k). It limits what can be inferred, not whether a record can "
                    "be found."
                }
            }
        }
    }
}
