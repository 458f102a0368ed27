//! Prints the software bill of materials of the program `moretta`: CycloneDX 1.5 in JSON.
//!
//! It lists every package that `cargo` compiles into the program or runs to build it (procedural macros and build
//! scripts), for one platform, with version, license, checksum and dependencies. Dependencies of tests are not listed.
//! There is no time stamp and no random serial number, so that the same sources give the same bytes.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    path::PathBuf,
    process::{Command, ExitCode},
};

use serde_json::{Value, json};

/// Package of the program.
const PROGRAM: &str = "moretta";

type Failure = Box<dyn Error>;

/// The folder of the workspace. Asked at run time: clones that share a build directory may share the program.
fn root() -> Result<PathBuf, Failure> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("run ./sbom")?;
    Ok(PathBuf::from(manifest).join(".."))
}

/// Output of `cargo` in the workspace.
fn cargo(arguments: &[&str]) -> Result<String, Failure> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program).args(arguments).current_dir(root()?).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// A text of a JSON object; empty if it is absent.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Package URL: the identity of a package in the bill.
fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version"))
}

/// Checksums of `Cargo.lock` by name and version.
fn checksums() -> Result<BTreeMap<(String, String), String>, Failure> {
    let lock: toml::Table = std::fs::read_to_string(root()?.join("Cargo.lock"))?.parse()?;
    let field = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    let entry = |package: &toml::Value| {
        Some(((field(package, "name")?, field(package, "version")?), field(package, "checksum")?))
    };
    Ok(lock.get("package").and_then(toml::Value::as_array).into_iter().flatten().filter_map(entry).collect())
}

/// Dependencies of each package that the program needs on a platform, by `name version`, from `cargo tree`, which
/// resolves features as a build does.
fn tree(target: &str) -> Result<BTreeMap<String, BTreeSet<String>>, Failure> {
    let edges = ["--edges", "normal,build", "--prefix", "depth", "--format", " {p}"];
    let output = cargo(&[&["tree", "--locked", "--package", PROGRAM, "--target", target], &edges[..]].concat())?;
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut path: Vec<String> = Vec::new();
    for line in output.lines().filter(|line| !line.is_empty()) {
        let (depth, package) = line.split_once(' ').ok_or("unexpected output of cargo tree")?;
        let depth: usize = depth.parse()?;
        let mut words = package.split(' ');
        let (name, version) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let key = format!("{name} {}", version.trim_start_matches('v'));
        path.truncate(depth);
        if let Some(parent) = path.last() {
            needs.entry(parent.clone()).or_default().insert(key.clone());
        }
        needs.entry(key.clone()).or_default();
        path.push(key);
    }
    Ok(needs)
}

/// The platform of this machine.
fn host() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8(output.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not name the host")?;
    Ok(host.to_owned())
}

/// The bill of materials for a platform.
fn bill(target: &str) -> Result<Value, Failure> {
    let needs = tree(target)?;
    let metadata: Value = serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--locked"])?)?;
    let checksums = checksums()?;
    let (mut program, mut components, mut dependencies) = (Value::Null, Vec::new(), Vec::new());
    let packages: BTreeMap<String, &Value> = items(&metadata["packages"])
        .map(|package| (format!("{} {}", text(package, "name"), text(package, "version")), package))
        .collect();
    for (key, needed) in &needs {
        let package = packages.get(key).ok_or_else(|| format!("cargo metadata has no package {key}"))?;
        let reference = purl(package);
        let mut component = json!({
            "type": if text(package, "name") == PROGRAM { "application" } else { "library" },
            "bom-ref": reference,
            "name": package["name"],
            "version": package["version"],
            "purl": reference,
            // Old packages write `MIT/Apache-2.0`, which is not an SPDX expression.
            "licenses": [{ "expression": text(package, "license").replace('/', " OR ") }],
        });
        if let Some(sum) = checksums.get(&(text(package, "name").to_owned(), text(package, "version").to_owned())) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        let references: Result<Vec<String>, String> = needed
            .iter()
            .map(|key| packages.get(key).map(|package| purl(package)).ok_or(format!("no package {key}")))
            .collect();
        dependencies.push(json!({ "ref": reference, "dependsOn": references? }));
        if text(package, "name") == PROGRAM { program = component } else { components.push(component) }
    }
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": program, "properties": [{ "name": "target", "value": target }] },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn run() -> Result<String, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let target = match &arguments[..] {
        [] => host()?,
        [flag, target] if flag == "--target" => target.clone(),
        _ => return Err("usage: ./sbom [--target TRIPLE]".into()),
    };
    Ok(serde_json::to_string_pretty(&bill(&target)?)?)
}

fn main() -> ExitCode {
    match run() {
        Ok(bill) => {
            println!("{bill}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
