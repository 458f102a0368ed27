use moretta_core::{run::RunError, verify::VerifyError};

use super::{
    Comparison, FIGURES, Refused, caveats,
    testing::{comparison, comparison_with_rarest, refused_by_rarest},
    verdicts,
};

#[test]
fn what_a_template_learned_is_for_the_data_holder_alone() {
    let by_rarest = refused_by_rarest();
    assert!(by_rarest.detail.contains("gout") && by_rarest.unsatisfied, "{by_rarest:?}");
    assert!(!by_rarest.unsupported.contains("gout"), "{by_rarest:?}");
    assert!(serde_json::to_string(&comparison_with_rarest()).unwrap().contains("gout"));
    let unverified = Refused::by(&RunError::Verify(VerifyError::NotCovered { column: "ill".to_owned() }));
    assert_eq!((unverified.unsupported.as_str(), unverified.unsatisfied), ("its result violates the policy", true));
    assert!(!unverified.detail.contains("written"), "{unverified:?}");
}

#[test]
fn json_comes_back_as_it_was() {
    let before = comparison();
    let text = serde_json::to_string(&before).unwrap();
    let after: Comparison = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&after).unwrap(), text);
    assert!(after.rows[2].found.is_none() && after.rows[0].found.is_some());
    assert_eq!(after.value(&FIGURES[0], "mondrian", Some(50)), Some(0.7));
}

#[test]
fn verdicts_put_neighboring_k_together() {
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
