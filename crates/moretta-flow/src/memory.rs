//! The memory limit of a job: a request that would exceed it is refused before its search.
//!
//! Each step of a request holds some structures; [`Estimate::heap`] adds up the bytes of those that exist at the same
//! time. Counts and profile exist already and are measured; methods estimate their search ([`Method::memory`]), the
//! core what follows it ([`ReleaseMemory`]), the engine its passes ([`EngineOptions`]). The step with the most bytes
//! decides.
//!
//! ```text
//! step           counts  profile  recoding  released  and
//! reading           x                                 dictionaries and rows of each thread
//! profile           x       x                         sorting
//! search            x       x                         the method's own
//! verification      x       x        x         x      labels, groups
//! path              x       x        x         x      a coarser profile and its release
//! writing           x       x        x         x      labels; then dictionaries and rows instead of the counts
//! reading back              x        x         x      the same for the file
//! linking                   x                         the same for the file; then trees and combinations of all releases
//! ```
//!
//! Profiles of earlier releases, which the new one is linked with, exist from the search to the end.
//!
//! The limit holds for the process ([`Estimate::needed`]), which also has its program and stacks, and memory that the
//! allocator keeps. Searches that grow with the data in a way that no estimate foresees are stopped ([`Guard`]).

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use moretta_core::{
    counts::{CountedColumn, Counts},
    engine::{Engine, EngineFault, Records, Sample},
    memory::{hash_table, pushed},
    policy::{BoundPolicy, MethodChoice},
    profile::Profile,
    release_memory::{ReleaseMemory, RowSize},
    schema::Role,
    search::{METHODS, Method, MethodEntry, Task, check_supported, method_of},
    text::counted,
};
use moretta_engine::{EngineError, EngineOptions, OutOfMemory, PROCESS_BYTES, resident_memory_bytes};
use moretta_insight::{
    column_sets::ColumnSets,
    kept::KeptSizes,
    linkage::{LinkedSize, MAX_STEPS, REGION_BYTES, linking_bytes},
    risks,
    tradeoff::PATH_METHOD,
};

use crate::{error::FlowError, policy::LoadedPolicy, session::Session};

/// Smallest limit, in bytes: the program itself takes almost half of it.
pub const MIN_MEMORY: u64 = 32_000_000;

/// Records that are read again if counting needs more memory than the limit, to estimate the memory of the request.
const SAMPLE_RECORDS: usize = 20_000;

/// Buffers of the second pass take at most this part of the limit: a quarter.
const BUFFER_SHARE: u64 = 4;

/// Maximum bytes of these buffers with the default options and two threads.
const MAX_BUFFERS: u64 = 200_000_000;

/// Bytes of a process with this heap: the program, and a sixth of the heap that the allocator keeps or cannot use;
/// measured (docs/results/memory.md).
fn process_bytes(heap: u64) -> u64 {
    PROCESS_BYTES + heap + heap / 6
}

/// Work of a request after its search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It writes a release of about `bytes` bytes, in a format that needs `format_bytes`, and measures the points of a
    /// generalization path if `path`. Beside the rows of the profile, `groups` groups by kept columns are counted.
    Release { path: bool, bytes: u64, format_bytes: u64, groups: u64 },
    /// It measures the result, and each point of a generalization path.
    Path,
    /// It measures the result, and searches again on a part of the records.
    Test,
}

/// Size of a release whose size is not known.
const UNKNOWN_BYTES: u64 = 1 << 40;

impl Purpose {
    /// A release of all records of an engine.
    pub(crate) fn release<E: Engine>(engine: &E, target: &E::Target, path: bool, kept: &KeptSizes) -> Self {
        let bytes = engine.text_bytes().unwrap_or(UNKNOWN_BYTES);
        Self::Release { path, bytes, format_bytes: engine.format_bytes(target), groups: kept.groups() }
    }
}

/// Estimates the memory of a request.
#[derive(Clone)]
pub(crate) struct Estimate<'a> {
    pub bound: &'a BoundPolicy<'a>,
    pub counts: &'a Counts,
    pub purpose: Purpose,
    /// Earlier releases that the new one is linked with.
    pub earlier: &'a [LinkedSize],
    pub options: EngineOptions,
}

