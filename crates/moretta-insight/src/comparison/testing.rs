//! Made-up comparisons, for tests of their presentation.

use moretta_core::{
    counts::{CountedColumn, Counts},
    measure::{MEASURES, Measures},
    observer::{NoObserver, Stop},
    policy::Policy,
    profile::Profile,
    run::VerifiedRun,
    search::method_names,
};

use super::{Answers, Comparison, Job, Refused, Row, RunResult, Splits};
use crate::evaluate::{Errors, queries};

/// Three methods at two k: one does not support the policy, one was stopped, one is best in all figures but time.
pub fn comparison() -> Comparison {
    let mut rows = Vec::new();
    for k in [5, 50] {
        for (method, times) in [("sweep", 1.0), ("mondrian", 1.4)] {
            rows.push(Row {
                method: method.to_owned(),
                k: Some(k),
                unsupported: None,
                detail: None,
                found: Some(found(k as f64 * times, 2.0 - times)),
            });
        }
        let unsupported = "method `k-member` cannot serve <this> policy: too many \"models\" & columns".to_owned();
        rows.push(Row {
            method: "k-member".to_owned(),
            k: Some(k),
            unsupported: Some(unsupported),
            detail: None,
            found: None,
        });
    }
    if let Some(found) = &mut rows[1].found {
        found.stop = Stop::OutOfTime;
    }
    let errors = Errors { raw: 0.17, released: 0.2, root: 0.25, removed: None };
    Comparison {
        records: 30_162,
        persons: None,
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

fn found(loss: f64, seconds: f64) -> RunResult {
    let value = |name: &str| match name {
        "rm" => None,
        "dm" => Some(loss * 1e6),
        _ => Some(loss / 100.0),
    };
    let errors = Errors { raw: 0.17, released: 0.18 + loss / 1000.0, root: 0.25, removed: None };
    let answers = queries::Errors { queries: 1000, mean: Some(loss / 50.0), median: Some(loss / 80.0) };
    RunResult {
        stop: Stop::Finished,
        measures: Measures(MEASURES.iter().map(|entry| (entry.name, value(entry.name))).collect()),
        objective: None,
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

/// Like [`comparison`], with a failure that names a value which a template took from the data: gout.
pub fn comparison_with_rarest() -> Comparison {
    let mut found = comparison();
    found.rows[2] = refused_by_rarest().row(&Job { method: "k-member", k: Some(5) });
    found
}

/// The failure of a policy that no release of nine people can satisfy: four have gout, and the limit is 10 %
/// confidence.
pub(super) fn refused_by_rarest() -> Refused {
    let policy = "version = 1\n[privacy]\nk = 2\n[[privacy.template]]\ngiven = [\"sex\"]\ncolumn = \"ill\"\nrarest = 0.5\n\
                  max-confidence = 0.1\n[columns.sex]\nrole = \"quasi-identifier\"\n[columns.ill]\nrole = \"sensitive\"\n";
    let policy = Policy::parse(policy, &method_names()).unwrap();
    let column = |name: &str, values: [&str; 2]| CountedColumn {
        name: name.to_owned(),
        values: values.map(Into::into).to_vec(),
        first_records: Some(vec![1, 2]),
        typed: false,
    };
    let columns = vec![column("sex", ["f", "m"]), column("ill", ["flu", "gout"])];
    assert_eq!(Profile::grouped_columns(&policy), ["sex", "ill"]);
    let counts =
        Counts { columns, codes: vec![0, 0, 1, 1], counts: vec![5, 4], first_records: Some(vec![1, 2]), records: 9 };
    let profile = Profile::build(&policy, &Default::default(), &counts).unwrap();
    Refused::by(&VerifiedRun::run(&policy, &profile, 0, &NoObserver).unwrap_err())
}
