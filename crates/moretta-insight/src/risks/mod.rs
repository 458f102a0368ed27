//! Columns that single people out, before any column has a role.
//!
//! For every column, every pair and all columns together ([`Figures`], Motwani and Xu 2007): a *group* is the records
//! with equal values in the columns, a missing value being a value like any other. *Distinction* is groups / records,
//! *separation* is the share of pairs of records that differ; a record that is *alone* in its group is found by
//! everyone who knows these values of a person.
//!
//! A *minimal unique set* of a record (minimal sample unique; Elliot, Manning, Ford 2002, "SUDA") is a set of columns
//! in which it is alone, while it is not in any smaller part of the set. Few columns are easily known by chance, so of
//! `M` columns a minimal unique set of `k` scores `(M - k)!`. The score of a record is the sum of its sets; the
//! contribution of a column is the share of the sum of all scores that sets with this column have. Each set counts for
//! all its columns, so contributions do not add up to 1.
//!
//! ```text
//! record  town  sex  age    minimal unique sets      score
//!   1     Rome   f    30    {sex}                    2
//!   2     Rome   m    30    {town, sex}              1
//!   3     Oslo   m    30    {town, age}              1
//!   4     Oslo   m    41    {age}                    2
//! ```
//!
//! (With M = 3, a set of one column scores 2 and a set of two columns 1.) Record 1 is also alone in {town, sex}, but
//! that set is not minimal. The sum of the scores is 6; age is in {town, age} and {age}, so its contribution is 3 / 6.
//!
//! How: level by level. `minimal.rs` groups the distinct rows by every set of one column, of two, of three, .. If a
//! column of a set determines another one of it, the set without the other makes the same groups, so it is minimal for
//! no record: it is skipped. `dependencies.rs` finds these columns, which are also reported.
//!
//! Work limit: the rows of the table times the sets to count, [`Limits::work`]. If the sets of a size cannot all be
//! counted, that size and all larger ones are left out, because the figures of a part would look like those of the
//! whole. Pairs are counted for up to 12 columns whatever the limit; of more columns, those with most distinct values
//! have their pairs counted as far as the limit allows. What was left out is in [`Risks::left_out`].
//!
//! Cost: O(rows) per set, less where records are alone under a part of the set. Memory: the table as in
//! [`column_sets`](crate::column_sets), and one bit per row and set of the previous size.

mod dependencies;
mod minimal;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use moretta_core::{
    observer::Observer,
    release_memory::RowSize,
    text::{count, counted, listed, shown},
};
use rayon::prelude::*;
use serde::Serialize;

pub use self::dependencies::Related;
use self::{
    dependencies::Determined,
    minimal::{Search, SetCount},
};
use crate::column_sets::ColumnSets;

/// Default of the work limit, in rows of all sets: about ten seconds of two cores per 10^9 rows.
pub const MAX_WORK: u64 = 2_000_000_000;

/// Maximum number of columns of an analysis: all pairs of them are compared.
pub const MAX_COLUMNS: usize = 1_000;

/// Number of columns whose pairs are always counted: at most 66 passes.
const ALWAYS_PAIRED: usize = 12;

/// Number of pairs of columns that are compared whatever the limit, as many as the pairs of 12 columns in both orders.
const ALWAYS_COMPARED: u64 = (ALWAYS_PAIRED * (ALWAYS_PAIRED - 1)) as u64;

/// Maximum number of sets of one size; limits the memory of the results. Not tuned.
const MAX_SETS: u64 = 500_000;

/// Sets that are listed per size.
const MAX_LISTED: usize = 10;

/// A column that alone singles out this share of the records is an identifier: sets with it are not listed.
const IDENTIFYING: f64 = 0.5;

/// Limits of an analysis. They only bound what is counted, never change a figure.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of columns in a minimal unique set, at least 1.
    pub most: usize,
    /// Maximum number of rows of all counted sets; see the module.
    pub work: u64,
    /// Maximum bytes of the bits that are kept between two sizes; `None` is no limit.
    pub memory: Option<u64>,
}

/// Estimates the heap of an analysis beside the table, without the bits that [`Limits::memory`] limits: three
/// partitions and an array of cells per thread, the numbers of sets by row, and the bits of single columns.
pub fn analysis_bytes(size: &RowSize, threads: u64) -> u64 {
    let RowSize { rows, columns, values, .. } = *size;
    threads * (3 * 8 * rows + 16 * values.min(rows)) + 12 * rows + columns * rows / 8
}

