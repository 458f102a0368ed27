//! Division of Parquet files into ranges of records.
//!
//! Guarantee: the ranges cover all records once, in order. They are computed when they are asked for, so that a damaged
//! number of records costs no memory.

use super::file::ParquetFile;

/// Maximum bytes of a range before compression, so that its arrays take about this much memory and stay below the 2 GiB
/// of text that an Arrow array can hold. Not tuned.
const MAX_RANGE_BYTES: u64 = 256 << 20;

/// Range of records of one row group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordRange {
    /// Index of the file.
    pub(crate) file: usize,
    pub(crate) row_group: usize,
    /// Records of the row group before the range.
    pub(crate) skip: usize,
    pub(crate) records: usize,
}

/// Row group and the number of its ranges, which are of equal size up to rounding.
#[derive(Debug)]
struct Parts {
    file: usize,
    row_group: usize,
    records: usize,
    parts: usize,
    /// Number of the first range.
    first: usize,
}

/// Numbered ranges of files.
#[derive(Debug)]
pub(crate) struct RecordRanges {
    groups: Vec<Parts>,
    len: usize,
}

impl RecordRanges {
    /// Divides files into ranges of at most `max_records` records each, and at most `u32::MAX`, so that 32 bits can
    /// index them.
    pub(crate) fn new(files: &[ParquetFile], max_records: usize) -> Self {
        let sizes = files.iter().enumerate().flat_map(|(file, parquet)| {
            parquet.row_groups().enumerate().map(move |(row_group, size)| ((file, row_group), size))
        });
        Self::of(sizes, max_records)
    }

    /// Divides row groups, each with the number of its records and their bytes.
    fn of(sizes: impl Iterator<Item = ((usize, usize), (usize, u64))>, max_records: usize) -> Self {
        let (mut groups, mut len) = (Vec::new(), 0usize);
        for ((file, row_group), (records, bytes)) in sizes {
            let bytes_per_record = bytes.div_ceil(records.max(1) as u64).max(1);
            let max_records = max_records.min((MAX_RANGE_BYTES / bytes_per_record) as usize);
            let parts = records.div_ceil(max_records.clamp(1, u32::MAX as usize));
            groups.push(Parts { file, row_group, records, parts, first: len });
            len = len.saturating_add(parts);
        }
        Self { groups, len }
    }

    /// Range of a number; `None` after the last.
    pub(crate) fn get(&self, number: usize) -> Option<RecordRange> {
        if number >= self.len {
            return None;
        }
        let group = self.groups.partition_point(|group| group.first <= number).checked_sub(1)?;
        let Parts { file, row_group, records, parts, first } = self.groups[group];
        let start = |part: usize| (records as u128 * part as u128 / parts.max(1) as u128) as usize;
        let (skip, end) = (start(number - first), start(number - first + 1));
        Some(RecordRange { file, row_group, skip, records: end - skip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(sizes: &[(usize, u64)], max_records: usize) -> Vec<RecordRange> {
        let groups = sizes.iter().enumerate().map(|(index, &size)| ((index / 2, index % 2), size));
        let ranges = RecordRanges::of(groups, max_records);
        (0..).map_while(|number| ranges.get(number)).collect()
    }

    #[test]
    fn ranges_cover_all_records_in_order() {
        for max_records in [1, 3, 7, 100] {
            let sizes = [(10, 100), (0, 0), (1, 5), (25, 1)];
            let all = ranges(&sizes, max_records);
            assert!(all.iter().all(|range| (1..=max_records).contains(&range.records)));
            for (index, (records, _)) in sizes.iter().enumerate() {
                let mut end = 0;
                for range in all.iter().filter(|range| (range.file, range.row_group) == (index / 2, index % 2)) {
                    assert_eq!(range.skip, end);
                    end += range.records;
                }
                assert_eq!(end, *records);
            }
            assert!(all.is_sorted_by_key(|range| (range.file, range.row_group, range.skip)));
        }
    }

    #[test]
    fn records_with_long_texts_are_in_smaller_ranges() {
        let all = ranges(&[(65_536, 65_536 * (64 << 10))], 65_536);
        assert!(all.iter().all(|range| range.records == 4_096), "{all:?}");
        assert_eq!(ranges(&[(3, u64::MAX)], 65_536).len(), 3);
    }

    #[test]
    fn an_impossible_number_of_records_costs_no_memory() {
        let groups = [((0, 0), (usize::MAX, 100)), ((0, 1), (usize::MAX, 100))];
        let ranges = RecordRanges::of(groups.into_iter(), 10);
        assert_eq!(ranges.get(0).map(|range| range.records), Some(9));
    }
}
