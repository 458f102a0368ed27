//! Origin of the release: date, program, files; the warning about guesses; the policy as an appendix.

use maud::{Markup, html};
use moretta_core::engine::ReleaseFile;
use moretta_insight::report::Report;

use crate::{
    numbers::{bytes, counted},
    shell::{head, number, scrolling, text},
};

/// Number of lines of the policy that are guesses.
pub(super) fn unconfirmed(report: &Report) -> u64 {
    report.provenance.as_ref().map_or(0, |origin| origin.unconfirmed as u64)
}

/// Warns of guesses that were not reviewed.
pub(super) fn warning(report: &Report) -> Markup {
    let unconfirmed = unconfirmed(report);
    html! {
        @if unconfirmed > 0 {
            p.note.warning {
                strong { "The policy has guesses that are not confirmed. " }
                (counted(unconfirmed, "line is", "lines are")) " still marked CONFIRM, as " code { "moretta init" }
                " wrote them. Whether the roles of these columns are right was not reviewed, and all figures below depend \
                  on it. Do not approve the release before they are."
            }
        }
    }
}

pub(super) fn section(report: &Report) -> Markup {
    html! {
        @if let Some(origin) = &report.provenance {
            section aria-labelledby="origin" {
                h2 #origin { "Origin" }
                p {
                    "Made on " (origin.created) " by " (origin.program)
                    @if origin.input.is_empty() {
                        " from a table in memory, which has no SHA-256."
                    } @else {
                        " from the files below. A file of the same name with another SHA-256 is another file."
                    }
                }
                p.note {
                    "Keep this report with the original, and do not publish it with the release. Its statistics, its rows and the SHA-256 of the input are for the "
                    "one who approves the release: whoever knows all of the input but a few cells can guess these and "
                    "confirm the guess by the SHA-256."
                }
                @if !(origin.input.is_empty() && origin.policy.is_empty() && report.release.is_none()) {
                    (scrolling("Files", files(report, &origin.input, &origin.policy)))
                }
            }
        }
    }
}

fn files(report: &Report, input: &[ReleaseFile], policy: &[ReleaseFile]) -> Markup {
    let release: Vec<&ReleaseFile> = report.release.iter().collect();
    let kinds =
        [("Input", input.iter().collect()), ("Policy and hierarchies", policy.iter().collect()), ("Release", release)];
    html! {
        table.files {
            caption { "Files" }
            (head(&[text("File"), number("Size"), text("SHA-256")]))
            @for (kind, files) in kinds {
                @if !files.is_empty() {
                    tbody {
                        tr.role { th scope="rowgroup" colspan="3" { (kind) } }
                        @for file in files {
                            tr {
                                th scope="row" { bdi.file { (file.file) } }
                                td.number { (bytes(file.bytes)) }
                                td { code { (file.sha256) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The whole policy, folded.
pub(super) fn appendix(report: &Report) -> Markup {
    html! {
        @if let Some(text) = report.provenance.as_ref().and_then(|origin| origin.policy_text.as_ref()) {
            details.appendix {
                summary { "Appendix: the policy as it was written" }
                pre { code { (text) } }
            }
        }
    }
}
