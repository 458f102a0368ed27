//! The first pass over Parquet files; see [`crate::group`] for what it guarantees.
//!
//! Cost: decoding of the wanted columns, one table look-up for each value of each dictionary, one array access for each
//! cell and one row look-up for each record.

use super::code::{ColumnCoder, Slot};
use super::open::{ParquetFile, units};
use super::text::has_text;
use crate::crew;
use crate::error::EngineError;
use crate::group::{Grouper, finish};
use crate::memory::Budget;
use arrow_array::RecordBatch;
use moretta_core::counts::Counts;
use moretta_core::observer::Observer;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Records of a batch.
const BATCH: usize = 16 << 10;

struct Worker {
    grouper: Grouper,
    coders: Vec<ColumnCoder>,
    codes: Vec<u32>,
}

impl Worker {
    /// Counts the records of a batch; `order` gives the place of each wanted column in it.
    fn add(&mut self, batch: &RecordBatch, order: &[usize], base: u64) -> Result<(), arrow_schema::ArrowError> {
        let (width, records) = (order.len(), batch.num_rows());
        self.codes.resize(records * width, 0);
        for (at, &column) in order.iter().enumerate() {
            let dictionary = &mut self.grouper.dictionaries[at];
            let slot = Slot { codes: &mut self.codes[at * records..], stride: 1, at: 0 };
            self.coders[at].code(batch.column(column), slot, &mut |text| Some(dictionary.code(text)))?;
        }
        self.grouper.count(&self.codes, records, base);
        Ok(())
    }
}

/// An error if a wanted column has no text form.
pub(crate) fn check_types(file: &ParquetFile, wanted: &[usize]) -> Result<(), EngineError> {
    for &column in wanted {
        let field = file.schema().field(column);
        if !has_text(field.data_type()) {
            return Err(EngineError::UnsupportedType {
                path: file.path.clone(),
                column: field.name().clone(),
                data_type: field.data_type().to_string(),
            });
        }
    }
    Ok(())
}

/// Columns come in file order whatever order they are asked for: the place of each wanted one among all wanted ones.
pub(crate) fn places(wanted: &[usize], read: &[usize]) -> Vec<usize> {
    let mut sorted = read.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    wanted.iter().map(|column| sorted.partition_point(|other| other < column)).collect()
}

/// Groups and counts Parquet files.
pub(crate) fn group_parquet(
    files: &[ParquetFile],
    names: &[String],
    wanted: &[usize],
    threads: usize,
    budget: &Budget,
    observer: &dyn Observer,
) -> Result<Counts, EngineError> {
    check_types(&files[0], wanted)?;
    let total: u64 = units(files, usize::MAX).iter().map(|unit| unit.rows as u64).sum();
    if total == 0 {
        return Err(EngineError::NoRecords { path: files[0].path.clone() });
    }
    // Few large row groups are divided, so that all threads have something to do.
    let most = (total as usize).div_ceil(threads).max(1 << 16);
    let units = units(files, most);
    let projected = files.iter().map(|file| file.project(wanted, wanted)).collect::<Result<Vec<_>, _>>()?;
    let order = places(wanted, wanted);
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let workers = (0..threads)
        .map(|_| Worker {
            grouper: Grouper::new(wanted.len()),
            coders: wanted.iter().map(|_| ColumnCoder::default()).collect(),
            codes: Vec::new(),
        })
        .collect();
    let take = |_: &mut Worker| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        Ok((number < units.len()).then_some(number))
    };
    let work = |worker: &mut Worker, number: usize| {
        let unit = units[number];
        let file = &files[unit.file];
        let mut base = unit.base;
        for batch in file.read(&projected[unit.file], unit, BATCH)? {
            if observer.stop().is_some() {
                return Err(EngineError::Cancelled);
            }
            let batch = batch.map_err(EngineError::parquet(&file.path))?;
            worker.add(&batch, &order, base).map_err(EngineError::parquet(&file.path))?;
            let records = batch.num_rows() as u64;
            base += records;
            let done = done.fetch_add(records, Ordering::Relaxed) + records;
            observer.progress(done, total);
            worker.grouper.check(budget, names, done as f64 / total as f64)?;
        }
        Ok(())
    };
    let workers = crew::run(workers, observer, &[], take, work).map_err(|(_, error)| error)?;
    let groupers = workers.into_iter().map(|worker| worker.grouper).collect();
    Ok(finish(groupers, names, total, |place| place + 1))
}
