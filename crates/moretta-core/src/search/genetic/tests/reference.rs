//! Comparison with naive implementations on random tables: scores against the measures of the release, and the result
//! of the search against the best of all cuts.

use proptest::prelude::*;

use super::{genetic, plain, small, task};
use crate::{
    hierarchy::Cell,
    ids::ColumnId,
    measure::MeasureContext,
    objective::{Costs, Dispersion, LossMetric, Objective, ObjectiveKind},
    recoding::{Cut, Recoding, suppressed_by},
    search::{
        Method, NoObserver,
        genetic::{
            Genetic, GeneticParams, cells,
            chromosome::Chromosome,
            evaluate::{EvaluationContext, Evaluator, Score},
            merged_tuples::MergedTuples,
            nested_cut,
        },
    },
    testing::{NearShares, TestTable},
    verify::verify_against,
};

const ZIP: &str = "a1;a;ab;*\na2;a;ab;*\nb1;b;ab;*\nb2;b;ab;*\nc1;c;c;*\nc2;c;c;*";
const COLUMNS: &str = "[columns.zip]\nrole = \"quasi-identifier\"\nhierarchy = \"zip.csv\"\nweight = 2\n\
    missing = \"suppress\"\n[columns.age]\nrole = \"quasi-identifier\"\ntype = \"number\"\nmissing = \"category\"\n\
    [columns.one]\nrole = \"quasi-identifier\"\n[columns.s]\nrole = \"sensitive\"\n[columns.n]\nrole = \"sensitive\"\n\
    [columns.class]\nrole = \"class\"\n";
/// Privacy models; the first four are checked by counts.
const PRIVACY: [&str; 7] = [
    "k = 2\n",
    "k = 4\n",
    "k = 3\n[[privacy.template]]\ngiven = [\"zip\"]\ncolumn = \"s\"\nvalues = [\"x\"]\nmax-confidence = 0.6\n",
    "lkc = { l = 1, k = 2, c = 0.8 }\n",
    "[[privacy.template]]\ngiven = [\"zip\", \"age\", \"one\"]\ncolumn = \"s\"\nvalues = [\"x\", \"y\"]\n\
     max-confidence = 0.7\n",
    "k = 2\nl-diversity = [{ column = \"s\", l = 2, kind = \"distinct\" }]\n",
    "t-closeness = [{ column = \"s\", t = 0.4, distance = \"equal\" }]\n",
];

#[derive(Debug, Clone)]
struct RandomCase {
    rows: Vec<[u8; 5]>,
    privacy: usize,
    /// Additional [`NearShares`] models: bits of the known columns, number of guarded values, factor.
    near: Vec<(u8, usize, u64)>,
    objectives: Vec<(u8, u8)>,
    max_suppressed: u64,
    seed: u64,
}

fn cases() -> impl Strategy<Value = RandomCase> {
    let rows = prop::collection::vec(any::<[u8; 5]>(), 1..40);
    let objectives = prop::collection::vec((0u8..7, 1u8..5), 1..4);
    let near = prop::collection::vec((1u8..8, 1usize..4, 2u64..9), 0..3);
    let privacy = (0..PRIVACY.len(), near);
    (rows, privacy, objectives, 0u64..12, any::<u64>()).prop_map(
        |(rows, (privacy, near), objectives, max_suppressed, seed)| RandomCase {
            rows,
            privacy,
            near,
            objectives,
            max_suppressed,
            seed,
        },
    )
}

impl RandomCase {
    fn table(&self) -> TestTable {
        let row = |[zip, age, s, n, class]: &[u8; 5]| {
            let zip = ["a1", "a2", "b1", "b2", "c1", "c2", "?"][usize::from(zip % 7)];
            let age = if age % 8 == 7 { "?".to_owned() } else { (age % 8).to_string() };
            let (s, class) = (["x", "y", "z"][usize::from(s % 3)], ["no", "maybe", "yes"][usize::from(class % 3)]);
            format!("{zip},{age},1,{s},{},{class}", n % 20)
        };
        let rows: Vec<String> = self.rows.iter().map(row).collect();
        let rows: Vec<(&str, u64)> =
            rows.iter().zip(self.rows.iter()).map(|(row, [n, ..])| (row.as_str(), 1 + u64::from(n % 3))).collect();
        let policy = format!("[privacy]\n{}{COLUMNS}", PRIVACY[self.privacy]);
        let mut table = TestTable::new(&policy, &[("zip", ZIP)], &rows);
        for &(columns, values, factor) in &self.near {
            let scope = (0..3).filter(|bit| columns >> bit & 1 == 1).map(ColumnId::from_index).collect();
            table.models.push(Box::new(NearShares::new(&table.profile, scope, "s", values, factor)));
        }
        table
    }

