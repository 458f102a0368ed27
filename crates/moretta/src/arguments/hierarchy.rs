//! Arguments of `moretta hierarchy`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use moretta_core::hierarchy::Decimal;

#[derive(Debug, Subcommand)]
pub enum Hierarchy {
    /// Build a hierarchy for a column of numbers, dates or codes
    Build(HierarchyBuild),
    /// Draw a hierarchy file
    Show(HierarchyShow),
    /// Check whether a hierarchy file covers a column of the data (exit code 0 or 1)
    Check(HierarchyCheck),
    /// Write a hierarchy file in another form: CSV, TSV or JSON
    Convert(HierarchyConvert),
}

#[derive(Debug, Args)]
pub struct HierarchyBuild {
    /// File, folder of files, pattern, or `-`
    pub input: String,
    /// Column to build the hierarchy for
    #[arg(long, value_name = "C")]
    pub column: String,
    /// How to build the hierarchy
    #[arg(long, value_enum)]
    pub method: Builder,
    /// Type of the column [default: date with --method dates, otherwise number]
    #[arg(long = "type", value_enum)]
    pub kind: Option<BuildKind>,
    /// Date format in strftime notation, e.g. %d.%m.%Y [default: %Y-%m-%d]
    #[arg(long, value_name = "F")]
    pub format: Option<String>,
    /// For methods that build from the data: prune to this many levels, values and `*` included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub levels: Option<u32>,
    /// For --method han: maximum children per node [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub fan_out: Option<u32>,
    /// For --method chu and han: nodes with this many values are not split further [default: 2 for chu, 4 for han]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub threshold: Option<u32>,
    /// For --method equal-width and equal-frequency: intervals per level, finest first [default: 32,16,8,4,2]
    #[arg(long, value_name = "N,N,..", value_delimiter = ',')]
    pub parts: Vec<u32>,
    /// For --method widths: interval width of each level, e.g. 5,10,20
    #[arg(long, value_name = "W,W,..", value_delimiter = ',', allow_negative_numbers = true)]
    pub widths: Vec<Decimal>,
    /// For --method bins: interval edges, e.g. 0,18,65,120
    #[arg(long, value_name = "E,E,..", value_delimiter = ',', allow_negative_numbers = true)]
    pub bins: Vec<Decimal>,
    /// For --method dates: levels, finest first [default: day,month,quarter,year,decade]
    #[arg(long, value_name = "L,L,..", value_delimiter = ',', value_enum)]
    pub dates: Vec<CalendarLevel>,
    /// For --method prefix: number of characters kept at each level, e.g. 5,3,2
    #[arg(long, value_name = "N,N,..", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub prefix: Vec<u32>,
    /// Text that means a missing value, besides an empty cell and `?` (may be given several times)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub missing: Vec<String>,
    /// Hierarchy file to write [default: print it]
    #[arg(long, short, value_name = "H.csv")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum BuildKind {
    /// Numbers
    Number,
    /// Dates
    Date,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum CalendarLevel {
    /// 1984-03-31 (for dates with a time of day)
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Builder {
    /// From the data: merge the neighbors with the narrowest union
    Iotf,
    /// From the data: merge the neighbors with the closest centers
    Otf,
    /// From the data: split in two so that values within each half are closest
    Chu,
    /// From the data: split into intervals of nearly equal record counts, recursively
    Han,
    /// From the data: intervals of equal width
    EqualWidth,
    /// From the data: intervals of nearly equal record counts
    EqualFrequency,
    /// Intervals of the given widths, one level per width
    Widths,
    /// One level of intervals between the given edges
    Bins,
    /// Calendar levels: month, quarter, year, decade
    Dates,
    /// Prefixes of codes: 12345, 123*, 12*
    Prefix,
}

#[derive(Debug, Args)]
pub struct HierarchyShow {
    /// Hierarchy file
    pub file: PathBuf,
    /// Maximum children shown per node
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub children: usize,
    /// Number of levels shown below `*`, at most 60 [default: as many as fit 100 lines]
    #[arg(long, value_name = "N")]
    pub depth: Option<u32>,
    /// Write the drawing to this SVG file instead
    #[arg(long, short, value_name = "H.svg")]
    pub output: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Args)]
pub struct HierarchyCheck {
    /// Hierarchy file
    pub file: PathBuf,
    /// Data with the column: file, folder of files, pattern, or `-`
    pub input: String,
    /// Column to check [default: the file name without extension]
    #[arg(long, value_name = "C")]
    pub column: Option<String>,
    /// Text that means a missing value, besides an empty cell and `?` (may be given several times)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub missing: Vec<String>,
}

#[derive(Debug, Args)]
pub struct HierarchyConvert {
    /// Hierarchy file: delimited text, JSON, or a hierarchy of Amnesia
    pub file: PathBuf,
    /// Hierarchy file to write: .csv, .tsv or .json [default: print it as CSV]
    pub output: Option<PathBuf>,
    /// Column that the hierarchy is for, to recognize a row of level names [default: the file name without extension]
    #[arg(long, value_name = "C")]
    pub column: Option<String>,
    /// Delimiter of a CSV file [default: semicolon]
    #[arg(long, value_enum)]
    pub delimiter: Option<Delimiter>,
    /// Overwrite an existing file
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Delimiter {
    /// ;
    Semicolon,
    /// ,
    Comma,
    /// Tab
    Tab,
}
