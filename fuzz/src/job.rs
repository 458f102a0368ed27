//! Requests of a case, which run in this process or as command lines of the program.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use moretta_core::{
    hierarchy::{
        HierarchyChoice, ValueParser,
        numeric::{Builder, Built},
    },
    observer::{Note, Observer},
    schema::Kind,
};
use moretta_flow::{
    Anonymize, Apply, BuildHierarchy, Check, CheckHierarchy, Earlier, FindTradeOff, FlowError, Inferences, Init,
    LinkReleases, Measure, Output, OutputFile, Queries, ReleaseOptions, Resources, Session,
};

/// Limit of a search. A mutated policy may ask for billions of iterations; without a limit that would be no fault.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// A request. File names are relative to the folder of the case.
#[derive(Debug, Clone)]
pub enum Job {
    /// Drafts a policy.
    Init { input: &'static str },
    /// Makes a release, with its recoding and report if `extras`, and judges it together with an earlier one.
    Anonymize {
        input: &'static str,
        output: &'static str,
        seed: u64,
        threads: u16,
        extras: bool,
        earlier: Option<&'static str>,
    },
    /// Links two releases.
    Linkage { releases: [&'static str; 2], original: Option<&'static str> },
    /// Checks a release.
    Check { released: &'static str },
    /// Measures a release.
    Measure { original: &'static str, released: &'static str },
    /// Answers the queries of a file, or random ones.
    Queries { original: &'static str, released: &'static str, queries: Option<&'static str> },
    /// Applies the saved recoding `recoding.json`.
    Apply { input: &'static str, output: &'static str },
    /// Lists inferences.
    Inferences { input: &'static str },
    /// Follows a generalization path.
    Frontier { input: &'static str },
    /// Builds a hierarchy over numbers.
    BuildHierarchy { input: &'static str, column: String },
    /// Compares a hierarchy file with a column.
    CheckHierarchy { file: String, input: &'static str, column: String },
}

/// The policy of every case.
pub const POLICY: &str = "policy.toml";
/// The saved recoding of every case.
pub const RECODING: &str = "recoding.json";
/// The reports that `extras` asks for.
pub const REPORTS: [&str; 2] = ["report.json", "report.html"];

/// Result of a request, as far as the judge needs it.
#[derive(Debug)]
pub enum Answer {
    /// Done.
    Done,
    /// A file was checked: whether it satisfies the policy.
    Checked(bool),
}

/// Collects notes, which are shown to the user like errors.
#[derive(Default)]
pub struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, note: &Note) {
        if let Ok(mut notes) = self.0.lock() {
            notes.push(note.to_string());
        }
    }
}

impl Notes {
    /// All notes, one per line.
    pub fn text(&self) -> String {
        self.0.lock().map(|notes| notes.join("\n")).unwrap_or_default()
    }
}

impl Job {
    /// The release that the request writes.
    pub fn output(&self) -> Option<&'static str> {
        match self {
            Self::Anonymize { output, .. } | Self::Apply { output, .. } => Some(output),
            _ => None,
        }
    }

    /// All files that the request may write.
    pub fn writes(&self) -> Vec<&'static str> {
        let extras: &[&str] = match self {
            Self::Anonymize { extras: true, .. } => &[RECODING, REPORTS[0], REPORTS[1]],
            _ => &[],
        };
        self.output().into_iter().chain(extras.iter().copied()).collect()
    }

    /// Runs the request in this process.
    pub fn run(&self, folder: &Path, observer: &dyn Observer) -> Result<Answer, FlowError> {
        let path = |name: &str| folder.join(name);
        let input = |name: &str| path(name).display().to_string();
        let policy = path(POLICY);
        let threads = match self {
            Self::Anonymize { threads, .. } => *threads,
            _ => 1,
        };
        let session = Session::new(Resources { threads: Some(threads), ..Resources::default() }, observer)?;
        match self {
            Self::Init { input: name } => {
                session.init(&Init { input: input(name), output: OutputFile::default() }).map(|_| Answer::Done)
            }
            Self::Anonymize { input: name, output, seed, extras, earlier, .. } => {
                let reports = if *extras { REPORTS.iter().map(|name| path(name)).collect() } else { Vec::new() };
                let request = Anonymize {
                    input: input(name),
                    policy,
                    output: Output { release: path(output), reports, overwrite: false },
                    recoding: extras.then(|| path(RECODING)),
                    earlier: Earlier { releases: earlier.iter().map(|name| input(name)).collect(), warn: true },
                    options: ReleaseOptions {
                        seed: Some((*seed).into()),
                        keep_order: true,
                        time_limit: Some(TIME_LIMIT),
                        ..ReleaseOptions::default()
                    },
                };
                session.anonymize(&request).map(|_| Answer::Done)
            }
            Self::Linkage { releases, original } => {
                let releases = releases.iter().map(|name| input(name)).collect();
                let request = LinkReleases { releases, policy, original: original.map(input) };
                session.linkage(&request).map(|_| Answer::Done)
            }
            Self::Check { released } => {
                let checked = session.check(&Check { released: input(released), policy })?;
                Ok(Answer::Checked(checked.holds()))
            }
            Self::Measure { original, released } => session
                .measure(&Measure { original: input(original), released: input(released), policy })
                .map(|_| Answer::Done),
            Self::Queries { original, released, queries } => {
                let request = Queries {
                    original: input(original),
                    released: input(released),
                    policy,
                    queries: queries.map(path),
                    count: 20,
                    columns: None,
                    sum: None,
                    seed: 1,
                    output: OutputFile::default(),
                };
                session.queries(&request).map(|_| Answer::Done)
            }
            Self::Apply { input: name, output } => {
                let request = Apply {
                    input: input(name),
                    recoding: path(RECODING),
                    output: Output { release: path(output), reports: Vec::new(), overwrite: false },
                    seed: Some(1.into()),
                    keep_order: true,
                    compare: false,
                    time_limit: None,
                };
                session.apply(&request).map(|_| Answer::Done)
            }
            Self::Inferences { input: name } => {
                let output = OutputFile::default();
                let request = Inferences { input: input(name), policy, above: 0.5, max_listed: Some(20), output };
                session.inferences(&request).map(|_| Answer::Done)
            }
            Self::Frontier { input: name } => {
                let request = FindTradeOff { input: input(name), policy, seed: 1, output: OutputFile::default() };
                session.find_trade_off(&request).map(|_| Answer::Done)
            }
            Self::BuildHierarchy { input: name, column } => {
                let request = BuildHierarchy {
                    input: input(name),
                    column: column.clone(),
                    missing: Vec::new(),
                    reading: ValueParser::new(Kind::Number, None),
                    choice: HierarchyChoice::Built(Built { builder: Builder::Iotf, levels: None }),
                    output: OutputFile::default(),
                };
                session.build_hierarchy(&request).map(|_| Answer::Done)
            }
            Self::CheckHierarchy { file, input: name, column } => {
                let request = CheckHierarchy {
                    file: path(file),
                    input: input(name),
                    column: Some(column.clone()),
                    missing: Vec::new(),
                };
                session.check_hierarchy(&request).map(|_| Answer::Done)
            }
        }
    }

    /// The command line of the request, to be run in the folder of the case.
    pub fn arguments(&self) -> Vec<String> {
        let limit = format!("{}s", TIME_LIMIT.as_secs());
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match self {
            Self::Init { input } => words(&["init", input]),
            Self::Anonymize { input, output, seed, threads, extras, earlier } => {
                let (seed, threads) = (seed.to_string(), threads.to_string());
                let mut all = words(&["anonymize", input, "--policy", POLICY, "--output", output, "--keep-order"]);
                all.extend(words(&["--seed", &seed, "--threads", &threads, "--time-limit", &limit]));
                if *extras {
                    all.extend(words(&["--recoding", RECODING, "--report", REPORTS[0], "--report", REPORTS[1]]));
                }
                if let Some(release) = earlier {
                    all.extend(words(&["--earlier", release, "--if-linkable", "warn"]));
                }
                all
            }
            Self::Linkage { releases: [one, two], original } => {
                let mut all = words(&["linkage", one, two, "--policy", POLICY]);
                all.extend(original.iter().flat_map(|file| words(&["--original", file])));
                all
            }
            Self::Check { released } => words(&["check", released, "--policy", POLICY, "--threads", "1"]),
            Self::Measure { original, released } => words(&["measure", original, released, "--policy", POLICY]),
            Self::Queries { original, released, queries } => {
                let mut all = words(&["queries", original, released, "--policy", POLICY]);
                all.extend(match queries {
                    Some(file) => words(&["--queries", file]),
                    None => words(&["--count", "20", "--seed", "1"]),
                });
                all
            }
            Self::Apply { input, output } => {
                words(&["apply", input, "--recoding", RECODING, "--output", output, "--seed", "1", "--keep-order"])
            }
            Self::Inferences { input } => words(&["inferences", input, "--policy", POLICY]),
            Self::Frontier { input } => words(&["frontier", input, "--policy", POLICY]),
            Self::BuildHierarchy { input, column } => {
                words(&["hierarchy", "build", input, "--column", column, "--method", "iotf"])
            }
            Self::CheckHierarchy { file, input, column } => {
                words(&["hierarchy", "check", file, input, "--column", column])
            }
        }
    }
}

/// Names of all files of a folder, hidden ones too, sorted.
pub fn listing(folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(Result::ok).map(|entry| entry.file_name().into()).collect())
        .unwrap_or_default();
    names.sort();
    names
}
