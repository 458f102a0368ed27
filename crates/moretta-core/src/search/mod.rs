//! Methods: pure searches on a profile, all behind one interface.
//!
//! A method sees distinct tuples with counts, the bound privacy models and its own parameters, and comes back with a
//! recoding. It does no I/O and its answer depends on its inputs and the seed alone, never on the number of threads.
//! Running out of time is not an error: the best recoding so far is valid.

pub mod bottom_up_generalization;
mod chance;
mod information;
pub mod k_member;
mod local;
pub mod local_bottom_up;
pub mod local_top_down;
pub mod mondrian;
mod path;
pub mod sweep;
mod taxonomy;
#[cfg(test)]
mod tests;
pub mod top_down_disclosure;

use serde::Serialize;

pub use self::path::{Action, Frontier, Holds, Step};
use crate::{
    measure::Loss,
    policy::{MeasureChoice, MethodChoice, Policy, PolicyError},
    privacy::{BoundModel, Group},
    profile::Profile,
    recoding::Recoding,
};

/// What a method is asked to do.
pub struct Task<'a> {
    /// The table.
    pub profile: &'a Profile,
    /// What every group must satisfy.
    pub models: &'a [Box<dyn BoundModel>],
    /// How many records may be suppressed at the most.
    pub max_suppressed: u64,
    /// Decides whatever is left to chance.
    pub seed: u64,
}

/// The outside world, as far as a search needs it: whether to go on, and whom to tell how far it is.
pub trait Control: Sync {
    /// Asked often; something to stop for, or nothing.
    fn stop(&self) -> Option<Stop> {
        None
    }

    /// Told now and then: so much of so much is done.
    fn progress(&self, _done: u64, _of: u64) {}
}

/// Never stops and tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Control for Quiet {}

/// Why a search came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// There was nothing left to do.
    Finished,
    /// The time limit.
    OutOfTime,
    /// Somebody asked for it.
    Cancelled,
}

/// What a method found.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The recoding.
    pub recoding: Recoding,
    /// Why it stopped.
    pub stop: Stop,
    /// How it got there, where it went step by step from the table as it is; empty for other methods.
    pub path: Vec<Step>,
    /// What it did, by name: the counters that show its cost.
    pub work: Vec<(&'static str, u64)>,
}

/// Why a method found nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// Not even the whole table as one group satisfies the policy.
    #[error("the policy cannot be met: even with all {} records in one group {}", crate::text::count(*.records), all_broken(.broken))]
    Impossible {
        /// The models that are broken, with the whole table's figures.
        broken: Vec<(String, String)>,
        /// How many records there are.
        records: u64,
    },
    /// The method cannot serve this policy.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// A method that cannot serve a policy says so before it starts, and names one that can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("method `{method}` cannot serve this policy: {reason}; `{instead}` can")]
pub struct Unsupported {
    /// The method.
    pub method: &'static str,
    /// What it cannot do.
    pub reason: String,
    /// A method that can.
    pub instead: &'static str,
}

/// A way to search.
pub trait Method: Send + Sync {
    /// Whether it can serve the task at all.
    fn supports(&self, _task: &Task<'_>) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Whether it makes for its result step by step, so that what it has is worth releasing whenever somebody stops it.
    fn anytime(&self) -> bool {
        false
    }

    /// Searches.
    fn run(&self, task: &Task<'_>, control: &dyn Control) -> Result<Outcome, SearchError>;

    /// The whole trade-off, through the point where the policy first holds. None where the method leaves no path.
    fn frontier(&self, _task: &Task<'_>, _control: &dyn Control) -> Option<Result<Frontier, SearchError>> {
        None
    }
}

/// Turns the parameters of a policy and what is to be little into a method.
pub type Build = fn(&MethodChoice, Loss) -> Result<Box<dyn Method>, PolicyError>;

/// A method's entry in the registry.
#[derive(Clone, Copy)]
pub struct MethodEntry {
    /// What the policy calls it.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Its parameters: key, default, meaning.
    pub parameters: &'static [Parameter],
    /// What it loses little of where the policy has no `[measure]`; none where it cannot be told.
    pub loss: Option<Loss>,
    /// Turns the policy's parameters, and what is to be little, into a method that can run.
    pub build: Build,
}

/// A method's parameter, for people.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Parameter {
    /// The key in `[method]`.
    pub key: &'static str,
    /// What it is when left out.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

/// All methods.
pub const METHODS: &[MethodEntry] = &[
    mondrian::ENTRY,
    bottom_up_generalization::ENTRY,
    top_down_disclosure::ENTRY,
    k_member::ENTRY,
    local_top_down::ENTRY,
    local_bottom_up::ENTRY,
    sweep::ENTRY,
];

/// The names of all methods.
pub fn method_names() -> Vec<&'static str> {
    METHODS.iter().map(|entry| entry.name).collect()
}

/// The method that a policy names, with its parameters checked.
pub fn method_of(policy: &Policy) -> Result<Box<dyn Method>, PolicyError> {
    let choice = &policy.method;
    match METHODS.iter().find(|entry| entry.name == choice.name) {
        Some(entry) => match (entry.loss, &policy.measure) {
            (None, Some(asked)) => Err(cannot_be_told(entry, asked)),
            (usual, asked) => {
                (entry.build)(choice, asked.as_ref().map(|asked| asked.name).or(usual).unwrap_or_default())
            }
        },
        None => {
            let known = method_names().join("`, `");
            Err(choice.error("name", format!("there is no method `{}`; there is `{known}`", choice.name)))
        }
    }
}

/// `[measure]` is for methods that can be told what is to be little.
fn cannot_be_told(entry: &MethodEntry, asked: &MeasureChoice) -> PolicyError {
    let name = entry.name;
    let message = match entry.parameters.iter().any(|parameter| parameter.key == "measure") {
        true => format!("method `{name}` takes no [measure]; its own parameter `measure` in [method] chooses"),
        false => {
            let others = METHODS.iter().filter(|entry| entry.loss.is_some()).map(|entry| entry.name);
            let others = others.collect::<Vec<_>>().join("`, `");
            format!("method `{name}` takes no [measure]; `{others}` do")
        }
    };
    asked.error(message)
}

/// One in the sentence, several in lines of their own.
fn all_broken(broken: &[(String, String)]) -> String {
    match broken {
        [(model, figure)] => format!("there would be {figure}, which breaks {model}"),
        _ => {
            let line = |(model, figure): &(String, String)| format!("\n  {model}: {figure}");
            format!("it breaks{}", broken.iter().map(line).collect::<String>())
        }
    }
}

/// Where even all records together break a model, nothing can be found.
fn check_possible(task: &Task<'_>) -> Result<(), SearchError> {
    let everything = task.profile.everything();
    let group = Group::new(task.profile, &everything);
    let broken = task.models.iter().filter(|model| !model.holds(&group));
    let mut broken: Vec<(String, String)> = broken.map(|model| (model.describe(), model.figure(&group))).collect();
    // A model of many sets of columns is there once for each, and says the same of all records together.
    broken.dedup_by(|next, kept| next.0 == kept.0);
    match broken.is_empty() {
        true => Ok(()),
        false => Err(SearchError::Impossible { broken, records: task.profile.records() }),
    }
}
