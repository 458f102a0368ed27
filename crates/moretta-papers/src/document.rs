//! One paper's results: Markdown with tables, pictures beside it, and what was published held against what we found.

use std::fmt::Write as _;

use moretta_chart::{Axis, Chart, Line};

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
    /// Whether that is the same, or better.
    pub holds: bool,
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
    why: Vec<String>,
    charts: Vec<File>,
}

impl Document {
    /// A document that will be `name`.md.
    pub fn new(name: &'static str, title: &str, paper: &str) -> Self {
        let head = format!("# {title}\n\n{}\n", wrapped(paper));
        Self { name, head, body: String::new(), claims: Vec::new(), why: Vec::new(), charts: Vec::new() }
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

    /// A picture of its own, shown here.
    pub fn chart(&mut self, name: &str, title: &str, (x, y): (Axis, Axis), lines: Vec<Line>) {
        let file = format!("{}-{name}.svg", self.name);
        let chart = Chart { title: title.to_owned(), x, y, lines };
        let _ = write!(self.body, "\n![{title}]({file})\n");
        self.charts.push((file, chart.svg()));
    }

    /// Something that the paper says.
    pub fn claim(&mut self, what: &str, published: &str, ours: String, holds: bool) {
        self.claims.push(Claim { what: what.to_owned(), published: published.to_owned(), ours, holds });
    }

    /// Why something differs from what was published.
    pub fn why(&mut self, text: &str) {
        self.why.push(wrapped(text));
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
            text += "\n## Published and ours\n\n| | published | ours | |\n| --- | --- | --- | --- |\n";
            for Claim { what, published, ours, holds } in &self.claims {
                let _ = writeln!(text, "| {what} | {published} | {ours} | {} |", verdict(*holds));
            }
        }
        if !self.why.is_empty() {
            text += "\n## Where they differ, and why\n";
            self.why.iter().for_each(|why| text += &format!("\n{why}\n"));
        }
        text += &self.body;
        let mut files = vec![(self.file(), text)];
        files.extend(self.charts.iter().cloned());
        files
    }
}

/// One word on a claim.
pub fn verdict(holds: bool) -> &'static str {
    if holds { "yes" } else { "**differs**" }
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

/// The least and the greatest of some.
pub fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
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
    let paragraph = |text: &str| {
        let mut lines = vec![String::new()];
        for word in text.split_whitespace() {
            let last = lines.len() - 1;
            let room = lines[last].chars().count() + word.chars().count() < WIDTH;
            match (lines[last].is_empty(), room) {
                (true, _) => lines[last] += word,
                (false, true) => lines[last] += &format!(" {word}"),
                (false, false) => lines.push(word.to_owned()),
            }
        }
        lines.join("\n")
    };
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
        document.claim("B", "17.4 %", percent(0.177), true);
        document.claim("W", "24.6 %", percent(0.3), false);
        document.why("Because.");
        let files = document.files("Made by a test.");
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["1-test.md", "1-test-errors.svg"]);
        let text = &files[0].1;
        assert!(
            text.starts_with("# A test\n\nWhat it is about.\n\nMade by a test.\n\n## Published and ours\n"),
            "{text}"
        );
        assert!(text.contains("| B | 17.4 % | 17.7 % | yes |\n| W | 24.6 % | 30.0 % | **differs** |\n"), "{text}");
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
        assert_eq!(span([0.5, -1.0, 3.0].into_iter()), (-1.0, 3.0));
    }
}
