//! Definition of the command line. Doc comments of fields and variants are the help texts.

mod bound;
mod hierarchy;

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};
use moretta_core::{search::best, seed::Seed};
use moretta_engine::FileKind;

pub use self::{
    bound::Bound,
    hierarchy::{
        BuildKind, Builder, CalendarLevel, Delimiter, Hierarchy, HierarchyBuild, HierarchyCheck, HierarchyConvert,
        HierarchyShow,
    },
};

/// Anonymize tabular microdata and verify the released file
#[derive(Debug, Parser)]
#[command(name = "moretta", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Exit codes: 0 success; 1 policy not satisfied; 2 wrong usage or input; 130 interrupted.\n\
    Start with `moretta demo`, or with `moretta init YOUR.csv`.")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Inspect a dataset and write a draft policy
    Init(Init),
    /// Find the columns that single people out, before any column has a role
    Risks(Risks),
    /// Turn a policy into a table with one line per column for a spreadsheet, or back
    Policy(Policy),
    /// List sensitive values an attacker could infer, with confidence
    Inferences(Inferences),
    /// Write a release that satisfies a policy, verify it and report information loss
    Anonymize(Anonymize),
    /// Check whether a file satisfies a policy (exit code 0 or 1)
    Check(Check),
    /// Count what several releases of one table disclose together (exit code 0 or 1)
    Linkage(Linkage),
    /// Measure the information loss of a release
    Measure(Measure),
    /// Prove a lower bound on the information loss of any release that satisfies a policy
    Bound(Bound),
    /// Compare COUNT and SUM answers of a release with the original
    Queries(Queries),
    /// Show the privacy-utility trade-off: information loss for each k
    Frontier(Frontier),
    /// Apply a saved recoding to new records and verify the result
    Apply(Apply),
    /// Train a classifier on a release and test it on held-out records
    Evaluate(Evaluate),
    /// Compare methods for several k: loss, error, time, memory
    Compare(Compare),
    /// Reproduce the experiments of five papers on public data
    Reproduce(Reproduce),
    /// Compare a report with the release that it is about
    #[command(subcommand)]
    Report(Report),
    /// Build, draw, check or convert a generalization hierarchy
    #[command(subcommand)]
    Hierarchy(Hierarchy),
    /// List anonymization methods and their parameters
    Methods(List),
    /// List utility measures
    Measures(List),
    /// List privacy models
    Models(List),
    /// List the file formats of tables
    Formats(List),
    /// Generate synthetic people and anonymize them
    Demo(Demo),
}

#[derive(Debug, Clone, Default, Args)]
pub struct Resources {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory limit of the whole program, e.g. 500MB or 4GB [default: none]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Format of standard input or output, where a file is named `-`, e.g. csv.gz or parquet [default: found from the
    /// first bytes; csv for output]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub format: Option<FileKind>,
}

#[derive(Debug, Clone, Args)]
pub struct Output {
    /// Release to write, or `-`: .csv (in the dialect of the input), .csv.gz, .parquet, .arrow, ..
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// Report to write: .json for programs, .html for people (may be given twice)
    #[arg(long, value_name = "R.json|R.html")]
    pub report: Vec<PathBuf>,
    /// Random seed, a number or the `seed` of a report; keep it secret, because it can undo the shuffle of the records
    /// [default: a random key]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<Seed>,
    /// Keep the record order of the input (the order can identify people)
    #[arg(long)]
    pub keep_order: bool,
    /// Overwrite existing files
    #[arg(long)]
    pub overwrite: bool,
    /// Print the report as JSON instead of the summary
    #[arg(long)]
    pub json: bool,
    /// Format of standard output, if it differs from that of standard input, e.g. csv.gz or parquet [default: that of
    /// `--format`]
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    pub output_format: Option<FileKind>,
}

#[derive(Debug, Args)]
pub struct Init {
    /// File, folder of files, pattern, or `-`; `moretta formats` lists the formats
    pub input: String,
    /// Policy to write [default: print it]
    #[arg(long, short, value_name = "POLICY")]
    pub output: Option<PathBuf>,
    /// Also write the draft as a table with one line per column, to edit in a spreadsheet (see `moretta policy`)
    #[arg(long, value_name = "F.csv")]
    pub table: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Args)]
