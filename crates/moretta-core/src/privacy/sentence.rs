//! Sentences about a guarantee, in parts, so that a page can mark up names and a terminal can print them.

use std::fmt;

use crate::schema::Unit;

/// A sentence without its full stop.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sentence(Vec<Part>);

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// Name of a column, or a value.
    Name(String),
    /// Several names, with a word before the last: `a, b and c`.
    Names(Vec<String>, &'static str),
    /// A limit that is a share of 1.
    Share(f64),
    /// A share of 1 that was measured.
    Measured(f64),
    /// A number of records or persons.
    Size(u64, Unit),
}

impl Sentence {
    /// Adds words.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.part(Part::Text(text.into()))
    }

    /// Adds the name of a column, or a value.
    pub fn name(self, name: &str) -> Self {
        self.part(Part::Name(name.to_owned()))
    }

    /// Adds several names, with a word such as `and` before the last.
    pub fn names<T: AsRef<str>>(self, names: &[T], last: &'static str) -> Self {
        self.part(Part::Names(names.iter().map(|name| name.as_ref().to_owned()).collect(), last))
    }

    /// Adds a limit that is a share of 1.
    pub fn share(self, share: f64) -> Self {
        self.part(Part::Share(share))
    }

    /// Adds a part.
    pub fn part(mut self, part: Part) -> Self {
        self.0.push(part);
        self
    }

    /// All parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.0
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Name(name) => write!(f, "`{name}`"),
            Part::Names(names, last) => names.iter().enumerate().try_for_each(|(index, name)| match index {
                0 => write!(f, "`{name}`"),
                _ if index + 1 == names.len() => write!(f, " {last} `{name}`"),
                _ => write!(f, ", `{name}`"),
            }),
            // Rounded to twelve digits, because 0.07 * 100 is not exactly 7.
            Part::Share(share) => write!(f, "{} %", (share * 1e14).round() / 1e12),
            Part::Measured(share) => write!(f, "{:.1} %", share * 100.0),
            Part::Size(size, unit) => f.write_str(&unit.counted(*size)),
        })
    }
}
