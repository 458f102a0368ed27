//! All blocks of a CSV source, parsed by several threads.
//!
//! Guarantee: `step` sees every block once, parsed and free of faults; the fault of the earliest record is reported with
//! its record and line, whatever the number of threads. Cost: see [`super::blocks`] and [`super::parse`]; the line of a
//! fault is found by reading its file again.

use super::Dialect;
use super::blocks::{Block, Blocks, DataFile, LONGEST};
use super::parse::{Fields, Located, Shape};
use crate::crew::{self, Fails, lock};
use crate::error::EngineError;
use moretta_core::observer::Observer;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;

/// What is to be scanned and how.
#[derive(Debug, Clone)]
pub(crate) struct CsvInput {
    pub(crate) files: Vec<DataFile>,
    pub(crate) dialect: Dialect,
    pub(crate) width: usize,
    pub(crate) block_size: usize,
    /// Bytes of all files, for progress.
    pub(crate) total: u64,
}

/// What scanning tells besides what the steps gather.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    /// How many records are before each block, and at the end all of them.
    pub(crate) bases: Vec<u64>,
}

impl Scanned {
    /// All records.
    pub(crate) fn records(&self) -> u64 {
        self.bases.last().copied().unwrap_or(0)
    }

    /// The number (from 1) of the record at a place: block number in the high half, record in the low.
    pub(crate) fn number(&self, place: u64) -> u64 {
        self.bases[(place >> 32) as usize] + u64::from(place as u32) + 1
    }
}

struct Worker<S> {
    block: Block,
    fields: Fields,
    read: u64,
    inner: S,
}

enum Failure {
    Record { file: usize, offset: u64, block_offset: usize, record: usize, fault: crate::error::Fault },
    Other(EngineError),
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Failure::Other(error)
    }
}

/// What a step is told of its block.
pub(crate) struct Piece<'a> {
    pub(crate) number: usize,
    pub(crate) block: &'a Block,
    pub(crate) fields: &'a Fields,
    /// Bytes handed out when this block was.
    pub(crate) read: u64,
}

/// Parses all blocks, one state per thread.
pub(crate) fn scan<S: Send>(
    input: &CsvInput,
    states: Vec<S>,
    observer: &dyn Observer,
    turns: &[&dyn Fails],
    step: impl Fn(&mut S, Piece<'_>) -> Result<(), EngineError> + Sync,
) -> Result<(Vec<S>, Scanned), EngineError> {
    let blocks = Mutex::new(Blocks::new(input.files.clone(), input.dialect.quote, input.block_size, input.width));
    let sizes: Mutex<Vec<(usize, u64)>> = Mutex::new(Vec::new());
    let workers = states
        .into_iter()
        .map(|inner| Worker { block: Block::default(), fields: Fields::default(), read: 0, inner })
        .collect();
    let take = |worker: &mut Worker<S>| {
        let mut blocks = lock(&blocks);
        let number = blocks.next_block();
        let taken = blocks.next(&mut worker.block).map_err(|error| (number, Failure::Other(error)))?;
        worker.read = blocks.read();
        drop(blocks);
        observer.progress(worker.read, input.total);
        Ok(taken)
    };
    let work = |worker: &mut Worker<S>, number: usize| {
        let Worker { block, fields, inner, read } = worker;
        let shape = Shape {
            width: input.width,
            dialect: input.dialect,
            quotes: block.quotes,
            last: block.last,
            too_long: block.too_long.then_some(LONGEST),
        };
        if let Err(Located { record, offset, fault }) = fields.parse(block.bytes(), shape) {
            return Err(Failure::Record {
                file: block.file,
                offset: block.offset,
                block_offset: offset,
                record,
                fault,
            });
        }
        let mut all = lock(&sizes);
        if all.len() <= number {
            all.resize(number + 1, (0, 0));
        }
        all[number] = (block.file, fields.records() as u64);
        drop(all);
        step(inner, Piece { number, block, fields, read: *read }).map_err(Failure::Other)
    };
    let result = crew::run(workers, observer, turns, take, work);
    let sizes = sizes.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match result {
        Ok(workers) => {
            let mut bases = vec![0];
            bases.extend(sizes.iter().scan(0, |sum, &(_, records)| {
                *sum += records;
                Some(*sum)
            }));
            Ok((workers.into_iter().map(|worker| worker.inner).collect(), Scanned { bases }))
        }
        Err((_, Failure::Other(error))) => Err(error),
        Err((number, Failure::Record { file, offset, block_offset, record, fault })) => {
            let before: u64 = sizes.iter().take(number).filter(|(of, _)| *of == file).map(|(_, records)| records).sum();
            let path = &input.files[file].path;
            let line = line_at(path, offset + block_offset as u64);
            Err(EngineError::Record { path: path.clone(), record: before + record as u64 + 1, line, fault })
        }
    }
}

/// The line on which a byte is.
fn line_at(path: &Path, offset: u64) -> Option<u64> {
    let mut rest = File::open(path).ok()?.take(offset);
    let mut buffer = vec![0; 1 << 16];
    let mut lines = 1;
    loop {
        match rest.read(&mut buffer).ok()? {
            0 => return Some(lines),
            read => lines += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64,
        }
    }
}
