use moretta_core::{
    hierarchy::Tree,
    ids::{ColumnId, TupleId},
    measure::MeasureContext,
    objective::LossMetric,
    observer::{NoObserver, Stop},
    policy::{BoundPolicy, MethodChoice},
    run::VerifiedRun,
    search::METHODS,
    testing::{
        After, TestTable,
        conformance::{ColumnSpec, Dice, Shape},
    },
};
use proptest::prelude::*;

use super::{
    Certificate, DEFAULT_WORK, Measured,
    boxes::{Limits, Pass, pass},
    instance::Instance,
    metric_of,
};

fn prove(table: &TestTable) -> Certificate {
    let bound = BoundPolicy::new(&table.policy, &table.profile).unwrap();
    Certificate::prove(&bound, (DEFAULT_WORK, u64::MAX), &NoObserver)
}

/// A random table whose quasi-identifiers have trees; the policy requires k and perhaps more.
fn random_table(dice: &mut Dice, records: usize) -> TestTable {
    let mut specs = Vec::new();
    for index in 0..1 + dice.below(3) {
        let spec = ColumnSpec::quasi_identifier(dice, index);
        let is_free = matches!(spec.shape, Shape::Free | Shape::Dates("" | "\"free\""));
        specs.push(if is_free {
            let pool = ["a", "b", "c"].map(str::to_owned).to_vec();
            ColumnSpec { shape: Shape::Flat, pool, ..spec }
        } else {
            spec
        });
    }
    let k = 2 + dice.below(3);
    let mut policy = format!("[privacy]\nk = {k}\n");
    if dice.chance(30) {
        policy += "max-suppressed = 0.3\n";
    }
    let more = ["", "", "[[privacy.l-diversity]]\ncolumn = \"s\"\nl = 2\n", "[privacy.lkc]\nl = 1\nk = 4\nc = 1.0\n"];
    policy += *dice.one(&more);
    // Without [measure], the metric is that of the method.
    policy += *dice.one(&["[method]\nname = \"sweep\"\n", "[method]\nname = \"k-member\"\n"]);
    policy += *dice.one(&["", "[measure]\nname = \"lm\"\n", "[measure]\nname = \"ncp\"\n"]);
    specs.iter().for_each(|spec| policy += &spec.toml("quasi-identifier"));
    policy += "[columns.s]\nrole = \"sensitive\"\n";
    let files: Vec<(String, String)> =
        specs.iter().filter_map(|spec| Some((spec.name.clone(), spec.file(dice, false)?))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, file)| (name.as_str(), file.as_str())).collect();
    let mut rows: Vec<(String, u64)> = Vec::new();
    while rows.iter().map(|(_, count)| *count as usize).sum::<usize>() < records {
        let mut cells: Vec<String> = specs.iter().map(|spec| spec.cell(dice)).collect();
        cells.push(format!("s{}", dice.below(3)));
        rows.push((cells.join(","), 1));
    }
    let rows: Vec<(&str, u64)> = rows.iter().map(|(row, count)| (row.as_str(), *count)).collect();
    TestTable::new(&policy, &files, &rows)
}

/// The loss of a record and the figure: metric, weights, divisor.
fn scale(table: &TestTable) -> (LossMetric, Vec<f64>, f64) {
    let metric = metric_of(&table.policy).unwrap();
    let Measured { weights, divisor } = Measured::of(&table.policy, metric);
    (metric, weights, divisor)
}

/// The tuple of each record.
fn records(table: &TestTable) -> Vec<TupleId> {
    let tuples = (0..table.profile.tuples()).map(TupleId::from_index);
    tuples.flat_map(|tuple| vec![tuple; table.profile.tuple_records(tuple) as usize]).collect()
}

