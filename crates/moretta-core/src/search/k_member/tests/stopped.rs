//! A search that is stopped at any time returns clusters that satisfy the policy.

use super::{KMember, KMemberParams};
use crate::{
    search::{Method, Stop, Task},
    testing::{After, TestTable},
    verify::verify_against,
};

#[test]
fn whenever_it_is_stopped_the_policy_holds() {
    for privacy in ["", "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 3\n"] {
        let policy = format!(
            "privacy.k = 3\n[columns.a]\nrole = \"quasi-identifier\"\n[columns.b]\nrole = \"quasi-identifier\"\n\
             [columns.s]\nrole = \"sensitive\"\n{privacy}"
        );
        let rows: Vec<String> = (0..60u32).map(|n| format!("{},b{},{}", n * n % 37, n % 4, n * n % 5)).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let table = TestTable::new(&policy, &[], &rows);
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 1 };
        for block in [None, Some(20)] {
            for asked in 0..30 {
                let observer = After::asked(asked);
                let outcome =
                    KMember(KMemberParams { block, ..KMemberParams::default() }).run(&task, &observer).unwrap();
                assert_eq!(outcome.stop == Stop::OutOfTime, observer.stopped());
                let verified = verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 0);
                assert!(verified.is_ok(), "stopped at {asked}");
            }
        }
    }
}
