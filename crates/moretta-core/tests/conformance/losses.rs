//! Naive measures of a printed table: the values that a cell covers and its loss, from the cell's text alone.

use std::collections::{BTreeMap, BTreeSet};

use moretta_core::testing::conformance::{ColumnSpec, Printed, Shape, is_missing};

use crate::world::World;

/// One quasi-identifier of the original table.
pub struct Original<'a> {
    pub spec: &'a ColumnSpec,
    pub cells: Vec<&'a str>,
}

/// The two ends of an interval, and whether the upper one belongs to it.
fn interval(shape: &Shape, text: &str) -> Option<(f64, f64, bool)> {
    let inside = text.strip_prefix('[')?;
    let (ends, closed) = match inside.strip_suffix(']') {
        Some(ends) => (ends, true),
        None => (inside.strip_suffix(')')?, false),
    };
    let (low, high) = ends.split_once(", ")?;
    Some((shape.number(low)?, shape.number(high)?, closed))
}

fn set(text: &str) -> Option<Vec<&str>> {
    Some(text.strip_prefix('{')?.strip_suffix('}')?.split(", ").collect())
}

fn same(shape: &Shape, a: &str, b: &str) -> bool {
    matches!((shape.number(a), shape.number(b)), (Some(a), Some(b)) if a == b)
}

/// Whether `released` is a prefix of the code (`12*`) of one of these lengths.
fn was_cut(code: &str, released: &str, lengths: &[usize]) -> bool {
    let kept = released.strip_suffix('*').filter(|kept| lengths.contains(&kept.chars().count()));
    kept.is_some_and(|kept| code.starts_with(kept) && code != kept)
}

