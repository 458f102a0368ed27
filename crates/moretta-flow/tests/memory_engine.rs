//! An engine without files: it passes the engine suite, and its records can be released.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{Arc, Mutex},
};

use moretta_core::{
    counts::{Change, CountedColumn, Counts, Rewrite, Share},
    engine::{Engine, EngineFault, ReadBackProof, Records, Sample, Staged},
    observer::{NoObserver, Observer},
    policy::Policy,
    search::method_names,
    testing::engine_suite::{EngineUnderTest, TextTable, engine_suite},
};
use moretta_flow::{ErrorKind, LoadedPolicy, ReleaseOptions, Resources, Session};

type Store = Arc<Mutex<HashMap<String, TextTable>>>;

/// Records in memory, without record numbers and without an order to keep.
struct Memory {
    table: TextTable,
    store: Store,
    defect: Option<Defect>,
}

/// Defects of an engine that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    AnotherLabel,
    LosesARecord,
    AnotherValue,
    KeepsTheIdentifier,
}

fn check(observer: &dyn Observer) -> Result<(), EngineFault> {
    observer.stop().map_or(Ok(()), |_| Err(EngineFault::Cancelled))
}

impl Memory {
    fn keys(&self, names: &[String]) -> Result<Vec<Vec<String>>, EngineFault> {
        let at = |name: &String| self.table.columns.iter().position(|column| column == name);
        let places: Option<Vec<usize>> = names.iter().map(at).collect();
        let places = places.ok_or_else(|| EngineFault::failed("there is no such column"))?;
        Ok(self.table.rows.iter().map(|row| places.iter().map(|&place| row[place].clone()).collect()).collect())
    }
}

impl Records for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn columns(&self) -> &[String] {
        &self.table.columns
    }

    fn count(&self, names: &[String], observer: &dyn Observer) -> Result<Counts, EngineFault> {
        check(observer)?;
        let mut groups: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        self.keys(names)?.into_iter().for_each(|key| *groups.entry(key).or_default() += 1);
        let column = |name: &String| CountedColumn { name: name.clone(), ..CountedColumn::default() };
        let mut counts = Counts { columns: names.iter().map(column).collect(), ..Counts::default() };
        for (key, records) in groups {
            for (column, text) in counts.columns.iter_mut().zip(key) {
                let known = column.values.iter().position(|value| **value == *text);
                counts.codes.push(known.unwrap_or(column.values.len()) as u32);
                column.values.extend(known.is_none().then(|| text.into()));
            }
            counts.counts.push(records);
            counts.records += records;
        }
        Ok(counts)
    }

    fn sample(&self, records: usize) -> Result<Sample, EngineFault> {
        let TextTable { columns, rows } = self.table.clone();
        Ok(Sample { columns, rows: rows.into_iter().take(records).collect() })
    }
}

impl Engine for Memory {
    type Target = String;
    type Staged = Unpublished;

    fn keeps_order(&self) -> bool {
        false
    }

    fn rewrite(&self, plan: &Rewrite, target: &String, observer: &dyn Observer) -> Result<Self::Staged, EngineFault> {
        check(observer)?;
        let names: Vec<String> = plan.key.iter().map(|column| column.name.clone()).collect();
        let kept = |name: &&String| !plan.dropped.contains(name);
        let columns: Vec<String> = self.table.columns.iter().filter(kept).cloned().collect();
        let mut left: HashMap<Vec<u32>, Vec<Share>> = HashMap::new();
        if let Change::Shares { rows, offsets, shares, .. } = &plan.change {
            for (row, ends) in rows.chunks(names.len()).zip(offsets.windows(2)) {
                left.insert(row.to_vec(), shares[ends[0] as usize..ends[1] as usize].to_vec());
            }
        }
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (record, key) in self.table.rows.iter().zip(self.keys(&names)?) {
            let code = |(text, column): (&String, &moretta_core::counts::KeyColumn)| {
                column.values.iter().position(|value| **value == **text).map(|code| code as u32)
            };
            let codes: Option<Vec<u32>> = key.iter().zip(&plan.key).map(code).collect();
            let codes = codes.ok_or_else(|| EngineFault::failed("a value is new"))?;
            let mut labels = labels_of(plan, &codes, &mut left).into_iter();
            let cell = |(name, text): (&String, &String)| {
                let rewritten = plan.key.iter().any(|column| column.rewritten && column.name == *name);
                let label = if rewritten { labels.next() } else { Some(text.clone()) };
                (!plan.dropped.contains(name)).then_some(label).flatten()
            };
            rows.push(self.table.columns.iter().zip(record).filter_map(cell).collect());
        }
        // Sorted by a hash of seed and index, to hide the order of the input.
        let mut rows: Vec<(u64, Vec<String>)> = (plan.seed.for_search()..).map(hashed).zip(rows).collect();
        rows.sort();
        let mut table = TextTable { columns, rows: rows.into_iter().map(|(_, row)| row).collect() };
        match self.defect {
            Some(Defect::AnotherLabel) => table.rows[0][0] = "[0, 99]".to_owned(),
            Some(Defect::LosesARecord) => drop(table.rows.pop()),
            Some(Defect::AnotherValue) => table.rows[0].reverse(),
            Some(Defect::KeepsTheIdentifier) => {
                table.columns.push("name".to_owned());
                table.rows.iter_mut().for_each(|row| row.push("p1".to_owned()));
            }
            None => {}
        }
        Ok(Unpublished(target.clone(), Memory { table, store: Arc::clone(&self.store), defect: None }))
    }
}

