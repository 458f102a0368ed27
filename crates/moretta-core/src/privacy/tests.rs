//! Worked examples of the papers.

use proptest::prelude::*;

use super::{Group, GrowingGroup, ModelFacts, TemplateFacts, redundant};
use crate::{
    hierarchy::Hierarchies,
    policy::BoundPolicy,
    profile::{Profile, Tables},
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

/// A cell of the table can be of any length.
#[test]
fn descriptions_show_the_beginning_of_a_value() {
    let value = "9".repeat(300_000);
    let policy = "[[privacy.template]]\ngiven = [\"q\"]\ncolumn = \"s\"\nrarest = 0.5\nmax-confidence = 0.5\n";
    let table = one_column(policy, &[("1,flu", 4), (&format!("1,{value}"), 1)]);
    let described = table.models[0].describe().to_string();
    assert!(described.starts_with("confidence (q -> s = 999") && described.len() < 200, "{} bytes", described.len());
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

/// Searches and the lower bound on the loss leave out groups with fewer records.
#[test]
fn a_group_that_satisfies_the_model_has_its_least_records() {
    let table = one_column(
        "[[privacy.l-diversity]]\ncolumn = \"s\"\nkind = \"entropy\"\nl = 2.0000000001\n",
        &[("1,flu", 1), ("1,cold", 1)],
    );
    assert!(table.margin(&table.members(|_| true)) >= 0.0);
    assert_eq!(table.models[0].min_records(), 2);
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

/// Six records of three persons: flu is carried by two persons, hiv and cold by one each; the pairs are four.
const OF_PERSONS: &[(&str, u64)] = &[("1,flu,P1", 3), ("1,hiv,p1", 1), ("2,flu,P2", 1), ("2,cold,P3", 1)];

fn of_persons(policy: &str) -> TestTable {
    one_column(&format!("columns.p.role = \"person\"\n{policy}"), OF_PERSONS)
}

fn about_s(model: &str, lines: &str) -> String {
    format!("[[privacy.{model}]]\ncolumn = \"s\"\n{lines}\n")
}

#[test]
fn persons_are_counted_and_not_their_records() {
    let two_thirds = 2.0 / 3.0;
    let template =
        |limit: f64| about_s("template", &format!("given = [\"q\"]\nvalues = [\"flu\"]\nmax-confidence = {limit:?}"));
    let entropy = (0.5f64 * 2f64.ln() + 0.5 * 4f64.ln()).exp();
    for (policy, expected) in [
        ("privacy.k = 3".to_owned(), 0.0),
        ("privacy.k = 4".to_owned(), -0.25),
        (template(two_thirds), 0.0),
        (template(0.5), -1.0 / 3.0),
        (format!("[privacy.lkc]\nl = 1\nk = 3\nc = {two_thirds:?}"), 0.0),
        ("[privacy.lkc]\nl = 1\nk = 2\nc = 0.5".to_owned(), -1.0 / 3.0),
        (about_s("l-diversity", "l = 3"), 0.0),
        (about_s("l-diversity", "kind = \"entropy\"\nl = 2"), (entropy - 2.0) / 2.0),
        // Flu has two of the four pairs: 2 < c (1 + 1).
        (about_s("l-diversity", "kind = \"recursive\"\nl = 2\nc = 1.25"), 0.25),
        (about_s("t-closeness", "t = 0.5\ndistance = \"equal\""), 1.0),
    ] {
        let table = of_persons(&policy);
        let margin = table.margin(&table.members(|_| true));
        assert!((margin - expected).abs() < 1e-12, "{policy}: {margin}");
        assert!(table.models.iter().all(|model| model.limits().is_none()), "{policy}");
    }
    let recursive = of_persons(&about_s("l-diversity", "kind = \"recursive\"\nl = 2\nc = 1.0"));
    assert!(recursive.margin(&recursive.members(|_| true)) < 0.0, "2 < 2 does not hold");
    // The first group has the pairs flu and hiv, 1/2 each, the table has 1/2, 1/4 and 1/4 (cold).
    let close = of_persons(&about_s("t-closeness", "t = 0.25\ndistance = \"equal\""));
    assert_eq!(close.margin(&close.members(|row| row[0] == "1")), 0.0);
    let delta = of_persons(&about_s("delta-disclosure", "delta = 1.0"));
    assert_eq!(delta.margin(&delta.members(|row| row[0] == "1")), -1.0, "cold is missing");
    assert!(delta.margin(&delta.members(|_| true)) > 0.0);
}

#[test]
fn few_models_of_persons_are_closed_under_union() {
    let closed = |policy: &str| of_persons(policy).models.iter().all(|model| model.is_closed_under_union());
    let limit = "given = [\"q\"]\nvalues = [\"flu\"]\nmax-confidence = 0.5";
    for (policy, expected) in [
        ("privacy.k = 3".to_owned(), true),
        (about_s("l-diversity", "l = 3"), true),
        ("[privacy.lkc]\nl = 1\nk = 3\nc = 1.0".to_owned(), true),
        ("[privacy.lkc]\nl = 1\nk = 3\nc = 0.9".to_owned(), false),
        (about_s("l-diversity", "kind = \"entropy\"\nl = 2"), false),
        (about_s("l-diversity", "kind = \"recursive\"\nl = 2\nc = 1.0"), false),
        (about_s("t-closeness", "t = 0.5\ndistance = \"equal\""), false),
        (about_s("delta-disclosure", "delta = 1.0"), false),
        (about_s("template", limit), false),
    ] {
        assert_eq!(closed(&policy), expected, "{policy}");
    }
    // Each of two persons carries hiv in a group of its own.
    let policy = about_s("template", "given = [\"q\"]\nvalues = [\"hiv\"]\nmax-confidence = 0.5")
        + "[columns.p]\nrole = \"person\"";
    let table = one_column(&policy, &[("1,flu,P", 1), ("1,hiv,Q", 1), ("2,hiv,P", 1), ("2,flu,Q", 1)]);
    let margin = |q: &str| table.margin(&table.members(|row| q.contains(row[0])));
    assert_eq!((margin("1"), margin("2"), margin("12")), (0.0, 0.0, -1.0));
}

/// A template of persons may hold given two columns and not given one: it follows from no other.
#[test]
fn no_template_of_persons_is_redundant() {
    let template = |given: &str| {
        format!("[[privacy.template]]\ngiven = [{given}]\ncolumn = \"s\"\nvalues = [\"hiv\"]\nmax-confidence = 0.5\n")
    };
    let columns = "[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\ns.role = \"sensitive\"\n";
    let policy = |person: &str| columns.to_owned() + person + &template("\"a\", \"b\"") + &template("\"a\"");
    let of_records = TestTable::new(&policy(""), &[], &[("1,1,hiv", 1), ("1,2,flu", 1)]);
    let of_persons = TestTable::new(&policy("p.role = \"person\"\n"), &[], &[("1,1,hiv,P", 1), ("1,2,flu,P", 1)]);
    assert_eq!(redundant(&of_records.models), [(1, 0)]);
    assert_eq!(redundant(&of_persons.models), []);
}

#[test]
fn lkc_of_persons_judges_all_sets_of_columns() {
    let columns = "[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\nc.role = \"quasi-identifier\"\n\
                   s.role = \"sensitive\"\np.role = \"person\"\n";
    let sets = |l: u64, c: &str| {
        let policy = format!("{columns}[privacy.lkc]\nl = {l}\nk = 2\nc = {c}\n");
        let table = TestTable::new(&policy, &[], &[("1,1,1,hiv,P", 1), ("1,1,2,flu,Q", 1)]);
        let first = table.models[0].describe().to_string();
        (table.models.len(), first)
    };
    let limit = "LKC-privacy (any 2 of 3 columns known: k = 2 persons, confidence at most 0.9)";
    assert_eq!(sets(2, "0.9"), (6, limit.to_owned()));
    assert_eq!((sets(2, "1.0").0, sets(1, "0.9").0, sets(9, "0.9").0), (3, 3, 7));
}

#[test]
fn spellings_of_a_person_are_one_person() {
    let rows = [("1,flu,A7", 1), ("1,flu, a7 ", 1), ("1,flu,7", 1), ("1,flu,07.0", 1), ("1,flu,?", 1), ("1,flu,", 1)];
    let policy = |more: &str| format!("privacy.k = 3\n[columns.p]\nrole = \"person\"\nmissing = \"category\"\n{more}");
    let folded = one_column(&policy(""), &rows);
    assert_eq!((folded.profile.persons(), folded.margin(&folded.members(|_| true))), (Some(3), 0.0));
    let exact = one_column(&policy("fold = false\n"), &rows);
    assert_eq!(exact.profile.persons(), Some(5), "all records without a person are one");
}

/// A table that does not say who is who must not be judged by its records.
#[test]
fn a_table_without_persons_is_refused() {
    let with = of_persons("privacy.k = 3");
    let counts = crate::testing::counts(&one_column("privacy.k = 3", &[("1,flu", 9)]).policy, &[("1,flu", 9)]);
    let file = Profile::of_release(&with.policy, &Hierarchies::default(), &counts).unwrap();
    let refused = BoundPolicy::new(&with.policy, &file).err().unwrap().to_string();
    assert!(refused.contains("cannot be judged by k-anonymity"), "{refused}");
    // The distinct values do not depend on the persons who carry them.
    let distinct = of_persons(&about_s("l-diversity", "l = 3"));
    assert!(BoundPolicy::new(&distinct.policy, &file).is_ok());
    let of_records = with.policy.privacy.without_persons().bind(&Tables::of(&file)).unwrap();
    assert!(of_records.of_groups[0].holds(&Group::new(&file, &file.everything())), "nine records");
}

proptest! {
    /// A group that grows is judged like the same group at once.
    #[test]
    fn a_growing_group_counts_persons_once(
        rows in prop::collection::vec((0u8..3, 0u8..4, 0u8..6), 1..30),
        steps in prop::collection::vec(0usize..30, 0..5),
    ) {
        let texts: Vec<String> = rows.iter().map(|(q, s, p)| format!("{q},{s},p{p}")).collect();
        let rows: Vec<(&str, u64)> = texts.iter().map(|row| (row.as_str(), 1)).collect();
        let policy = about_s("l-diversity", "kind = \"entropy\"\nl = 2") + "[privacy]\nk = 3\n[columns.p]\nrole = \"person\"";
        let table = one_column(&policy, &rows);
        let everything = table.profile.everything();
        let (mut growing, mut taken) = (GrowingGroup::new(&table.profile), 0);
        for step in steps {
            let until = (taken + step).min(everything.len());
            growing.extend(|members| members.extend(&everything[taken..until]));
            taken = until;
            let group = Group::new(&table.profile, &everything[..taken]);
            for model in &table.models {
                prop_assert_eq!(growing.judge(|grown| model.margin(grown)), model.margin(&group));
            }
        }
    }
}
