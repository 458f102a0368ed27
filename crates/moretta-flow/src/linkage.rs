//! `linkage` and `anonymize --earlier`: what an attacker learns who holds several releases of one table.

use std::path::PathBuf;

use moretta_core::{
    engine::{FaultLocation, Records, Staged},
    observer::{Note, Stage},
    policy::BoundPolicy,
    profile::{Profile, Tables},
    publish::ReadBack,
    text::listed,
};
use moretta_engine::LocalEngine;
use moretta_insight::linkage::{self, Linkage, LinkageError, ReleasedTable, linking_policy};

use crate::{
    error::{ErrorKind, FlowError},
    policy::LoadedPolicy,
    preflight,
    session::Session,
};

/// Request of `moretta linkage`.
#[derive(Debug, Clone)]
pub struct LinkReleases {
    /// Releases of the same records: each a file, a folder of files, or a pattern.
    pub releases: Vec<String>,
    /// The policy file.
    pub policy: PathBuf,
    /// The original, to count its people; regions are counted by default.
    pub original: Option<String>,
}

/// Earlier releases of the table that [`Session::anonymize`] releases.
#[derive(Debug, Clone, Default)]
pub struct Earlier {
    /// Each a file, a folder of files, or a pattern; none by default.
    pub releases: Vec<String>,
    /// Whether to publish the new release even if all releases together violate the policy; a note says so.
    pub warn: bool,
}

impl Session<'_> {
    /// Counts what an attacker learns who holds all of the releases.
    pub fn linkage(&self, request: &LinkReleases) -> Result<Linkage, FlowError> {
        self.install(|| {
            let loaded = linking(&LoadedPolicy::read(&request.policy)?);
            let opened = request.releases.iter().map(|release| self.open_release(release, &loaded.policy.input));
            let opened: Vec<LocalEngine> = opened.collect::<Result<_, _>>()?;
            let original = match &request.original {
                Some(input) => Some(self.people(&loaded, &self.open(input, &loaded.policy.input)?)?),
                None => None,
            };
            let read = opened.iter().map(|release| self.linkable(&loaded, release));
            let releases: Vec<ReleasedTable> = read.collect::<Result<_, _>>()?;
            self.linked(&loaded, original.as_ref(), &releases)
        })
    }

    /// Reads the original. Objectives are not checked: insensitive columns are in the place of classes here.
    fn people(&self, loaded: &LoadedPolicy, original: &LocalEngine) -> Result<Profile, FlowError> {
        let counts = self.counts(&loaded.policy, original)?;
        let profile = Profile::build(&loaded.policy, &loaded.hierarchies, &counts);
        let profile = profile.map_err(|error| FlowError::domain(&original.name(), &error))?;
        preflight::model_values(&loaded.policy, &profile, &loaded.name)?;
        Ok(profile)
    }

    /// Reads a release to be linked.
    fn linkable(&self, loaded: &LoadedPolicy, release: &dyn Records) -> Result<ReleasedTable, FlowError> {
        let profile = self.released(loaded, release, Stage::Reading)?;
        Ok(ReleasedTable { name: release.name(), profile })
    }

    fn linked(
        &self,
        loaded: &LoadedPolicy,
        original: Option<&Profile>,
        releases: &[ReleasedTable],
    ) -> Result<Linkage, FlowError> {
        let LoadedPolicy { policy, hierarchies, folder, .. } = loaded;
        let others = self.second_tables(policy, hierarchies, folder)?;
        let table = original.or(releases.first().map(|release| &release.profile));
        let table = table.ok_or_else(|| FlowError::usage("there is no release to link"))?;
        let bound = BoundPolicy::with_tables(policy, Tables { table, others: &others })?;
        self.observer.stage(Stage::Linking);
        let linkage = match original {
            Some(_) => linkage::people(&bound, releases, self.observer),
            None => linkage::regions(&bound, hierarchies, releases, self.observer),
        };
        linkage.map_err(|error| explain(error, releases))
    }
}

/// The original and its earlier releases, read before the search: a release that cannot be linked is refused early.
pub(crate) struct EarlierReleases {
    loaded: LoadedPolicy,
    original: Profile,
    releases: Vec<ReleasedTable>,
    warn: bool,
    /// Whether the earlier releases alone satisfy the policy.
    hold: bool,
}

impl EarlierReleases {
    /// `None` if there is no earlier release.
    pub(crate) fn read(
        session: &Session<'_>,
        earlier: &Earlier,
        opened: &[LocalEngine],
        (loaded, original): (&LoadedPolicy, &LocalEngine),
    ) -> Result<Option<Self>, FlowError> {
        if opened.is_empty() {
            return Ok(None);
        }
        let loaded = linking(loaded);
        let original = session.people(&loaded, original)?;
        let releases = opened.iter().map(|release| session.linkable(&loaded, release)).collect::<Result<_, _>>()?;
        let mut earlier = Self { loaded, original, releases, warn: earlier.warn, hold: false };
        earlier.hold = session.linked(&earlier.loaded, Some(&earlier.original), &earlier.releases)?.holds;
        Ok(Some(earlier))
    }

    /// Judges a release that was read back together with the earlier ones; an error if it must not be published.
    pub(crate) fn judge<S: Staged>(
        mut self,
        session: &Session<'_>,
        release: &ReadBack<S>,
        name: String,
    ) -> Result<Linkage, FlowError> {
        let records = release.open()?;
        let new = session.linkable(&self.loaded, &*records)?;
        self.releases.push(ReleasedTable { name, ..new });
        let linkage = session.linked(&self.loaded, Some(&self.original), &self.releases)?;
        if linkage.holds {
            return Ok(linkage);
        }
        let earlier: Vec<&str> =
            linkage.releases[..linkage.releases.len() - 1].iter().map(|r| r.file.as_str()).collect();
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

fn linking(loaded: &LoadedPolicy) -> LoadedPolicy {
    LoadedPolicy { policy: linking_policy(&loaded.policy), ..loaded.clone() }
}

/// Names the release at fault.
fn explain(error: LinkageError, releases: &[ReleasedTable]) -> FlowError {
    let kind = match error {
        LinkageError::Interrupted => return FlowError::interrupted(),
        LinkageError::TableModel(_) | LinkageError::OneNumber { .. } => ErrorKind::Policy,
        LinkageError::TooManyRegions => ErrorKind::Usage,
        _ => ErrorKind::Input,
    };
    let Some(file) = error.release().map(|index| releases[index].name.clone()) else {
        return FlowError::new(kind, error.to_string());
    };
    let mut place = FaultLocation::file(file.clone());
    if let LinkageError::Label { column, record, .. } = &error {
        place = FaultLocation { record: *record, column: Some(column.clone()), ..place };
    }
    FlowError { kind, place: Some(place), message: format!("{file}: {error}") }
}
