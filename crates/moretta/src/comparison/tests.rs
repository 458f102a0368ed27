//! What is said of made-up rows.

use std::path::Path;

use moretta_core::{
    counts::{CountedColumn, Counts},
    evaluate::{Errors, queries},
    measure::{MEASURES, Measures},
    policy::Policy,
    profile::Profile,
    search::{NoObserver, Stop, method_names},
    trial::{Trial, TrialError},
    verify::VerifyError,
};

use super::{
    Answers, Comparison, Found, Pair, Refused, Row, Splits, caveats, csv, table, trial::refused, verdicts, written,
};

/// Three methods at two k, of which one cannot, one was stopped, and one is the best at all but time.
pub fn comparison() -> Comparison {
    let mut rows = Vec::new();
    for k in [5, 50] {
        for (method, times) in [("sweep", 1.0), ("mondrian", 1.4)] {
            rows.push(Row {
                method: method.to_owned(),
                k: Some(k),
                cannot: None,
                detail: None,
                found: Some(found(k as f64 * times, 2.0 - times)),
            });
        }
        let cannot = "method `k-member` cannot serve <this> policy: too many \"models\" & columns".to_owned();
        rows.push(Row { method: "k-member".to_owned(), k: Some(k), cannot: Some(cannot), detail: None, found: None });
    }
    if let Some(found) = &mut rows[1].found {
        found.stop = Stop::OutOfTime;
    }
    let errors = Errors { raw: 0.17, released: 0.2, root: 0.25, removed: None };
    Comparison {
        records: 30_162,
        seed: 0,
        queries: 1000,
        summed: Some("age".to_owned()),
        measure: None,
        tested: Some(Splits { splits: 5, records: 30_162 }),
        errors: Some(errors.into()),
        spread: Some(Errors { raw: 0.002, released: 0.0, root: 0.001, removed: None }.into()),
        rows,
    }
}

fn found(loss: f64, seconds: f64) -> Found {
    let value = |name: &str| match name {
        "rm" => None,
        "dm" => Some(loss * 1e6),
        _ => Some(loss / 100.0),
    };
    let errors = Errors { raw: 0.17, released: 0.18 + loss / 1000.0, root: 0.25, removed: None };
    let answers = queries::Errors { queries: 1000, mean: Some(loss / 50.0), median: Some(loss / 80.0) };
    Found {
        stop: Stop::Finished,
        measures: Measures(MEASURES.iter().map(|entry| (entry.name, value(entry.name))).collect()),
        goal: None,
        groups: (3000.0 / loss) as u64,
        smallest_group: 5,
        suppressed_rows: 0,
        errors: Some(errors),
        spread: Some(Errors { raw: 0.002, released: 0.003, root: 0.001, removed: None }),
        untested: None,
        queries: Answers { count: answers, sum: Some(answers) },
        seconds,
        peak_memory_bytes: Some(72_400_000),
    }
}

/// The same, where one cannot because of a value that a template learned from the data: gout.
pub fn comparison_with_rarest() -> Comparison {
    let mut found = comparison();
    found.rows[2] = refused_by_rarest().row(&Pair { method: "k-member", k: Some(5) });
    found
}

/// Nine people, of whom four have gout, which may be inferred of one in ten.
fn refused_by_rarest() -> Refused {
    let policy = "version = 1\n[privacy]\nk = 2\n[[privacy.template]]\ngiven = [\"sex\"]\ncolumn = \"ill\"\nrarest = 0.5\n\
                  max-confidence = 0.1\n[columns.sex]\nrole = \"quasi-identifier\"\n[columns.ill]\nrole = \"sensitive\"\n";
    let policy = Policy::parse(policy, &method_names()).unwrap();
    let column = |name: &str, values: [&str; 2]| CountedColumn {
        name: name.to_owned(),
        values: values.map(Into::into).to_vec(),
        first_records: vec![1, 2],
    };
    let columns = vec![column("sex", ["f", "m"]), column("ill", ["flu", "gout"])];
    assert_eq!(Profile::grouped_columns(&policy), ["sex", "ill"]);
    let counts = Counts { columns, codes: vec![0, 0, 1, 1], counts: vec![5, 4], first_records: vec![1, 2], records: 9 };
    let profile = Profile::build(&policy, &Default::default(), &counts).unwrap();
    refused(Trial::run(&policy, &profile, 0, &NoObserver).unwrap_err())
}

