//! The registry: which methods accept a `[measure]`, and that it changes the result.

use super::*;
use crate::{
    measure::{MeasureContext, Measures},
    testing::TestTable,
    verify::verify_against,
};

fn policy(method: &str, measure: &str) -> Policy {
    let text = format!(
        "version = 1\nprivacy.k = 2\n[method]\nname = \"{method}\"\n{measure}\n[columns.a]\nrole = \"quasi-identifier\"\n"
    );
    Policy::parse(&text, &method_names()).expect("a policy")
}

#[test]
fn methods_with_a_fixed_objective_refuse_a_measure() {
    for entry in METHODS {
        let refused = method_of(&policy(entry.name, "[measure]\nname = \"lm\"")).err();
        let is_fixed = entry.objectives == AcceptedObjectives::Fixed;
        assert_eq!(refused.is_some(), is_fixed, "{}", entry.name);
        assert_eq!(refused.and_then(|error| error.line()), is_fixed.then_some(5), "{}", entry.name);
        assert!(method_of(&policy(entry.name, "")).is_ok());
    }
}

#[test]
fn a_refusal_says_what_to_do_instead() {
    let refused = |method| method_of(&policy(method, "[measure]\nname = \"ncp\"")).err().map(|error| error.to_string());
    for method in ["bottom-up-generalization", "top-down-disclosure"] {
        let words =
            format!("line 5: method `{method}` does not support [measure]; set its parameter `measure` in [method]");
        assert_eq!(refused(method), Some(words));
    }
    let words = "line 5: method `mondrian` does not support [measure]; \
                 `best`, `k-member`, `local-top-down`, `local-bottom-up`, `sweep`, `genetic` do";
    assert_eq!(refused("mondrian").as_deref(), Some(words));
}

#[test]
fn methods_with_one_loss_metric_refuse_other_measures() {
    let refused = |method: &str, measure: &str| {
        let text = format!(
            "version = 1\nprivacy.k = 2\n[method]\nname = \"{method}\"\n{measure}\n[columns]\n\
             a.role = \"quasi-identifier\"\nc.role = \"class\"\n"
        );
        method_of(&Policy::parse(&text, &method_names()).expect("a policy")).err().map(|error| error.to_string())
    };
    let (cm, both) = ("[measure]\nname = \"cm\"", "[[measure]]\nname = \"lm\"\n[[measure]]\nname = \"ncp\"");
    let anything: Vec<&MethodEntry> =
        METHODS.iter().filter(|entry| matches!(entry.objectives, AcceptedObjectives::Any(_))).collect();
    for entry in METHODS.iter().filter(|entry| matches!(entry.objectives, AcceptedObjectives::Precision(_))) {
        let name = entry.name;
        assert_eq!(refused(name, "[measure]\nname = \"lm\"\nweight = 2"), None, "alone, a weight changes nothing");
        let begins = |asked: &str, words: &str| {
            let refused = refused(name, asked).unwrap_or_default();
            assert!(refused.starts_with(&format!("line 5: method `{name}` supports {words}")), "{refused}");
            assert!(anything.iter().all(|entry| refused.contains(entry.name)), "{refused}");
        };
        begins(cm, "the measure \"ncp\" or \"lm\", not \"cm\"");
        begins(both, "one measure, \"ncp\" or \"lm\", not several");
    }
    for entry in anything {
        assert_eq!((refused(entry.name, cm), refused(entry.name, both)), (None, None));
    }
    assert!(
        refused("mondrian", cm)
            .is_some_and(|words| words.starts_with("line 5: method `mondrian` does not support [measure]"))
    );
}

#[test]
fn a_measure_among_parameters_is_refused_with_a_hint() {
    let refused = |measure| method_of(&policy("sweep", measure)).err().map(|error| error.to_string());
    let words =
        "line 5: `measure` is not a parameter of the method `sweep`; write [measure] with name = \"lm\" instead";
    assert_eq!(refused("measure = \"lm\"").as_deref(), Some(words));
    assert_eq!(refused("measure = 3"), Some(words.replace("lm", "ncp")));
    assert!(method_of(&policy("bottom-up-generalization", "measure = \"lm\"")).is_ok(), "it has its own");
}

/// Four records can be paired over two of three values in `t` or over five of eight in `u`. The first loses an LM of
/// 1/2 and an NCP of 2/3, the second 4/7 and 5/8; all other records are pairs already.
#[test]
fn each_measure_is_lower_if_it_is_the_objective() {
    let columns = "privacy.k = 2\n[columns.t]\nrole = \"quasi-identifier\"\nhierarchy = \"t.csv\"\n\
                   [columns.u]\nrole = \"quasi-identifier\"\nhierarchy = \"u.csv\"\n";
    let hierarchies =
        [("t", "a;g;*\nb;g;*\nc;c;*\n"), ("u", "1;h;*\n2;h;*\n3;h;*\n4;h;*\n5;h;*\n6;i;*\n7;i;*\n8;i;*\n")];
    let rows = [
        ("a,1", 1),
        ("b,1", 1),
        ("a,5", 1),
        ("b,5", 1),
        ("c,2", 2),
        ("c,3", 2),
        ("c,4", 2),
        ("c,6", 2),
        ("c,7", 2),
        ("c,8", 2),
    ];
    let table = TestTable::new(columns, &hierarchies, &rows);
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 1 };
    for entry in METHODS.iter().filter(|entry| entry.objectives != AcceptedObjectives::Fixed) {
        let lost = |measure: &str| {
            let method = method_of(&policy(entry.name, &format!("[measure]\nname = \"{measure}\""))).unwrap();
            let outcome = method.run(&task, &NoObserver).unwrap();
            let verified = verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, 0).unwrap();
            let context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
            let measures = Measures::of(&context);
            ["lm", "ncp"].map(|name| measures.get(name).unwrap())
        };
        let ([lm, ncp_of_lm], [lm_of_ncp, ncp]) = (lost("lm"), lost("ncp"));
        assert!(lm <= lm_of_ncp && ncp <= ncp_of_lm, "{}: {lm} {lm_of_ncp} {ncp} {ncp_of_lm}", entry.name);
        assert!(entry.name != "sweep" || (lm < lm_of_ncp && ncp < ncp_of_lm), "{lm} {ncp}: both the same");
    }
}
