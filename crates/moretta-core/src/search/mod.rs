//! Anonymization methods: searches for a recoding that satisfies the privacy models, all behind the [`Method`]
//! interface.
//!
//! A method gets the distinct tuples with counts, the bound privacy models and its own parameters, and returns a
//! recoding. It does no I/O, and its result depends only on its inputs and the seed, never on the number of threads.
//! Running out of time is not an error: the best recoding so far is valid.

pub mod best;
pub mod bottom_up_generalization;
mod cluster;
mod generalization_path;
pub mod genetic;
mod grouping;
mod information;
pub mod k_member;
mod local;
pub mod local_bottom_up;
pub mod local_top_down;
pub mod mondrian;
mod rng;
mod size;
pub mod sweep;
mod taxonomy;
#[cfg(test)]
mod tests;
pub mod top_down_disclosure;

use serde::Serialize;

pub use self::generalization_path::{GeneralizationPath, ValidPoint};
pub use crate::observer::{CancelOnly, NoObserver, Observer, Stop};
use crate::{
    document::list,
    ids::TupleId,
    measure::objectives,
    objective::{LossMetric, Objective, ObjectiveKind},
    policy::{BoundPolicy, MeasureChoice, MethodChoice, Policy, PolicyError},
    privacy::{BoundModel, Group, TemplateFacts},
    profile::{Profile, VariantCount},
    recoding::{Constraints, Cut, Recoding, Step, suppressed_within},
    suggest::nearest,
};

/// Input of a method.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Distinct tuples of the table with their counts.
    pub profile: &'a Profile,
    /// Models that every group must satisfy.
    pub models: &'a [Box<dyn BoundModel>],
    /// Maximum number of suppressed records.
    pub max_suppressed: u64,
    /// Seed of all random choices.
    pub seed: u64,
}

impl<'a> Task<'a> {
    /// Task of a policy that is bound to a table.
    pub fn of(bound: &'a BoundPolicy<'_>, seed: u64) -> Self {
        let (profile, models, max_suppressed) = (bound.profile(), bound.models(), bound.max_suppressed());
        Self { profile, models, max_suppressed, seed }
    }

    /// Returns the tuples to suppress under a cut; `None` if they have more records than the policy allows.
    fn suppressed(&self, cut: &Cut) -> Option<Vec<TupleId>> {
        suppressed_within(&Constraints::new(self.profile, self.models), cut, self.max_suppressed)
    }

    /// Whether some records, as one group, satisfy every model.
    fn is_satisfied_by(&self, members: &[VariantCount]) -> bool {
        let group = Group::new(self.profile, members);
        self.models.iter().all(|model| model.holds(&group))
    }
}

/// Result of a method.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Verified later, before it is released.
    pub recoding: Recoding,
    /// Why the search ended.
    pub stop: Stop,
    /// Steps from the original table to the recoding; empty for methods without a generalization path.
    pub path: Vec<Step>,
    /// Counters of the work done, by name, for the report.
    pub work: Vec<(&'static str, u64)>,
    /// Methods that the search tried, in order; empty if it is a single method.
    pub tried: Vec<Tried>,
}

/// Result of a method that a search tried.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Tried {
    /// Name of the method.
    pub method: &'static str,
    /// Loss by the metric of the search, from 0 to 1: its share of the loss of a table with all records suppressed.
    pub loss: f64,
}

/// Reason why a method has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The whole table as one group violates the policy.
    #[error("{} {}", impossible(*.records, *.proven), all_broken(.broken))]
    Impossible {
        /// Violated models, each with the figure of the whole table.
        broken: Vec<(String, String)>,
        /// Number of records of the table.
        records: u64,
        /// Whether it is certain that no release satisfies the policy. A model that is not closed under union may hold
        /// in smaller groups.
        proven: bool,
    },
    /// The method cannot serve this policy.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// Refusal of a policy by a method, before the search starts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("method `{method}` does not support this policy: {reason}{}", .instead.map(|other| format!("; use `{other}`")).unwrap_or_default())]
pub struct Unsupported {
    /// Name of the method that refuses.
    pub method: &'static str,
    /// The unsupported part of the policy.
    pub reason: String,
    /// A method that supports the policy, if there is one.
    pub instead: Option<&'static str>,
}

