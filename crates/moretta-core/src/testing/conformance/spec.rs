//! The test's description of a random column, from which its policy section, hierarchy file and cells are generated.

use super::Dice;

/// A hierarchy: for each leaf, in order, the labels from the leaf up to `*`.
pub type Paths = Vec<Vec<String>>;

/// The type of a column's values, and its hierarchy.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Categories directly under the root.
    Flat,
    /// Categories with a hierarchy file.
    Tree(Paths),
    /// Numbers; any interval.
    Free,
    /// Numbers; intervals of these widths.
    Widths(Vec<f64>),
    /// Numbers; intervals between these edges.
    Bins(Vec<f64>),
    /// Numbers with a hierarchy file.
    NumberTree(Paths),
    /// Numbers with a hierarchy built from the data, as the policy declares it.
    Built(&'static str),
    /// Codes that are generalized to prefixes of these lengths.
    Prefix(Vec<usize>),
    /// Dates on calendar levels, as the policy lists them.
    Calendar(&'static str),
    /// Dates with intervals, free or built from the data, as the policy declares them; empty for the default, free.
    Dates(&'static str),
}

/// Hierarchies that are built from the data.
const BUILT: [&str; 9] = [
    "\"iotf\"",
    "\"otf\"",
    "\"chu\"",
    "\"han\"",
    "{ method = \"iotf\", levels = 3 }",
    "{ method = \"han\", fan-out = 2, threshold = 1, levels = 4 }",
    "{ method = \"chu\", threshold = 1 }",
    "{ method = \"equal-width\", parts = [6, 2] }",
    "{ method = \"equal-frequency\", parts = [4, 2], levels = 3 }",
];

const ALL_LEVELS: &str = "[\"day\", \"month\", \"quarter\", \"year\", \"decade\"]";

const CALENDARS: [&str; 3] = [ALL_LEVELS, "[\"month\", \"year\"]", "[\"day\", \"quarter\", \"decade\"]"];

const INTERVALS_OF_DATES: [&str; 5] =
    ["", "\"free\"", "\"iotf\"", "\"han\"", "{ method = \"equal-width\", levels = 3 }"];

/// Description of a random column.
#[derive(Debug, Clone)]
pub struct ColumnSpec {
    /// Name in the table.
    pub name: String,
    /// The type of its values, and its hierarchy.
    pub shape: Shape,
    /// The policy's `missing`: `error`, `category` or `suppress`.
    pub missing: &'static str,
    /// The policy's `weight`.
    pub weight: f64,
    /// The texts that cells are drawn from.
    pub pool: Vec<String>,
    /// Whether the policy declares the type.
    pub declared: bool,
    /// Whether values are spelled in several ways: in categories of sensitive and class columns.
    pub spelled: bool,
    /// The policy's `fold`: whether spellings count as one value.
    pub fold: bool,
}

/// The texts of a missing value.
pub const MISSING: [&str; 2] = ["", "?"];

/// Whether a text stands for a missing value.
pub fn is_missing(text: &str) -> bool {
    MISSING.contains(&text)
}

impl Shape {
    /// Whether the values are numbers.
    pub fn is_number(&self) -> bool {
        !self.is_date() && !matches!(self, Self::Flat | Self::Tree(_) | Self::Prefix(_))
    }

    /// Whether the values are dates.
    pub fn is_date(&self) -> bool {
        matches!(self, Self::Calendar(_) | Self::Dates(_))
    }

    /// Whether the values have an order.
    pub fn is_ordered(&self) -> bool {
        self.is_number() || self.is_date()
    }

    /// The number of a text; for dates, minutes since 1970.
    pub fn number(&self, text: &str) -> Option<f64> {
        if self.is_date() { minutes(text) } else { text.parse().ok() }
    }

    /// The hierarchy of the file, if there is one.
    pub fn paths(&self) -> Option<&Paths> {
        match self {
            Self::Tree(paths) | Self::NumberTree(paths) => Some(paths),
            _ => None,
        }
    }
}

impl ColumnSpec {
    /// A random quasi-identifier.
    pub fn quasi_identifier(dice: &mut Dice, index: usize) -> Self {
        let (shape, pool) = match dice.below(10) {
            0 => flat(dice),
            1 => tree(dice),
            2 => (Shape::Free, numbers(dice, 12)),
            3 => (Shape::Widths(dice.one(&[vec![2.0], vec![3.0, 6.0], vec![0.5, 5.0], vec![1.0, 4.0]]).clone()), {
                numbers(dice, 12)
            }),
            4 => (Shape::Bins(dice.one(&[vec![0.0, 4.0, 13.0], vec![-1.0, 0.5, 6.0, 12.0]]).clone()), {
                numbers(dice, 11)
            }),
            5 => number_tree(dice),
            6 => (Shape::Built(BUILT[dice.below(BUILT.len())]), numbers(dice, 12)),
            7 => prefix(dice),
            8 => (Shape::Calendar(CALENDARS[dice.below(CALENDARS.len())]), dates(dice)),
            _ => (Shape::Dates(INTERVALS_OF_DATES[dice.below(INTERVALS_OF_DATES.len())]), dates(dice)),
        };
        let missing = *dice.one(&["error", "error", "category", "suppress"]);
        let weight = *dice.one(&[1.0, 1.0, 2.0, 0.5]);
        let declared = missing != "error" || dice.chance(50);
        Self { name: format!("q{index}"), shape, missing, weight, pool, declared, spelled: false, fold: true }
    }

    /// A random sensitive or class column.
    pub fn attribute(dice: &mut Dice, name: &str) -> Self {
        let ((shape, pool), codes) = match dice.below(5) {
            0 => (words(dice), false),
            1 => (tree(dice), false),
            2 => ((Shape::Free, numbers(dice, 4)), false),
            3 => (codes(dice), true),
            _ => ((Shape::Dates(""), dates(dice)), false),
        };
        let missing = *dice.one(&["error", "error", "category"]);
        // Undeclared codes that are all numbers would be a column of numbers.
        let declared = codes || missing != "error" || dice.chance(50);
        let spelled = matches!(shape, Shape::Flat | Shape::Tree(_));
        // Without folding, the hierarchy would lack the other spellings.
        let fold = shape != Shape::Flat || !dice.chance(20);
        Self { name: name.to_owned(), shape, missing, weight: 1.0, pool, declared, spelled, fold }
    }

    /// A random cell.
    pub fn cell(&self, dice: &mut Dice) -> String {
        if self.missing != "error" && dice.chance(15) {
            let text = *dice.one(&MISSING);
            return self.spelling(dice, text);
        }
        let text = dice.one(&self.pool).clone();
        if self.spelled {
            return self.spelling(dice, &text);
        }
        // The same number in another spelling. A column with `0e0` is recognized as numbers only if it is declared.
        match dice.below(8) {
            1 if self.shape.is_number() && self.declared => format!("+{text}"),
            2 if self.shape.is_number() && self.declared => format!("{text}e0"),
            3 if self.shape.is_number() && !text.contains('.') => format!("{text}.0"),
            // The same instant in another spelling.
            1 if self.shape.is_date() && !text.contains('T') => format!("{text}T00:00"),
            1 if self.shape.is_date() => text.replace('T', " "),
            2 if self.shape.is_date() && text.contains('T') => format!("{text}:00Z"),
            _ => text,
        }
    }

    /// A random spelling of a value, if the column has several.
    pub fn spelling(&self, dice: &mut Dice, text: &str) -> String {
        let number = text.parse::<f64>().is_ok();
        match if self.spelled { dice.below(12) } else { 0 } {
            1 => format!(" {text}"),
            2 => format!("{text}\u{a0}"),
            3 => text.to_uppercase(),
            4 => text.replace(' ', "\t "),
            5 => text.replace('\u{e9}', "e\u{301}"),
            6 if number => format!("0{text}"),
            7 if number => format!("+{text}e0"),
            8 if number && !text.contains('.') => format!("{text}.0 "),
            _ => text.to_owned(),
        }
    }

    /// The column's table in the policy.
    pub fn toml(&self, role: &str) -> String {
        let mut lines = format!("[columns.{}]\nrole = \"{role}\"\nmissing = \"{}\"\n", self.name, self.missing);
        // Undeclared dates are recognized by their texts, which needs at least one value.
        let implied = self.shape.is_date() && self.pool.len() > 1 && self.missing == "error";
        match (self.shape.is_date(), self.shape.is_number()) {
            (true, _) if self.declared || !implied => lines += "type = \"date\"\n",
            (false, true) if self.declared => lines += "type = \"number\"\n",
            (false, false) if self.declared => lines += "type = \"category\"\n",
            _ => {}
        }
        match &self.shape {
            Shape::Tree(_) | Shape::NumberTree(_) => lines += &format!("hierarchy = \"{}.csv\"\n", self.name),
            Shape::Widths(widths) => lines += &format!("hierarchy = {{ widths = {widths:?} }}\n"),
            Shape::Bins(edges) => lines += &format!("hierarchy = {{ bins = {edges:?} }}\n"),
            Shape::Built(choice) | Shape::Dates(choice) if !choice.is_empty() => {
                lines += &format!("hierarchy = {choice}\n")
            }
            Shape::Prefix(lengths) => lines += &format!("hierarchy = {{ prefix = {lengths:?} }}\n"),
            Shape::Calendar(levels) => lines += &format!("hierarchy = {{ dates = {levels} }}\n"),
            Shape::Flat | Shape::Free | Shape::Built(_) | Shape::Dates(_) => {}
        }
        if !self.fold {
            lines += "fold = false\n";
        }
        if self.weight != 1.0 {
            lines += &format!("weight = {:?}\n", self.weight);
        }
        lines
    }

    /// Text of the hierarchy file; `None` if the column has none.
    pub fn file(&self, dice: &mut Dice, shuffled: bool) -> Option<String> {
        let paths = self.shape.paths()?;
        let depth = paths.iter().map(Vec::len).max()?;
        let mut rows: Vec<String> = paths
            .iter()
            .map(|path| {
                let quoted = |label: &String| format!("\"{label}\"");
                let mut fields = vec![quoted(&path[0]); depth - path.len()];
                fields.extend(path.iter().map(quoted));
                fields.join(";")
            })
            .collect();
        if shuffled {
            dice.shuffle(&mut rows);
        }
        Some(rows.join("\n"))
    }
}

fn flat(dice: &mut Dice) -> (Shape, Vec<String>) {
    let values = 1 + dice.below(6);
    (Shape::Flat, ["a", "b", "c", "d", "e f", "g"][..values].iter().map(|v| (*v).to_owned()).collect())
}

/// Categories with blanks and accents.
fn words(dice: &mut Dice) -> (Shape, Vec<String>) {
    let values = 1 + dice.below(6);
    (Shape::Flat, ["a", "b", "caf\u{e9}", "d", "e f", "g"][..values].iter().map(|v| (*v).to_owned()).collect())
}

/// Numbers and other codes, in a column of categories.
fn codes(dice: &mut Dice) -> (Shape, Vec<String>) {
    let values = 1 + dice.below(5);
    (Shape::Flat, ["1", "n/a", "10", "1.5", "2"][..values].iter().map(|v| (*v).to_owned()).collect())
}

/// A tree with leaves at any depth, chains of only children, and sometimes a leaf for the missing value.
fn tree(dice: &mut Dice) -> (Shape, Vec<String>) {
    let mut inner: Vec<Vec<String>> = vec![vec!["*".to_owned()]];
    for index in 0..dice.below(7) {
        // A category's label may look like an interval.
        let mut path = vec![if dice.chance(20) { format!("[{index}, 9]") } else { format!("n{index}") }];
        path.extend(dice.one(&inner).iter().cloned());
        inner.push(path);
    }
    let mut paths: Paths = Vec::new();
    for index in 0..1 + dice.below(8) {
        let mut path = vec![format!("v{index}")];
        path.extend(dice.one(&inner).iter().cloned());
        paths.push(path);
    }
    if dice.chance(20) {
        let mut path = vec!["?".to_owned()];
        path.extend(dice.one(&inner).iter().cloned());
        paths.insert(dice.below(paths.len() + 1), path);
    }
    let mut pool: Vec<String> = paths.iter().map(|path| path[0].clone()).filter(|leaf| leaf != "?").collect();
    // Some leaves do not occur.
    pool.truncate(1 + dice.below(pool.len()).max(pool.len() / 2));
    (Shape::Tree(in_leaf_order(paths)), pool)
}

/// Orders leaves from left to right. Children of a node are in the order in which the file first names them.
fn in_leaf_order(paths: Paths) -> Paths {
    fn visit(above: &[String], paths: &Paths, into: &mut Paths) {
        let mut seen: Vec<&String> = Vec::new();
        for path in paths.iter().filter(|path| path.len() > above.len() && path.ends_with(above)) {
            let child = &path[path.len() - above.len() - 1];
            if path.len() == above.len() + 1 {
                into.push(path.clone());
            } else if !seen.contains(&child) {
                seen.push(child);
                visit(&path[path.len() - above.len() - 1..], paths, into);
            }
        }
    }
    let mut ordered = Vec::new();
    visit(&["*".to_owned()], &paths, &mut ordered);
    ordered
}

fn numbers(dice: &mut Dice, end: usize) -> Vec<String> {
    let halves = dice.chance(30);
    let count = 1 + dice.below(end);
    (0..count).map(|_| dice.below(end)).map(|v| if halves { format!("{v}.5") } else { v.to_string() }).collect()
}

/// Codes of different lengths, some of them prefixes of others.
fn prefix(dice: &mut Dice) -> (Shape, Vec<String>) {
    let codes = ["1", "12", "123", "1234", "1299", "12 4", "2-10", "21", "äö1", "äöü", "9999"];
    let lengths = dice.one(&[vec![3, 2, 1], vec![2], vec![3, 1], vec![4, 3]]).clone();
    (Shape::Prefix(lengths), (0..1 + dice.below(12)).map(|_| (*dice.one(&codes)).to_owned()).collect())
}

/// Dates near the ends of months, quarters, years and decades, all with a time of day or all without.
fn dates(dice: &mut Dice) -> Vec<String> {
    let days = ["1979-11-30", "1979-12-31", "1980-01-01", "1980-02-29", "1980-03-31", "1980-04-01", "1984-12-24"];
    let times = if dice.chance(30) { ["T00:00", "T08:30", "T23:59"] } else { [""; 3] };
    (0..1 + dice.below(8)).map(|_| format!("{}{}", dice.one(&days), dice.one(&times))).collect()
}

/// Minutes since 1970 of an ISO date, counted day by day.
fn minutes(text: &str) -> Option<f64> {
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<u32>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    if text.as_bytes()[4] != b'-' || year < 1970 {
        return None;
    }
    let leap = |year: u32| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = |year: u32, month: u32| match month {
        2 => 28 + u32::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let years: u32 = (1970..year).map(|year| 365 + u32::from(leap(year))).sum();
    let months: u32 = (1..month).map(|month| length(year, month)).sum();
    let time = if text.len() > 10 { 60 * part(11, 13)? + part(14, 16)? } else { 0 };
    Some(f64::from((years + months + day - 1) * 1440 + time))
}

/// A file over the numbers 0 to 11: nested intervals, some leaves directly under `*`.
fn number_tree(dice: &mut Dice) -> (Shape, Vec<String>) {
    fn divide(dice: &mut Dice, (from, to): (usize, usize), above: &[String], labels: usize, paths: &mut Paths) {
        let mut start = from;
        while start < to {
            let end = (start + 1 + dice.below(4)).min(to);
            let open = dice.chance(65) && above.len() < 4 && end - start < to - from;
            if open {
                let label = match labels {
                    0 => format!("[{start}, {}]", end - 1),
                    _ => format!("g{start}-{end}-{}", above.len()),
                };
                // Labels must be unique.
                let label = if above.contains(&label) || start + 1 == end { format!("only {start}") } else { label };
                let mut path = vec![label];
                path.extend(above.iter().cloned());
                divide(dice, (start, end), &path, labels, paths);
            } else {
                for value in start..end {
                    let mut path = vec![value.to_string()];
                    path.extend(above.iter().cloned());
                    paths.push(path);
                }
            }
            start = end;
        }
    }
    let mut paths = Vec::new();
    let labels = dice.below(2);
    divide(dice, (0, 12), &["*".to_owned()], labels, &mut paths);
    let mut pool: Vec<String> = (0..1 + dice.below(8)).map(|_| dice.below(12).to_string()).collect();
    // Sometimes the ends of a labeled interval are not values.
    if dice.chance(30) {
        paths.retain(|path| pool.contains(&path[0]));
        pool.dedup();
    }
    (Shape::NumberTree(paths), pool)
}
