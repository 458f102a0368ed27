//! Trials for `init`: which hierarchy of a number or date loses least.
//!
//! Why: it depends on the table. The calendar kept 11 % of a birth date where intervals of any days kept 68 %. How: the
//! first records of the sample are anonymized once for each hierarchy of each such column, while all other columns stay
//! as drafted, and the losses of the whole table are compared. The method is k-member, which is fast on small tables and
//! serves every hierarchy. Cost: columns x hierarchies searches, whose records are limited so that all of them together
//! take about a second.

use std::collections::HashMap;

use moretta_core::{
    counts::{CountedColumn, Counts},
    engine::Sample,
    hierarchy::Hierarchies,
    observer::NoObserver,
    policy::Policy,
    profile::Profile,
    run::VerifiedRun,
    schema::{Kind, Role},
    search::method_names,
};
use moretta_guess::{Guesses, Hierarchy, Trial};

/// Maximum records of a trial; more change the order of the hierarchies rarely.
const MAX_RECORDS: usize = 1000;
/// With fewer records there is no trial: it would say little about the table.
const MIN_RECORDS: usize = 100;
/// Maximum of searches x records x records x columns, the work of all trials together.
const MAX_WORK: f64 = 1e9;
const K: usize = 10;
/// Maximum share of the loss of free intervals at which another hierarchy is proposed. On free1, widths won by 0.2 %.
const MIN_ADVANTAGE: f64 = 0.99;

/// Tries the hierarchies of each quasi-identifier of numbers or dates. `draft` is the policy of the guesses. A table for
/// which there is no trial (few records, or values that contradict the draft) keeps its guesses.
pub(crate) fn try_hierarchies(guesses: &mut Guesses, draft: &str, sample: &Sample) {
    let tried = |kind: Kind| matches!(kind, Kind::Number | Kind::Date);
    let is_tried = |at: &usize| {
        let guess = &guesses.columns[*at];
        guess.role == Role::QuasiIdentifier && tried(guess.kind) && guess.different > 2
    };
    let columns: Vec<usize> = (0..guesses.columns.len()).filter(is_tried).collect();
    let hierarchies = columns.iter().map(|&at| guesses.columns[at].hierarchies_to_try());
    let hierarchies: Vec<Vec<Hierarchy>> = hierarchies.collect();
    let Some(policy) = policy_of_trial(draft) else { return };
    let searches: usize = hierarchies.iter().map(Vec::len).sum();
    let most = (MAX_WORK / (searches.max(1) * policy.columns.len().max(1)) as f64).sqrt() as usize;
    let records = MAX_RECORDS.min(most).min(sample.rows.len());
    if records < MIN_RECORDS {
        return;
    }
    let counts = counts_of(&policy, sample, records);
    for (&at, hierarchies) in columns.iter().zip(hierarchies) {
        let losses = hierarchies.into_iter().filter_map(|hierarchy| {
            let lost = loss(&policy, &counts, &guesses.columns[at].name, &hierarchy)?;
            Some((hierarchy, lost))
        });
        let mut losses: Vec<(Hierarchy, f64)> = losses.collect();
        // Any interval is proposed unless another hierarchy clearly loses less: smaller differences are chance.
        let rank = |(hierarchy, loss): &(Hierarchy, f64)| match hierarchy {
            Hierarchy::Free => loss * MIN_ADVANTAGE,
            _ => *loss,
        };
        losses.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        if losses.len() > 1 {
            guesses.columns[at].trial = Some(Trial { records, k: K, losses });
        }
    }
}

/// The draft with its quasi-identifiers only, k-anonymity and k-member.
fn policy_of_trial(draft: &str) -> Option<Policy> {
    let methods = method_names();
    let draft = Policy::parse(draft, &methods).ok()?;
    let rules = format!(
        "version = 1\nprivacy.k = {K}\nmeasure.name = \"ncp\"\nmethod.name = \"k-member\"\n[columns.any]\nrole = \"quasi-identifier\"\n"
    );
    let mut policy = Policy::parse(&rules, &methods).ok()?;
    policy.columns = draft.columns.into_iter().filter(|column| column.role == Role::QuasiIdentifier).collect();
    policy.input = draft.input;
    Some(policy)
}

