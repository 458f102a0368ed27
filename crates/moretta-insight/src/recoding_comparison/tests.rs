//! Both releases are measured on the same ranges: values computed by hand.

use moretta_core::{
    counts::Counts,
    policy::{Policy, bind_all},
    recoding::{Cut, Recoding},
    saved::Saved,
    search::{NoObserver, method_names},
    testing::counts,
    verify::verify_against,
};

use super::*;

fn parse(method: &str, columns: &str) -> Policy {
    let text =
        format!("version = 1\n[privacy]\nk = 2\nmax-suppressed = 1.0\n[method]\n{method}\n[columns]\n{columns}\n");
    Policy::parse(&text, &method_names()).unwrap()
}

fn found(policy: &Policy, counts: &Counts) -> (Profile, Recoding, Stop) {
    let profile = Profile::build(policy, &Default::default(), counts).unwrap();
    let VerifiedRun { verified, stop, .. } = VerifiedRun::run(policy, &profile, 1, &NoObserver).unwrap();
    let recoding = verified.recoding().clone();
    (profile, recoding, stop)
}

/// A recoding of some rows, applied to others and compared there.
fn compared(policy: &Policy, saved: &Saved, rows: &[(&str, u64)]) -> Compared {
    let mut counts = counts(policy, rows);
    let fresh = Profile::build(&saved.policy, &saved.hierarchies, &counts).unwrap();
    let profile = saved.profile(&mut counts).unwrap();
    let models = bind_all(&saved.policy, &profile).unwrap();
    let recoding = saved.apply(&profile, &models);
    let verified = verify_against(&profile, recoding, &models, &saved.policy, u64::MAX).unwrap();
    compare_with_fresh(&verified, &fresh, 1, &NoObserver)
}

fn saved(policy: &Policy, rows: &[(&str, u64)]) -> Saved {
    let (profile, recoding, _) = found(policy, &counts(policy, rows));
    Saved::of(policy, &Default::default(), &profile, &recoding)
}

fn value(compared: &Compared, name: &str) -> Both<f64> {
    compared.measures.iter().find(|measure| measure.name == name).unwrap().value
}

const AGE: &str = "age = { role = \"quasi-identifier\", type = \"number\" }";
const BUG: &str = "name = \"bottom-up-generalization\"";

#[test]
fn on_the_records_it_was_made_for_a_cut_is_as_good_as_itself() {
    let rows: Vec<String> = (0..60).map(|i| format!("{},{},{}", i * i % 47, i % 7, ["x", "y"][i % 2])).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    for hierarchy in ["", ", hierarchy = \"iotf\"", ", hierarchy = \"equal-frequency\""] {
        let columns = format!(
            "a = {{ role = \"quasi-identifier\", type = \"number\"{hierarchy} }}\nb = {{ role = \"quasi-identifier\", \
             type = \"category\" }}\nc.role = \"class\""
        );
        let policy = parse(BUG, &columns);
        let saved = saved(&policy, &rows);
        let compared = compared(&policy, &saved, &rows);
        assert_eq!(compared.stop, Some(Stop::Finished));
        assert_eq!(Some(compared.suppressed_rows.applied), compared.suppressed_rows.fresh, "{hierarchy}");
        assert_eq!(compared.measures.len(), 2, "lm and cm");
        for MeasuredBoth { name, value, .. } in &compared.measures {
            assert!((value.applied - value.fresh.unwrap()).abs() < 1e-12, "{hierarchy} {name} {value:?}");
        }
    }
}

/// A cut with the given intervals, saved.
fn of_intervals(policy: &Policy, values: &[&str], ends: &[(u32, u32)]) -> Saved {
    let rows: Vec<(&str, u64)> = values.iter().map(|value| (*value, 2)).collect();
    let profile = Profile::build(policy, &Default::default(), &counts(policy, &rows)).unwrap();
    let domain = &profile.columns()[0].domain;
    let cell = |code: u32| ends.iter().find(|(first, last)| (*first..=*last).contains(&code)).unwrap();
    let cells = (0..domain.len() as u32).map(|code| domain.cover(cell(code).0, cell(code).1)).collect();
    let recoding = Recoding::Global(Cut { cells: vec![cells], suppressed: Vec::new() });
    Saved::of(policy, &Default::default(), &profile, &recoding)
}

#[test]
fn an_interval_loses_what_it_prints_within_the_range_of_the_records() {
    let policy = parse(BUG, AGE);
    let saved = of_intervals(&policy, &["0", "10", "20", "100"], &[(0, 1), (2, 3)]);
    // [0, 10] prints 4 to 10 of 4 to 44 here, [20, 100] prints 20 to 44: shares of 6/40 and 24/40.
    let compared = compared(&policy, &saved, &[("4", 2), ("6", 2), ("30", 2), ("44", 2)]);
    let lm = value(&compared, "lm");
    assert!((lm.applied - (6.0 / 40.0 + 24.0 / 40.0) / 2.0).abs() < 1e-12, "{lm:?}");
    assert_eq!(lm.fresh, Some(0.0), "each value is there twice");
    assert_eq!((lm.worse(), compared.suppressed_rows), (Some((lm.applied, None)), Both { applied: 0, fresh: Some(0) }));
}

