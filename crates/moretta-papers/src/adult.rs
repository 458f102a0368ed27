//! The Adult data set: columns and roles for several experiments, original or enlarged by random variations.

use moretta_core::{counts::Counts, hierarchy::Hierarchies, policy::Policy, schema::Kind};

use crate::{
    data::{self, Data, TextRows},
    error::PaperError,
    experiment::{self, ExperimentTable},
};

/// Columns of Adult that an experiment uses, and their roles.
#[derive(Debug, Clone, Copy)]
pub struct SetUp {
    /// Quasi-identifiers in order; numbers are free.
    pub columns: &'static [(&'static str, Kind)],
    /// Folder in `adult/` with the hierarchies of categories; if `None`, all values are children of `*`.
    pub hierarchies: Option<&'static str>,
    /// Sensitive column, if any.
    pub sensitive: Option<&'static str>,
    /// Column to predict, if any.
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

/// Seven categories, as in paper 1.
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

/// Seven categories without hierarchies and a sensitive column, as in paper 2.
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

/// Three numbers, as in paper 3.
pub const NUMBERS: SetUp = SetUp {
    columns: &[("age", Kind::Number), ("education-num", Kind::Number), ("hours-per-week", Kind::Number)],
    hierarchies: None,
    sensitive: None,
    class: None,
};

/// Files of the training set.
pub const TRAIN: &[&str] = &["adult/adult_train.csv"];
/// Files of the test set.
pub const TEST: &[&str] = &["adult/adult_test.csv"];
/// Files of both sets.
pub const BOTH: &[&str] = &["adult/adult_train.csv", "adult/adult_test.csv"];

impl SetUp {
    /// Column names of a row: quasi-identifiers, then the sensitive column, then the class.
    pub fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).chain(self.sensitive).chain(self.class).collect()
    }

    /// Policy over the columns. `privacy` and `method` are the contents of these TOML tables.
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

    /// Reads the hierarchies of all categories.
    pub fn trees(&self, data: &Data) -> Result<Hierarchies, PaperError> {
        let mut trees = Hierarchies::default();
        let Some(folder) = self.hierarchies else { return Ok(trees) };
        for (name, _) in self.columns.iter().filter(|(_, kind)| *kind == Kind::Category) {
            trees.insert((*name).to_owned(), data.tree(&format!("adult/{folder}/{name}.csv"))?);
        }
        Ok(trees)
    }

    /// Reads the columns from the files.
    pub fn rows(&self, data: &Data, files: &[&str]) -> Result<TextRows, PaperError> {
        let mut rows = Vec::new();
        for file in files {
            rows.extend(data.rows(file, &self.names())?);
        }
        Ok(rows)
    }

    /// Groups equal rows and counts them.
    pub fn counts(&self, rows: &[Vec<String>]) -> Counts {
        data::counted(&self.names(), rows)
    }

    /// Groups and counts every record and `s - 1` variations of it, which have random values in `r` random
    /// quasi-identifiers.
    pub fn enlarged_counts(&self, rows: &[Vec<String>], s: usize, r: usize, seed: u64) -> Counts {
        data::enlarged(&self.names(), rows, self.columns.len(), (s, r, seed))
    }

    /// Reads the files as a table with hierarchies.
    pub fn table(&self, data: &Data, files: &[&str]) -> Result<ExperimentTable, PaperError> {
        Ok(ExperimentTable { counts: self.counts(&self.rows(data, files)?), trees: self.trees(data)? })
    }
}
