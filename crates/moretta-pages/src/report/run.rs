//! Section "Run" of the report: counts, search, time and memory.

use maud::{Markup, html};
use moretta_core::{counts::RecordOrder, search::Stop};
use moretta_insight::report::{Report, Seconds};

use super::{groups::swatch, verdict::share};
use crate::{
    describe,
    numbers::{bytes, count, counted, length, limit_percent, percent, seconds},
};

/// Time outside the stages is shown if it is above this share of the total time; less would be invisible.
const MIN_REST_SHARE: f64 = 0.005;

pub(super) fn section(report: &Report) -> Markup {
    html! {
        section aria-labelledby="done" {
            h2 #done { "Run" }
            dl.facts {
                dt { "Read" }
                dd {
                    (counted(report.input.rows, "record", "records"))
                    @if let Some(persons) = report.input.persons { " of " (counted(persons, "person", "persons")) }
                    " with "
                    (counted(report.input.columns as u64, "column", "columns"))
                }
                dt { "Suppressed" }
                dd {
                    (counted(report.suppressed_rows, "record", "records")) " ("
                    (percent(share(report.suppressed_rows, report.input.rows))) "; the policy allows "
                    (limit_percent(report.policy.privacy.max_suppressed)) ")"
                }
                dt { "Groups" }
                dd { (count(report.groups as u64)) }
                dt { "Search" }
                dd {
                    (stop(report.stop))
                    @if let Some(blocks) = report.blocks() {
                        "; the table was partitioned into " (count(blocks)) " blocks, searched separately"
                    }
                }
                @if !report.tried.is_empty() { dt { "Loss of the methods tried" } dd { (tried(report)) } }
                @if !report.work.is_empty() { dt { "Counters of the search" } dd { (counters(report)) } }
                @if report.path.len() > 1 {
                    dt { "Path" }
                    dd { (counted(report.path[report.path.len() - 1].step as u64, "step", "steps")) ", listed in the JSON report" }
                }
                @if !report.nested.is_empty() {
                    dt { "Labels" }
                    dd {
                        "In " (describe::listed(&report.nested, "and"))
                        ", a label does not stand for values that are released with a narrower label"
                    }
                }
                @if let Some(memory) = report.peak_memory_bytes {
                    dt { "Memory" }
                    dd { (bytes(memory)) " at peak" }
                }
                dt { "Program" }
                dd { "moretta " (env!("CARGO_PKG_VERSION")) }
                dt { "Seed" }
                dd {
                    "only in the JSON report"
                    @if report.policy.release.order == RecordOrder::Shuffled {
                        ". With the seed and the input, the shuffle can be undone: do not publish the JSON report."
                    }
                }
            }
            (time(&report.seconds))
        }
    }
}

fn stop(stop: Stop) -> &'static str {
    match stop {
        Stop::Finished => "finished",
        Stop::OutOfTime => "stopped at the time limit: the release is valid, but more time could reduce its loss",
        Stop::Cancelled => "stopped by the user: the release is valid, but more time could reduce its loss",
    }
}

/// The methods that the search tried, each with its loss; the last one started from the best of the others.
fn tried(report: &Report) -> Markup {
    html! {
        table {
            @for tried in &report.tried {
                tr { td { (tried.method) } td.number { (format!("{:.4}", tried.loss)) } }
            }
        }
    }
}

fn counters(report: &Report) -> Markup {
    html! {
        @for (index, (name, value)) in report.work.iter().enumerate() {
            @if index > 0 { ", " }
            (name.replace('_', " ")) ": " (value.as_u64().map_or_else(|| value.to_string(), count))
        }
    }
}

fn time(times: &Seconds) -> Markup {
    let stages = [
        ("profile", "group and count", times.profile),
        ("search", "search and verify", times.search),
        ("release", "write", times.release),
        ("check", "verify the written file", times.check),
    ];
    let known: f64 = stages.iter().map(|(_, _, seconds)| seconds).sum();
    let total = times.total.max(known);
    let rest = total - known;
    let rest = (rest > MIN_REST_SHARE * total).then_some(("rest", "other", rest));
    let parts: Vec<_> = stages.into_iter().filter(|(_, _, seconds)| *seconds > 0.0).chain(rest).collect();
    let from = |index: usize| parts[..index].iter().map(|(_, _, seconds)| seconds).sum::<f64>();
    html! {
        @if total > 0.0 {
            h3 { "Time" }
            figure {
                svg.time width="100%" height="22" role="img" aria-labelledby="time-title time-desc" {
                    title #time-title { "Time by stage" }
                    desc #time-desc {
                        @for (_, words, part) in &parts { (words) " " (seconds(*part)) "; " }
                        "total " (seconds(total))
                    }
                    @for (index, (series, _, part)) in parts.iter().enumerate() {
                        rect class=(series) x=(length(100.0 * from(index) / total)) width=(length(100.0 * part / total))
                            y="0" height="22" {}
                    }
                }
                figcaption {
                    ul.legend {
                        @for (series, words, part) in &parts {
                            li { (swatch(series)) " " (words) " " span.figure { (seconds(*part)) } }
                        }
                        li { "total " span.figure { (seconds(total)) } }
                    }
                }
            }
        }
    }
}
