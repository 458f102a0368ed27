//! Parsing of a column's texts as numbers, dates or categories.

use std::cmp::Ordering;

use super::{bind::parse_number, domain::DomainProblem};
use crate::{
    dates::{DateFormat, Moment},
    schema::Kind,
};

/// Parses the texts of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueParser {
    kind: Kind,
    format: Option<DateFormat>,
}

impl ValueParser {
    /// The format is used for dates only; `None` is ISO 8601.
    pub fn new(kind: Kind, format: Option<&DateFormat>) -> Self {
        Self { kind, format: format.filter(|_| kind == Kind::Date).cloned() }
    }

    /// Type of the values.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Number of a text, or seconds of a date.
    pub fn number(&self, text: &str) -> Result<f64, DomainProblem> {
        match self.kind {
            Kind::Date => self.moment(text).map(Moment::seconds).ok_or_else(|| self.not_a_date(text)),
            _ => parse_number(text),
        }
    }

    /// Date of a text; `None` if it is not a date.
    pub(crate) fn moment(&self, text: &str) -> Option<Moment> {
        Moment::read(text, self.format.as_ref())
    }

    /// Whether the date format allows a time of day.
    pub(crate) fn may_have_time(&self) -> bool {
        self.format.as_ref().is_none_or(DateFormat::has_time)
    }

    fn not_a_date(&self, text: &str) -> DomainProblem {
        let format = self.format.as_ref().map(|format| format.as_str().to_owned());
        DomainProblem::NotADate { value: text.to_owned(), format }
    }

    /// Exact comparison of two texts whose numbers may be the same float. Numbers are only distinguished, not ordered
    /// by size.
    pub(crate) fn compare(&self, a: &str, b: &str) -> Ordering {
        match self.kind {
            _ if a == b => Ordering::Equal,
            Kind::Number => decimal(a).cmp(&decimal(b)),
            Kind::Date => self.moment(a).map(Moment::date_time).cmp(&self.moment(b).map(Moment::date_time)),
            Kind::Category => a.cmp(b),
        }
    }
}

/// Canonical decimal form: sign, digits without zeros at either end, and the exponent of the last digit.
fn decimal(text: &str) -> (bool, String, i64) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse().unwrap_or(0)),
        None => (text, 0i64),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    let exponent = exponent - fraction.len() as i64 + (digits.len() - trimmed.len()) as i64;
    let trimmed = trimmed.trim_start_matches('0');
    if trimmed.is_empty() { (false, String::new(), 0) } else { (negative, trimmed.to_owned(), exponent) }
}
