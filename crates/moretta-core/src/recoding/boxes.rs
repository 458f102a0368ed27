//! Assigns the tuples of another table to the boxes of a saved local recoding.

use hashbrown::HashSet;

use super::suppress::{PrintedCell, suppress_violating_groups};
use crate::{hierarchy::Cell, ids::TupleId, privacy::BoundModel, profile::Profile};

/// Index of boxes by one column, the one in which boxes overlap least: for each code, the boxes that contain it, in
/// order.
pub(crate) struct BoxIndex {
    column: usize,
    boxes_by_code: Vec<Vec<u32>>,
}

impl BoxIndex {
    pub(crate) fn new(profile: &Profile, boxes: &[Vec<Cell>]) -> Self {
        let overlap = |column: usize| -> f64 {
            let domain = &profile.columns()[column].domain;
            boxes.iter().map(|cells| f64::from(cells[column].last - cells[column].first + 1)).sum::<f64>()
                / domain.len() as f64
        };
        let column = (0..profile.columns().len()).min_by(|&a, &b| overlap(a).total_cmp(&overlap(b))).unwrap_or(0);
        let mut boxes_by_code = vec![Vec::new(); profile.columns()[column].domain.len()];
        for (index, cells) in (0u32..).zip(boxes) {
            for code in cells[column].first..=cells[column].last {
                boxes_by_code[code as usize].push(index);
            }
        }
        Self { column, boxes_by_code }
    }

    /// The first [`MAX_CHOICES`] boxes that cover a tuple.
    pub(crate) fn covering(&self, boxes: &[Vec<Cell>], codes: &[u32]) -> Vec<u32> {
        let covers = |index: &u32| boxes[*index as usize].iter().zip(codes).all(|(cell, code)| cell.contains(*code));
        self.boxes_by_code[codes[self.column] as usize].iter().copied().filter(covers).take(MAX_CHOICES).collect()
    }
}

/// Maximum boxes considered per tuple; limits memory and time. Not tuned.
const MAX_CHOICES: usize = 16;

/// Assigns every tuple to one of the boxes that cover it, so that the groups satisfy the models; `None` if the tuple is
/// suppressed. `choices` has the covering boxes of each tuple, lowest loss first.
///
/// Boxes of a local recoding may overlap. A tuple that one box covers is assigned to it. Any other tuple is assigned to
/// a box that still has too few records, otherwise to the box with the lowest loss. Boxes whose group violates a model
/// are closed, and everything is repeated without them, until no suppressed tuple has an open box left.
pub(crate) fn assign_to_boxes(
    profile: &Profile,
    models: &[Box<dyn BoundModel>],
    choices: &[Vec<u32>],
    prints: &[Vec<PrintedCell>],
) -> Vec<Option<usize>> {
    let boxes = prints.len();
    let min_records = models.iter().map(|model| model.min_records()).max().unwrap_or(1);
    let mut closed = vec![false; boxes];
    loop {
        let mut records = vec![0u64; boxes];
        let mut assigned: Vec<Option<usize>> = vec![None; choices.len()];
        let mut undecided = Vec::new();
        for (tuple, choices) in (0u32..).map(TupleId).zip(choices) {
            let open: Vec<usize> = choices.iter().map(|&b| b as usize).filter(|&b| !closed[b]).collect();
            match open.as_slice() {
                [] => {}
                [only] => {
                    records[*only] += profile.tuple_records(tuple);
                    assigned[tuple.index()] = Some(*only);
                }
                _ => undecided.push((open, tuple)),
            }
        }
        undecided.sort_by_key(|(open, tuple)| (open.len(), *tuple));
        for (open, tuple) in undecided {
            // The fullest box with too few records, so that as few boxes as possible stay too small.
            let short =
                open.iter().filter(|&&b| records[b] < min_records).max_by_key(|&&b| (records[b], usize::MAX - b));
            let chosen = *short.unwrap_or(&open[0]);
            records[chosen] += profile.tuple_records(tuple);
            assigned[tuple.index()] = Some(chosen);
        }
        let mut kept = assigned.clone();
        suppress_violating_groups(profile, models, prints, &mut kept);
        let violating: HashSet<usize> =
            assigned.iter().zip(&kept).filter(|(_, kept)| kept.is_none()).filter_map(|(group, _)| *group).collect();
        let elsewhere =
            |tuple: usize| choices[tuple].iter().any(|&b| !violating.contains(&(b as usize)) && !closed[b as usize]);
        let retry = (0..kept.len()).any(|tuple| kept[tuple].is_none() && assigned[tuple].is_some() && elsewhere(tuple));
        if !retry {
            return kept;
        }
        violating.into_iter().for_each(|b| closed[b] = true);
    }
}