fn hashed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// The labels of a record, in the order of the key's rewritten columns (which is that of the table's here).
fn labels_of(plan: &Rewrite, codes: &[u32], left: &mut HashMap<Vec<u32>, Vec<Share>>) -> Vec<String> {
    let rewritten = (0..codes.len()).filter(|&at| plan.key[at].rewritten);
    match &plan.change {
        Change::Map { suppressed, labels } if suppressed.chunks(codes.len()).any(|row| row == codes) => {
            labels.iter().map(|_| "*".to_owned()).collect()
        }
        Change::Map { labels, .. } => {
            rewritten.zip(labels).map(|(at, labels)| labels[codes[at] as usize].to_string()).collect()
        }
        Change::Shares { labels, .. } => {
            let shares = left.get_mut(codes).expect("a row of the plan");
            shares.retain(|share| share.records > 0);
            shares[0].records -= 1;
            labels.iter().map(|labels| labels[shares[0].group as usize].to_string()).collect()
        }
    }
}

struct Unpublished(String, Memory);

impl Staged for Unpublished {
    fn open(&self) -> Result<Box<dyn Records + '_>, EngineFault> {
        Ok(Box::new(Memory { table: self.1.table.clone(), store: Arc::clone(&self.1.store), defect: None }))
    }

    fn publish(self, _: ReadBackProof) -> Result<(), EngineFault> {
        self.1.store.lock().expect("the store").insert(self.0, self.1.table);
        Ok(())
    }
}

#[derive(Default)]
struct MemoryKind(Store);

impl EngineUnderTest for MemoryKind {
    type Engine = Memory;

    fn engine(&self, table: &TextTable) -> Memory {
        Memory { table: table.clone(), store: Arc::clone(&self.0), defect: None }
    }

    fn target(&self) -> String {
        format!("target {}", self.0.lock().expect("the store").len())
    }

    fn published(&self, target: &String) -> Option<TextTable> {
        self.0.lock().expect("the store").get(target).cloned()
    }
}

#[test]
fn an_engine_in_memory_passes_the_suite() {
    engine_suite(&MemoryKind::default());
}

fn people() -> TextTable {
    let columns = ["name", "age", "zip", "ill"].map(str::to_owned).to_vec();
    let row =
        |n: usize| vec![format!("p{n}"), (20 + 7 * n % 50).to_string(), format!("1{}0", n % 4), format!("i{}", n % 3)];
    TextTable { columns, rows: (0..200).map(row).collect() }
}

fn policy(k: u64, method: &str, order: &str) -> LoadedPolicy {
    let text = format!(
        "version = 1\n[privacy]\nk = {k}\nmax-suppressed = 0.1\n[[privacy.l-diversity]]\ncolumn = \"ill\"\nl = 2\n\
         [method]\nname = \"{method}\"\n[release]\norder = \"{order}\"\n[columns]\nname.role = \"identifier\"\n\
         age.role = \"quasi-identifier\"\nzip.role = \"quasi-identifier\"\nill.role = \"sensitive\"\n"
    );
    let policy = Policy::parse(&text, &method_names()).expect("a policy");
    LoadedPolicy {
        name: "policy".to_owned(),
        policy,
        hierarchies: Default::default(),
        folder: PathBuf::new(),
        files: Vec::new(),
        unconfirmed: 0,
        patterns: Vec::new(),
        text,
        notes: Vec::new(),
    }
}

