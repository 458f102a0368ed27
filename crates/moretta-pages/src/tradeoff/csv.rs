//! The trade-off as CSV: one line per step, all measures.

use moretta_core::{measure::MEASURES, recoding::Action};
use moretta_insight::tradeoff::{Point, TradeOff};

use crate::csv;

/// Returns the CSV text. Several changes of one step are in one field, separated by semicolons.
pub fn csv(tradeoff: &TradeOff) -> String {
    let mut header = vec!["step", "action", "column", "to", "groups", "anonymity", "below_k"];
    header.extend(MEASURES.iter().map(|entry| entry.name));
    let mut text = csv::line(header);
    text.extend(tradeoff.points.iter().map(|point| csv::line(cells(point))));
    text
}

fn cells(point: &Point) -> Vec<String> {
    let joined = |parts: Vec<&str>| parts.join("; ");
    let columns = point.changes.iter().map(|change| change.column.as_str()).collect();
    let mut cells = vec![
        point.step.to_string(),
        point.action.map_or("", action).to_owned(),
        joined(columns),
        joined(point.changes.iter().map(|change| change.to.as_str()).collect()),
        point.groups.to_string(),
        point.anonymity.to_string(),
        point.below_k.map_or(String::new(), |records| records.to_string()),
    ];
    cells.extend(point.measures.0.iter().map(|(_, value)| value.map_or(String::new(), |value| value.to_string())));
    cells
}

fn action(action: Action) -> &'static str {
    match action {
        Action::Generalize => "generalize",
        Action::TakeBack => "take-back",
        Action::Search => "search",
        Action::Disclose => "disclose",
    }
}
