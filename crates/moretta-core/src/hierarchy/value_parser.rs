//! Parsing of a column's texts as numbers, dates or categories.

use std::cmp::Ordering;

use super::{bind::parse_number, domain::DomainProblem, labels::Bounds};
use crate::{
    dates::{DateFormat, Moment},
    decimal::Decimal,
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

    /// A date as this column writes it, with its time of day if the format allows one.
    pub(crate) fn text_of(&self, moment: Moment) -> String {
        moment.write(self.format.as_ref())
    }

    /// Whether the date format allows a time of day.
    pub(crate) fn may_have_time(&self) -> bool {
        self.format.as_ref().is_none_or(DateFormat::has_time)
    }

    fn not_a_date(&self, text: &str) -> DomainProblem {
        let format = self.format.as_ref().map(|format| format.as_str().to_owned());
        DomainProblem::NotADate { value: text.to_owned(), format }
    }

    /// Exact order of two numbers or dates, also if they are the same float; categories are in text order.
    pub(crate) fn compare(&self, a: &str, b: &str) -> Ordering {
        match self.kind {
            _ if a == b => Ordering::Equal,
            Kind::Number => Decimal::parse(a).cmp(&Decimal::parse(b)),
            Kind::Date => self.moment(a).map(Moment::date_time).cmp(&self.moment(b).map(Moment::date_time)),
            Kind::Category => a.cmp(b),
        }
    }

    /// Whether a released interval contains a value, compared exactly; `None` if the label is no interval of this
    /// column's kind.
    pub(crate) fn interval_contains(&self, label: &str, value: &str) -> Option<bool> {
        let Bounds { low, high } = Bounds::of(label)?;
        let is_value = |(end, _): (&str, bool)| self.number(end).is_ok();
        if !self.kind.is_ordered() || !low.is_none_or(is_value) || !high.is_none_or(is_value) {
            return None;
        }
        let above_low = |(low, closed): (&str, bool)| {
            let order = self.compare(low, value);
            order.is_lt() || closed && order.is_eq()
        };
        // An upper end without a time of day includes the whole day.
        let same_day = |high: &str| match (self.moment(value), self.moment(high)) {
            (Some(value), Some(high)) => !high.has_time() && value.day() == high.day(),
            _ => false,
        };
        let below_high = |(high, closed): (&str, bool)| {
            let order = self.compare(value, high);
            order.is_lt() || closed && (order.is_eq() || self.kind == Kind::Date && same_day(high))
        };
        Some(low.is_none_or(above_low) && high.is_none_or(below_high))
    }
}
