//! Methods: pure searches on a profile, all behind one interface.
//!
//! A method sees distinct tuples with counts, the bound privacy models and its own parameters, and comes back with a
//! recoding. It does no I/O and its answer depends on its inputs and the seed alone, never on the number of threads.
//! Running out of time is not an error: the best recoding so far is valid.

pub mod bottom_up_generalization;
mod chance;
mod cluster;
pub mod genetic;
mod grouping;
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

pub use self::path::{Frontier, Holds};
pub use crate::observer::{CancelOnly, NoObserver, Observer, Stop};
use crate::{
    document::list,
    ids::TupleId,
    measure::objectives,
    objective::{Goal, Loss, Purpose},
    policy::{BoundPolicy, MeasureChoice, MethodChoice, Policy, PolicyError},
    privacy::{BoundModel, Group},
    profile::{Member, Profile},
    recoding::{Cut, Recoding, Step, suppressed_by},
    suggest::nearest,
};

/// What a method is asked to do.
#[derive(Clone, Copy)]
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

impl<'a> Task<'a> {
    /// All that a policy asks of a table.
    pub fn of(bound: &'a BoundPolicy<'_>, seed: u64) -> Self {
        let (profile, models, max_suppressed) = (bound.profile(), bound.models(), bound.max_suppressed());
        Self { profile, models, max_suppressed, seed }
    }

    /// The tuples to suppress under a cut; `None` if they have more records than the policy allows.
    fn suppressed(&self, cut: &Cut) -> Option<Vec<TupleId>> {
        let suppressed = suppressed_by(self.profile, self.models, cut);
        let records: u64 = suppressed.iter().map(|&tuple| self.profile.tuple_records(tuple)).sum();
        (records <= self.max_suppressed).then_some(suppressed)
    }

    /// Whether some records satisfy every model as one group.
    fn holds(&self, members: &[Member]) -> bool {
        let group = Group::new(self.profile, members);
        self.models.iter().all(|model| model.holds(&group))
    }
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
    #[error("{} {}", impossible(*.records, *.proven), all_broken(.broken))]
    Impossible {
        /// The models that are broken, with the whole table's figures.
        broken: Vec<(String, String)>,
        /// Records of the table.
        records: u64,
        /// Whether no release can satisfy the policy. A model that is not closed under union may hold in smaller groups.
        proven: bool,
    },
    /// The method cannot serve this policy.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// A method that cannot serve a policy says so before it starts, and names one that can.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("method `{method}` does not support this policy: {reason}{}", .instead.map(|other| format!("; use `{other}`")).unwrap_or_default())]
pub struct Unsupported {
    /// The method.
    pub method: &'static str,
    /// What it cannot do.
    pub reason: String,
    /// A method that can, where another can.
    pub instead: Option<&'static str>,
}

/// A way to search.
pub trait Method: Send + Sync {
    /// Whether it can serve the task at all.
    fn supports(&self, _task: &Task<'_>) -> Result<(), Unsupported> {
        Ok(())
    }

    /// Whether it relies on models that are closed under union: it merges groups that satisfy the models and does not
    /// judge them again. Such a method refuses other models.
    fn relies_on_closure(&self) -> bool {
        true
    }

    /// Whether it makes for its result step by step, so that what it has is worth releasing whenever somebody stops it.
    fn anytime(&self) -> bool {
        false
    }

    /// Searches.
    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError>;

    /// The whole trade-off, through the point where the policy first holds. None where the method leaves no path.
    fn frontier(&self, _task: &Task<'_>, _control: &dyn Observer) -> Option<Result<Frontier, SearchError>> {
        None
    }
}

/// Turns the parameters of a policy and what is to be small into a method. The goals are such as its entry says that
/// it takes, and never none unless it takes none.
pub type Build = fn(&MethodChoice, &[Goal]) -> Result<Box<dyn Method>, PolicyError>;

/// What a method can be told by `[measure]` to make small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Minimises {
    /// Nothing: it has a goal of its own, or a parameter for it.
    ItsOwn,
    /// The loss of precision by one measure; by this one where the policy has no `[measure]`.
    Precision(Loss),
    /// Any measures, one or a weighted sum of several; this one where the policy has no `[measure]`.
    Anything(Loss),
}

impl Minimises {
    /// The measure that it makes small where the policy has no `[measure]`; none where it cannot be told.
    pub const fn usual(self) -> Option<Loss> {
        match self {
            Self::ItsOwn => None,
            Self::Precision(usual) | Self::Anything(usual) => Some(usual),
        }
    }

    /// Whether it can be told this.
    pub fn takes(self, goals: &[Goal]) -> bool {
        match self {
            Self::ItsOwn => goals.is_empty(),
            Self::Precision(_) => matches!(goals, [Goal { purpose: Purpose::Precision(_), .. }]),
            Self::Anything(_) => !goals.is_empty(),
        }
    }
}

/// A method's entry in the registry.
#[derive(Clone, Copy)]
pub struct MethodEntry {
    /// What the policy calls it.
    pub name: &'static str,
    /// One line on what it does.
    pub summary: &'static str,
    /// Its parameters: key, default, meaning.
    pub parameters: &'static [Parameter],
    /// What it can be told to make small.
    pub minimises: Minimises,
    /// Turns the policy's parameters, and what is to be small, into a method that can run.
    pub build: Build,
}

impl MethodEntry {
    /// What it makes small where the policy has no `[measure]`.
    pub fn usual_goals(&self) -> Vec<Goal> {
        self.minimises.usual().map(Goal::precision).into_iter().collect()
    }
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

impl Parameter {
    const fn new(key: &'static str, default: &'static str, meaning: &'static str) -> Self {
        Self { key, default, meaning }
    }
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
    genetic::ENTRY,
];

/// The names of all methods.
pub fn method_names() -> Vec<&'static str> {
    METHODS.iter().map(|entry| entry.name).collect()
}