/// Smallest loss of a record in a group of these tuples: in each column the best node around them.
fn naive_cost(table: &TestTable, group: &[TupleId]) -> f64 {
    let (metric, weights, _) = scale(table);
    let column = |(index, weight): (usize, &f64)| {
        let domain = table.profile.domain(ColumnId::from_index(index));
        let tree = domain.tree().unwrap();
        let covers = |node: &_| {
            let (first, last) = tree.range(*node);
            group.iter().all(|tuple| (first..=last).contains(&table.profile.codes(*tuple)[index]))
        };
        let cost = |node| weight * metric.of(domain, domain.node_cell(node));
        tree.nodes().filter(covers).map(cost).fold(f64::INFINITY, f64::min)
    };
    weights.iter().enumerate().map(column).sum()
}

/// The least loss of a partition into groups of at least k, by dynamic programming over all sets of records.
fn naive_optimum(table: &TestTable, k: u64) -> f64 {
    let records = records(table);
    let n = records.len();
    let members = |set: usize| (0..n).filter(|i| set >> i & 1 == 1).map(|i| records[i]).collect::<Vec<_>>();
    let cost = |set: usize| {
        let group = members(set);
        if (group.len() as u64) < k { f64::INFINITY } else { group.len() as f64 * naive_cost(table, &group) }
    };
    let costs: Vec<f64> = (0..1 << n).map(cost).collect();
    let mut best = vec![f64::INFINITY; 1 << n];
    best[0] = 0.0;
    for set in 1usize..1 << n {
        // The group of the lowest record of the set, with any part of the others.
        let lowest = set & set.wrapping_neg();
        let others = set ^ lowest;
        let mut part = others;
        loop {
            best[set] = best[set].min(costs[part | lowest] + best[others ^ part]);
            if part == 0 {
                break;
            }
            part = (part - 1) & others;
        }
    }
    best[(1 << n) - 1] / n as f64 / scale(table).2
}

/// All boxes: the nodes of each column, their cost, and the tuples in them.
fn naive_boxes(table: &TestTable) -> Vec<(f64, Vec<usize>)> {
    let (metric, weights, _) = scale(table);
    let mut boxes = vec![(0.0, (0..table.profile.tuples()).collect::<Vec<_>>())];
    for (index, weight) in weights.iter().enumerate() {
        let domain = table.profile.domain(ColumnId::from_index(index));
        let tree: &Tree = domain.tree().unwrap();
        let extend = |(cost, tuples): &(f64, Vec<usize>)| {
            let with = |node| {
                let (first, last) = tree.range(node);
                let code = |tuple: &usize| table.profile.codes(TupleId::from_index(*tuple))[index];
                let inside = tuples.iter().copied().filter(|tuple| (first..=last).contains(&code(tuple))).collect();
                (cost + weight * metric.of(domain, domain.node_cell(node)), inside)
            };
            tree.nodes().map(with).collect::<Vec<_>>()
        };
        boxes = boxes.iter().flat_map(extend).collect();
    }
    boxes
}

/// Mean of the k largest prices of the records of some tuples; `None` if there are fewer than k.
fn naive_top(table: &TestTable, tuples: &[usize], prices: &[f64], k: u64) -> Option<f64> {
    let records =
        |tuple: &usize| vec![prices[*tuple]; table.profile.tuple_records(TupleId::from_index(*tuple)) as usize];
    let mut all: Vec<f64> = tuples.iter().flat_map(records).collect();
    all.sort_by(|a, b| b.total_cmp(a));
    (all.len() as u64 >= k).then(|| all[..k as usize].iter().sum::<f64>() / k as f64)
}

