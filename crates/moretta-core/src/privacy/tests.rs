//! Worked examples of the papers.

use super::{ModelFacts, TemplateFacts};
use crate::{
    recoding::Recoding,
    testing::{BANK, TestTable},
    verify::{VerifyError, check_against, verify_against},
};

fn bank(template: &str) -> TestTable {
    let columns = "[columns]\njob.role = \"quasi-identifier\"\ncountry.role = \"quasi-identifier\"\nchild.role = \
                   \"quasi-identifier\"\nbankruptcy.role = \"sensitive\"\nrating.role = \"class\"\n";
    TestTable::new(&format!("{columns}[[privacy.template]]\ncolumn = \"bankruptcy\"\n{template}"), &[], BANK)
}

fn one_column(policy: &str, rows: &[(&str, u64)]) -> TestTable {
    let columns = "columns.q.role = \"quasi-identifier\"\ncolumns.s.role = \"sensitive\"\n";
    TestTable::new(&format!("{columns}{policy}"), &[], rows)
}

#[test]
fn the_banks_traders_are_found_out() {
    let table = bank("given = [\"job\", \"country\"]\nvalues = [\"Discharged\"]\nmax-confidence = 0.75");
    let judgement = &check_against(&table.profile, &table.models)[0];
    assert_eq!((judgement.groups, judgement.failing_groups, judgement.failing_records), (6, 1, 5));
    assert!((judgement.worst_margin - (0.75 - 0.8) / 0.75).abs() < 1e-12);
    assert_eq!((judgement.worst.as_str(), judgement.where_.as_slice()), ("confidence 0.800", &[15][..]));
    assert!(judgement.facts.get().is_some_and(|facts: &TemplateFacts| facts.value == "Discharged"));
    // The original table is refused.
    let result = verify_against(&table.profile, Recoding::identity(&table.profile), &table.models, &table.policy, 0);
    assert!(matches!(result, Err(VerifyError::Broken(_))));
}

#[test]
fn fully_suppressed_the_bank_is_at_five_in_twenty_four() {
    let table = bank("given = [\"job\", \"country\"]\nvalues = [\"Discharged\"]\nmax-confidence = 0.75");
    let everything = table.members(|_| true);
    assert!((0.75 * (1.0 - table.margin(&everything)) - 5.0 / 24.0).abs() < 1e-12);
    // The limit itself may be reached.
    let limit = format!("given = [\"job\"]\nvalues = [\"Discharged\"]\nmax-confidence = {:?}", 5.0 / 24.0);
    assert_eq!(bank(&limit).margin(&everything), 0.0);
}

#[test]
fn the_papers_result_for_the_bank_holds_at_one_half() {
    // Trader, Clerk, UK and Canada suppressed: (*, *) has 10 records, 5 of them Discharged.
    let table = bank("given = [\"job\", \"country\"]\nvalues = [\"Discharged\"]\nmax-confidence = 0.5");
    let hidden = table.members(|row| ["Trader", "Clerk"].contains(&row[0]));
    assert_eq!(table.margin(&hidden), 0.0);
}

#[test]
fn the_rarest_values_are_the_first_by_count_then_by_label() {
    // Discharged 5, Current 8, Never 11.
    for (share, guarded) in [(0.34, vec!["Discharged"]), (0.67, vec!["Discharged", "Current"]), (0.3, vec![])] {
        let table = bank(&format!("given = [\"job\"]\nrarest = {share:?}\nmax-confidence = 0.75"));
        let value = |facts: ModelFacts| facts.get::<TemplateFacts>().unwrap().value.clone();
        assert_eq!(table.models.iter().map(|model| value(model.facts())).collect::<Vec<_>>(), guarded);
    }
}

#[test]
fn three_kinds_of_diversity() {
    // Counts 4, 3, 1.
    let rows = [("1,flu", 4), ("1,cold", 3), ("1,cancer", 1)];
    let margin = |kind: &str| {
        let table = one_column(&format!("[[privacy.l-diversity]]\ncolumn = \"s\"\n{kind}\n"), &rows);
        table.margin(&table.members(|_| true))
    };
    assert_eq!(margin("kind = \"distinct\"\nl = 3"), 0.0);
    assert_eq!(margin("kind = \"distinct\"\nl = 4"), -0.25);
    let entropy = -[0.5f64, 0.375, 0.125].iter().map(|p| p * p.ln()).sum::<f64>();
    assert!((margin("kind = \"entropy\"\nl = 2.5") - (entropy.exp() - 2.5) / 2.5).abs() < 1e-12);
    // Recursive: 4 < c (3 + 1) for l = 2, and 4 < c for l = 3; equal is not enough.
    assert!(margin("kind = \"recursive\"\nl = 2\nc = 1.0") < 0.0);
    assert!(margin("kind = \"recursive\"\nl = 2\nc = 1.25") > 0.0);
    assert!(margin("kind = \"recursive\"\nl = 3\nc = 4.0") < 0.0);
    assert!(margin("kind = \"recursive\"\nl = 3\nc = 4.5") > 0.0);
    assert!(margin("kind = \"recursive\"\nl = 4\nc = 9.0") < 0.0);
}

#[test]
fn equal_is_not_enough_for_many_records_either() {
    let many = 1 << 40;
    let policy = "[[privacy.l-diversity]]\ncolumn = \"s\"\nkind = \"recursive\"\nl = 2\nc = 1.0\n";
    let table = one_column(policy, &[("1,a", many), ("1,b", many)]);
    assert!(table.margin(&table.members(|_| true)) < 0.0);
}

#[test]
fn values_that_mean_the_same_are_no_diversity() {
    let policy = "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\n[columns.s]\nrole = \"sensitive\"\nmissing = \
                  \"category\"\n[columns.q]\nrole = \"quasi-identifier\"\n";
    for rows in [[("1,7", 1), ("1,7.0", 1)], [("1,", 1), ("1,?", 1)]] {
        let table = TestTable::new(policy, &[], &rows);
        assert_eq!(table.margin(&table.members(|_| true)), -0.5, "{rows:?}");
        assert_eq!(table.profile.variants(), 1);
    }
    let policy = "[[privacy.template]]\ngiven = [\"q\"]\ncolumn = \"s\"\nvalues = [\"7.00\"]\nmax-confidence = 0.5\n";
    let table = one_column(policy, &[("1,7", 1), ("1,7.0", 1), ("1,8", 1)]);
    assert!((table.margin(&table.members(|_| true)) - (0.5 - 2.0 / 3.0) / 0.5).abs() < 1e-12);
}

#[test]
fn salaries_are_as_close_as_the_paper_says() {
    // Li et al., table 3: salaries 3k to 11k, three to a group.
    let groups = [("a", [3, 4, 5], 0.375), ("b", [6, 11, 8], 1.0 / 6.0), ("c", [7, 9, 10], 0.2361111111111111)];
    let rows: Vec<String> = groups.iter().flat_map(|(q, s, _)| s.map(|salary| format!("{q},{salary}000"))).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let table = one_column("[[privacy.t-closeness]]\ncolumn = \"s\"\nt = 0.5\ndistance = \"ordered\"\n", &rows);
    for (q, _, expected) in groups {
        let distance = 0.5 * (1.0 - table.margin(&table.members(|row| row[0] == q)));
        assert!((distance - expected).abs() < 1e-9, "{q}: {distance}");
    }
}
