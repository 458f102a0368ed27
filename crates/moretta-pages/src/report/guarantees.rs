//! Guarantees: the verdict on every privacy model, followed by the re-identification risk.

use maud::{Markup, html};
use moretta_core::{
    policy::Policy,
    privacy::{Template, TemplateFacts, TemplateValues},
    text::counted,
};
use moretta_insight::{
    linkage::{JointResult, Linkage, NO_PROOF, RANDOM_ORDER},
    report::{ModelResult, Privacy, Report, TemplateResult},
};

use super::{risk, verdict::mark};
use crate::{
    describe,
    numbers::{count, limit_percent, percent, with_separators},
    shell::{bar, head, number, scrolling, text, wide},
};

pub(super) fn section(report: &Report) -> Markup {
    let templates = templates(&report.policy, &report.privacy);
    let models = others(&report.privacy);
    html! {
        section aria-labelledby="holds" {
            h2 #holds { "Privacy guarantees" }
            p { "Every group was checked against every guarantee. A guarantee holds if its worst group satisfies it." }
            @if !models.is_empty() { (scrolling("Guarantees", models_table(&models))) }
            (findings(&report.privacy))
            @if !templates.is_empty() { (scrolling("Limits on what can be inferred", templates_table(&templates))) }
            (one_release(report.linkage.as_ref()))
            (risk::part(report))
        }
    }
}

/// Warns of other releases of the same table; with the counts if earlier ones were given.
fn one_release(linkage: Option<&Linkage>) -> Markup {
    html! {
        p {
            strong { "One release per table." }
            " The guarantees hold for this release alone. With another release of the same records, an attacker can \
             narrow down the groups of a person and may learn a sensitive value. Give every recipient the same file, or \
             check a further release with " code { "moretta anonymize --earlier" } "."
        }
        @if let Some(linkage) = linkage {
            (scrolling("Earlier releases", linkage_table(linkage)))
            p.sentence { "Note: " (RANDOM_ORDER) "." }
            @if linkage.holds { p.sentence { "Note: " (NO_PROOF) "." } }
        }
    }
}

fn linkage_table(linkage: &Linkage) -> Markup {
    let earlier = counted(linkage.releases.len() as u64 - 1, "earlier release", "earlier releases");
    let of = |number: u64, total: u64| format!("{} of {}", count(number), linkage.targets.counted(total));
    html! {
        table {
            caption { "Together with " (earlier) }
            (head(&[text("Guarantee"), text("Required"), text("Violated for"), text("Worst figure"), text("Verdict")]))
            tbody {
                @for JointResult { model, holds, violating, total, worst, .. } in &linkage.models { tr {
                    th scope="row" { (model.name) }
                    td { bdi { (model.limit) } }
                    td { (of(*violating, *total)) }
                    td { bdi { (with_separators(worst)) } }
                    td.outcome { (outcome(*holds)) }
                } }
                @for column in &linkage.certain { tr {
                    th scope="row" { "certain values" }
                    td { (describe::name(&column.column)) }
                    td { (of(column.together, linkage.total)) }
                    td {}
                    td {}
                } }
            }
        }
    }
}

/// Sentences on models whose worst figure needs an explanation.
fn findings(privacy: &Privacy) -> Markup {
    html! {
        @for finding in privacy.models.iter().filter_map(|model| model.finding.as_ref()) {
            p.sentence { (describe::sentence(finding)) "." }
        }
    }
}

/// Returns the models that are not in the table of templates.
fn others(privacy: &Privacy) -> Vec<&ModelResult> {
    privacy.models.iter().filter(|model| model.facts.get::<TemplateFacts>().is_none()).collect()
}

fn models_table(models: &[&ModelResult]) -> Markup {
    html! {
        table {
            caption { "Guarantees" }
            (head(&[text("Guarantee"), text("Required"), text("Worst figure"), text("Verdict")]))
            tbody { @for model in models {
                tr {
                    th scope="row" { (model.model.name) }
                    td { bdi { (model.model.limit) } }
                    td { bdi { (with_separators(&model.worst)) } }
                    td.outcome { (outcome(model.holds)) }
                }
            } }
        }
    }
}

fn outcome(holds: bool) -> Markup {
    html! { (mark(holds)) "\u{a0}" @if holds { "holds" } @else { "violated" } }
}

/// A line of the table of templates.
struct Line<'a> {
    first: &'a TemplateResult,
    /// Number of rarest values that the line covers; `None` if the policy names the value.
    rarest: Option<u64>,
    confidence: f64,
    holds: bool,
}

/// Returns a line per value that the policy names, and one line for all rarest values of a template.
fn templates<'a>(policy: &Policy, privacy: &'a Privacy) -> Vec<Line<'a>> {
    let named = |result: &TemplateResult| {
        policy.privacy.all::<Template>().any(|template| {
            let TemplateValues::Listed(values) = &template.values else { return false };
            template.given == result.given && template.column == result.column && values.contains(&result.value)
        })
    };
    let alike = |a: &TemplateResult, b: &TemplateResult| {
        (&a.given, &a.column, a.max_confidence) == (&b.given, &b.column, b.max_confidence)
    };
    let mut lines: Vec<Line<'a>> = Vec::new();
    for result in &privacy.templates {
        let holds = result.holds;
        let rarest = if named(result) { None } else { Some(1) };
        let same = lines.iter_mut().find(|line| line.rarest.is_some() && rarest.is_some() && alike(line.first, result));
        match same {
            Some(line) => {
                line.rarest = line.rarest.map(|values| values + 1);
                line.confidence = line.confidence.max(result.confidence);
                line.holds &= holds;
            }
            None => lines.push(Line { first: result, rarest, confidence: result.confidence, holds }),
        }
    }
    lines
}

fn templates_table(lines: &[Line<'_>]) -> Markup {
    html! {
        table.templates {
            caption { "Limits on what can be inferred" }
            (head(&[
                text("Attacker knows"), text("Could infer"), number("Allowed"), number("Highest"), wide("Highest and limit"),
                text("Verdict"),
            ]))
            tbody { @for line in lines {
                tr {
                    td { (describe::listed(&line.first.given, "and")) }
                    td {
                        (describe::name(&line.first.column)) " is "
                        @match line.rarest {
                            None => (describe::name(&line.first.value)),
                            Some(1) => "its rarest value",
                            Some(values) => { "one of its " (count(values)) " rarest values" }
                        }
                    }
                    td.number { (limit_percent(line.first.max_confidence)) }
                    td.number { (percent(line.confidence)) }
                    td.wide { (bar(line.confidence, Some(line.first.max_confidence))) }
                    td.outcome { (outcome(line.holds)) }
                }
            } }
        }
    }
}
