//! The trade-off of a table under a policy: a generalization path from the original table to `*` in every column, the
//! measures of its points, and the first point that satisfies the policy.

use moretta_core::{
    measure::MEASURES,
    observer::{Observer, Stage, Stop},
    policy::{MethodChoice, Policy, PolicyError},
    privacy::BoundModel,
    profile::Profile,
    recoding::{Cut, Recoding, Step, suppressed_by},
    search::{self, GeneralizationPath, METHODS, Method, Outcome, SearchError, Task, ValidPoint},
    verify::VerifyError,
};
use serde::Serialize;

use super::{Point, held, measured};

/// The method with a generalization path, for policies that name another.
pub const PATH_METHOD: &str = "bottom-up-generalization";

/// Usual values of k, for the table of costs.
const USUAL_KS: [u64; 9] = [2, 5, 10, 25, 50, 100, 250, 500, 1000];

/// A generalization path with the measures of its points.
#[derive(Debug, Clone, Serialize)]
pub struct TradeOff {
    /// The method that made the path.
    pub method: &'static str,
    /// The method that the policy names. It differs from `method` if it has no generalization path.
    pub policy_method: String,
    /// Whether a release by this method reverts steps that the policy does not need (`take-back`), so that it loses
    /// less than the points of the path.
    #[serde(skip)]
    pub reverts_steps: bool,
    /// Records of the table.
    pub rows: u64,
    /// Number of persons, if the policy counts them: then k and the anonymity of points count persons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persons: Option<u64>,
    /// Maximum number of suppressed records. At the points nothing is suppressed.
    pub max_suppressed_rows: u64,
    /// The policy's k.
    pub k: Option<u64>,
    /// The first point that satisfies the policy, with the suppression that it allows.
    #[serde(rename = "holds")]
    pub first_valid: Option<ValidPoint>,
    /// The original table, and the table after each step.
    pub points: Vec<Point>,
}

impl TradeOff {
    /// Runs the path to its end and measures every point.
    pub fn find(policy: &Policy, task: &Task<'_>, observer: &dyn Observer) -> Result<Self, TradeOffError> {
        let (method, GeneralizationPath { steps, first_valid }) = steps(policy, task, observer)?;
        observer.stage(Stage::Measuring);
        let first_valid_step = first_valid.map(|point| point.step);
        let points = measured(task.profile, policy, &steps, first_valid_step.as_slice(), observer);
        let points = points.ok_or(TradeOffError::Interrupted)?;
        Ok(Self {
            method,
            policy_method: policy.method.name.clone(),
            reverts_steps: policy.method.parameters.get("take-back").and_then(|value| value.as_bool()) != Some(false),
            rows: task.profile.records(),
            persons: task.profile.persons(),
            max_suppressed_rows: task.max_suppressed,
            k: policy.privacy.k(),
            first_valid,
            points,
        })
    }

    /// Whether the path is that of the policy's own method, so that its points can be released.
    pub fn is_own(&self) -> bool {
        self.method == self.policy_method
    }

    /// Usual values of k and the policy's own, up to the number of records or persons, each with the first point that
    /// reaches it.
    pub fn costs(&self) -> Vec<(u64, Option<&Point>)> {
        let mut ks: Vec<u64> =
            USUAL_KS.into_iter().filter(|k| *k <= self.persons.unwrap_or(self.rows)).chain(self.k).collect();
        ks.sort_unstable();
        ks.dedup();
        ks.into_iter().map(|k| (k, self.first_with(k))).collect()
    }

    /// Number of steps of the path; not every point of a long path is measured.
    pub fn steps(&self) -> usize {
        self.points.last().map_or(0, |last| last.step)
    }

    /// The first point whose groups all have at least `anonymity` records or persons.
    pub fn first_with(&self, anonymity: u64) -> Option<&Point> {
        self.points.iter().find(|point| point.anonymity >= anonymity)
    }

