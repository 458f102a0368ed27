//! Kept columns: released columns that are not quasi-identifiers. No generalization protects their values, so an
//! attacker who knows some of them can find the records that have them.
//!
//! The figures count records that are unique, and records in groups below k, by each kept column alone, by all of them,
//! and by all released columns. They compare texts, as a recipient who joins the release with another table does.
//! Figures of kept columns alone are counted on the original, before the search, because their cells are copied; those
//! of all released columns on the release.
//!
//! The rule ([`Kept::singles_out`]): the kept columns that `[release] exact` does not list may single out at most 1 %
//! of the records. A release that violates it is not written.

use moretta_core::{
    counts::Counts,
    group_sizes::GroupSizes,
    policy::Policy,
    schema::{Role, Unit},
    text::{count, counted, listed, shown},
};
use serde::Serialize;

use crate::risk::min_group;

/// Maximum records that kept columns may single out without being listed, in percent.
pub const MAX_UNIQUE_PERCENT: u64 = 1;

/// Maximum names of columns in a message.
const MAX_NAMED: usize = 8;

/// Maximum cells that a greedy choice of columns looks at, as rows times the square of the columns.
const MAX_GREEDY_CELLS: usize = 200_000_000;

/// Columns that each step of the greedy choice tries: otherwise the time would grow with the cube of the columns. Not
/// tuned.
const MAX_TRIED: usize = 16;

/// How many records an attacker finds who knows values of kept columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Number of records.
    pub rows: u64,
    /// A group of fewer records is small: k of the policy, or 5.
    pub k: u64,
    /// Every kept column, in policy order.
    pub columns: Vec<KeptColumn>,
    /// All kept columns together; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<KnownValues>,
    /// All kept columns that `[release] exact` does not list; `None` if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_exact: Option<KnownValues>,
    /// All kept columns and the released quasi-identifiers; `None` if persons are counted, whom a release does not
    /// show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_quasi_identifiers: Option<KnownValues>,
}

/// Records that an attacker finds who knows the values of one kept column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeptColumn {
    /// Name of the column.
    pub name: String,
    /// Role in the policy: sensitive, class or insensitive.
    pub role: Role,
    /// Whether `[release] exact` lists it.
    pub exact: bool,
    /// Figures of this column alone.
    #[serde(flatten)]
    pub known: KnownValues,
}

/// Records that an attacker finds who knows the values of some columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct KnownValues {
    /// Number of distinct combinations of values.
    pub distinct: u64,
    /// Records whose combination no other record has or, if persons are counted, no record of another person.
    pub unique_rows: u64,
    /// Records in groups below k.
    pub rows_below_k: u64,
}

impl KnownValues {
    fn of(sizes: &GroupSizes, k: u64) -> Self {
        Self { distinct: sizes.groups(), unique_rows: sizes.unique(), rows_below_k: sizes.below(k) }
    }

    /// The last of the counted columns is the person, whose spellings fold.
    fn of_persons(counts: &Counts, columns: &[usize], k: u64) -> Self {
        let Some(person) = counts.columns.len().checked_sub(1) else { return Self::default() };
        let folded: Vec<String> = counts.columns[person].values.iter().map(|text| text.trim().to_lowercase()).collect();
        let row = |row: usize| {
            let codes = counts.row(row);
            let values: Vec<u32> = columns.iter().map(|&column| codes[column]).collect();
            (values, folded[codes[person] as usize].as_str(), counts.counts[row])
        };
        let mut rows: Vec<(Vec<u32>, &str, u64)> = (0..counts.rows()).map(row).collect();
        rows.sort_unstable();
        let mut found = Self::default();
        for group in rows.chunk_by(|one, other| one.0 == other.0) {
            let persons = group.chunk_by(|one, other| one.1 == other.1).count() as u64;
            let records: u64 = group.iter().map(|(.., records)| records).sum();
            found.distinct += 1;
            found.unique_rows += if persons == 1 { records } else { 0 };
            found.rows_below_k += if persons < k { records } else { 0 };
        }
        found
    }
}

