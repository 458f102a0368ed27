//! The sequence of the naive reference on random tables, ties included, and invariants after every step.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use proptest::prelude::*;

use super::reference::{Disclosure, Reference};
use crate::{
    ids::ColumnId,
    recoding::{Action, Cut, Recoding, Step},
    search::{
        Method, NoObserver, Observer, SearchError, Stop, Task,
        top_down_disclosure::{Criterion, TopDownDisclosure, TopDownParams, search::TopDownSearch},
    },
    testing::{NearShares, TestTable},
    verify::verify_against,
};

const ZIP: &str = "a1;a;ab;*\na2;a;ab;*\nb1;b;ab;*\nb2;b;ab;*\nc1;c;c;*\nc2;c;c;*\nc3;c;c;*\nd1;d;d;*";
const COLUMNS: &str = "[columns.job]\nrole = \"quasi-identifier\"\nweight = 2\n[columns.zip]\nrole = \"quasi-identifier\"\n\
    hierarchy = \"zip.csv\"\nmissing = \"ZIP\"\n[columns.age]\nrole = \"quasi-identifier\"\ntype = \"number\"\n\
    missing = \"AGE\"\n[columns.size]\nrole = \"quasi-identifier\"\nhierarchy = { widths = [2, 4] }\n\
    [columns.s]\nrole = \"sensitive\"\n[columns.t]\nrole = \"sensitive\"\n[columns.class]\nrole = \"class\"\n";
const NAMES: [&str; 4] = ["job", "zip", "age", "size"];
const MEASURES: [Option<Criterion>; 4] = [None, Some(Criterion::Class), Some(Criterion::Lm), Some(Criterion::Ncp)];
const OTHERS: [&str; 8] = [
    "",
    "",
    "k = 2\n",
    "k = 4\n",
    "l-diversity = [{ column = \"s\", l = 2, kind = \"distinct\" }]\n",
    "lkc = { l = 2, k = 2, c = 0.8 }\n",
    "k = 3\nlkc = { l = 1, k = 4, c = 0.6 }\n",
    "k = 2\nt-closeness = [{ column = \"t\", t = 0.4, distance = \"equal\" }]\n",
];

#[derive(Debug, Clone)]
struct Case {
    rows: Vec<[u8; 7]>,
    spread: u8,
    templates: Vec<(u8, bool, u8, u8)>,
    /// Models with lower limits: known columns (bits), whether `t` (or `s`) is sensitive, guarded values, and the
    /// factor.
    near: Vec<(u8, bool, usize, u64)>,
    others: usize,
    measure: usize,
    tries: u32,
    /// Whether a missing zip and a missing age are suppressed (otherwise they are values of their own).
    missing: (bool, bool),
}

fn cases() -> impl Strategy<Value = Case> {
    let rows = prop::collection::vec(any::<[u8; 7]>(), 1..60);
    let templates = prop::collection::vec((1u8..16, any::<bool>(), 0u8..3, 1u8..10), 0..4);
    let near = prop::collection::vec((1u8..16, any::<bool>(), 1usize..5, 2u64..12), 0..3);
    let choices = (0..OTHERS.len(), 0..MEASURES.len(), 1u32..4, any::<(bool, bool)>());
    let limits = (templates, near);
    (rows, 2u8..9, limits, choices).prop_map(|(rows, spread, (templates, near), (others, measure, tries, missing))| {
        Case { rows, spread, templates, near, others, measure, tries, missing }
    })
}

impl Case {
    fn params(&self) -> TopDownParams {
        TopDownParams { measure: MEASURES[self.measure], tries: self.tries }
    }

    fn table(&self) -> TestTable {
        let mut policy = format!("[privacy]\n{}", OTHERS[self.others]);
        for (columns, second, value, tenths) in &self.templates {
            let given: Vec<String> =
                (0..4).filter(|bit| columns >> bit & 1 == 1).map(|bit| format!("\"{}\"", NAMES[bit])).collect();
            let column = if *second { "t" } else { "s" };
            let max_confidence = f64::from(*tenths) / 10.0;
            policy += &format!(
                "[[privacy.template]]\ngiven = [{}]\ncolumn = \"{column}\"\nvalues = [\"{value}\"]\nmax-confidence = {max_confidence}\n",
                given.join(", ")
            );
        }
        // A policy needs at least one model.
        if self.templates.is_empty() && self.others < 2 {
            policy += "[[privacy.template]]\ngiven = [\"job\", \"age\"]\ncolumn = \"s\"\nrarest = 0.5\nmax-confidence = 0.6\n";
        }
        let zips = ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "?"];
        let row = |dice: &[u8; 7]| {
            let [job, zip, age, size, s, t, class] = dice.map(|die| die % self.spread);
            let age = if age == 7 { "?".to_owned() } else { (age * age).to_string() };
            let text = format!("j{job},{},{age},{size},{},{},c{}", zips[usize::from(zip)], s % 3, t % 4, class % 3);
            (text, u64::from(dice[0] / 86) + 1)
        };
        // Two rows ensure that both sensitive columns have at least two values.
        let mut rows: Vec<(String, u64)> = self.rows.iter().map(row).collect();
        rows.extend([("j0,a1,0,0,0,1,c0".to_owned(), 1), ("j0,a1,0,0,1,0,c1".to_owned(), 1)]);
        let rows: Vec<(&str, u64)> = rows.iter().map(|(text, records)| (text.as_str(), *records)).collect();
        let missing = |suppressed: bool| if suppressed { "suppress" } else { "category" };
        let columns = COLUMNS.replace("ZIP", missing(self.missing.0)).replace("AGE", missing(self.missing.1));
        let mut table = TestTable::new(&format!("{policy}{columns}"), &[("zip", ZIP)], &rows);
        for &(columns, second, values, factor) in &self.near {
            let scope = (0..4).filter(|bit| columns >> bit & 1 == 1).map(ColumnId::from_index).collect();
            let model = NearShares::new(&table.profile, scope, if second { "t" } else { "s" }, values, factor);
            table.models.push(Box::new(model));
        }
        table
    }
}

