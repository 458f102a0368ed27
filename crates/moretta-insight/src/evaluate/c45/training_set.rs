//! The rows that a tree is grown from or tested with, and their coded form.

use hashbrown::HashSet;
use moretta_core::text::merge_counts;

/// Code of a value that the training set does not have.
pub const UNKNOWN: u32 = u32::MAX;

/// One feature of all rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Feature {
    /// Codes of names. Their order has no meaning.
    Categorical(Vec<u32>),
    /// Numbers. NaN is an unknown value, allowed only in a set to classify.
    Numeric(Vec<f64>),
}

impl Feature {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Categorical(codes) => codes.len(),
            Self::Numeric(numbers) => numbers.len(),
        }
    }

    pub(super) fn code(&self, row: usize) -> u32 {
        match self {
            Self::Categorical(codes) => codes[row],
            Self::Numeric(_) => UNKNOWN,
        }
    }

    pub(super) fn number(&self, row: usize) -> f64 {
        match self {
            Self::Categorical(_) => f64::NAN,
            Self::Numeric(numbers) => numbers[row],
        }
    }
}

/// Rows with features, a class and a weight (number of records). Test sets have the same type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrainingSet {
    pub(super) columns: Vec<Feature>,
    pub(super) classes: Vec<u32>,
    pub(super) weights: Vec<u64>,
}

impl TrainingSet {
    /// Rows of weight 0 are ignored.
    ///
    /// # Panics
    /// If columns, classes and weights differ in length.
    pub fn new(columns: Vec<Feature>, classes: Vec<u32>, weights: Vec<u64>) -> Self {
        let even = columns.iter().all(|column| column.rows() == classes.len()) && classes.len() == weights.len();
        assert!(even, "every row has a value in every column, a class and a weight");
        Self { columns, classes, weights }
    }

    /// Number of rows, whatever their weight.
    pub fn rows(&self) -> usize {
        self.classes.len()
    }
}

/// A training set with numbers replaced by ranks and equal rows merged.
pub(super) struct CodedSet<'a> {
    table: &'a TrainingSet,
    /// By column and row.
    codes: Vec<Vec<u32>>,
    /// By column, the number of each rank; empty for categorical features.
    numbers: Vec<Vec<f64>>,
    /// By column, whether it has many values per record ([`SCATTERED`]).
    scattered: Vec<bool>,
    classes: Vec<u32>,
    weights: Vec<u64>,
}

/// A categorical feature is scattered if it has at least this many distinct values per record (Quinlan's value).
const SCATTERED: f64 = 0.3;

impl<'a> CodedSet<'a> {
    pub(super) fn of(table: &'a TrainingSet) -> Self {
        let (codes, numbers): (Vec<Vec<u32>>, Vec<Vec<f64>>) = table.columns.iter().map(ranked).unzip();
        let key = |row: u32| {
            let values = codes.iter().map(move |codes| codes[row as usize]);
            values.chain([table.classes[row as usize]])
        };
        let mut order: Vec<u32> = (0..table.rows() as u32).filter(|&row| table.weights[row as usize] > 0).collect();
        order.sort_unstable_by(|&a, &b| key(a).cmp(key(b)));
        let (mut distinct, mut weights) = (Vec::new(), Vec::new());
        for equal in order.chunk_by(|&a, &b| key(a).eq(key(b))) {
            distinct.push(equal[0] as usize);
            weights.push(equal.iter().map(|&row| table.weights[row as usize]).sum());
        }
        let taken = |from: &Vec<u32>| -> Vec<u32> { distinct.iter().map(|&row| from[row]).collect() };
        let codes: Vec<Vec<u32>> = codes.iter().map(taken).collect();
        let records = weights.iter().sum::<u64>() as f64;
        let scattered = |(column, codes): (&Feature, &Vec<u32>)| {
            let values: HashSet<u32> = codes.iter().copied().collect();
            matches!(column, Feature::Categorical(_)) && values.len() as f64 >= SCATTERED * records
        };
        let scattered = table.columns.iter().zip(&codes).map(scattered).collect();
        Self { table, codes, numbers, scattered, classes: taken(&table.classes), weights }
    }

    pub(super) fn rows(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn columns(&self) -> usize {
        self.codes.len()
    }

    pub(super) fn is_numeric(&self, column: usize) -> bool {
        matches!(self.table.columns[column], Feature::Numeric(_))
    }

    pub(super) fn is_scattered(&self, column: usize) -> bool {
        self.scattered[column]
    }

    pub(super) fn code(&self, column: usize, row: u32) -> u32 {
        self.codes[column][row as usize]
    }

    pub(super) fn number(&self, column: usize, code: u32) -> f64 {
        self.numbers[column][code as usize]
    }

    /// Records of each class among these rows, sorted by class.
    pub(super) fn classes(&self, rows: &[u32]) -> Vec<(u32, u64)> {
        self.counted(rows, |row| self.classes[row])
    }

    /// Records of each pair of code and class among these rows, sorted.
    pub(super) fn contingency(&self, column: usize, rows: &[u32]) -> Vec<((u32, u32), u64)> {
        self.counted(rows, |row| (self.codes[column][row], self.classes[row]))
    }

    fn counted<K: Ord + Copy>(&self, rows: &[u32], key: impl Fn(usize) -> K) -> Vec<(K, u64)> {
        let mut counts: Vec<_> = rows.iter().map(|&row| (key(row as usize), self.weights[row as usize])).collect();
        counts.sort_unstable_by_key(|(key, _)| *key);
        merge_counts(&mut counts);
        counts
    }
}

/// The codes of a feature (for numbers: ranks), and the number of each rank.
fn ranked(column: &Feature) -> (Vec<u32>, Vec<f64>) {
    match column {
        Feature::Categorical(codes) => (codes.clone(), Vec::new()),
        Feature::Numeric(numbers) => {
            // Adding 0 turns -0 into 0.
            let plain = |number: &f64| number + 0.0;
            let mut distinct: Vec<f64> = numbers.iter().map(plain).collect();
            distinct.sort_unstable_by(f64::total_cmp);
            distinct.dedup_by(|a, b| a.total_cmp(b).is_eq());
            let rank = |number: &f64| {
                let found = distinct.binary_search_by(|known| known.total_cmp(&plain(number)));
                found.expect("every number is among the distinct ones") as u32
            };
            (numbers.iter().map(rank).collect(), distinct)
        }
    }
}