impl Estimate<'_> {
    /// Bytes of the heap at the peak of the step that needs most, if the limit is `limit`.
    fn heap(&self, method: &dyn Method, limit: u64) -> u64 {
        let Self { bound, counts, purpose, earlier, .. } = *self;
        let options = self.options.clone().within(limit);
        let profile = bound.profile();
        let (rows, records) = (RowSize::of(counts), profile.records());
        let (counts_bytes, profile_bytes) = (counts.bytes(), profile.bytes());
        let search = method.memory(&Task::of(bound, 0));
        let release = ReleaseMemory::of(bound, counts, &search);
        let table = counts_bytes + profile_bytes;
        // A search that is repeated with a larger k keeps its best result and verifies each.
        let is_repeated =
            !bound.table_models().is_empty() || bound.models().iter().any(|model| !model.is_closed_under_union());
        let repeated = if is_repeated { 2 * release.recoding + release.verify } else { 0 };
        // Columns that the profile lacks are counted with it: of the original the kept ones, of the release all.
        let hashed = bound.policy().kept().any(|column| column.role == Role::Insensitive);
        let hashed_bytes = |groups: u64| if hashed { options.hashed_bytes(groups, records) } else { 0 };
        let reading = options.count_bytes(&rows, records);
        // Persons of all records as one group: pairs of a value and a person, and sets of both.
        let counting = if profile.persons().is_some() { 40 * profile.variants() as u64 } else { 0 };
        // Sorting, then the parts of the profile that the threads make.
        let building = table + (36 * rows.rows).max(profile_bytes + 8 * rows.rows) + 16 * rows.values;
        let searching = table + search.peak + repeated + counting;
        let verifying = table + release.recoding + release.verify + counting;
        let measuring = table + release.recoding + release.released + release.verify + profile_bytes;
        let steps = match purpose {
            Purpose::Release { path, bytes, format_bytes, .. } => {
                let kept = profile_bytes + release.recoding + release.released;
                let making = counts_bytes + release.making_rewrite;
                let writing = release.rewrite + options.rewrite_bytes(&release, bytes) + format_bytes.min(2 * bytes);
                let counting_back = options.count_bytes(&release.file, records) + hashed_bytes(records);
                let reading_back = counting_back.max(release.read_back);
                [kept + making.max(writing).max(reading_back), if path { measuring } else { 0 }]
            }
            Purpose::Path => [measuring, 0],
            Purpose::Test => [table + searching, 2 * table + verifying],
        };
        let beside: u64 = earlier.iter().map(|release| release.profile).sum();
        let steps = [searching, verifying].into_iter().chain(steps).map(|step| step + beside);
        let linking = if earlier.is_empty() { 0 } else { linking_heap(bound, (earlier, earlier.len() + 1), &options) };
        let kept_groups = if let Purpose::Release { groups, .. } = purpose { hashed_bytes(groups) } else { 0 };
        steps.chain([reading + kept_groups, building, linking]).max().unwrap_or(0)
    }

    /// Bytes of the process that suffice for the method. Buffers grow with the limit, so the result is a fixed point.
    pub(crate) fn needed(&self, method: &dyn Method) -> u64 {
        let mut needed = MIN_MEMORY;
        for _ in 0..8 {
            needed = needed.max(process_bytes(self.heap(method, needed)));
        }
        needed
    }

    /// The method that needs least of those that can serve the policy, and what it needs.
    fn least(&self) -> Option<(&'static str, u64)> {
        let task = Task::of(self.bound, 0);
        let serves = |entry: &'static MethodEntry| {
            let method = built(entry).filter(|method| check_supported(&**method, entry.name, &task).is_ok())?;
            Some((entry.name, self.needed(&*method)))
        };
        METHODS.iter().filter_map(serves).min_by_key(|(_, needed)| *needed)
    }
}

