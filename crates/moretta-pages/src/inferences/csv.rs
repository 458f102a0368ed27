//! All inferences as CSV.

use moretta_core::ids::ColumnId;
use moretta_insight::inferences::{Inference, Listing, columns};

use crate::csv;

const HEADER: [&str; 8] = ["column", "value", "confidence", "support", "records", "max_confidence", "broken", "given"];

/// Returns one line per inference. Every quasi-identifier known in some inference has a column, empty in the others;
/// `given` names the known ones, because a known value may be empty too.
pub fn csv(listing: &Listing) -> String {
    let mut known: Vec<ColumnId> = listing.questions.iter().flat_map(columns).collect();
    known.sort_unstable();
    known.dedup();
    // Prefixed, because a quasi-identifier may be called `value`.
    let prefixed = |column: &ColumnId| format!("given.{}", listing.profile.columns()[column.index()].name);
    let header = HEADER.into_iter().map(str::to_owned);
    let mut text = csv::line(header.chain(known.iter().map(prefixed)));
    text.extend(listing.found.listed.iter().map(|inference| csv::line(cells(listing, inference, &known))));
    text
}

fn cells(listing: &Listing, inference: &Inference, columns: &[ColumnId]) -> Vec<String> {
    let (column, value) = listing.inferred(inference);
    let given = listing.set(inference);
    let codes = listing.profile.codes(inference.tuple);
    let known = |column: &ColumnId| {
        let text = || listing.profile.domain(*column).text(codes[column.index()]).to_owned();
        if given.contains(column) { text() } else { String::new() }
    };
    let mut cells = vec![
        column.to_owned(),
        value.to_owned(),
        inference.confidence().to_string(),
        inference.support.to_string(),
        inference.records.to_string(),
        inference.max_confidence.map_or(String::new(), |max| max.to_string()),
        inference.exceeds_limit().to_string(),
        listing.names(given).collect::<Vec<_>>().join("; "),
    ];
    cells.extend(columns.iter().map(known));
    cells
}
