//! The paper's example, a comparison with a naive reference on single records, and a hierarchy that is a chain.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Choose, Mondrian, MondrianParams};
use crate::{
    hierarchy::{Hierarchies, Tree, TreeBuilder},
    ids::VariantId,
    measure::{MeasureContext, Measures},
    privacy::Group,
    profile::{Column, VariantCount},
    recoding::{Cut, Recoding},
    search::{Method, NoObserver, SearchError, Task, rng::hash_seed},
    testing::TestTable,
    verify::{Verified, verify_against},
};

fn run(table: &TestTable, params: MondrianParams) -> Result<Recoding, SearchError> {
    let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
    Mondrian(params).run(&task, &NoObserver).map(|outcome| outcome.recoding)
}

fn verified(table: &TestTable, recoding: Recoding) -> Option<Verified<'_>> {
    verify_against(&table.profile, recoding, &table.models, &table.policy, 0).ok()
}

fn ncp(table: &TestTable, verified: &Verified) -> f64 {
    let context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
    Measures::of(&context).get("ncp").unwrap()
}

#[test]
fn local_recoding_beats_the_best_global_one() {
    // (age, zip), k = 3. With weights equal to the ranges, NCP is the sum of the interval lengths. With equal weights
    // the best global recoding is as good (7.5).
    let policy = "privacy.k = 3\n[columns.age]\nrole = \"quasi-identifier\"\nweight = 8\n[columns.zip]\nrole = \
                  \"quasi-identifier\"\nweight = 2";
    let rows = [("24,53712", 1), ("25,53711", 1), ("30,53711", 2), ("32,53712", 1), ("32,53713", 1)];
    let table = TestTable::new(policy, &[], &rows);
    let relaxed =
        verified(&table, run(&table, MondrianParams { relaxed: true, choose: Choose::Widest }).unwrap()).unwrap();
    let released = relaxed.released();
    let mut printed: Vec<_> = (0..released.groups())
        .map(|group| (released.label(group, 0), released.label(group, 1), released.records(group)))
        .collect();
    printed.sort_unstable();
    assert_eq!(printed, [("[24, 30]", "[53711, 53712]", 3), ("[30, 32]", "[53711, 53713]", 3)]);
    // All global recodings: any set of boundaries in each column.
    let cells = |column: usize, boundaries: u32| {
        let domain = &table.profile.columns()[column].domain;
        let (mut cells, mut first) = (Vec::new(), 0);
        for last in 0..domain.len() as u32 {
            if last + 1 == domain.len() as u32 || boundaries & (1 << last) != 0 {
                cells.extend((first..=last).map(|_| domain.cover(first, last)));
                first = last + 1;
            }
        }
        cells
    };
    let cuts = (0..8).flat_map(|ages| (0..4).map(move |zips| (ages, zips)));
    let cut =
        |(ages, zips)| Recoding::Global(Cut { cells: vec![cells(0, ages), cells(1, zips)], suppressed: Vec::new() });
    let global = cuts.filter_map(|at| verified(&table, cut(at))).map(|v| ncp(&table, &v)).fold(f64::MAX, f64::min);
    assert_eq!((ncp(&table, &relaxed), global), (33.0, 51.0));
}

/// Mondrian by its definition: single records, and every boundary checked from scratch.
struct Reference<'a> {
    table: &'a TestTable,
    params: MondrianParams,
    min_records: usize,
}

