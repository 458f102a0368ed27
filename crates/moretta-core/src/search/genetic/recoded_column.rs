//! Cells of one column under the cut that is being evaluated, with their losses.

use super::{chromosome::Chromosome, objective::BoundObjective, segment::Segment};
use crate::{
    hierarchy::{Cell, Domain},
    profile::Profile,
};

/// Cells of one column and, by code, the cell that it is released as. Buffers are reused between cuts.
#[derive(Debug, Clone, Default)]
pub(super) struct RecodedColumn {
    /// By code, the index of its cell in `cells`.
    pub cell_of: Vec<u32>,
    pub cells: Vec<Cell>,
    /// By cell, the precision loss per record.
    pub losses: Vec<f64>,
    /// By cell, whether it is released as `*`.
    pub stars: Vec<bool>,
}

impl RecodedColumn {
    /// Loads the cells of a valid chromosome.
    pub(super) fn load(&mut self, chromosome: &Chromosome, segment: &Segment<'_>) {
        self.cells.clear();
        self.cell_of.clear();
        segment.each_cell(chromosome, |cell| {
            self.cell_of.resize(cell.last as usize + 1, self.cells.len() as u32);
            self.cells.push(cell);
        });
    }

    /// Loads the cells given by code. One cell may contain another.
    pub(super) fn load_cells(&mut self, by_code: &[Cell]) {
        self.cells.clear();
        self.cells.extend(by_code);
        self.cells.sort_unstable();
        self.cells.dedup();
        self.cell_of.clear();
        let index = |cell: &Cell| self.cells.binary_search(cell).map_or(0, |index| index as u32);
        self.cell_of.extend(by_code.iter().map(index));
    }

    /// Computes `losses` and `stars` from the loaded cells.
    pub(super) fn fill_losses(&mut self, profile: &Profile, column: usize, objective: &BoundObjective) {
        let domain: &Domain = &profile.columns()[column].domain;
        self.losses.clear();
        self.losses.extend(self.cells.iter().map(|&cell| objective.precision_loss(profile, column, cell)));
        self.stars.clear();
        self.stars.extend(self.cells.iter().map(|&cell| domain.is_star(cell)));
    }
}
