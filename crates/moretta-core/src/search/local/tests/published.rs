//! Examples of the paper.

use super::{BOTH, run};
use crate::{
    measure::{MeasureContext, Measures},
    testing::TestTable,
    verify::{Verified, verify_against},
};

fn released<'a>(method: &dyn crate::search::Method, table: &'a TestTable, seed: u64) -> (Verified<'a>, f64) {
    let recoding = run(method, table, seed).recoding;
    let verified = verify_against(&table.profile, recoding, &table.models, &table.policy, 0).expect("a valid release");
    let context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
    let ncp = Measures::of(&context).get("ncp").unwrap();
    (verified, ncp)
}

fn labels<'a>(verified: &'a Verified<'_>) -> Vec<(&'a str, &'a str, u64)> {
    let released = verified.released();
    let label = |group| (released.label(group, 0), released.label(group, 1), released.records(group));
    let mut labels: Vec<_> = (0..released.groups()).map(label).collect();
    labels.sort_unstable();
    labels
}

/// Weights equal to the widths of the columns make the loss a sum of interval lengths.
fn table(k: u64, weights: [u32; 2], rows: &[(&str, u64)]) -> TestTable {
    let policy = format!(
        "privacy.k = {k}\n[columns.x]\nrole = \"quasi-identifier\"\nweight = {}\n[columns.y]\n\
         role = \"quasi-identifier\"\nweight = {}\n",
        weights[0], weights[1]
    );
    TestTable::new(&policy, &[], rows)
}

#[test]
fn six_points_make_two_groups() {
    let rows = ["10,60", "20,70", "20,50", "50,20", "50,10", "60,15"].map(|row| (row, 1));
    let table = table(3, [50, 60], &rows);
    for method in BOTH {
        for seed in 0..20 {
            let (verified, ncp) = released(method, &table, seed);
            assert_eq!(labels(&verified), [("[10, 20]", "[50, 70]", 3), ("[50, 60]", "[10, 20]", 3)]);
            assert!((ncp - 150.0).abs() < 1e-9);
        }
    }
}

/// The best global recoding has a loss of 51. Both methods find the published local one, which separates two equal
/// records: top-down because a violating group takes one of them, bottom-up because it divides a group that became too
/// large.
#[test]
fn local_recoding_beats_the_best_global_one() {
    let rows = [("24,53712", 1), ("25,53711", 1), ("30,53711", 2), ("32,53712", 1), ("32,53713", 1)];
    let table = table(3, [8, 2], &rows);
    for method in BOTH {
        for seed in 0..20 {
            let (verified, ncp) = released(method, &table, seed);
            assert_eq!(labels(&verified), [("[24, 30]", "[53711, 53712]", 3), ("[30, 32]", "[53711, 53713]", 3)]);
            assert!((ncp - 33.0).abs() < 1e-9);
        }
    }
}
