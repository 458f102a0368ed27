//! How the texts of a column are read: as numbers, as dates, or as they stand.

use std::cmp::Ordering;

use super::{bind::parse_number, domain::DomainProblem};
use crate::{
    dates::{DateFormat, Moment},
    schema::Kind,
};

/// How the texts of a column are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueParser {
    kind: Kind,
    format: Option<DateFormat>,
}

impl ValueParser {
    /// As values of this kind; the format is for dates.
    pub fn new(kind: Kind, format: Option<&DateFormat>) -> Self {
        Self { kind, format: format.filter(|_| kind == Kind::Date).cloned() }
    }

    /// How values compare.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The number that a text stands for, or the seconds of a date.
    pub fn number(&self, text: &str) -> Result<f64, DomainProblem> {
        match self.kind {
            Kind::Date => self.moment(text).map(Moment::seconds).ok_or_else(|| self.not_a_date(text)),
            _ => parse_number(text),
        }
    }

    /// The date that a text stands for.
    pub(crate) fn moment(&self, text: &str) -> Option<Moment> {
        Moment::read(text, self.format.as_ref())
    }

    /// Whether dates are written in a way that says the time of day, as far as the format tells.
    pub(crate) fn may_have_time(&self) -> bool {
        self.format.as_ref().is_none_or(DateFormat::has_time)
    }

    fn not_a_date(&self, text: &str) -> DomainProblem {
        let format = self.format.as_ref().map(|format| format.as_str().to_owned());
        DomainProblem::NotADate { value: text.to_owned(), format }
    }

    /// Tells texts apart whose numbers are the same float: equal where they mean the same.
    pub(crate) fn compare(&self, a: &str, b: &str) -> Ordering {
        match self.kind {
            _ if a == b => Ordering::Equal,
            Kind::Number => decimal(a).cmp(&decimal(b)),
            Kind::Date => self.moment(a).map(Moment::date_time).cmp(&self.moment(b).map(Moment::date_time)),
            Kind::Category => a.cmp(b),
        }
    }
}

/// Sign, digits without zeros at either end, and the exponent of the last digit.
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
