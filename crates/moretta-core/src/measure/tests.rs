//! Worked examples of the papers, and edge cases.

use super::{MeasureContext, Measures};
use crate::{
    ids::{GroupId, TupleId},
    objective::{Dispersion, Objective},
    recoding::{Cut, GroupAssignment, LocalRecoding, Recoding},
    testing::{POINTS, TestTable},
    verify::{Verified, verify_against},
};

fn measures(table: &TestTable, verified: &Verified) -> Measures {
    Measures::of(&MeasureContext::of_recoding(&table.policy, &table.profile, verified.released()))
}

/// Value of each of the policy's objectives.
fn values(table: &TestTable, verified: &Verified) -> Vec<Option<f64>> {
    let context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
    context.objectives.iter().map(|objective| objective.value(&context)).collect()
}

fn released(table: &TestTable, recoding: Recoding) -> Verified<'_> {
    verify_against(&table.profile, recoding, &[], &table.policy, table.profile.records()).expect("a sound recoding")
}

/// Groups of tuples (by id), each released as its bounding box.
fn boxes(table: &TestTable, groups: &[&[u32]]) -> Recoding {
    let profile = &table.profile;
    let mut recoding = LocalRecoding::default();
    for (group, tuples) in groups.iter().enumerate() {
        for (column, described) in profile.columns().iter().enumerate() {
            let codes = tuples.iter().map(|&tuple| profile.codes(TupleId(tuple))[column]);
            recoding.boxes.push(described.domain.cover(codes.clone().min().unwrap(), codes.max().unwrap()));
        }
        for variant in tuples.iter().flat_map(|&tuple| profile.variants_of(TupleId(tuple))) {
            let group = GroupId::from_index(group);
            recoding.assignments.push(GroupAssignment { group, variant, records: profile.variant_records(variant) });
        }
    }
    Recoding::Local(recoding)
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
    // Spec 5: X split at 7.5, Y at 3.5; four groups of 8, 4, 5 and 3 points with 1, 0, 2 and 0 outside the majority.
    let policy = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"\ncolumns.y.role = \"quasi-identifier\"\n\
                  columns.c.role = \"class\"";
    let table = TestTable::new(policy, &[], POINTS);
    let cells = |column: usize, edge: f64| {
        let domain = &table.profile.columns()[column].domain;
        let codes = || 0..domain.len() as u32;
        let low = codes().filter(|&code| domain.number(code).unwrap() <= edge).count() as u32;
        let (low, high) = (domain.cover(0, low - 1), domain.cover(low, domain.len() as u32 - 1));
        codes().map(|code| if low.contains(code) { low } else { high }).collect()
    };
    let cut = |suppressed| Recoding::Global(Cut { cells: vec![cells(0, 7.5), cells(1, 3.5)], suppressed });
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
    let all = measures(&table, &released(&table, Recoding::Global(Cut { cells: whole, suppressed: Vec::new() })));
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

const CLASSES: &str = "privacy.k = 2\ncolumns.q.role = \"quasi-identifier\"\ncolumns.c.role = \"class\"\n\
                       columns.n.role = \"sensitive\"\n";

/// By q, two groups of three; the last record can be suppressed.
const ROWS: &[(&str, u64)] = &[("1,a,0", 1), ("1,b,2", 2), ("2,a,4", 1), ("2,b,4", 1), ("2,c,10", 1), ("3,a,1", 2)];

fn asked(measure: &str) -> TestTable {
    TestTable::new(&format!("{CLASSES}{measure}"), &[], ROWS)
}

fn without_the_last(table: &TestTable) -> Verified<'_> {
    let Recoding::Global(cut) = Recoding::identity(&table.profile) else { panic!("a cut") };
    released(table, Recoding::Global(Cut { suppressed: vec![TupleId(2)], ..cut }))
}

#[test]
fn mistakes_cost_what_the_policy_says() {
    // A mistake without a listed cost costs 1: an a among two b costs 1; of a, b and c two are mistakes.
    let plain = asked("[measure]\nname = \"cm\"");
    assert_eq!(values(&plain, &released(&plain, Recoding::identity(&plain.profile))), [Some(3.0 / 8.0)]);
    assert_eq!(values(&plain, &without_the_last(&plain)), [Some(5.0 / 8.0)]);
    // a among b: 5. The second group: called a it costs 1 (b) + 0.25 (c), called b 5 + 1, called c 1 + 1.
    let dear = asked("[measure]\nname = \"cm\"\ncosts = { a.b = 5, c.a = 0.25 }");
    let of_groups = released(&dear, Recoding::identity(&dear.profile));
    assert_eq!(values(&dear, &of_groups), [Some(6.25 / 8.0)]);
    assert_eq!(measures(&dear, &of_groups).get("cm"), Some(6.25 / 8.0), "the measure is the policy's");
    // A suppressed a costs as much as its most expensive mistake.
    assert_eq!(values(&dear, &without_the_last(&dear)), [Some(16.25 / 8.0)]);
    // 2 a, 3 b and a c are called b, though it would be cheaper to call them a.
    let majority = asked("[measure]\nname = \"cm\"\ncosts = { a.b = 7 }");
    let verified = released(&majority, boxes(&majority, &[&[0, 1], &[2]]));
    assert_eq!(values(&majority, &verified), [Some(15.0 / 8.0)]);
}

