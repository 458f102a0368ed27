//! Rows divided into groups, without the groups that cannot be split.

use super::{Column, ColumnSets};

/// Rows in groups with equal values in some columns. Groups of one row are left out: no further column splits them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Partition {
    /// Group by group, each in ascending order.
    rows: Vec<u32>,
    /// End of each group in `rows`.
    ends: Vec<u32>,
}

/// The rows of a group with one value of a further column.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cell {
    /// Number of rows.
    pub rows: u32,
    /// The first of them.
    pub first: u32,
    /// Number of records.
    pub records: u64,
}

/// Buffers of a split, reused by the next one.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// By code of the column that splits. Without rows between groups.
    cells: Vec<Cell>,
    /// Codes that occur in the group, in the order of their first rows.
    codes: Vec<u32>,
}

impl Partition {
    /// All rows in one group, also if there is one row only: it has not been counted yet.
    pub(crate) fn whole(rows: usize) -> Self {
        Self { rows: (0..rows as u32).collect(), ends: if rows > 0 { vec![rows as u32] } else { Vec::new() } }
    }

    /// The groups that are left.
    fn groups(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let group = &self.rows[start..end as usize];
            start = end as usize;
            group
        })
    }

    /// Calls `each` for the parts into which a column splits the groups.
    pub(crate) fn for_each_cell(
        &self,
        sets: &ColumnSets,
        column: usize,
        scratch: &mut Scratch,
        mut each: impl FnMut(Cell),
    ) {
        let column = &sets.columns[column];
        scratch.reserve(column);
        for group in self.groups() {
            scratch.count(sets, column, group);
            for &code in &scratch.codes {
                each(std::mem::take(&mut scratch.cells[code as usize]));
            }
        }
    }

    /// The parts into which a column splits the groups. Calls `alone` for the parts of one row, which are left out.
    pub(crate) fn refined(
        &self,
        sets: &ColumnSets,
        column: usize,
        scratch: &mut Scratch,
        mut alone: impl FnMut(Cell),
    ) -> Self {
        let column = &sets.columns[column];
        scratch.reserve(column);
        let mut refined = Self::default();
        for group in self.groups() {
            scratch.count(sets, column, group);
            let start = refined.rows.len() as u32;
            let mut end = start;
            for &code in &scratch.codes {
                let cell = &mut scratch.cells[code as usize];
                if cell.rows == 1 {
                    alone(*cell);
                } else {
                    // From here on `first` is the place of the part's next row.
                    cell.first = end;
                    end += cell.rows;
                    refined.ends.push(end);
                }
            }
            if end > start {
                refined.rows.resize(end as usize, 0);
                for &row in group {
                    let cell = &mut scratch.cells[column.codes[row as usize] as usize];
                    if cell.rows > 1 {
                        refined.rows[cell.first as usize] = row;
                        cell.first += 1;
                    }
                }
            }
            scratch.codes.iter().for_each(|&code| scratch.cells[code as usize] = Cell::default());
        }
        refined
    }
}

impl Scratch {
    fn reserve(&mut self, column: &Column) {
        if self.cells.len() < column.values as usize {
            self.cells.resize(column.values as usize, Cell::default());
        }
    }

    /// Counts the rows of a group by their codes.
    fn count(&mut self, sets: &ColumnSets, column: &Column, group: &[u32]) {
        self.codes.clear();
        for &row in group {
            let code = column.codes[row as usize];
            let cell = &mut self.cells[code as usize];
            if cell.rows == 0 {
                self.codes.push(code);
                cell.first = row;
            }
            cell.rows += 1;
            cell.records += sets.row_records[row as usize];
        }
    }
}
