//! Finds the fields of a block of whole records.
//!
//! Guarantee: after [`FieldOffsets::parse`], every record has exactly `width` fields and the block is UTF-8 without NUL
//! bytes; otherwise the fault of the first malformed record is returned. Only offsets are stored; cells are not copied.
//!
//! How: the start of each record and the end of each field, as offsets into the block. Blocks without a quote (known
//! from cutting) are parsed by a loop that looks for delimiters and line breaks only.
//!
//! ```text
//! block     a , b b ⏎ c , ⏎
//! offset    0 1 2 3 4 5 6 7
//! starts    0         5         one per record
//! ends        1     4   6 7     one per field: offset of the delimiter or line break after it
//! ```
//!
//! Cost: one pass to find delimiters ([`super::marks`]), one to check UTF-8, and three that compare bytes only (NUL, CR, odd starts of cells).

use super::{Dialect, marks::Marks, write};
use crate::error::Fault;

/// Fault of a record, with the record's location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocatedFault {
    /// Index of the record in its block, from 0.
    pub(crate) record: usize,
    /// Byte of the block at which the record begins.
    pub(crate) offset: usize,
    pub(crate) fault: Fault,
}

/// Properties of a block that parsing needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockShape {
    pub(crate) width: usize,
    pub(crate) dialect: Dialect,
    /// Whether the block contains a quote.
    pub(crate) has_quotes: bool,
    /// Whether the block ends its file: blank lines at its end are then ignored.
    pub(crate) ends_file: bool,
    /// The maximum record length, if the block was cut inside a record that exceeds it.
    pub(crate) too_long: Option<usize>,
    /// Whether the file is a release, in which a CR outside quotes must be part of a line end and a record of one
    /// column must not be a blank line.
    pub(crate) release: bool,
}

/// Offsets of the fields of a block.
#[derive(Debug, Default)]
pub(crate) struct FieldOffsets {
    width: usize,
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Number of records whose line ends with a CR.
    line_end_crs: usize,
    may_have_odd_cells: bool,
}

impl FieldOffsets {
    /// Number of records.
    pub(crate) fn num_records(&self) -> usize {
        self.starts.len()
    }

    /// Number of fields per record.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Whether an unquoted cell may have to be quoted when it is copied (see [`write::CellWriter::copy`]). `false` is
    /// certain.
    pub(crate) fn may_have_odd_cells(&self) -> bool {
        self.may_have_odd_cells
    }

