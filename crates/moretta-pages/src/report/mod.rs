//! The report as a page for the person who approves the release. Its sections follow the report: policy, guarantees,
//! loss, groups, path, run.

mod compared;
mod groups;
mod guarantees;
mod histograms;
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

use crate::shell::shell;

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
        (signature())
    };
    let next = html! {
        "Check the file with its policy: "
        code { "moretta check FILE --policy POLICY" }
    };
    shell("Release report", title, &main, &next)
}

fn signature() -> Markup {
    html! {
        section.signature aria-labelledby="signature" {
            h2 #signature { "Approved by" }
            div.lines {
                @for line in ["Name", "Signature", "Date"] { p { (line) } }
            }
        }
    }
}
