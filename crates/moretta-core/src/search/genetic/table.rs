//! The table as evaluations see it: rows of distinct tuples with everything that is counted by group.
//!
//! What no string of the population tells apart need not be told apart in the table either: tuples that fall together
//! under a *mask* (the bits that some string has) are one row. As the population comes to agree the table shrinks, and
//! with it the cost of every string that stays within the mask.
//!
//! The columns are put together in blocks of a few, so that what a row leaves as is looked up a block at a time.

use super::{
    chromosome::Chromosome,
    objective::{BoundObjective, Target, TargetKind},
    segment::Segment,
};
use crate::{
    ids::{AttributeId, TupleId},
    profile::{Profile, sorted_rows},
    text::merge_counts,
};

/// Columns are put together in a block while there are no more combinations than this.
const COMBINATIONS: usize = 1024;
/// So many blocks are looked up at once.
pub(super) const AT_ONCE: usize = 4;
/// And no more combinations of them than this, so that a row and its combination are one number of 64 bits.
const MOST: u128 = 1 << 36;

/// The rows that evaluations go through.
pub(super) struct Table {
    /// By row, how many records it has.
    pub records: Vec<u64>,
    /// By row, the first of its tuples.
    pub tuples: Vec<TupleId>,
    /// By tuple, its row.
    pub rows: Vec<u32>,
    /// By column, the first code of each step: codes that the mask does not tell apart are one step.
    pub steps: Vec<Vec<u32>>,
    /// By column and step, how many records.
    pub histograms: Vec<Vec<u64>>,
    pub plates: Vec<Plate>,
    /// By target of the objective.
    pub targets: Vec<Counted>,
    /// By guarded value, the rows that carry it and with how many records.
    pub guarded: Vec<Vec<(u32, u64)>>,
}

/// Blocks of columns that are looked up together.
pub(super) struct Plate {
    /// The columns of each block.
    pub blocks: Vec<Vec<usize>>,
    /// By row, which combination of steps it has in each block: combinations are numbered through the blocks, and one more
    /// stands for blocks that are not there.
    pub index: Index,
}

/// Combinations by row; in a few bytes where there are few of them.
pub(super) enum Index {
    /// Fewer than [`NARROW`].
    Narrow(Vec<[u16; AT_ONCE]>),
    /// Any number.
    Wide(Vec<[u32; AT_ONCE]>),
}

/// So many combinations fit 16 bits.
pub(super) const NARROW: usize = 1 << 16;

impl Index {
    /// The combinations of a row.
    pub(super) fn row(&self, row: usize) -> [usize; AT_ONCE] {
        match self {
            Self::Narrow(index) => index[row].map(usize::from),
            Self::Wide(index) => index[row].map(|at| at as usize),
        }
    }
}

/// What a target counts.
pub(super) enum Counted {
    /// By class, the rows that carry it and with how many records.
    Classes(Vec<Vec<(u32, u64)>>),
    /// By row, the sum of the numbers and of their squares.
    Sums(Vec<[f64; 2]>),
    /// In order of the numbers: the row, how many records, the number.
    InOrder(Vec<(u32, u64, f64)>),
}