    fn objectives(&self) -> Vec<Objective> {
        let costs = Costs([("yes".to_owned(), [("no".to_owned(), 5.0)].into())].into());
        let numbers = |dispersion| ObjectiveKind::Regression { column: Some("n".to_owned()), dispersion };
        let kind_of = |kind: u8| match kind {
            0 => ObjectiveKind::Precision(LossMetric::Ncp),
            1 => ObjectiveKind::Precision(LossMetric::Lm),
            2 => ObjectiveKind::Classification { column: None, costs: Costs::default() },
            3 => ObjectiveKind::Classification { column: None, costs: costs.clone() },
            4 => ObjectiveKind::Classification { column: Some("s".to_owned()), costs: Costs::default() },
            5 => numbers(Dispersion::Variance),
            _ => numbers(Dispersion::Deviation),
        };
        self.objectives
            .iter()
            .map(|&(kind, weight)| Objective { kind: kind_of(kind), weight: f64::from(weight) })
            .collect()
    }
}

/// Excess and value of a chromosome, computed from the release.
fn naive(
    table: &TestTable,
    context: &EvaluationContext<'_>,
    objectives: &[Objective],
    chromosome: &Chromosome,
    max_suppressed: u64,
) -> (u64, f64) {
    naive_cells(table, objectives, cells(context, chromosome), max_suppressed)
}

fn naive_cells(table: &TestTable, objectives: &[Objective], cells: Vec<Vec<Cell>>, max_suppressed: u64) -> (u64, f64) {
    let mut cut = Cut { cells, suppressed: Vec::new() };
    cut.suppressed = suppressed_by(&table.profile, &table.models, &cut);
    let suppressed: u64 = cut.suppressed.iter().map(|&tuple| table.profile.tuple_records(tuple)).sum();
    let all = table.profile.records();
    let verified = verify_against(&table.profile, Recoding::Global(cut), &[], &table.policy, all).expect("sound");
    let measure_context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
    let value = objectives
        .iter()
        .map(|objective| objective.weight * objective.value(&measure_context).expect("what the table has"))
        .sum();
    (suppressed.saturating_sub(max_suppressed), value)
}

fn same(score: Score, (excess, value): (u64, f64)) -> bool {
    score.excess == excess && (score.value - value).abs() < 1e-9 * value.abs().max(1.0)
}

fn possible(table: &TestTable) -> bool {
    let everything = table.profile.everything();
    let group = crate::privacy::Group::new(&table.profile, &everything);
    table.models.iter().all(|model| model.holds(&group))
}

/// Parameters that find the best of a few hundred cuts.
fn patient(params: GeneticParams) -> GeneticParams {
    let population = std::num::NonZeroU32::new(300).unwrap();
    GeneticParams { population, iterations: 20_000, patience: 10_000, ..params }
}

/// Returns every valid chromosome.
fn all_chromosomes(context: &EvaluationContext<'_>) -> Vec<Chromosome> {
    let bits = context.segments.last().map_or(0, |segment| segment.bits.end);
    let chromosome = |number: u64| {
        let mut chromosome = Chromosome::zeros(bits);
        (0..bits).for_each(|bit| chromosome.set(bit, number >> bit & 1 == 1));
        chromosome
    };
    let chromosomes = (0..1u64 << bits).map(chromosome);
    chromosomes.filter(|chromosome| context.segments.iter().all(|segment| segment.is_valid(chromosome))).collect()
}

