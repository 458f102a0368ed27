//! The page on a comparison of methods: the best method for each figure, charts, and all figures.

mod csv;
mod curves;
#[cfg(test)]
mod tests;

use maud::{Markup, html};
use moretta_core::{measure::MEASURES, policy::Policy, search::METHODS, text::listed};
use moretta_insight::comparison::{Comparison, Figure, Row, RunResult, Unit, caveats, size, verdicts};

use crate::{
    chart::embedded,
    describe,
    numbers::{self, NOTHING, count, counted, figure, percent},
    shell::{capitalized, folded, in_code, scrolling, styled_shell},
};

pub use self::csv::csv;

/// Styles of wide tables: headings may wrap, and the method stays visible while the rest scrolls.
const STYLE: &str = "\
.method { overflow-wrap: normal; } p + .guarantees { margin-top: .5rem; } .bars { margin-top: 1.2rem; }
.methods th, .methods td { padding-right: .5rem; } .methods thead th.number { white-space: normal; }
.methods th:first-child { position: sticky; left: 0; background: var(--paper); }
.methods .method { font-family: inherit; font-size: 1em; } .methods .muted { display: block; }
";

/// Returns the page. `title` is the name of the input.
pub fn page(comparison: &Comparison, policy: &Policy, title: &str) -> String {
    let main = html! {
        section.verdict.good aria-labelledby="found" { (found(comparison)) }
        (setup(comparison, policy))
        (refused(comparison))
        (curves::section(comparison))
        @for k in comparison.ks() { (figures(comparison, k)) }
        section aria-labelledby="meaning" {
            h2 #meaning { "Explanation of the figures" }
            (meaning(comparison))
        }
    };
    let next = html! {
        "To make a release, set the chosen method under " code { "[method]" } " in the policy and run "
        code { "moretta anonymize INPUT --policy POLICY --output OUT" } "."
    };
    styled_shell("Comparison of methods", title, &main, &next, &(embedded::STYLE.to_owned() + STYLE))
}

/// Returns the information loss of each method by k as an SVG file; `None` if the rows have no k.
pub fn svg(comparison: &Comparison) -> Option<String> {
    curves::first(comparison).map(|chart| chart.svg())
}

fn found(comparison: &Comparison) -> Markup {
    let verdicts = verdicts(comparison);
    html! {
        h2 #found {
            (counted(comparison.methods().len() as u64, "method", "methods")) " on "
            (size(comparison)) (at(comparison))
        }
        @if verdicts.is_empty() {
            p { "The methods do not differ in any figure." }
        } @else {
            ul.guarantees { @for verdict in verdicts { li { (capitalized(&verdict.what)) ": " strong { (unbroken(&verdict.who)) } "." } } }
        }
    }
}

/// Prevents line breaks between a number and its unit.
fn unbroken(text: &str) -> String {
    [" %", " s)", " ±", "± "]
        .into_iter()
        .fold(text.to_owned(), |text, unit| text.replace(unit, &unit.replace(' ', "\u{a0}")))
}

/// `, k = 5, 10 and 50`
fn at(comparison: &Comparison) -> String {
    let ks: Vec<String> = comparison.ks().into_iter().flatten().map(count).collect();
    if ks.is_empty() { String::new() } else { format!(", k = {}", listed(&ks)) }
}

/// The compared methods and the policy.
fn setup(comparison: &Comparison, policy: &Policy) -> Markup {
    let mut rest = policy.clone();
    // k differs by row.
    rest.privacy.set_k(None);
    let guarantees = describe::guarantees(&rest);
    let allowed = policy.privacy.max_suppressed;
    html! {
        section aria-labelledby="asked" {
            h2 #asked { "What was compared" }
            p {
                "Every method ran on the whole table under the same policy. Nothing was released. "
                @if !comparison.ks().contains(&None) {
                    "Every combination of " (describe::listed(&describe::quasi_identifiers(policy), "and"))
                    " had to be shared by at least k "
                    @if comparison.persons.is_some() { "persons." } @else { "records." }
                }
            }
            @if !guarantees.is_empty() || allowed > 0.0 {
                ul.guarantees {
                    @for sentence in guarantees { li.sentence { (sentence) "." } }
                    @if allowed > 0.0 {
                        li { "At most " (numbers::limit_percent(allowed)) " of the records could be suppressed." }
                    }
                }
            }
            @if !policy.method.parameters.is_empty() {
                p.note {
                    "The method of the policy, " (describe::name(&policy.method.name))
                    ", ran with the parameters of the policy, the other methods with their defaults."
                }
            }
            @for sentence in caveats(comparison) { p.note { (in_code(&unbroken(&capitalized(&sentence)))) } }
        }
    }
}

