//! Tests that every engine must pass: counting equals a plain GROUP BY, a rewrite gives every record its labels and
//! loses none, and nothing is visible before it is published.

use std::collections::BTreeMap;

use crate::{
    counts::{Change, Counts, KeyColumn, RecordOrder, Rewrite, Share},
    engine::{Engine, EngineFault, ReadBackProof, Records, Staged, count_with_sizes},
    group_sizes::GroupSizes,
    observer::{NoObserver, Observer, Stop},
    seed::Seed,
};

/// A small table of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextTable {
    /// Column names.
    pub columns: Vec<String>,
    /// The cells of each record.
    pub rows: Vec<Vec<String>>,
}

/// Makes engines of one kind for the suite.
pub trait EngineUnderTest {
    /// The engine under test.
    type Engine: Engine;

    /// An engine over these records.
    fn engine(&self, table: &TextTable) -> Self::Engine;

    /// A new target, to which nothing was published.
    fn target(&self) -> <Self::Engine as Engine>::Target;

    /// The table that a recipient finds at the target; `None` before a publication.
    fn published(&self, target: &<Self::Engine as Engine>::Target) -> Option<TextTable>;
}

/// Runs the suite on small random tables.
pub fn engine_suite(kind: &impl EngineUnderTest) {
    for seed in 1..40 {
        let mut rng = Lcg(seed);
        let table = random_table(&mut rng);
        let engine = kind.engine(&table);
        assert_eq!(engine.columns(), table.columns);
        assert_eq!(engine.sample(3).expect("sample").rows, table.rows[..table.rows.len().min(3)]);
        counting(&engine, &table, &mut rng);
        for order in [RecordOrder::Shuffled, RecordOrder::Input] {
            if order == RecordOrder::Shuffled || engine.keeps_order() {
                rewriting(kind, &engine, &table, order, &mut rng);
            }
        }
    }
    shuffling(kind);
    cancelling(kind);
}

/// A shuffled release must not keep the order of its input, and another seed must give another order.
fn shuffling(kind: &impl EngineUnderTest) {
    let rows = (0..40).map(|number: usize| vec![number.to_string(), "x".to_owned()]).collect();
    let table = TextTable { columns: ["id", "a"].map(str::to_owned).to_vec(), rows };
    let engine = kind.engine(&table);
    // A rewrite is made of counts, which the engine may keep.
    engine.count(&["a".to_owned()], &NoObserver).expect("counted");
    let key = vec![KeyColumn { name: "a".to_owned(), values: vec!["x".into()], rewritten: true }];
    let released = |seed| {
        let change = Change::Map { labels: vec![vec!["*".into()]], suppressed: Vec::new() };
        let rewrite = Rewrite {
            key: key.clone(),
            change,
            dropped: Vec::new(),
            renotated: Vec::new(),
            order: RecordOrder::Shuffled,
            seed: Seed::Number(seed),
        };
        let target = kind.target();
        let staged = engine.rewrite(&rewrite, &target, &NoObserver).expect("written");
        staged.publish(ReadBackProof::for_tests()).expect("published");
        picked(&kind.published(&target).expect("visible"), &table.columns[..1])
    };
    let (one, another) = (released(1), released(2));
    assert!(one != picked(&table, &table.columns[..1]) && one != another, "the order of the input shows");
    let sorted = |mut ids: Vec<Vec<String>>| {
        ids.sort();
        ids
    };
    assert_eq!(sorted(one), sorted(another), "no record is lost");
}

/// Linear congruential generator: the same numbers in every run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn random_table(rng: &mut Lcg) -> TextTable {
    let columns = ["id", "a", "b c", "d"].map(str::to_owned).to_vec();
    let values = ["x", "y", "1", "01", "", "z,z", "q\"q", "ä"];
    let row = |number: usize, rng: &mut Lcg| {
        let mut cell = |end| values[rng.below(end)].to_owned();
        vec![number.to_string(), cell(3), cell(8), cell(5)]
    };
    let records = 1 + rng.below(60);
    TextTable { columns, rows: (0..records).map(|number| row(number, rng)).collect() }
}