impl Reference<'_> {
    fn code(&self, record: VariantId, column: usize) -> u32 {
        self.table.profile.codes(self.table.profile.tuple_of(record))[column]
    }

    fn holds(&self, records: &[VariantId]) -> bool {
        let members: Vec<VariantCount> = records.iter().map(|&variant| VariantCount { variant, records: 1 }).collect();
        let group = Group::new(&self.table.profile, &members);
        !records.is_empty() && self.table.models.iter().all(|model| model.holds(&group))
    }

    fn split(&self, mut records: Vec<VariantId>) -> Vec<Vec<VariantId>> {
        let columns = self.table.profile.columns();
        let mut spans: Vec<(f64, usize)> = Vec::new();
        for (column, described) in columns.iter().enumerate() {
            let codes = records.iter().map(|&record| self.code(record, column));
            let cell = described.domain.cover(codes.clone().min().unwrap(), codes.max().unwrap());
            spans.push((described.weight * described.domain.ncp(cell), column));
        }
        spans.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut splits = spans.iter().filter_map(|&(_, column)| self.split_column(&records, column));
        let halves = match self.params.choose {
            Choose::Widest => splits.next(),
            // Ties go to the first.
            Choose::Gain => splits.min_by(|a, b| {
                let left = |(low, high): &(Vec<VariantId>, Vec<VariantId>)| {
                    self.remaining_loss(low) + self.remaining_loss(high)
                };
                left(a).total_cmp(&left(b))
            }),
        };
        let Some((low, high)) = halves else {
            records.sort_unstable();
            return vec![records];
        };
        [self.split(low), self.split(high)].concat()
    }

    /// Mean of the NCP of the bounding box and the relative span of the codes, summed over columns and records.
    fn remaining_loss(&self, records: &[VariantId]) -> f64 {
        let of_column = |(column, described): (usize, &Column)| {
            let codes = records.iter().map(|&record| self.code(record, column));
            let (first, last) = (codes.clone().min().unwrap(), codes.max().unwrap());
            let domain = &described.domain;
            let ncp = domain.ncp(domain.cover(first, last));
            let steps = f64::from(last - first) / (domain.len() - 1).max(1) as f64;
            let span = if domain.tree().is_some() { steps } else { ncp };
            described.weight * (ncp + span) / 2.0
        };
        records.len() as f64 * self.table.profile.columns().iter().enumerate().map(of_column).sum::<f64>()
    }

    /// Two halves of the records in order of the column. Records of the same tuple are divided in proportion to their
    /// variants; each record left over by rounding goes to the variant with the largest remainder.
    fn halves(&self, records: &[VariantId], column: usize) -> (Vec<VariantId>, Vec<VariantId>) {
        let tuple = |record: VariantId| self.table.profile.tuple_of(record);
        let mut ordered = records.to_vec();
        ordered.sort_by_key(|&record| (self.code(record, column), tuple(record), record));
        let half = ordered.len() / 2;
        let (mut low, mut high) = (Vec::new(), Vec::new());
        for alike in ordered.chunk_by(|&a, &b| tuple(a) == tuple(b)) {
            let wanted = alike.len().min(half - low.len());
            let variants: Vec<(VariantId, usize)> =
                alike.chunk_by(|a, b| a == b).map(|chunk| (chunk[0], chunk.len())).collect();
            let mut taken: Vec<usize> = variants.iter().map(|(_, n)| n * wanted / alike.len()).collect();
            while taken.iter().sum::<usize>() < wanted {
                let behind = (0..variants.len()).filter(|&at| taken[at] == variants[at].1 * wanted / alike.len());
                let next = behind
                    .min_by_key(|&at| {
                        let remainder = variants[at].1 * wanted % alike.len();
                        (std::cmp::Reverse(remainder), hash_seed(0, u64::from(variants[at].0.0)), at)
                    })
                    .unwrap();
                taken[next] += 1;
            }
            for ((variant, n), taken) in variants.into_iter().zip(taken) {
                low.extend(std::iter::repeat_n(variant, taken));
                high.extend(std::iter::repeat_n(variant, n - taken));
            }
        }
        (low, high)
    }

    fn split_column(&self, records: &[VariantId], column: usize) -> Option<(Vec<VariantId>, Vec<VariantId>)> {
        let domain = &self.table.profile.columns()[column].domain;
        let codes: Vec<u32> = records.iter().map(|&record| self.code(record, column)).collect();
        let (first, last) = (*codes.iter().min()?, *codes.iter().max()?);
        if first == last {
            return None;
        }
        // A boundary divides no class: a class is a value, or a child of the lowest node that covers all records.
        let class = |code: u32| match domain.tree() {
            Some(tree) => {
                let around = tree.cover(first, last);
                tree.children(around).position(|child| tree.range(child).1 >= code).unwrap() as u32
            }
            None => code,
        };
        let mut classes: BTreeMap<u32, usize> = BTreeMap::new();
        codes.iter().for_each(|&code| *classes.entry(class(code)).or_default() += 1);
        let mut boundaries: Vec<(usize, u32)> = Vec::new();
        for &boundary in classes.keys().skip(1) {
            let low = codes.iter().filter(|&&code| class(code) < boundary).count();
            if low.min(records.len() - low) >= self.min_records {
                boundaries.push((low.abs_diff(records.len() - low), boundary));
            }
        }
        boundaries.sort_unstable();
        for (_, boundary) in boundaries.into_iter().take(16) {
            let below = |record: &VariantId| class(self.code(*record, column)) < boundary;
            let (low, high): (Vec<_>, Vec<_>) = records.iter().copied().partition(below);
            if self.holds(&low) && self.holds(&high) {
                return Some((low, high));
            }
        }
        let (mut ordered, high) = self.halves(records, column);
        ordered.sort_unstable();
        let halves = self.params.relaxed && domain.tree().is_none() && self.holds(&ordered) && self.holds(&high);
        halves.then_some((ordered, high))
    }
}

/// A tree with leaves at several depths; some leaves do not occur in the data.
const TREE: &str = "a;a;x;*\nb;g;x;*\nc;g;x;*\nd;d;d;*\ne;h;y;*\nf;h;y;*\nu;h;y;*\nw;i;y;*\nj;i;y;*";

