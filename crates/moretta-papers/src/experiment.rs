//! Environment of an experiment: the data sets, an observer that may stop it, and a function that makes one run.

use std::time::Instant;

use moretta_core::{
    counts::Counts,
    hierarchy::Hierarchies,
    measure::Measures,
    policy::Policy,
    profile::Profile,
    recoding::{Recoding, Step},
    released::Released,
    run::VerifiedRun,
    search::{Observer, Stop, method_names},
};

use crate::{data::Data, error::PaperError};

/// Environment of an experiment.
pub struct Experiment<'a> {
    /// Folder with the data sets.
    pub data: Data,
    /// Polled for cancellation.
    pub observer: &'a dyn Observer,
    /// Called with a description of each step before it begins.
    pub report: &'a (dyn Fn(&str) + Sync),
}

/// Table that a search can run on.
pub struct ExperimentTable {
    /// Distinct rows with their counts.
    pub counts: Counts,
    /// Hierarchies by column name.
    pub trees: Hierarchies,
}

/// Verified result of one search.
pub struct Run {
    /// Profile of the original table.
    pub profile: Profile,
    /// Recoding that the method returned.
    pub recoding: Recoding,
    /// Released table under the recoding.
    pub released: Released,
    /// Steps of the search; empty for methods without a path.
    pub path: Vec<Step>,
    /// Counters of the search, by name.
    pub work: Vec<(&'static str, u64)>,
    /// Measures of information loss.
    pub measures: Measures,
    /// Wall-clock seconds of the search and the verification.
    pub seconds: f64,
}

impl Run {
    /// Returns a measure by name; an error if it was not computed.
    pub fn measure(&self, name: &str) -> Result<f64, PaperError> {
        self.measures.get(name).ok_or_else(|| PaperError::without(name))
    }

    /// Returns a counter of the search by name; 0 if there is none.
    pub fn worked(&self, name: &str) -> u64 {
        self.work.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }
}

impl Experiment<'_> {
    /// Reports the next step; an error if the observer stops the experiment.
    pub fn step(&self, what: &str) -> Result<(), PaperError> {
        if self.observer.stop().is_some() {
            return Err(PaperError::Interrupted);
        }
        (self.report)(what);
        Ok(())
    }

    /// Runs the policy's method on a table with seed 1.
    pub fn run(&self, policy: &Policy, table: &ExperimentTable) -> Result<Run, PaperError> {
        self.run_seeded(policy, table, 1)
    }

    /// Runs the policy's method on a table with the given seed.
    pub fn run_seeded(&self, policy: &Policy, table: &ExperimentTable, seed: u64) -> Result<Run, PaperError> {
        let profile = Profile::build(policy, &table.trees, &table.counts)?;
        let start = Instant::now();
        let run = VerifiedRun::run(policy, &profile, seed, self.observer)?;
        let seconds = start.elapsed().as_secs_f64();
        // A search that stopped early yields no comparable figures.
        if run.stop != Stop::Finished {
            return Err(PaperError::Interrupted);
        }
        let measures = run.measures();
        let VerifiedRun { verified, path, work, .. } = run;
        let (recoding, released) = verified.into_parts();
        Ok(Run { profile, recoding, released, path, work, measures, seconds })
    }
}

/// Parses a policy; `text` has no version line.
pub fn policy(text: &str) -> Result<Policy, PaperError> {
    Ok(Policy::parse(&format!("version = 1\n{text}"), &method_names())?)
}
