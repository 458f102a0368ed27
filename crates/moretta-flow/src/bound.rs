//! `bound` and `anonymize --bound`: a proven lower bound on the loss of any release.

use std::time::{Duration, Instant};

use moretta_core::{
    counts::Counts,
    measure::MeasureContext,
    observer::{Deadline, Note, Stage, Stop},
    policy::BoundPolicy,
    profile::{Profile, Tables},
};
use moretta_insight::bound::{Certificate, DEFAULT_WORK};

use crate::{
    error::FlowError,
    input::{Input, PolicySource},
    measure::OriginalAndRelease,
    policy::LoadedPolicy,
    session::{Session, check_standard_input},
};

/// Request of `moretta bound`.
#[derive(Debug, Clone)]
pub struct FindBound {
    /// Table that is read.
    pub input: Input,
    /// Policy of the request.
    pub policy: PolicySource,
    /// A release, whose loss is compared with the bound.
    pub released: Option<Input>,
    /// Limit of the search for a higher bound; by default its work is limited, so that the result is the same on every
    /// machine.
    pub time_limit: Option<Duration>,
}

impl Session<'_> {
    /// Finds the lower bound on the loss of any release of a table.
    pub fn find_bound(&self, request: &FindBound) -> Result<Certificate, FlowError> {
        self.install(|| {
            check_standard_input(request.released.iter().chain([&request.input]))?;
            let loaded = self.policy_for(&request.policy, &request.input)?;
            let engine = self.open(&request.input, &loaded.policy.input)?;
            let Some(released) = &request.released else {
                let (counts, profile) = self.original(&loaded, &engine)?;
                drop(counts);
                return self.bound_of(&loaded, &profile, 0, request.time_limit);
            };
            let after = self.open_release(released, &loaded.policy)?;
            let OriginalAndRelease { original, file, released, .. } = self.both(&loaded, &engine, &after)?;
            let certificate = self.bound_of(&loaded, &original, file.bytes(), request.time_limit)?;
            Ok(certificate.compare_with(&MeasureContext::new(&loaded.policy, &original, &file, &released)))
        })
    }

    fn bound_of(
        &self,
        loaded: &LoadedPolicy,
        profile: &Profile,
        beside: u64,
        limit: Option<Duration>,
    ) -> Result<Certificate, FlowError> {
        let others = self.second_tables(&loaded.policy, &loaded.hierarchies, &loaded.folder)?;
        let bound = BoundPolicy::with_tables(&loaded.policy, Tables { table: profile, others: &others })?;
        let certificate = self.certificate(&bound, beside, limit);
        if certificate.bound.is_none() && certificate.stop == Stop::Cancelled {
            return Err(FlowError::interrupted());
        }
        Ok(certificate)
    }

    /// The bound of a release that was verified, whose counts and recoding are in memory.
    pub(crate) fn bound_of_release(&self, bound: &BoundPolicy<'_>, counts: &Counts) -> Certificate {
        self.certificate(bound, self.verified_bytes(bound, counts), None)
    }

    /// Proves a bound while `beside` bytes are in use. If the observer stops it, the best bound so far is returned.
    fn certificate(&self, bound: &BoundPolicy<'_>, beside: u64, limit: Option<Duration>) -> Certificate {
        let start = Instant::now();
        self.observer.stage(Stage::Bounding);
        let work = if limit.is_some() { u64::MAX } else { DEFAULT_WORK };
        let certificate = match self.bound_room(bound.profile(), beside) {
            Ok(bytes) => Certificate::prove(bound, (work, bytes), &Deadline::after(self.observer, limit)),
            Err(reason) => Certificate::unavailable(bound, reason),
        };
        if certificate.stop == Stop::Cancelled && certificate.bound.is_some() {
            self.observer.note(&Note::BoundInterrupted);
            self.observer.clear_stop();
        }
        Certificate { seconds: start.elapsed().as_secs_f64(), ..certificate }
    }
}
