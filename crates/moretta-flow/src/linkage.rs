//! `linkage` and `anonymize --earlier`: what an attacker learns who holds several releases of one table.

use std::path::PathBuf;

use moretta_core::{
    counts::{Counts, RecordOrder},
    engine::{FaultLocation, Records, Staged},
    hierarchy::Hierarchies,
    observer::{Note, Stage},
    policy::{BoundPolicy, Policy},
    profile::{Profile, Tables},
    publish::ReadBack,
    text::listed,
};
use moretta_engine::LocalEngine;
use moretta_insight::linkage::{self, Linkage, LinkageError, LinkedSize, ReleasedTable, linking_policy};

use crate::{
    error::{ErrorKind, FlowError},
    input::{Input, PolicySource},
    memory::release_refused,
    policy::LoadedPolicy,
    preflight,
    session::{Session, check_standard_input},
};

/// Request of `moretta linkage`.
#[derive(Debug, Clone)]
pub struct LinkReleases {
    /// Releases of the same records.
    pub releases: Vec<Input>,
    /// Policy of the request.
    pub policy: PolicySource,
    /// The original, to count its people; regions are counted by default.
    pub original: Option<Input>,
}

/// Earlier releases of the table that [`Session::anonymize`] releases.
#[derive(Debug, Clone, Default)]
pub struct Earlier {
    /// None by default.
    pub releases: Vec<Input>,
    /// Whether to publish the new release even if all releases together violate the policy; a note says so.
    pub warn: bool,
}

impl Session<'_> {
    /// Counts what an attacker learns who holds all of the releases.
    pub fn linkage(&self, request: &LinkReleases) -> Result<Linkage, FlowError> {
        check_standard_input(request.releases.iter().chain(&request.original))?;
        self.install(|| {
            let loaded = match (&request.original, request.releases.first()) {
                (Some(original), _) => self.policy_for(&request.policy, original)?,
                (None, Some(release)) => self.policy_for_release(&request.policy, release)?,
                (None, None) => return Err(FlowError::usage("there is no release to link")),
            };
            preflight::only_records(&loaded.policy, &loaded.name, "`linkage`")?;
            let opened = request.releases.iter().map(|release| self.open_release(release, &loaded.policy));
            let opened: Vec<LocalEngine> = opened.collect::<Result<_, _>>()?;
            let original = request.original.as_ref().map(|input| self.open(input, &loaded.policy.input)).transpose()?;
            let others = self.second_tables(&loaded.policy, &loaded.hierarchies, &loaded.folder)?;
            let linking = linking_policy(&loaded.policy);
            match original {
                Some(original) => {
                    let table = self.people(&loaded, &original, opened.len())?;
                    let bound = BoundPolicy::with_tables(&loaded.policy, Tables { table: &table, others: &others })?;
                    let mut linked = LinkedReleases::new(self, &linking, &bound, (opened.len(), 0));
                    opened.iter().try_for_each(|release| linked.read(release, release.name()))?;
                    linked.people()
                }
                None => {
                    let first = opened.first().ok_or_else(|| FlowError::usage("there is no release to link"))?;
                    let counts = self.linkable(&linking, first, opened.len())?;
                    let table = Profile::of_release(&linking, &loaded.hierarchies, &counts);
                    let table = table.map_err(|error| FlowError::domain(&first.name(), &error))?;
                    let bound = BoundPolicy::with_tables(&linking, Tables { table: &table, others: &others })?;
                    let mut linked = LinkedReleases::new(self, &linking, &bound, (opened.len(), 0));
                    linked.add(first.name(), counts)?;
                    opened[1..].iter().try_for_each(|release| linked.read(release, release.name()))?;
                    linked.regions(&loaded.hierarchies)
                }
            }
        })
    }

    /// Reads the original. Objectives are not checked: nothing is searched.
    fn people(&self, loaded: &LoadedPolicy, original: &LocalEngine, releases: usize) -> Result<Profile, FlowError> {
        let counts = self.counts(&loaded.policy, original, releases)?;
        let profile = Profile::build(&loaded.policy, &loaded.hierarchies, &counts);
        let profile = profile.map_err(|error| FlowError::domain(&original.name(), &error))?;
        preflight::model_values(&loaded.policy, &profile, &loaded.name)?;
        Ok(profile)
    }

    /// Counts the columns of a release, one of several that are to be linked.
    fn linkable(&self, linking: &Policy, file: &dyn Records, releases: usize) -> Result<Counts, FlowError> {
        let same_dialect = "help: if it was written with other keys of [release] (delimiter, decimal, encoding, header), give \
                            all releases that are linked the same ones";
        let mismatch = |mismatch| FlowError::input(file.name(), format_args!("{mismatch}\n  {same_dialect}"));
        linking.check_released_columns(file.columns()).map_err(mismatch)?;
        self.observer.stage(Stage::Reading);
        let counts = file.count(&Profile::released_columns(linking), self.observer);
        let counts = counts.map_err(|fault| release_refused(fault, releases))?;
        self.check_profile_memory(&counts, releases - 1)?;
        Ok(counts)
    }
}