/// The observer asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Records that columns single out. It has counts and names of columns, no value of a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Risks {
    /// Name of the table.
    pub file: String,
    /// Number of records.
    pub records: u64,
    /// All columns together.
    pub together: Figures,
    /// Each column, in the order of the request.
    pub columns: Vec<ColumnRisk>,
    /// Constant, duplicated and dependent columns.
    pub related: Related,
    /// Records that are alone under few columns.
    pub minimal: MinimalSets,
    /// For sizes from 2: the sets that single most records out. Of duplicated columns, the first stands for all.
    pub worst: Vec<WorstSets>,
    /// Columns that alone single most records out, and are therefore not in [`Risks::worst`].
    pub identifying: Vec<String>,
    /// Every pair of columns that has been counted, most records alone first. Constant columns have no pairs.
    pub pairs: Vec<SetRisk>,
    /// Sentences on what the limits left out; empty if everything was counted.
    pub left_out: Vec<String>,
    /// Column that looks like the number of a person, and repeats.
    pub person: Option<String>,
}

/// How a set of columns divides the records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Number of groups: distinct combinations of values.
    pub distinct: u64,
    /// Number of records that are alone in their group.
    pub alone: u64,
    /// The same as a share of all records.
    pub alone_share: f64,
    /// Number of records in groups of exactly two.
    pub in_twos: u64,
    /// Groups per record.
    pub distinction: f64,
    /// Share of the pairs of records that differ.
    pub separation: f64,
}

/// A column with its figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnRisk {
    /// Name of the column.
    pub name: String,
    /// The column alone.
    #[serde(flatten)]
    pub figures: Figures,
    /// Share of the sum of all scores that sets with this column have; `None` if there is no minimal unique set.
    pub contribution: Option<f64>,
}

/// A set of columns with its figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetRisk {
    /// Names of the columns, in the order of the request.
    pub columns: Vec<String>,
    /// The columns together.
    #[serde(flatten)]
    pub figures: Figures,
    /// Number of records for which this is a minimal unique set; `None` if that was not counted.
    pub minimal: Option<u64>,
}

/// Sets of one size that single most records out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorstSets {
    /// Number of columns.
    pub size: usize,
    /// Most records alone first.
    pub sets: Vec<SetRisk>,
}

/// Minimal unique sets of all records.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MinimalSets {
    /// For each size that was counted, from 1.
    pub sizes: Vec<MinimalOfSize>,
    /// Sum of the scores of all records; `None` if it exceeds the range of numbers (more than 170 columns).
    pub score_sum: Option<f64>,
    /// Highest score of a record.
    pub score_highest: Option<f64>,
}

/// Minimal unique sets of one size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct MinimalOfSize {
    /// Number of columns.
    pub size: usize,
    /// Minimal unique sets of this size over all records.
    pub minimal: u64,
    /// Records whose smallest minimal unique set has this size.
    pub records: u64,
    /// Records that are alone under some set of at most this many columns, as a share of all.
    pub share_so_far: f64,
}

/// Groups that are counted one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    groups: u64,
    alone: u64,
    twos: u64,
    /// Records of the largest group.
    largest: u64,
    /// Ordered pairs of different records in the same group.
    equal_pairs: u128,
}

impl Tally {
    fn add(&mut self, records: u64) {
        self.groups += 1;
        self.alone += u64::from(records == 1);
        self.twos += u64::from(records == 2);
        self.largest = self.largest.max(records);
        self.equal_pairs += u128::from(records) * u128::from(records - 1);
    }

    fn of(sets: &ColumnSets, columns: &[usize]) -> Self {
        let mut tally = Self::default();
        sets.for_each_group(columns, |cell| tally.add(cell.records));
        tally
    }

    fn figures(&self, records: u64) -> Figures {
        let share = |part: u64| if records > 0 { part as f64 / records as f64 } else { 0.0 };
        let pairs = u128::from(records) * u128::from(records.saturating_sub(1));
        Figures {
            distinct: self.groups,
            alone: self.alone,
            alone_share: share(self.alone),
            in_twos: 2 * self.twos,
            distinction: share(self.groups),
            // A single record differs from none.
            separation: if pairs > 0 { (pairs - self.equal_pairs) as f64 / pairs as f64 } else { 0.0 },
        }
    }
}

