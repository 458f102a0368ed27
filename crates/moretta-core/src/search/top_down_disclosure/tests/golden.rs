//! The example of the paper, with intermediate counts.

use super::run;
use crate::{
    hierarchy::Cell,
    profile::Column,
    recoding::Recoding,
    search::{
        NoObserver, Outcome, SearchError, Task,
        top_down_disclosure::{Criterion, TopDownParams, constraints::Constraints, search::TopDownSearch},
    },
    testing::{BANK, TestTable},
    verify::{VerifyError, verify_against},
};

fn template(given: &str, max_confidence: f64) -> String {
    format!(
        "[[privacy.template]]\ngiven = [{given}]\ncolumn = \"Bankruptcy\"\nvalues = [\"Discharged\"]\nmax-confidence = {max_confidence}\n"
    )
}

fn bank(templates: &str) -> TestTable {
    let columns = "[columns]\nJob.role = \"quasi-identifier\"\nCountry.role = \"quasi-identifier\"\n\
                   Child.role = \"quasi-identifier\"\nBankruptcy.role = \"sensitive\"\nRating.role = \"class\"";
    TestTable::new(&format!("{templates}{columns}"), &[], BANK)
}

fn disclosed(table: &TestTable, outcome: &Outcome) -> Vec<String> {
    let changes = outcome.path[1..].iter().flat_map(|step| &step.changes);
    changes.map(|(column, cell)| table.profile.domain(*column).label(*cell)).collect()
}

fn search(table: &TestTable) -> TopDownSearch<'_> {
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
    let Some(search) = TopDownSearch::new(&task, Criterion::Class, 8, &NoObserver) else {
        panic!("the observer never stops")
    };
    search
}

/// The cells with these labels, one for each known column.
fn released_cells(table: &TestTable, labels: &[&str]) -> Vec<Cell> {
    let cell = |(label, column): (&&str, &Column)| {
        let domain = &column.domain;
        let cells = (0..domain.len() as u32).map(|code| domain.cover(code, code));
        cells.chain([domain.whole()]).find(|cell| domain.label(*cell) == **label).expect("a value of the column")
    };
    labels.iter().zip(table.profile.columns()).map(cell).collect()
}

fn suppressed(table: &TestTable, outcome: &Outcome) -> Vec<String> {
    let Recoding::Global(cut) = &outcome.recoding else { panic!("a global recoding") };
    let columns = table.profile.columns().iter().zip(&cut.cells);
    let hidden = |(column, cells): (&Column, &Vec<Cell>)| -> Vec<String> {
        let codes = (0..column.domain.len() as u32).filter(|&code| column.domain.is_star(cells[code as usize]));
        codes.map(|code| column.domain.text(code).to_owned()).collect()
    };
    columns.flat_map(hidden).collect()
}

fn confidence(table: &TestTable, outcome: &Outcome) -> Vec<String> {
    let verified = verify_against(&table.profile, outcome.recoding.clone(), &table.models, &table.policy, 0);
    verified.expect("it holds").judgements().iter().map(|judgement| judgement.worst.clone()).collect()
}

#[test]
fn one_template() {
    let table = bank(&template("\"Job\", \"Country\"", 0.75));
    let outcome = run(&table, TopDownParams::default()).expect("it can be met");
    assert_eq!(disclosed(&table, &outcome), ["Cook", "Artist", "Doctor", "US", "France"]);
    assert_eq!(suppressed(&table, &outcome), ["Clerk", "Trader", "Canada", "UK"]);
    assert_eq!(confidence(&table, &outcome), ["confidence 0.500"]);
    // Child is in no template, so it is disclosed from the start. The confidence in the original table is 80 %.
    assert_eq!(outcome.path[0].changes.len(), 2);
    let raw = verify_against(&table.profile, Recoding::identity(&table.profile), &table.models, &table.policy, 0);
    assert!(matches!(raw, Err(VerifyError::Broken(judgement)) if judgement.worst == "confidence 0.800"));
}

#[test]
fn two_templates() {
    let table = bank(&(template("\"Job\", \"Country\"", 0.5) + &template("\"Job\", \"Child\"", 0.5)));
    let outcome = run(&table, TopDownParams::default()).expect("it can be met");
    assert_eq!(suppressed(&table, &outcome), ["Clerk", "Trader", "Canada", "UK"]);
    let mut disclosed = disclosed(&table, &outcome);
    disclosed.sort();
    assert_eq!(disclosed, ["Artist", "Cook", "Doctor", "France", "No", "US", "Yes"]);
}

#[test]
fn the_counts_on_the_way() {
    let table = bank(&template("\"Job\", \"Country\"", 0.75));
    let mut search = search(&table);
    let counts = |search: &TopDownSearch<'_>, labels: &[&str]| {
        search.confidences.group_counts(&search.candidates, &released_cells(&table, labels))
    };
    assert_eq!(counts(&search, &["*", "*"]), [24, 5]);
    assert_eq!(search.confidences.current(), [5.0 / 24.0]);
    for value in ["Clerk", "Canada"] {
        let is_disclosed = |id: &u32| {
            let candidate = search.candidates.get(*id);
            table.profile.columns()[candidate.column].domain.label(candidate.disclosed) == value
        };
        let id = (0..search.candidates.len() as u32).find(is_disclosed).expect("a candidate");
        search.disclose(id);
        search.confidences.check(&search.candidates);
    }
    assert_eq!(counts(&search, &["*", "Canada"]), [1, 0]);
    assert_eq!(counts(&search, &["*", "*"]), [19, 4]);
    assert_eq!(counts(&search, &["Clerk", "Canada"]), [4, 1]);
    assert_eq!(search.confidences.current(), [0.25]);
}

#[test]
fn below_the_share_in_the_whole_table_nothing_helps() {
    let table = bank(&(template("\"Job\", \"Country\"", 0.2) + &template("\"Child\"", 0.1)));
    let error = run(&table, TopDownParams::default()).expect_err("5 of 24 is more than 20 %");
    let SearchError::Impossible { broken, records: 24, proven: true } = &error else { panic!("{error}") };
    assert_eq!(broken.len(), 2);
    assert!(broken.iter().all(|(_, figure)| figure == "confidence 0.208"), "{error}");
    assert!(run(&bank(&template("\"Job\"", 5.0 / 24.0)), TopDownParams::default()).is_ok());
}

#[test]
fn an_implied_template_is_dropped() {
    let both = template("\"Job\", \"Country\"", 0.5) + &template("\"Job\"", 0.5);
    let table = bank(&both);
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
    let kept = Constraints::of(&task).templates;
    assert_eq!(kept.iter().map(|template| &template.scope[..]).collect::<Vec<_>>(), [[0, 1]]);
    // A looser template with more columns does not imply it.
    let table = bank(&(template("\"Job\", \"Country\"", 0.6) + &template("\"Job\"", 0.5)));
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
    assert_eq!(Constraints::of(&task).templates.len(), 2);
}
