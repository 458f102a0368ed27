//! The page on the privacy-utility trade-off.

use maud::{Markup, html};
use moretta_core::measure::MEASURES;
use moretta_insight::tradeoff::{Point, TradeOff, caveat, held, lost, release, what};

use super::svg::{is_left_out, with_panel};
use crate::{
    numbers::{NOTHING, count, counted, figure, percent},
    shell::{capitalized, folded, in_code, scrolling, shell},
};

/// Maximum number of steps shown open; more are collapsed.
const MAX_OPEN: usize = 30;

/// Returns the page. `title` is the name of the input.
pub fn page(tradeoff: &TradeOff, title: &str) -> String {
    let measures = tradeoff.measures();
    let main = html! {
        section.verdict.good[tradeoff.first_valid.is_some()].bad[tradeoff.first_valid.is_none()] aria-labelledby="found" {
            (found(tradeoff))
        }
        section aria-labelledby="which" {
            h2 #which { "Information loss by k" }
            p {
                "For each k: the first step at which every combination of values is shared by at least k "
                @if tradeoff.persons.is_some() { "persons" } @else { "records" } ", "
                "without suppression, and its information loss."
            }
            (scrolling("Information loss by k", costs(tradeoff, &measures)))
        }
        section aria-labelledby="curves" {
            h2 #curves { "Anonymity and information loss" }
            p { "Every dot is a step. Further right means more privacy, lower means less loss." }
            div.panels {
                @for name in &measures {
                    figure {
                        (with_panel(tradeoff, name, |panel| panel.in_page()))
                        figcaption {
                            (in_code(summary(name)))
                            @if tradeoff.points.iter().any(|point| is_left_out(point, name)) {
                                ". Not shown: the step at which all values are *. There all records count as suppressed, so "
                                (name) " is 1 by definition."
                            }
                        }
                    }
                }
            }
        }
        section aria-labelledby="steps" {
            h2 #steps { "All steps" }
            (folded(tradeoff.points.len() > MAX_OPEN, "Show all steps", &scrolling("All steps", steps(tradeoff, &measures))))
        }
    };
    let next = html! {
        "To " (release(tradeoff)) ", run " code { "moretta anonymize INPUT --policy POLICY --output OUT" } "."
        @if let Some(holds) = tradeoff.first_valid.filter(|_| tradeoff.is_own()) {
            " " code { "--at " (holds.step) } " releases exactly the first step that satisfies the policy."
        }
    };
    shell("Privacy-utility trade-off", title, &main, &next)
}

fn found(tradeoff: &TradeOff) -> Markup {
    let steps = tradeoff.steps() as u64;
    html! {
        @match tradeoff.first_valid {
            Some(holds) => {
                @let point = tradeoff.points.iter().find(|point| point.step == holds.step).unwrap_or(&tradeoff.points[0]);
                h2 #found {
                    @if let Some(k) = tradeoff.k { "k = " (count(k)) ": " }
                    "the path loses " (lost(point).map_or(NOTHING.to_owned(), percent)) " of the precision, "
                    @match holds.suppressed_rows {
                        0 => "without suppression",
                        records => { (counted(records, "record", "records")) " suppressed" }
                    }
                }
                p.sentence { (capitalized(&held(tradeoff.first_valid))) "." }
            }
            None => {
                h2 #found { "No step satisfies the policy" }
                p.sentence { (capitalized(&held(None))) "." }
            }
        }
        p {
            "The method " code { (tradeoff.method) } " generalized " (counted(tradeoff.rows, "record", "records"))
            " from the original table to full generalization in " (counted(steps, "step", "steps")) "."
        }
        @for sentence in caveat(tradeoff) { p { (in_code(&sentence)) } }
    }
}

fn summary(name: &str) -> &'static str {
    MEASURES.iter().find(|entry| entry.name == name).map_or("", |entry| entry.summary)
}

fn header(first: &[&str], measures: &[&str]) -> Markup {
    html! {
        thead { tr {
            @for name in first { th.number[*name != "Change"] scope="col" { (name) } }
            @for name in measures { th.number scope="col" { code { (name) } } }
        } }
    }
}

fn values(point: Option<&Point>, measures: &[&str]) -> Markup {
    let value = |name: &str| point.and_then(|point| point.measures.get(name)).map_or(NOTHING.to_owned(), figure);
    html! { @for name in measures { td.number { (value(name)) } } }
}

fn costs(tradeoff: &TradeOff, measures: &[&str]) -> Markup {
    html! {
        table.compact {
            (header(&["k", "Step", "Anonymity"], measures))
            tbody { @for (k, point) in tradeoff.costs() {
                tr.chosen[Some(k) == tradeoff.k] {
                    th.number scope="row" { (count(k)) }
                    td.number { (point.map_or(NOTHING.to_owned(), |point| point.step.to_string())) }
                    td.number { (point.map_or(NOTHING.to_owned(), |point| count(point.anonymity))) }
                    (values(point, measures))
                }
            } }
        }
    }
}

fn steps(tradeoff: &TradeOff, measures: &[&str]) -> Markup {
    let holds = tradeoff.first_valid.map(|holds| holds.step);
    html! {
        table.compact.steps {
            (header(&["Step", "Change", "Anonymity", "Groups"], measures))
            tbody { @for point in &tradeoff.points {
                tr.chosen[Some(point.step) == holds] {
                    th.number scope="row" { (point.step) }
                    td { bdi { (what(point)) } }
                    td.number { (count(point.anonymity)) }
                    td.number { (count(point.groups as u64)) }
                    (values(Some(point), measures))
                }
            } }
        }
    }
}