/// Whether a date lies in the named day, month, quarter, year or decade.
fn is_during(date: &str, released: &str) -> bool {
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

impl<'a> Original<'a> {
    pub fn all(world: &'a World) -> Vec<Self> {
        let cells = |at: usize| world.rows.iter().map(|row| row[at].as_str()).collect();
        world.quasi.iter().map(|spec| Self { spec, cells: cells(world.column(&spec.name)) }).collect()
    }

    fn has_missing(&self) -> bool {
        self.cells.iter().any(|text| is_missing(text))
    }

    /// Whether the hierarchy has a leaf for the missing value, and the table uses it.
    fn missing_has_a_place(&self) -> bool {
        let place = |paths: &Vec<Vec<String>>| paths.iter().any(|path| path[0] == "?");
        self.spec.missing == "category" && self.cells.contains(&"?") && self.spec.shape.paths().is_some_and(place)
    }

    pub fn path_of(&self, text: &str) -> Option<&Vec<String>> {
        let leaf = if is_missing(text) && self.missing_has_a_place() { "?" } else { text };
        let paths = self.spec.shape.paths()?;
        paths
            .iter()
            .find(|path| path[0] == leaf || (self.spec.shape.is_number() && same(&self.spec.shape, &path[0], leaf)))
    }

    /// Whether the printed cell covers the original text. Means, medians and midpoints are checked elsewhere.
    pub fn covers(&self, original: &str, released: &str) -> bool {
        let inner = |text: &str| self.path_of(text).is_some_and(|path| path[1..].iter().any(|label| label == released));
        if released == "*" {
            return true;
        }
        if is_missing(original) {
            let in_set = set(released).is_some_and(|values| values.iter().any(|value| is_missing(value)));
            let placed = self.missing_has_a_place() && inner(original);
            return self.spec.missing == "category" && (is_missing(released) || in_set || placed);
        }
        match &self.spec.shape {
            Shape::Flat | Shape::Tree(_) => {
                let in_set = set(released).is_some_and(|values| values.contains(&original));
                original == released || in_set || inner(original)
            }
            Shape::Prefix(lengths) => {
                let in_set = set(released).is_some_and(|values| values.contains(&original));
                original == released || in_set || was_cut(original, released, lengths)
            }
            Shape::NumberTree(_) => same(&self.spec.shape, original, released) || inner(original),
            _ => same(&self.spec.shape, original, released) || self.inside(released).contains(&original),
        }
    }

    /// The original texts that are not missing.
    pub fn present(&self) -> Vec<&'a str> {
        self.cells.iter().copied().filter(|text| !is_missing(text)).collect()
    }

    /// The original texts of numbers or dates that lie inside a printed interval or node.
    pub fn inside(&self, released: &str) -> Vec<&'a str> {
        let present = self.present().into_iter();
        let shape = &self.spec.shape;
        let inside = |text: &&str| match (shape, interval(shape, released)) {
            _ if same(shape, text, released) => true,
            (Shape::Calendar(_), _) => is_during(text, released),
            (Shape::NumberTree(_), _) => self.path_of(text).is_some_and(|path| path.iter().any(|l| l == released)),
            (_, Some((low, high, closed))) => {
                let value = shape.number(text).unwrap();
                low <= value && (value < high || (closed && value == high))
            }
            _ => false,
        };
        present.filter(inside).collect()
    }

    fn leaves(&self) -> usize {
        let extra = usize::from(self.has_missing() && !self.missing_has_a_place());
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
        let leaves = self.leaves();
        let of_leaves = |n: usize| (n as f64 / leaves as f64, (n - 1) as f64 / (leaves - 1) as f64);
        if leaves == 1 || is_missing(released) {
            return (0.0, 0.0);
        }
        if self.spec.shape.is_ordered() {
            let lost = if released == "*" && self.has_missing() { 1.0 } else { self.spread(released) };
            return (lost, lost);
        }
        if released == "*" {
            return (1.0, 1.0);
        }
        if let Some(values) = set(released) {
            return of_leaves(values.len());
        }
        match &self.spec.shape {
            Shape::Prefix(lengths) if released.ends_with('*') => {
                let present: BTreeSet<&&str> = self.cells.iter().filter(|text| !is_missing(text)).collect();
                of_leaves(present.iter().filter(|code| was_cut(code, released, lengths)).count())
            }
            Shape::Tree(paths) if paths.iter().all(|path| path[0] != released) => {
                of_leaves(paths.iter().filter(|path| path.iter().any(|label| label == released)).count())
            }
            _ => (0.0, 0.0),
        }
    }

    /// Non-uniform entropy of the released labels, which may be in another order than the original cells.
    fn entropy(&self, released: &[&str]) -> f64 {
        let shape = &self.spec.shape;
        let equal = |a: &str, b: &str| {
            if is_missing(a) || is_missing(b) {
                is_missing(a) && is_missing(b)
            } else {
                a == b || (shape.is_ordered() && same(shape, a, b))
            }
        };
        // Computed once per distinct text.
        let bits = |texts: &[&str], counts_for: &dyn Fn(&str, &str) -> bool| -> f64 {
            let mut records: BTreeMap<&str, f64> = BTreeMap::new();
            texts.iter().for_each(|text| *records.entry(text).or_default() += 1.0);
            let counted = |label: &str| self.cells.iter().filter(|text| counts_for(text, label)).count() as f64;
            records.iter().map(|(label, records)| records * counted(label).log2()).sum()
        };
        bits(released, &|text, label| self.covers(text, label)) - bits(&self.cells, &equal)
    }

    fn spread(&self, released: &str) -> f64 {
        let length = |texts: Vec<&str>| {
            let values = texts.iter().map(|text| self.spec.shape.number(text).unwrap());
            values.clone().fold(f64::MIN, f64::max) - values.fold(f64::MAX, f64::min)
        };
        let everything: Vec<&str> = self.cells.iter().copied().filter(|text| !is_missing(text)).collect();
        match released {
            _ if everything.is_empty() || length(everything.clone()) == 0.0 => 0.0,
            "*" => 1.0,
            _ => length(self.inside(released)) / length(everything),
        }
    }
}