#[test]
fn intervals_that_are_the_hierarchy_lose_what_they_print_too() {
    let policy = parse(BUG, "age = { role = \"quasi-identifier\", type = \"number\", hierarchy = \"equal-width\" }");
    let rows: Vec<String> = (0..=100).map(|age| age.to_string()).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let saved = saved(&policy, &rows);
    let new = [("3", 2), ("33", 2), ("66", 2), ("90", 2)];
    let mut counted = counts(&policy, &new);
    let fresh = Profile::build(&saved.policy, &saved.hierarchies, &counted).unwrap();
    let profile = saved.profile(&mut counted).unwrap();
    let scaled = profile.on_scale_of(&fresh);
    let domain = &scaled.columns()[0].domain;
    let tree = domain.tree().unwrap();
    let mut inner = 0;
    for node in (0..tree.len() as u32).map(moretta_core::ids::NodeId).filter(|node| tree.label(*node).starts_with('['))
    {
        let (low, high) = moretta_core::hierarchy::interval_ends(tree.label(node)).unwrap();
        let [low, high] = [low, high].map(|end| end.parse::<f64>().unwrap().clamp(3.0, 90.0));
        assert!((domain.lm(domain.node_cell(node)) - (high - low) / 87.0).abs() < 1e-12, "{}", tree.label(node));
        inner += 1;
    }
    assert!(inner > 0);
    assert_eq!(domain.lm(domain.whole()), 1.0);
}

#[test]
fn values_in_no_interval_are_suppressed_and_not_anew() {
    let policy = parse(BUG, AGE);
    let saved = of_intervals(&policy, &["0", "10", "20", "30"], &[(0, 1), (2, 3)]);
    let compared = compared(&policy, &saved, &[("5", 3), ("12", 1), ("40", 2)]);
    assert_eq!(compared.suppressed_rows.applied, 3);
    let lm = value(&compared, "lm");
    assert!((lm.applied - (3.0 * 5.0 / 35.0 + 3.0) / 6.0).abs() < 1e-12, "{lm:?}");
    assert!(lm.fresh.unwrap() < lm.applied);
}

#[test]
fn a_column_that_is_constant_here_has_nothing_to_lose() {
    let columns = "a = { role = \"quasi-identifier\", type = \"category\" }\nb.role = \"quasi-identifier\"";
    let policy = parse(BUG, columns);
    let rows = [("x,1", 1), ("y,1", 1), ("z,2", 2)];
    let compared = compared(&policy, &saved(&policy, &rows), &[("x,1", 2), ("x,2", 2)]);
    let lm = value(&compared, "lm");
    assert!(lm.applied <= 1.0, "{lm:?}");
}

#[test]
fn the_policys_goals_come_first_and_lm_and_cm_only_once() {
    let columns = "a.role = \"quasi-identifier\"\nn = { role = \"sensitive\", type = \"number\" }\nc.role = \"class\"";
    let small = "name = \"genetic\"\npopulation = 20\niterations = 200";
    let rows = [("1,1,x", 2), ("2,2,y", 3), ("3,3,x", 1)];
    for (measure, names) in [
        ("", &["lm", "cm"][..]),
        ("[measure]\nname = \"ncp\"", &["ncp", "lm", "cm"]),
        ("[[measure]]\nname = \"cm\"\n[[measure]]\nname = \"rm\"\ncolumn = \"n\"", &["cm", "rm", "lm"]),
    ] {
        let policy = parse(&format!("{small}\n{measure}"), columns);
        let compared = compared(&policy, &saved(&policy, &rows), &rows);
        let found: Vec<&str> = compared.measures.iter().map(|measure| measure.name).collect();
        assert_eq!(found, names);
        assert!(compared.measures.iter().all(|measure| measure.value.fresh.is_some()));
    }
}

#[test]
fn a_search_that_cannot_be_made_here_says_why() {
    let columns = "a.role = \"quasi-identifier\"\nn.role = \"sensitive\"";
    let measure = "[measure]\nname = \"rm\"\ncolumn = \"n\"";
    let policy = parse(&format!("name = \"genetic\"\npopulation = 20\niterations = 200\n{measure}"), columns);
    let saved = saved(&policy, &[("1,1", 2), ("2,2", 2)]);
    let compared = compared(&policy, &saved, &[("1,many", 2), ("2,2", 2)]);
    assert!(compared.refused.as_deref().is_some_and(|reason| reason.contains("`n`")), "{compared:?}");
    assert_eq!((compared.stop, compared.suppressed_rows), (None, Both { applied: 0, fresh: None }));
    assert_eq!(compared.measures.iter().map(|measure| measure.name).collect::<Vec<_>>(), ["lm"]);
}