#[test]
fn whole_releases_are_made_of_records_in_memory_by_every_method() {
    for method in method_names().into_iter().filter(|method| *method != "top-down-disclosure") {
        let kind = MemoryKind::default();
        let session = Session::new(Resources::default(), &NoObserver).expect("a session");
        let (engine, target) = (kind.engine(&people()), kind.target());
        let options = ReleaseOptions { seed: Some(1.into()), ..ReleaseOptions::default() };
        let release = session.release(&engine, &policy(5, method, "shuffled"), &target, &options).expect(method);
        let released = kind.published(&target).expect("published");
        assert_eq!((released.columns, released.rows.len()), (people().columns[1..].to_vec(), 200), "{method}");
        let mut groups: BTreeMap<&[String], usize> = BTreeMap::new();
        released.rows.iter().for_each(|row| *groups.entry(&row[..2]).or_default() += 1);
        assert!(groups.values().all(|records| *records >= 5), "{method}");
        assert_eq!(groups.len(), release.report.groups, "{method}");
    }
}

#[test]
fn what_cannot_be_released_is_not_published() {
    let kind = MemoryKind::default();
    let session = Session::new(Resources::default(), &NoObserver).expect("a session");
    let (engine, target, options) = (kind.engine(&people()), kind.target(), ReleaseOptions::default());
    let error = session.release(&engine, &policy(201, "sweep", "shuffled"), &target, &options).expect_err("too many");
    assert_eq!(error.kind, ErrorKind::Unsatisfied);
    let error = session.release(&engine, &policy(5, "sweep", "input"), &target, &options).expect_err("no order");
    assert_eq!((error.kind, kind.published(&target)), (ErrorKind::Usage, None));
}

#[test]
fn what_was_written_otherwise_than_verified_is_not_published() {
    use Defect::*;
    let options = ReleaseOptions { seed: Some(1.into()), ..ReleaseOptions::default() };
    let session = Session::new(Resources::default(), &NoObserver).expect("a session");
    for (defect, said) in [
        (AnotherLabel, "the number of groups differs"),
        (LosesARecord, "the number of records differs"),
        (AnotherValue, "is not what was verified"),
        (KeepsTheIdentifier, "unexpected columns"),
    ] {
        let kind = MemoryKind::default();
        let engine = Memory { defect: Some(defect), ..kind.engine(&people()) };
        let target = kind.target();
        let error =
            session.release(&engine, &policy(5, "mondrian", "shuffled"), &target, &options).expect_err("refused");
        assert_eq!((error.kind, kind.published(&target)), (ErrorKind::Unsatisfied, None), "{defect:?}");
        assert!(error.message.contains(said) && error.message.ends_with("output discarded"), "{defect:?}: {error}");
    }
}

#[test]
fn a_policy_without_a_guarantee_releases_nothing() {
    let kind = MemoryKind::default();
    let session = Session::new(Resources::default(), &NoObserver).expect("a session");
    let (engine, target, options) = (kind.engine(&people()), kind.target(), ReleaseOptions::default());
    let mut loaded = policy(5, "mondrian", "shuffled");
    loaded.policy.privacy = Default::default();
    let error = session.release(&engine, &loaded, &target, &options).expect_err("refused");
    assert_eq!((error.kind, kind.published(&target)), (ErrorKind::Policy, None), "{error}");
}

#[test]
fn an_engines_recoding_can_be_saved() {
    let kind = MemoryKind::default();
    let session = Session::new(Resources::default(), &NoObserver).expect("a session");
    let (engine, target) = (kind.engine(&people()), kind.target());
    let options = ReleaseOptions { recoding: true, ..ReleaseOptions::default() };
    let release = session.release(&engine, &policy(5, "mondrian", "shuffled"), &target, &options).expect("a release");
    assert!(release.recoding.is_some_and(|recoding| recoding.to_json().contains("\"age\"")));
}
