//! Plans as tables: an engine that runs both passes as SQL would, with nested loops, passes the suite.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
};

use arrow_array::{
    ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array, cast::AsArray, types::Int64Type,
};
use moretta_core::{
    counts::{Change, Counts, KeyColumn, RecordOrder, RenotatedColumn, Rewrite, Share},
    engine::{Engine, EngineFault, ReadBackProof, Records, Sample, Staged},
    notation::Notation,
    observer::{NoObserver, Observer},
    seed::Seed,
    testing::engine_suite::{EngineUnderTest, TextTable, engine_suite},
};
use moretta_engine::{CountedRows, EngineError, EngineOptions, MemoryTable, SqlPlan};

type Store = Arc<Mutex<HashMap<usize, TextTable>>>;

struct Sql {
    table: TextTable,
    store: Store,
    counted: Mutex<Vec<CountedRows>>,
}

fn options(threads: usize) -> EngineOptions {
    EngineOptions { threads, piece_records: 7, ..EngineOptions::default() }
}

fn texts(table: &MemoryTable, column: usize) -> Vec<String> {
    let of = |batch: &RecordBatch| {
        batch.column(column).as_string::<i32>().iter().map(|t| t.unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    table.batches().iter().flat_map(of).collect()
}

fn numbers(table: &MemoryTable, name: &str) -> Vec<i64> {
    let column = table.schema().index_of(name).expect("a column");
    let of = |batch: &RecordBatch| batch.column(column).as_primitive::<Int64Type>().values().to_vec();
    table.batches().iter().flat_map(of).collect()
}

impl Sql {
    fn new(table: TextTable, store: Store) -> Self {
        Self { table, store, counted: Mutex::default() }
    }

    fn picked(&self, names: &[String]) -> Result<Vec<Vec<String>>, EngineFault> {
        let at = |name: &String| self.table.columns.iter().position(|column| column == name);
        let places: Option<Vec<usize>> = names.iter().map(at).collect();
        let places = places.ok_or_else(|| EngineFault::failed("there is no such column"))?;
        Ok(self.table.rows.iter().map(|row| places.iter().map(|&place| row[place].clone()).collect()).collect())
    }

    /// The keys of a table of the plan with their number.
    fn keyed(table: &MemoryTable, width: usize, number: &str) -> HashMap<Vec<String>, i64> {
        let columns: Vec<Vec<String>> = (0..width).map(|column| texts(table, column)).collect();
        let row = |(row, number): (usize, i64)| (columns.iter().map(|column| column[row].clone()).collect(), number);
        let keyed: Vec<(Vec<String>, i64)> = numbers(table, number).into_iter().enumerate().map(row).collect();
        let distinct: HashMap<_, _> = keyed.iter().cloned().collect();
        assert_eq!(keyed.len(), distinct.len(), "a key is there twice");
        distinct
    }
}

impl Records for Sql {
    fn name(&self) -> String {
        "sql".to_owned()
    }

    fn columns(&self) -> &[String] {
        &self.table.columns
    }

    fn count(&self, names: &[String], observer: &dyn Observer) -> Result<Counts, EngineFault> {
        observer.stop().map_or(Ok(()), |_| Err(EngineFault::Cancelled))?;
        let mut groups: BTreeMap<Vec<String>, i64> = BTreeMap::new();
        self.picked(names)?.into_iter().for_each(|key| *groups.entry(key).or_default() += 1);
        let column = |index: usize| -> ArrayRef {
            Arc::new(StringArray::from_iter(
                groups.keys().map(|key| Some(&*key[index]).filter(|text| !text.is_empty())),
            ))
        };
        let mut columns: Vec<(String, ArrayRef)> =
            (0..names.len()).map(|index| (format!("c{index}"), column(index))).collect();
        columns.push(("n".to_owned(), Arc::new(groups.values().copied().collect::<Int64Array>())));
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let cut = batch.num_rows() / 2;
        let batches = vec![batch.slice(0, cut), batch.slice(cut, batch.num_rows() - cut)];
        let table = MemoryTable::new("sql", &batch.schema(), batches)?;
        let (rows, counts) = CountedRows::read(&table, names, options(3), observer)?;
        self.counted.lock().expect("counted").push(rows);
        Ok(counts)
    }

    fn sample(&self, records: usize) -> Result<Sample, EngineFault> {
        let TextTable { columns, rows } = self.table.clone();
        Ok(Sample { columns, rows: rows.into_iter().take(records).collect() })
    }
}

impl Engine for Sql {
    type Target = usize;
    type Staged = Unpublished;

    fn keeps_order(&self) -> bool {
        false
    }

    fn rewrite(&self, rewrite: &Rewrite, target: &usize, observer: &dyn Observer) -> Result<Unpublished, EngineFault> {
        observer.stop().map_or(Ok(()), |_| Err(EngineFault::Cancelled))?;
        // The suite rewrites without counts, too.
        self.count(&rewrite.key.iter().map(|column| column.name.clone()).collect::<Vec<_>>(), observer)?;
        let counted = self.counted.lock().expect("counted");
        let plan = SqlPlan::of(rewrite, counted.iter().find(|rows| rows.has_key_of(rewrite)).expect("counted"))?;
        assert!(plan.secret.len() == 64 && plan.secret.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let whole = Self::keyed(&plan.rows, plan.key.len(), "grp");
        let splits = Self::keyed(&plan.splits, plan.key.len(), "row");
        let shares = ["row", "first", "last", "grp"].map(|name| numbers(&plan.shares, name));
        let labels: Vec<Vec<String>> =
            (0..plan.rewritten.len()).map(|column| texts(&plan.groups, column + 1)).collect();
        let released = |name: &&String| !plan.dropped.contains(name);
        let columns: Vec<String> = self.table.columns.iter().filter(released).cloned().collect();
        let (mut seen, mut rows) = (HashMap::<i64, i64>::new(), Vec::new());
        for (record, key) in self.table.rows.iter().zip(self.picked(&plan.key)?) {
            let group = whole.get(&key).copied().unwrap_or_else(|| {
                let row = splits[&key];
                let number = seen.entry(row).or_default();
                *number += 1;
                let is_it =
                    |line: &usize| shares[0][*line] == row && (shares[1][*line]..=shares[2][*line]).contains(number);
                shares[3][(0..shares[0].len()).find(is_it).expect("a share")]
            });
            let cell = |(name, text): (&String, &String)| {
                let rewritten = plan.rewritten.iter().position(|column| column == name);
                let label = rewritten.map_or(text.clone(), |column| labels[column][group as usize].clone());
                (!plan.dropped.contains(name)).then_some(label)
            };
            rows.push(self.table.columns.iter().zip(record).filter_map(cell).collect::<Vec<_>>());
        }
        // The order of a keyed hash, here of a plain one.
        let hash = |number: usize| -> u64 {
            plan.secret.bytes().fold(number as u64 + 1, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
            })
        };
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|&number| hash(number));
        let rows = order.into_iter().map(|number| rows[number].clone()).collect();
        Ok(Unpublished(*target, Sql::new(TextTable { columns, rows }, Arc::clone(&self.store))))
    }
}

struct Unpublished(usize, Sql);

impl Staged for Unpublished {
    fn open(&self) -> Result<Box<dyn Records + '_>, EngineFault> {
        Ok(Box::new(Sql::new(self.1.table.clone(), Arc::clone(&self.1.store))))
    }

    fn publish(self, _: ReadBackProof) -> Result<(), EngineFault> {
        self.1.store.lock().expect("the store").insert(self.0, self.1.table);
        Ok(())
    }
}

