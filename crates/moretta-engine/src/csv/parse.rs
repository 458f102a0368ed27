//! The fields of a block of whole records.
//!
//! Guarantee: after [`FieldOffsets::parse`] every record has exactly `width` fields and the block is UTF-8; otherwise the fault
//! of the earliest record comes back. Positions only are kept: cells are looked at by whoever needs them.
//!
//! Structure: one start for each record and one end for each field, as offsets into the block. A block without any quote
//! (known from cutting it) takes a loop that looks for delimiters and line breaks only. Cost: one pass of `memchr`.

use super::Dialect;
use crate::error::Fault;

/// A fault and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LocatedFault {
    /// The record, from 0 in its block.
    pub(crate) record: usize,
    /// Where the record begins in its block.
    pub(crate) offset: usize,
    /// What is wrong.
    pub(crate) fault: Fault,
}

/// What has to be known of a block to parse it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockShape {
    pub(crate) width: usize,
    pub(crate) dialect: Dialect,
    /// Whether there is a quote in the block at all.
    pub(crate) has_quotes: bool,
    /// Whether the block ends its file: blank lines at its end are then no records.
    pub(crate) ends_file: bool,
    /// Whether the block was cut inside a record because that is too long; the limit.
    pub(crate) too_long: Option<usize>,
}

/// Where the fields of a block are.
#[derive(Debug, Default)]
pub(crate) struct FieldOffsets {
    width: usize,
    starts: Vec<u32>,
    ends: Vec<u32>,
}

impl FieldOffsets {
    /// How many records were found.
    pub(crate) fn num_records(&self) -> usize {
        self.starts.len()
    }

    /// FieldOffsets of each record.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// A cell as it stands in the block, quotes included.
    #[inline]
    pub(crate) fn raw<'a>(&self, block: &'a [u8], record: usize, column: usize) -> &'a [u8] {
        let (start, end) = self.span(record, column);
        &block[start..end]
    }

    /// Where a cell begins and ends.
    #[inline]
    pub(crate) fn span(&self, record: usize, column: usize) -> (usize, usize) {
        let at = record * self.width + column;
        let start = if column == 0 { self.starts[record] } else { self.ends[at - 1] + 1 };
        (start as usize, self.ends[at] as usize)
    }

    /// Finds the fields of a block.
    pub(crate) fn parse(&mut self, block: &[u8], shape: BlockShape) -> Result<(), LocatedFault> {
        self.width = shape.width;
        self.starts.clear();
        self.ends.clear();
        let found = if shape.has_quotes { self.parse_quoted(block, shape) } else { self.parse_plain(block, shape) };
        let Err(error) = std::str::from_utf8(block) else {
            return found;
        };
        // The record that holds the first bad byte; a fault in an earlier record, or this one, comes first.
        let bad = error.valid_up_to();
        let after = self.starts.partition_point(|&start| start as usize <= bad);
        match found {
            Err(located) if located.offset <= bad => Err(located),
            _ => {
                let record = after.saturating_sub(1);
                let offset = self.starts.get(record).copied().unwrap_or(0) as usize;
                Err(LocatedFault { record, offset, fault: Fault::NotUtf8 })
            }
        }
    }

    /// Finds the fields of a single record of any width.
    pub(crate) fn parse_any_width(&mut self, record: &[u8], dialect: Dialect) -> Result<(), LocatedFault> {
        let shape = BlockShape { width: usize::MAX, dialect, has_quotes: true, ends_file: true, too_long: None };
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
        for at in memchr::memchr2_iter(delimiter, b'\n', block) {
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
        const NONE: usize = usize::MAX - 1;
        let Dialect { delimiter, quote } = shape.dialect;
        let (mut start, mut field) = (0, 0);
        let mut open = false;
        // Where the current field's quote was last closed.
        let mut closed = NONE;
        for at in memchr::memchr3_iter(delimiter, b'\n', quote, block) {
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

    /// Closes the record that began at `start` with the line break at `at`. `true`: only blank lines are left.
    #[inline]
    fn end_record(&mut self, block: &[u8], start: usize, at: usize, shape: BlockShape) -> Result<bool, LocatedFault> {
        let end = if at > start && block[at - 1] == b'\r' { at - 1 } else { at };
        self.ends.push(end as u32);
        if self.ends.len() != (self.starts.len() + 1).saturating_mul(shape.width) {
            return self.reject_record(block, start, end, shape);
        }
        self.starts.push(start as u32);
        Ok(false)
    }

    #[cold]
    fn reject_record(
        &mut self,
        block: &[u8],
        start: usize,
        end: usize,
        shape: BlockShape,
    ) -> Result<bool, LocatedFault> {
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
        } else {
            Fault::Fields { found, expected }
        };
        Err(LocatedFault { record: self.starts.len(), offset: start, fault })
    }

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
        let mut fields = FieldOffsets::default();
        let shape =
            BlockShape { width, dialect: DIALECT, has_quotes: text.contains(&b'"'), ends_file: true, too_long: None };
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
    }
}
