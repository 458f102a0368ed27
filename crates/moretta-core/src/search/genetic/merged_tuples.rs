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
const MAX_BLOCK_COMBINATIONS: usize = 1024;
/// So many blocks are looked up at once.
pub(super) const BLOCKS_PER_BATCH: usize = 4;
/// And no more combinations of them than this, so that a row and its combination are one number of 64 bits.
const MAX_BATCH_COMBINATIONS: u128 = 1 << 36;

/// The rows that evaluations go through.
pub(super) struct MergedTuples {
    /// By row, how many records it has.
    pub records: Vec<u64>,
    /// By row, the first of its tuples.
    pub first_tuples: Vec<TupleId>,
    /// By tuple, its row.
    pub row_of_tuple: Vec<u32>,
    /// By column, the first code of each step: codes that the mask does not tell apart are one step.
    pub run_starts: Vec<Vec<u32>>,
    /// By column and step, how many records.
    pub histograms: Vec<Vec<u64>>,
    pub batches: Vec<LookupBatch>,
    /// By target of the objective.
    pub targets: Vec<TargetCounts>,
    /// By guarded value, the rows that carry it and with how many records.
    pub guarded: Vec<Vec<(u32, u64)>>,
}

/// Blocks of columns that are looked up together.
pub(super) struct LookupBatch {
    /// The columns of each block.
    pub blocks: Vec<Vec<usize>>,
    /// By row, which combination of steps it has in each block: combinations are numbered through the blocks, and one more
    /// stands for blocks that are not there.
    pub index: CombinationIndex,
}

/// Combinations by row; in a few bytes where there are few of them.
pub(super) enum CombinationIndex {
    /// Fewer than [`NARROW`].
    Narrow(Vec<[u16; BLOCKS_PER_BATCH]>),
    /// Any number.
    Wide(Vec<[u32; BLOCKS_PER_BATCH]>),
}

/// So many combinations fit 16 bits.
pub(super) const NARROW_LIMIT: usize = 1 << 16;

impl CombinationIndex {
    /// The combinations of a row.
    pub(super) fn row(&self, row: usize) -> [usize; BLOCKS_PER_BATCH] {
        match self {
            Self::Narrow(index) => index[row].map(usize::from),
            Self::Wide(index) => index[row].map(|at| at as usize),
        }
    }
}

/// What a target counts.
pub(super) enum TargetCounts {
    /// By class, the rows that carry it and with how many records.
    Classes(Vec<Vec<(u32, u64)>>),
    /// By row, the sum of the numbers and of their squares.
    Sums(Vec<[f64; 2]>),
    /// In order of the numbers: the row, how many records, the number.
    InOrder(Vec<(u32, u64, f64)>),
}