/// Stops the search after it was asked this many times.
struct StopAfter {
    questions: AtomicUsize,
}

impl Observer for StopAfter {
    fn stop(&self) -> Option<Stop> {
        let left = self.questions.load(Relaxed);
        self.questions.store(left.saturating_sub(1), Relaxed);
        (left == 0).then_some(Stop::Cancelled)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_sequence_is_the_naive_references(case in cases()) {
        let table = case.table();
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
        let method = TopDownDisclosure(case.params());
        let outcome = match method.run(&task, &NoObserver) {
            Ok(outcome) => outcome,
            Err(SearchError::Impossible { .. }) => {
                prop_assert!(!Reference::new(&task, method.measure(&task), method.0.tries).allows(None));
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let mut reference = Reference::new(&task, method.measure(&task), method.0.tries);
        let disclosed: Vec<Step> = reference
            .run()
            .iter()
            .map(|step| {
                let cells = std::iter::once(step.disclosed).chain(step.rest);
                let changes = cells.map(|cell| (ColumnId::from_index(step.column), cell)).collect();
                Step { action: Action::Disclose, changes }
            })
            .collect();
        prop_assert_eq!(&outcome.path[1..], &disclosed[..]);
        prop_assert_eq!(&outcome.recoding, &Recoding::Global(Cut { cells: reference.cells.clone(), suppressed: Vec::new() }));
    }

    #[test]
    fn the_index_equals_counts_from_the_rows(case in cases()) {
        let table = case.table();
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
        let method = TopDownDisclosure(case.params());
        let Some(mut search) = TopDownSearch::new(&task, method.measure(&task), method.0.tries, &NoObserver) else {
            return Err(TestCaseError::fail("the observer never stops"));
        };
        search.confidences.check(&search.candidates);
        while let Some(id) = search.next() {
            search.try_disclose(id, &NoObserver);
            search.confidences.check(&search.candidates);
        }
    }

    #[test]
    fn stopped_at_any_time_it_has_disclosed_what_it_would_have_disclosed_first(case in cases(), after in 0usize..12) {
        let table = case.table();
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
        let method = TopDownDisclosure(case.params());
        let Ok(whole) = method.run(&task, &NoObserver) else { return Ok(()) };
        prop_assert_eq!(whole.stop, Stop::Finished);
        let stopped = method.run(&task, &StopAfter { questions: AtomicUsize::new(after) }).expect("stopping is no error");
        prop_assert!(whole.path.starts_with(&stopped.path));
        prop_assert!(stopped.stop == Stop::Cancelled || stopped.path == whole.path);
        let verified = verify_against(&table.profile, stopped.recoding, &table.models, &table.policy, 0);
        prop_assert!(verified.is_ok(), "{:?}", verified.err());
    }

    #[test]
    fn after_every_step_the_policy_holds(case in cases()) {
        let table = case.table();
        let task = Task { profile: &table.profile, models: &table.models, max_suppressed: 0, seed: 0 };
        let method = TopDownDisclosure(case.params());
        let Ok(outcome) = method.run(&task, &NoObserver) else { return Ok(()) };
        let mut cut = Cut::identity(&table.profile);
        for step in &outcome.path {
            cut.apply(step);
            let verified = verify_against(&table.profile, Recoding::Global(cut.clone()), &table.models, &table.policy, 0);
            prop_assert!(verified.is_ok(), "{:?}", verified.err());
        }
        // In the end, no beneficial candidate is allowed, nor any alternative to a rejected one.
        let mut reference = Reference::new(&task, method.measure(&task), method.0.tries);
        reference.cells.clone_from(&cut.cells);
        loop {
            let useful: Vec<Disclosure> =
                reference.candidates().into_iter().filter(|candidate| reference.is_beneficial(candidate)).collect();
            if useful.is_empty() {
                break;
            }
            for candidate in useful {
                prop_assert!(!reference.allows(Some(&candidate)), "{candidate:?} could still be disclosed");
                reference.reject(&candidate);
            }
        }
    }
}