/// NCP and LM of the printed cell, by column and record; computed once per distinct text.
fn losses(originals: &[Original<'_>], columns: &[Vec<&str>]) -> Vec<Vec<(f64, f64)>> {
    let of_column = |(original, cells): (&Original<'_>, &Vec<&str>)| {
        let mut known: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        for cell in cells {
            known.entry(cell).or_insert_with(|| original.loss(cell));
        }
        cells.iter().map(|cell| known[cell]).collect()
    };
    originals.iter().zip(columns).map(of_column).collect()
}

/// Naive measures of a printed table, by name.
pub struct Naive {
    /// Measures of the whole release.
    pub of_release: BTreeMap<&'static str, Option<f64>>,
    /// Measures of each quasi-identifier.
    pub of_columns: BTreeMap<&'static str, Vec<f64>>,
}

/// All measures of a printed table.
pub fn measures(world: &World, printed: &Printed<'_>) -> Naive {
    let originals = Original::all(world);
    let columns: Vec<Vec<&str>> = world.quasi.iter().map(|spec| printed.cells(&spec.name)).collect();
    let n = printed.rows.len();
    let (p, total) = (columns.len() as f64, n as f64);
    let suppressed = |record: usize| columns.iter().all(|cells| cells[record] == "*");
    let losses = losses(&originals, &columns);
    let loss = |column: usize, record: usize| {
        let (ncp, lm) = losses[column][record];
        (ncp, if suppressed(record) { 1.0 } else { lm })
    };
    let entropy: Vec<f64> = originals.iter().zip(&columns).map(|(original, cells)| original.entropy(cells)).collect();
    let mean = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..columns.len()).map(|column| (0..n).map(|record| of(column, record)).sum::<f64>() / total).collect()
    };
    let sum = |of: &dyn Fn(usize, usize) -> f64| -> f64 {
        (0..columns.len()).flat_map(|column| (0..n).map(move |record| (column, record))).map(|(c, r)| of(c, r)).sum()
    };
    let weight = |column: usize| world.quasi[column].weight;
    let weights: f64 = (0..columns.len()).map(weight).sum();
    let ncp = sum(&|column, record| weight(column) * loss(column, record).0);
    let groups = printed.groups(&world.quasi.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>());
    let count = groups.len() as f64;
    let of_group = |group: &Vec<usize>| (0..columns.len()).map(|column| loss(column, group[0]).0).sum::<f64>();
    let worst = |column: usize| groups.iter().map(|group| loss(column, group[0]).0).fold(0.0, f64::max);
    let squares =
        |group: &Vec<usize>| group.len() as f64 * if suppressed(group[0]) { total } else { group.len() as f64 };
    let of_release = BTreeMap::from([
        ("gcp", Some(ncp / (total * weights))),
        ("ncp", Some(ncp)),
        ("lm", Some(sum(&|column, record| loss(column, record).1) / total)),
        ("entropy", Some(entropy.iter().sum())),
        ("cm", classification(world, printed, &groups, suppressed)),
        ("rm", regression(world, printed, &groups)),
        ("dm", Some(groups.iter().map(squares).sum())),
        ("avg", world.policy.privacy.k().map(|k| total / (count * k as f64))),
        ("ntil", Some(sum(&|column, record| loss(column, record).0) / (total * p))),
        ("nil1", Some(groups.iter().map(of_group).sum::<f64>() / (count * p))),
        ("nil_inf", Some((0..columns.len()).map(worst).sum::<f64>() / p)),
    ]);
    let of_columns = BTreeMap::from([
        ("ncp", mean(&|column, record| loss(column, record).0)),
        ("lm", mean(&|column, record| loss(column, record).1)),
        ("entropy", entropy),
    ]);
    Naive { of_release, of_columns }
}

fn classification(
    world: &World,
    printed: &Printed<'_>,
    groups: &[Vec<usize>],
    suppressed: impl Fn(usize) -> bool,
) -> Option<f64> {
    let name = world.class.as_ref()?;
    let spec = world.attributes.iter().find(|spec| spec.name == *name)?;
    let value = |text: &str| match spec.shape.number(text) {
        _ if is_missing(text) => String::new(),
        Some(number) if spec.shape.is_ordered() => number.to_string(),
        _ => text.to_owned(),
    };
    let cells = printed.cells(name);
    let wrong = |group: &Vec<usize>| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        group.iter().for_each(|&record| *counts.entry(value(cells[record])).or_default() += 1);
        if suppressed(group[0]) { group.len() } else { group.len() - counts.values().max().unwrap() }
    };
    Some(groups.iter().map(wrong).sum::<usize>() as f64 / cells.len() as f64)
}

fn regression(world: &World, printed: &Printed<'_>, groups: &[Vec<usize>]) -> Option<f64> {
    let name = world.class.as_ref()?;
    let spec = world.attributes.iter().find(|spec| spec.name == *name)?;
    let cells = printed.cells(name);
    if !spec.shape.is_ordered() || cells.iter().any(|text| is_missing(text)) {
        return None;
    }
    let squares = |group: &[usize]| {
        let values: Vec<f64> = group.iter().map(|&record| spec.shape.number(cells[record]).unwrap()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let whole = squares(&(0..cells.len()).collect::<Vec<_>>());
    let within: f64 = groups.iter().map(|group| squares(group)).sum();
    Some(if whole > 0.0 { within / whole } else { 0.0 })
}
