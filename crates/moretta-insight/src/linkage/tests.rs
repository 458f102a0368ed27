//! The tree over boxes equals a scan, and regions equal those of a naive enumeration over sets of values.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use moretta_core::{
    counts::{CountedColumn, Counts},
    hierarchy::{Hierarchies, file},
    observer::NoObserver,
    policy::{BoundPolicy, Policy},
    profile::Profile,
    search::method_names,
};
use proptest::prelude::*;

use super::{
    Linkage, LinkageError, ReleasedTable,
    boxes::{Boxes, CodeSet},
    people, regions,
    regions::MAX_STEPS,
};

const POLICY: &str = r#"version = 1
[privacy]
k = 3
[[privacy.l-diversity]]
column = "disease"
l = 2
[columns]
age = { role = "quasi-identifier", type = "number" }
zip = { role = "quasi-identifier", type = "category", hierarchy = "zip.csv" }
disease.role = "sensitive"
"#;
const ZIP: &str = "a1;A;*\na2;A;*\nb1;B;*\nb2;B;*\n";

type Row = [String; 3];

fn counts(policy: &Policy, rows: &[Row]) -> Counts {
    let names = Profile::grouped_columns(policy);
    let column =
        |name: String| CountedColumn { name, values: Vec::new(), first_records: Some(Vec::new()), typed: false };
    let mut counts = Counts { columns: names.into_iter().map(column).collect(), ..Counts::default() };
    let mut known: Vec<HashMap<&str, u32>> = vec![HashMap::new(); 3];
    for (number, row) in (1..).zip(rows) {
        for (index, text) in row.iter().enumerate() {
            let column = &mut counts.columns[index];
            let code = *known[index].entry(text).or_insert_with(|| {
                column.values.push(text.as_str().into());
                column.first_records.iter_mut().for_each(|first| first.push(number));
                column.values.len() as u32 - 1
            });
            counts.codes.push(code);
        }
        counts.counts.push(1);
        counts.first_records.get_or_insert_default().push(number);
    }
    counts.records = rows.len() as u64;
    counts
}

/// Links releases; `original` chooses people as targets.
fn link(original: Option<&[Row]>, releases: &[Vec<Row>]) -> Linkage {
    let policy = Policy::parse(POLICY, &method_names()).unwrap();
    let hierarchies: Hierarchies = [("zip".to_owned(), file::parse(ZIP).unwrap())].into_iter().collect();
    let first = counts(&policy, &releases[0]);
    let table = |rows: &Vec<Row>| ReleasedTable::new(String::new(), &policy, &counts(&policy, rows)).unwrap();
    let releases: Vec<ReleasedTable> = releases.iter().map(table).collect();
    match original {
        Some(rows) => {
            let original = Profile::build(&policy, &hierarchies, &counts(&policy, rows)).unwrap();
            people(&BoundPolicy::new(&policy, &original).unwrap(), &releases, &NoObserver).unwrap()
        }
        None => {
            let first = Profile::of_release(&policy, &hierarchies, &first).unwrap();
            let bound = BoundPolicy::new(&policy, &first).unwrap();
            regions(&bound, &hierarchies, &releases, MAX_STEPS, &NoObserver).unwrap()
        }
    }
}

/// All values that a printed cell covers.
fn values(column: usize, cell: &str) -> BTreeSet<String> {
    let texts = |all: &mut dyn Iterator<Item = String>| all.collect();
    match (column, cell.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))) {
        (0, _) if cell == "*" => texts(&mut (0..100).map(|age| age.to_string())),
        (0, Some(ends)) => {
            let (low, high) = ends.split_once(", ").unwrap();
            texts(&mut (low.parse().unwrap()..=high.parse::<u32>().unwrap()).map(|age| age.to_string()))
        }
        (0, None) => [cell.to_owned()].into(),
        _ => texts(&mut ZIP.lines().filter(|line| line.split(';').any(|l| l == cell)).map(|line| line[..2].to_owned())),
    }
}

type Region = Vec<BTreeSet<String>>;
type Multiset = BTreeMap<String, u64>;

fn intersection(a: &Multiset, b: &Multiset) -> Multiset {
    a.iter().filter_map(|(value, n)| Some((value.clone(), *n.min(b.get(value)?)))).collect()
}