fn picked(table: &TextTable, names: &[String]) -> Vec<Vec<String>> {
    let at = |name: &String| table.columns.iter().position(|column| column == name).expect("a column");
    let places: Vec<usize> = names.iter().map(at).collect();
    table.rows.iter().map(|row| places.iter().map(|&place| row[place].clone()).collect()).collect()
}

fn counting(engine: &impl Engine, table: &TextTable, rng: &mut Lcg) {
    let names: Vec<String> = table.columns.iter().rev().filter(|_| rng.below(3) > 0).cloned().collect();
    let counts = engine.count(&names, &NoObserver).expect("counts");
    assert_eq!(counts.records, table.rows.len() as u64);
    assert_eq!(counts.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>(), names);
    let mut naive: BTreeMap<Vec<String>, (u64, u64)> = BTreeMap::new();
    for (number, row) in (1..).zip(picked(table, &names)) {
        naive.entry(row).or_insert((0, number)).0 += 1;
    }
    assert_eq!(counts.rows(), naive.len());
    for row in 0..counts.rows() {
        let texts: Vec<String> = counts.texts(row).map(str::to_owned).collect();
        let (records, first) = naive[&texts];
        assert_eq!(counts.counts[row], records);
        assert!(counts.first_record(row).is_none_or(|found| found == first));
    }
    assert!(engine.count(&["no such column".to_owned()], &NoObserver).is_err());
    group_sizes(engine, table);
}

/// Sizes of groups are those of the counts of the same columns, alone and together with counts of other columns.
fn group_sizes(engine: &impl Engine, table: &TextTable) {
    let sets: Vec<Vec<String>> = [&["a"][..], &["d", "b c"], &["id", "a", "b c", "d"], &["b c"]]
        .map(|set| set.iter().map(|&name| name.into()).collect())
        .into();
    let naive = |set: &Vec<String>| {
        let mut groups: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        picked(table, set).into_iter().for_each(|row| *groups.entry(row).or_default() += 1);
        GroupSizes::of(groups.into_values())
    };
    let expected: Vec<GroupSizes> = sets.iter().map(naive).collect();
    assert_eq!(engine.group_sizes(&sets, &NoObserver).expect("sizes"), expected);
    let columns = ["b c", "a"].map(str::to_owned);
    let (counts, sizes) = engine.count_with_sizes(&columns, &sets, &NoObserver).expect("counts");
    assert_eq!((tally(&counts), &sizes), (tally(&engine.count(&columns, &NoObserver).expect("counts")), &expected));
    // More sets than are counted in one pass; some within the columns.
    let many: Vec<Vec<String>> = sets.iter().cycle().take(40).cloned().collect();
    let (_, sizes) = count_with_sizes(engine, &columns, &many, &NoObserver).expect("counts");
    assert!(sizes.iter().eq(expected.iter().cycle().take(40)));
    assert!(engine.group_sizes(&[vec!["no such column".to_owned()]], &NoObserver).is_err());
}

/// Records of `a` and `b c` become labels, `id` is dropped, `d` is copied.
fn rewriting<K: EngineUnderTest>(kind: &K, engine: &K::Engine, table: &TextTable, order: RecordOrder, rng: &mut Lcg) {
    let names = ["a", "b c", "d"].map(str::to_owned);
    let counts = engine.count(&names, &NoObserver).expect("counts");
    let changes = [by_map(&counts, rng, false), by_map(&counts, rng, true), by_shares(&counts, rng)];
    for (change, expected) in changes {
        let key = |(at, column): (usize, &crate::counts::CountedColumn)| KeyColumn {
            name: column.name.clone(),
            values: column.values.clone(),
            rewritten: at < 2,
        };
        let key = counts.columns.iter().enumerate().map(key).collect();
        let rewrite = Rewrite {
            key,
            change,
            dropped: vec!["id".to_owned()],
            renotated: Vec::new(),
            order,
            seed: Seed::Number(7),
        };
        let target = kind.target();
        drop(engine.rewrite(&rewrite, &target, &NoObserver).expect("written"));
        assert_eq!(kind.published(&target), None, "a release that was dropped is gone");
        let staged = engine.rewrite(&rewrite, &target, &NoObserver).expect("written");
        let back = staged.open().expect("opens");
        assert_eq!(back.columns(), names);
        assert_eq!(
            tally(&back.count(&names, &NoObserver).expect("counts")),
            expected,
            "records are what they should be"
        );
        drop(back);
        assert_eq!(kind.published(&target), None, "nothing is visible before it is published");
        staged.publish(ReadBackProof::for_tests()).expect("published");
        let found = kind.published(&target).expect("visible");
        assert_eq!(found.columns, names);
        if order == RecordOrder::Input {
            let copied = |table: &TextTable| picked(table, &names[2..]);
            assert_eq!(copied(&found), copied(table), "the order is kept");
        }
    }
}