impl MergedTuples {
    /// The rows under a mask; without one every tuple is a row.
    pub(super) fn new(
        profile: &Profile,
        segments: &[Segment<'_>],
        mask: Option<&Chromosome>,
        objective: &BoundObjective,
        guarded: &[(AttributeId, u32)],
    ) -> Self {
        let run_starts: Vec<Vec<u32>> = segments.iter().map(|segment| run_starts(segment, mask)).collect();
        let run_of: Vec<Vec<u32>> =
            run_starts.iter().zip(segments).map(|(run_starts, segment)| run_of(run_starts, segment)).collect();
        let batches = batches(&run_starts);
        let row_of_tuple = row_of_tuple(profile, &run_starts, &run_of, &batches);
        let len = row_of_tuple.iter().max().map_or(0, |&last| last as usize + 1);
        let (mut records, mut first_tuples) = (vec![0; len], vec![TupleId(u32::MAX); len]);
        let mut histograms: Vec<Vec<u64>> = run_starts.iter().map(|run_starts| vec![0; run_starts.len()]).collect();
        for (tuple, &row) in (0u32..).map(TupleId).zip(&row_of_tuple) {
            let tuple_records = profile.tuple_records(tuple);
            records[row as usize] += tuple_records;
            first_tuples[row as usize] = first_tuples[row as usize].min(tuple);
            for ((histogram, run_of), &code) in histograms.iter_mut().zip(&run_of).zip(profile.codes(tuple)) {
                histogram[run_of[code as usize] as usize] += tuple_records;
            }
        }
        let run = |row: usize, column: usize| run_of[column][profile.codes(first_tuples[row])[column] as usize];
        let batches = batches.into_iter().map(|blocks| LookupBatch::new(blocks, len, &run_starts, run)).collect();
        let targets =
            objective.targets.iter().map(|target| TargetCounts::new(target, profile, &row_of_tuple, len)).collect();
        let guarded =
            guarded.iter().map(|&(attribute, value)| carrying(profile, attribute, value, &row_of_tuple)).collect();
        Self { records, first_tuples, row_of_tuple, run_starts, histograms, batches, targets, guarded }
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }
}

/// The first code of each step.
fn run_starts(segment: &Segment<'_>, mask: Option<&Chromosome>) -> Vec<u32> {
    let codes = segment.domain.len() as u32;
    match mask {
        None => (0..codes).collect(),
        Some(mask) => {
            let ends = segment.bits.clone().filter(|&bit| mask.get(bit)).map(|bit| segment.end_of(bit) + 1);
            (0..codes.min(1)).chain(ends).collect()
        }
    }
}

fn run_of(run_starts: &[u32], segment: &Segment<'_>) -> Vec<u32> {
    let mut next = 0;
    let run = |code: u32| {
        next += u32::from(run_starts.get(next as usize) == Some(&code));
        next - 1
    };
    (0..segment.domain.len() as u32).map(run).collect()
}

/// Which row each tuple is in. Rows are in the order of their plates, so that neighbours leave much alike and what is
/// counted for them is near in memory.
fn row_of_tuple(
    profile: &Profile,
    run_starts: &[Vec<u32>],
    run_of: &[Vec<u32>],
    batches: &[Vec<Vec<usize>>],
) -> Vec<u32> {
    let columns: Vec<usize> = batches.iter().flatten().flatten().copied().collect();
    let sizes: Vec<usize> = columns.iter().map(|&column| run_starts[column].len()).collect();
    let run = |tuple: u32, column: usize| run_of[column][profile.codes(TupleId(tuple))[column] as usize];
    let order = sorted_rows(profile.tuples(), &sizes, |tuple, place| run(tuple as u32, columns[place]));
    let mut row_of_tuple = vec![0; order.len()];
    for pair in order.windows(2) {
        let is_new = columns.iter().any(|&column| run(pair[0], column) != run(pair[1], column));
        row_of_tuple[pair[1] as usize] = row_of_tuple[pair[0] as usize] + u32::from(is_new);
    }
    row_of_tuple
}

/// Which columns are looked up together: blocks with few combinations, several blocks in a plate.
fn batches(run_starts: &[Vec<u32>]) -> Vec<Vec<Vec<usize>>> {
    let mut columns: Vec<usize> = (0..run_starts.len()).collect();
    columns.sort_by_key(|&column| std::cmp::Reverse(run_starts[column].len()));
    let mut blocks: Vec<(usize, Vec<usize>)> = Vec::new();
    for column in columns {
        let size = run_starts[column].len();
        match blocks.iter_mut().find(|(combinations, _)| combinations.saturating_mul(size) <= MAX_BLOCK_COMBINATIONS) {
            Some((combinations, block)) => {
                *combinations *= size;
                block.push(column);
            }
            None => blocks.push((size, vec![column])),
        }
    }
    let mut batches: Vec<(u128, Vec<Vec<usize>>)> = Vec::new();
    for (combinations, block) in blocks {
        let size = combinations as u128;
        match batches.last_mut() {
            Some((all, batch)) if batch.len() < BLOCKS_PER_BATCH && *all * size <= MAX_BATCH_COMBINATIONS => {
                *all *= size;
                batch.push(block);
            }
            _ => batches.push((size, vec![block])),
        }
    }
    batches.into_iter().map(|(_, batch)| batch).collect()
}

impl LookupBatch {
    fn new(
        blocks: Vec<Vec<usize>>,
        num_rows: usize,
        run_starts: &[Vec<u32>],
        run: impl Fn(usize, usize) -> u32,
    ) -> Self {
        let sizes =
            blocks.iter().map(|block| block.iter().map(|&column| run_starts[column].len() as u32).product::<u32>());
        let offsets: Vec<u32> = std::iter::once(0).chain(sizes).scan(0, running_sum).collect();
        let mut index = vec![[offsets[blocks.len()]; BLOCKS_PER_BATCH]; num_rows];
        for (row, index) in index.iter_mut().enumerate() {
            for ((index, block), offset) in index.iter_mut().zip(&blocks).zip(&offsets) {
                // The last column of a block changes fastest.
                let combination = |key: u32, &column: &usize| key * run_starts[column].len() as u32 + run(row, column);
                *index = offset + block.iter().fold(0, combination);
            }
        }
        let index = match (offsets[blocks.len()] as usize) < NARROW_LIMIT {
            true => CombinationIndex::Narrow(index.into_iter().map(|row| row.map(|at| at as u16)).collect()),
            false => CombinationIndex::Wide(index),
        };
        Self { blocks, index }
    }
}

fn running_sum(sum: &mut u32, size: u32) -> Option<u32> {
    *sum += size;
    Some(*sum)
}

/// The rows that carry a value, with how many records.
fn carrying(profile: &Profile, attribute: AttributeId, value: u32, row_of_tuple: &[u32]) -> Vec<(u32, u64)> {
    let carries = profile.everything().into_iter().filter(|member| profile.value(member.variant, attribute) == value);
    merge_rows(carries.map(|member| (row_of_tuple[profile.tuple_of(member.variant).index()], member.records)).collect())
}

/// Each row once.
fn merge_rows(mut counted: Vec<(u32, u64)>) -> Vec<(u32, u64)> {
    counted.sort_unstable();
    merge_counts(&mut counted);
    counted
}

impl TargetCounts {
    fn new(target: &Target, profile: &Profile, row_of_tuple: &[u32], len: usize) -> Self {
        let values = profile.attributes()[target.attribute.index()].values.len();
        let carried = || {
            let everything = profile.everything().into_iter();
            everything.map(|member| {
                let row = row_of_tuple[profile.tuple_of(member.variant).index()];
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
                let by_value: Vec<Vec<(u32, u64)>> = by_value.into_iter().map(merge_rows).collect();
                match kind {
                    TargetKind::Class(_) => Self::Classes(by_value),
                    TargetKind::Number { numbers, .. } => {
                        let of_value = |(value, row_of_tuple): (usize, Vec<(u32, u64)>)| {
                            row_of_tuple.into_iter().map(move |(row, records)| (row, records, numbers[value]))
                        };
                        Self::InOrder(by_value.into_iter().enumerate().flat_map(of_value).collect())
                    }
                }
            }
        }
    }
}