/// Number of regions, smallest joint group, and regions below k, below l, and with a certain value.
fn naive_regions(releases: &[Vec<Row>]) -> [u64; 5] {
    let groups: Vec<BTreeMap<Region, Multiset>> = releases
        .iter()
        .map(|release| {
            let mut groups: BTreeMap<Region, Multiset> = BTreeMap::new();
            for [age, zip, disease] in release {
                let group = groups.entry(vec![values(0, age), values(1, zip)]).or_default();
                *group.entry(disease.clone()).or_default() += 1;
            }
            groups
        })
        .collect();
    let mut found: Vec<(Region, Multiset)> = groups[0].clone().into_iter().collect();
    for release in &groups[1..] {
        let pairs = found.iter().flat_map(|one| release.iter().map(move |other| (one, other)));
        let common = pairs.map(|((region, values), (cells, own))| {
            let part: Region = region.iter().zip(cells).map(|(a, b)| a.intersection(b).cloned().collect()).collect();
            (part, intersection(values, own))
        });
        found = common.filter(|(region, own)| !own.is_empty() && region.iter().all(|set| !set.is_empty())).collect();
    }
    let distinct: BTreeSet<Region> = found.into_iter().map(|(region, _)| region).collect();
    let mut counted = [distinct.len() as u64, u64::MAX, 0, 0, 0];
    for region in &distinct {
        let candidates = |release: &BTreeMap<Region, Multiset>, suppressed: bool| {
            let mut all = Multiset::new();
            for (cells, own) in release {
                let is_suppressed = cells.iter().map(BTreeSet::len).eq([100, 4]);
                if cells.iter().zip(region).all(|(cell, part)| part.is_subset(cell)) && (suppressed || !is_suppressed) {
                    own.iter().for_each(|(value, n)| *all.entry(value.clone()).or_default() += n);
                }
            }
            all
        };
        let without = |release| Some(candidates(release, false)).filter(|found| !found.is_empty());
        let joint = groups.iter().map(|release| candidates(release, true)).reduce(|a, b| intersection(&a, &b)).unwrap();
        let other = groups.iter().map(|release| without(release).unwrap_or_else(|| candidates(release, true)));
        let other = other.reduce(|a, b| intersection(&a, &b)).filter(|other| !other.is_empty());
        let both = [Some(joint), other];
        let any = |wrong: &dyn Fn(&Multiset) -> bool| u64::from(both.iter().flatten().any(wrong));
        counted[1] = both.iter().flatten().map(|joint| joint.values().sum()).chain([counted[1]]).min().unwrap();
        counted[2] += any(&|joint| joint.values().sum::<u64>() < 3);
        counted[3] += any(&|joint| joint.len() < 2);
        counted[4] += any(&|joint| joint.len() == 1);
    }
    counted
}

fn person() -> impl Strategy<Value = Row> {
    (20u32..40, 0usize..4, 0usize..4).prop_map(|(age, zip, disease)| {
        let (zip, disease) = (["a1", "a2", "b1", "b2"][zip], ["flu", "ulcer", "gout", "HIV"][disease]);
        [age.to_string(), zip.to_owned(), disease.to_owned()]
    })
}

/// A release: people in groups of four, in the order of some keys, some with `*` only.
fn released(people: &[Row], keys: &[u32]) -> Vec<Row> {
    let mut order: Vec<usize> = (0..people.len()).collect();
    order.sort_by_key(|person| keys[*person]);
    let mut rows = Vec::new();
    for (number, group) in order.chunks(4).enumerate() {
        let ages = group.iter().map(|person| people[*person][0].parse::<u32>().unwrap());
        let (low, high) = (ages.clone().min().unwrap(), ages.max().unwrap());
        let zips: BTreeSet<&str> = group.iter().map(|person| people[*person][1].as_str()).collect();
        let zip = match zips.iter().map(|zip| zip[..1].to_uppercase()).collect::<BTreeSet<_>>().len() {
            _ if zips.len() == 1 => zips.first().unwrap().to_string(),
            1 => zips.first().unwrap()[..1].to_uppercase(),
            _ => "*".to_owned(),
        };
        let age = if low == high { low.to_string() } else { format!("[{low}, {high}]") };
        let cells = if number == 0 { ["*".to_owned(), "*".to_owned()] } else { [age, zip] };
        rows.extend(group.iter().map(|person| [cells[0].clone(), cells[1].clone(), people[*person][2].clone()]));
    }
    rows
}

#[test]
fn too_many_intersections_are_refused() {
    let policy = Policy::parse(POLICY, &method_names()).unwrap();
    let hierarchies: Hierarchies = [("zip".to_owned(), file::parse(ZIP).unwrap())].into_iter().collect();
    let row = |age: &str, disease: &str| [age.to_owned(), "A".to_owned(), disease.to_owned()];
    let counts = counts(&policy, &[row("[20, 29]", "flu"), row("[30, 39]", "flu")]);
    let table = || ReleasedTable::new(String::new(), &policy, &counts).unwrap();
    let (releases, first) = ([table(), table()], Profile::of_release(&policy, &hierarchies, &counts).unwrap());
    let bound = BoundPolicy::new(&policy, &first).unwrap();
    let within = |steps| regions(&bound, &hierarchies, &releases, steps, &NoObserver);
    assert_eq!(within(2).unwrap().total, 2);
    assert_eq!(within(1), Err(LinkageError::TooManyRegions { max_steps: 1 }));
}