#[derive(Default)]
struct SqlKind(Store, Mutex<usize>);

impl EngineUnderTest for SqlKind {
    type Engine = Sql;

    fn engine(&self, table: &TextTable) -> Sql {
        Sql::new(table.clone(), Arc::clone(&self.0))
    }

    fn target(&self) -> usize {
        let mut made = self.1.lock().expect("targets");
        *made += 1;
        *made
    }

    fn published(&self, target: &usize) -> Option<TextTable> {
        self.0.lock().expect("the store").get(target).cloned()
    }
}

#[test]
fn an_engine_that_joins_the_plan_passes_the_suite() {
    engine_suite(&SqlKind::default());
}

fn counted(columns: Vec<(&str, ArrayRef)>, names: &[&str]) -> Result<(CountedRows, Counts), EngineError> {
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let table = MemoryTable::new("counts", &batch.schema(), vec![batch]).expect("a table");
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    CountedRows::read(&table, &names, options(1), &NoObserver)
}

fn text_column(texts: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(texts.to_vec()))
}

#[test]
fn what_is_no_result_of_a_group_by_is_refused() {
    let texts = || text_column(&[Some("x"), None]);
    let number = |numbers: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(numbers)) };
    let reason = |columns, names: &[&str]| counted(columns, names).expect_err("refused").to_string();
    let columns = |records| vec![("c0", texts()), ("n", records)];
    assert!(counted(columns(number(vec![3, 1])), &["a"]).is_ok());
    assert!(counted(columns(Arc::new(UInt32Array::from(vec![3, 1]))), &["a"]).is_ok());
    for wrong in [number(vec![3, 0]), number(vec![3, -1]), texts(), Arc::new(Float64Array::from(vec![1.0, 2.0]))] {
        assert!(reason(columns(wrong), &["a"]).contains("whole numbers from 1 up"));
    }
    assert!(reason(columns(Arc::new(Int64Array::from(vec![Some(1), None]))), &["a"]).contains("whole numbers"));
    assert!(reason(columns(number(vec![1, 2])), &["a", "b"]).contains("the counted columns"));
    let twice = vec![("c0", text_column(&[Some(""), None])), ("n", number(vec![1, 2]))];
    assert!(reason(twice, &["a"]).contains("the same texts"));
    let too_many = Arc::new(arrow_array::UInt64Array::from(vec![u64::MAX, 1]));
    assert!(reason(columns(too_many), &["a"]).contains("too large"));
}

