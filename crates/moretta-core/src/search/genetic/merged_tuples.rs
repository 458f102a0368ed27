//! Merged tuples: the rows that an evaluation scans, with all counts that it needs per row.
//!
//! **Why.** An evaluation costs one scan of the distinct tuples. Values that no chromosome of the population separates
//! need not be separate rows: tuples that are equal under the *mask* (the bitwise or of all chromosomes) are merged
//! into one row. As the population converges, the mask loses bits and every evaluation within the mask gets cheaper.
//!
//! **How.** The mask divides the codes of each column into *runs*, and rows are the distinct combinations of runs:
//!
//! ```text
//! chromosomes   0 1 0 0    0 0 0 1         mask 0 1 0 1
//! age codes     0   1   2   3   4          runs {0, 1} {2, 3} {4}         run_starts [0, 2, 4]
//! tuples (age, sex)  (0, f) (1, f) (2, m)  rows (run 0, f): two tuples, (run 1, m): one tuple
//! ```
//!
//! Columns are combined into *blocks* of at most [`MAX_BLOCK_COMBINATIONS`] combinations of runs, and up to four blocks
//! into a *batch*. A row stores the number of its combination in each block, so that the cells of all columns in a
//! batch are found by four table lookups instead of one per column (see `row_groups.rs`).
//!
//! **Cost.** One sort of the tuples; memory per row: 8 or 16 bytes per batch and the counts of the objectives.

use super::{
    chromosome::Chromosome,
    evaluate::EvaluationContext,
    objective::{Target, TargetKind},
    segment::Segment,
};
use crate::{
    ids::{AttributeId, TupleId},
    objective::Dispersion,
    profile::{Profile, sorted_rows},
    text::merge_counts,
};

/// Maximum combinations of runs in a block of several columns, so that a lookup table has at most 8 KiB.
const MAX_BLOCK_COMBINATIONS: usize = 1024;
/// Maximum blocks in a batch.
pub(super) const BLOCKS_PER_BATCH: usize = 4;
/// Maximum combinations of runs in a batch, so that a group id and a combination fit into 64 bits.
const MAX_BATCH_COMBINATIONS: u128 = 1 << 36;

/// Rows that an evaluation scans, each one or more merged tuples.
pub(super) struct MergedTuples {
    /// By row, its number of records.
    pub records: Vec<u64>,
    /// By row, the smallest id of its tuples.
    pub first_tuples: Vec<TupleId>,
    /// By tuple, its row.
    pub row_of_tuple: Vec<u32>,
    /// By column, the first code of each run of codes that the mask does not separate.
    pub run_starts: Vec<Vec<u32>>,
    /// By column and run, the number of records.
    pub histograms: Vec<Vec<u64>>,
    pub batches: Vec<LookupBatch>,
    /// By target of the objective, its counts per row.
    pub targets: Vec<TargetCounts>,
    /// By guarded value, the rows that contain it, with the number of records that do.
    pub guarded: Vec<Vec<(u32, u64)>>,
}

/// Blocks of columns whose cells are looked up together.
pub(super) struct LookupBatch {
    /// The columns of each block.
    pub blocks: Vec<Vec<usize>>,
    /// By row, the number of its combination of runs in each block. The numbers of a block begin where those of the
    /// previous block end; the last number stands for absent blocks.
    pub index: CombinationIndex,
}

/// Combination numbers by row, in the smallest type that holds them.
pub(super) enum CombinationIndex {
    /// Fewer than [`NARROW_LIMIT`] combinations.
    Narrow(Vec<[u16; BLOCKS_PER_BATCH]>),
    /// Any number of combinations.
    Wide(Vec<[u32; BLOCKS_PER_BATCH]>),
}

/// Number of values of a `u16`.
pub(super) const NARROW_LIMIT: usize = 1 << 16;

impl CombinationIndex {
    /// Combination numbers of a row, one per block.
    pub(super) fn row(&self, row: usize) -> [usize; BLOCKS_PER_BATCH] {
        match self {
            Self::Narrow(index) => index[row].map(usize::from),
            Self::Wide(index) => index[row].map(|combination| combination as usize),
        }
    }
}

/// Counts that a prediction target needs.
pub(super) enum TargetCounts {
    /// By class, the rows that contain it, with the number of records that do.
    Classes(Vec<Vec<(u32, u64)>>),
    /// By row, the sum of the numbers and the sum of their squares.
    Sums(Vec<[f64; 2]>),
    /// (row, records, number), in increasing order of the numbers.
    InOrder(Vec<(u32, u64, f64)>),
}

impl MergedTuples {
    /// Merges the tuples that are equal under the mask; without a mask every tuple is a row.
    pub(super) fn new(context: &EvaluationContext<'_>, mask: Option<&Chromosome>) -> Self {
        let EvaluationContext { profile, segments, objective, constraints, .. } = context;
        let run_starts: Vec<Vec<u32>> = segments.iter().map(|segment| segment_run_starts(segment, mask)).collect();
        let run_of: Vec<Vec<u32>> =
            run_starts.iter().zip(segments).map(|(starts, segment)| run_of_code(starts, segment)).collect();
        let batches = batch_columns(&run_starts);
        let row_of_tuple = assign_rows(profile, &run_starts, &run_of, &batches);
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
        let target = |target: &Target| TargetCounts::new(target, profile, &row_of_tuple, len);
        let targets = objective.targets.iter().map(target).collect();
        let rows_with = |&(attribute, guarded): &(AttributeId, u32)| {
            let counted = values_by_row(profile, attribute, &row_of_tuple).filter(|(value, ..)| *value == guarded);
            merge_rows(counted.map(|(_, row, records)| (row, records)).collect())
        };
        let guarded = constraints.guarded.iter().map(rows_with).collect();
        Self { records, first_tuples, row_of_tuple, run_starts, histograms, batches, targets, guarded }
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }
}