    /// The names of the measures that have a value.
    pub fn measures(&self) -> Vec<&'static str> {
        let known = |name: &&str| self.points.iter().any(|point| point.measures.get(name).is_some());
        MEASURES.iter().map(|entry| entry.name).filter(known).collect()
    }
}

/// Why there is no trade-off, or no such point of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TradeOffError {
    /// The observer stopped the search: part of a path is not shown.
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

/// The path of the policy's method; if it has none, that of [`PATH_METHOD`].
fn steps(
    policy: &Policy,
    task: &Task<'_>,
    observer: &dyn Observer,
) -> Result<(&'static str, GeneralizationPath), TradeOffError> {
    let own = MethodChoice::clone(&policy.method);
    for choice in [own, MethodChoice::new(PATH_METHOD, Default::default())] {
        let entry = METHODS.iter().find(|entry| entry.name == choice.name);
        let none = || TradeOffError::NoPoint(format!("there is no method `{}`", choice.name));
        let entry = entry.ok_or_else(none)?;
        let method = (entry.build)(&choice, &entry.default_objectives())?;
        if let Some(steps) = steps_of(&*method, entry.name, task, observer)? {
            return Ok((entry.name, steps));
        }
    }
    Err(TradeOffError::NoPoint(format!("the method `{PATH_METHOD}` has no generalization path here")))
}

/// Returns `None` if the method has no path.
fn steps_of(
    method: &dyn Method,
    name: &'static str,
    task: &Task<'_>,
    observer: &dyn Observer,
) -> Result<Option<GeneralizationPath>, TradeOffError> {
    if task.models.iter().any(|model| !model.is_closed_under_union()) {
        search::check_supported(method, name, task).map_err(SearchError::from)?;
    }
    let Some(steps) = method.generalization_path(task, observer) else { return Ok(None) };
    match observer.stop() {
        Some(_) => Err(TradeOffError::Interrupted),
        None => Ok(Some(steps?)),
    }
}

/// Returns the point after `at` steps of the policy's method as if the search had ended there, and the first point that
/// satisfies the policy.
pub fn outcome_at(
    policy: &Policy,
    task: &Task<'_>,
    at: usize,
    observer: &dyn Observer,
) -> Result<(Outcome, Option<ValidPoint>), TradeOffError> {
    observer.stage(Stage::Searching);
    let (entry, method) = (search::entry_of(policy)?, search::method_of(policy)?);
    let Some(GeneralizationPath { steps, first_valid }) = steps_of(&*method, entry.name, task, observer)? else {
        let own = &policy.method.name;
        return Err(TradeOffError::NoPoint(format!(
            "--at {at}: the policy's method `{own}` has no generalization path; name `{PATH_METHOD}` in `[method]`, which \
             has one"
        )));
    };
    if at > steps.len() {
        let (last, holds) = (steps.len(), held(first_valid));
        return Err(TradeOffError::NoPoint(format!("--at {at}: the last step is {last}; {holds}")));
    }
    let cut = cut_at(task.profile, task.models, &steps, at, task.max_suppressed > 0);
    let (path, work) = (steps[..at].to_vec(), vec![("steps", at as u64)]);
    Ok((Outcome { recoding: Recoding::Global(cut), stop: Stop::Finished, path, work, tried: Vec::new() }, first_valid))
}

/// The cut after `at` steps. With `suppress`, tuples whose group violates a model are suppressed. The cut need not
/// satisfy the policy: [`verify`](mod@moretta_core::verify) decides.
pub fn cut_at(profile: &Profile, models: &[Box<dyn BoundModel>], steps: &[Step], at: usize, suppress: bool) -> Cut {
    let mut cut = Cut::identity(profile);
    steps[..at].iter().for_each(|step| cut.apply(step));
    if suppress {
        cut.suppressed = suppressed_by(profile, models, &cut);
    }
    cut
}

/// Message for a point that violates the policy; it names the first point that does not.
pub fn refused(at: usize, first_valid: Option<ValidPoint>, error: &VerifyError) -> String {
    let first = held(first_valid);
    format!("nothing was written: step {at} does not satisfy the policy: {error}; {first}")
}
