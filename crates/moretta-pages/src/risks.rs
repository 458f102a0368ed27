//! The page on the columns of a table that single people out: for the person who decides on the roles.

use maud::{Markup, html};
use moretta_insight::risks::{ColumnRisk, Figures, MinimalOfSize, Risks, SetRisk};

use crate::{
    numbers::{NOTHING, count, counted, percent},
    shell::{bar, capitalized, folded, head, in_code, number, scrolling, shell, text, wide},
};

/// Lines of a table above which it is folded.
const MAX_OPEN: usize = 40;

/// Returns the page.
pub fn page(risks: &Risks) -> String {
    let main = html! {
        (found(risks))
        (columns(risks))
        (related(risks))
        (minimal(risks))
        @for worst in risks.worst.iter().filter(|worst| !worst.sets.is_empty()) {
            @let id = format!("sets-{}", worst.size);
            section aria-labelledby=(id) {
                h2 id=(id) { "The sets of " (worst.size) " columns that single most records out" }
                (scrolling(&format!("Sets of {} columns", worst.size), sets(&worst.sets)))
                (without(risks))
            }
        }
        (pairs(risks))
        (meaning(risks))
    };
    let next = html! {
        "To draft a policy, run " code { "moretta init INPUT --output policy.toml" } " and compare its roles with this page."
    };
    shell("Risks before anonymization", &risks.file, &main, &next)
}

fn found(risks: &Risks) -> Markup {
    let Figures { alone, alone_share, .. } = risks.together;
    html! {
        section.verdict.bad[alone > 0].good[alone == 0] aria-labelledby="found" {
            h2 #found { (capitalized(&risks.verdict())) }
            p.sentence {
                @if alone > 0 {
                    (percent(alone_share)) " of the records are found by an attacker who knows these values of a person."
                } @else {
                    "Every combination of values is shared by two records or more."
                }
            }
            dl.glance {
                (glance("records", &count(risks.records)))
                (glance("columns", &count(risks.columns.len() as u64)))
                (glance("combinations of values", &count(risks.together.distinct)))
                @for of in risks.minimal.sizes.iter().filter(|of| of.size < 4) {
                    (glance(&format!("of the records are found with {}", few(of.size)), &percent(of.share_so_far)))
                }
            }
            p.note { (in_code(&capitalized(&risks.unit()))) "." }
            @for sentence in &risks.left_out { p.note.warning { strong { "Not counted: " } (in_code(sentence)) "." } }
        }
    }
}

fn glance(words: &str, figure: &str) -> Markup {
    html! { div { dt { (words) } dd { (figure) } } }
}

/// `one column`, `up to 3 columns`
fn few(size: usize) -> String {
    if size == 1 { "one column".to_owned() } else { format!("up to {size} columns") }
}

fn columns(risks: &Risks) -> Markup {
    let mut columns: Vec<&ColumnRisk> = risks.columns.iter().collect();
    columns.sort_by_key(|column| std::cmp::Reverse(column.figures.distinct));
    let table = html! {
        table.bars.compact {
            (head(&[
                text("Column"), number("Values"), wide("Records alone"), number(""), number("Share"),
                number("Distinction"), number("Separation"),
            ]))
            tbody { @for column in columns { tr {
                th scope="row" { span.name { (column.name) } }
                (cells(&column.figures))
            } } }
        }
    };
    html! {
        section aria-labelledby="columns" {
            h2 #columns { "Each column alone" }
            p {
                "A record is alone in a column if no other record has its value. Columns with many values come first; one "
                "in which most records are alone is an identifier."
            }
            (scrolling("Columns", table))
        }
    }
}

/// Values, bar and number of records alone, their share, distinction and separation.
fn cells(figures: &Figures) -> Markup {
    html! {
        td.number { (count(figures.distinct)) }
        td.wide { (bar(figures.alone_share, None)) }
        td.number { (count(figures.alone)) }
        td.number { (percent(figures.alone_share)) }
        td.number { (format!("{:.6}", figures.distinction)) }
        td.number { (format!("{:.6}", figures.separation)) }
    }
}

fn related(risks: &Risks) -> Markup {
    let related = &risks.related;
    html! {
        @if !(related.constant.is_empty() && related.duplicates.is_empty() && related.chains.is_empty()) {
            section aria-labelledby="related" {
                h2 #related { "Columns that say the same" }
                p { "Releasing one of them exactly discloses the others; generalizing each of them costs precision twice." }
                ul.guarantees {
                    @for columns in &related.duplicates { li { "The same information: " (named(columns, ", ")) } }
                    @for chain in &related.chains { li { "Each determines the next: " (named(chain, " → ")) } }
                    @if !related.constant.is_empty() {
                        li { "The same value in all records: " (named(&related.constant, ", ")) }
                    }
                }
            }
        }
    }
}

