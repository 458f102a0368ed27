//! An attacker who holds several releases and claims diagnoses. It shares no definition with `moretta linkage`: it
//! keeps, for each person, the released records that fit and are not suppressed, and crosses out those whose copied
//! values do not occur in every release.

use std::collections::BTreeSet;

use super::twin::{Roles, Table};

/// Claims of the attacker.
#[derive(Debug, Default)]
pub struct Claims {
    pub right: u64,
    pub wrong: u64,
}

/// Claims a value for each person for whom only one remains, and compares it with the truth.
pub fn claims(original: &str, releases: &[String], roles: &Roles<'_>) -> Claims {
    let original = Table::new(original);
    let releases: Vec<Table> = releases.iter().map(|text| Table::new(text)).collect();
    let truth = original.values(roles.sensitive);
    let known: Vec<Vec<&str>> = roles.known.iter().map(|(name, _)| original.values(name)).collect();
    let mut claims = Claims::default();
    for person in 0..truth.len() {
        // By release: the copied texts of the records that fit, the sensitive one first.
        let fitting = |release: &Table| -> BTreeSet<Vec<String>> {
            let cells: Vec<Vec<&str>> = roles.known.iter().map(|(name, _)| release.values(name)).collect();
            let copied: Vec<Vec<&str>> =
                [&[roles.sensitive], &roles.copied[..]].concat().iter().map(|name| release.values(name)).collect();
            let fits = |record: &usize| {
                let mut columns = roles.known.iter().zip(&cells).zip(&known);
                !cells.iter().all(|column| column[*record] == "*")
                    && columns.all(|(((_, reading), cells), values)| reading.contains(cells[*record], values[person]))
            };
            let records = (0..release.rows.len()).filter(fits);
            records.map(|record| copied.iter().map(|column| column[record].to_owned()).collect()).collect()
        };
        let mut remaining = fitting(&releases[0]);
        for release in &releases[1..] {
            let others = fitting(release);
            remaining.retain(|copied| others.contains(copied));
        }
        let values: BTreeSet<&str> = remaining.iter().map(|copied| copied[0].as_str()).collect();
        if let (1, Some(value)) = (values.len(), values.first()) {
            *if *value == truth[person] { &mut claims.right } else { &mut claims.wrong } += 1;
        }
    }
    claims
}
