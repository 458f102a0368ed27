//! A naive twin of `moretta linkage`: it reads the printed texts of original and releases, compares every person with
//! every released record, and shares no code with moretta.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::people::rows;

/// How the cells of a column are read.
pub enum Reading {
    /// Numbers, `[a, b]` and `[a, b)`.
    Number,
    /// ISO dates without times, `[a, b]`, and periods of the calendar.
    Date,
    /// Codes and prefixes such as `12*`.
    Prefix,
    /// For each leaf, the labels of its ancestors; sets `{a, b}`.
    Category(HashMap<String, BTreeSet<String>>),
}

impl Reading {
    /// Reads a hierarchy file: a leaf and its ancestors in each line, separated by semicolons, without quotes.
    pub fn hierarchy(file: &str) -> Self {
        let line = |line: &str| {
            let labels: Vec<&str> = line.split(';').collect();
            (labels[0].to_owned(), labels.iter().map(|label| (*label).to_owned()).collect())
        };
        Self::Category(file.lines().map(line).collect())
    }

    /// Whether a printed cell contains a value of the original.
    pub fn contains(&self, cell: &str, value: &str) -> bool {
        if cell == "*" || cell == value {
            return true;
        }
        if let Some(set) = cell.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            return set.split(", ").any(|leaf| leaf == value);
        }
        match self {
            Self::Number => {
                let Ok(value) = value.parse::<f64>() else { return false };
                let closed = cell.ends_with(']');
                let inside = cell.trim_start_matches('[').trim_end_matches([']', ')']);
                match inside.split_once(", ") {
                    None => cell.parse::<f64>() == Ok(value),
                    Some((low, high)) => {
                        let (low, high): (f64, f64) = (low.parse().unwrap(), high.parse().unwrap());
                        low <= value && (value < high || closed && value == high)
                    }
                }
            }
            Self::Date => match (cell.split_once("-Q"), cell.strip_suffix('s')) {
                _ if value.is_empty() || cell.is_empty() => false,
                _ if cell.starts_with('[') => {
                    // ISO dates are in the order of their texts.
                    let (low, high) = cell.trim_matches(['[', ']']).split_once(", ").unwrap();
                    low <= value && value <= high
                }
                (Some((year, quarter)), _) => {
                    let month: u32 = value[5..7].parse().unwrap();
                    value.starts_with(year) && quarter == month.div_ceil(3).to_string()
                }
                (_, Some(decade)) => value[..3] == decade[..3],
                // A month or a year; a whole date has the same length as the value.
                _ => cell.len() < value.len() && value.starts_with(&format!("{cell}-")),
            },
            Self::Prefix => {
                cell.strip_suffix('*').is_some_and(|kept| kept.len() < value.len() && value.starts_with(kept))
            }
            Self::Category(labels) => labels.get(value).is_some_and(|labels| labels.contains(cell)),
        }
    }
}

/// Columns by role, as the policy has them.
pub struct Roles<'a> {
    pub known: Vec<(&'a str, Reading)>,
    pub sensitive: &'a str,
    /// All copied columns.
    pub copied: Vec<&'a str>,
}

/// A limit that every joint group must keep.
pub enum Limit<'a> {
    Records(u64),
    Distinct(usize),
    /// Known columns, a value of the sensitive column, and its maximum confidence.
    Confidence(&'a [&'a str], &'a str, f64),
}

/// Counts that moretta must find, too.
#[derive(Debug, PartialEq)]
pub struct Counted {
    pub total: u64,
    pub smallest: u64,
    pub alone: u64,
    pub together: u64,
    /// By limit.
    pub violating: Vec<u64>,
}

pub(super) struct Table {
    columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(text: &str) -> Self {
        let mut rows = rows(text);
        let columns = rows.remove(0);
        Self { columns, rows }
    }

    pub(super) fn values(&self, column: &str) -> Vec<&str> {
        let at = self.columns.iter().position(|name| name == column).unwrap();
        self.rows.iter().map(|row| row[at].as_str()).collect()
    }
}

type Multiset = BTreeMap<Vec<String>, u64>;

/// One release, with the matches of each person in each column.
struct Release {
    /// By known column: which person's value each record's cell contains.
    matches: Vec<Matches>,
    copied: Vec<Vec<String>>,
    /// By record: whether every known column is `*`.
    suppressed: Vec<bool>,
}

/// Distinct values and cells of a column, and which cell contains which value.
struct Matches {
    values: Vec<usize>,
    cells: Vec<usize>,
    contains: Vec<Vec<bool>>,
}

fn numbered<'t>(texts: &[&'t str]) -> (Vec<usize>, Vec<&'t str>) {
    let mut distinct: Vec<&str> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut number = |text: &'t str| {
        *known.entry(text).or_insert_with(|| {
            distinct.push(text);
            distinct.len() - 1
        })
    };
    let numbers = texts.iter().map(|text| number(text)).collect();
    (numbers, distinct)
}