/// An anonymization method.
pub trait Method: Send + Sync {
    /// Checks whether the method can serve the task.
    fn supports(&self, _task: &Task<'_>) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Whether the method needs models that are closed under union, because it merges groups that satisfy the models
    /// without checking them again. Such a method refuses other models.
    fn relies_on_closure(&self) -> bool {
        true
    }

    /// Whether the method improves a valid result step by step, so that the result is worth releasing whenever the
    /// user stops the search. A time limit releases the result of any method, Ctrl-C only that of an anytime method.
    fn anytime(&self) -> bool {
        false
    }

    /// Estimates the memory of the search. The caller compares it with a memory limit before the search starts.
    fn memory(&self, task: &Task<'_>) -> SearchMemory;

    /// Runs the search. The recoding of the outcome satisfies every model, also if the search was stopped.
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError>;

    /// Returns the path from the original table to all values at the root; `None` if the method has none.
    fn generalization_path(
        &self,
        _task: &Task<'_>,
        _observer: &dyn Observer,
    ) -> Option<Result<GeneralizationPath, SearchError>> {
        None
    }
}

/// Estimated memory of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchMemory {
    /// Bytes of the heap at the peak, with the outcome and without the profile.
    pub peak: u64,
    /// Maximum number of groups of a local recoding; `None` for a global one.
    pub groups: Option<u64>,
}

/// Builds a method from the parameters of a policy and its objectives. The caller has checked that the entry's
/// [`AcceptedObjectives`] accept them; they are empty only for [`AcceptedObjectives::Fixed`].
pub type Build = fn(&MethodChoice, &[Objective]) -> Result<Box<dyn Method>, PolicyError>;

/// Objectives that a method accepts from the `[measure]` section of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptedObjectives {
    /// None: its objective is fixed, or a parameter of the method.
    Fixed,
    /// One loss metric; this one if the policy has no `[measure]`.
    Precision(LossMetric),
    /// Any measure or weighted sum of measures; this loss metric if the policy has no `[measure]`.
    Any(LossMetric),
}

impl AcceptedObjectives {
    /// Loss metric that is minimized if the policy has no `[measure]`; `None` for [`Self::Fixed`].
    pub const fn default_metric(self) -> Option<LossMetric> {
        match self {
            Self::Fixed => None,
            Self::Precision(metric) | Self::Any(metric) => Some(metric),
        }
    }

    /// Whether the method accepts these objectives.
    pub fn accepts(self, objectives: &[Objective]) -> bool {
        match self {
            Self::Fixed => objectives.is_empty(),
            Self::Precision(_) => matches!(objectives, [Objective { kind: ObjectiveKind::Precision(_), .. }]),
            Self::Any(_) => !objectives.is_empty(),
        }
    }
}

/// Entry of a method in the registry.
#[derive(Clone, Copy)]
pub struct MethodEntry {
    /// Name in the policy.
    pub name: &'static str,
    /// Description in one line, for users.
    pub summary: &'static str,
    /// Parameters of the section `[method]`.
    pub parameters: &'static [Parameter],
    /// Objectives that the method accepts from `[measure]`.
    pub objectives: AcceptedObjectives,
    /// Builds the method from the parameters and objectives of a policy.
    pub build: Build,
}

impl MethodEntry {
    /// Objectives if the policy has no `[measure]`; empty for [`AcceptedObjectives::Fixed`].
    pub fn default_objectives(&self) -> Vec<Objective> {
        self.objectives.default_metric().map(Objective::precision).into_iter().collect()
    }
}

/// Description of a method's parameter, for users.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Parameter {
    /// Key in `[method]`.
    pub key: &'static str,
    /// Default value.
    pub default: &'static str,
    /// Effect and range, in one line.
    pub meaning: &'static str,
}

impl Parameter {
    const fn new(key: &'static str, default: &'static str, meaning: &'static str) -> Self {
        Self { key, default, meaning }
    }
}

/// Registry of all methods.
pub const METHODS: &[MethodEntry] = &[
    best::ENTRY,
    mondrian::ENTRY,
    bottom_up_generalization::ENTRY,
    top_down_disclosure::ENTRY,
    k_member::ENTRY,
    local_top_down::ENTRY,
    local_bottom_up::ENTRY,
    sweep::ENTRY,
    genetic::ENTRY,
];

/// Names of all methods, in the order of the registry.
pub fn method_names() -> Vec<&'static str> {
    METHODS.iter().map(|entry| entry.name).collect()
}

/// Returns the method name that is closest to a misspelled one; `None` if no name is close.
pub fn near_method(name: &str) -> Option<&'static str> {
    nearest(name, method_names())
}

/// Returns the registry entry of the method that a policy names.
pub fn entry_of(policy: &Policy) -> Result<&'static MethodEntry, PolicyError> {
    let choice = &policy.method;
    METHODS.iter().find(|entry| entry.name == choice.name).ok_or_else(|| {
        let known = method_names().join("`, `");
        choice.error("name", format!("there is no method `{}`; known methods: `{known}`", choice.name))
    })
}

/// Builds the method that a policy names, after checking its parameters and objectives.
pub fn method_of(policy: &Policy) -> Result<Box<dyn Method>, PolicyError> {
    let (choice, entry) = (&policy.method, entry_of(policy)?);
    check_measure_key(entry, choice)?;
    match &policy.measure {
        None => (entry.build)(choice, &entry.default_objectives()),
        Some(measure) if entry.objectives.accepts(&measure.objectives) => (entry.build)(choice, &measure.objectives),
        Some(measure) => Err(objectives_not_accepted(entry, measure)),
    }
}