pub struct Policy {
    /// Policy (.toml), or table with one line per column (.csv)
    pub input: PathBuf,
    /// The other of both to write [default: print it]
    #[arg(long, short, value_name = "F.csv|F.toml")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Args)]
#[command(after_help = RISKS_HELP)]
pub struct Risks {
    /// File, folder of files, pattern, or `-`; `moretta formats` lists the formats
    pub input: String,
    /// Columns to analyze, e.g. age,sex,zip [default: all]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Find the records that at most this many columns single out
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=20))]
    pub most: u16,
    /// Page to write [default: print tables]
    #[arg(long, short, value_name = "R.html")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
    /// Print all figures as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

const RISKS_HELP: &str = "\
Records with equal values in some columns are a group; a missing value counts as a value. Distinction is groups per \
record, separation the share of pairs of records that differ. A set of columns is minimal for a record that is alone in \
it and in no smaller part of it. Only counts and names of columns are printed, no value of a person.";

#[derive(Debug, Args)]
pub struct Inferences {
    /// Original data or a release: file, folder of files, pattern, or `-`
    pub input: String,
    /// Policy file; its templates and LKC-privacy define what is checked
    ///
    /// Templates and LKC-privacy name the columns an attacker knows and the values that must be protected. Without
    /// them, every value of each sensitive column is checked, given all quasi-identifiers.
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// List inferences with a confidence above this value, from 0 to below 1
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = parse_confidence)]
    #[arg(allow_negative_numbers = true)]
    pub above: f64,
    /// Print all inferences, not only the first 20
    #[arg(long)]
    pub all: bool,
    /// Write all inferences to a file; it is as confidential as the input
    #[arg(long, short, value_name = "F.csv")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
    /// Print counts and all inferences as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Debug, Args)]
