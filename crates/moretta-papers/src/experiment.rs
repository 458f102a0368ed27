//! Where experiments are made: the data, somebody who may stop them, and one run.

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

/// What an experiment needs.
pub struct Experiment<'a> {
    /// The data sets.
    pub data: Data,
    /// Asked whether to go on.
    pub observer: &'a dyn Observer,
    /// Told what is being done.
    pub report: &'a (dyn Fn(&str) + Sync),
}

/// A table that is ready to be searched.
pub struct ExperimentTable {
    /// Its distinct rows.
    pub counts: Counts,
    /// Its hierarchies, by column.
    pub trees: Hierarchies,
}

/// What came of one search.
pub struct Run {
    /// The table as the method saw it.
    pub profile: Profile,
    /// The recoding that was found.
    pub recoding: Recoding,
    /// The table under it.
    pub released: Released,
    /// The steps of the search, where it went step by step.
    pub path: Vec<Step>,
    /// Counters of the search, by name.
    pub work: Vec<(&'static str, u64)>,
    /// What was lost.
    pub measures: Measures,
    /// Seconds of the search and the verification.
    pub seconds: f64,
}

impl Run {
    /// A measure by name.
    pub fn measure(&self, name: &str) -> Result<f64, PaperError> {
        self.measures.get(name).ok_or_else(|| PaperError::without(name))
    }

    /// A counter of the search; 0 if there is none of that name.
    pub fn worked(&self, name: &str) -> u64 {
        self.work.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count)
    }
}

impl Experiment<'_> {
    /// Tells what comes next; an error where somebody wants it to end.
    pub fn step(&self, what: &str) -> Result<(), PaperError> {
        match self.observer.stop() {
            Some(_) => Err(PaperError::Interrupted),
            None => {
                (self.report)(what);
                Ok(())
            }
        }
    }

    /// Runs the policy's method on a table, with the first seed where chance has a say.
    pub fn run(&self, policy: &Policy, table: &ExperimentTable) -> Result<Run, PaperError> {
        self.run_seeded(policy, table, 1)
    }

    /// Runs the policy's method on a table.
    pub fn run_seeded(&self, policy: &Policy, table: &ExperimentTable, seed: u64) -> Result<Run, PaperError> {
        let profile = Profile::build(policy, &table.trees, &table.counts)?;
        let start = Instant::now();
        let run = VerifiedRun::run(policy, &profile, seed, self.observer)?;
        let seconds = start.elapsed().as_secs_f64();
        // What was stopped before its end is no figure.
        if run.stop != Stop::Finished {
            return Err(PaperError::Interrupted);
        }
        let measures = run.measures();
        let VerifiedRun { verified, path, work, .. } = run;
        let (recoding, released) = verified.into_parts();
        Ok(Run { profile, recoding, released, path, work, measures, seconds })
    }
}

/// A policy from its text, without the version.
pub fn policy(text: &str) -> Result<Policy, PaperError> {
    Ok(Policy::parse(&format!("version = 1\n{text}"), &method_names())?)
}