/// Releases that are read in turn and then linked, within the memory limit.
struct LinkedReleases<'a> {
    session: &'a Session<'a>,
    linking: &'a Policy,
    bound: &'a BoundPolicy<'a>,
    /// Number of releases when all are read.
    expected: usize,
    /// Bytes that the request holds beside the releases and the profile of the models.
    beside: u64,
    releases: Vec<ReleasedTable>,
}

impl<'a> LinkedReleases<'a> {
    fn new(
        session: &'a Session<'a>,
        linking: &'a Policy,
        bound: &'a BoundPolicy<'a>,
        (expected, beside): (usize, u64),
    ) -> Self {
        Self { session, linking, bound, expected, beside, releases: Vec::new() }
    }

    fn read(&mut self, file: &dyn Records, name: String) -> Result<(), FlowError> {
        self.check_memory()?;
        let counts = self.session.linkable(self.linking, file, self.expected)?;
        self.add(name, counts)
    }

    fn add(&mut self, name: String, counts: Counts) -> Result<(), FlowError> {
        let release = ReleasedTable::new(name.clone(), self.linking, &counts);
        self.releases.push(release.map_err(|error| FlowError::domain(&name, &error))?);
        self.check_memory()
    }

    fn sizes(&self) -> Vec<LinkedSize> {
        self.releases.iter().map(LinkedSize::of).collect()
    }

    fn check_memory(&self) -> Result<(), FlowError> {
        let (sizes, expected) = (self.sizes(), self.expected.max(self.releases.len()));
        self.session.check_linking_memory(self.bound, (&sizes, expected), self.beside)
    }

    fn people(&self) -> Result<Linkage, FlowError> {
        self.session.observer.stage(Stage::Linking);
        linkage::people(self.bound, &self.releases, self.session.observer).map_err(|error| self.explain(error))
    }

    fn regions(&self, hierarchies: &Hierarchies) -> Result<Linkage, FlowError> {
        self.session.observer.stage(Stage::Linking);
        let max_steps = self.session.max_regions(self.bound, &self.sizes());
        let linkage = linkage::regions(self.bound, hierarchies, &self.releases, max_steps, self.session.observer);
        linkage.map_err(|error| self.explain(error))
    }

    /// Names the release at fault.
    fn explain(&self, error: LinkageError) -> FlowError {
        let kind = match error {
            LinkageError::Interrupted => return FlowError::interrupted(),
            LinkageError::TableModel(_) | LinkageError::OneNumber { .. } => ErrorKind::Policy,
            LinkageError::TooManyRegions { .. } => ErrorKind::Usage,
            _ => ErrorKind::Input,
        };
        let Some(file) = error.release().map(|index| self.releases[index].name.clone()) else {
            return FlowError::new(kind, error.to_string());
        };
        let mut place = FaultLocation::file(file.clone());
        if let LinkageError::Label { column, record, .. } = &error {
            place = FaultLocation { record: *record, column: Some(column.clone()), ..place };
        }
        FlowError { kind, place: Some(place), message: format!("{file}: {error}") }
    }
}

