//! Results of one paper: a Markdown page with tables, charts, and a comparison of published and reproduced figures.

use std::fmt::Write as _;

use moretta_insight::tradeoff::joined;
use moretta_pages::chart::{Axis, Chart, Line};

use crate::error::PaperError;

/// Maximum characters per line of text; tables are not wrapped.
const WIDTH: usize = 110;

/// Published statement and its reproduction.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Subject of the statement.
    pub what: String,
    /// Published value.
    pub published: String,
    /// Reproduced value.
    pub ours: String,
    /// Whether the reproduced value agrees or is better; `None` if the two are not comparable, such as seconds on
    /// different machines.
    pub holds: Option<bool>,
    why: Option<String>,
}

impl Claim {
    /// Sets the reason for a difference; it is printed only if the claim does not hold.
    pub fn because(&mut self, why: impl Into<String>) {
        self.why = Some(why.into());
    }

    fn row(&self) -> String {
        let verdict = match self.holds {
            Some(true) => "yes",
            Some(false) => "**differs**",
            None => "",
        };
        format!("| {} | {} | {} | {verdict} |\n", self.what, self.published, self.ours)
    }
}

/// Renders claims as a Markdown table.
pub fn table_of(claims: &[Claim]) -> String {
    let rows: String = claims.iter().map(Claim::row).collect();
    format!("\n| | published | ours | |\n| --- | --- | --- | --- |\n{rows}")
}

/// File to write: name and content.
pub type File = (String, String);

/// Results of one paper, under construction.
#[derive(Debug, Clone)]
pub struct Document {
    name: &'static str,
    head: String,
    body: String,
    claims: Vec<Claim>,
    charts: Vec<File>,
}

impl Document {
    /// Empty document that will be written to `name`.md.
    pub fn new(name: &'static str, title: &str, paper: &str) -> Self {
        let head = format!("# {title}\n\n{}\n", wrapped(paper));
        Self { name, head, body: String::new(), claims: Vec::new(), charts: Vec::new() }
    }

    /// Adds a section with its first paragraph.
    pub fn section(&mut self, title: &str, text: &str) {
        let _ = write!(self.body, "\n## {title}\n");
        self.paragraph(text);
    }

    /// Adds a paragraph, wrapped.
    pub fn paragraph(&mut self, text: &str) {
        let _ = write!(self.body, "\n{}\n", wrapped(text));
    }