impl Session<'_> {
    /// Refuses a search that would exceed the memory limit.
    pub(crate) fn check_memory(
        &self,
        bound: &BoundPolicy<'_>,
        counts: &Counts,
        purpose: (Purpose, &[LinkedSize]),
    ) -> Result<(), FlowError> {
        let Some(limit) = self.memory_limit() else { return Ok(()) };
        refused(bound, counts, purpose, &self.engine_options(), limit)
            .map_or(Ok(()), |text| Err(FlowError::memory(text)))
    }

    /// Refuses to link releases if that would exceed the memory limit. Of `expected` releases, some were read; the
    /// others are expected to be as large. `beside` are bytes that the request holds until then.
    pub(crate) fn check_linking_memory(
        &self,
        bound: &BoundPolicy<'_>,
        (read, expected): (&[LinkedSize], usize),
        beside: u64,
    ) -> Result<(), FlowError> {
        let Some(limit) = self.memory_limit() else { return Ok(()) };
        let heap = linking_heap(bound, (read, expected), &self.engine_options().within(limit));
        let needed = process_bytes(beside + heap);
        if needed <= limit {
            return Ok(());
        }
        Err(FlowError::memory(format!(
            "to link {} takes about {}, and --memory is {}; use --memory {} or more",
            counted(expected as u64, "release", "releases"),
            size(needed, " "),
            size(limit, " "),
            size(needed, "")
        )))
    }

    /// Bytes of the heap after verification: counts, profile, recoding and the released table.
    pub(crate) fn verified_bytes(&self, bound: &BoundPolicy<'_>, counts: &Counts) -> u64 {
        let Ok(method) = method_of(bound.policy()) else { return counts.bytes() };
        let release = ReleaseMemory::of(bound, counts, &method.memory(&Task::of(bound, 0)));
        counts.bytes() + release.recoding + release.released
    }

    /// Bytes that the memory limit leaves for the boxes of a lower bound, if `beside` bytes are in use; a reason if not
    /// even a bound without them fits.
    pub(crate) fn bound_room(&self, profile: &Profile, beside: u64) -> Result<u64, String> {
        let Some(limit) = self.memory_limit() else { return Ok(u64::MAX) };
        let needed = process_bytes(beside + profile.bytes() + moretta_insight::bound::memory(profile));
        if needed > limit {
            return Err(format!("it takes about {}, and --memory is {}", size(needed, " "), size(limit, " ")));
        }
        Ok((limit - needed) / 7 * 6)
    }

    /// Maximum number of intersections of boxes that the memory limit leaves room for.
    pub(crate) fn max_regions(&self, bound: &BoundPolicy<'_>, releases: &[LinkedSize]) -> u64 {
        let Some(limit) = self.memory_limit() else { return MAX_STEPS };
        let needed = process_bytes(linking_heap(bound, (releases, releases.len()), &self.engine_options()));
        // The first 100,000 take 3 MB, which no estimate is as precise as.
        (limit.saturating_sub(needed) / REGION_BYTES).clamp(100_000, MAX_STEPS)
    }

    /// Refuses a table whose counts and profile would exceed the memory limit. The figure in the message is for the
    /// table and `others`, releases that the request links: each takes about three quarters of it.
    pub(crate) fn check_profile_memory(&self, counts: &Counts, others: usize) -> Result<(), FlowError> {
        let Some(limit) = self.memory_limit() else { return Ok(()) };
        let rows = RowSize::of(counts);
        // About as much as the counts again, and sorting; then groups of all rows.
        let heap = 2 * counts.bytes() + rows.rows * (36 + 4 * rows.columns) + 40 * rows.values;
        if process_bytes(heap) <= limit {
            return Ok(());
        }
        let needed = process_bytes(heap + heap / 4 * 3 * others as u64);
        let work = if others == 0 { "to read this table" } else { "to read and link these tables" };
        let message = format!(
            "{work} takes about {}, and --memory is {}; use --memory {} or more",
            size(needed, " "),
            size(limit, " "),
            size(needed, "")
        );
        Err(FlowError::memory(message))
    }

    /// Refuses an analysis of risks that would exceed the memory limit; returns the bytes that it leaves.
    pub(crate) fn check_risk_memory(&self, counts: &Counts) -> Result<Option<u64>, FlowError> {
        let Some(limit) = self.memory_limit() else { return Ok(None) };
        let needed = self.risks_needed(&RowSize::of(counts), counts.bytes());
        if needed <= limit {
            return Ok(Some((limit - needed) / 7 * 6));
        }
        Err(analysis_refused(needed, limit))
    }

    /// Bytes of the process for an analysis of a table of this size, whose counts take `counts` bytes.
    fn risks_needed(&self, rows: &RowSize, counts: u64) -> u64 {
        // The counts exist until the sets are made.
        let analysis = risks::analysis_bytes(rows, self.engine_options().threads as u64);
        process_bytes(ColumnSets::bytes_of(rows) + counts.max(analysis))
    }

    /// Explains that counting for an analysis of risks exceeded the memory limit: what the analysis needs, estimated
    /// from the first records.
    pub(crate) fn risks_refused(&self, table: &dyn Records, columns: &[String], fault: EngineFault) -> FlowError {
        let EngineFault::Failed { error, .. } = &fault else { return fault.into() };
        let Some(EngineError::OutOfMemory(account)) = error.downcast_ref() else { return fault.into() };
        match self.risks_by_sample(table, columns, account) {
            // The limit did not suffice, whatever the estimate says.
            Some(needed) => analysis_refused(needed.max(account.limit + account.limit / 4), account.limit),
            None => FlowError::memory(account.to_string()),
        }
    }

    /// Estimates the memory of an analysis of a table from its first records and from what counting has needed so far.
    /// Each further row brings as many new values as those of the second half of the sample, which is an upper bound:
    /// values repeat.
    fn risks_by_sample(&self, table: &dyn Records, columns: &[String], account: &OutOfMemory) -> Option<u64> {
        let rows = account.distinct_rows as f64 / account.read;
        let sample = table.sample(SAMPLE_RECORDS).ok()?;
        let of = |records: usize| Some(RowSize::of(&sample_counts(&sample, records, columns)?));
        let (half, whole) = (of(sample.rows.len() / 2)?, of(sample.rows.len())?);
        let times = (rows - whole.rows as f64).max(0.0) / (whole.rows - half.rows).max(1) as f64;
        let grown = |half: u64, whole: u64| whole + ((whole - half) as f64 * times) as u64;
        let size = RowSize {
            rows: grown(half.rows, whole.rows),
            columns: whole.columns,
            values: grown(half.values, whole.values),
            text_bytes: grown(half.text_bytes, whole.text_bytes),
        };
        let threads = self.engine_options().threads as u64;
        let counts = size.rows * (4 * size.columns + 16) + 64 * size.values + size.text_bytes;
        let row_tables = pushed(size.rows * 4 * (size.columns + 4)) + hash_table(size.rows, 8);
        // Threads know the same values, unless each is in one row.
        let values = (threads * size.values).min(size.values + size.rows);
        let dictionaries = hash_table(values, 24) + 8 * values + 2 * pushed(size.text_bytes);
        // Merging takes as much again as the tables of the threads.
        let counting = PROCESS_BYTES + 2 * (row_tables + dictionaries);
        Some(counting.min(account.needed).max(self.risks_needed(&size, counts)))
    }

    /// Explains that counting exceeded the memory limit: what the request needs, estimated from its first records.
    pub(crate) fn counting_refused(&self, loaded: &LoadedPolicy, table: &dyn Records, fault: EngineFault) -> FlowError {
        let EngineFault::Failed { error, .. } = &fault else { return fault.into() };
        let Some(EngineError::OutOfMemory(account)) = error.downcast_ref() else { return fault.into() };
        let rows = account.distinct_rows as f64 / account.read;
        match self.needed_by_sample(loaded, table, rows, account.limit) {
            Some(needed) => {
                // The estimate is of the search. If it is below the limit, groups by kept columns did not fit.
                let needed = if needed > account.limit { needed } else { account.needed };
                FlowError::memory(format!("{account}; use --memory {}", size(needed, "")))
            }
            None => FlowError::memory(account.to_string()),
        }
    }

    /// Replaces the figure of a table that is refused before its profile by one for the whole request.
    pub(crate) fn with_figure(
        &self,
        loaded: &LoadedPolicy,
        table: &dyn Records,
        counts: &Counts,
        refused: FlowError,
    ) -> FlowError {
        let limit = self.memory_limit().unwrap_or(u64::MAX);
        let needed = self.needed_by_sample(loaded, table, counts.rows() as f64, limit);
        needed.map_or(refused, |needed| FlowError::memory(needs(&loaded.policy.method.name, needed, limit)))
    }

    /// Estimates the memory of a release of a table of `rows` distinct rows from its first records.
    fn needed_by_sample(&self, loaded: &LoadedPolicy, table: &dyn Records, rows: f64, limit: u64) -> Option<u64> {
        let policy = &loaded.policy;
        let method = method_of(policy).ok()?;
        let sample = table.sample(SAMPLE_RECORDS).ok()?;
        // Heap and rows of the first records of the sample.
        let estimated = |records: usize| {
            let counts = sample_counts(&sample, records, &Profile::grouped_columns(policy))?;
            let profile = Profile::build(policy, &loaded.hierarchies, &counts).ok()?;
            let bound = BoundPolicy::new(policy, &profile).ok()?;
            // Kept columns of exact numbers: nearly every record is a group.
            let purpose = Purpose::Release { path: false, bytes: 0, format_bytes: 0, groups: counts.records };
            let options = self.engine_options();
            let estimate = Estimate { bound: &bound, counts: &counts, purpose, earlier: &[], options };
            Some((estimate.heap(&*method, limit) as f64, counts.rows() as f64))
        };
        let (half, whole) = (estimated(sample.rows.len() / 2)?, estimated(sample.rows.len())?);
        // The bytes per row are extrapolated to all rows; bytes that do not depend on rows are in both estimates.
        let per_row = (whole.0 - half.0) / (whole.1 - half.1).max(1.0);
        let heap = whole.0 + per_row * (rows - whole.1).max(0.0);
        let needed = process_bytes(heap as u64);
        // An eighth for what the first records do not show.
        Some(needed + needed / 8 + (needed / BUFFER_SHARE).min(MAX_BUFFERS))
    }
}