/// Figures of the sets of kept columns.
#[derive(Debug, Clone, Default)]
pub struct KeptSizes {
    rows: u64,
    by_set: Vec<(Vec<String>, KnownValues)>,
}

impl KeptSizes {
    /// The sets of columns whose groups the figures need: each kept column, all of them, and those not listed.
    pub fn sets(policy: &Policy) -> Vec<Vec<String>> {
        let alone = policy.kept().map(|column| vec![column.name.clone()]);
        let mut sets: Vec<Vec<String>> = alone.collect();
        sets.extend([all(policy), not_exact(policy)].into_iter().filter(|set| set.len() > 1));
        sets.dedup();
        sets
    }

    /// From the sizes of these sets, in the same order.
    pub fn new(policy: &Policy, sizes: Vec<GroupSizes>) -> Self {
        let (k, rows) = (min_group(policy), sizes.first().map_or(0, GroupSizes::records));
        let known = sizes.iter().map(|sizes| KnownValues::of(sizes, k));
        Self { rows, by_set: Self::sets(policy).into_iter().zip(known).collect() }
    }

    /// The columns that [`KeptSizes::of_persons`] needs: the kept ones and the person.
    pub fn columns_of_persons(policy: &Policy) -> Vec<String> {
        all(policy).into_iter().chain(policy.person().map(|person| person.name.clone())).collect()
    }

    /// If persons are counted: a record is unique if all records with its values are of one person, and in a small
    /// group if they are of fewer than k.
    pub fn of_persons(policy: &Policy, counts: &Counts) -> Self {
        let k = min_group(policy);
        let index = |name: &String| counts.columns.iter().position(|column| column.name == *name);
        let known = |set: Vec<String>| {
            let columns: Vec<usize> = set.iter().filter_map(index).collect();
            (set, KnownValues::of_persons(counts, &columns, k))
        };
        Self { rows: counts.records, by_set: Self::sets(policy).into_iter().map(known).collect() }
    }

    fn of(&self, set: &[String]) -> Option<KnownValues> {
        self.by_set.iter().find(|(columns, _)| columns == set).map(|(_, known)| *known)
    }

    /// Number of distinct values of a kept column; 0 if the engine does not know it.
    pub fn distinct(&self, column: &String) -> u64 {
        self.of(std::slice::from_ref(column)).map_or(0, |known| known.distinct)
    }

    /// Whether columns that `[release] exact` does not list single out too many records. A figure that an engine does
    /// not have counts as too many.
    pub fn singles_out(&self, policy: &Policy) -> bool {
        let set = not_exact(policy);
        !set.is_empty() && self.of(&set).is_none_or(|known| is_above(known.unique_rows, self.rows))
    }

    /// Number of groups that a pass counts, beside the rows of the columns that it groups by.
    pub fn groups(&self) -> u64 {
        self.by_set.iter().map(|(_, known)| known.distinct).sum()
    }
}

/// All kept columns.
fn all(policy: &Policy) -> Vec<String> {
    policy.kept().map(|column| column.name.clone()).collect()
}

/// The kept columns that `[release] exact` does not list.
pub fn not_exact(policy: &Policy) -> Vec<String> {
    policy.kept().filter(|column| !policy.is_exact(&column.name)).map(|column| column.name.clone()).collect()
}

/// Whether groups of this size single out more records than kept columns may.
pub fn exceeds(sizes: &GroupSizes) -> bool {
    is_above(sizes.unique(), sizes.records())
}

fn is_above(unique: u64, records: u64) -> bool {
    u128::from(unique) * 100 > u128::from(records) * u128::from(MAX_UNIQUE_PERCENT)
}

impl Kept {
    /// `rows` are the groups of the release by all its columns.
    pub fn of(policy: &Policy, sizes: &KeptSizes, rows: &GroupSizes) -> Self {
        let k = min_group(policy);
        let known = |set: &[String]| sizes.of(set);
        let column = |column: &moretta_core::policy::ColumnPolicy| KeptColumn {
            name: column.name.clone(),
            role: column.role,
            exact: policy.is_exact(&column.name),
            known: known(std::slice::from_ref(&column.name)).unwrap_or_default(),
        };
        Self {
            rows: rows.records(),
            k,
            columns: policy.kept().map(column).collect(),
            together: known(&all(policy)),
            not_exact: known(&not_exact(policy)),
            with_quasi_identifiers: (policy.unit() == Unit::Records).then(|| KnownValues::of(rows, k)),
        }
    }

