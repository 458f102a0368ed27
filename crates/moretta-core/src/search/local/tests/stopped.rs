//! A search that is stopped at any time returns groups that satisfy the policy.

use super::BOTH;
use crate::{
    search::{Stop, Task},
    testing::{After, TestTable},
    verify::verify_against,
};

#[test]
fn whenever_it_is_stopped_the_policy_holds() {
    for privacy in ["", "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 3\n"] {
        let policy = format!(
            "privacy.k = 5\n[columns.a]\nrole = \"quasi-identifier\"\n[columns.b]\nrole = \"quasi-identifier\"\n\
             [columns.s]\nrole = \"sensitive\"\n{privacy}"
        );
        let rows: Vec<String> = (0..600u32).map(|n| format!("{},b{},{}", n * n % 317, n % 4, n * n % 5)).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let table = TestTable::new(&policy, &[], &rows);
        for (method, max_suppressed) in [(BOTH[0], 0), (BOTH[1], 0), (BOTH[0], 60), (BOTH[1], 60)] {
            let task = Task { profile: &table.profile, models: &table.models, max_suppressed, seed: 1 };
            for asked in (0..20).chain([50, 100, 150, 200, 250, 300, 350, 400, 450]) {
                let observer = After::asked(asked);
                let outcome = method.run(&task, &observer).unwrap();
                assert_eq!(outcome.stop == Stop::OutOfTime, observer.stopped());
                let verified =
                    verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, max_suppressed);
                assert!(verified.is_ok(), "stopped at {asked}");
            }
        }
    }
}
