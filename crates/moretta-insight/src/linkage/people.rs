//! Targets are the people of the original.

use moretta_core::{
    ids::{ColumnId, TupleId},
    observer::Observer,
    policy::BoundPolicy,
    profile::Profile,
};
use rayon::prelude::*;

use super::{
    Linkage, LinkageError, ReleasedTable, Targets, check_numbers,
    copied::CopiedValues,
    joint::{ReadRelease, Scope, Verdict},
    tally::{Tally, scopes, sensitive},
};

/// Targets judged between two looks at the observer. Affects progress only.
const CHUNK: usize = 4096;

/// Counts what an attacker learns about each person of the original, which the policy is bound to.
pub fn people(
    bound: &BoundPolicy<'_>,
    releases: &[ReleasedTable],
    observer: &dyn Observer,
) -> Result<Linkage, LinkageError> {
    let original = bound.profile();
    if original.records() == 0 {
        return Err(LinkageError::Empty);
    }
    check_numbers(bound.policy(), original)?;
    let mut tally = Tally::new(bound)?;
    let copied = CopiedValues::new(original, releases)?;
    let read = |(index, release)| ReadRelease::new(index, release, original);
    let read: Vec<ReadRelease<'_>> = releases.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let (scopes, sensitive) = (scopes(bound), sensitive(original));
    // A person violates a model of several parts if any part is violated, and counts once.
    let mut violating = vec![vec![false; original.tuples()]; tally.models.len()];
    for (index, (columns, models)) in scopes.iter().enumerate() {
        let all = index == 0;
        let sensitive = if all { &sensitive[..] } else { &[] };
        let scope = Scope::new(columns, &read, (bound.models(), models), sensitive, &copied);
        let targets = Targeted::new(original, columns);
        for start in (0..targets.len()).step_by(CHUNK) {
            observer.progress((index * targets.len() + start) as u64, (scopes.len() * targets.len()) as u64);
            if observer.stop().is_some() {
                return Err(LinkageError::Interrupted);
            }
            let chunk = start..targets.len().min(start + CHUNK);
            let judge = |target: usize| {
                let tuples = targets.tuples(target);
                let codes = original.codes(tuples[0]);
                let point: Vec<u32> = columns.iter().map(|column| codes[column.index()]).collect();
                let groups: Vec<Vec<u32>> = scope.releases.iter().map(|release| release.boxes.around(&point)).collect();
                if all {
                    check_present(original, tuples, &scope, &groups)?;
                }
                Ok(scope.judge(&groups, |model| tally.margin(model)))
            };
            let verdicts: Vec<Verdict> =
                chunk.clone().into_par_iter().map(judge).collect::<Result<_, LinkageError>>()?;
            for (target, verdict) in chunk.zip(verdicts) {
                let tuples = targets.tuples(target);
                for entry in tally.violated(&scope, &verdict) {
                    tuples.iter().for_each(|tuple| violating[entry][tuple.index()] = true);
                }
                tally.add(&scope, verdict, tuples.iter().map(|tuple| original.tuple_records(*tuple)).sum());
            }
        }
    }
    for (entry, flags) in violating.iter().enumerate() {
        let tuples = (0..original.tuples()).filter(|tuple| flags[*tuple]).map(TupleId::from_index);
        let people = tuples.map(|tuple| original.tuple_records(tuple)).sum();
        tally.judged(entry, people, original.records());
    }
    Ok(tally.finish(Targets::People, original.records(), releases))
}

/// Checks that every person of some tuples has a candidate with the same copied values in every release.
fn check_present(
    original: &Profile,
    tuples: &[TupleId],
    scope: &Scope<'_>,
    groups: &[Vec<u32>],
) -> Result<(), LinkageError> {
    for variant in tuples.iter().flat_map(|tuple| original.variants_of(*tuple)) {
        let present = |release: &usize| groups[*release].iter().any(|g| scope.has_values(*release, *g, variant));
        if let Some(release) = (0..groups.len()).find(|release| !present(release)) {
            return Err(LinkageError::Absent { release, record: original.first_record(variant) });
        }
    }
    Ok(())
}

/// The tuples of the original by the known columns: a target is everyone with the same values there.
struct Targeted {
    /// Sorted by these values.
    tuples: Vec<TupleId>,
    /// Where each target starts in `tuples`, and the end.
    starts: Vec<u32>,
}

impl Targeted {
    fn new(original: &Profile, columns: &[ColumnId]) -> Self {
        let mut tuples: Vec<TupleId> = (0..original.tuples()).map(TupleId::from_index).collect();
        let point = |tuple: &TupleId| {
            let codes = original.codes(*tuple);
            columns.iter().map(move |column| codes[column.index()])
        };
        tuples.sort_by(|a, b| point(a).cmp(point(b)));
        let mut starts = vec![0];
        starts.extend(tuples.chunk_by(|a, b| point(a).eq(point(b))).scan(0, |end, same| {
            *end += same.len() as u32;
            Some(*end)
        }));
        Self { tuples, starts }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn tuples(&self, target: usize) -> &[TupleId] {
        &self.tuples[self.starts[target] as usize..self.starts[target + 1] as usize]
    }
}
