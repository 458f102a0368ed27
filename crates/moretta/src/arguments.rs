//! The command line, as clap reads it.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

/// Make a table about persons fit to leave the house, and prove it on the file that was written.
#[derive(Debug, Parser)]
#[command(name = "moretta", version, max_term_width = 100, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done; 1 the data does not satisfy the policy, or cannot; 2 bad usage or input; 130 interrupted.\n\
    Start with `moretta demo`, or with `moretta init YOUR.csv`."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Look at the data and write a commented policy to edit
    Init(Init),
    /// See what the data gives away as it is: sensitive values that follow from others, and how surely
    Inferences(Inferences),
    /// Write a release that satisfies a policy, check the written file, and report what was lost
    Anonymize(Anonymize),
    /// Ask whether a file satisfies a policy: exit 0 if it does, 1 if not, saying where
    Check(Check),
    /// Measure what a release lost against its original
    Measure(Measure),
    /// Ask a release how many and how much, and see how far its answers are from the true ones
    Queries(Queries),
    /// Show which k costs what: every step from the table as it is to all values at the root
    Frontier(Frontier),
    /// Apply a saved recoding to new records, and verify again
    Apply(Apply),
    /// See what a model can still learn from a release: its errors on records held back
    Evaluate(Evaluate),
    /// Run all methods for several k and see side by side what each loses, errs, takes
    Compare(Compare),
    /// Make the experiments of the five papers again, on the public data they used
    Reproduce(Reproduce),
    /// Build, show or check a hierarchy file
    #[command(subcommand)]
    Hierarchy(Hierarchy),
    /// List the methods and their parameters
    Methods(List),
    /// List the measures
    Measures(List),
    /// List the privacy models
    Models(List),
    /// Made-up people, a policy, a release and its report: everything in one go
    Demo(Demo),
}

/// How the work is divided.
#[derive(Debug, Clone, Default, Args)]
pub struct Resources {
    /// Threads; all processors when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Memory for distinct values and tuples, e.g. 500MB or 4GB; no bound when left out
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
}

/// Where a release goes, and how.
#[derive(Debug, Clone, Args)]
pub struct Output {
    /// The file to write: .csv (with the input's delimiter) or .parquet
    #[arg(long, short, value_name = "OUT")]
    pub output: PathBuf,
    /// A report: .json for programs, .html for people (may be given twice)
    #[arg(long, value_name = "R.json|R.html")]
    pub report: Vec<PathBuf>,
    /// Decides whatever is left to chance: what the method's search tries, and the order of the records, which whoever
    /// knows it can restore. Drawn anew when left out
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Keep the records in the order of the input (order can identify people)
    #[arg(long)]
    pub keep_order: bool,
    /// Replace files that are there already
    #[arg(long)]
    pub overwrite: bool,
    /// Print the report as JSON instead of a summary
    #[arg(long)]
    pub json: bool,
}

/// `moretta init`
#[derive(Debug, Args)]
pub struct Init {
    /// A file, a folder of files, or a pattern: CSV or Parquet
    pub input: String,
    /// The policy to write; printed when left out
    #[arg(long, short, value_name = "POLICY")]
    pub output: Option<PathBuf>,
    /// Replace a policy that is there already
    #[arg(long)]
    pub overwrite: bool,
}

/// `moretta inferences`
#[derive(Debug, Args)]
pub struct Inferences {
    /// A file, a folder of files, or a pattern: CSV or Parquet; raw data or a release
    pub input: String,
    /// The policy. Its templates and its LKC-privacy say what is known and what must not be inferred; without any, it is
    /// every value of each sensitive column, given all quasi-identifiers
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// List inferences with a confidence above this share, from 0 to below 1
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = parse_confidence)]
    #[arg(allow_negative_numbers = true)]
    pub above: f64,
    /// Print all of them, not only the first 20
    #[arg(long)]
    pub all: bool,
    /// Write the whole list to a file. It is as confidential as the input
    #[arg(long, short, value_name = "F.csv")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub overwrite: bool,
    /// Print the counts and the whole list as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

/// `moretta anonymize`
#[derive(Debug, Args)]
pub struct Anonymize {
    /// A file, a folder of files, or a pattern: CSV or Parquet
    pub input: String,
    /// The policy
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    #[command(flatten)]
    pub output: Output,
    /// Save the recoding, for `moretta apply`
    #[arg(long, value_name = "R.json")]
    pub recoding: Option<PathBuf>,
    /// Release exactly the table after so many steps of `moretta frontier`, if the policy holds there; usually loses more
    /// than the release without it. With `--seed N`, the steps are those of `frontier --seed N`
    #[arg(long, value_name = "STEP", conflicts_with = "time_limit")]
    #[arg(value_parser = parse_step, allow_negative_numbers = true)]
    pub at: Option<usize>,
    /// Stop the search after this time (60s, 5m, 1h) and take the best so far
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    #[command(flatten)]
    pub resources: Resources,
}