/// The files of earlier releases.
pub(crate) struct EarlierFiles {
    opened: Vec<LocalEngine>,
    warn: bool,
    /// Name of the new release.
    name: String,
}

impl EarlierFiles {
    /// `None` if there is no earlier release.
    pub(crate) fn open(
        session: &Session<'_>,
        Earlier { releases, warn }: &Earlier,
        policy: &Policy,
        name: String,
    ) -> Result<Option<Self>, FlowError> {
        let opened = releases.iter().map(|release| session.open_release(release, policy)).collect::<Result<_, _>>()?;
        Ok(Some(Self { opened, warn: *warn, name }).filter(|files| !files.opened.is_empty()))
    }

    /// All files that are read.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.opened.iter().flat_map(|release| release.source().paths()).map(PathBuf::from)
    }

    /// Expected sizes of the releases, which have not been read yet.
    pub(crate) fn expected(&self, bound: &BoundPolicy<'_>) -> Vec<LinkedSize> {
        vec![LinkedSize::estimated(bound); self.opened.len()]
    }

    /// Refuses the order of the input: if an earlier release has it too, the same row of both is the same person. A
    /// file does not show whether it was shuffled.
    pub(crate) fn check_order(&self, session: &Session<'_>, order: RecordOrder) -> Result<(), FlowError> {
        if order != RecordOrder::Input {
            return Ok(());
        }
        let found = "the records keep the order of the input, which links each of them to its record in an earlier \
                     release with the same order";
        if self.warn {
            session.observer.note(&Note::Linkable(found.to_owned()));
            return Ok(());
        }
        Err(FlowError::usage(format!(
            "{found}; leave out `--keep-order` (or `order = \"input\"` in [release]), or publish this release only if no \
             recipient can have both (`--if-linkable warn`)"
        )))
    }
}

/// The earlier releases of a table, read before the search: a release that cannot be linked is refused early.
pub(crate) struct EarlierReleases<'a> {
    linked: LinkedReleases<'a>,
    warn: bool,
    name: &'a str,
    /// Whether the earlier releases alone satisfy the policy.
    hold: bool,
}

impl<'a> EarlierReleases<'a> {
    /// `bound` is bound to the original; `beside` is the memory that the request holds beside its profile.
    pub(crate) fn read(
        session: &'a Session<'a>,
        files: &'a EarlierFiles,
        linking: &'a Policy,
        (bound, beside): (&'a BoundPolicy<'a>, u64),
    ) -> Result<Self, FlowError> {
        let mut linked = LinkedReleases::new(session, linking, bound, (files.opened.len(), beside));
        files.opened.iter().try_for_each(|release| linked.read(release, release.name()))?;
        let hold = linked.people()?.holds;
        Ok(Self { linked, warn: files.warn, name: &files.name, hold })
    }

    pub(crate) fn sizes(&self) -> Vec<LinkedSize> {
        self.linked.sizes()
    }

    /// Judges a release that was read back together with the earlier ones; an error if it must not be published.
    pub(crate) fn judge<S: Staged>(mut self, release: &ReadBack<S>) -> Result<Linkage, FlowError> {
        let session = self.linked.session;
        let earlier: Vec<String> = self.linked.releases.iter().map(|release| release.name.clone()).collect();
        (self.linked.expected, self.linked.beside) = (earlier.len() + 1, 0);
        self.linked.read(&*release.open()?, self.name.to_owned())?;
        let linkage = self.linked.people()?;
        if linkage.holds {
            return Ok(linkage);
        }
        let already = if self.hold { "" } else { " (the earlier ones alone do not satisfy the policy)" };
        let found = format!("together with {}, {}{already}", listed(&earlier), linkage.violations());
        if self.warn {
            session.observer.note(&Note::Linkable(found));
            return Ok(linkage);
        }
        Err(FlowError::unsatisfied(format!(
            "nothing was written: {found}; give the recipient an earlier release instead, or publish this one only if \
             no recipient can have both (`--if-linkable warn`)"
        )))
    }
}