/// Says why a search is refused: what it needs, and a method that needs less. `None` if the limit suffices.
pub(crate) fn refused(
    bound: &BoundPolicy<'_>,
    counts: &Counts,
    (purpose, earlier): (Purpose, &[LinkedSize]),
    options: &EngineOptions,
    limit: u64,
) -> Option<String> {
    let estimate = Estimate { bound, counts, purpose, earlier, options: options.clone() };
    // Only one method has a generalization path; it serves policies with another method, too.
    let (name, method) = match purpose {
        Purpose::Path => (PATH_METHOD, built(METHODS.iter().find(|entry| entry.name == PATH_METHOD)?)?),
        _ => (bound.policy().method.name.as_str(), method_of(bound.policy()).ok()?),
    };
    let needed = estimate.needed(&*method);
    if needed <= limit {
        return None;
    }
    let instead = match estimate.least() {
        Some((other, less)) if other != name && less < needed && purpose != Purpose::Path => {
            format!(", or the method `{other}`, which needs {}", size(less, " "))
        }
        _ => String::new(),
    };
    Some(needs(name, needed, limit) + &instead)
}

/// Bytes of the heap while releases are read and linked, with the profile of the models.
fn linking_heap(bound: &BoundPolicy<'_>, (read, expected): (&[LinkedSize], usize), options: &EngineOptions) -> u64 {
    let largest = read.iter().copied().max_by_key(|release| release.profile);
    let next = largest.unwrap_or_else(|| LinkedSize::estimated(bound));
    let mut all = read.to_vec();
    all.resize(expected.max(read.len()), next);
    let profiles = bound.profile().bytes() + all.iter().map(|release| release.profile).sum::<u64>();
    let counting = options.count_bytes(&next.rows, bound.profile().records());
    let reading = if expected > read.len() { next.reading().max(counting) } else { 0 };
    profiles + reading.max(linking_bytes(bound, &all))
}

