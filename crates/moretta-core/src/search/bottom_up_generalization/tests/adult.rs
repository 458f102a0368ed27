//! The exact sequence of the reference on Adult, if the data is available.

use super::{as_published, reference::Reference, run};
use crate::{
    hierarchy::{Hierarchies, file},
    ids::ColumnId,
    measure::{MeasureContext, Measures},
    search::{
        bottom_up_generalization::{BottomUpGeneralization, BottomUpParams},
        taxonomy::Taxonomy,
    },
    testing::{TestTable, data, select},
    verify::verify_against,
};

const COLUMNS: [&str; 7] = ["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"];

/// Training set of Adult with seven categorical columns and the class; `None` if the data is not available.
pub fn adult(privacy: &str, test: &str) -> Option<TestTable> {
    let text = data("adult/adult_train.csv", test)?;
    let mut policy = format!("{privacy}\n[columns]\nincome.role = \"class\"\n");
    let mut trees = Hierarchies::default();
    for name in COLUMNS {
        policy += &format!("{name} = {{ role = \"quasi-identifier\", hierarchy = \"h.csv\" }}\n");
        let file = data(&format!("adult/hierarchies/{name}.csv"), test)?;
        trees.insert(name.to_owned(), file::parse(&file).unwrap());
    }
    let columns: Vec<&str> = COLUMNS.into_iter().chain(["income"]).collect();
    let rows = select(&text, &columns);
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    Some(TestTable::with_trees(&policy, trees, &rows))
}

#[test]
fn the_sequence_on_adult_is_that_of_the_reference() {
    for k in [2, 5, 10, 50, 100, 500] {
        let Some(table) = adult(&format!("privacy.k = {k}"), "the_sequence_on_adult_is_that_of_the_reference") else {
            return;
        };
        let outcome = run(as_published(), &table, 0).unwrap();
        let taxonomies = Taxonomy::of_columns(&table.profile);
        let expected = Reference::new(&table.profile).sequence(k);
        let found = outcome.path.iter().map(|step| step.changes.as_slice());
        let expected: Vec<_> =
            expected.iter().map(|&(c, node)| [(ColumnId::from_index(c), taxonomies[c].cell(node))]).collect();
        assert!(found.eq(expected.iter().map(|change| change.as_slice())), "k = {k}: {:?}", outcome.path);
    }
}

/// LM, CM and the number of suppressed records, with up to `share` of all records suppressed.
fn measured(table: &TestTable, params: BottomUpParams, share: f64) -> (f64, f64, u64) {
    let allowed = (share * table.profile.records() as f64) as u64;
    let recoding = run(BottomUpGeneralization(params), table, allowed).unwrap().recoding;
    let suppressed = recoding.suppressed_records(&table.profile);
    let verified = verify_against(&table.profile, recoding, &table.models, &table.policy, allowed).unwrap();
    let context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
    let measures = Measures::of(&context);
    (measures.get("lm").unwrap(), measures.get("cm").unwrap(), suppressed)
}

#[test]
fn the_default_is_never_worse_than_the_published_method_and_clearly_better_at_both_ends() {
    for k in [10, 25, 50, 100, 250, 500] {
        let Some(table) = adult(&format!("privacy.k = {k}"), "the_default_is_never_worse_than_the_published_method")
        else {
            return;
        };
        let published = measured(&table, as_published().0, 0.0);
        let reverted = measured(&table, BottomUpParams { search: 0, ..BottomUpParams::default() }, 0.0);
        let default = measured(&table, BottomUpParams::default(), 0.0);
        for better in [reverted, default] {
            assert!(better.0 <= published.0 && better.1 <= published.1, "K = {k}: {published:?} {better:?}");
        }
        // Expected LM of the climb alone.
        let known = [(10, 4.610), (500, 6.296)].into_iter().find(|(known, _)| *known == k);
        if let Some((_, lm)) = known {
            assert!((published.0 - lm).abs() < 5e-4, "K = {k}: {published:?}");
            assert!(default.0 < published.0 - 0.5, "K = {k}: {published:?} {default:?}");
        }
        // LM of the climb alone if it stops once the records below k fit the budget: 3.97 and 3.66.
        for (share, stopped) in [(0.02, 3.97), (0.05, 3.66)].into_iter().filter(|_| k == 10) {
            let with_budget = measured(&table, BottomUpParams::default(), share);
            assert!(with_budget.0 < stopped - 1.0, "{share}: {with_budget:?}");
        }
    }
}
