//! Reads the data sets as rows of text, and groups rows into counts.

use std::{fs, path::PathBuf};

use hashbrown::HashMap;
use moretta_core::{
    counts::{CountedColumn, Counts},
    hierarchy::{Tree, file},
};

use crate::error::PaperError;

/// Cells as text, by row and column.
pub type TextRows = Vec<Vec<String>>;

/// Folder with the data sets.
#[derive(Debug, Clone)]
pub struct Data(PathBuf);

impl Data {
    /// Data sets in the given folder; it is not opened yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Checks that a file can be opened.
    pub fn check(&self, file: &str) -> Result<(), PaperError> {
        let path = self.0.join(file);
        fs::File::open(&path).map(|_| ()).map_err(|error| PaperError::File { path, error })
    }

    fn text(&self, file: &str) -> Result<(PathBuf, String), PaperError> {
        let path = self.0.join(file);
        let text = fs::read_to_string(&path).map_err(|error| PaperError::File { path: path.clone(), error })?;
        Ok((path, text))
    }

    /// Reads some columns of a file. Cells are not quoted. Records with a missing value (`?`) in any column are
    /// skipped, as in the papers.
    pub fn rows(&self, file: &str, columns: &[&str]) -> Result<TextRows, PaperError> {
        let (path, text) = self.text(file)?;
        let wrong = |message: String| PaperError::Data { path: path.clone(), message };
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
        let column_index = |name: &&str| {
            let index = header.iter().position(|column| column == name);
            index.ok_or_else(|| wrong(format!("there is no column `{name}`")))
        };
        let indices: Vec<usize> = columns.iter().map(column_index).collect::<Result<_, _>>()?;
        let mut rows = Vec::new();
        for (number, line) in lines.enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            if cells.len() != header.len() {
                let (row, found, wanted) = (number + 1, cells.len(), header.len());
                return Err(wrong(format!("row {row} has {found} cells, the header {wanted}")));
            }
            if !cells.contains(&"?") {
                rows.push(indices.iter().map(|&column| cells[column].to_owned()).collect());
            }
        }
        Ok(rows)
    }

    /// Reads a hierarchy file.
    pub fn tree(&self, file: &str) -> Result<Tree, PaperError> {
        let (path, text) = self.text(file)?;
        file::parse(&text).map_err(|error| PaperError::Hierarchy { path, error })
    }
}

/// Groups equal rows and counts them.
pub fn counted(names: &[&str], rows: &[Vec<String>]) -> Counts {
    enlarged(names, rows, 0, (1, 0))
}

/// Groups and counts every row and `s - 1` variations of it, which have random values in `r` of the first `width`
/// columns. Variations are not stored: memory grows with the distinct rows only.
pub fn enlarged(names: &[&str], rows: &[Vec<String>], width: usize, (s, r): (usize, usize)) -> Counts {
    let domains: Vec<Vec<&str>> = (0..width)
        .map(|column| {
            let mut values: Vec<&str> = rows.iter().map(|row| row[column].as_str()).collect();
            values.sort_unstable();
            values.dedup();
            values
        })
        .collect();
    let mut counter = Counter::new(names);
    let mut random = Random(1);
    let mut columns: Vec<usize> = Vec::with_capacity(width);
    for row in rows {
        let original: Vec<&str> = row.iter().map(String::as_str).collect();
        counter.add(&original);
        let mut variation = original.clone();
        for _ in 1..s {
            variation.copy_from_slice(&original);
            columns.clear();
            columns.extend(0..width);
            for _ in 0..r.min(width) {
                let column = columns.swap_remove(random.below(columns.len()));
                variation[column] = domains[column][random.below(domains[column].len())];
            }
            counter.add(&variation);
        }
    }
    counter.finish()
}

/// SplitMix64 generator; its quality suffices for random variations.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// Returns a random number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Groups and counts a stream of records.
struct Counter<'a> {
    columns: Vec<CountedColumn>,
    codes: Vec<HashMap<&'a str, u32>>,
    /// By codes, the number of records and the number of the first one.
    groups: HashMap<Key, (u64, u64)>,
    records: u64,
}

/// Codes of a record: packed into one byte each if they fit, which is much faster to hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Packed(u128),
    Long(Vec<u32>),
}

