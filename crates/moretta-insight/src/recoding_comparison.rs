//! Compares a saved recoding, applied to new records, with a fresh search on the same records (`moretta apply
//! --compare`).
//!
//! Both are releases of the same records under the same policy, and both are measured on the value ranges of these
//! records ([`Profile::build`] on their counts). The profile of the applied recoding has more values than occur;
//! measured on its ranges, intervals would look shorter than they are.

use moretta_core::{
    measure::MeasureContext,
    objective::{Costs, LossMetric, Objective, ObjectiveKind},
    policy::Policy,
    profile::{Profile, Tables},
    released::Released,
    run::VerifiedRun,
    search::{METHODS, Observer, Stop},
    verify::Verified,
};
use serde::Serialize;

/// Measures of the applied recoding and of a fresh search. It contains no data about a single person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Suppressed records.
    pub suppressed_rows: Both<u64>,
    /// The objectives of the policy or the method, then `lm` and `cm` unless they are among them.
    pub measures: Vec<MeasuredBoth>,
    /// Why the fresh search ended; `None` if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// Why the fresh search failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Running time of the fresh search; the caller fills it in.
    pub seconds: f64,
}

/// A value of both releases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Both<T> {
    /// Value of the applied recoding.
    pub applied: T,
    /// Value of the fresh search, if it succeeded.
    pub fresh: Option<T>,
}

/// A measure of both releases. As in an objective, columns count by their weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredBoth {
    /// Name of the measure.
    pub name: &'static str,
    /// The class or sensitive column that it is about, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Values of both.
    #[serde(flatten)]
    pub value: Both<f64>,
}

impl Both<f64> {
    /// Difference and ratio of the applied value to the fresh one; no ratio if the fresh value is 0.
    pub fn worse(&self) -> Option<(f64, Option<f64>)> {
        let fresh = self.fresh?;
        Some((self.applied - fresh, (fresh > 0.0).then(|| self.applied / fresh)))
    }
}

/// Runs the policy's method on `fresh`, the profile of the records with their own domains, and compares the result with
/// the recoding that was applied to the same records.
pub fn compare_with_fresh(applied: &Verified<'_>, fresh: &Profile, seed: u64, observer: &dyn Observer) -> Compared {
    let (policy, profile) = (applied.policy(), applied.profile());
    let found = VerifiedRun::with_tables(policy, Tables { table: fresh, ..applied.tables() }, seed, observer);
    let scaled = profile.on_scale_of(fresh);
    let released = Released::of_recoding(&scaled, applied.recoding(), &policy.release);
    let measured = |objective: Objective| {
        let value = |profile, released| objective.value(&MeasureContext::of_recoding(policy, profile, released));
        let applied = value(&scaled, &released)?;
        let fresh_value = found.as_ref().ok().and_then(|found| value(fresh, found.verified.released()));
        let column = objective.kind.attribute(fresh).map(|attribute| attribute.name.clone());
        Some(MeasuredBoth { name: objective.kind.name(), column, value: Both { applied, fresh: fresh_value } })
    };
    // Measures are means over records, so an empty table has none.
    let objectives = if fresh.records() == 0 { Vec::new() } else { objectives(policy, fresh) };
    let measures = objectives.into_iter().filter_map(measured).collect();
    let suppressed = |found: &VerifiedRun<'_>| found.verified.recoding().suppressed_records(fresh);
    Compared {
        suppressed_rows: Both {
            applied: applied.recoding().suppressed_records(profile),
            fresh: found.as_ref().ok().map(suppressed),
        },
        measures,
        stop: found.as_ref().ok().map(|found| found.stop),
        refused: found.err().map(|refused| refused.to_string()),
        seconds: 0.0,
    }
}

/// The objectives to compare.
fn objectives(policy: &Policy, profile: &Profile) -> Vec<Objective> {
    let mut objectives = match &policy.measure {
        Some(asked) => asked.objectives.clone(),
        None => {
            let entry = METHODS.iter().find(|entry| entry.name == policy.method.name);
            entry.map_or(Vec::new(), |entry| entry.default_objectives())
        }
    };
    let lm = Objective::precision(LossMetric::Lm);
    if objectives.iter().all(|objective| objective.kind != lm.kind) {
        objectives.push(lm);
    }
    let of_class = |objective: &Objective| {
        let is_cm = matches!(objective.kind, ObjectiveKind::Classification { .. });
        is_cm && objective.kind.attribute_id(profile) == profile.class()
    };
    if profile.class().is_some() && !objectives.iter().any(of_class) {
        let kind = ObjectiveKind::Classification { column: None, costs: Costs::default() };
        objectives.push(Objective { kind, weight: 1.0 });
    }
    objectives
}

#[cfg(test)]
mod tests;
