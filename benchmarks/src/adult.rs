//! The Adult data as counts: some of its columns, as it is or enlarged (spec 6).

use std::{collections::BTreeMap, error::Error, fs, path::Path, path::PathBuf};

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
    /// The quasi-identifiers, in order; categories have a hierarchy, numbers are free.
    pub columns: &'static [(&'static str, Kind)],
    /// The folder of the hierarchies, in `adult/`.
    pub hierarchies: &'static str,
    pub class: Option<&'static str>,
}

pub const TRAIN: &[&str] = &["adult_train.csv"];
pub const BOTH: &[&str] = &["adult_train.csv", "adult_test.csv"];

/// Where the data is.
pub fn data() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let data = std::env::var_os("MORETTA_DATA").map_or(beside, PathBuf::from);
    data.join("adult/adult_train.csv").is_file().then_some(data)
}

impl SetUp {
    /// The columns of a row: quasi-identifiers, then the class.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.columns.iter().map(|(name, _)| *name).chain(self.class)
    }

    /// A policy over the columns. `privacy` and `method` are the lines of these tables.
    pub fn policy(&self, privacy: &str, method: &str) -> Result<Policy, Box<dyn Error>> {
        let mut text = format!("version = 1\n[privacy]\n{privacy}\n[method]\n{method}\n");
        for (name, kind) in self.columns {
            let how = match kind {
                Kind::Number => "type = \"number\"".to_owned(),
                Kind::Category => format!("hierarchy = \"{name}.csv\""),
            };
            text += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\n{how}\n");
        }
        if let Some(name) = self.class {
            text += &format!("[columns.{name}]\nrole = \"class\"\n");
        }
        Ok(Policy::parse(&text, &moretta_core::search::method_names())?)
    }

    /// The hierarchies.
    pub fn trees(&self, data: &Path) -> Result<HashMap<String, Tree>, Box<dyn Error>> {
        let mut trees = HashMap::new();
        for (name, _) in self.columns.iter().filter(|(_, kind)| *kind == Kind::Category) {
            let text = fs::read_to_string(data.join(format!("adult/{}/{name}.csv", self.hierarchies)))?;
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
            let at: Vec<usize> = self.names().map(place).collect::<Result<_, _>>()?;
            for line in lines {
                let cells: Vec<&str> = line.split(',').collect();
                rows.push(at.iter().map(|&column| cells[column].to_owned()).collect());
            }
        }
        Ok(rows)
    }

    /// Every record and `s - 1` variations of it with random values in `r` random quasi-identifiers.
    pub fn enlarged(&self, rows: &[Vec<String>], s: usize, r: usize, seed: u64) -> Vec<Vec<String>> {
        enlarged(rows, self.columns.len(), s, r, seed)
    }

    /// Group and count, plainly.
    pub fn counts(&self, rows: &[Vec<String>]) -> Counts {
        counts(&self.names().collect::<Vec<_>>(), rows)
    }
}

fn enlarged(rows: &[Vec<String>], width: usize, s: usize, r: usize, seed: u64) -> Vec<Vec<String>> {
    let domains: Vec<Vec<&String>> = (0..width)
        .map(|column| {
            let mut values: Vec<&String> = rows.iter().map(|row| &row[column]).collect();
            values.sort();
            values.dedup();
            values
        })
        .collect();
    // SplitMix64: enough for random variations.
    let mut state = seed;
    let mut random = move |below: usize| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    };
    let mut all = Vec::with_capacity(rows.len() * s);
    for row in rows {
        all.push(row.clone());
        for _ in 1..s {
            let mut variation = row.clone();
            let mut columns: Vec<usize> = (0..width).collect();
            for _ in 0..r {
                let column = columns.swap_remove(random(columns.len()));
                variation[column].clone_from(domains[column][random(domains[column].len())]);
            }
            all.push(variation);
        }
    }
    all
}

fn counts(names: &[&str], rows: &[Vec<String>]) -> Counts {
    let mut columns: Vec<CountedColumn> =
        names.iter().map(|name| CountedColumn { name: (*name).to_owned(), ..CountedColumn::default() }).collect();
    let mut codes: Vec<HashMap<&str, u32>> = vec![HashMap::new(); names.len()];
    let mut found: BTreeMap<Vec<u32>, (u64, u64)> = BTreeMap::new();
    for (index, row) in rows.iter().enumerate() {
        let record = index as u64 + 1;
        let mut key = Vec::with_capacity(names.len());
        for (column, text) in row.iter().enumerate() {
            let next = codes[column].len() as u32;
            let code = *codes[column].entry(text.as_str()).or_insert(next);
            if code == next {
                columns[column].values.push(text.as_str().into());
                columns[column].first_records.push(record);
            }
            key.push(code);
        }
        found.entry(key).or_insert((0, record)).0 += 1;
    }
    let mut counts = Counts { columns, records: rows.len() as u64, ..Counts::default() };
    for (key, (records, first)) in found {
        counts.codes.extend(key);
        counts.counts.push(records);
        counts.first_records.push(first);
    }
    counts
}