/// `moretta check`
#[derive(Debug, Args)]
pub struct Check {
    /// The file that is to leave
    pub released: String,
    /// The policy
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Print the outcome as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

/// `moretta measure`
#[derive(Debug, Args)]
pub struct Measure {
    /// The file before
    pub original: String,
    /// The file after
    pub released: String,
    /// The policy
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Print the measures as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

/// `moretta queries`
#[derive(Debug, Args)]
#[command(after_help = QUERIES_HELP)]
pub struct Queries {
    /// The file before
    pub original: String,
    /// The file after
    pub released: String,
    /// The policy
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// So many random queries that count records, and as many that sum a column, all with a true answer other than 0
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: u32,
    /// Decides which queries are drawn; 0 when left out, so that releases of one table are asked the same
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub seed: u64,
    /// Ask about so many quasi-identifiers, drawn anew for each query; about all of them when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub columns: Option<u16>,
    /// The quasi-identifier to sum; the first one of numbers when left out
    #[arg(long, value_name = "COLUMN")]
    pub sum: Option<String>,
    /// Your own queries instead of random ones; shows the true answer, that of the release and the error of each
    #[arg(long, value_name = "Q.toml", conflicts_with_all = ["count", "seed", "columns", "sum"])]
    pub queries: Option<PathBuf>,
    /// The file to write: .csv for all answers, .svg for a picture of the errors; a table is printed when left out
    #[arg(long, short, value_name = "F.csv|F.svg")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub overwrite: bool,
    /// Print the errors (of your own queries also the answers) as JSON, errors as shares of 1
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

const QUERIES_HELP: &str = "\
A release answers as if the values of each group were spread evenly over what the group prints. The error is \
|answer - truth| / |truth|. True answers are as confidential as the original.

Queries of your own: two ends, both inside, for numbers and dates; a value or an inner node of the hierarchy for \
categories.

