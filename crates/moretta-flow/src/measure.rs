//! `measure` and `queries`: the information loss of a release, computed from the original and the release.

use std::path::PathBuf;

use moretta_core::{
    measure::{MeasureContext, Measures},
    observer::{Note, Stage},
    policy::{BoundPolicy, Numbers, Policy},
    profile::{Profile, Tables},
    released::Released,
    schema::Unit,
    text::shown,
};
use moretta_engine::LocalEngine;
use moretta_insight::{
    evaluate::queries::{self, Answers, Draw, Original, Queries as Answered, QueryKind, ReleaseEstimator},
    kept::Kept,
};

use crate::{
    error::{ErrorKind, FlowError},
    files::{OutputFile, OutputFormat},
    input::{Input, PolicySource},
    policy::{LoadedPolicy, read_text},
    session::{Session, check_standard_input, check_stop},
};

/// Request of `moretta measure`.
#[derive(Debug, Clone)]
pub struct Measure {
    /// Table that is read.
    pub original: Input,
    /// Release that is read.
    pub released: Input,
    /// Policy of the request.
    pub policy: PolicySource,
}

/// The information loss of a release.
#[derive(Debug, Clone)]
pub struct Measured {
    /// All measures; `None` for those that do not apply.
    pub measures: Measures,
    /// Whether the loss of cells is known: one number per group does not show the range of the group.
    pub cells: bool,
    /// Records that kept columns single out; `None` if the policy counts persons, whom a release does not show.
    pub kept: Option<Kept>,
}

/// Request of `moretta queries`.
#[derive(Debug, Clone)]
pub struct Queries {
    /// Table that is read.
    pub original: Input,
    /// Release that is read.
    pub released: Input,
    /// Policy of the request.
    pub policy: PolicySource,
    /// File of queries; random queries by default.
    pub queries: Option<PathBuf>,
    /// Number of random queries of each kind.
    pub count: u32,
    /// Number of quasi-identifiers per random query; all by default.
    pub columns: Option<usize>,
    /// Quasi-identifier to sum; the first numeric one by default.
    pub sum: Option<String>,
    /// Random seed of the queries.
    pub seed: u64,
    /// Answers as .csv, or a chart of their errors as .svg.
    pub output: OutputFile,
}

/// An original and its release, read from files.
pub(crate) struct OriginalAndRelease {
    pub(crate) original: Profile,
    pub(crate) file: Profile,
    pub(crate) released: Released,
    pub(crate) kept: Kept,
}

