//! `apply`: applies a saved recoding to new records, suppresses where needed, and verifies the result.

use std::{
    fs::Metadata,
    path::{Path, PathBuf},
    time::Duration,
};

use moretta_core::{
    engine::{Engine, ReleaseFile},
    observer::{Deadline, Note, Stage, Stop},
    policy::BoundPolicy,
    profile::{Profile, Tables},
    publish::ReadBack,
    saved::Saved,
    seed::Seed,
    text::{counted, shown},
    verify::{Verified, VerifyError, verify},
};
use moretta_engine::sha256;
use moretta_insight::{
    kept::Kept,
    recoding_comparison::{self, Compared},
    report::Report,
};

use crate::{
    error::{ErrorKind, FlowError},
    input::{Input, RecodingSource},
    memory::Purpose,
    policy::{read_text, second_tables},
    preflight,
    release::{Output, ReleaseOptions, RewriteInput, Stopwatch, check_files, order, publish, seed},
    session::Session,
};

/// Request of `moretta apply`.
#[derive(Debug, Clone)]
pub struct Apply {
    /// The table of the new records.
    pub input: Input,
    /// The saved recoding, which contains its policy.
    pub recoding: RecodingSource,
    /// The release and its reports.
    pub output: Output,
    /// Random seed of the record order; a random key by default.
    pub seed: Option<Seed>,
    /// Whether the records keep the order of the input.
    pub keep_order: bool,
    /// Whether to compare with a fresh recoding of these records.
    pub compare: bool,
    /// Limit of the search for the fresh recoding.
    pub time_limit: Option<Duration>,
}

impl Session<'_> {
    /// Applies a saved recoding to new records. Returns the report.
    pub fn apply(&self, request: &Apply) -> Result<Report, FlowError> {
        self.install(|| self.applied(request))
    }

    fn applied(&self, request: &Apply) -> Result<Report, FlowError> {
        let (name, text, path) = match &request.recoding {
            RecodingSource::File(path) => {
                (path.display().to_string(), read_text(path, ErrorKind::Policy)?, Some(path.as_path()))
            }
            RecodingSource::Value(text) => ("the recoding".to_owned(), text.clone(), None),
        };
        let saved = parse(&text, &name)?;
        if let Some((release, path)) = saved.release.as_ref().zip(path) {
            check_release(release, path)?;
        }
        let policy = &saved.policy;
        self.copy_beside(request.output.release.file());
        let engine = self.open(&request.input, &policy.input)?;
        let folder = path.and_then(Path::parent).unwrap_or(Path::new(""));
        let mut reads: Vec<PathBuf> = path.map(PathBuf::from).into_iter().collect();
        reads.extend(second_tables(policy, folder).into_iter().map(|(_, file)| file));
        let format = request.output.format.or(self.stream_format());
        let target = check_files(&request.output, None, &reads, (&engine, policy), format)?;
        let has_report = !request.output.reports.is_empty();
        let digests = if has_report { self.digests(&reads)? } else { Vec::new() };
        let &Apply { seed, keep_order, compare, time_limit, .. } = request;
        let options = ReleaseOptions { seed, keep_order, time_limit, path: has_report, ..ReleaseOptions::default() };
        let recoding = SavedRecoding { saved: &saved, name: &name, folder };
        let prepare = || self.prepare_applied(&engine, recoding, &target, &options, compare);
        let ((mut report, release), input) = self.with_digests(engine.source(), has_report, prepare)?;
        if has_report {
            report.provenance = Some(self.provenance(engine.source(), (input, digests), 0, None)?);
        }
        publish(release, &report, &request.output, None)?;
        Ok(report)
    }

    /// Applies the text of a saved recoding to any engine's records and publishes the release. Returns the report.
    pub fn apply_to<E: Engine>(
        &self,
        engine: &E,
        recoding: &str,
        target: &E::Target,
        options: &ReleaseOptions,
    ) -> Result<Report, FlowError> {
        self.install(|| {
            let name = "the recoding";
            let saved = parse(recoding, name)?;
            let recoding = SavedRecoding { saved: &saved, name, folder: Path::new("") };
            let (report, release) = self.prepare_applied(engine, recoding, target, options, false)?;
            release.publish()?;
            Ok(report)
        })
    }

    /// Reads, applies, verifies, writes and reads back. The second result is to be published.
    fn prepare_applied<E: Engine>(
        &self,
        engine: &E,
        SavedRecoding { saved, name, folder }: SavedRecoding<'_>,
        target: &E::Target,
        options: &ReleaseOptions,
        compare: bool,
    ) -> Result<(Report, ReadBack<E::Staged>), FlowError> {
        let (policy, hierarchies) = (&saved.policy, &saved.hierarchies);
        let order = order(engine, policy, options.keep_order)?;
        let mut stopwatch = Stopwatch::start();
        let (mut counts, kept) = self.counts_with_kept(policy, engine)?;
        let advice = "; then save the recoding again with `anonymize --recoding`, because it contains its policy";
        self.check_kept(policy, engine, &kept, advice)?;
        // Built first: `saved.profile` adds values that occur only in the recoding.
        let fresh = compare.then(|| Profile::build(policy, hierarchies, &counts));
        let in_input = |error| FlowError::domain(&engine.name(), &error);
        let profile = saved.profile(&mut counts).map_err(in_input)?;
        let fresh = fresh.transpose().map_err(in_input)?;
        // Templates and objectives were checked on the table of the recoding: new records may lack a value, and nothing
        // is minimized here.
        preflight::population(policy, &profile, name)?;
        self.note_spellings(&profile);
        let profile_seconds = stopwatch.lap();

        let others = self.second_tables(policy, hierarchies, folder)?;
        let bound = BoundPolicy::with_tables(policy, Tables { table: &profile, others: &others })?;
        self.check_memory(&bound, &counts, (Purpose::release(engine, target, false, &kept), &[]))?;
        let verified = verify(&bound, saved.apply(&profile, bound.models()));
        let verified = verified.map_err(|error| explain(error, saved, &profile))?;
        let seed = seed(options.seed)?;
        let columns = engine.columns().len();
        let mut report = Report::of(policy, &profile, &verified, (Stop::Finished, &[]), seed, columns);
        report.seconds.profile = profile_seconds;
        report.seconds.search = stopwatch.lap();
        if let Some(fresh) = fresh {
            let mut compared = self.with_fresh(&verified, &fresh, seed.for_search(), options.time_limit);
            compared.seconds = stopwatch.lap();
            report.seconds.total = compared.seconds;
            report.compared = Some(compared);
        }
        let input = RewriteInput { engine, hierarchies, counts, target, order };
        let release = self.write_with_statistics(input, &verified, &mut report, (stopwatch, options.path))?;
        report.kept = Some(Kept::of(policy, &kept, release.rows()));
        if options.path {
            self.add_rows(&mut report, &verified, &release)?;
        }
        Ok((report, release))
    }

    /// Compares with a fresh recoding. The release is written even if this search is interrupted.
    fn with_fresh(&self, applied: &Verified<'_>, fresh: &Profile, seed: u64, limit: Option<Duration>) -> Compared {
        self.observer.stage(Stage::Comparing);
        let observer = Deadline::after(self.observer, limit);
        let compared = recoding_comparison::compare_with_fresh(applied, fresh, seed, &observer);
        if compared.stop == Some(Stop::Cancelled) {
            self.observer.note(&Note::ComparisonInterrupted);
            self.observer.clear_stop();
        }
        compared
    }
}