#[test]
fn what_a_template_learned_stays_with_whoever_has_the_table() {
    let by_rarest = refused_by_rarest();
    assert!(by_rarest.failure.message.contains("gout") && by_rarest.failure.code == 1, "{by_rarest:?}");
    let found = comparison_with_rarest();
    assert!(table(&found).contains("gout") && serde_json::to_string(&found).unwrap().contains("gout"));
    let text = csv(&found);
    assert!(text.contains("the policy cannot be met, not even with all records in one group"), "{text}");
    assert!(!text.contains("gout"), "{text}");
    let unverified = refused(TrialError::Verify(VerifyError::NotCovered { column: "ill".to_owned() }));
    assert_eq!((unverified.cannot.as_str(), unverified.failure.code), ("what it found does not hold", 1));
    assert!(!unverified.failure.message.contains("written"), "{unverified:?}");
}

#[test]
fn the_terminal_has_a_block_for_each_k_and_marks_the_best() {
    let said = anstream::adapter::strip_str(&table(&comparison())).to_string();
    assert!(said.lines().all(|line| line.chars().count() <= 120), "{said}");
    insta::assert_snapshot!("table", said);
    let said = anstream::adapter::strip_str(&written(&comparison(), Path::new("c.csv"))).to_string();
    assert!(said.starts_with("wrote c.csv: 6 combinations of method and k, 4 with figures\n"), "{said}");
}

#[test]
fn json_comes_back_as_it_was() {
    let before = comparison();
    let text = serde_json::to_string(&before).unwrap();
    let after: Comparison = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&after).unwrap(), text);
    assert!(after.rows[2].found.is_none() && after.rows[0].found.is_some());
    assert_eq!(after.value(&super::FIGURES[0], "mondrian", Some(50)), Some(0.7));
}

#[test]
fn verdicts_put_neighbouring_k_together() {
    let who: Vec<String> = verdicts(&comparison()).into_iter().map(|verdict| verdict.who).collect();
    assert_eq!(
        who,
        [
            "sweep at k = 5 (0.0500) and 50 (0.5000)",
            "sweep at k = 5 (18.5 %) and 50 (23.0 %)",
            "sweep at k = 5 (10.0 %) and 50 (100.0 %)",
            "mondrian at k = 5 (0.60 s) and 50 (0.60 s)"
        ]
    );
    let mut without_k = comparison();
    without_k.rows.truncate(2);
    without_k.rows.iter_mut().for_each(|row| row.k = None);
    assert_eq!(verdicts(&without_k)[0].who, "sweep (0.0500)");
    without_k.rows.truncate(1);
    assert!(verdicts(&without_k).is_empty(), "one alone is not the best of any");
    let mut with_measure = comparison();
    with_measure.measure = Some("cm".to_owned());
    assert_eq!(verdicts(&with_measure).len(), 3, "every figure that is judged is known; of this measure there is none");
    assert!(caveats(&comparison()).iter().any(|sentence| sentence.starts_with("mondrian, k = 5 stopped")));
}

#[test]
fn every_line_of_csv_has_every_column() {
    let text = csv(&comparison());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7);
    let commas = |line: &str| line.matches(',').count();
    assert!(lines.iter().filter(|line| !line.contains('"')).all(|line| commas(line) == commas(lines[0])), "{text}");
    assert!(lines[3].starts_with("k-member,5,\"method `k-member` cannot serve <this> policy"), "{}", lines[3]);
}