impl Key {
    fn of(codes: &[u32]) -> Self {
        if codes.len() <= 16 && codes.iter().all(|&code| code < 256) {
            Self::Packed(codes.iter().fold(0, |key, &code| key << 8 | u128::from(code)))
        } else {
            Self::Long(codes.to_vec())
        }
    }

    fn codes(&self, width: usize) -> Vec<u32> {
        match self {
            Self::Packed(key) => (0..width).rev().map(|column| (key >> (8 * column)) as u32 & 0xff).collect(),
            Self::Long(codes) => codes.clone(),
        }
    }
}

impl<'a> Counter<'a> {
    fn new(names: &[&str]) -> Self {
        let column = |name: &&str| CountedColumn { name: (*name).to_owned(), ..CountedColumn::default() };
        let columns = names.iter().map(column).collect();
        Self { columns, codes: vec![HashMap::new(); names.len()], groups: HashMap::new(), records: 0 }
    }

    fn add(&mut self, record: &[&'a str]) {
        self.records += 1;
        let mut key = Vec::with_capacity(record.len());
        for ((text, codes), column) in record.iter().zip(&mut self.codes).zip(&mut self.columns) {
            let next = codes.len() as u32;
            let code = *codes.entry(text).or_insert(next);
            if code == next {
                column.values.push((*text).into());
                column.first_records.get_or_insert_default().push(self.records);
            }
            key.push(code);
        }
        self.groups.entry(Key::of(&key)).or_insert((0, self.records)).0 += 1;
    }

    fn finish(self) -> Counts {
        let width = self.columns.len();
        let mut groups: Vec<(Key, (u64, u64))> = self.groups.into_iter().collect();
        groups.sort_unstable();
        let mut counts = Counts { columns: self.columns, records: self.records, ..Counts::default() };
        for (key, (records, first)) in groups {
            counts.codes.extend(key.codes(width));
            counts.counts.push(records);
            counts.first_records.get_or_insert_default().push(first);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(texts: &[&str]) -> TextRows {
        texts.iter().map(|text| text.split(',').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn rows_are_counted() {
        let counts = counted(&["a", "b"], &rows(&["x,1", "y,1", "x,1"]));
        assert_eq!((counts.records, counts.rows()), (3, 2));
        assert_eq!((counts.row(0), counts.counts[0], counts.first_record(0)), (&[0, 0][..], 2, Some(1)));
        assert_eq!(&*counts.columns[0].values[1], "y");
        assert_eq!(counts.columns[0].first_records, Some(vec![1, 2]));
    }

    #[test]
    fn codes_that_do_not_fit_a_packed_key_are_counted() {
        let many: TextRows = (0..600).map(|at| vec![(at % 300).to_string()]).collect();
        let counts = counted(&["a"], &many);
        assert_eq!((counts.rows(), counts.counts.iter().all(|&records| records == 2)), (300, true));
        let wide = rows(&[&["x"; 20].join(","), &["x"; 20].join(",")]);
        assert_eq!(counted(&["a"; 20], &wide).counts, [2]);
    }

    #[test]
    fn variations_differ_in_at_most_r_of_the_first_columns() {
        let rows = rows(&["x,1,a,p", "y,2,b,q", "z,3,c,r"]);
        let counts = enlarged(&["a", "b", "c", "d"], &rows, 3, (50, 1));
        assert_eq!(counts.records, 150);
        let mut varied = 0;
        for row in 0..counts.rows() {
            let codes = counts.row(row).iter().zip(&counts.columns);
            let texts: Vec<&str> = codes.map(|(&code, column)| &*column.values[code as usize]).collect();
            // The last column is not varied, so it identifies the original row.
            let original = rows.iter().find(|row| row[3] == texts[3]).unwrap();
            let changed = original.iter().zip(&texts).filter(|(cell, text)| cell.as_str() != **text).count();
            assert!(changed <= 1, "{texts:?} of {original:?}");
            varied += changed;
        }
        assert!(varied > 0);
    }

    #[test]
    fn a_missing_file_is_an_error_that_names_it() {
        let error = Data::new("/nowhere").rows("adult/adult_train.csv", &["age"]).unwrap_err();
        assert!(error.to_string().contains("/nowhere/adult/adult_train.csv"), "{error}");
    }
}