proptest! {
    #[test]
    fn scores_agree_with_the_release(case in cases()) {
        let table = case.table();
        let objectives = case.objectives();
        let method = Genetic { params: small(), objectives: objectives.clone() };
        let context = method.context(&task(&table, case.max_suppressed, 1)).unwrap();
        let bits = context.segments.last().map_or(0, |segment| segment.bits.end);
        let mut rng = crate::search::rng::SearchRng::new(case.seed, 0);
        let mut draw = || {
            let mut chromosome = Chromosome::zeros(bits);
            context.segments.iter().for_each(|segment| segment.draw(&mut chromosome, &mut rng));
            chromosome
        };
        let chromosomes: Vec<Chromosome> = (0..4).map(|_| draw()).collect();
        let mut mask = Chromosome::zeros(bits);
        chromosomes.iter().for_each(|chromosome| mask.unite(chromosome));
        let full = MergedTuples::new(&context, None);
        let merged = MergedTuples::new(&context, Some(&mask));
        let mut evaluator = Evaluator::default();
        for chromosome in &chromosomes {
            let expected = naive(&table, &context, &objectives, chromosome, case.max_suppressed);
            evaluator.load(&context, chromosome);
            let score = evaluator.evaluate(&context, &full);
            prop_assert!(same(score, expected), "{score:?} {expected:?}");
            let score = evaluator.evaluate(&context, &merged);
            prop_assert!(same(score, expected), "merged: {score:?} {expected:?}");
            // The same with nested cells.
            let nested = nested_cut::refine(&context, &full, cells(&context, chromosome), u64::MAX, &NoObserver);
            let expected = naive_cells(&table, &objectives, nested.cells, case.max_suppressed);
            prop_assert!(same(nested.score, expected), "nested: {:?} {expected:?}", nested.score);
            prop_assert!(!score.is_better(&nested.score) || same(score, expected));
            // A cut is never dismissed against a score that it equals.
            evaluator.load(&context, chromosome);
            let just = Score { excess: 0, value: score.value * (1.0 + 1e-12), precision_loss: f64::INFINITY };
            prop_assert!(!evaluator.cannot_beat(&context, &full, &just));
        }
    }
}

proptest! {
    // Each case evaluates every valid cut.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn evolution_finds_the_best_cut(mut case in cases()) {
        case.rows.truncate(20);
        case.rows.iter_mut().for_each(|row| row[1] %= 5);
        let table = case.table();
        prop_assume!(possible(&table));
        let objectives = case.objectives();
        let task = task(&table, case.max_suppressed, case.seed);
        let method = Genetic { params: plain(), objectives: objectives.clone() };
        let context = method.context(&task).unwrap();
        let full = MergedTuples::new(&context, None);
        let mut evaluator = Evaluator::default();
        let mut min_value = f64::INFINITY;
        for chromosome in all_chromosomes(&context) {
            let expected = naive(&table, &context, &objectives, &chromosome, case.max_suppressed);
            evaluator.load(&context, &chromosome);
            let score = evaluator.evaluate(&context, &full);
            prop_assert!(same(score, expected), "{score:?} {expected:?}");
            min_value = if expected.0 == 0 { min_value.min(expected.1) } else { min_value };
        }
        for (params, exact) in [(patient(plain()), true), (patient(small()), false)] {
            let outcome = Genetic { params, objectives: objectives.clone() }.run(&task, &NoObserver).unwrap();
            let verified = verify_against(&table.profile, outcome.recoding, &table.models, &table.policy, case.max_suppressed);
            let verified = verified.unwrap();
            let measure_context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
            let found_value: f64 = objectives.iter().map(|objective| objective.weight * objective.value(&measure_context).unwrap()).sum();
            // Nested cells may score better than any valid cut.
            prop_assert!(found_value <= min_value + 1e-9 && (!exact || found_value >= min_value - 1e-9), "{found_value} instead of {min_value}, exact {exact}");
        }
    }
}

#[test]
fn the_result_is_never_worse_than_the_seeds() {
    use crate::search::bottom_up_generalization::{self, BottomUpGeneralization, Criterion};
    let case = RandomCase {
        rows: Vec::new(),
        privacy: 1,
        near: Vec::new(),
        objectives: vec![(1, 1)],
        max_suppressed: 6,
        seed: 1,
    };
    let mut rng = crate::search::rng::SearchRng::new(5, 0);
    let rows = (0..300).map(|_| std::array::from_fn(|_| rng.below(256) as u8)).collect();
    let table = RandomCase { rows, ..case }.table();
    for (max_suppressed, partial) in [(0, true), (0, false), (12, true), (12, false)] {
        let task = task(&table, max_suppressed, 1);
        let params =
            bottom_up_generalization::BottomUpParams { measure: Some(Criterion::Lm), partial, ..Default::default() };
        let theirs = BottomUpGeneralization(params).run(&task, &NoObserver).unwrap();
        let own = GeneticParams { partial, ..small() };
        let ours = genetic(own, ObjectiveKind::Precision(LossMetric::Lm)).run(&task, &NoObserver).unwrap();
        let lost = |recoding| {
            let verified =
                verify_against(&table.profile, recoding, &table.models, &table.policy, max_suppressed).unwrap();
            let measure_context = MeasureContext::of_recoding(&table.policy, &table.profile, verified.released());
            Objective::precision(LossMetric::Lm).value(&measure_context).unwrap()
        };
        let (ours, theirs) = (lost(ours.recoding), lost(theirs.recoding));
        assert!(ours <= theirs + 1e-9, "{max_suppressed} {partial}: {ours} {theirs}");
    }
}