  [[query]]
  count = true
  where = { age = [20, 40], sex = \"female\" }

  [[query]]
  sum = \"age\"
  where = { education = \"Higher\" }";

/// `moretta frontier`
#[derive(Debug, Args)]
pub struct Frontier {
    /// A file, a folder of files, or a pattern: CSV or Parquet
    pub input: String,
    /// The policy
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// The file to write: .csv for programs, .svg for a picture, .html for a page; a table is printed when left out
    #[arg(long, short, value_name = "F.csv|F.svg|F.html")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub overwrite: bool,
    /// Print all steps, not only those that change much
    #[arg(long)]
    pub all: bool,
    /// Decides whatever is left to chance: what the method's search tries. 0 when left out, as in `anonymize --at`
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print all points as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

/// `moretta apply`
#[derive(Debug, Args)]
pub struct Apply {
    /// The new records: CSV or Parquet
    pub input: String,
    /// What `moretta anonymize --recoding` wrote
    #[arg(long, value_name = "R.json")]
    pub recoding: PathBuf,
    #[command(flatten)]
    pub output: Output,
    /// Also search anew on these records, and report how much worse the saved recoding is; the release stays the same
    #[arg(long)]
    pub compare: bool,
    /// Stop the search of `--compare` after this time (60s, 5m, 1h) and take the best so far
    #[arg(long, value_name = "TIME", value_parser = parse_time, requires = "compare")]
    pub time_limit: Option<Duration>,
    #[command(flatten)]
    pub resources: Resources,
}

/// `moretta evaluate`
#[derive(Debug, Args)]
pub struct Evaluate {
    /// The records to learn from: CSV or Parquet. Without `--test`, some of them are held back in turn
    pub input: String,
    /// The policy; it needs a column of the role `class`
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Other records with the same columns, to count errors on
    #[arg(long, value_name = "TEST")]
    pub test: Option<String>,
    #[command(flatten)]
    pub held_back: HeldBack,
    /// Decides whatever is left to chance: which records are held back, and what the method's search tries. Drawn anew
    /// when left out
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Stop each search after this time (60s, 5m, 1h) and take the best so far
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    /// Print the errors as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

/// Which records are held back to count errors on.
#[derive(Debug, Clone, Copy, Args)]
pub struct HeldBack {
    /// Divide the table into so many parts, with the classes in equal shares, and hold back each in turn; 5 when left
    /// out. With `--hold-out`, draw so often
    #[arg(long, value_name = "N", conflicts_with = "test", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub folds: Option<u16>,
    /// Hold back this share of the records, drawn anew each time, instead of one part of several
    #[arg(long, value_name = "SHARE", conflicts_with = "test", value_parser = parse_hold_out)]
    #[arg(allow_negative_numbers = true)]
    pub hold_out: Option<f64>,
}

/// `moretta compare`
#[derive(Debug, Args)]
#[command(after_help = COMPARE_HELP)]
pub struct Compare {
    /// A file, a folder of files, or a pattern: CSV or Parquet
    pub input: String,
    /// The policy. Its own method runs with its parameters, the others with their defaults
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// The methods to compare, e.g. sweep,mondrian; all of `moretta methods` when left out
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// The k to ask for, one after the other, e.g. 5,10,50; the policy's own when left out
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', value_parser = parse_k, allow_negative_numbers = true)]
    pub k: Vec<u64>,
    /// Other records with the same columns, to count errors on
    #[arg(long, value_name = "TEST")]
    pub test: Option<String>,
    #[command(flatten)]
    pub held_back: HeldBack,
    /// So many random queries that count records, and as many that sum a column: the same for all methods
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub queries: u32,
    /// Decides whatever is left to chance: searches, queries, which records are held back. 0 when left out
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub seed: u64,
    /// Stop each search after this time (60s, 5m, 1h) and take the best so far
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    /// The file to write: .csv for programs, .html for a page with plots; a table is printed when left out
    #[arg(long, short, value_name = "F.csv|F.html")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub overwrite: bool,
    /// Print everything as JSON, errors as shares of 1
    #[arg(long)]
    pub json: bool,
    /// Started by another moretta for one method and k: also the reason why nothing was found is a row of the JSON, and
    /// this process ends with its standard input
    #[arg(long, hide = true, requires = "json")]
    pub child: bool,
    #[command(flatten)]
    pub resources: Resources,
}

const COMPARE_HELP: &str = "\
Every method searches the whole table for what it would release, and nothing is released. With a column of the role \
`class`, the searches are repeated without the records held back. Each method and k runs in a process of its own, one \
after the other, so that seconds and memory are its own.";

/// `moretta reproduce`
#[derive(Debug, Args)]
#[command(after_help = REPRODUCE_HELP)]
pub struct Reproduce {
    /// The paper, or all of them
    #[arg(value_name = "1|2|3|4|5|all", value_parser = parse_papers)]
    pub papers: Papers,
    /// The folder that has adult/, german/ and crx/: the UCI data sets Adult, German Credit and Credit Approval, with a
    /// header, and the hierarchies of Adult
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// The folder for pages (Markdown) and pictures (SVG); made where there is none
    #[arg(long, short, value_name = "DIR", default_value = "docs/results/papers")]
    pub output: PathBuf,
    /// Replace what is there already
    #[arg(long)]
    pub overwrite: bool,
    /// Threads; all processors when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// Which papers: one by its number, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Papers(pub Option<u8>);

const REPRODUCE_HELP: &str = "\
Papers:
  1  bottom-up generalization (Wang, Yu, Chakraborty 2004)
  2  top-down disclosure (Wang, Fung, Yu 2007)
  3  hierarchies for numbers (Campan, Cooper, Truta 2011)
  4  local recoding (Xu and others 2006)
  5  genetic search (Iyengar 2002)

Every figure is made anew; what was published stands beside it, and where they differ the page says why. All of them take \
some minutes on two processors.";

/// `moretta hierarchy`
#[derive(Debug, Subcommand)]
pub enum Hierarchy {
    /// Build a hierarchy over a column of numbers, dates or codes
    Build(HierarchyBuild),
    /// Draw a hierarchy file
    Show(HierarchyShow),
    /// Ask whether a hierarchy file fits a column of the data: exit 0 if it does, 1 if not
    Check(HierarchyCheck),
}

/// `moretta hierarchy build`
#[derive(Debug, Args)]
pub struct HierarchyBuild {
    /// A file, a folder of files, or a pattern: CSV or Parquet
    pub input: String,
    /// The column
    #[arg(long, value_name = "C")]
    pub column: String,
    /// How
    #[arg(long, value_enum)]
    pub method: Builder,
    /// What the column holds; dates with `--method dates`, codes with `--method prefix`, numbers otherwise
    #[arg(long = "type", value_enum)]
    pub kind: Option<BuildKind>,
    /// How dates are written, in the notation of strftime: %d.%m.%Y; as 1984-03-31 when left out
    #[arg(long, value_name = "F")]
    pub format: Option<String>,
    /// Prune what is built from the data to so many levels, values and `*` included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub levels: Option<u32>,
    /// For `--method han`: at most so many children of a node; 5 when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub fan_out: Option<u32>,
    /// For `--method chu` and `han`: so many values are not divided any more; 2 and 4 when left out
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threshold: Option<u32>,
    /// For `--method equal-width` and `equal-frequency`: the parts of each level, the finest first; 32,16,8,4,2 when
    /// left out
    #[arg(long, value_name = "N,N,..", value_delimiter = ',')]
    pub parts: Vec<u32>,
    /// For `--method widths`: 5,10,20
    #[arg(long, value_name = "W,W,..", value_delimiter = ',', allow_negative_numbers = true)]
    pub widths: Vec<f64>,
    /// For `--method bins`: the edges, 0,18,65,120
    #[arg(long, value_name = "E,E,..", value_delimiter = ',', allow_negative_numbers = true)]
    pub bins: Vec<f64>,
    /// For `--method dates`: the levels, the finest first; day,month,quarter,year,decade when left out
    #[arg(long, value_name = "L,L,..", value_delimiter = ',', value_enum)]
    pub dates: Vec<CalendarLevel>,
    /// For `--method prefix`: how many characters each level keeps, 5,3,2
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub prefix: Vec<u32>,
    /// A text that stands for a missing value, besides an empty cell and `?`; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub missing: Vec<String>,
    /// The file to write; printed when left out
    #[arg(long, short, value_name = "H.csv")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub overwrite: bool,
}

/// What a hierarchy is built over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BuildKind {
    /// Numbers
    Number,
    /// Dates
    Date,
}

/// The levels of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum CalendarLevel {
    /// 1984-03-31, for dates with a time of day
    Day,
    /// 1984-03
    Month,
    /// 1984-Q1
    Quarter,
    /// 1984
    Year,
    /// 1980s
    Decade,
}

/// The builders of hierarchies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Builder {
    /// From the data: merge the neighbours whose union is smallest
    Iotf,
    /// From the data: merge the neighbours whose centres are closest
    Otf,
    /// From the data: cut in two where the sides are most alike inside
    Chu,
    /// From the data: cut into parts with near-equal numbers of records, and these again
    Han,
    /// From the data: parts of equal width
    EqualWidth,
    /// From the data: parts with near-equal numbers of records
    EqualFrequency,
    /// Intervals of given widths, one level for each
    Widths,
    /// One level of intervals between given edges
    Bins,
    /// Dates by the calendar: month, quarter, year, decade
    Dates,
    /// Codes by their first characters: 12345, 123*, 12*
    Prefix,
}

/// `moretta hierarchy show`
#[derive(Debug, Args)]
pub struct HierarchyShow {
    /// A hierarchy file
    pub file: PathBuf,
    /// Show at most so many children of a node
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub children: usize,
    /// Show so many levels below `*`, 60 at most; as many as fit a hundred lines when left out
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Draw a picture into this file instead
    #[arg(long, short, value_name = "H.svg")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub overwrite: bool,
}

/// `moretta hierarchy check`
#[derive(Debug, Args)]
pub struct HierarchyCheck {
    /// A hierarchy file
    pub file: PathBuf,
    /// The data
    pub input: String,
    /// The column; the file's name without its ending when left out
    #[arg(long, value_name = "C")]
    pub column: Option<String>,
    /// A text that stands for a missing value, besides an empty cell and `?`; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub missing: Vec<String>,
}

/// `moretta methods`, `measures`, `models`
#[derive(Debug, Args)]
pub struct List {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// `moretta demo`
#[derive(Debug, Args)]
pub struct Demo {
    /// The folder to make
    #[arg(default_value = "moretta-demo")]
    pub folder: PathBuf,
    /// How many people to make up
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub people: u64,
    /// Decides who they are
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Replace an earlier demo
    #[arg(long)]
    pub overwrite: bool,
}

fn parse_size(text: &str) -> Result<u64, String> {
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
        _ => Err(format!("`{text}` is no paper; there are 1, 2, 3, 4, 5 and all")),
    }
}

fn parse_step(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is not a step; steps are numbered from 0"))
}

fn parse_time(text: &str) -> Result<Duration, String> {
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