pub struct Anonymize {
    /// File, folder of files, pattern, or `-`; `moretta formats` lists the formats
    pub input: String,
    /// Policy file
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    #[command(flatten)]
    pub output: Output,
    /// Save the recoding for `moretta apply`
    #[arg(long, value_name = "R.json")]
    pub recoding: Option<PathBuf>,
    /// Release the table after this step of `moretta frontier`, if it satisfies the policy
    ///
    /// Such a release usually loses more information than one without --at. With `--seed N`, the steps are those of
    /// `frontier --seed N`.
    #[arg(long, value_name = "STEP", conflicts_with = "time_limit")]
    #[arg(value_parser = parse_step, allow_negative_numbers = true)]
    pub at: Option<usize>,
    /// Budget of the method `best`: `high` takes about ten times as long and loses less [default: the policy's]
    #[arg(long, value_name = "low|default|high", conflicts_with = "at", hide_possible_values = true)]
    pub effort: Option<Effort>,
    /// Stop the search after this time (60s, 5m, 1h) and release the best result so far
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    /// Also prove a lower bound on the loss of any release that satisfies the policy (see `moretta bound`)
    #[arg(long)]
    pub bound: bool,
    /// Earlier releases of the same records; refuse a release that violates the policy together with them
    ///
    /// An attacker who has several releases of one table learns more than from each. `moretta linkage` counts it. The
    /// order of the input is refused, too, because it links the records.
    #[arg(long, value_name = "RELEASE", num_args = 1..)]
    pub earlier: Vec<String>,
    /// Refuse the release, or publish it with a note, if the policy is violated together with earlier ones
    /// [default: refuse]
    #[arg(long, value_name = "refuse|warn", requires = "earlier", hide_possible_values = true)]
    pub if_linkable: Option<IfLinkable>,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Effort {
    Low,
    Default,
    High,
}

impl Effort {
    pub fn budget(self) -> best::Effort {
        match self {
            Self::Low => best::Effort::Low,
            Self::Default => best::Effort::Default,
            Self::High => best::Effort::High,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum IfLinkable {
    Refuse,
    Warn,
}

#[derive(Debug, Args)]
pub struct Check {
    /// Release to check, in any format, or `-`
    pub released: String,
    /// Policy file
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Debug, Args)]
#[command(after_help = LINKAGE_HELP)]
pub struct Linkage {
    /// Two or more releases of the same records, in any format
    #[arg(value_name = "RELEASE", num_args = 2.., required = true)]
    pub releases: Vec<String>,
    /// Policy file; its models judge what remains of a person's groups
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Original file, folder of files, or pattern, to count its people [default: count regions where people may be]
    #[arg(long, value_name = "FILE")]
    pub original: Option<String>,
    /// Print the counts as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

const LINKAGE_HELP: &str = "\
The attacker knows the quasi-identifiers of a person and has all releases. In each release the person can be any \
record whose cells contain these values. Only records whose sensitive, class and insensitive values occur among these \
in every release remain: the joint group, which must satisfy the policy, with suppressed records and without. The \
records of each release are assumed to be in random order. Releases of different records (of another year, for \
instance) are refused. No person and no value is printed.";

#[derive(Debug, Args)]
pub struct Measure {
    /// Original file, folder of files, or pattern
    pub original: String,
    /// Release of the original
    pub released: String,
    /// Policy file
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Print the measures as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Debug, Args)]
#[command(after_help = QUERIES_HELP)]
pub struct Queries {
    /// Original file, folder of files, or pattern
    pub original: String,
    /// Release of the original
    pub released: String,
    /// Policy file
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Number of random COUNT queries and of random SUM queries, all with a nonzero true answer
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: u32,
    /// Random seed of the queries; the same seed draws the same queries
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Number of quasi-identifiers per query, drawn at random [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub columns: Option<u16>,
    /// Quasi-identifier to sum [default: the first numeric one]
    #[arg(long, value_name = "COLUMN")]
    pub sum: Option<String>,
    /// Answer the queries of this file instead of random ones
    #[arg(long, value_name = "Q.toml", conflicts_with_all = ["count", "seed", "columns", "sum"])]
    pub queries: Option<PathBuf>,
    /// File to write: .csv with all answers, .svg with a chart of the errors [default: print a table]
    #[arg(long, short, value_name = "F.csv|F.svg")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
    /// Print errors (with --queries also answers) as JSON; an error of 1 is 100 %
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

const QUERIES_HELP: &str = "\
The answer of a release assumes that the values of each group are spread evenly over the released range. The error \
is |answer - truth| / |truth|. True answers are as confidential as the original.

File for --queries: an inclusive range for numbers and dates; a value or an inner node of the hierarchy for \
categories.

  [[query]]
  count = true
  where = { age = [20, 40], sex = \"female\" }

  [[query]]
  sum = \"age\"
  where = { education = \"Higher\" }";

#[derive(Debug, Args)]
pub struct Frontier {
    /// File, folder of files, pattern, or `-`; `moretta formats` lists the formats
    pub input: String,
    /// Policy file
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// File to write: .csv for programs, .svg for a chart, .html for a page [default: print a table]
    #[arg(long, short, value_name = "F.csv|F.svg|F.html")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
    /// Print all steps, not only the important ones
    #[arg(long)]
    pub all: bool,
    /// Random seed of the search; use the same one with `anonymize --at` [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print all steps as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Debug, Args)]
pub struct Apply {
    /// New records: file, folder of files, pattern, or `-`
    pub input: String,
    /// Recoding file written by `moretta anonymize --recoding`
    #[arg(long, value_name = "R.json")]
    pub recoding: PathBuf,
    #[command(flatten)]
    pub output: Output,
    /// Also search a fresh recoding for these records and report how much worse the saved one is
    #[arg(long)]
    pub compare: bool,
    /// Stop the search of --compare after this time (60s, 5m, 1h)
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "compare")]
    pub time_limit: Option<Duration>,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Debug, Args)]
pub struct Evaluate {
    /// Records to train on, in any format; without --test, part of them is held out for testing
    pub input: String,
    /// Policy file; one column must have the role `class`
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Test records with the same columns [default: hold out records of the input]
    #[arg(long, value_name = "TEST")]
    pub test: Option<String>,
    #[command(flatten)]
    pub split_options: SplitOptions,
    /// Random seed of the search and of the held-out records [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stop each search after this time (60s, 5m, 1h) and use the best result so far
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    /// Print errors as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

#[derive(Debug, Clone, Copy, Args)]
pub struct SplitOptions {
    /// Cross-validation folds, stratified by class; with --hold-out, the number of draws [default: 5]
    #[arg(long, value_name = "N", conflicts_with = "test", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub folds: Option<u16>,
    /// Hold out this share of the records, drawn at random, instead of cross-validation
    #[arg(long, value_name = "SHARE", conflicts_with = "test", value_parser = parse_hold_out)]
    #[arg(allow_negative_numbers = true)]
    pub hold_out: Option<f64>,
}

#[derive(Debug, Clone, Args)]
#[command(after_help = COMPARE_HELP)]
pub struct Compare {
    /// File, folder of files, pattern, or `-`; `moretta formats` lists the formats
    pub input: String,
    /// Policy file; its method runs with its parameters, other methods with their defaults
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Methods to compare, e.g. best,mondrian [default: all]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Values of k, e.g. 5,10,50 [default: the k of the policy]
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', value_parser = parse_k, allow_negative_numbers = true)]
    pub k: Vec<u64>,
    /// Test records with the same columns [default: hold out records of the input]
    #[arg(long, value_name = "TEST")]
    pub test: Option<String>,
    #[command(flatten)]
    pub split_options: SplitOptions,
    /// Number of random COUNT queries and of random SUM queries, the same for all methods
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub queries: u32,
    /// Random seed of searches, queries and held-out records
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Stop each search after this time (60s, 5m, 1h) and use the best result so far
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    /// File to write: .csv for programs, .html for a page with charts [default: print a table]
    #[arg(long, short, value_name = "F.csv|F.html")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
    /// Print all results as JSON; an error of 1 is 100 %
    #[arg(long)]
    pub json: bool,
    /// Set by a parent moretta for one method and k: a refusal is printed as a row of the JSON too, and this process
    /// ends when its standard input closes
    #[arg(long, hide = true, requires = "json")]
    pub child: bool,
    #[command(flatten)]
    pub resources: Resources,
}

const COMPARE_HELP: &str = "\
Every method runs on the whole table; nothing is released. If a column has the role `class`, each method also runs \
on the training records of every split, and a classifier trained on that release is tested. Each combination of method \
and k runs in a separate process, one at a time, so that time and memory are measured for it alone.";

#[derive(Debug, Args)]
#[command(after_help = REPRODUCE_HELP)]
pub struct Reproduce {
    /// Number of the paper, or all
    #[arg(value_name = "1|2|3|4|5|all", value_parser = parse_papers)]
    pub papers: Papers,
    /// Folder with the UCI datasets in adult/ (with hierarchies), german/ and crx/, as CSV with a header
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Folder for pages (Markdown) and charts (SVG); created if missing
    #[arg(long, short, value_name = "DIR", default_value = "docs/results/papers")]
    pub output: PathBuf,
    /// Overwrite existing files
    #[arg(long)]
    pub overwrite: bool,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Number of one paper; `None` means all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Papers(pub Option<u8>);

const REPRODUCE_HELP: &str = "\
Papers:
  1  bottom-up generalization (Wang, Yu, Chakraborty 2004)
  2  top-down disclosure (Wang, Fung, Yu 2007)
  3  hierarchies for numbers (Campan, Cooper, Truta 2011)
  4  local recoding (Xu and others 2006)
  5  genetic search (Iyengar 2002)

Every result is computed again and shown next to the published one; the page explains differences. All papers take \
some minutes on two cores.";

#[derive(Debug, Subcommand)]
pub enum Report {
    /// Check whether a report is about a released file, by its SHA-256 (exit code 0 or 1)
    Verify(VerifyReport),
}

#[derive(Debug, Args)]
pub struct VerifyReport {
    /// Report: .html or .json
    pub report: PathBuf,
    /// Released file
    pub released: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct List {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Demo {
    /// Folder to create
    #[arg(default_value = "moretta-demo")]
    pub folder: PathBuf,
    /// Number of synthetic people
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub people: u64,
    /// Random seed of the people and of the release
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Overwrite an earlier demo
    #[arg(long)]
    pub overwrite: bool,
}

fn parse_format(text: &str) -> Result<FileKind, String> {
    let known = FileKind::of_name(text.trim_start_matches('.'));
    known.ok_or_else(|| format!("`{text}` is no format; give an extension such as csv.gz; `moretta formats` lists all"))
}

/// Bytes of a size such as `500MB`.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size; write for example 500MB or 4GB");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..split].parse().map_err(|_| wrong())?;
    let unit = match text[split..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(wrong()),
    };
    let bytes = number * unit;
    if (1.0..9e18).contains(&bytes) { Ok(bytes as u64) } else { Err(wrong()) }
}

fn parse_confidence(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is not a share from 0 to below 1; write for example 0.5 or 0.9"))
}

fn parse_hold_out(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| 0.0 < *share && *share < 1.0);
    share.ok_or_else(|| format!("`{text}` is not a share between 0 and 1; write for example 0.33"))
}

fn parse_k(text: &str) -> Result<u64, String> {
    let k = text.trim().parse().ok().filter(|k| *k > 0);
    k.ok_or_else(|| format!("`{text}` is not a whole number of at least 1"))
}

fn parse_papers(text: &str) -> Result<Papers, String> {
    match text.parse() {
        _ if text == "all" => Ok(Papers(None)),
        Ok(number @ 1..=5) => Ok(Papers(Some(number))),
        _ => Err(format!("`{text}` is not a paper; choose 1, 2, 3, 4, 5 or all")),
    }
}

fn parse_step(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is not a step; steps are numbered from 0"))
}

/// Duration of a time such as `60s`.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time; write for example 60s, 5m or 1h");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..split].parse().map_err(|_| wrong())?;
    let unit = match &text[split..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * unit).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_and_times() {
        assert_eq!(parse_size("500MB"), Ok(500_000_000));
        assert_eq!(parse_size("1.5GiB"), Ok(1_610_612_736));
        assert_eq!(parse_time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("1.5m"), Ok(Duration::from_secs(90)));
        for wrong in ["", "MB", "-1GB", "4 parsecs", "1e9999", "0"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(["0", "0.5", "0.999"].map(parse_confidence), [Ok(0.0), Ok(0.5), Ok(0.999)]);
        for wrong in ["", "x", "-0.1", "1", "50", "50%", "NaN", "inf"] {
            assert!(parse_confidence(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_hold_out("0.33"), Ok(0.33));
        for wrong in ["", "x", "-0.1", "0", "1", "33", "33%", "NaN"] {
            assert!(parse_hold_out(wrong).is_err(), "{wrong}");
        }
        assert_eq!(["1", "5", "all"].map(parse_papers), [Ok(Papers(Some(1))), Ok(Papers(Some(5))), Ok(Papers(None))]);
        for wrong in ["", "0", "6", "-1", "1.5", "ALL", "one"] {
            assert!(parse_papers(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_step("0"), Ok(0));
        for wrong in ["", "x", "-1", "1.5"] {
            assert!(parse_step(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "s", "-1s", "4 parsecs"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }
}
