//! Records far from all others are suppressed, and the others lose less.

use super::run;
use crate::{
    ids::TupleId,
    policy::MethodChoice,
    recoding::Recoding,
    search::{METHODS, Method, MethodEntry, NoObserver, Outcome, Task},
    testing::TestTable,
    verify::verify_against,
};

fn build(entry: &MethodEntry) -> Box<dyn Method> {
    (entry.build)(&MethodChoice::new(entry.name, toml::Table::new()), &entry.default_objectives()).unwrap()
}

/// NCP and number of suppressed records.
fn figures(table: &TestTable, outcome: Outcome, allowed: u64) -> (f64, u64) {
    let profile = &table.profile;
    let suppressed = outcome.recoding.suppressed_records(profile);
    let verified = verify_against(profile, outcome.recoding, &table.models, &table.policy, allowed).unwrap();
    let released = verified.released();
    let of_group =
        |group: usize| released.records(group) as f64 * released.losses(group).iter().map(|loss| loss.ncp).sum::<f64>();
    ((0..released.groups()).map(of_group).sum(), suppressed)
}

/// Six clusters of 60 records, each with four records far from it on its four sides.
fn clusters_with_outliers(k: u64, more: &str) -> TestTable {
    let mut rows = Vec::new();
    for cluster in 0..6 {
        let (x, y) = (500 + 160 * cluster, 1300 - 150 * cluster);
        rows.extend((0..60).map(|n| format!("{},{},x{}", x + n % 7, y + n * 3 % 11, n % 3)));
        let far = [(390, 0), (-391, 0), (0, 388), (0, -387)];
        rows.extend(far.iter().enumerate().map(|(n, (dx, dy))| format!("{},{},x{}", x + dx, y + dy, n % 3)));
    }
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let columns = "columns.a.role = \"quasi-identifier\"\ncolumns.b.role = \"quasi-identifier\"\n\
                   columns.s.role = \"sensitive\"\n";
    TestTable::new(&format!("privacy.k = {k}\n{more}{columns}"), &[], &rows)
}

fn run_with(table: &TestTable, name: &str, allowed: u64) -> (f64, u64) {
    let method = build(METHODS.iter().find(|entry| entry.name == name).unwrap());
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: allowed, seed: 1 };
    figures(table, method.run(&task, &NoObserver).unwrap(), allowed)
}

#[test]
fn outliers_are_suppressed_and_the_others_lose_less() {
    for more in ["", "privacy.l-diversity = [{ column = \"s\", l = 2 }]\n"] {
        let table = clusters_with_outliers(20, more);
        for name in ["mondrian", "k-member", "local-bottom-up", "sweep", "local-top-down"] {
            let (without, with) = (run_with(&table, name, 0), run_with(&table, name, 24));
            // `local-top-down` puts all outliers into one group of its own accord.
            let share = if name == "local-top-down" { 1.0 } else { 0.95 };
            assert!(with.0 <= share * without.0, "{name}: {without:?} {with:?}");
            assert!(name == "local-top-down" || (20..=24).contains(&with.1), "{name}: {with:?}");
            // Fewer than k records cannot be suppressed.
            assert_eq!(run_with(&table, name, 19), without, "{name}");
        }
    }
}

#[test]
fn top_down_disclosure_discloses_more_if_it_may_suppress() {
    let table = clusters_with_outliers(10, "");
    let (without, with) = (run_with(&table, "top-down-disclosure", 0), run_with(&table, "top-down-disclosure", 24));
    assert!(with.0 < 0.8 * without.0 && with.1 <= 24, "{without:?} {with:?}");
}

/// Without a gain the result is that of the method alone.
#[test]
fn nothing_is_suppressed_for_nothing() {
    let rows: Vec<String> = (0..50).map(|n| format!("{}", n / 5)).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let table = TestTable::new("privacy.k = 5\ncolumns.a.role = \"quasi-identifier\"\n", &[], &rows);
    for method in super::BOTH {
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 50, seed: 1 };
        let found = method.run(&task, &NoObserver).unwrap().recoding;
        assert_eq!(found, run(method, &table, 1).recoding);
        let Recoding::Local(groups) = found else { panic!("local recoding") };
        assert_eq!(groups.suppressed, None);
    }
}

#[test]
fn a_part_of_a_profile_has_its_records() {
    let table = TestTable::new(
        "privacy.k = 2\ncolumns.a.role = \"quasi-identifier\"\ncolumns.s.role = \"sensitive\"\n",
        &[],
        &[("1,x", 2), ("1,y", 1), ("2,x", 4), ("3,y", 5)],
    );
    let mut members = table.profile.everything();
    members[0].records = 1;
    members.remove(2);
    let (part, variants) = table.profile.of_members(&members);
    assert_eq!((part.records(), part.tuples(), part.variants()), (7, 2, 3));
    let records: Vec<u64> = part.everything().iter().map(|member| member.records).collect();
    assert_eq!(records, [1, 1, 5]);
    assert_eq!(part.codes(TupleId(1)), table.profile.codes(TupleId(2)));
    for (at, variant) in variants.iter().enumerate() {
        let (here, there) = (crate::ids::VariantId::from_index(at), *variant);
        let value = |profile: &crate::profile::Profile, of| profile.value(of, crate::ids::AttributeId(0));
        assert_eq!(value(&part, here), value(&table.profile, there));
        assert_eq!(part.first_record(here), table.profile.first_record(there));
    }
}
