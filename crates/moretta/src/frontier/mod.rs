//! The whole trade-off of a table under a policy: a path from the table as it is to all values at the root, what every
//! point of it costs, and where the policy holds. `moretta frontier` shows it, `anonymize --at` releases a point of it.

mod csv;
mod svg;
mod table;
mod words;

use moretta_core::{
    measure::MEASURES,
    path::{self, Point},
    policy::{MethodChoice, Policy},
    recoding::Recoding,
    search::{self, Holds, METHODS, Method, Observer, Outcome, Step, Stop, Task},
    verify::VerifyError,
};
use serde::Serialize;

pub use self::{
    csv::csv,
    svg::{is_left_out, panel_of, svg},
    table::{table, written},
    words::{caveat, held, joined, lost, release, what, wrapped},
};
use crate::{failure::Failure, watch::Watch};

/// The method that leaves a path, for policies that name another.
const WITH_PATH: &str = "bottom-up-generalization";

/// What people ask for.
const ASKED: [u64; 9] = [2, 5, 10, 25, 50, 100, 250, 500, 1000];

/// A path and what is known of it.
#[derive(Debug, Clone, Serialize)]
pub struct Frontier {
    /// The method that went it.
    pub method: String,
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
    /// The table as it is, and after each step.
    pub points: Vec<Point>,
}

impl Frontier {
    /// Runs the path to its end and measures every point.
    pub fn find(policy: &Policy, task: &Task<'_>) -> Result<Self, Failure> {
        let (method, search::Frontier { steps, holds }) = steps(policy, task)?;
        let points = measured(policy, task, &steps, holds.as_ref().map(|holds| holds.step))?;
        Ok(Self {
            method,
            policy_method: policy.method.name.clone(),
            takes_back: policy.method.parameters.get("take-back").and_then(|value| value.as_bool()) != Some(false),
            rows: task.profile.records(),
            max_suppressed_rows: task.max_suppressed,
            k: policy.privacy.k,
            holds,
            points,
        })
    }

    /// Whether the policy names the method that went the path, so that its points can be released.
    pub fn is_own(&self) -> bool {
        self.method == self.policy_method
    }

    /// What people ask for and the policy's own k, as far as the table has so many records, each with the first point
    /// that reaches it.
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

    /// The first point whose groups all have at least so many records.
    pub fn first_with(&self, anonymity: u64) -> Option<&Point> {
        self.points.iter().find(|point| point.anonymity >= anonymity)
    }

    /// The names of the measures that have a value.
    pub fn measures(&self) -> Vec<&'static str> {
        let known = |name: &&str| self.points.iter().any(|point| point.measures.get(name).is_some());
        MEASURES.iter().map(|entry| entry.name).filter(known).collect()
    }
}

/// Every point of some steps, measured.
pub fn measured(
    policy: &Policy,
    task: &Task<'_>,
    steps: &[Step],
    wanted: Option<usize>,
) -> Result<Vec<Point>, Failure> {
    let watch = Watch::new("measuring");
    path::measured(task.profile, policy, steps, wanted.as_slice(), &watch).ok_or_else(Failure::interrupted)
}

/// The policy's own method where it leaves a path, otherwise the one that does.
fn steps(policy: &Policy, task: &Task<'_>) -> Result<(String, search::Frontier), Failure> {
    let own = &policy.method.name;
    if let Some(steps) = steps_of(&*method(&policy.method)?, task)? {
        return Ok((own.clone(), steps));
    }
    let other = method(&MethodChoice::new(WITH_PATH, Default::default()))?;
    let steps = steps_of(&*other, task)?;
    let steps = steps.ok_or_else(|| Failure::input(format!("the method `{WITH_PATH}` leaves no path here")))?;
    crate::summary::note(&format!(
        "the policy's method `{own}` leaves no path to all values at the root; this is that of `{WITH_PATH}`, and to \
         release a point of it the policy must name that method"
    ));
    Ok((WITH_PATH.to_owned(), steps))
}

fn method(choice: &MethodChoice) -> Result<Box<dyn Method>, Failure> {
    let entry = METHODS.iter().find(|entry| entry.name == choice.name);
    let entry = entry.ok_or_else(|| Failure::input(format!("there is no method `{}`", choice.name)))?;
    (entry.build)(choice, &entry.usual_goals()).map_err(|error| Failure::input(error.to_string()))
}

/// None where the method leaves no path.
fn steps_of(method: &dyn Method, task: &Task<'_>) -> Result<Option<search::Frontier>, Failure> {
    let watch = Watch::new("searching");
    let Some(steps) = method.frontier(task, &watch) else { return Ok(None) };
    // Half a path is not worth showing.
    match watch.stop() {
        Some(_) => Err(Failure::interrupted()),
        None => Ok(Some(steps?)),
    }
}

/// A point of the path of the policy's method, as if the search had ended there.
pub fn outcome_at(policy: &Policy, task: &Task<'_>, at: usize) -> Result<(Outcome, Option<Holds>), Failure> {
    let method = search::method_of(policy).map_err(|error| Failure::input(error.to_string()))?;
    let Some(search::Frontier { steps, holds }) = steps_of(&*method, task)? else {
        let own = &policy.method.name;
        return Err(Failure::input(format!(
            "--at {at}: the policy's method `{own}` leaves no such path, so it has no such point; name \
             `{WITH_PATH}` in `[method]`, which does"
        )));
    };
    if at > steps.len() {
        let (last, holds) = (steps.len(), held(holds));
        return Err(Failure::input(format!("--at {at}: the path ends at step {last}; {holds}")));
    }
    let cut = path::cut_at(task.profile, task.models, &steps, at, task.max_suppressed > 0);
    let (path, work) = (steps[..at].to_vec(), vec![("steps", at as u64)]);
    Ok((Outcome { recoding: Recoding::Cut(cut), stop: Stop::Finished, path, work }, holds))
}

/// Why a point cannot leave, and which is the first that can.
pub fn refused(at: usize, holds: Option<Holds>, error: &VerifyError) -> Failure {
    let first = held(holds);
    Failure::unsatisfied(format!(
        "nothing was written, because the policy does not hold at step {at}: {error}; {first}"
    ))
}
