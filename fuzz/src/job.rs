//! Requests of a case, which run in this process or as command lines of the program.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use moretta_core::{
    hierarchy::{
        HierarchyChoice, ValueParser,
        draw::{self, DrawOptions},
        numeric::{Builder, Built},
    },
    observer::{Note, Observer},
    schema::Kind,
};
use moretta_flow::{
    Anonymize, Apply, BuildHierarchy, Check, CheckHierarchy, Compare, ConvertHierarchy, Earlier, Evaluate, FindBound,
    FindRisks, FindTradeOff, FlowError, Inferences, Init, Input, LinkReleases, Measure, Output, OutputFile,
    PolicySource, Queries, ReleaseOptions, Resources, Session, SplitOptions, read_hierarchy,
};

/// Limit of a search. A mutated policy may ask for billions of iterations; without a limit that would be no fault.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// Few splits, because each needs a search.
const SPLITS: SplitOptions = SplitOptions { folds: Some(2), hold_out: None };

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
        keep_order: bool,
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
    /// Applies the saved recoding `recoding.json`, with a report if `extras`.
    Apply { input: &'static str, output: &'static str, keep_order: bool, extras: bool },
    /// Finds columns that single people out.
    Risks { input: &'static str },
    /// Lists inferences.
    Inferences { input: &'static str },
    /// Proves a lower bound on the loss of any release.
    Bound { input: &'static str },
    /// Follows a generalization path.
    Frontier { input: &'static str },
    /// Trains and tests a classifier.
    Evaluate { input: &'static str },
    /// Compares two methods.
    Compare { input: &'static str, methods: [&'static str; 2] },
    /// Builds a hierarchy over numbers.
    BuildHierarchy { input: &'static str, column: String },
    /// Draws a hierarchy file.
    ShowHierarchy { file: String },
    /// Writes a hierarchy file in another form.
    ConvertHierarchy { file: String, output: &'static str },
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

    /// The table that the release is made from.
    pub fn released_table(&self) -> Option<&'static str> {
        match self {
            Self::Anonymize { input, .. } | Self::Apply { input, .. } => Some(input),
            _ => None,
        }
    }

    /// All files that the request may write.
    pub fn writes(&self) -> Vec<&'static str> {
        let extras: &[&str] = match self {
            Self::Anonymize { extras: true, .. } => &[RECODING, REPORTS[0], REPORTS[1]],
            Self::Apply { extras: true, .. } => &REPORTS,
            Self::ConvertHierarchy { output, .. } => std::slice::from_ref(output),
            _ => &[],
        };
        self.output().into_iter().chain(extras.iter().copied()).collect()
    }

    /// Runs the request in this process.
    pub fn run(&self, folder: &Path, observer: &dyn Observer) -> Result<Answer, FlowError> {
        let path = |name: &str| folder.join(name);
        let input = |name: &str| Input::from(path(name).display().to_string());
        let policy = PolicySource::from(path(POLICY));
        let reports = |extras: bool| if extras { REPORTS.map(path).to_vec() } else { Vec::new() };
        let threads = match self {
            Self::Anonymize { threads, .. } => *threads,
            _ => 1,
        };
        let session = Session::new(Resources { threads: Some(threads), ..Resources::default() }, observer)?;
        match self {
            Self::Init { input: name } => session
                .init(&Init { input: input(name), output: OutputFile::default(), table: OutputFile::default() })
                .map(|_| Answer::Done),
            Self::Anonymize { input: name, output, seed, keep_order, extras, earlier, .. } => {
                let request = Anonymize {
                    input: input(name),
                    policy,
                    output: Output {
                        release: path(output).into(),
                        reports: reports(*extras),
                        overwrite: false,
                        format: None,
                    },
                    recoding: extras.then(|| path(RECODING)),
                    earlier: Earlier { releases: earlier.iter().map(|name| input(name)).collect(), warn: true },
                    options: ReleaseOptions {
                        seed: Some((*seed).into()),
                        keep_order: *keep_order,
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
            Self::Apply { input: name, output, keep_order, extras } => {
                let request = Apply {
                    input: input(name),
                    recoding: path(RECODING).into(),
                    output: Output {
                        release: path(output).into(),
                        reports: reports(*extras),
                        overwrite: false,
                        format: None,
                    },
                    seed: Some(1.into()),
                    keep_order: *keep_order,
                    compare: false,
                    time_limit: None,
                };
                session.apply(&request).map(|_| Answer::Done)
            }
            Self::Risks { input: name } => {
                let (columns, output) = (Vec::new(), OutputFile::default());
                session.risks(&FindRisks { input: input(name), columns, most: 3, output }).map(|_| Answer::Done)
            }
            Self::Inferences { input: name } => {
                let output = OutputFile::default();
                let request = Inferences { input: input(name), policy, above: 0.5, max_listed: Some(20), output };
                session.inferences(&request).map(|_| Answer::Done)
            }
            Self::Bound { input: name } => {
                let request = FindBound { input: input(name), policy, released: None, time_limit: Some(TIME_LIMIT) };
                session.find_bound(&request).map(|_| Answer::Done)
            }
            Self::Frontier { input: name } => {
                let request = FindTradeOff { input: input(name), policy, seed: 1, output: OutputFile::default() };
                session.find_trade_off(&request).map(|_| Answer::Done)
            }
            Self::Evaluate { input: name } => {
                let (seed, time_limit) = (Some(1), Some(TIME_LIMIT));
                let request =
                    Evaluate { input: input(name), policy, test: None, split_options: SPLITS, seed, time_limit };
                session.evaluate(&request).map(|_| Answer::Done)
            }
            Self::Compare { input: name, methods } => {
                let request = Compare {
                    input: input(name),
                    policy,
                    methods: methods.map(str::to_owned).to_vec(),
                    k: Vec::new(),
                    test: None,
                    split_options: SPLITS,
                    queries: 5,
                    seed: 1,
                    time_limit: Some(TIME_LIMIT),
                    output: OutputFile::default(),
                };
                session.compare(&request).map(|_| Answer::Done)
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
            Self::ShowHierarchy { file } => {
                let tree = read_hierarchy(&path(file), None, None)?.tree;
                let options = DrawOptions::fitting(&tree, 12);
                drop((draw::text(&tree, &options), draw::svg(&tree, &options, file)));
                Ok(Answer::Done)
            }
            Self::ConvertHierarchy { file, output } => {
                let output = OutputFile { path: Some(path(output)), overwrite: false };
                let request = ConvertHierarchy { file: path(file), column: None, form: None, output };
                session.convert_hierarchy(&request).map(|_| Answer::Done)
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
        let printed = |keep_order: bool, extras: bool| {
            let order = if keep_order { words(&["--keep-order"]) } else { Vec::new() };
            let reports: &[&str] = if extras { &REPORTS } else { &[] };
            order.into_iter().chain(reports.iter().flat_map(|name| words(&["--report", name]))).collect::<Vec<_>>()
        };
        match self {
            Self::Init { input } => words(&["init", input]),
            Self::Anonymize { input, output, seed, threads, keep_order, extras, earlier } => {
                let (seed, threads) = (seed.to_string(), threads.to_string());
                let mut all = words(&["anonymize", input, "--policy", POLICY, "--output", output]);
                all.extend(words(&["--seed", &seed, "--threads", &threads, "--time-limit", &limit]));
                if *extras {
                    all.extend(words(&["--recoding", RECODING]));
                }
                all.extend(printed(*keep_order, *extras));
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
            Self::Apply { input, output, keep_order, extras } => {
                let mut all = words(&["apply", input, "--recoding", RECODING, "--output", output, "--seed", "1"]);
                all.extend(printed(*keep_order, *extras));
                all
            }
            Self::Risks { input } => words(&["risks", input]),
            Self::Inferences { input } => words(&["inferences", input, "--policy", POLICY]),
            Self::Bound { input } => words(&["bound", input, "--policy", POLICY, "--time-limit", &limit]),
            Self::Frontier { input } => words(&["frontier", input, "--policy", POLICY]),
            Self::Evaluate { input } => {
                words(&["evaluate", input, "--policy", POLICY, "--folds", "2", "--seed", "1", "--time-limit", &limit])
            }
            Self::Compare { input, methods } => {
                let mut all = words(&["compare", input, "--policy", POLICY, "--methods", &methods.join(",")]);
                all.extend(words(&["--folds", "2", "--queries", "5", "--seed", "1", "--time-limit", &limit]));
                all
            }
            Self::BuildHierarchy { input, column } => {
                words(&["hierarchy", "build", input, "--column", column, "--method", "iotf"])
            }
            Self::ShowHierarchy { file } => words(&["hierarchy", "show", file]),
            Self::ConvertHierarchy { file, output } => words(&["hierarchy", "convert", file, output]),
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