fn named(columns: &[String], between: &str) -> Markup {
    html! {
        @for (index, name) in columns.iter().enumerate() {
            @if index > 0 { (between) }
            span.name { (name) }
        }
    }
}

fn minimal(risks: &Risks) -> Markup {
    let sizes = html! {
        table.bars {
            (head(&[text("Columns that suffice"), wide("Records found so far"), number(""), number("More records"), number("Minimal sets")]))
            tbody { @for of in &risks.minimal.sizes { (size(of)) } }
        }
    };
    let mut contributions: Vec<(&str, f64)> =
        risks.columns.iter().filter_map(|column| Some((column.name.as_str(), column.contribution?))).collect();
    contributions.sort_by(|a, b| b.1.total_cmp(&a.1));
    let contributions = html! {
        table.bars {
            (head(&[text("Column"), wide("Contribution"), number("")]))
            tbody { @for (name, share) in &contributions { tr {
                th scope="row" { span.name { (name) } }
                td.wide { (bar(*share, None)) }
                td.number { (percent(*share)) }
            } } }
        }
    };
    html! {
        section aria-labelledby="minimal" {
            h2 #minimal { "Few columns that single people out" }
            p {
                "A set of columns is minimal for a record that is alone in these columns and not in fewer of them. The "
                "fewer columns, the more easily an attacker knows all of them by chance."
            }
            (scrolling("Columns that suffice", sizes))
            @if !contributions_are_empty(risks) {
                h3 { "Contribution of each column" }
                p {
                    "Share of the risk score in minimal sets with this column. A set counts for each of its columns, so the "
                    "shares add up to more than 100 %."
                }
                (scrolling("Contributions", contributions))
            }
        }
    }
}

fn contributions_are_empty(risks: &Risks) -> bool {
    risks.columns.iter().all(|column| column.contribution.is_none())
}

fn size(of: &MinimalOfSize) -> Markup {
    html! {
        tr {
            th scope="row" { (capitalized(&few(of.size))) }
            td.wide { (bar(of.share_so_far, None)) }
            td.number { (percent(of.share_so_far)) }
            td.number { (count(of.records)) }
            td.number { (count(of.minimal)) }
        }
    }
}

fn sets(sets: &[SetRisk]) -> Markup {
    html! {
        table.bars.compact {
            (head(&[
                text("Columns"), number("Values"), wide("Records alone"), number(""), number("Share"),
                number("Distinction"), number("Separation"), number("Minimal for"),
            ]))
            tbody { @for set in sets { tr {
                th scope="row" { (named(&set.columns, ", ")) }
                (cells(&set.figures))
                td.number { (set.minimal.map_or(NOTHING.to_owned(), count)) }
            } } }
        }
    }
}

fn without(risks: &Risks) -> Markup {
    html! {
        @if !risks.identifying.is_empty() {
            p.note {
                "Without " (named(&risks.identifying, ", ")) ", which alone single out half of the records or more."
            }
        }
    }
}

fn pairs(risks: &Risks) -> Markup {
    let title = format!("All {}", counted(risks.pairs.len() as u64, "pair", "pairs"));
    html! {
        @if !risks.pairs.is_empty() {
            section aria-labelledby="pairs" {
                h2 #pairs { "Pairs of columns" }
                (folded(risks.pairs.len() > MAX_OPEN, &title, &scrolling(&title, sets(&risks.pairs))))
            }
        }
    }
}

fn meaning(risks: &Risks) -> Markup {
    let score = |score: Option<f64>| score.map_or(NOTHING.to_owned(), score_text);
    html! {
        section aria-labelledby="meaning" {
            h2 #meaning { "Explanation of the figures" }
            dl.facts {
                dt { "Values" } dd { "Distinct values, or combinations of values. A missing value counts as a value." }
                dt { "Records alone" } dd { "Records that share their values with no other record." }
                dt { "Distinction" } dd { "Combinations of values per record: 1 if all records differ." }
                dt { "Separation" } dd { "Share of all pairs of records that differ." }
                dt { "Minimal for" } dd { "Records that these columns single out and no smaller part of them." }
                dt { "Risk score" } dd {
                    "Of " (counted(risks.columns.len() as u64, "column", "columns")) " a minimal set of k scores (columns − k)!. "
                    "Sum over all records: " (score(risks.minimal.score_sum)) ", highest of a record: "
                    (score(risks.minimal.score_highest)) "."
                }
                dt { "All together" } dd {
                    "Distinction " (format!("{:.6}", risks.together.distinction)) ", separation "
                    (format!("{:.6}", risks.together.separation)) ", " (count(risks.together.in_twos))
                    " records in groups of two."
                }
            }
        }
    }
}

/// A score: exact while it is small.
fn score_text(score: f64) -> String {
    if score < 1e15 { count(score as u64) } else { format!("{score:.3e}") }
}
