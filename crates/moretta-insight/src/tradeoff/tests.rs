//! Every point against its naive reference: the whole table under the replayed cut.

use moretta_core::{
    ids::ColumnId,
    measure::{MeasureContext, Measures},
    recoding::{Action, Cut, Recoding, Step},
    released::Released,
    search::{NoObserver, Stop},
    testing::TestTable,
    verify::verify_against,
};
use proptest::prelude::*;

use super::{Change, MAX_POINTS, Point, cut_at, measured, sampled_steps};

const ZIP: &str = "a1;a;ab;*\na2;a;ab;*\nb1;b;ab;*\nb2;b;ab;*\nc1;c;c;*\nc2;c;c;*\nc3;c;c;*";
const POLICY: &str = "[columns.zip]\nrole = \"quasi-identifier\"\nhierarchy = \"zip.csv\"\n[columns.age]\n\
                      role = \"quasi-identifier\"\nhierarchy = { widths = [2, 4] }\nweight = 2\n[columns.sex]\n\
                      role = \"quasi-identifier\"\nmissing = \"suppress\"\n[columns.d]\nrole = \"sensitive\"\n[columns.c]\n\
                      role = \"class\"";
/// Release options under which labels are not those of the cells.
const FORMS: [&str; 4] =
    ["", "release.labels = \"set\"\n", "release.numbers = \"mean\"\n", "release.numbers = \"median\"\n"];
const GUARANTEES: [&str; 3] = [
    "privacy.k = 3\n",
    "privacy.k = 2\nprivacy.max-suppressed = 0.4\n",
    "privacy.l-diversity = [{ column = \"d\", l = 2, kind = \"distinct\" }]\n",
];

fn table(guarantee: &str, form: &str, rows: &[(u8, u8, u8, u8)]) -> TestTable {
    let zips = ["a1", "a2", "b1", "b2", "c1", "c2", "c3"];
    let row = |&(zip, age, sex, rest): &(u8, u8, u8, u8)| {
        let sex = ["f", "m", "?"][usize::from(sex % 3)];
        let text = format!("{},{},{sex},d{},{}", zips[usize::from(zip % 7)], age % 9, rest % 3, rest / 3 % 2);
        (text, u64::from(rest / 6 % 3) + 1)
    };
    let rows: Vec<(String, u64)> = rows.iter().map(row).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
    TestTable::new(&format!("{guarantee}{form}{POLICY}"), &[("zip", ZIP)], &rows)
}

/// Random steps: generalizing, reverting, or to any cells. The result must not depend on the action that a step claims.
fn random_steps(table: &TestTable, dice: &[(u8, u8, u8)]) -> Vec<Step> {
    let any_cell = |column: usize, which: u8| {
        let domain = &table.profile.columns()[column].domain;
        let tree = domain.tree().expect("all columns have trees here");
        (
            ColumnId::from_index(column),
            domain.node_cell(moretta_core::ids::NodeId(u32::from(which) % tree.len() as u32)),
        )
    };
    let mut cut = Cut::identity(&table.profile);
    let mut steps = Vec::new();
    for &(kind, which, where_) in dice {
        let column = usize::from(where_) % 3;
        let domain = &table.profile.columns()[column].domain;
        let tree = domain.tree().expect("all columns have trees here");
        let cell = cut.cells[column][usize::from(which) % domain.len()];
        let node = cell.node().expect("all columns have trees here");
        let id = ColumnId::from_index(column);
        let step = match kind % 8 {
            0 => Step {
                action: Action::Search,
                changes: vec![any_cell(column, which), any_cell((column + 1) % 3, kind)],
            },
            1 | 2 if !tree.is_leaf(node) => {
                let changes = tree.children(node).map(|child| (id, domain.node_cell(child))).collect();
                Step { action: Action::TakeBack, changes }
            }
            _ => {
                let parent = tree.parent(node).unwrap_or(node);
                Step { action: Action::Generalize, changes: vec![(id, domain.node_cell(parent))] }
            }
        };
        cut.apply(&step);
        steps.push(step);
    }
    steps
}

fn naive(table: &TestTable, cut: &Cut) -> (usize, u64, Option<u64>, Measures) {
    let released = Released::of_recoding(&table.profile, &Recoding::Global(cut.clone()), &table.policy.release);
    let context = MeasureContext::of_recoding(&table.policy, &table.profile, &released);
    let sizes: Vec<u64> = (0..released.groups()).map(|group| released.records(group)).collect();
    let below_k = context.k.map(|k| sizes.iter().filter(|size| **size < k).sum());
    (sizes.len(), *sizes.iter().min().expect("a group"), below_k, Measures::of(&context))
}

fn close(a: &Measures, b: &Measures) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
    a.0.iter().zip(&b.0).all(|(a, b)| match (a.1, b.1) {
        (Some(a), Some(b)) => near(a, b),
        (a, b) => a == b,
    })
}

