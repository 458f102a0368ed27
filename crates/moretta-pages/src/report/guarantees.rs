//! What holds: every model with its worst group; the risk of being found follows.

use maud::{Markup, html};
use moretta_core::{
    policy::Policy,
    privacy::{Template, TemplateFacts, TemplateValues},
};
use moretta_insight::report::{ModelResult, Privacy, Report, TemplateResult};

use super::{risk, verdict::mark};
use crate::{
    describe,
    numbers::{count, in_threes, limit_percent, percent},
    shell::{bar, head, number, scrolling, text, wide},
};

pub(super) fn section(report: &Report) -> Markup {
    let templates = templates(&report.policy, &report.privacy);
    let models = others(&report.privacy);
    html! {
        section aria-labelledby="holds" {
            h2 #holds { "What holds" }
            p { "Every group of records that look alike was held against every guarantee. The worst of them decides." }
            @if !models.is_empty() { (scrolling("Guarantees", models_table(&models))) }
            (findings(&report.privacy))
            @if !templates.is_empty() { (scrolling("Limits on what can be inferred", templates_table(&templates))) }
            (risk::part(report))
        }
    }
}

/// Sentences on models whose worst figure does not say all.
fn findings(privacy: &Privacy) -> Markup {
    html! {
        @for finding in privacy.models.iter().filter_map(|model| model.finding.as_ref()) {
            p.sentence { (describe::sentence(finding)) "." }
        }
    }
}

/// The models that the table of templates does not show.
fn others(privacy: &Privacy) -> Vec<&ModelResult> {
    privacy.models.iter().filter(|model| model.facts.get::<TemplateFacts>().is_none()).collect()
}

fn models_table(models: &[&ModelResult]) -> Markup {
    html! {
        table {
            caption { "Guarantees" }
            (head(&[text("Guarantee"), text("Asked"), text("Worst figure"), text("Verdict")]))
            tbody { @for model in models {
                tr {
                    th scope="row" { (model.model.name) }
                    td { bdi { (model.model.limit) } }
                    td { bdi { (in_threes(&model.worst)) } }
                    td.outcome { (outcome(model.holds)) }
                }
            } }
        }
    }
}

fn outcome(holds: bool) -> Markup {
    html! { (mark(holds)) "\u{a0}" @if holds { "holds" } @else { "broken" } }
}

/// A line of the table of templates.
struct Line<'a> {
    first: &'a TemplateResult,
    /// How many of the rarest values the line stands for; none where the policy names its value.
    rarest: Option<u64>,
    confidence: f64,
    holds: bool,
}

/// A line for each value that the policy names, and one for all that the data named.
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
                text("Who knows"), text("Could infer"), number("At most"), number("Highest"), wide("Against the limit"),
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
