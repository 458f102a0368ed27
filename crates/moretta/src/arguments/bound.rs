//! Arguments of `moretta bound`.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{Resources, parse_time};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Bound {
    /// File, folder of files, or pattern: CSV or Parquet
    pub input: String,
    /// Policy file
    #[arg(long, short, value_name = "POLICY")]
    pub policy: PathBuf,
    /// Release of the input, whose loss is compared with the bound
    #[arg(long, value_name = "RELEASE")]
    pub released: Option<String>,
    /// Stop after this time (60s, 5m, 1h) with the best bound so far [default: a fixed amount of work]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time_limit: Option<Duration>,
    /// Print the bound as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub resources: Resources,
}

const HELP: &str = "\
The bound holds for every release whose groups have at least k records and whose cells are nodes of the hierarchies, \
whatever made it. It is the solution of a linear program, rounded down. No bound is known for free intervals, sets, means, \
medians or midpoints, other objectives than ncp and lm, policies without k, and tables with too many combinations of \
hierarchy levels.";
