//! What the values of a column leave as.

use super::{chromosome::Chromosome, objective::BoundObjective, segment::Segment};
use crate::{
    hierarchy::{Cell, Domain},
    profile::Profile,
};

/// What the values of a column leave as.
#[derive(Debug, Clone, Default)]
pub(super) struct RecodedColumn {
    /// By code, which of the cells.
    pub cell_of: Vec<u32>,
    pub cells: Vec<Cell>,
    /// By cell, what a record loses in precision.
    pub losses: Vec<f64>,
    /// By cell, whether it prints `*`.
    pub stars: Vec<bool>,
}

impl RecodedColumn {
    /// Takes the cells of a valid string.
    pub(super) fn load(&mut self, chromosome: &Chromosome, segment: &Segment<'_>) {
        self.cells.clear();
        self.cell_of.clear();
        segment.each_cell(chromosome, |cell| {
            self.cell_of.resize(cell.last as usize + 1, self.cells.len() as u32);
            self.cells.push(cell);
        });
    }

    /// Takes the cells by code, which may nest.
    pub(super) fn load_cells(&mut self, by_code: &[Cell]) {
        self.cells.clear();
        self.cells.extend(by_code);
        self.cells.sort_unstable();
        self.cells.dedup();
        self.cell_of.clear();
        let place = |cell: &Cell| self.cells.binary_search(cell).map_or(0, |place| place as u32);
        self.cell_of.extend(by_code.iter().map(place));
    }

    /// Fills in what follows from the cells.
    pub(super) fn fill_losses(&mut self, profile: &Profile, column: usize, objective: &BoundObjective) {
        let domain: &Domain = &profile.columns()[column].domain;
        self.losses.clear();
        self.losses.extend(self.cells.iter().map(|&cell| objective.precision_loss(profile, column, cell)));
        self.stars.clear();
        self.stars.extend(self.cells.iter().map(|&cell| domain.is_star(cell)));
    }
}
