//! Evaluations against a naive reference, the end of a descent, and the search against all cuts of small tables.

use proptest::prelude::*;

use super::{
    RefineObjective,
    context::{ClassAndPrecision, RefineContext},
    descent::{DescentParams, descend},
    state::{CutState, Reversal},
};
use crate::{
    hierarchy::Cell,
    ids::{NodeId, TupleId},
    measure::{MeasureContext, Measures},
    privacy::MEMBERS_COUNTED,
    recoding::{Cut, Recoding, SUPPRESSION_WORK},
    search::{
        Method, NoObserver, Task,
        bottom_up_generalization::{
            BottomUpGeneralization, BottomUpParams, Criterion,
            tests::random::{Recipe, recipes, table, table_with},
        },
        taxonomy::Taxonomy,
    },
    testing::TestTable,
    verify::verify_against,
};

fn refine_objective(table: &TestTable, taxonomies: &[Taxonomy<'_>], class: bool) -> RefineObjective {
    let measure = Some(if class { Criterion::Class } else { Criterion::Lm });
    BottomUpGeneralization(BottomUpParams { measure, ..BottomUpParams::default() })
        .refine_objective(&task(table, 0), taxonomies)
}

fn task(table: &TestTable, max_suppressed: u64) -> Task<'_> {
    Task { profile: &table.profile, models: &table.models, max_suppressed, seed: 3 }
}

fn roots(table: &TestTable) -> Vec<Vec<NodeId>> {
    table.profile.columns().iter().map(|column| vec![NodeId(0); column.domain.len()]).collect()
}

/// LM and CM of a cut, by the implementation of the measures.
fn measured(table: &TestTable, cut: &Cut) -> (f64, f64) {
    let records = table.profile.records();
    let recoding = Recoding::Global(cut.clone());
    let verified = verify_against(&table.profile, recoding, &[], &table.policy, records).unwrap();
    let measure_context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
    let measures = Measures::of(&measure_context);
    (measures.get("lm").unwrap(), measures.get("cm").unwrap())
}

