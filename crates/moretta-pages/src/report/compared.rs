//! Comparison of an applied recoding with a fresh one, if it was requested.

use maud::{Markup, html};
use moretta_core::search::Stop;
use moretta_insight::{
    recoding_comparison::{Both, Compared},
    report::Report,
};

use crate::{
    describe,
    numbers::{count, figure, seconds},
    shell::{head, number, scrolling, text},
};

pub(super) fn section(report: &Report) -> Markup {
    html! {
        @if let Some(compared) = &report.compared {
            section aria-labelledby="compared" {
                h2 #compared { "Comparison with a fresh recoding" }
                p {
                    "This release applies the recoding of an earlier one. For comparison, the same method, "
                    code { (report.method) } ", searched a fresh recoding of these records"
                    @match &compared.refused {
                        Some(reason) => { " and found none: " (reason) "." }
                        None => {
                            ", which took " (seconds(compared.seconds)) (stopped(compared.stop))
                            ". The release does not use the fresh recoding. Both are measured on the range of these records."
                        }
                    }
                }
                (scrolling("Comparison", table(compared)))
            }
        }
    }
}

fn stopped(stop: Option<Stop>) -> &'static str {
    match stop {
        Some(Stop::OutOfTime) => " and stopped at the time limit; more time could reduce its loss",
        Some(Stop::Cancelled) => " and was stopped by the user; more time could reduce its loss",
        Some(Stop::Finished) | None => "",
    }
}

fn table(compared: &Compared) -> Markup {
    let Both { applied, fresh } = compared.suppressed_rows;
    let rows = Both { applied: applied as f64, fresh: fresh.map(|rows| rows as f64) };
    html! {
        table.measures {
            caption { "Release and fresh recoding; lower is better" }
            (head(&[text("Measure"), number("Release"), number("Fresh"), number("Difference"), number("Ratio")]))
            tbody {
                tr { th scope="row" { "Suppressed records" } (cells(rows, |rows| count(rows as u64))) }
                @for measure in &compared.measures {
                    tr {
                        th scope="row" {
                            code { (measure.name) }
                            @if let Some(column) = &measure.column { " of " (describe::name(column)) }
                        }
                        (cells(measure.value, figure))
                    }
                }
            }
        }
    }
}

fn cells(value: Both<f64>, shown: fn(f64) -> String) -> Markup {
    let none = || html! { span.muted { "n/a" } };
    let signed = |difference: f64| match difference {
        0.0 => shown(0.0),
        more if more > 0.0 => format!("+{}", shown(more)),
        less => format!("−{}", shown(-less)),
    };
    let worse = value.worse();
    html! {
        td.number { (shown(value.applied)) }
        td.number { @match value.fresh { Some(fresh) => (shown(fresh)), None => (none()) } }
        td.number { @match worse { Some((difference, _)) => (signed(difference)), None => (none()) } }
        td.number {
            @match worse.and_then(|(_, ratio)| ratio) { Some(ratio) => (format!("{ratio:.2}")), None => (none()) }
        }
    }
}
