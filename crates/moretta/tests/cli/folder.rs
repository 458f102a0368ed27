//! Runs the program in a temporary folder per test.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

pub const PEOPLE: &str = "\
name,age,sex,zip,diagnosis
Ann,34,f,53711,flu
Ben,36,m,53712,asthma
Cat,34,f,53711,diabetes
Dan,51,m,53713,flu
Eve,47,f,53713,asthma
Fay,36,f,53712,flu
Gus,51,m,53711,diabetes
Hal,47,m,53712,asthma
";

pub const POLICY: &str = r#"version = 1

[privacy]
k = 2

[method]
name = "mondrian"

[columns.name]
role = "identifier"

[columns.age]
role = "quasi-identifier"
type = "number"

[columns.sex]
role = "quasi-identifier"

[columns.zip]
role = "quasi-identifier"
type = "category"
hierarchy = "zip.csv"

[columns.diagnosis]
role = "sensitive"
"#;

pub const ZIP: &str = "53711;5371*;*\n53712;5371*;*\n53713;5371*;*\n";

pub struct Folder {
    dir: TempDir,
}

/// Output and exit code of a run.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    /// Creates a folder with a table of eight people, a policy and a hierarchy.
    pub fn with_people() -> Self {
        let folder = Self::empty();
        folder.write("people.csv", PEOPLE).write("policy.toml", POLICY).write("zip.csv", ZIP);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Replaces a text of a file, which must occur.
    pub fn edit(&self, name: &str, from: &str, to: &str) -> &Self {
        let text = self.read(name);
        assert!(text.contains(from), "{name} has no {from:?}");
        self.write(name, text.replace(from, to))
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_moretta"));
        command.current_dir(self.dir.path()).args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        Run {
            code: status.code().unwrap_or(-1),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(stderr).unwrap(),
        }
    }

    /// Runs a command that must succeed; returns its standard output.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        run.stdout
    }

    pub fn anonymize(&self, more: &[&str]) -> Run {
        let mut arguments = vec!["anonymize", "people.csv", "--policy", "policy.toml", "--output", "out.csv"];
        arguments.extend(more);
        self.run(&arguments)
    }

    /// Returns all files with their contents.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut open = vec![self.dir.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    let content = fs::read(&path).unwrap();
                    files.insert(path.strip_prefix(self.dir.path()).unwrap().to_owned(), content);
                }
            }
        }
        files
    }
}

/// Returns the folder of the real data; if there is none, prints that the test is skipped.
pub fn real_data(test: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from);
    if data.join("adult/adult_train.csv").is_file() {
        return Some(data);
    }
    eprintln!("SKIPPED {test}: no data at {}; set MORETTA_DATA to the folder that has adult/", data.display());
    None
}