impl Table {
    /// The rows under a mask; without one every tuple is a row.
    pub(super) fn new(
        profile: &Profile,
        segments: &[Segment<'_>],
        mask: Option<&Chromosome>,
        objective: &BoundObjective,
        guarded: &[(AttributeId, u32)],
    ) -> Self {
        let steps: Vec<Vec<u32>> = segments.iter().map(|segment| steps(segment, mask)).collect();
        let step_of: Vec<Vec<u32>> =
            steps.iter().zip(segments).map(|(steps, segment)| step_of(steps, segment)).collect();
        let plates = plates(&steps);
        let rows = rows(profile, &steps, &step_of, &plates);
        let len = rows.iter().max().map_or(0, |&last| last as usize + 1);
        let (mut records, mut tuples) = (vec![0; len], vec![TupleId(u32::MAX); len]);
        let mut histograms: Vec<Vec<u64>> = steps.iter().map(|steps| vec![0; steps.len()]).collect();
        for (tuple, &row) in (0u32..).map(TupleId).zip(&rows) {
            let own = profile.tuple_records(tuple);
            records[row as usize] += own;
            tuples[row as usize] = tuples[row as usize].min(tuple);
            for ((histogram, step_of), &code) in histograms.iter_mut().zip(&step_of).zip(profile.codes(tuple)) {
                histogram[step_of[code as usize] as usize] += own;
            }
        }
        let step = |row: usize, column: usize| step_of[column][profile.codes(tuples[row])[column] as usize];
        let plates = plates.into_iter().map(|blocks| Plate::new(blocks, len, &steps, step)).collect();
        let targets = objective.targets.iter().map(|target| Counted::new(target, profile, &rows, len)).collect();
        let guarded = guarded.iter().map(|&(attribute, value)| carrying(profile, attribute, value, &rows)).collect();
        Self { records, tuples, rows, steps, histograms, plates, targets, guarded }
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }
}

/// The first code of each step.
fn steps(segment: &Segment<'_>, mask: Option<&Chromosome>) -> Vec<u32> {
    let codes = segment.domain.len() as u32;
    match mask {
        None => (0..codes).collect(),
        Some(mask) => {
            let ends = segment.bits.clone().filter(|&bit| mask.get(bit)).map(|bit| segment.end_of(bit) + 1);
            (0..codes.min(1)).chain(ends).collect()
        }
    }
}

fn step_of(steps: &[u32], segment: &Segment<'_>) -> Vec<u32> {
    let mut next = 0;
    let step = |code: u32| {
        next += u32::from(steps.get(next as usize) == Some(&code));
        next - 1
    };
    (0..segment.domain.len() as u32).map(step).collect()
}

/// Which row each tuple is in. Rows are in the order of their plates, so that neighbours leave much alike and what is
/// counted for them is near in memory.
fn rows(profile: &Profile, steps: &[Vec<u32>], step_of: &[Vec<u32>], plates: &[Vec<Vec<usize>>]) -> Vec<u32> {
    let columns: Vec<usize> = plates.iter().flatten().flatten().copied().collect();
    let sizes: Vec<usize> = columns.iter().map(|&column| steps[column].len()).collect();
    let step = |tuple: u32, column: usize| step_of[column][profile.codes(TupleId(tuple))[column] as usize];
    let order = sorted_rows(profile.tuples(), &sizes, |tuple, place| step(tuple as u32, columns[place]));
    let mut rows = vec![0; order.len()];
    for pair in order.windows(2) {
        let is_new = columns.iter().any(|&column| step(pair[0], column) != step(pair[1], column));
        rows[pair[1] as usize] = rows[pair[0] as usize] + u32::from(is_new);
    }
    rows
}

/// Which columns are looked up together: blocks with few combinations, several blocks in a plate.
fn plates(steps: &[Vec<u32>]) -> Vec<Vec<Vec<usize>>> {
    let mut columns: Vec<usize> = (0..steps.len()).collect();
    columns.sort_by_key(|&column| std::cmp::Reverse(steps[column].len()));
    let mut blocks: Vec<(usize, Vec<usize>)> = Vec::new();
    for column in columns {
        let size = steps[column].len();
        match blocks.iter_mut().find(|(combinations, _)| combinations.saturating_mul(size) <= COMBINATIONS) {
            Some((combinations, block)) => {
                *combinations *= size;
                block.push(column);
            }
            None => blocks.push((size, vec![column])),
        }
    }
    let mut plates: Vec<(u128, Vec<Vec<usize>>)> = Vec::new();
    for (combinations, block) in blocks {
        let size = combinations as u128;
        match plates.last_mut() {
            Some((all, plate)) if plate.len() < AT_ONCE && *all * size <= MOST => {
                *all *= size;
                plate.push(block);
            }
            _ => plates.push((size, vec![block])),
        }
    }
    plates.into_iter().map(|(_, plate)| plate).collect()
}

impl Plate {
    fn new(blocks: Vec<Vec<usize>>, rows: usize, steps: &[Vec<u32>], step: impl Fn(usize, usize) -> u32) -> Self {
        let sizes = blocks.iter().map(|block| block.iter().map(|&column| steps[column].len() as u32).product::<u32>());
        let before: Vec<u32> = std::iter::once(0).chain(sizes).scan(0, running_sum).collect();
        let mut index = vec![[before[blocks.len()]; AT_ONCE]; rows];
        for (row, index) in index.iter_mut().enumerate() {
            for ((index, block), before) in index.iter_mut().zip(&blocks).zip(&before) {
                // The last column of a block changes fastest.
                let own = |key: u32, &column: &usize| key * steps[column].len() as u32 + step(row, column);
                *index = before + block.iter().fold(0, own);
            }
        }
        let index = match (before[blocks.len()] as usize) < NARROW {
            true => Index::Narrow(index.into_iter().map(|row| row.map(|at| at as u16)).collect()),
            false => Index::Wide(index),
        };
        Self { blocks, index }
    }
}

fn running_sum(sum: &mut u32, size: u32) -> Option<u32> {
    *sum += size;
    Some(*sum)
}

/// The rows that carry a value, with how many records.
fn carrying(profile: &Profile, attribute: AttributeId, value: u32, rows: &[u32]) -> Vec<(u32, u64)> {
    let carries = profile.everything().into_iter().filter(|member| profile.value(member.variant, attribute) == value);
    together(carries.map(|member| (rows[profile.tuple_of(member.variant).index()], member.records)).collect())
}

/// Each row once.
fn together(mut counted: Vec<(u32, u64)>) -> Vec<(u32, u64)> {
    counted.sort_unstable();
    merge_counts(&mut counted);
    counted
}

impl Counted {
    fn new(target: &Target, profile: &Profile, rows: &[u32], len: usize) -> Self {
        let values = profile.attributes()[target.attribute.index()].values.len();
        let carried = || {
            let everything = profile.everything().into_iter();
            everything.map(|member| {
                let row = rows[profile.tuple_of(member.variant).index()];
                (profile.value(member.variant, target.attribute) as usize, row, member.records)
            })
        };
        let mut by_value = vec![Vec::new(); values];
        match &target.kind {
            TargetKind::Number { dispersion: crate::objective::Dispersion::Variance, numbers, .. } => {
                let mut sums = vec![[0.0; 2]; len];
                for (value, row, records) in carried() {
                    let (number, records) = (numbers[value], records as f64);
                    sums[row as usize][0] += number * records;
                    sums[row as usize][1] += number * number * records;
                }
                Self::Sums(sums)
            }
            kind => {
                carried().for_each(|(value, row, records)| by_value[value].push((row, records)));
                let by_value: Vec<Vec<(u32, u64)>> = by_value.into_iter().map(together).collect();
                match kind {
                    TargetKind::Class(_) => Self::Classes(by_value),
                    TargetKind::Number { numbers, .. } => {
                        let of_value = |(value, rows): (usize, Vec<(u32, u64)>)| {
                            rows.into_iter().map(move |(row, records)| (row, records, numbers[value]))
                        };
                        Self::InOrder(by_value.into_iter().enumerate().flat_map(of_value).collect())
                    }
                }
            }
        }
    }
}