/// Explains that counting one of several releases exceeded the memory limit. Each is expected to need as much.
pub(crate) fn release_refused(fault: EngineFault, releases: usize) -> FlowError {
    let EngineFault::Failed { error, .. } = &fault else { return fault.into() };
    let Some(EngineError::OutOfMemory(account)) = error.downcast_ref() else { return fault.into() };
    let needed =
        PROCESS_BYTES + (account.limit as f64 / account.read.max(0.01)) as u64 + releases as u64 * account.needed / 2;
    FlowError::memory(format!("{account}; use --memory {}", size(needed, "")))
}

/// Refusal of an analysis of risks.
fn analysis_refused(needed: u64, limit: u64) -> FlowError {
    FlowError::memory(format!(
        "to analyze this table takes about {}, and --memory is {}; use --memory {} or more",
        size(needed, " "),
        size(limit, " "),
        size(needed, "")
    ))
}

/// Message for a table that needs more memory than the limit.
fn needs(method: &str, needed: u64, limit: u64) -> String {
    format!(
        "this table needs about {} with the method `{method}`, and --memory is {}; use --memory {}",
        size(needed, " "),
        size(limit, " "),
        size(needed, "")
    )
}

/// A method with its default parameters.
fn built(entry: &MethodEntry) -> Option<Box<dyn Method>> {
    (entry.build)(&MethodChoice::new(entry.name, Default::default()), &entry.default_objectives()).ok()
}

/// Formats a number of bytes, rounded up to two or three digits, with `gap` before the unit.
fn size(bytes: u64, gap: &str) -> String {
    match bytes {
        0..1_000_000_000 => format!("{}{gap}MB", bytes.div_ceil(1_000_000)),
        _ => format!("{:.1}{gap}GB", (bytes as f64 / 1e8).ceil() / 10.0),
    }
}