/// Returns the first code of each run.
fn segment_run_starts(segment: &Segment<'_>, mask: Option<&Chromosome>) -> Vec<u32> {
    let codes = segment.domain.len() as u32;
    match mask {
        None => (0..codes).collect(),
        Some(mask) => {
            let ends = segment.bits.clone().filter(|&bit| mask.get(bit)).map(|bit| segment.end_of(bit) + 1);
            (0..codes.min(1)).chain(ends).collect()
        }
    }
}

/// Returns, by code, its run.
fn run_of_code(run_starts: &[u32], segment: &Segment<'_>) -> Vec<u32> {
    let mut next = 0;
    let run = |code: u32| {
        next += u32::from(run_starts.get(next as usize) == Some(&code));
        next - 1
    };
    (0..segment.domain.len() as u32).map(run).collect()
}

/// Returns, by tuple, its row. Rows are sorted by their combinations, so that consecutive rows mostly share a group and
/// their counts are close in memory.
fn assign_rows(profile: &Profile, starts: &[Vec<u32>], run_of: &[Vec<u32>], batches: &[Vec<Vec<usize>>]) -> Vec<u32> {
    let columns: Vec<usize> = batches.iter().flatten().flatten().copied().collect();
    let sizes: Vec<usize> = columns.iter().map(|&column| starts[column].len()).collect();
    let run = |tuple: u32, column: usize| run_of[column][profile.codes(TupleId(tuple))[column] as usize];
    let order = sorted_rows(profile.tuples(), &sizes, |tuple, index| run(tuple as u32, columns[index]));
    let mut row_of_tuple = vec![0; order.len()];
    for pair in order.windows(2) {
        let is_new = columns.iter().any(|&column| run(pair[0], column) != run(pair[1], column));
        row_of_tuple[pair[1] as usize] = row_of_tuple[pair[0] as usize] + u32::from(is_new);
    }
    row_of_tuple
}

/// Distributes the columns: batches of blocks of columns. Columns with the most runs come first.
fn batch_columns(run_starts: &[Vec<u32>]) -> Vec<Vec<Vec<usize>>> {
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
    fn new(blocks: Vec<Vec<usize>>, rows: usize, run_starts: &[Vec<u32>], run: impl Fn(usize, usize) -> u32) -> Self {
        let mut offsets = vec![0];
        for (index, block) in blocks.iter().enumerate() {
            offsets.push(offsets[index] + block.iter().map(|&column| run_starts[column].len() as u32).product::<u32>());
        }
        let mut index = vec![[offsets[blocks.len()]; BLOCKS_PER_BATCH]; rows];
        for (row, index) in index.iter_mut().enumerate() {
            for ((index, block), offset) in index.iter_mut().zip(&blocks).zip(&offsets) {
                // The last column of a block changes fastest.
                let combination = |key: u32, &column: &usize| key * run_starts[column].len() as u32 + run(row, column);
                *index = offset + block.iter().fold(0, combination);
            }
        }
        let index = if (offsets[blocks.len()] as usize) < NARROW_LIMIT {
            CombinationIndex::Narrow(index.into_iter().map(|row| row.map(|combination| combination as u16)).collect())
        } else {
            CombinationIndex::Wide(index)
        };
        Self { blocks, index }
    }
}

/// All variants, as (value of an attribute, row, records).
fn values_by_row(profile: &Profile, id: AttributeId, rows: &[u32]) -> impl Iterator<Item = (u32, u32, u64)> {
    profile.everything().into_iter().map(move |member| {
        let row = rows[profile.tuple_of(member.variant).index()];
        (profile.value(member.variant, id), row, member.records)
    })
}

/// Sorts by row and adds up the records of equal rows.
fn merge_rows(mut counted: Vec<(u32, u64)>) -> Vec<(u32, u64)> {
    counted.sort_unstable();
    merge_counts(&mut counted);
    counted
}

impl TargetCounts {
    fn new(target: &Target, profile: &Profile, row_of_tuple: &[u32], len: usize) -> Self {
        let counted = values_by_row(profile, target.attribute, row_of_tuple);
        if let TargetKind::Number { dispersion: Dispersion::Variance, centered, .. } = &target.kind {
            let mut sums = vec![[0.0; 2]; len];
            for (value, row, records) in counted {
                let (number, records) = (centered[value as usize], records as f64);
                sums[row as usize][0] += number * records;
                sums[row as usize][1] += number * number * records;
            }
            return Self::Sums(sums);
        }
        let mut by_value = vec![Vec::new(); profile.attributes()[target.attribute.index()].values.len()];
        counted.for_each(|(value, row, records)| by_value[value as usize].push((row, records)));
        let by_value = by_value.into_iter().map(merge_rows);
        let TargetKind::Number { centered, .. } = &target.kind else { return Self::Classes(by_value.collect()) };
        let with_number = |(rows, &number): (Vec<(u32, u64)>, &f64)| {
            rows.into_iter().map(move |(row, records)| (row, records, number))
        };
        Self::InOrder(by_value.zip(centered).flat_map(with_number).collect())
    }
}