/// A saved recoding, its name in messages, and the folder of the files that its policy names.
struct SavedRecoding<'a> {
    saved: &'a Saved,
    name: &'a str,
    folder: &'a Path,
}

fn parse(text: &str, name: &str) -> Result<Saved, FlowError> {
    Saved::parse(text).map_err(|error| FlowError::of_file(ErrorKind::Policy, name, error))
}

/// Refuses a recoding whose release is beside it under its name, but with another content: one of them is of another
/// run, perhaps because a run was killed between the renames.
fn check_release(release: &ReleaseFile, recoding: &Path) -> Result<(), FlowError> {
    let Some(name) = Path::new(&release.file).file_name() else { return Ok(()) };
    let path = recoding.with_file_name(name);
    let Some(bytes) = path.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len()) else {
        return Ok(());
    };
    if bytes == release.bytes && sha256(&path)? == release.sha256 {
        return Ok(());
    }
    let (release, saved) = (path.display(), recoding.display());
    let message = format!(
        "it is the recoding of another release than {release}, whose SHA-256 is not the recorded one; if the release \
         was replaced on purpose, move the recoding to another folder; otherwise make both again with `anonymize \
         --output {release} --recoding {saved} --overwrite`"
    );
    Err(FlowError::of_file(ErrorKind::Policy, saved, message))
}

/// Adds which columns have uncovered values, and what to do: a saved recoding contains its policy.
fn explain(error: VerifyError, saved: &Saved, profile: &Profile) -> FlowError {
    let too_many = matches!(error, VerifyError::Suppressed { .. });
    let mut error = FlowError::from(error);
    if too_many {
        for (column, records) in saved.uncovered(profile) {
            let records = counted(records, "record has", "records have");
            error.message +=
                &format!("; {records} a value of `{}` that no cell of the recoding covers", shown(&column));
        }
        error.message +=
            "; raise `max-suppressed` in the policy and save the recoding again with `anonymize --recoding`";
    }
    error
}
