//! One paper's results: Markdown with tables, pictures beside it, and what was published held against what we found.

use std::fmt::Write as _;

use moretta_insight::tradeoff::joined;
use moretta_pages::chart::{Axis, Chart, Line};

use crate::error::PaperError;

/// Text is broken after so many characters; tables are not.
const WIDTH: usize = 110;

/// Something that a paper says, and what is so here.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What it is about.
    pub what: String,
    /// What was published.
    pub published: String,
    /// What we found.
    pub ours: String,
    /// Whether that is the same, or better; none where the two cannot be held against each other, as seconds of other
    /// machines.
    pub holds: Option<bool>,
    why: Option<String>,
}

impl Claim {
    /// Why it differs. Nobody reads it where it does not.
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

/// All claims, as a table.
pub fn table_of(claims: &[Claim]) -> String {
    let rows: String = claims.iter().map(Claim::row).collect();
    format!("\n| | published | ours | |\n| --- | --- | --- | --- |\n{rows}")
}

/// A file to write, by name.
pub type File = (String, String);

/// One paper's results while they are made.
#[derive(Debug, Clone)]
pub struct Document {
    name: &'static str,
    head: String,
    body: String,
    claims: Vec<Claim>,
    charts: Vec<File>,
}

impl Document {
    /// A document that will be `name`.md.
    pub fn new(name: &'static str, title: &str, paper: &str) -> Self {
        let head = format!("# {title}\n\n{}\n", wrapped(paper));
        Self { name, head, body: String::new(), claims: Vec::new(), charts: Vec::new() }
    }

    /// A heading and what stands under it.
    pub fn section(&mut self, title: &str, text: &str) {
        let _ = write!(self.body, "\n## {title}\n");
        self.paragraph(text);
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        let _ = write!(self.body, "\n{}\n", wrapped(text));
    }

    /// A table: the first column to the left, numbers to the right.
    pub fn table<H: AsRef<str>>(&mut self, head: &[H], rows: &[Vec<String>]) {
        let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
        let head: Vec<&str> = head.iter().map(AsRef::as_ref).collect();
        let rule: Vec<&str> = (0..head.len()).map(|at| if at == 0 { "---" } else { "---:" }).collect();
        self.body += &format!("\n{}{}", line(&head), line(&rule));
        for row in rows {
            self.body += &line(&row.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    /// A table with a row for each of some values, such as k: the value itself, then the cells at its place.
    pub fn table_by<H: AsRef<str>>(&mut self, head: &[H], by: &[u64], cells: impl Fn(usize) -> Vec<String>) {
        let row = |(at, value): (usize, &u64)| [vec![value.to_string()], cells(at)].concat();
        self.table(head, &by.iter().enumerate().map(row).collect::<Vec<_>>());
    }

    /// A picture of its own, shown here.
    pub fn chart(&mut self, name: &str, title: &str, (x, y): (Axis, Axis), lines: Vec<Line>) {
        let file = format!("{}-{name}.svg", self.name);
        let chart = Chart { title: title.to_owned(), x, y, lines };
        let _ = write!(self.body, "\n![{title}]({file})\n");
        self.charts.push((file, chart.svg()));
    }

    /// Something that the paper says, and whether it is so here.
    pub fn claim(&mut self, what: &str, published: &str, ours: String, holds: bool) -> &mut Claim {
        self.add(what, published, ours, Some(holds))
    }

    /// Something that the paper says of each of some values, such as every k, and for which of them it is so here.
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

    /// Something that stands beside what the paper says without being comparable, or that it does not say.
    pub fn aside(&mut self, what: &str, published: &str, ours: String) {
        self.add(what, published, ours, None);
    }

    fn add(&mut self, what: &str, published: &str, ours: String, holds: Option<bool>) -> &mut Claim {
        let (what, published) = (what.to_owned(), published.to_owned());
        self.claims.push(Claim { what, published, ours, holds, why: None });
        let last = self.claims.len() - 1;
        &mut self.claims[last]
    }

    /// What was claimed.
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// Its title.
    pub fn title(&self) -> &str {
        self.head.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// The name of its file.
    pub fn file(&self) -> String {
        format!("{}.md", self.name)
    }

    /// The document and its pictures. `made` says by what, on what and when.
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

    /// Every claim that differs, and why; several for the same reason are told together.
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

/// A line with a point for each of some values across, such as k: the height at its place.
pub fn line_by(name: impl Into<String>, by: &[u64], height: impl Fn(usize) -> f64) -> Line {
    let points = by.iter().enumerate().map(|(at, value)| (*value as f64, height(at))).collect();
    Line { name: name.into(), points }
}

/// A share as percent, as the papers print it.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// A difference of shares in points.
pub fn points(difference: f64) -> String {
    // No minus before what prints as nothing.
    let rounded = (1000.0 * difference).round() / 10.0;
    format!("{:.1}", if rounded == 0.0 { 0.0 } else { rounded })
}

/// The least and the greatest of some; an error where there are none, or where one is no number.
pub fn span(values: impl Iterator<Item = f64>) -> Result<(f64, f64), PaperError> {
    let values: Vec<f64> = values.collect();
    let is_whole = !values.is_empty() && values.iter().all(|value| value.is_finite());
    let ends = |(least, most): (f64, f64), value: f64| (least.min(value), most.max(value));
    let found = values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    is_whole.then_some(found).ok_or_else(|| PaperError::without("figures to compare"))
}

/// Where something does not hold, in words: `yes`, or `not for k = 5, 10`; without a name, `not for Monday`.
pub fn where_not<T: ToString>(name: &str, all: impl Iterator<Item = (T, bool)>) -> (String, bool) {
    let not: Vec<String> = all.filter(|(_, holds)| !holds).map(|(at, _)| at.to_string()).collect();
    match not.is_empty() {
        true => ("yes".to_owned(), true),
        false if name.is_empty() => (format!("not for {}", not.join(", ")), false),
        false => (format!("not for {name} = {}", not.join(", ")), false),
    }
}

/// Broken into lines between words; lines that are there already stay.
fn wrapped(text: &str) -> String {
    let paragraph = |text: &str| joined(text.split_whitespace(), WIDTH).join("\n");
    text.split('\n').map(paragraph).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_its_claims_first_and_its_pictures_beside_it() {
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