/// Methods without a result, with reasons that contain no value of the data.
fn refused(comparison: &Comparison) -> Markup {
    let reason = |row: &Row| Some((describe::name(&row.name()), row.unsupported.as_deref().map(in_code)?));
    let rows: Vec<_> = comparison.rows.iter().filter_map(reason).collect();
    html! {
        @if !rows.is_empty() {
            section aria-labelledby="refused" {
                h2 #refused { "Methods without a result" }
                ul.guarantees {
                    @for (name, reason) in rows { li { (name) ": " (reason) } }
                }
            }
        }
    }
}

fn figures(comparison: &Comparison, k: Option<u64>) -> Markup {
    let title = k.map_or("All figures".to_owned(), |k| format!("k = {}", count(k)));
    let id = k.map_or("all".to_owned(), |k| format!("k-{k}"));
    let shown = comparison.figures();
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (title) }
            (scrolling(&title, table(comparison, &shown, k)))
            (folded(true, "All measures", &scrolling(&format!("{title}, all measures"), measures(comparison, k))))
        }
    }
}

fn table(comparison: &Comparison, figures: &[&Figure], k: Option<u64>) -> Markup {
    html! {
        table.compact.methods {
            thead { tr {
                th scope="col" { "Method" }
                @for figure in figures { th.number scope="col" { (head(figure)) } }
            } }
            tbody { @for row in comparison.at(k) { tr {
                th scope="row" { (method(&row.method)) }
                @match &row.found {
                    Some(found) => { @for figure in figures { (cell(comparison, figure, row, found)) } }
                    None => td colspan=(figures.len()) { "no result, see above" },
                }
            } } }
        }
    }
}

fn head(figure: &Figure) -> Markup {
    html! {
        @match figure.name {
            "count" => "COUNT error",
            "sum" => "SUM error",
            "groups" => "Groups",
            "suppressed" => "Suppressed",
            "seconds" => "Time",
            "memory" => "Memory",
            name => code { (name) },
        }
    }
}

/// A name that may break after its hyphens.
fn method(name: &str) -> Markup {
    html! { code.method { (name) } }
}

fn cell(comparison: &Comparison, figure: &Figure, row: &Row, found: &RunResult) -> Markup {
    let value = (figure.value)(found);
    let best = value.is_some() && comparison.best(figure, row.k) == value;
    let spread = (figure.spread)(found).map(|spread| format!("±\u{a0}{}", figure.unit.cell(spread)));
    html! {
        td.number {
            @if best { strong.good title="best of this column" { (shown(figure.unit, value)) } }
            @else { (shown(figure.unit, value)) }
            @if let Some(spread) = spread { " " span.muted { (spread) } }
        }
    }
}

fn shown(unit: Unit, value: Option<f64>) -> String {
    let Some(value) = value else { return NOTHING.to_owned() };
    match unit {
        Unit::Own => Unit::Own.cell(value),
        Unit::Share => percent(value),
        Unit::Count => count(value as u64),
        Unit::Seconds => numbers::seconds(value),
        Unit::Bytes => numbers::bytes(value as u64),
    }
}

/// All measures, and figures that the main table omits.
fn measures(comparison: &Comparison, k: Option<u64>) -> Markup {
    let rows: Vec<(&Row, &RunResult)> = comparison.at(k).filter_map(|row| Some((row, row.found.as_ref()?))).collect();
    let known = |name: &&str| rows.iter().any(|(_, found)| found.measures.get(name).is_some());
    let names: Vec<&str> = MEASURES.iter().map(|entry| entry.name).filter(known).collect();
    let some = |value: Option<f64>, text: fn(f64) -> String| value.map_or(NOTHING.to_owned(), text);
    let smallest = if comparison.persons.is_some() { "Persons in the smallest group" } else { "Smallest group" };
    html! {
        table.compact.methods {
            thead { tr {
                th scope="col" { "Method" }
                @for name in &names { th.number scope="col" { code { (name) } } }
                @for name in ["COUNT error, median", "SUM error, median", smallest] { th.number scope="col" { (name) } }
            } }
            tbody { @for (row, found) in rows { tr {
                th scope="row" { (method(&row.method)) }
                @for name in &names { td.number { (some(found.measures.get(name), figure)) } }
                td.number { (some(found.queries.count.median, percent)) }
                td.number { (some(found.queries.sum.and_then(|sum| sum.median), percent)) }
                td.number { (count(found.smallest_group)) }
            } } }
        }
    }
}

fn meaning(comparison: &Comparison) -> Markup {
    let methods = comparison.methods();
    html! {
        p { "The best value of each column is highlighted. Lower is better; groups are not judged." }
        dl.facts {
            @for figure in comparison.figures() {
                dt { (head(figure)) }
                dd { (capitalized(figure.summary)) "." }
            }
        }
        h3 { "Methods" }
        dl.facts {
            @for entry in METHODS.iter().filter(|entry| methods.contains(&entry.name)) {
                dt { (method(entry.name)) }
                dd { (capitalized(entry.summary)) "." }
            }
        }
    }
}
