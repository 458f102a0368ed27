//! The page on a path: which k costs what.

use maud::{Markup, html};
use moretta_core::{measure::MEASURES, path::Point};

use super::{
    numbers::{NOTHING, count, counted, figure, percent},
    scrolling, shell,
    way::folded,
};
use crate::frontier::{Frontier, caveat, held, is_left_out, lost, panel_of, release, what};

/// More steps than this are folded away.
const MOST_OPEN: usize = 30;

/// The page on a path. `title` says of what: the name of the input.
pub fn render(frontier: &Frontier, title: &str) -> String {
    let measures = frontier.measures();
    let main = html! {
        section.verdict.good[frontier.holds.is_some()].bad[frontier.holds.is_none()] aria-labelledby="found" {
            (found(frontier))
        }
        section aria-labelledby="which" {
            h2 #which { "Which k costs what" }
            p {
                "For each k the first step at which every combination of values is shared by at least k records, with "
                "nothing suppressed, and what has been lost by then."
            }
            (scrolling("Which k costs what", costs(frontier, &measures)))
        }
        section aria-labelledby="curves" {
            h2 #curves { "Anonymity against each measure" }
            p { "Every dot is a step: further to the right is safer, lower is more precise." }
            div.panels {
                @for name in &measures {
                    figure {
                        (panel_of(frontier, name).with(|panel| panel.in_page()))
                        figcaption {
                            (summary(name))
                            @if frontier.points.iter().any(|point| is_left_out(point, name)) {
                                ". Left out: where everything prints *. Such records count as suppressed, so " (name)
                                " is 1 there by definition."
                            }
                        }
                    }
                }
            }
        }
        section aria-labelledby="steps" {
            h2 #steps { "All steps" }
            (folded(frontier.points.len() > MOST_OPEN, "Show them", &scrolling("All steps", steps(frontier, &measures))))
        }
    };
    let next = html! {
        (in_front(&release(frontier))) ": " code { "moretta anonymize INPUT --policy POLICY --output OUT" } "."
        @if let Some(holds) = frontier.holds.filter(|_| frontier.is_own()) {
            " " code { "--at " (holds.step) } " releases exactly the first point that satisfies the policy."
        }
    };
    shell("Which k costs what", title, &main, &next)
}

fn found(frontier: &Frontier) -> Markup {
    let steps = frontier.steps() as u64;
    html! {
        @match frontier.holds {
            Some(holds) => {
                @let point = frontier.points.iter().find(|point| point.step == holds.step).unwrap_or(&frontier.points[0]);
                h2 #found {
                    @if let Some(k) = frontier.k { "k = " (count(k)) ": " }
                    "the climb alone loses " (lost(point).map_or(NOTHING.to_owned(), percent)) " of the precision, "
                    @match holds.suppressed_rows {
                        0 => "nothing suppressed",
                        records => { (counted(records, "record", "records")) " suppressed besides" }
                    }
                }
                p.sentence { (in_front(&held(frontier.holds))) "." }
            }
            None => {
                h2 #found { "The policy holds at no step" }
                p.sentence { (in_front(&held(None))) "." }
            }
        }
        p {
            "The method " code { (frontier.method) } " took " (counted(frontier.rows, "record", "records"))
            " from the table as it is to all values at the root in " (counted(steps, "step", "steps")) "."
        }
        @for sentence in caveat(frontier) { p { (in_code(&sentence)) } }
    }
}

/// With a capital, as a sentence.
pub(super) fn in_front(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

/// What is between backticks is code.
pub(super) fn in_code(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn summary(name: &str) -> &'static str {
    MEASURES.iter().find(|entry| entry.name == name).map_or("", |entry| entry.summary)
}

fn header(first: &[&str], measures: &[&str]) -> Markup {
    html! {
        thead { tr {
            @for name in first { th.number[*name != "What"] scope="col" { (name) } }
            @for name in measures { th.number scope="col" { code { (name) } } }
        } }
    }
}

fn values(point: Option<&Point>, measures: &[&str]) -> Markup {
    let value = |name: &str| point.and_then(|point| point.measures.get(name)).map_or(NOTHING.to_owned(), figure);
    html! { @for name in measures { td.number { (value(name)) } } }
}

fn costs(frontier: &Frontier, measures: &[&str]) -> Markup {
    html! {
        table.compact {
            (header(&["k", "Step", "Anonymity"], measures))
            tbody { @for (k, point) in frontier.costs() {
                tr.chosen[Some(k) == frontier.k] {
                    th.number scope="row" { (count(k)) }
                    td.number { (point.map_or(NOTHING.to_owned(), |point| point.step.to_string())) }
                    td.number { (point.map_or(NOTHING.to_owned(), |point| count(point.anonymity))) }
                    (values(point, measures))
                }
            } }
        }
    }
}

fn steps(frontier: &Frontier, measures: &[&str]) -> Markup {
    let holds = frontier.holds.map(|holds| holds.step);
    html! {
        table.compact.steps {
            (header(&["Step", "What", "Anonymity", "Groups"], measures))
            tbody { @for point in &frontier.points {
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