    /// Bytes of a cell, quotes included.
    #[inline]
    pub(crate) fn raw<'a>(&self, block: &'a [u8], record: usize, column: usize) -> &'a [u8] {
        let (start, end) = self.span(record, column);
        &block[start..end]
    }

    /// Start and end of a cell in the block.
    #[inline]
    pub(crate) fn span(&self, record: usize, column: usize) -> (usize, usize) {
        let at = record * self.width + column;
        let start = if column == 0 { self.starts[record] } else { self.ends[at - 1] + 1 };
        (start as usize, self.ends[at] as usize)
    }

    /// Finds the fields of a block; the fault of the first malformed record otherwise.
    pub(crate) fn parse(&mut self, block: &[u8], shape: BlockShape) -> Result<(), LocatedFault> {
        self.width = shape.width;
        self.starts.clear();
        self.ends.clear();
        self.line_end_crs = 0;
        let mut found = if shape.has_quotes { self.parse_quoted(block, shape) } else { self.parse_plain(block, shape) };
        // Every CR that does not end a line is in a cell, quoted or not.
        let cr_in_cells = memchr::memchr_iter(b'\r', block).count() > self.line_end_crs;
        self.may_have_odd_cells = cr_in_cells || write::may_have_odd_starts(block, shape.dialect);
        if shape.release && (self.may_have_odd_cells || shape.width == 1) {
            // These records are before the one that is malformed for another reason.
            found = self.find_ambiguous(block, shape).map_or(found, Err);
        }
        let not_utf8 = std::str::from_utf8(block).err().map(|error| (error.valid_up_to(), Fault::NotUtf8));
        let nul = memchr::memchr(0, block).map(|byte| (byte, Fault::Nul));
        let Some((invalid_byte, fault)) = not_utf8.into_iter().chain(nul).min_by_key(|(byte, _)| *byte) else {
            return found;
        };
        // A fault found before the first invalid byte, in an earlier record or the same one, is reported first.
        match found {
            Err(located) if located.offset <= invalid_byte => Err(located),
            _ => {
                let started = self.starts.partition_point(|&start| start as usize <= invalid_byte);
                let record = started.saturating_sub(1);
                let offset = self.starts.get(record).copied().unwrap_or(0) as usize;
                Err(LocatedFault { record, offset, fault })
            }
        }
    }

    /// Returns the fault of the first record that other readers may read as several records or as none.
    fn find_ambiguous(&self, block: &[u8], shape: BlockShape) -> Option<LocatedFault> {
        let unquoted_cr = |raw: &[u8]| raw.first() != Some(&shape.dialect.quote) && raw.contains(&b'\r');
        (0..self.num_records()).find_map(|record| {
            let mut fields = (0..self.width).map(|column| self.raw(block, record, column));
            let fault = match fields.position(unquoted_cr) {
                Some(column) => Fault::BareCr { field: column + 1 },
                None if self.raw(block, record, 0).trim_ascii_start().starts_with(b"#") => Fault::CommentLine,
                None if self.width == 1 && self.raw(block, record, 0).trim_ascii().is_empty() => {
                    Fault::BlankLine { expected: 1 }
                }
                None => return None,
            };
            Some(LocatedFault { record, offset: self.starts[record] as usize, fault })
        })
    }

    /// Finds the fields of a single record of any width. Parsing with an impossible width ends in a fault that has the
    /// number of fields.
    pub(crate) fn parse_any_width(&mut self, record: &[u8], dialect: Dialect) -> Result<(), LocatedFault> {
        let shape = BlockShape {
            width: usize::MAX,
            dialect,
            has_quotes: true,
            ends_file: true,
            too_long: None,
            release: false,
        };
        self.starts.clear();
        self.ends.clear();
        self.width = usize::MAX;
        match self.parse_quoted(record, shape) {
            Err(LocatedFault { fault: Fault::Fields { found, .. }, .. }) => self.width = found,
            Err(LocatedFault { fault: Fault::BlankLine { .. }, .. }) | Ok(()) => self.width = 1,
            Err(located) => return Err(located),
        }
        self.starts.push(0);
        if self.ends.is_empty() {
            self.ends.push(0);
        }
        Ok(())
    }

    fn parse_plain(&mut self, block: &[u8], shape: BlockShape) -> Result<(), LocatedFault> {
        let delimiter = shape.dialect.delimiter;
        let mut start = 0;
        for at in Marks::new([delimiter, b'\n'], block) {
            if block[at] == b'\n' {
                if self.end_record(block, start, at, shape)? {
                    return Ok(());
                }
                start = at + 1;
            } else {
                self.ends.push(at as u32);
            }
        }
        if start < block.len() {
            self.end_record(block, start, block.len(), shape)?;
        }
        Ok(())
    }

    fn parse_quoted(&mut self, block: &[u8], shape: BlockShape) -> Result<(), LocatedFault> {
        /// Stands for "not closed"; `NONE + 1` does not overflow and is not an offset.
        const NONE: usize = usize::MAX - 1;
        let Dialect { delimiter, quote } = shape.dialect;
        // Offsets at which the current record and field begin.
        let mut start = 0;
        let mut field = 0;
        let mut open = false;
        // Offset of the last closing quote of the current field.
        let mut closed = NONE;
        for at in Marks::new([delimiter, b'\n', quote], block) {
            let byte = block[at];
            if byte == quote {
                if open {
                    closed = at;
                } else if at != field && at != closed + 1 {
                    let fault = |field| {
                        if closed == NONE { Fault::StrayQuote { field } } else { Fault::AfterQuote { field } }
                    };
                    return Err(self.fault_at(start, fault));
                }
                open = !open;
            } else if !open {
                let line_end = byte == b'\n';
                let end = if line_end && at > field && block[at - 1] == b'\r' { at - 1 } else { at };
                if closed != NONE && closed + 1 != end {
                    return Err(self.fault_at(start, |field| Fault::AfterQuote { field }));
                }
                if line_end {
                    if self.end_record(block, start, at, shape)? {
                        return Ok(());
                    }
                    start = at + 1;
                } else {
                    self.ends.push(at as u32);
                }
                field = at + 1;
                closed = NONE;
            }
        }
        if open {
            return Err(match shape.too_long {
                Some(limit) => self.fault_at(start, |_| Fault::TooLong { limit }),
                None => self.fault_at(start, |field| Fault::UnclosedQuote { field }),
            });
        }
        if start < block.len() {
            let end = if block.ends_with(b"\r") { block.len() - 1 } else { block.len() };
            if closed != NONE && closed + 1 != end {
                return Err(self.fault_at(start, |field| Fault::AfterQuote { field }));
            }
            self.end_record(block, start, block.len(), shape)?;
        }
        Ok(())
    }

    /// Ends the record that began at `start` with the line break at `at`. Returns `true` if only blank lines are left.
    #[inline]
    fn end_record(&mut self, block: &[u8], start: usize, at: usize, shape: BlockShape) -> Result<bool, LocatedFault> {
        let end = if at > start && block[at - 1] == b'\r' { at - 1 } else { at };
        self.line_end_crs += at - end;
        self.ends.push(end as u32);
        if self.ends.len() != (self.starts.len() + 1).saturating_mul(shape.width) {
            return self.reject(block, start, end, shape);
        }
        self.starts.push(start as u32);
        Ok(false)
    }

    /// Returns the fault of a record with the wrong number of fields, or `true` if it is a blank line at the end of the
    /// file.
    #[cold]
    fn reject(&mut self, block: &[u8], start: usize, end: usize, shape: BlockShape) -> Result<bool, LocatedFault> {
        let expected = shape.width;
        let found = self.ends.len() - self.starts.len().saturating_mul(expected);
        let fault = if let Some(limit) = shape.too_long.filter(|_| end == block.len()) {
            Fault::TooLong { limit }
        } else if found == 1 && start == end {
            if shape.ends_file && block[start..].iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
                self.ends.pop();
                return Ok(true);
            }
            Fault::BlankLine { expected }
        } else if expected != usize::MAX && block[start..end].starts_with(b"#") {
            Fault::Comment
        } else if found > expected && shape.dialect.delimiter == b',' && self.may_have_decimal_commas(block, start) {
            Fault::DecimalCommas { found, expected }
        } else {
            Fault::Fields { found, expected }
        };
        Err(LocatedFault { record: self.starts.len(), offset: start, fault })
    }

    /// Whether two adjacent fields of the last record, which began at `start`, are digits, as of `72,5`.
    fn may_have_decimal_commas(&self, block: &[u8], start: usize) -> bool {
        let ends = &self.ends[self.starts.len() * self.width..];
        let starts = std::iter::once(start).chain(ends.iter().map(|&end| end as usize + 1));
        let fields: Vec<&[u8]> = starts.zip(ends).map(|(start, &end)| &block[start..end as usize]).collect();
        let is_number = |field: &[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
        let is_whole = |field: &[u8]| is_number(field.strip_prefix(b"-").unwrap_or(field));
        fields.windows(2).any(|pair| is_whole(pair[0]) && is_number(pair[1]))
    }

    /// A fault of the current record, which began at `start`; `fault` gets the number of the current field, from 1.
    fn fault_at(&self, start: usize, fault: impl Fn(usize) -> Fault) -> LocatedFault {
        let record = self.starts.len();
        let field = self.ends.len() - record.saturating_mul(self.width) + 1;
        LocatedFault { record, offset: start, fault: fault(field) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::content;

    const DIALECT: Dialect = Dialect { delimiter: b',', quote: b'"' };

    fn parse(text: &[u8], width: usize) -> Result<Vec<Vec<String>>, LocatedFault> {
        parse_as(text, width, false)
    }

    fn parse_as(text: &[u8], width: usize, release: bool) -> Result<Vec<Vec<String>>, LocatedFault> {
        let mut fields = FieldOffsets::default();
        let has_quotes = text.contains(&b'"');
        let shape = BlockShape { width, dialect: DIALECT, has_quotes, ends_file: true, too_long: None, release };
        fields.parse(text, shape)?;
        let mut scratch = Vec::new();
        let cell = |record, column, scratch: &mut Vec<u8>| {
            String::from_utf8(content(fields.raw(text, record, column), b'"', scratch).to_vec()).expect("utf-8")
        };
        Ok((0..fields.num_records()).map(|r| (0..width).map(|c| cell(r, c, &mut scratch)).collect()).collect())
    }

    #[test]
    fn cells_of_records() {
        assert_eq!(parse(b"a,b\nc,d\r\n,\n", 2).expect("parse"), [["a", "b"], ["c", "d"], ["", ""]]);
        assert_eq!(parse(b"a,b\nc,d", 2).expect("parse"), [["a", "b"], ["c", "d"]]);
        assert_eq!(parse(b"\"a,\n\",\"\"\"\"\r\n\"\",x\n\n\r\n", 2).expect("parse"), [["a,\n", "\""], ["", "x"]]);
        assert_eq!(parse(b"a\n\nb\n", 1).expect("parse"), [["a"], [""], ["b"]]);
    }

    #[test]
    fn the_earliest_fault() {
        let fault = |text: &[u8], width| {
            let located = parse(text, width).expect_err("fault");
            (located.record, located.offset, located.fault)
        };
        assert_eq!(fault(b"a,b\nc\n\xFF,d\n", 2), (1, 4, Fault::Fields { found: 1, expected: 2 }));
        assert_eq!(fault(b"a,b\n\xFF,d\nc\n", 2), (1, 4, Fault::NotUtf8));
        assert_eq!(fault(b"a,b\n\nc,d\n", 2), (1, 4, Fault::BlankLine { expected: 2 }));
        assert_eq!(fault(b"a,5\" nail\n\"x\n", 2), (0, 0, Fault::StrayQuote { field: 2 }));
        assert_eq!(fault(b"a,b\n\"x\"y,d\n", 2), (1, 4, Fault::AfterQuote { field: 1 }));
        assert_eq!(fault(b"a,\"x\"y\"\n", 2), (0, 0, Fault::AfterQuote { field: 2 }));
        assert_eq!(fault(b"a,b\nc,\"d\n", 2), (1, 4, Fault::UnclosedQuote { field: 2 }));
        assert_eq!(fault(b"a,b,c,d\n", 2), (0, 0, Fault::Fields { found: 4, expected: 2 }));
        assert_eq!(fault(b"a,b\nc,\0\n\xFF,d\n", 2), (1, 4, Fault::Nul));
        assert_eq!(fault(b"a,b\n\xFF,\0\n", 2), (1, 4, Fault::NotUtf8));
    }

    #[test]
    fn a_release_is_read_as_other_readers_read_it() {
        for (text, width, expected) in [
            (&b"a,b\r\nc,\"d\re\"\r\n"[..], 2, None),
            (b"a,b\r\nc,d\r", 2, None),
            (b"a,b\nc,d\re\nf\n", 2, Some((1, 4, Fault::BareCr { field: 2 }))),
            (b"a,b\nc\r,\"d\"\n\xFF,e\n", 2, Some((1, 4, Fault::BareCr { field: 1 }))),
            (b"a,b\r\r\n", 2, Some((0, 0, Fault::BareCr { field: 2 }))),
            (b"a,b\nc\nd,e\rf\n", 2, Some((1, 4, Fault::Fields { found: 1, expected: 2 }))),
            (b"a\n\"\"\n\" \"\nb\n", 1, None),
            (b"a\n\nb\n", 1, Some((1, 2, Fault::BlankLine { expected: 1 }))),
            (b"a\n \t\n\r", 1, Some((1, 2, Fault::BlankLine { expected: 1 }))),
        ] {
            let found = parse_as(text, width, true).err();
            assert_eq!(found.map(|located| (located.record, located.offset, located.fault)), expected, "{text:?}");
        }
        // In an original, the CR belongs to the cell, and a blank line of one column is a record.
        assert_eq!(parse(b"a,b\nc,d\re\n", 2).expect("parse"), [["a", "b"], ["c", "d\re"]]);
        assert_eq!(parse(b"a,b\r\r\n", 2).expect("parse"), [["a", "b\r"]]);
        assert_eq!(parse(b"a\n\nb\n", 1).expect("parse"), [["a"], [""], ["b"]]);
    }
}
