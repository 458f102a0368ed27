//! The Adult data: some of its columns, as it is or enlarged (spec 6).

use moretta_core::{counts::Counts, hierarchy::Hierarchies, policy::Policy, schema::Kind};

use crate::{
    data::{self, Data, TextRows},
    error::PaperError,
    experiment::{self, ExperimentTable},
};

/// Which columns of Adult an experiment uses, and how.
#[derive(Debug, Clone, Copy)]
pub struct SetUp {
    /// The quasi-identifiers, in order; numbers are free.
    pub columns: &'static [(&'static str, Kind)],
    /// The folder of the categories' hierarchies, in `adult/`; without one, all values are directly under `*`.
    pub hierarchies: Option<&'static str>,
    /// A sensitive column.
    pub sensitive: Option<&'static str>,
    /// What is predicted.
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

/// Seven categories, as in the first paper.
pub const CATEGORIES: SetUp = SetUp {
    columns: &[
        ("occupation", Kind::Category),
        ("education", Kind::Category),
        ("native-country", Kind::Category),
        ("marital-status", Kind::Category),
        ("sex", Kind::Category),
        ("race", Kind::Category),
        ("workclass", Kind::Category),
    ],
    hierarchies: Some("hierarchies"),
    sensitive: None,
    class: Some("income"),
};

/// Seven categories without hierarchies and a sensitive one, as in the second paper.
pub const GUARDED: SetUp = SetUp {
    columns: &[
        ("occupation", Kind::Category),
        ("education", Kind::Category),
        ("native-country", Kind::Category),
        ("sex", Kind::Category),
        ("race", Kind::Category),
        ("workclass", Kind::Category),
        ("relationship", Kind::Category),
    ],
    hierarchies: None,
    sensitive: Some("marital-status"),
    class: Some("income"),
};

/// Three numbers, as in the third paper.
pub const NUMBERS: SetUp = SetUp {
    columns: &[("age", Kind::Number), ("education-num", Kind::Number), ("hours-per-week", Kind::Number)],
    hierarchies: None,
    sensitive: None,
    class: None,
};

/// The training set.
pub const TRAIN: &[&str] = &["adult/adult_train.csv"];
/// The test set.
pub const TEST: &[&str] = &["adult/adult_test.csv"];
/// Both.
pub const BOTH: &[&str] = &["adult/adult_train.csv", "adult/adult_test.csv"];

impl SetUp {
    /// The columns of a row: quasi-identifiers, then the sensitive one, then the class.
    pub fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).chain(self.sensitive).chain(self.class).collect()
    }

    /// A policy over the columns. `privacy` and `method` are the lines of these tables.
    pub fn policy(&self, privacy: &str, method: &str) -> Result<Policy, PaperError> {
        let mut text = format!("[privacy]\n{privacy}\n[method]\n{method}\n");
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
        experiment::policy(&text)
    }

    /// The hierarchies.
    pub fn trees(&self, data: &Data) -> Result<Hierarchies, PaperError> {
        let mut trees = Hierarchies::default();
        let Some(folder) = self.hierarchies else { return Ok(trees) };
        for (name, _) in self.columns.iter().filter(|(_, kind)| *kind == Kind::Category) {
            trees.insert((*name).to_owned(), data.tree(&format!("adult/{folder}/{name}.csv"))?);
        }
        Ok(trees)
    }

    /// The columns of some of the files, as rows of texts.
    pub fn rows(&self, data: &Data, files: &[&str]) -> Result<TextRows, PaperError> {
        let mut rows = Vec::new();
        for file in files {
            rows.extend(data.rows(file, &self.names())?);
        }
        Ok(rows)
    }

    /// Group and count, plainly.
    pub fn counts(&self, rows: &[Vec<String>]) -> Counts {
        data::counted(&self.names(), rows)
    }

    /// Group and count every record and `s - 1` variations of it with random values in `r` random quasi-identifiers.
    pub fn enlarged_counts(&self, rows: &[Vec<String>], s: usize, r: usize, seed: u64) -> Counts {
        data::enlarged(&self.names(), rows, self.columns.len(), (s, r, seed))
    }

    /// Some of the files as a table.
    pub fn table(&self, data: &Data, files: &[&str]) -> Result<ExperimentTable, PaperError> {
        Ok(ExperimentTable { counts: self.counts(&self.rows(data, files)?), trees: self.trees(data)? })
    }
}
