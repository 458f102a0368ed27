//! Naive measures of a printed release, computed from the texts of its cells, the texts of the original table and the
//! declarations of the columns, without the library's codes, domains and groups.

use std::collections::{BTreeMap, BTreeSet};

use moretta_core::testing::conformance::{ColumnSpec, Printed, Shape, is_missing};

use crate::world::World;

/// A quasi-identifier of the original table: its declaration and its cells by record.
pub struct OriginalColumn<'a> {
    pub spec: &'a ColumnSpec,
    pub cells: Vec<&'a str>,
}

/// Parses `[low, high]` or `[low, high)`: both ends, and whether the upper end belongs to the interval.
fn interval(shape: &Shape, text: &str) -> Option<(f64, f64, bool)> {
    let rest = text.strip_prefix('[')?;
    let (ends, closed) = match rest.strip_suffix(']') {
        Some(ends) => (ends, true),
        None => (rest.strip_suffix(')')?, false),
    };
    let (low, high) = ends.split_once(", ")?;
    Some((shape.number(low)?, shape.number(high)?, closed))
}

/// Members of a printed set `{a, b}`; `None` if the text is not a set.
fn set_members(text: &str) -> Option<Vec<&str>> {
    Some(text.strip_prefix('{')?.strip_suffix('}')?.split(", ").collect())
}

/// Whether both texts are the same number or date.
fn same_number(shape: &Shape, a: &str, b: &str) -> bool {
    matches!((shape.number(a), shape.number(b)), (Some(a), Some(b)) if a == b)
}

/// Whether `released` is a label like `12*`: a shorter prefix of the code, with one of these lengths, and a star.
fn is_prefix_label(code: &str, released: &str, lengths: &[usize]) -> bool {
    let kept = released.strip_suffix('*').filter(|kept| lengths.contains(&kept.chars().count()));
    kept.is_some_and(|kept| code.starts_with(kept) && code != kept)
}

/// Whether a date lies in a period: a day, month, year (a prefix of the date), quarter (`1984-Q1`) or decade (`1980s`).
fn is_in_period(date: &str, released: &str) -> bool {
    let quarters = ["01 02 03", "04 05 06", "07 08 09", "10 11 12"];
    match (released.split_once("-Q"), released.strip_suffix("0s")) {
        (Some((year, quarter)), _) => {
            let months = quarter.parse().ok().and_then(|quarter: usize| quarters.get(quarter - 1));
            date.starts_with(year) && months.is_some_and(|months| months.contains(&date[5..7]))
        }
        (None, Some(decade)) => date.starts_with(decade),
        (None, None) => [4, 7, 10].contains(&released.len()) && date.starts_with(released),
    }
}

impl<'a> OriginalColumn<'a> {
    /// All quasi-identifiers of a table.
    pub fn all(world: &'a World) -> Vec<Self> {
        let cells = |index: usize| world.rows.iter().map(|row| row[index].as_str()).collect();
        world.quasi.iter().map(|spec| Self { spec, cells: cells(world.column(&spec.name)) }).collect()
    }

    fn has_missing(&self) -> bool {
        self.cells.iter().any(|text| is_missing(text))
    }

    /// Whether the hierarchy file has a leaf for the missing value, and the table has a missing value.
    fn missing_is_in_hierarchy(&self) -> bool {
        let has_leaf = |paths: &Vec<Vec<String>>| paths.iter().any(|path| path[0] == "?");
        self.spec.missing == "category" && self.cells.contains(&"?") && self.spec.shape.paths().is_some_and(has_leaf)
    }

    /// Path of a text in the hierarchy file, from the leaf to the root.
    pub fn path_of(&self, text: &str) -> Option<&Vec<String>> {
        let leaf = if is_missing(text) && self.missing_is_in_hierarchy() { "?" } else { text };
        let paths = self.spec.shape.paths()?;
        paths.iter().find(|path| {
            path[0] == leaf || (self.spec.shape.is_number() && same_number(&self.spec.shape, &path[0], leaf))
        })
    }

