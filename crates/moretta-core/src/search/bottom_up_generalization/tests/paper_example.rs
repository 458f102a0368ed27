//! The example of the paper: Wang, Yu, Chakraborty, *Bottom-Up Generalization* (2004).

use super::{as_published, run, shown};
use crate::{
    ids::{NodeId, TupleId},
    recoding::Recoding,
    search::{
        Method, NoObserver, SearchError, Task, ValidPoint,
        bottom_up_generalization::{Criterion, candidates::Candidates, information},
        taxonomy::Taxonomy,
    },
    testing::TestTable,
};

/// The paper's table of 29 records, with its hierarchies.
fn table(k: u64) -> TestTable {
    let policy = format!(
        "privacy.k = {k}\n[columns]\nRelationship = {{ role = \"quasi-identifier\", hierarchy = \"r.csv\" }}\nRace = {{ role \
         = \"quasi-identifier\", hierarchy = \"r.csv\" }}\nWorkclass = {{ role = \"quasi-identifier\", hierarchy = \"w.csv\" \
         }}\nClass.role = \"class\""
    );
    let hierarchies = [
        ("Relationship", "a1;e1;g1;*\nb1;e1;g1;*\nc1;f1;g1;*\nd1;f1;g1;*\n"),
        ("Race", "a2;e2;g2;*\nb2;e2;g2;*\nc2;f2;g2;*\nd2;f2;g2;*\n"),
        ("Workclass", "a3;a3;a3;h3;*\nb3;b3;b3;h3;*\nc3;f3;g3;h3;*\nd3;f3;g3;h3;*\ne3;e3;g3;h3;*\n"),
    ];
    let rows = [
        ("c1,b2,a3,N", 4),
        ("c1,b2,c3,N", 4),
        ("c1,b2,d3,N", 3),
        ("c1,c2,a3,Y", 2),
        ("c1,c2,a3,N", 1),
        ("c1,c2,b3,Y", 2),
        ("c1,c2,b3,N", 2),
        ("d1,c2,b3,Y", 4),
        ("d1,c2,e3,Y", 2),
        ("d1,d2,b3,Y", 2),
        ("d1,d2,b3,N", 1),
        ("d1,d2,e3,Y", 2),
    ];
    TestTable::new(&policy, &hierarchies, &rows)
}

#[test]
fn one_generalization_makes_the_table_3_anonymous() {
    let table = table(3);
    assert_eq!((table.profile.tuples(), table.profile.smallest_tuple()), (9, 2));
    let outcome = run(as_published(), &table, 0).unwrap();
    assert_eq!(shown(&table.profile, &outcome.path), ["Race -> f2"]);
    // Two tuples have only 2 records each: (d1, c2, e3) and (d1, d2, e3). Of the valid generalizations, only f1 and f2
    // change them, so only these two are tried; f2 merges the two tuples.
    assert_eq!(outcome.work[..3], [("iterations", 1), ("trials", 2), ("most_trials", 2)]);
    let Recoding::Global(cut) = outcome.recoding else { panic!("expected a global recoding") };
    let mut groups = std::collections::BTreeMap::<Vec<String>, u64>::new();
    for tuple in (0..9).map(TupleId) {
        let codes = table.profile.codes(tuple).iter().enumerate();
        let label = |(column, &code): (usize, &u32)| {
            table.profile.columns()[column].domain.label(cut.cells[column][code as usize])
        };
        *groups.entry(codes.map(label).collect()).or_default() += table.profile.tuple_records(tuple);
    }
    let records = |labels: [&str; 3]| groups[&labels.map(str::to_owned).to_vec()];
    assert_eq!((records(["d1", "f2", "e3"]), records(["d1", "f2", "b3"])), (4, 7));
    assert_eq!(groups.values().min(), Some(&3));
}

#[test]
fn five_generalizations_are_valid_at_the_start() {
    let table = table(3);
    let taxonomies = Taxonomy::of_columns(&table.profile);
    let information = information::of_columns(&table.profile, &taxonomies, Criterion::Class);
    let valid = Candidates::new(&taxonomies, &information).all();
    let label = |&(column, node): &(usize, NodeId)| taxonomies[column].tree().label(node).to_owned();
    assert_eq!(valid.iter().map(label).collect::<Vec<_>>(), ["e1", "f1", "e2", "f2", "f3"]);
}

#[test]
fn the_generalization_path_continues_past_the_first_valid_step_to_the_root() {
    let table = table(3);
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 1 };
    let path = as_published().generalization_path(&task, &NoObserver).unwrap().unwrap();
    assert_eq!(path.first_valid, Some(ValidPoint { step: 1, suppressed_rows: 0 }));
    let steps = shown(&table.profile, &path.steps);
    assert_eq!(steps[0], "Race -> f2");
    // Each step generalizes to another inner node: e, f, g and the root in two columns; f3, g3, h3 and the root in the
    // third.
    assert_eq!(steps.len(), 12);
    let mut distinct = steps.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 12);
}

#[test]
fn a_k_above_the_number_of_records_is_an_error_that_names_k() {
    let error = run(as_published(), &table(30), 0).unwrap_err();
    assert!(matches!(error, SearchError::Impossible { records: 29, .. }), "{error}");
    assert!(error.to_string().contains("k-anonymity (k = 30)"), "{error}");
}