    /// Names of the columns that `[release] exact` lists.
    pub fn exact(&self) -> Vec<&str> {
        self.columns.iter().filter(|column| column.exact).map(|column| column.name.as_str()).collect()
    }

    /// Whether columns that `[release] exact` does not list single out more than 1 % of the records.
    pub fn singles_out(&self) -> bool {
        self.not_exact.is_some_and(|known| is_above(known.unique_rows, self.rows))
    }

    /// Whether all kept columns together, listed or not, single out more than 1 % of the records.
    pub fn finds_many(&self) -> bool {
        self.together.is_some_and(|known| is_above(known.unique_rows, self.rows))
    }

    /// Unit that is counted. If persons are, a record is unique unless a record of another person has the same values.
    pub fn unit(&self) -> Unit {
        if self.with_quasi_identifiers.is_some() { Unit::Records } else { Unit::Persons }
    }

    /// Says which columns single out how many records; `None` if they may.
    pub fn violation(&self) -> Option<String> {
        let known = self.not_exact.filter(|_| self.singles_out())?;
        let names = self.columns.iter().filter(|column| !column.exact).map(|column| column.name.as_str());
        Some(finds(&names.collect::<Vec<_>>(), known.unique_rows, self.rows, self.unit()))
    }
}

/// `an attacker who knows ..  finds 12 of 300 records`
fn finds(columns: &[&str], unique: u64, records: u64, unit: Unit) -> String {
    let other = match unit {
        Unit::Records => "no other record has",
        Unit::Persons => "no record of another person has",
    };
    format!(
        "an attacker who knows {}, which {} released unchanged, finds {} of {} ({:.1} %), because {other} the same \
         values; at most {MAX_UNIQUE_PERCENT} % may be found so",
        named(columns),
        if columns.len() == 1 { "is" } else { "are" },
        count(unique),
        counted(records, "record", "records"),
        100.0 * unique as f64 / records.max(1) as f64,
    )
}

/// Names for a message; the first ones of many.
fn named(columns: &[&str]) -> String {
    let mut names: Vec<String> = columns.iter().take(MAX_NAMED).map(|name| format!("`{}`", shown(name))).collect();
    if columns.len() > MAX_NAMED {
        names.push(format!("{} more", columns.len() - MAX_NAMED));
    }
    listed(&names)
}

/// Message for a table whose kept columns single out too many records. `chosen` is a set of columns without which the
/// others single out few, with the numbers of their distinct values.
pub fn refusal(policy: &Policy, sizes: &KeptSizes, chosen: &[String]) -> String {
    let columns = not_exact(policy);
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let unique = sizes.of(&columns).map_or(0, |known| known.unique_rows);
    let mut message = finds(&names, unique, sizes.rows, policy.unit());
    for name in chosen.iter().take(MAX_NAMED) {
        let values = counted(sizes.distinct(name), "distinct value", "distinct values");
        message += &format!("\n  `{}` has {values}", shown(name));
    }
    let listed: Vec<String> = policy.release.exact.iter().chain(chosen).map(|name| toml_text(name)).collect();
    let these = if chosen.len() == 1 { "it" } else { "them" };
    message += &format!(
        "\n  help: without {these} the others find few; give {these} the role \"quasi-identifier\" or \"identifier\", or, \
         if recipients need the exact values, list {these} in the policy: [release] exact = [{}]",
        listed.join(", ")
    );
    message
}

/// A text of TOML, in quotes.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", shown(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// Number of records that [`order`] should get, for this number of columns.
pub fn greedy_records(columns: usize) -> usize {
    (MAX_GREEDY_CELLS / (columns * columns).max(1)).clamp(2_000, 100_000)
}