/// Counts of the first `records` records of a sample.
pub(crate) fn sample_counts(sample: &Sample, records: usize, names: &[String]) -> Option<Counts> {
    let index = |name: &String| sample.columns.iter().position(|column| column == name);
    let indices: Vec<usize> = names.iter().map(index).collect::<Option<_>>()?;
    let mut rows: Vec<Vec<&str>> =
        sample.rows[..records].iter().map(|row| indices.iter().map(|&index| row[index].as_str()).collect()).collect();
    rows.sort_unstable();
    let mut counts = Counts { records: rows.len() as u64, ..Counts::default() };
    for (position, name) in names.iter().enumerate() {
        let mut values: Vec<&str> = rows.iter().map(|row| row[position]).collect();
        values.sort_unstable();
        values.dedup();
        let values = values.into_iter().map(Into::into).collect();
        counts.columns.push(CountedColumn { name: name.clone(), values, first_records: None, typed: false });
    }
    for same in rows.chunk_by(|a, b| a == b) {
        let code =
            |(text, column): (&&str, &CountedColumn)| column.values.binary_search_by(|value| (**value).cmp(text)).ok();
        let codes: Option<Vec<usize>> = same[0].iter().zip(&counts.columns).map(code).collect();
        counts.codes.extend(codes?.into_iter().map(|code| code as u32));
        counts.counts.push(same.len() as u64);
    }
    Some(counts)
}

/// Finds out whether the process exceeds the memory limit by a quarter, because an estimate was too low. It looks at
/// the memory at most every [`Guard::INTERVAL`] milliseconds.
pub(crate) struct Guard {
    /// `None` is no limit.
    limit: Option<u64>,
    start: Instant,
    /// Milliseconds after `start` at which it looks again.
    next: AtomicU64,
    exceeded: AtomicBool,
}

impl Guard {
    const INTERVAL: u64 = 20;

    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit, start: Instant::now(), next: AtomicU64::new(0), exceeded: AtomicBool::new(false) }
    }

    /// Whether the limit is or was exceeded.
    pub(crate) fn is_exceeded(&self) -> bool {
        let Some(limit) = self.limit else { return false };
        let now = self.start.elapsed().as_millis() as u64;
        if now >= self.next.load(Relaxed) {
            self.next.store(now + Self::INTERVAL, Relaxed);
            let is_above = |resident: u64| resident > limit / 4 * 5;
            self.exceeded.fetch_or(resident_memory_bytes().is_some_and(is_above), Relaxed);
        }
        self.exceeded.load(Relaxed)
    }

    /// Returns an error if the limit was exceeded.
    pub(crate) fn check(&self) -> Result<(), FlowError> {
        match self.limit.filter(|_| self.exceeded.load(Relaxed)) {
            Some(limit) => Err(FlowError::memory(format!(
                "the search needs more than the {} that --memory allows, and the estimate before it was too low; nothing \
                 was written: use --memory {} or another method",
                size(limit, " "),
                size(2 * limit, "")
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_records_are_counted() {
        let row = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let sample = Sample { columns: row("a,b,c"), rows: ["2,x,1", "1,x,1", "2,x,2", "1,y,1"].map(row).to_vec() };
        let counts = sample_counts(&sample, 3, &row("b,a")).unwrap();
        let rows: Vec<(Vec<&str>, u64)> =
            (0..counts.rows()).map(|row| (counts.texts(row).collect(), counts.counts[row])).collect();
        assert_eq!(rows, [(vec!["x", "1"], 1), (vec!["x", "2"], 2)]);
        assert_eq!(counts.records, 3);
        assert!(sample_counts(&sample, 3, &row("b,z")).is_none());
    }

    #[test]
    fn a_guard_sees_an_exceeded_limit() {
        if cfg!(target_os = "linux") {
            let guard = Guard::new(Some(1_000_000));
            assert!(guard.is_exceeded());
            assert!(guard.check().unwrap_err().message.contains("more than the 1 MB that --memory allows"));
        }
        for limit in [None, Some(1 << 50)] {
            let guard = Guard::new(limit);
            assert!(!guard.is_exceeded() && guard.check().is_ok());
        }
    }

    #[test]
    fn figures_are_rounded_up() {
        assert_eq!(size(31_000_001, ""), "32MB");
        assert_eq!(size(1_910_000_000, " "), "2.0 GB");
    }
}
