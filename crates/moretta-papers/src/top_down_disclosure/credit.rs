//! Data sets with privacy templates: columns, sensitive columns, and splits into training and test records.

use hashbrown::HashMap;
use moretta_core::{
    counts::Counts, hierarchy::Hierarchies, policy::Policy, profile::Profile, run::RunError, saved::Saved,
};
use moretta_insight::evaluate::{
    Errors,
    holdout::{self, Plan},
};

use crate::{
    data::{self, TextRows},
    error::PaperError,
    experiment::{self, Experiment, ExperimentTable},
};

/// Data set of the paper.
#[derive(Debug, Clone, Copy)]
pub(super) struct DataSet {
    pub(super) name: &'static str,
    /// Files; if there are two, a training and a test set.
    files: &'static [&'static str],
    /// Categorical columns.
    pub(super) columns: &'static [&'static str],
    /// Columns in the order in which they become sensitive: Top1 has the first, Top2 the first two, ...
    pub(super) top: &'static [&'static str],
    class: &'static str,
    /// Share of test records and number of random splits; `None` if the published split is used.
    pub(super) draws: Option<(f64, usize)>,
    /// Values of max-confidence.
    pub(super) confidences: &'static [f64],
    /// Folder with hierarchies of all columns; `None` in the paper.
    pub(super) hierarchies: Option<&'static str>,
}

#[rustfmt::skip]
pub(super) const ADULT: DataSet = DataSet {
    name: "Adult",
    files: &["adult/adult_train.csv", "adult/adult_test.csv"],
    columns: &[
        "occupation", "education", "native-country", "marital-status", "sex", "race", "workclass", "relationship",
    ],
    top: &["marital-status", "relationship", "education", "sex"],
    class: "income",
    draws: None,
    confidences: &[0.1, 0.3, 0.5, 0.7, 0.9],
    hierarchies: None,
};

/// Adult with hierarchies, which the paper does not use: a value that must not be disclosed may be generalized.
pub(super) const ADULT_WITH_HIERARCHIES: DataSet =
    DataSet { name: "Adult with hierarchies", hierarchies: Some("adult/hierarchies"), ..ADULT };

/// Published split of the 653 complete records: 465 and 188.
pub(super) const CRX: DataSet = DataSet {
    name: "CRX",
    files: &["crx/crx.csv"],
    columns: &["A1", "A4", "A5", "A6", "A7", "A9", "A10", "A12", "A13"],
    top: &["A9", "A10", "A7", "A6"],
    class: "A16",
    draws: Some((188.0 / 653.0, 30)),
    confidences: &[0.5, 0.7, 0.9],
    hierarchies: None,
};

/// Published split of the 1,000 records: 666 and 334.
#[rustfmt::skip]
pub(super) const GERMAN: DataSet = DataSet {
    name: "German",
    files: &["german/german.csv"],
    columns: &[
        "status-account", "credit-history", "purpose", "bonds", "employment", "personal-status-and-sex",
        "other-debtors", "property", "installment-plans", "housing", "job", "telephone", "foreign",
    ],
    top: &["status-account", "credit-history", "bonds", "installment-plans", "purpose", "other-debtors"],
    class: "risk",
    draws: Some((0.334, 30)),
    confidences: &[0.3, 0.5, 0.7, 0.9],
    hierarchies: None,
};

/// Policy that limits the confidence of inferences from the other columns about the sensitive ones.
pub(super) fn policy(set: &DataSet, sensitive: &[&str], confidence: f64) -> Result<Policy, PaperError> {
    let given: Vec<&str> = set.columns.iter().copied().filter(|column| !sensitive.contains(column)).collect();
    let mut text = String::new();
    for column in sensitive {
        text += &format!(
            "[[privacy.template]]\ngiven = {given:?}\ncolumn = \"{column}\"\nrarest = 0.5\nmax-confidence = \
             {confidence}\n"
        );
    }
    text += "[method]\nname = \"top-down-disclosure\"\n";
    // In the order of the data set, whatever the roles, because ties go to the first column.
    for column in set.columns {
        let how = match set.hierarchies {
            _ if sensitive.contains(column) => "role = \"sensitive\"".to_owned(),
            Some(_) => format!("role = \"quasi-identifier\"\nhierarchy = \"{column}.csv\""),
            None => "role = \"quasi-identifier\"\ntype = \"category\"".to_owned(),
        };
        text += &format!("[columns.{column}]\n{how}\n");
    }
    experiment::policy(&(text + &format!("[columns.{}]\nrole = \"class\"\n", set.class)))
}

