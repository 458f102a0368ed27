//! Parts for the one who signs: warnings, kept columns, origin, rows.

use moretta_core::{engine::ReleaseFile, schema::Role};
use moretta_insight::{
    household::{HouseholdRisk, Households},
    kept::{Kept, KeptColumn, KnownValues},
    provenance::Provenance,
    statistics::{BeforeAfter, Correlation, NumberStatistics, Statistics},
    typical_rows::TypicalRows,
};

use super::{demo, text};
use crate::report::{RELEASE_TAG, render};

fn file(name: &str, digit: &str) -> ReleaseFile {
    ReleaseFile { file: name.to_owned(), bytes: 1_234, sha256: digit.repeat(64) }
}

fn kept(exact: bool) -> Kept {
    let known = |distinct, unique_rows, rows_below_k| KnownValues { distinct, unique_rows, rows_below_k };
    let column = |name: &str, role, exact, known| KeptColumn { name: name.to_owned(), role, exact, known };
    Kept {
        rows: 2_000,
        k: 10,
        columns: vec![
            column("income", Role::Insensitive, exact, known(215, 54, 502)),
            column("diagnosis", Role::Sensitive, false, known(18, 0, 0)),
        ],
        together: Some(known(1_075, 718, 1_707)),
        not_exact: Some(known(18, 0, 0)),
        with_quasi_identifiers: Some(known(1_777, 1_700, 1_943)),
    }
}

#[test]
fn exact_values_are_warned_of_above_the_signature() {
    let mut report = demo();
    report.kept = Some(kept(true));
    let shown = text(&render(&report, "x.csv"));
    let warning = shown.find("These guarantees do not cover values that are released exactly.").unwrap();
    assert!(warning < shown.find("Approved by").unwrap());
    for part in [
        "This release satisfies a policy that lets 35.9 % of the records be found",
        "An attacker who knows values that are released unchanged finds many more, see below.",
        "An attacker who knows income and diagnosis of a person finds the record",
        "this holds for 718 of 2,000 records (35.9 %)",
        "incomeinsensitive, exact21554 (2.7 %)502 (25.1 %)",
        "all of these, and the released quasi-identifiers1,7771,700 (85.0 %)1,943 (97.2 %)",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let none = KnownValues { distinct: 54, unique_rows: 0, rows_below_k: 24 };
    let none_found = Kept { together: Some(none), ..kept(true) };
    report.kept = Some(none_found);
    let page = render(&report, "x.csv");
    assert!(!text(&page).contains("These guarantees do not cover"), "no record is found");
    assert!(page.contains("verdict good") && !text(&page).contains("finds many more"));
    report.kept = Some(kept(false));
    let shown = text(&render(&report, "x.csv"));
    assert!(!shown.contains("These guarantees do not cover") && shown.contains("it lists none"), "{shown}");
}

/// The highest risk by quasi-identifiers says nothing of members of a household who are found together.
#[test]
fn households_are_warned_of_above_the_key_figures() {
    let mut report = demo();
    let risk = |above_only_by_household| HouseholdRisk { mean: 0.28, expected: 12.0, above_only_by_household };
    report.risk.household = Some(Households { before: risk(0), after: risk(1_657) });
    let shown = text(&render(&report, "x.csv"));
    let warning =
        shown.find("Households are found together. 1,657 of 2,000 records have a risk above 10.0 %").expect(&shown);
    assert!(warning < shown.find("Mean risk by household").unwrap());
    report.risk.household = Some(Households { before: risk(9), after: risk(0) });
    assert!(!text(&render(&report, "x.csv")).contains("Households are found together"));
}

#[test]
fn origin_and_unconfirmed_guesses_are_shown() {
    let mut report = demo();
    report.release = Some(file("x.csv", "a"));
    report.provenance = Some(Provenance {
        created: "2026-11-18 20:15 UTC".to_owned(),
        program: "moretta 9.9".to_owned(),
        input: vec![file("people-1.parquet", "b"), file("people-2.parquet", "c")],
        policy: vec![file("policy.toml", "d")],
        unconfirmed: 3,
        policy_text: Some("k = 10 # <b>ten</b>".to_owned()),
    });
    let page = render(&report, "x.csv");
    let shown = text(&page);
    for part in [
        "This release satisfies a policy that is not confirmed",
        "3 lines are still marked CONFIRM",
        "confirm the guess by the SHA-256",
        "Confidential: this report has figures of the original",
        "Made on 2026-11-18 20:15 UTC by moretta 9.9",
        "people-2.parquet",
        &"c".repeat(64),
        &"d".repeat(64),
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(page.contains("k = 10 # &lt;b&gt;ten&lt;/b&gt;"), "the policy is escaped");
    let (_, after) = page.split_once(RELEASE_TAG).unwrap();
    assert!(after.starts_with(&("a".repeat(64) + "</code>")), "what `report verify` reads");
    assert_eq!(page.matches(RELEASE_TAG).count(), 1);
    report.provenance.as_mut().unwrap().unconfirmed = 0;
    let confirmed = render(&report, "x.csv");
    assert!(!confirmed.contains("CONFIRM") && text(&confirmed).contains("This release satisfies the policy"));
}

#[test]
fn rows_are_masked_and_statistics_shown() {
    let mut report = demo();
    let cells = |cells: [Option<&str>; 2]| cells.iter().map(|cell| cell.map(str::to_owned)).collect();
    report.typical_rows = Some(TypicalRows {
        floor: 10,
        columns: vec!["age".to_owned(), "diagnosis".to_owned()],
        rows: vec![cells([Some("[20, 30]"), None]), cells([Some("[30, 40]"), Some("flu")])],
    });
    let both = |before, after| BeforeAfter { before: Some(before), after };
    report.statistics = Some(Statistics {
        numbers: vec![NumberStatistics {
            name: "age".to_owned(),
            mean: both(40.0, Some(41.0)),
            deviation: both(9.0, None),
            quartiles: [both(20.0, Some(21.0)); 3],
            left_out: 7,
        }],
        correlations: vec![Correlation {
            columns: ["age".to_owned(), "income".to_owned()],
            coefficient: both(0.25, Some(-0.5)),
        }],
        all_correlations: 3,
        ..Statistics::default()
    });
    let shown = text(&render(&report, "x.csv"));
    for part in [
        "[20, 30]▒[30, 40]flu",
        "fewer than 10 records carry",
        "age (7 left out)mean40.041.0standard deviation9.000–",
        "the 1 of 3 that changed most",
        "age and income0.2500-0.5000",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}
