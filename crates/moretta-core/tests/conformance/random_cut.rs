//! Random valid cuts of a profile.

use moretta_core::{
    hierarchy::{Cell, Domain, Tree},
    ids::{NodeId, TupleId},
    profile::Profile,
    recoding::{Cut, Recoding},
};

use moretta_core::testing::conformance::Dice;

/// A random set of nodes with one on every path, or random intervals of numbers; and some tuples suppressed.
pub fn random_cut(profile: &Profile, dice: &mut Dice) -> Recoding {
    let suppress = *dice.one(&[0, 0, 10, 50]);
    let suppressed = (0..profile.tuples() as u32).map(TupleId).filter(|_| dice.chance(suppress)).collect();
    let cells = profile.columns().iter().map(|column| cells(&column.domain, dice)).collect();
    Recoding::Global(Cut { cells, suppressed })
}

fn cells(domain: &Domain, dice: &mut Dice) -> Vec<Cell> {
    let mut cells: Vec<Cell> = vec![domain.whole(); domain.len()];
    let coarse = *dice.one(&[20, 50, 80, 100]);
    // Sometimes cells nest: a value inside a wide cell has a narrower cell.
    let nested = *dice.one(&[0, 0, 30]);
    if let Some(tree) = domain.tree() {
        let mut open: Vec<NodeId> = vec![Tree::ROOT];
        while let Some(node) = open.pop() {
            let cell = domain.node_cell(node);
            cells[cell.first as usize..=cell.last as usize].fill(cell);
            let stays = tree.is_leaf(node) || dice.chance(coarse);
            open.extend(tree.children(node).filter(|_| !stays || dice.chance(nested)));
        }
        return cells;
    }
    let numbers = domain.len() as u32 - u32::from(domain.missing().is_some());
    let whole = domain.missing().is_some() && dice.chance(30);
    let mut first = 0;
    for last in 0..numbers {
        if !whole && (last + 1 == numbers || !dice.chance(coarse)) {
            let inside = cells[first as usize..=last as usize].iter_mut();
            inside.filter(|cell| cell.first < cell.last).for_each(|cell| *cell = domain.cover(first, last));
            cells[last as usize] = domain.cover(first, last);
            first = last + 1;
        } else if dice.chance(nested) {
            // A single value inside an interval that is not closed yet, or inside the whole range.
            cells[last as usize] = domain.cover(last, last);
        }
    }
    if let Some(code) = domain.missing().filter(|_| !whole) {
        cells[code as usize] = domain.cover(code, code);
    }
    cells
}
