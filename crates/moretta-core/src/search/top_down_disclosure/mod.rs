//! Top-down disclosure (Wang, Fung, Yu 2005, 2007): begin with everything suppressed, and tell value by value what
//! does not let anybody infer too much.
//!
//! Guarantees: a global recoding under which every confidence template holds, and every other model of the policy with
//! it; after every step, so that it can be stopped at any time. For whom: a holder who can say what must not be inferred
//! from what, and wants as much as possible told beyond that; no hierarchy is needed.
//!
//! **The search** tells, one at a time, the candidate (`candidates`) of the highest `Score = gain / (privacy loss + 1)`
//! among those that keep every template and are of use. The gain is what the disclosure tells about the class, or the
//! precision it brings; the privacy loss how much the highest confidences rise, on average over the templates that know
//! the column. Of scores that differ by less than 1e-12 the first wins: by column, then by value.
//!
//! **The index** (`confidences`) is a QID-tree for each set of known columns. Telling a value touches only the groups
//! that it occurs in, splitting an interval those that have it. Cost: the rows of a value are counted once for each column
//! of the set when it is told, and again at every level that it is told down a hierarchy; for p flat columns and v rows O(v
//! p²) in all, and the open candidates of the groups that are split.
//!
//! **Beyond the paper**: values are told down a hierarchy where there is one, numbers by splitting intervals; other
//! models (`guards`) are asked when a candidate's turn has come.

mod asked;
mod candidates;
mod confidences;
mod guards;
mod rows;
mod search;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::{
    asked::Asked,
    candidates::nothing_told,
    search::{Search, first_step},
};
pub use super::information::Measure;
use super::{
    Method, MethodEntry, Minimises, Observer, Outcome, Parameter, SearchError, Stop, Task, Unsupported, check_possible,
};
use crate::{
    hierarchy::Cell,
    recoding::{Cut, Recoding},
};

const NAME: &str = "top-down-disclosure";

pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: NAME,
    summary: "global recoding: suppresses everything, then discloses what no template forbids; can be stopped at any time",
    parameters: &[
        Parameter::new(
            "measure",
            "\"class\"",
            "what to disclose first: information about the class (\"class\"), or precision (\"ncp\", \"lm\"); without a class, \"ncp\"",
        ),
        Parameter::new(
            "tries",
            "8",
            "number of points at which the split of a numeric interval is tried, best first; 1: as published",
        ),
    ],
    minimises: Minimises::ItsOwn,
    build: |choice, _| {
        let settings: Settings = choice.read_parameters()?;
        match settings.tries {
            0 => Err(choice.error("tries", "`tries` is 0; it must be a whole number of at least 1")),
            _ => Ok(Box::new(TopDownDisclosure(settings))),
        }
    },
};

/// The method's parameters.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Settings {
    /// What is told first; what says most about the class where there is one, otherwise what is most precise.
    pub measure: Option<Measure>,
    /// At how many points the split of an interval is tried.
    pub tries: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { measure: None, tries: 8 }
    }
}

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct TopDownDisclosure(pub Settings);

/// More than this for the counts of all rows is refused.
const MOST_BYTES: u64 = 8 << 30;

/// Scores that are closer than this are equal.
const TIE: f64 = 1e-12;

impl TopDownDisclosure {
    fn measure(&self, task: &Task<'_>) -> Measure {
        Measure::or_by_table(self.0.measure, task.profile)
    }
}

impl Method for TopDownDisclosure {
    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        let refuse =
            |reason: &str| Err(Unsupported { method: NAME, reason: reason.to_owned(), instead: Some("mondrian") });
        if let Some(reason) = self.measure(task).unfit(task.profile) {
            return refuse(reason);
        }
        if u32::try_from(task.profile.records()).is_err() {
            return refuse("it supports at most 4,294,967,295 records");
        }
        let bytes = Asked::of(task).bytes(task.profile);
        if bytes > MOST_BYTES {
            let reason = format!("its counts of protected values would take about {} GB", bytes.div_ceil(1 << 30));
            return refuse(&reason);
        }
        Ok(())
    }

    fn anytime(&self) -> bool {
        true
    }

    fn run(&self, task: &Task<'_>, observer: &dyn Observer) -> Result<Outcome, SearchError> {
        self.supports(task)?;
        check_possible(task)?;
        let Some(mut search) = Search::new(task, self.measure(task), self.0.tries, observer) else {
            let masked = Asked::of(task).masked;
            let cells = nothing_told(task.profile, &masked);
            let path = vec![first_step(&cells, &masked)];
            let stop = observer.stop().unwrap_or(Stop::OutOfTime);
            return Ok(Outcome { recoding: recoding(cells), stop, path, work: Vec::new() });
        };
        let stop = loop {
            if let Some(stop) = observer.stop() {
                break stop;
            }
            let Some(id) = search.next() else { break Stop::Finished };
            search.take(id, observer);
            let (all, open) = search.progress();
            observer.progress(all - open, all);
        };
        let work = vec![
            ("iterations", search.path.len() as u64 - 1),
            ("refused", search.refused),
            ("partitions_touched", search.confidences.touched),
            ("confidences_computed", search.confidences.computed),
            ("candidates_rescored", search.rescored),
        ];
        Ok(Outcome { recoding: recoding(search.columns.cells().to_vec()), stop, path: search.path, work })
    }
}

fn recoding(cells: Vec<Vec<Cell>>) -> Recoding {
    Recoding::Cut(Cut { cells, suppressed: Vec::new() })
}