fn are_close(a: ClassAndPrecision, b: ClassAndPrecision) -> bool {
    (a.class - b.class).abs() < 1e-9 && (a.precision - b.precision).abs() < 1e-9
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn an_evaluation_equals_the_state_after_the_reversal(recipe in recipes(), free: bool, choices in prop::collection::vec(any::<u32>(), 30)) {
        let table = table(&recipe, free);
        let taxonomies = Taxonomy::of_columns(&table.profile);
        let context = RefineContext::new(&task(&table, 5), &taxonomies, refine_objective(&table, &taxonomies, true));
        let mut state = CutState::new(&context, roots(&table));
        for pair in choices.chunks(2) {
            let column = pair[0] as usize % state.nodes.len();
            let code = pair[1] as usize % state.nodes[column].len();
            let node = state.nodes[column][code];
            let children = state.children(column, node);
            let Some(&child) = children.get(pair[1] as usize / 7 % (children.len() + 1)) else { continue };
            let reversal = Reversal { column, node, child: (pair[0] % 3 > 0).then_some(child) };
            let evaluated = state.evaluate(reversal);
            state.apply(reversal, evaluated);
            let regrouped = CutState::new(&context, state.nodes.clone());
            prop_assert_eq!(evaluated.records_below_k, regrouped.evaluation.records_below_k);
            prop_assert!(are_close(evaluated.lost, regrouped.evaluation.lost));
            // The naive reference: the cut with all groups below k suppressed.
            let mut cut = context.cut(&state.nodes);
            cut.suppressed = small(&table, &cut, context.k);
            let lost = context.loss_of_cut(&state.nodes, &cut);
            prop_assert!(are_close(evaluated.lost, lost), "{evaluated:?} {lost:?}");
            let (lm, cm) = measured(&table, &cut);
            let n = table.profile.records() as f64;
            prop_assert!((lost.precision / n - lm).abs() < 1e-9 && (lost.class / n - cm).abs() < 1e-9, "{lost:?} {lm} {cm}");
        }
    }

    #[test]
    fn judging_the_groups_that_change_is_judging_all(
        recipe in recipes(), choices in prop::collection::vec(any::<u32>(), 40), max_suppressed in prop_oneof![Just(0u64), 1u64..20],
    ) {
        let models = "privacy.l-diversity = [{ column = \"class\", l = 2, kind = \"distinct\" }]\nprivacy.template = [{ given = \
                      [\"q0\"], column = \"class\", values = [\"c0\"], max-confidence = 0.7 }]\n";
        let table = table_with(&recipe, false, models);
        let taxonomies = Taxonomy::of_columns(&table.profile);
        let context = RefineContext::new(&task(&table, max_suppressed), &taxonomies, refine_objective(&table, &taxonomies, true));
        let mut state = CutState::new(&context, roots(&table));
        if context.satisfying_cut(&state.nodes).is_none() {
            return Ok(());
        }
        for pair in choices.chunks(2) {
            let column = pair[0] as usize % state.nodes.len();
            let node = state.nodes[column][pair[1] as usize % state.nodes[column].len()];
            let children = state.children(column, node);
            let Some(&child) = children.get(pair[1] as usize / 7 % (children.len() + 1)) else { continue };
            let reversal = Reversal { column, node, child: (pair[0] % 3 > 0).then_some(child) };
            let after = state.evaluate(reversal);
            if after.records_below_k > 0 {
                continue;
            }
            let mut made = state.clone();
            made.apply(reversal, after);
            let holds = context.satisfying_cut(&made.nodes).is_some();
            prop_assert_eq!(state.satisfies_after(reversal), holds, "{:?}", reversal);
            if holds {
                state = made;
            }
        }
    }

    #[test]
    fn a_descent_ends_where_nothing_can_be_reverted(recipe in recipes(), free: bool, partial: bool, max_suppressed in 0u64..20) {
        let table = table(&recipe, free);
        let taxonomies = Taxonomy::of_columns(&table.profile);
        let context = RefineContext::new(&task(&table, max_suppressed), &taxonomies, refine_objective(&table, &taxonomies, false));
        if table.profile.records() < context.k {
            return Ok(());
        }
        let mut state = CutState::new(&context, roots(&table));
        let params = DescentParams { partial, weights: ClassAndPrecision { class: 0.0, precision: 1.0 }, noise: 0.0, thrift: 0.0 };
        let steps = descend(&mut state, params, &mut || 0.0, &|| false);
        let mut walked = Cut::whole(&table.profile);
        steps.iter().for_each(|step| walked.apply(step));
        prop_assert_eq!(&walked.cells, &context.cut(&state.nodes).cells);
        prop_assert!(state.is_within_budget(state.evaluation));
        // Without a budget, a reversal that failed once always fails, so none may be possible at the end.
        for column in 0..state.nodes.len() {
            for node in state.nodes[column].clone() {
                let children = state.children(column, node);
                let single = partial && children.len() > 2;
                let single: Vec<_> = children.iter().copied().filter(|_| single).map(Some).collect();
                for child in [None].into_iter().chain(single).filter(|_| max_suppressed == 0 && !children.is_empty()) {
                    let reversal = Reversal { column, node, child };
                    // A child without records changes nothing.
                    let carried = child.is_none_or(|child| context.records(column, child) > 0);
                    let after = state.evaluate(reversal);
                    prop_assert!(!carried || after.records_below_k > 0, "{reversal:?}");
                }
            }
        }
    }

    #[test]
    fn refinement_is_never_worse_than_the_climb(recipe in recipes(), free: bool, partial: bool, max_suppressed in 0u64..20) {
        let table = table(&recipe, free);
        let task = task(&table, max_suppressed);
        let plain = BottomUpParams { take_back: false, ..BottomUpParams::default() };
        let Ok(climbed) = BottomUpGeneralization(plain).run(&task, &NoObserver) else { return Ok(()) };
        let params = BottomUpParams { search: 10, partial, ..BottomUpParams::default() };
        let refined = BottomUpGeneralization(params).run(&task, &NoObserver).unwrap();
        let cut = |recoding: &Recoding| match recoding {
            Recoding::Global(cut) => cut.clone(),
            Recoding::Local(_) => panic!("a cut"),
        };
        let (before, after) = (measured(&table, &cut(&climbed.recoding)), measured(&table, &cut(&refined.recoding)));
        prop_assert!(after.0 <= before.0 + 1e-9, "LM {before:?} -> {after:?}");
        prop_assert!(after.1 <= before.1 + 1e-9, "CM {before:?} -> {after:?}");
        let verified = verify_against(&table.profile, refined.recoding, &table.models, &table.policy, max_suppressed);
        prop_assert!(verified.is_ok(), "{:?}", verified.err());
    }
}