/// Keys keep the types of the source, and the pieces of a large share cover it.
#[test]
fn large_shares_are_cut_and_keys_keep_their_types() {
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![Some(40), None, Some(7)]));
    let records: ArrayRef = Arc::new(Int64Array::from(vec![25_000, 5, 1]));
    let (rows, counts) = counted(vec![("c0", ages), ("n", records)], &["age"]).expect("counts");
    assert_eq!((counts.records, counts.texts(1).collect::<Vec<_>>()), (25_006, vec![""]));
    let code = |row: usize| counts.row(row)[0];
    let share = |group, records| Share { group, records };
    let rewrite = |from, to| Rewrite {
        key: vec![KeyColumn { name: "age".into(), values: counts.columns[0].values.clone(), rewritten: true }],
        change: Change::Shares {
            rows: vec![code(0), code(2), code(1)],
            offsets: vec![0, 2, 3, 4],
            shares: vec![share(0, 24_000), share(1, 1_000), share(1, 1), share(0, 5)],
            labels: vec![vec!["a".into(), "b".into()]],
        },
        dropped: Vec::new(),
        renotated: vec![RenotatedColumn { name: "age".into(), from, to, missing: Vec::new() }],
        order: RecordOrder::Shuffled,
        seed: Seed::Number(1),
    };
    let plan = SqlPlan::of(&rewrite(Notation::PLAIN, Notation::PLAIN), &rows).expect("a plan");
    let column = |table: &MemoryTable| table.batches()[0].column(0).as_primitive::<Int64Type>().clone();
    assert_eq!(column(&plan.rows), Int64Array::from(vec![Some(7), None]));
    assert_eq!((column(&plan.splits), numbers(&plan.splits, "row")), (Int64Array::from(vec![40]), vec![0]));
    assert_eq!(numbers(&plan.shares, "first"), [1, 10_001, 20_001, 24_001]);
    assert_eq!(numbers(&plan.shares, "last"), [10_000, 20_000, 24_000, 25_000]);
    assert_eq!(numbers(&plan.shares, "grp"), [0, 0, 0, 1]);
    assert_eq!(texts(&plan.groups, 1), ["a", "b"]);
    let comma = Notation { decimal: ',', ..Notation::PLAIN };
    let refused = SqlPlan::of(&rewrite(comma, Notation::PLAIN), &rows).expect_err("another notation");
    assert!(refused.to_string().contains("column `age`"), "{refused}");
    let mut other = rewrite(Notation::PLAIN, Notation::PLAIN);
    other.key[0].values.reverse();
    assert!(!rows.has_key_of(&other) && SqlPlan::of(&other, &rows).is_err(), "codes of other counts");
}