impl Session<'_> {
    /// Measures the information loss of a release.
    pub fn measure(&self, request: &Measure) -> Result<Measured, FlowError> {
        self.install(|| {
            check_standard_input([&request.original, &request.released])?;
            let loaded = self.policy_for(&request.policy, &request.original)?;
            let policy = &loaded.policy;
            let before = self.open(&request.original, &policy.input)?;
            let after = self.open_release(&request.released, policy)?;
            let OriginalAndRelease { original, file, released, kept } = self.both(&loaded, &before, &after)?;
            let context = MeasureContext::new(policy, &original, &file, &released);
            let kept = (policy.unit() == Unit::Records).then_some(kept);
            Ok(Measured { measures: Measures::of(&context), cells: released.knows_cells(), kept })
        })
    }

    /// Compares the answers of a release with those of its original.
    pub fn queries(&self, request: &Queries) -> Result<Answered, FlowError> {
        self.install(|| {
            check_standard_input([&request.original, &request.released])?;
            let mut loaded = self.policy_for(&request.policy, &request.original)?;
            let read = |path| read_text(path, ErrorKind::Usage).map(|text| (path, text));
            let own = request.queries.as_deref().map(read).transpose()?;
            loaded.files.extend(request.queries.clone());
            let rule = "answers must be named .csv, a chart of their errors .svg; `--json` prints JSON";
            let before = self.open(&request.original, &loaded.policy.input)?;
            let after = self.open_release(&request.released, &loaded.policy)?;
            let format = request.output.format(&[OutputFormat::Csv, OutputFormat::Svg], rule)?;
            request.output.check(&loaded.files, &[&before, &after])?;
            let both = self.both(&loaded, &before, &after)?;
            self.observer.stage(Stage::Asking);
            let answers = match &own {
                Some((path, text)) => {
                    let wrong = |error| FlowError::of_file(ErrorKind::Usage, path.display(), error);
                    let own = queries::parse(text, &both.original).map_err(wrong)?;
                    answer_own(request, &loaded.policy, &both, own)?
                }
                None => answer_random(request, &loaded.policy, &both)?,
            };
            check_stop(self.observer)?;
            let found = Answered { file: request.released.to_string(), records: both.original.records(), answers };
            request.output.write(|| match format {
                Some(OutputFormat::Svg) => moretta_pages::queries::svg(&found),
                _ => moretta_pages::queries::csv(&found),
            })?;
            if own.is_some() || format == Some(OutputFormat::Csv) {
                let (shown, like) = ("true answers", request.original.to_string());
                self.observer.note(&Note::Confidential { shown, like });
            }
            Ok(found)
        })
    }

    /// Reads an original and its release.
    pub(crate) fn both(
        &self,
        loaded: &LoadedPolicy,
        before: &LocalEngine,
        after: &LocalEngine,
    ) -> Result<OriginalAndRelease, FlowError> {
        let (_, original) = self.original(loaded, before)?;
        let others = self.second_tables(&loaded.policy, &loaded.hierarchies, &loaded.folder)?;
        BoundPolicy::with_tables(&loaded.policy, Tables { table: &original, others: &others })?;
        let (file, kept) = self.released_with_kept(loaded, after, Stage::Reading)?;
        let (name, of) = (after.source().name(), before.source().name());
        if file.records() != original.records() {
            let (found, expected) = (file.records(), original.records());
            let message = format!("{found} records, but {of} has {expected}: this is not a release of that file");
            return Err(FlowError::input(name, message));
        }
        let released = if loaded.policy.release.numbers == Numbers::Interval {
            Released::of_file(&original, &file).map_err(|error| FlowError::input(name, error))?
        } else {
            Released::of_opaque(&original, &file)
        };
        Ok(OriginalAndRelease { original, file, released, kept })
    }
}

fn answer_own(
    request: &Queries,
    policy: &Policy,
    both: &OriginalAndRelease,
    own: Vec<queries::Own>,
) -> Result<Answers, FlowError> {
    let asked: Vec<_> = own.iter().map(|own| own.query.clone()).collect();
    let estimator = ReleaseEstimator::new(&both.original, &both.released, &policy.release)
        .map_err(|error| FlowError::input(&request.released, error))?;
    let answered = queries::ask(&Original::new(&both.original), &estimator, &asked);
    let named = |own: queries::Own| (QueryKind::of(own.query.aggregate, &both.original), own.conditions);
    Ok(Answers::Own(own.into_iter().map(named).zip(answered).collect()))
}

fn answer_random(request: &Queries, policy: &Policy, both: &OriginalAndRelease) -> Result<Answers, FlowError> {
    let profile = &both.original;
    let known = profile.columns().len();
    if let Some(columns) = request.columns.filter(|columns| *columns > known) {
        return Err(FlowError::usage(format!("--columns {columns}: the policy has only {known} quasi-identifiers")));
    }
    let sum = request.sum.as_ref().map(|name| {
        queries::column_to_sum(profile, name)
            .map_err(|problem| FlowError::usage(format!("--sum {}: {problem}", shown(name))))
    });
    let draw = Draw { count: request.count as usize, seed: request.seed, columns: request.columns };
    let found = queries::compare(profile, &both.released, &policy.release, sum.transpose()?, &draw)
        .map_err(|error| FlowError::input(&request.released, error))?;
    let workloads = [Some(found.count), found.sum].into_iter().flatten();
    let named = |workload: queries::Workload| (QueryKind::of(workload.aggregate, profile), workload);
    Ok(Answers::Random { draw, workloads: workloads.map(named).collect() })
}