    /// Adds a table: the first column left-aligned, the others right-aligned.
    pub fn table<H: AsRef<str>>(&mut self, head: &[H], rows: &[Vec<String>]) {
        let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
        let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
        let rule: Vec<&str> = (0..head.len()).map(|at| if at == 0 { "---" } else { "---:" }).collect();
        self.body += &format!("\n{}{}", line(&head), line(&rule));
        for row in rows {
            self.body += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    /// Adds a table with one row per value (such as k): the value, then `cells` of its index.
    pub fn table_by<H: AsRef<str>>(&mut self, head: &[H], by: &[u64], cells: impl Fn(usize) -> Vec<String>) {
        let row = |(at, value): (usize, &u64)| [vec![value.to_string()], cells(at)].concat();
        self.table(head, &by.iter().enumerate().map(row).collect::<Vec<_>>());
    }

    /// Adds a chart as a separate SVG file and embeds it.
    pub fn chart(&mut self, name: &str, title: &str, (x, y): (Axis, Axis), lines: Vec<Line>) {
        let file = format!("{}-{name}.svg", self.name);
        let chart = Chart { title: title.to_owned(), x, y, lines };
        let _ = write!(self.body, "\n![{title}]({file})\n");
        self.charts.push((file, chart.svg()));
    }

    /// Adds a published statement and whether it holds here.
    pub fn claim(&mut self, what: &str, published: &str, ours: String, holds: bool) -> &mut Claim {
        self.add(what, published, ours, Some(holds))
    }

    /// Adds a statement about several values (such as every k) and lists the values for which it does not hold here.
    pub fn claim_of_each<T: ToString>(
        &mut self,
        what: &str,
        published: &str,
        name: &str,
        all: impl Iterator<Item = (T, bool)>,
    ) -> &mut Claim {
        let (said, holds) = where_not(name, all);
        self.claim(what, published, said, holds)
    }

    /// Adds a figure that is not comparable with the paper or not in it.
    pub fn aside(&mut self, what: &str, published: &str, ours: String) {
        self.add(what, published, ours, None);
    }

    fn add(&mut self, what: &str, published: &str, ours: String, holds: Option<bool>) -> &mut Claim {
        let (what, published) = (what.to_owned(), published.to_owned());
        self.claims.push(Claim { what, published, ours, holds, why: None });
        let last = self.claims.len() - 1;
        &mut self.claims[last]
    }

    /// Claims in the order in which they were added.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Title without the Markdown mark.
    pub fn title(&self) -> &str {
        self.head.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// File name of the page.
    pub fn file(&self) -> String {
        format!("{}.md", self.name)
    }

    /// Returns the page and its charts. `made` names the command, the machine and the date.
    pub fn files(&self, made: &str) -> Vec<File> {
        let mut text = format!("{}\n{}\n", self.head, wrapped(made));
        if !self.claims.is_empty() {
            text += &format!("\n## Published and ours\n{}", table_of(&self.claims));
        }
        text += &self.reasons();
        text += &self.body;
        let mut files = vec![(self.file(), text)];
        files.extend(self.charts.iter().cloned());
        files
    }

    /// Renders every claim that differs with its reason; claims with the same reason are listed together.
    fn reasons(&self) -> String {
        let mut reasons: Vec<(Vec<&str>, &str)> = Vec::new();
        for claim in self.claims.iter().filter(|claim| claim.holds == Some(false)) {
            let why = claim.why.as_deref().unwrap_or("We do not know why.");
            match reasons.iter_mut().find(|(_, known)| *known == why) {
                Some((whats, _)) => whats.push(&claim.what),
                None => reasons.push((vec![&claim.what], why)),
            }
        }
        let reason =
            |(whats, why): &(Vec<&str>, &str)| format!("\n{}\n", wrapped(&format!("**{}.** {why}", whats.join("; "))));
        let reasons: String = reasons.iter().map(reason).collect();
        if reasons.is_empty() { reasons } else { format!("\n## Where they differ, and why\n{reasons}") }
    }
}

/// Chart line with one point per value (such as k), whose height is `height` of its index.
pub fn line_by(name: impl Into<String>, by: &[u64], height: impl Fn(usize) -> f64) -> Line {
    let points = by.iter().enumerate().map(|(at, value)| (*value as f64, height(at))).collect();
    Line { name: name.into(), points }
}

/// Formats a share as percent with one decimal, as in the papers.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Formats a difference of shares in percentage points.
pub fn points(difference: f64) -> String {
    // Avoids "-0.0".
    let rounded = (1000.0 * difference).round() / 10.0;
    format!("{:.1}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// Minimum and maximum; an error if there are no values or one is not finite.
pub fn span(values: impl Iterator<Item = f64>) -> Result<(f64, f64), PaperError> {
    let values: Vec<f64> = values.collect();
    let is_valid = !values.is_empty() && values.iter().all(|value| value.is_finite());
    let extend = |(min, max): (f64, f64), value: f64| (min.min(value), max.max(value));
    let span = values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), extend);
    is_valid.then_some(span).ok_or_else(|| PaperError::without("figures to compare"))
}

/// Describes for which values a statement does not hold: `yes`, or `not for k = 5, 10`; without a name, `not for
/// Monday`.
pub fn where_not<T: ToString>(name: &str, all: impl Iterator<Item = (T, bool)>) -> (String, bool) {
    let not: Vec<String> = all.filter(|(_, holds)| !holds).map(|(at, _)| at.to_string()).collect();
    if not.is_empty() {
        ("yes".to_owned(), true)
    } else if name.is_empty() {
        (format!("not for {}", not.join(", ")), false)
    } else {
        (format!("not for {name} = {}", not.join(", ")), false)
    }
}

/// Wraps text at word boundaries; existing line breaks are kept.
fn wrapped(text: &str) -> String {
    let paragraph = |text: &str| joined(text.split_whitespace(), WIDTH).join("\n");
    text.split('\n').map(paragraph).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_with_the_claims_and_its_charts_are_separate_files() {
        let mut document = Document::new("1-test", "A test", "What it is about.");
        document.section("Errors", &"word ".repeat(60));
        document.table(&["k", "E"], &[vec!["10".to_owned(), percent(0.1774)]]);
        let axis = |title| Axis { title, log: false };
        let line = Line { name: "E".to_owned(), points: vec![(1.0, 2.0)] };
        document.chart("errors", "Errors", (axis("k"), axis("E")), vec![line]);
        document.claim("B", "17.4 %", percent(0.177), true).because("Never read.");
        document.claim("W", "24.6 %", percent(0.3), false).because("Because.");
        document.claim("V", "1", "2".to_owned(), false).because("Because.");
        document.claim("U", "1", "2".to_owned(), false);
        document.aside("seconds", "18 hours", "9 s".to_owned());
        let files = document.files("Made by a test.");
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["1-test.md", "1-test-errors.svg"]);
        let text = &files[0].1;
        assert!(
            text.starts_with("# A test\n\nWhat it is about.\n\nMade by a test.\n\n## Published and ours\n"),
            "{text}"
        );
        assert!(text.contains("| B | 17.4 % | 17.7 % | yes |\n| W | 24.6 % | 30.0 % | **differs** |\n"), "{text}");
        assert!(text.contains("| seconds | 18 hours | 9 s |  |\n"), "{text}");
        assert!(
            text.contains("**W; V.** Because.\n\n**U.** We do not know why.\n") && !text.contains("Never"),
            "{text}"
        );
        assert!(
            text.contains("\n| k | E |\n| --- | ---: |\n| 10 | 17.7 % |\n\n![Errors](1-test-errors.svg)\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }

    #[test]
    fn differences_and_places() {
        assert_eq!([0.0112, -0.0004, -0.02].map(points), ["1.1", "0.0", "-2.0"]);
        assert_eq!(where_not("k", [(1, true), (2, true)].into_iter()), ("yes".to_owned(), true));
        assert_eq!(
            where_not("k", [(1, false), (2, true), (5, false)].into_iter()),
            ("not for k = 1, 5".to_owned(), false)
        );
        assert_eq!(span([0.5, -1.0, 3.0].into_iter()).unwrap(), (-1.0, 3.0));
        assert!(span([].into_iter()).is_err() && span([0.5, f64::NAN].into_iter()).is_err());
    }
}