impl Release {
    fn new(original: &Table, release: &Table, roles: &Roles<'_>) -> Self {
        let column = |(name, reading): &(&str, Reading)| {
            let ((values, texts), (cells, labels)) =
                (numbered(&original.values(name)), numbered(&release.values(name)));
            let row = |label: &&str| texts.iter().map(|value| reading.contains(label, value)).collect();
            Matches { values, cells, contains: labels.iter().map(row).collect() }
        };
        let columns: Vec<Vec<&str>> = roles.copied.iter().map(|name| release.values(name)).collect();
        let copied = |row: usize| columns.iter().map(|column| column[row].to_owned()).collect();
        let matches = roles.known.iter().map(column).collect();
        let known: Vec<Vec<&str>> = roles.known.iter().map(|(name, _)| release.values(name)).collect();
        let suppressed = |row: usize| known.iter().all(|column| column[row] == "*");
        let records = 0..release.rows.len();
        Self { matches, copied: records.clone().map(copied).collect(), suppressed: records.map(suppressed).collect() }
    }

    /// Copied values of the records that may be a person's, if the attacker knows these columns. Without suppressed
    /// records, unless there is no other.
    fn candidates(&self, person: usize, known: &[usize], suppressed: bool) -> Multiset {
        let fits = |record: &usize| {
            (suppressed || !self.suppressed[*record])
                && known.iter().all(|column| {
                    let Matches { values, cells, contains } = &self.matches[*column];
                    contains[cells[*record]][values[person]]
                })
        };
        let mut found = Multiset::new();
        for record in (0..self.copied.len()).filter(fits) {
            *found.entry(self.copied[record].clone()).or_default() += 1;
        }
        if found.is_empty() && !suppressed { self.candidates(person, known, true) } else { found }
    }
}

/// Counts what an attacker learns who holds all releases.
pub fn count(original: &str, releases: &[String], roles: &Roles<'_>, limits: &[Limit<'_>]) -> Counted {
    let original = Table::new(original);
    let read = |text: &String| Release::new(&original, &Table::new(text), roles);
    let releases: Vec<Release> = releases.iter().map(read).collect();
    let sensitive = roles.copied.iter().position(|name| *name == roles.sensitive).unwrap();
    let distinct = |records: &Multiset| records.keys().map(|values| &values[sensitive]).collect::<BTreeSet<_>>().len();
    let all: Vec<usize> = (0..roles.known.len()).collect();
    let people = original.rows.len();
    let mut counted =
        Counted { total: people as u64, smallest: u64::MAX, alone: 0, together: 0, violating: vec![0; limits.len()] };
    for person in 0..people {
        let joint = |known: &[usize], suppressed: bool| {
            let mut all = releases.iter().map(|release| release.candidates(person, known, suppressed));
            let first = all.next().unwrap();
            all.fold(first, |joint, other| {
                let common = joint.into_iter().filter_map(|(values, n)| Some((n.min(*other.get(&values)?), values)));
                common.map(|(n, values)| (values, n)).collect::<Multiset>()
            })
        };
        // Both joint groups; the second does not count if it is empty.
        let joints = |known: &[usize]| {
            let other = Some(joint(known, false)).filter(|other| !other.is_empty());
            [Some(joint(known, true)), other].into_iter().flatten().collect::<Vec<_>>()
        };
        let found = joints(&all);
        let records = |joint: &Multiset| joint.values().sum::<u64>();
        counted.smallest = found.iter().map(records).chain([counted.smallest]).min().unwrap();
        let together = found.iter().any(|joint| distinct(joint) == 1);
        counted.together += u64::from(together);
        let certain = |release: &Release, suppressed| distinct(&release.candidates(person, &all, suppressed)) == 1;
        let alone = releases.iter().any(|release| certain(release, true) || certain(release, false));
        counted.alone += u64::from(alone && together);
        for (limit, violating) in limits.iter().zip(&mut counted.violating) {
            let violated = match limit {
                Limit::Records(k) => found.iter().any(|joint| records(joint) < *k),
                Limit::Distinct(l) => found.iter().any(|joint| distinct(joint) < *l),
                Limit::Confidence(given, value, most) => {
                    let known = |name: &&str| roles.known.iter().position(|(known, _)| known == name).unwrap();
                    joints(&given.iter().map(known).collect::<Vec<_>>()).iter().any(|joint| {
                        let with = joint.iter().filter(|(values, _)| values[sensitive] == *value).map(|(_, n)| n);
                        with.sum::<u64>() as f64 / records(joint) as f64 > *most + 1e-9
                    })
                }
            };
            *violating += u64::from(violated);
        }
    }
    counted
}
