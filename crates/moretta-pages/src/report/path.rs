//! Generalization path: anonymity and loss at every step, if the method has a path.

use maud::{Markup, html};
use moretta_core::recoding::Action;
use moretta_insight::{
    report::Report,
    tradeoff::{Point, what},
};

use crate::{
    numbers::{NOTHING, count, counted, percent},
    plot::{Panel, Scale},
    shell::{folded, head, number, scrolling, text},
};

/// Maximum number of steps shown open; more are collapsed.
const MAX_OPEN: usize = 12;

pub(super) fn section(report: &Report) -> Markup {
    let points = &report.path;
    html! {
        @if points.len() > 1 {
            section aria-labelledby="way" {
                h2 #way { "Generalization path" }
                p {
                    "This release was reached from the original table in " (counted(points[points.len() - 1].step as u64, "step", "steps")) ". "
                    @if points.iter().any(|point| point.action == Some(Action::Disclose)) {
                        "All values were suppressed first, and then disclosed as far as the policy allows"
                    } @else { "The steps generalized values" }
                    @if points.iter().any(|point| point.action.is_some_and(|action| matches!(action, Action::TakeBack | Action::Search))) {
                        ", and reverted some generalizations that the policy does not need"
                    }
                    "."
                }
                div.panels { (panels(report)) }
                (folded(points.len() > MAX_OPEN, "All steps", &scrolling("Steps", table(points))))
            }
        }
    }
}

fn panels(report: &Report) -> Markup {
    let points = &report.path;
    let of = |value: fn(&Point) -> f64| -> Vec<(f64, f64)> {
        points.iter().map(|point| (point.step as f64, value(point))).collect()
    };
    let anonymity = of(|point| point.anonymity as f64);
    let lost = of(|point| point.measures.get("gcp").unwrap_or(0.0));
    let steps = Scale::Linear(points[points.len() - 1].step as f64);
    let last = &points[points.len() - 1];
    let k = report.policy.privacy.k();
    let sizes = anonymity.iter().map(|point| point.1).chain(k.map(|k| k as f64));
    let panel = |panel: Panel<'_>| {
        html! { figure {
            (panel.in_page())
            @if report.suppressed_rows > 0 {
                figcaption {
                    "The path suppresses no records: the "
                    (counted(report.suppressed_rows, "suppressed record is", "suppressed records are")) " still included"
                    @if panel.mark_y.is_some() && k.is_some_and(|k| last.anonymity < k) { ", so the path ends below k" }
                    "."
                }
            }
        } }
    };
    html! {
        (panel(Panel {
            name: "anonymity (smallest group)",
            id: "way-anonymity",
            description: format!("It ends at {}. The table below has the numbers.", count(last.anonymity)),
            across: "steps",
            points: &anonymity,
            x: steps,
            y: Scale::log(sizes.collect::<Vec<_>>().into_iter()),
            mark_x: None,
            mark_y: k.map(|k| (k as f64, format!("k = {}", count(k)))),
        }))
        (panel(Panel {
            name: "loss (gcp)",
            id: "way-gcp",
            description: format!("It ends at {}. The table below has the numbers.", gcp(last)),
            across: "steps",
            points: &lost,
            x: steps,
            y: Scale::linear(lost.iter().map(|point| point.1)),
            mark_x: None,
            mark_y: None,
        }))
    }
}

fn gcp(point: &Point) -> String {
    point.measures.get("gcp").map_or(NOTHING.to_owned(), percent)
}

fn table(points: &[Point]) -> Markup {
    html! {
        table.steps {
            caption { "Change, anonymity and loss of each step" }
            (head(&[number("Step"), text("Change"), number("Anonymity"), number("Loss (GCP)")]))
            tbody { @for point in points {
                tr {
                    th.number scope="row" { (point.step) }
                    td { bdi { (what(point)) } }
                    td.number { (count(point.anonymity)) }
                    td.number { (gcp(point)) }
                }
            } }
        }
    }
}
