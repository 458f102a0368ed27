//! Summary of a comparison in sentences, computed from its rows; the terminal and the page print the same ones.

use moretta_core::{
    search::Stop,
    text::{count, counted, listed},
};

use super::{Comparison, FIGURES, Figure, Row, RunResult, Unit};

/// The best methods by one figure, for each k.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// At what: `lowest error of a classifier (E)`.
    pub what: String,
    /// The methods: `sweep at k = 5 (18.2 %) and 10 (18.4 %)`.
    pub who: String,
}

/// The methods with the smallest loss, the smallest errors and the shortest time.
pub fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    let objective = Figure { value: |found| found.objective, ..*named("gcp") };
    let least_lost = match &comparison.measure {
        Some(name) => (format!("lowest loss by the policy's measure ({name})"), objective),
        None => ("lowest loss of precision (gcp)".to_owned(), *named("gcp")),
    };
    let all = [
        least_lost,
        ("lowest error of a classifier (E)".to_owned(), *named("E")),
        ("lowest error of COUNT queries".to_owned(), *named("count")),
        ("fastest".to_owned(), *named("seconds")),
    ];
    all.into_iter().filter_map(|(what, figure)| Some(Verdict { what, who: who(comparison, &figure)? })).collect()
}

/// `8,376 records`, or `8,376 records of 1,152 persons`
pub fn size(comparison: &Comparison) -> String {
    let records = counted(comparison.records, "record", "records");
    match comparison.persons {
        Some(persons) => format!("{records} of {}", counted(persons, "person", "persons")),
        None => records,
    }
}

fn named(name: &str) -> &'static Figure {
    FIGURES.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("there is no figure `{name}`"))
}

/// The best methods at each k; consecutive k with the same methods are joined. `None` if no k has a best one.
fn who(comparison: &Comparison, figure: &Figure) -> Option<String> {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for k in comparison.ks() {
        let Some(best) = comparison.best(figure, k) else { continue };
        let has = |row: &&Row| row.found.as_ref().and_then(figure.value) == Some(best);
        let methods: Vec<&str> = comparison.at(k).filter(has).map(|row| row.method.as_str()).collect();
        let (methods, value) = (listed(&methods), figure.unit.text(best));
        let at = k.map_or(format!("({value})"), |k| format!("{} ({value})", count(k)));
        match parts.last_mut().filter(|(known, _)| *known == methods) {
            Some((_, places)) => places.push(at),
            None => parts.push((methods, vec![at])),
        }
    }
    let part = |(methods, places): &(String, Vec<String>)| {
        let places = listed(places);
        if places.starts_with('(') { format!("{methods} {places}") } else { format!("{methods} at k = {places}") }
    };
    (!parts.is_empty()).then(|| parts.iter().map(part).collect::<Vec<_>>().join("; "))
}

/// Caveats: what is counted, how errors were counted, which methods were stopped, what is missing.
pub fn caveats(comparison: &Comparison) -> Vec<String> {
    let mut sentences = Vec::new();
    if comparison.persons.is_some() {
        sentences.push(
            "k, the other models and the smallest group count persons; losses, errors, queries and suppressed records count \
             records."
                .to_owned(),
        );
    }
    if let (Some(tested), Some(errors)) = (comparison.tested, comparison.errors) {
        let spread = comparison.spread;
        let part = |name: &str, value: f64, spread: Option<f64>| {
            let spread = spread.map_or(String::new(), |spread| format!(" ± {}", Unit::Share.cell(spread)));
            format!("{name} {}{spread} %", Unit::Share.cell(value))
        };
        let mut parts = vec![
            part("B", errors.raw, spread.map(|spread| spread.raw)),
            part("W", errors.root, spread.map(|spread| spread.root)),
        ];
        parts.extend(errors.removed.map(|error| part("RE", error, spread.and_then(|spread| spread.removed))));
        let records = counted(tested.records, "record", "records");
        let how = match tested.splits {
            1 => format!("on {records} held out for testing"),
            splits => {
                format!("on held-out records, mean ± standard deviation of {splits} splits ({records} in all)")
            }
        };
        sentences.push(format!("E is the error of a decision tree {how}. For every method, {}.", listed(&parts)));
        if spread.is_some() {
            sentences.push("Errors that differ by less than their standard deviation may differ by chance.".to_owned());
        }
    }
    sentences.extend(asked(comparison));
    sentences.extend(of_rows(comparison, "stopped at the time limit and could have found a better result", |found| {
        found.stop == Stop::OutOfTime
    }));
    sentences.extend(of_rows(comparison, "found no release of the training records, and has no E", |found| {
        found.untested.is_some()
    }));
    sentences
}

fn asked(comparison: &Comparison) -> Option<String> {
    let found = comparison.rows.iter().find_map(|row| row.found.as_ref())?;
    let queries = found.queries.count.queries as u64;
    let which = match &comparison.summed {
        Some(column) => format!("count and sum (of {column}) are the mean relative errors"),
        None => "count is the mean relative error".to_owned(),
    };
    let few = match queries < u64::from(comparison.queries) {
        true => format!("; {} were requested, but too few have a nonzero answer", count(comparison.queries.into())),
        false => String::new(),
    };
    let queries = counted(queries, "random query", "random queries");
    Some(format!("{which} of {queries} over all quasi-identifiers{few}."))
}

fn of_rows(comparison: &Comparison, what: &str, is: fn(&RunResult) -> bool) -> Option<String> {
    let names = comparison.rows.iter().filter(|row| row.found.as_ref().is_some_and(is)).map(Row::name);
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| format!("{} {what}.", names.join("; ")))
}
