//! The report as a page for the person who approves the release. First, in plain words, what is to be signed: verdict,
//! policy, guarantees and risk, loss, origin, signature. Technical figures are folded at the end: measures, groups,
//! path, run, and the policy as it was written.

mod compared;
mod groups;
mod guarantees;
mod histograms;
mod kept;
mod loss;
mod path;
mod policy;
mod provenance;
mod risk;
mod rows;
mod run;
mod statistics;
#[cfg(test)]
mod tests;
mod verdict;

use maud::{Markup, PreEscaped, html};
use moretta_core::schema::Unit;
use moretta_insight::report::Report;

use crate::{numbers::counted, shell::shell};

/// The tag before the SHA-256 of the release, by which a program finds it in a page.
pub const RELEASE_TAG: &str = "<code id=\"release-sha256\">";

/// Returns the page. `title` is the name of the released file.
pub fn render(report: &Report, title: &str) -> String {
    let main = html! {
        (verdict::section(report))
        (policy::section(report))
        (guarantees::section(report))
        (rows::section(report))
        (loss::section(report))
        (compared::section(report))
        (provenance::section(report))
        (signature(report))
        details.technical {
            summary { "Technical figures: measures, group sizes, search, time" }
            (loss::measures_section(report))
            (groups::section(report))
            (path::section(report))
            (run::section(report))
        }
        (provenance::appendix(report))
    };
    let next = html! {
        @match report.policy.unit() {
            Unit::Records => { "Check the file with its policy: " code { "moretta check FILE --policy POLICY" } }
            Unit::Persons => {
                "Check that a file is this release: " code { "moretta report verify REPORT FILE" }
            }
        }
    };
    shell("Release report", title, &main, &next)
}

/// Place to sign. The hash says which file is approved: a file of the same name may be of another run.
fn signature(report: &Report) -> Markup {
    html! {
        section.signature aria-labelledby="signature" {
            h2 #signature { "Approved by" }
            @if let Some(release) = &report.release {
                p {
                    "This report is about the file " bdi.file { (release.file) } " of "
                    (counted(release.bytes, "byte", "bytes")) " with the SHA-256 "
                    (PreEscaped(RELEASE_TAG)) (release.sha256) (PreEscaped("</code>"))
                    ". " code { "moretta report verify" } " compares them."
                }
            }
            div.lines {
                @for line in ["Name", "Signature", "Date"] { p { (line) } }
            }
        }
    }
}