proptest! {
    #[test]
    fn every_point_is_that_of_the_whole_table(
        rows in prop::collection::vec(any::<(u8, u8, u8, u8)>(), 1..60),
        dice in prop::collection::vec(any::<(u8, u8, u8)>(), 0..25),
        (form, guarantee) in (0..FORMS.len(), 0..GUARANTEES.len()),
    ) {
        let table = table(GUARANTEES[guarantee], FORMS[form], &rows);
        let steps = random_steps(&table, &dice);
        let points = measured(&table.profile, &table.policy, &steps, &[], &NoObserver).expect("nobody stops it");
        prop_assert_eq!(points.len(), steps.len() + 1);
        let mut cut = Cut::identity(&table.profile);
        for (number, point) in points.iter().enumerate() {
            if number > 0 {
                cut.apply(&steps[number - 1]);
            }
            let (groups, anonymity, below_k, measures) = naive(&table, &cut);
            prop_assert_eq!((point.step, point.groups, point.anonymity, point.below_k), (number, groups, anonymity, below_k));
            prop_assert!(close(&point.measures, &measures), "{}: {:?} {:?}", number, point.measures, measures);
        }
        // A point as a recoding prints what was measured.
        let last = Recoding::Global(cut_at(&table.profile, &table.models, &steps, steps.len(), false));
        let released = verify_against(&table.profile, last, &[], &table.policy, 0).expect("any cut, if nothing is asked");
        prop_assert_eq!(released.released().groups(), points[steps.len()].groups);
    }
}

#[test]
fn on_a_long_path_some_points_are_measured_and_all_required_ones() {
    assert_eq!(sampled_steps(3, MAX_POINTS, &[2]), [1, 2, 3]);
    assert_eq!(sampled_steps(100, 5, &[]), [24, 49, 74, 99, 100]);
    assert_eq!(sampled_steps(6, 5, &[]), [1, 2, 3, 5, 6]);
    let chosen = sampled_steps(100_000, MAX_POINTS, &[7, 99, 200_000]);
    assert!(chosen.len() <= MAX_POINTS + 2 && chosen.is_sorted() && chosen.ends_with(&[99_999, 100_000]));
    assert!(chosen.contains(&7) && chosen.contains(&99) && chosen.contains(&99_950));
    // A path of a thousand steps, each a value of its own.
    let rows: Vec<(String, u64)> = (0..1001).map(|n| (n.to_string(), 1)).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|(row, records)| (row.as_str(), *records)).collect();
    let table = TestTable::new("privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"", &[], &rows);
    let domain = &table.profile.columns()[0].domain;
    let step = |last| Step { action: Action::Generalize, changes: vec![(ColumnId(0), domain.cover(0, last))] };
    let steps: Vec<Step> = (1..=1000).map(step).collect();
    let points = measured(&table.profile, &table.policy, &steps, &[123], &NoObserver).expect("nobody stops it");
    assert!(points.iter().all(|point| point.groups == 1001 - point.step));
    assert!(points.iter().any(|point| point.step == 123) && points.len() <= MAX_POINTS + 2);
}

fn climbed() -> (TestTable, Vec<Step>) {
    // Ten records each, so that their nodes may be named.
    let table = table("privacy.k = 2\n", "", &[[(0, 0, 0, 0); 10], [(1, 1, 0, 0); 10], [(4, 8, 1, 0); 10]].concat());
    let (zip, age) = (&table.profile.columns()[0].domain, &table.profile.columns()[1].domain);
    let tree = zip.tree().expect("a tree");
    let a = tree.parent(tree.leaf(0)).expect("a parent");
    let up = |column: u32, cell| Step { action: Action::Generalize, changes: vec![(ColumnId(column), cell)] };
    let back = tree.children(a).map(|child| (ColumnId(0), zip.node_cell(child))).collect();
    let steps = vec![
        up(0, zip.node_cell(a)),
        up(1, age.cover(0, 1)),
        Step { action: Action::TakeBack, changes: back },
        up(0, zip.whole()),
    ];
    (table, steps)
}