/// The method whose name is nearly this, if there is one.
pub fn near_method(name: &str) -> Option<&'static str> {
    nearest(name, method_names())
}

/// The registry's entry of the method that a policy names.
pub fn entry_of(policy: &Policy) -> Result<&'static MethodEntry, PolicyError> {
    let choice = &policy.method;
    METHODS.iter().find(|entry| entry.name == choice.name).ok_or_else(|| {
        let known = method_names().join("`, `");
        choice.error("name", format!("there is no method `{}`; known methods: `{known}`", choice.name))
    })
}

/// The method that a policy names, with its parameters checked.
pub fn method_of(policy: &Policy) -> Result<Box<dyn Method>, PolicyError> {
    let (choice, entry) = (&policy.method, entry_of(policy)?);
    check_place_of_measure(entry, choice)?;
    match &policy.measure {
        None => (entry.build)(choice, &entry.usual_goals()),
        Some(asked) if entry.minimises.takes(&asked.goals) => (entry.build)(choice, &asked.goals),
        Some(asked) => Err(cannot_be_told(entry, asked)),
    }
}

/// `measure` in `[method]` is for methods that have a parameter of that name.
fn check_place_of_measure(entry: &MethodEntry, choice: &MethodChoice) -> Result<(), PolicyError> {
    let told_by_section = entry.minimises != Minimises::ItsOwn && !has_own_measure(entry);
    match choice.parameters.get("measure") {
        Some(asked) if told_by_section => {
            let name = entry.name;
            let message = format!("`measure` is not a parameter of the method `{name}`; write [measure] with name = ");
            let asked = asked.as_str().filter(|asked| objectives().any(|(name, _)| name == *asked)).unwrap_or("ncp");
            Err(choice.error("measure", format!("{message}\"{asked}\" instead")))
        }
        _ => Ok(()),
    }
}

fn has_own_measure(entry: &MethodEntry) -> bool {
    entry.parameters.iter().any(|parameter| parameter.key == "measure")
}

/// What is asked is more than the method can be told; the complaint names those that can.
fn cannot_be_told(entry: &MethodEntry, asked: &MeasureChoice) -> PolicyError {
    let name = entry.name;
    let others = METHODS.iter().filter(|other| other.minimises.takes(&asked.goals)).map(|other| other.name);
    let others: Vec<&str> = others.collect();
    let instead = match others.as_slice() {
        [] => String::new(),
        [one] => format!("; `{one}` does"),
        _ => format!("; `{}` do", others.join("`, `")),
    };
    let losses = list(Loss::ALL.map(Loss::name));
    asked.error(match (entry.minimises, asked.goals.as_slice()) {
        (Minimises::ItsOwn, _) if has_own_measure(entry) => {
            format!("method `{name}` does not support [measure]; set its parameter `measure` in [method]")
        }
        (Minimises::ItsOwn, _) => format!("method `{name}` does not support [measure]{instead}"),
        (_, [goal]) => {
            let asked = goal.purpose.name();
            format!("method `{name}` supports the measure {losses}, not \"{asked}\"{instead}")
        }
        _ => format!("method `{name}` supports one measure, {losses}, not several{instead}"),
    })
}

/// The loss of precision that is asked for, for methods that take nothing else.
fn precision(goals: &[Goal]) -> Loss {
    let loss = |goal: &Goal| match goal.purpose {
        Purpose::Precision(loss) => Some(loss),
        _ => None,
    };
    goals.iter().find_map(loss).unwrap_or_default()
}

/// Whether a method can serve a task: by its own account, and because it can serve models that are not closed under
/// union if there are some.
pub fn check_supported(method: &dyn Method, name: &'static str, task: &Task<'_>) -> Result<(), Unsupported> {
    let open = task.models.iter().find(|model| !model.is_closed_under_union());
    if let Some(model) = open.filter(|_| method.relies_on_closure()) {
        let reason = format!(
            "it merges groups that satisfy the privacy models, and two groups that satisfy {} may violate it together",
            model.describe()
        );
        let default = |entry: &&MethodEntry| {
            (entry.build)(&MethodChoice::new(entry.name, toml::Table::new()), &entry.usual_goals())
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
    match proven {
        true => format!("the policy cannot be satisfied: even with all {records} records in one group"),
        false => format!("no release was found: the search starts with all {records} records in one group, and"),
    }
}

/// One in the sentence, several in lines of their own.
fn all_broken(broken: &[(String, String)]) -> String {
    match broken {
        [(model, figure)] => format!("there would be {figure}, which violates {model}"),
        _ => {
            let line = |(model, figure): &(String, String)| format!("\n  {model}: {figure}");
            format!("it violates{}", broken.iter().map(line).collect::<String>())
        }
    }
}

/// Where even all records together break a model, nothing can be found.
fn check_possible(task: &Task<'_>) -> Result<(), SearchError> {
    let everything = task.profile.everything();
    let group = Group::new(task.profile, &everything);
    let broken = task.models.iter().filter(|model| !model.holds(&group));
    let proven = broken.clone().any(|model| model.is_closed_under_union());
    let mut broken: Vec<(String, String)> =
        broken.map(|model| (model.describe().to_string(), model.figure(&group).words)).collect();
    // A model of many sets of columns is there once for each, and says the same of all records together.
    broken.dedup_by(|next, kept| next.0 == kept.0);
    match broken.is_empty() {
        true => Ok(()),
        false => Err(SearchError::Impossible { broken, records: task.profile.records(), proven }),
    }
}
