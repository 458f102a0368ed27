//! The report as a page for the person who signs the release.
//!
//! [`render`] makes one self-contained HTML file from a [`Report`]: no script, nothing that is loaded from elsewhere
//! (a content security policy in the page forbids it), light or dark as the reader's system is, black on white on
//! paper. The sections follow the report: what was asked, what holds, what was lost, what was done. The output depends
//! on its arguments and moretta's version alone.
//!
//! What the page must never carry: a value of somebody's record, or the seed. All texts in it come from the policy,
//! from registries and from counts. A template over a column's rarest values learns those values from the data, so
//! here they are counted and not named. The one exception is the labels of histograms, which are values and ranges of
//! the table: none is about fewer than `max(k, 10)` records, ranges begin at round values, and neither the least nor the
//! greatest value is told ([`moretta_core::distribution`]).
//!
//! [`render_frontier`] makes a page of the same kind from a path, for the person who chooses a point of it, and
//! [`render_comparison`] one from methods side by side, for the person who chooses one of them.
//!
//! Bars are SVG without a view box: shapes are placed in percent of the width and text keeps its size, so the same
//! picture serves a phone and a sheet of paper. A bar beside its figure is decoration and hidden from screen readers;
//! a picture that stands alone has a title, a description and a table with its numbers. Curves (`plot`) do have one, and
//! come in panels small enough that their text stays near its size.

mod asked;
mod compared;
mod comparison;
mod done;
mod frontier;
mod groups;
mod histograms;
mod holds;
mod lost;
mod numbers;
pub mod plot;
mod risk;
#[cfg(test)]
mod tests;
mod verdict;
mod way;
mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use moretta_core::report::Report;

pub use self::{comparison::render as render_comparison, frontier::render as render_frontier, numbers::percent};

/// Forbids the browser to load or run anything, should a name ever get past the escaping.
const NOTHING_FROM_ELSEWHERE: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The page on a release. `title` says which: the name of the released file.
pub fn render(report: &Report, title: &str) -> String {
    let main = html! {
        (verdict::section(report))
        (asked::section(report))
        (holds::section(report))
        (lost::section(report))
        (compared::section(report))
        (groups::section(report))
        (way::section(report))
        (done::section(report))
        (signature())
    };
    let next = html! {
        "Check the file yourself, with the policy it was made under: "
        code { "moretta check FILE --policy POLICY" }
    };
    shell("Release report", title, &main, &next)
}

/// What all pages have around them. `kind` says what the page is, `title` of what, `next` what the reader can do.
fn shell(kind: &str, title: &str, main: &Markup, next: &Markup) -> String {
    styled_shell(kind, title, main, next, "")
}

/// The same with rules of its own.
fn styled_shell(kind: &str, title: &str, main: &Markup, next: &Markup, style: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(NOTHING_FROM_ELSEWHERE);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (kind) ": " (title) }
                style { (PreEscaped(include_str!("page.css"))) (PreEscaped(plot::STYLE)) (PreEscaped(style)) }
            }
            body {
                header.masthead {
                    (mask())
                    p { (kind) }
                    h1 { bdi { (title) } }
                }
                main { (main) }
                (footer(next))
            }
        }
    };
    page.into_string()
}

/// The mute mask of Venice: an oval of dark velvet with two eyes.
fn mask() -> Markup {
    html! {
        svg.mask width="30" height="38" viewBox="0 0 30 38" aria-hidden="true" {
            path.shape d="M15 1C24 1 29 8 29 17C29 28 21 37 15 37C9 37 1 28 1 17C1 8 6 1 15 1Z" {}
            ellipse.eye cx="9" cy="16" rx="3.6" ry="2.1" {}
            ellipse.eye cx="21" cy="16" rx="3.6" ry="2.1" {}
        }
    }
}

fn signature() -> Markup {
    html! {
        section.signature aria-labelledby="signature" {
            h2 #signature { "Released by" }
            div.lines {
                @for line in ["Name", "Signature", "Date"] { p { (line) } }
            }
        }
    }
}

fn footer(next: &Markup) -> Markup {
    html! {
        footer {
            p { (next) }
            p {
                "Made by moretta " (env!("CARGO_PKG_VERSION"))
                ". This page holds counts and figures, and no record of anybody."
            }
        }
    }
}

/// A table that scrolls within its own box where even wrapped cells do not fit.
fn scrolling(label: &str, table: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (table) } }
}

/// A bar beside its figure, and a line at its limit.
fn bar(share: f64, limit: Option<f64>) -> Markup {
    html! {
        svg.bar width="100%" height="12" aria-hidden="true" {
            rect.track x="0" y="0" width="100%" height="12" {}
            rect.fill x="0" y="0" width=(numbers::length(share * 100.0)) height="12" {}
            @if let Some(limit) = limit {
                @let x = numbers::length(limit * 100.0);
                line.limit x1=(x) x2=(x) y1="-3" y2="15" {}
            }
        }
    }
}
