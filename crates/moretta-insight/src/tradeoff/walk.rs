//! Along a path, on a table that shrinks as values are generalised.
//!
//! What has become equal stays equal as long as a path only generalises, so a [`Walk`] looks at a profile in which
//! one value of each cell stands for all of it. A step back would tell such values apart again; before the first of
//! these the walk looks ahead ([`Walk::prepare`]) and takes a profile that keeps apart what any later point tells apart.
//! A column that prints what its own values say (a set, a mean) is left as it is.

use hashbrown::HashMap;
use moretta_core::{
    hierarchy::Cell,
    policy::ReleaseOptions,
    profile::Profile,
    recoding::{Cut, Recoding, Step},
    released::Released,
};

/// A ground gives way to one of at most so much of its size: making one costs about as much as looking at one.
const WORTH_IT: f64 = 0.85;

/// A point of a path and a table to see it in.
pub(super) struct Walk<'a> {
    whole: &'a Profile,
    options: &'a ReleaseOptions,
    cut: Cut,
    /// How many steps it is from the table as it is.
    at: usize,
    /// Ever smaller.
    grounds: Vec<Ground>,
}

/// A smaller table that prints and loses the same, as long as the cut tells no two values apart that it has merged.
struct Ground {
    /// Which code stands for each.
    stands: Vec<Vec<u32>>,
    profile: Profile,
}

impl Ground {
    fn serves(&self, cut: &Cut) -> bool {
        let column = |(cells, stands): (&Vec<Cell>, &Vec<u32>)| {
            cells.iter().zip(stands).all(|(cell, &stand)| *cell == cells[stand as usize])
        };
        cut.cells.iter().zip(&self.stands).all(column)
    }
}

impl<'a> Walk<'a> {
    /// From the table as it is.
    pub(super) fn new(whole: &'a Profile, options: &'a ReleaseOptions) -> Self {
        Self { whole, options, cut: Cut::identity(whole), at: 0, grounds: Vec::new() }
    }

    /// The cut here.
    pub(super) fn cut(&self) -> &Cut {
        &self.cut
    }

    /// How many steps it is from the table as it is.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Some steps further.
    pub(super) fn go(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.cut.apply(step));
        self.at += steps.len();
    }

    /// Leaves grounds that do not serve the cut here.
    pub(super) fn stand(&mut self) {
        while self.grounds.last().is_some_and(|ground| !ground.serves(&self.cut)) {
            self.grounds.pop();
        }
    }

    /// Takes a ground that serves the points after these steps, whatever the steps do.
    pub(super) fn prepare(&mut self, steps: &[Step], points: &[usize]) {
        let whole = self.whole;
        let own_form = |column: usize| self.options.prints_group_values(whole.columns()[column].domain.kind());
        // Codes are of one kind as long as they leave alike at every point.
        let apart = |(column, cells): (usize, &Vec<Cell>)| {
            if own_form(column) { (0..cells.len() as u32).collect() } else { vec![0; cells.len()] }
        };
        let mut kinds: Vec<Vec<u32>> = self.cut.cells.iter().enumerate().map(apart).collect();
        let (mut cut, mut at) = (self.cut.clone(), self.at);
        for &point in points {
            steps[at..point].iter().for_each(|step| cut.apply(step));
            at = point;
            for (kinds, cells) in kinds.iter_mut().zip(&cut.cells) {
                tell_apart(kinds, cells);
            }
        }
        let stands: Vec<Vec<u32>> = kinds.iter().map(|kinds| firsts(kinds.iter().copied())).collect();
        let profile = whole.coarsened(&stands);
        self.grounds = vec![Ground { stands, profile }];
    }

    /// A table that prints and loses here what the whole one does.
    pub(super) fn ground(&self) -> &Profile {
        self.grounds.last().map_or(self.whole, |ground| &ground.profile)
    }

    /// The release of the ground under this cut or one that it was under since it last settled; and the ground.
    pub(super) fn look(&self, cut: &Cut) -> (Released, &Profile) {
        (Released::of_recoding(self.ground(), &Recoding::Global(cut.clone()), self.options), self.ground())
    }

    /// Makes the ground smaller where that pays, with so many groups here.
    pub(super) fn settle(&mut self, groups: usize) {
        if groups as f64 > WORTH_IT * self.ground().tuples() as f64 {
            return;
        }
        let stands = self.stands();
        let profile = self.ground().coarsened(&stands);
        // Groups that print alike by their own forms stay apart.
        if profile.tuples() == self.ground().tuples() {
            return;
        }
        // All that are kept together are a few times the whole table: one gives way that is not much smaller than the
        // one before it.
        let before = self.grounds.len().checked_sub(2).map_or(self.whole, |index| &self.grounds[index].profile);
        if !self.grounds.is_empty() && self.ground().tuples() > before.tuples() / 2 {
            self.grounds.pop();
        }
        self.grounds.push(Ground { stands, profile });
    }

    /// The first code of each cell for all that leave as it.
    fn stands(&self) -> Vec<Vec<u32>> {
        let column = |(described, cells): (&moretta_core::profile::Column, &Vec<Cell>)| {
            if self.options.prints_group_values(described.domain.kind()) {
                return (0..cells.len() as u32).collect();
            }
            firsts(cells.iter().copied())
        };
        self.whole.columns().iter().zip(&self.cut.cells).map(column).collect()
    }
}

/// For each code the first one of its kind.
fn firsts<K: Eq + std::hash::Hash>(kinds: impl Iterator<Item = K>) -> Vec<u32> {
    let mut first = HashMap::new();
    (0u32..).zip(kinds).map(|(code, kind)| *first.entry(kind).or_insert(code)).collect()
}

/// Makes codes of different kinds that leave differently.
fn tell_apart(kinds: &mut [u32], cells: &[Cell]) {
    let mut known = HashMap::new();
    for (kind, &cell) in kinds.iter_mut().zip(cells) {
        let next = known.len() as u32;
        *kind = *known.entry((*kind, cell)).or_insert(next);
    }
}