#[test]
fn a_cost_of_nothing_and_of_all_pairs() {
    // If all mistakes of a class have listed costs, the default of 1 does not apply to its suppression.
    let table = asked("[measure]\nname = \"cm\"\ncosts.a = { b = 0, c = 0.5 }");
    // a among b: 0; a, b, c called b: 0 + 1; suppressed a: 0.5 each.
    assert_eq!(values(&table, &without_the_last(&table)), [Some((0.0 + 1.0 + 1.0) / 8.0)]);
}

#[test]
fn numbers_are_dispersed_about_the_median() {
    let rm = "[[measure]]\nname = \"rm\"\ncolumn = \"n\"\n";
    let table = asked(&format!("{rm}dispersion = \"deviation\"\n{rm}weight = 2"));
    let verified = released(&table, Recoding::identity(&table.profile));
    // About 2, 4 and 1: 2, 6 and 0. All, 0 1 1 2 2 4 4 10, about 2: 2 + 2 + 0 + 4 + 8.
    let about_median = 8.0 / 16.0;
    // About 4/3, 6 and 1: 8/3, 24 and 0. All, about 3: 9 + 8 + 2 + 2 + 49.
    let about_mean = (8.0 / 3.0 + 24.0) / 70.0;
    let found = values(&table, &verified);
    assert_eq!(found[0], Some(about_median));
    assert!((found[1].unwrap() - about_mean).abs() < 1e-12);
    assert_eq!(measures(&table, &verified).get("rm"), Some(about_median), "the policy's first");
    let named = asked("[measure]\nname = \"rm\"");
    assert_eq!(values(&named, &released(&named, Recoding::identity(&named.profile))), [None]);
}

#[test]
fn an_objective_of_precision_counts_columns_by_their_weights() {
    let policy = "privacy.k = 2\ncolumns.x.role = \"quasi-identifier\"\ncolumns.x.weight = 3\n\
                  columns.y.role = \"quasi-identifier\"\n[[measure]]\nname = \"lm\"\nweight = 9\n[[measure]]\nname = \"ncp\"";
    let table = TestTable::new(policy, &[], &[("0,a", 1), ("1,a", 1), ("4,b", 1), ("4,c", 1)]);
    let verified = released(&table, boxes(&table, &[&[0, 1], &[2, 3]]));
    // x: a quarter of its range for half of the records, weight 3; y: all of it for the other half.
    let expected = 3.0 * 0.25 / 2.0 + 1.0 / 2.0;
    for value in values(&table, &verified) {
        assert!((value.unwrap() - expected).abs() < 1e-12, "{value:?}");
    }
    assert_eq!(measures(&table, &verified).get("ncp"), Some(4.0 * expected));
}

#[test]
fn an_objective_that_does_not_fit_the_table_says_why() {
    let unfit = |measure: &str| {
        let table = asked(&format!("[measure]\n{measure}"));
        let objectives: &[Objective] = table.policy.objectives();
        objectives[0].unfit(&table.profile)
    };
    for fits in ["name = \"lm\"", "name = \"cm\"", "name = \"cm\"\ncosts.a.b = 2", "name = \"rm\"\ncolumn = \"n\""] {
        assert_eq!(unfit(fits), None, "{fits}");
    }
    assert_eq!(unfit("name = \"cm\"\ncolumn = \"n\"\ncosts.'2.0'.4 = 2"), None, "a number is itself however written");
    let words = "`costs` of [measure] names `d`, which does not occur in column `c`";
    assert!(unfit("name = \"cm\"\ncosts.d.a = 2").unwrap().starts_with(words));
    assert!(unfit("name = \"cm\"\ncosts.a.d = 2").unwrap().starts_with(words));
    assert!(
        unfit("name = \"rm\"").unwrap().starts_with("measure \"rm\" is for numbers, and not all values of column `c`")
    );
}