fn rows() -> impl Strategy<Value = Vec<(String, u64)>> {
    let row = (0..45u32, 0..9usize, 0..20u32, 0..4u32, 1..4u64).prop_map(|(n, t, f, s, records)| {
        let leaf = ["a", "b", "c", "d", "e", "f", "a", "a", "b"][t];
        (format!("{n},{leaf},f{f},s{s}"), records)
    });
    prop::collection::vec(row, 1..90)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn equals_its_naive_reference(
        rows in rows(),
        k in 1u64..5,
        model in 0usize..4,
        weights in prop::array::uniform3(1u32..4),
        relaxed: bool,
        widest: bool,
    ) {
        let params = MondrianParams { relaxed, choose: if widest { Choose::Widest } else { Choose::Gain } };
        let mut policy = format!("[privacy]\nk = {}\n", k + u64::from(model == 0));
        policy += [
            "",
            "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\n",
            "[[privacy.t-closeness]]\ncolumn = \"s\"\nt = 0.3\ndistance = \"equal\"\n",
            "[[privacy.template]]\ngiven = [\"n\"]\ncolumn = \"s\"\nvalues = [\"s0\"]\nmax-confidence = 0.4\n",
        ][model];
        for (column, weight) in ["n", "t", "f"].iter().zip(weights) {
            let file = if *column == "t" { "hierarchy = \"t.csv\"\n" } else { "" };
            policy += &format!("[columns.{column}]\nrole = \"quasi-identifier\"\nweight = {weight}\n{file}");
        }
        policy += "[columns.s]\nrole = \"sensitive\"\n";
        let rows: Vec<(&str, u64)> = rows.iter().map(|(row, records)| (row.as_str(), *records)).collect();
        let table = TestTable::new(&policy, &[("t", TREE)], &rows);
        let min_records = table.models.iter().map(|model| model.min_records()).max().unwrap() as usize;
        let reference = Reference { table: &table, params, min_records };
        let expand = |member: &VariantCount| vec![member.variant; member.records as usize];
        let everything: Vec<VariantId> = table.profile.everything().iter().flat_map(expand).collect();
        match run(&table, params) {
            Ok(Recoding::Local(found)) => {
                let mut groups: BTreeMap<_, Vec<VariantId>> = BTreeMap::new();
                for share in &found.assignments {
                    let member = VariantCount { variant: share.variant, records: share.records };
                    groups.entry(share.group).or_default().extend(expand(&member));
                }
                groups.values_mut().for_each(|group| group.sort_unstable());
                let (mut groups, mut expected): (Vec<_>, Vec<_>) = (groups.into_values().collect(), reference.split(everything));
                groups.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(groups, expected);
            }
            Ok(Recoding::Global(_)) => prop_assert!(false, "Mondrian makes groups"),
            Err(_) => prop_assert!(!reference.holds(&everything)),
        }
    }
}

fn chain(leaves: usize) -> Tree {
    let mut builder = TreeBuilder::default();
    let mut above = TreeBuilder::ROOT;
    for leaf in 0..leaves - 1 {
        builder.add(format!("v{leaf}"), above);
        above = builder.add(format!("n{leaf}"), above);
    }
    builder.add(format!("v{}", leaves - 1), above);
    builder.build()
}

/// Each split of a chain separates one leaf, so the recursion is as deep as the chain has leaves.
#[test]
fn a_chain_of_fifty_thousand_leaves_needs_no_stack() {
    let policy = "privacy.k = 2\n[columns.t]\nrole = \"quasi-identifier\"\nhierarchy = \"t.csv\"\n\
                  [columns.s]\nrole = \"sensitive\"\n[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\n";
    let rows: Vec<String> = (0..50_000).step_by(5).flat_map(|leaf| [0, 1].map(|s| format!("v{leaf},{s}"))).collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).stack_size(128 << 10).build().unwrap();
    let worst = pool.install(|| {
        let trees = Hierarchies::from_iter([("t".to_owned(), chain(50_000))]);
        let table = TestTable::with_trees(policy, trees, &rows);
        let verified = verified(&table, run(&table, MondrianParams::default()).unwrap()).unwrap();
        assert_eq!(verified.released().groups(), 10_000);
        let root = table.profile.columns()[0].domain.whole();
        let coarse = Cut { cells: vec![vec![root; 50_000]], suppressed: Vec::new() };
        let coarse = self::verified(&table, Recoding::Global(coarse)).unwrap();
        (ncp(&table, &verified), ncp(&table, &coarse))
    });
    assert_eq!(worst, (0.0, 20_000.0));
}

#[test]
fn a_table_without_records_has_no_groups() {
    let policy = "columns.q.role = \"quasi-identifier\"\ncolumns.s.role = \"sensitive\"\n[[privacy.template]]\n\
                  given = [\"q\"]\ncolumn = \"s\"\nvalues = [\"x\"]\nmax-confidence = 0.5";
    let table = TestTable::new(policy, &[], &[]);
    assert_eq!(verified(&table, run(&table, MondrianParams::default()).unwrap()).unwrap().released().groups(), 0);
}
