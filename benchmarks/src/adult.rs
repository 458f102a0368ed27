//! The Adult data as counts: some of its columns, as it is or enlarged (spec 6).

use std::{error::Error, fs, path::Path, path::PathBuf};

use hashbrown::HashMap;
use moretta_core::{
    counts::{CountedColumn, Counts},
    hierarchy::{Tree, file},
    policy::Policy,
    schema::Kind,
};

/// Which columns of Adult a benchmark uses, and how.
#[derive(Debug, Clone, Copy)]
pub struct SetUp {
    /// The quasi-identifiers, in order; numbers are free.
    pub columns: &'static [(&'static str, Kind)],
    /// The folder of the categories' hierarchies, in `adult/`; without one, all values are directly under `*`.
    pub hierarchies: Option<&'static str>,
    pub sensitive: Option<&'static str>,
    pub class: Option<&'static str>,
}

/// Eight columns, two of them free numbers.
pub const MIXED: SetUp = SetUp {
    columns: &[
        ("age", Kind::Number),
        ("education-num", Kind::Number),
        ("workclass", Kind::Category),
        ("marital-status", Kind::Category),
        ("occupation", Kind::Category),
        ("race", Kind::Category),
        ("sex", Kind::Category),
        ("native-country", Kind::Category),
    ],
    hierarchies: Some("hierarchies-arx"),
    sensitive: None,
    class: None,
};

pub const TRAIN: &[&str] = &["adult_train.csv"];
pub const BOTH: &[&str] = &["adult_train.csv", "adult_test.csv"];

/// Where the data is.
pub fn data() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let data = std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from);
    data.join("adult/adult_train.csv").is_file().then_some(data)
}

impl SetUp {
    /// The columns of a row: quasi-identifiers, then the sensitive one, then the class.
    fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).chain(self.sensitive).chain(self.class).collect()
    }

    /// A policy over the columns. `privacy` and `method` are the lines of these tables.
    pub fn policy(&self, privacy: &str, method: &str) -> Result<Policy, Box<dyn Error>> {
        let mut text = format!("version = 1\n[privacy]\n{privacy}\n[method]\n{method}\n");
        for (name, kind) in self.columns {
            let how = match kind {
                Kind::Number => "type = \"number\"".to_owned(),
                Kind::Date => "type = \"date\"".to_owned(),
                Kind::Category if self.hierarchies.is_some() => format!("hierarchy = \"{name}.csv\""),
                Kind::Category => "type = \"category\"".to_owned(),
            };
            text += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\n{how}\n");
        }
        for (name, role) in [(self.sensitive, "sensitive"), (self.class, "class")] {
            if let Some(name) = name {
                text += &format!("[columns.{name}]\nrole = \"{role}\"\n");
            }
        }
        Ok(Policy::parse(&text, &moretta_core::search::method_names())?)
    }

    /// The hierarchies.
    pub fn trees(&self, data: &Path) -> Result<HashMap<String, Tree>, Box<dyn Error>> {
        let mut trees = HashMap::new();
        let Some(folder) = self.hierarchies else { return Ok(trees) };
        for (name, _) in self.columns.iter().filter(|(_, kind)| *kind == Kind::Category) {
            let text = fs::read_to_string(data.join(format!("adult/{folder}/{name}.csv")))?;
            trees.insert((*name).to_owned(), file::parse(&text)?);
        }
        Ok(trees)
    }

    /// The columns of some of the files, as rows of texts.
    pub fn rows(&self, data: &Path, files: &[&str]) -> Result<Vec<Vec<String>>, Box<dyn Error>> {
        let mut rows = Vec::new();
        for name in files {
            let text = fs::read_to_string(data.join("adult").join(name))?;
            let mut lines = text.lines();
            let header: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
            let place = |name| header.iter().position(|column| *column == name).ok_or(format!("no column {name}"));
            let at: Vec<usize> = self.names().into_iter().map(place).collect::<Result<_, _>>()?;
            for line in lines {
                let cells: Vec<&str> = line.split(',').collect();
                rows.push(at.iter().map(|&column| cells[column].to_owned()).collect());
            }
        }
        Ok(rows)
    }

    /// Group and count, plainly.
    pub fn counts(&self, rows: &[Vec<String>]) -> Counts {
        self.enlarged_counts(rows, 1, 0, 0)
    }

    /// Group and count every record and `s - 1` variations of it with random values in `r` random quasi-identifiers.
    /// No variation is kept: memory follows the distinct rows.
    pub fn enlarged_counts(&self, rows: &[Vec<String>], s: usize, r: usize, seed: u64) -> Counts {
        let mut counter = Counter::new(&self.names());
        enlarge(rows, self.columns.len(), (s, r, seed), |record| counter.add(record));
        counter.finish()
    }
}