fn dice(max: usize) -> impl Strategy<Value = Dice> {
    prop::collection::vec(any::<u16>(), max / 2..max).prop_map(Dice::new)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_bound_is_never_above_the_optimum(mut dice in dice(300), n in 4usize..11) {
        let table = random_table(&mut dice, n);
        let found = prove(&table);
        let optimum = naive_optimum(&table, found.k.unwrap());
        let bound = found.bound.unwrap();
        prop_assert!(bound <= optimum, "{bound} {optimum}");
        // Not a bound that is always 0: the best single group of each record is one.
        let records = records(&table);
        let alone = |tuple: &TupleId| {
            let holds = |(_, tuples): &&(f64, Vec<usize>)| {
                let in_box: u64 = tuples.iter().map(|t| table.profile.tuple_records(TupleId::from_index(*t))).sum();
                tuples.contains(&tuple.index()) && in_box >= found.k.unwrap()
            };
            naive_boxes(&table).iter().filter(holds).map(|(cost, _)| *cost).fold(f64::INFINITY, f64::min)
        };
        let alone = records.iter().map(alone).sum::<f64>() / n as f64 / scale(&table).2;
        prop_assert!(bound >= alone * (1.0 - 1e-7) - 1e-12, "{bound} {alone}");
    }

    #[test]
    fn prices_lowered_by_the_excess_are_feasible(
        mut dice in dice(300),
        n in 4usize..30,
        prices in prop::collection::vec(-1.0..3.0f64, 30),
    ) {
        let table = random_table(&mut dice, n);
        let (metric, weights, _) = scale(&table);
        let k = prove(&table).k.unwrap();
        let instance = Instance::new(&table.profile, metric, &weights, k);
        let prices = &prices[..instance.tuples()];
        let limits = Limits { work: u64::MAX, members: 3, stop: &|| false };
        let Pass { excess, violated, .. } = pass(&instance, prices, &limits).unwrap();
        let boxes = naive_boxes(&table);
        let mut naive = vec![0.0; prices.len()];
        for (cost, tuples) in &boxes {
            let above = naive_top(&table, tuples, prices, k).map_or(0.0, |top| top - cost);
            tuples.iter().for_each(|&tuple| naive[tuple] = f64::max(naive[tuple], above));
        }
        for (a, b) in excess.iter().zip(&naive) {
            prop_assert!((a - b).abs() < 1e-9, "{excess:?} {naive:?}");
        }
        prop_assert_eq!(violated.is_empty(), excess.iter().all(|&excess| excess == 0.0));
        let lowered: Vec<f64> = prices.iter().zip(&excess).map(|(price, excess)| price - excess).collect();
        for (cost, tuples) in &boxes {
            let top = naive_top(&table, tuples, &lowered, k);
            prop_assert!(top.is_none_or(|top| top <= cost + 1e-9));
        }
        let again = pass(&instance, &lowered, &limits).unwrap();
        prop_assert!(again.excess.iter().all(|&excess| excess < 1e-9));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_method_loses_less_than_the_bound(mut dice in dice(1500), n in 20usize..200) {
        let table = random_table(&mut dice, n);
        for entry in METHODS {
            let mut policy = table.policy.clone();
            policy.method = MethodChoice::new(entry.name, Default::default());
            if policy.measure.as_ref().is_some_and(|measure| !entry.objectives.accepts(&measure.objectives)) {
                policy.measure = None;
            }
            let bound = BoundPolicy::new(&policy, &table.profile).unwrap();
            let Ok(run) = VerifiedRun::run(&policy, &table.profile, 1, &NoObserver) else { continue };
            let context = MeasureContext::of_recoding(&policy, &table.profile, run.verified.released());
            let found = Certificate::prove(&bound, (DEFAULT_WORK / 100, u64::MAX), &NoObserver).compare_with(&context);
            let (bound, lost) = (found.bound.unwrap(), found.lost.unwrap());
            prop_assert!(bound <= lost, "{}: {bound} {lost}", entry.name);
            prop_assert!(found.sentence().starts_with("lost "));
        }
    }
}

/// A column `a` with a hierarchy of two groups of two values.
fn pairs(rows: &[(&str, u64)], more: &str) -> TestTable {
    let policy =
        format!("{more}\n[columns.a]\nrole = \"quasi-identifier\"\ntype = \"category\"\nhierarchy = \"a.csv\"");
    TestTable::new(&policy, &[("a", "1;A;*\n2;A;*\n3;B;*\n4;B;*")], rows)
}

const NCP: &str = "[privacy]\nk = 2\n[measure]\nname = \"ncp\"";

#[test]
fn small_tables_have_the_bound_that_is_worked_out_by_hand() {
    let each = [("1", 1), ("2", 1), ("3", 1), ("4", 1)];
    // Two groups, A and B, of two records each: NCP 2 of 4 leaves. The prices 1/2 sum to it.
    let near = |found: Certificate, expected: f64| {
        let bound = found.bound.unwrap();
        assert!(bound <= expected && bound > expected - 1e-5, "{bound} {expected}");
    };
    near(prove(&pairs(&each, NCP)), 0.5);
    // LM: one of three other leaves.
    near(prove(&pairs(&each, &NCP.replace("ncp", "lm"))), 1.0 / 3.0);
    // With k = 4 there is one group.
    near(prove(&pairs(&each, &NCP.replace('2', "4"))), 1.0);
    // Equal records lose nothing.
    near(prove(&pairs(&[("1", 2), ("3", 5)], NCP)), 0.0);
    // The records of 1 have price 0, that of 2 at most 1, since the box A of cost 1/2 has both: 1 of 3 records. The
    // best release has one group, A, and loses 1/2.
    near(prove(&pairs(&[("1", 2), ("2", 1)], NCP)), 1.0 / 3.0);
    // Three records of different groups: all in the root, which costs 1.
    near(prove(&pairs(&[("1", 1), ("3", 1)], NCP)), 1.0);
}

#[test]
fn without_a_bound_there_is_a_reason_and_no_figure() {
    let column = "[columns.a]\nrole = \"quasi-identifier\"\n";
    let numbers = format!("[privacy]\nk = 2\n{column}type = \"number\"\n");
    let widths = format!("{numbers}hierarchy = {{ widths = [10] }}\n");
    let categories = format!("{NCP}\n{column}type = \"category\"\n");
    let genetic = format!(
        "[privacy]\nk = 2\n[method]\nname = \"genetic\"\n{column}type = \"category\"\n[columns.c]\nrole = \"class\"\n"
    );
    let cases = [
        (numbers.clone(), "1", "`a` is released as free intervals"),
        (format!("{widths}[release]\nnumbers = \"mean\"\n"), "1", "`numbers` releases one number per group"),
        (format!("{categories}[release]\nlabels = \"set\"\n"), "1", "`labels = \"set\"` releases the values"),
        (format!("{genetic}[measure]\nname = \"cm\"\n"), "1,x", "the policy minimizes `cm`"),
        (format!("{genetic}[[measure]]\nname = \"cm\"\n[[measure]]\nname = \"lm\"\n"), "1,x", "a sum of measures"),
        (
            format!(
                "[privacy.lkc]\nl = 1\nk = 2\nc = 1.0\n{column}type = \"category\"\n[columns.b]\nrole = \"quasi-identifier\"\n[columns.c]\nrole = \"sensitive\"\n"
            ),
            "1,x,y",
            "set `k` in [privacy]",
        ),
        (categories.replace("k = 2", "k = 9"), "1", "the table has only 4 records"),
    ];
    for (policy, row, reason) in cases {
        let found = prove(&TestTable::new(&policy, &[], &[(row, 4)]));
        let sentence = found.sentence();
        assert!(found.bound.is_none() && found.gap.is_none() && sentence.contains(reason), "{sentence}");
        assert!(sentence.starts_with("no lower bound on the loss is known: "), "{sentence}");
    }
    // With widths, or a model with all columns in place of k, there is one.
    assert!(prove(&TestTable::new(&widths, &[], &[("1", 4)])).bound.is_some());
    let diverse = categories.replace("k = 2", "[[privacy.l-diversity]]\ncolumn = \"c\"\nl = 3")
        + "[columns.c]\nrole = \"sensitive\"\n";
    let found = prove(&TestTable::new(&diverse, &[], &[("1,x", 1), ("2,y", 1), ("3,z", 1)]));
    assert_eq!(found.k, Some(3));
    assert!(found.bound.unwrap() > 0.99);
}

#[test]
fn a_gap_is_rounded_up_and_a_bound_down() {
    let found = prove(&pairs(&[("1", 1), ("2", 1), ("3", 1), ("4", 1)], NCP));
    let found = Certificate { bound: Some(0.064_59), ..found }.compare(Some(0.069_01));
    assert_eq!(found.sentence(), "lost 0.0690 (gcp); no such release can lose less than 0.0645 (gap 6.9 %)");
    let alone = found.clone().compare(None).sentence();
    assert_eq!(
        alone,
        "no release with groups of at least 2 records along these hierarchies can lose less than 0.0645 (gcp)"
    );
    assert_eq!(Certificate { bound: Some(0.0), ..found.clone() }.compare(Some(0.0)).gap, Some(0.0));
    assert_eq!(Certificate { bound: Some(0.0), ..found }.compare(Some(0.1)).gap, None);
}

/// A table whose bound takes several rounds.
fn larger() -> TestTable {
    let mut dice = Dice::new((0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 16) as u16).collect());
    let rows: Vec<String> = (0..400)
        .map(|_| format!("{},{},{}", 1 + dice.below(4), dice.below(5), dice.below(7) * dice.below(5)))
        .collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let policy = "[privacy]\nk = 5\n[measure]\nname = \"ncp\"\n[columns.a]\nrole = \"quasi-identifier\"\ntype = \"category\"\n\
                  hierarchy = \"a.csv\"\n[columns.b]\nrole = \"quasi-identifier\"\ntype = \"category\"\n[columns.c]\n\
                  role = \"quasi-identifier\"\ntype = \"number\"\nhierarchy = { widths = [2, 4, 8, 16] }";
    TestTable::new(policy, &[("a", "1;A;*\n2;A;*\n3;B;*\n4;B;*")], &rows)
}

