//! Buckets of bytes for a shuffle: in memory up to a limit, then in an unnamed temporary file per thread.
//!
//! Guarantee: all bytes put into a bucket can be taken out of it, in no particular order of puts. A file has no name,
//! so that the system removes it when the process ends, however it ends, and no other user can open it. Each thread
//! writes to a file of its own, because writes to one file wait for each other.
//!
//! How: a shuffle sorts records by random 64-bit keys. The high bits of its key give the bucket of a record, so that
//! every key of a bucket is below every key of the next one: it is enough to sort each bucket. The keys are uniform, so
//! buckets have about equal sizes.
//!
//! ```text
//! key       0x0A..  0x93..  0x41..  0xF7..  0x5C..       scatter: bucket = 2 high bits of the key
//! bucket 0  0x0A..                                       gather:  0x0A..
//! bucket 1  0x41..  0x5C..                                        0x41..  0x5C..
//! bucket 2  0x93..                                                0x93..
//! bucket 3  0xF7..                                                0xF7..
//! ```
//!
//! Cost: each byte is written once and read once; memory for `memory_limit` bytes and the puts in progress.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    error::EngineError,
    ordered_pool::lock,
    target::{read_at, write_at},
};

/// Numbered buckets of bytes, shared by all threads.
#[derive(Debug)]
pub(crate) struct Spill {
    /// Folder of the temporary files.
    folder: PathBuf,
    memory_limit: u64,
    bytes_in_memory: AtomicU64,
    buckets: Vec<Mutex<Vec<Extent>>>,
    bucket_bits: u32,
}

/// Bytes of one put.
#[derive(Debug)]
enum Extent {
    Memory(Box<[u8]>),
    File { file: Arc<File>, offset: u64, length: usize },
}

/// Puts bytes into the buckets for one thread.
#[derive(Debug)]
pub(crate) struct SpillWriter<'a> {
    spill: &'a Spill,
    /// Created at the first put that exceeds the memory limit.
    file: Option<Arc<File>>,
    file_length: u64,
}

/// Base-2 logarithm of the maximum number of buckets: every thread has a buffer per bucket. Not tuned.
const MAX_BUCKET_BITS: u32 = 10;

impl Spill {
    /// Empty buckets for about `expected_bytes` in total, of about `bucket_bytes` each.
    pub(crate) fn new(folder: &Path, expected_bytes: u64, bucket_bytes: u64, memory_limit: u64) -> Self {
        let buckets = expected_bytes.div_ceil(bucket_bytes.max(1)).clamp(1, 1 << MAX_BUCKET_BITS).next_power_of_two();
        Self {
            folder: folder.to_path_buf(),
            memory_limit,
            bytes_in_memory: AtomicU64::new(0),
            buckets: (0..buckets).map(|_| Mutex::new(Vec::new())).collect(),
            bucket_bits: buckets.trailing_zeros(),
        }
    }

    /// Number of buckets: a power of two.
    pub(crate) fn num_buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Bucket of a sort key. A smaller key has the same or a smaller bucket.
    #[inline]
    pub(crate) fn bucket_of(&self, key: u64) -> usize {
        if self.bucket_bits == 0 { 0 } else { (key >> (64 - self.bucket_bits)) as usize }
    }

    /// A writer for one thread.
    pub(crate) fn writer(&self) -> SpillWriter<'_> {
        SpillWriter { spill: self, file: None, file_length: 0 }
    }

    /// Empties a bucket and calls `each` with the bytes of every put.
    pub(crate) fn take(
        &self,
        bucket: usize,
        mut each: impl FnMut(&[u8]) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut buffer = Vec::new();
        for extent in self.extents(bucket) {
            buffer.clear();
            self.append(extent, &mut buffer)?;
            each(&buffer)?;
        }
        Ok(())
    }

    /// Empties a bucket and appends the bytes of every put.
    pub(crate) fn take_all(&self, bucket: usize, bytes: &mut Vec<u8>) -> Result<(), EngineError> {
        self.extents(bucket).into_iter().try_for_each(|extent| self.append(extent, bytes))
    }

    fn extents(&self, bucket: usize) -> Vec<Extent> {
        std::mem::take(&mut *lock(&self.buckets[bucket]))
    }

    /// Appends the bytes of a put.
    fn append(&self, extent: Extent, bytes: &mut Vec<u8>) -> Result<(), EngineError> {
        match extent {
            Extent::Memory(put) => {
                self.bytes_in_memory.fetch_sub(put.len() as u64, Ordering::Relaxed);
                bytes.extend_from_slice(&put);
                Ok(())
            }
            Extent::File { file, offset, length } => {
                let start = bytes.len();
                bytes.resize(start + length, 0);
                read_at(&file, &mut bytes[start..], offset)
                    .map_err(EngineError::io(&self.folder, "read a temporary file in"))
            }
        }
    }
}

impl SpillWriter<'_> {
    /// Adds bytes to a bucket.
    pub(crate) fn put(&mut self, bucket: usize, bytes: &[u8]) -> Result<(), EngineError> {
        let spill = self.spill;
        let length = bytes.len() as u64;
        let extent = if spill.bytes_in_memory.load(Ordering::Relaxed) + length <= spill.memory_limit {
            spill.bytes_in_memory.fetch_add(length, Ordering::Relaxed);
            Extent::Memory(bytes.into())
        } else {
            let (file, offset) = (self.file()?, self.file_length);
            write_at(&file, bytes, offset).map_err(EngineError::io(&spill.folder, "write a temporary file in"))?;
            self.file_length += length;
            Extent::File { file, offset, length: bytes.len() }
        };
        lock(&spill.buckets[bucket]).push(extent);
        Ok(())
    }

    fn file(&mut self) -> Result<Arc<File>, EngineError> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let folder = &self.spill.folder;
        let created = tempfile::tempfile_in(folder).map_err(EngineError::io(folder, "make a temporary file in"))?;
        Ok(Arc::clone(self.file.insert(Arc::new(created))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_comes_out() {
        let folder = tempfile::tempdir().expect("folder");
        for memory_limit in [0, 10, 1_000] {
            let spill = Spill::new(folder.path(), 100, 25, memory_limit);
            assert_eq!(spill.num_buckets(), 4);
            assert_eq!((spill.bucket_of(0), spill.bucket_of(1 << 63), spill.bucket_of(u64::MAX)), (0, 2, 3));
            let mut writers = [spill.writer(), spill.writer()];
            for put in 0..40u8 {
                writers[usize::from(put % 3 / 2)].put(usize::from(put % 4), &[put; 3]).expect("put");
            }
            assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
            for bucket in 0..4 {
                let mut all = Vec::new();
                if bucket % 2 == 0 {
                    spill.take_all(bucket, &mut all).expect("take");
                } else {
                    let each = |bytes: &[u8]| {
                        all.extend_from_slice(bytes);
                        Ok(())
                    };
                    spill.take(bucket, each).expect("take");
                }
                all.sort_unstable();
                let puts = (0..40u8).filter(|put| usize::from(put % 4) == bucket);
                assert_eq!(all, puts.flat_map(|put| [put; 3]).collect::<Vec<u8>>());
            }
        }
    }
}
