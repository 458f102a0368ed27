//! Worked examples of the papers, and the corners.

use super::{Measures, Scene, weights};
use crate::{
    ids::{GroupId, TupleId},
    recoding::{Cut, GroupShare, Groups, Recoding},
    testing::TestTable,
    verify::{Verified, verify},
};

fn measures(table: &TestTable, verified: &Verified) -> Measures {
    let weights = weights(&table.policy);
    let k = table.policy.privacy.k;
    Measures::of(&Scene { released: verified.released(), records: &table.profile, weights: &weights, k }, true)
}

fn released(table: &TestTable, recoding: Recoding) -> Verified {
    verify(&table.profile, recoding, &[], &table.policy.release, table.profile.records()).expect("a sound recoding")
}

/// Groups of tuples (by their place in the profile), each released as its bounding box.
fn boxes(table: &TestTable, groups: &[&[u32]]) -> Recoding {
    let profile = &table.profile;
    let mut recoding = Groups::default();
    for (group, tuples) in groups.iter().enumerate() {
        for (column, described) in profile.columns().iter().enumerate() {
            let codes = tuples.iter().map(|&tuple| profile.codes(TupleId(tuple))[column]);
            recoding.boxes.push(described.domain.cover(codes.clone().min().unwrap(), codes.max().unwrap()));
        }
        for variant in tuples.iter().flat_map(|&tuple| profile.variants_of(TupleId(tuple))) {
            let group = GroupId::from_index(group);
            recoding.shares.push(GroupShare { group, variant, records: profile.variant_records(variant) });
        }
    }
    Recoding::Groups(recoding)
}

#[test]
fn six_points_are_better_off_in_threes() {
    // Spec 4: total uncertainty, the sum over records of interval lengths, is 150 in threes and 190 in pairs.
    let policy = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"\ncolumns.y.role = \"quasi-identifier\"";
    let rows = ["10,60", "20,50", "20,70", "50,10", "50,20", "60,15"].map(|row| (row, 1));
    let table = TestTable::new(policy, &[], &rows);
    // In order of codes: a (10, 60), c (20, 50), b (20, 70), e (50, 10), d (50, 20), f (60, 15).
    let uncertainty = |groups: &[&[u32]]| {
        let verified = released(&table, boxes(&table, groups));
        let (ranges, released) = ([50.0, 60.0], verified.released());
        let length = |group: usize| -> f64 {
            released.losses(group).iter().zip(ranges).map(|(loss, range)| loss.ncp * range).sum()
        };
        (0..released.groups()).map(|group| released.records(group) as f64 * length(group)).sum::<f64>()
    };
    assert!((uncertainty(&[&[0, 1, 2], &[3, 4, 5]]) - 150.0).abs() < 1e-9);
    assert!((uncertainty(&[&[0, 2], &[1, 4], &[3, 5]]) - 190.0).abs() < 1e-9);
}

#[test]
fn three_of_twenty_points_outside_the_majority_cost_0_15() {
    // Spec 5: X cut after 7.5, Y after 3.5; four groups of 8, 4, 5 and 3 points with 1, 0, 2 and 0 strangers.
    let policy = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"\ncolumns.y.role = \"quasi-identifier\"\n\
                  columns.c.role = \"class\"";
    let rows = [
        ("0,0,+", 4),
        ("3,2,+", 3),
        ("7.5,3.5,-", 1),
        ("8,1,-", 4),
        ("1,4,-", 3),
        ("7,10,+", 2),
        ("10,10,+", 2),
        ("9,5,+", 1),
    ];
    let table = TestTable::new(policy, &[], &rows);
    let cells = |column: usize, edge: f64| {
        let domain = &table.profile.columns()[column].domain;
        let codes = || 0..domain.len() as u32;
        let low = codes().filter(|&code| domain.number(code).unwrap() <= edge).count() as u32;
        let (low, high) = (domain.cover(0, low - 1), domain.cover(low, domain.len() as u32 - 1));
        codes().map(|code| if low.contains(code) { low } else { high }).collect()
    };
    let cut = |suppressed| Recoding::Cut(Cut { cells: vec![cells(0, 7.5), cells(1, 3.5)], suppressed });
    let of_cut = measures(&table, &released(&table, cut(Vec::new())));
    assert_eq!(of_cut.get("cm"), Some(0.15));
    assert_eq!(of_cut.get("dm"), Some(64.0 + 16.0 + 25.0 + 9.0));
    assert_eq!(of_cut.get("avg"), Some(20.0 / (4.0 * 2.0)));
    // Suppressed, all four records of (0, 0) are lost, and each counts as the whole table.
    let suppressed = measures(&table, &released(&table, cut(vec![TupleId(0)])));
    assert_eq!(suppressed.get("cm"), Some(0.35));
    assert_eq!(suppressed.get("dm"), Some(4.0 * 20.0 + 16.0 + 16.0 + 25.0 + 9.0));
}

