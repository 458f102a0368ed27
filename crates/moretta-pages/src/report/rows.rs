//! Five released rows, masked: what recipients get.

use maud::{Markup, html};
use moretta_insight::report::Report;

use crate::{describe, numbers::counted, shell::scrolling};

pub(super) fn section(report: &Report) -> Markup {
    html! {
        @if let Some(rows) = report.typical_rows.as_ref().filter(|rows| !rows.rows.is_empty()) {
            section aria-labelledby="rows" {
                h2 #rows { "What recipients get" }
                @if report.discloses_anything() {
                    p {
                        "Rows of the release, one of each of its largest groups. Values that fewer than "
                        (counted(rows.floor, "record carries", "records carry"))
                        " are masked here (▒); the release has them. No other part of this page shows a row."
                    }
                    (scrolling("Released rows", table(&rows.columns, &rows.rows)))
                } @else {
                    p {
                        "Every quasi-identifier is released as * in every record: the release says nothing about them, "
                        "so no rows are shown."
                    }
                }
            }
        }
    }
}

fn table(columns: &[String], rows: &[Vec<Option<String>>]) -> Markup {
    html! {
        table.rows {
            caption { "Typical rows of the release" }
            thead { tr { @for column in columns { th scope="col" { (describe::name(column)) } } } }
            tbody { @for row in rows {
                tr { @for cell in row {
                    td {
                        @match cell {
                            Some(text) => bdi { (text) },
                            None => span.muted title="masked" { "▒" },
                        }
                    }
                } }
            } }
        }
    }
}
