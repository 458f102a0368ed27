//! The Adult data set: columns and roles for several experiments, original or enlarged by random variations.

use moretta_core::{counts::Counts, hierarchy::Hierarchies, policy::Policy};

use crate::{
    data::{self, Data, TextRows},
    error::PaperError,
    experiment::{self, ExperimentTable},
};

/// Columns that an experiment uses, and their roles.
#[derive(Debug, Clone, Copy)]
pub struct SetUp {
    /// Quasi-identifiers in order.
    pub columns: &'static [&'static str],
    /// Quasi-identifiers that are free numbers; the others are categories.
    pub numbers: &'static [&'static str],
    /// Folder in `adult/` with the hierarchies of categories.
    pub hierarchies: &'static str,
    /// Categories without a hierarchy: all their values are children of `*`.
    pub flat: &'static [&'static str],
    /// Sensitive column, if any.
    pub sensitive: Option<&'static str>,
    /// Column to predict, if any.
    pub class: Option<&'static str>,
}

/// Eight columns, two of them free numbers.
pub const MIXED: SetUp = SetUp {
    columns: &["age", "education-num", "workclass", "marital-status", "occupation", "race", "sex", "native-country"],
    numbers: &["age", "education-num"],
    hierarchies: "hierarchies-arx",
    flat: &[],
    sensitive: None,
    class: None,
};

/// The columns of [`MIXED`] with two taxonomies, as in paper 4.
pub const TWO_TAXONOMIES: SetUp =
    SetUp { hierarchies: "hierarchies", flat: &["occupation", "race", "sex", "native-country"], ..MIXED };

/// Seven categories, as in paper 1.
pub const CATEGORIES: SetUp = SetUp {
    columns: &["occupation", "education", "native-country", "marital-status", "sex", "race", "workclass"],
    numbers: &[],
    hierarchies: "hierarchies",
    class: Some("income"),
    ..MIXED
};

const GUARDED_COLUMNS: &[&str] =
    &["occupation", "education", "native-country", "sex", "race", "workclass", "relationship"];

/// Seven categories without hierarchies and a sensitive column, as in paper 2.
pub const GUARDED: SetUp =
    SetUp { columns: GUARDED_COLUMNS, flat: GUARDED_COLUMNS, sensitive: Some("marital-status"), ..CATEGORIES };

/// Three numbers, as in paper 3.
pub const NUMBERS: SetUp = SetUp::of_numbers(&["age", "education-num", "hours-per-week"]);

/// Files of the training set.
pub const TRAIN: &[&str] = &["adult/adult_train.csv"];
/// Files of the test set.
pub const TEST: &[&str] = &["adult/adult_test.csv"];
/// Files of both sets.
pub const BOTH: &[&str] = &["adult/adult_train.csv", "adult/adult_test.csv"];

impl SetUp {
    /// Quasi-identifiers that are all free numbers.
    pub const fn of_numbers(columns: &'static [&'static str]) -> Self {
        Self { columns, numbers: columns, ..MIXED }
    }

    /// Column names of a row: quasi-identifiers, then the sensitive column, then the class.
    pub fn names(&self) -> Vec<&'static str> {
        self.columns.iter().copied().chain(self.sensitive).chain(self.class).collect()
    }

    fn has_hierarchy(&self, column: &str) -> bool {
        !self.numbers.contains(&column) && !self.flat.contains(&column)
    }

    /// Policy over the columns. `privacy` and `method` are the contents of these TOML tables.
    pub fn policy(&self, privacy: &str, method: &str) -> Result<Policy, PaperError> {
        let mut text = format!("[privacy]\n{privacy}\n[method]\n{method}\n");
        for name in self.columns {
            let kind = if self.numbers.contains(name) { "number" } else { "category" };
            text += &format!("[columns.{name}]\nrole = \"quasi-identifier\"\ntype = \"{kind}\"\n");
            if self.has_hierarchy(name) {
                text += &format!("hierarchy = \"{name}.csv\"\n");
            }
        }
        for (name, role) in [(self.sensitive, "sensitive"), (self.class, "class")] {
            if let Some(name) = name {
                text += &format!("[columns.{name}]\nrole = \"{role}\"\n");
            }
        }
        experiment::policy(&text)
    }

    /// Reads the hierarchies of all categories that have one.
    pub fn trees(&self, data: &Data) -> Result<Hierarchies, PaperError> {
        let mut trees = Hierarchies::default();
        for name in self.columns.iter().filter(|name| self.has_hierarchy(name)) {
            trees.insert((*name).to_owned(), data.tree(&format!("adult/{}/{name}.csv", self.hierarchies))?);
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

    /// Reads the files as a table with hierarchies.
    pub fn table(&self, data: &Data, files: &[&str]) -> Result<ExperimentTable, PaperError> {
        Ok(ExperimentTable { counts: self.counts(&self.rows(data, files)?), trees: self.trees(data)? })
    }

    /// Table with every record and `s - 1` variations of it, which have random values in `r` random quasi-identifiers.
    pub fn enlarged(
        &self,
        data: &Data,
        rows: &[Vec<String>],
        (s, r): (usize, usize),
    ) -> Result<ExperimentTable, PaperError> {
        let counts = data::enlarged(&self.names(), rows, self.columns.len(), (s, r));
        Ok(ExperimentTable { counts, trees: self.trees(data)? })
    }
}
