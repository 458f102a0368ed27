//! The whole trade-off of a table under a policy: a generalization path from the original table to all values at the
//! root, the measures of every point, and the first point that satisfies the policy.

use moretta_core::{
    measure::MEASURES,
    observer::{Observer, Stage, Stop},
    policy::{MethodChoice, Policy, PolicyError},
    privacy::BoundModel,
    profile::Profile,
    recoding::{Cut, Recoding, Step, suppressed_by},
    search::{self, Holds, METHODS, Method, Outcome, SearchError, Task},
    verify::VerifyError,
};
use serde::Serialize;

use super::{Point, held, measured};

/// The method with a generalization path, for policies that name another.
const WITH_PATH: &str = "bottom-up-generalization";

/// Values of k that are usual.
const ASKED: [u64; 9] = [2, 5, 10, 25, 50, 100, 250, 500, 1000];

/// A path and what is known of it.
#[derive(Debug, Clone, Serialize)]
pub struct TradeOff {
    /// The method that went it.
    pub method: &'static str,
    /// The method that the policy names: another one where that leaves no path.
    pub policy_method: String,
    /// Whether a release by this method goes on where the path only climbs.
    #[serde(skip)]
    pub takes_back: bool,
    /// How many records the table has.
    pub rows: u64,
    /// How many of them the policy allows to be suppressed. At the points, none are.
    pub max_suppressed_rows: u64,
    /// The policy's k.
    pub k: Option<u64>,
    /// The first point at which the policy holds, with the suppression that it allows.
    pub holds: Option<Holds>,
    /// The original table, and the table after each step.
    pub points: Vec<Point>,
}

impl TradeOff {
    /// Runs the path to its end and measures every point.
    pub fn find(policy: &Policy, task: &Task<'_>, observer: &dyn Observer) -> Result<Self, TradeOffError> {
        let (method, search::Frontier { steps, holds }) = steps(policy, task, observer)?;
        observer.stage(Stage::Measuring);
        let first_valid = holds.as_ref().map(|holds| holds.step);
        let points = measured(task.profile, policy, &steps, first_valid.as_slice(), observer);
        let points = points.ok_or(TradeOffError::Interrupted)?;
        Ok(Self {
            method,
            policy_method: policy.method.name.clone(),
            takes_back: policy.method.parameters.get("take-back").and_then(|value| value.as_bool()) != Some(false),
            rows: task.profile.records(),
            max_suppressed_rows: task.max_suppressed,
            k: policy.privacy.k(),
            holds,
            points,
        })
    }

    /// Whether the policy names the method that went the path, so that its points can be released.
    pub fn is_own(&self) -> bool {
        self.method == self.policy_method
    }

    /// Usual values of k and the policy's own, up to the number of records, each with the first point that reaches it.
    pub fn costs(&self) -> Vec<(u64, Option<&Point>)> {
        let mut asked: Vec<u64> = ASKED.into_iter().filter(|k| *k <= self.rows).chain(self.k).collect();
        asked.sort_unstable();
        asked.dedup();
        asked.into_iter().map(|k| (k, self.first_with(k))).collect()
    }

    /// How many steps there are: of a long path not every point is measured.
    pub fn steps(&self) -> usize {
        self.points.last().map_or(0, |last| last.step)
    }

    /// The first point whose groups all have at least `anonymity` records.
    pub fn first_with(&self, anonymity: u64) -> Option<&Point> {
        self.points.iter().find(|point| point.anonymity >= anonymity)
    }

    /// The names of the measures that have a value.
    pub fn measures(&self) -> Vec<&'static str> {
        let known = |name: &&str| self.points.iter().any(|point| point.measures.get(name).is_some());
        MEASURES.iter().map(|entry| entry.name).filter(known).collect()
    }
}

/// Why there is no trade-off to show, or no such point of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TradeOffError {
    /// The observer asked to stop: half a path is not worth showing.
    #[error("interrupted")]
    Interrupted,
    /// The method's parameters are wrong.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The policy cannot be met.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// There is no such path or point.
    #[error("{0}")]
    NoPoint(String),
}

/// The path of the policy's own method if it has one, otherwise of the method that does.
fn steps(
    policy: &Policy,
    task: &Task<'_>,
    observer: &dyn Observer,
) -> Result<(&'static str, search::Frontier), TradeOffError> {
    let own = MethodChoice::clone(&policy.method);
    for choice in [own, MethodChoice::new(WITH_PATH, Default::default())] {
        let entry = METHODS.iter().find(|entry| entry.name == choice.name);
        let none = || TradeOffError::NoPoint(format!("there is no method `{}`", choice.name));
        let entry = entry.ok_or_else(none)?;
        let method = (entry.build)(&choice, &entry.usual_goals())?;
        if let Some(steps) = steps_of(&*method, entry.name, task, observer)? {
            return Ok((entry.name, steps));
        }
    }
    Err(TradeOffError::NoPoint(format!("the method `{WITH_PATH}` has no generalization path here")))
}

/// Returns `None` if the method has no path.
fn steps_of(
    method: &dyn Method,
    name: &'static str,
    task: &Task<'_>,
    observer: &dyn Observer,
) -> Result<Option<search::Frontier>, TradeOffError> {
    if task.models.iter().any(|model| !model.is_closed_under_union()) {
        search::check_supported(method, name, task).map_err(SearchError::from)?;
    }
    let Some(steps) = method.frontier(task, observer) else { return Ok(None) };
    match observer.stop() {
        Some(_) => Err(TradeOffError::Interrupted),
        None => Ok(Some(steps?)),
    }
}

/// A point of the path of the policy's method, as if the search had ended there; and the first point that satisfies the
/// policy.
pub fn outcome_at(
    policy: &Policy,
    task: &Task<'_>,
    at: usize,
    observer: &dyn Observer,
) -> Result<(Outcome, Option<Holds>), TradeOffError> {
    observer.stage(Stage::Searching);
    let (entry, method) = (search::entry_of(policy)?, search::method_of(policy)?);
    let Some(search::Frontier { steps, holds }) = steps_of(&*method, entry.name, task, observer)? else {
        let own = &policy.method.name;
        return Err(TradeOffError::NoPoint(format!(
            "--at {at}: the policy's method `{own}` has no generalization path; name `{WITH_PATH}` in `[method]`, which \
             has one"
        )));
    };
    if at > steps.len() {
        let (last, holds) = (steps.len(), held(holds));
        return Err(TradeOffError::NoPoint(format!("--at {at}: the last step is {last}; {holds}")));
    }
    let cut = cut_at(task.profile, task.models, &steps, at, task.max_suppressed > 0);
    let (path, work) = (steps[..at].to_vec(), vec![("steps", at as u64)]);
    Ok((Outcome { recoding: Recoding::Cut(cut), stop: Stop::Finished, path, work }, holds))
}

/// The cut after `at` steps, with those tuples suppressed that would break a model. It need not satisfy the policy:
/// that is for [`verify`](mod@moretta_core::verify) to say.
pub fn cut_at(profile: &Profile, models: &[Box<dyn BoundModel>], steps: &[Step], at: usize, suppress: bool) -> Cut {
    let mut cut = Cut::identity(profile);
    steps[..at].iter().for_each(|step| cut.apply(step));
    if suppress {
        cut.suppressed = suppressed_by(profile, models, &cut);
    }
    cut
}

/// Why a point cannot be released, and which is the first that can.
pub fn refused(at: usize, first_valid: Option<Holds>, error: &VerifyError) -> String {
    let first = held(first_valid);
    format!("nothing was written: step {at} does not satisfy the policy: {error}; {first}")
}
