//! Rules for all crates of the workspace, and the bill of materials.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use serde_json::Value;

/// Asked at run time: clones that share a build directory may share the compiled test.
fn root() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("..")
}

/// Output of `cargo` in the workspace.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().expect("cargo");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().expect("a text")
}

fn items(value: &Value) -> &Vec<Value> {
    value.as_array().expect("a list")
}

/// The lint level `forbid` cannot be overridden by an attribute; what remains is a crate that does not inherit it.
#[test]
fn unsafe_code_is_forbidden_in_every_crate() {
    let manifest =
        |path: &PathBuf| -> toml::Table { fs::read_to_string(path).expect("a manifest").parse().expect("TOML") };
    let workspace = manifest(&root().join("Cargo.toml"));
    assert_eq!(workspace["workspace"]["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
    let metadata = cargo(&["metadata", "--format-version", "1", "--locked", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let members = items(&metadata["packages"]);
    assert!(members.len() >= 12, "{} members", members.len());
    for member in members {
        let path = PathBuf::from(text(member, "manifest_path"));
        let inherits = manifest(&path).get("lints").and_then(|lints| lints.get("workspace")?.as_bool());
        assert_eq!(inherits, Some(true), "{}: add `[lints]` with `workspace = true`", path.display());
    }
}

#[test]
fn the_bill_of_materials_lists_the_packages_that_the_program_uses() {
    let output = Command::new(env!("CARGO_BIN_EXE_moretta-supply-chain")).output().expect("the bill");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bill: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((text(&bill, "bomFormat"), text(&bill, "specVersion")), ("CycloneDX", "1.5"));
    let program = &bill["metadata"]["component"];
    assert_eq!(text(program, "name"), "moretta");
    let target = text(&bill["metadata"]["properties"][0], "value");

    // The flat list of the packages of a build, in which features are resolved as in the build.
    let arguments = ["tree", "--locked", "--package", "moretta", "--edges", "normal,build", "--prefix", "none"];
    let built: BTreeSet<String> = cargo(&[&arguments[..], &["--format", "{p}", "--target", target]].concat())
        .lines()
        .filter_map(|line| line.split_once(" v"))
        .map(|(name, rest)| format!("{name}@{}", rest.split(' ').next().expect("a version")))
        .collect();
    let components = items(&bill["components"]).iter().chain([program]);
    let listed: BTreeSet<String> =
        components.clone().map(|part| format!("{}@{}", text(part, "name"), text(part, "version"))).collect();
    assert_eq!(listed, built);
    assert!(
        listed.iter().any(|part| part.starts_with("parquet@")) && !listed.iter().any(|part| part.starts_with("insta@"))
    );
    let lock: toml::Table = fs::read_to_string(root().join("Cargo.lock")).expect("lock").parse().expect("TOML");
    for part in components {
        let locked = lock["package"].as_array().expect("packages").iter().find(|package| {
            package["name"].as_str() == part["name"].as_str() && package["version"].as_str() == part["version"].as_str()
        });
        let sum = locked.expect("every package is locked").get("checksum").and_then(toml::Value::as_str);
        assert_eq!(part["hashes"][0]["content"].as_str(), sum, "{part}");
        assert!(!text(&part["licenses"][0], "expression").is_empty(), "{part}");
    }
    // Every reference of the dependencies is a component.
    let references: BTreeSet<&str> = items(&bill["dependencies"]).iter().map(|entry| text(entry, "ref")).collect();
    assert_eq!(references.len(), listed.len());
    for entry in items(&bill["dependencies"]) {
        assert!(
            items(&entry["dependsOn"]).iter().all(|on| references.contains(on.as_str().expect("a text"))),
            "{entry}"
        );
    }
}
