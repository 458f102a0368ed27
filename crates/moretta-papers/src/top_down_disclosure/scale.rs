//! Running time of the search on Adult, enlarged to a million records.

use moretta_core::{policy::Policy, text::count};
use moretta_pages::chart::{Axis, Line};

use crate::{
    adult::{BOTH, GUARDED},
    document::Document,
    error::PaperError,
    experiment::Experiment,
};

/// Several QIDs of two to five columns; none contains another.
const SEVERAL: [&[&str]; 4] = [
    &["occupation", "education", "sex"],
    &["native-country", "sex"],
    &["workclass", "relationship", "occupation", "native-country", "race"],
    &["education", "relationship"],
];
const COPIES: [usize; 5] = [1, 5, 11, 16, 22];
const RANDOM_COLUMNS: usize = 3;
const CONFIDENCE: f64 = 0.9;
/// Copies `s` of the published run, and its seconds with one QID and with several.
const LARGE: usize = 22;
const PUBLISHED: [f64; 2] = [150.0, 276.0];

fn policy(qids: &[&[&str]]) -> Result<Policy, PaperError> {
    let template = |qid: &&[&str]| {
        format!("{{ given = {qid:?}, column = \"marital-status\", rarest = 0.5, max-confidence = {CONFIDENCE} }}")
    };
    let templates: Vec<String> = qids.iter().map(template).collect();
    GUARDED.policy(&format!("template = [{}]", templates.join(", ")), "name = \"top-down-disclosure\"")
}

pub(super) fn run(experiment: &Experiment<'_>, document: &mut Document) -> Result<(), PaperError> {
    document.section(
        "Scale",
        &format!(
            "Both sets (45,222 records), each record with s - 1 variations that have random values in \
             {RANDOM_COLUMNS} random columns; the rarer half of marital-status must not be inferred above 90 %, from \
             one QID of all seven other columns and from {} QIDs of two to five. The ratio to a naive search, and up \
             to ten million records, are in [top-down-disclosure.md](../top-down-disclosure.md).",
            SEVERAL.len()
        ),
    );
    let ways = [("one QID", policy(&[GUARDED.columns])?), ("several QIDs", policy(&SEVERAL)?)];
    let original = GUARDED.rows(&experiment.data, BOTH)?;
    let (mut rows, mut lines) = (Vec::new(), vec![Vec::new(); ways.len()]);
    for s in COPIES {
        experiment.step(&format!("paper 2: enlarged {s} times"))?;
        let table = GUARDED.enlarged(&experiment.data, &original, (s, RANDOM_COLUMNS))?;
        let mut row = vec![s.to_string(), count(table.counts.records), count(table.counts.rows() as u64)];
        for (at, (name, policy)) in ways.iter().enumerate() {
            let run = experiment.run(policy, &table)?;
            row.push(format!("{:.2}", run.seconds));
            lines[at].push((table.counts.records as f64, run.seconds));
            if s == LARGE {
                let what = format!("{} records, {name}", count(table.counts.records));
                let published = format!("{} s, Pentium IV", PUBLISHED[at]);
                document.aside(&what, &published, format!("{:.2} s", run.seconds));
            }
        }
        rows.push(row);
    }
    document.table(&["s", "records", "distinct rows", "one QID, s", "several QIDs, s"], &rows);
    let line = |((name, _), points): (&(&str, Policy), Vec<(f64, f64)>)| Line { name: (*name).to_owned(), points };
    let axes = (Axis { title: "records", log: true }, Axis { title: "search, s", log: true });
    document.chart("scale", "Search against records", axes, ways.iter().zip(lines).map(line).collect());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_qid_is_within_another_whose_templates_would_make_it_redundant() {
        for (at, qid) in SEVERAL.iter().enumerate() {
            assert!((2..=5).contains(&qid.len()));
            for (other, wider) in SEVERAL.iter().enumerate() {
                assert!(at == other || !qid.iter().all(|column| wider.contains(column)), "{qid:?} in {wider:?}");
            }
        }
    }
}