/// Order in which to list columns so that the others single out few records, and the number that suffices for these
/// counts. Greedy: of the columns with most values, the next one is that without which the rest has the fewest unique
/// records. `distinct` has the number of distinct values of each column in the whole table.
pub fn order(counts: &Counts, distinct: &[u64]) -> (Vec<usize>, usize) {
    let mut rest: Vec<usize> = (0..counts.columns.len()).collect();
    rest.sort_by_key(|&column| std::cmp::Reverse(distinct[column]));
    let (mut order, mut suffices) = (Vec::new(), None);
    while !rest.is_empty() {
        if suffices.is_none() && !exceeds(&GroupSizes::of_counts(counts, &rest)) {
            suffices = Some(order.len());
        }
        let without = |place: usize| {
            let others: Vec<usize> = rest.iter().copied().filter(|column| *column != rest[place]).collect();
            if others.is_empty() { 0 } else { GroupSizes::of_counts(counts, &others).unique() }
        };
        // After the columns that suffice, the order is by values alone: it is needed only if a larger table differs.
        let next = match suffices {
            None => (0..rest.len().min(MAX_TRIED)).min_by_key(|&place| without(place)),
            Some(_) => Some(0),
        };
        order.push(rest.remove(next.unwrap_or_default()));
    }
    let suffices = suffices.unwrap_or(order.len());
    (order, suffices)
}

#[cfg(test)]
mod tests {
    use moretta_core::{search::method_names, testing::counts};

    use super::*;

    const POLICY: &str = "version = 1\nprivacy.k = 3\n[columns]\nq.role = \"quasi-identifier\"\na.role = \"sensitive\"\n\
                          b.role = \"insensitive\"\nc.role = \"class\"\n";

    fn policy(exact: &str) -> Policy {
        let text = POLICY.replace("[columns]", &format!("release.exact = {exact}\n[columns]"));
        Policy::parse(&text, &method_names()).unwrap()
    }

    /// Groups of these rows by the kept columns, which are `a,b,c`.
    fn sizes(policy: &Policy, rows: &[(&str, u64)]) -> KeptSizes {
        let of = |set: &Vec<String>| {
            let mut groups = std::collections::BTreeMap::new();
            for (row, records) in rows {
                let cells: Vec<&str> = row.split(',').collect();
                let key: Vec<&str> = set.iter().map(|name| cells["abc".find(name.as_str()).unwrap()]).collect();
                *groups.entry(key).or_insert(0) += records;
            }
            GroupSizes::of(groups.into_values())
        };
        KeptSizes::new(policy, KeptSizes::sets(policy).iter().map(of).collect())
    }

    const ROWS: &[(&str, u64)] = &[("x,1,p", 60), ("x,2,p", 1), ("y,3,p", 2), ("y,4,q", 36), ("z,4,q", 1)];

    #[test]
    fn figures_counted_by_hand() {
        let policy = policy("[]");
        let sizes = sizes(&policy, ROWS);
        let rows = GroupSizes::of([100]);
        let kept = Kept::of(&policy, &sizes, &rows);
        let known = |distinct, unique_rows, rows_below_k| KnownValues { distinct, unique_rows, rows_below_k };
        let alone: Vec<KnownValues> = kept.columns.iter().map(|column| column.known).collect();
        assert_eq!(alone, [known(3, 1, 1), known(4, 1, 3), known(2, 0, 0)]);
        assert_eq!(kept.together, Some(known(5, 2, 4)));
        assert_eq!((kept.not_exact, kept.with_quasi_identifiers), (kept.together, Some(known(1, 0, 0))));
        assert!(kept.singles_out() && sizes.singles_out(&policy), "2 of 100 records");
        assert!(
            kept.violation().unwrap().contains("knows `a`, `b` and `c`, which are released unchanged, finds 2 of 100")
        );
    }