    /// Whether the printed cell covers the original text. Not for cells that are printed as a mean, median or midpoint.
    pub fn covers(&self, original: &str, released: &str) -> bool {
        let in_node =
            |text: &str| self.path_of(text).is_some_and(|path| path[1..].iter().any(|label| label == released));
        if released == "*" {
            return true;
        }
        if is_missing(original) {
            let in_set = set_members(released).is_some_and(|values| values.iter().any(|value| is_missing(value)));
            let under_node = self.missing_is_in_hierarchy() && in_node(original);
            return self.spec.missing == "category" && (is_missing(released) || in_set || under_node);
        }
        match &self.spec.shape {
            Shape::Flat | Shape::Tree(_) => {
                let in_set = set_members(released).is_some_and(|values| values.contains(&original));
                original == released || in_set || in_node(original)
            }
            Shape::Prefix(lengths) => {
                let in_set = set_members(released).is_some_and(|values| values.contains(&original));
                original == released || in_set || is_prefix_label(original, released, lengths)
            }
            Shape::NumberTree(_) => same_number(&self.spec.shape, original, released) || in_node(original),
            _ => same_number(&self.spec.shape, original, released) || self.texts_inside(released).contains(&original),
        }
    }

    /// The original texts that are not missing.
    pub fn present(&self) -> Vec<&'a str> {
        self.cells.iter().copied().filter(|text| !is_missing(text)).collect()
    }

    /// The original texts of numbers or dates that lie inside a printed interval or node.
    pub fn texts_inside(&self, released: &str) -> Vec<&'a str> {
        let present = self.present().into_iter();
        let shape = &self.spec.shape;
        let inside = |text: &&str| match (shape, interval(shape, released)) {
            _ if same_number(shape, text, released) => true,
            (Shape::Calendar(_), _) => is_in_period(text, released),
            (Shape::NumberTree(_), _) => {
                self.path_of(text).is_some_and(|path| path.iter().any(|label| label == released))
            }
            (_, Some((low, high, closed))) => {
                let value = shape.number(text).unwrap();
                low <= value && (value < high || (closed && value == high))
            }
            _ => false,
        };
        present.filter(inside).collect()
    }

    /// Number of leaves of the column's domain, including one for missing values.
    fn num_leaves(&self) -> usize {
        let extra = usize::from(self.has_missing() && !self.missing_is_in_hierarchy());
        let present: BTreeSet<&&str> = self.cells.iter().filter(|text| !is_missing(text)).collect();
        match &self.spec.shape {
            Shape::Flat | Shape::Prefix(_) => present.len() + extra,
            Shape::Tree(paths) => paths.len() + extra,
            _ => {
                let numbers = present.iter().map(|text| self.spec.shape.number(text).unwrap().to_bits());
                numbers.collect::<BTreeSet<_>>().len() + extra
            }
        }
    }

    /// NCP and LM of a printed cell.
    fn loss(&self, released: &str) -> (f64, f64) {
        let num_leaves = self.num_leaves();
        let loss_of =
            |covered: usize| (covered as f64 / num_leaves as f64, (covered - 1) as f64 / (num_leaves - 1) as f64);
        if num_leaves == 1 || is_missing(released) {
            return (0.0, 0.0);
        }
        if self.spec.shape.is_ordered() {
            let lost = if released == "*" && self.has_missing() { 1.0 } else { self.range_share(released) };
            return (lost, lost);
        }
        if released == "*" {
            return (1.0, 1.0);
        }
        if let Some(values) = set_members(released) {
            return loss_of(values.len());
        }
        match &self.spec.shape {
            Shape::Prefix(lengths) if released.ends_with('*') => {
                let present: BTreeSet<&&str> = self.cells.iter().filter(|text| !is_missing(text)).collect();
                loss_of(present.iter().filter(|code| is_prefix_label(code, released, lengths)).count())
            }
            Shape::Tree(paths) if paths.iter().all(|path| path[0] != released) => {
                loss_of(paths.iter().filter(|path| path.iter().any(|label| label == released)).count())
            }
            _ => (0.0, 0.0),
        }
    }

    /// Non-uniform entropy of the released labels, which may be in another order than the original cells: summed over
    /// records, the bits needed to find the original value among the original cells that the label covers.
    fn entropy(&self, released: &[&str]) -> f64 {
        let shape = &self.spec.shape;
        let equal = |a: &str, b: &str| {
            if is_missing(a) || is_missing(b) {
                is_missing(a) && is_missing(b)
            } else {
                a == b || (shape.is_ordered() && same_number(shape, a, b))
            }
        };
        // Sum over `texts` of the binary logarithm of the number of original cells that match the text; computed once
        // per distinct text.
        let log_counts = |texts: &[&str], matches: &dyn Fn(&str, &str) -> bool| -> f64 {
            let mut records: BTreeMap<&str, f64> = BTreeMap::new();
            texts.iter().for_each(|text| *records.entry(text).or_default() += 1.0);
            let num_matching = |label: &str| self.cells.iter().filter(|text| matches(text, label)).count() as f64;
            records.iter().map(|(label, records)| records * num_matching(label).log2()).sum()
        };
        log_counts(released, &|text, label| self.covers(text, label)) - log_counts(&self.cells, &equal)
    }

    /// Share of the column's range that a printed cell of numbers or dates spans.
    fn range_share(&self, released: &str) -> f64 {
        let length = |texts: Vec<&str>| {
            let values = texts.iter().map(|text| self.spec.shape.number(text).unwrap());
            values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
        };
        let everything: Vec<&str> = self.cells.iter().copied().filter(|text| !is_missing(text)).collect();
        match released {
            _ if everything.is_empty() || length(everything.clone()) == 0.0 => 0.0,
            "*" => 1.0,
            _ => length(self.texts_inside(released)) / length(everything),
        }
    }
}