impl Risks {
    /// Analyzes a table whose columns have these names.
    pub fn of(
        sets: &ColumnSets,
        (file, names): (String, &[String]),
        limits: &Limits,
        observer: &dyn Observer,
    ) -> Result<Self, Interrupted> {
        let records = sets.records();
        let tallies: Vec<Tally> = (0..names.len()).into_par_iter().map(|column| Tally::of(sets, &[column])).collect();
        let all: Vec<usize> = (0..names.len()).collect();
        let together = Tally::of(sets, &all).figures(records);
        // A comparison reads two columns once, which is as much as a set.
        let max_pairs = (limits.work / (sets.rows() as u64).max(1)).max(ALWAYS_COMPARED);
        let determined = Determined::of(sets, &tallies, max_pairs);
        let search = Search::new(sets, &tallies, &determined, observer);
        let mut plan = Plan::new(&search, limits, names);
        if determined.left_out > 0 {
            plan.left_out.insert(
                0,
                format!(
                    "work limit: {} pairs of columns were not compared, so there may be more that say the same; choose \
                     columns with --columns",
                    count(determined.left_out)
                ),
            );
        }
        let levels = search.run(plan.paired, plan.sizes)?;

        let columns = names.iter().zip(&tallies);
        let columns = columns.map(|(name, tally)| ColumnRisk {
            name: name.clone(),
            figures: tally.figures(records),
            contribution: None,
        });
        let mut risks = Self {
            file,
            records,
            together,
            columns: columns.collect(),
            related: determined.related(names),
            minimal: MinimalSets::default(),
            worst: Vec::new(),
            identifying: Vec::new(),
            pairs: Vec::new(),
            left_out: plan.left_out,
            person: None,
        };
        risks.add_scores(&levels, plan.sizes);
        risks.list_sets(&levels, &determined);
        Ok(risks)
    }

    /// Counts minimal unique sets by size, and the scores. Scores are kept as multiples of the score of the largest
    /// sets, so that they are exact: `(M - k)! = (M - k) .. (M - s + 1) * (M - s)!` for sets of up to `s` columns.
    fn add_scores(&mut self, levels: &minimal::Levels, sizes: usize) {
        let width = self.columns.len();
        let weight = |size: usize| (size..sizes).map(|other| (width - other) as f64).product::<f64>();
        let mut by_column = vec![0.0; width];
        let (mut sum, mut records) = (0.0, 0);
        for level in levels.levels.iter().take(sizes) {
            let weight = weight(level.size);
            let minimal: u64 = level.sets.iter().map(|set| set.minimal).sum();
            for set in &level.sets {
                set.columns.iter().for_each(|&column| by_column[column] += set.minimal as f64 * weight);
            }
            sum += minimal as f64 * weight;
            records += level.first;
            let share_so_far = if self.records > 0 { records as f64 / self.records as f64 } else { 0.0 };
            self.minimal.sizes.push(MinimalOfSize { size: level.size, minimal, records: level.first, share_so_far });
        }
        let highest = levels.highest(weight);
        let unit = (1..=width.saturating_sub(sizes)).map(|factor| factor as f64).product::<f64>();
        let score = |multiple: f64| Some(multiple * unit).filter(|score| score.is_finite());
        (self.minimal.score_sum, self.minimal.score_highest) = (score(sum), score(highest));
        for (column, score) in self.columns.iter_mut().zip(by_column) {
            column.contribution = (sum > 0.0).then(|| score / sum);
        }
    }

