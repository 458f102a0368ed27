//! `anonymize` and `check` with the kinds of privacy models that the registry does not contain: models that judge the
//! table as a whole, need a second table, or are not closed under union.

use std::{
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use moretta_core::{
    observer::{NoObserver, Note, Observer},
    policy::MethodChoice,
    privacy::PrivacyModel,
    search::method_names,
    testing::models::{AverageRisk, KMap, LaxDisclosure},
};
use moretta_engine::Target;
use moretta_flow::{Checked, ErrorKind, FlowError, LoadedPolicy, ReleaseOptions, Resources, Session};

/// Collects the notes of a job.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, note: &Note) {
        self.0.lock().expect("the notes").push(note.to_string());
    }
}

const POLICY: &str = "version = 1\n[privacy]\nk = 2\n[columns]\nname.role = \"identifier\"\n\
                      age.role = \"quasi-identifier\"\nzip.role = \"quasi-identifier\"\nill.role = \"sensitive\"\n";

/// A CSV table of `count` people. A larger table starts with the same people.
fn people(count: usize) -> String {
    let row = |n: usize| format!("p{n},{},1{}0,i{}\n", 20 + 7 * n % 50, n % 4, n * n % 5 % 3);
    (0..count).map(row).fold("name,age,zip,ill\n".to_owned(), |table, row| table + &row)
}

/// Writes a policy, a table of 200 people and a register of these and 200 other people. Returns the policy with this
/// method and this additional model.
fn loaded(folder: &Path, method: &str, model: impl PrivacyModel) -> LoadedPolicy {
    fs::write(folder.join("policy.toml"), POLICY).expect("a policy file");
    fs::write(folder.join("people.csv"), people(200)).expect("a table");
    fs::write(folder.join("register.csv"), people(400)).expect("a register");
    let mut loaded = LoadedPolicy::read(&folder.join("policy.toml")).expect("a policy");
    loaded.policy.method = MethodChoice::new(method, Default::default());
    loaded.policy.privacy.models.push(Arc::new(model));
    loaded
}

/// Releases the table of people. Checks the released file, then the original table.
fn release_and_check(folder: &Path, loaded: &LoadedPolicy, notes: &Notes) -> Result<(Checked, Checked), FlowError> {
    let session = Session::new(Resources::default(), notes)?;
    let path = |name: &str| folder.join(name).display().to_string();
    let options = ReleaseOptions { seed: Some(1.into()), ..ReleaseOptions::default() };
    let engine = session.open(&path("people.csv").into(), &loaded.policy.input)?;
    let target = Target { overwrite: true, ..Target::new(folder.join("released.csv"))? };
    let release = session.release(&engine, loaded, &target, &options)?;
    assert_eq!(release.report.privacy.models.len(), loaded.policy.privacy.models.len());
    assert!(release.report.privacy.models.iter().all(|model| model.holds));
    let released = session.open(&path("released.csv").into(), &loaded.policy.input)?;
    let checked = session.check_records(&released, loaded)?;
    assert_eq!(checked.privacy.models, release.report.privacy.models);
    Ok((checked, session.check_records(&engine, loaded)?))
}

#[test]
fn every_method_satisfies_a_model_of_the_whole_table() {
    for method in method_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let loaded = loaded(folder.path(), method, AverageRisk { max_risk: 0.1 });
        let notes = Notes::default();
        let (released, original) = release_and_check(folder.path(), &loaded, &notes).expect(method);
        assert!(released.holds() && released.groups <= 20, "{method}: {}", released.groups);
        assert!(!original.holds() && original.judgements[1].failing_groups == 0, "no single group is at fault");
        assert_eq!(original.judgements[1].worst, format!("average risk {:.3}", original.groups as f64 / 200.0));
        let notes = notes.0.into_inner().expect("the notes");
        assert!(notes.iter().any(|note| note.starts_with("groups have at least ")), "{method}: {notes:?}");
    }
}