/// Hands on every row and `s - 1` variations of it, with random values in `r` of the first `width` columns.
fn enlarge<'a>(
    rows: &'a [Vec<String>],
    width: usize,
    (s, r, seed): (usize, usize, u64),
    mut sink: impl FnMut(&[&'a str]),
) {
    let domains: Vec<Vec<&str>> = (0..width)
        .map(|column| {
            let mut values: Vec<&str> = rows.iter().map(|row| row[column].as_str()).collect();
            values.sort_unstable();
            values.dedup();
            values
        })
        .collect();
    let mut random = Random(seed);
    let mut columns: Vec<usize> = Vec::with_capacity(width);
    for row in rows {
        let original: Vec<&str> = row.iter().map(String::as_str).collect();
        sink(&original);
        let mut variation = original.clone();
        for _ in 1..s {
            variation.copy_from_slice(&original);
            columns.clear();
            columns.extend(0..width);
            for _ in 0..r {
                let column = columns.swap_remove(random.below(columns.len()));
                variation[column] = domains[column][random.below(domains[column].len())];
            }
            sink(&variation);
        }
    }
}

/// SplitMix64: enough for random variations.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Groups and counts records that come one by one.
struct Counter<'a> {
    columns: Vec<CountedColumn>,
    codes: Vec<HashMap<&'a str, u32>>,
    /// By codes, a byte each, how many records there are and which is the first.
    found: HashMap<u128, (u64, u64)>,
    records: u64,
}

impl<'a> Counter<'a> {
    fn new(names: &[&str]) -> Self {
        let column = |name: &&str| CountedColumn { name: (*name).to_owned(), ..CountedColumn::default() };
        let columns = names.iter().map(column).collect();
        assert!(names.len() <= 16, "a record fits a word");
        let codes = vec![HashMap::new(); names.len()];
        Self { columns, codes, found: HashMap::new(), records: 0 }
    }

    fn add(&mut self, record: &[&'a str]) {
        self.records += 1;
        let mut key = 0;
        for ((text, codes), column) in record.iter().zip(&mut self.codes).zip(&mut self.columns) {
            let next = codes.len() as u32;
            let code = *codes.entry(text).or_insert(next);
            if code == next {
                column.values.push((*text).into());
                column.first_records.push(self.records);
                assert!(code < 256, "a code fits a byte");
            }
            key = key << 8 | u128::from(code);
        }
        self.found.entry(key).or_insert((0, self.records)).0 += 1;
    }

    fn finish(self) -> Counts {
        let width = self.columns.len();
        let mut found: Vec<(u128, (u64, u64))> = self.found.into_iter().collect();
        found.sort_unstable();
        let mut counts = Counts { columns: self.columns, records: self.records, ..Counts::default() };
        for (key, (records, first)) in found {
            counts.codes.extend((0..width).rev().map(|column| (key >> (8 * column)) as u32 & 0xff));
            counts.counts.push(records);
            counts.first_records.push(first);
        }
        counts
    }
}