/// Counts the first records of a sample.
fn counts_of(policy: &Policy, sample: &Sample, records: usize) -> Counts {
    let names = Profile::grouped_columns(policy);
    let index = |name: &String| sample.columns.iter().position(|known| known == name);
    let indices: Vec<usize> = names.iter().filter_map(index).collect();
    let mut columns: Vec<CountedColumn> =
        names.into_iter().map(|name| CountedColumn { name, ..CountedColumn::default() }).collect();
    let mut codes: Vec<HashMap<&str, u32>> = vec![HashMap::new(); columns.len()];
    let (mut rows, mut counts): (HashMap<Vec<u32>, usize>, Vec<u64>) = (HashMap::new(), Vec::new());
    let mut row_codes = Vec::new();
    for row in &sample.rows[..records] {
        let code = |(column, &index): (usize, &usize)| {
            let (known, text) = (&mut codes[column], row[index].as_str());
            let next = known.len() as u32;
            *known.entry(text).or_insert_with(|| {
                columns[column].values.push(text.into());
                next
            })
        };
        let row: Vec<u32> = indices.iter().enumerate().map(code).collect();
        let next = rows.len();
        let at = *rows.entry(row.clone()).or_insert(next);
        if at == next {
            row_codes.extend(row);
            counts.push(0);
        }
        counts[at] += 1;
    }
    Counts { columns, codes: row_codes, counts, first_records: None, records: records as u64 }
}

/// Loss of the table if one column has a hierarchy; `None` if its values contradict it.
fn loss(policy: &Policy, counts: &Counts, column: &str, hierarchy: &Hierarchy) -> Option<f64> {
    let mut policy = policy.clone();
    let declared = policy.columns.iter_mut().find(|declared| declared.name == column)?;
    declared.hierarchy = hierarchy.choice()?;
    let profile = Profile::build(&policy, &Hierarchies::default(), counts).ok()?;
    VerifiedRun::run(&policy, &profile, 1, &NoObserver).ok()?.measures().get("gcp")
}

#[cfg(test)]
mod tests {
    use moretta_insight::column_sets::ColumnSets;

    use super::*;

    fn sample(records: usize) -> Sample {
        let columns = ["born", "age", "city", "diagnosis"].map(String::from).to_vec();
        let row = |n: usize| {
            let (year, month, day) = (1950 + n * 7 % 50, 1 + n * n % 12, 1 + n * 11 % 28);
            let city = ["Bonn", "Ulm", "Kiel", "Jena", "Hof"][n * n % 5].to_owned();
            vec![format!("{year}-{month:02}-{day:02}"), (n * 7 % 50).to_string(), city, format!("d{}", n % 9)]
        };
        Sample { columns, rows: (0..records).map(row).collect() }
    }

    fn guessed(sample: &Sample) -> (Guesses, String) {
        let facts = moretta_guess::facts(&sample.columns, &sample.rows);
        let sets = ColumnSets::of_rows(sample.columns.len(), &sample.rows);
        let mut guesses = moretta_guess::guess(&facts, &sets);
        let draft = moretta_guess::policy_text(&guesses, "people.csv");
        try_hierarchies(&mut guesses, &draft, sample);
        let text = moretta_guess::policy_text(&guesses, "people.csv");
        (guesses, text)
    }

    #[test]
    fn the_hierarchy_that_loses_least_is_proposed_with_the_losses_of_all() {
        let sample = sample(400);
        let (guesses, text) = guessed(&sample);
        let born = &guesses.columns[0];
        let trial = born.trial.as_ref().expect("a trial of the birth date");
        assert_eq!((trial.records, trial.losses.len()), (400, 3));
        assert!(trial.losses.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{:?}", trial.losses);
        // Each loss is that of a release of the sample under this policy.
        let policy = Policy::parse(&text, &method_names()).expect("a valid policy");
        let declared = policy.columns.iter().find(|column| column.name == "born").expect("the column");
        assert_eq!(Some(&declared.hierarchy), trial.losses[0].0.choice().as_ref());
        for (_, loss) in &trial.losses {
            assert!(text.contains(&format!("{:.1} %", 100.0 * loss)), "{loss}\n{text}");
        }
        let calendar = trial.losses.iter().find(|(hierarchy, _)| *hierarchy == Hierarchy::Calendar);
        assert!(calendar.is_some_and(|(_, loss)| *loss > trial.losses[0].1), "{:?}", trial.losses);
        assert_eq!(guessed(&sample).1, text, "the same draft again");
    }

    #[test]
    fn few_records_are_not_tried() {
        let (guesses, text) = guessed(&sample(80));
        assert!(guesses.columns.iter().all(|column| column.trial.is_none()) && !text.contains("In a trial"));
    }
}
