//! The report as a page for the person who approves the release. Its sections follow the report: policy, guarantees,
//! loss, groups, path, run.

mod compared;
mod groups;
mod guarantees;
mod histograms;
mod kept;
mod loss;
mod path;
mod policy;
mod risk;
mod run;
#[cfg(test)]
mod tests;
mod verdict;

use maud::{Markup, html};
use moretta_insight::report::Report;

use crate::{numbers::counted, shell::shell};

/// Returns the page. `title` is the name of the released file.
pub fn render(report: &Report, title: &str) -> String {
    let main = html! {
        (verdict::section(report))
        (policy::section(report))
        (guarantees::section(report))
        (loss::section(report))
        (compared::section(report))
        (groups::section(report))
        (path::section(report))
        (run::section(report))
        (signature(report))
    };
    let next = html! {
        "Check the file with its policy: "
        code { "moretta check FILE --policy POLICY" }
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
                    (counted(release.bytes, "byte", "bytes")) " with the SHA-256 " code { (release.sha256) }
                }
            }
            div.lines {
                @for line in ["Name", "Signature", "Date"] { p { (line) } }
            }
        }
    }
}