#[test]
fn nothing_is_released_if_a_model_of_the_whole_table_cannot_hold() {
    let folder = tempfile::tempdir().expect("a folder");
    let loaded = loaded(folder.path(), "mondrian", AverageRisk { max_risk: 0.001 });
    let error = release_and_check(folder.path(), &loaded, &Notes::default())
        .expect_err("a single group has an average risk of 1 / 200");
    assert_eq!(error.kind, ErrorKind::Unsatisfied);
    assert!(error.message.contains("average risk 0.005"), "{error}");
    assert!(!folder.path().join("released.csv").exists());
}

/// A step of a generalization path is released unchanged. A path does not evaluate models of the whole table, and the
/// groups that it merges may together violate a model that is not closed under union.
#[test]
fn a_step_of_a_path_is_refused_with_models_that_the_path_cannot_guarantee() {
    let folder = tempfile::tempdir().expect("a folder");
    let method = "bottom-up-generalization";
    let lax = LaxDisclosure { column: "ill".to_owned(), delta: 0.4, claims_closure: false };
    for (loaded, expected) in [
        (loaded(folder.path(), method, AverageRisk { max_risk: 0.1 }), "judges the table as a whole"),
        (loaded(folder.path(), method, lax), "may violate it together; use `best`"),
    ] {
        let session = Session::new(Resources::default(), &NoObserver).expect("a session");
        let people = folder.path().join("people.csv").display().to_string();
        let engine = session.open(&(&*people).into(), &loaded.policy.input).expect("a table");
        let target = Target::new(folder.path().join("released.csv")).expect("a target");
        let options = ReleaseOptions { at: Some(3), ..ReleaseOptions::default() };
        let error =
            session.release(&engine, &loaded, &target, &options).expect_err("the path cannot guarantee the model");
        assert!(error.message.contains(expected) && !folder.path().join("released.csv").exists(), "{error}");
    }
}

#[test]
fn releases_satisfy_a_model_with_a_second_table() {
    for method in ["best", "sweep", "bottom-up-generalization", "genetic"] {
        let folder = tempfile::tempdir().expect("a folder");
        let model = KMap { k: 9, population: "register.csv".to_owned() };
        let loaded = loaded(folder.path(), method, model);
        let (released, original) = release_and_check(folder.path(), &loaded, &Notes::default()).expect(method);
        assert!(released.holds() && !original.holds(), "{method}");
        assert!(released.smallest < 9, "{method}: a group may be smaller than 9 if 9 people of the register match it");
    }
}

#[test]
fn nothing_is_released_if_the_second_table_is_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let loaded = loaded(folder.path(), "sweep", KMap { k: 9, population: "missing.csv".to_owned() });
    let error = release_and_check(folder.path(), &loaded, &Notes::default()).expect_err("the register does not exist");
    assert!(error.message.contains("missing.csv") && !folder.path().join("released.csv").exists(), "{error}");
}

#[test]
fn best_and_genetic_accept_a_model_that_is_not_closed_under_union() {
    let lax = || LaxDisclosure { column: "ill".to_owned(), delta: 0.4, claims_closure: false };
    let accepting = ["best", "genetic"];
    for method in accepting {
        let folder = tempfile::tempdir().expect("a folder");
        let accepted = loaded(folder.path(), method, lax());
        let (released, original) = release_and_check(folder.path(), &accepted, &Notes::default()).expect(method);
        assert!(released.holds() && released.groups > 1 && !original.holds(), "{method}");
    }
    for method in method_names().into_iter().filter(|method| !accepting.contains(method)) {
        let folder = tempfile::tempdir().expect("a folder");
        let result = release_and_check(folder.path(), &loaded(folder.path(), method, lax()), &Notes::default());
        let message = result.expect_err(method).message;
        assert!(message.contains("may violate it together; use `best`"), "{method}: {message}");
        assert!(!folder.path().join("released.csv").exists());
    }
}
