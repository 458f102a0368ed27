//! A recoding from elsewhere against one made for the same records: what was lost by not searching anew.
//!
//! Both are releases of the same records under the same policy, and both are measured by the range of these records
//! ([`Profile::build`] on their counts): the applied recoding has a profile that knows more values than occur, by
//! which its intervals would look shorter than they are.

use moretta_core::{
    measure::MeasureContext,
    objective::{Costs, Goal, Loss, Purpose},
    policy::Policy,
    profile::{Profile, Tables},
    released::Released,
    run::Trial,
    search::{METHODS, Observer, Stop},
    verify::Verified,
};
use serde::Serialize;

/// What was applied, and what the method finds on the same records. Nothing in it is about one person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// How many records are suppressed.
    pub suppressed_rows: Both<u64>,
    /// What the policy or the method wants to be small, then `lm` and `cm` where they are not among that already.
    pub measures: Vec<MeasuredBoth>,
    /// Why the search anew ended; none where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// Why there is nothing to compare with, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// How long the search anew took; whoever ran it fills it in.
    pub seconds: f64,
}

/// A figure of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Both<T> {
    /// Of the release.
    pub applied: T,
    /// Of what was found anew, where something was.
    pub fresh: Option<T>,
}

/// A measure of both, as it is for a goal: columns count by their weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredBoth {
    /// Its name.
    pub name: &'static str,
    /// The column it is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Its values.
    #[serde(flatten)]
    pub value: Both<f64>,
}

impl Both<f64> {
    /// By how much the applied one is worse, and how many times as much it loses, where that is a number.
    pub fn worse(&self) -> Option<(f64, Option<f64>)> {
        let fresh = self.fresh?;
        Some((self.applied - fresh, (fresh > 0.0).then(|| self.applied / fresh)))
    }
}

/// Runs the policy's method on the records of `fresh`, whose domains are their own, and holds what it finds against
/// what was applied to the same records.
pub fn compare_with_fresh(applied: &Verified<'_>, fresh: &Profile, seed: u64, observer: &dyn Observer) -> Compared {
    let (policy, profile) = (applied.policy(), applied.profile());
    let found = Trial::with_tables(policy, Tables { table: fresh, ..applied.tables() }, seed, observer);
    let scaled = profile.on_scale_of(fresh);
    let released = Released::of_recoding(&scaled, applied.recoding(), &policy.release);
    let measured = |goal: Goal| {
        let value = |profile, released| goal.value(&MeasureContext::of_recoding(policy, profile, released));
        let applied = value(&scaled, &released)?;
        let fresh_value = found.as_ref().ok().and_then(|found| value(fresh, found.verified.released()));
        let column = goal.purpose.attribute(fresh).map(|attribute| attribute.name.clone());
        Some(MeasuredBoth { name: goal.purpose.name(), column, value: Both { applied, fresh: fresh_value } })
    };
    // Without records there is nothing to take the mean of.
    let goals = if fresh.records() == 0 { Vec::new() } else { goals(policy, fresh) };
    let measures = goals.into_iter().filter_map(measured).collect();
    let suppressed = |found: &Trial<'_>| found.verified.recoding().suppressed_records(fresh);
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

/// What is worth comparing.
fn goals(policy: &Policy, profile: &Profile) -> Vec<Goal> {
    let mut goals = match &policy.measure {
        Some(asked) => asked.goals.clone(),
        None => {
            let entry = METHODS.iter().find(|entry| entry.name == policy.method.name);
            entry.map_or(Vec::new(), |entry| entry.usual_goals())
        }
    };
    let lm = Goal::precision(Loss::Lm);
    if goals.iter().all(|goal| goal.purpose != lm.purpose) {
        goals.push(lm);
    }
    let of_class = |goal: &Goal| {
        let is_cm = matches!(goal.purpose, Purpose::Classification { .. });
        is_cm && goal.purpose.attribute_id(profile) == profile.class()
    };
    if profile.class().is_some() && !goals.iter().any(of_class) {
        let purpose = Purpose::Classification { column: None, costs: Costs::default() };
        goals.push(Goal { purpose, weight: 1.0 });
    }
    goals
}

#[cfg(test)]
mod tests;