type Tally = BTreeMap<Vec<String>, u64>;

fn tally(counts: &Counts) -> Tally {
    let row = |row: usize| (counts.texts(row).map(str::to_owned).collect(), counts.counts[row]);
    (0..counts.rows()).map(row).collect()
}

/// A change that maps each value to a label and suppresses some rows, and the expected release.
fn by_map(counts: &Counts, rng: &mut Lcg, suppress: bool) -> (Change, Tally) {
    let labels: Vec<Vec<Box<str>>> = counts.columns[..2]
        .iter()
        .map(|column| column.values.iter().map(|_| ["[1, 2]", "*", "v"][rng.below(3)].into()).collect())
        .collect();
    let (mut suppressed, mut expected) = (Vec::new(), Tally::new());
    for row in 0..counts.rows() {
        let (codes, texts) = (counts.row(row), counts.texts(row).collect::<Vec<_>>());
        let is_suppressed = suppress && rng.below(4) == 0;
        let label = |column: usize| if is_suppressed { "*" } else { &*labels[column][codes[column] as usize] };
        let cells = vec![label(0).to_owned(), label(1).to_owned(), texts[2].to_owned()];
        *expected.entry(cells).or_default() += counts.counts[row];
        if is_suppressed {
            suppressed.extend(codes);
        }
    }
    (Change::Map { labels, suppressed }, expected)
}

/// A change that divides the records of each row among three groups, and the expected release.
fn by_shares(counts: &Counts, rng: &mut Lcg) -> (Change, Tally) {
    let labels: Vec<Vec<Box<str>>> =
        [["g0", "g1", "g2"], ["[0, 9]", "*", "h"]].map(|of| of.map(Box::from).to_vec()).to_vec();
    let (mut rows, mut offsets, mut shares, mut expected) = (Vec::new(), vec![0], Vec::new(), Tally::new());
    for row in 0..counts.rows() {
        rows.extend(counts.row(row));
        let (mut left, mut group) = (counts.counts[row], rng.below(3));
        while left > 0 {
            let records = 1 + rng.below(left as usize) as u64;
            shares.push(Share { group: group as u32, records });
            let cells = [&labels[0][group], &labels[1][group], counts.texts(row).nth(2).unwrap_or_default()];
            *expected.entry(cells.map(|cell| cell.to_string()).to_vec()).or_default() += records;
            (left, group) = (left - records, (group + 1) % 3);
        }
        offsets.push(shares.len() as u32);
    }
    (Change::Shares { rows, offsets, shares, labels }, expected)
}

struct Cancelled;

impl Observer for Cancelled {
    fn stop(&self) -> Option<Stop> {
        Some(Stop::Cancelled)
    }
}

fn cancelling(kind: &impl EngineUnderTest) {
    let table = random_table(&mut Lcg(3));
    let (engine, target) = (kind.engine(&table), kind.target());
    let names = ["a".to_owned()];
    assert!(matches!(engine.count(&names, &Cancelled), Err(EngineFault::Cancelled)));
    let counts = engine.count(&names, &NoObserver).expect("counts");
    let key = vec![KeyColumn { name: names[0].clone(), values: counts.columns[0].values.clone(), rewritten: true }];
    let labels = vec![vec!["*".into(); counts.columns[0].values.len()]];
    let change = Change::Map { labels, suppressed: Vec::new() };
    let rewrite = Rewrite {
        key,
        change,
        dropped: Vec::new(),
        renotated: Vec::new(),
        order: RecordOrder::Shuffled,
        seed: Seed::Number(1),
    };
    assert!(matches!(engine.rewrite(&rewrite, &target, &Cancelled), Err(EngineFault::Cancelled)));
    assert_eq!(kind.published(&target), None);
}