/// CM by its definition, record by record: a group is classified as each of its most frequent classes in turn.
fn naive_cm(records: &[(u32, usize)], suppressed: u32, costs: &[Vec<Option<f64>>]) -> f64 {
    let cost = |own: usize, called: usize| if own == called { 0.0 } else { costs[own][called].unwrap_or(1.0) };
    let occurring: Vec<usize> = (0..costs.len()).filter(|class| records.iter().any(|(_, own)| own == class)).collect();
    let plain = !occurring.iter().any(|&own| occurring.iter().any(|&to| own != to && costs[own][to].is_some()));
    let of_group = |group: u32| -> f64 {
        let own: Vec<usize> = records.iter().filter(|(q, _)| *q == group).map(|(_, class)| *class).collect();
        if group == suppressed {
            let max_cost = |own: usize| occurring.iter().map(|&called| cost(own, called)).fold(0.0, f64::max);
            let alone = plain || occurring.len() < 2;
            return own.iter().map(|&own| if alone { 1.0 } else { max_cost(own) }).sum();
        }
        let count = |class: usize| own.iter().filter(|other| **other == class).count();
        let most = own.iter().map(|&class| count(class)).max().unwrap_or(0);
        let called = own.iter().filter(|&&class| count(class) == most);
        let costs = called.map(|&called| own.iter().map(|&own| cost(own, called)).sum::<f64>());
        costs.reduce(f64::min).unwrap_or(0.0)
    };
    (0..4).map(of_group).sum::<f64>() / records.len() as f64
}

proptest::proptest! {
    #[test]
    fn mistakes_cost_the_same_record_by_record(
        records in proptest::collection::vec((0_u32..4, 0_usize..4), 1..24),
        costs in proptest::collection::vec(proptest::collection::vec(proptest::option::of(0_u32..9), 4), 4),
        suppressed in 0_u32..4,
    ) {
        let costs: Vec<Vec<Option<f64>>> =
            costs.iter().map(|row| row.iter().map(|cost| cost.map(|cost| f64::from(cost) / 4.0)).collect()).collect();
        let name = |class: usize| ["a", "b", "c", "d"][class];
        let mut policy = "privacy.k = 2\ncolumns.q.role = \"quasi-identifier\"\ncolumns.c.role = \"class\"\n\
                          columns.c.type = \"category\"\n[measure]\nname = \"cm\"\n".to_owned();
        for (own, called) in (0..16).map(|pair| (pair / 4, pair % 4)).filter(|(own, called)| own != called) {
            if let Some(cost) = costs[own][called] {
                policy += &format!("costs.{}.{} = {cost:?}\n", name(own), name(called));
            }
        }
        let rows: Vec<String> = records.iter().map(|(q, class)| format!("{q},{}", name(*class))).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let table = TestTable::new(&policy, &[], &rows);
        // Tuples are in order of q, so the suppressed one is found by its index among the q that occur.
        let mut occurring: Vec<u32> = records.iter().map(|(q, _)| *q).collect();
        occurring.sort_unstable();
        occurring.dedup();
        let Recoding::Global(cut) = Recoding::identity(&table.profile) else { panic!("a cut") };
        let gone = occurring.iter().position(|q| *q == suppressed).map(TupleId::from_index);
        let cut = Cut { suppressed: gone.into_iter().collect(), ..cut };
        let found = values(&table, &released(&table, Recoding::Global(cut)))[0].unwrap();
        proptest::prop_assert!((found - naive_cm(&records, suppressed, &costs)).abs() < 1e-9, "{found}");
    }

    /// No point is closer to all numbers than a median, and none by squares than the mean.
    #[test]
    fn dispersion_is_the_least_there_is(records in proptest::collection::vec((0_u32..9, 1_u64..5), 1..12)) {
        let numbers: Vec<f64> = (0..9).map(|code| f64::from(code * code) - 7.0).collect();
        let mut histogram = std::collections::BTreeMap::new();
        records.iter().for_each(|(code, n)| *histogram.entry(*code).or_insert(0) += n);
        let histogram: Vec<(u32, u64)> = histogram.into_iter().collect();
        let naive = |center: f64, power: i32| -> f64 {
            let each = histogram.iter().flat_map(|&(code, n)| (0..n).map(move |_| code));
            each.map(|code| (numbers[code as usize] - center).abs().powi(power)).sum()
        };
        let deviation = numbers.iter().map(|center| naive(*center, 1)).fold(f64::INFINITY, f64::min);
        proptest::prop_assert!((Dispersion::Deviation.of(&numbers, &histogram) - deviation).abs() < 1e-9);
        let variance = Dispersion::Variance.of(&numbers, &histogram);
        for center in -70..=570 {
            proptest::prop_assert!(variance <= naive(f64::from(center) / 10.0, 2) + 1e-9);
        }
    }
}

/// The terminal and the pages draw it as a bar.
#[test]
fn the_first_measure_of_columns_is_a_share() {
    let first = super::MEASURES.iter().find(|entry| entry.of_column.is_some());
    assert_eq!(first.map(|entry| entry.name), Some("ncp"));
}