#[test]
fn a_total_for_each_model() {
    // Regions by zip alone are fewer than by age and zip, and a template has several parts.
    let template = "[[privacy.template]]\ngiven = [\"age\"]\ncolumn = \"disease\"\nvalues = [\"flu\", \"HIV\"]\n\
        max-confidence = 0.1\n[columns]\n";
    let policy = Policy::parse(&POLICY.replace("[columns]\n", template), &method_names()).unwrap();
    let hierarchies: Hierarchies = [("zip".to_owned(), file::parse(ZIP).unwrap())].into_iter().collect();
    let row = |age: &str, zip: &str, disease: &str| [age.to_owned(), zip.to_owned(), disease.to_owned()];
    let rows = [row("20", "A", "flu"), row("20", "B", "HIV"), row("30", "A", "flu"), row("30", "B", "flu")];
    let counts = counts(&policy, &rows);
    let table = || ReleasedTable::new(String::new(), &policy, &counts).unwrap();
    let first = Profile::of_release(&policy, &hierarchies, &counts).unwrap();
    let bound = BoundPolicy::new(&policy, &first).unwrap();
    let found = regions(&bound, &hierarchies, &[table(), table()], MAX_STEPS, &NoObserver).unwrap();
    let of = |model: &super::JointResult| (model.violating, model.total);
    assert_eq!(found.total, 4);
    // k, the two values of the template, l.
    assert_eq!(found.models.iter().map(of).collect::<Vec<_>>(), [(4, 4), (2, 2), (1, 2), (4, 4)]);
    assert!(found.violations().contains("is violated for 1 of 2 regions"), "{}", found.violations());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn regions_equal_the_naive_enumeration(
        people in prop::collection::vec(person(), 8..32),
        keys in prop::collection::vec(prop::collection::vec(0u32..8, 32), 1..4),
    ) {
        let releases: Vec<Vec<Row>> = keys.iter().map(|keys| released(&people, keys)).collect();
        let found = link(None, &releases);
        let (k, l) = (found.models[0].violating, found.models[1].violating);
        let counted = [found.total, found.smallest_joint_group, k, l, found.certain[0].together];
        prop_assert_eq!(counted, naive_regions(&releases));
        let people = link(Some(&people), &releases);
        prop_assert!(found.smallest_joint_group <= people.smallest_joint_group);
        prop_assert!(!found.holds || people.holds);
    }

    #[test]
    fn the_tree_finds_what_a_scan_finds(
        cells in prop::collection::vec(prop::collection::vec(prop::collection::vec(0u32..12, 1..4), 2), 0..60),
        point in prop::collection::vec(0u32..12, 2),
    ) {
        // A list of two codes is a range, any other a set.
        let set = |codes: &Vec<u32>| match codes[..] {
            [a, b] => CodeSet::of((a.min(b)..=a.max(b)).collect()).unwrap(),
            _ => CodeSet::of(codes.clone()).unwrap(),
        };
        let codes = |set: &CodeSet| -> BTreeSet<u32> {
            match set {
                CodeSet::Range(first, last) => (*first..=*last).collect(),
                CodeSet::Codes(codes) => codes.iter().copied().collect(),
            }
        };
        let rows: Vec<Vec<CodeSet>> = cells.iter().map(|row| row.iter().map(set).collect()).collect();
        let boxes = Boxes::new(2, rows.concat());
        let all = |fits: &dyn Fn(&CodeSet, usize) -> bool| -> Vec<u32> {
            let fits = |row: &Vec<CodeSet>| row.iter().enumerate().all(|(column, cell)| fits(cell, column));
            (0..).zip(&rows).filter(|(_, row)| fits(row)).map(|(group, _)| group).collect()
        };
        prop_assert_eq!(boxes.around(&point), all(&|cell, column| codes(cell).contains(&point[column])));
        if let Some(region) = rows.first() {
            let region_codes: Vec<BTreeSet<u32>> = region.iter().map(codes).collect();
            prop_assert_eq!(boxes.covering(region), all(&|cell, c| region_codes[c].is_subset(&codes(cell))));
            let across = boxes.across(region);
            let groups: Vec<u32> = across.iter().map(|(group, _)| *group).collect();
            prop_assert_eq!(groups, all(&|cell, c| !region_codes[c].is_disjoint(&codes(cell))));
            for (group, part) in across {
                for (column, part) in part.iter().enumerate() {
                    let common = &codes(&rows[group as usize][column]) & &region_codes[column];
                    prop_assert_eq!(codes(part), common);
                }
            }
        }
    }
}