/// NCP and LM of the printed cells, by column and record; computed once per distinct text.
fn losses(originals: &[OriginalColumn<'_>], columns: &[Vec<&str>]) -> Vec<Vec<(f64, f64)>> {
    let of_column = |(original, cells): (&OriginalColumn<'_>, &Vec<&str>)| {
        let mut known: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for cell in cells {
            known.entry(cell).or_insert_with(|| original.loss(cell));
        }
        cells.iter().map(|cell| known[cell]).collect()
    };
    originals.iter().zip(columns).map(of_column).collect()
}

/// Naive measures of a printed table, by name.
pub struct NaiveMeasures {
    /// Measures of the whole release.
    pub of_release: BTreeMap<&'static str, Option<f64>>,
    /// Measures of each quasi-identifier.
    pub of_columns: BTreeMap<&'static str, Vec<f64>>,
}

/// Computes all measures of a printed table.
pub fn measures(world: &World, printed: &Printed<'_>) -> NaiveMeasures {
    let originals = OriginalColumn::all(world);
    let columns: Vec<Vec<&str>> = world.quasi.iter().map(|spec| printed.cells(&spec.name)).collect();
    let num_rows = printed.rows.len();
    let (num_columns, num_records) = (columns.len() as f64, num_rows as f64);
    let suppressed = |record: usize| columns.iter().all(|cells| cells[record] == "*");
    let losses = losses(&originals, &columns);
    let loss = |column: usize, record: usize| {
        let (ncp, lm) = losses[column][record];
        (ncp, if suppressed(record) { 1.0 } else { lm })
    };
    let entropy: Vec<f64> = originals.iter().zip(&columns).map(|(original, cells)| original.entropy(cells)).collect();
    let mean = |figure: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..columns.len())
            .map(|column| (0..num_rows).map(|record| figure(column, record)).sum::<f64>() / num_records)
            .collect()
    };
    let sum = |figure: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..columns.len())
            .flat_map(|column| (0..num_rows).map(move |record| (column, record)))
            .map(|(column, record)| figure(column, record))
            .sum()
    };
    let weight = |column: usize| world.quasi[column].weight;
    let total_weight: f64 = (0..columns.len()).map(weight).sum();
    let ncp = sum(&|column, record| weight(column) * loss(column, record).0);
    let groups = printed.groups(&world.quasi.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>());
    let num_groups = groups.len() as f64;
    let group_ncp = |group: &Vec<usize>| (0..columns.len()).map(|column| loss(column, group[0]).0).sum::<f64>();
    let max_ncp = |column: usize| groups.iter().map(|group| loss(column, group[0]).0).fold(0.0, f64::max);
    let discernibility =
        |group: &Vec<usize>| group.len() as f64 * if suppressed(group[0]) { num_records } else { group.len() as f64 };
    let of_release = BTreeMap::from([
        ("gcp", Some(ncp / (num_records * total_weight))),
        ("ncp", Some(ncp)),
        ("lm", Some(sum(&|column, record| loss(column, record).1) / num_records)),
        ("entropy", Some(entropy.iter().sum())),
        ("cm", classification(world, printed, &groups, suppressed)),
        ("rm", regression(world, printed, &groups)),
        ("dm", Some(groups.iter().map(discernibility).sum())),
        (
            "avg",
            world
                .policy
                .privacy
                .k()
                .filter(|_| world.policy.person().is_none())
                .map(|k| num_records / (num_groups * k as f64)),
        ),
        ("ntil", Some(sum(&|column, record| loss(column, record).0) / (num_records * num_columns))),
        ("nil1", Some(groups.iter().map(group_ncp).sum::<f64>() / (num_groups * num_columns))),
        ("nil_inf", Some((0..columns.len()).map(max_ncp).sum::<f64>() / num_columns)),
    ]);
    let of_columns = BTreeMap::from([
        ("ncp", mean(&|column, record| loss(column, record).0)),
        ("lm", mean(&|column, record| loss(column, record).1)),
        ("entropy", entropy),
    ]);
    NaiveMeasures { of_release, of_columns }
}