    /// A pseudonym that every record of a person repeats finds the person, although no record is unique.
    #[test]
    fn records_of_one_person_are_unique() {
        let text = POLICY.replace("[columns]", "[columns]\nwho.role = \"person\"");
        let policy =
            Policy::parse(&text.replace("b.role = \"insensitive\"\nc.role = \"class\"\n", ""), &method_names());
        let policy = policy.unwrap();
        // q is not grouped here: columns are a (sensitive) and the person.
        let column = |name: &str, values: &[&str]| moretta_core::counts::CountedColumn {
            name: name.to_owned(),
            values: values.iter().map(|&value| value.into()).collect(),
            first_records: None,
            typed: false,
        };
        let counts = Counts {
            columns: vec![column("a", &["x", "y"]), column("who", &["P1", "p1 ", "P2"])],
            codes: vec![0, 0, 0, 1, 1, 0, 1, 2],
            counts: vec![5, 4, 3, 2],
            first_records: None,
            records: 14,
        };
        let sizes = KeptSizes::of_persons(&policy, &counts);
        let kept = Kept::of(&policy, &sizes, &GroupSizes::of([14]));
        // x is of one person in two spellings, y of two.
        assert_eq!(kept.columns[0].known, KnownValues { distinct: 2, unique_rows: 9, rows_below_k: 14 });
        assert!(kept.singles_out() && sizes.singles_out(&policy) && kept.with_quasi_identifiers.is_none());
        let why = "finds 9 of 14 records (64.3 %), because no record of another person has the same values";
        assert!(kept.violation().unwrap().contains(why) && refusal(&policy, &sizes, &[]).contains(why));
    }

    #[test]
    fn listed_columns_may_single_out_records() {
        for (exact, unique, singles_out) in
            [("[\"c\"]", 2, true), ("[\"a\"]", 1, false), ("[\"b\"]", 1, false), ("[\"b\", \"a\"]", 0, false)]
        {
            let policy = policy(exact);
            let sizes = sizes(&policy, ROWS);
            let kept = Kept::of(&policy, &sizes, &GroupSizes::of([100]));
            assert_eq!(kept.not_exact.map(|known| known.unique_rows), Some(unique), "{exact}");
            assert_eq!((kept.singles_out(), sizes.singles_out(&policy)), (singles_out, singles_out), "{exact}");
        }
        let all = policy("[\"a\", \"b\", \"c\"]");
        let kept = Kept::of(&all, &sizes(&all, ROWS), &GroupSizes::of([100]));
        assert!(kept.not_exact.is_none() && !kept.singles_out() && kept.violation().is_none());
        assert_eq!(kept.exact(), ["a", "b", "c"]);
    }

    #[test]
    fn exactly_one_percent_is_allowed() {
        let ones = |ones: usize, others: u64| GroupSizes::of(std::iter::repeat_n(1, ones).chain([others]));
        assert!(!exceeds(&ones(1, 99)) && exceeds(&ones(1, 98)) && !exceeds(&ones(0, 5)));
        assert!(!exceeds(&GroupSizes::default()));
    }

    #[test]
    fn the_greedy_choice_leaves_few_unique_records() {
        let policy = Policy::parse(
            "version = 1\nprivacy.k = 3\n[columns]\na.role = \"quasi-identifier\"\nb.role = \"quasi-identifier\"\n\
             c.role = \"quasi-identifier\"\nd.role = \"quasi-identifier\"\n",
            &method_names(),
        )
        .unwrap();
        // `b` and `d` are two copies of a number, `a` has two values, `c` one.
        let rows: Vec<String> = (0..200).map(|n| format!("{},{n},x,{n}", n % 2)).collect();
        let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
        let counts = counts(&policy, &rows);
        let (order, suffices) = order(&counts, &[2, 200, 1, 200]);
        assert_eq!((&order[..2], suffices), (&[1, 3][..], 2));
        let mut all = order.clone();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3], "every column once, for tables whose first records are not typical");
        let rest: Vec<usize> = (0..4).filter(|column| !order[..suffices].contains(column)).collect();
        assert!(!exceeds(&GroupSizes::of_counts(&counts, &rest)));
        assert!(exceeds(&GroupSizes::of_counts(&counts, &[0, 2, 3])), "one of the two is not enough");
    }
}
