//! Room for records on their way into another order: memory first, then one temporary file without a name.
//!
//! Guarantee: what was put into a bucket comes out of it, in no particular order of puts. The file has no name, so that it
//! goes with the process, however that ends, and only its owner could ever read it. Cost: each byte is written once and
//! read once; not more than the memory_limit (and what is being put) is bytes_in_memory in memory.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    error::EngineError,
    ordered_pool::lock,
    target::{read_at, write_at},
};

/// Buckets of bytes.
#[derive(Debug)]
pub(crate) struct Spill {
    folder: PathBuf,
    memory_limit: u64,
    bytes_in_memory: AtomicU64,
    file_length: AtomicU64,
    file: Mutex<Option<std::sync::Arc<File>>>,
    buckets: Vec<Mutex<Vec<Extent>>>,
    bucket_bits: u32,
}

#[derive(Debug)]
enum Extent {
    Memory(Box<[u8]>),
    File { offset: u64, length: usize },
}

const MAX_BUCKET_BITS: u32 = 10;

impl Spill {
    /// Buckets of about `bucket` bytes for about `expected` bytes in all, of which `memory_limit` stay in memory.
    pub(crate) fn new(folder: &Path, expected: u64, bucket: u64, memory_limit: u64) -> Self {
        let num_buckets = expected.div_ceil(bucket.max(1)).clamp(1, 1 << MAX_BUCKET_BITS).next_power_of_two();
        Self {
            folder: folder.to_path_buf(),
            memory_limit,
            bytes_in_memory: AtomicU64::new(0),
            file_length: AtomicU64::new(0),
            file: Mutex::new(None),
            buckets: (0..num_buckets).map(|_| Mutex::new(Vec::new())).collect(),
            bucket_bits: num_buckets.trailing_zeros(),
        }
    }

    /// How many buckets there are.
    pub(crate) fn num_buckets(&self) -> usize {
        self.buckets.len()
    }

    /// The bucket of a sort key: buckets are in order of the keys.
    #[inline]
    pub(crate) fn bucket_of(&self, key: u64) -> usize {
        if self.bucket_bits == 0 { 0 } else { (key >> (64 - self.bucket_bits)) as usize }
    }

    /// Puts some bytes into a bucket.
    pub(crate) fn put(&self, bucket: usize, bytes: &[u8]) -> Result<(), EngineError> {
        let length = bytes.len();
        let extent = if self.bytes_in_memory.load(Ordering::Relaxed) + length as u64 <= self.memory_limit {
            self.bytes_in_memory.fetch_add(length as u64, Ordering::Relaxed);
            Extent::Memory(bytes.into())
        } else {
            let offset = self.file_length.fetch_add(length as u64, Ordering::Relaxed);
            let file = self.file()?;
            write_at(&file, bytes, offset).map_err(EngineError::io(&self.folder, "write a temporary file in"))?;
            Extent::File { offset, length }
        };
        lock(&self.buckets[bucket]).push(extent);
        Ok(())
    }

    /// Takes everything out of a bucket, put by put.
    pub(crate) fn take(
        &self,
        bucket: usize,
        mut each: impl FnMut(&[u8]) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let extents = std::mem::take(&mut *lock(&self.buckets[bucket]));
        let mut buffer = Vec::new();
        for extent in extents {
            match extent {
                Extent::Memory(bytes) => {
                    self.bytes_in_memory.fetch_sub(bytes.len() as u64, Ordering::Relaxed);
                    each(&bytes)?;
                }
                Extent::File { offset, length } => {
                    buffer.resize(length, 0);
                    let file = self.file()?;
                    read_at(&file, &mut buffer[..length], offset)
                        .map_err(EngineError::io(&self.folder, "read a temporary file in"))?;
                    each(&buffer[..length])?;
                }
            }
        }
        Ok(())
    }

    fn file(&self) -> Result<std::sync::Arc<File>, EngineError> {
        let mut file = lock(&self.file);
        if let Some(file) = &*file {
            return Ok(std::sync::Arc::clone(file));
        }
        let made =
            tempfile::tempfile_in(&self.folder).map_err(EngineError::io(&self.folder, "make a temporary file in"))?;
        Ok(std::sync::Arc::clone(file.insert(std::sync::Arc::new(made))))
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
            for at in 0..40u8 {
                spill.put(usize::from(at % 4), &[at; 3]).expect("put");
            }
            assert_eq!(std::fs::read_dir(folder.path()).expect("folder").count(), 0);
            for bucket in 0..4 {
                let mut all = Vec::new();
                spill
                    .take(usize::from(bucket), |bytes| {
                        all.extend_from_slice(bytes);
                        Ok(())
                    })
                    .expect("take");
                let expected: Vec<u8> = (0..40u8).filter(|at| at % 4 == bucket).flat_map(|at| [at; 3]).collect();
                assert_eq!(all, expected);
            }
        }
    }
}
