//! The pages of a row group, checked before the decoder gets them.
//!
//! Guarantee: a chunk whose page headers are impossible ([`headers`](super::headers)), or a page whose delta-encoded
//! part claims more values than the page has, is an error. The decoder would allocate what they claim.
//!
//! How: [`CheckedRowGroup`] is what the decoder asks for the pages of a column; [`CheckedPages`] wraps its own page
//! reader. The offset index of the file is not used, so that it cannot mislead.

use std::{
    fs::File,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parquet::{
    arrow::arrow_reader::RowGroups,
    basic::Encoding,
    column::page::{Page, PageIterator, PageMetadata, PageReader},
    errors::{ParquetError, Result},
    file::{
        metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData},
        reader::SerializedPageReader,
    },
};

use super::headers;

/// Row group of a file.
pub(crate) struct CheckedRowGroup<'a> {
    pub(crate) file: Arc<File>,
    pub(crate) metadata: &'a ParquetMetaData,
    pub(crate) row_group: usize,
    /// For each column chunk of the row group, whether its page headers were checked already.
    pub(crate) checked: &'a [AtomicBool],
}

impl CheckedRowGroup<'_> {
    fn group(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.row_group)
    }
}

impl RowGroups for CheckedRowGroup<'_> {
    fn num_rows(&self) -> usize {
        self.group().num_rows() as usize
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let chunk = self.group().column(column);
        if !self.checked[column].load(Ordering::Relaxed) {
            if !headers::are_possible(&self.file, chunk) {
                return Err(damaged("a page header"));
            }
            self.checked[column].store(true, Ordering::Relaxed);
        }
        let inner = SerializedPageReader::new(Arc::clone(&self.file), chunk, self.num_rows(), None)?;
        let pages: Box<dyn PageReader> = Box::new(CheckedPages { inner, levels: Levels::of(chunk) });
        Ok(Box::new(OneChunk(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.group()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}

fn damaged(part: &str) -> ParquetError {
    ParquetError::General(format!("damaged file: {part} has impossible sizes"))
}

/// Iterator over the pages of one column chunk.
struct OneChunk(Option<Box<dyn PageReader>>);

impl Iterator for OneChunk {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl PageIterator for OneChunk {}

/// Maximum repetition and definition levels of a column.
#[derive(Clone, Copy)]
struct Levels {
    repetition: i16,
    definition: i16,
}

impl Levels {
    fn of(chunk: &ColumnChunkMetaData) -> Self {
        let column = chunk.column_descr();
        Self { repetition: column.max_rep_level(), definition: column.max_def_level() }
    }
}

/// Page reader that checks each page it returns.
struct CheckedPages {
    inner: SerializedPageReader<File>,
    levels: Levels,
}

impl CheckedPages {
    fn check(&self, page: Option<Page>) -> Result<Option<Page>> {
        match page.as_ref().is_none_or(|page| is_possible(page, self.levels)) {
            true => Ok(page),
            false => Err(damaged("a page")),
        }
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        self.check(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }

    fn supports_deferred_dictionary(&self) -> bool {
        self.inner.supports_deferred_dictionary()
    }

    fn take_deferred_dictionary(&mut self) -> Result<Option<Page>> {
        let page = self.inner.take_deferred_dictionary()?;
        self.check(page)
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.inner.at_record_boundary()
    }
}

/// Whether the delta-encoded values of a page are as many as the page has at most. Other pages are possible.
fn is_possible(page: &Page, levels: Levels) -> bool {
    let (encoding, values) = match page {
        Page::DataPage { buf, num_values, encoding, def_level_encoding, rep_level_encoding, .. } => {
            let rest = skip_levels(buf, *rep_level_encoding, levels.repetition, *num_values)
                .and_then(|rest| skip_levels(rest, *def_level_encoding, levels.definition, *num_values));
            (*encoding, rest)
        }
        Page::DataPageV2 { buf, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
            (*encoding, buf.get(*def_levels_byte_len as usize + *rep_levels_byte_len as usize..))
        }
        Page::DictionaryPage { .. } => return true,
    };
    let max_values = u64::from(page.num_values());
    let header = |values| DeltaReader { bytes: values }.header(max_values);
    match encoding {
        Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY => values.and_then(header).is_some(),
        // Lengths of the common prefixes, then lengths of the rest.
        Encoding::DELTA_BYTE_ARRAY => {
            let end = |values| DeltaReader { bytes: values }.end_of_values(max_values);
            values.and_then(end).and_then(header).is_some()
        }
        _ => true,
    }
}

/// The bytes after the levels at the start of a page of version 1.
fn skip_levels(bytes: &[u8], encoding: Encoding, max_level: i16, num_values: u32) -> Option<&[u8]> {
    #[expect(deprecated, reason = "old files have levels of this encoding")]
    let bit_packed = Encoding::BIT_PACKED;
    if max_level == 0 {
        Some(bytes)
    } else if encoding == bit_packed {
        let bits = u64::from(16 - max_level.leading_zeros());
        bytes.get((u64::from(num_values) * bits).div_ceil(8) as usize..)
    } else {
        let length = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        bytes.get(4..)?.get(length as usize..)
    }
}

/// Reads the framing of delta-encoded integers, without their values.
struct DeltaReader<'a> {
    bytes: &'a [u8],
}

impl<'a> DeltaReader<'a> {
    /// Reads the header and returns the values per miniblock, the miniblocks per block, and the number of values;
    /// `None` if there are more than `max_values` values or the header is malformed.
    fn header(&mut self, max_values: u64) -> Option<(u64, u64, u64)> {
        let (block_size, num_miniblocks, total) = (self.varint()?, self.varint()?, self.varint()?);
        let _first_value = self.varint()?;
        let possible = total <= max_values && num_miniblocks > 0 && block_size >= num_miniblocks;
        possible.then(|| (block_size / num_miniblocks, num_miniblocks, total))
    }

    /// Returns the bytes after the last value; `None` if there are more than `max_values` values or the framing is
    /// malformed.
    fn end_of_values(mut self, max_values: u64) -> Option<&'a [u8]> {
        let (values_per_miniblock, num_miniblocks, total) = self.header(max_values)?;
        let mut left = total.saturating_sub(1);
        while left > 0 {
            let _min_delta = self.varint()?;
            let bit_widths = self.take(num_miniblocks)?;
            for &bit_width in bit_widths {
                if left == 0 {
                    break;
                }
                self.take(values_per_miniblock.checked_mul(u64::from(bit_width))? / 8)?;
                left = left.saturating_sub(values_per_miniblock);
            }
        }
        Some(self.bytes)
    }

    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(usize::try_from(count).ok()?)?;
        self.bytes = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framing_of_delta_encoded_values() {
        let end = |bytes: &'static [u8], max_values| DeltaReader { bytes }.end_of_values(max_values);
        // 128 values per block in 4 miniblocks, 5 values, first 7; minimum 1, widths 2, 0, 0, 0; 32 values of 2 bits.
        let five = &[0x80, 1, 4, 5, 14, 2, 2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 99];
        assert_eq!(end(five, 5), Some(&[99][..]));
        assert_eq!(end(five, 4), None);
        assert_eq!(end(&five[..15], 5), None);
        assert_eq!(end(&[0x80, 1, 4, 1, 14, 99], 1), Some(&[99][..]));
        assert_eq!(end(&[0x80, 1, 0, 1, 14], 1), None);
        assert_eq!(end(&[0x80, 1, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0], 9), None);
    }
}