/// The whole search reads every group a few times per suppression, and its counters contain that: suppression is less
/// than half of the work charged, and no members are counted that are not charged.
#[test]
fn the_work_of_suppression_is_linear_and_charged() {
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) % 12
    };
    let mut state = 1;
    let rows: Vec<String> = (0..400)
        .map(|_| {
            let cells: Vec<String> = (0..3).map(|_| next(&mut state).to_string()).collect();
            format!("{},{}", cells.join(","), next(&mut state) % 4)
        })
        .collect();
    let rows: Vec<(&str, u64)> = rows.iter().map(|row| (row.as_str(), 1)).collect();
    let policy = "privacy.template = [{ given = [\"a\", \"b\", \"c\"], column = \"s\", values = [\"0\"], max-confidence = \
                  0.4 }]\ncolumns.a.role = \"quasi-identifier\"\ncolumns.b.role = \"quasi-identifier\"\n\
                  columns.c.role = \"quasi-identifier\"\ncolumns.s.role = \"sensitive\"";
    let table = TestTable::new(policy, &[], &rows);
    let method = BottomUpGeneralization(BottomUpParams { search: 20, ..BottomUpParams::default() });
    // One thread, because the counters are by thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (outcome, suppression, members) = pool.install(|| {
        let outcome = method.search(&task(&table, 200), &NoObserver);
        (outcome, SUPPRESSION_WORK.get(), MEMBERS_COUNTED.get())
    });
    let charged = outcome.work.iter().find(|(name, _)| *name == "tuples_touched").unwrap().1;
    let Recoding::Global(cut) = outcome.recoding else { panic!("a cut") };
    assert!(!cut.suppressed.is_empty() && suppression > 0);
    assert!(suppression < charged / 2 && members < charged, "{suppression} {members} of {charged}");
}

/// Tuples in groups below k.
fn small(table: &TestTable, cut: &Cut, k: u64) -> Vec<TupleId> {
    let key = |tuple: TupleId| -> Vec<Cell> {
        table.profile.codes(tuple).iter().zip(&cut.cells).map(|(&code, cells)| cells[code as usize]).collect()
    };
    let tuples = || (0..table.profile.tuples() as u32).map(TupleId);
    let mut groups = std::collections::BTreeMap::<_, u64>::new();
    tuples().for_each(|tuple| *groups.entry(key(tuple)).or_default() += table.profile.tuple_records(tuple));
    tuples().filter(|&tuple| groups[&key(tuple)] < k).collect()
}

/// All cuts below a node, each as the node of every leaf.
fn all_cuts(taxonomy: &Taxonomy<'_>, node: NodeId) -> Vec<Vec<NodeId>> {
    let tree = taxonomy.tree();
    let (first, last) = tree.range(node);
    let mut cuts = vec![vec![node; (last - first + 1) as usize]];
    if !tree.is_leaf(node) {
        let below = tree.children(node).map(|child| all_cuts(taxonomy, child));
        cuts.extend(below.fold(vec![Vec::new()], |cuts, of_child| {
            let with =
                |cut: &Vec<NodeId>| of_child.iter().map(|more| [&cut[..], &more[..]].concat()).collect::<Vec<_>>();
            cuts.iter().flat_map(with).collect()
        }));
    }
    cuts
}

/// On tables that are small enough to try all cuts, the search finds the best one.
#[test]
fn the_search_finds_the_best_of_all_cuts_of_small_tables() {
    let mut state = 5u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let (mut tried, mut greedy) = (0, 0);
    while tried < 60 {
        let columns = (0..3).map(|_| (0..4 + next(5)).map(|_| next(40) as usize).collect()).collect();
        let row = |_| ((0..4).map(|_| next(1000) as u32).collect(), 0, 1 + next(3));
        let recipe = Recipe { columns, rows: (0..30).map(row).collect(), k: 4 };
        let table = table(&recipe, false);
        let task = task(&table, 0);
        let taxonomies = Taxonomy::of_columns(&table.profile);
        let context = RefineContext::new(&task, &taxonomies, refine_objective(&table, &taxonomies, false));
        let cuts: Vec<Vec<Vec<NodeId>>> = taxonomies.iter().map(|taxonomy| all_cuts(taxonomy, NodeId(0))).collect();
        if cuts.iter().map(Vec::len).product::<usize>() > 20_000 {
            continue;
        }
        let mut best = f64::INFINITY;
        for a in &cuts[0] {
            for b in &cuts[1] {
                for c in &cuts[2] {
                    let state = CutState::new(&context, vec![a.clone(), b.clone(), c.clone()]);
                    if state.evaluation.records_below_k == 0 {
                        best = best.min(state.evaluation.lost.precision);
                    }
                }
            }
        }
        let lm = |search: u32| {
            let params =
                BottomUpParams { measure: Some(Criterion::Lm), partial: false, search, ..BottomUpParams::default() };
            match BottomUpGeneralization(params).run(&task, &NoObserver).unwrap().recoding {
                Recoding::Global(cut) => measured(&table, &cut).0 * table.profile.records() as f64,
                Recoding::Local(_) => panic!("a cut"),
            }
        };
        assert!((lm(400) - best).abs() < 1e-9, "{} {best} {}", lm(400), lm(1000));
        greedy += u32::from(lm(0) > best + 1e-9);
        tried += 1;
    }
    // Otherwise the test would not show that the search is needed.
    assert!(greedy > 5, "reverting alone was the best in all but {greedy} of {tried}");
}