/// Share of records that are suppressed or not in the majority class of their group; `None` without a class column.
fn classification(
    world: &World,
    printed: &Printed<'_>,
    groups: &[Vec<usize>],
    suppressed: impl Fn(usize) -> bool,
) -> Option<f64> {
    let class = printed.column(world.class.as_ref()?);
    let mistakes = |group: &Vec<usize>| {
        let largest = class.counts(group).into_values().max().unwrap();
        if suppressed(group[0]) { group.len() } else { group.len() - largest }
    };
    Some(groups.iter().map(mistakes).sum::<usize>() as f64 / class.values.len() as f64)
}

/// Squared deviations of the class from the means of its groups, as a share of those from the overall mean; `None`
/// unless the class is a number or date without missing values.
fn regression(world: &World, printed: &Printed<'_>, groups: &[Vec<usize>]) -> Option<f64> {
    let name = world.class.as_ref()?;
    let spec = world.attributes.iter().find(|spec| spec.name == *name)?;
    let cells = printed.cells(name);
    if !spec.shape.is_ordered() || cells.iter().any(|text| is_missing(text)) {
        return None;
    }
    let squared_deviations = |group: &[usize]| {
        let values: Vec<f64> = group.iter().map(|&record| spec.shape.number(cells[record]).unwrap()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let whole = squared_deviations(&(0..cells.len()).collect::<Vec<_>>());
    let within: f64 = groups.iter().map(|group| squared_deviations(group)).sum();
    Some(if whole > 0.0 { within / whole } else { 0.0 })
}