/// Rejects the key `measure` in `[method]` for methods that read it from the section `[measure]`.
fn check_measure_key(entry: &MethodEntry, choice: &MethodChoice) -> Result<(), PolicyError> {
    let uses_measure_section = entry.objectives != AcceptedObjectives::Fixed && !has_measure_parameter(entry);
    match choice.parameters.get("measure") {
        Some(asked) if uses_measure_section => {
            let name = entry.name;
            let message = format!("`measure` is not a parameter of the method `{name}`; write [measure] with name = ");
            let asked = asked.as_str().filter(|asked| objectives().any(|(name, _)| name == *asked)).unwrap_or("ncp");
            Err(choice.error("measure", format!("{message}\"{asked}\" instead")))
        }
        _ => Ok(()),
    }
}

fn has_measure_parameter(entry: &MethodEntry) -> bool {
    entry.parameters.iter().any(|parameter| parameter.key == "measure")
}

/// Error for objectives that the method does not accept; it names the methods that do.
fn objectives_not_accepted(entry: &MethodEntry, asked: &MeasureChoice) -> PolicyError {
    let name = entry.name;
    let others = METHODS.iter().filter(|other| other.objectives.accepts(&asked.objectives)).map(|other| other.name);
    let others: Vec<&str> = others.collect();
    let instead = match others.as_slice() {
        [] => String::new(),
        [one] => format!("; `{one}` does"),
        _ => format!("; `{}` do", others.join("`, `")),
    };
    let losses = list(LossMetric::ALL.map(LossMetric::name));
    asked.error(match (entry.objectives, asked.objectives.as_slice()) {
        (AcceptedObjectives::Fixed, _) if has_measure_parameter(entry) => {
            format!("method `{name}` does not support [measure]; set its parameter `measure` in [method]")
        }
        (AcceptedObjectives::Fixed, _) => format!("method `{name}` does not support [measure]{instead}"),
        (_, [objective]) => {
            let asked = objective.kind.name();
            format!("method `{name}` supports the measure {losses}, not \"{asked}\"{instead}")
        }
        _ => format!("method `{name}` supports one measure, {losses}, not several{instead}"),
    })
}

/// Returns the loss metric of the objectives, for methods that accept only [`AcceptedObjectives::Precision`].
fn precision(objectives: &[Objective]) -> LossMetric {
    let loss = |objective: &Objective| match objective.kind {
        ObjectiveKind::Precision(loss) => Some(loss),
        _ => None,
    };
    objectives.iter().find_map(loss).unwrap_or_default()
}

/// Checks whether a method can serve a task: it must support the task, and models that are not closed under union if
/// the task has any.
pub fn check_supported(method: &dyn Method, name: &'static str, task: &Task<'_>) -> Result<(), Unsupported> {
    let open = task.models.iter().find(|model| !model.is_closed_under_union());
    if let Some(model) = open.filter(|_| method.relies_on_closure()) {
        let reason = format!(
            "it merges groups that satisfy the privacy models, and two groups that satisfy {} may violate it together",
            model.describe()
        );
        let default = |entry: &&MethodEntry| {
            (entry.build)(&MethodChoice::new(entry.name, toml::Table::new()), &entry.default_objectives())
        };
        let serves = |entry: &&MethodEntry| {
            default(entry).is_ok_and(|method| !method.relies_on_closure() && method.supports(task).is_ok())
        };
        let instead = METHODS.iter().find(serves).map(|entry| entry.name);
        return Err(Unsupported { method: name, reason, instead });
    }
    method.supports(task)
}

fn impossible(records: u64, proven: bool) -> String {
    let records = crate::text::count(records);
    if proven {
        format!("the policy cannot be satisfied: even with all {records} records in one group")
    } else {
        format!("no release was found: the search starts with all {records} records in one group, and")
    }
}

/// Lists violated models: a single one within the sentence, several on one line each.
fn all_broken(broken: &[(String, String)]) -> String {
    match broken {
        [(model, figure)] => format!("there would be {figure}, which violates {model}"),
        _ => {
            let line = |(model, figure): &(String, String)| format!("\n  {model}: {figure}");
            format!("it violates{}", broken.iter().map(line).collect::<String>())
        }
    }
}

/// Checks that the whole table, as one group, satisfies every model; all methods start from that or fall back to it.
fn check_possible(task: &Task<'_>) -> Result<(), SearchError> {
    let everything = task.profile.everything();
    let group = Group::new(task.profile, &everything);
    let broken = task.models.iter().filter(|model| !model.holds(&group));
    let proven = broken.clone().any(|model| model.is_closed_under_union());
    // The rarest values come from the data. A message may show one of them; several are numbered.
    let several = broken.clone().nth(1).is_some();
    let name = |model: &dyn BoundModel| match model.facts().get::<TemplateFacts>() {
        Some(template) if several => template.description(),
        _ => model.describe(),
    };
    let mut broken: Vec<(String, String)> =
        broken.map(|model| (name(&**model).to_string(), model.figure(&group).text)).collect();
    // A model over many sets of columns is bound once per set, with the same figure for the whole table.
    broken.dedup_by(|next, kept| next.0 == kept.0);
    if broken.is_empty() {
        return Ok(());
    }
    Err(SearchError::Impossible { broken, records: task.profile.records(), proven })
}