#[test]
fn a_search_with_less_work_or_a_stop_has_a_lower_bound() {
    let table = larger();
    let bound = BoundPolicy::new(&table.policy, &table.profile).unwrap();
    let whole = prove(&table);
    assert!(whole.stop == Stop::Finished && !whole.limited);
    let mut last = 0.0;
    for work in [100_000, 1_000_000, DEFAULT_WORK] {
        let found = Certificate::prove(&bound, (work, u64::MAX), &NoObserver);
        assert!(found.limited || work > 100_000);
        assert!(found.bound.unwrap() >= last);
        last = found.bound.unwrap();
    }
    assert_eq!(whole.bound, Some(last));
    let none = Certificate::prove(&bound, (10, u64::MAX), &NoObserver);
    assert!(none.bound.is_none() && none.sentence().contains("too many level vectors"), "{}", none.sentence());
    // Without memory for boxes the bound is that of each record alone.
    let small = Certificate::prove(&bound, (DEFAULT_WORK, 0), &NoObserver).bound.unwrap();
    assert!(0.0 < small && small < last);
    let mut stopped = 0;
    for asked in [0, 20, 200, 2000] {
        let after = After::asked(asked);
        let found = Certificate::prove(&bound, (DEFAULT_WORK, u64::MAX), &after);
        assert!(found.bound.unwrap_or(0.0) <= last);
        stopped += usize::from(found.stop != Stop::Finished);
    }
    assert!(stopped > 1);
}

#[test]
fn the_bound_does_not_depend_on_the_number_of_threads() {
    let table = larger();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| prove(&table).bound.unwrap())
    };
    let one = with(1);
    assert!(one > 0.0);
    assert_eq!(one.to_bits(), with(4).to_bits());
}