/// Rows of a data set, read once for all its experiments.
pub(super) struct Loaded {
    pub(super) set: &'static DataSet,
    /// Rows by file: all categorical columns and the class.
    files: Vec<TextRows>,
    /// Hierarchies of all columns; empty if the data set has none.
    trees: Hierarchies,
}

impl Loaded {
    pub(super) fn read(experiment: &Experiment<'_>, set: &'static DataSet) -> Result<Self, PaperError> {
        let names: Vec<&str> = set.columns.iter().copied().chain([set.class]).collect();
        let files = set.files.iter().map(|file| experiment.data.rows(file, &names)).collect::<Result<_, _>>()?;
        let mut trees = Hierarchies::default();
        if let Some(folder) = set.hierarchies {
            for column in set.columns {
                trees.insert((*column).to_owned(), experiment.data.tree(&format!("{folder}/{column}.csv"))?);
            }
        }
        Ok(Self { set, files, trees })
    }

    /// Hierarchies of the policy's quasi-identifiers.
    fn trees(&self, policy: &Policy) -> Hierarchies {
        let given = policy.quasi_identifiers();
        given.filter_map(|column| Some((column.name.clone(), self.trees.get(&column.name)?.clone()))).collect()
    }

    /// Counts the rows, with the columns in the order that the policy requires.
    fn counts(&self, policy: &Policy, files: &[TextRows]) -> Counts {
        let names: Vec<&str> = self.set.columns.iter().copied().chain([self.set.class]).collect();
        let grouped = Profile::grouped_columns(policy);
        let indices: Vec<usize> =
            grouped.iter().filter_map(|name| names.iter().position(|known| known == name)).collect();
        let row = |row: &Vec<String>| indices.iter().map(|&index| row[index].clone()).collect();
        let rows: TextRows = files.iter().flatten().map(row).collect();
        data::counted(&grouped.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
    }

    /// Share of records that are not of the most frequent class.
    pub(super) fn majority(&self) -> f64 {
        let class = self.set.columns.len();
        let mut classes: HashMap<&str, usize> = HashMap::new();
        self.files.iter().flatten().for_each(|row| *classes.entry(&row[class]).or_default() += 1);
        let (all, most) = (classes.values().sum::<usize>(), classes.values().max().copied().unwrap_or(0));
        1.0 - most as f64 / all.max(1) as f64
    }

    /// Counts the rows of all files.
    pub(super) fn all(&self, policy: &Policy) -> Counts {
        self.counts(policy, &self.files)
    }

    /// Errors of each split under a policy; `None` if not even the fully suppressed table satisfies it.
    pub(super) fn errors(
        &self,
        experiment: &Experiment<'_>,
        policy: &Policy,
    ) -> Result<Option<Vec<Errors>>, PaperError> {
        let table = ExperimentTable { counts: self.all(policy), trees: self.trees(policy) };
        let run = match experiment.run(policy, &table) {
            Err(PaperError::Run(RunError::Search(_))) => return Ok(None),
            run => run?,
        };
        let saved = Saved::of(policy, &table.trees, &run.profile, &run.recoding);
        let tested = |(mut train, mut test): (Counts, Counts)| {
            let (train, test) = (saved.profile(&mut train)?, saved.profile(&mut test)?);
            Ok(moretta_insight::evaluate::errors_applied(&train, &saved, &test)?)
        };
        let errors: Result<Vec<Errors>, PaperError> = match self.set.draws {
            None => {
                let part = |file: usize| self.counts(policy, &self.files[file..=file]);
                [(part(0), part(1))].into_iter().map(tested).collect()
            }
            Some((share, draws)) => {
                let class = table.counts.columns.iter().position(|column| column.name == self.set.class);
                let class = class.ok_or_else(|| PaperError::without("class"))?;
                let splits = holdout::splits(&table.counts, class, Plan::Draws { draws, share }, 1);
                splits.map(|split| tested((split.train, split.test))).collect()
            }
        };
        errors.map(Some)
    }
}