    /// Lists all pairs, and for each size the sets that single most records out.
    fn list_sets(&mut self, levels: &minimal::Levels, determined: &Determined) {
        let identifying: Vec<bool> =
            self.columns.iter().map(|column| column.figures.alone_share >= IDENTIFYING).collect();
        let names = |columns: &[usize]| columns.iter().map(|&column| self.columns[column].name.clone()).collect();
        let listed = |set: &SetCount| SetRisk {
            columns: names(&set.columns),
            figures: set.tally.figures(self.records),
            minimal: set.is_judged.then_some(set.minimal),
        };
        let (mut pairs, mut worst) = (Vec::new(), Vec::new());
        for level in levels.levels.iter().filter(|level| level.size > 1) {
            let mut sets: Vec<&SetCount> = level.sets.iter().collect();
            sets.sort_by_key(|set| (Reverse(set.tally.alone), set.tally.equal_pairs, &set.columns));
            if level.size == 2 {
                pairs = sets.iter().map(|set| listed(set)).collect();
            }
            let is_listed = |column: &usize| !identifying[*column] && !determined.is_copy(*column);
            let is_new = |set: &SetCount| !set.is_dependent && set.columns.iter().all(is_listed);
            let sets = sets.into_iter().filter(|set| set.tally.alone > 0 && is_new(set)).take(MAX_LISTED).map(listed);
            worst.push(WorstSets { size: level.size, sets: sets.collect() });
        }
        let named = self.columns.iter().zip(identifying).filter(|(_, is)| *is);
        let named = named.map(|(column, _)| column.name.clone()).collect();
        (self.pairs, self.worst, self.identifying) = (pairs, worst, named);
    }

    /// The unit of the figures, in a sentence.
    pub fn unit(&self) -> String {
        match &self.person {
            Some(column) => format!(
                "records are counted, not persons: `{}` looks like the number of a person who has several records, so \
                 records that are not alone may all be of one person",
                shown(column)
            ),
            None => {
                "records are counted, not persons: if a person has several records, records that are not alone may all \
                     be of one person"
                    .to_owned()
            }
        }
    }

    /// The main result in a sentence.
    pub fn verdict(&self) -> String {
        let Figures { alone, .. } = self.together;
        let columns = match self.columns.len() {
            1 => "in this column".to_owned(),
            many => format!("in these {} columns together", count(many as u64)),
        };
        if alone == 0 {
            return format!("no record is alone {columns}");
        }
        let records = counted(self.records, "record", "records");
        format!("{} of {records} {} alone {columns}", count(alone), if alone == 1 { "is" } else { "are" })
    }
}

/// The sets to count.
struct Plan {
    /// Number of columns, those with most values first, whose pairs are counted.
    paired: usize,
    /// Largest size whose sets are all counted.
    sizes: usize,
    left_out: Vec<String>,
}

impl Plan {
    fn new(search: &Search<'_>, limits: &Limits, names: &[String]) -> Self {
        let (width, rows) = (search.width(), search.rows().max(1));
        let most = limits.most.clamp(1, names.len().max(1));
        let pairs = |columns: usize| columns as u64 * columns.saturating_sub(1) as u64 / 2;
        let allowed =
            |columns: &usize| pairs(*columns).saturating_mul(rows) <= limits.work && pairs(*columns) <= MAX_SETS;
        let paired = (ALWAYS_PAIRED..=width).rev().find(allowed).unwrap_or(ALWAYS_PAIRED).min(width);
        let mut plan = Self { paired, sizes: most, left_out: Vec::new() };
        if paired < width {
            plan.sizes = 1;
            let without: Vec<String> =
                search.columns(paired).map(|column| format!("`{}`", shown(&names[column]))).collect();
            plan.left_out.push(format!(
                "work limit: pairs were counted for the {} columns with most distinct values, not for {}; larger sets \
                 were not counted: choose columns with --columns",
                count(paired as u64),
                listed(&without)
            ));
            return plan;
        }
        let mut work = pairs(width) * rows;
        for size in 3..=most {
            let max_sets = (limits.work.saturating_sub(work) / rows).min(MAX_SETS);
            let sets = search.count_sets(size, max_sets);
            // The bits of the sets of the previous size.
            let bits = search.count_sets(size - 1, MAX_SETS + 1).saturating_mul(rows.div_ceil(64) * 8);
            let reason = match sets {
                _ if limits.memory.is_some_and(|limit| bits > limit) => "memory limit",
                sets if sets > max_sets => "work limit",
                sets => {
                    work += sets * rows;
                    continue;
                }
            };
            plan.sizes = size - 1;
            let of = if size == most { size.to_string() } else { format!("{size} to {most}") };
            plan.left_out
                .push(format!("{reason}: sets of {of} columns were not counted; choose fewer columns with --columns"));
            break;
        }
        plan
    }
}
