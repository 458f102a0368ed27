//! The frame of all pages, and shared parts.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{numbers, plot};

/// Forbids the browser to load or run anything, as a second defense after escaping.
const NOTHING_FROM_ELSEWHERE: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Returns a page. `kind` is the type of the page, `title` the file it is about, `next` the advice in the footer.
pub(crate) fn shell(kind: &str, title: &str, main: &Markup, next: &Markup) -> String {
    styled_shell(kind, title, main, next, "")
}

/// Like [`shell`], with additional CSS.
pub(crate) fn styled_shell(kind: &str, title: &str, main: &Markup, next: &Markup, style: &str) -> String {
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

/// The logo: a moretta, the oval mask of Venice.
fn mask() -> Markup {
    html! {
        svg.mask width="30" height="38" viewBox="0 0 30 38" aria-hidden="true" {
            path.shape d="M15 1C24 1 29 8 29 17C29 28 21 37 15 37C9 37 1 28 1 17C1 8 6 1 15 1Z" {}
            ellipse.eye cx="9" cy="16" rx="3.6" ry="2.1" {}
            ellipse.eye cx="21" cy="16" rx="3.6" ry="2.1" {}
        }
    }
}

fn footer(next: &Markup) -> Markup {
    html! {
        footer {
            p { (next) }
            p {
                "Made by moretta " (env!("CARGO_PKG_VERSION"))
                ". This page contains counts and measures, and no records but those it names as rows of the release."
            }
        }
    }
}

/// Wraps a table in a box that scrolls if the table is too wide.
pub(crate) fn scrolling(label: &str, table: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (table) } }
}

/// CSS class and text of a column heading.
pub(crate) type Heading<'a> = (Option<&'static str>, &'a str);

pub(crate) const fn text(words: &str) -> Heading<'_> {
    (None, words)
}

pub(crate) const fn number(words: &str) -> Heading<'_> {
    (Some("number"), words)
}

pub(crate) const fn wide(words: &str) -> Heading<'_> {
    (Some("wide"), words)
}

/// Renders the head of a table.
pub(crate) fn head(columns: &[Heading<'_>]) -> Markup {
    html! { thead { tr { @for (class, words) in columns { th class=[*class] scope="col" { (words) } } } } }
}

/// A bar for a share, with an optional line at its limit.
pub(crate) fn bar(share: f64, limit: Option<f64>) -> Markup {
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

/// Collapses the content if `fold` is set.
pub(crate) fn folded(fold: bool, title: &str, content: &Markup) -> Markup {
    html! {
        @if fold { details { summary { (title) } (content) } } @else { (content) }
    }
}

/// Capitalizes the first letter.
pub(crate) fn capitalized(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

/// Renders text between backticks as code.
pub(crate) fn in_code(text: &str) -> Markup {
    html! {
        @for (index, part) in text.split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}