#[test]
fn a_point_says_what_changed_in_json() {
    let (table, steps) = climbed();
    let points = measured(&table.profile, &table.policy, &steps, &[], &NoObserver).expect("nobody stops it");
    let json = |point: &Point| {
        let mut value = serde_json::to_value(point).expect("plain data");
        value.as_object_mut().expect("an object").remove("measures").expect("measures");
        value.to_string()
    };
    assert_eq!(json(&points[0]), r#"{"step":0,"action":null,"changes":[],"groups":3,"anonymity":10,"below_k":0}"#);
    let zip = r#"{"step":1,"action":"generalize","changes":[{"column":"zip","to":"a"}],"groups":3,"anonymity":10,"below_k":0}"#;
    assert_eq!(json(&points[1]), zip);
    assert_eq!((points[2].groups, points[2].below_k, points[3].groups), (2, Some(0), 3));
    let change = |column: &str, from: Option<&str>, to: &str| Change {
        column: column.to_owned(),
        from: from.map(str::to_owned),
        to: to.to_owned(),
        named: true,
        whole: to == "*",
        disclosed: to == "*",
    };
    assert_eq!(points[3].changes, [change("zip", Some("a"), "a1"), change("zip", Some("a"), "a2")]);
    assert_eq!(points[3].changes[0].name(), Some("a"));
    assert_eq!(points[4].changes, [change("zip", None, "*")]);
}

#[test]
fn the_only_child_of_a_node_is_generalized_to_it() {
    let table = table("privacy.k = 2\n", "", &[[(0, 0, 0, 0); 10], [(4, 8, 0, 0); 10]].concat());
    let age = &table.profile.columns()[1].domain;
    let tree = age.tree().expect("a tree");
    let leaf = tree.leaf(0);
    let pair = tree.parent(leaf).expect("a parent");
    assert_eq!((age.node_cell(pair).first, age.node_cell(pair).last), (0, 0));
    let step = |action, node| Step { action, changes: vec![(ColumnId(1), age.node_cell(node))] };
    let steps = [step(Action::Generalize, pair), step(Action::TakeBack, leaf)];
    let points = measured(&table.profile, &table.policy, &steps, &[], &NoObserver).expect("nobody stops it");
    let said = |point: &Point| (point.changes[0].from.clone(), point.changes[0].name().map(str::to_owned));
    assert_eq!(said(&points[1]), (None, Some("[0, 1]".to_owned())));
    assert_eq!(said(&points[2]), (Some("[0, 1]".to_owned()), Some("[0, 1]".to_owned())));
}

#[test]
fn intervals_made_of_the_tables_numbers_have_no_name() {
    let policy = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"";
    let table = TestTable::new(policy, &[], &[("1", 1), ("5", 1), ("9", 1)]);
    let cell = table.profile.columns()[0].domain.cover(0, 1);
    let step = Step { action: Action::Generalize, changes: vec![(ColumnId(0), cell)] };
    let points = measured(&table.profile, &table.policy, &[step], &[], &NoObserver).expect("nobody stops it");
    let change = &points[1].changes[0];
    assert_eq!((change.to.as_str(), change.name(), change.is_whole()), ("an interval", None, false));
}

#[test]
fn a_rare_node_has_no_name() {
    // Node `a` has too few records in the first two cases: fewer than 10, or fewer than k.
    for (guarantee, records, name) in [("2", 9, "a rare value"), ("13", 12, "a rare value"), ("2", 10, "a")] {
        let mut rows = vec![(0, 0, 0, 0); records];
        rows.extend([(4, 8, 1, 0); 20]);
        let table = table(&format!("privacy.k = {guarantee}\n"), "", &rows);
        let zip = &table.profile.columns()[0].domain;
        let tree = zip.tree().expect("a tree");
        let a = tree.parent(tree.leaf(0)).expect("a parent");
        let step = |action, node| Step { action, changes: vec![(ColumnId(0), zip.node_cell(node))] };
        let steps = [step(Action::Generalize, a), step(Action::TakeBack, tree.leaf(0))];
        let points = measured(&table.profile, &table.policy, &steps, &[], &NoObserver).expect("nobody stops it");
        assert_eq!((points[1].changes[0].to.as_str(), points[1].changes[0].name()), (name, Some(name)));
        assert_eq!(points[2].changes[0].from.as_deref(), Some(name));
        assert_eq!(points[2].changes[0].to, if name == "a" { "a1" } else { name });
        assert_eq!(super::what(&points[1]), format!("zip → {name}"));
    }
}

#[test]
fn an_interval_built_from_the_data_is_named_only_by_frequent_values() {
    let policy = "privacy.k = 2\n[columns.x]\nrole = \"quasi-identifier\"\ntype = \"number\"\nhierarchy = ";
    let named = |hierarchy: &str, records: u64| {
        let table = TestTable::new(
            &format!("{policy}{hierarchy}\n"),
            &[],
            &[("1", 20), ("3", 20), ("90", 20), ("95", records)],
        );
        let domain = &table.profile.columns()[0].domain;
        let tree = domain.tree().expect("a tree");
        let above = tree.parent(tree.leaf(3)).expect("a parent");
        let step = Step { action: Action::Generalize, changes: vec![(ColumnId(0), domain.node_cell(above))] };
        let points = measured(&table.profile, &table.policy, &[step], &[], &NoObserver).expect("nobody stops it");
        points[1].changes[0].to.clone()
    };
    let built = "{ method = \"iotf\" }";
    assert_eq!([named(built, 9), named(built, 10)], ["an interval", "[90, 95]"]);
    assert_eq!(named("{ widths = [6, 60] }", 9), "[90, 95]");
}

#[test]
fn a_walk_can_be_stopped() {
    struct Now;
    impl moretta_core::search::Observer for Now {
        fn stop(&self) -> Option<Stop> {
            Some(Stop::Cancelled)
        }
    }
    let (table, steps) = climbed();
    assert_eq!(measured(&table.profile, &table.policy, &steps, &[], &Now), None);
}