#[test]
fn state_government_loses_two_sevenths() {
    // Spec 5: eight leaves; Government has three of them. Education: two steps of fifteen.
    let file = "inc;Self;*\nnot-inc;Self;*\nfederal;Government;*\nstate;Government;*\nlocal;Government;*\n\
                private;private;*\nwithout pay;Unemployed;*\nnever worked;Unemployed;*";
    let policy = "privacy.k = 2\n[columns.work]\nrole = \"quasi-identifier\"\nhierarchy = \"work.csv\"\n\
                  [columns.education]\nrole = \"quasi-identifier\"\n";
    let rows: Vec<String> = (1..=16).map(|level| format!("state,{level}")).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let table = TestTable::new(policy, &[("work", file)], &rows);
    let (work, education) = (&table.profile.columns()[0].domain, &table.profile.columns()[1].domain);
    let tree = work.tree().unwrap();
    let government = tree.parent(tree.leaf(3)).unwrap();
    assert_eq!(work.lm(work.node_cell(government)), 2.0 / 7.0);
    assert_eq!(work.ncp(work.node_cell(government)), 3.0 / 8.0);
    assert!((education.lm(education.cover(13, 15)) - 2.0 / 15.0).abs() < 1e-12);
}

#[test]
fn constant_columns_cost_nothing() {
    let policy = "privacy.k = 2\ncolumns.n.role = \"quasi-identifier\"\ncolumns.c.role = \"quasi-identifier\"\n\
                  columns.v.role = \"quasi-identifier\"\ncolumns.v.weight = 2";
    let table = TestTable::new(policy, &[], &[("5,a,1", 1), ("5,a,3", 1)]);
    let whole = table.profile.columns().iter().map(|column| vec![column.domain.whole(); column.domain.len()]).collect();
    let all = measures(&table, &released(&table, Recoding::Cut(Cut { cells: whole, suppressed: Vec::new() })));
    // Only v loses anything: all of its range, with weight 2 of 4.
    for (name, expected) in [("ncp", 4.0), ("gcp", 0.5), ("lm", 1.0), ("ntil", 1.0 / 3.0), ("nil_inf", 1.0 / 3.0)] {
        assert!((all.get(name).unwrap() - expected).abs() < 1e-12, "{name}: {:?}", all.get(name));
    }
    let nothing = measures(&table, &released(&table, Recoding::identity(&table.profile)));
    for name in ["gcp", "ncp", "lm", "ntil", "nil1", "nil_inf"] {
        assert_eq!(nothing.get(name), Some(0.0), "{name}");
    }
}

#[test]
fn a_class_of_numbers_is_measured_by_variance() {
    let policy = "privacy.k = 2\ncolumns.q.role = \"quasi-identifier\"\ncolumns.c.role = \"class\"";
    let table = TestTable::new(policy, &[], &[("1,0", 1), ("1,2", 1), ("2,10", 2)]);
    // Within groups 2 and 0; in the table, mean 5.5: 30.25 + 12.25 + 2 * 20.25.
    let of = measures(&table, &released(&table, Recoding::identity(&table.profile)));
    assert!((of.get("rm").unwrap() - 2.0 / 83.0).abs() < 1e-12);
    let named = TestTable::new(policy, &[], &[("1,a", 2)]);
    assert_eq!(measures(&named, &released(&named, Recoding::identity(&named.profile))).get("rm"), None);
}
